/** The Direct Mapping: the document that it makes of a catalogue, and the graph that this document makes of real databases. */
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { main } from '../../../bin/main.ts';
import { formatDiagnostic } from '../../../src/mapping/model/diagnostics.ts';
import { expressionText } from '../../../src/mapping/model/expressions.ts';
import type { Mapping } from '../../../src/mapping/model/model.ts';
import { readMapping } from '../../../src/mapping/parse/read.ts';
import { type DirectMappingOptions, directMapping } from '../../../src/sql/direct-mapping/direct-mapping.ts';
import type { ForeignKey, Table } from '../../../src/sql/tables.ts';
import { difference } from '../../conformance/compare.ts';
import { SERVERS_ALONE, startDatabases, type TestDatabases } from '../../servers/databases/databases.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';

const BASE = 'http://example.com/base/';
const OPTIONS: DirectMappingOptions = {
  base: BASE,
  product: 'postgresql',
  database: 'jdbc:postgresql://h/d',
  defaultSchema: 'public',
  plainSchema: 'public',
};

/** Columns that end in `!` are not nullable. */
function table(name: string, columns: string, rest: Partial<Table> = {}): Table {
  return {
    schema: 'public',
    name,
    kind: 'table',
    columns: columns.split(' ').map((column) => ({ name: column.replace('!', ''), nullable: !column.endsWith('!') })),
    primaryKey: undefined,
    uniqueKeys: [],
    foreignKeys: [],
    estimatedRows: undefined,
    ...rest,
  };
}

const references = (columns: string, name: string, parentColumns: string, exact = true, schema = 'public'): ForeignKey => ({
  columns: columns.split(' '),
  parent: { schema, name },
  parentColumns: parentColumns.split(' '),
  exact,
});

/** The mapping that the document is, under another base than its own. */
async function mappingOf(
  tables: readonly Table[],
  options: Partial<DirectMappingOptions> = {},
  parents: readonly Table[] = [],
): Promise<Mapping> {
  const text = directMapping(tables, parents, { ...OPTIONS, ...options });
  const { mapping, diagnostics } = await readMapping([{ name: 'dm.ttl', text }], { baseIri: 'http://elsewhere/' });
  expect(diagnostics.map(formatDiagnostic)).toEqual([]);
  return mapping;
}

/** Each triples map as lines: logical table, subject, and each predicate with its object. */
function shown(mapping: Mapping): readonly (readonly string[])[] {
  return mapping.triplesMaps.map(({ source, subject, predicateObjects }) => {
    if (source.kind !== 'sql' || subject.kind !== 'term') throw new Error('not what a direct mapping has');
    return [
      source.content.kind === 'table' ? source.content.name : source.content.sql.trim(),
      `${subject.termType} ${expressionText(subject.expression)}`,
      ...predicateObjects.map(({ predicates: [predicate], objects: [object] }) => {
        if (predicate?.expression.kind !== 'constant' || object?.kind !== 'term') throw new Error('not what a direct mapping has');
        return `${predicate.expression.term.value.replace(BASE, '')} ${object.termType} ${expressionText(object.expression).replace(BASE, '')}`;
      }),
    ];
  });
}

