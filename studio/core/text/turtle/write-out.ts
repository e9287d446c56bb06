/**
 * A text of Turtle in a form in which each drawn element can be changed alone: a predicate object map that holds what is drawn and what is kept
 * as text becomes two, a triples map in brackets gets a name, and a logical view gets the names that drawing gives. The rest stays, byte for byte.
 */
import type { Mapping } from '../../../../src/mapping/model/model.ts';
import { readMapping } from '../../../../src/mapping/parse/read.ts';
import type { Anchor, StudioDocument } from '../../document.ts';
import { baseOf } from '../../elements/base.ts';
import { edited, type TextEdit } from '../../history/edits.ts';
import { patternsOf } from '../patterns.ts';
import { Unpatched } from '../unpatched.ts';
import { commentsIn, withoutComments } from './comments.ts';
import { viewEdits } from './edits.ts';
import { indentAt, rangesOfProperties } from './node-edits.ts';
import { merged, type Owned, ownedBy, rangesOfOwned, withSpace } from './owned-comments.ts';
import { isWithin, keptObjects, keptTexts, nodesOf, OBJECTS, pairsOf, roleOf } from './parts.ts';
import type { TreeNode, TreeObject, TreeProperty, TurtleTree } from './tree.ts';
import { turtleTree } from './tree.ts';

/** The edits that write a text out. None: it has no form that hinders. */
export function formEdits(document: StudioDocument): readonly TextEdit[] {
  const tree = turtleTree(document.text.text, baseOf(document.language, document.base));
  if (tree === undefined) return [];
  const edits: TextEdit[] = [...splitPairs(document, tree)];
  // What touches what is written already waits until that is asked for again.
  for (const one of [nestedMaps(document.text.text, tree), namedViews(document)])
    if (!one.some((edit) => edits.some((other) => edit.from <= other.to && other.from <= edit.to))) edits.push(...one);
  return edits;
}

/** @returns the text that is written out; undefined: it would say something else, or it says nothing in a form that hinders */
export async function writeOut(document: StudioDocument): Promise<string | undefined> {
  const edits = formEdits(document);
  if (edits.length === 0) return undefined;
  const { text } = edited(document.text, edits);
  const [before, after] = await Promise.all([document.text.text, text].map((one) => meaningOf(document, one)));
  return before === after ? text : undefined;
}

async function meaningOf(document: StudioDocument, text: string): Promise<string> {
  const { mapping, diagnostics } = await readMapping([{ name: 'mapping.ttl', text }], {
    baseIri: baseOf(document.language, document.base),
  });
  const errors = diagnostics.flatMap(({ severity, message }) => (severity === 'error' ? [message] : []));
  return JSON.stringify([errors, patternsOf(withoutQuotes(mapping))]);
}

/** Quoted triples have no pattern, and no edit touches them. */
const withoutQuotes = ({ triplesMaps, annotations }: Mapping): Mapping => ({
  annotations,
  triplesMaps: triplesMaps
    .filter(({ subject }) => subject.kind !== 'star')
    .map((map) => ({
      ...map,
      predicateObjects: map.predicateObjects.map((pair) => ({ ...pair, objects: pair.objects.filter(({ kind }) => kind !== 'star') })),
    })),
});

/** Predicate object maps of which some objects are kept as text: these get a separate one. */
function splitPairs(document: StudioDocument, tree: TurtleTree): readonly TextEdit[] {
  const { text } = document.text;
  const kept = keptTexts(document);
  const removed = new Map<TreeNode, readonly Anchor[]>();
  const edits: TextEdit[] = [];
  for (const { object } of pairsOf(tree.statements)) {
    const moved = new Set(keptObjects(tree, object, kept).keys());
    if (moved.size === 0) continue;
    const nodes = nodesOf(tree, object);
    const ranges = nodes.map((place) => rangesWithout(text, place, moved));
    if (ranges.includes(undefined)) continue;
    nodes.forEach(({ node }, i) => void removed.set(node, ranges[i] as readonly Anchor[]));
    const indent = indentAt(text, object.from);
    const gone = nodes.flatMap((_, i) => ranges[i] as readonly Anchor[]);
    const own = nodes.flatMap((place) => ownOf(text, place, moved, `${indent}  `));
    // Comments that go, and do not go along with an object, stand above the new one.
    const along = [...moved, ...own.flatMap(({ comments }) => comments)];
    const lost = gone.flatMap((range) => commentsIn(text, range)).filter((one) => !along.some((other) => isWithin(one, other)));
    const above = lost.map(({ from, to }) => `${text.slice(from, to)}\n${indent}`).join('');
    edits.push({ from: object.to, to: object.to, text: `,\n${indent}${above}${bracketed(own, indent)}` });
  }
  for (const range of [...removed.values()].flat()) edits.push({ ...range, text: '' });
  return edits;
}

