/** Topics that a real broker compacts, while a follower reads them and while it is away: no deletion is missed, or a message says that it may be. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  type Admin,
  Kafka,
  logLevel,
  type Producer,
  ResourcePatternTypes,
} from 'kafkajs';
import { Secret } from '../../../../src/core/secret.ts';
import { feedOf, type KafkaAccess } from '../../../../src/streams/feeds.ts';
import { follow } from '../../../../src/streams/follow/follower.ts';
import { openKafkaFeed } from '../../../../src/streams/kafka/feed.ts';
import { KAFKA_USERS, type KafkaServer, missingKafka, type Secured, startKafka } from '../../../servers/queues/kafka.ts';
import { Random, soakSeeds } from '../../../support/random.ts';
import { Following } from '../topics/harness.ts';
import { TopicLog } from '../topics/topic-log.ts';

const missing = await missingKafka();
const PARTITIONS = 3;
/** Of a key, as a producer decides it. */
const partitionOf = (key: string): number => Number(key.replace(/\D/g, '')) % PARTITIONS;

/** Written by a producer, read by a follower, and what the graph must be. */
class Compacted {
  readonly newest = new Map<string, string>();
  readonly following: Following;
  readonly name: string;
  readonly #producer: Producer;
  readonly #isDebezium: boolean;
  #lsn = 0;

  constructor(producer: Producer, broker: string, name: string, isDebezium: boolean) {
    this.#producer = producer;
    this.#isDebezium = isDebezium;
    this.name = name;
    this.following = new Following(
      new TopicLog(),
      `<#M> rml:logicalSource [ rml:source [ a td:Thing ; td:hasForm [ hctl:hasTarget "kafka://${broker}/${name}" ; hctl:forContentType "application/json" ] ] ;
          rml:iterator "$" ; qms:changes ${isDebezium ? 'qms:Debezium' : 'qms:Upsert'} ] ;
        rml:subjectMap [ rml:template "http://e.org/{$.id}" ] ; rml:predicateObjectMap [ rml:predicate ex:v ; rml:objectMap [ rml:reference "$.v" ] ] .`,
    );
  }

  /** @param value null: the key is deleted */
  async write(...changes: readonly (readonly [key: string, value: string | null])[]): Promise<void> {
    const messages = changes.flatMap(([id, v]) => {
      if (v === null) this.newest.delete(id);
      else this.newest.set(id, v);
      return this.#messages(id, v).map((value) => ({
        key: this.#isDebezium ? JSON.stringify({ id }) : id,
        value: value === null ? null : JSON.stringify(value),
        partition: partitionOf(id),
      }));
    });
    await this.#producer.send({ topic: this.name, messages });
  }

  #messages(id: string, v: string | null): readonly unknown[] {
    if (!this.#isDebezium) return [v === null ? null : { id, v }];
    const lsn = ++this.#lsn;
    const source = {
      connector: 'postgresql',
      db: 'd',
      schema: 's',
      table: 't',
      snapshot: 'false',
      lsn,
      sequence: JSON.stringify([null, `${lsn}`]),
    };
    if (v === null) return [{ before: { id, v: null }, after: null, source, op: 'd' }, null];
    return [{ before: null, after: { id, v }, source, op: 'u' }];
  }

  get expected(): readonly string[] {
    return [...this.newest].map(([id, v]) => `<http://e.org/${id}> <http://e.org/v> "${v}" .`).sort();
  }

  catchUp(access: KafkaAccess = { security: undefined, registryUrl: undefined }): Promise<readonly string[]> {
    return this.following.catchUp({}, feedOf(undefined, access));
  }
}

