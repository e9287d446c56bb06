/**
 * Encodes chunks of LZMA2: at each place the longest match is taken. For statements of N-Quads, files are as large as those of
 * `xz -0`.
 *
 * @see https://www.7-zip.org/sdk.html (LZMA specification)
 */
import {
  ALIGN,
  afterLiteral,
  afterMatch,
  afterRep,
  CHOICE,
  CHOICE_2,
  DISTANCE,
  FIRST_DIRECT_SLOT,
  HIGH,
  IS_MATCH,
  IS_REP,
  IS_REP_0,
  IS_REP_0_LONG,
  IS_REP_1,
  IS_REP_2,
  LEAST_LENGTH,
  LEAST_RANGE,
  LITERAL,
  LOW,
  MATCH_LENGTH,
  MIDDLE,
  MOST_LENGTH,
  MOVE_BITS,
  newProbabilities,
  PROBABILITY_BITS,
  REP_LENGTH,
  SLOT,
} from '../../storage/packed/lzma.ts';

/** 4 MiB, as `2 << (DICTIONARY_CODE / 2 + 11)`. */
export const DICTIONARY_CODE = 20;
const DICTIONARY_BYTES = 2 ** 22;
/** The window moves each time when this much was encoded. */
const SLACK_BYTES = 2 ** 22;
const MOST_CHUNK_BYTES = 2 ** 21;
/** A chunk has at most 64 KiB; the last symbol and the end of the range coder need a few bytes. */
const MOST_CODED_BYTES = 2 ** 16 - 64;

/** Text has no alignment: `pb` and `lp` are 0, `lc` is 3. */
const LC = 3;
export const PROPERTIES = LC;

const HASH_BITS = 17;
const LEAST_MATCH = 4;
/** How many earlier places with the same hash are tried. */
const MOST_TRIES = 12;
const GOOD_LENGTH = 64;

export interface LzmaChunk {
  readonly bytes: number;
  /** Valid until the next chunk. */
  readonly coded: Buffer;
}

/** Memory: 40 MiB. */
export class LzmaEncoder {
  readonly #window = Buffer.alloc(DICTIONARY_BYTES + SLACK_BYTES);
  readonly #heads = new Int32Array(1 << HASH_BITS).fill(-1);
  /** The place before with the same hash. */
  readonly #before = new Int32Array(DICTIONARY_BYTES + SLACK_BYTES);
  #filled = 0;
  #encoded = 0;

  readonly #probabilities = newProbabilities(LC);
  #state = 0;
  #reps: [number, number, number, number] = [0, 0, 0, 0];

  readonly #out = Buffer.alloc(2 ** 16);
  #outLength = 0;
  #low = 0;
  #range = 0xffffffff;
  #cache = 0;
  #cacheSize = 1;

