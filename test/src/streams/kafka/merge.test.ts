/** Messages of several partitions in one order: transactions of random databases, arriving in random order, with crashes of Debezium and of the reader. */
import { describe, expect, test } from '@jest/globals';
import type { KafkaMessage } from '../../../../src/streams/debezium/message.ts';
import { PayloadReader } from '../../../../src/streams/debezium/payload.ts';
import type { ChangeEvent, FeedPosition } from '../../../../src/streams/events.ts';
import { TopicMerge } from '../../../../src/streams/kafka/merge.ts';
import { PartitionQueue } from '../../../../src/streams/kafka/partition.ts';
import { Random, soakSeeds } from '../../../support/random.ts';
import { FoldedTables } from '../debezium/fold.ts';

const TABLES = ['a', 'b', 'c'] as const;
const TOPICS = [...TABLES.map((table) => `p.shop.${table}`), 'p.transaction'];
const never = new AbortController().signal;

interface Sent {
  readonly topic: string;
  readonly key: unknown;
  readonly value: unknown;
}

/** Topics with their messages, a clock, and a merge that reads them. */
class Harness {
  now = 1_000_000;
  readonly logs = new Map<string, KafkaMessage[]>(TOPICS.map((topic) => [topic, []]));
  readonly events: ChangeEvent[] = [];
  readonly warnings = new Set<string>();
  position: FeedPosition | undefined;
  #merge: TopicMerge;
  readonly #transactionTopic: string | undefined;

  constructor(transactionTopic: string | undefined) {
    this.#transactionTopic = transactionTopic;
    this.#merge = this.#open();
  }

  #open(): TopicMerge {
    const merge = new TopicMerge({
      tables: new Map(TABLES.map((table) => [`p.shop.${table}`, [table]])),
      transactionTopic: this.#transactionTopic,
      reader: new PayloadReader(undefined),
      kept: this.position,
      now: () => this.now,
    });
    for (const topic of TOPICS) {
      if (topic === 'p.transaction' && this.#transactionTopic === undefined) continue;
      const next = BigInt(this.position?.[`${topic}-0`] ?? 0);
      merge.addQueue(topic, 0, next, next >= BigInt(this.logs.get(topic)?.length ?? 0));
    }
    return merge;
  }

  send({ topic, key, value }: Sent): void {
    const log = this.logs.get(topic) as KafkaMessage[];
    const bytes = (one: unknown): Buffer | null => (one === null ? null : Buffer.from(JSON.stringify(one)));
    log.push({ topic, partition: 0, offset: String(log.length), timestamp: this.now, key: bytes(key), value: bytes(value), headers: {} });
    const queue = this.#merge.queue(topic, 0);
    if (queue !== undefined) queue.isDrained = false;
  }

  /** As an answer of the brokers. */
  deliver(topic: string, most: number): void {
    const queue = this.#merge.queue(topic, 0);
    if (queue === undefined) return;
    const log = this.logs.get(topic) as KafkaMessage[];
    const from = Number(queue.from);
    const messages = log.slice(from, from + most);
    expect(queue.add(messages, BigInt(from + messages.length), BigInt(log.length))).toBe(true);
  }

  async take(): Promise<void> {
    for (;;) {
      const batch = await this.#merge.take(never);
      if (batch === undefined) return;
      expect(batch.rejected).toBeUndefined();
      this.events.push(...batch.events);
      for (const warning of batch.warnings ?? []) if (!warning.startsWith('Rows that foreign keys')) this.warnings.add(warning);
      this.position = batch.position;
    }
  }

  /** The reader restarts with what it has kept. */
  restart(): void {
    this.position = JSON.parse(JSON.stringify(this.position ?? {}));
    this.#merge = this.#open();
  }

  async finish(): Promise<void> {
    for (let i = 0; i < 100; i++) {
      for (const topic of TOPICS) this.deliver(topic, 1_000);
      await this.take();
      this.now += 1_000;
    }
  }

  get isAtEnd(): boolean {
    return [...this.logs].every(([topic, { length }]) =>
      topic === 'p.transaction' && this.#transactionTopic === undefined ? true : this.position?.[`${topic}-0`] === String(length),
    );
  }

