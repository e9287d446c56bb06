/** The tree of inputs as rows: each input, and below it the fields that samples show, with ▸ where there are deeper levels (rule R1). */
import type { FieldRef, Id, Input, Path, Step } from '../../../core/document.ts';
import { fieldName } from '../../../core/elements/path-text.ts';
import type { Schema, SchemaField } from '../../../core/elements/schema.ts';
import { isFlat, pathKey } from '../../../core/levels.ts';
import type { TreeRow } from '../tree.tsx';
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

export type Row = InputRow | FieldRow;

/** Of lists, by the keys of their paths: items of the longest one. */
type Lengths = ReadonlyMap<string, number>;
const NONE: Lengths = new Map();

interface View {
  readonly grouped: boolean;
  readonly longest: Lengths;
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
}

/** What stands below a node, or at the top: hidden nodes give what is below them. */
function below(nodes: readonly Node[], above: Path, { grouped, longest }: View): readonly Placed[] {
  return nodes.flatMap((node): readonly Placed[] => {
    const { path } = node.field;
    const shown = [...above, ...path.slice(above.length)];
    if (!grouped && isEach(path.at(-1))) return itemsOf(node, shown, longest);
    return isHidden(node) ? below(node.children, shown, { grouped, longest }) : [{ node, path: shown }];
  });
}

const itemsOf = (node: Node, path: Path, longest: Lengths): readonly Placed[] =>
  Array.from({ length: Math.min(longest.get(pathKey(node.field.path.slice(0, -1))) ?? 1, MOST_ITEMS) }, (_, index) => ({
    node,
    path: [...path.slice(0, -1), { index }],
    item: index + 1,
  }));

/**
 * @param lengths by input
 * @param open keys of rows that are open
 * @param find only fields with this in their name, and what is above them; all of these are open then
 */
export function rowsOf(
  inputs: readonly Input[],
  schema: Schema,
  lengths: ReadonlyMap<Id, Lengths>,
  open: ReadonlySet<string>,
  find: string,
): readonly Row[] {
  const wanted = find.trim().toLowerCase();
  const rows: Row[] = [];
  inputs.forEach((input, i) => {
    const fields = schema.get(input.id);
    const view = { grouped: input.grouped, longest: lengths.get(input.id) ?? NONE };
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
  shown.forEach(({ node, path, item }, i) => {
    const children = below(node.children, path, view);
    const key = `${input.id}:${pathKey(path)}`;
    const isOpen = children.length === 0 ? undefined : wanted !== '' || open.has(key);
    const text = item === undefined ? fieldName(path) : WORDS.item(item);
    const row = { kind: 'field', key, input, ref: { input: input.id, path }, field: node.field, text, level, isOpen } as const;
    rows.push({ ...row, name: nameOf(row), position: i + 1, size: shown.length });
    if (isOpen) addFields(rows, input, view, children, level + 1, open, text.toLowerCase().includes(wanted) ? '' : wanted);
  });
}

const hasName = ({ node }: Placed, wanted: string): boolean => namesBelow(node).some((name) => name.includes(wanted));
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
