/**
 * Checks a file of LMDB before it is opened. LMDB maps the file into memory and trusts it: a damaged page ends the process by a signal, or leaves out records in
 * silence.
 *
 * **Claim.** A file that passes has the records that were written. **Proof.** All pages that the newest transaction reaches are read. Each is the one that its parent
 * means, its nodes fill it, and their keys ascend within the bounds of the parent. So a search finds what the file has. Records have the checksum of key and
 * value, entries of the index are those that the records of units name, and the numbers of records are kept as records (`KeptRows`). No page that is in use is
 * free, so that none is overwritten.
 *
 * Little-endian numbers. A page begins with its number (8 bytes), its transaction (8), padding (2), kind (2), and where the list of its nodes ends (2) and its nodes
 * begin (2), counted from behind that. A node has 32 bits of the size of its value, flags (2), the size of its key (2), key and value. In a branch these 48 bits
 * are the number of a page. A tree is 48 bytes: padding (4), flags (2), depth (2), and the numbers of branches, leaves, pages of large values, records, and its root.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Unit } from '../../../datasets/records/units.ts';
import { damaged, isWhole, SUM_BYTES } from './records.ts';
import { bitsIn, ENTRY_BYTES, entryIn, UNITS, unitIn } from './unit-records.ts';

const MAGIC = 0xbeefc0de;
const VERSION = 2;
const HEAD_BYTES = 24;
const TREE_BYTES = 48;
/** In a page that names the newest ones, of which there are two. */
const META = { magic: 24, version: 28, pageBytes: 48, trees: [48, 96], lastPage: 144, transaction: 152, bytes: 168 } as const;
const NO_PAGE = 2n ** 64n - 1n;
const BRANCH = 1;
const LEAF = 2;
const LARGE = 4;
/** Flags of nodes. */
const IS_LARGE = 1;
const IS_TREE = 2;
const MOST_DEPTH = 32;
const FREE_FLAGS = 8;

interface Tree {
  readonly depth: number;
  readonly branches: number;
  readonly leaves: number;
  readonly large: number;
  readonly records: number;
  readonly root: bigint;
}

interface Node {
  readonly key: Buffer;
  readonly flags: number;
  readonly size: number;
  /** Where the value begins. */
  readonly at: number;
}

type Compare = (a: Buffer, b: Buffer) => number;
type Visit = (key: Buffer, value: Buffer, flags: number) => void;

/**
 * @param isWhole whether all pages are read, of which a million rows need about 2 s; otherwise the first ones, so that the file is one of LMDB and has its end
 * @throws Fault source/refused — the file in the directory is damaged
 */
export function assertEnvironment(directory: string, isWhole: boolean): void {
  const path = join(directory, 'data.mdb');
  if (!existsSync(path)) return;
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size === 0) return;
    const pages = new Pages(file, size);
    if (isWhole) pages.check();
  } catch (error) {
    throw error instanceof Damage || error instanceof RangeError ? damaged(directory, error.message) : error;
  } finally {
    closeSync(file);
  }
}

class Damage extends Error {}

const fault = (what: string): Damage => new Damage(`data.mdb: ${what}`);

const inOrder: Compare = (a, b) => Buffer.compare(a, b);
const asNumbers: Compare = (a, b) => Number(a.readBigUInt64LE() - b.readBigUInt64LE());

class Pages {
  readonly #file: number;
  readonly #bytes: number;
  readonly #transaction: bigint;
  readonly #last: number;
  readonly #free: Tree;
  readonly #main: Tree;
  /** A bit for each page that is in use, or free. */
  readonly #known: Uint8Array;
  #counts = { branches: 0, leaves: 0, large: 0, records: 0 };

