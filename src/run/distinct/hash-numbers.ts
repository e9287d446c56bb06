/** A hash table from 64-bit hashes to numbers, in one typed array: 12 bytes per slot. */

/** Part of the slots that may be in use. */
const MAX_LOAD = 0.7;
const WORDS_PER_SLOT = 3;
const SLOT_BYTES = 4 * WORDS_PER_SLOT;

const slotsFor = (count: number): number => 2 ** Math.ceil(Math.log2(Math.max(1024, count / MAX_LOAD + 1)));

/** Numbers are from 1 to 2³² − 1; 0 marks a free slot. A hash is given as two 32-bit words, `a` and `b`. */
export class HashNumbers {
  #slots: Uint32Array;
  #count = 0;

  /** @param count number of hashes for which there is room; for more, call `hasPlace` before each `set` */
  constructor(count: number) {
    this.#slots = new Uint32Array(slotsFor(count) * WORDS_PER_SLOT);
  }

  /** The memory of a table for `count` hashes. */
  static bytesFor(count: number): number {
    return slotsFor(count) * SLOT_BYTES;
  }

  /** The number of the hash; 0 if it has none. */
  get(a: number, b: number): number {
    return this.#slots[this.#find(a, b) + 2] as number;
  }

  set(a: number, b: number, number: number): void {
    const at = this.#find(a, b);
    if (this.#slots[at + 2] === 0) this.#count++;
    this.#slots[at] = a;
    this.#slots[at + 1] = b;
    this.#slots[at + 2] = number;
  }

  /** Makes room for one more hash. Returns false if the larger table would take more than `limitBytes`. */
  hasPlace(limitBytes: number): boolean {
    const old = this.#slots;
    if ((this.#count + 1) * WORDS_PER_SLOT <= old.length * MAX_LOAD) return true;
    if (old.length * 8 > limitBytes) return false;
    this.#slots = new Uint32Array(old.length * 2);
    this.#count = 0;
    for (let at = 0; at < old.length; at += WORDS_PER_SLOT) {
      if (old[at + 2] !== 0) this.set(old[at] as number, old[at + 1] as number, old[at + 2] as number);
    }
    return true;
  }

  /** The word at which the slot of the hash begins: the slot that holds it, or the free slot where it belongs. */
  #find(a: number, b: number): number {
    const slots = this.#slots;
    const mask = slots.length / WORDS_PER_SLOT - 1;
    for (let slot = b & mask; ; slot = (slot + 1) & mask) {
      const at = slot * WORDS_PER_SLOT;
      if (slots[at + 2] === 0 || (slots[at] === a && slots[at + 1] === b)) return at;
    }
  }
}
