/**
 * The lease of the follower of a dataset, in the shared settings of the queue: in a fleet one worker at a time has it.
 *
 * **Claim.** At no time do two workers believe that they have it, if their clocks run at the same speed. **Proof.** A worker takes it by compare-and-set:
 * where none has it, or where the record has not changed for `lockMs` by its own clock, from a moment at which it had read it. The holder changes the
 * record with each renewal, and gives up `GIVE_UP` × `lockMs` after the beginning of the last renewal that the queue has confirmed. That beginning is
 * before the change, the change is before any other worker can read it, and `GIVE_UP` < 1. So the holder has given up first. A process that was
 * suspended meanwhile may not know it yet: `confirm` asks the queue, and its compare-and-set fails.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SharedSettings } from '../../src/config/store.ts';
import { Fault } from '../../src/core/fault.ts';
import { type FollowerRecord, type FollowerState, followerKey, parseRecord } from './record.ts';

/** Shares of `lockMs`. */
const RENEW = 0.25;
const GIVE_UP = 0.75;
const LOOK = 0.125;
const RETRY_MS = 100;

export interface LeaseOptions {
  readonly settings: SharedSettings;
  /** Of the dataset. */
  readonly url: string;
  /** Id of this process. */
  readonly worker: string;
  /** A holder that does not renew it for so long has lost it. */
  readonly lockMs: number;
}

const LOST = (url: string): Fault =>
  new Fault('run/lost', `This worker has lost the lease of the follower of ${url}`, {
    hint: 'Another worker follows, or the queue is away',
  });

/**
 * Waits until no other worker has the lease, and takes it.
 *
 * @returns undefined: `signal` was aborted first
 */
export async function takeLease(options: LeaseOptions, state: FollowerState, signal: AbortSignal): Promise<Lease | undefined> {
  const { settings, url, worker, lockMs } = options;
  const key = followerKey(url);
  let seen: { readonly text: string | undefined; readonly at: number } | undefined;
  while (!signal.aborted) {
    try {
      const text = await settings.get(key);
      if (seen === undefined || seen.text !== text) seen = { text, at: performance.now() };
      if (parseRecord(text)?.worker === undefined || performance.now() - seen.at >= lockMs) {
        const began = performance.now();
        const own = textOf(state, worker);
        if (await settings.compareAndSet(key, text, own)) return new Lease(options, state, own, began);
      }
    } catch {
      // The queue is away, and its connection reports that. The record may have changed meanwhile.
      seen = undefined;
    }
    await sleep(lockMs * LOOK, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

/** Renews itself until it is released or lost. */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #lost = new AbortController();
  /** Called after each renewal. */
  renewed: () => void = () => undefined;
  readonly #timer: NodeJS.Timeout;
  #state: FollowerState;
  /** What the record has. */
  #text: string;
  #giveUp: NodeJS.Timeout | undefined;
  /** Changes of the record, one after another. */
  #changing: Promise<unknown> = Promise.resolve();

  /** @param began when it was asked for, in milliseconds of `performance.now()` */
  constructor(options: LeaseOptions, state: FollowerState, text: string, began: number) {
    this.#options = options;
    this.#state = state;
    this.#text = text;
    this.#confirmed(began);
    // A renewal that fails is tried again by the next one.
    this.#timer = setInterval(() => void this.#renew().catch(() => undefined), options.lockMs * RENEW);
  }

  /** Aborted, with a fault as the reason, when another worker may have it. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** What the record says from the next renewal on. */
  tell(state: FollowerState): void {
    this.#state = state;
  }

  /** Asks the queue, until that answers. @throws Fault run/lost */
  async confirm(): Promise<void> {
    for (let isAsked = false; !isAsked && !this.lost.aborted; ) {
      isAsked = await this.#renew().then(
        () => true,
        () => false,
      );
      if (!isAsked) await sleep(RETRY_MS);
    }
    this.lost.throwIfAborted();
  }

  /** Lets others take it. @param state that the record has from now on */
  async release(state: FollowerState): Promise<void> {
    this.#state = state;
    clearInterval(this.#timer);
    try {
      await this.#renew(true);
    } finally {
      clearTimeout(this.#giveUp);
      this.#lost.abort(LOST(this.#options.url));
    }
  }

  #renew(isEnd = false): Promise<void> {
    const renewing = this.#changing.then(() => this.#change(isEnd));
    this.#changing = renewing.catch(() => undefined);
    return renewing;
  }

  async #change(isEnd: boolean): Promise<void> {
    if (this.lost.aborted) return;
    const { settings, url, worker } = this.#options;
    const key = followerKey(url);
    const began = performance.now();
    const own = textOf(this.#state, isEnd ? undefined : worker);
    // The answer to an earlier change may not have arrived: the record is that of this worker, whatever its beat.
    const before = await settings.get(key);
    if (before !== this.#text && parseRecord(before)?.worker !== worker) return this.#end();
    if (!(await settings.compareAndSet(key, before, own))) return this.#end();
    this.#text = own;
    this.#confirmed(began);
    this.renewed();
  }

  #confirmed(began: number): void {
    clearTimeout(this.#giveUp);
    const left = began + this.#options.lockMs * GIVE_UP - performance.now();
    this.#giveUp = setTimeout(() => this.#end(), left);
  }

  #end(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#giveUp);
    this.#lost.abort(LOST(this.#options.url));
  }
}

function textOf(state: FollowerState, worker: string | undefined): string {
  const record: FollowerRecord = { ...state, worker, beat: randomBytes(6).toString('hex'), time: new Date().toISOString() };
  return JSON.stringify(record);
}
