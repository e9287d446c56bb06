/** Queries that find one node at most: names and indexes only. */

import type { Query } from '../../../paths/json/model.ts';
import { isObject, type JsonObject } from '../text.ts';

/** The node that a singular query finds, or undefined. */
export type FindOne = (node: unknown, root: unknown) => unknown;

/** Inherited property names of every object: they need an own-property check. */
const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype));

/** The member with that name; undefined if there is none, or `node` is not an object. */
export function compileMember(name: string): (node: unknown) => unknown {
  if (INHERITED.has(name)) return (node) => (isObject(node) && Object.hasOwn(node, name) ? node[name] : undefined);
  // A Numeral has no string-named members, so it needs no separate check.
  return (node) => (typeof node === 'object' && node !== null && !Array.isArray(node) ? (node as JsonObject)[name] : undefined);
}

export const elementAt = (node: unknown, index: number): unknown => (Array.isArray(node) ? node.at(index) : undefined);

/** @param query a singular query: names and indexes only */
export function compileSingular(query: Query): FindOne {
  const steps = query.segments.map(({ selectors: [selector] }) => {
    if (selector?.kind === 'name') return compileMember(selector.name);
    const index = selector?.kind === 'index' ? selector.index : 0;
    return (node: unknown) => elementAt(node, index);
  });
  const [a, b, c] = steps as readonly FindOne[] as readonly [FindOne, FindOne, FindOne];
  if (query.absolute) {
    return (_node, root) => steps.reduce((at, step) => step(at), root);
  }
  switch (steps.length) {
    case 0:
      return (node) => node;
    case 1:
      return a;
    case 2:
      return (node, root) => b(a(node, root), root);
    case 3:
      return (node, root) => c(b(a(node, root), root), root);
    default:
      return (node) => steps.reduce((at, step) => step(at), node);
  }
}
