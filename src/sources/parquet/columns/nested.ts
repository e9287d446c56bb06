/**
 * A column whose values are structs and lists, put together of its leaves: values as JSON has them.
 *
 * @see https://research.google/pubs/pub36632/ (Dremel), section 4.1: repetition and definition levels
 */
import { BrokenParquet } from '../file/thrift.ts';
import type { ChunkPages, DataPage } from '../pages/chunk.ts';
import type { LeafNode, SchemaNode } from './schema.ts';

/** Values of a leaf that are loaded at once, unless one row has more. */
const LOADED_VALUES = 1 << 13;
const STEP = 512;

export class LargeRow extends Error {}

/** The values of one leaf, with their levels. */
class Cursor {
  readonly #node: LeafNode;
  readonly #maxValues: number;
  #pages: ChunkPages<unknown> | undefined;
  #page: DataPage<unknown> | undefined;
  #left = 0;
  #ended = false;
  #repetitions: number[] = [];
  #definitions: number[] = [];
  #values: unknown[] = [];
  #starts = 0;
  #at = 0;
  #valueAt = 0;
  readonly #levels = new Uint32Array(STEP);
  readonly #taken: unknown[] = [];

  constructor(node: LeafNode, maxValues: number) {
    this.#node = node;
    this.#maxValues = maxValues;
  }

  start(pages: ChunkPages<unknown>): void {
    this.#pages = pages;
    this.#page = undefined;
    this.#left = 0;
    this.#ended = false;
    this.#repetitions = [];
    this.#definitions = [];
    this.#values = [];
    this.#starts = 0;
    this.#at = 0;
    this.#valueAt = 0;
  }

  /** Complete rows that are loaded: `wanted` if memory allows, at least one, or none behind the last. */
  async load(wanted: number): Promise<number> {
    this.#drop();
    while (!this.#ended && this.#starts <= wanted && (this.#repetitions.length < LOADED_VALUES || this.#starts < 2)) {
      if (this.#repetitions.length > this.#maxValues) throw new LargeRow();
      if (this.#left === 0) {
        this.#page = undefined;
        this.#page = await this.#pages?.next();
        this.#left = this.#page?.count ?? 0;
        this.#ended = this.#page === undefined;
      } else this.#step(this.#page as DataPage<unknown>);
    }
    return this.#ended ? this.#starts : this.#starts - 1;
  }

  get repetition(): number {
    return this.#at < this.#repetitions.length ? (this.#repetitions[this.#at] as number) : 0;
  }

  get definition(): number {
    if (this.#at >= this.#definitions.length) throw new BrokenParquet('the columns of a nested value do not fit together');
    return this.#definitions[this.#at] as number;
  }

  /** The value, or null; moves on. */
  next(): unknown {
    const there = this.definition === this.#node.definition;
    this.#at++;
    return there ? this.#values[this.#valueAt++] : null;
  }

  #drop(): void {
    for (let i = 0; i < this.#at; i++) if (this.#repetitions[i] === 0) this.#starts--;
    this.#repetitions.splice(0, this.#at);
    this.#definitions.splice(0, this.#at);
    this.#values.splice(0, this.#valueAt);
    this.#at = 0;
    this.#valueAt = 0;
  }

  #step({ repetitions, definitions, values }: DataPage<unknown>): void {
    const size = Math.min(STEP, this.#left);
    this.#left -= size;
    const { repetition, definition } = this.#node;
    const levels = this.#levels;
    if (repetitions === undefined) levels.fill(0);
    else repetitions.read(levels, size);
    if (this.#repetitions.length === 0 && levels[0] !== 0) throw new BrokenParquet('a column begins within a row');
    for (let i = 0; i < size; i++) {
      const level = levels[i] as number;
      if (level > repetition) throw new BrokenParquet('a page has levels that its column does not have');
      if (level === 0) this.#starts++;
      this.#repetitions.push(level);
    }
    if (definitions === undefined) levels.fill(definition);
    else definitions.read(levels, size);
    let present = 0;
    for (let i = 0; i < size; i++) {
      const level = levels[i] as number;
      if (level > definition) throw new BrokenParquet('a page has levels that its column does not have');
      if (level === definition) present++;
      this.#definitions.push(level);
    }
    if (present === 0) return;
    values.read(this.#taken, present);
    for (let i = 0; i < present; i++) this.#values.push(this.#taken[i]);
  }
}

export class NestedColumn {
  readonly #node: SchemaNode;
  readonly #cursors: readonly Cursor[];

  /** @param leaves of the file @param maxValues of one leaf in one row */
  constructor(node: SchemaNode, leaves: readonly LeafNode[], maxValues: number) {
    this.#node = node;
    this.#cursors = leaves.slice(node.first, node.last).map((leaf) => new Cursor(leaf, maxValues));
  }

  /** Positions of its leaves among those of the file. */
  get leaves(): readonly number[] {
    return this.#cursors.map((_, i) => this.#node.first + i);
  }

  start(pages: readonly ChunkPages<unknown>[]): void {
    for (const [i, cursor] of this.#cursors.entries()) cursor.start(pages[i] as ChunkPages<unknown>);
  }

  /** Rows that can be taken, up to `wanted`. */
  async load(wanted: number): Promise<number> {
    let rows = wanted;
    for (const cursor of this.#cursors) rows = Math.min(rows, await cursor.load(wanted));
    return rows;
  }

  take(count: number): unknown[] {
    const taken: unknown[] = new Array(count);
    for (let i = 0; i < count; i++) {
      taken[i] = this.#build(this.#node);
      for (const cursor of this.#cursors)
        if (cursor.repetition !== 0) throw new BrokenParquet('the columns of a nested value do not fit together');
    }
    return taken;
  }

  /** @throws BrokenParquet — there are more values than rows */
  async end(): Promise<void> {
    if ((await this.load(1)) > 0) throw new BrokenParquet('a column has more values than its row group has rows');
  }

  #build(node: SchemaNode): unknown {
    const first = this.#cursors[node.first - this.#node.first] as Cursor;
    if (node.kind === 'leaf') return first.next();
    const { definition } = first;
    if (definition < node.defined) return this.#pass(node, null);
    if (node.kind === 'list') {
      if (definition < node.filled) return this.#pass(node, []);
      const elements: unknown[] = [];
      do elements.push(this.#build(node.element));
      while (first.repetition === node.repetition);
      return elements;
    }
    const members: Record<string, unknown> = {};
    for (const [name, member] of node.members) {
      const value = this.#build(member);
      if (name === '__proto__') Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
      else members[name] = value;
    }
    return members;
  }

  /** All leaves have one entry for what is not there. */
  #pass(node: SchemaNode, value: null | readonly never[]): unknown {
    for (let i = node.first; i < node.last; i++) (this.#cursors[i - this.#node.first] as Cursor).next();
    return value;
  }
}
