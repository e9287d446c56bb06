/**
 * One server of each kind for all test files of a run. The first file that asks has it started; it ends with the run.
 *
 * ```ts
 * const missing = await missingPostgres();
 * let postgres: SharedPostgres;
 * beforeAll(async () => { postgres = await sharedPostgres(); }, SHARED_START_MS);
 * afterAll(() => postgres?.stop());
 * ```
 *
 * Each call gives a place that no other caller uses: a database, a prefix for topics, a set of datasets. `stop` removes that place, and leaves
 * the server to the others. What belongs to the whole server must have a unique name as well, for example `${place.database}_ann` for
 * a user. A file that kills, stops, configures or limits its server starts a dedicated one: `startPostgres` and its like.
 *
 * All of them throw where there is no such server: ask `missingPostgres` and its like first.
 */

import type { Secured } from '../queues/kafka.ts';
import type { FusekiDatasets } from '../stores/fuseki.ts';

/** For `beforeAll`: the slowest of them, on a busy machine. */
export const SHARED_START_MS = 180_000;

interface Place {
  /** Removes it from the server. */
  stop(): Promise<void>;
}

export interface SharedRedis extends Place {
  /** With the number of an empty database. Channels belong to the whole server. */
  readonly url: string;
  readonly port: number;
}

export interface SharedPostgres extends Place {
  /** Superuser `postgres`, no password, an empty database. */
  readonly url: string;
  readonly jdbcUrl: string;
  readonly port: number;
  readonly database: string;
}

export interface SharedMariadb extends Place {
  /** JDBC URL: superuser `root`, no password, an empty database. */
  readonly url: string;
  readonly port: number;
  readonly database: string;
}

export interface SharedKafka extends Place {
  /** `host:port`, neither login nor TLS. */
  readonly broker: string;
  readonly secured: Secured;
  /** For names of topics and groups. The broker makes no topics by itself; `stop` deletes those that begin so. */
  readonly prefix: string;
}

export interface SharedFuseki extends Place, FusekiDatasets {}

export interface SharedRdf4j extends Place {
  /** `…/rdf4j-server` */
  readonly server: string;
  /** Repositories, all empty: in memory, on disk, and one in memory that takes integers alone as objects of `<urn:age>` (SHACL). */
  readonly memory: string;
  readonly native: string;
  readonly validated: string;
}

export interface SharedS3 extends Place {
  /** Of the protocol of S3, with buckets in the path; the keys are `S3_KEYS`. */
  readonly endpoint: string;
  /** An empty one. `stop` leaves it: the objects go with the server. */
  readonly bucket: string;
}

export interface SharedStudio extends Place {
  /** Of the service; its tokens are `STUDIO_TOKENS`. */
  readonly url: string;
  /** For `chromium.connect` of Playwright. */
  readonly browser: string;
  /** Working directory of the service; its data stand in `data`. */
  readonly directory: string;
  /** For names of models and uploads. */
  readonly prefix: string;
}

export const sharedRedis = (): Promise<SharedRedis> => ask('redis');
export const sharedPostgres = (): Promise<SharedPostgres> => ask('postgres');
export const sharedMariadb = (): Promise<SharedMariadb> => ask('mariadb');
export const sharedKafka = (): Promise<SharedKafka> => ask('kafka');
export const sharedFuseki = (): Promise<SharedFuseki> => ask('fuseki');
export const sharedRdf4j = (): Promise<SharedRdf4j> => ask('rdf4j');
export const sharedS3 = (): Promise<SharedS3> => ask('s3');
export const sharedStudio = (): Promise<SharedStudio> => ask('studio');

/** The hub (`hub.ts`) lives in the process that started Jest. */
async function ask<T extends Place>(kind: string): Promise<T> {
  const place = await send<Omit<T, 'stop'>>(kind, undefined);
  return { ...place, stop: () => send(`${kind}/stop`, place) } as T;
}

async function send<T>(path: string, body: unknown): Promise<T> {
  const hub = process.env.QUADMILL_TEST_HUB;
  if (hub === undefined) throw new Error('shared servers are there in a run of Jest alone');
  const answer = await fetch(`${hub}/${path}`, { method: 'POST', body: JSON.stringify(body ?? {}) });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  return (await answer.json()) as T;
}
