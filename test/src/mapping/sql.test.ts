import { describe, expect, test } from '@jest/globals';
import { Secret } from '../../../src/core/secret.ts';
import { formatDiagnostic } from '../../../src/mapping/model/diagnostics.ts';
import type { SqlSource } from '../../../src/mapping/model/model.ts';
import { readMapping } from '../../../src/mapping/parse/read.ts';
import { readQuery } from '../../../src/mapping/parse/source/sql-query.ts';

const PREFIXES = `@prefix rml: <http://w3id.org/rml/> . @prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix old: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> . @prefix d2rq: <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#> . @prefix ex: <http://e/> .
`;
const PASSWORD = 'S3cr3t';
const DATABASE = `<#db> a d2rq:Database ; d2rq:jdbcDSN "jdbc:postgresql://h/d" ; d2rq:username "u" ; d2rq:password "${PASSWORD}" .`;

const read = (text: string) => readMapping([{ name: 'm.ttl', text: PREFIXES + text }], { baseIri: 'http://b/' });

/** The findings, one to a line; none of them may hold the password of `DATABASE`. */
function findings({ diagnostics }: Awaited<ReturnType<typeof read>>): string[] {
  const lines = diagnostics.map(formatDiagnostic);
  expect(lines.join('\n')).not.toContain(PASSWORD);
  return lines.map((line) => line.replace(/^m\.ttl:\d+:\d+: /, '').replaceAll(/\n\s+/g, ' | '));
}

async function sourceOf(text: string): Promise<SqlSource> {
  const result = await read(text);
  expect(findings(result)).toEqual([]);
  const source = result.mapping.triplesMaps[0]?.source;
  if (source?.kind !== 'sql') throw new Error('no SQL source was read');
  return source;
}

const contentOf = ({ content }: SqlSource): string => (content.kind === 'table' ? `table ${content.name}` : `query ${content.sql}`);

const KNOWN_VERSIONS =
  'known are rr:SQL2008, rr:Oracle, rr:MySQL, rr:MSSQLServer, rr:HSQLDB, rr:PostgreSQL, rr:DB2, rr:Informix, rr:Ingres, rr:Progress, rr:SybaseASE, rr:SybaseSQLAnywhere, rr:Virtuoso, rr:Firebird; without one, queries go to the database as they are';

