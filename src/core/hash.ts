/**
 * Hashes of one-byte text: 128 bits with a seed, so that a table may hold the hash instead of the text.
 *
 * @see https://github.com/aappleby/smhasher/wiki/MurmurHash3
 */

/** Another one whenever the same text has another hash: interrupted writes and slices of different versions must not be combined. */
export const HASH_VERSION = 2;

const C1 = 0x239b961b;
const C2 = 0xab0e9789;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93;

/** The four words of the last `hash`. Module variables: a result object per statement would cost more than the hash. */
export let h1 = 0;
export let h2 = 0;
export let h3 = 0;
export let h4 = 0;

/**
 * Hashes a one-byte string into `h1…h4`, in rounds of sixteen characters: those of MurmurHash3 x86-128, followed by sums of the lanes. The
 * last round is padded with zeros; the length, mixed in at the end, tells padding from NUL.
 *
 * **Claim.** Two texts that differ in few words of four characters collide with odds of 2^-96 or better.
 *
 * **Why.** A round is invertible, in the state and in each of its words: texts that differ in one round only never collide, and a difference
 * of states does not vanish without another differing word. A word that differs leaves differences in at least two lanes: the first in `a`,
 * `b` and `c`, the second in `b` and `c`, the third in `a`, `c` and `d`, the fourth in `b`, `c` and `d`. In the next round these reach three
 * lanes or more, and each of them has to become equal again, which one of 2^32 values does. Several words of one round can undo the
 * difference of a lane, for one more such condition each.
 *
 * MurmurHash3 itself does not mix its last characters: there, a word of the last full round and the word sixteen characters behind it change
 * one lane alone, and texts that differ in both collide with odds of 2^-32.
 */
export function hash(text: string, seed: number): void {
  let a = seed;
  let b = seed;
  let c = seed;
  let d = seed;
  const length = text.length;
  for (let i = 0; i < length; i += 16) {
    let k1 = 0;
    let k2 = 0;
    let k3 = 0;
    let k4 = 0;
    const rest = length - i;
    if (rest >= 16) {
      k1 = text.charCodeAt(i) | (text.charCodeAt(i + 1) << 8) | (text.charCodeAt(i + 2) << 16) | (text.charCodeAt(i + 3) << 24);
      k2 = text.charCodeAt(i + 4) | (text.charCodeAt(i + 5) << 8) | (text.charCodeAt(i + 6) << 16) | (text.charCodeAt(i + 7) << 24);
      k3 = text.charCodeAt(i + 8) | (text.charCodeAt(i + 9) << 8) | (text.charCodeAt(i + 10) << 16) | (text.charCodeAt(i + 11) << 24);
      k4 = text.charCodeAt(i + 12) | (text.charCodeAt(i + 13) << 8) | (text.charCodeAt(i + 14) << 16) | (text.charCodeAt(i + 15) << 24);
    } else {
      // One test for each character: loops over the words take a tenth longer.
      k1 = text.charCodeAt(i);
      if (rest > 1) k1 |= text.charCodeAt(i + 1) << 8;
      if (rest > 2) k1 |= text.charCodeAt(i + 2) << 16;
      if (rest > 3) k1 |= text.charCodeAt(i + 3) << 24;
      if (rest > 4) k2 = text.charCodeAt(i + 4);
      if (rest > 5) k2 |= text.charCodeAt(i + 5) << 8;
      if (rest > 6) k2 |= text.charCodeAt(i + 6) << 16;
      if (rest > 7) k2 |= text.charCodeAt(i + 7) << 24;
      if (rest > 8) k3 = text.charCodeAt(i + 8);
      if (rest > 9) k3 |= text.charCodeAt(i + 9) << 8;
      if (rest > 10) k3 |= text.charCodeAt(i + 10) << 16;
      if (rest > 11) k3 |= text.charCodeAt(i + 11) << 24;
      if (rest > 12) k4 = text.charCodeAt(i + 12);
      if (rest > 13) k4 |= text.charCodeAt(i + 13) << 8;
      if (rest > 14) k4 |= text.charCodeAt(i + 14) << 16;
    }
    k1 = Math.imul(k1, C1);
    a ^= Math.imul((k1 << 15) | (k1 >>> 17), C2);
    a = (Math.imul(((a << 19) | (a >>> 13)) + b, 5) + 0x561ccd1b) | 0;
    k2 = Math.imul(k2, C2);
    b ^= Math.imul((k2 << 16) | (k2 >>> 16), C3);
    b = (Math.imul(((b << 17) | (b >>> 15)) + c, 5) + 0x0bcaa747) | 0;
    k3 = Math.imul(k3, C3);
    c ^= Math.imul((k3 << 17) | (k3 >>> 15), C4);
    c = (Math.imul(((c << 15) | (c >>> 17)) + d, 5) + 0x96cd1c35) | 0;
    k4 = Math.imul(k4, C4);
    d ^= Math.imul((k4 << 18) | (k4 >>> 14), C1);
    d = (Math.imul(((d << 13) | (d >>> 19)) + a, 5) + 0x32ac3b17) | 0;
    a = (a + c) | 0;
    b = (b + d) | 0;
    c = (c + b) | 0;
    d = (d + a) | 0;
  }
  finish(a ^ length, b ^ length, c ^ length, d ^ length);
}

