/** The tree of inputs as rows: each input, and below it the fields that samples show, with ▸ where there are deeper levels (rule R1). */
import { addPosition } from '../../../client/items.ts';
import type { Sample } from '../../../client/samples.ts';
import type { FieldRef, Id, Input, Path, Step } from '../../../core/document.ts';
import type { UsedItem } from '../../../core/elements/items.ts';
import { fieldName } from '../../../core/elements/path-text.ts';
import { positionsIn, type Schema, type SchemaField } from '../../../core/elements/schema.ts';
import { isFlat, pathKey, samePath, viewOf } from '../../../core/levels.ts';
import type { TreeRow } from './tree-row.ts';
import { WORDS } from './words.ts';

export interface InputRow extends TreeRow {
  readonly kind: 'input';
  readonly input: Input;
}

export interface FieldRow extends TreeRow {
  readonly kind: 'field';
  readonly input: Input;
  readonly ref: FieldRef;
  readonly field: SchemaField;
  readonly text: string;
}

/** Where items that are not shown can be looked up. */
export interface MoreRow extends TreeRow {
  readonly kind: 'more';
  readonly input: Input;
  /** With indices for the lists above, and `each` at the end. */
  readonly list: Path;
  /** Positions of the items that are shown end there. */
  readonly shown: number;
}

export type Row = InputRow | FieldRow | MoreRow;

/** What samples show of the lists of an input, and the items that the model reads. */
export type Lists = Pick<Sample, 'longest' | 'lookedUp' | 'complete' | 'single' | 'singleCut'>;
const NONE: Lists = { longest: new Map(), lookedUp: new Map(), complete: true, singleCut: new Set() };

/** @param sample undefined: none was read */
export function listsOf(sample: Lists | undefined, used: readonly UsedItem[]): Lists {
  const lists = sample ?? NONE;
  if (used.length === 0) return lists;
  const lookedUp = new Map(lists.lookedUp);
  for (const { list, position } of used) addPosition(lookedUp, list, position);
  return { ...lists, lookedUp };
}

interface View {
  readonly grouped: boolean;
  readonly lists: Lists;
}

/** Items of a list that are offered one by one when grouping is off. */
const MOST_ITEMS = 20;

/** A field with what is below it. */
interface Node {
  readonly field: SchemaField;
  readonly children: Node[];
}

const trees = new WeakMap<ReadonlyMap<string, SchemaField>, readonly Node[]>();

/** The fields of an input as trees. A list is its own node; its items are its only child. */
function treeOf(fields: ReadonlyMap<string, SchemaField>): readonly Node[] {
  const known = trees.get(fields);
  if (known !== undefined) return known;
  const nodes = new Map([...fields].map(([key, field]) => [key, { field, children: [] } as Node]));
  const roots: Node[] = [];
  for (const node of nodes.values()) {
    const parent = parentIn(nodes, node.field.path);
    (parent?.children ?? roots).push(node);
  }
  trees.set(fields, roots);
  return roots;
}

function parentIn(nodes: ReadonlyMap<string, Node>, path: Path): Node | undefined {
  for (let length = path.length - 1; length >= 0; length--) {
    const parent = nodes.get(pathKey(path.slice(0, length)));
    if (parent !== undefined) return parent;
  }
  return undefined;
}

const isEach = (step: Step | undefined): boolean => step !== undefined && 'each' in step;

/** The root of a document, and its list or its items, are the input itself: their rows are left out. */
const isHidden = ({ field: { path, holds } }: Node): boolean => holds !== 'value' && (path.length === 0 || isEach(path.at(-1)));

interface Placed {
  readonly node: Node;
  /** As it is shown: with indices where grouping is off. */
  readonly path: Path;
  /** An item of a list that is chosen alone. */
  readonly item?: number;
  /** Further items of a list, of which so many are shown. */
  readonly more?: number;
}

