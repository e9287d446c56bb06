import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import { allSourcesOf } from '../../../../src/mapping/model/model.ts';
import { readMapping } from '../../../../src/mapping/parse/read.ts';
import { explainPlan } from '../../../../src/plan/explain.ts';
import { Databases } from '../../../../src/run/databases/databases.ts';
import type { PreparedRun } from '../../../../src/run/prepare/open.ts';
import type { DatabaseAccess, RunReport, RunRequest } from '../../../../src/run/request.ts';
import { executeRun, sliceRun } from '../../../../src/run/run.ts';
import type { QuadSink } from '../../../../src/sinks/sink.ts';
import { type Server, startDatabases, type TestDatabases } from '../../../servers/databases/databases.ts';
import { built } from '../../../support/project-root.ts';

const COMPILED = built('src/run/run.js').href;
const PEOPLE = 3_000;
const CITIES = ['Zürich', 'zürich', 'New York', 'Ōsaka', "L'Aquila", ''];

/** What both databases hold, and CSV files as well: the engine over files is the judge of the engine over databases. */
const people = Array.from({ length: PEOPLE }, (_, i) => ({
  id: i + 1,
  name: `Name "${i % 700}" \\ ${i % 2 === 0 ? 'ü' : '😀'}`,
  city: i % 11 === 0 ? null : (CITIES[i % CITIES.length] as string),
  boss: i % 7 === 0 ? null : Math.floor(i / 7) + 1,
  score: `${i % 100}.${i % 10}5`,
  born: `19${50 + (i % 50)}-0${1 + (i % 9)}-1${i % 10}`,
}));
const cities = CITIES.filter((name) => name !== '').map((name, i) => ({ code: `c${i}`, name }));

/** Their order as texts is not that of the numbers. */
const PARTS = Array.from({ length: 400 }, (_, i) => ({ code: i % 40 === 39 ? `x${i}` : String(i), name: `n${i}` }));