describe('the document', () => {
  const people = table('People', 'ID! name boss', { primaryKey: ['ID'] });

  test('names rows by their primary key, columns and references by table and column', async () => {
    const mapping = await mappingOf([{ ...people, foreignKeys: [references('boss', 'People', 'ID')] }]);
    expect(shown(mapping)).toEqual([
      [
        '"People"',
        `iri ${BASE}People/ID={"ID"}`,
        'People#ID literal "ID"',
        'People#name literal "name"',
        'People#boss literal "boss"',
        'People#ref-boss iri People/ID={"boss"}',
      ],
    ]);
    expect(mapping.triplesMaps[0]?.subject.classes.map(({ expression }) => expressionText(expression))).toEqual([`"${BASE}People"`]);
  });

  test('puts the columns of a reference where those of the key stand', async () => {
    const parent = table('P', 'a! b!', { primaryKey: ['b', 'a'] });
    const child = table('C', 'id! x y', { primaryKey: ['id'], foreignKeys: [references('x y', 'P', 'a b')] });
    expect(shown(await mappingOf([child, parent]))[0]?.at(-1)).toBe('C#ref-x;y iri P/b={"y"};a={"x"}');
  });

  test.each([
    ['a reference to another key', true, 'code', 'parent."code"'],
    ['a reference whose texts can differ', false, 'id', 'parent."id"'],
  ])('joins in SQL for %s', async (_, exact, column, compared) => {
    const parent = table('P', 'id! code!', { primaryKey: ['id'], uniqueKeys: [['code']] });
    const child = table('C', 'id! x', { primaryKey: ['id'], foreignKeys: [references('x', 'P', column, exact)] });
    const [, join] = shown(await mappingOf([child, parent]));
    expect(join).toEqual([
      `SELECT child."id" AS "child 1", parent."id" AS "parent 1"\nFROM "C" AS child\nJOIN "P" AS parent ON child."x" = ${compared}`,
      `iri ${BASE}C/id={"child 1"}`,
      'C#ref-x iri P/id={"parent 1"}',
    ]);
  });

  test('makes a blank node of a row without primary key: by a required unique column, else by a number of the row', async () => {
    const parent = table('P', 'code! other', { uniqueKeys: [['other'], ['code']] });
    const child = table('C', 'row x', { foreignKeys: [references('x', 'P', 'code')] });
    expect(shown(await mappingOf([child, parent]))).toEqual([
      [
        'SELECT t.tableoid || t.ctid::text AS "row_", t.* FROM "C" AS t',
        `blank ${BASE}C/row_={"row_"}`,
        'C#row literal "row"',
        'C#x literal "x"',
        'C#ref-x blank P/code={"x"}',
      ],
      ['"P"', `blank ${BASE}P/code={"code"}`, 'P#code literal "code"', 'P#other literal "other"'],
    ]);
  });

  test('writes the SQL of MySQL with its own quotes, and R2RML with those of the standard', async () => {
    const mapping = await mappingOf([table('a`b"c', 'x')], { product: 'mysql' });
    const [sql, subject, column] = shown(mapping)[0] as readonly string[];
    const order = "SHA2(CONCAT_WS(',', COALESCE(SHA2(t.`x`, 256), '')), 256)";
    expect(sql).toBe(`SELECT ROW_NUMBER() OVER (ORDER BY ${order}) AS \`row\`, t.* FROM \`a\`\`b"c\` AS t`);
    expect(subject).toBe(`blank ${BASE}a%60b%22c/row={"row"}`);
    expect(column).toBe('a%60b%22c#x literal "x"');
    const keyed = table('t"u', 'k', { primaryKey: ['k'] });
    expect(shown(await mappingOf([keyed], { product: 'mysql' }))[0]?.[0]).toBe('"t""u"');
  });

  test.each([
    ['spaces', 'Country Info', 'Country%20Info'],
    ['characters of every script', '植物', '植物'],
    ['what separates parts of IRIs', 'a/b;c=d#e?f:g%', 'a%2Fb%3Bc%3Dd%23e%3Ff%3Ag%25'],
    ['braces and backslashes', 'a{b}c\\d', 'a%7Bb%7Dc%5Cd'],
    ['quotes', `it's "so"`, 'it%27s%20%22so%22'],
    ['line breaks', 'two\nlines\r', 'two%0Alines%0D'],
    ['quotes at the end and in threes', '"""x"', '%22%22%22x%22'],
    ['dots alone', '..', '..'],
  ])('takes names of %s', async (_, name, encoded) => {
    const quoted = `"${name.replaceAll('"', '""')}"`;
    const keyed: Table = { ...table(name, 'x'), columns: [{ name, nullable: false }], primaryKey: [name] };
    const [[source, subject, column]] = shown(await mappingOf([keyed])) as [string[]];
    expect([source, subject]).toEqual([quoted, `iri ${BASE}${encoded}/${encoded}={${quoted}}`]);
    expect(column).toBe(`${encoded}#${encoded} literal ${quoted}`);
    const row = shown(await mappingOf([{ ...keyed, primaryKey: undefined }]))[0]?.[0];
    expect(row).toBe(`SELECT t.tableoid || t.ctid::text AS "row", t.* FROM ${quoted} AS t`);
  });

  test.each([
    ['http://e/a/b', 'http://e/a/'],
    ['http://e/a/b?c/d#e/f', 'http://e/a/'],
    ['http://e', 'http://e/'],
    ['urn:example:', 'urn:'],
    ['file:///a/b', 'file:///a/'],
  ])('resolves against %s as relative IRIs are', (base, directory) => {
    const text = directMapping([people], [], { ...OPTIONS, base });
    expect(text).toContain(`@base <${directory}> .`);
    expect(text).toContain(`'${directory}People/ID={"ID"}'`);
  });

  test('sets the schema before the tables of all schemas but one', async () => {
    const sales = { ...people, schema: 'sales', foreignKeys: [references('boss', 'People', 'ID', true, 'public')] };
    const [, other] = shown(await mappingOf([people, sales]));
    expect(other).toEqual([
      '"sales"."People"',
      `iri ${BASE}sales/People/ID={"ID"}`,
      ...['ID', 'name', 'boss'].map((name) => `sales/People#${name} literal "${name}"`),
      'sales/People#ref-boss iri People/ID={"boss"}',
    ]);
    expect(shown(await mappingOf([sales], { plainSchema: 'sales' }, [people]))[0]?.[1]).toBe(`iri ${BASE}People/ID={"ID"}`);
  });

  test('gives several references of the same columns a triples map each', async () => {
    const first = table('P', 'id! code', { primaryKey: ['id'], uniqueKeys: [['code']] });
    const second = { ...first, name: 'Q' };
    const keys = [references('x', 'P', 'code'), references('x', 'Q', 'code'), references('x', 'Q', 'code')];
    const child = table('C', 'id! x', { primaryKey: ['id'], foreignKeys: keys });
    const mapping = await mappingOf([child, first, second]);
    expect(mapping.triplesMaps.map(({ id }) => id.replace(BASE, ''))).toEqual(['#C', '#C;ref=x', '#C;ref=x=2', '#P', '#Q']);
  });

  test('says which reference it leaves out because its table is not there', async () => {
    const child = { ...people, foreignKeys: [references('boss', 'Gone\nTable', 'ID')] };
    expect(directMapping([child], [], OPTIONS)).toContain('\n# boss references public.Gone Table, which is not there.\n');
    expect(shown(await mappingOf([child]))).toHaveLength(1);
  });
});