/** What stands below a node, or at the top: hidden nodes give what is below them. */
function below(nodes: readonly Node[], above: Path, view: View): readonly Placed[] {
  return nodes.flatMap((node): readonly Placed[] => {
    const { path } = node.field;
    const shown = [...above, ...path.slice(above.length)];
    if (!view.grouped && isEach(path.at(-1))) return itemsOf(node, shown, view.lists);
    if (isHidden(node)) return below(node.children, shown, view);
    return view.grouped || mayStand(node, shown, view.lists) ? [{ node, path: shown }] : [];
  });
}

/** Whether a list or object may stand in a single object: not where samples show that it does not. */
function mayStand({ field: { path, holds, sample } }: Node, at: Path, { single, singleCut, lookedUp }: Lists): boolean {
  if (single === undefined || holds === 'value' || sample !== undefined || viewOf(at) !== 'ungrouped') return true;
  return single.has(pathKey(at)) || lookedUp.has(pathKey(at)) || !isShown(path, at, singleCut);
}

/** Whether samples show all that stands in a single object, at a path of any. */
const isShown = (path: Path, at: Path, singleCut: Lists['singleCut']): boolean =>
  !singleCut.has(pathKey(path)) && at.every((step) => !('index' in step) || step.index < MOST_ITEMS);

function itemsOf(node: Node, path: Path, { longest, lookedUp, complete, single, singleCut }: Lists): readonly Placed[] {
  const list = path.slice(0, -1);
  const any = node.field.path.slice(0, -1);
  const isOutermost = !list.some((step) => 'index' in step);
  const known = single?.get(pathKey(list));
  const length = typeof known === 'number' ? known : isOutermost || single === undefined ? (longest.get(pathKey(any)) ?? 1) : 0;
  const first = Array.from({ length: Math.min(length, MOST_ITEMS) }, (_, index) => index);
  const others = (lookedUp.get(pathKey(list)) ?? []).filter((index) => index >= first.length);
  const items = [...first, ...others].map((index) => ({ node, path: [...list, { index }], item: index + 1 }));
  // Of an input that was not read to its end, the outermost list may go on; of an item that was looked up, the lists are not known.
  const hasMore =
    length > MOST_ITEMS || (isOutermost ? !complete : single !== undefined && known === undefined && !isShown(any, list, singleCut));
  return hasMore ? [...items, { node, path, more: first.length }] : items;
}

/**
 * @param lists by input
 * @param open keys of rows that are open
 * @param find only fields with this in their name, and what is above them; all of these are open then
 */
export function rowsOf(
  inputs: readonly Input[],
  schema: Schema,
  lists: ReadonlyMap<Id, Lists>,
  open: ReadonlySet<string>,
  find: string,
): readonly Row[] {
  const wanted = find.trim().toLowerCase();
  const rows: Row[] = [];
  inputs.forEach((input, i) => {
    const fields = schema.get(input.id);
    const view = { grouped: input.grouped, lists: lists.get(input.id) ?? NONE };
    const top = fields === undefined ? [] : below(treeOf(fields), [], view);
    const isFound = wanted === '' || top.some((one) => hasName(one, wanted));
    if (!isFound && !input.name.toLowerCase().includes(wanted)) return;
    const key = input.id;
    const isOpen = wanted !== '' || open.has(key);
    rows.push({
      kind: 'input',
      key,
      input,
      level: 1,
      name: hasSwitch(input) ? input.name : `${input.name}, ${WORDS.flat}`,
      position: i + 1,
      size: inputs.length,
      isOpen: top.length === 0 ? undefined : isOpen,
    });
    if (isOpen) addFields(rows, input, view, top, 2, open, isFound ? wanted : '');
  });
  return rows;
}

