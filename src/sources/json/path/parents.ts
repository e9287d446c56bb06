/**
 * Records that know their parents, for references such as `$^^.id`: each `^` leads to the node that holds the one before, an array or an object.
 *
 * The ancestors that some reference needs are read as a whole, so what a reference finds there does not depend on the order of members.
 *
 * @see docs/decisions/0027-parents-in-json.md
 */
import type { Segment } from '../../../paths/json/model.ts';
import { isObject } from '../text.ts';
import { compileSegments, type Find } from './query.ts';

/** A node, and the nodes above it as far as they have been read. */
export class Linked {
  readonly value: unknown;
  readonly parent: Linked | undefined;

  constructor(value: unknown, parent: Linked | undefined) {
    this.value = value;
    this.parent = parent;
  }
}

/** The ancestor so many levels up; undefined: there is none. */
export function ancestorOf(record: unknown, ups: number): Linked | undefined {
  let node: Linked | undefined = record as Linked;
  for (let i = 0; i < ups && node !== undefined; i++) node = node.parent;
  return node;
}

/** As `compileSegments`, but the nodes found are `Linked`. */
export function compileLinked(segments: readonly Segment[]): Find {
  type Visit = (node: Linked, root: unknown, found: unknown[]) => void;
  let next: Visit = (node, _root, found) => {
    found.push(node);
  };
  for (const { descendant, selectors } of segments.toReversed()) {
    const children = compileSegments([{ descendant: false, selectors }]);
    const after = next;
    const here: Visit = (node, root, found) => {
      const values: unknown[] = [];
      children(node.value, root, values);
      for (const value of values) after(new Linked(value, node), root, found);
    };
    const everywhere: Visit = (node, root, found) => {
      here(node, root, found);
      const { value } = node;
      if (!Array.isArray(value) && !isObject(value)) return;
      for (const child of Object.values(value)) everywhere(new Linked(child, node), root, found);
    };
    next = descendant ? everywhere : here;
  }
  const first = next;
  return (node, root, found) => first(new Linked(node, undefined), root, found);
}
