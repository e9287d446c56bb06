/**
 * Hash joins. The build side is an index that a scan fills: distinct subjects of the parent by key. A child that is read after its parent
 * probes the index record by record. A child that is read before or together with its parent (or in a cycle) stores its distinct subjects
 * by key, and the pairs are made when both sides are complete. There is never a nested loop. Beyond the memory budget both sides go to
 * partitioned files: a partition that does not fit is partitioned again, and a key that does not fit is paired block by block, so memory is
 * bounded for any size.
 */
import { type MemoryBudget, ReservedBudget } from '../../spill/budget.ts';
import { listOf, Multimap } from '../../spill/multimap.ts';
import { drain, eachOnce, nextSeed, type Pair, type Partitions, type Pass, passOver } from '../../spill/partitions.ts';
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
  if (parents.spilled) yield* drain([await children.spillOver(), await parents.spillOver()], pairPartition(pairing));
  else if (children.spilled) {
    const spill = await children.spillOver();
    for (let partition = 0; partition < spill.count; partition++) yield* probe(spill, partition, parents, pairing);
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

/** Pairs one partition of two spilled sides. */
const pairPartition = (pairing: Pairing): Pass<readonly [children: Partitions<Pair>, parents: Partitions<Pair>], Match> =>
  async function* (partition, [children, parents]) {
    const { budget, space, outer, miss } = pairing;
    if (parents.isEmpty(partition) && !outer && miss === undefined) return undefined;
    const index = new Multimap(new ReservedBudget(RESERVE_BYTES, budget), space, nextSeed(parents.seed));
    for await (const pairs of parents.read(partition)) {
      for (const [key, text] of pairs) index.add(key, text);
      await space.flush();
    }
    if (!index.spilled) {
      yield* probe(children, partition, index, pairing);
      index.clear();
      return undefined;
    }
    const again: readonly [Partitions<Pair>, Partitions<Pair>] = [children.next(), await index.spillOver()];
    const { onlyKey } = again[1];
    if (onlyKey !== undefined) {
      yield* pairBlocks(onlyKey, children, partition, again, pairing);
      for (const side of again) await side.remove();
      return undefined;
    }
    for await (const pairs of children.read(partition)) {
      for (const pair of pairs) again[0].add(pair);
      await space.flush();
    }
    return again;
  };

/** Pairs a partition of the children with parents in memory. */
async function* probe(
  children: Partitions<Pair>,
  partition: number,
  parents: Multimap,
  { budget, outer, miss }: Pairing,
): AsyncIterable<Match> {
  const isWanted = ([key, text]: Pair): boolean => {
    const found = parents.get(key) !== null;
    if (!found) miss?.(key, text);
    return found || outer;
  };
  // Without the set of processed children, a repeated child would make all of its pairs again.
  const once = eachOnce(new ReservedBudget(RESERVE_BYTES, budget), children, isWanted);
  for await (const pairs of passOver([children], partition, once)) {
    for (const [key, child] of pairs) {
      const found = parents.get(key);
      yield [child, found === null ? [] : listOf(found), 0];
    }
  }
}

/** Pairs the children of a partition with the parents of one key, block by block. */
async function* pairBlocks(
  key: string,
  children: Partitions<Pair>,
  partition: number,
  [own, parents]: readonly [Partitions<Pair>, Partitions<Pair>],
  { budget, space, outer, miss }: Pairing,
): AsyncIterable<Match> {
  const reserved = (): MemoryBudget => new ReservedBudget(RESERVE_BYTES, budget);
  const isWanted = ([other, text]: Pair): boolean => {
    if (other !== key) miss?.(other, text);
    return other === key || outer;
  };
  for await (const pairs of passOver([children], partition, eachOnce(reserved(), children, isWanted))) {
    for (const pair of pairs) {
      if (pair[0] === key) own.add(pair);
      else yield [pair[1], [], 0];
    }
    await space.flush();
  }
  const home = parents.partitionOf(key);
  let from = 0;
  for await (const block of blocksOf(passOver([parents], home, eachOnce(reserved())))) {
    for await (const pairs of own.read(home)) for (const [, child] of pairs) yield [child, block, from];
    from += block.length;
  }
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
