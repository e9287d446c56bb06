/** A multimap from keys to distinct texts. Beyond its memory the texts go to partitioned files. */
import { detach } from '../core/text.ts';
import type { MemoryBudget } from './budget.ts';
import { HashSet, KNOWN, NEW, UNDECIDED, type Verdict } from './key-table.ts';
import { type Pair, Partitions } from './partitions.ts';
import type { SpillSpace } from './space.ts';

/** Approximate overhead of a map entry and of a string, without its characters. */
const KEY_BYTES = 120;
const TEXT_BYTES = 40;
/** Memory is taken from the budget in steps of this size. */
const STEP_BYTES = 1 << 20;
/** Keys of texts in files that are remembered as examples. */
const FIRST_KEYS = 3;

/** The constant text before and after each of some texts. */
export interface Affixes {
  readonly before: string;
  readonly after: string;
}

/** A multimap from keys to distinct texts: a single text is stored as it is, several as an array. */
export class Multimap {
  /** What stands around all texts, which are kept and given without it. Set by what fills the multimap. */
  affixes: Affixes = { before: '', after: '' };
  /** Of the pipelines that fill it: those that have read all of their records, and have rows that wait for a join. */
  unfinished = 0;
  readonly #texts = new Map<string, string | string[]>();
  /** Key and text of the entries in arrays that are not ascending. */
  readonly #listed: HashSet;
  readonly #unordered = new Set<readonly string[]>();
  /** The arrays, and the index of each. */
  readonly #lists: string[][] = [];
  readonly #numbers = new Map<readonly string[], number>();
  readonly #budget: MemoryBudget;
  readonly #space: SpillSpace;
  readonly #seed: number;
  #usedBytes = 0;
  #takenBytes = 0;
  #spill: Partitions<Pair> | undefined;
  /** Texts that came after those in memory and before the next flush: the texts of a key keep their order in the file. */
  #arrived: Pair[] | undefined;
  /** Once the texts are in files: some of the keys. */
  #firstKeys: readonly string[] = [];

  constructor(budget: MemoryBudget, space: SpillSpace, seed: number) {
    this.#budget = budget;
    this.#space = space;
    this.#seed = seed;
    this.#listed = new HashSet(budget, seed);
  }

  /** True once the texts are in files: then only `pairTexts` finds them. */
  get spilled(): boolean {
    return this.#spill !== undefined;
  }

  /** Both strings may be slices of a batch: they are copied before they are kept. Returns false if the key has the text already. */
  add(key: string, text: string): boolean {
    const verdict = this.#spill === undefined ? this.#put(key, text) : UNDECIDED;
    if (verdict !== UNDECIDED) {
      if (this.#usedBytes <= this.#takenBytes) return verdict === NEW;
      if (this.#budget.take(STEP_BYTES)) this.#takenBytes += STEP_BYTES;
      else this.#spillLater();
      return verdict === NEW;
    }
    const spill = this.#spillLater();
    if (this.#arrived === undefined) spill.add([key, text]);
    else this.#arrived.push([key, text]);
    return true;
  }

  get(key: string): string | readonly string[] | null {
    return this.#texts.get(key) ?? null;
  }

  /** At most so many keys: the first ones. */
  someKeys(count: number): readonly string[] {
    return this.#spill === undefined ? firstOf(this.#texts.keys(), count) : this.#firstKeys.slice(0, count);
  }

  /** The index of a list that `get` returned, from 0; -1 for any other. */
  numberOf(list: readonly string[]): number {
    return this.#numbers.get(list) ?? -1;
  }

  list(number: number): readonly string[] {
    return this.#lists[number] as readonly string[];
  }

  /** Moves all texts to files. */
  async spillOver(): Promise<Partitions<Pair>> {
    const spill = this.#spillLater();
    await this.#space.flush();
    return spill;
  }

  *entries(): Iterable<readonly [key: string, texts: readonly string[]]> {
    for (const [key, held] of this.#texts) yield [key, listOf(held)];
  }

  /** Removes what is in memory and returns it to the budget. */
  clear(): void {
    this.#texts.clear();
    this.#listed.drop();
    this.#unordered.clear();
    this.#lists.length = 0;
    this.#numbers.clear();
    this.#budget.give(this.#takenBytes);
    this.#takenBytes = 0;
    this.#usedBytes = 0;
  }

  /** Removes everything. */
  async remove(): Promise<void> {
    this.clear();
    this.#arrived = undefined;
    await this.#spill?.remove();
  }

  /** The texts in memory are moved by the next flush, since they may be too many for the buffers. New ones wait for that. */
  #spillLater(): Partitions<Pair> {
    if (this.#spill !== undefined) return this.#spill;
    const spill = Partitions.ofPairs(this.#space, this.#seed);
    this.#spill = spill;
    this.#arrived = [];
    this.#firstKeys = firstOf(this.#texts.keys(), FIRST_KEYS);
    this.#space.moveLater(async () => {
      this.#lists.length = 0;
      this.#numbers.clear();
      for (const [key, texts] of this.entries()) {
        for (const text of texts) {
          spill.add([key, text]);
          if (this.#space.due) await this.#space.flush();
        }
        this.#texts.delete(key);
      }
      this.clear();
      const arrived = this.#arrived ?? [];
      this.#arrived = undefined;
      for (const pair of arrived) spill.add(pair);
    });
    return spill;
  }

  /** Whether the text is new; `UNDECIDED`: it was not kept. */
  #put(key: string, text: string): Verdict {
    const held = this.#texts.get(key);
    if (held === undefined) {
      this.#texts.set(detach(key), this.#keep(text));
      this.#usedBytes += key.length + KEY_BYTES;
      return NEW;
    }
    if (typeof held === 'string') {
      if (text === held) return KNOWN;
      const list = [held];
      this.#texts.set(key, list);
      this.#numbers.set(list, this.#lists.length);
      this.#lists.push(list);
      this.#usedBytes += KEY_BYTES;
      return this.#append(key, list, text);
    }
    return text === held[0] ? KNOWN : this.#append(key, held, text);
  }

  /**
   * Adds a text to a list that may have it. A text that is greater than the last of an ascending list is greater than all of them, so it is
   * new: files are often in the order of their keys. The first that is not makes the set of the texts of the list.
   */
  #append(key: string, list: string[], text: string): Verdict {
    const last = list[list.length - 1] as string;
    if (text === last) return KNOWN;
    if (!this.#unordered.has(list)) {
      if (isBefore(last, text)) {
        list.push(this.#keep(text));
        return NEW;
      }
      for (const one of list) if (this.#listed.addPair(key, one) === UNDECIDED) return UNDECIDED;
      this.#unordered.add(list);
      this.#usedBytes += KEY_BYTES;
    }
    const verdict = this.#listed.addPair(key, text);
    if (verdict === NEW) list.push(this.#keep(text));
    return verdict;
  }

  #keep(text: string): string {
    this.#usedBytes += text.length + TEXT_BYTES;
    return detach(text);
  }
}

/** A total order, in which `9` is before `10`: so a list in which each text is before the next has no duplicates. */
const isBefore = (one: string, other: string): boolean => one.length < other.length || (one.length === other.length && one < other);

function firstOf(keys: Iterable<string>, count: number): readonly string[] {
  const first: string[] = [];
  for (const key of keys) {
    if (first.length === count) break;
    first.push(key);
  }
  return first;
}

export const listOf = (texts: string | readonly string[]): readonly string[] => (typeof texts === 'string' ? [texts] : texts);
