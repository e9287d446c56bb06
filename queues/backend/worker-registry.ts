/**
 * Registry of the processes that take jobs from a queue. Each process increments a counter under its own id (heartbeat). A reader ignores
 * processes whose counter has not changed for a while by the reader's own clock, so clocks of different machines are never compared.
 *
 * The count is shown to people: a queue without workers otherwise looks like a slow one.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SharedSettings } from '../../src/config/store.ts';
import { atMost } from '../../src/core/abort.ts';

const KEY = 'workers';
/** A process is ignored after three missed heartbeats and some extra time for a busy machine. */
const HEARTBEAT = { intervalMs: 5_000, timeoutMs: 20_000 };
const TRIES = 10;
/** Between attempts; all of them fit into `DEREGISTER_MS`. */
const MAX_WAIT_MS = 20;
/** The longest time that deregistering may delay the end of a process. */
const DEREGISTER_MS = 1_000;

/** Number of heartbeats by process id. */
type Heartbeats = Readonly<Record<string, number>>;

export interface WorkerRegistry {
  /** Number of processes that take jobs: those whose last heartbeat is less than 20 seconds old. */
  count(): number;
  close(): void;
}

/** @throws Fault service/unavailable — the queue does not answer */
export async function watchWorkerRegistry(settings: SharedSettings, { timeoutMs } = HEARTBEAT): Promise<WorkerRegistry> {
  const lastSeen = new Map<string, { readonly beat: number; readonly at: number }>();
  const update = (text: string | undefined): void => {
    const present = parse(text);
    for (const id of lastSeen.keys()) if (!(id in present)) lastSeen.delete(id);
    for (const [id, beat] of Object.entries(present)) {
      if (lastSeen.get(id)?.beat !== beat) lastSeen.set(id, { beat, at: performance.now() });
    }
  };
  const unwatch = settings.watch(KEY, update);
  update(await settings.get(KEY));
  return {
    count: () => [...lastSeen.values()].filter(({ at }) => performance.now() - at < timeoutMs).length,
    close: unwatch,
  };
}

/** Registers this process until `deregister`. @throws Fault service/unavailable — the queue does not answer */
export async function registerWorker(
  settings: SharedSettings,
  { intervalMs, timeoutMs } = HEARTBEAT,
): Promise<{ deregister(): Promise<void> }> {
  const id = randomBytes(6).toString('hex');
  const known = new Map<string, { readonly beat: number; readonly times: number }>();
  let beat = 0;
  let left = false;

  const beatOnce = async (): Promise<void> => {
    beat++;
    for (let i = 0; i < TRIES; i++) {
      const text = await settings.get(KEY);
      const others = Object.entries(parse(text)).filter(([other]) => other !== id);
      const living = others.filter(([other, its]) => isAlive(other, its, i === 0));
      const present: Heartbeats = Object.fromEntries([...living, ...(left ? [] : [[id, beat]])]);
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
    async deregister() {
      left = true;
      clearInterval(timer);
      await atMost(DEREGISTER_MS, beatOnce());
    },
  };
}

function parse(text: string | undefined): Heartbeats {
  return text === undefined ? {} : (JSON.parse(text) as Heartbeats);
}

/** Shown when a run waits and no worker process exists. */
export const NO_WORKERS = 'There is no worker to take the run. Start one on the same queue: quadmill serve --role worker';