describe('the logical table of R2RML', () => {
  test.each([
    ['a table', 'rr:tableName "student"', 'table student'],
    ['a delimited name, quotes kept', String.raw`rr:tableName "\"Country Info\""`, 'table "Country Info"'],
    ['a name with a schema', 'rr:tableName " hr.emp "', 'table hr.emp'],
    ['a query', 'rr:sqlQuery "SELECT 1" ; rr:sqlVersion rr:SQL2008', 'query SELECT 1'],
    ['a query with a semicolon', 'rr:sqlQuery """\n  SELECT 1 ; -- all\n """', 'query SELECT 1'],
    ['what its classes say', 'a rr:LogicalTable, rr:BaseTableOrView ; rr:tableName "t"', 'table t'],
    ['a query of class rr:R2RMLView', 'a rr:R2RMLView ; rr:sqlQuery "TABLE t"', 'query TABLE t'],
  ])('is %s', async (_, body, expected) => {
    const source = await sourceOf(`<m> rr:logicalTable [ ${body} ] ; rr:subject ex:s .`);
    expect(contentOf(source)).toBe(expected);
    expect(source).toMatchObject({ connection: undefined, references: 'identifiers', nulls: [] });
  });

  test.each([
    ['neither table nor query', '', 'error: a logical table without rr:tableName or rr:sqlQuery | add one of the two'],
    [
      'both',
      'rr:tableName "t" ; rr:sqlQuery "SELECT 1"',
      'error: rr:sqlQuery beside rr:tableName on one logical table, which may have one of them | the other is on line 3',
    ],
    ['an empty table name', 'rr:tableName " "', 'error: rr:tableName takes the name of a table or view, found an empty text'],
    [
      'a query as table name',
      'rr:tableName "SELECT 1"',
      'error: rr:tableName takes the name of a table or view, found a query | for a query, use rml:SQL2008Query, rml:query or rr:sqlQuery',
    ],
    [
      'an IRI as table name',
      'rr:tableName ex:t',
      'error: rr:tableName takes the name of a table or view in quotes, found <http://e/t> | write it in quotes',
    ],
    ['an empty query', 'rr:sqlQuery ""', 'error: rr:sqlQuery takes one SELECT, found an empty text'],
    [
      'two statements',
      'rr:sqlQuery "SELECT 1; DROP TABLE t"',
      'error: rr:sqlQuery takes one SELECT, found several statements | write one query for each logical source, without ; between',
    ],
    [
      'a version in quotes',
      'rr:tableName "t" ; rr:sqlVersion "SQL2008"',
      `error: rr:sqlVersion takes an IRI such as rr:SQL2008, found the text "SQL2008" | ${KNOWN_VERSIONS}`,
    ],
    [
      'an unknown version',
      'rr:tableName "t" ; rr:sqlVersion rr:SQL1979',
      `error: rr:SQL1979 is no SQL version that R2RML knows | ${KNOWN_VERSIONS}`,
    ],
    [
      'a misspelt version',
      'rr:tableName "t" ; rr:sqlVersion rr:SQL2003',
      `error: rr:SQL2003 is no SQL version that R2RML knows | did you mean rr:SQL2008? ${KNOWN_VERSIONS}`,
    ],
    [
      'a version of another vocabulary',
      'rr:tableName "t" ; rr:sqlVersion ex:Spark',
      `warning: <http://e/Spark> is no SQL version that R2RML knows | ${KNOWN_VERSIONS}`,
    ],
    ['a misspelt property', 'rr:tablename "t"', 'error: there is no property rr:tablename | did you mean rr:tableName?'],
    [
      'a source of RML',
      'old:source <#db> ; rr:tableName "t"',
      'error: rml:source does not belong on a logical table | it belongs on a logical source',
    ],
  ])('with %s gives one finding', async (_, body, expected) => {
    expect(findings(await read(`${DATABASE} <m> rr:logicalTable [ ${body} ] ; rr:subject ex:s .`))).toEqual([expected]);
  });

  test('names columns by SQL identifiers, whose quotes stay in references, templates and join conditions', async () => {
    const { mapping, diagnostics } = await read(String.raw`<m> rr:logicalTable [ rr:tableName "t" ] ;
      rr:subjectMap [ rr:template "{\"ID\"}/\\{{\"Na me\"}" ; rr:termType rr:BlankNode ; rr:inverseExpression "{\"ID\"} = substr({id}, 2)" ] ;
      rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rr:column "\"ID\"" ; rr:language "en" ] ] ;
      rr:predicateObjectMap [ rr:predicate ex:q ; rr:objectMap [ rr:parentTriplesMap <m> ; rr:joinCondition [ rr:child "\"A\"" ; rr:parent "b" ] ] ] .`);
    expect(diagnostics).toEqual([]);
    const [map] = mapping.triplesMaps;
    expect(map).toMatchObject({
      dialect: 'r2rml',
      subject: {
        termType: 'blank',
        expression: {
          parts: [
            { kind: 'reference', reference: '"ID"' },
            { kind: 'text', text: '/{' },
            { kind: 'reference', reference: '"Na me"' },
          ],
        },
      },
      predicateObjects: [
        { objects: [{ termType: 'literal', expression: { reference: '"ID"' } }] },
        { objects: [{ conditions: [{ child: { reference: '"A"' }, parent: { reference: 'b' } }] }] },
      ],
    });
  });

  test.each([
    ['an IRI', 'ex:a', /^error: rr:inverseExpression takes a template in quotes/],
    ['a brace that is never closed', '"{a = 1"', /^error: the template "\{a = 1" has an opening brace that is never closed/],
    ['no column', '"a = 1"', /^warning: rr:inverseExpression refers to no column/],
  ])('says when an inverse expression is or has %s', async (_, inverse, expected) => {
    const result = await read(
      `<m> rr:logicalTable [ rr:tableName "t" ] ; rr:subjectMap [ rr:template "{a}" ; rr:inverseExpression ${inverse} ] .`,
    );
    expect(findings(result)).toEqual([expect.stringMatching(expected)]);
  });
});

