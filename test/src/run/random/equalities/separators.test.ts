/**
 * Cells with several values (csvw:separator) give what arrays of JSON give: in memory, without memory, in slices and in threads. Whatever
 * takes a cell for one value is wrong here.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Random } from '../../../../support/random.ts';
import { linesOf, linesOfSlices } from '../engine.ts';

const COLUMNS = ['id', 'as', 'bs'] as const;
type Row = Readonly<Record<(typeof COLUMNS)[number], readonly string[]>>;
const SEPARATORS = ['|', ' / ', 'é', '..'];
const VALUES = ['x', 'y', 'x/y', '', ' x', 'ü', '1', '01', '"q"', '.'];

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-separators-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** `id` is often a key, and has often several values. */
const rowsOf = (random: Random, separator: string): readonly Row[] => {
  const values = VALUES.filter((value) => !value.includes(separator) && !(separator === '..' && value.includes('.')));
  const list = (): readonly string[] => {
    const found = Array.from({ length: random.between(0, 3) }, () => random.pick(values));
    return found.length === 1 && found[0] === '' ? [] : found;
  };
  return Array.from({ length: random.between(3, 25) }, (_, i) => ({
    id: random.chance(0.8) ? [String(i)] : [String(i), String(random.between(0, i))],
    as: list(),
    bs: list(),
  }));
};

/** @param reference of a column */
const mappingOf = (source: string, reference: (column: string) => string): string => `@prefix rml: <http://w3id.org/rml/> .
@prefix csvw: <http://www.w3.org/ns/csvw#> .
@prefix ex: <http://example.com/> .
<#V> rml:viewOn ${source} ; rml:field ${COLUMNS.map((name) => `[ rml:fieldName "${name}" ; rml:reference "${reference(name)}" ]`).join(' , ')} .
<#A> rml:logicalSource ${source} ; rml:subjectMap [ rml:template "http://example.com/{${reference('id')}}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:id ; rml:objectMap [ rml:reference "${reference('id')}" ] ] ,
    [ rml:predicate ex:a ; rml:objectMap [ rml:reference "${reference('as')}" ] ] ,
    [ rml:predicateMap [ rml:template "http://example.com/p{${reference('bs')}}" ] ; rml:objectMap [ rml:template "{${reference('as')}}-{${reference('id')}}" ; rml:termType rml:Literal ] ] ,
    [ rml:predicate ex:b ; rml:objectMap [ rml:parentTriplesMap <#B> ; rml:joinCondition [ rml:child "${reference('as')}" ; rml:parent "${reference('bs')}" ] ] ] .
<#B> rml:logicalSource ${source} ; rml:subjectMap [ rml:template "http://example.com/b/{${reference('bs')}}" ; rml:class ex:B ] .
<#C> rml:logicalSource <#V> ; rml:subjectMap [ rml:template "http://example.com/v/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:a ; rml:objectMap [ rml:reference "as" ] ] ,
    [ rml:predicate ex:ab ; rml:objectMap [ rml:template "{as}-{as.#}-{bs}" ; rml:termType rml:Literal ] ] .
`;

test.each(Array.from({ length: 40 }, (_, seed) => seed))('seed %i', async (seed) => {
  const random = new Random(seed);
  const separator = random.pick(SEPARATORS);
  const rows = rowsOf(random, separator);
  const cells = rows.map((row) => COLUMNS.map((column) => `"${row[column].join(separator).replaceAll('"', '""')}"`).join(','));
  await writeFile(join(directory, `${seed}.csv`), `${COLUMNS.join(',')}\n${cells.join('\n')}\n`);
  await writeFile(join(directory, `${seed}.json`), JSON.stringify(rows));
  const columns = COLUMNS.map((name) => `[ csvw:name "${name}" ; csvw:separator "${separator}" ]`).join(' ');
  const csv = `[ rml:source [ a rml:Source, csvw:Table ; csvw:url "${seed}.csv" ; csvw:tableSchema [ csvw:column ( ${columns} ) ] ] ; rml:referenceFormulation rml:CSV ]`;
  const json = `[ rml:source [ a rml:FilePath ; rml:path "${seed}.json" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ]`;
  await writeFile(
    join(directory, `${seed}-csv.ttl`),
    mappingOf(csv, (column) => column),
  );
  await writeFile(
    join(directory, `${seed}-json.ttl`),
    mappingOf(json, (column) => `$.${column}[*]`),
  );
  const common = { workingDirectory: directory, sourceRoot: directory };
  const expected = (await linesOf({ ...common, mappings: [join(directory, `${seed}-json.ttl`)] })).sort();
  const changes = { ...common, mappings: [join(directory, `${seed}-csv.ttl`)] };
  expect((await linesOf(changes)).sort()).toEqual(expected);
  expect((await linesOf({ ...changes, memoryBudgetBytes: 0 })).sort()).toEqual(expected);
  if (seed % 8 === 0) expect((await linesOf({ ...changes, threads: 2, threadBytes: 300 })).sort()).toEqual(expected);
  const slices = await linesOfSlices(changes, { rows: 4, bytes: 60 });
  if (slices !== undefined) expect(slices.sort()).toEqual(expected);
});