/** The paths of what stands in one object of an input that is shown object by object: of fields, and of lists and objects by name. */
export function pathsIn(fields: ReadonlyMap<string, SchemaField>, lists: Lists | undefined, object: Path): readonly Path[] {
  const view = { grouped: false, lists: lists ?? NONE };
  const found: Path[] = [];
  const walk = (placed: readonly Placed[]): void => {
    for (const { node, path, more } of placed) {
      const depth = Math.min(path.length, object.length);
      if (more !== undefined || !samePath(path.slice(0, depth), object.slice(0, depth))) continue;
      const last = path.at(-1);
      const isNamed = node.field.holds === 'value' || (last !== undefined && !('index' in last));
      if (path.length > object.length && isNamed) found.push(path);
      walk(below(node.children, path, view));
    }
  };
  walk(below(treeOf(fields), [], view));
  return found;
}

function addFields(
  rows: Row[],
  input: Input,
  view: View,
  placed: readonly Placed[],
  level: number,
  open: ReadonlySet<string>,
  wanted: string,
): void {
  const shown = wanted === '' ? placed : placed.filter((one) => hasName(one, wanted));
  shown.forEach(({ node, path, item, more }, i) => {
    const place = { level, position: i + 1, size: shown.length };
    if (more !== undefined) {
      const key = `${input.id}:${pathKey(path)}`;
      rows.push({ kind: 'more', key, input, list: path, shown: more, name: WORDS.otherItems, isOpen: undefined, ...place });
      return;
    }
    const children = below(node.children, path, view);
    const key = `${input.id}:${pathKey(path)}`;
    const isOpen = children.length === 0 ? undefined : wanted !== '' || open.has(key);
    const text = item === undefined ? fieldName(path) : WORDS.item(item);
    const field = viewOf(path) === 'ungrouped' ? ofOneObject(node.field, path) : node.field;
    const row = { kind: 'field', key, input, ref: { input: input.id, path }, field, text, isOpen, ...place } as const;
    rows.push({ ...row, name: nameOf(row) });
    if (isOpen) addFields(rows, input, view, children, level + 1, open, text.toLowerCase().includes(wanted) ? '' : wanted);
  });
}

/** What samples show of one object: its own value, and nothing of how it compares with others. */
function ofOneObject({ path, holds, sample, kind = sample?.kind }: SchemaField, at: Path): SchemaField {
  const value = sample?.items?.get(positionsIn(at));
  if (value === undefined || kind === undefined) return { path, holds, ...(kind !== undefined && { kind }) };
  return { path, holds, sample: { kind, objects: 1, values: 1, missing: 0, distinct: 1, isDistinctCut: false, examples: [value] } };
}

const hasName = ({ node, more }: Placed, wanted: string): boolean =>
  more === undefined && namesBelow(node).some((name) => name.includes(wanted));
const namesBelow = (node: Node): readonly string[] => [fieldName(node.field.path).toLowerCase(), ...node.children.flatMap(namesBelow)];

/** What a screen reader says of a field. */
function nameOf({ text, field }: Pick<FieldRow, 'text' | 'field'>): string {
  if (field.holds !== 'value') return `${text}, ${WORDS[field.holds]}`;
  const { sample, kind = sample?.kind } = field;
  const example = sample?.examples[0];
  return [text, kind && WORDS.kinds[kind], example, nullShare(field), keySign(field)].filter((part) => part !== undefined).join(', ');
}

/** `12 %` of the objects have no value; undefined: all have one. */
export function nullShare({ sample }: SchemaField): string | undefined {
  if (sample === undefined || sample.missing === 0 || sample.objects === 0) return undefined;
  const share = (100 * sample.missing) / sample.objects;
  return WORDS.empty_(`${share < 1 ? '<1' : Math.round(share)} %`);
}

/** A field that is there and different in all records that were read may identify them. */
export function keySign({ sample }: SchemaField): string | undefined {
  if (sample === undefined || sample.missing > 0 || sample.values < 2) return undefined;
  const isKey = sample.values === sample.objects && (sample.distinct === sample.values || sample.isDistinctCut);
  return isKey ? WORDS.different(sample.distinct, sample.objects) : undefined;
}

/** Whether the switch of rule R5 stands beside the name. */
export const hasSwitch = ({ format }: Input): boolean => !isFlat(format);
