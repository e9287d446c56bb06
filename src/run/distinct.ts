/**
 * De-duplication: statements are distinct, and that is paid for only where duplicates can happen.
 *
 * A rule that is apart from all others (plan/partitions.ts) repeats a statement only for records with the same subject. So a
 * triples map keeps a `SubjectTable`: each subject and, of the first record that had it, a hash of each rule's object. A new
 * subject needs no further look; of a known one, an object equal to the first is a repetition, and only another one is looked
 * up in the `HashSet` of statements. Rules that others can meet go to the set at once.
 *
 * Hashes have 128 bits and a seed of the run, so no statement is lost to a collision. Tables live in typed arrays and take
 * their memory from one budget. When it is used up they are frozen: what they do not know is *undecided* and goes to `spill`.
 */

/** Bytes that the tables of a run may hold together. */
export class MemoryBudget {
  readonly limitBytes: number;
  usedBytes = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /** False when the budget does not allow `bytes` more; nothing is taken then. */
  take(bytes: number): boolean {
    if (this.usedBytes + bytes > this.limitBytes) return false;
    this.usedBytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.usedBytes -= bytes;
  }
}

// ---------------------------------------------------------------- hashing

const C1 = 0x239b961b;
const C2 = 0xab0e9789;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93;

/** The four words of the last `hash`. Module variables, since a result object for each statement would cost more than the hash. */
let h1 = 0;
let h2 = 0;
let h3 = 0;
let h4 = 0;

/** Hashes a one-byte string into `h1…h4`, four characters a step, after the scheme of MurmurHash3 x86-128. */
function hash(text: string, seed: number): void {
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
  // The rest, four characters at a time into one lane after the other; the length below tells padding from NUL.
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
  // A word that is never zero tells a used slot from a free one.
  h4 = d | 1;
}

function scramble(word: number): number {
  let w = word ^ (word >>> 16);
  w = Math.imul(w, 0x85ebca6b);
  w ^= w >>> 13;
  w = Math.imul(w, 0xc2b2ae35);
  return w ^ (w >>> 16);
}

// ---------------------------------------------------------------- tables

export const KNOWN = 0;
export const NEW = 1;
/** The table is full and does not hold it: it may be new, or may have been undecided before. */
export const UNDECIDED = 2;
export type Verdict = typeof KNOWN | typeof NEW | typeof UNDECIDED;

const SLOT_WORDS = 4;
const SLOT_BYTES = SLOT_WORDS * 4;
const FIRST_SLOTS = 1024;

/** Open addressing over 128-bit keys in one typed array; grows by doubling while the budget allows, then is frozen. */
class KeyTable {
  protected slots = FIRST_SLOTS;
  protected words: Uint32Array = new Uint32Array(FIRST_SLOTS * SLOT_WORDS);
  protected count = 0;
  protected frozen = false;
  protected readonly budget: MemoryBudget;
  protected readonly seed: number;
  #takenBytes = 0;

  constructor(budget: MemoryBudget, seed: number) {
    this.budget = budget;
    this.seed = seed;
  }

  /** Gives the memory back; the table is empty and usable afterwards. */
  drop(): void {
    this.budget.give(this.#takenBytes);
    this.#takenBytes = 0;
    this.slots = FIRST_SLOTS;
    this.words = new Uint32Array(FIRST_SLOTS * SLOT_WORDS);
    this.count = 0;
    this.frozen = false;
  }

  protected take(bytes: number): boolean {
    if (!this.budget.take(bytes)) return false;
    this.#takenBytes += bytes;
    return true;
  }

  /** The slot of the key in `h1…h4`, or `-1 - slot` of the free slot where it belongs. */
  protected find(): number {
    const { words } = this;
    const mask = this.slots - 1;
    let slot = h1 & mask;
    while (true) {
      const at = slot * SLOT_WORDS;
      const last = words[at + 3] as number;
      if (last === 0) return -1 - slot;
      if (last === h4 >>> 0 && words[at] === h1 >>> 0 && words[at + 1] === h2 >>> 0 && words[at + 2] === h3 >>> 0) return slot;
      slot = (slot + 1) & mask;
    }
  }

  protected put(slot: number): void {
    const at = slot * SLOT_WORDS;
    this.words[at] = h1;
    this.words[at + 1] = h2;
    this.words[at + 2] = h3;
    this.words[at + 3] = h4;
    this.count++;
  }

  /** Room for one more key; false when the table is frozen. A table that grew has moved its slots. */
  protected reserve(): 'as-is' | 'moved' | 'full' {
    if (this.frozen) return 'full';
    if (this.count < this.slots * 0.7) return 'as-is';
    const more = this.slots * SLOT_BYTES;
    if (!this.take(more)) {
      this.frozen = true;
      return 'full';
    }
    this.grow();
    return 'moved';
  }

  protected grow(): void {
    const old = this.words;
    const slots = this.slots * 2;
    const words = new Uint32Array(slots * SLOT_WORDS);
    const mask = slots - 1;
    for (let from = 0; from < old.length; from += SLOT_WORDS) {
      if (old[from + 3] === 0) continue;
      let slot = (old[from] as number) & mask;
      while (words[slot * SLOT_WORDS + 3] !== 0) slot = (slot + 1) & mask;
      const to = slot * SLOT_WORDS;
      words[to] = old[from] as number;
      words[to + 1] = old[from + 1] as number;
      words[to + 2] = old[from + 2] as number;
      words[to + 3] = old[from + 3] as number;
      this.moved(from / SLOT_WORDS, slot, slots);
    }
    this.words = words;
    this.slots = slots;
    this.settled();
  }

  /** A key moved from slot to slot while growing to `slots`; called between the last use of the old slots and `settled`. */
  protected moved(_from: number, _to: number, _slots: number): void {}
  protected settled(): void {}
}

/** A set of texts, by hash. */
export class HashSet extends KeyTable {
  /** Adds the text. */
  add(text: string): Verdict {
    hash(text, this.seed);
    return this.addHashed();
  }

