/**
 * Logical views that have names of the text: drawing refers to fields by the names that it would give them, so nothing that is read
 * of such a view may change.
 */
import type { RdfTerm } from '../../../../src/mapping/model/model.ts';
import type { Id } from '../../document.ts';
import { roleOf } from './parts.ts';
import { objectKey, type PrintedPart, type Tree, treeKey } from './printed.ts';
import type { TreeObject, TreeStatement } from './tree.ts';

/** Whether a source is a view that was not written as it would be printed. @param described the statements of the text */
export function isOwnView(object: TreeObject, printed: Tree, described: readonly TreeStatement[]): boolean {
  const node =
    object.kind === 'node'
      ? object.node
      : object.kind === 'term'
        ? described.find(({ subject }) => isTerm(subject, object.term))?.node
        : undefined;
  const isView = node?.properties.some(({ iri }) => roleOf(iri) === 'viewOn') ?? false;
  const isPrinted = [...(printed.properties?.keys() ?? [])].some((iri) => roleOf(iri) === 'viewOn');
  return isView !== isPrinted || (isView && objectKey(object) !== treeKey(printed));
}

const isTerm = (term: RdfTerm | undefined, other: RdfTerm): boolean => term?.kind === other.kind && term.value === other.value;

/** Whether a triples map reads what it has read, but for edges that are gone. */
export function readsSame(old: PrintedPart, next: PrintedPart): boolean {
  const subject = ({ tree }: PrintedPart): readonly string[] =>
    [...(tree.properties ?? [])].flatMap(([iri, trees]) => (roleOf(iri) === 'subjectMap' ? trees.flatMap(readsIn) : []));
  const same = (a: readonly string[], b: readonly string[]): boolean => a.join('\n') === b.join('\n');
  const ofPair = (part: PrintedPart, edge: Id): readonly string[] => {
    const tree = part.pairs.get(edge);
    return tree === undefined ? [] : readsIn(tree);
  };
  return same(subject(old), subject(next)) && [...next.pairs.keys()].every((edge) => same(ofPair(old, edge), ofPair(next, edge)));
}

/** Whether a triples map reads the same source, by a view or without one. */
export function readsFrom(old: PrintedPart, next: PrintedPart): boolean {
  const base = ({ tree }: PrintedPart): string | undefined => {
    const source = objectOf(tree, ['logicalSource', 'logicalTable']);
    const on = source && (objectOf(source, ['viewOn']) ?? source);
    return on && treeKey(on);
  };
  return base(old) === base(next);
}

const objectOf = ({ properties }: Tree, roles: readonly string[]): Tree | undefined =>
  [...(properties ?? [])].find(([iri]) => roles.includes(roleOf(iri)))?.[1][0];

const READS: ReadonlySet<string> = new Set(['reference', 'template', 'child']);

/** The references and templates in a tree. */
export const readsIn = ({ properties }: Tree): readonly string[] =>
  [...(properties ?? [])]
    .flatMap(([iri, trees]) => trees.flatMap((one) => (READS.has(roleOf(iri)) ? [treeKey(one)] : readsIn(one))))
    .sort();

/** Whether an edge joins by keys of one of these triples maps. */
export function joinsOneOf(tree: Tree, parents: readonly RdfTerm[]): boolean {
  const within = [...(tree.properties ?? [])];
  const isJoin = within.some(([iri]) => roleOf(iri) === 'joinCondition');
  const isParent = within.some(
    ([iri, trees]) => roleOf(iri) === 'parentTriplesMap' && trees.some(({ term }) => parents.some((one) => isTerm(one, term))),
  );
  return (isJoin && isParent) || within.some(([, trees]) => trees.some((one) => joinsOneOf(one, parents)));
}
