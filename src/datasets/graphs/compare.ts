/**
 * Compares two graphs: the statements that only one of them has.
 *
 * Both are logs with an index (`graph-log.ts`). The entries of a partition of both are compared by the hash of their subject. **Claim.** Where the two graphs
 * have the same set of blocks for a hash, they have the same statements of its subjects. **Proof.** A block's hash stands for its text, and the
 * statements of a subject are the lines of its blocks. Subjects whose hashes are equal are compared together. Elsewhere the texts of all blocks of
 * the hash are read, and compared line by line.
 */
import { join } from 'node:path';
import { TextFilter } from '../../core/hash.ts';
import { subjectAt } from '../../nquads/terms.ts';
import { type Fold, TaggedLines } from '../tagged-lines.ts';
import { ENTRY_BYTES, ENTRY_WORDS, type Graph, PARTITIONS } from './graph-log.ts';

/** Takes complete lines, each a statement. Each statement comes once, unless said otherwise. */
export interface ChangeSink {
  added(lines: readonly string[]): void | Promise<void>;
  removed(lines: readonly string[]): void | Promise<void>;
  /** What a property graph needs beside the changes: see `FileKind`. A statement may come several times. */
  kept?(lines: readonly string[]): void | Promise<void>;
  /** Every statement of the new graph. */
  whole?(lines: readonly string[]): void | Promise<void>;
}

export interface CompareOptions {
  /** For temporary files; used by nothing else. */
  readonly directory: string;
  readonly memoryBudgetBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** Bytes of a subject's entry in memory, beside the entry itself. */
const OVERHEAD_BYTES = 96;
const MOST_PASSES = 64;
/** So many statements are handed on together. */
const BATCH = 4096;

const OLD = 1;
const NEW = 2;

/**
 * Writes the difference between two graphs to `sink`.
 *
 * @param before undefined: the empty graph
 * @throws Fault sink/failed, source/unreadable; the reason of `signal`
 */
export async function compareGraphs(
  before: Graph | undefined,
  after: Graph,
  sink: ChangeSink,
  { directory, memoryBudgetBytes, signal }: CompareOptions,
): Promise<void> {
  const triples = sink.kept === undefined ? undefined : new TextFilter();
  const out = new Batches(sink, triples);
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const passes = passesOf(before, after, partition, memoryBudgetBytes);
    for (let pass = 0; pass < passes; pass++) {
      signal?.throwIfAborted();
      const limit = limitOf(passes, memoryBudgetBytes);
      const old = entriesOf(before, partition, pass, passes, limit);
      const fresh = entriesOf(after, partition, pass, passes, limit);
      const lines = (): TaggedLines => new TaggedLines(join(directory, 'lines'), memoryBudgetBytes);
      if (old === undefined || fresh === undefined) await compareLines(before, after, partition, pass, passes, lines(), out);
      else await compareEntries(new Side(before, old), new Side(after, fresh), lines, memoryBudgetBytes, out, signal);
    }
  }
  // A filter that takes other triples for members keeps more statements than needed.
  if (triples !== undefined && !triples.isEmpty) {
    for (const text of after.text()) {
      signal?.throwIfAborted();
      out.kept(linesOf(text).filter((line) => hasOneOf(line, triples)));
      if (out.full) await out.flush();
    }
  }
  await out.flush();
}

/**
 * Hashes of the subjects of which the blocks of two graphs differ: `bitsOf` with the seed of the graphs. A hash may come several times. Where a
 * statement is in one graph alone, its subject is among them; subjects with the same statements in other blocks may be, too. No text is read.
 */
