/**
 * Hashes of one-byte text: 128 bits with a seed, so that a table may hold the hash instead of the text.
 *
 * @see https://github.com/aappleby/smhasher/wiki/MurmurHash3
 */

const C1 = 0x239b961b;
const C2 = 0xab0e9789;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93;

/** The four words of the last `hash`. Module variables: a result object per statement would cost more than the hash. */
export let h1 = 0;
export let h2 = 0;
export let h3 = 0;
export let h4 = 0;

/** Hashes a one-byte string into `h1…h4`, four characters at a time, in the manner of MurmurHash3 x86-128. */
export function hash(text: string, seed: number): void {
  let a = seed;
  let b = seed;
  let c = seed;
  let d = seed;
  const length = text.length;
  const blocks = length & ~15;
  let i = 0;
  for (; i < blocks; i += 16) {
    let k = text.charCodeAt(i) | (text.charCodeAt(i + 1) << 8) | (text.charCodeAt(i + 2) << 16) | (text.charCodeAt(i + 3) << 24);
    k = Math.imul(k, C1);
    a ^= Math.imul((k << 15) | (k >>> 17), C2);
    a = Math.imul(((a << 19) | (a >>> 13)) + b, 5) + 0x561ccd1b;
    k = text.charCodeAt(i + 4) | (text.charCodeAt(i + 5) << 8) | (text.charCodeAt(i + 6) << 16) | (text.charCodeAt(i + 7) << 24);
    k = Math.imul(k, C2);
    b ^= Math.imul((k << 16) | (k >>> 16), C3);
    b = Math.imul(((b << 17) | (b >>> 15)) + c, 5) + 0x0bcaa747;
    k = text.charCodeAt(i + 8) | (text.charCodeAt(i + 9) << 8) | (text.charCodeAt(i + 10) << 16) | (text.charCodeAt(i + 11) << 24);
    k = Math.imul(k, C3);
    c ^= Math.imul((k << 17) | (k >>> 15), C4);
    c = Math.imul(((c << 15) | (c >>> 17)) + d, 5) + 0x96cd1c35;
    k = text.charCodeAt(i + 12) | (text.charCodeAt(i + 13) << 8) | (text.charCodeAt(i + 14) << 16) | (text.charCodeAt(i + 15) << 24);
    k = Math.imul(k, C4);
    d ^= Math.imul((k << 18) | (k >>> 14), C1);
    d = Math.imul(((d << 13) | (d >>> 19)) + a, 5) + 0x32ac3b17;
  }
  // The remaining characters, four at a time, into one lane after the other. The length, mixed in below, tells padding from NUL.
  for (let lane = 0; i < length; i += 4, lane++) {
    let k = text.charCodeAt(i);
    if (i + 1 < length) k |= text.charCodeAt(i + 1) << 8;
    if (i + 2 < length) k |= text.charCodeAt(i + 2) << 16;
    if (i + 3 < length) k |= text.charCodeAt(i + 3) << 24;
    if (lane === 0) {
      k = Math.imul(k, C1);
      a ^= Math.imul((k << 15) | (k >>> 17), C2);
    } else if (lane === 1) {
      k = Math.imul(k, C2);
      b ^= Math.imul((k << 16) | (k >>> 16), C3);
    } else if (lane === 2) {
      k = Math.imul(k, C3);
      c ^= Math.imul((k << 17) | (k >>> 15), C4);
    } else {
      k = Math.imul(k, C4);
      d ^= Math.imul((k << 18) | (k >>> 14), C1);
    }
  }
  finish(a ^ length, b ^ length, c ^ length, d ^ length);
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
