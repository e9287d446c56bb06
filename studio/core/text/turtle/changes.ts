/** How triples maps as they are printed differ. */
import type { Id } from '../../document.ts';
import { roleOf } from './parts.ts';
import { type PrintedPart, type Tree, treeKey } from './printed.ts';

/** Whether a function is called in a term map. */
export const hasCall = ({ properties }: Tree): boolean =>
  [...(properties ?? [])].some(([iri, trees]) => CALLS.has(roleOf(iri)) || trees.some(hasCall));

const CALLS: ReadonlySet<string> = new Set(['functionValue', 'functionExecution']);

export interface Change {
  readonly before: Tree;
  readonly after: Tree;
  /** The property that it is printed with now. */
  readonly iri: string;
}

/** The property with one of these roles, and its object. */
export function onlyOf({ tree }: PrintedPart, roles: ReadonlySet<string>): readonly [iri?: string, tree?: Tree] {
  const [found] = [...(tree.properties ?? [])].filter(([one]) => roles.has(roleOf(one)));
  return found === undefined ? [] : [found[0], found[1][0] as Tree];
}

/** How what a triples map has once has changed; undefined: it has not. */
export function changeOf(old: PrintedPart, next: PrintedPart, roles: ReadonlySet<string>): Change | undefined {
  const [was, before] = onlyOf(old, roles);
  const [iri, after] = onlyOf(next, roles);
  if (before === undefined || after === undefined || iri === undefined) return undefined;
  return was === iri && treeKey(before) === treeKey(after) ? undefined : { before, after, iri };
}

export const classKey = ({ properties }: Tree): string =>
  [...(properties ?? [])].flatMap(([iri, objects]) => (roleOf(iri) === 'class' ? objects.map(treeKey).sort() : [])).join(' ');

export function keyOf({ pairs }: PrintedPart, edge: Id): string | undefined {
  const tree = pairs.get(edge);
  return tree && treeKey(tree);
}
