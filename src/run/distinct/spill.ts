/** Statements that no table of a run could decide: they go to files, and each is given once at the end. */
import { h1, h2, h3, h4, hash, mixIn } from '../../core/hash.ts';
import type { MemoryBudget } from '../../spill/budget.ts';
import { HashSet, KNOWN, NEW, UNDECIDED, type Verdict } from '../../spill/key-table.ts';
import { drain, eachOnce, LINES, PARTITIONS, Partitions } from '../../spill/partitions.ts';
import type { SpillSpace } from '../../spill/space.ts';
import type { PartitionedFile } from '../../storage/local/partitioned-file.ts';

/** Lines that no table could decide, including their line feeds. */
export class LineSpill extends Partitions<string> {
  constructor(space: SpillSpace, seed: number) {
    super(space, seed, LINES, LINES.textOf);
  }

  /** Every distinct line, in batches. */
  async *drain(budget: MemoryBudget): AsyncIterable<readonly string[]> {
    yield* drain<[Partitions<string>], readonly string[]>([this], eachOnce(budget));
    await this.remove();
  }
}

/**
 * A value of a rule, for `SubjectSpill.add`. Neither line feeds nor carriage returns are in terms of N-Quads. Most records have one value of each rule.
 *
 * @param rule its number
 * @param before that of the value before it; -1: it is the first
 */
export const valueText = (rule: number, value: string, before: number): string =>
  rule === before + 1 && before >= 0 ? `${value}\n` : `${CR}${rule} ${value}\n`;

/** Writes the statements of a rule. */
export interface RuleWriter {
  /** Adds a statement to its output. */
  write(subject: string, value: string): void;
  /** The line of a statement, with the mark of its output. */
  lineOf(subject: string, value: string): string;
}

/** Of a record: the hash of its subject in four words, and the number of characters of its text. */
const HEAD_WORDS = 5;
const HEAD_BYTES = 4 * HEAD_WORDS;
/** Statements that are made before a check whether something must be written. */
const BATCH_STATEMENTS = 64;
const LF = '\n';
const CR = '\r';
/** That of `CR`. */
const NEXT_RULE = 13;
const SPACE = 32;
const ZERO = 48;

/**
 * Statements of records whose subject no table could decide, as values of rules: the text around a value is the same for all of a rule, and most of
 * a line. Only values of repeated subjects are compared.
 *
 * **Claim.** Two statements are the same if subject, rule and value are, and only then.
 *
 * **Proof.** A rule that is distinct by `subject` overlaps with no other one (`plan/overlaps.ts`), so equal statements are of one rule. The predicate, the graph and
 * the text around its values are constant, and a line begins with its subject.
 *
 * Hashes of subjects and texts are in separate files: what a partition repeats is known before its texts are read, once.
 */
export class SubjectSpill {
  readonly #space: SpillSpace;
  readonly #seed: number;
  #heads: PartitionedFile | undefined;
  #texts: PartitionedFile | undefined;
  /** Partitions with entries. */
  readonly #used = new Set<number>();

  constructor(space: SpillSpace, seed: number) {
    this.#space = space;
    this.#seed = seed;
  }