  get rows(): Readonly<Record<string, unknown>> {
    const folded = new FoldedTables();
    for (const event of this.events) folded.take(event);
    return Object.fromEntries(
      TABLES.map((table) => [
        table,
        folded
          .rows(table)
          .map((row) => JSON.stringify(row))
          .sort(),
      ]),
    );
  }
}

/** What Debezium writes of a database with random transactions, in the order of its production. */
class RandomDatabase {
  readonly sent: Sent[] = [];
  /** Places in `sent` where a transaction ends. */
  readonly ends: number[] = [];
  readonly rows = new Map<string, Map<number, number>>(TABLES.map((table) => [table, new Map()]));
  readonly ids: string[] = [];
  #value = 0;
  #lsn = 1_000;
  #commit = 0;
  #number = 0;
  readonly #random: Random;
  readonly #isPostgres: boolean;

  constructor(random: Random, isPostgres: boolean, hasDdl: boolean, transactions: number) {
    this.#random = random;
    this.#isPostgres = isPostgres;
    for (let i = 0; i < transactions; i++) {
      // The last one has its END: another test shows what a missing one does there.
      if (!isPostgres && hasDdl && i < transactions - 1 && random.chance(0.15)) this.#ddl();
      else this.#transaction();
      this.ends.push(this.sent.length);
    }
  }

  #transaction(): void {
    const random = this.#random;
    const id = `${++this.#number}`;
    this.ids.push(this.#isPostgres ? id : `0-1-${id}`);
    const before = this.#commit;
    this.#boundary('BEGIN', id, {});
    const counts: Record<string, number> = {};
    const total = random.chance(0.2) ? 0 : random.between(1, 5);
    for (let order = 1; order <= total; order++) {
      const table = random.pick(TABLES);
      counts[table] = (counts[table] ?? 0) + 1;
      const rows = this.rows.get(table) as Map<number, number>;
      const key = random.between(1, 6);
      const isDelete = rows.has(key) && random.chance(0.3);
      const value = ++this.#value;
      if (isDelete) rows.delete(key);
      else rows.set(key, value);
      const source = this.#source(table, id, before);
      const transaction = {
        id: this.#isPostgres ? `${id}:${this.#lsn}` : `0-1-${id}`,
        total_order: order,
        data_collection_order: counts[table],
      };
      const after = isDelete ? null : { id: key, value };
      this.sent.push({
        topic: `p.shop.${table}`,
        key: { id: key },
        value: { before: null, after, source, transaction, op: isDelete ? 'd' : 'c' },
      });
      if (isDelete) this.sent.push({ topic: `p.shop.${table}`, key: { id: key }, value: null });
    }
    this.#lsn += 8;
    this.#commit = this.#lsn;
    this.#boundary('END', id, counts);
  }

  /** A truncate has a BEGIN, one row, and no END. */
  #ddl(): void {
    const id = `${++this.#number}`;
    this.#boundary('BEGIN', id, {});
    if (this.#random.chance(0.5)) return;
    const table = this.#random.pick(TABLES);
    this.rows.get(table)?.clear();
    const transaction = { id: `0-1-${id}`, total_order: 1, data_collection_order: 1 };
    this.sent.push({
      topic: `p.shop.${table}`,
      key: null,
      value: { before: null, after: null, source: this.#source(table, id, 0), transaction, op: 't' },
    });
  }

  #source(table: string, id: string, commit: number): unknown {
    this.#lsn += 8;
    if (!this.#isPostgres)
      return {
        connector: 'mariadb',
        db: 'shop',
        table,
        snapshot: 'false',
        gtid: `0-1-${id}`,
        file: 'binlog.000001',
        pos: this.#lsn,
        row: 0,
      };
    const sequence = JSON.stringify([commit === 0 ? null : `${commit}`, `${this.#lsn}`]);
    return { connector: 'postgresql', db: 'shop', schema: 'shop', table, snapshot: 'false', lsn: this.#lsn, sequence };
  }

  #boundary(status: string, id: string, counts: Readonly<Record<string, number>>): void {
    const full = this.#isPostgres ? `${id}:${status === 'END' ? this.#commit : this.#lsn}` : `0-1-${id}`;
    const collections = Object.entries(counts).map(([table, count]) => ({ data_collection: `shop.${table}`, event_count: count }));
    this.sent.push({
      topic: 'p.transaction',
      key: { id: full },
      value: {
        status,
        id: full,
        event_count: status === 'BEGIN' ? null : 1,
        data_collections: status === 'BEGIN' ? null : collections,
        ts_ms: 0,
      },
    });
  }

  get expected(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      [...this.rows].map(([table, rows]) => [
        table,
        [...rows].map(([id, value]) => JSON.stringify({ id: { json: `${id}` }, value: { json: `${value}` } })).sort(),
      ]),
    );
  }
}

