/** Columns of database files whose collation ignores case: their texts are joined, and told apart, as texts. */
import { expect, test } from '@jest/globals';
import { openSession } from '../../../../src/sql/drivers/open.ts';
import { parseJdbcUrl } from '../../../../src/sql/jdbc/jdbc.ts';
import { joinQuery, type Side } from '../../../../src/sql/select.ts';
import { startDatabases } from '../../../servers/databases/databases.ts';

test.each(['sqlite', 'duckdb'] as const)('a join in %s pairs equal texts alone', async (product) => {
  const { jdbcUrl, load, stop } = await startDatabases(product);
  try {
    await load(`CREATE TABLE t (k VARCHAR(9) COLLATE NOCASE); INSERT INTO t VALUES ('a'), ('A'), ('b'), ('b')`);
    const session = await openSession(parseJdbcUrl({ url: jdbcUrl }), { connectSeconds: 5, statementSeconds: 20, lockSeconds: 1 });
    try {
      const query = 'SELECT k FROM t';
      const columns = await session.describe(query);
      const side: Side = {
        relation: { session, label: 'The table t', query, table: undefined, naming: 'labels', columns },
        read: [0],
        keys: [0],
        distinct: false,
      };
      const { sql } = joinQuery(side, side, undefined);
      const pairs: string[] = [];
      for await (const { rows } of session.rows(sql, 2)) pairs.push(...rows.map((row) => row.join('-')));
      expect(pairs.sort()).toEqual(['A-A', 'a-a', 'b-b']);
    } finally {
      await session.close();
    }
  } finally {
    await stop();
  }
});