  /** Takes as much of `content` as there is room for, and returns how much that was. */
  add(content: Buffer): number {
    if (this.#filled === this.#window.length) this.#move();
    const taken = content.copy(this.#window, this.#filled);
    this.#filled += taken;
    return taken;
  }

  /** The next chunk of what was added; undefined: there is nothing left, or less than the longest match needs while more may come. */
  next(isEnd: boolean): LzmaChunk | undefined {
    const end = isEnd ? this.#filled : this.#filled - MOST_LENGTH;
    if (this.#encoded >= end) return undefined;
    const start = this.#encoded;
    this.#outLength = 0;
    this.#low = 0;
    this.#range = 0xffffffff;
    this.#cache = 0;
    this.#cacheSize = 1;
    while (
      this.#encoded < end &&
      this.#encoded - start < MOST_CHUNK_BYTES - MOST_LENGTH &&
      this.#outLength + this.#cacheSize < MOST_CODED_BYTES
    ) {
      this.#encodeNext();
    }
    for (let i = 0; i < 5; i++) this.#shiftLow();
    return { bytes: this.#encoded - start, coded: this.#out.subarray(0, this.#outLength) };
  }

  /** Only when everything but the longest match was encoded. */
  #move(): void {
    const by = this.#encoded - DICTIONARY_BYTES;
    this.#window.copyWithin(0, by, this.#filled);
    this.#before.copyWithin(0, by, this.#filled);
    this.#filled -= by;
    this.#encoded -= by;
    for (let i = 0; i < this.#filled; i++) this.#before[i] = Math.max((this.#before[i] as number) - by, -1);
    for (let i = 0; i < this.#heads.length; i++) this.#heads[i] = Math.max((this.#heads[i] as number) - by, -1);
  }

  #encodeNext(): void {
    const at = this.#encoded;
    const most = Math.min(MOST_LENGTH, this.#filled - at);
    const reps = this.#reps;
    let rep = -1;
    let length = 0;
    for (let i = 0; i < 4; i++) {
      const found = this.#commonLength(at, (reps[i] as number) + 1, most);
      if (found > length) [rep, length] = [i, found];
    }
    let distance = 0;
    if (length < GOOD_LENGTH) {
      const match = this.#longest(at, most, Math.max(length + 1, LEAST_MATCH - 1));
      if (match >= 0) {
        distance = match;
        length = this.#commonLength(at, distance + 1, most);
        rep = -1;
      }
    }
    if (rep >= 0 && length < LEAST_LENGTH) rep = -1;
    if (rep >= 0) this.#encodeRep(rep, length);
    else if (length >= LEAST_MATCH) this.#encodeMatch(distance, length);
    else {
      this.#encodeLiteral(at);
      length = 1;
    }
    for (let i = at; i < at + length; i++) this.#remember(i);
    this.#encoded = at + length;
  }

  #hash(at: number): number {
    const window = this.#window;
    const word =
      (window[at] as number) | ((window[at + 1] as number) << 8) | ((window[at + 2] as number) << 16) | ((window[at + 3] as number) << 24);
    return Math.imul(word, 0x9e3779b1) >>> (32 - HASH_BITS);
  }

  #remember(at: number): void {
    if (at + LEAST_MATCH > this.#filled) return;
    const hash = this.#hash(at);
    this.#before[at] = this.#heads[hash] as number;
    this.#heads[hash] = at;
  }

  #commonLength(at: number, distance: number, most: number): number {
    if (distance > at) return 0;
    const window = this.#window;
    let length = 0;
    while (length < most && window[at + length] === window[at - distance + length]) length++;
    return length;
  }

  /** The distance, from 0, of the longest match that is longer than `least`; -1: there is none. */
  #longest(at: number, most: number, least: number): number {
    if (most < LEAST_MATCH) return -1;
    const window = this.#window;
    let best = least;
    let found = -1;
    let candidate = this.#heads[this.#hash(at)] as number;
    for (let tries = 0; tries < MOST_TRIES && candidate >= 0 && at - candidate <= DICTIONARY_BYTES; tries++) {
      if (best < most && window[candidate + best] === window[at + best]) {
        const length = this.#commonLength(at, at - candidate, most);
        if (length > best) {
          best = length;
          found = at - candidate - 1;
          if (length >= GOOD_LENGTH) break;
        }
      }
      candidate = this.#before[candidate] as number;
    }
    return found;
  }

  #encodeLiteral(at: number): void {
    const p = this.#probabilities;
    this.#bit(p, IS_MATCH + this.#state * 16, 0);
    const value = this.#window[at] as number;
    const before = at > 0 ? (this.#window[at - 1] as number) : 0;
    const from = LITERAL + 0x300 * (before >> (8 - LC));
    let node = 1;
    let matched = this.#state < 7 ? -1 : (this.#window[at - this.#reps[0] - 1] as number);
    for (let i = 7; i >= 0; i--) {
      const bit = (value >> i) & 1;
      const expected = matched < 0 ? 0 : (matched >> i) & 1;
      this.#bit(p, matched < 0 ? from + node : from + ((1 + expected) << 8) + node, bit);
      if (bit !== expected) matched = -1;
      node = (node << 1) | bit;
    }
    this.#state = afterLiteral(this.#state);
  }

  #encodeMatch(distance: number, length: number): void {
    const p = this.#probabilities;
    this.#bit(p, IS_MATCH + this.#state * 16, 1);
    this.#bit(p, IS_REP + this.#state, 0);
    this.#encodeLength(MATCH_LENGTH, length);
    this.#encodeDistance(distance, length);
    this.#reps = [distance, this.#reps[0], this.#reps[1], this.#reps[2]];
    this.#state = afterMatch(this.#state);
  }

  #encodeRep(rep: number, length: number): void {
    const p = this.#probabilities;
    const [rep0, rep1, rep2, rep3] = this.#reps;
    this.#bit(p, IS_MATCH + this.#state * 16, 1);
    this.#bit(p, IS_REP + this.#state, 1);
    this.#bit(p, IS_REP_0 + this.#state, rep === 0 ? 0 : 1);
    if (rep === 0) this.#bit(p, IS_REP_0_LONG + this.#state * 16, 1);
    else {
      this.#bit(p, IS_REP_1 + this.#state, rep === 1 ? 0 : 1);
      if (rep > 1) this.#bit(p, IS_REP_2 + this.#state, rep - 2);
      this.#reps = rep === 1 ? [rep1, rep0, rep2, rep3] : rep === 2 ? [rep2, rep0, rep1, rep3] : [rep3, rep0, rep1, rep2];
    }
    this.#encodeLength(REP_LENGTH, length);
    this.#state = afterRep(this.#state);
  }