/** What goes of a node when these objects are removed; undefined: nothing would be left. */
function rangesWithout(text: string, place: NodePlace, moved: ReadonlySet<TreeObject>): readonly Anchor[] | undefined {
  const { node } = place;
  const whole = new Set<TreeProperty>();
  const single: Anchor[] = [];
  const owned = ownedProperties(text, place);
  node.properties.forEach((property, i) => {
    const { verb, objects } = property;
    if (objects.every((one) => moved.has(one))) {
      whole.add(property);
      const { above = [], behind } = owned[i] ?? {};
      const [first] = above;
      if (first !== undefined) single.push({ from: first.from, to: property.from });
      if (behind !== undefined) single.push(withSpace(text, behind));
    } else single.push(...rangesOfOwned(text, verb.to, objects, moved));
  });
  const ranges = rangesOfProperties(text, node, whole);
  return ranges && merged([...ranges, ...single]);
}

type NodePlace = Anchor & { readonly node: TreeNode };

/** A node in brackets begins with one, a statement with its subject. */
const ownedProperties = (text: string, { from, node }: NodePlace): readonly Owned[] =>
  ownedBy(text, text[from] === '[' ? from + 1 : (node.properties[0]?.from ?? from), node.properties, ';');

/** A property of a new node. */
interface OwnProperty {
  readonly text: string;
  /** At the end of its line. */
  readonly behind: string | undefined;
  /** That go along with it. */
  readonly comments: readonly Anchor[];
}

/**
 * The properties of the new predicate object map: what is kept of the objects with their comments, and all of the rest without.
 *
 * @param indent of their lines
 */
function ownOf(text: string, place: NodePlace, moved: ReadonlySet<TreeObject>, indent: string): readonly OwnProperty[] {
  const owned = ownedProperties(text, place);
  return place.node.properties.flatMap((property, i): readonly OwnProperty[] => {
    const { iri, verb, objects } = property;
    if (!OBJECTS.has(roleOf(iri)))
      return [{ text: withoutComments(text.slice(property.from, property.to)), behind: undefined, comments: [] }];
    if (!objects.some((one) => moved.has(one))) return [];
    const isWhole = objects.every((one) => moved.has(one));
    const ofObjects = ownedBy(text, verb.to, objects, ',');
    const above = isWhole ? (owned[i]?.above ?? []) : [];
    const comments = [...above];
    let written = `${above.map((one) => `${textAt(text, one)}\n${indent}`).join('')}${textAt(text, verb)}`;
    let behind: Anchor | undefined;
    let isFirst = true;
    objects.forEach((object, at) => {
      if (!moved.has(object)) return;
      const own = ofObjects[at] as Owned;
      const line = `\n${indent}  `;
      written += `${isFirst ? '' : ','}${behind === undefined ? '' : ` ${textAt(text, behind)}`}`;
      written += own.above.map((one) => `${line}${textAt(text, one)}`).join('');
      written += `${own.above.length > 0 || behind !== undefined ? line : ' '}${textAt(text, object)}`;
      behind = own.behind;
      isFirst = false;
      comments.push(...own.above, ...(behind === undefined ? [] : [behind]));
    });
    return [{ text: written, behind: behind && textAt(text, behind), comments }];
  });
}

const textAt = (text: string, { from, to }: Anchor): string => text.slice(from, to).trimEnd();

/** A node in brackets. A comment at its end has a separate line behind it. */
function bracketed(properties: readonly OwnProperty[], indent: string): string {
  const lines = properties.map(({ text, behind }, i) => {
    const end = i < properties.length - 1 ? ' ;' : '';
    return `${text}${end}${behind === undefined ? '' : ` ${behind}`}`;
  });
  return `[ ${lines.join(`\n${indent}  `)}${properties.at(-1)?.behind === undefined ? ' ' : `\n${indent}`}]`;
}

/** Triples maps that stand in brackets in others: each gets a name, and a separate statement. */
function nestedMaps(text: string, tree: TurtleTree): readonly TextEdit[] {
  const found = tree.statements.flatMap(({ node }) => parentsIn(node));
  const taken = new Set([...text.matchAll(/#([\w-]+)/g)].map((one) => one[1] as string));
  const end = text.length;
  const edits: TextEdit[] = [];
  for (const object of found) {
    const name = freeName(taken);
    taken.add(name);
    const inner = text.slice(object.from + 1, object.to - 1).trim();
    const isOpen = commentsIn(text, object).some(({ to }) => text.slice(to, object.to - 1).trim() === '');
    edits.push({ from: object.from, to: object.to, text: `<#${name}>` });
    edits.push({ from: end, to: end, text: `${text.endsWith('\n') ? '' : '\n'}\n<#${name}> ${inner}${isOpen ? '\n' : ' '}.\n` });
  }
  return edits;
}

/** None: there are none, or what is kept as text reads them, too. */
function namedViews(document: StudioDocument): readonly TextEdit[] {
  try {
    return viewEdits(document);
  } catch (error) {
    if (error instanceof Unpatched) return [];
    throw error;
  }
}

function freeName(taken: ReadonlySet<string>): string {
  for (let i = 1; ; i++) if (!taken.has(`Parent${i}`)) return `Parent${i}`;
}

/** The outermost nodes in brackets that are parents of references. */
const parentsIn = ({ properties }: TreeNode): readonly TreeObject[] =>
  properties.flatMap(({ iri, objects }) =>
    objects.flatMap((object) => (object.kind !== 'node' ? [] : roleOf(iri) === 'parentTriplesMap' ? [object] : parentsIn(object.node))),
  );
