/**
 * Hash joins. The build side is an index that a scan fills: distinct subjects of the parent by key. A child that is read after its parent
 * probes the index record by record. A child that is read before or together with its parent (or in a cycle) stores its distinct subjects
 * by key, and the pairs are made when both sides are complete. There is never a nested loop. Beyond the memory budget both sides go to
 * partitioned files: a partition that does not fit is partitioned again, and a key that does not fit is paired block by block, so memory is
 * bounded for any size.
 */
import { type MemoryBudget, ReservedBudget } from '../../spill/budget.ts';
import { listOf, Multimap } from '../../spill/multimap.ts';
import { nextSeed, type Pair, PairSpill } from '../../spill/pairs.ts';
import type { SpillSpace } from '../../spill/space.ts';

/** Reserve for pairing when the budget is used up: for the parents of a partition, and for the set of processed children. */
const RESERVE_BYTES = 4 << 20;
/** Size of the blocks in which the parents of one key are held, when they do not fit at once. */
const BLOCK_CHARACTERS = 1 << 20;
/** Approximate overhead of a string, without its characters. */
const TEXT_BYTES = 40;

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