describe('a logical source over a database', () => {
  test.each([
    ['today’s table', 'rml', 'rml:source <#db> ; rml:referenceFormulation rml:SQL2008Table ; rml:iterator "student"', 'table student'],
    ['today’s query', 'rml', 'rml:source <#db> ; rml:referenceFormulation rml:SQL2008Query ; rml:iterator " SELECT 1; "', 'query SELECT 1'],
    [
      'today’s query in rml:query',
      'rml',
      'rml:source <#db> ; rml:referenceFormulation rml:SQL2008Query ; rml:query "SELECT 1"',
      'query SELECT 1',
    ],
    ['a query alone', 'rml', 'rml:source <#db> ; rml:query "SELECT 1"', 'query SELECT 1'],
    ['the older table', 'old', 'old:source <#db> ; rr:sqlVersion rr:SQL2008 ; rr:tableName "student"', 'table student'],
    ['the older query as CSV', 'old', 'old:source <#db> ; old:query "SELECT 1" ; old:referenceFormulation ql:CSV', 'query SELECT 1'],
    ['the older query as SQL', 'old', 'old:source <#db> ; rr:sqlQuery "SELECT 1" ; old:referenceFormulation ql:SQL2008', 'query SELECT 1'],
    ['rr:SQL2008 as a formulation', 'old', 'old:source <#db> ; rr:tableName "t" ; old:referenceFormulation rr:SQL2008', 'table t'],
  ])('is %s', async (_, dialect, body, expected) => {
    const source = await sourceOf(`${DATABASE} <m> ${dialect}:logicalSource <#source> ; rr:subject ex:s . <#source> ${body} .`);
    expect(contentOf(source)).toBe(expected);
    expect(source).toMatchObject({ references: 'labels', ids: ['http://b/#source', 'http://b/#db'] });
    expect(source.connection).toMatchObject({
      jdbcUrl: 'jdbc:postgresql://h/d',
      driver: undefined,
      user: 'u',
      password: new Secret(PASSWORD),
    });
  });

  test.each([
    ['today', 'rml:logicalSource [ rml:referenceFormulation rml:SQL2008Table ; rml:iterator "student" ]'],
    ['before', 'old:logicalSource [ rr:tableName "student" ]'],
  ])('is the database of the run when no source is named: %s', async (_, source) => {
    expect(await sourceOf(`<m> ${source} ; rr:subject ex:s .`)).toMatchObject({ connection: undefined, references: 'labels' });
  });

  test('takes nulls and the driver from the source, an empty password as one, and reads over rml:Source', async () => {
    const source =
      await sourceOf(`<m> rml:logicalSource [ rml:source <db> ; rml:referenceFormulation rml:SQL2008Table ; rml:iterator "t" ] ; rml:subject ex:s .
      <db> a rml:Source, d2rq:Database ; d2rq:jdbcDSN " jdbc:mysql://h/d " ; d2rq:jdbcDriver "com.mysql.cj.jdbc.Driver" ; d2rq:password "" ; rml:null "-", "n/a" .`);
    expect(source.nulls).toEqual(['-', 'n/a']);
    expect(source.connection).toMatchObject({
      jdbcUrl: 'jdbc:mysql://h/d',
      driver: 'com.mysql.cj.jdbc.Driver',
      user: undefined,
      password: new Secret(''),
    });
  });

  test.each([
    [
      'a table without an iterator',
      'rml',
      'rml:source <#db> ; rml:referenceFormulation rml:SQL2008Table',
      'error: rml:SQL2008Table without rml:iterator | name the table or view: rml:iterator "student"',
    ],
    [
      'a query without an iterator',
      'rml',
      'rml:source <#db> ; rml:referenceFormulation rml:SQL2008Query',
      'error: rml:SQL2008Query without rml:iterator | add the query: rml:iterator "SELECT … FROM …"',
    ],
    [
      'a table that is a query',
      'rml',
      'rml:source <#db> ; rml:referenceFormulation rml:SQL2008Table ; rml:query "SELECT 1"',
      'error: rml:query beside rml:SQL2008Table, whose records are the rows of a table | for a query, use rml:SQL2008Query',
    ],
    [
      'a query that is a table',
      'rml',
      'rml:source <#db> ; rml:referenceFormulation rml:SQL2008Query ; rml:iterator "student"',
      'error: rml:iterator takes one SELECT, found "student" | a query only reads; a whole table is named with rml:SQL2008Table or rr:tableName',
    ],
    [
      'two queries',
      'rml',
      'rml:source <#db> ; rml:referenceFormulation rml:SQL2008Query ; rml:iterator "SELECT 1" ; rml:query "SELECT 2"',
      'error: rml:query beside rml:iterator on one logical source, which may have one of them | the other is on line 3',
    ],
    [
      'nothing to read',
      'rml',
      'rml:source <#db> ; rml:iterator "student"',
      'error: a logical source over a database that names neither a table nor a query | add rml:referenceFormulation rml:SQL2008Table ; rml:iterator "student", or rml:SQL2008Query with a query (older RML: rr:tableName or rml:query)',
    ],
    [
      'a formulation of documents',
      'rml',
      'rml:source <#db> ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$"',
      'error: rml:JSONPath reads documents, and this logical source asks a database | use rml:SQL2008Table with a table in rml:iterator, or rml:SQL2008Query with a query in it',
    ],
    [
      'a misspelt formulation',
      'rml',
      'rml:source <#db> ; rml:referenceFormulation rml:SQL2008Tabel ; rml:iterator "t"',
      'error: there is no reference formulation rml:SQL2008Tabel | did you mean rml:SQL2008Table?',
    ],
    [
      'a file',
      'rml',
      'rml:source [ rml:path "a.csv" ] ; rml:referenceFormulation rml:SQL2008Table ; rml:iterator "t"',
      'error: this logical source asks a database, and its rml:source is none | describe it as [ a d2rq:Database ; d2rq:jdbcDSN "jdbc:…" ; d2rq:username "…" ; d2rq:password "…" ], or leave rml:source out for the database of the run (JDBC_URL)',
    ],
    [
      'a URL in place of its description',
      'rml',
      `rml:source "jdbc:mysql://root:${PASSWORD}@h/d" ; rml:referenceFormulation rml:SQL2008Table ; rml:iterator "t"`,
      expect.stringContaining('error: this logical source asks a database, and its rml:source is none'),
    ],
    [
      'the older JSONPath',
      'old',
      'old:source <#db> ; rr:tableName "t" ; old:referenceFormulation ql:JSONPath',
      'warning: ql:JSONPath has no effect on a database: a reference is the name of a column | remove it, or write ql:CSV',
    ],
    [
      'an iterator of the older kind',
      'old',
      'old:source <#db> ; rr:tableName "t" ; old:iterator "$"',
      'warning: rml:iterator has no effect on a database, whose records are rows | remove it',
    ],
    [
      'a table beside a query',
      'old',
      'old:source <#db> ; rr:tableName "t" ; old:query "SELECT 1"',
      'warning: rr:tableName has no effect beside rml:query | remove the one that is not meant',
    ],
  ])('with %s gives one finding', async (_, dialect, body, expected) => {
    expect(findings(await read(`${DATABASE} <m> ${dialect}:logicalSource [ ${body} ] ; rr:subject ex:s .`))).toEqual([expected]);
  });

  test.each([
    [
      'no JDBC URL',
      'a d2rq:Database ; d2rq:username "u"',
      ['error: a database without d2rq:jdbcDSN | add d2rq:jdbcDSN "jdbc:…", a JDBC URL'],
    ],
    ['an empty JDBC URL', 'd2rq:jdbcDSN ""', ['error: d2rq:jdbcDSN takes a JDBC URL in quotes, found an empty text']],
    [
      'two JDBC URLs',
      `d2rq:jdbcDSN "jdbc:mysql://h/${PASSWORD}", "jdbc:mysql://i/${PASSWORD}"`,
      ['error: a second d2rq:jdbcDSN on one database, which may have one of them'],
    ],
    [
      'a JDBC URL and a password that are IRIs',
      `d2rq:jdbcDSN <jdbc:mysql://u:${PASSWORD}@h/d> ; d2rq:password <${PASSWORD}>`,
      ['error: d2rq:jdbcDSN takes a JDBC URL in quotes, found an IRI', 'error: d2rq:password takes a text in quotes, found an IRI'],
    ],
    [
      'a misspelt password',
      `d2rq:jdbcDSN "jdbc:mysql://h/d" ; d2rq:pasword "${PASSWORD}"`,
      ['warning: d2rq:pasword has no effect here | did you mean d2rq:password?'],
    ],
    [
      'a setting of another engine',
      'd2rq:jdbcDSN "jdbc:mysql://h/d" ; d2rq:fetchSize 50',
      ['warning: d2rq:fetchSize has no effect here | d2rq:jdbcDSN, d2rq:jdbcDriver, d2rq:username, d2rq:password are read'],
    ],
    [
      'what only documents have',
      'd2rq:jdbcDSN "jdbc:mysql://h/d" ; rml:encoding rml:UTF-8 ; rml:compression rml:gzip',
      ['warning: rml:encoding has no effect on a database', 'warning: rml:compression has no effect on a database'],
    ],
    [
      'a path',
      'd2rq:jdbcDSN "jdbc:mysql://h/d" ; rml:path "a.csv"',
      ['error: rml:path does not belong on a database | it belongs on a source or a target'],
    ],
  ])('whose database has %s', async (_, body, expected) => {
    const source = 'rml:logicalSource [ rml:source <#db> ; rml:referenceFormulation rml:SQL2008Table ; rml:iterator "t" ]';
    expect(findings(await read(`<m> ${source} ; rml:subject ex:s . <#db> ${body} .`))).toEqual(expected);
  });

  test.each([
    ['a quote inside', `d2rq:password "a"${PASSWORD}" ; d2rq:username "u" .`],
    ['no quotes', `d2rq:password ${PASSWORD} .`],
    ['no quotes, and a colon', `d2rq:password ${PASSWORD}:x .`],
    ['an end missing', `d2rq:password "${PASSWORD} .`],
    ['two texts', `d2rq:password "x" "${PASSWORD}" .`],
    ['the text on the next line', `d2rq:password\n  ${PASSWORD}! .`],
  ])('is not shown when its password is not Turtle: %s', async (_, body) => {
    expect(findings(await read(`<#db> ${body}`))).toEqual([
      'error: what follows a password or a JDBC URL is not Turtle | write it in quotes, with \\" for a quote and \\\\ for a backslash in it, and a `;` behind it',
    ]);
  });
});