/** Keys of every kind, nulls, names that need quotes and encoding, and rows that are equal. */
const SCHEMA = `
  CREATE TABLE "Town Hall" ("no" INT PRIMARY KEY, "größe" VARCHAR(20) UNIQUE, "code" VARCHAR(9) NOT NULL UNIQUE);
  CREATE TABLE "Person" ("first" VARCHAR(10), "last" VARCHAR(10), "born" DATE, "boss first" VARCHAR(10), "boss last" VARCHAR(10), "hall" INT,
    PRIMARY KEY ("last", "first"),
    FOREIGN KEY ("boss last", "boss first") REFERENCES "Person" ("last", "first"),
    FOREIGN KEY ("hall") REFERENCES "Town Hall" ("no"));
  CREATE TABLE "Employee" ("no" INT PRIMARY KEY, "size" VARCHAR(20), "code" VARCHAR(9),
    FOREIGN KEY ("no") REFERENCES "Town Hall" ("no"),
    FOREIGN KEY ("size") REFERENCES "Town Hall" ("größe"),
    FOREIGN KEY ("code") REFERENCES "Town Hall" ("code"));
  CREATE TABLE "Badge" ("code" INT NOT NULL UNIQUE, "text" VARCHAR(20));
  CREATE TABLE "Visit" ("badge" INT, "note" VARCHAR(2000), "seat" INT UNIQUE, FOREIGN KEY ("badge") REFERENCES "Badge" ("code"));
  CREATE TABLE "Stay" ("id" INT PRIMARY KEY, "seat" INT, FOREIGN KEY ("seat") REFERENCES "Visit" ("seat"));
  INSERT INTO "Town Hall" VALUES (1, 'small; tiny', 'A'), (2, NULL, 'B');
  INSERT INTO "Person" VALUES ('Ann', 'O''Hara', '1980-02-29', NULL, NULL, 1);
  INSERT INTO "Person" VALUES ('Bob', 'x=y;z/1', NULL, 'Ann', 'O''Hara', NULL);
  INSERT INTO "Person" VALUES ('Eve', 'Ünal', NULL, NULL, 'O''Hara', 2);
  INSERT INTO "Employee" VALUES (1, 'small; tiny', 'B'), (2, NULL, NULL);
  INSERT INTO "Badge" VALUES (7, 'red'), (8, NULL);
  INSERT INTO "Visit" VALUES (7, 'same', NULL), (7, 'same', NULL), (7, 'SAME', NULL), (8, NULL, 5), (NULL, NULL, NULL), (NULL, NULL, NULL);
  INSERT INTO "Stay" VALUES (1, 5), (2, NULL);
`;