  /** Adds the values of one record, of which each rule has different ones. @param values of `valueText` */
  add(subject: string, values: string): void {
    hash(subject, this.#seed);
    // A table finds its slots by the first word.
    const partition = (h4 >>> 0) % PARTITIONS;
    this.#used.add(partition);
    this.#heads ??= this.#space.partitioned(PARTITIONS);
    this.#texts ??= this.#space.partitioned(PARTITIONS);
    const length = subject.length + 1 + values.length;
    this.#space.add(this.#heads, partition, wordText(h1) + wordText(h2) + wordText(h3) + wordText(h4) + wordText(length));
    this.#space.add(this.#texts, partition, subject + LF + values);
  }

  /**
   * Adds every distinct statement to its output, while what it gives is consumed. Those that the budget leaves undecided go to `lines`.
   *
   * @param writers by number of a rule
   */
  async *drain(budget: MemoryBudget, lines: LineSpill, writers: readonly RuleWriter[]): AsyncIterable<Iterable<''>> {
    const [heads, texts] = [this.#heads, this.#texts];
    if (heads === undefined || texts === undefined) return;
    for (const partition of this.#used) {
      const [subjects, repeated, seen] = [0, 1, 2].map((i) => new HashSet(budget, this.#seed + i)) as [HashSet, HashSet, HashSet];
      for await (const words of headsOf(heads.read(partition)))
        for (let i = 0; i < words.length; i += HEAD_WORDS) if (isKnown(subjects, words, i)) isKnown(repeated, words, i);
      const pieces = texts.read(partition)[Symbol.asyncIterator]();
      let text = '';
      for await (const words of headsOf(heads.read(partition))) {
        for (let from = 0; from < words.length; ) {
          let [to, length] = [from, 0];
          while (to < words.length && length + lengthAt(words, to) <= text.length) {
            length += lengthAt(words, to);
            to += HEAD_WORDS;
          }
          if (to > from) yield this.#made(text, words.subarray(from, to), { subjects, repeated, seen }, lines, writers);
          text = text.slice(length);
          from = to;
          if (to === words.length) break;
          const { value, done } = await pieces.next();
          if (done === true) throw new Error('a spill file has fewer texts than heads');
          text += value;
        }
      }
      for (const set of [subjects, repeated, seen]) set.drop();
      await heads.drop(partition);
      await texts.drop(partition);
    }
    for (const file of [heads, texts]) await this.#space.release(file);
  }

  /** Makes the statements of records. */
  *#made(
    text: string,
    words: Int32Array,
    { subjects, repeated, seen }: Readonly<Record<'subjects' | 'repeated' | 'seen', HashSet>>,
    lines: LineSpill,
    writers: readonly RuleWriter[],
  ): Iterable<''> {
    let statements = 0;
    for (let i = 0, at = 0; i < words.length; i += HEAD_WORDS) {
      const end = at + lengthAt(words, i);
      // A subject that did not fit in memory may be repeated.
      const compares = repeated.full || !has(subjects, words, i) || has(repeated, words, i);
      const subject = text.slice(at, text.indexOf(LF, at));
      at += subject.length + 1;
      for (let rule = 0; at < end; rule++) {
        if (text.charCodeAt(at) === NEXT_RULE) {
          rule = 0;
          for (let code = text.charCodeAt(++at); code !== SPACE; code = text.charCodeAt(++at)) rule = rule * 10 + code - ZERO;
          at++;
        }
        const value = text.slice(at, text.indexOf(LF, at));
        at += value.length + 1;
        const writer = writers[rule] as RuleWriter;
        const verdict = compares ? this.#addTo(seen, words, i, rule, value) : NEW;
        if (verdict === NEW) writer.write(subject, value);
        else if (verdict === UNDECIDED) lines.add(writer.lineOf(subject, value));
        if (++statements % BATCH_STATEMENTS === 0) yield '';
      }
    }
    yield '';
  }

  #addTo(seen: HashSet, words: Int32Array, i: number, rule: number, value: string): Verdict {
    hash(value, this.#seed);
    mixIn(words[i] as number, words[i + 1] as number, words[i + 2] as number, words[i + 3] as number, rule);
    return seen.addHashed();
  }
}

const wordText = (word: number): string =>
  String.fromCharCode(word & 0xff, (word >>> 8) & 0xff, (word >>> 16) & 0xff, (word >>> 24) & 0xff);

/** The words of complete heads. */
async function* headsOf(pieces: AsyncIterable<string>): AsyncIterable<Int32Array> {
  let rest = '';
  for await (const piece of pieces) {
    const bytes = Buffer.from(rest + piece, 'latin1');
    const words = new Int32Array(Math.floor(bytes.length / HEAD_BYTES) * HEAD_WORDS);
    for (let i = 0; i < words.length; i++) words[i] = bytes.readInt32LE(4 * i);
    rest = bytes.toString('latin1', 4 * words.length);
    yield words;
  }
}

const lengthAt = (words: Int32Array, i: number): number => words[i + HEAD_WORDS - 1] as number;

/** Adds the subject of a head to a set. @returns whether the set had it */
const isKnown = (set: HashSet, words: Int32Array, i: number): boolean =>
  set.addWords(words[i] as number, words[i + 1] as number, words[i + 2] as number, words[i + 3] as number) === KNOWN;

const has = (set: HashSet, words: Int32Array, i: number): boolean =>
  set.hasWords(words[i] as number, words[i + 1] as number, words[i + 2] as number, words[i + 3] as number);
