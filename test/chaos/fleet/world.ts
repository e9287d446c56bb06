/** The system under test: an API process, workers, their Redis, Kafka and database, their disk and the server of their inputs. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withLimit } from '../../../src/core/abort.ts';
import { freePort } from '../../servers/process/port.ts';
import { type Redis, startRedis } from '../../servers/queues/redis.ts';
import type { GroundTruth } from '../judge/ground-truth.ts';
import { type Span, spanOf } from '../judge/spans.ts';
import { contentOf, INPUT_KINDS, MAPPING, outputBytes, type PlannedRun } from '../load/load.ts';
import { type Database, SLICE_ROWS, startDatabase, TABLE_MAPPING } from './database.ts';
import { type Disk, mountDisk } from './disk.ts';
import { type InputServer, serveInputs } from './input-server.ts';
import { type Messages, startMessages, TOPICS } from './messages.ts';
import { FleetProcess } from './process.ts';

export const LOCK_SECONDS = 2;
export const STALLED_SECONDS = 1;
/** Concurrent runs of a worker; the same number of slices. */
export const CONCURRENCY = 2;
const DRAIN_SECONDS = 2;
/** The drain deadline of runs, plus the time that closing may take on a busy machine. */
export const STOP_LIMIT_MS = 40_000;
export const PREFIX = 'chaos';

/** In the directory of file mappings, which a message without mapping uses. */
const MASTER_MAPPING = 'sql/tables.ttl';
const MAPPING_FILE = 'files.ttl';

/** Settings lowered so that a short run shows what a long one would, with reasons. */
const SETTINGS = {
  SERVICE: 'all',
  QUEUE_PREFIX: PREFIX,
  // A line for each start of a run: which worker held it.
  LOG_LEVEL: 'debug',
  // A lost worker is noticed within seconds.
  LOCK_SECONDS: String(LOCK_SECONDS),
  STALLED_SECONDS: String(STALLED_SECONDS),
  DRAIN_SECONDS: String(DRAIN_SECONDS),
  // Faults are far more frequent than in reality: a run that meets several must not fail because of MAX_STARTS or its attempts.
  MAX_STARTS: '20',
  RUN_ATTEMPTS: '10',
  WORKER_CONCURRENCY: String(CONCURRENCY),
  // Large inputs spill, and all but small ones are cut into slices.
  MEMORY_BUDGET_MB: '1',
  SLICE_BYTES: '65536',
  SQL_SLICE_ROWS: String(SLICE_ROWS),
  MASTER_MAPPING_FILE: MASTER_MAPPING,
};

/** Redis, killed and restarted on the same files and port. */
export class QueueServer {
  busy = false;
  /** Spans without an answer. */
  readonly away: Span[] = [];
  #server: Redis;
  readonly #directory: string;

  constructor(server: Redis, directory: string) {
    this.#server = server;
    this.#directory = directory;
  }

  get url(): string {
    return this.#server.url;
  }

  get pid(): number {
    return this.#server.pid;
  }

  /** kill -9, and restart after `waitMs`. */
  async restart(waitMs: number): Promise<void> {
    const from = Date.now();
    await this.#server.stop();
    await sleep(waitMs);
    this.#server = started(await startRedis({ port: this.#server.port, appendOnly: this.#directory }));
    this.away.push(spanOf(from, Date.now()));
  }

  /** SIGSTOP and SIGCONT. */
  async pause(waitMs: number): Promise<void> {
    const from = Date.now();
    process.kill(this.pid, 'SIGSTOP');
    await sleep(waitMs);
    process.kill(this.pid, 'SIGCONT');
    this.away.push(spanOf(from, Date.now()));
  }

  close(): Promise<void> {
    return this.#server.stop();
  }
}

/** The servers used by the fleet; a text is the reason why one is missing. */
export interface Servers {
  readonly redis: QueueServer;
  readonly kafka: Messages | string;
  readonly database: Database | string;
  close(): Promise<void>;
}

/** @throws if Redis cannot be started; the other two may be missing */
export async function startServers(directory: string, wanted: { readonly kafka: boolean; readonly database: boolean }): Promise<Servers> {
  const files = join(directory, 'redis');
  await mkdir(files, { recursive: true });
  const unused = 'the preset does without';
  const [redis, kafka, database] = await Promise.all([
    startRedis({ appendOnly: files }).then((server) => new QueueServer(started(server), files)),
    wanted.kafka ? startMessages() : unused,
    wanted.database ? startDatabase() : unused,
  ]);
  // If this process is ended early, no server may remain; children of a killed server end by themselves.
  const killAll = (): void => {
    const pids = [
      redis.pid,
      ...(typeof kafka === 'string' ? [] : [kafka.server.pid]),
      ...(typeof database === 'string' ? [] : [database.server.pid]),
    ];
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has already ended.
      }
    }
  };
  process.once('exit', killAll);
  return {
    redis,
    kafka,
    database,
    async close() {
      await Promise.all([redis.close(), ...[kafka].flatMap((one) => (typeof one === 'string' ? [] : [one.close()]))]);
      if (typeof database !== 'string') await database.server.stop();
      process.off('exit', killAll);
    },
  };
}

