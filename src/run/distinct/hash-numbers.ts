/** Hashes with a number each; 0 is no number. */
export class HashNumbers {
  #slots: Uint32Array;
  #count = 0;

  /** For at most `count` hashes. */
  constructor(count: number) {
    this.#slots = new Uint32Array(slotsFor(count) * 3);
  }

  /** The number of the hash, 0 where it has none. */
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

  /** Makes place for one more, as long as all of it takes no more than `limitBytes`. */
  hasPlace(limitBytes: number): boolean {
    const old = this.#slots;
    if ((this.#count + 1) * 3 <= old.length * MAX_LOAD) return true;
    if (old.length * 8 > limitBytes) return false;
    this.#slots = new Uint32Array(old.length * 2);
    this.#count = 0;
    for (let at = 0; at < old.length; at += 3) {
      if (old[at + 2] !== 0) this.set(old[at] as number, old[at + 1] as number, old[at + 2] as number);
    }
    return true;
  }

  #find(a: number, b: number): number {
    const slots = this.#slots;
    const mask = slots.length / 3 - 1;
    for (let slot = b & mask; ; slot = (slot + 1) & mask) {
      const at = slot * 3;
      if (slots[at + 2] === 0 || (slots[at] === a && slots[at + 1] === b)) return at;
    }
  }
}

const MAX_LOAD = 0.7;
export const slotsFor = (count: number): number => 2 ** Math.ceil(Math.log2(Math.max(1024, count / MAX_LOAD + 1)));
