/** A feed of PostgreSQL's log, against a real server. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type pg from 'pg';
import { Fault } from '../../../../src/core/fault.ts';
import type { DatabaseFeedOptions } from '../../../../src/streams/database/options.ts';
import type { ChangeFeed, FeedPosition } from '../../../../src/streams/events.ts';
import { openPostgresqlFeed, removePostgresqlFeed } from '../../../../src/streams/postgresql/feed.ts';
import { Server } from '../../../../src/streams/postgresql/server.ts';
import { missingPostgres, startPostgres } from '../../../servers/databases/postgres.ts';
import { soakTest, test } from '../../../support/jest/extent.ts';
import { Fold, faultOf, readToEnd, selected } from './fold.ts';
import { usedMegabytes } from './memory.ts';
import { type LogServer, startLogServer } from './postgresql-server.ts';

const missing = await missingPostgres();
const suite = missing === undefined ? describe : describe.skip;

type Options = Awaited<ReturnType<LogServer['options']>>;

suite(`PostgreSQL's log${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let server: LogServer;
  let admin: pg.Client;
  let schema: string;
  let count = 0;

  beforeAll(async () => {
    server = await startLogServer();
    admin = server.admin;
  }, 60_000);
  afterAll(() => server?.stop());

  /** A new schema with a script, and its tables. */
  async function load(script: string): Promise<Options> {
    schema = `s${++count}`;
    await admin.query(`CREATE SCHEMA ${schema}; SET search_path = ${schema}; ${script}`);
    return server.options(schema);
  }

  async function expectSame(fold: Fold, tables: Iterable<string>): Promise<void> {
    const session = await server.session();
    try {
      for (const table of tables) expect([table, fold.texts(table)]).toEqual([table, await selected(session, `${schema}.${table}`)]);
    } finally {
      await session.close();
    }
  }

  /** Opens a feed, and removes it with what it has made. */
  async function withFeed(options: DatabaseFeedOptions, work: (feed: ChangeFeed) => Promise<void>, keep = false): Promise<void> {
    const feed = await openPostgresqlFeed(options);
    try {
      await work(feed);
    } finally {
      await feed.close();
      if (!keep) await removePostgresqlFeed(options);
    }
  }

  const confirmed = async (): Promise<string> =>
    (await admin.query('SELECT confirmed_flush_lsn::text AS lsn FROM pg_replication_slots')).rows[0]?.lsn;

  test('a change has the same position each time that it is read', async () => {
    const options = await load('CREATE TABLE bag (x int); ALTER TABLE bag REPLICA IDENTITY FULL;');
    await withFeed(options, async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      const { position } = fold;
      await admin.query('INSERT INTO bag VALUES (1)');
      const changes = async (): Promise<readonly string[]> => {
        for await (const { events } of feed.batches(position, new AbortController().signal)) {
          const rows = events.filter(({ kind }) => kind === 'row');
          if (rows.length > 0) return rows.map((event) => JSON.stringify(event));
        }
        return [];
      };
      const first = await changes();
      expect(first).toHaveLength(1);
      expect(await changes()).toEqual(first);
    });
  });

  test('gives a snapshot and then the changes, and the slot moves with what is confirmed', async () => {
    const options = await load(`CREATE TABLE a (id int PRIMARY KEY, note text, bytes bytea); INSERT INTO a VALUES (1, 'Zoë', '\\x00ff');
      CREATE TABLE bag (x int, y text); ALTER TABLE bag REPLICA IDENTITY FULL; INSERT INTO bag VALUES (1, 'a'), (1, 'a');`);
    await withFeed(options, async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      await expectSame(fold, ['a', 'bag']);
      const before = await confirmed();
      await admin.query(`UPDATE a SET note = 'x'; INSERT INTO a VALUES (2, 'b', NULL); UPDATE a SET id = 5 WHERE id = 1; UPDATE bag SET y = 'q' WHERE ctid = '(0,1)';
        INSERT INTO bag SELECT i % 3, 'z' FROM generate_series(1, 20) i; DELETE FROM bag WHERE x = 2`);
      await readToEnd(feed, fold);
      await expectSame(fold, ['a', 'bag']);
      expect(fold.snapshots).toBe(2);
      expect(await confirmed()).toBe(before);
      await feed.confirm(fold.position as FeedPosition);
      await readToEnd(feed, fold);
      expect(await confirmed()).toBe(fold.position?.lsn);
      expect(await feed.lag(fold.position as FeedPosition)).toEqual({
        messages: undefined,
        bytes: expect.any(Number),
        keptBytes: expect.any(Number),
      });
    });
    expect(options.told).toEqual([expect.stringContaining('publication'), expect.stringContaining('slot')]);
    expect((await admin.query('SELECT 1 FROM pg_replication_slots UNION ALL SELECT 1 FROM pg_publication')).rows).toEqual([]);
  });

  soakTest('a table that is altered while the publication is looked at is asked for again', async () => {
    const options = await load('CREATE TABLE a (id int PRIMARY KEY, note text)');
    const asked = new Server(options);
    try {
      await asked.check();
      const tables = await asked.tables();
      await asked.publish(tables);
      await admin.query('ALTER TABLE a DROP COLUMN note');
      expect((await faultOf(asked.publish(tables))).code).toBe('database/busy');
      await expect(asked.publish(await asked.tables())).resolves.toEqual({ made: false, added: [] });
    } finally {
      await asked.dropPublication();
      await asked.close();
    }
  });

  const OBSTACLES: readonly (readonly [name: string, script: string, hint: string])[] = [
    ['no key', 'CREATE TABLE a (x int)', 'REPLICA IDENTITY FULL'],
    ['no identity', 'CREATE TABLE a (x int PRIMARY KEY); ALTER TABLE a REPLICA IDENTITY NOTHING', 'REPLICA IDENTITY FULL'],
    ['a key that is checked late', 'CREATE TABLE a (x int PRIMARY KEY DEFERRABLE)', 'REPLICA IDENTITY FULL'],
    ['no log', 'CREATE UNLOGGED TABLE a (x int PRIMARY KEY)', 'SET LOGGED'],
    ['heirs', 'CREATE TABLE a (x int PRIMARY KEY); CREATE TABLE b (y int PRIMARY KEY) INHERITS (a)', 'make them partitions'],
    [
      'a partition without a key',
      'CREATE TABLE a (x int) PARTITION BY LIST (x); CREATE TABLE a1 PARTITION OF a DEFAULT',
      'for each partition',
    ],
  ];
  soakTest.each(OBSTACLES)('refuses a table with %s, and says what mends it', async (_, script, hint) => {
    const fault = await faultOf(openPostgresqlFeed(await load(script)));
    expect(fault.code).toBe('database/query');
    expect(fault.hint).toContain(hint);
  });

  soakTest('refuses a server that keeps no rows in its log', async () => {
    const other = await startPostgres();
    if ('skip' in other) throw new Error(other.skip);
    const options = await load('CREATE TABLE a (x int PRIMARY KEY)');
    const address = { ...options.address, server: { host: '127.0.0.1', port: other.port } };
    const fault = await faultOf(openPostgresqlFeed({ ...options, address }));
    await other.stop();
    expect(fault.hint).toBe('Run ALTER SYSTEM SET wal_level = logical, and restart the server');
  });

  soakTest('a user who may replicate and read is enough where the publication is there', async () => {
    const options = await load(`CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a VALUES (1); CREATE ROLE follower LOGIN REPLICATION;
      GRANT USAGE ON SCHEMA s${count + 1} TO follower; GRANT SELECT ON a TO follower; CREATE PUBLICATION given FOR TABLE a`);
    const address = { ...options.address, user: 'follower' };
    const fault = await faultOf(readToEnd(await openPostgresqlFeed({ ...options, address }), new Fold()));
    expect(fault.hint).toContain('CREATE on the database');
    const given = { ...options, address, publication: 'given' };
    await withFeed(given, async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      await admin.query('INSERT INTO a VALUES (2)');
      await readToEnd(feed, fold);
      await expectSame(fold, ['a']);
    });
    // It was not made by the feed.
    expect((await admin.query("SELECT pubname FROM pg_publication WHERE pubname = 'given'")).rows).toHaveLength(1);
    await admin.query('DROP PUBLICATION given');
  });

  soakTest('a publication that leaves something out is refused', async () => {
    const options = await load(
      "CREATE TABLE a (id int PRIMARY KEY, b text); CREATE PUBLICATION part FOR TABLE a WHERE (id > 1); CREATE PUBLICATION inserts FOR TABLE a WITH (publish = 'insert')",
    );
    for (const publication of ['part', 'inserts']) {
      const feed = await openPostgresqlFeed({ ...options, publication });
      const fault = await faultOf(readToEnd(feed, new Fold()));
      await feed.close();
      expect(fault.message).toContain('leaves out');
      await admin.query(`DROP PUBLICATION ${publication}`);
    }
  });

  soakTest('a table that the mapping gets later is read alone', async () => {
    const options = await load(
      'CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a VALUES (1); CREATE TABLE b (id int PRIMARY KEY); INSERT INTO b VALUES (1)',
    );
    const fold = new Fold();
    await withFeed({ ...options, tables: new Map([...options.tables].slice(0, 1)) }, (feed) => readToEnd(feed, fold), true);
    await admin.query('INSERT INTO a VALUES (2); INSERT INTO b VALUES (2); DELETE FROM b WHERE id = 1');
    await withFeed(options, async (feed) => {
      await readToEnd(feed, fold);
      await admin.query('INSERT INTO b VALUES (3)');
      await readToEnd(feed, fold);
      await expectSame(fold, ['a', 'b']);
      expect(fold.snapshots).toBe(2);
    });
  });

  const LOSSES: readonly (readonly [name: string, lose: string, told: string])[] = [
    ['the slot', "SELECT pg_drop_replication_slot('quadmill_test')", 'is gone'],
    ['the publication', 'DROP PUBLICATION "quadmill test ""1"""', 'was gone'],
    ['its place', "SELECT pg_replication_slot_advance('quadmill_test', pg_current_wal_lsn())", 'is ahead'],
  ];
  soakTest.each(LOSSES)(
    'where %s is lost, all rows are read again, and those that have gone meanwhile are known',
    async (_, lose, told) => {
      const options = await load('CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a VALUES (1), (2)');
      const fold = new Fold();
      await withFeed(options, (feed) => readToEnd(feed, fold), true);
      await admin.query('DELETE FROM a WHERE id = 1; INSERT INTO a VALUES (3)');
      await admin.query(lose);
      await withFeed(options, (feed) => readToEnd(feed, fold));
      await expectSame(fold, ['a']);
      expect(fold.snapshots).toBe(2);
      expect(options.told.join()).toContain(told);
    },
  );

  soakTest('a snapshot has the transactions that the log had first, also those that wait for a standby', async () => {
    const options = await load('CREATE TABLE a (id int PRIMARY KEY, note text); INSERT INTO a VALUES (1)');
    const writer = await server.connect();
    const waitFor = async (standby: string): Promise<void> => {
      await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${standby}'`);
      await admin.query('SELECT pg_reload_conf()');
      await sleep(200);
    };
    await withFeed(options, async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      const abort = new AbortController();
      const read = async (): Promise<void> => {
        for await (const batch of feed.batches(fold.position, abort.signal)) fold.take(batch);
      };
      const reading = faultOf(read());
      await sleep(500);
      // The log has the new columns with the row that comes next.
      await admin.query('ALTER TABLE a ADD COLUMN more int DEFAULT 7');
      await waitFor('away');
      const inserted = writer.query(`INSERT INTO ${schema}.a VALUES (2)`);
      await sleep(1_000);
      const { snapshots } = fold;
      await waitFor('');
      expect(snapshots).toBe(1);
      await inserted;
      while (fold.snapshots < 2) await sleep(20);
      abort.abort();
      expect((await reading).code).toBe('run/cancelled');
      fold.forgetTransaction();
      await readToEnd(feed, fold);
      await expectSame(fold, ['a']);
      expect(fold.snapshots).toBe(2);
    });
    await writer.end();
  });

  soakTest('a table that is truncated while a snapshot waits for its lock is read again', async () => {
    const options = await load('CREATE TABLE bag (x int); ALTER TABLE bag REPLICA IDENTITY FULL; INSERT INTO bag VALUES (1), (2)');
    const writer = await server.connect();
    await withFeed(options, async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      await admin.query('ALTER TABLE bag ADD COLUMN y int');
      await writer.query(`SET search_path = ${schema}; BEGIN; DELETE FROM bag WHERE x = 1; TRUNCATE bag; INSERT INTO bag VALUES (3)`);
      const reading = faultOf(readToEnd(feed, fold));
      await sleep(1_000);
      await writer.query('COMMIT');
      expect(await reading).toMatchObject({ code: 'database/busy', message: expect.stringMatching(/bag was altered/) });
      await readToEnd(feed, fold);
      await expectSame(fold, ['bag']);
    });
    await writer.end();
  });

  soakTest('a snapshot that was cut off begins again', async () => {
    const options = await load('CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a SELECT generate_series(1, 10000)');
    const fold = new Fold();
    await withFeed(options, async (feed) => {
      for await (const batch of feed.batches(undefined, new AbortController().signal)) {
        fold.take(batch);
        if (fold.events > 3000) break;
      }
      await admin.query('DELETE FROM a WHERE id < 100');
      await readToEnd(feed, fold);
      await expectSame(fold, ['a']);
      expect(fold.snapshots).toBe(2);
    });
  });

  soakTest('columns that the snapshot of another table has found are found', async () => {
    const options = await load(`CREATE TABLE one (id int PRIMARY KEY);
      CREATE TABLE bag (x int); ALTER TABLE bag REPLICA IDENTITY FULL; INSERT INTO bag VALUES (1), (2)`);
    await withFeed(options, async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      const { snapshots } = fold;
      const abort = new AbortController();
      const read = async (): Promise<void> => {
        for await (const batch of feed.batches(fold.position, abort.signal)) fold.take(batch);
      };
      const reading = faultOf(read());
      await sleep(500);
      await admin.query('ALTER TABLE bag ADD COLUMN y int DEFAULT 7; ALTER TABLE one ADD COLUMN z int; INSERT INTO one VALUES (1)');
      while (fold.snapshots === snapshots) await Promise.race([sleep(20), reading]);
      await admin.query('DELETE FROM bag WHERE x = 1');
      for (let left = 100; left > 0 && fold.texts('bag').length > 1; left--) await Promise.race([sleep(20), reading]);
      abort.abort();
      expect((await reading).code).toBe('run/cancelled');
      fold.forgetTransaction();
      await readToEnd(feed, fold);
      await expectSame(fold, ['bag', 'one']);
    });
  });

  soakTest('columns and partitions that change without any row are found', async () => {
    const options =
      await load(`CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a VALUES (1); CREATE TABLE g (id int PRIMARY KEY, twice int GENERATED ALWAYS AS (id * 2) STORED);
      CREATE TABLE p (id int PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE low PARTITION OF p FOR VALUES FROM (0) TO (10); INSERT INTO p VALUES (1)`);
    const tables = new Map([...options.tables].filter(([name]) => name !== 'low'));
    await withFeed({ ...options, tables }, async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      await admin.query(`ALTER TABLE a ADD COLUMN b text DEFAULT 'x'; CREATE TABLE high (id int PRIMARY KEY); INSERT INTO high VALUES (20); INSERT INTO g VALUES (3);
        ALTER TABLE p ATTACH PARTITION high FOR VALUES FROM (10) TO (30); TRUNCATE low`);
      await readToEnd(feed, fold);
      await expectSame(fold, ['a', 'p']);
      expect(fold.texts('g')).toEqual(['{"id":"3"}']);
      await admin.query('ALTER TABLE a ALTER b TYPE varchar(5); ALTER TABLE p DETACH PARTITION low');
      await readToEnd(feed, fold);
      await expectSame(fold, ['a', 'p']);
    });
    expect(options.told.join()).toContain('the table g is followed without twice');
  });

  soakTest('a second reader of the slot is refused, and an aborted one ends at once', async () => {
    const options = await load('CREATE TABLE a (id int PRIMARY KEY)');
    await withFeed(options, async (feed) => {
      const abort = new AbortController();
      const fold = new Fold();
      await readToEnd(feed, fold);
      const reading = faultOf(
        (async () => {
          for await (const batch of feed.batches(fold.position, abort.signal)) fold.take(batch);
        })(),
      );
      await sleep(500);
      const second = await openPostgresqlFeed(options);
      const fault = await faultOf(readToEnd(second, new Fold()));
      const other = new Fold();
      other.position = fold.position;
      const again = await faultOf(readToEnd(second, other));
      await second.close();
      expect([fault.code, again.code]).toEqual(['database/busy', 'database/busy']);
      const aborted = performance.now();
      abort.abort();
      expect((await reading).code).toBe('run/cancelled');
      expect(performance.now() - aborted).toBeLessThan(2000);
    });
  });

  soakTest('one that is aborted while it begins ends', async () => {
    await withFeed(await load('CREATE TABLE a (id int PRIMARY KEY)'), async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      for (let ms = 0; ms < 60; ms += 2) {
        const abort = new AbortController();
        const reading = (async () => {
          for await (const batch of feed.batches(fold.position, abort.signal)) fold.take(batch);
        })();
        await sleep(ms);
        abort.abort();
        expect((await faultOf(reading)).code).toBe('run/cancelled');
      }
    });
  });

  soakTest('a large transaction is read slowly, in bounded memory, and the server does not give up', async () => {
    const options = await load('CREATE TABLE a (id int PRIMARY KEY, note text)');
    await withFeed(options, async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      await admin.query("INSERT INTO a SELECT i, repeat('x', 200) FROM generate_series(1, 200000) i");
      const before = usedMegabytes();
      let most = 0;
      let looked = 0;
      let rows = 0;
      let largest = 0;
      for await (const { events, position } of feed.batches(fold.position, new AbortController().signal)) {
        // Longer than wal_sender_timeout.
        if (rows === 0) await sleep(6_000);
        rows += events.filter(({ kind }) => kind === 'row').length;
        largest = Math.max(largest, events.length);
        if (rows - looked > 20_000) {
          looked = rows;
          most = Math.max(most, usedMegabytes());
        }
        if (events.at(-1)?.kind === 'commit') {
          fold.position = position;
          break;
        }
      }
      expect(rows).toBe(200_000);
      expect(largest).toBeLessThan(10_000);
      // All rows together take more than 100.
      expect(most - before).toBeLessThan(20);
    });
  });

  soakTest('transactions of other tables move the position, so that the server can forget its log', async () => {
    const options = await load('CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE other (id int)');
    const tables = new Map([...options.tables].filter(([name]) => name === 'a'));
    await withFeed({ ...options, tables }, async (feed) => {
      const fold = new Fold();
      await readToEnd(feed, fold);
      const before = fold.position?.lsn;
      await admin.query('INSERT INTO other SELECT generate_series(1, 1000)');
      await readToEnd(feed, fold);
      expect(fold.position?.lsn).not.toBe(before);
      expect(fold.logged).toBe(0);
    });
  });

  soakTest('a user who has lost the right to read gets a fault', async () => {
    const options = await load('CREATE TABLE a (id int PRIMARY KEY)');
    const error = await openPostgresqlFeed({ ...options, address: { ...options.address, user: 'stranger' } }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(Fault);
  });
});
