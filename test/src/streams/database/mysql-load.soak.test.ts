/** Random transactions on a MariaDB while a feed of its log is read, cut off and continued: the rows are those of the tables. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Fault } from '../../../../src/core/fault.ts';
import type { FeedPosition } from '../../../../src/streams/events.ts';
import { openMysqlFeed } from '../../../../src/streams/mysql/feed.ts';
import { missingMariadb } from '../../../servers/databases/mariadb.ts';
import { Random, soakSeeds } from '../../../support/random.ts';
import { differences, Fold, readToEnd, selected } from './fold.ts';
import { type LogServer, startLogServer } from './mysql-server.ts';
import { ALL, TABLES, writeRandomly } from './mysql-writer.ts';

const missing = await missingMariadb();
const suite = missing === undefined ? describe : describe.skip;

/** Of writing, for each seed. */
const SECONDS = 5;

suite(`The binlog of MariaDB under load${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let server: LogServer | undefined;
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });

  test.each(soakSeeds(1, 2))('random transactions, connections that are cut off, older positions: seed %d', async (seed) => {
    server = await startLogServer(seed % 2 === 1 ? ['--binlog-row-metadata=FULL'] : []);
    const { admin } = server;
    await admin.query(ALL);
    const random = new Random(seed);
    const options = await server.options();
    expect([...options.tables.keys()].sort()).toEqual([...TABLES].sort());
    let isOver = false;
    let abort = new AbortController();
    const failures: unknown[] = [];
    const over = (): void => {
      isOver = true;
      abort.abort();
    };
    const write = async (n: number): Promise<void> => {
      const client = await (server as LogServer).connect();
      await client.query("SET sql_mode = '', innodb_lock_wait_timeout = 1, lock_wait_timeout = 1");
      const own = new Random(seed * 10 + n);
      for (let i = 0; !isOver; i++) {
        await writeRandomly(client, own, { withDdl: seed % 3 === 2, withPlain: seed % 3 === 0, withPrepared: seed % 3 === 1 });
        if (i % 10 === 0) await sleep(own.between(0, 20));
      }
      await client.end();
    };
    const writers = [1, 2].map((n) =>
      write(n).catch((error: unknown) => {
        failures.push(error);
        over();
      }),
    );
    const fold = new Fold();
    const positions: FeedPosition[] = [];
    const timer = setTimeout(over, SECONDS * 1000);
    let feed = await openMysqlFeed(options);
    let cuts = 0;
    try {
      while (!isOver) {
        abort = new AbortController();
        const from = positions.length > 0 && random.chance(0.3) ? random.pick(positions.slice(-20)) : fold.position;
        fold.forgetTransaction();
        try {
          for await (const batch of feed.batches(from, abort.signal)) {
            fold.take(batch);
            if (batch.events.some(({ kind }) => kind === 'snapshot')) positions.length = 0;
            positions.push(batch.position);
            if (random.chance(0.05)) await feed.confirm(positions.at(random.chance(0.5) ? 0 : -10) ?? batch.position);
            if (random.chance(0.03)) await server.cut();
            if (random.chance(0.02)) break;
          }
        } catch (error) {
          if (!(error instanceof Fault) || !(error.retriable || isOver)) throw error;
          cuts++;
        }
        if (random.chance(0.2)) {
          await feed.close();
          feed = await openMysqlFeed(options);
        }
      }
    } finally {
      clearTimeout(timer);
      over();
      await Promise.all(writers);
    }
    expect(failures).toEqual([]);
    fold.forgetTransaction();
    await readToEnd(feed, fold);
    const session = await server.session();
    for (const table of TABLES) {
      const rows = await selected(session, `\`${table.replaceAll('`', '``')}\``);
      expect([table, ...differences(fold.texts(table), rows)]).toEqual([table]);
    }
    await session.close();
    expect(cuts).toBeGreaterThan(0);
    await feed.close();
  });
});
