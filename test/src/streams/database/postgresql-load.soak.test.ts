/** Random transactions on a PostgreSQL while a feed of its log is read, cut off and continued: the rows are those of the tables. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Fault } from '../../../../src/core/fault.ts';
import type { FeedPosition } from '../../../../src/streams/events.ts';
import { openPostgresqlFeed } from '../../../../src/streams/postgresql/feed.ts';
import { missingPostgres } from '../../../servers/databases/postgres.ts';
import { Random, soakSeeds } from '../../../support/random.ts';
import { differences, Fold, readToEnd, selected } from './fold.ts';
import { type LogServer, startLogServer } from './postgresql-server.ts';
import { ALL, TABLES, writeRandomly } from './postgresql-writer.ts';

const missing = await missingPostgres();
const suite = missing === undefined ? describe : describe.skip;

/** Of writing, for each seed. */
const SECONDS = 5;

suite(`PostgreSQL's log under load${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let server: LogServer | undefined;
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });

  test.each(soakSeeds(1, 2))('random transactions, connections that are cut off, older positions: seed %d', async (seed) => {
    server = await startLogServer();
    const { admin } = server;
    await admin.query(ALL);
    const random = new Random(seed);
    const options = await server.options('shop');
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
      await client.query("SET lock_timeout = '200ms'");
      const own = new Random(seed * 10 + n);
      for (let i = 0; !isOver; i++) {
        await writeRandomly(client, own, { withDdl: seed % 2 === 0 });
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
    let feed = await openPostgresqlFeed(options);
    let cuts = 0;
    try {
      while (!isOver) {
        abort = new AbortController();
        const from = positions.length > 0 && random.chance(0.3) ? random.pick(positions.slice(-20)) : fold.position;
        fold.forgetTransaction();
        try {
          for await (const batch of feed.batches(from, abort.signal)) {
            fold.take(batch);
            // Rows are never ahead of their position by a snapshot: `HeldEvents.takeClean`.
            if (batch.events.some(({ kind }) => kind === 'snapshot')) positions.length = 0;
            positions.push(batch.position);
            if (random.chance(0.05)) await feed.confirm(positions.at(random.chance(0.5) ? 0 : -10) ?? batch.position);
            if (random.chance(0.03)) await admin.query('SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active');
            if (random.chance(0.02)) break;
          }
        } catch (error) {
          if (!(error instanceof Fault) || !(error.retriable || isOver)) throw error;
          cuts++;
        }
        if (random.chance(0.2)) {
          await feed.close();
          feed = await openPostgresqlFeed(options);
        }
      }
    } finally {
      clearTimeout(timer);
      over();
      await Promise.all(writers);
    }
    expect(failures).toEqual([]);
    fold.forgetTransaction();
    // The server may fail to decode its log twice, before all is read again.
    for (let attempt = 1; ; attempt++) {
      const done = await readToEnd(feed, fold).then(
        () => true,
        (error: unknown) => {
          if (attempt > 3 || !(error instanceof Fault) || !error.retriable) throw error;
          fold.forgetTransaction();
          return false;
        },
      );
      if (done) break;
    }
    const session = await server.session();
    for (const table of TABLES) {
      const rows = await selected(session, `shop."${table.replaceAll('"', '""')}"`);
      expect([table, ...differences(fold.texts(table), rows)]).toEqual([table]);
    }
    await session.close();
    expect(cuts).toBeGreaterThan(0);
    await feed.close();
  });
});
