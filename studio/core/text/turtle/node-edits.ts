/** Edits within one node of a text of Turtle: of the properties that have changed, and of no others. */
import type { Anchor } from '../../document.ts';
import type { TextEdit } from '../../history/edits.ts';
import { objectKey, type PrintedDocument, type Tree, treeKey } from './printed.ts';
import type { TreeNode, TreeObject, TreeProperty } from './tree.ts';

/** @returns undefined: the text says this in another way than it would be printed, so the object is to be rewritten */
export function nodeEdits(
  text: string,
  printed: PrintedDocument,
  object: TreeObject,
  before: Tree,
  after: Tree,
): readonly TextEdit[] | undefined {
  if (treeKey(before) === treeKey(after)) return [];
  const { from, to } = object;
  const whole = (): readonly TextEdit[] => [{ from, to, text: printed.object(after, indentAt(text, from)) }];
  if (before.properties === undefined) return objectKey(object) === treeKey(before) ? whole() : undefined;
  if (after.properties === undefined || object.kind !== 'node') return undefined;
  const edits: TextEdit[] = [];
  const removed = new Set<TreeProperty>();
  const { node } = object;
  for (const iri of new Set([...before.properties.keys(), ...after.properties.keys()])) {
    const [old, next] = [before.properties.get(iri) ?? [], after.properties.get(iri) ?? []];
    if (sameKeys(old.map(treeKey), next.map(treeKey))) continue;
    const here = node.properties.filter((property) => property.iri === iri);
    const [property] = here;
    if (old.length === 0) {
      const last = node.properties.at(-1);
      if (property !== undefined || last === undefined) return undefined;
      const gap = text.slice(from, to).includes('\n') ? `\n${indentAt(text, last.from)}` : ' ';
      const objects = next.map((one) => printed.object(one, indentAt(text, last.from))).join(', ');
      edits.push({ from: last.to, to: last.to, text: ` ;${gap}${printed.iri(iri)} ${objects}` });
      continue;
    }
    if (property === undefined || here.length > 1) return undefined;
    const [one, other] = [old[0] as Tree, next[0]];
    const [first] = property.objects;
    if (next.length === 0) {
      if (!says(property, old)) return undefined;
      removed.add(property);
    } else if (old.length === 1 && next.length === 1 && property.objects.length === 1) {
      const inner = nodeEdits(text, printed, first as TreeObject, one, other as Tree);
      if (inner === undefined) return undefined;
      edits.push(...inner);
    } else {
      if (!says(property, old)) return undefined;
      const indent = indentAt(text, property.from);
      const objects = next.map((each) => printed.object(each, indent)).join(', ');
      edits.push({ from: (first as TreeObject).from, to: (property.objects.at(-1) as TreeObject).to, text: objects });
    }
  }
  const ranges = rangesOfProperties(text, node, removed);
  return ranges && [...edits, ...ranges.map((range) => ({ ...range, text: '' }))];
}

const sameKeys = (a: readonly string[], b: readonly string[]): boolean => [...a].sort().join('\n') === [...b].sort().join('\n');

/** Whether a property has these objects and no others. */
const says = ({ objects }: TreeProperty, trees: readonly Tree[]): boolean => sameKeys(objects.map(objectKey), trees.map(treeKey));

/** The indentation of the line that an offset is in. */
export function indentAt(text: string, offset: number): string {
  const line = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(line))?.[0] ?? '';
}

/**
 * What goes when properties of a node are removed: each with its `;` and the comment on its line. The comment behind the property before it
 * stays.
 *
 * @returns undefined: nothing would be left of the node
 */
export function rangesOfProperties(
  text: string,
  { properties }: TreeNode,
  removed: ReadonlySet<TreeProperty>,
): readonly Anchor[] | undefined {
  if (removed.size === 0) return [];
  const lastKept = properties.findLastIndex((property) => !removed.has(property));
  const kept = properties[lastKept];
  if (kept === undefined) return undefined;
  const ranges = properties
    .slice(0, lastKept)
    .filter((property) => removed.has(property))
    .map(({ from, to }) => ({ from, to: to + (/^\s*;[ \t]*(?:#[^\r\n]*)?(?:\r?\n[ \t]*)?/.exec(text.slice(to))?.[0].length ?? 0) }));
  const first = properties[lastKept + 1];
  if (first === undefined) return ranges;
  const isPlain = /^[\s;]*$/.test(text.slice(kept.to, first.from));
  return [...ranges, { from: isPlain ? kept.to : first.from, to: (properties.at(-1) as TreeProperty).to }];
}

/** A statement with its comment on the same line, and the line ends behind it. */
export function wholeLine(text: string, { from, to }: Anchor): Anchor {
  const rest = /^[ \t]*(?:#[^\r\n]*)?(?:\r?\n){0,2}/.exec(text.slice(to))?.[0] ?? '';
  return { from, to: to + rest.length };
}