export function* differingSubjects(before: Graph, after: Graph, memoryBudgetBytes: number): Generator<number> {
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const passes = passesOf(before, after, partition, memoryBudgetBytes);
    for (let pass = 0; pass < passes; pass++) {
      const limit = limitOf(passes, memoryBudgetBytes);
      const old = entriesOf(before, partition, pass, passes, limit);
      const fresh = entriesOf(after, partition, pass, passes, limit);
      if (old === undefined || fresh === undefined) {
        for (const graph of [before, after])
          for (const piece of graph.entries(partition)) for (let at = 0; at < piece.length; at += ENTRY_WORDS) yield piece[at] as number;
        break;
      }
      const [left, right] = [new Side(before, old), new Side(after, fresh)];
      for (const [key, head] of left.heads) if (!right.heads.has(key)) yield left.bitsOf(head);
      for (const [key, head] of right.heads) if (!hasSameBlocks(left, right, key, head)) yield right.bitsOf(head);
    }
  }
}

const passesOf = (before: Graph | undefined, after: Graph, partition: number, memoryBudgetBytes: number): number => {
  const bytes = ((before?.count(partition) ?? 0) + after.count(partition)) * (ENTRY_BYTES + OVERHEAD_BYTES);
  return Math.min(MOST_PASSES, Math.max(1, Math.ceil(bytes / memoryBudgetBytes)));
};

/** Of entries. */
const limitOf = (passes: number, memoryBudgetBytes: number): number =>
  passes === MOST_PASSES ? Math.ceil(memoryBudgetBytes / (ENTRY_BYTES + OVERHEAD_BYTES)) : Number.POSITIVE_INFINITY;

/** The entries of a pass over a partition; undefined: there are more than `limit`. */
function entriesOf(graph: Graph | undefined, partition: number, pass: number, passes: number, limit: number): Uint32Array | undefined {
  if (graph === undefined) return new Uint32Array(0);
  const found = new Uint32Array(Math.min(limit, graph.count(partition)) * ENTRY_WORDS);
  let used = 0;
  for (const piece of graph.entries(partition)) {
    for (let at = 0; at < piece.length; at += ENTRY_WORDS) {
      if (passes > 1 && passOf(piece, at, passes) !== pass) continue;
      if (used === found.length) return undefined;
      found.set(piece.subarray(at, at + ENTRY_WORDS), used);
      used += ENTRY_WORDS;
    }
  }
  return found.subarray(0, used);
}

const passOf = (entries: Uint32Array, at: number, passes: number): number => (entries[at + 1] as number) % passes;

/** The entries of a graph, by subject. */
class Side {
  readonly graph: Graph | undefined;
  readonly entries: Uint32Array;
  /** Hash of the subject → its last entry. */
  readonly heads = new Map<number, number>();
  /** Entry → the one before it of the same subject, or -1. */
  readonly #next: Int32Array;

  constructor(graph: Graph | undefined, entries: Uint32Array) {
    this.graph = graph;
    this.entries = entries;
    const count = entries.length / ENTRY_WORDS;
    this.#next = new Int32Array(count);
    for (let entry = 0; entry < count; entry++) {
      const key = subjectOf(entries, entry);
      this.#next[entry] = this.heads.get(key) ?? -1;
      this.heads.set(key, entry);
    }
  }