const GRAPH = `
  @base <${BASE}> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
  <Town%20Hall/no=1> a <Town%20Hall> ; <Town%20Hall#no> 1 ; <Town%20Hall#größe> "small; tiny" ; <Town%20Hall#code> "A" .
  <Town%20Hall/no=2> a <Town%20Hall> ; <Town%20Hall#no> 2 ; <Town%20Hall#code> "B" .
  <Person/last=O%27Hara;first=Ann> a <Person> ; <Person#first> "Ann" ; <Person#last> "O'Hara" ; <Person#born> "1980-02-29"^^xsd:date ;
    <Person#hall> 1 ; <Person#ref-hall> <Town%20Hall/no=1> .
  <Person/last=x%3Dy%3Bz%2F1;first=Bob> a <Person> ; <Person#first> "Bob" ; <Person#last> "x=y;z/1" ;
    <Person#boss%20first> "Ann" ; <Person#boss%20last> "O'Hara" ; <Person#ref-boss%20last;boss%20first> <Person/last=O%27Hara;first=Ann> .
  <Person/last=Ünal;first=Eve> a <Person> ; <Person#first> "Eve" ; <Person#last> "Ünal" ; <Person#boss%20last> "O'Hara" ;
    <Person#hall> 2 ; <Person#ref-hall> <Town%20Hall/no=2> .
  <Employee/no=1> a <Employee> ; <Employee#no> 1 ; <Employee#size> "small; tiny" ; <Employee#code> "B" ;
    <Employee#ref-no> <Town%20Hall/no=1> ; <Employee#ref-size> <Town%20Hall/no=1> ; <Employee#ref-code> <Town%20Hall/no=2> .
  <Employee/no=2> a <Employee> ; <Employee#no> 2 ; <Employee#ref-no> <Town%20Hall/no=2> .
  _:red a <Badge> ; <Badge#code> 7 ; <Badge#text> "red" .
  _:plain a <Badge> ; <Badge#code> 8 .
  [] a <Visit> ; <Visit#badge> 7 ; <Visit#note> "same" ; <Visit#ref-badge> _:red .
  [] a <Visit> ; <Visit#badge> 7 ; <Visit#note> "same" ; <Visit#ref-badge> _:red .
  [] a <Visit> ; <Visit#badge> 7 ; <Visit#note> "SAME" ; <Visit#ref-badge> _:red .
  _:seat a <Visit> ; <Visit#badge> 8 ; <Visit#ref-badge> _:plain ; <Visit#seat> 5 .
  [] a <Visit> .
  [] a <Visit> .
  <Stay/id=1> a <Stay> ; <Stay#id> 1 ; <Stay#seat> 5 ; <Stay#ref-seat> _:seat .
  <Stay/id=2> a <Stay> ; <Stay#id> 2 .
`;

/** Rows whose order a server could take either way, twice referenced: their numbers must meet in each query. */
const ALIKE = `
  CREATE TABLE "T" ("k" INT UNIQUE, "long" TEXT, "case" VARCHAR(9));
  CREATE TABLE "R" ("id" INT PRIMARY KEY, "k" INT, FOREIGN KEY ("k") REFERENCES "T" ("k"));
`;

/** The cases live outside of the project, and need not be there. */
const CASES = resolve(PROJECT_ROOT, '../shared/conformance/w3c-rdb2rdf');
const CASE_NAMES = existsSync(CASES) ? readdirSync(CASES).filter((name) => existsSync(join(CASES, name, 'directGraph.ttl'))) : [];

