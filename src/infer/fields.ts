/** What the beginning of an input shows of its fields, level by level: for the input blocks of the studio. */

import { commonKind, type Kind, kindOf, kindOfDatatype } from './kinds.ts';
import { isArray, isMembers, type Tree, type TypedText } from './sample.ts';

/** As in the documents of the studio: a member or element, an attribute of XML, an item of a list, the text of an element. */
export type FieldStep = { readonly name: string } | { readonly attribute: string } | { readonly each: true } | { readonly text: true };

/** What was read of the values of a field. */
export interface FieldValues {
  /** The narrowest kind that all values have. */
  readonly kind: Kind;
  /** Number of values by kind. */
  readonly kinds: Readonly<Partial<Record<Kind, number>>>;
  /** Objects of its level that were read; of an item of a list: items. */
  readonly objects: number;
  readonly values: number;
  /** Objects without the field. */
  readonly absent: number;
  readonly nulls: number;
  /** Different values; `isDistinctCut`: at least so many. */
  readonly distinct: number;
  readonly isDistinctCut: boolean;
  /** The first different values, the beginning of each. */
  readonly examples: readonly string[];
  /**
   * With `FieldOptions.items`: values of single items, the beginning of each. `at`: positions in the lists on the way, from 0; of records, that
   * of the record first.
   */
  readonly items?: readonly { readonly at: readonly number[]; readonly value: string }[];
}

export interface Field {
  /** From the root of a document; of rows, JSON Lines and Parquet from the record. */
  readonly path: readonly FieldStep[];
  readonly holds: 'value' | 'list' | 'object';
  /** Absent: what holds lists and objects alone. */
  readonly values?: FieldValues;
  /** Of lists: the items of all of them, and of the longest one. */
  readonly items?: number;
  readonly longest?: number;
  /** An object with so many keys of one shape that the keys are data: its members are the items of a list. */
  readonly keysAreData?: true;
  /** With `FieldOptions.items`: the single lists and objects that stand there, with positions as of single values. `items`: of a list. */
  readonly single?: readonly { readonly at: readonly number[]; readonly items?: number }[];
}

export interface Fields {
  /** In the order of the document, each before those within it. */
  readonly fields: readonly Field[];
  /** Rows, or items of the outermost list. */
  readonly records: number;
  /** What was left out, as messages. */
  readonly notes: readonly string[];
}

const MAX_FIELDS = 20_000;
const MAX_LEVELS = 64;
/** Of all paths and examples, in characters of JSON. */
const MAX_CHARACTERS = 2 * 2 ** 20;
const MAX_DISTINCT = 1_000;
const EXAMPLES = 3;
const EXAMPLE_CHARACTERS = 60;
/** Of each list, the first ones, of which values are kept; and such values of a field. */
const SINGLE_ITEMS = 20;
const SINGLE_VALUES = 400;
/** An object with more members, all of one shape, is a list with keys. */
const MAX_KEYS = 200;

interface Node {
  readonly path: readonly FieldStep[];
  readonly children: Map<string, Node>;
  /** Times that an object stands here, a list, null. */
  objects: number;
  lists: number;
  nulls: number;
  items: number;
  longest: number;
  keysAreData: boolean;
  values: number;
  readonly kinds: Map<Kind, number>;
  readonly seen: Set<string>;
  /** Values of single items, by their positions. */
  readonly single: Map<string, string>;
  /** Single lists, with the number of their items, and objects, by their positions. */
  readonly standing: Map<string, number | undefined>;
}

export interface FieldOptions {
  /** The items of the root are the records, and paths begin with a record. */
  readonly hasRecords: boolean;
  /** An element that stands alone in one place and repeated in another is a list in both. */
  readonly isXml: boolean;
  /** Whether values of single items are wanted. */
  readonly items?: boolean;
  /** Texts that mean null. */
  readonly nulls?: readonly string[] | undefined;
}

/** @param root see `DocumentSample` */
export function fieldsOf(root: Tree, options: FieldOptions): Fields {
  return new FieldReader(options).read(root);
}

class FieldReader {
  readonly #options: FieldOptions;
  readonly #notes = new Set<string>();
  /** Of XML: `findLists`. */
  readonly #lists = new Set<string>();
  #count = 0;

  constructor(options: FieldOptions) {
    this.#options = options;
  }

