/**
 * Entries that do not fit into memory, in partitions by the hash of a key, and the one recursion over them.
 *
 * Each partition is read in a *pass*. What a pass cannot hold goes to further partitions, by other bits of the hash or by another key, and
 * these are passed over in the same way.
 */
import { partitionOf } from '../core/hash.ts';
import { detach } from '../core/text.ts';
import type { PartitionedFile } from '../storage/local/partitioned-file.ts';
import type { MemoryBudget } from './budget.ts';
import { HashSet, NEW, UNDECIDED } from './key-table.ts';
import type { SpillSpace } from './space.ts';

/** How entries are written one after another. */
export interface Format<E> {
  /** Different entries have different texts. */
  textOf(entry: E): string;
  /** The entries at the beginning of a text that are complete, and where they end. */
  entriesIn(text: string): { readonly entries: readonly E[]; readonly end: number };
}

/** Lines, including their line feeds. */
export const LINES: Format<string> = {
  textOf: (line) => line,
  entriesIn(text) {
    const entries: string[] = [];
    let at = 0;
    for (let end = text.indexOf('\n') + 1; end > 0; end = text.indexOf('\n', at) + 1) {
      entries.push(text.slice(at, end));
      at = end;
    }
    return { entries, end: at };
  },
};

export type Pair = readonly [key: string, text: string];

export const PAIRS: Format<Pair> = {
  textOf: ([key, text]) => `${key.length}:${text.length}:${key}${text}`,
  entriesIn(text) {
    const entries: Pair[] = [];
    let at = 0;
    while (true) {
      const first = text.indexOf(':', at);
      const second = first < 0 ? -1 : text.indexOf(':', first + 1);
      if (second < 0) break;
      const keyEnd = second + 1 + Number(text.slice(at, first));
      const end = keyEnd + Number(text.slice(first + 1, second));
      if (end > text.length) break;
      entries.push([text.slice(second + 1, keyEnd), text.slice(keyEnd, end)]);
      at = end;
    }
    return { entries, end: at };
  },
};

const keyOfPair = ([key]: Pair): string => key;

/** Reads the entries of a text, in batches. */
export async function* entriesOf<E>(pieces: AsyncIterable<string>, { entriesIn }: Format<E>): AsyncIterable<readonly E[]> {
  let rest = '';
  for await (const piece of pieces) {
    const text = rest + piece;
    const { entries, end } = entriesIn(text);
    rest = text.slice(end);
    if (entries.length > 0) yield entries;
  }
}

export const PARTITIONS = 32;

/** The seed of the next level, which selects other bits of a hash. */
export const nextSeed = (seed: number): number => (seed + 0x9e3779b1) | 0;

/** What is known of a partition without reading it. */
interface Content {
  readonly partition: number;
  characters: number;
  entries: number;
  /** The key of its first entry. */
  readonly key: string;
  /** Whether another entry has another key. */
  several: boolean;
}

/** Entries in partitions: equal keys are in the same partition of all that have the same seed and number of partitions. */
export class Partitions<E> {
  readonly seed: number;
  readonly format: Format<E>;
  readonly keyOf: (entry: E) => string;
  readonly count: number;
  readonly #space: SpillSpace;
  readonly #contents: (Content | undefined)[];
  #file: PartitionedFile | undefined;
  /** That of the last entry. */
  #content: Content | undefined;
  #key: string | undefined;

  constructor(space: SpillSpace, seed: number, format: Format<E>, keyOf: (entry: E) => string, count = PARTITIONS) {
    this.#space = space;
    this.seed = seed;
    this.format = format;
    this.keyOf = keyOf;
    this.count = count;
    this.#contents = new Array(count).fill(undefined);
  }

  static ofPairs(space: SpillSpace, seed: number): Partitions<Pair> {
    return new Partitions(space, seed, PAIRS, keyOfPair);
  }

