/**
 * Memory that is used again for the next bytes. Pages and windows live so long that V8 moves them to its old generation: a new buffer for each
 * would have the whole heap marked every few megabytes.
 */
export class ReusedBytes {
  #memory: Buffer = Buffer.alloc(0);
  #from = 0;
  #to = 0;

  get length(): number {
    return this.#to - this.#from;
  }

  /** The bytes that it holds, until it is given more. */
  get bytes(): Buffer {
    return this.#memory.subarray(this.#from, this.#to);
  }

  /** Bytes behind those that it holds. */
  add(bytes: Buffer): void {
    const length = this.length + bytes.length;
    if (this.#to + bytes.length > this.#memory.length) {
      const memory = length > this.#memory.length ? Buffer.allocUnsafeSlow(length) : this.#memory;
      this.#memory.copy(memory, 0, this.#from, this.#to);
      this.#to -= this.#from;
      this.#from = 0;
      this.#memory = memory;
    }
    bytes.copy(this.#memory, this.#to);
    this.#to += bytes.length;
  }

  /** Leaves out the first bytes. */
  drop(count: number): void {
    this.#from = Math.min(this.#to, this.#from + count);
    if (this.#from === this.#to) this.clear();
  }

  clear(): void {
    this.#from = 0;
    this.#to = 0;
  }

  /** Other bytes in place of those that it holds. */
  replace(...parts: readonly Buffer[]): Buffer {
    this.clear();
    for (const part of parts) this.add(part);
    return this.bytes;
  }
}
