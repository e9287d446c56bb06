/** What is printed of a document, as trees that are compared with each other and with the text. */
import type { ConvertedNode } from '../../../../src/mapping/convert/dialect.ts';
import { convertGraph } from '../../../../src/mapping/convert/dialect.ts';
import { turtlePieces } from '../../../../src/mapping/convert/turtle.ts';
import { Report } from '../../../../src/mapping/model/diagnostics.ts';
import { nodeId } from '../../../../src/mapping/model/graph.ts';
import type { Dialect, RdfTerm } from '../../../../src/mapping/model/model.ts';
import type { Id, StudioDocument } from '../../document.ts';
import { baseOf } from '../../elements/base.ts';
import { mappingGraph } from '../../print/mapping.ts';
import type { TreeObject } from './tree.ts';

/** A term, with what is said of it where only one statement leads to it. */
export interface Tree {
  readonly term: RdfTerm;
  /** undefined: it is a term alone. */
  readonly properties: ReadonlyMap<string, readonly Tree[]> | undefined;
}

/** A triples map as it is printed. */
export interface PrintedPart {
  readonly tree: Tree;
  /** Its predicate object maps by edge, in their order. */
  readonly pairs: ReadonlyMap<Id, Tree>;
}

export interface PrintedDocument {
  readonly parts: ReadonlyMap<string, PrintedPart>;
  /** What the language cannot say. */
  readonly errors: readonly string[];
  /** As Turtle with the prefixes that the text declares. */
  object(tree: Tree, indent: string): string;
  block(part: PrintedPart): string;
  iri(iri: string): string;
}

export function printedDocument(document: StudioDocument, dialect: Dialect, prefixes: ReadonlyMap<string, string>): PrintedDocument {
  const report = new Report();
  const { graph, parts, pairs } = mappingGraph(document, report, dialect === 'rml');
  const nodes = convertGraph(graph, dialect, report).map((node) => ({ ...node, comments: [] }));
  const byId = new Map(nodes.map((node) => [nodeId(node.term) as string, node]));
  const tops = new Set([...parts.values()].map((term) => nodeId(term) as string));
  const treeOf = (term: RdfTerm): Tree => {
    const node = term.kind === 'blank' && !tops.has(`_:${term.value}`) ? byId.get(`_:${term.value}`) : undefined;
    return { term, properties: node && propertiesOf(node) };
  };
  const propertiesOf = ({ statements }: Pick<ConvertedNode, 'statements'>): ReadonlyMap<string, readonly Tree[]> => {
    const found = new Map<string, Tree[]>();
    for (const { property, object } of statements) found.set(property, [...(found.get(property) ?? []), treeOf(object)]);
    return found;
  };
  const edges = new Map([...pairs].map(([edge, term]) => [nodeId(term) as string, edge]));
  const printed = new Map<string, PrintedPart>();
  for (const [part, term] of parts) {
    const node = byId.get(nodeId(term) as string);
    if (node === undefined) continue;
    const own = node.statements.flatMap(({ object }) => {
      const edge = edges.get(nodeId(object) ?? '');
      return edge === undefined ? [] : [[edge, treeOf(object)] as const];
    });
    printed.set(part, { tree: { term, properties: propertiesOf(node) }, pairs: new Map(own) });
  }
  const base = { iri: baseOf(document.language, document.base), isDeclared: document.base !== undefined };
  const pieces = turtlePieces(nodes, prefixes, base);
  return {
    parts: printed,
    errors: report.sorted(['model']).flatMap(({ severity, message }) => (severity === 'error' ? [message] : [])),
    object: ({ term }, indent) => pieces.object(term, indent),
    block: ({ tree }) => pieces.block(byId.get(nodeId(tree.term) as string) as (typeof nodes)[number]),
    iri: (iri) => pieces.iri(iri),
  };
}

/** The same text for trees that say the same, whatever the order of their properties. */
export function treeKey({ term, properties }: Tree): string {
  if (properties === undefined) return termKey(term);
  const keys = [...properties].map(([iri, objects]) => [iri, objects.map(treeKey).sort()] as const);
  return JSON.stringify(keys.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** As `treeKey`, of what stands in a text. */
export function objectKey(object: TreeObject): string {
  if (object.kind === 'term') return termKey(object.term);
  if (object.kind === 'list') return 'list';
  const found = new Map<string, string[]>();
  for (const { iri, objects } of object.node.properties) found.set(iri, [...(found.get(iri) ?? []), ...objects.map(objectKey)]);
  return JSON.stringify([...found].map(([iri, keys]) => [iri, keys.sort()] as const).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const termKey = (term: RdfTerm): string =>
  term.kind === 'literal' ? JSON.stringify([term.value, term.datatype, term.language?.toLowerCase() ?? '']) : `${term.kind} ${term.value}`;
