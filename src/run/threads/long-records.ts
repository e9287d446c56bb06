/**
 * Records with so many statements that their lines are written while they are made. A thread holds the lock of such a record's subject meanwhile
 * (`distinct/shared.ts`), and waits for the thread that writes. That one maps, too: if it waited for the lock, nobody would write.
 *
 * So one thread at a time makes such a record, and none is begun before the thread that writes has come to a place between two records, where it
 * stays until the record is complete. All other locks are held for a moment, in which nothing waits.
 */

import type { Turns } from '../execute/execute.ts';

export interface TurnsOfThread extends Turns {
  /** Around scans whose tables other threads share. */
  mapping<T>(act: () => Promise<T>): Promise<T>;
}

/** In the thread that writes: its own turns, and who makes a long record. */
export class LongRecords implements TurnsOfThread {
  /** Threads that wait for their turn. */
  readonly #asking: (() => void)[] = [];
  #isMade = false;
  /** This thread may wait for a lock. */
  #maps = false;
  /** This thread waits between two records. */
  #paused: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined;
  #failure: unknown;

  /** Calls `begin` when the thread that asks may begin. */
  ask(begin: () => void): void {
    this.#asking.push(begin);
    this.#next();
  }

  /** The record is complete. */
  end(): void {
    this.#isMade = false;
    this.#next();
  }

  /** This thread does not go on: the run has ended. */
  fail(error: unknown): void {
    this.#failure = error;
    this.#paused?.reject(error);
    this.#paused = undefined;
  }

  async mapping<T>(act: () => Promise<T>): Promise<T> {
    if (this.#isMade || this.#asking.length > 0) await this.#stay();
    this.#maps = true;
    try {
      return await act();
    } finally {
      this.#maps = false;
      this.#next();
    }
  }

  pause(): Promise<void> | undefined {
    // This thread makes the record itself, or nobody asks: none is begun by another thread while this one maps.
    return this.#isMade || this.#asking.length === 0 ? undefined : this.#stay();
  }

  async long(act: () => Promise<void>): Promise<void> {
    this.#maps = false;
    await new Promise<void>((resolve) => this.ask(resolve));
    try {
      await act();
    } finally {
      this.#maps = true;
      this.end();
    }
  }

  async #stay(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#maps = false;
    const goesOn = new Promise<void>((resolve, reject) => {
      this.#paused = { resolve, reject };
    });
    this.#next();
    await goesOn;
  }

  #next(): void {
    if (this.#isMade || this.#maps) return;
    const begin = this.#asking.shift();
    if (begin !== undefined) {
      this.#isMade = true;
      begin();
      return;
    }
    if (this.#paused === undefined) return;
    this.#maps = true;
    this.#paused.resolve();
    this.#paused = undefined;
  }
}

/** In a thread that only maps: it may wait for any lock. */
export class AskedTurns implements TurnsOfThread {
  readonly #ask: () => void;
  readonly #end: () => void;
  #begin: (() => void) | undefined;

  /** @param ask has `begin` called when this thread may begin */
  constructor(ask: () => void, end: () => void) {
    this.#ask = ask;
    this.#end = end;
  }

  begin(): void {
    this.#begin?.();
  }

  mapping<T>(act: () => Promise<T>): Promise<T> {
    return act();
  }

  pause(): undefined {
    return undefined;
  }

  async long(act: () => Promise<void>): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#begin = resolve;
      this.#ask();
    });
    try {
      await act();
    } finally {
      this.#end();
    }
  }
}