/** Sends and delivers in random portions; the clock goes on. */
async function play(harness: Harness, sent: readonly Sent[], random: Random, restarts: boolean): Promise<void> {
  let at = 0;
  while (at < sent.length) {
    const next = sent.slice(at, at + random.between(1, 10));
    at += next.length;
    for (const one of next) harness.send(one);
    for (let i = random.between(0, 4); i > 0; i--) harness.deliver(random.pick(TOPICS), random.between(1, 6));
    harness.now += random.between(0, 300);
    if (random.chance(0.7)) await harness.take();
    if (restarts && random.chance(0.1)) harness.restart();
  }
  await harness.finish();
}

describe('random transactions over several topics', () => {
  test.each(soakSeeds(1, 60))('seed %i', async (seed) => {
    const random = new Random(seed);
    const isPostgres = random.chance(0.5);
    const hasDdl = random.chance(0.5);
    const restarts = random.chance(0.5);
    const database = new RandomDatabase(random, isPostgres, hasDdl, 30);
    // A crash of Debezium: what it wrote since some place comes once more.
    const crash = random.chance(0.5) ? random.between(1, database.sent.length) : undefined;
    const since = crash === undefined ? 0 : (database.ends.findLast((end) => end <= crash * random.next()) ?? 0);
    const sent = crash === undefined ? database.sent : [...database.sent.slice(0, crash), ...database.sent.slice(since)];
    const harness = new Harness('p.transaction');
    await play(harness, sent, random, restarts);
    expect(harness.rows).toEqual(database.expected);
    expect(harness.isAtEnd).toBe(true);
    if (crash !== undefined) return;
    expect([...harness.warnings]).toEqual([]);
    assertWhole(harness.events, database.ids, restarts);
  });

  test('without a transaction topic rows come in the order of their topic', async () => {
    const database = new RandomDatabase(new Random(7), true, false, 30);
    const harness = new Harness(undefined);
    await play(harness, database.sent, new Random(8), true);
    expect(harness.rows).toEqual(database.expected);
    expect(harness.events.some(({ kind }) => kind === 'begin')).toBe(false);
    expect(harness.isAtEnd).toBe(true);
  });
});

/** Every row is between the begin and the commit of its transaction, and transactions come in the order of their commits. */
function assertWhole(events: readonly ChangeEvent[], ids: readonly string[], restarts: boolean): void {
  let open: string | undefined;
  let last = -1;
  for (const event of events) {
    if (event.kind === 'begin') {
      // A reader that restarts within a transaction repeats its begin.
      if (!restarts) expect(open).toBeUndefined();
      open = event.transaction;
      const place = ids.indexOf(open);
      if (place >= 0) expect(place).toBeGreaterThanOrEqual(last);
      last = Math.max(place, last);
    } else if (event.kind === 'commit') {
      open = undefined;
    } else expect(open).toBeDefined();
  }
  expect(open).toBeUndefined();
}

