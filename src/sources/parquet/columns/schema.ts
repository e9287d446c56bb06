/** The schema of a file: its columns, each a value, a struct, or a list. */
import { fromBytes } from '../../../core/text.ts';
import type { SchemaElement } from '../file/metadata.ts';
import { BrokenParquet } from '../file/thrift.ts';
import type { Leaf } from '../values/leaf-values.ts';

/** A value that may be read: definition levels from `defined` on mean that it is there. */
interface NodeLevels {
  readonly defined: number;
  /** Positions of its leaves among those of the file: from `first` to before `last`. */
  readonly first: number;
  readonly last: number;
}

export type SchemaNode = LeafNode | StructNode | ListNode;

export interface LeafNode extends NodeLevels {
  readonly kind: 'leaf';
  readonly leaf: Leaf;
  /** Maximum levels. */
  readonly repetition: number;
  readonly definition: number;
}

export interface StructNode extends NodeLevels {
  readonly kind: 'struct';
  readonly members: ReadonlyMap<string, SchemaNode>;
}

export interface ListNode extends NodeLevels {
  readonly kind: 'list';
  readonly element: SchemaNode;
  /** Definition levels from here on mean that the list has an element. */
  readonly filled: number;
  /** Repetition level of an element that is not the first. */
  readonly repetition: number;
}

export interface Schema {
  /** By one-byte UTF-8, in the order of the file. */
  readonly columns: ReadonlyMap<string, SchemaNode>;
  readonly leaves: readonly LeafNode[];
}

/** Of nested columns. */
export const MAX_DEPTH = 100;

export class DeepSchema extends BrokenParquet {}

/** @throws BrokenParquet */
export function buildSchema(elements: readonly SchemaElement[], maxDepth: number): Schema {
  const builder = new Builder(elements, maxDepth);
  const root = builder.take();
  if (root.physical !== undefined) throw new BrokenParquet('its schema has no root');
  const columns = builder.members(root, { repetition: 0, definition: 0 }, 1);
  if (builder.at < elements.length) throw new BrokenParquet('its schema has elements that belong to no column');
  return { columns, leaves: builder.leaves };
}

interface Levels {
  readonly repetition: number;
  readonly definition: number;
}

class Builder {
  at = 0;
  readonly leaves: LeafNode[] = [];
  readonly #elements: readonly SchemaElement[];
  readonly #maxDepth: number;

  constructor(elements: readonly SchemaElement[], maxDepth: number) {
    this.#elements = elements;
    this.#maxDepth = maxDepth;
  }

  take(): SchemaElement {
    const element = this.#elements[this.at++];
    if (element === undefined) throw new BrokenParquet('its schema ends too early');
    return element;
  }

  members({ children }: SchemaElement, levels: Levels, depth: number): Map<string, SchemaNode> {
    const members = new Map<string, SchemaNode>();
    for (let i = 0; i < children; i++) {
      const element = this.take();
      if (members.has(element.name)) throw new BrokenParquet(`its schema names ${JSON.stringify(fromBytes(element.name))} twice`);
      members.set(element.name, this.#node(element, levels, depth));
    }
    return members;
  }

  /** A repeated element is a list, also where no annotation says so. */
  #node(element: SchemaElement, levels: Levels, depth: number): SchemaNode {
    if (element.repetition !== 'repeated') return this.#value(element, levels, depth);
    const { repetition, definition } = levels;
    const inside = { repetition: repetition + 1, definition: definition + 1 };
    const first = this.leaves.length;
    const node = this.#content(element, inside, depth + 1);
    return {
      kind: 'list',
      element: node,
      defined: definition,
      filled: inside.definition,
      repetition: inside.repetition,
      first,
      last: this.leaves.length,
    };
  }

  #value(element: SchemaElement, { repetition, definition }: Levels, depth: number): SchemaNode {
    const optional = element.repetition === 'optional';
    return this.#content(element, { repetition, definition: definition + (optional ? 1 : 0) }, depth);
  }

  /** What is there if the definition level is at least that of `levels`. */
  #content(element: SchemaElement, levels: Levels, depth: number): SchemaNode {
    if (depth > this.#maxDepth) throw new DeepSchema(`Its columns are nested more than ${this.#maxDepth} levels deep`);
    const { physical, length, annotation } = element;
    const first = this.leaves.length;
    if (physical !== undefined) {
      const leaf: LeafNode = {
        kind: 'leaf',
        leaf: { physical, length, annotation },
        ...levels,
        defined: levels.definition,
        first,
        last: first + 1,
      };
      this.leaves.push(leaf);
      return leaf;
    }
    if (element.children === 0)
      throw new BrokenParquet(`its schema has the group ${JSON.stringify(fromBytes(element.name))}, which is empty`);
    const isList = annotation.kind === 'list' || annotation.kind === 'map' || annotation.kind === 'entries';
    const list = isList && element.children === 1 ? this.#list(element, levels, depth) : undefined;
    if (list !== undefined) return list;
    const members = this.members(element, levels, depth + 1);
    return { kind: 'struct', members, defined: levels.definition, first, last: this.leaves.length };
  }

  /**
   * The one child of an annotated list is its repeated element; of three levels the middle one is left out. Of a map it is a struct of key
   * and value.
   *
   * @see https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists, also for the rules of older files
   */
  #list({ name, annotation }: SchemaElement, { repetition, definition }: Levels, depth: number): SchemaNode | undefined {
    const repeated = this.#elements[this.at];
    if (repeated?.repetition !== 'repeated') return undefined;
    this.at++;
    const inside = { repetition: repetition + 1, definition: definition + 1 };
    const first = this.leaves.length;
    const isWrapped =
      annotation.kind === 'list' &&
      repeated.physical === undefined &&
      repeated.children === 1 &&
      this.#elements[this.at]?.repetition !== 'repeated' &&
      repeated.name !== 'array' &&
      repeated.name !== `${name}_tuple`;
    const element = isWrapped ? this.#value(this.take(), inside, depth + 1) : this.#content(repeated, inside, depth + 1);
    return {
      kind: 'list',
      element,
      defined: definition,
      filled: inside.definition,
      repetition: inside.repetition,
      first,
      last: this.leaves.length,
    };
  }
}