(missing === undefined ? describe : describe.skip)(`compacted topics${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let server: KafkaServer;
  let admin: Admin;
  let producer: Producer;
  let kafka: Kafka;
  const opened: Compacted[] = [];

  beforeAll(async () => {
    const settings = {
      'log.cleaner.backoff.ms': 100,
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS',
    };
    const started = await startKafka({ secured: true, settings });
    if ('skip' in started) throw new Error(started.skip);
    server = started;
    kafka = new Kafka({ brokers: [server.broker], logLevel: logLevel.NOTHING, retry: { retries: 60, maxRetryTime: 1_000 } });
    admin = kafka.admin();
    producer = kafka.producer();
    await admin.connect();
    await producer.connect();
  }, 120_000);

  afterAll(async () => {
    await admin?.disconnect();
    await producer?.disconnect();
    await server?.stop();
    for (const { following } of opened) following.remove();
  });

  let topics = 0;
  async function compacted(retentionMs: number, isDebezium = false, policy = 'compact'): Promise<Compacted> {
    const topic = `s.t.c${topics++}`;
    const settings = {
      'cleanup.policy': policy,
      'delete.retention.ms': retentionMs,
      'segment.ms': 100,
      'min.cleanable.dirty.ratio': 0.001,
      'min.compaction.lag.ms': 0,
    };
    const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value: String(value) }));
    await admin.createTopics({ topics: [{ topic, numPartitions: PARTITIONS, configEntries }], waitForLeaders: true });
    const made = new Compacted(producer, server.broker, topic, isDebezium);
    opened.push(made);
    return made;
  }

  /** What the brokers have, in the order of each partition. */
  async function logOf(topic: string): Promise<readonly { readonly offset: number; readonly key: string; readonly isDeletion: boolean }[]> {
    const ends = await admin.fetchTopicOffsets(topic);
    const consumer = kafka.consumer({ groupId: `log-${topic}-${Math.random()}`, maxWaitTimeInMs: 100 });
    const found: { readonly offset: number; readonly key: string; readonly isDeletion: boolean }[] = [];
    const open = new Set(ends.filter(({ high, low }) => high !== low).map(({ partition }) => partition));
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      eachBatch: async ({ batch }) => {
        for (const { offset, key, value } of batch.messages)
          found.push({ offset: Number(offset), key: String(key), isDeletion: value === null });
        if (BigInt(batch.lastOffset()) + 1n >= BigInt(ends[batch.partition]?.high ?? 0)) open.delete(batch.partition);
      },
    });
    for (let i = 0; i < 200 && open.size > 0; i++) await sleep(50);
    await consumer.disconnect();
    return found;
  }

  /** Writes to other keys, until the brokers have removed everything of a key, or what is asked for. */
  async function until(topic: Compacted, isDone: (log: Awaited<ReturnType<typeof logOf>>) => boolean): Promise<void> {
    for (let i = 0; i < 60; i++) {
      await topic.write(['f0', `${i}`], ['f1', `${i}`], ['f2', `${i}`]);
      await sleep(300);
      if (isDone(await logOf(topic.name))) return;
    }
    throw new Error('The broker has not compacted the topic');
  }

  const isGone = (key: string) => (log: Awaited<ReturnType<typeof logOf>>) => !log.some((one) => one.key.includes(key));

  test.each([
    [0, false],
    [100, false],
    [100, true],
  ])(
    'a deletion that was removed while the follower was away is found, with delete.retention.ms=%i, changes of Debezium %s',
    async (retention, isDebezium) => {
      const topic = await compacted(retention, isDebezium);
      await topic.write(['k1', 'a'], ['k2', 'a'], ['k3', 'a'], ['k4', 'a'], ['k5', 'a'], ['k6', 'a']);
      expect(await topic.catchUp()).toEqual(topic.expected);
      await topic.write(['k1', null], ['k2', 'b'], ['k4', 'b'], ['k4', null], ['k5', null], ['k5', 'c']);
      await until(topic, (log) => isGone('k1')(log) && isGone('k4')(log));
      const { following } = topic;
      following.warnings.length = 0;
      expect(await topic.catchUp()).toEqual(topic.expected);
      expect(following.warnings.join('\n')).toContain(`Topic ${topic.name}: compaction has removed messages that were not read`);
      expect(following.epochs.at(-1)?.made.removed).toBeGreaterThanOrEqual(3);
      // A graph that is made late is that of the whole.
      const late = new Following(following.log, '');
      late.write('mapping.ttl', readFileSync(`${following.directory}/mapping.ttl`, 'utf8'));
      expect(await late.catchUp({}, feedOf(undefined, { security: undefined, registryUrl: undefined }))).toEqual(topic.expected);
      late.remove();
    },
    120_000,
  );

  test('Debezium: where compaction has left the tombstone of a delete alone, that is the delete', async () => {
    const topic = await compacted(86_400_000, true);
    await topic.write(['k1', 'a'], ['k2', 'a'], ['k3', 'a']);
    expect(await topic.catchUp()).toEqual(topic.expected);
    await topic.write(['k1', null]);
    await until(topic, (log) => log.filter(({ key }) => key.includes('k1')).length === 1);
    topic.following.warnings.length = 0;
    expect(await topic.catchUp()).toEqual(topic.expected);
    // Nothing is missing within a day: the topic is not read again.
    expect(topic.following.warnings).toEqual([]);
  }, 120_000);

  test('updates alone that were compacted within delete.retention.ms are read on', async () => {
    const topic = await compacted(86_400_000);
    await topic.write(['k1', 'a'], ['k2', 'a']);
    expect(await topic.catchUp()).toEqual(topic.expected);
    await topic.write(['k1', 'b'], ['k1', 'c'], ['k2', null]);
    await until(topic, (log) => log.filter(({ key }) => key === 'k1').length === 1);
    topic.following.warnings.length = 0;
    expect(await topic.catchUp()).toEqual(topic.expected);
    expect(topic.following.warnings).toEqual([]);
  }, 120_000);

  test.each(soakSeeds(1, 2).map((seed) => [seed, seed % 2 === 0] as const))(
    'random changes while a follower reads, stops and is away: seed %i, changes of Debezium %s',
    async (seed, isDebezium) => {
      const random = new Random(seed);
      const topic = await compacted(random.pick([0, 100, 1_000]), isDebezium);
      const write = async (): Promise<void> => {
        const count = random.between(1, 20);
        await topic.write(
          ...Array.from(
            { length: count },
            (_, n) => [`k${random.between(0, 60)}`, random.chance(0.4) ? null : `${seed} ${n} ${random.next()}`] as const,
          ),
        );
      };
      for (let round = 0; round < 4; round++) {
        const stop = new AbortController();
        const { following } = topic;
        const faults: unknown[] = [];
        const isThere = random.chance(0.6);
        const running = !isThere
          ? undefined
          : follow(
              {
                place: following.place,
                request: following.request(),
                source: feedOf(undefined, { security: undefined, registryUrl: undefined }),
                epochSeconds: 0.3,
                epochRecords: 100,
                untilCaughtUp: false,
                retain: 0,
              },
              { stop: stop.signal, warn: (text) => void following.warnings.push(text), retry: (fault) => void faults.push(fault) },
            );
        const end = Date.now() + random.between(2_000, 6_000);
        while (Date.now() < end) {
          await write();
          await sleep(random.between(0, 200));
        }
        stop.abort();
        await running;
        expect(faults).toEqual([]);
        if (random.chance(0.5) || round === 3) expect(await topic.catchUp()).toEqual(topic.expected);
      }
    },
    240_000,
  );

  test('a deletion that was removed while the process stood still is found', async () => {
    const topic = await compacted(100);
    await topic.write(['k1', 'a'], ['k2', 'a']);
    const { following } = topic;
    const args = ['follow', `${following.directory}/mapping.ttl`, '--dataset', `${following.directory}/dataset`, '--epoch-seconds', '1'];
    const child = spawn(process.execPath, [resolve('bin/quadmill.js'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise((done) => child.once('exit', done));
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => void (said += text));
    const saying = async (text: string): Promise<void> => {
      for (let i = 0; i < 300 && !said.includes(text); i++) await sleep(100);
      expect(said).toContain(text);
    };
    try {
      await saying('version 1');
      child.kill('SIGSTOP');
      await topic.write(['k1', null], ['k2', 'b']);
      await until(topic, isGone('k1'));
      child.kill('SIGCONT');
      await saying('compaction has removed messages that were not read');
      await saying('version 2');
    } finally {
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      await ended;
    }
    expect(await following.graph()).toEqual(topic.expected);
  }, 120_000);

  test('a topic that is never read to its end before deletions are removed is a fault', async () => {
    const topic = await compacted(0);
    const filling = 'x'.repeat(50_000);
    // Of each key the second message stays, so offsets are missing everywhere.
    for (let n = 0; n < 200; n++) await topic.write([`k${3 * n}`, 'a'], [`k${3 * n}`, filling]);
    await until(topic, (log) => log.filter(({ key }) => key.startsWith('k')).length <= 210);
    const warnings: string[] = [];
    const feed = await openKafkaFeed({
      brokers: [server.broker],
      topics: new Map([['t', topic.name]]),
      transactionTopic: undefined,
      groupId: topic.name,
      security: undefined,
      registryUrl: undefined,
      warn: (text) => void warnings.push(text),
    });
    const read = async (): Promise<void> => {
      // Slower than the time that is allowed for a beginning.
      for await (const { position } of feed.batches(undefined, new AbortController().signal))
        await sleep(Object.keys(position).length > 0 ? 2_500 : 0);
    };
    try {
      await expect(read()).rejects.toMatchObject({
        code: 'source/refused',
        message: `Topic ${topic.name}: compaction removes deletions before the topic is read from its beginning to its end`,
        hint: 'Raise delete.retention.ms of the topic above the time that this takes',
      });
      expect(warnings[0]).toContain('delete.retention.ms=0: a deletion may be removed while the topic is read from its beginning');
      expect(warnings.filter((text) => text.includes('is read again from its beginning'))).toHaveLength(3);
    } finally {
      await feed.close();
    }
  }, 240_000);

  test('a topic whose retention has removed what was not read is a fault, also one that is compacted as well', async () => {
    const topic = await compacted(86_400_000, false, 'compact,delete');
    await topic.write(['k0', 'a'], ['k3', 'a']);
    await topic.catchUp();
    await topic.write(['k0', 'b'], ['k3', 'b'], ['k6', 'b']);
    // The client library knows the leader then.
    await admin.fetchTopicOffsets(topic.name);
    await admin.deleteTopicRecords({ topic: topic.name, partitions: [{ partition: 0, offset: '4' }] });
    await expect(topic.catchUp()).rejects.toMatchObject({
      code: 'source/refused',
      message: `Topic ${topic.name}, partition 0: the messages 2 to 3 were removed before they were read`,
    });
  }, 60_000);

  test('a login that may not read the configuration of a topic is reported, with what to grant', async () => {
    const topic = await compacted(100);
    await topic.write(['k1', 'a']);
    const { sasl } = server.secured as Secured;
    const { username, password } = KAFKA_USERS.plain;
    const acl = (resourceType: AclResourceTypes, resourceName: string, resourcePatternType = ResourcePatternTypes.LITERAL) => ({
      resourceType,
      resourceName,
      resourcePatternType,
      principal: `User:${username}`,
      host: '*',
      operation: AclOperationTypes.READ,
      permissionType: AclPermissionTypes.ALLOW,
    });
    await admin.createAcls({
      acl: [acl(AclResourceTypes.TOPIC, topic.name), acl(AclResourceTypes.GROUP, 'quadmill-', ResourcePatternTypes.PREFIXED)],
    });
    const other = new Compacted(producer, sasl, topic.name, false);
    opened.push(other);
    const login = { mechanism: 'plain', username, password: new Secret(password) } as const;
    expect(await other.catchUp({ security: { login, tls: undefined }, registryUrl: undefined })).toEqual(topic.expected);
    expect(other.following.warnings).toEqual([
      `The login may not read the configuration of ${topic.name}: a deletion that compaction has removed before it was read is not noticed. Grant DescribeConfigs on these topics, as by kafka-acls --add --operation DescribeConfigs`,
    ]);
  }, 60_000);
});
