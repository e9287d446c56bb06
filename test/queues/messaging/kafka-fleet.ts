/** A fleet on Redis and a real Apache Kafka, each test with its own topics. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { missingKafka, type Secured } from '../../servers/queues/kafka.ts';
import { missingRedis } from '../../servers/queues/redis.ts';
import { SHARED_START_MS, type SharedRedis, sharedRedis } from '../../servers/shared/shared.ts';
import { temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { type Heard, type KafkaClient, openKafkaClient } from '../../support/service/kafka-client.ts';
import { type Answer, ask, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

/** Why no fleet can be started here; undefined: one can. */
export const missingFleet = (await missingKafka()) ?? missingRedis;
export const SERVICE = 'semi-structured-transformer';
/** Partitions of the topic of success messages. */
export const PARTITIONS = 4;

interface Broker {
  readonly broker: string;
  readonly secured: Secured | undefined;
  /** For names of topics; undefined: any will do. */
  readonly prefix?: string;
  stop(): Promise<void>;
}

/** What a test uses; closed after the test. */
export interface KafkaFleet<B extends Broker> {
  readonly kafka: B;
  readonly topics: { readonly source: string; readonly success: string; readonly dead: string };
  readonly client: KafkaClient;
  /** Options of each process. */
  readonly env: Readonly<Record<string, string>>;
  start(role: 'all' | 'api' | 'worker', more?: Record<string, string>): Promise<ServiceProcess>;
  /** Path of a file of the fleet. */
  at(name: string): string;
  /** An input with the people; each number gives another URL. */
  input(i: number): string;
  run(one: ServiceProcess): Promise<Answer>;
}

/** To be called in a `describe`. @param startBroker a shared one, or one that the tests may stop */
export function kafkaFleet<B extends Broker>(startBroker: () => Promise<B>): KafkaFleet<B> {
  let kafka: B;
  let redis: SharedRedis;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let topics: KafkaFleet<B>['topics'];
  let env: Record<string, string>;
  let fleet: ServiceProcess[];
  let client: KafkaClient;
  const at = (name: string): string => join(directory.path, name);

  beforeAll(async () => {
    kafka = await startBroker();
    redis = await sharedRedis();
    directory = await temporaryDirectory();
    await mkdir(at('mappings'));
    await writeFile(at('mappings/people.ttl'), peopleMapping('csv', 'people.csv'));
    await writeFile(at('people.csv'), PEOPLE.csv);
  }, SHARED_START_MS);
  afterAll(async () => {
    await kafka?.stop();
    await redis?.stop();
    await directory?.remove();
  }, 60_000);

  beforeEach(async () => {
    fleet = [];
    const name = uniquePrefix();
    const topic = `${kafka.prefix ?? ''}${name}`;
    topics = { source: `${topic}.source`, success: `${topic}.success`, dead: `${topic}.dead` };
    client = await openKafkaClient(kafka.broker, { [topics.source]: 2, [topics.success]: PARTITIONS, [topics.dead]: 1 }, [
      topics.success,
      topics.dead,
    ]);
    env = {
      QUEUE_URL: redis.url,
      QUEUE_PREFIX: name,
      SERVICE,
      MAPPINGS_DIR_URL: at('mappings'),
      KAFKA_BROKERS: kafka.broker,
      KAFKA_TOPIC_NAME_SOURCE: topics.source,
      KAFKA_TOPIC_NAME_SUCCESS: topics.success,
      KAFKA_TOPIC_NAME_DLQ: topics.dead,
      KAFKA_GROUP_ID: name,
      LOCK_SECONDS: '2',
      STALLED_SECONDS: '1',
    };
  });
  afterEach(async () => {
    for (const one of fleet) one.kill('SIGKILL');
    await Promise.all(fleet.map((one) => one.exited));
    await client.close();
  });

  return {
    get kafka() {
      return kafka;
    },
    get topics() {
      return topics;
    },
    get client() {
      return client;
    },
    get env() {
      return env;
    },
    async start(role, more = {}) {
      const one = await startService({ cwd: directory.path, args: ['--role', role], env: { ...env, ...more } });
      fleet.push(one);
      return one;
    },
    at,
    input: (i) => `${pathToFileURL(at('people.csv')).href}?${i}`,
    run: (one) => postJson(`${one.url}/process`, { inputFileURL: at('people.csv') }),
  };
}

export const of = (topic: string) => (heard: readonly Heard[]) => heard.filter((one) => one.topic === topic);

export const keys = (heard: readonly Heard[]): ReadonlySet<string> => new Set(heard.map(({ key }) => key));

export async function metric(one: ServiceProcess, name: string): Promise<number> {
  const { body } = await ask(`${one.url}/metrics`);
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(body as string)?.[1]);
}
