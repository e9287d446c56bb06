/** A feed of MariaDB's binlog, against a real server. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type mysql from 'mysql2/promise';
import type { ChangeFeed, FeedPosition } from '../../../../src/streams/events.ts';
import { openMysqlFeed } from '../../../../src/streams/mysql/feed.ts';
import { Server } from '../../../../src/streams/mysql/server.ts';
import { missingMariadb } from '../../../servers/databases/mariadb.ts';
import { soakTest, test } from '../../../support/jest/extent.ts';
import { Fold, faultOf, readToEnd, selected } from './fold.ts';
import { usedMegabytes } from './memory.ts';
import { type LogServer, startLogServer } from './mysql-server.ts';

const missing = await missingMariadb();
const suite = missing === undefined ? describe : describe.skip;

type Options = Awaited<ReturnType<LogServer['options']>>;

suite(`MariaDB's binlog${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let server: LogServer;
  let admin: mysql.Connection;
  const zone = process.env.TZ;

  beforeAll(async () => {
    // The zone of the server: its session has one that is no offset.
    process.env.TZ = 'Europe/Berlin';
    server = await startLogServer();
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
    admin = server.admin;
  }, 60_000);
  afterAll(() => server?.stop());

  /** The tables of a script alone. */
  async function load(script: string, parameters?: string): Promise<Options> {
    await admin.query(`DROP DATABASE test; CREATE DATABASE test CHARACTER SET utf8mb4; USE test; ${script}`);
    return server.options(undefined, parameters);
  }

  async function expectSame(fold: Fold, tables: Iterable<string>, parameters?: string): Promise<void> {
    const session = await server.session(parameters);
    try {
      for (const table of tables) expect([table, fold.texts(table)]).toEqual([table, await selected(session, table)]);
    } finally {
      await session.close();
    }
  }

  async function withFeed(options: Options, work: (feed: ChangeFeed) => Promise<void>): Promise<void> {
    const feed = await openMysqlFeed(options);
    await work(feed).finally(() => feed.close());
  }

  test('gives a snapshot and then the changes, texts as a SELECT has them', async () => {
    const options = await load(`CREATE TABLE a (id int PRIMARY KEY, note text CHARACTER SET latin1, at timestamp(3) NULL, bytes blob);
      INSERT INTO a VALUES (1, 'Zoë', '2024-07-01 12:00:00.5', x'00ff'); CREATE TABLE bag (x int, y float); INSERT INTO bag VALUES (1, 1.1), (1, 1.1)`);
    await withFeed(options, async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      await expectSame(fold, ['a', 'bag']);
      await admin.query(`UPDATE a SET note = 'é'; INSERT INTO a VALUES (2, 'ÿ', '2024-12-01 12:00:00', x'80'); UPDATE a SET id = 5 WHERE id = 1; UPDATE bag SET y = 2.5 LIMIT 1;
        INSERT INTO bag SELECT seq, seq / 3 FROM seq_1_to_20; DELETE FROM bag WHERE x = 2`);
      await readToEnd(feed, fold);
      await expectSame(fold, ['a', 'bag']);
      expect(fold.snapshots).toBe(2);
      expect(await feed.lag(fold.position as FeedPosition)).toEqual({ messages: undefined, bytes: 0 });
      await admin.query('INSERT INTO bag VALUES (7, 7)');
      expect((await feed.lag(fold.position as FeedPosition)).bytes).toBeGreaterThan(0);
    });
    expect(options.told).toEqual([]);
  });

  const SETTINGS: readonly (readonly [setting: string, value: string, before: string])[] = [
    ['binlog_format', 'STATEMENT', 'ROW'],
    ['binlog_row_image', 'MINIMAL', 'FULL'],
  ];
  soakTest.each(SETTINGS)('refuses %s = %s, and says what mends it', async (setting, value, before) => {
    const options = await load('CREATE TABLE a (id int PRIMARY KEY)');
    await admin.query(`SET GLOBAL ${setting} = '${value}'`);
    const fault = await faultOf(openMysqlFeed(options));
    await admin.query(`SET GLOBAL ${setting} = '${before}'`);
    expect(fault.message).toContain(`${setting} is ${value}`);
    expect(fault.hint).toContain(`SET GLOBAL ${setting} = '${before}'`);
  });

  soakTest('names the foreign keys whose actions the log does not have, and engines without transactions', async () => {
    const options =
      await load(`CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY, a int, FOREIGN KEY of_a (a) REFERENCES a (id) ON DELETE CASCADE ON UPDATE SET NULL);
      CREATE TABLE c (id int PRIMARY KEY) ENGINE=Aria`);
    await withFeed(options, async () => {});
    expect(options.told).toEqual([
      expect.stringMatching(/test\.b\.\S+ ON DELETE CASCADE, test\.b\.\S+ ON UPDATE SET NULL/),
      expect.stringContaining('its engine Aria'),
    ]);
  });

  soakTest('a user who may replicate, see the log and read is enough', async () => {
    const options = await load('CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a VALUES (1)');
    await admin.query(
      "CREATE OR REPLACE USER follower IDENTIFIED BY ''; GRANT REPLICATION SLAVE, BINLOG MONITOR ON *.* TO follower; GRANT SELECT ON test.* TO follower",
    );
    const address = { ...options.address, user: 'follower' };
    await admin.query(
      "CREATE OR REPLACE USER stranger IDENTIFIED BY ''; GRANT REPLICATION SLAVE ON *.* TO stranger; GRANT SELECT ON test.* TO stranger",
    );
    await withFeed({ ...options, address: { ...address, user: 'stranger' } }, async (feed) => {
      expect((await faultOf(feed.end(undefined))).hint).toContain('BINLOG MONITOR');
    });
    await withFeed({ ...options, address }, async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      await admin.query('INSERT INTO a VALUES (2)');
      await readToEnd(feed, fold);
      await expectSame(fold, ['a']);
    });
  });

  const UNTOLD: readonly (readonly [name: string, script: string])[] = [
    ['a statement', "SET binlog_format = 'STATEMENT'; UPDATE a SET note = 'by statement'; SET binlog_format = 'ROW'"],
    ['parts of rows', "SET binlog_row_image = 'MINIMAL'; UPDATE a SET note = 'part' WHERE id = 1; SET binlog_row_image = 'FULL'"],
    ['prepared rows that are rolled back', "XA START 'x'; DELETE FROM a; XA END 'x'; XA PREPARE 'x'; XA ROLLBACK 'x'"],
    ['a column with a default', 'ALTER TABLE a ADD COLUMN more int DEFAULT 7'],
    ['columns that change their names', 'ALTER TABLE a RENAME COLUMN note TO other'],
    ['another table under its name', "CREATE TABLE b LIKE a; INSERT INTO b VALUES (9, 'b'); RENAME TABLE a TO c, b TO a"],
    ['a table made of a query', "CREATE OR REPLACE TABLE a (id int PRIMARY KEY) AS SELECT 5 AS id, 'q' AS note"],
    ['a partition that is emptied', 'ALTER TABLE a PARTITION BY HASH (id) PARTITIONS 2; ALTER TABLE a TRUNCATE PARTITION p1'],
  ];
  soakTest.each(UNTOLD)('where the log has %s, the table is read again', async (_, script) => {
    const options = await load("CREATE TABLE a (id int PRIMARY KEY, note text); INSERT INTO a VALUES (1, 'a'), (2, 'b')");
    await withFeed(options, async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      await admin.query(script);
      await readToEnd(feed, fold);
      await expectSame(fold, ['a']);
      expect(fold.snapshots).toBeGreaterThan(1);
    });
  });

  soakTest('rows that were prepared before a snapshot, and are committed after it, are read', async () => {
    const options = await load("CREATE TABLE a (id int PRIMARY KEY, note text); INSERT INTO a VALUES (1, 'a')");
    const prepared = await server.connect();
    const prepare = (id: number) =>
      prepared.query(`XA START 'x'; INSERT INTO a VALUES (${id}, 'x'); DELETE FROM a WHERE id = ${id - 1}; XA END 'x'; XA PREPARE 'x'`);
    await prepare(2);
    await withFeed(options, async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      expect(fold.texts('a')).toHaveLength(1);
      await prepared.query("XA COMMIT 'x'");
      await readToEnd(feed, fold);
      await expectSame(fold, ['a']);
      expect(fold.snapshots).toBe(2);
      // The log has all of it.
      await prepare(3);
      await prepared.query("XA COMMIT 'x'");
      await readToEnd(feed, fold);
      await expectSame(fold, ['a']);
      expect(fold.snapshots).toBe(2);
    });
    await prepared.end();
  });

  soakTest('a table that the mapping gets later is read alone', async () => {
    const options = await load(
      'CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a VALUES (1); CREATE TABLE b (id int PRIMARY KEY); INSERT INTO b VALUES (1)',
    );
    const fold = new Fold();
    await withFeed({ ...options, tables: new Map([...options.tables].filter(([name]) => name === 'a')) }, (feed) => readToEnd(feed, fold));
    await admin.query('INSERT INTO a VALUES (2); INSERT INTO b VALUES (2); DELETE FROM b WHERE id = 1');
    await withFeed(options, async (feed) => {
      await readToEnd(feed, fold);
      await admin.query('INSERT INTO b VALUES (3)');
      await readToEnd(feed, fold);
      await expectSame(fold, ['a', 'b']);
      expect(fold.snapshots).toBe(2);
    });
  });

  const LOSSES: readonly (readonly [name: string, lose: string])[] = [
    ['files are removed', 'FLUSH BINARY LOGS; INSERT INTO a VALUES (4); FLUSH BINARY LOGS'],
    ['the log is reset', 'RESET MASTER'],
  ];
  soakTest.each(LOSSES)('where %s, all rows are read again', async (_, lose) => {
    const options = await load('CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a VALUES (1), (2)');
    const fold = new Fold();
    await withFeed(options, (feed) => readToEnd(feed, fold));
    await admin.query('DELETE FROM a WHERE id = 1; INSERT INTO a VALUES (3)');
    await admin.query(lose);
    // The server keeps files while a connection that has ended still reads them.
    for (let files = 2; files > 1; await sleep(50)) {
      const [[end]] = (await admin.query('SHOW MASTER STATUS')) as unknown as [[{ File: string }]];
      await admin.query(`PURGE BINARY LOGS TO '${end.File}'`);
      files = ((await admin.query('SHOW BINARY LOGS'))[0] as unknown[]).length;
    }
    await withFeed(options, async (feed) => {
      await readToEnd(feed, fold);
      await admin.query('UPDATE a SET id = 30 WHERE id = 3');
      await readToEnd(feed, fold);
    });
    await expectSame(fold, ['a']);
    expect(fold.snapshots).toBe(2);
    expect(options.told.join()).toContain('All rows are read again');
  });

  soakTest('goes on by file and position where there is no GTID, and after a crash of the server', async () => {
    const options = await load('CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a VALUES (1)');
    const fold = new Fold();
    await withFeed(options, async (feed) => {
      await readToEnd(feed, fold);
      await admin.query('INSERT INTO a VALUES (2); FLUSH BINARY LOGS; INSERT INTO a VALUES (3)');
      const { gtids, ...position } = fold.position as FeedPosition;
      expect(gtids).toMatch(/^0-5-\d+$/);
      fold.position = position;
      await readToEnd(feed, fold);
      await expectSame(fold, ['a']);
      const reading = faultOf(readForever(feed, fold));
      await sleep(300);
      await server.crash();
      expect((await reading).retriable).toBe(true);
      await server.restart();
      admin = await server.connect();
      await admin.query('INSERT INTO a VALUES (4)');
      fold.forgetTransaction();
      await readToEnd(feed, fold);
      await expectSame(fold, ['a']);
      expect(fold.snapshots).toBe(1);
    });
  });

  async function readForever(feed: ChangeFeed, fold: Fold, signal = new AbortController().signal): Promise<void> {
    for await (const batch of feed.batches(fold.position, signal)) fold.take(batch);
  }

  soakTest('of two feeds with one number the first fails, and an aborted one ends at once', async () => {
    const options = await load('CREATE TABLE a (id int PRIMARY KEY)');
    const fold = new Fold();
    await withFeed(options, async (feed) => {
      await readToEnd(feed, fold);
      const reading = faultOf(readForever(feed, fold));
      await sleep(500);
      const other = new Fold();
      other.position = fold.position;
      await withFeed(options, async (second) => {
        const abort = new AbortController();
        const reads = faultOf(readForever(second, other, abort.signal));
        const fault = await reading;
        expect(fault.message).toBe('Another replica of the server has the number 4711');
        const aborted = performance.now();
        abort.abort();
        expect((await reads).code).toBe('run/cancelled');
        expect(performance.now() - aborted).toBeLessThan(2000);
      });
    });
  });

  soakTest('one that is aborted while it begins ends', async () => {
    const fold = new Fold();
    await withFeed(await load('CREATE TABLE a (id int PRIMARY KEY)'), async (feed) => {
      await readToEnd(feed, fold);
      for (let ms = 0; ms < 60; ms += 2) {
        const abort = new AbortController();
        const reading = faultOf(readForever(feed, fold, abort.signal));
        await sleep(ms);
        abort.abort();
        expect((await reading).code).toBe('run/cancelled');
      }
    });
  });

  soakTest('values follow the settings of the session', async () => {
    const parameters = '&zeroDateTimeBehavior=convertToNull&connectionTimeZone=%2B05:30';
    const options = await load(
      "SET sql_mode = ''; CREATE TABLE a (id int PRIMARY KEY, at timestamp NULL, day date, tiny tinyint(1))",
      parameters,
    );
    await withFeed(options, async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      await admin.query("INSERT INTO a VALUES (1, '2024-07-01 12:00:00', '0000-00-00', 1), (2, '0000-00-00', '2024-00-00', 2)");
      await readToEnd(feed, fold);
      await expectSame(fold, ['a'], parameters);
      expect(fold.logged).toBe(2);
    });
  });

  soakTest('a large transaction is read slowly, in bounded memory', async () => {
    const options = await load('CREATE TABLE a (id int PRIMARY KEY, note text)');
    await withFeed(options, async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      await admin.query("INSERT INTO a SELECT seq, repeat('x', 200) FROM seq_1_to_200000");
      const before = usedMegabytes();
      let most = 0;
      let looked = 0;
      let rows = 0;
      let largest = 0;
      for await (const { events } of feed.batches(fold.position, new AbortController().signal)) {
        if (rows === 0) await sleep(500);
        rows += events.filter(({ kind }) => kind === 'row').length;
        largest = Math.max(largest, events.length);
        if (rows - looked > 20_000) {
          looked = rows;
          most = Math.max(most, usedMegabytes());
        }
        if (events.at(-1)?.kind === 'commit') break;
      }
      expect(rows).toBe(200_000);
      expect(largest).toBeLessThan(10_000);
      // All rows together take more than 100.
      expect(most - before).toBeLessThan(20);
    });
  });

  soakTest('MySQL: the tables are locked for the moment in which a snapshot begins, so that its place is exact', async () => {
    const options = await load('CREATE TABLE a (id int PRIMARY KEY, n int); INSERT INTO a VALUES (1, 0)');
    const [[base]] = (await admin.query('SELECT @@gtid_binlog_pos AS gtid')) as unknown as [[{ gtid: string }]];
    const count = (gtid: string | undefined): number => Number(gtid?.split('-')[2]);
    let isOver = false;
    const writer = await server.connect();
    const writing = (async () => {
      while (!isOver) await writer.query('UPDATE a SET n = n + 1');
    })();
    const asked = new Server(options);
    await asked.check();
    for (let i = 0; i < 20; i++) {
      const tables = await asked.tables();
      asked.isMariadb = false;
      const { session, end } = await asked.openSnapshot(new AbortController().signal, tables);
      const [row] = await session.query('SELECT n FROM a');
      const [at] = await session.query(`SELECT BINLOG_GTID_POS('${end.place.file}', ${end.place.position}) AS gtid`);
      await session.close();
      expect(Number(row?.n)).toBe(count(at?.gtid ?? undefined) - count(base.gtid));
    }
    isOver = true;
    await writing;
    await writer.end();
    await asked.close();
  });
});