  read(root: Tree): Fields {
    const top = nodeAt([]);
    const records = this.#options.hasRecords && isArray(root) ? root : [root];
    if (this.#options.isXml) this.#findLists(root, '');
    for (const [i, record] of records.entries())
      this.#visit(top, record, this.#options.hasRecords ? (i < SINGLE_ITEMS ? [i] : undefined) : []);
    const fields: Field[] = [];
    this.#list(top, records.length, fields);
    const counted = this.#options.hasRecords ? records.length : top.lists > 0 ? top.items : (outermostList(fields)?.items ?? 1);
    return { fields: this.#withinAnswer(fields), records: counted, notes: [...this.#notes] };
  }

  /** The names on the way to elements that are repeated somewhere. */
  #findLists(tree: Tree, key: string): void {
    if (isArray(tree)) {
      this.#lists.add(key);
      for (const item of tree) this.#findLists(item, key);
    } else if (isMembers(tree)) for (const [name, inner] of tree.members) this.#findLists(inner, `${key}/${name}`);
  }

  /** @param at positions in the lists on the way; undefined: too far behind, or not wanted */
  #visit(node: Node, tree: Tree, at: readonly number[] | undefined): void {
    const items = isArray(tree) ? tree : this.#isRepeated(node) ? [tree] : this.#keyedItems(node, tree);
    if (items !== undefined) {
      node.lists++;
      node.items += items.length;
      node.longest = Math.max(node.longest, items.length);
      this.#stands(node, at, items.length);
      const each = this.#child(node, { each: true });
      if (each !== undefined)
        for (const [i, item] of items.entries()) this.#visit(each, item, at && i < SINGLE_ITEMS ? [...at, i] : undefined);
    } else if (tree === null || this.#isNull(tree)) node.nulls++;
    else if (isMembers(tree)) {
      node.objects++;
      this.#stands(node, at, undefined);
      for (const [name, inner] of tree.members) {
        const child = this.#child(node, stepOf(name, this.#options.isXml));
        if (child !== undefined) this.#visit(child, inner, at);
      }
    } else count(node, tree as string | TypedText, this.#options.items === true ? at : undefined);
  }

  #stands({ standing }: Node, at: readonly number[] | undefined, items: number | undefined): void {
    if (this.#options.items === true && at !== undefined && standing.size < SINGLE_VALUES) standing.set(at.join('.'), items);
  }

  #isNull(tree: Tree): boolean {
    const { nulls = [] } = this.#options;
    if (nulls.length === 0 || tree === null || isArray(tree) || isMembers(tree)) return false;
    return nulls.includes(typeof tree === 'string' ? tree : tree.text);
  }

  /** An element of XML that stands alone here, and repeated elsewhere. */
  #isRepeated(node: Node): boolean {
    if (this.#lists.size === 0 || isItem(node)) return false;
    return this.#lists.has(node.path.map((step) => ('each' in step ? '' : `/${nameOf(step)}`)).join(''));
  }

  /** The members of an object whose keys are data. */
  #keyedItems(node: Node, tree: Tree): readonly Tree[] | undefined {
    if (this.#options.isXml || !isMembers(tree)) return undefined;
    if (!node.keysAreData) {
      if (tree.members.size <= MAX_KEYS || node.path.length === 0 || !haveOneShape([...tree.members.values()])) return undefined;
      // Keys that were seen in smaller objects before.
      node.children.clear();
      node.objects = 0;
      node.keysAreData = true;
    }
    return [...tree.members.values()];
  }

  #child(node: Node, step: FieldStep): Node | undefined {
    const key = keyOf(step);
    const known = node.children.get(key);
    if (known !== undefined) return known;
    if (this.#count >= MAX_FIELDS) {
      this.#notes.add(`More than ${MAX_FIELDS} fields: the others are left out`);
      return undefined;
    }
    const path = [...node.path, step];
    if (path.length > MAX_LEVELS) {
      this.#notes.add(`What is nested more than ${MAX_LEVELS} levels deep is left out`);
      return undefined;
    }
    this.#count++;
    const child = nodeAt(path);
    node.children.set(key, child);
    return child;
  }

  /** @param owners objects that could have the field */
  #list(node: Node, owners: number, into: Field[]): void {
    if (node.path.length > 0) into.push(fieldOf(node, owners));
    for (const child of node.children.values()) {
      this.#list(child, isItem(child) ? timesOf(child) : node.objects, into);
    }
  }

  #withinAnswer(fields: readonly Field[]): readonly Field[] {
    let characters = 0;
    const cut = fields.findIndex((field) => {
      characters += JSON.stringify(field).length + 1;
      return characters > MAX_CHARACTERS;
    });
    if (cut < 0) return fields;
    this.#notes.add(`The answer would be larger than ${MAX_CHARACTERS / 2 ** 20} MiB: ${fields.length - cut} fields are left out`);
    return fields.slice(0, cut);
  }
}