  #encodeLength(from: number, length: number): void {
    const p = this.#probabilities;
    const value = length - LEAST_LENGTH;
    this.#bit(p, from + CHOICE, value < 8 ? 0 : 1);
    if (value >= 8) this.#bit(p, from + CHOICE_2, value < 16 ? 0 : 1);
    if (value < 8) this.#tree(from + LOW, 3, value);
    else if (value < 16) this.#tree(from + MIDDLE, 3, value - 8);
    else this.#tree(from + HIGH, 8, value - 16);
  }

  #encodeDistance(distance: number, length: number): void {
    const top = 31 - Math.clz32(distance);
    const slot = distance < 4 ? distance : top * 2 + ((distance >>> (top - 1)) & 1);
    this.#tree(SLOT + Math.min(length - LEAST_LENGTH, 3) * 64, 6, slot);
    if (slot < 4) return;
    const bits = (slot >> 1) - 1;
    const base = (2 | (slot & 1)) << bits;
    const rest = distance - base;
    if (slot < FIRST_DIRECT_SLOT) this.#reverseTree(DISTANCE + base - slot, bits, rest);
    else {
      for (let i = bits - 1; i >= 4; i--) this.#direct((rest >>> i) & 1);
      this.#reverseTree(ALIGN, 4, rest & 15);
    }
  }

  #tree(from: number, bits: number, value: number): void {
    let node = 1;
    for (let i = bits - 1; i >= 0; i--) {
      const bit = (value >> i) & 1;
      this.#bit(this.#probabilities, from + node, bit);
      node = (node << 1) | bit;
    }
  }

  #reverseTree(from: number, bits: number, value: number): void {
    let node = 1;
    for (let i = 0; i < bits; i++) {
      const bit = (value >> i) & 1;
      this.#bit(this.#probabilities, from + node, bit);
      node = (node << 1) | bit;
    }
  }

  #bit(p: Uint16Array, index: number, bit: number): void {
    const probability = p[index] as number;
    const bound = (this.#range >>> PROBABILITY_BITS) * probability;
    if (bit === 0) {
      this.#range = bound;
      p[index] = probability + (((1 << PROBABILITY_BITS) - probability) >> MOVE_BITS);
    } else {
      this.#low += bound;
      this.#range -= bound;
      p[index] = probability - (probability >> MOVE_BITS);
    }
    if (this.#range < LEAST_RANGE) this.#widen();
  }

  #direct(bit: number): void {
    this.#range >>>= 1;
    if (bit !== 0) this.#low += this.#range;
    if (this.#range < LEAST_RANGE) this.#widen();
  }

  #widen(): void {
    this.#range = (this.#range << 8) >>> 0;
    this.#shiftLow();
  }

  /** A byte is held back until it is known whether a carry changes it. */
  #shiftLow(): void {
    if (this.#low < 0xff000000 || this.#low >= 2 ** 32) {
      const carry = this.#low >= 2 ** 32 ? 1 : 0;
      for (let value = this.#cache; this.#cacheSize > 0; this.#cacheSize--, value = 0xff) this.#out[this.#outLength++] = value + carry;
      this.#cache = (this.#low >>> 24) & 0xff;
    }
    this.#cacheSize++;
    this.#low = (this.#low & 0x00ffffff) * 256;
  }
}
