/**
 * Decodes chunks of LZMA2.
 *
 * @see https://www.7-zip.org/sdk.html (LZMA specification)
 */
import {
  ALIGN,
  afterLiteral,
  afterMatch,
  afterRep,
  afterShortRep,
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
  MOVE_BITS,
  newProbabilities,
  PROBABILITY_BITS,
  REP_LENGTH,
  SLOT,
} from './lzma.ts';

/** Most that one chunk decodes to. */
export const MOST_CHUNK_BYTES = 2 ** 21;
/** Between two moves of the window, at least a chunk and at most this much is decoded. */
const MOST_SLACK_BYTES = 2 ** 24;

/** The input contradicts the format. */
export class NotLzma extends Error {}

/** Memory: the dictionary, and up to 16 MiB. */
export class LzmaDecoder {
  readonly #dictionaryBytes: number;
  readonly #window: Buffer;
  #position = 0;
  /** How much of the window a distance may reach. */
  #reach = 0;

  #probabilities: Uint16Array | undefined;
  #lc = 0;
  #literalMask = 0;
  #positionMask = 0;
  #state = 0;
  #reps: [number, number, number, number] = [0, 0, 0, 0];
  /** Bytes since the last reset of the state's alignment. */
  #aligned = 0;

  #input: Buffer = Buffer.alloc(0);
  #at = 0;
  #range = 0;
  #code = 0;

