import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../../src/config/run-defaults.ts';
import { fromBytes } from '../../../../../src/core/text.ts';
import type { DatabaseAccess, Flaw, RunRequest } from '../../../../../src/run/request.ts';
import { executeRun, sliceRun } from '../../../../../src/run/run.ts';
import { type Server, startDatabases, type TestDatabases } from '../../../../servers/databases/databases.ts';
import { plainLabels } from '../../../../support/read-rdf.ts';
import { isXsdForm } from '../../../../support/xsd.ts';

/** Random mappings with joins, over tables whose values repeat and are missing: what the database does must be what the engine does with files. */
const ROWS = 60;

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

type Cell = string | number | null;
type Table = Readonly<Record<string, readonly Cell[]>>;
/** Columns of each table: `id` is the primary key, the others have few values, and nulls. */
const COLUMNS = ['id', 'a', 'b', 'c'] as const;

function makeTable(random: () => number): Table {
  const few = (make: (value: number) => Cell): Cell[] =>
    Array.from({ length: ROWS }, () => (random() < 0.15 ? null : make(Math.floor(random() * 7))));
  return {
    id: Array.from({ length: ROWS }, (_, i) => i + 1),
    a: few((value) => value + 1),
    b: few((value) => ['x', 'X', 'y ', 'y', 'ü', 'z/1', "q'"][value] as string),
    c: few((value) => value),
  };
}

const rowsOf = (table: Table): Cell[][] => Array.from({ length: ROWS }, (_, i) => COLUMNS.map((column) => table[column]?.[i] ?? null));

/** Each column has values that are in their lexical spaces, and others that are not. */
const DATATYPES = ['string', 'string', 'integer', 'decimal', 'boolean', 'positiveInteger', 'gYear', 'token', 'language', 'hexBinary'];
const CHECKS = ['error', 'warn', 'off'] as const;

const isIllTyped = (line: string): boolean => {
  const [, text, datatype] = / "([^"]*)"\^\^<([^>]*)>/.exec(line) ?? [];
  return text !== undefined && !isXsdForm(text, datatype as string);
};

interface Dialect {
  readonly source: (table: string) => string;
  readonly column: (name: string) => string;
}

const SQL: Dialect = {
  source: (table) =>
    `rr:logicalTable [ ${table.startsWith('q') ? `rr:sqlQuery "SELECT id, a, b, c FROM ${table.slice(1)}"` : `rr:tableName "${table}"`} ]`,
  column: (name) => `rr:column "${name}"`,
};
const FILES: Dialect = {
  source: (table) => `rml:logicalSource [ rml:source "${table.replace(/^q/, '')}.csv" ; rml:referenceFormulation ql:CSV ]`,
  column: (name) => `rml:reference "${name}"`,
};

const PREFIXES = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix ex: <http://example.com/ns#> .
`;

/** The same mapping in both dialects, for the same random numbers. */
function makeMapping(random: () => number, { source, column }: Dialect): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  // No IRI may hold the space of `y `: such a record is rejected, whatever else is made of it.
  const invalid = (): string => `${column('b')} ; rr:termType rr:IRI`;
  // Few templates, so that triples maps meet in subjects and statements.
  const subject = (): string => {
    const template = pick(['s/{id}', 's/{a}', 's/{a}-{c}', 't/{b}', 't/{b}{c}', 'u/{id}/{b}']);
    if (random() < 0.1) return `rr:subjectMap [ ${invalid()} ]`;
    return `rr:subjectMap [ rr:template "http://example.com/${template}"${random() < 0.2 ? ' ; rr:termType rr:BlankNode' : ''} ]`;
  };
  const count = 2 + Math.floor(random() * 3);
  const maps = Array.from({ length: count }, (_, i) => {
    const poms = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
      const place = random() < 0.15 ? ` ; rr:graphMap [ ${invalid()} ]` : '';
      const predicate = (random() < 0.15 ? `rr:predicateMap [ ${invalid()} ]` : `rr:predicate ex:p${Math.floor(random() * 3)}`) + place;
      if (random() < 0.1) return `${predicate} ; rr:objectMap [ ${invalid()} ]`;
      if (random() < 0.35) return `${predicate} ; rr:objectMap [ ${column(pick(['a', 'b', 'c']))} ; rr:datatype xsd:${pick(DATATYPES)} ]`;
      // Keys of one kind on both sides: numbers or texts without what only a collation makes equal.
      const pairs = [
        ['id', 'a'],
        ['a', 'a'],
        ['a', 'id'],
        ['c', 'c'],
      ] as const;
      const conditions = Array.from({ length: random() < 0.3 ? 2 : 1 }, () => pick(pairs));
      const joins = conditions.map(([child, parent]) => `rr:joinCondition [ rr:child "${child}" ; rr:parent "${parent}" ]`).join(' ; ');
      return `${predicate} ; rr:objectMap [ rr:parentTriplesMap <#M${Math.floor(random() * count)}> ; ${joins} ]`;
    });
    const table = pick(['one', 'two', 'qone', 'qtwo']);
    return `<#M${i}> ${source(table)} ; ${subject()} ${poms.map((pom) => `; rr:predicateObjectMap [ ${pom} ]`).join(' ')} .`;
  });
  return PREFIXES + maps.join('\n');
}

