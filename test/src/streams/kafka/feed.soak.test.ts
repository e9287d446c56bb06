/** Topics of a real broker as a feed of changes: recorded messages, stops, kills, retention, and more messages than memory. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Admin, Kafka, logLevel, Partitioners, type Producer } from 'kafkajs';
import type { Fault } from '../../../../src/core/fault.ts';
import { Secret } from '../../../../src/core/secret.ts';
import type { KafkaMessage } from '../../../../src/streams/debezium/message.ts';
import type { ChangeBatch, ChangeEvent, ChangeFeed, FeedPosition } from '../../../../src/streams/events.ts';
import { openKafkaFeed } from '../../../../src/streams/kafka/feed.ts';
import { KAFKA_USERS, type KafkaServer, missingKafka, type Secured, startKafka } from '../../../servers/queues/kafka.ts';
import { FoldedTables } from '../debezium/fold.ts';
import { messagesOf, missingStreams, scenarios, TABLES } from '../debezium/recorded.ts';

const missing = await missingKafka();

(missing === undefined ? describe : describe.skip)(`topics as a feed${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let server: KafkaServer;
  let admin: Admin;
  let producer: Producer;
  let kafka: Kafka;

  beforeAll(async () => {
    const started = await startKafka({ secured: true });
    if ('skip' in started) throw new Error(started.skip);
    server = started;
    kafka = new Kafka({ brokers: [server.broker], logLevel: logLevel.NOTHING, retry: { retries: 60, maxRetryTime: 1_000 } });
    admin = kafka.admin();
    producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await admin.connect();
    await producer.connect();
  }, 120_000);

  afterAll(async () => {
    await admin?.disconnect();
    await producer?.disconnect();
    await server?.stop();
  });

  /** The prefix of the topics of one test, as its connector would have it. */
  const prefixed = (): string => `p${randomBytes(4).toString('hex')}`;

  const create = (...topics: readonly string[]): Promise<boolean> =>
    admin.createTopics({ topics: topics.map((topic) => ({ topic, numPartitions: 1 })), waitForLeaders: true });

  /** As retention does. */
  async function remove(topic: string, before: number): Promise<void> {
    // The client library knows the leader then.
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(before) }] });
  }

  const feedOf = (prefix: string, tables: readonly string[], withTransactions = true): Promise<ChangeFeed> =>
    openKafkaFeed({
      brokers: [server.broker],
      topics: new Map(tables.map((table) => [table, `${prefix}.shop.${table}`])),
      transactionTopic: withTransactions ? `${prefix}.transaction` : undefined,
      groupId: `${prefix}-follower`,
      security: undefined,
      registryUrl: undefined,
    });

  interface Read {
    readonly events: readonly ChangeEvent[];
    readonly position: FeedPosition | undefined;
    readonly warnings: readonly string[];
  }

  /** Batches up to the end that the topics have now, or until there are enough. */
  async function readAll(
    feed: ChangeFeed,
    from?: FeedPosition,
    enough: (all: readonly ChangeBatch[]) => boolean = () => false,
  ): Promise<Read> {
    const stop = new AbortController();
    const isAtEnd = await feed.end(from);
    const all: ChangeBatch[] = [];
    if (from === undefined || !isAtEnd(from)) {
      for await (const batch of feed.batches(from, stop.signal)) {
        all.push(batch);
        if (isAtEnd(batch.position) || enough(all)) break;
      }
    }
    expect(all.flatMap(({ rejected = [] }) => rejected)).toEqual([]);
    return {
      events: all.flatMap(({ events }) => events),
      position: all.at(-1)?.position ?? from,
      warnings: all.flatMap(({ warnings = [] }) => warnings),
    };
  }

  const fold = (events: readonly ChangeEvent[]): Readonly<Record<string, unknown>> => {
    const folded = new FoldedTables();
    for (const event of events) folded.take(event);
    return Object.fromEntries(
      TABLES.map((table) => [
        table,
        folded
          .rows(table)
          .map((row) => JSON.stringify(row))
          .sort(),
      ]),
    );
  };

  const row = (
    id: number,
    transaction: { readonly id: string; readonly order: number } | null,
    more: Readonly<Record<string, unknown>> = {},
  ): unknown => ({
    before: null,
    after: { id, ...more },
    source: {
      connector: 'mariadb',
      db: 'shop',
      table: 'orders',
      gtid: transaction?.id ?? null,
      file: 'binlog.000001',
      pos: id,
      row: 0,
      snapshot: 'false',
      ts_ms: Date.now(),
    },
    transaction: transaction && { id: transaction.id, total_order: transaction.order, data_collection_order: transaction.order },
    op: 'c',
  });

  const boundary = (status: 'BEGIN' | 'END', id: string, counts: Readonly<Record<string, number>> = {}): unknown => ({
    status,
    id,
    event_count: status === 'BEGIN' ? null : 1,
    data_collections: Object.entries(counts).map(([table, count]) => ({ data_collection: `shop.${table}`, event_count: count })),
  });

  const send = (topic: string, ...values: readonly unknown[]): Promise<unknown> =>
    producer.send({
      topic,
      messages: values.map((value) => ({
        key: JSON.stringify({ id: (value as { after?: { id: number } }).after?.id ?? 0 }),
        value: JSON.stringify(value),
      })),
    });

  describe.each(missingStreams === undefined ? ['pg', 'mar'] : [])('recorded messages of %s', (variant) => {
    const database = variant.startsWith('p') ? 'postgres' : 'mariadb';
    let prefix: string;
    let expected: Readonly<Record<string, unknown>>;

    beforeAll(async () => {
      prefix = prefixed();
      await create(...TABLES.map((table) => `${prefix}.shop.${table}`), `${prefix}.transaction`);
      const events: ChangeEvent[] = [];
      const { decodeMessage } = await import('../../../../src/streams/debezium/message.ts');
      const { PayloadReader } = await import('../../../../src/streams/debezium/payload.ts');
      const { TableStates } = await import('../../../../src/streams/debezium/tables.ts');
      const [reader, states] = [new PayloadReader(undefined), new TableStates(undefined)];
      for (const scenario of scenarios(database)) {
        for (const [topic, messages] of messagesOf(`${database}/${scenario}`, variant)) {
          const table = topic.split('.')[2] as string;
          if (!topic.endsWith('.transaction') && !(TABLES as readonly string[]).includes(table)) continue;
          await producer.send({ topic: topic.replace(variant, prefix), messages: messages.map(asSent) });
          if (topic.endsWith('.transaction')) continue;
          for (const message of messages) events.push(...states.eventsOf(table, decodeMessage(message, reader)));
        }
      }
      expected = fold(events);
    }, 60_000);

    const asSent = ({ key, value, headers, timestamp }: KafkaMessage) => ({
      key: key as Buffer | null,
      value: value as Buffer | null,
      headers: headers as Record<string, Buffer>,
      timestamp: String(timestamp),
    });

    test('make the rows that they make one by one, with whole transactions', async () => {
      const feed = await feedOf(prefix, TABLES);
      try {
        const { events, position } = await readAll(feed);
        expect(fold(events)).toEqual(expected);
        assertWhole(events);
        expect(events.filter(({ kind }) => kind === 'commit').length).toBeGreaterThan(20);
        await feed.confirm(position as FeedPosition);
        const [{ partitions = [] } = {}] = await admin.fetchOffsets({ groupId: `${prefix}-follower`, topics: [`${prefix}.shop.orders`] });
        expect(partitions[0]?.offset).toBe(position?.[`${prefix}.shop.orders-0`]);
        expect(await feed.lag(position as FeedPosition)).toEqual({ messages: 0, bytes: undefined });
      } finally {
        await feed.close();
      }
    }, 60_000);

    test('are read on from the position of any batch, also by another process', async () => {
      const events: ChangeEvent[] = [];
      let position: FeedPosition | undefined;
      for (let i = 0; i < 3; i++) {
        const feed = await feedOf(prefix, TABLES);
        try {
          const read = await readAll(feed, position, (all) => i < 2 && all.length >= 1);
          events.push(...read.events);
          position = JSON.parse(JSON.stringify(read.position));
        } finally {
          await feed.close();
        }
      }
      expect(fold(events)).toEqual(expected);
    }, 90_000);
  });

  /** No event of a later transaction before the commit of an earlier one. */
  function assertWhole(events: readonly ChangeEvent[]): void {
    let open: string | undefined;
    for (const event of events) {
      if (event.kind === 'begin') {
        expect(open).toBeUndefined();
        open = event.transaction;
      } else if (event.kind === 'commit') {
        expect(event.transaction).toBe(open);
        open = undefined;
      }
    }
    expect(open).toBeUndefined();
  }

  test('a transaction over several topics waits for all of its rows, and a row of the next one for its commit', async () => {
    const prefix = prefixed();
    await create(`${prefix}.shop.orders`, `${prefix}.shop.customers`, `${prefix}.transaction`);
    const feed = await feedOf(prefix, ['orders', 'customers']);
    const stop = new AbortController();
    const seen: ChangeEvent[] = [];
    const reading = (async () => {
      for await (const { events } of feed.batches(undefined, stop.signal)) seen.push(...events);
    })().catch(() => undefined);
    const names = (): readonly string[] =>
      seen.map((event) =>
        'transaction' in event
          ? `${event.kind} ${event.transaction}`
          : 'table' in event && 'key' in event
            ? `${event.table} ${event.key}`
            : event.kind,
      );
    const until = async (count: number): Promise<void> => {
      for (let i = 0; i < 200 && seen.length < count; i++) await sleep(100);
    };
    try {
      // Limits of time count from when a message was written: the consumer must be reading by then.
      await send(`${prefix}.shop.orders`, row(0, null));
      await until(1);
      seen.length = 0;
      const first = { id: '0-1-1', order: 1 };
      await send(
        `${prefix}.transaction`,
        boundary('BEGIN', '0-1-1'),
        boundary('END', '0-1-1', { orders: 1, customers: 1 }),
        boundary('BEGIN', '0-1-2'),
      );
      await send(`${prefix}.shop.orders`, row(1, first), row(2, { id: '0-1-2', order: 1 }));
      await until(2);
      await sleep(1_500);
      expect(names()).toEqual(['begin 0-1-1', 'orders ["1"]']);
      await send(`${prefix}.shop.customers`, row(1, first));
      await send(`${prefix}.transaction`, boundary('END', '0-1-2', { orders: 1 }));
      await until(7);
      expect(names()).toEqual([
        'begin 0-1-1',
        'orders ["1"]',
        'customers ["1"]',
        'commit 0-1-1',
        'begin 0-1-2',
        'orders ["2"]',
        'commit 0-1-2',
      ]);
    } finally {
      stop.abort();
      await reading;
      await feed.close();
    }
  }, 60_000);

  test('reads on when the brokers have been killed and started again', async () => {
    const prefix = prefixed();
    await create(`${prefix}.shop.orders`);
    await send(`${prefix}.shop.orders`, ...Array.from({ length: 500 }, (_, id) => row(id, null)));
    const feed = await feedOf(prefix, ['orders'], false);
    const stop = new AbortController();
    const keys = new Set<string | undefined>();
    let count = 0;
    const reading = (async () => {
      for await (const { events } of feed.batches(undefined, stop.signal))
        for (const event of events) {
          if (event.kind !== 'row') continue;
          keys.add(event.key);
          count++;
        }
    })().catch((error: unknown) => error);
    try {
      for (let i = 0; i < 100 && keys.size < 500; i++) await sleep(100);
      await server.crash();
      await sleep(2_000);
      await server.restart();
      await send(`${prefix}.shop.orders`, ...Array.from({ length: 500 }, (_, id) => row(500 + id, null)));
      for (let i = 0; i < 400 && keys.size < 1_000; i++) await sleep(100);
      expect([keys.size, count]).toEqual([1_000, 1_000]);
    } finally {
      stop.abort();
      await reading;
      await feed.close();
    }
  }, 120_000);

  test('a reader that does not ask for more holds no more than a few megabytes', async () => {
    const prefix = prefixed();
    await create(`${prefix}.shop.orders`);
    const filling = 'x'.repeat(10_000);
    for (let i = 0; i < 60; i++)
      await send(`${prefix}.shop.orders`, ...Array.from({ length: 80 }, (_, id) => row(i * 80 + id, null, { filling })));
    const feed = await feedOf(prefix, ['orders'], false);
    const stop = new AbortController();
    try {
      global.gc?.();
      const before = process.memoryUsage();
      const batches = feed.batches(undefined, stop.signal)[Symbol.asyncIterator]();
      const first = (await batches.next()).value as ChangeBatch;
      await sleep(4_000);
      const { arrayBuffers } = process.memoryUsage();
      expect(arrayBuffers - before.arrayBuffers).toBeLessThan(16 * 2 ** 20);
      let rows = first.events.length;
      while (rows < 4_800) rows += ((await batches.next()).value as ChangeBatch).events.length;
      expect(rows).toBe(4_800);
    } finally {
      stop.abort();
      await feed.close();
    }
  }, 90_000);

  test('markers of transactions of Kafka are no messages, and the end is reached', async () => {
    const prefix = prefixed();
    const topic = `${prefix}.shop.orders`;
    await create(topic);
    const transactional = kafka.producer({
      transactionalId: prefix,
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await transactional.connect();
    const feed = await feedOf(prefix, ['orders'], false);
    try {
      for (const [id, isKept] of [
        [1, true],
        [2, false],
        [3, true],
        [4, false],
      ] as const) {
        const transaction = await transactional.transaction();
        await transaction.send({ topic, messages: [{ key: JSON.stringify({ id }), value: JSON.stringify(row(id, null)) }] });
        await (isKept ? transaction.commit() : transaction.abort());
      }
      const { events, position } = await readAll(feed);
      expect(events.flatMap((event) => (event.kind === 'row' ? [event.key] : []))).toEqual(['["1"]', '["3"]']);
      expect(position).toMatchObject({ [`${topic}-0`]: '8' });
    } finally {
      await transactional.disconnect();
      await feed.close();
    }
  }, 60_000);

  test('messages that retention has removed before they were read are a fault that names them', async () => {
    const prefix = prefixed();
    const topic = `${prefix}.shop.orders`;
    await create(topic);
    await send(topic, ...Array.from({ length: 10 }, (_, id) => row(id, null)));
    await remove(topic, 6);
    const feed = await feedOf(prefix, ['orders'], false);
    const failure = (from: FeedPosition): Promise<Fault> =>
      readAll(feed, from).then(
        () => {
          throw new Error('no fault');
        },
        (error: Fault) => error,
      );
    try {
      expect(await failure({ [`${topic}-0`]: '4' })).toMatchObject({
        code: 'source/refused',
        message: `Topic ${topic}, partition 0: the messages 4 to 5 were removed before they were read`,
      });
      // Without a position, reading begins with what there is.
      expect((await readAll(feed)).events).toHaveLength(4);
      const another = { code: 'source/refused', message: expect.stringContaining('is another topic of this name') };
      const past = { [`${topic}-0`]: '11' };
      await expect(feed.batches(past, new AbortController().signal)[Symbol.asyncIterator]().next()).rejects.toMatchObject(another);
      // A follower that has caught up asks for no batch.
      await expect(feed.end(past)).rejects.toMatchObject(another);
    } finally {
      await feed.close();
    }
  }, 60_000);

  test('messages that retention removes while a slow reader is behind are a fault, not a gap', async () => {
    const prefix = prefixed();
    const topic = `${prefix}.shop.orders`;
    await create(topic);
    const filling = 'x'.repeat(50_000);
    for (let i = 0; i < 20; i++) await send(topic, ...Array.from({ length: 10 }, (_, id) => row(i * 10 + id, null, { filling })));
    const feed = await feedOf(prefix, ['orders'], false);
    const stop = new AbortController();
    try {
      const batches = feed.batches(undefined, stop.signal)[Symbol.asyncIterator]();
      let rows = ((await batches.next()).value as ChangeBatch).events.length;
      await sleep(1_000);
      await remove(topic, 190);
      const failed = await (async () => {
        for (;;) rows += ((await batches.next()).value as ChangeBatch).events.length;
      })().catch((error: unknown) => error);
      expect(rows).toBeLessThan(190);
      expect(failed).toMatchObject({ code: 'source/refused', message: expect.stringMatching(/the messages \d+ to 189 were removed/) });
    } finally {
      stop.abort();
      await feed.close();
    }
  }, 60_000);

  test('logs in by SASL over TLS; a login that the brokers refuse is a fault that says so', async () => {
    const prefix = prefixed();
    await create(`${prefix}.shop.orders`);
    await send(`${prefix}.shop.orders`, row(1, null));
    const { saslTls, ca } = server.secured as Secured;
    const open = (password: string): Promise<ChangeFeed> =>
      openKafkaFeed({
        brokers: [saslTls],
        topics: new Map([['orders', `${prefix}.shop.orders`]]),
        transactionTopic: undefined,
        groupId: prefix,
        security: {
          login: { mechanism: 'scram-sha-512', username: KAFKA_USERS.scram.username, password: new Secret(password) },
          tls: { ca: [readFileSync(ca, 'utf8')] },
        },
        registryUrl: undefined,
      });
    const feed = await open(KAFKA_USERS.scram.password);
    try {
      expect((await readAll(feed)).events).toMatchObject([{ kind: 'row', key: '["1"]' }]);
    } finally {
      await feed.close();
    }
    const refused = await open('wrong').catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'source/refused', hint: 'Check user and password' });
    expect((refused as Fault).message).not.toContain('wrong');
    await expect(
      openKafkaFeed({
        brokers: ['127.0.0.1:1'],
        topics: new Map([['a', 'a']]),
        transactionTopic: undefined,
        groupId: 'g',
        security: undefined,
        registryUrl: undefined,
      }),
    ).rejects.toMatchObject({ code: 'source/unreadable', hint: 'Check that the brokers run, and their addresses' });
  }, 90_000);

  test('a registry that does not answer is a fault at once: the follower says so, and asks again', async () => {
    const topic = `${prefixed()}.shop.orders`;
    await create(topic);
    await producer.send({ topic, messages: [{ key: Buffer.from([0, 0, 0, 0, 9]), value: null }] });
    const feed = await openKafkaFeed({
      brokers: [server.broker],
      topics: new Map([['orders', topic]]),
      transactionTopic: undefined,
      groupId: `${topic}-follower`,
      security: undefined,
      registryUrl: 'http://127.0.0.1:1',
    });
    try {
      const batch = feed.batches(undefined, new AbortController().signal)[Symbol.asyncIterator]().next();
      await expect(batch).rejects.toMatchObject({ code: 'source/unreadable', message: expect.stringContaining('schema registry') });
    } finally {
      await feed.close();
    }
  }, 30_000);

  test('a topic that Debezium makes later is read when it is there; none at all is a fault', async () => {
    const prefix = prefixed();
    await expect(feedOf(prefix, ['orders'])).rejects.toMatchObject({ code: 'source/missing' });
    await create(`${prefix}.shop.orders`);
    await send(`${prefix}.shop.orders`, row(1, null));
    const feed = await feedOf(prefix, ['orders', 'customers']);
    const stop = new AbortController();
    const all: ChangeBatch[] = [];
    const reading = (async () => {
      for await (const batch of feed.batches(undefined, stop.signal)) all.push(batch);
    })().catch(() => undefined);
    try {
      for (let i = 0; i < 100 && all.length === 0; i++) await sleep(100);
      expect(all[0]?.warnings?.[0]).toContain(`${prefix}.shop.customers`);
      await create(`${prefix}.shop.customers`);
      await send(`${prefix}.shop.customers`, row(7, null));
      const keys = (): readonly unknown[] =>
        all.flatMap(({ events }) => events.flatMap((event) => ('key' in event ? [`${event.table} ${event.key}`] : [])));
      for (let i = 0; i < 200 && keys().length < 2; i++) await sleep(100);
      expect(keys()).toEqual(['orders ["1"]', 'customers ["7"]']);
    } finally {
      stop.abort();
      await reading;
      await feed.close();
    }
  }, 60_000);
});
