/** Memory that tables and buffers take from a common limit. */

/** The memory in bytes that all tables of a run may use together. */
export class MemoryBudget {
  readonly limitBytes: number;
  usedBytes = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /** Returns false, and takes nothing, if fewer than `bytes` are left. */
  take(bytes: number): boolean {
    if (this.usedBytes + bytes > this.limitBytes) return false;
    this.usedBytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.usedBytes -= bytes;
  }
}

/** A budget that several threads take from. */
export class SharedBudget extends MemoryBudget {
  readonly #used: BigInt64Array;

  /** @param buffer of `SharedBudget.open`; the same in all threads */
  constructor(limitBytes: number, buffer: SharedArrayBuffer) {
    super(limitBytes);
    this.#used = new BigInt64Array(buffer);
  }

  static open(): SharedArrayBuffer {
    return new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
  }

  override take(bytes: number): boolean {
    const before = Atomics.add(this.#used, 0, BigInt(bytes));
    if (Number(before) + bytes <= this.limitBytes) return true;
    Atomics.sub(this.#used, 0, BigInt(bytes));
    return false;
  }

  override give(bytes: number): void {
    Atomics.sub(this.#used, 0, BigInt(bytes));
  }
}

/** A budget with a reserve, for work that must continue when the main budget is used up. */
export class ReservedBudget extends MemoryBudget {
  readonly #rest: MemoryBudget;
  #borrowedBytes = 0;

  constructor(reserveBytes: number, rest: MemoryBudget) {
    super(reserveBytes);
    this.#rest = rest;
  }

  override take(bytes: number): boolean {
    if (super.take(bytes)) return true;
    if (!this.#rest.take(bytes)) return false;
    this.#borrowedBytes += bytes;
    return true;
  }

  override give(bytes: number): void {
    const borrowed = Math.min(bytes, this.#borrowedBytes);
    this.#borrowedBytes -= borrowed;
    this.#rest.give(borrowed);
    super.give(bytes - borrowed);
  }

  /** Gives back all that it has borrowed: nothing uses it any more. */
  release(): void {
    this.#rest.give(this.#borrowedBytes);
    this.#borrowedBytes = 0;
  }
}