  /** Without entries, for those of this that are partitioned again. */
  next(keyOf: (entry: E) => string = this.keyOf, count: number = this.count): Partitions<E> {
    return new Partitions(this.#space, nextSeed(this.seed), this.format, keyOf, count);
  }

  /** A table for entries that are read back; its seed is independent of that of the partitions. */
  tableFor(budget: MemoryBudget): HashSet {
    return new HashSet(budget, this.seed ^ 0x5bd1e995);
  }

  add(entry: E, key: string = this.keyOf(entry)): void {
    const text = this.format.textOf(entry);
    const content = this.#contentOf(key);
    content.characters += text.length;
    content.entries++;
    this.#file ??= this.#space.partitioned(this.count);
    this.#space.add(this.#file, content.partition, text);
  }

  /** Writes the full buffers of the space. @throws Fault sink/failed */
  flush(): Promise<void> {
    return this.#space.flush();
  }

  partitionOf(key: string): number {
    return partitionOf(key, this.seed, this.count);
  }

  contentOf(partition: number): Readonly<Content> | undefined {
    return this.#contents[partition];
  }

  isEmpty(partition: number): boolean {
    return this.#contents[partition] === undefined;
  }

  /** The key of all entries, if they have only one. */
  get onlyKey(): string | undefined {
    const [first, ...others] = this.#contents.filter((content) => content !== undefined);
    return first === undefined || first.several || others.length > 0 ? undefined : first.key;
  }

  /** The entries of a partition in the order in which they were added, in batches. */
  async *read(partition: number): AsyncIterable<readonly E[]> {
    if (this.#file !== undefined) yield* entriesOf(this.#file.read(partition), this.format);
  }

  async drop(partition: number): Promise<void> {
    this.#contents[partition] = undefined;
    this.#key = undefined;
    await this.#file?.drop(partition);
  }

  /** Removes everything that was added. */
  async remove(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#key = undefined;
    this.#contents.fill(undefined);
    if (file !== undefined) await this.#space.release(file);
  }

  #contentOf(key: string): Content {
    if (this.#content !== undefined && key === this.#key) return this.#content;
    const partition = this.partitionOf(key);
    const known = this.#contents[partition];
    const content = known ?? { partition, characters: 0, entries: 0, key: detach(key), several: false };
    if (known === undefined) this.#contents[partition] = content;
    else known.several ||= known.key !== key;
    this.#content = content;
    this.#key = key;
    return content;
  }
}

type Side = Pick<Partitions<unknown>, 'count' | 'isEmpty' | 'drop' | 'remove'>;

/** Entries that are passed over together: a pass reads one partition of the first, and what it needs of the others. */
type Sides = readonly [Side, ...Side[]];

/**
 * Reads a partition. Returns what is to be passed over next: the entries that it could not hold, by other bits or by another key, so that
 * there is an end. undefined: there are none.
 */
export type Pass<S extends Sides, T> = (partition: number, sides: S) => AsyncGenerator<T, S | undefined, undefined>;

/** What the passes over a partition of the first side give. The partition is removed before the next level, unless it is kept. */
export async function* passOver<S extends Sides, T>(sides: S, partition: number, pass: Pass<S, T>, keep = false): AsyncGenerator<T, void> {
  if (sides[0].isEmpty(partition)) return;
  const left = yield* pass(partition, sides);
  // Before the next level opens its own files: neither files nor descriptors accumulate.
  if (!keep) await sides[0].drop(partition);
  if (left === undefined) return;
  try {
    yield* drain(left, pass);
  } finally {
    for (const side of left) await side.remove();
  }
}

/** The same for all partitions. */
export async function* drain<S extends Sides, T>(sides: S, pass: Pass<S, T>): AsyncGenerator<T, void> {
  for (let partition = 0; partition < sides[0].count; partition++) yield* passOver(sides, partition, pass);
}

/**
 * A pass that gives each entry once, in batches.
 *
 * @param wanted called with each entry of `all`: whether it is given; those of the next levels are
 */
export const eachOnce = <E>(
  budget: MemoryBudget,
  all?: Partitions<E>,
  wanted?: (entry: E) => boolean,
): Pass<[Partitions<E>], readonly E[]> =>
  async function* (partition, [entries]) {
    const { textOf } = entries.format;
    const isWanted = entries === all ? wanted : undefined;
    const seen = entries.tableFor(budget);
    const left = entries.next(textOf);
    for await (const batch of entries.read(partition)) {
      const fresh: E[] = [];
      for (const entry of batch) {
        if (isWanted?.(entry) === false) continue;
        const verdict = seen.add(textOf(entry));
        if (verdict === NEW) fresh.push(entry);
        else if (verdict === UNDECIDED) left.add(entry);
      }
      await entries.flush();
      yield fresh;
    }
    seen.drop();
    return [left];
  };