  constructor(dictionaryBytes: number) {
    this.#dictionaryBytes = Math.max(dictionaryBytes, 4096);
    const slack = Math.max(MOST_CHUNK_BYTES, Math.min(this.#dictionaryBytes, MOST_SLACK_BYTES));
    this.#window = Buffer.allocUnsafeSlow(this.#dictionaryBytes + slack);
  }

  resetDictionary(): void {
    this.#position = 0;
    this.#reach = 0;
    this.#aligned = 0;
  }

  /** @param properties `(pb * 5 + lp) * 9 + lc`; undefined: those of before */
  resetState(properties: number | undefined): void {
    if (properties !== undefined) {
      const lc = properties % 9;
      const lp = Math.floor(properties / 9) % 5;
      const pb = Math.floor(properties / 45);
      if (pb > 4 || lc + lp > 4) throw new NotLzma('the properties of a chunk are not allowed');
      this.#lc = lc;
      this.#literalMask = (1 << lp) - 1;
      this.#positionMask = (1 << pb) - 1;
      this.#probabilities = newProbabilities(lc + lp);
    } else if (this.#probabilities === undefined) throw new NotLzma('a chunk has no properties');
    else this.#probabilities.fill(1 << (PROBABILITY_BITS - 1));
    this.#state = 0;
    this.#reps = [0, 0, 0, 0];
  }

  /** A chunk that is not compressed. The result is valid until the next call. */
  copy(content: Buffer): Buffer {
    this.#makeRoom(content.length);
    content.copy(this.#window, this.#position);
    return this.#passed(content.length);
  }

  /** The result is valid until the next call. @throws NotLzma */
  decode(input: Buffer, bytes: number): Buffer {
    if (this.#probabilities === undefined) throw new NotLzma('a chunk has no properties');
    if (input.length < 5 || input[0] !== 0) throw new NotLzma('a chunk does not begin as it should');
    this.#makeRoom(bytes);
    this.#input = input;
    this.#code = input.readUInt32BE(1);
    this.#range = 0xffffffff;
    this.#at = 5;
    this.#fill(this.#probabilities, this.#position + bytes);
    if (this.#at !== input.length || this.#code !== 0) throw new NotLzma('a chunk does not end where it should');
    return this.#passed(bytes);
  }

  #makeRoom(bytes: number): void {
    if (this.#position + bytes <= this.#window.length) return;
    const kept = Math.min(this.#reach, this.#dictionaryBytes);
    this.#window.copyWithin(0, this.#position - kept, this.#position);
    this.#position = kept;
    this.#reach = kept;
  }

  #passed(bytes: number): Buffer {
    const from = this.#position;
    this.#position += bytes;
    this.#reach += bytes;
    this.#aligned += bytes;
    return this.#window.subarray(from, this.#position);
  }

  #fill(p: Uint16Array, end: number): void {
    const window = this.#window;
    const start = this.#position;
    const positionOffset = this.#aligned - start;
    let state = this.#state;
    let [rep0, rep1, rep2, rep3] = this.#reps;
    let at = start;
    while (at < end) {
      const positionState = (at + positionOffset) & this.#positionMask;
      if (this.#bit(p, IS_MATCH + state * 16 + positionState) === 0) {
        const before = this.#reach + at - start > 0 ? (window[at - 1] as number) : 0;
        const context = (((at + positionOffset) & this.#literalMask) << this.#lc) | (before >> (8 - this.#lc));
        const probabilities = LITERAL + 0x300 * context;
        if (state >= 7) this.#check(rep0, at - start);
        window[at] = state < 7 ? this.#literal(p, probabilities) : this.#matchedLiteral(p, probabilities, window[at - rep0 - 1] as number);
        at++;
        state = afterLiteral(state);
        continue;
      }
      let length: number;
      if (this.#bit(p, IS_REP + state) === 0) {
        rep3 = rep2;
        rep2 = rep1;
        rep1 = rep0;
        length = this.#length(p, MATCH_LENGTH, positionState);
        rep0 = this.#distance(p, length);
        state = afterMatch(state);
      } else if (this.#bit(p, IS_REP_0 + state) === 0) {
        if (this.#bit(p, IS_REP_0_LONG + state * 16 + positionState) === 0) {
          this.#check(rep0, at - start);
          window[at] = window[at - rep0 - 1] as number;
          at++;
          state = afterShortRep(state);
          continue;
        }
        length = this.#length(p, REP_LENGTH, positionState);
        state = afterRep(state);
      } else {
        let distance = rep1;
        if (this.#bit(p, IS_REP_1 + state) !== 0) {
          distance = rep2;
          if (this.#bit(p, IS_REP_2 + state) !== 0) {
            distance = rep3;
            rep3 = rep2;
          }
          rep2 = rep1;
        }
        rep1 = rep0;
        rep0 = distance;
        length = this.#length(p, REP_LENGTH, positionState);
        state = afterRep(state);
      }
      this.#check(rep0, at - start);
      if (length > end - at) throw new NotLzma('a match goes beyond its chunk');
      for (const to = at + length; at < to; at++) window[at] = window[at - rep0 - 1] as number;
    }
    this.#normalise();
    this.#state = state;
    this.#reps = [rep0, rep1, rep2, rep3];
  }

  #check(distance: number, decoded: number): void {
    if (distance >= this.#dictionaryBytes || distance >= this.#reach + decoded) throw new NotLzma('a match begins before the content');
  }

  #normalise(): void {
    if (this.#range >= LEAST_RANGE) return;
    this.#range = (this.#range << 8) >>> 0;
    // Beyond the end there are zeros; that the chunk ends elsewhere is found at its end.
    this.#code = ((this.#code << 8) | (this.#input[this.#at++] ?? 0)) >>> 0;
  }

  #bit(p: Uint16Array, index: number): 0 | 1 {
    this.#normalise();
    const probability = p[index] as number;
    const bound = (this.#range >>> PROBABILITY_BITS) * probability;
    if (this.#code < bound) {
      this.#range = bound;
      p[index] = probability + (((1 << PROBABILITY_BITS) - probability) >> MOVE_BITS);
      return 0;
    }
    this.#range -= bound;
    this.#code -= bound;
    p[index] = probability - (probability >> MOVE_BITS);
    return 1;
  }

  #tree(p: Uint16Array, from: number, bits: number): number {
    let found = 1;
    for (let i = 0; i < bits; i++) found = (found << 1) | this.#bit(p, from + found);
    return found - (1 << bits);
  }

  #reverseTree(p: Uint16Array, from: number, bits: number): number {
    let node = 1;
    let found = 0;
    for (let i = 0; i < bits; i++) {
      const bit = this.#bit(p, from + node);
      node = (node << 1) | bit;
      found |= bit << i;
    }
    return found;
  }

  #direct(bits: number): number {
    let found = 0;
    for (let i = 0; i < bits; i++) {
      this.#normalise();
      this.#range >>>= 1;
      const isOne = this.#code >= this.#range;
      if (isOne) this.#code -= this.#range;
      found = found * 2 + (isOne ? 1 : 0);
    }
    return found;
  }

  #literal(p: Uint16Array, from: number): number {
    let found = 1;
    while (found < 0x100) found = (found << 1) | this.#bit(p, from + found);
    return found & 0xff;
  }

  #matchedLiteral(p: Uint16Array, from: number, matched: number): number {
    let found = 1;
    let rest = matched;
    while (found < 0x100) {
      const expected = (rest >> 7) & 1;
      rest <<= 1;
      const bit = this.#bit(p, from + ((1 + expected) << 8) + found);
      found = (found << 1) | bit;
      if (bit !== expected) {
        while (found < 0x100) found = (found << 1) | this.#bit(p, from + found);
      }
    }
    return found & 0xff;
  }

  #length(p: Uint16Array, from: number, positionState: number): number {
    if (this.#bit(p, from + CHOICE) === 0) return LEAST_LENGTH + this.#tree(p, from + LOW + positionState * 8, 3);
    if (this.#bit(p, from + CHOICE_2) === 0) return LEAST_LENGTH + 8 + this.#tree(p, from + MIDDLE + positionState * 8, 3);
    return LEAST_LENGTH + 16 + this.#tree(p, from + HIGH, 8);
  }

  #distance(p: Uint16Array, length: number): number {
    const slot = this.#tree(p, SLOT + Math.min(length - LEAST_LENGTH, 3) * 64, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const base = (2 | (slot & 1)) * 2 ** bits;
    if (slot < FIRST_DIRECT_SLOT) return base + this.#reverseTree(p, DISTANCE + base - slot, bits);
    return base + this.#direct(bits - 4) * 16 + this.#reverseTree(p, ALIGN, 4);
  }
}