  constructor(file: number, size: number) {
    this.#file = file;
    const first = this.#meta(0);
    this.#bytes = first.readUInt32LE(META.pageBytes);
    const second = this.#meta(this.#bytes);
    if (second.readUInt32LE(META.pageBytes) !== this.#bytes) throw fault('its first pages differ');
    const newest = first.readBigUInt64LE(META.transaction) > second.readBigUInt64LE(META.transaction) ? first : second;
    this.#transaction = newest.readBigUInt64LE(META.transaction);
    this.#last = Number(newest.readBigUInt64LE(META.lastPage));
    // Pages at the end that are free may not have been written.
    if (this.#last > 2 ** 40) throw fault('it has no such last page');
    this.#free = treeAt(newest, META.trees[0], FREE_FLAGS);
    this.#main = treeAt(newest, META.trees[1], 0);
    const roots = [this.#free, this.#main].map(({ root }) => root).filter((root) => root !== NO_PAGE);
    if (roots.some((root) => (root + 1n) * BigInt(this.#bytes) > size)) throw new Damage('data.mdb is cut off');
    this.#known = new Uint8Array(Math.ceil((Math.max(this.#last, 1) + 1) / 8));
    this.#use(0, 2);
  }

  #meta(at: number): Buffer {
    const bytes = this.#read(at, META.bytes);
    if (bytes.readUInt32LE(META.magic) !== MAGIC || bytes.readUInt32LE(META.version) !== VERSION) throw fault('it has no first page');
    return bytes;
  }

  check(): void {
    const trees = new Map<string, Tree>();
    this.#walk(this.#main, inOrder, (key, value, flags) => {
      if (flags !== IS_TREE || value.length !== TREE_BYTES) throw fault('it has a record beside its databases');
      trees.set(key.toString('latin1').replace(/\0$/, ''), treeAt(value, 0, 0));
    });
    const entries = new EntrySum();
    const units = new EntrySum();
    const drafts = new Map<Unit, readonly number[]>();
    for (const [name, tree] of trees)
      this.#walk(tree, inOrder, (key, value, flags) => {
        if ((flags & IS_TREE) !== 0) throw fault('it has a database within another one');
        if (name === 'entries') {
          if (key.length !== ENTRY_BYTES) throw fault('an entry has another size than entries have');
          const [bits, unit] = entryIn(key);
          entries.add(bits, unit, 1);
          return;
        }
        if (!isWhole(key, value)) throw fault('a record has another checksum than it was written with');
        if (name !== UNITS) return;
        const { unit, isDraft } = unitIn(key);
        const bits = bitsIn(value.subarray(0, -SUM_BYTES));
        for (const one of bits) units.add(one, unit, 1);
        if (isDraft) drafts.set(unit, bits);
      });
    // An entry of a unit and of its draft is one.
    const both = trees.get(UNITS);
    if (drafts.size > 0 && both !== undefined)
      this.#walk(
        both,
        inOrder,
        (key, value) => {
          const { unit, isDraft } = unitIn(key);
          const own = isDraft ? undefined : drafts.get(unit);
          if (own === undefined) return;
          const kept = new Set(bitsIn(value.subarray(0, -SUM_BYTES)));
          for (const one of own) if (kept.has(one)) units.add(one, unit, -1);
        },
        true,
      );
    if (!entries.equals(units)) throw fault('the index has other entries than its records name');
    this.#walk(this.#free, asNumbers, (_, value) => this.#useFree(value));
  }

