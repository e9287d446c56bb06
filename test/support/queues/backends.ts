/** The queues that this machine has, each in a separate place of the servers that all test files share. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openBackend, type QueueBackend } from '../../../queues/backend/backend.ts';
import { type Logger, quietLogger } from '../../../src/core/telemetry/observe.ts';
import { answers, missingPostgres } from '../../servers/databases/postgres.ts';
import { missingRedis, type Redis, startRedis as startRedisServer } from '../../servers/queues/redis.ts';
import { sharedPostgres, sharedRedis } from '../../servers/shared/shared.ts';
import { makeEmbeddedQueue } from './embedded.ts';

export interface TestServer {
  readonly url: string;
  /** Removes what it kept, under `prefix` where the server was given. */
  stop(prefix: string): Promise<void>;
}

export interface TestQueue {
  readonly name: 'embedded' | 'redis' | 'postgres';
  /** Why it cannot be tested here; undefined: it can. */
  readonly missing: string | undefined;
  start(): Promise<TestServer>;
}

/** A PostgreSQL to use instead of starting one. */
const GIVEN_POSTGRES = process.env.TEST_POSTGRES_URL;

export const QUEUES: readonly TestQueue[] = [
  { name: 'embedded', missing: undefined, start: async () => ({ url: 'embedded:', stop: async () => undefined }) },
  { name: 'redis', missing: missingRedis, start: () => sharedRedis() },
  GIVEN_POSTGRES === undefined
    ? { name: 'postgres', missing: await missingPostgres(), start: () => sharedPostgres() }
    : {
        name: 'postgres',
        missing: (await answers(GIVEN_POSTGRES)) ? undefined : `no PostgreSQL answers at the address of TEST_POSTGRES_URL`,
        start: async () => ({ url: GIVEN_POSTGRES, stop: (prefix) => dropSchema(GIVEN_POSTGRES, prefix) }),
      },
];

/** As `openBackend`, with less waiting for an embedded queue that is new. */
export async function openQueue(url: string, directory: string, prefix: string, logger: Logger = quietLogger()): Promise<QueueBackend> {
  if (url === 'embedded:') await makeEmbeddedQueue(directory);
  return openBackend({ url, directory, prefix }, logger);
}

export function uniquePrefix(): string {
  return `t${randomBytes(6).toString('hex')}`;
}

export async function temporaryDirectory(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'quadmill-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** A redis-server for this test alone, which may be stopped: without files, on a free port by default. */
export const startRedis = async (port?: number): Promise<Redis> => started(await startRedisServer({ port }));

function started<T>(server: T | { readonly skip: string }): T {
  if (typeof server === 'object' && server !== null && 'skip' in server) throw new Error(`cannot be tested here: ${server.skip}`);
  return server as T;
}

async function dropSchema(url: string, prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`DROP SCHEMA IF EXISTS "${prefix}" CASCADE`);
  } finally {
    await client.end();
  }
}
