/**
 * Equalities that need no judge: the same rows in every format give the same statements, and so do the rows in another order, without memory,
 * in slices and in threads.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { share, sharedTest, test } from '../../../../support/jest/extent.ts';
import { Random, seeds } from '../../../../support/random.ts';
import { type Changes, linesOf, linesOfSlices } from '../engine.ts';
import {
  COLUMNS,
  changesOf,
  type Databases,
  FORMATS,
  type Format,
  headOf,
  openDatabases,
  type Row,
  rowsOf,
  TABLES,
  type Tables,
} from '../formats.ts';

/** The same mapping for each format, given the same random numbers. */
function mappingOf(random: Random, format: Format): string {
  const { source, column } = format;
  const name = (): string => random.pick(['id', 'k', 'a', 'b']);
  const hole = (): string => `{${column(name())}}`;
  const reference = (): string => `rml:reference "${column(name())}"`;
  const template = (): string =>
    `rml:template "http://example.com/${hole()}${random.pick(['', '/', '-', '%'])}${random.chance(0.6) ? hole() : ''}"`;
  const call = (name: string, ...inputs: readonly (readonly [string, string])[]): string =>
    `rml:functionExecution [ rml:function grel:${name} ; ${inputs.map(([parameter, value]) => `rml:input [ rml:parameter grel:${parameter} ; rml:inputValueMap [ ${value} ] ]`).join(' ; ')} ]`;
  const condition = (): string =>
    random.chance(0.15)
      ? ` ; rml:condition [ ${call('string_contains', ['valueParam', reference()], ['string_sub', 'rml:constant "x"'])} ]`
      : '';
  const literal = (): string =>
    random.pick([
      () => reference(),
      () => `rml:template "${hole()}|${hole()}" ; rml:termType rml:Literal`,
      () => `${reference()} ; rml:languageMap [ rml:reference "${column('lang')}" ]`,
      () => `${reference()} ; rml:datatypeMap [ ${template()} ]`,
      () => call('toUpperCase', ['valueParam', reference()]),
      () => `${call('escape', ['valueParam', reference()], ['modeParam', 'rml:constant "url"'])} ; rml:termType rml:Literal`,
    ])();
  const count = random.between(1, 4);
  const join = (): string => {
    const conditions = Array.from({ length: random.between(1, 2) }, () => {
      const [child, parent] = [column(name()), column(name())];
      return `rml:joinCondition [ rml:child "${child}" ; rml:parent "${parent}" ]`;
    });
    return `rml:parentTriplesMap <#m${random.between(0, count - 1)}> ; ${conditions.join(' ; ')}`;
  };
  const rule = (): string => {
    const predicate = random.chance(0.85) ? `rml:predicate ex:p${random.between(0, 4)}` : `rml:predicateMap [ ${template()} ]`;
    const graph = random.chance(0.2) ? ` ; rml:graphMap [ ${template()} ]` : '';
    const object = random.pick([() => literal() + condition(), () => literal() + condition(), template, join, join])();
    return `rml:predicateObjectMap [ ${predicate} ; rml:objectMap [ ${object} ]${graph} ]`;
  };
  const maps = Array.from({ length: count }, (_, i) => {
    const type = random.pick(['', ' ; rml:termType rml:BlankNode', ' ; rml:termType rml:UnsafeIRI']);
    const subject = `${template()}${type}${condition()}`;
    const rules = Array.from({ length: random.between(1, 4) }, rule);
    return `<#m${i}> rml:logicalSource ${source(random.pick(TABLES))} ; rml:subjectMap [ ${subject} ] ; ${rules.join(' ; ')} .`;
  });
  return `@prefix rml: <http://w3id.org/rml/> .
@prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> .
@prefix ex: <http://example.com/ns#> .
@base <http://example.com/map/> .
${headOf([format])}${maps.join('\n')}\n`;
}

describe('equal statements', () => {
  let directory: string;
  let databases: Databases;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'quadmill-equal-'));
    databases = await openDatabases();
  }, 120_000);
  afterAll(async () => {
    await databases?.close();
    await rm(directory, { recursive: true, force: true });
  });

  let statements = 0;
  let sliced = 0;

  sharedTest.each(share(14, seeds(1, 50)))('seed %d', async (seed) => {
    const random = new Random(seed + 1000);
    const rows: Tables = { one: rowsOf(random, 5, 40), two: rowsOf(random, 5, 40) };
    const mapping = join(directory, 'mapping.ttl');
    const load = async (format: Format, given: Tables): Promise<Changes> => {
      for (const table of TABLES) await format.write(directory, table, COLUMNS, given[table]);
      await writeFile(mapping, mappingOf(new Random(seed), format));
      return { mappings: [mapping], workingDirectory: directory, ...changesOf([format]) };
    };
    const sorted = async (changes: Changes): Promise<readonly string[]> => (await linesOf(changes)).sort();
    const [first, ...others] = FORMATS as [Format, ...Format[]];
    const changes = await load(first, rows);
    const expected = await sorted(changes);
    statements += expected.length;
    const slices = await linesOfSlices(changes, { rows: 7, bytes: 200 });
    if (slices !== undefined) sliced++;
    expect(slices?.sort() ?? expected).toEqual(expected);
    // One of the databases for each seed, since each run over them takes as long as those over all files.
    const database = databases.formats[seed % databases.formats.length];
    for (const format of database === undefined ? others : [...others, database])
      expect([format.name, await sorted(await load(format, rows))]).toEqual([format.name, expected]);

    const format = random.pick(FORMATS);
    const again = await load(format, rows);
    expect(await sorted({ ...again, memoryBudgetBytes: 0 })).toEqual(expected);
    if (seed % 7 === 0) expect(await sorted({ ...again, threads: 3, threadBytes: 300, keyBytes: 0 })).toEqual(expected);
    // In another order, some rows twice.
    const permuted = (of: readonly Row[]): readonly Row[] => random.shuffle([...of, ...of.filter(() => random.chance(0.2))]);
    expect(await sorted(await load(format, { one: permuted(rows.one), two: permuted(rows.two) }))).toEqual(expected);
  });

  test('are many, and some runs are cut into slices', () => {
    expect(statements).toBeGreaterThan(500);
    expect(sliced).toBeGreaterThan(0);
  });
});