  /** A list of pages: its length, then numbers; a negative one is how many follow each other from the next number on. */
  #useFree(value: Buffer): void {
    const length = Number(value.readBigUInt64LE());
    if (8 * (length + 1) > value.length) throw fault('a list of free pages is too long');
    for (let i = 1; i <= length; i++) {
      const one = Number(value.readBigInt64LE(8 * i));
      if (one > 0) this.#use(one, 1);
      else if (one < 0 && i < length) this.#use(Number(value.readBigInt64LE(8 * ++i)), -one);
    }
  }

  /** @param again whether its pages are known */
  #walk(tree: Tree, compare: Compare, visit: Visit, again = false): void {
    this.#counts = { branches: 0, leaves: 0, large: 0, records: 0 };
    if (tree.root !== NO_PAGE) this.#page(Number(tree.root), tree.depth, undefined, undefined, compare, visit, again);
    const { branches, leaves, large, records } = this.#counts;
    if (branches !== tree.branches || leaves !== tree.leaves || large !== tree.large || records !== tree.records)
      throw fault('a database has another size than was written');
  }

  #page(
    number: number,
    depth: number,
    low: Buffer | undefined,
    high: Buffer | undefined,
    compare: Compare,
    visit: Visit,
    again: boolean,
  ): void {
    const page = this.#pages(number, 1, this.#bytes, again);
    const isLeaf = depth === 1;
    if (page.readUInt16LE(18) !== (isLeaf ? LEAF : BRANCH)) throw fault(`page ${number} is of another kind`);
    const nodes = this.#nodes(page, number, isLeaf);
    if (isLeaf) {
      this.#counts.leaves++;
      this.#counts.records += nodes.length;
    } else this.#counts.branches++;
    let before = low;
    for (const [i, node] of nodes.entries()) {
      const { key } = node;
      // A branch has no key in front of its first page.
      if (isLeaf || i > 0) {
        const order = before === undefined ? 1 : compare(key, before);
        const isFirst = isLeaf && i === 0;
        if (order < 0 || (order === 0 && !isFirst) || (high !== undefined && compare(key, high) >= 0))
          throw fault(`the keys of page ${number} do not ascend`);
        before = key;
      }
      if (isLeaf) visit(key, this.#value(page, node, again), node.flags & ~IS_LARGE);
      else this.#page(node.size + node.flags * 2 ** 32, depth - 1, i === 0 ? low : key, nodes[i + 1]?.key ?? high, compare, visit, again);
    }
  }

  #nodes(page: Buffer, number: number, isLeaf: boolean): readonly Node[] {
    const [lower, upper] = [page.readUInt16LE(20), page.readUInt16LE(22)];
    const room = this.#bytes - HEAD_BYTES;
    const wrong = (): Error => fault(`page ${number} has nodes that do not fill it`);
    if (lower % 2 !== 0 || lower === 0 || lower > upper || upper > room) throw wrong();
    const nodes: Node[] = [];
    let filled = 0;
    for (let i = 0; i < lower; i += 2) {
      const start = page.readUInt16LE(HEAD_BYTES + i);
      const from = HEAD_BYTES + start;
      if (start < upper || start % 2 !== 0 || from + 8 > this.#bytes) throw wrong();
      const at = from + 8 + page.readUInt16LE(from + 6);
      const [size, flags] = [page.readUInt32LE(from), page.readUInt16LE(from + 4)];
      if (isLeaf && (flags & ~(IS_LARGE | IS_TREE)) !== 0) throw wrong();
      const held = isLeaf ? ((flags & IS_LARGE) === 0 ? size : HEAD_BYTES) : 0;
      if (at + held > this.#bytes) throw wrong();
      filled += at + held - from;
      filled += filled % 2;
      nodes.push({ key: page.subarray(from + 8, at), flags, size, at });
    }
    if (filled !== room - upper) throw wrong();
    return nodes;
  }

  #value(page: Buffer, { flags, size, at }: Node, again: boolean): Buffer {
    if ((flags & IS_LARGE) === 0) return page.subarray(at, at + size);
    const number = Number(page.readBigUInt64LE(at));
    const count = Number(page.readBigUInt64LE(at + 16));
    // A value that is replaced by a shorter one may keep its pages.
    if (!(HEAD_BYTES + size <= count * this.#bytes)) throw fault(`page ${number} has a value of another size`);
    const large = this.#pages(number, count, HEAD_BYTES + size, again);
    if (large.readUInt16LE(18) !== LARGE || large.readUInt32LE(20) !== count) throw fault(`page ${number} is of another kind`);
    this.#counts.large += count;
    return large.subarray(HEAD_BYTES, HEAD_BYTES + size);
  }

  #pages(number: number, count: number, length: number, again: boolean): Buffer {
    if (!again) this.#use(number, count);
    if (!(number + count <= this.#last + 1)) throw fault(`it has no page ${number}`);
    const bytes = this.#read(number * this.#bytes, length);
    if (Number(bytes.readBigUInt64LE()) !== number || bytes.readBigUInt64LE(8) > this.#transaction)
      throw fault(`page ${number} is another one`);
    return bytes;
  }

  #use(number: number, count: number): void {
    if (!(number >= 0 && number + count - 1 <= Math.max(this.#last, 1))) throw fault(`it has no page ${number}`);
    for (let page = number; page < number + count; page++) {
      const bit = 1 << (page % 8);
      if (((this.#known[page >> 3] as number) & bit) !== 0) throw fault(`page ${page} is used a second time`);
      this.#known[page >> 3] = (this.#known[page >> 3] as number) | bit;
    }
  }

  #read(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    if (readSync(this.#file, bytes, 0, length, at) !== length) throw new Damage('data.mdb is cut off');
    return bytes;
  }
}

function treeAt(bytes: Buffer, at: number, flags: number): Tree {
  const number = (offset: number): number => Number(bytes.readBigUInt64LE(at + offset));
  const depth = bytes.readUInt16LE(at + 6);
  const root = bytes.readBigUInt64LE(at + 40);
  if (bytes.readUInt16LE(at + 4) !== flags || depth > MOST_DEPTH || (depth === 0) !== (root === NO_PAGE))
    throw fault('it has a database of another kind');
  return { depth, branches: number(8), leaves: number(16), large: number(24), records: number(32), root };
}

const SUM_LIMIT = 2 ** 52;

/** Of a set of entries, in whatever order they are added. */
class EntrySum {
  #count = 0;
  #sum = 0;

  add(bits: number, unit: Unit, by: 1 | -1): void {
    let mixed = Math.imul(bits ^ 0x9e3779b9, 0x85ebca6b) ^ (unit % 2 ** 32);
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0xc2b2ae35) ^ Math.floor(unit / 2 ** 32);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0x27d4eb2f);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x165667b1);
    this.#count += by;
    this.#sum = (this.#sum + by * ((mixed ^ (mixed >>> 16)) >>> 0) + SUM_LIMIT) % SUM_LIMIT;
  }

  equals(other: EntrySum): boolean {
    return this.#count === other.#count && this.#sum === other.#sum;
  }
}
