/** What the catalogues of real servers say about tables. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { defaultSchema, readTable, readTables } from '../../../src/sql/catalogue/catalogue.ts';
import type { SqlSession } from '../../../src/sql/database.ts';
import { openSession } from '../../../src/sql/drivers/open.ts';
import { parseJdbcUrl } from '../../../src/sql/jdbc/jdbc.ts';
import type { Table } from '../../../src/sql/tables.ts';
import { SERVERS_ALONE, startDatabases, type TestDatabases } from '../../servers/databases/databases.ts';

const KEYS = `
  CREATE TABLE parent (id BIGINT NOT NULL, a INT, b VARCHAR(10), n NUMERIC(8,2), code VARCHAR(9) NOT NULL,
    PRIMARY KEY (id), UNIQUE (b, a), UNIQUE (n), UNIQUE (code));
  CREATE UNIQUE INDEX again ON parent (a, b);
  CREATE TABLE "Child" ("Key 1" INT, "Key""2" INT, ra INT, rb VARCHAR(10), rn NUMERIC(8,2), parent BIGINT, up1 INT, up2 INT,
    PRIMARY KEY ("Key""2", "Key 1"),
    CONSTRAINT c1 FOREIGN KEY (parent) REFERENCES parent (id),
    CONSTRAINT c2 FOREIGN KEY (rb, ra) REFERENCES parent (b, a),
    CONSTRAINT c3 FOREIGN KEY (rn) REFERENCES parent (n),
    CONSTRAINT c4 FOREIGN KEY (up2, up1) REFERENCES "Child" ("Key""2", "Key 1"));
  CREATE VIEW shown AS SELECT id, a FROM parent;
  CREATE TABLE "植物" ("名" VARCHAR(10), "x.y" INT);
  CREATE SCHEMA other;
  CREATE TABLE other.far (id INT PRIMARY KEY, p BIGINT, FOREIGN KEY (p) REFERENCES PARENT_SCHEMA.parent (id));
`;

const OWN = {
  postgresql: `
    CREATE UNIQUE INDEX ON "Child" (ra) WHERE rb IS NOT NULL;
    CREATE UNIQUE INDEX ON "Child" ((ra + 1));
    CREATE UNIQUE INDEX ON "Child" (rn) INCLUDE (rb);
    CREATE TABLE parts (id INT, k INT, PRIMARY KEY (id, k)) PARTITION BY RANGE (k);
    CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (10);
    CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (10) TO (20);
    INSERT INTO parts SELECT i, i % 20 FROM generate_series(1, 100) i;
    CREATE TABLE to_parts (id INT, k INT, FOREIGN KEY (id, k) REFERENCES parts);
    CREATE TABLE heir_of (id INT PRIMARY KEY);
    CREATE TABLE heir (x INT) INHERITS (heir_of);
    CREATE TABLE dropped (a INT, b INT, c INT);
    ALTER TABLE dropped DROP COLUMN b;
    CREATE TABLE chars (a CHAR(4) UNIQUE, v VARCHAR(4) UNIQUE, n NUMERIC UNIQUE, i INT UNIQUE);
    CREATE TABLE to_chars (longer CHAR(9) REFERENCES chars (a), same CHAR(4) REFERENCES chars (a), v VARCHAR(9) REFERENCES chars (v),
      t TEXT REFERENCES chars (v), n NUMERIC REFERENCES chars (n), i BIGINT REFERENCES chars (i));
    CREATE TABLE unchecked (p BIGINT);
    ALTER TABLE unchecked ADD FOREIGN KEY (p) REFERENCES parent (id) NOT VALID;
    CREATE MATERIALIZED VIEW kept AS SELECT id FROM parent;
    CREATE TABLE none ();
    ANALYZE;`,
  mariadb: `
    CREATE TABLE prefixes (a VARCHAR(40), b VARCHAR(40), UNIQUE (a(10)), UNIQUE (b));
    CREATE TABLE hidden (id INT PRIMARY KEY, h INT INVISIBLE DEFAULT 1 UNIQUE);
    CREATE TABLE cased (Id INT PRIMARY KEY);
    CREATE TABLE to_cased (c INT, FOREIGN KEY (C) REFERENCES cased (iD));
    CREATE TABLE texts (padded VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin UNIQUE, exact VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin UNIQUE);
    CREATE TABLE to_texts (p VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, e VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
      FOREIGN KEY (p) REFERENCES texts (padded), FOREIGN KEY (e) REFERENCES texts (exact));
    CREATE TABLE history (id INT PRIMARY KEY) WITH SYSTEM VERSIONING;
    CREATE SEQUENCE numbers;
    INSERT INTO cased VALUES (1), (2), (3);
    ANALYZE TABLE cased;`,
};

describe.each(SERVERS_ALONE)('the catalogue of %s', (product, missing) => {
  let server: TestDatabases | undefined;
  let session: SqlSession;
  let tables: readonly Table[];
  const own = product === 'postgresql' ? 'public' : 'test';

  beforeAll(async () => {
    if (missing !== undefined) return;
    server = await startDatabases(product);
    await server.load(KEYS.replace('PARENT_SCHEMA', own) + OWN[product]);
    session = await openSession(parseJdbcUrl({ url: server.jdbcUrl }), RUN_DEFAULTS.sql);
    tables = await readTables(session);
  }, 60_000);
  afterAll(async () => {
    await session?.close();
    await server?.stop();
  });

  const check =
    missing === undefined ? test : (name: string, body: () => unknown) => test.skip(`${name} (not tested: ${missing})`, body as () => void);
  const table = (name: string): Table => tables.find((one) => one.name === name) as Table;

  check('lists tables, no views, partitions, sequences or those of other schemas, by name', () => {
    const further =
      product === 'postgresql'
        ? ['chars', 'dropped', 'heir', 'heir_of', 'none', 'parent', 'parts', 'to_chars', 'to_parts', 'unchecked']
        : ['cased', 'hidden', 'history', 'parent', 'prefixes', 'texts', 'to_cased', 'to_texts'];
    expect(tables.map(({ name }) => name)).toEqual(['Child', ...further, '植物']);
    expect(new Set(tables.map(({ schema, kind }) => `${schema} ${kind}`))).toEqual(new Set([`${own} table`]));
  });

  check('lists the tables of the schemas that it is asked for', async () => {
    expect((await readTables(session, ['other'])).map(({ schema, name }) => `${schema}.${name}`)).toEqual(['other.far']);
    const both = await readTables(session, ['other', own]);
    expect(both.map(({ schema }) => schema)).toEqual(['other', ...tables.map(() => own)].sort());
    expect(await readTables(session, ['nowhere'])).toEqual([]);
    expect(await defaultSchema(session)).toBe(own);
  });

  check('keeps columns in their order, with names that need quotes', () => {
    expect(table('Child').columns).toEqual([
      { name: 'Key 1', nullable: false },
      { name: 'Key"2', nullable: false },
      ...['ra', 'rb', 'rn', 'parent', 'up1', 'up2'].map((name) => ({ name, nullable: true })),
    ]);
    expect(table('植物').columns.map(({ name }) => name)).toEqual(['名', 'x.y']);
  });

  check('reads keys in the order of the key, the same columns once', () => {
    expect(table('Child').primaryKey).toEqual(['Key"2', 'Key 1']);
    expect(table('植物')).toMatchObject({ primaryKey: undefined, uniqueKeys: [], foreignKeys: [] });
    const { primaryKey, uniqueKeys } = table('parent');
    expect(primaryKey).toEqual(['id']);
    expect(uniqueKeys.map((columns) => [...columns].sort().join()).sort()).toEqual(['a,b', 'code', 'n']);
  });

  check('reads foreign keys with the columns that belong together', () => {
    const { foreignKeys } = table('Child');
    const shown = foreignKeys.map(({ columns, parent, parentColumns, exact }) => [
      columns
        .map((column, i) => `${column}>${parentColumns[i]}`)
        .sort()
        .join(),
      `${parent.schema}.${parent.name}`,
      exact,
    ]);
    expect(shown).toHaveLength(4);
    expect(shown).toEqual(
      expect.arrayContaining([
        ['parent>id', `${own}.parent`, true],
        // MySQL's usual collations ignore case
        ['ra>a,rb>b', `${own}.parent`, product === 'postgresql'],
        ['rn>n', `${own}.parent`, true],
        ['up1>Key 1,up2>Key"2', `${own}.Child`, true],
      ]),
    );
  });

  check('finds a table or view by its name, with and without schema', async () => {
    expect(await readTable(session, ['Child'])).toEqual(table('Child'));
    expect(await readTable(session, [own, '植物'])).toEqual(table('植物'));
    expect(await readTable(session, ['shown'])).toMatchObject({ schema: own, name: 'shown', kind: 'view', primaryKey: undefined });
    expect((await readTable(session, ['shown']))?.columns.map(({ name }) => name)).toEqual(['id', 'a']);
    expect(await readTable(session, ['other', 'far'])).toMatchObject({
      primaryKey: ['id'],
      foreignKeys: [{ columns: ['p'], parent: { schema: own, name: 'parent' }, parentColumns: ['id'], exact: true }],
    });
    for (const parts of [['nothing'], ['other', 'parent'], ['nowhere', 'parent'], ['far'], ["'; --"]])
      expect(await readTable(session, parts)).toBeUndefined();
  });

  if (product === 'postgresql') {
    check('counts no partial index, none of an expression and no included column as a key', () => {
      expect(table('Child').uniqueKeys).toEqual([['rn']]);
    });
    check('takes a partitioned table as one, referenced once', () => {
      expect(table('parts')).toMatchObject({ kind: 'table', primaryKey: ['id', 'k'], estimatedRows: 100 });
      expect(table('to_parts').foreignKeys).toEqual([
        { columns: ['id', 'k'], parent: { schema: 'public', name: 'parts' }, parentColumns: ['id', 'k'], exact: true },
      ]);
    });
    check('knows no key of a table that shows the rows of others', () => {
      expect(table('heir_of')).toMatchObject({ primaryKey: undefined, uniqueKeys: [] });
      expect(table('heir').columns.map(({ name }) => name)).toEqual(['id', 'x']);
    });
    check('leaves dropped columns out, and takes a table without any', () => {
      expect(table('dropped').columns.map(({ name }) => name)).toEqual(['a', 'c']);
      expect(table('none').columns).toEqual([]);
    });
    check('tells references whose texts can differ from those of the parent', () => {
      const exact = Object.fromEntries(table('to_chars').foreignKeys.map(({ columns, exact }) => [columns[0], exact]));
      expect(exact).toEqual({ longer: false, same: true, v: true, t: true, n: false, i: true });
      expect(table('unchecked').foreignKeys[0]?.exact).toBe(false);
    });
    check('takes a materialized view as a view', async () => {
      expect(await readTable(session, ['kept'])).toMatchObject({ kind: 'view' });
    });
    check('has no estimate for a table that was never counted', () => expect(table('dropped').estimatedRows).toBeUndefined());
  } else {
    check('counts no index over the beginning of a column as a key', () => expect(table('prefixes').uniqueKeys).toEqual([['b']]));
    check('leaves invisible columns and their keys out', () => {
      expect(table('hidden')).toMatchObject({ columns: [{ name: 'id', nullable: false }], primaryKey: ['id'], uniqueKeys: [] });
    });
    check('gives columns of foreign keys their own case', () => {
      expect(table('to_cased').foreignKeys).toEqual([
        { columns: ['c'], parent: { schema: 'test', name: 'cased' }, parentColumns: ['Id'], exact: true },
      ]);
    });
    check('tells references whose texts can differ from those of the parent', () => {
      const exact = Object.fromEntries(table('to_texts').foreignKeys.map(({ columns, exact }) => [columns[0], exact]));
      expect(exact).toEqual({ p: false, e: true });
    });
    check('has the estimate of the server', () => expect(table('cased').estimatedRows).toBe(3));
  }
});
