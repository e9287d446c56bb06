/**
 * Equalities that need no judge: the same rows as CSV, JSON, JSON Lines, XML and a table give the same statements, and so do the rows in
 * another order, without memory, in slices and in threads.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../../src/config/run-defaults.ts';
import { fromBytes } from '../../../../../src/core/text.ts';
import type { RunRequest } from '../../../../../src/run/request.ts';
import { executeRun, sliceRun } from '../../../../../src/run/run.ts';
import { SERVERS, startDatabases, type TestDatabases } from '../../../../servers/databases/databases.ts';
import { Random } from '../../../../support/random.ts';

const COLUMNS = ['id', 'a', 'b', 'lang'] as const;
const TABLES = ['one', 'two'] as const;
type Row = Readonly<Record<(typeof COLUMNS)[number], string | null>>;

const TEXTS = [
  'x',
  'X',
  'x/y',
  'y',
  'ü',
  'é',
  'e\u0301',
  '😀',
  '"q"',
  "it's",
  '',
  ' ',
  ' x',
  '1',
  '01',
  '1:1',
  '%',
  '%41',
  '<&>',
  'a\nb',
  '\\',
  '{a}',
  'true',
];

const tableOf = (random: Random): readonly Row[] =>
  Array.from({ length: random.between(5, 40) }, (_, i) => ({
    id: String(random.between(0, i)),
    a: random.chance(0.15) ? null : random.pick(TEXTS),
    b: random.chance(0.15) ? null : random.pick(TEXTS),
    lang: random.chance(0.15) ? null : random.pick(['en', 'de', 'en-GB']),
  }));

/** The text that means null in CSV, which has no other. */
const NULL = '\u2205';

interface Format {
  readonly name: string;
  readonly source: (table: string) => string;
  readonly column: (name: string) => string;
  readonly document?: (rows: readonly Row[]) => string;
}

const file = (extension: string, formulation: string, iterator: string, more = '') => ({
  source: (table: string) =>
    `[ rml:source [ a rml:FilePath ; rml:path "${table}.${extension}" ${more} ] ; rml:referenceFormulation rml:${formulation} ${iterator} ]`,
});
const ITEMS = '; rml:iterator "$[*]"';
const jsonOf = (row: Row, i: number): string =>
  JSON.stringify(Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null || i % 2 === 0)));
