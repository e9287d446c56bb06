/**
 * Small integers in runs and packed groups: levels, indexes of dictionaries, booleans.
 *
 * @see https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE
 */
import { BrokenParquet } from '../file/thrift.ts';

const CUT_OFF = 'a page ends within its values';

export class HybridReader {
  readonly #bytes: Buffer;
  readonly #end: number;
  readonly #width: number;
  #at: number;
  /** Values left of the run, and its value; of a packed group, bits that are not yet used. */
  #left = 0;
  #packed = false;
  #value = 0;
  #bits = 0;
  #held = 0;

  /** @param width bits of a value, up to 32 */
  constructor(bytes: Buffer, from: number, end: number, width: number) {
    if (width > 32) throw new BrokenParquet(`a page has values of ${width} bits where 32 is the most`);
    this.#bytes = bytes;
    this.#at = from;
    this.#end = end;
    this.#width = width;
  }

  /** The next values, into the beginning of `into`. */
  read(into: Uint32Array, count: number): void {
    for (let done = 0; done < count; ) {
      if (this.#left === 0) this.#next();
      const size = Math.min(this.#left, count - done);
      this.#left -= size;
      if (!this.#packed) into.fill(this.#value, done, done + size);
      else if (this.#width <= 24) this.#unpack(into, done, done + size);
      else for (let i = done; i < done + size; i++) into[i] = this.#wide();
      done += size;
    }
  }

  #next(): void {
    let head = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#byte();
      head += (byte & 127) * scale;
      if (byte < 128) break;
      if (scale > 2 ** 35) throw new BrokenParquet('a page has a run whose length does not end');
    }
    this.#packed = head % 2 === 1;
    this.#held = 0;
    this.#bits = 0;
    if (this.#packed) {
      this.#left = ((head - 1) / 2) * 8;
      // No bits: all values are 0, and bytes say nothing of how many there may be.
      if (this.#width === 0) {
        this.#packed = false;
        this.#value = 0;
      }
      return;
    }
    this.#left = head / 2;
    this.#value = 0;
    for (let scale = 1, i = 0; i < this.#width; i += 8, scale *= 256) this.#value += this.#byte() * scale;
  }

  #unpack(into: Uint32Array, from: number, to: number): void {
    const bytes = this.#bytes;
    const width = this.#width;
    const mask = (1 << width) - 1;
    const last = this.#end;
    let at = this.#at;
    let held = this.#held;
    let bits = this.#bits;
    for (let i = from; i < to; i++) {
      while (bits < width) {
        if (at >= last) throw new BrokenParquet(CUT_OFF);
        held |= (bytes[at++] as number) << bits;
        bits += 8;
      }
      into[i] = held & mask;
      held >>>= width;
      bits -= width;
    }
    this.#at = at;
    this.#held = held;
    this.#bits = bits;
  }

  #wide(): number {
    let value = 0;
    for (let bit = 0; bit < this.#width; ) {
      if (this.#bits === 0) {
        this.#held = this.#byte();
        this.#bits = 8;
      }
      const taken = Math.min(this.#bits, this.#width - bit);
      value += (this.#held & ((1 << taken) - 1)) * 2 ** bit;
      this.#held >>>= taken;
      this.#bits -= taken;
      bit += taken;
    }
    return value;
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new BrokenParquet(CUT_OFF);
    return this.#bytes[this.#at++] as number;
  }
}