const R2RML = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://example.com/ns#> .
<#Person> rr:logicalTable [ rr:tableName "person" ] ;
  rr:subjectMap [ rr:template "http://example.com/person/{id}" ; rr:class ex:Person ] ;
  rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rr:column "name" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:score ; rr:objectMap [ rr:column "score" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:born ; rr:objectMap [ rr:column "born" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:boss ; rr:objectMap [
    rr:parentTriplesMap <#Person> ; rr:joinCondition [ rr:child "boss" ; rr:parent "id" ] ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:neighbour ; rr:objectMap [
    rr:parentTriplesMap <#Namesake> ; rr:joinCondition [ rr:child "name" ; rr:parent "name" ] ] ] .
<#Namesake> rr:logicalTable [ rr:sqlQuery "SELECT DISTINCT name, city FROM person" ] ;
  rr:subjectMap [ rr:template "http://example.com/namesake/{name}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:livesIn ; rr:objectMap [ rr:column "city" ] ] .
<#City> rr:logicalTable [ rr:tableName "city" ] ;
  rr:subjectMap [ rr:template "http://example.com/city/{code}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:label ; rr:objectMap [ rr:column "name" ; rr:language "de" ] ] .
`;

/** Quoted triples of the same row and of joined rows, as subjects and objects; their joins are made by the database where it can. */
const QUOTED = `${R2RML.split('\n')[0]} @prefix rml: <http://semweb.mmlab.be/ns/rml#> .
<#Person> rr:logicalTable [ rr:tableName "person" ] ;
  rr:subjectMap [ rr:template "http://example.com/person/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:score ; rr:objectMap [ rr:column "score" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:boss ; rr:objectMap [
    rr:parentTriplesMap <#Person> ; rr:joinCondition [ rr:child "boss" ; rr:parent "id" ] ] ] .
<#Told> rr:logicalTable [ rr:tableName "person" ] ;
  rr:subjectMap [ rml:quotedTriplesMap <#Person> ] ;
  rr:predicateObjectMap [ rr:predicate ex:born ; rr:objectMap [ rr:column "born" ] ] .
<#ToldBy> a rml:NonAssertedTriplesMap ; rr:logicalTable [ rr:tableName "person" ] ;
  rr:subjectMap [ rr:template "http://example.com/person/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rr:column "name" ] ] .
<#Boss> rr:logicalTable [ rr:tableName "person" ] ;
  rr:subjectMap [ rml:quotedTriplesMap <#ToldBy> ; rr:joinCondition [ rr:child "boss" ; rr:parent "id" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:of ; rr:objectMap [ rr:template "http://example.com/person/{id}" ] ] .
<#Knows> rr:logicalTable [ rr:tableName "person" ] ;
  rr:subjectMap [ rr:template "http://example.com/person/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:knows ; rr:objectMap [
    rml:quotedTriplesMap <#ToldBy> ; rr:joinCondition [ rr:child "boss" ; rr:parent "id" ] ] ] .
`;

/** A mapping of tables over the CSV files, with its datatypes written out. */
const overFiles = (r2rml: string): string =>
  r2rml
    .replaceAll('rr:tableName "person"', 'FILE "person.csv"')
    .replaceAll('rr:tableName "city"', 'FILE "city.csv"')
    .replace(/rr:sqlQuery "[^"]*"/, 'FILE "person.csv"')
    .replace(/rr:logicalTable \[ FILE ("[^"]*") \]/g, 'rml:logicalSource [ rml:source $1 ; rml:referenceFormulation ql:CSV ]')
    .replaceAll('rr:column', 'rml:reference')
    .replace('rml:reference "score"', 'rml:reference "score" ; rr:datatype xsd:decimal')
    .replace('rml:reference "born"', 'rml:reference "born" ; rr:datatype xsd:date')
    .replace(
      '@prefix ex:',
      '@prefix rml: <http://semweb.mmlab.be/ns/rml#> . @prefix ql: <http://semweb.mmlab.be/ns/ql#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix ex:',
    );

interface Written {
  readonly lines: readonly string[];
  readonly parts: readonly (readonly string[])[];
  readonly report: RunReport;
}

let directory: string;
const linesOf = (text: string): string[] => fromBytes(text).split('\n').slice(0, -1);

async function run(mapping: string, changes: Partial<RunRequest> = {}): Promise<Written> {
  const path = join(directory, `mapping-${Math.random()}.ttl`);
  await writeFile(path, mapping);
  return runFile(path, changes);
}

function requestFor(path: string, changes: Partial<RunRequest>): RunRequest {
  const { pathname } = new URL(path, 'file:///');
  return {
    ...RUN_DEFAULTS,
    runId: 'sql',
    mappings: [pathname],
    inputs: [],
    workingDirectory: directory,
    spillDirectory: directory,
    ...changes,
  };
}

async function runFile(path: string, changes: Partial<RunRequest>, execute = executeRun): Promise<Written> {
  const parts = [''];
  const sink: QuadSink = {
    write(text) {
      parts[parts.length - 1] += text;
    },
    async rollOver() {
      parts.push('');
    },
    commit: async () => [],
    abort: async () => undefined,
  };
  const report = await execute(requestFor(path, changes), sink, {});
  return { lines: parts.flatMap(linesOf), parts: parts.map(linesOf), report };
}

const csvCell = (value: string | number | null): string => (value === null ? '' : `"${String(value).replaceAll('"', '""')}"`);
const csv = (rows: readonly object[]): string =>
  `${[Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))].map((row) => row.map(csvCell).join(',')).join('\n')}\n`;

const sqlCell = (value: string | number | null): string =>
  value === null ? 'NULL' : typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;
const insert = (table: string, rows: readonly object[]): string =>
  `INSERT INTO ${table} VALUES ${rows.map((row) => `(${Object.values(row).map(sqlCell).join(', ')})`).join(', ')}`;

export function runsOverDatabases(servers: readonly Server[]): void {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'quadmill-run-sql-'));
    const canonical = people.map((person) => ({ ...person, score: person.score.replace(/\.?0+$/, '') }));
    await writeFile(join(directory, 'person.csv'), csv(canonical));
    await writeFile(join(directory, 'city.csv'), csv(cities));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  describe.each(servers)('a run over %s', (product, missing) => {
    if (missing !== undefined) {
      test.skip(`is not tested: ${missing}`, () => undefined);
      return;
    }
    let server: TestDatabases;
    let database: DatabaseAccess;

    beforeAll(async () => {
      server = await startDatabases(product);
      database = { jdbcUrl: server.jdbcUrl, user: undefined, password: undefined };
      const isMaria = product === 'mariadb';
      // A collation for which `Zürich` and `zürich` are one: what is distinct must not depend on it.
      const options = isMaria ? ' CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci' : '';
      const script = [
        `CREATE TABLE person (id INT PRIMARY KEY, name VARCHAR(60) NOT NULL, city VARCHAR(30), boss INT, score DECIMAL(10,2), born DATE)${options}`,
        `CREATE TABLE city (code VARCHAR(9) NOT NULL UNIQUE, name VARCHAR(30) NOT NULL)${options}`,
        `CREATE TABLE planet (name CHAR(7) PRIMARY KEY)${isMaria ? ' CHARACTER SET utf8mb4 COLLATE utf8mb4_general_nopad_ci' : ''}`,
        "INSERT INTO planet VALUES ('Sun'), ('Venus')",
        'CREATE TABLE part (code VARCHAR(9) PRIMARY KEY, name VARCHAR(9))',
        insert('part', PARTS),
        insert('person', people),
        insert('city', cities),
        isMaria ? 'ANALYZE TABLE person, city, part' : 'ANALYZE',
      ].join(';\n');
      await server.load(script);
    });
    afterAll(() => server.stop());

    test.each([
      ['plain', R2RML],
      ['quoted', QUOTED],
    ])('gives the %s statements of the same run over files', async (_, mapping) => {
      const [fromTables, fromFiles] = [await run(mapping, { database }), await run(overFiles(mapping))];
      expect(fromTables.lines.toSorted()).toEqual(fromFiles.lines.toSorted());
      expect(new Set(fromTables.lines).size).toBe(fromTables.lines.length);
      expect(fromTables.report.quads).toBe(fromTables.lines.length);
    });

    test('leaves joins of one database to it, and looks for no repetition where a key forbids one', async () => {
      const { mapping } = await readMapping([{ name: 'm.ttl', text: R2RML }], { baseIri: 'http://example.com/' });
      const databases = await Databases.open(
        allSourcesOf(mapping),
        { reach: undefined, workingDirectory: directory, database, sql: RUN_DEFAULTS.sql },
        {},
        undefined,
      );
      try {
        const plan = explainPlan(mapping, 'http://example.com/', databases.metadata);
        expect(plan).toContain('table person joined by the database with table person on boss = id');
        expect(plan).toContain('joined by the database with query SELECT DISTINCT name, city FROM person on name = name');
        expect(plan.match(/no two records make the same statement/g)).toHaveLength(4);
        expect(plan).not.toContain('looked up in');
      } finally {
        await databases.close();
      }
    });

    test('joins no rows by a text that means null', async () => {
      const { lines } =
        await run(`@prefix rml: <http://w3id.org/rml/> . @prefix d2rq: <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#> .
  <#db> a d2rq:Database ; d2rq:jdbcDSN "${server.jdbcUrl}" ; rml:null "1" .
  <#Person> rml:logicalSource [ rml:source <#db> ; rml:referenceFormulation rml:SQL2008Table ; rml:iterator "person" ] ;
    rml:subjectMap [ rml:template "http://e/{id}" ] ;
    rml:predicateObjectMap [ rml:predicate <http://e/boss> ; rml:objectMap [
      rml:parentTriplesMap <#Named> ; rml:joinCondition [ rml:child "boss" ; rml:parent "id" ] ] ] .
  <#Named> rml:logicalSource [ rml:source <#db> ; rml:referenceFormulation rml:SQL2008Table ; rml:iterator "person" ] ;
    rml:subjectMap [ rml:template "http://e/{born}/{name}" ] .`);
      const joined = people.filter(({ id, boss }) => id !== 1 && boss !== null && boss !== 1);
      expect(lines.map((line) => Number(/\d+/.exec(line)?.[0])).toSorted((a, b) => a - b)).toEqual(joined.map(({ id }) => id));
    });

    test('joins rows with a file in the engine', async () => {
      const mixed = `${R2RML.replace('rr:parentTriplesMap <#Namesake>', 'rr:parentTriplesMap <#Listed>')}
  <#Listed> <http://semweb.mmlab.be/ns/rml#logicalSource> [ <http://semweb.mmlab.be/ns/rml#source> "person.csv" ;
      <http://semweb.mmlab.be/ns/rml#referenceFormulation> <http://semweb.mmlab.be/ns/ql#CSV> ] ;
    rr:subjectMap [ rr:template "http://example.com/namesake/{name}" ] .`;
      const [apart, together] = [await run(mixed, { database }), await run(R2RML, { database })];
      expect(apart.lines.toSorted()).toEqual(together.lines.toSorted());
    });

    test('cuts its output every so many rows', async () => {
      const one = R2RML.slice(0, R2RML.indexOf('  rr:predicateObjectMap [ rr:predicate ex:boss')).replace(/;\s*$/, '.');
      const { parts, report } = await run(one, { database, rowsPerPart: 700 });
      expect(parts.map((lines) => lines.length)).toEqual([2800, 2800, 2800, 2800, 800]);
      expect(report.records).toBe(PEOPLE);
    });

    test('is cut into slices that make each statement once', async () => {
      const path = join(directory, 'sliced.ttl');
      await writeFile(path, R2RML);
      const cut = await sliceRun(requestFor(path, { database }), { rows: 500, bytes: 0 }, new AbortController().signal);
      expect(cut?.slices.length).toBeGreaterThan(5);
      const slices: Written[] = [];
      try {
        for (const slice of cut?.slices ?? []) slices.push(await runFile(path, { database, slice }));
      } finally {
        await cut?.release();
      }
      const whole = await runFile(path, { database });
      expect(slices.flatMap(({ lines }) => lines).toSorted()).toEqual(whole.lines.toSorted());
      expect(slices.filter(({ lines }) => lines.length > 0).length).toBeGreaterThan(5);
    });

    test('is prepared once where it stays whole', async () => {
      const path = join(directory, 'whole.ttl');
      await writeFile(path, R2RML);
      const prepared: PreparedRun[] = [];
      const request = requestFor(path, { database });
      const cut = await sliceRun(request, { rows: 1e9, bytes: 0 }, new AbortController().signal, (whole) => prepared.push(whole));
      expect([cut, prepared.length]).toEqual([undefined, 1]);
      // A second preparation would find no mapping.
      await rename(path, `${path}.gone`);
      const whole = await runFile(path, { database }, (given, sink, hooks) => executeRun(given, sink, hooks, prepared[0]));
      await rename(`${path}.gone`, path);
      expect(whole.lines.toSorted()).toEqual((await runFile(path, { database })).lines.toSorted());
    });

    test('is cut into slices by a key of texts that look like numbers', async () => {
      const path = join(directory, 'parts.ttl');
      await writeFile(
        path,
        `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://e/> .
  <#Part> rr:logicalTable [ rr:tableName "part" ] ; rr:subjectMap [ rr:template "http://e/{code}" ] ;
    rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rr:column "name" ] ] .`,
      );
      const cut = await sliceRun(requestFor(path, { database }), { rows: 50, bytes: 0 }, new AbortController().signal);
      expect(cut?.slices).toHaveLength(8);
      const lines: string[] = [];
      try {
        for (const slice of cut?.slices ?? []) lines.push(...(await runFile(path, { database, slice })).lines);
      } finally {
        await cut?.release();
      }
      expect(lines.toSorted()).toEqual(PARTS.map(({ code, name }) => `<http://e/${code}> <http://e/name> "${name}" .`).toSorted());
    });

    test('with several threads gives the same', async () => {
      const path = join(directory, 'threads.ttl');
      await writeFile(path, R2RML);
      // Threads are started out of compiled code.
      const compiled = (await import(COMPILED)) as { executeRun: typeof executeRun };
      const [one, two] = [
        await runFile(path, { database }),
        await runFile(path, { database, threads: 3, threadBytes: 200 }, compiled.executeRun),
      ];
      expect(two.lines.toSorted()).toEqual(one.lines.toSorted());
    });

    // DuckDB forgets the length of a CHAR(n).
    (product === 'duckdb' ? test.skip : test)(
      'keeps the padding of a CHAR, and gives none to what a query compares or computes',
      async () => {
        const { lines } = await run(
          `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://e/> .
  <#Planet> rr:logicalTable [ rr:tableName "planet" ] ; rr:subjectMap [ rr:template "http://e/{name}" ] ;
    rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rr:column "name" ] ] .
  <#Star> rr:logicalTable [ rr:sqlQuery "SELECT name, CONCAT(TRIM(name), '!') AS called FROM planet WHERE name = 'Sun'" ] ;
    rr:subjectMap [ rr:column "called" ] ;
    rr:predicateObjectMap [ rr:predicate ex:of ; rr:objectMap [ rr:column "name" ] ] ;
    rr:predicateObjectMap [ rr:predicate ex:same ; rr:objectMap [ rr:parentTriplesMap <#Planet> ; rr:joinCondition [ rr:child "name" ; rr:parent "name" ] ] ] .`,
          { database },
        );
        expect(lines.toSorted()).toEqual([
          '<http://e/Sun%20%20%20%20> <http://e/name> "Sun    " .',
          '<http://e/Venus%20%20> <http://e/name> "Venus  " .',
          '<http://example.com/base/Sun!> <http://e/of> "Sun    " .',
          '<http://example.com/base/Sun!> <http://e/same> <http://e/Sun%20%20%20%20> .',
        ]);
      },
    );

    test.each([
      ['a table that is not there', 'rr:tableName "persons"', 'did you mean person?'],
      ['a query that is none', 'rr:sqlQuery "SELECT nothing FROM person"', 'nothing'],
    ])('says what is wrong with %s, and where the mapping says so', async (_, content, words) => {
      const wrong = R2RML.replace('rr:tableName "person"', content);
      await expect(run(wrong, { database: database })).rejects.toMatchObject({
        code: expect.stringMatching(/^(mapping\/reference|database\/query)$/),
        place: { mapping: expect.stringMatching(/ttl:2:/) },
      });
      const error = await run(wrong, { database: database }).catch((fault) => fault);
      expect(`${error.message} ${error.hint}`).toContain(words);
    });

    test('names the columns that there are when one is missing', async () => {
      const wrong = R2RML.replace('rr:column "born"', 'rr:column "borne"');
      await expect(run(wrong, { database: database })).rejects.toMatchObject({
        code: 'mapping/reference',
        hint: 'Did you mean born?',
      });
    });
  });

  test('a mapping over a database needs one', async () => {
    await expect(run(R2RML)).rejects.toMatchObject({ code: 'mapping/invalid', hint: expect.stringContaining('JDBC_URL') });
  });
}
