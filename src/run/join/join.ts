/**
 * Hash joins. The build side is an index that a scan fills: distinct subjects of the parent by key. A child that is read after its parent
 * probes the index record by record. A child that is read before or together with its parent (or in a cycle) stores its distinct subjects
 * by key, and the pairs are made when both sides are complete. There is never a nested loop. Beyond the memory budget both sides go to
 * partitioned files: a partition that does not fit is partitioned again, and a key that does not fit is paired block by block, so memory is
 * bounded for any size.
 */

import { detach } from '../../core/text.ts';
import type { Text } from '../../terms/evaluate.ts';
import { HashSet, KNOWN, type MemoryBudget, NEW, ReservedBudget, UNDECIDED, type Verdict } from '../distinct/distinct.ts';
import { nextSeed, type Pair, PairSpill, type SpillSpace } from '../distinct/spill.ts';

/** Approximate overhead of a map entry and of a string, without its characters. */
const KEY_BYTES = 120;
const TEXT_BYTES = 40;
/** Memory is taken from the budget in steps of this size. */
const STEP_BYTES = 1 << 20;
/** Reserve for pairing when the budget is used up: for the parents of a partition, and for the set of processed children. */
const RESERVE_BYTES = 4 * STEP_BYTES;
/** Size of the blocks in which the parents of one key are held, when they do not fit at once. */
const BLOCK_CHARACTERS = 1 << 20;
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
  #spill: PairSpill | undefined;
  /** Texts that came after those in memory and before the next flush: the texts of a key keep their order in the file. */
  #arrived: (readonly [key: string, text: string])[] | undefined;
  #onlyKey: string | undefined;
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

  /** The key of the spilled texts, if they have only one. */
  get onlyKey(): string | undefined {
    return this.#onlyKey;
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
    if (this.#onlyKey !== undefined && this.#onlyKey !== key) this.#onlyKey = undefined;
    if (this.#arrived === undefined) spill.add(key, text);
    else this.#arrived.push([key, text]);
    return true;
  }

  get(key: string): Text {
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
  async spillOver(): Promise<PairSpill> {
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
  #spillLater(): PairSpill {
    if (this.#spill !== undefined) return this.#spill;
    const spill = new PairSpill(this.#space, this.#seed);
    this.#spill = spill;
    this.#arrived = [];
    this.#firstKeys = firstOf(this.#texts.keys(), FIRST_KEYS);
    if (this.#texts.size === 1) [this.#onlyKey] = this.#texts.keys();
    this.#space.moveLater(async () => {
      this.#lists.length = 0;
      this.#numbers.clear();
      for (const [key, texts] of this.entries()) {
        for (const text of texts) {
          spill.add(key, text);
          if (this.#space.due) await this.#space.flush();
        }
        this.#texts.delete(key);
      }
      this.clear();
      const arrived = this.#arrived ?? [];
      this.#arrived = undefined;
      for (const [key, text] of arrived) spill.add(key, text);
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

const listOf = (texts: string | readonly string[]): readonly string[] => (typeof texts === 'string' ? [texts] : texts);

/**
 * A text of the child, and some texts of the parent with the same key; `from`: how many of them came before. None: no parent has the key.
 */
export type Match = readonly [child: string, parents: readonly string[], from: number];

/** Memory and files for pairing. */
export interface PairingMemory {
  readonly budget: MemoryBudget;
  readonly space: SpillSpace;
}

/** Called with each text that was added to the children with a key that no parent has; equal ones that went to files each count. */
export type Miss = (key: string, text: string) => void;

interface Pairing extends PairingMemory {
  /** Whether children without parents are wanted. */
  readonly outer: boolean;
  readonly miss: Miss | undefined;
}

/**
 * Every pair of texts with a common key, once per key. Consumes the children.
 *
 * @param outer also every child whose key no parent has
 * @param miss undefined: such children are not counted
 */
export async function* pairTexts(
  children: Multimap,
  parents: Multimap,
  memory: PairingMemory,
  outer = false,
  miss?: Miss,
): AsyncIterable<Match> {
  const pairing = { ...memory, outer, miss };
  if (parents.spilled) yield* pairSpilled(await children.spillOver(), await parents.spillOver(), pairing);
  else if (children.spilled) {
    const spill = await children.spillOver();
    for (let partition = 0; partition < PairSpill.partitions; partition++) yield* probe(spill, partition, parents, pairing);
  } else {
    for (const [key, texts] of children.entries()) {
      const found = parents.get(key);
      if (found === null && miss !== undefined) for (const text of texts) miss(key, text);
      if (found === null && !outer) continue;
      const list = found === null ? [] : listOf(found);
      for (const child of texts) yield [child, list, 0];
    }
  }
  await children.remove();
}

/** Pairs two spilled sides, one partition at a time. */
async function* pairSpilled(children: PairSpill, parents: PairSpill, pairing: Pairing): AsyncIterable<Match> {
  const { budget, space, outer, miss } = pairing;
  const seed = nextSeed(parents.seed);
  for (let partition = 0; partition < PairSpill.partitions; partition++) {
    if (children.isEmpty(partition) || (parents.isEmpty(partition) && !outer && miss === undefined)) continue;
    const index = new Multimap(new ReservedBudget(RESERVE_BYTES, budget), space, seed);
    await copy(parents, partition, index, space);
    if (!index.spilled) yield* probe(children, partition, index, pairing);
    else if (index.onlyKey !== undefined) yield* pairBlocks(index.onlyKey, children, partition, await index.spillOver(), pairing);
    else {
      const again = new PairSpill(space, seed);
      await copy(children, partition, again, space);
      await children.drop(partition);
      yield* pairSpilled(again, await index.spillOver(), pairing);
      await again.remove();
    }
    await index.remove();
  }
}

async function copy(from: PairSpill, partition: number, to: Multimap | PairSpill, space: SpillSpace): Promise<void> {
  for await (const pairs of from.read(partition)) {
    for (const [key, text] of pairs) to.add(key, text);
    await space.flush();
  }
}

/** Pairs a partition of the children with parents in memory. */
async function* probe(children: PairSpill, partition: number, parents: Multimap, { budget, outer, miss }: Pairing): AsyncIterable<Match> {
  const look = (key: string, text: string): void => {
    if (parents.get(key) === null) miss?.(key, text);
  };
  // Without the set of processed children, a repeated child would make all of its pairs again.
  const seen = new ReservedBudget(RESERVE_BYTES, budget);
  const wanted = (key: string): boolean => outer || parents.get(key) !== null;
  for await (const pairs of children.takeDistinct(partition, seen, wanted, miss && look)) {
    for (const [key, child] of pairs) {
      const found = parents.get(key);
      yield [child, found === null ? [] : listOf(found), 0];
    }
  }
}

/** Pairs the children of a key with its parents, block by block. */
async function* pairBlocks(
  key: string,
  children: PairSpill,
  partition: number,
  parents: PairSpill,
  { budget, space, outer, miss }: Pairing,
): AsyncIterable<Match> {
  const reserved = (): MemoryBudget => new ReservedBudget(RESERVE_BYTES, budget);
  const own = new PairSpill(space, parents.seed);
  const look = (other: string, text: string): void => {
    if (other !== key) miss?.(other, text);
  };
  const wanted = (other: string): boolean => outer || other === key;
  for await (const pairs of children.takeDistinct(partition, reserved(), wanted, miss && look)) {
    for (const [other, child] of pairs) {
      if (other === key) own.add(key, child);
      else yield [child, [], 0];
    }
    await space.flush();
  }
  const home = parents.partitionOf(key);
  let from = 0;
  for await (const block of blocksOf(parents.takeDistinct(home, reserved(), () => true))) {
    for await (const pairs of own.read(home)) for (const [, child] of pairs) yield [child, block, from];
    from += block.length;
  }
  await own.remove();
}

async function* blocksOf(batches: AsyncIterable<readonly Pair[]>): AsyncIterable<readonly string[]> {
  let block: string[] = [];
  let characters = 0;
  for await (const pairs of batches) {
    for (const [, text] of pairs) {
      block.push(text);
      characters += text.length + TEXT_BYTES;
    }
    if (characters < BLOCK_CHARACTERS) continue;
    yield block;
    block = [];
    characters = 0;
  }
  if (block.length > 0) yield block;
}

/** One join key from the texts of the key expressions: unambiguous for any texts. */
export function joinKey(parts: readonly string[]): string {
  return parts.length === 1 ? (parts[0] as string) : parts.map((part) => `${part.length}:${part}`).join('');
}
