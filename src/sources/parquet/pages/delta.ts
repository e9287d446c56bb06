/**
 * Integers as differences: blocks of miniblocks, each with its own width. Values are made one at a time.
 *
 * @see https://parquet.apache.org/docs/file-format/data-pages/encodings/#DELTAENC
 */
import { BrokenParquet } from '../file/thrift.ts';

const MAX_MINIBLOCKS = 1 << 16;

export class DeltaReader {
  /** Number of values by the header. */
  readonly count: number;
  readonly #bytes: Buffer;
  readonly #end: number;
  readonly #bits: 32 | 64;
  readonly #miniblocks: number;
  readonly #miniblockValues: number;
  #at: number;
  #given = 0;
  #last: number | bigint;
  #least: number | bigint = 0;
  /** Offset of the widths of the block, and the miniblock that is read. */
  #widths = 0;
  #miniblock: number;
  #width = 0;
  /** Bit position of the next difference, from `#packedAt` on. */
  #packedAt = 0;
  #inMiniblock = 0;

  constructor(bytes: Buffer, from: number, end: number, bits: 32 | 64) {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = end;
    this.#bits = bits;
    const blockValues = Number(this.#varint());
    this.#miniblocks = Number(this.#varint());
    this.count = Number(this.#varint());
    this.#last = this.#zigzag();
    this.#miniblockValues = blockValues / this.#miniblocks;
    if (this.#miniblocks === 0 || this.#miniblocks > MAX_MINIBLOCKS || this.#miniblockValues % 8 !== 0 || this.#miniblockValues === 0)
      throw new BrokenParquet('a page of differences has blocks of no valid size');
    this.#miniblock = this.#miniblocks;
    this.#inMiniblock = this.#miniblockValues;
  }

  next(): number | bigint {
    if (this.#given >= this.count) throw new BrokenParquet('a page has fewer differences than values');
    if (this.#given++ === 0) return this.#last;
    if (this.#inMiniblock >= this.#miniblockValues) this.#nextMiniblock();
    const difference = this.#difference();
    const last = this.#last;
    if (typeof last === 'number' && typeof difference === 'number' && typeof this.#least === 'number') {
      const value = last + this.#least + difference;
      if (this.#bits === 32) return (this.#last = value | 0);
      if (Number.isSafeInteger(value)) return (this.#last = value);
    }
    const value = BigInt.asIntN(this.#bits, BigInt(last) + BigInt(this.#least) + BigInt(difference));
    this.#last = Number.isSafeInteger(Number(value)) ? Number(value) : value;
    return this.#last;
  }

  /** Offset behind all values. No value has been read, and none can be read any more. */
  endOffset(): number {
    if (this.count <= 1) return this.#at;
    for (let values = 1; values < this.count; values += this.#miniblockValues) this.#nextMiniblock();
    // The last miniblock that has values is written in full, those behind it are not there.
    return this.#packedAt + (this.#miniblockValues * this.#width) / 8;
  }

  #nextMiniblock(): void {
    if (this.#width > 0 || this.#packedAt > 0) this.#at = this.#packedAt + (this.#miniblockValues * this.#width) / 8;
    if (++this.#miniblock >= this.#miniblocks) {
      this.#least = this.#zigzag();
      this.#widths = this.#at;
      this.#at += this.#miniblocks;
      this.#miniblock = 0;
    }
    const width = this.#widths + this.#miniblock < this.#end ? (this.#bytes[this.#widths + this.#miniblock] as number) : 65;
    this.#packedAt = this.#at;
    if (width > this.#bits || this.#packedAt + Math.ceil(width / 8) > this.#end)
      throw new BrokenParquet('a page of differences is damaged or ends too early');
    this.#width = width;
    this.#inMiniblock = 0;
  }

  #difference(): number | bigint {
    const width = this.#width;
    const bit = this.#inMiniblock++ * width;
    if (width === 0) return 0;
    let at = this.#packedAt + (bit >> 3);
    let skipped = bit & 7;
    if (at + Math.ceil((skipped + width) / 8) > this.#end) throw new BrokenParquet('a page ends within its values');
    const wide = width > 52;
    let low = 0;
    let high = 0n;
    for (let done = 0; done < width; ) {
      const taken = Math.min(8 - skipped, width - done);
      const part = ((this.#bytes[at++] as number) >> skipped) & ((1 << taken) - 1);
      if (wide) high |= BigInt(part) << BigInt(done);
      else low += part * 2 ** done;
      done += taken;
      skipped = 0;
    }
    return wide ? high : low;
  }

  #varint(): bigint | number {
    let value = 0;
    let high = 0n;
    for (let i = 0; i < 10; i++) {
      if (this.#at >= this.#end) throw new BrokenParquet('a page ends within its values');
      const byte = this.#bytes[this.#at++] as number;
      if (i < 7) value += (byte & 127) * 128 ** i;
      else high |= BigInt(byte & 127) << BigInt(7 * i);
      if (byte < 128) return high === 0n ? value : BigInt.asUintN(64, high | BigInt(value));
    }
    throw new BrokenParquet('a page has a number that does not end');
  }

  #zigzag(): number | bigint {
    const value = this.#varint();
    if (typeof value === 'number') return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    const signed = (value >> 1n) ^ -(value & 1n);
    return Number.isSafeInteger(Number(signed)) ? Number(signed) : signed;
  }
}