  /** The blocks of a subject, each once: hash of the text → entry. */
  blocksOf(key: number): ReadonlyMap<string, number> {
    const blocks = new Map<string, number>();
    for (let entry = this.heads.get(key) ?? -1; entry >= 0; entry = this.#next[entry] as number) blocks.set(this.#hashOf(entry), entry);
    return blocks;
  }

  /** The first word of the subject's hash. */
  bitsOf(entry: number): number {
    return this.entries[entry * ENTRY_WORDS] as number;
  }

  /** The only entry of a subject; -1: it has several. */
  onlyOf(head: number): number {
    return (this.#next[head] as number) < 0 ? head : -1;
  }

  text(entry: number): string {
    return (this.graph as Graph).block(this.entries, entry * ENTRY_WORDS);
  }

  length(entry: number): number {
    return this.entries[entry * ENTRY_WORDS + 7] as number;
  }

  isEqual(entry: number, other: Side, otherEntry: number): boolean {
    const [a, b] = [this.entries, other.entries];
    const [i, j] = [entry * ENTRY_WORDS, otherEntry * ENTRY_WORDS];
    return a[i + 2] === b[j + 2] && a[i + 3] === b[j + 3] && a[i + 4] === b[j + 4] && a[i + 7] === b[j + 7];
  }

  #hashOf(entry: number): string {
    const at = entry * ENTRY_WORDS;
    return `${this.entries[at + 2]} ${this.entries[at + 3]} ${this.entries[at + 4]}`;
  }
}

/** 53 bits of the subject's hash: subjects with equal ones are compared together. */
const subjectOf = (entries: Uint32Array, entry: number): number =>
  (entries[entry * ENTRY_WORDS] as number) * 2 ** 21 + ((entries[entry * ENTRY_WORDS + 1] as number) >>> 11);

async function compareEntries(
  before: Side,
  after: Side,
  openLines: () => TaggedLines,
  memoryBudgetBytes: number,
  out: Batches,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const [key, head] of before.heads) {
    if (after.heads.has(key)) continue;
    await compareSubject(before, before.blocksOf(key), after, NONE, openLines, memoryBudgetBytes, out);
    if (head % BATCH === 0) signal?.throwIfAborted();
  }
  for (const [key, head] of after.heads) {
    if (head % BATCH === 0) signal?.throwIfAborted();
    if (!hasSameBlocks(before, after, key, head))
      await compareSubject(before, before.blocksOf(key), after, after.blocksOf(key), openLines, memoryBudgetBytes, out);
    else if (out.wantsWhole) await writeWhole(after, after.blocksOf(key), openLines, memoryBudgetBytes, out);
  }
}

/** @param head of the subject in `after` */
function hasSameBlocks(before: Side, after: Side, key: number, head: number): boolean {
  const old = before.heads.get(key);
  if (old === undefined) return false;
  const [one, other] = [after.onlyOf(head), before.onlyOf(old)];
  if (one >= 0 && other >= 0) return after.isEqual(one, before, other);
  const fresh = after.blocksOf(key);
  const known = before.blocksOf(key);
  return known.size === fresh.size && [...fresh.keys()].every((block) => known.has(block));
}

const NONE: ReadonlyMap<string, number> = new Map();

const lengthOf = (side: Side, blocks: ReadonlyMap<string, number>): number =>
  [...blocks.values()].reduce((sum, entry) => sum + side.length(entry), 0);

/** A string and its entry in a set take about three times its characters. */
const fits = (characters: number, memoryBudgetBytes: number): boolean => characters * 3 <= memoryBudgetBytes;

async function compareSubject(
  before: Side,
  old: ReadonlyMap<string, number>,
  after: Side,
  fresh: ReadonlyMap<string, number>,
  openLines: () => TaggedLines,
  memoryBudgetBytes: number,
  out: Batches,
): Promise<void> {
  if (!fits(lengthOf(before, old) + lengthOf(after, fresh), memoryBudgetBytes)) {
    const lines = openLines();
    for (const entry of old.values()) await lines.add(before.text(entry), OLD);
    for (const entry of fresh.values()) await lines.add(after.text(entry), NEW);
    return drainInto(lines, out);
  }
  const had = new Set<string>();
  for (const entry of old.values()) addLines(had, before.text(entry));
  const has = new Set<string>();
  for (const entry of fresh.values()) addLines(has, after.text(entry));
  const removed = [...had].filter((line) => !has.has(line));
  out.removed(removed);
  out.added([...has].filter((line) => !had.has(line)));
  if (removed.length > 0) out.kept([...has].filter((line) => had.has(line)));
  out.whole([...has]);
  if (out.full) await out.flush();
}