describe('transactions that are not whole', () => {
  const source = (number: number) => ({
    connector: 'mariadb',
    db: 'shop',
    table: 'a',
    snapshot: 'false',
    gtid: `0-1-${number}`,
    pos: number,
    row: 0,
  });
  const rowOf = (number: number, order: number, table = 'a'): Sent => ({
    topic: `p.shop.${table}`,
    key: { id: order },
    value: {
      before: null,
      after: { id: order },
      source: { ...source(number), table },
      transaction: { id: `0-1-${number}`, total_order: order, data_collection_order: order },
      op: 'c',
    },
  });
  const boundary = (status: 'BEGIN' | 'END', number: number, counts: Readonly<Record<string, number>> = {}): Sent => ({
    topic: 'p.transaction',
    key: { id: `0-1-${number}` },
    value: {
      status,
      id: `0-1-${number}`,
      event_count: null,
      data_collections: Object.entries(counts).map(([table, count]) => ({ data_collection: `shop.${table}`, event_count: count })),
    },
  });
  const names = ({ events }: Harness): readonly string[] =>
    events.map((event) =>
      'transaction' in event ? `${event.kind} ${event.transaction}` : 'key' in event ? `${event.table} ${event.key}` : event.kind,
    );
  const start = async (...sent: readonly Sent[]): Promise<Harness> => {
    const harness = new Harness('p.transaction');
    for (const one of sent) harness.send(one);
    for (const topic of TOPICS) harness.deliver(topic, 100);
    await harness.take();
    return harness;
  };
  const later = async (harness: Harness, ms: number): Promise<void> => {
    harness.now += ms;
    await harness.take();
  };

  test('a BEGIN without END waits ten seconds from its last row, and is reported', async () => {
    const harness = await start(boundary('BEGIN', 1), rowOf(1, 1));
    await later(harness, 9_000);
    expect(names(harness)).toEqual(['begin 0-1-1', 'a ["1"]']);
    expect(harness.isAtEnd).toBe(true);
    await later(harness, 1_000);
    expect(names(harness)).toEqual(['begin 0-1-1', 'a ["1"]', 'commit 0-1-1']);
    expect([...harness.warnings]).toEqual([expect.stringContaining('p.transaction has no END of the transaction 0-1-1')]);
  });

  test('a BEGIN that another one follows, as with DDL of MariaDB, waits two seconds for its row, and is not told', async () => {
    const harness = await start(boundary('BEGIN', 1), boundary('BEGIN', 2), boundary('END', 2, { a: 1 }));
    harness.send(rowOf(1, 1));
    harness.send(rowOf(2, 2));
    harness.deliver('p.shop.a', 10);
    await later(harness, 1_900);
    expect(names(harness)).toEqual(['begin 0-1-1', 'a ["1"]']);
    await later(harness, 200);
    expect(names(harness)).toEqual(['begin 0-1-1', 'a ["1"]', 'commit 0-1-1', 'begin 0-1-2', 'a ["2"]', 'commit 0-1-2']);
    expect(harness.warnings.size).toBe(0);
  });

  test('an END with more rows than there are waits ten seconds, unless its topic goes on with a later transaction', async () => {
    const harness = await start(boundary('BEGIN', 1), boundary('END', 1, { a: 1, b: 1 }), rowOf(1, 1));
    await later(harness, 9_900);
    expect(names(harness)).toEqual(['begin 0-1-1', 'a ["1"]']);
    await later(harness, 200);
    expect(names(harness)).toEqual(['begin 0-1-1', 'a ["1"]', 'commit 0-1-1']);
    expect([...harness.warnings]).toEqual([expect.stringContaining('p.shop.b has fewer rows')]);
    const filtered = await start(
      boundary('BEGIN', 1),
      boundary('END', 1, { a: 2 }),
      rowOf(1, 1),
      boundary('BEGIN', 2),
      rowOf(2, 3),
      boundary('END', 2, { a: 1 }),
    );
    expect(names(filtered)).toEqual(['begin 0-1-1', 'a ["1"]', 'commit 0-1-1', 'begin 0-1-2', 'a ["3"]', 'commit 0-1-2']);
  });

  test('rows whose BEGIN retention has removed are taken at once where a later transaction is known, else after ten seconds', async () => {
    const known = await start(rowOf(1, 1), boundary('BEGIN', 2), rowOf(2, 2), boundary('END', 2, { a: 1 }));
    expect(names(known)).toEqual(
      ['a ["1"]', 'begin 0-1-2', 'a ["2"]', 'commit 0-1-2'].sort((x, y) => names(known).indexOf(x) - names(known).indexOf(y)),
    );
    expect(known.warnings.size).toBe(0);
    const unknown = await start(rowOf(5, 1), rowOf(5, 2));
    expect(names(unknown)).toEqual([]);
    await later(unknown, 10_000);
    expect(names(unknown)).toEqual(['a ["1"]', 'a ["2"]']);
    expect([...unknown.warnings]).toEqual([expect.stringContaining('without a BEGIN')]);
  });

  test('an END without BEGIN, and transactions that touch no table, make no events', async () => {
    const harness = await start(
      boundary('END', 1, { a: 0 }),
      boundary('BEGIN', 2),
      boundary('END', 2, { other: 3 }),
      boundary('BEGIN', 3),
      boundary('END', 3),
    );
    expect(names(harness)).toEqual([]);
    expect(harness.isAtEnd).toBe(true);
  });

  test('a clock that is behind makes no one wait longer than the limit', async () => {
    const harness = new Harness('p.transaction');
    harness.now += 3_600_000;
    harness.send(boundary('BEGIN', 1));
    harness.send(rowOf(1, 1));
    harness.now -= 3_600_000;
    for (const topic of TOPICS) harness.deliver(topic, 100);
    await harness.take();
    await later(harness, 10_000);
    expect(names(harness)).toEqual(['begin 0-1-1', 'a ["1"]', 'commit 0-1-1']);
  });
});

