/**
 * A join is an index filled by a scan: subjects of the parent by key, distinct. A child that is read after its parent asks the
 * index record by record; one that is read before or with it (or in a cycle) leaves its distinct subjects by key, and the pairs
 * are made when both sides are complete. Never a nested loop. Beyond the budget both sides go to partitioned files.
 */
import type { Text } from '../terms/generate.ts';
import { detach } from '../text.ts';
import { HashSet, KNOWN, MemoryBudget, NEW } from './distinct.ts';
import { PairSpill, type SpillSpace } from './spill.ts';

/** What an entry of a map and a string cost beside their characters, roughly. */
const KEY_BYTES = 120;
const TEXT_BYTES = 40;
/** Memory is taken from the budget in steps of this size. */
const STEP_BYTES = 1 << 20;
/** Texts by key, distinct: a single text stands alone, several in an array. */
export class KeyedTexts {
  readonly #texts = new Map<string, string | string[]>();
  /** Key and text of what stands in arrays. */
  readonly #listed: HashSet;
  /** The arrays, and the position of each. */
  readonly #lists: string[][] = [];
  readonly #numbers = new Map<readonly string[], number>();
  readonly #budget: MemoryBudget;
  readonly #space: SpillSpace;
  readonly #seed: number;
  #usedBytes = 0;
  #takenBytes = 0;
  #spill: PairSpill | undefined;

  constructor(budget: MemoryBudget, space: SpillSpace, seed: number) {
    this.#budget = budget;
    this.#space = space;
    this.#seed = seed;
    this.#listed = new HashSet(budget, seed);
  }

  /** True once the texts are in files: then only `pairTexts` can find them. */
  get spilled(): boolean {
    return this.#spill !== undefined;
  }

  /** Both strings may be slices of a batch: what is kept is detached. */
  add(key: string, text: string): void {
    if (this.#spill !== undefined) {
      this.#spill.add(key, text);
      return;
    }
    this.#put(key, text);
    if (this.#usedBytes <= this.#takenBytes) return;
    if (this.#budget.take(STEP_BYTES)) this.#takenBytes += STEP_BYTES;
    else this.spillOver();
  }

  get(key: string): Text {
    return this.#texts.get(key) ?? null;
  }

  /** The number of a list that `get` gave, from 0, if its texts are distinct; else -1. */
  numberOf(list: readonly string[]): number {
    return this.#listed.full ? -1 : (this.#numbers.get(list) ?? -1);
  }

  list(number: number): readonly string[] {
    return this.#lists[number] as readonly string[];
  }

  /** Moves all texts to files; more may be added. */
  spillOver(): PairSpill {
    if (this.#spill !== undefined) return this.#spill;
    const spill = new PairSpill(this.#space, this.#seed);
    for (const [key, texts] of this.entries()) for (const text of texts) spill.add(key, text);
    this.clear();
    this.#spill = spill;
    return spill;
  }

  /** Like this one, and without a limit: for one partition of what was spilled. */
  empty(): KeyedTexts {
    return new KeyedTexts(new MemoryBudget(Number.POSITIVE_INFINITY), this.#space, this.#seed);
  }

  *entries(): Iterable<readonly [key: string, texts: Iterable<string>]> {
    for (const [key, held] of this.#texts) yield [key, typeof held === 'string' ? [held] : held];
  }

  /** Forgets what is in memory and gives that back. */
  clear(): void {
    this.#texts.clear();
    this.#listed.drop();
    this.#lists.length = 0;
    this.#numbers.clear();
    this.#budget.give(this.#takenBytes);
    this.#takenBytes = 0;
    this.#usedBytes = 0;
  }

  #put(key: string, text: string): void {
    const held = this.#texts.get(key);
    if (held === undefined) {
      this.#texts.set(detach(key), this.#keep(text));
      this.#usedBytes += key.length + KEY_BYTES;
      return;
    }
    const first = typeof held === 'string' ? held : (held[0] as string);
    // What the set cannot decide is kept twice at worst: statements are looked at again.
    if (text === first || this.#listed.addPair(key, text) === KNOWN) return;
    if (typeof held !== 'string') {
      held.push(this.#keep(text));
      return;
    }
    const list = [held, this.#keep(text)];
    this.#texts.set(key, list);
    this.#numbers.set(list, this.#lists.length);
    this.#lists.push(list);
    this.#usedBytes += KEY_BYTES;
  }

  #keep(text: string): string {
    this.#usedBytes += text.length + TEXT_BYTES;
    return detach(text);
  }
}

/** Each text of `children` with the texts of `parents` that have its key. */
export async function* pairTexts(
  children: KeyedTexts,
  parents: KeyedTexts,
): AsyncIterable<readonly [child: string, parents: readonly string[]]> {
  if (!children.spilled && !parents.spilled) {
    for (const [key, texts] of children.entries()) {
      const found = parents.get(key);
      if (found === null) continue;
      const list = typeof found === 'string' ? [found] : found;
      for (const child of texts) yield [child, list];
    }
    return;
  }
  const childSpill = children.spillOver();
  const parentSpill = parents.spillOver();
  for (let partition = 0; partition < PairSpill.partitions; partition++) {
    const index = parents.empty();
    for await (const [key, text] of parentSpill.read(partition)) index.add(key, text);
    const seen = new HashSet(new MemoryBudget(Number.POSITIVE_INFINITY), 0);
    for await (const [key, child] of childSpill.read(partition)) {
      const found = index.get(key);
      // A child that comes again would make all its pairs again.
      if (found !== null && seen.add(joinKey([key, child])) === NEW) yield [child, typeof found === 'string' ? [found] : found];
    }
    index.clear();
  }
}

/** One key from the texts of a join's expressions: unambiguous for any texts. */
export function joinKey(parts: readonly string[]): string {
  return parts.length === 1 ? (parts[0] as string) : parts.map((part) => `${part.length}:${part}`).join('');
}
