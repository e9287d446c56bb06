/** The statements of scans as each product gets them: golden, since no server of SQL Server and Oracle takes part in tests. */
import { describe, expect, test } from '@jest/globals';
import { metadataOf } from '../../../../src/run/databases/metadata.ts';
import type { Column, Product, SqlSession } from '../../../../src/sql/database.ts';
import { DIALECTS } from '../../../../src/sql/dialects/dialects.ts';
import { columnOf as oracleColumn } from '../../../../src/sql/drivers/oracle/types.ts';
import { columnOf as sqlServerColumn } from '../../../../src/sql/drivers/sqlserver/types.ts';
import { boundsQuery, joinQuery, type Relation, type Side, selectQuery } from '../../../../src/sql/select.ts';

const COLUMNS: Readonly<Record<'sqlserver' | 'oracle', readonly Column[]>> = {
  sqlserver: [
    ['id', 'int'],
    ['name', 'nvarchar(50)'],
    ['born', 'date'],
  ].map(([name = '', type = '']) => sqlServerColumn({ name, type, clr: undefined })),
  oracle: [
    { name: 'ID', dbTypeName: 'NUMBER', precision: 9, scale: 0 },
    { name: 'NAME', dbTypeName: 'VARCHAR2', byteSize: 50 },
    { name: 'BORN', dbTypeName: 'DATE' },
  ].map(oracleColumn),
};

function relation(product: 'sqlserver' | 'oracle', name: string, query?: string): Relation {
  const table = {
    schema: product === 'oracle' ? 'HR' : 'dbo',
    name,
    kind: 'table',
    columns: [],
    primaryKey: undefined,
    uniqueKeys: [],
    foreignKeys: [],
    estimatedRows: undefined,
  } as const;
  return {
    session: { product } as SqlSession,
    label: name,
    query,
    table: query === undefined ? table : undefined,
    naming: 'identifiers',
    columns: COLUMNS[product],
  };
}

const side = (of: Relation, read: readonly number[], keys: readonly number[]): Side => ({ relation: of, read, keys, distinct: false });

