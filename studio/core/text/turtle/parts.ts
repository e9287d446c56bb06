/** Parts of a triples map in a text of Turtle, whatever the vocabulary. */
import type { RdfTerm } from '../../../../src/mapping/model/model.ts';
import { lookUp } from '../../../../src/mapping/vocabulary/namespaces.ts';
import type { Anchor, Id, StudioDocument } from '../../document.ts';
import { recordsOf } from '../../elements/records.ts';
import type { TreeNode, TreeObject, TreeProperty, TreeStatement, TurtleTree } from './tree.ts';

/** What a property is in any of the vocabularies. */
export const roleOf = (iri: string): string => lookUp('properties', iri)?.name ?? iri;

export const SOURCES: ReadonlySet<string> = new Set(['logicalSource', 'logicalTable']);
export const SUBJECTS: ReadonlySet<string> = new Set(['subjectMap', 'subject']);
export const OBJECTS: ReadonlySet<string> = new Set(['objectMap', 'object']);

/** A predicate object map in the text. */
export interface PairPlace {
  readonly owner: TreeStatement;
  readonly property: TreeProperty;
  readonly object: TreeObject;
}

export const pairsOf = (statements: readonly TreeStatement[]): readonly PairPlace[] =>
  statements.flatMap((owner) =>
    owner.node.properties
      .filter(({ iri }) => roleOf(iri) === 'predicateObjectMap')
      .flatMap((property) => property.objects.map((object) => ({ owner, property, object }))),
  );

export const termsIn = ({ properties }: TreeNode): readonly RdfTerm[] =>
  properties.flatMap(({ objects }) =>
    objects.flatMap((one) => (one.kind === 'term' ? [one.term] : one.kind === 'node' ? termsIn(one.node) : [])),
  );

/** Whether a node, or one within it, quotes a triples map that `isMeant`. */
export const quotes = ({ properties }: TreeNode, isMeant: (quoted: RdfTerm) => boolean): boolean =>
  properties.some(({ iri, objects }) =>
    objects.some((object) =>
      object.kind === 'node'
        ? quotes(object.node, isMeant)
        : object.kind === 'term' && roleOf(iri) === 'quotedTriplesMap' && isMeant(object.term),
    ),
  );

export const isWithin = (inner: Anchor, outer: Anchor): boolean => outer.from <= inner.from && inner.to <= outer.to;

export const isTerm = (term: RdfTerm | undefined, other: RdfTerm): boolean => term?.kind === other.kind && term.value === other.value;

/** Where an object is described: in its brackets, or in the statements of its name. */
export const nodesOf = ({ statements }: TurtleTree, object: TreeObject): readonly (Anchor & { readonly node: TreeNode })[] =>
  object.kind === 'node' ? [object] : object.kind === 'term' ? statements.filter(({ subject }) => isTerm(subject, object.term)) : [];

/** What of a text is not drawn, and why. */
export interface KeptText {
  readonly id: Id;
  readonly anchor: Anchor;
  readonly reason: string;
}

export const keptTexts = (document: StudioDocument): readonly KeptText[] =>
  recordsOf(document, 'text').flatMap(({ id, reason }) => (document.text.anchors.get(id) ?? []).map((anchor) => ({ id, anchor, reason })));

/** The objects of a predicate object map that are kept as text, each with its reason, where others of it are drawn. */
export function keptObjects(tree: TurtleTree, pair: TreeObject, kept: readonly KeptText[]): ReadonlyMap<TreeObject, string> {
  const properties = nodesOf(tree, pair).flatMap(({ node }) => node.properties);
  const objects = properties.filter(({ iri }) => OBJECTS.has(roleOf(iri))).flatMap((one) => one.objects);
  const found = objects.flatMap((object): [TreeObject, string][] => {
    const places = [object, ...nodesOf(tree, object)];
    const own = kept.find(({ anchor }) => places.some((place) => isWithin(anchor, place)));
    return own === undefined ? [] : [[object, own.reason]];
  });
  return new Map(found.length === objects.length ? [] : found);
}