describe('a parent without a join condition', () => {
  const maps = (child: string, parent: string) => `${DATABASE} ${DATABASE.replace('<#db>', '<#same>')}
    <m> ${child} ; rr:subject ex:s ; rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rr:parentTriplesMap <p> ] ] .
    <p> ${parent} ; rr:subjectMap [ rr:template "{a}" ] .`;
  const QUERY = 'rr:logicalTable [ rr:sqlQuery "SELECT 1" ]';
  const TODAY = 'rml:logicalSource [ rml:source [ rml:path "a.csv" ] ]';
  const source = (database: string, table: string) => `old:logicalSource [ old:source <#${database}> ; rr:tableName "${table}" ]`;

  test.each([
    ['the same query', QUERY, QUERY.replace('SELECT 1', 'SELECT 1 ;'), undefined],
    ['the same table of the same database', source('db', 't'), source('same', 't'), undefined],
    ['another table', source('db', 't'), source('db', 'u'), 'warning'],
    ['another database', source('db', 't'), 'old:logicalSource [ rr:tableName "t" ]', 'warning'],
    ['a document', source('db', 't'), 'old:logicalSource [ old:source "t.csv" ]', 'warning'],
    ["a document of today's RML", TODAY, TODAY.replace('a.csv', 'b.csv'), 'error'],
  ])('reads %s', async (_, child, parent, severity) => {
    const { mapping, diagnostics } = await read(maps(child, parent));
    expect(diagnostics.map((found) => `${found.severity} ${found.code}`)).toEqual(
      severity === undefined ? [] : [`${severity} missing-join-condition`],
    );
    expect(mapping.triplesMaps.map(({ name }) => name)).toEqual(severity === 'error' ? ['p'] : ['m', 'p']);
    const [object] = mapping.triplesMaps[0]?.predicateObjects[0]?.objects ?? [];
    expect(object === undefined ? undefined : 'all' in object).toBe(severity === 'error' ? undefined : severity === 'warning');
  });
});

