/** What the faults act on: an API process, workers, their Redis, their disk and the server of their inputs. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../servers/port.ts';
import { type Redis, startRedis } from '../servers/redis.ts';
import { type Disk, mountDisk } from './disk.ts';
import { type InputServer, serveInputs } from './input-server.ts';
import type { Ledger } from './ledger.ts';
import { contentOf, INPUT_KINDS, MAPPING, type PlannedRun } from './load.ts';
import { Member } from './member.ts';

export const LOCK_SECONDS = 2;
export const STALLED_SECONDS = 1;
const DRAIN_SECONDS = 2;
/** The deadline of the runs, and what closing may take on a busy machine. */
export const STOP_LIMIT_MS = 40_000;
export const PREFIX = 'chaos';

/** Turned down, so that a short time shows what a long one would; the reasons stand beside. */
const SETTINGS = {
  SERVICE: 'semi-structured-transformer',
  QUEUE_PREFIX: PREFIX,
  // A lost worker is noticed in seconds.
  LOCK_SECONDS: String(LOCK_SECONDS),
  STALLED_SECONDS: String(STALLED_SECONDS),
  DRAIN_SECONDS: String(DRAIN_SECONDS),
  // Faults come far more often than in life: a run that meets several of them is not to end as one that kills its workers, or gave up.
  MAX_STARTS: '20',
  RUN_ATTEMPTS: '10',
  // Large inputs spill.
  MEMORY_BUDGET_MB: '1',
};

export class Broker {
  busy = false;
  #server: Redis;
  readonly #directory: string;

  constructor(server: Redis, directory: string) {
    this.#server = server;
    this.#directory = directory;
  }

  get url(): string {
    return this.#server.url;
  }

  /** kill -9. */
  kill(): Promise<void> {
    return this.#server.stop();
  }

  /** On the same files and port. */
  async start(): Promise<void> {
    this.#server = started(await startRedis({ port: this.#server.port, appendOnly: this.#directory }));
  }

  signal(name: NodeJS.Signals): void {
    process.kill(this.#server.pid, name);
  }
}

export interface World {
  readonly directory: string;
  /** DATA_DIR of the fleet. */
  readonly data: string;
  readonly url: string;
  readonly api: Member;
  readonly workers: readonly Member[];
  readonly redis: Broker;
  /** A text says why it cannot be filled. */
  readonly disk: Disk | string;
  readonly inputs: InputServer;
  /** Milliseconds from the queue's return to a ready API. */
  readonly returns: number[];
  /** Where the input of a run is. */
  inputUrl(run: PlannedRun): string;
  close(): Promise<void>;
}

export async function buildWorld(directory: string, runs: readonly PlannedRun[], workers: number, ledger: Ledger): Promise<World> {
  const at = (name: string): string => join(directory, name);
  for (const name of ['data', 'inputs', 'logs', 'redis']) await mkdir(at(name), { recursive: true });
  const disk = mountDisk(at('data'));
  for (const run of runs) {
    const content = contentOf(run);
    if (!INPUT_KINDS[run.kind].http && content !== undefined) await writeFile(at(`inputs/${run.file}`), content);
  }
  await writeFile(at('mapping.ttl'), MAPPING);
  const inputs = await serveInputs(runs);
  const redis = new Broker(started(await startRedis({ appendOnly: at('redis') })), at('redis'));
  const port = await freePort();
  const env = { ...SETTINGS, QUEUE_URL: redis.url, DATA_DIR: at('data') };
  const violation = (what: string): void => ledger.violation(undefined, what);
  const member = (role: Member['role'], name: string, more = {}): Member =>
    new Member({ name, role, cwd: directory, env: { ...env, ...more }, logs: at('logs'), violation });
  const api = member('api', 'api', { PORT: String(port) });
  const all = Array.from({ length: workers }, (_, i) => member('worker', `worker-${i + 1}`));
  const close = async (): Promise<void> => {
    await Promise.all([api, ...all].map((one) => one.close()));
    await redis.kill();
    await inputs.close();
  };
  try {
    await Promise.all([api, ...all].map((one) => one.start()));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    directory,
    data: at('data'),
    url: `http://127.0.0.1:${port}`,
    api,
    workers: all,
    redis,
    disk,
    inputs,
    returns: [],
    inputUrl: (run) => (INPUT_KINDS[run.kind].http ? `${inputs.url}/${run.file}` : at(`inputs/${run.file}`)),
    close,
  };
}

/** Whether the API became ready within `limitMs`. */
export async function untilReady(url: string, limitMs: number): Promise<boolean> {
  for (const deadline = Date.now() + limitMs; Date.now() < deadline; await sleep(50)) {
    const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2_500) }).catch(() => undefined);
    await answer?.arrayBuffer().catch(() => undefined);
    if (answer?.status === 200) return true;
  }
  return false;
}

function started(server: Redis | { readonly skip: string }): Redis {
  if ('skip' in server) throw new Error(`there is no chaos here: ${server.skip}`);
  return server;
}