/** All lines of the entries of a pass, which are too many for memory. */
async function compareLines(
  before: Graph | undefined,
  after: Graph,
  partition: number,
  pass: number,
  passes: number,
  lines: TaggedLines,
  out: Batches,
): Promise<void> {
  const add = async (graph: Graph, tag: number): Promise<void> => {
    for (const piece of graph.entries(partition)) {
      for (let at = 0; at < piece.length; at += ENTRY_WORDS) {
        if (passOf(piece, at, passes) === pass) await lines.add(graph.block(piece, at), tag);
      }
    }
  };
  if (before !== undefined) await add(before, OLD);
  await add(after, NEW);
  await drainInto(lines, out);
}

const union: Fold = (state, tag) => state | tag;

async function drainInto(lines: TaggedLines, out: Batches): Promise<void> {
  for await (const batch of lines.drain(union)) {
    for (const [line, state] of batch) {
      if (state === OLD) out.removed([line]);
      else {
        if (state === NEW) out.added([line]);
        else out.kept([line]);
        out.whole([line]);
      }
      if (out.full) await out.flush();
    }
  }
  await lines.remove();
}

async function writeWhole(
  after: Side,
  blocks: ReadonlyMap<string, number>,
  openLines: () => TaggedLines,
  memoryBudgetBytes: number,
  out: Batches,
): Promise<void> {
  if (fits(lengthOf(after, blocks), memoryBudgetBytes)) {
    const has = new Set<string>();
    for (const entry of blocks.values()) addLines(has, after.text(entry));
    out.whole([...has]);
  } else {
    const lines = openLines();
    for (const entry of blocks.values()) await lines.add(after.text(entry), NEW);
    for await (const batch of lines.drain(union)) {
      out.whole(batch.map(([line]) => line));
      if (out.full) await out.flush();
    }
    await lines.remove();
  }
  if (out.full) await out.flush();
}

function addLines(to: Set<string>, text: string): void {
  for (const line of linesOf(text)) to.add(line);
}

function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at) + 1;
    lines.push(text.slice(at, end));
    at = end;
  }
  return lines;
}

/** Statements on their way to the sink. */
class Batches {
  readonly wantsWhole: boolean;
  readonly #sink: ChangeSink;
  readonly #triples: TextFilter | undefined;
  #added: string[] = [];
  #removed: string[] = [];
  #kept: string[] = [];
  #whole: string[] = [];

  /** @param triples takes those of removed statements */
  constructor(sink: ChangeSink, triples: TextFilter | undefined) {
    this.#sink = sink;
    this.#triples = triples;
    this.wantsWhole = sink.whole !== undefined;
  }

  get full(): boolean {
    return this.#added.length + this.#removed.length + this.#kept.length + this.#whole.length >= BATCH;
  }

  added(lines: readonly string[]): void {
    for (const line of lines) this.#added.push(line);
  }

  removed(lines: readonly string[]): void {
    for (const line of lines) {
      this.#removed.push(line);
      if (this.#triples !== undefined) for (const triple of triplesIn(line)) this.#triples.add(triple);
    }
  }

  kept(lines: readonly string[]): void {
    if (this.#sink.kept !== undefined) for (const line of lines) this.#kept.push(line);
  }

  whole(lines: readonly string[]): void {
    if (this.wantsWhole) for (const line of lines) this.#whole.push(line);
  }

  async flush(): Promise<void> {
    if (this.#added.length > 0) await this.#sink.added(this.#added);
    if (this.#removed.length > 0) await this.#sink.removed(this.#removed);
    if (this.#kept.length > 0) await this.#sink.kept?.(this.#kept);
    if (this.#whole.length > 0) await this.#sink.whole?.(this.#whole);
    this.#added = [];
    this.#removed = [];
    this.#kept = [];
    this.#whole = [];
  }
}

/** The triples that a line has as terms. What looks like one within a literal counts as one. */
export function* triplesIn(line: string): Generator<string> {
  for (let at = line.indexOf('<< '); at >= 0; at = line.indexOf('<< ', at + 1)) yield subjectAt(line, at);
}

function hasOneOf(line: string, triples: TextFilter): boolean {
  for (const triple of triplesIn(line)) if (triples.has(triple)) return true;
  return false;
}
