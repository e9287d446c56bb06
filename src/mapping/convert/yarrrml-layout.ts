/** How YARRRML that is written looks: what stands on one line, where lines are empty, and comments above what they belong to. */
import { Document, isCollection, isMap, type Node, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import type { Origin, TriplesMap } from '../model/model.ts';
import type { Value } from './yarrrml-terms.ts';

/** Lists and maps of at most so many characters stand on one line. */
const LINE = 100;

/** Lines of comments, without `#`. */
export interface Comments {
  assign(origins: readonly Origin[]): void;
  above(origin: Origin): readonly string[];
  heading(): readonly string[];
}

/** The text of a value on separate lines. A short value takes one line. */
export function yamlOf(value: Value, key = ''): string {
  const document = new Document(new YAMLMap());
  const node = document.createNode(value) as Node;
  if (key === '' && isMap(node)) for (const { key: name, value: item } of node.items) shorten(item as Node, String((name as Scalar).value));
  else shorten(node, key);
  document.contents = node as unknown as YAMLMap;
  return document.toString({ lineWidth: 0, flowCollectionPadding: false }).trimEnd();
}

/** The text of a value within brackets. @param type how a text was quoted */
export function yamlInLine(value: Value, type?: Scalar['type']): string {
  const document = new Document([value]);
  const list = document.contents as unknown as YAMLSeq<Node>;
  list.flow = true;
  const [item] = list.items;
  if (item instanceof Scalar && (type === 'QUOTE_SINGLE' || type === 'QUOTE_DOUBLE')) item.type = type;
  return document
    .toString({ lineWidth: 0, flowCollectionPadding: false })
    .replace(/^\[\s*|\s*\]\s*$/g, '')
    .replace(/,$/, '');
}

/** An empty line of a comment is a line with `#`. */
export const commentOf = (lines: readonly string[]): string => lines.map((line) => (line === '' ? ' ' : line)).join('\n');

/** A view or a mapping, with an empty line between it and the one before. */
export function addPart(document: Document, parts: YAMLMap, name: string, value: Value, above: readonly string[]): YAMLMap {
  const key = new Scalar(name);
  if (above.length > 0) key.commentBefore = commentOf(above);
  if (parts.items.length > 0) key.spaceBefore = true;
  const node = layOut(document, value) as YAMLMap;
  parts.add(document.createPair(key, node));
  return node;
}

/** Comments above predicates and objects. The classes of the subject stand before them. */
export function commentPairs(node: YAMLMap, { subject, predicateObjects }: TriplesMap, comments: Comments): void {
  const items = (node.get('po') as YAMLSeq<Node> | undefined)?.items ?? [];
  predicateObjects.forEach(({ origin }, i) => {
    const item = items[i + (subject.classes.length > 0 ? 1 : 0)];
    const above = comments.above(origin);
    if (item !== undefined && above.length > 0) item.commentBefore = commentOf(above);
  });
}

/** The node of a value: short lists and maps within it stand on one line. */
export function layOut(document: Document, value: Value): Node {
  const node = document.createNode(value) as Node;
  if (isMap(node)) for (const { key, value: item } of node.items) shorten(item as Node, String((key as Scalar).value));
  else shorten(node, '');
  return node;
}

function shorten(node: Node, key: string): void {
  if (!isCollection(node)) return;
  if (key !== 'po' && JSON.stringify(node.toJSON()).length <= LINE) {
    node.flow = true;
    return;
  }
  const items = node instanceof YAMLSeq ? node.items : (node as YAMLMap).items.map(({ value }) => value);
  for (const item of items as Node[]) {
    // Predicates and objects are easier to read on separate lines.
    if (key === 'po' && isMap(item)) for (const { value } of item.items) shorten(value as Node, '');
    else shorten(item, '');
  }
}
