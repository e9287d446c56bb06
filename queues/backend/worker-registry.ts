/**
 * Registry of the processes that take jobs from a queue. Each process increments a counter under its own id (heartbeat). A reader ignores
 * processes whose counter has not changed for a while by the reader's own clock, so clocks of different machines are never compared.
 *
 * The number of processes is shown to people: a queue without workers otherwise looks like a slow one. What they say of their reach lets a
 * process that does not reach a database or target leave its runs to one that does (`workers/reachability.ts`).
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SharedSettings } from '../../src/config/store.ts';
import { atMost } from '../../src/core/abort.ts';
import { ALL_SERVICES, type Service } from '../jobs.ts';

const KEY = 'workers';
/** A process is ignored after three missed heartbeats and some extra time for a busy machine. */
const HEARTBEAT = { intervalMs: 5_000, timeoutMs: 20_000 };
const TRIES = 10;
/** Between attempts; all of them fit into `DEREGISTER_MS`. */
const MAX_WAIT_MS = 20;
/** The longest time that deregistering may delay the end of a process. */
const DEREGISTER_MS = 1_000;

/** What a process says of itself. */
interface Entry {
  /** Number of heartbeats. */
  readonly beat: number;
  /** Whose runs it takes. */
  readonly services: readonly Service[];
  /** Those of them whose database or target it does not reach, or has not tried to reach yet. */
  readonly unreached: readonly Service[];
}

type Entries = Readonly<Record<string, Entry>>;

export interface WorkerRegistry {
  /** Number of processes that take runs of any of the services: those whose last heartbeat is less than 20 seconds old. */
  count(services?: readonly Service[]): number;
  /** Whether a process other than `id` takes runs of the service and reaches what they need. */
  isReachedByOthers(service: Service, id: string): boolean;
  close(): void;
}

/** @throws Fault service/unavailable — the queue does not answer */
export async function watchWorkerRegistry(settings: SharedSettings, { timeoutMs } = HEARTBEAT): Promise<WorkerRegistry> {
  const lastSeen = new Map<string, { readonly entry: Entry; readonly at: number }>();
  const update = (text: string | undefined): void => {
    const present = parse(text);
    for (const id of lastSeen.keys()) if (!(id in present)) lastSeen.delete(id);
    for (const [id, entry] of Object.entries(present)) {
      if (lastSeen.get(id)?.entry.beat !== entry.beat) lastSeen.set(id, { entry, at: performance.now() });
    }
  };
  const living = (): readonly (readonly [id: string, entry: Entry])[] =>
    [...lastSeen].flatMap(([id, { entry, at }]) => (performance.now() - at < timeoutMs ? [[id, entry] as const] : []));
  const unwatch = settings.watch(KEY, update);
  update(await settings.get(KEY));
  return {
    count: (services = ALL_SERVICES) => living().filter(([, entry]) => services.some((service) => entry.services.includes(service))).length,
    isReachedByOthers: (service, own) =>
      living().some(([id, { services, unreached }]) => id !== own && services.includes(service) && !unreached.includes(service)),
    close: unwatch,
  };
}

export interface Registration {
  readonly id: string;
  /** Says at once which services this process does not reach. Never throws: the next heartbeat says it again. */
  tell(unreached: readonly Service[]): Promise<void>;
  deregister(): Promise<void>;
}

/**
 * Registers this process until `deregister`. Until it reports what it reaches, others leave nothing to it.
 *
 * @throws Fault service/unavailable — the queue does not answer
 */
export async function registerWorker(
  settings: SharedSettings,
  services: readonly Service[],
  { intervalMs, timeoutMs } = HEARTBEAT,
): Promise<Registration> {
  const id = randomBytes(6).toString('hex');
  const known = new Map<string, { readonly beat: number; readonly times: number }>();
  let unreached = services;
  let beat = 0;
  let left = false;

  const beatOnce = async (): Promise<void> => {
    beat++;
    for (let i = 0; i < TRIES; i++) {
      const text = await settings.get(KEY);
      const others = Object.entries(parse(text)).filter(([other]) => other !== id);
      const living = others.filter(([other, its]) => isAlive(other, its.beat, i === 0));
      const present: Entries = Object.fromEntries([...living, ...(left ? [] : [[id, { beat, services, unreached }] as const])]);
      if (await settings.compareAndSet(KEY, text, JSON.stringify(present))) return;
      // A random wait: with equal waits the same process would lose every time.
      await sleep(Math.random() * MAX_WAIT_MS);
    }
    // Other processes were faster each time; the next heartbeat comes soon.
  };
  /** A process without a new heartbeat for twice the timeout was killed, and is removed. Counts heartbeat intervals, not attempts. */
  const isAlive = (other: string, its: number, isBeat: boolean): boolean => {
    const before = known.get(other);
    const times = before?.beat === its ? before.times + (isBeat ? 1 : 0) : 0;
    known.set(other, { beat: its, times });
    return times * intervalMs < 2 * timeoutMs;
  };

  await beatOnce();
  // A queue that is away reports that itself.
  const timer = setInterval(() => void beatOnce().catch(() => undefined), intervalMs).unref();
  return {
    id,
    async tell(now) {
      unreached = now;
      if (!left) await beatOnce().catch(() => undefined);
    },
    async deregister() {
      left = true;
      clearInterval(timer);
      await atMost(DEREGISTER_MS, beatOnce());
    },
  };
}

function parse(text: string | undefined): Entries {
  return text === undefined ? {} : (JSON.parse(text) as Entries);
}

/** Shown when a run waits and no worker process takes the runs of its service. */
export const NO_WORKERS = 'There is no worker to take the run. Start one on the same queue: quadmill serve --role worker';