const nodeAt = (path: readonly FieldStep[]): Node => ({
  path,
  children: new Map(),
  objects: 0,
  lists: 0,
  nulls: 0,
  items: 0,
  longest: 0,
  keysAreData: false,
  values: 0,
  kinds: new Map(),
  seen: new Set(),
  single: new Map(),
  standing: new Map(),
});

const isItem = ({ path }: Node): boolean => {
  const last = path.at(-1);
  return last !== undefined && 'each' in last;
};

/** How often it was there. */
const timesOf = ({ values, nulls, lists, objects }: Node): number => values + nulls + lists + objects;

/** A member of a tree as a step: `@name` and `.` are XML's. */
function stepOf(name: string, isXml: boolean): FieldStep {
  if (!isXml) return { name };
  if (name === '.') return { text: true };
  return name.startsWith('@') ? { attribute: name.slice(1) } : { name };
}

/** As a member of a tree. */
const nameOf = (step: FieldStep): string => ('name' in step ? step.name : 'attribute' in step ? `@${step.attribute}` : '.');

const keyOf = (step: FieldStep): string =>
  'name' in step ? `.${step.name}` : 'attribute' in step ? `@${step.attribute}` : 'each' in step ? '*' : 'text()';

function outermostList(fields: readonly Field[]): Field | undefined {
  const lists = fields.filter(({ holds }) => holds === 'list');
  return lists.find(({ path }) => lists.every((other) => path.length <= other.path.length));
}

/** All objects, all lists, or all values. */
function haveOneShape(trees: readonly Tree[]): boolean {
  const shapes = new Set(
    trees.filter((tree) => tree !== null).map((tree) => (isArray(tree) ? 'list' : isMembers(tree) ? 'object' : 'value')),
  );
  if (shapes.size !== 1) return false;
  if (!shapes.has('object')) return true;
  const names = new Set(trees.flatMap((tree) => (isMembers(tree) ? [...tree.members.keys()] : [])));
  return names.size <= MAX_KEYS;
}

function count(node: Node, value: string | TypedText, at: readonly number[] | undefined): void {
  const text = typeof value === 'string' ? value : value.text;
  const kind = typeof value === 'string' ? kindOf(text) : (kindOfDatatype(value.datatype) ?? kindOf(text));
  node.values++;
  node.kinds.set(kind, (node.kinds.get(kind) ?? 0) + 1);
  if (node.seen.size < MAX_DISTINCT) node.seen.add(text);
  if (at === undefined || at.length === 0 || node.single.size >= SINGLE_VALUES) return;
  const key = at.join('.');
  if (!node.single.has(key)) node.single.set(key, beginningOf(text));
}

function fieldOf(node: Node, owners: number): Field {
  const holds = node.lists > 0 ? 'list' : node.objects > 0 ? 'object' : 'value';
  const kinds = [...node.kinds.keys()];
  const values: FieldValues = {
    kind: kinds.length === 0 ? 'text' : kinds.reduce(commonKind),
    kinds: Object.fromEntries(node.kinds),
    objects: owners,
    values: node.values,
    absent: Math.max(0, owners - timesOf(node)),
    nulls: node.nulls,
    distinct: node.seen.size,
    isDistinctCut: node.seen.size >= MAX_DISTINCT,
    examples: [...node.seen].slice(0, EXAMPLES).map(beginningOf),
    ...(node.single.size > 0 && { items: [...node.single].map(([at, value]) => ({ at: positionsOf(at), value })) }),
  };
  return {
    path: node.path,
    holds,
    ...(holds === 'value' || node.values > 0 ? { values } : {}),
    ...(node.lists > 0 ? { items: node.items, longest: node.longest } : {}),
    ...(node.keysAreData ? { keysAreData: true } : {}),
    ...(node.standing.size > 0 && {
      single: [...node.standing].map(([at, items]) => ({ at: positionsOf(at), ...(items !== undefined && { items }) })),
    }),
  };
}

const positionsOf = (at: string): readonly number[] => (at === '' ? [] : at.split('.').map(Number));

/** By code points: a cut within a pair of surrogates would give half a character. */
export function beginningOf(text: string): string {
  if (text.length <= EXAMPLE_CHARACTERS) return text;
  return `${Array.from(text.slice(0, EXAMPLE_CHARACTERS)).slice(0, -1).join('')}…`;
}