const xmlText = (text: string): string => text.replace(/[&<>"\n]/g, (c) => `&#${c.charCodeAt(0)};`);

const FILES: readonly Format[] = [
  {
    name: 'CSV',
    ...file('csv', 'CSV', '', `; rml:null "${NULL}"`),
    column: (name) => name,
    document: (rows) =>
      `${[COLUMNS, ...rows.map((row) => COLUMNS.map((column) => row[column] ?? NULL))]
        .map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','))
        .join('\n')}\n`,
  },
  {
    name: 'JSON',
    ...file('json', 'JSONPath', ITEMS),
    column: (name) => `$.${name}`,
    document: (rows) => `[${rows.map(jsonOf).join(',')}]`,
  },
  {
    name: 'JSON Lines',
    ...file('jsonl', 'JSONPath', ITEMS),
    column: (name) => `$.${name}`,
    document: (rows) => rows.map(jsonOf).join('\n'),
  },
  {
    name: 'XML',
    ...file('xml', 'XPath', '; rml:iterator "/rows/row"'),
    column: (name) => (name === 'id' ? '@id' : name),
    document: (rows) => {
      const cells = (row: Row): string =>
        COLUMNS.flatMap((name) => (name === 'id' || row[name] === null ? [] : [`<${name}>${xmlText(row[name])}</${name}>`])).join('');
      return `<rows>${rows.map((row) => `<row id="${row.id}">${cells(row)}</row>`).join('\n')}</rows>`;
    },
  },
];
const TABLE: Format = {
  name: 'a table',
  source: (table) => `[ rml:source <#database> ; rml:referenceFormulation rml:SQL2008Table ; rml:iterator "${table}" ]`,
  column: (name) => name,
};

/** The same mapping for each format, given the same random numbers. */
function mappingOf(random: Random, { source, column }: Format, database: string): string {
  const name = (): string => random.pick(['id', 'a', 'b']);
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
@prefix d2rq: <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#> .
@prefix ex: <http://example.com/ns#> .
@base <http://example.com/map/> .
<#database> a d2rq:Database ; d2rq:jdbcDSN "${database}" ; d2rq:jdbcDriver "org.postgresql.Driver" .
${maps.join('\n')}\n`;
}

describe('equal statements', () => {
  const [, missing] = SERVERS.find(([product]) => product === 'postgresql') as (typeof SERVERS)[number];
  let directory: string;
  let server: TestDatabases | undefined;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'quadmill-equal-'));
    if (missing === undefined) server = await startDatabases('postgresql');
  });
  afterAll(async () => {
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const requestOf = (format: Format, seed: number, changes: Partial<RunRequest>): RunRequest => ({
    ...RUN_DEFAULTS,
    runId: 'equal',
    mappings: [join(directory, `${seed}-${format.name}.ttl`)],
    inputs: [],
    workingDirectory: directory,
    spillDirectory: join(directory, 'spill'),
    ...changes,
  });

  /** Sorted; each once. */
  async function linesOf(request: RunRequest): Promise<readonly string[]> {
    let text = '';
    const sink = { write: (lines: string) => void (text += lines), commit: async () => [], abort: async () => undefined };
    const { quads } = await executeRun(request, sink, {});
    const lines = fromBytes(text).split('\n').slice(0, -1).sort();
    expect([new Set(lines).size, quads]).toEqual([lines.length, lines.length]);
    return lines;
  }

  async function linesOfSlices(request: RunRequest): Promise<readonly string[] | undefined> {
    const cut = await sliceRun(request, { rows: 7, bytes: 200 }, new AbortController().signal);
    if (cut === undefined) return undefined;
    const lines = new Set<string>();
    for (const slice of cut.slices) for (const line of await linesOf({ ...request, slice })) lines.add(line);
    await cut.release();
    return [...lines].sort();
  }

  async function write(format: Format, seed: number, tables: readonly (readonly Row[])[]): Promise<void> {
    await writeFile(
      join(directory, `${seed}-${format.name}.ttl`),
      mappingOf(new Random(seed), format, server?.jdbcUrl ?? 'jdbc:postgresql://none/none'),
    );
    const extension = { CSV: 'csv', JSON: 'json', 'JSON Lines': 'jsonl', XML: 'xml' }[format.name];
    for (const [i, table] of TABLES.entries())
      if (format.document !== undefined)
        await writeFile(join(directory, `${table}.${extension}`), format.document(tables[i] as readonly Row[]));
  }

  const sqlOf = (text: string | null): string => (text === null ? 'NULL' : `'${text.replaceAll("'", "''")}'`);

  let statements = 0;
  let sliced = 0;

  test.each(Array.from({ length: 50 }, (_, i) => i + 1))('seed %d', async (seed) => {
    const random = new Random(seed + 1000);
    const tables = TABLES.map(() => tableOf(random));
    const [csv, ...others] = FILES as [Format, ...Format[]];
    await write(csv, seed, tables);
    const expected = await linesOf(requestOf(csv, seed, {}));
    statements += expected.length;
    for (const format of others) {
      await write(format, seed, tables);
      expect([format.name, await linesOf(requestOf(format, seed, {}))]).toEqual([format.name, expected]);
    }
    const format = random.pick(FILES);
    expect(await linesOf(requestOf(format, seed, { memoryBudgetBytes: 0 }))).toEqual(expected);
    if (seed % 10 === 0) expect(await linesOf(requestOf(format, seed, { threads: 3 }))).toEqual(expected);
    const slices = await linesOfSlices(requestOf(csv, seed, {}));
    if (slices !== undefined) sliced++;
    expect(slices ?? expected).toEqual(expected);
    if (server !== undefined) {
      await write(TABLE, seed, tables);
      const scripts = TABLES.map((table, i) => {
        const rows = (tables[i] as readonly Row[]).map((row) => `(${COLUMNS.map((column) => sqlOf(row[column])).join(', ')})`);
        return `DROP TABLE IF EXISTS ${table}; CREATE TABLE ${table} (id text, a text, b text, lang text); INSERT INTO ${table} VALUES ${rows.join(', ')};`;
      });
      await server.load(scripts.join('\n'));
      const changes = { database: { jdbcUrl: server.jdbcUrl, user: undefined, password: undefined } };
      expect(await linesOf(requestOf(TABLE, seed, changes))).toEqual(expected);
    }
    // In another order, some rows twice.
    const permuted = tables.map((rows) => random.shuffle([...rows, ...rows.filter(() => random.chance(0.2))]));
    await write(format, seed, permuted);
    expect(await linesOf(requestOf(format, seed, {}))).toEqual(expected);
  });

  test('are many, and some runs are cut into slices', () => {
    expect(statements).toBeGreaterThan(2000);
    expect(sliced).toBeGreaterThan(2);
  });
});