describe.each(SERVERS_ALONE)('the direct graph of a database on %s', (product, missing) => {
  let server: TestDatabases;
  let directory: string;
  const own = product === 'postgresql' ? 'public' : 'test';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'quadmill-direct-mapping-test-'));
    if (missing === undefined) server = await startDatabases(product);
  }, 60_000);
  afterAll(async () => {
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const check: (name: string, body: () => Promise<void>) => void =
    missing === undefined ? test : (name, body) => test.skip(`${name} (not tested: ${missing})`, body);

  /** What the command writes, and what it says. */
  async function graphOf(...options: readonly string[]): Promise<string> {
    const output = join(directory, 'graph.nq');
    await rm(output, { force: true });
    const { code, said } = await command(server.jdbcUrl, ...options, '-o', output);
    expect([code, said]).toEqual([0, '']);
    return readFile(output, 'utf8');
  }

  async function command(...args: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
    const write = process.stderr.write;
    let said = '';
    process.stderr.write = (text: string | Uint8Array) => {
      said += text;
      return true;
    };
    try {
      return { code: await main(['direct-mapping', ...args]), said };
    } finally {
      process.stderr.write = write;
    }
  }

  const expectGraph = (actual: string, expected: string): void => {
    const given = { text: actual, mediaType: 'application/n-quads', baseIri: BASE };
    expect(difference(given, { text: expected, mediaType: 'text/turtle', baseIri: BASE })).toBeUndefined();
  };

  check('has every kind of key and reference', async () => {
    await server.load(SCHEMA);
    expectGraph(await graphOf(), GRAPH);
  });

  check('comes from the printed document as well, under whatever base that is run', async () => {
    await server.load(SCHEMA);
    const [mapping, output] = [join(directory, 'dm.ttl'), join(directory, 'run.nq')];
    expect(await command(server.jdbcUrl, '--r2rml', '-o', mapping)).toEqual({ code: 0, said: '' });
    expect(await main(['run', mapping, '--jdbc-url', server.jdbcUrl, '--base', 'http://other/', '-o', output])).toBe(0);
    expectGraph(await readFile(output, 'utf8'), GRAPH);
  });

  check('has the rows of the tables and views that are asked for', async () => {
    await server.load(`${SCHEMA} CREATE VIEW "seats" AS SELECT "seat" FROM "Visit" WHERE "seat" IS NOT NULL;`);
    expectGraph(
      await graphOf('--table', 'Stay', '--table', `${own}.Badge`, '--table', 'seats'),
      `<Stay/id=1> a <Stay> ; <Stay#id> 1 ; <Stay#seat> 5 ; <Stay#ref-seat> [] .
      <Stay/id=2> a <Stay> ; <Stay#id> 2 .
      [] a <Badge> ; <Badge#code> 7 ; <Badge#text> "red" . [] a <Badge> ; <Badge#code> 8 .
      [] a <seats> ; <seats#seat> 5 .`,
    );
  });

  check('tells rows apart that differ late or in case alone, and meets them again', async () => {
    const long = 'x'.repeat(1500);
    const rows = Array.from({ length: 60 }, (_, i) => [i, `${long}${i % 20}`, i % 2 ? 'word' : 'WORD'] as const);
    const values = (list: readonly string[]): string => list.map((row) => `(${row})`).join(', ');
    await server.load(`${ALIKE}
      INSERT INTO "T" VALUES ${values(rows.map(([k, text, word]) => `${k}, '${text}', '${word}'`))};
      INSERT INTO "R" VALUES ${values(rows.map(([k]) => `${k}, ${k}`))};`);
    const wanted = rows.map(
      ([k, text, word]) => `_:n${k} a <T> ; <T#k> ${k} ; <T#long> "${text}" ; <T#case> "${word}" .
        <R/id=${k}> a <R> ; <R#id> ${k} ; <R#k> ${k} ; <R#ref-k> _:n${k} .`,
    );
    expectGraph(await graphOf(), wanted.join('\n'));
  });

  check('follows a reference between texts that the server calls equal', async () => {
    const insensitive = {
      postgresql: `CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        CREATE TABLE "P" ("k" TEXT COLLATE ci PRIMARY KEY); CREATE TABLE "C" ("k" TEXT COLLATE ci PRIMARY KEY REFERENCES "P" ("k"));`,
      mariadb: `CREATE TABLE "P" ("k" VARCHAR(9) PRIMARY KEY); CREATE TABLE "C" ("k" VARCHAR(9) PRIMARY KEY, FOREIGN KEY ("k") REFERENCES "P" ("k"));`,
    };
    await server.load(`${insensitive[product]} INSERT INTO "P" VALUES ('Word'); INSERT INTO "C" VALUES ('WORD');`);
    expectGraph(await graphOf(), '<P/k=Word> a <P> ; <P#k> "Word" . <C/k=WORD> a <C> ; <C#k> "WORD" ; <C#ref-k> <P/k=Word> .');
  });

  check('has the tables of several schemas, the first without a name', async () => {
    await server.load(`CREATE SCHEMA "far away"; CREATE TABLE "T" ("id" INT PRIMARY KEY); INSERT INTO "T" VALUES (1);
      CREATE TABLE "far away"."T" ("id" INT PRIMARY KEY, "t" INT, FOREIGN KEY ("t") REFERENCES ${own}."T" ("id"));
      CREATE TABLE "far away"."U" ("x" INT); INSERT INTO "far away"."T" VALUES (2, 1); INSERT INTO "far away"."U" VALUES (3);`);
    const home = '<T/id=1> a <T> ; <T#id> 1 .';
    expectGraph(await graphOf(), home);
    expectGraph(
      await graphOf('--schema', own, '--schema', 'far away'),
      `${home} <far%20away/T/id=2> a <far%20away/T> ; <far%20away/T#id> 2 ; <far%20away/T#t> 1 ; <far%20away/T#ref-t> <T/id=1> .
      [] a <far%20away/U> ; <far%20away/U#x> 3 .`,
    );
    expectGraph(
      await graphOf('--schema', 'far away'),
      `<T/id=2> a <T> ; <T#id> 2 ; <T#t> 1 ; <T#ref-t> <${own}/T/id=1> . [] a <U> ; <U#x> 3 .`,
    );
  });

  check('is refused in words where there is nothing to map', async () => {
    await server.load('CREATE TABLE "Student" ("id" INT PRIMARY KEY)');
    const answer = async (...options: readonly string[]): Promise<string> => {
      const { code, said } = await command(server.jdbcUrl, ...options);
      expect(code).toBe(2);
      return said;
    };
    expect(await answer('--table', 'Studnt')).toMatch(/has no table or view 'Studnt'.*did you mean Student\?/s);
    expect(await answer('--schema', 'nowhere')).toContain(`has no schema 'nowhere', or no table in it`);
    await server.load('SELECT 1');
    expect(await answer()).toContain(`has no table in ${own}`);
  });

  if (product === 'postgresql') {
    check('numbers the rows of partitions and heirs, and of tables without columns', async () => {
      await server.load(`
        CREATE TABLE "P" ("k" INT) PARTITION BY RANGE ("k");
        CREATE TABLE "P1" PARTITION OF "P" FOR VALUES FROM (0) TO (10);
        CREATE TABLE "P2" PARTITION OF "P" FOR VALUES FROM (10) TO (20);
        INSERT INTO "P" VALUES (1), (11);
        CREATE TABLE "E" (); INSERT INTO "E" DEFAULT VALUES; INSERT INTO "E" DEFAULT VALUES;
        CREATE TABLE "A" ("x" INT PRIMARY KEY); CREATE TABLE "B" () INHERITS ("A");
        INSERT INTO "A" VALUES (1); INSERT INTO "B" VALUES (1);`);
      expectGraph(
        await graphOf(),
        '[] a <P> ; <P#k> 1 . [] a <P> ; <P#k> 11 . [] a <E> . [] a <E> . [] a <A> ; <A#x> 1 . [] a <A> ; <A#x> 1 . [] a <B> ; <B#x> 1 .',
      );
    });
  }

  describe('equals that of the W3C', () => {
    if (CASE_NAMES.length === 0) test.skip(`in all cases (not tested: there is no ${CASES})`, () => undefined);
    for (const name of CASE_NAMES) {
      check(name, async () => {
        await server.load(await readFile(join(CASES, name, 'create.sql'), 'utf8'));
        expectGraph(await graphOf(), await readFile(join(CASES, name, 'directGraph.ttl'), 'utf8'));
      });
    }
  });
});

describe('the command line of direct-mapping', () => {
  test.each([
    [[], 'direct-mapping needs a JDBC URL'],
    [['jdbc:postgresql://h/a', 'jdbc:postgresql://h/b'], 'takes one database, not 2'],
    [['jdbc:h2:mem:x'], 'h2'],
    [['http://h/a'], 'JDBC'],
    [['jdbc:postgresql://h/a', '--base', 'here'], 'expected is an absolute IRI'],
    [['jdbc:postgresql://h/a', '--db-password-file', '/nowhere/secret'], '/nowhere/secret'],
  ])('refuses %j', async (args, message) => {
    const write = process.stderr.write;
    let said = '';
    process.stderr.write = (text: string | Uint8Array) => {
      said += text;
      return true;
    };
    try {
      expect(await main(['direct-mapping', ...args])).toBeGreaterThan(0);
    } finally {
      process.stderr.write = write;
    }
    expect(said).toContain(message);
  });
});
