/**
 * Which processes take jobs from a queue. Each of them says again and again that it is there, under an id of its own; who counts them
 * leaves out those of whom nothing new has been heard for a while by its own clock, so no two clocks are compared.
 *
 * It is for people: a queue that nobody works on looks like one that is slow.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SharedSettings } from '../../src/config/store.ts';
import { atMost } from './backend.ts';

const KEY = 'workers';
/** Who is silent for three beats, and some time for a busy machine, is not there. */
const HEARTBEAT = { intervalMs: 5_000, timeoutMs: 20_000 };
const TRIES = 10;
/** Between tries; all of them fit into what leaving may take. */
const MAX_WAIT_MS = 20;
/** What leaving may take of the end of a process. */
const DEREGISTER_MS = 1_000;

/** By id: how often the process has said that it is there. */
type Heartbeats = Readonly<Record<string, number>>;

export interface WorkerRegistry {
  /** Processes that take jobs: those that were there less than 20 seconds ago. */
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

/** Says that this process takes jobs, from now on until `leave`. @throws Fault service/unavailable — the queue does not answer */
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
      // At the same pace, the same one would come second again and again.
      await sleep(Math.random() * MAX_WAIT_MS);
    }
    // Others are faster, time and again: the next beat comes soon.
  };
  /** Whoever has said nothing new for twice as long as it counts is forgotten: it was killed. Beats are counted, not tries. */
  const isAlive = (other: string, its: number, isBeat: boolean): boolean => {
    const before = known.get(other);
    const times = before?.beat === its ? before.times + (isBeat ? 1 : 0) : 0;
    known.set(other, { beat: its, times });
    return times * intervalMs < 2 * timeoutMs;
  };

  await beatOnce();
  // A queue that is away says so itself.
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

/** What to tell somebody whose run waits, where nobody is there to take it. */
export const NO_WORKERS = 'No worker is there to take the run. Start one on the same queue: quadmill serve --role worker';