export const randomSql = (servers: readonly Server[], numbers: readonly number[]): void =>
  describe.each(servers)('random mappings over %s', (product, missing) => {
    if (missing !== undefined) {
      test.skip(`are not tested: ${missing}`, () => undefined);
      return;
    }
    let directory: string;
    let server: TestDatabases;
    let database: DatabaseAccess;

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'quadmill-sql-random-'));
      server = await startDatabases(product);
      database = { jdbcUrl: server.jdbcUrl, user: undefined, password: undefined };
      const random = randomFrom(7);
      const tables = { one: makeTable(random), two: makeTable(random) };
      const sql = (cell: Cell): string =>
        cell === null ? 'NULL' : typeof cell === 'number' ? String(cell) : `'${cell.replaceAll("'", "''")}'`;
      const collation = product === 'mariadb' ? ' CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci' : '';
      const statements: string[] = [];
      for (const [name, table] of Object.entries(tables)) {
        const rows = rowsOf(table);
        statements.push(`CREATE TABLE ${name} (id INT PRIMARY KEY, a INT, b VARCHAR(20), c INT)${collation}`);
        statements.push(`INSERT INTO ${name} VALUES ${rows.map((row) => `(${row.map(sql).join(', ')})`).join(', ')}`);
        const csv = [COLUMNS, ...rows].map((row) => row.map((cell) => (cell === null ? '' : `"${cell}"`)).join(',')).join('\n');
        await writeFile(join(directory, `${name}.csv`), `${csv}\n`);
      }
      const rows = ["('a_b', 1, 1)", "('a b', 1, 2)", "('a', 12, 3)", "('', 2, 4)"];
      for (const [name, values] of [
        ['keyed', rows],
        ['moved', ["('new', 0, 7)", ...rows.toReversed()]],
      ] as const)
        statements.push(
          `CREATE TABLE ${name} (k VARCHAR(20) NOT NULL, n INT NOT NULL, a INT, PRIMARY KEY (n, k))`,
          `INSERT INTO ${name} VALUES ${values.join(', ')}`,
        );
      statements.push('CREATE TABLE bare (a INT)', 'INSERT INTO bare VALUES (5), (5), (6)');
      await server.load(statements.join(';\n'));
    });
    afterAll(async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    });

    /** Of the last run. */
    let rejected: number;
    let counted: readonly Flaw[];

    async function linesOf(mapping: string, changes: Partial<RunRequest>): Promise<readonly string[]> {
      const path = join(directory, 'mapping.ttl');
      await writeFile(path, mapping);
      let text = '';
      const sink = { write: (lines: string) => void (text += lines), commit: async () => [], abort: async () => undefined };
      const report = await executeRun(requestFor(path, changes), sink, {});
      rejected = report.rejected;
      counted = report.flaws ?? [];
      return plainLabels(fromBytes(text)).split('\n').slice(0, -1).toSorted();
    }

    const requestFor = (path: string, changes: Partial<RunRequest>): RunRequest => ({
      ...RUN_DEFAULTS,
      runId: 'random',
      mappings: [path],
      inputs: [],
      workingDirectory: directory,
      spillDirectory: directory,
      // Under `skip`, a bad object rejects the row in R2RML, and only its statement in legacy RML.
      onError: 'quarantine',
      ...changes,
    });

    test('name rows by the values of their key, in slices and in whatever order', async () => {
      const mapping = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.com/ns#> .
${['one', 'keyed', 'bare']
  .map(
    (table) => `<#${table}> rml:logicalSource [ rml:referenceFormulation rml:SQL2008Table ; rml:iterator "${table}" ] ;
  rml:subjectMap [ rml:termType rml:BlankNode ; rml:class ex:${table} ] ;
  rml:predicateObjectMap [ rml:predicate ex:a ; rml:objectMap [ rml:reference "a" ] ] .`,
  )
  .join('\n')}`;
      // A subject without a key of its table may repeat, as far as slices know.
      const given = { database, distinct: false };
      const lines = await linesOf(mapping, given);
      const labels = (table: string): string[] =>
        lines.filter((line) => line.endsWith(`ns#${table}> .`)).map((line) => (line.split(' ')[0] as string).replace(/^_:f\w{16}/, ''));
      expect(labels('one').toSorted()).toEqual(Array.from({ length: ROWS }, (_, i) => `r${i + 1}_`).toSorted());
      expect(labels('keyed').toSorted()).toEqual(['r12__a_', 'r1__a_20b_', 'r1__a_5fb_', 'r2___'].toSorted());
      expect(labels('bare').toSorted()).toEqual(['r0', 'r1', 'r2']);
      const alone = mapping.slice(0, mapping.indexOf('<#keyed>'));
      const whole = await linesOf(alone, given);
      const path = join(directory, 'mapping.ttl');
      const cut = await sliceRun(requestFor(path, given), { rows: 17, bytes: 0 }, new AbortController().signal);
      expect(cut?.slices.length).toBeGreaterThan(3);
      const slices: string[] = [];
      for (const slice of cut?.slices ?? []) slices.push(...(await linesOf(alone, { ...given, slice })));
      await cut?.release();
      expect(slices.toSorted()).toEqual(whole);
      // The label has the address of the database, and not the name of the table.
      expect(await linesOf(mapping.replace('iterator "keyed"', 'iterator "moved"'), given)).toEqual(expect.arrayContaining([...lines]));
    });

    test.each(numbers)('are as over files, number %i', async (seed) => {
      const [mapping, judge] = [makeMapping(randomFrom(seed), SQL), makeMapping(randomFrom(seed), FILES)];
      const datatypeCheck = CHECKS[seed % CHECKS.length] as (typeof CHECKS)[number];
      const lines = await linesOf(mapping, { database, datatypeCheck });
      expect(new Set(lines).size).toBe(lines.length);
      const rejectedRows = rejected;
      // The numbers may differ: a database gives equal rows once.
      const warned = counted.length > 0;
      expect(lines).toEqual(await linesOf(judge, { datatypeCheck }));
      expect([rejectedRows, warned]).toEqual([rejected, counted.length > 0]);
      const illTyped = lines.filter(isIllTyped);
      if (datatypeCheck === 'error') expect(illTyped).toEqual([]);
      if (illTyped.length > 0) expect(warned).toBe(datatypeCheck === 'warn');
      expect(await linesOf(mapping, { database, datatypeCheck, memoryBudgetBytes: 1 })).toEqual(lines);
      // In slices: none makes what another makes.
      const path = join(directory, 'mapping.ttl');
      const cut = await sliceRun(requestFor(path, { database, datatypeCheck }), { rows: 17, bytes: 0 }, new AbortController().signal);
      const slices: string[] = [];
      for (const slice of cut?.slices ?? []) slices.push(...(await linesOf(mapping, { database, datatypeCheck, slice })));
      await cut?.release();
      if (cut !== undefined) expect(slices.toSorted()).toEqual(lines);
    });
  });
