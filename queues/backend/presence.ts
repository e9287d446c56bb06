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
const PACE = { beatMs: 5_000, silentMs: 20_000 };
const TRIES = 10;
/** Between tries; all of them fit into what leaving may take. */
const LONGEST_WAIT_MS = 20;
/** What leaving may take of the end of a process. */
const LEAVE_MS = 1_000;

/** By id: how often the process has said that it is there. */
type Present = Readonly<Record<string, number>>;

export interface Workers {
  /** Processes that take jobs: those that were there less than 20 seconds ago. */
  count(): number;
  close(): void;
}

/** @throws Fault service/unavailable — the queue does not answer */
export async function watchWorkers(settings: SharedSettings, { silentMs } = PACE): Promise<Workers> {
  const heard = new Map<string, { readonly beat: number; readonly at: number }>();
  const take = (text: string | undefined): void => {
    const present = parse(text);
    for (const id of heard.keys()) if (!(id in present)) heard.delete(id);
    for (const [id, beat] of Object.entries(present)) {
      if (heard.get(id)?.beat !== beat) heard.set(id, { beat, at: performance.now() });
    }
  };
  const unwatch = settings.watch(KEY, take);
  take(await settings.get(KEY));
  return {
    count: () => [...heard.values()].filter(({ at }) => performance.now() - at < silentMs).length,
    close: unwatch,
  };
}

/** Says that this process takes jobs, from now on until `leave`. @throws Fault service/unavailable — the queue does not answer */
export async function joinWorkers(settings: SharedSettings, { beatMs, silentMs } = PACE): Promise<{ leave(): Promise<void> }> {
  const id = randomBytes(6).toString('hex');
  const known = new Map<string, { readonly beat: number; readonly times: number }>();
  let beat = 0;
  let left = false;

  const say = async (): Promise<void> => {
    beat++;
    for (let i = 0; i < TRIES; i++) {
      const text = await settings.get(KEY);
      const others = Object.entries(parse(text)).filter(([other]) => other !== id);
      const living = others.filter(([other, its]) => isLiving(other, its, i === 0));
      const present: Present = Object.fromEntries([...living, ...(left ? [] : [[id, beat]])]);
      if (await settings.compareAndSet(KEY, text, JSON.stringify(present))) return;
      // At the same pace, the same one would come second again and again.
      await sleep(Math.random() * LONGEST_WAIT_MS);
    }
    // Others are faster, time and again: the next beat comes soon.
  };
  /** Whoever has said nothing new for twice as long as it counts is forgotten: it was killed. Beats are counted, not tries. */
  const isLiving = (other: string, its: number, isBeat: boolean): boolean => {
    const before = known.get(other);
    const times = before?.beat === its ? before.times + (isBeat ? 1 : 0) : 0;
    known.set(other, { beat: its, times });
    return times * beatMs < 2 * silentMs;
  };

  await say();
  // A queue that is away says so itself.
  const timer = setInterval(() => void say().catch(() => undefined), beatMs).unref();
  return {
    async leave() {
      left = true;
      clearInterval(timer);
      await atMost(LEAVE_MS, say());
    },
  };
}

function parse(text: string | undefined): Present {
  return text === undefined ? {} : (JSON.parse(text) as Present);
}

/** What to tell somebody whose run waits, where nobody is there to take it. */
export const NO_WORKERS = 'No worker is there to take the run. Start one on the same queue: quadmill serve --role worker';