export interface World extends Omit<Servers, 'close'> {
  readonly directory: string;
  /** DATA_DIR of the fleet. */
  readonly data: string;
  readonly url: string;
  readonly api: FleetProcess;
  readonly workers: readonly FleetProcess[];
  /** A text is the reason why it cannot be filled. */
  readonly disk: Disk | string;
  readonly inputs: InputServer;
  /** Milliseconds from the queue's return to a ready API. */
  readonly returns: number[];
  /** Location of the mapping of files. */
  readonly mappingUrl: string;
  /** Location of the input of a run. */
  inputUrl(run: PlannedRun): string;
  /** Ends the fleet; the caller ends the servers. */
  close(): Promise<void>;
}

export async function buildWorld(
  directory: string,
  servers: Servers,
  runs: readonly PlannedRun[],
  workers: number,
  ledger: GroundTruth,
): Promise<World> {
  const at = (name: string): string => join(directory, name);
  for (const name of ['data', 'inputs', 'logs', 'mappings/sql']) await mkdir(at(name), { recursive: true });
  const disk = mountDisk(at('data'), diskMb(runs, workers));
  for (const run of runs) {
    const content = contentOf(run);
    if (!INPUT_KINDS[run.kind].http && content !== undefined) await writeFile(at(`inputs/${run.file}`), content);
  }
  await writeFile(at(`mappings/${MAPPING_FILE}`), MAPPING);
  await writeFile(at(`mappings/${MASTER_MAPPING}`), TABLE_MAPPING);
  const inputs = await serveInputs(runs);
  const port = await freePort();
  const mappings = { SEMI_STRUCTURED_TRANSFORMER_MAPPINGS_DIR_URL: at('mappings'), SQL_TRANSFORMER_MAPPINGS_DIR_URL: at('mappings') };
  const env = { ...SETTINGS, DATA_DIR: at('data'), ...mappings, ...settingsOf(servers) };
  const violation = (what: string): void => ledger.violation(undefined, what);
  const member = (role: FleetProcess['role'], name: string, port: string): FleetProcess =>
    new FleetProcess({ name, role, cwd: directory, env: { ...env, PORT: port }, logs: at('logs'), violation });
  const api = member('api', 'api', String(port));
  const all = Array.from({ length: workers }, (_, i) => member('worker', `worker-${i + 1}`, '0'));
  const close = async (): Promise<void> => {
    await Promise.all([api, ...all].map((one) => one.close()));
    await inputs.close();
  };
  try {
    await Promise.all([api, ...all].map((one) => one.start()));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...servers,
    directory,
    data: at('data'),
    url: `http://127.0.0.1:${port}`,
    api,
    workers: all,
    disk,
    inputs,
    returns: [],
    mappingUrl: at(`mappings/${MAPPING_FILE}`),
    inputUrl: (run) => (INPUT_KINDS[run.kind].http ? `${inputs.url}/${run.file}` : at(`inputs/${run.file}`)),
    close,
  };
}

/** Enough for the output of all runs including repeated messages, and for temporary files of slices and spill files. */
export function diskMb(runs: readonly PlannedRun[], workers: number): number {
  const bytes = runs.reduce((sum, run) => sum + outputBytes(run) * (run.message && run.againMs !== undefined ? 2 : 1), 0);
  const underWay = 2 * 2 * CONCURRENCY * workers * Math.max(0, ...runs.map(outputBytes));
  return 16 + Math.ceil((bytes + underWay) / 2 ** 20);
}

/** Options with the addresses of the servers. */
function settingsOf({ redis, kafka, database }: Servers): Readonly<Record<string, string>> {
  return {
    QUEUE_URL: redis.url,
    ...(typeof kafka === 'string'
      ? {}
      : {
          KAFKA_BROKERS: kafka.server.broker,
          KAFKA_TOPIC_NAME_SOURCE: TOPICS.source,
          KAFKA_TOPIC_NAME_SUCCESS: TOPICS.success,
          KAFKA_TOPIC_NAME_DLQ: TOPICS.dead,
        }),
    ...(typeof database === 'string' ? {} : { JDBC_URL: database.jdbcUrl, DB_USER: database.user }),
  };
}

/** Whether the API became ready within `limitMs`. */
export async function untilReady(url: string, limitMs: number): Promise<boolean> {
  for (const deadline = Date.now() + limitMs; Date.now() < deadline; await sleep(50)) {
    const status = await withLimit(2_500, async (signal) => {
      const answer = await fetch(`${url}/health/ready`, { signal });
      await answer.arrayBuffer();
      return answer.status;
    }).catch(() => undefined);
    if (status === 200) return true;
  }
  return false;
}

function started(server: Redis | { readonly skip: string }): Redis {
  if ('skip' in server) throw new Error(`there is no chaos here: ${server.skip}`);
  return server;
}