test.each([
  ['rml', '<#db>', 'rml:tableName "t"', 'table t'],
  ['rml', '<#db>', 'rml:sqlVersion rml:SQL2008 ; rml:sqlQuery "SELECT 1"', 'query SELECT 1'],
  ['old', '<#db>', 'old:tableName "t" ; old:sqlVersion rr:SQL2008', 'table t'],
  ['rml', '<#db>', 'rml:query "SELECT 1" ; rml:referenceFormulation rml:SQL2008', 'query SELECT 1'],
])('tables and queries as drafts of RML had them are read, with a warning each: %s:, %s, %s', async (prefix, database, body, content) => {
  const text = `${DATABASE} <m> ${prefix}:logicalSource [ ${prefix}:source ${database} ; ${body} ] ; rr:subjectMap [ rr:template "{a}" ] .`;
  const { mapping, diagnostics } = await read(text);
  const older = body.match(/(?:rml|old):(?:tableName|sql\w+|SQL2008)/g) ?? [];
  expect(diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual(older.map(() => 'warning older-term'));
  expect(contentOf(mapping.triplesMaps[0]?.source as SqlSource)).toBe(content);
});

test('connection and content are frozen with the rest of the model', async () => {
  const source = await sourceOf(`${DATABASE} <m> old:logicalSource [ old:source <#db> ; rr:tableName "t" ] ; rr:subject ex:s .`);
  expect([source, source.content, source.connection, source.nulls].every(Object.isFrozen)).toBe(true);
});

describe('the text of a query', () => {
  test.each([
    ['ends before its semicolon and what follows', ' SELECT 1 ; ; -- x\n/* ; */', 'SELECT 1'],
    ['ends before a comment', 'SELECT 1 /* one */ -- x', 'SELECT 1'],
    ['keeps a semicolon in a text', "SELECT ';' ", "SELECT ';'"],
    ['keeps what looks like a comment in a text', "SELECT '-- ;'; ", "SELECT '-- ;'"],
    ['keeps a semicolon in a name', 'SELECT "a;" FROM t;', 'SELECT "a;" FROM t'],
    ['keeps a text between dollars', "SELECT $q$it's; --$q$ ;", "SELECT $q$it's; --$q$"],
    ['keeps an escaped quote of PostgreSQL', "SELECT E'\\'; --';", "SELECT E'\\'; --'"],
    ['keeps an escaped quote of MySQL', "SELECT 'it\\'s; ' AS a;", "SELECT 'it\\'s; ' AS a"],
    ['keeps a semicolon in a name of MySQL', "SELECT `it's;` FROM t;", "SELECT `it's;` FROM t"],
    ['keeps a semicolon in a name of SQLite', 'SELECT [a;b] FROM [t;] ;', 'SELECT [a;b] FROM [t;]'],
    ['keeps a subscript', 'SELECT a[1] FROM t;', 'SELECT a[1] FROM t'],
    ['keeps what is a comment to one product alone', 'SELECT 5--3', 'SELECT 5--3'],
    ['stays as it is where products differ on what is text', "SELECT 'a\\'; -- '", "SELECT 'a\\'; -- '"],
    ['stays as it is where products differ on what is a comment', "SELECT a #> '{x}' ;", "SELECT a #> '{x}' ;"],
    ['is one where MySQL alone sees a comment', 'SELECT 1 # a; b\nFROM t', 'SELECT 1 # a; b\nFROM t'],
    ['may begin with a comment', '-- rows\nWITH a AS (SELECT 1) TABLE a', '-- rows\nWITH a AS (SELECT 1) TABLE a'],
    ['keeps what SQL Server has between brackets', 'SELECT [a;b] FROM t', 'SELECT [a;b] FROM t'],
    ['keeps the quotes of Oracle', "SELECT q'[a;'b]' FROM t", "SELECT q'[a;'b]' FROM t"],
    ['may begin with a parenthesis', '(SELECT 1) UNION (SELECT 2);', '(SELECT 1) UNION (SELECT 2)'],
  ])('%s', (_, text, sql) => {
    expect(readQuery(text)).toEqual({ kind: 'query', sql });
  });

  test.each([
    ['nothing', ' \n', 'an empty text'],
    ['comments alone', '-- SELECT 1\n;', 'nothing but comments'],
    ['another statement', 'UPDATE t SET a = 1', '"UPDATE t SET a = 1"'],
    ['a word that begins like one', 'selection', '"selection"'],
    ['two statements', "SELECT ';' ; DELETE FROM t", 'several statements'],
    ['two statements with subscripts', 'SELECT a[1] ; SELECT b[2]', 'several statements'],
  ])('is refused for %s', (_, text, found) => {
    expect(readQuery(text)).toMatchObject({ kind: 'fault', found });
  });

  test('may be long', () => {
    const text = `SELECT '${"a''".repeat(300_000)}' ;`;
    expect(readQuery(text)).toEqual({ kind: 'query', sql: text.slice(0, -2) });
  });
});