/** As `hash`, for the bytes of a text in [`from`, `to`): the same bytes give the same hash. Takes a third of the time for long texts. */
export function hashBytes(bytes: DataView, from: number, to: number, seed: number): void {
  let a = seed;
  let b = seed;
  let c = seed;
  let d = seed;
  for (let i = from; i < to; i += 16) {
    const rest = to - i;
    let k1 = rest >= 4 ? bytes.getInt32(i, true) : wordOf(bytes, i, rest);
    let k2 = rest >= 8 ? bytes.getInt32(i + 4, true) : wordOf(bytes, i + 4, rest - 4);
    let k3 = rest >= 12 ? bytes.getInt32(i + 8, true) : wordOf(bytes, i + 8, rest - 8);
    let k4 = rest >= 16 ? bytes.getInt32(i + 12, true) : wordOf(bytes, i + 12, rest - 12);
    k1 = Math.imul(k1, C1);
    a ^= Math.imul((k1 << 15) | (k1 >>> 17), C2);
    a = (Math.imul(((a << 19) | (a >>> 13)) + b, 5) + 0x561ccd1b) | 0;
    k2 = Math.imul(k2, C2);
    b ^= Math.imul((k2 << 16) | (k2 >>> 16), C3);
    b = (Math.imul(((b << 17) | (b >>> 15)) + c, 5) + 0x0bcaa747) | 0;
    k3 = Math.imul(k3, C3);
    c ^= Math.imul((k3 << 17) | (k3 >>> 15), C4);
    c = (Math.imul(((c << 15) | (c >>> 17)) + d, 5) + 0x96cd1c35) | 0;
    k4 = Math.imul(k4, C4);
    d ^= Math.imul((k4 << 18) | (k4 >>> 14), C1);
    d = (Math.imul(((d << 13) | (d >>> 19)) + a, 5) + 0x32ac3b17) | 0;
    a = (a + c) | 0;
    b = (b + d) | 0;
    c = (c + b) | 0;
    d = (d + a) | 0;
  }
  const length = to - from;
  finish(a ^ length, b ^ length, c ^ length, d ^ length);
}

/** The first bytes of a word, up to three. */
function wordOf(bytes: DataView, at: number, count: number): number {
  let word = 0;
  for (let i = 0; i < count; i++) word |= bytes.getUint8(at + i) << (8 * i);
  return word;
}

function finish(wordA: number, wordB: number, wordC: number, wordD: number): void {
  let a = (wordA + wordB + wordC + wordD) | 0;
  let b = scramble((wordB + a) | 0);
  let c = scramble((wordC + a) | 0);
  let d = scramble((wordD + a) | 0);
  a = scramble(a);
  a = (a + b + c + d) | 0;
  b = (b + a) | 0;
  c = (c + a) | 0;
  d = (d + a) | 0;
  h1 = a;
  h2 = b;
  h3 = c;
  h4 = d;
}

function scramble(word: number): number {
  let w = word ^ (word >>> 16);
  w = Math.imul(w, 0x85ebca6b);
  w ^= w >>> 13;
  w = Math.imul(w, 0xc2b2ae35);
  return w ^ (w >>> 16);
}

/** Sets `h1…h4` to a hash that was made before. */
export function setHash(word1: number, word2: number, word3: number, word4: number): void {
  h1 = word1;
  h2 = word2;
  h3 = word3;
  h4 = word4;
}

/** Hashes two texts as one into `h1…h4`. */
export function hashPair(first: string, second: string, seed: number): void {
  hash(first, seed);
  const [a, b, c, d] = [h1, h2, h3, h4];
  hash(second, seed);
  finish(h1 ^ Math.imul(a, C1), h2 ^ Math.imul(b, C2), h3 ^ Math.imul(c, C3), h4 ^ Math.imul(d, C4));
}

/** Mixes four words and a number into `h1…h4`. */
export function mixIn(a: number, b: number, c: number, d: number, number: number): void {
  finish(h1 ^ Math.imul(a, C1), h2 ^ Math.imul(b, C2) ^ Math.imul(number, C4), h3 ^ Math.imul(c, C3), Math.imul(h4, C2) ^ Math.imul(d, C4));
}

/** Stores 64 bits of the text's hash in two words of `to`. */
export function hashInto(text: string, seed: number, to: Uint32Array, at: number): void {
  hash(text, seed);
  to[at] = h1;
  to[at + 1] = h2;
}

/**
 * The partition of a text, below `partitions`: the same for the same text and seed, and independent of the slots of a table with another
 * seed.
 */
export function partitionOf(text: string, seed: number, partitions: number): number {
  hash(text, seed);
  return (h2 >>> 0) % partitions;
}

const FILTER_BITS = 2 ** 23;

/** A set of texts in 1 MiB. It takes some other texts for members: one of 2,000 when it has 100,000, and one of 20 when it has a million. */
export class TextFilter {
  readonly #bits = new Uint8Array(FILTER_BITS / 8);
  #isEmpty = true;

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  add(text: string): void {
    this.#isEmpty = false;
    hash(text, FILTER_SEED);
    this.#set(h1);
    this.#set(h2);
  }

  has(text: string): boolean {
    hash(text, FILTER_SEED);
    return this.#isSet(h1) && this.#isSet(h2);
  }

  #set(word: number): void {
    const bit = word & (FILTER_BITS - 1);
    this.#bits[bit >>> 3] = (this.#bits[bit >>> 3] as number) | (1 << (bit & 7));
  }

  #isSet(word: number): boolean {
    const bit = word & (FILTER_BITS - 1);
    return (((this.#bits[bit >>> 3] as number) >>> (bit & 7)) & 1) === 1;
  }
}

const FILTER_SEED = 0x51ed270b;
