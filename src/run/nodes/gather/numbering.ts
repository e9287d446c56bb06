/**
 * Collections to which several rows append: those with a named head. What is kept of each is the number of its members, so that neither the
 * number of members nor their order needs memory.
 *
 * The first node of a list is its head. The others are blank nodes labelled by a hash of graph and head, and by their number. Where the table
 * of counters is full, members of unknown collections go to partitioned files and are numbered at the end, in the order of their arrival.
 *
 * A head has two counters in each graph, for lists and for containers: an IRI may be both. So gather maps with equal heads, whatever kind of
 * container each of them makes, never give a number twice.
 */
import { h1, h2, h3, h4, hash } from '../../../core/hash.ts';
import type { Collection } from '../../../plan/algebra.ts';
import { type MemoryBudget, ReservedBudget } from '../../../spill/budget.ts';
import { KeyTable } from '../../../spill/key-table.ts';
import { drain, nextSeed, type Pair, Partitions } from '../../../spill/partitions.ts';
import type { SpillSpace } from '../../../spill/space.ts';
import { type MadeCollection, NIL } from '../../../terms/collections.ts';
import { firstOf, memberOf, restOf, typeOf } from './statements.ts';

/** Reserve for numbering when the budget is used up. */
const RESERVE_BYTES = 4 << 20;
/** Members that are stored together. */
const CHUNK_MEMBERS = 256;

/** Bits of the types that were written. */
const TYPE_BITS: Readonly<Record<Collection['as'], number>> = { list: 0, bag: 1, seq: 2, alt: 4 };

/** By head: the number of members, and the types. */
class Counters extends KeyTable {
  #chunk: Uint32Array = new Uint32Array(0);
  #at = 0;

  constructor(budget: MemoryBudget, seed: number) {
    super(budget, seed, 2);
  }

  /** Makes the collection in `h1…h4` the current one, and adds it if it is new. Returns false if the table is full and does not have it. */
  enter(): boolean {
    const found = this.find();
    const row = found >= 0 ? found : this.put(-1 - found);
    if (row < 0) return false;
    [this.#chunk, this.#at] = this.extraOf(row);
    return true;
  }

  get members(): number {
    return this.#chunk[this.#at] as number;
  }

  set members(count: number) {
    this.#chunk[this.#at] = count;
  }

  get types(): number {
    return this.#chunk[this.#at + 1] as number;
  }

  set types(bits: number) {
    this.#chunk[this.#at + 1] = bits;
  }
}

const keyOf = (isList: boolean, head: string, end: string): string => `${isList ? 'l' : 'c'}${end}${head}`;

/** Sixteen bytes of the hash that was made last. */
const hashText = (): string => [h1, h2, h3, h4].map((word) => (word >>> 0).toString(36).padStart(7, '0')).join('');

export class Numbering {
  readonly #space: SpillSpace;
  readonly #budget: MemoryBudget;
  readonly #seed: number;
  readonly #label: string;
  readonly #counters: Counters;
  /** Lists that have begun: the end of their lines by head. */
  readonly #lists: Partitions<Pair>;
  /** Members of collections that the table does not have. */
  readonly #left: Partitions<Pair>;

  /**
   * @param label what the labels of blank nodes begin with
   * @param seed of the hashes within them: the same for each run that has the same labels
   * @param spillSeed of the partitions; another one at each level
   */
  constructor(space: SpillSpace, budget: MemoryBudget, label: string, seed: number, spillSeed: number) {
    this.#space = space;
    this.#label = label;
    this.#budget = budget;
    this.#seed = seed;
    this.#counters = new Counters(budget, seed);
    this.#lists = Partitions.ofPairs(space, spillSeed);
    this.#left = Partitions.ofPairs(space, spillSeed);
  }

  /** The lines of the members, as far as they are known now. */
  *add(
    { collection: { as }, head, items }: Pick<MadeCollection, 'head' | 'items'> & { readonly collection: Pick<Collection, 'as'> },
    end: string,
  ): Generator<string> {
    const counters = this.#counters;
    const isList = as === 'list';
    const key = keyOf(isList, head, end);
    hash(key, this.#seed);
    if (!counters.enter()) {
      this.#leave(key, as, head, items, end);
      return;
    }
    let { members } = counters;
    if (!isList) {
      const bit = TYPE_BITS[as];
      if ((counters.types & bit) === 0) {
        counters.types |= bit;
        yield typeOf(head, as, end);
      }
      for (const item of items) {
        counters.members = ++members;
        yield memberOf(head, members, item, end);
      }
      return;
    }
    const label = `_:${this.#label}l${hashText()}_`;
    for (const item of items) {
      const node = members === 0 ? head : label + members;
      if (members === 0) this.#lists.add([head, end]);
      else yield restOf(members === 1 ? head : label + (members - 1), node, end);
      counters.members = ++members;
      yield firstOf(node, item, end);
    }
  }

  /** The last node of each list, and the members that were left for the end. The numbering is empty afterwards. */
  async *finish(): AsyncIterable<readonly string[]> {
    const numbering = (seed: number): Numbering =>
      new Numbering(this.#space, new ReservedBudget(RESERVE_BYTES, this.#budget), this.#label, this.#seed, seed);
    yield* this.#end();
    yield* drain([this.#left], async function* (partition, [members]) {
      const again = numbering(nextSeed(members.seed));
      for await (const pairs of members.read(partition)) {
        for (const [, text] of pairs) {
          const [as, head, end, items] = JSON.parse(text) as [Collection['as'], string, string, string[]];
          yield [...again.add({ collection: { as }, head, items }, end)];
        }
        await members.flush();
      }
      yield* again.#end();
      return [again.#left];
    });
    await this.#left.remove();
  }

  /** The last node of each list that is in the table. */
  async *#end(): AsyncIterable<readonly string[]> {
    for (let partition = 0; partition < this.#lists.count; partition++) {
      for await (const pairs of this.#lists.read(partition)) yield pairs.map(([head, end]) => this.#lastOf(head, end));
      await this.#lists.drop(partition);
    }
    await this.#lists.remove();
    this.#counters.drop();
  }

  #lastOf(head: string, end: string): string {
    hash(keyOf(true, head, end), this.#seed);
    if (!this.#counters.enter()) throw new Error('a list that has begun is not in the table');
    const { members } = this.#counters;
    return restOf(members === 1 ? head : `_:${this.#label}l${hashText()}_${members - 1}`, NIL, end);
  }

  #leave(key: string, as: Collection['as'], head: string, items: Iterable<string>, end: string): void {
    let chunk: string[] = [];
    const keep = (): void => this.#left.add([key, JSON.stringify([as, head, end, chunk])]);
    for (const item of items) {
      if (chunk.push(item) < CHUNK_MEMBERS) continue;
      keep();
      chunk = [];
    }
    // Without items as well: a container has a type.
    keep();
  }
}