describe.each([
  [
    'sqlserver',
    {
      all: 'SELECT "id", "name" FROM "dbo"."T"',
      first: 'SELECT TOP (5) "id" FROM "dbo"."T"',
      none: 'SELECT 1 FROM "dbo"."T"',
      range: 'SELECT "id" FROM "dbo"."T" WHERE "id" >= 10 AND "id" < 20',
      dates: `SELECT "id" FROM "dbo"."T" WHERE "born" >= N'2024-05-31'`,
      bounds:
        'SELECT k FROM (SELECT "id" AS k, ROW_NUMBER() OVER (ORDER BY "id") AS n FROM "dbo"."T") AS numbered WHERE n > 1 AND (n - 1) % 100 = 0 ORDER BY k',
      join: 'SELECT DISTINCT TOP (9) c.c_0, p.p_0 FROM (SELECT DISTINCT "id" AS c_0, "id" AS c_k0 FROM "dbo"."T") AS c JOIN (SELECT DISTINCT "born" AS p_0, "id" AS p_k0 FROM "dbo"."U") AS p ON c.c_k0 = p.p_k0',
      // Texts would be compared by their collation.
      texts:
        'SELECT c.c_0, p.p_0 FROM (SELECT "name" AS c_0, "id" AS c_k0 FROM "dbo"."T") AS c JOIN (SELECT DISTINCT "born" AS p_0, "id" AS p_k0 FROM "dbo"."U") AS p ON c.c_k0 = p.p_k0',
      query:
        'SELECT c.c_0, p.p_0 FROM (SELECT "name" AS c_0, "id" AS c_k0 FROM (SELECT * FROM v ORDER BY id\nOFFSET 0 ROWS\n) AS q) AS c JOIN (SELECT DISTINCT "born" AS p_0, "id" AS p_k0 FROM "dbo"."U") AS p ON c.c_k0 = p.p_k0',
      numbered:
        'SELECT ROW_NUMBER() OVER (ORDER BY HASHBYTES(\'SHA2_256\', ISNULL(HASHBYTES(\'SHA2_256\', CONVERT(varbinary(max), t."a")), 0x00) + ISNULL(HASHBYTES(\'SHA2_256\', CONVERT(varbinary(max), t."b")), 0x00))) AS "n", t.* FROM T AS t',
    },
  ],
  [
    'oracle',
    {
      all: 'SELECT "ID", "NAME" FROM "HR"."T"',
      first: 'SELECT "ID" FROM "HR"."T" FETCH FIRST 5 ROWS ONLY',
      none: 'SELECT 1 FROM "HR"."T"',
      range: 'SELECT "ID" FROM "HR"."T" WHERE "ID" >= 10 AND "ID" < 20',
      dates: `SELECT "ID" FROM "HR"."T" WHERE "BORN" >= '2024-05-31'`,
      bounds:
        'SELECT k FROM (SELECT "ID" AS k, ROW_NUMBER() OVER (ORDER BY "ID") AS n FROM "HR"."T") numbered WHERE n > 1 AND MOD((n - 1), 100) = 0 ORDER BY k',
      join: 'SELECT DISTINCT c.c_0, p.p_0 FROM (SELECT DISTINCT "ID" AS c_0, "ID" AS c_k0 FROM "HR"."T") c JOIN (SELECT DISTINCT "BORN" AS p_0, "ID" AS p_k0 FROM "HR"."U") p ON c.c_k0 = p.p_k0 FETCH FIRST 9 ROWS ONLY',
      texts:
        'SELECT c.c_0, p.p_0 FROM (SELECT "NAME" AS c_0, "ID" AS c_k0 FROM "HR"."T") c JOIN (SELECT DISTINCT "BORN" AS p_0, "ID" AS p_k0 FROM "HR"."U") p ON c.c_k0 = p.p_k0',
      query:
        'SELECT c.c_0, p.p_0 FROM (SELECT "NAME" AS c_0, "ID" AS c_k0 FROM (SELECT * FROM v ORDER BY id\n) q) c JOIN (SELECT DISTINCT "BORN" AS p_0, "ID" AS p_k0 FROM "HR"."U") p ON c.c_k0 = p.p_k0',
      numbered: 'SELECT ROW_NUMBER() OVER (ORDER BY t.ROWID) AS "n", t.* FROM T t',
    },
  ],
] as const)('%s', (product, golden) => {
  const table = relation(product, 'T');
  const other = relation(product, 'U');
  const [id = '', , born = ''] = COLUMNS[product].map(({ name }) => name);

  test('tables, first rows, ranges of keys', () => {
    expect(selectQuery(table, [0, 1], undefined).sql).toBe(golden.all);
    expect(selectQuery(table, [0], undefined, 5).sql).toBe(golden.first);
    expect(selectQuery(table, [], undefined).sql).toBe(golden.none);
    expect(selectQuery(table, [0], { column: id, from: '10', to: '20' }).sql).toBe(golden.range);
    expect(selectQuery(table, [0], { column: born, from: '2024-05-31', to: undefined }).sql).toBe(golden.dates);
    expect(boundsQuery({ schema: product === 'oracle' ? 'HR' : 'dbo', name: 'T' }, id, 100, product)).toBe(golden.bounds);
  });

  test('joins, without a comparison of texts', () => {
    expect(joinQuery(side(table, [0], [0]), side(other, [2], [0]), undefined, 9).sql).toBe(golden.join);
    expect(joinQuery(side(table, [1], [0]), side(other, [2], [0]), undefined).sql).toBe(golden.texts);
    const query = relation(product, 'Q', 'SELECT * FROM v ORDER BY id');
    expect(joinQuery(side(query, [1], [0]), side(other, [2], [0]), undefined).sql).toBe(golden.query);
  });

  test('rows with numbers', () => {
    expect(DIALECTS[product].numberedRows('T', '"n"', 'table', ['"a"', '"b"'])).toBe(golden.numbered);
  });
});

describe('which joins a database makes', () => {
  type Source = Parameters<ReturnType<typeof metadataOf>['canJoin']>[0];
  const joins = (columns: readonly Column[], product: Product, query: string | undefined, reference: string): boolean => {
    const one = { ...relation('sqlserver', 'T', query), session: { product } as SqlSession, columns };
    const relations = { of: () => one, column: (_: unknown, name: string) => columns.find((column) => column.name === name) };
    return metadataOf(relations as never).canJoin({} as Source, reference, {} as Source, reference);
  };

  test.each([
    ['sqlserver', undefined, 'id', true],
    ['sqlserver', undefined, 'name', false],
    ['sqlserver', 'SELECT * FROM v', 'id', true],
    ['sqlserver', 'WITH w AS (SELECT 1 AS id) SELECT id FROM w', 'id', false],
    ['sqlserver', 'SELECT * FROM v OPTION (MAXDOP 1)', 'id', false],
    ['oracle', undefined, 'ID', true],
    ['oracle', undefined, 'NAME', false],
  ] as const)('%s, %s on %s: %s', (product, query, reference, expected) => {
    expect(joins(COLUMNS[product], product, query, reference)).toBe(expected);
  });

  test('a column without a name cannot be asked for', () => {
    const nameless = [...COLUMNS.sqlserver, sqlServerColumn({ name: '', type: 'int', clr: undefined })];
    expect(joins(nameless, 'sqlserver', 'SELECT id, 1 FROM v', 'id')).toBe(false);
  });
});