  /** Adds what `h1…h4` hold. */
  addHashed(): Verdict {
    let slot = this.find();
    if (slot >= 0) return KNOWN;
    const room = this.reserve();
    if (room === 'full') return UNDECIDED;
    if (room === 'moved') slot = this.find();
    this.put(-1 - slot);
    return NEW;
  }
}

const LOG_ROWS = 4096;

/** Subjects, and of the first record of each a 64-bit hash of every rule's object. */
export class SubjectTable extends KeyTable {
  /** Hashes remembered for each subject. */
  readonly #width: number;
  /** By slot: the row of the log. */
  #rows: Uint32Array = new Uint32Array(FIRST_SLOTS);
  #grown: Uint32Array | undefined;
  #log: Uint32Array[] = [];
  #row = 0;
  /** Key words of the subject looked up last. */
  #s1 = 0;
  #s2 = 0;
  #s3 = 0;
  #s4 = 0;

  constructor(budget: MemoryBudget, seed: number, width: number) {
    super(budget, seed);
    this.#width = width;
  }

  override drop(): void {
    super.drop();
    this.#rows = new Uint32Array(FIRST_SLOTS);
    this.#log = [];
  }

  /** Looks the subject up, and adds it when it is new: the rule methods below are about this subject until the next call. */
  enter(subject: string): Verdict {
    hash(subject, this.seed);
    this.#s1 = h1;
    this.#s2 = h2;
    this.#s3 = h3;
    this.#s4 = h4;
    let slot = this.find();
    if (slot >= 0) {
      this.#row = this.#rows[slot] as number;
      return KNOWN;
    }
    if (this.#width > 0 && this.count % LOG_ROWS === 0 && !this.frozen) {
      if (this.take(LOG_ROWS * this.#width * 8)) this.#log.push(new Uint32Array(LOG_ROWS * this.#width * 2));
      else this.frozen = true;
    }
    const room = this.reserve();
    if (room === 'full') return UNDECIDED;
    if (room === 'moved') {
      h1 = this.#s1;
      h2 = this.#s2;
      h3 = this.#s3;
      h4 = this.#s4;
      slot = this.find();
    }
    this.#row = this.count;
    this.#rows[-1 - slot] = this.#row;
    this.put(-1 - slot);
    return NEW;
  }

  /** Remembers the object of a rule for the subject that `enter` found new. */
  remember(rule: number, object: string): void {
    hash(object, this.seed);
    const chunk = this.#log[Math.floor(this.#row / LOG_ROWS)] as Uint32Array;
    const at = ((this.#row % LOG_ROWS) * this.#width + rule) * 2;
    chunk[at] = h1;
    chunk[at + 1] = h4;
  }

  /** Whether the subject's first record had this object; leaves the object's hash for `addStatement`. */
  firstHad(rule: number, object: string): boolean {
    hash(object, this.seed);
    const chunk = this.#log[Math.floor(this.#row / LOG_ROWS)] as Uint32Array;
    const at = ((this.#row % LOG_ROWS) * this.#width + rule) * 2;
    return chunk[at] === h1 >>> 0 && chunk[at + 1] === h4 >>> 0;
  }

  /** Adds the statement of this subject, the rule and the object hashed last to a set. */
  addStatement(rule: number, statements: HashSet): Verdict {
    finish(
      h1 ^ Math.imul(this.#s1, C1),
      h2 ^ Math.imul(this.#s2, C2) ^ Math.imul(rule + 1, C4),
      h3 ^ Math.imul(this.#s3, C3),
      Math.imul(h4, C2) ^ Math.imul(this.#s4, C4),
    );
    return statements.addHashed();
  }

  protected override moved(from: number, to: number, slots: number): void {
    this.#grown ??= new Uint32Array(slots);
    this.#grown[to] = this.#rows[from] as number;
  }

  protected override settled(): void {
    this.#rows = this.#grown ?? new Uint32Array(this.slots);
    this.#grown = undefined;
  }
}

/** A number below `partitions` that the text always gives with this seed; independent of the slots of a table with another seed. */
export function partitionOf(text: string, seed: number, partitions: number): number {
  hash(text, seed);
  return (h2 >>> 0) % partitions;
}
