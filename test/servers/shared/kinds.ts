/** The kinds of servers that test files share: how each is started, and how a file gets a separate place in it. */
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { type Mariadb, startMariadb } from '../databases/mariadb.ts';
import { type Postgres, startPostgres } from '../databases/postgres.ts';
import { type KafkaServer, type Secured, startKafka } from '../queues/kafka.ts';
import { type Redis as RedisServer, startRedis } from '../queues/redis.ts';
import { type Fuseki, startFuseki } from '../stores/fuseki.ts';
import { type Rdf4j, removeRepositories, startRdf4j } from '../stores/rdf4j.ts';
import { S3_KEYS, type S3Proxy, startS3Proxy } from '../stores/s3proxy.ts';
import { type StudioServer, startStudio } from '../studio/studio.ts';
import type {
  SharedFuseki,
  SharedKafka,
  SharedMariadb,
  SharedPostgres,
  SharedRdf4j,
  SharedRedis,
  SharedS3,
  SharedStudio,
} from './shared.ts';

/** Files that use a store at a time are two or three; a place that was given back is not given again. */
const FUSEKI_SETS = 12;
const DATABASES = 1_000;

export interface Kind<Server extends { stop(): Promise<void> }, Place> {
  start(): Promise<Server | { readonly skip: string }>;
  /** The `number` is another one each time, from 1. */
  open(server: Server, number: number): Promise<Place>;
  close(server: Server, place: Place): Promise<void>;
}

const kind = <Server extends { stop(): Promise<void> }, Place extends { stop(): Promise<void> }>(
  row: Kind<Server, Omit<Place, 'stop'>>,
): Kind<Server, Omit<Place, 'stop'>> => row;

export const KINDS = {
  redis: kind<RedisServer, SharedRedis>({
    start: () => startRedis({ databases: DATABASES }),
    open: async ({ port }, number) => ({ url: `redis://127.0.0.1:${port}/${number}`, port }),
    close: async (_, { url }) => {
      const client = new Redis(url);
      await client.flushdb();
      client.disconnect();
    },
  }),
  postgres: kind<Postgres, SharedPostgres>({
    start: () => startPostgres({ settings: ['max_connections=500'] }),
    async open({ url, port }, number) {
      const database = `t${number}`;
      await inPostgres(url, `CREATE DATABASE ${database}`);
      return {
        url: url.replace(/\w+$/, database),
        jdbcUrl: `jdbc:postgresql://127.0.0.1:${port}/${database}?user=postgres`,
        port,
        database,
      };
    },
    // What is still connected would have lost a dedicated server as well.
    close: ({ url }, { database }) => inPostgres(url, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`),
  }),
  mariadb: kind<Mariadb, SharedMariadb>({
    start: () => startMariadb({ arguments: ['--max-connections=500'] }),
    async open({ port }, number) {
      const database = `t${number}`;
      await inMariadb(port, `CREATE DATABASE ${database} CHARACTER SET utf8mb4`);
      return { url: `jdbc:mariadb://127.0.0.1:${port}/${database}?user=root`, port, database };
    },
    close: ({ port }, { database }) => inMariadb(port, `DROP DATABASE IF EXISTS ${database}`),
  }),
  kafka: kind<KafkaServer, SharedKafka>({
    start: () => startKafka({ secured: true }),
    open: async ({ broker, secured }, number) => ({ broker, secured: secured as Secured, prefix: `t${number}-` }),
    close: ({ broker }, { prefix }) => deleteTopics(broker, prefix),
  }),
  fuseki: kind<Fuseki, SharedFuseki>({
    start: () => startFuseki({ sets: FUSEKI_SETS }),
    async open({ sets }, number) {
      const datasets = sets[number - 1];
      if (datasets === undefined) throw new Error(`there are ${FUSEKI_SETS} sets of datasets, and each is given once`);
      return datasets;
    },
    close: async () => undefined,
  }),
  rdf4j: kind<Rdf4j, SharedRdf4j>({
    start: startRdf4j,
    open: async ({ server, create }, number) => ({ server, ...(await create(`-${number}`)) }),
    close: (_, places) => removeRepositories(places),
  }),
  s3: kind<S3Proxy, SharedS3>({
    start: startS3Proxy,
    async open({ endpoint }, number) {
      const bucket = `bucket-${number}`;
      await s3ClientOf(endpoint).send(new CreateBucketCommand({ Bucket: bucket }));
      return { endpoint, bucket };
    },
    close: async () => undefined,
  }),
  studio: kind<StudioServer, SharedStudio>({
    start: startStudio,
    open: async ({ url, browser, directory }, number) => ({ url, browser, directory, prefix: `t${number}-` }),
    // Its models have unique names, and go with the service.
    close: async () => undefined,
  }),
} as const;

const s3ClientOf = (endpoint: string): S3Client =>
  new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: S3_KEYS.access, secretAccessKey: S3_KEYS.secret },
  });

async function inPostgres(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

async function inMariadb(port: number, sql: string): Promise<void> {
  const connection = await createConnection({ host: '127.0.0.1', port, user: 'root' });
  await connection.query(sql).finally(() => connection.end());
}

async function deleteTopics(broker: string, prefix: string): Promise<void> {
  const admin = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
    if (topics.length > 0) await admin.deleteTopics({ topics });
  } finally {
    await admin.disconnect();
  }
}