test('the last message of a partition is compared with the one that the brokers have there', () => {
  const message = (offset: number, value: string, timestamp = 5): KafkaMessage => ({
    topic: 't',
    partition: 0,
    offset: `${offset}`,
    timestamp,
    key: null,
    value: Buffer.from(value),
    headers: {},
  });
  const first = new PartitionQueue('t', 0, 0n, false);
  expect([first.from, first.mark, first.add([message(0, 'a'), message(1, 'b')], 2n, 2n)]).toEqual([0n, undefined, true]);
  first.take();
  first.take();
  const { mark } = first;
  const reopened = () => new PartitionQueue('t', 0, 2n, true, mark);
  expect([reopened().from, reopened().isChecked]).toEqual([1n, false]);
  const same = reopened();
  expect([same.add([message(1, 'b'), message(2, 'c')], 3n, 3n), same.head?.message.offset, same.isChecked]).toEqual([true, '2', true]);
  for (const other of [message(1, 'x'), message(1, 'b', 6)]) expect(reopened().add([other, message(2, 'c')], 3n, 3n)).toBe(false);
  // Compaction has removed it.
  expect(reopened().add([message(2, 'c')], 3n, 3n)).toBe(true);
  // A partition that is read from its beginning again.
  expect(new PartitionQueue('t', 0, 0n, false, mark).from).toBe(0n);
  // As a consumer joins again.
  first.recheck();
  expect([first.from, first.add([message(1, 'x')], 2n, 2n)]).toEqual([1n, false]);
});

test('what was taken before a schema could not be read is not lost', async () => {
  let isReachable = false;
  class Unreachable extends PayloadReader {
    override prepare(bytes: Uint8Array | null): Promise<void> | undefined {
      return bytes !== null && !isReachable && bytes.includes(0x39) ? Promise.reject(new Error('no registry')) : undefined;
    }
  }
  const merge = new TopicMerge({
    tables: new Map([['t', ['t']]]),
    transactionTopic: undefined,
    reader: new Unreachable(undefined),
    kept: undefined,
    now: Date.now,
  });
  const message = (offset: number, id: number): KafkaMessage => ({
    topic: 't',
    partition: 0,
    offset: `${offset}`,
    timestamp: 0,
    key: Buffer.from(`{"id":${id}}`),
    value: Buffer.from(`{"id":${id}}`),
    headers: {},
  });
  merge.addQueue('t', 0, 0n, false).add([message(0, 1), message(1, 9), message(2, 2)], 3n, 3n);
  expect((await merge.take(never))?.position).toMatchObject({ 't-0': '1' });
  await expect(merge.take(never)).rejects.toThrow('no registry');
  isReachable = true;
  const batch = await merge.take(never);
  expect(batch?.events.map((event) => 'key' in event && event.key)).toEqual(['["9"]', '["2"]']);
});
