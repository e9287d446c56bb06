/**
 * De-duplication: statements are distinct, at a cost only where duplicates can occur.
 *
 * A rule that is disjoint from all others (plan/overlaps.ts) repeats a statement only for records with the same subject. So a triples map
 * has a `SubjectTable`: each subject, with a hash of each rule's object in the first record of that subject. A new subject needs no further
 * check. For a known subject, an object equal to the first is a repetition; any other object is looked up in the `HashSet` of statements.
 * Overlapping rules always use the set.
 *
 * What is known to be new is not looked up: a subject that is greater than all before it, and a further statement of a new subject. It gets a
 * row, and its place in the index when something else is looked up. In a document in the order of its subjects, that is never.
 *
 * Hashes have 128 bits and a random seed per run, so a collision that would lose a statement is out of reach. Tables are typed arrays and
 * share one memory budget. When it is used up they are frozen: a statement that they do not contain is *undecided* and goes to the `spill`.
 */

import { h1, h2, h3, h4, hash, mixIn } from '../../core/hash.ts';
import type { MemoryBudget } from '../../spill/budget.ts';
import { CHUNK_ROWS, KEY_WORDS, KeyTable, KNOWN, NEW, type TableMemory, UNDECIDED, type Verdict } from '../../spill/key-table.ts';
import { Ascent } from './ascent.ts';

/** The set of statements of a run, or of the rules of a triples map. */
export interface StatementSet {
  /** Adds the text. */
  add(text: string): Verdict;
  /** Adds the hash in `h1…h4`. */
  addHashed(): Verdict;
  /** Adds the hash in `h1…h4`, which the set does not have. */
  appendHashed(): Verdict;
  drop(): void;
}

/** The subjects of a triples map. Between `enter` and `leave`, what is remembered of the current subject is this record's alone. */
export type Subjects = Pick<
  SubjectTable,
  'enter' | 'leave' | 'remember' | 'firstHad' | 'rememberNumber' | 'rememberedNumber' | 'addStatement' | 'appendStatement' | 'drop'
>;

/** Subjects, each with a 64-bit hash of every remembered rule's object in the subject's first record. */
export class SubjectTable extends KeyTable {
  /** Offset of the hashes of the current subject. */
  #chunk: Uint32Array = new Uint32Array(0);
  #at = 0;
  /** Key words of the current subject. */
  #s1 = 0;
  #s2 = 0;
  #s3 = 0;
  #s4 = 0;
  /** Of the subjects that were entered as texts. */
  readonly #ascent = new Ascent();

  /** @param width number of hashes remembered per subject */
  constructor(memory: MemoryBudget | TableMemory, seed: number, width: number) {
    super(memory, seed, width * 2);
  }

  /** Looks the subject up, adds it if it is new, and makes it the current subject for the methods below. */
  enter(subject: string): Verdict {
    hash(subject, this.seed);
    // Greater than all subjects before it, so it is none of them.
    if (this.#ascent.add(subject)) return this.#makeCurrent(this.append(), NEW);
    return this.enterHashed();
  }

  /** The same for the subject whose hash is in `h1…h4`. */
  enterHashed(): Verdict {
    const found = this.find();
    return found >= 0 ? this.#makeCurrent(found, KNOWN) : this.#makeCurrent(this.put(-1 - found), NEW);
  }

  /** @param row -1: the table is full */
  #makeCurrent(row: number, verdict: typeof KNOWN | typeof NEW): Verdict {
    this.#s1 = h1;
    this.#s2 = h2;
    this.#s3 = h3;
    this.#s4 = h4;
    if (row < 0) return UNDECIDED;
    this.#chunk = this.chunks[(row / CHUNK_ROWS) | 0] as Uint32Array;
    this.#at = (row % CHUNK_ROWS) * this.rowWords + KEY_WORDS;
    return verdict;
  }

  /** The statements of the current subject have been made. */
  leave(): void {}

  /** Remembers the object of a rule for a subject that `enter` found new. */
  remember(rule: number, object: string): void {
    hash(object, this.seed);
    this.#chunk[this.#at + rule * 2] = h1;
    this.#chunk[this.#at + rule * 2 + 1] = h4;
  }

  /** Whether the subject's first record had this object. Leaves the object's hash for `addStatement`. */
  firstHad(rule: number, object: string): boolean {
    hash(object, this.seed);
    return this.#chunk[this.#at + rule * 2] === h1 >>> 0 && this.#chunk[this.#at + rule * 2 + 1] === h4 >>> 0;
  }

  /** Remembers a number, in place of an object hash, for a subject that `enter` found new. */
  rememberNumber(rule: number, number: number): void {
    this.#chunk[this.#at + rule * 2] = number;
  }

  /** The number that `rememberNumber` stored for the subject; 0 if none. */
  rememberedNumber(rule: number): number {
    return this.#chunk[this.#at + rule * 2] as number;
  }

  /** Adds the statement of the current subject, the rule and the object that was hashed last to a set. */
  addStatement(rule: number, statements: StatementSet): Verdict {
    mixIn(this.#s1, this.#s2, this.#s3, this.#s4, rule + 1);
    return statements.addHashed();
  }

  /**
   * Adds a statement of the current subject, which `enter` found new, to a set. The rule has not given the object to the subject before.
   *
   * The set does not have it: all that it has of this subject was added since `enter`, by other rules or with other objects.
   */
  appendStatement(rule: number, object: string, statements: StatementSet): Verdict {
    hash(object, this.seed);
    mixIn(this.#s1, this.#s2, this.#s3, this.#s4, rule + 1);
    return statements.appendHashed();
  }
}
