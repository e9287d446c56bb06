/**
 * Segments of a JSONPath → closures over parsed values, in the node order of RFC 9535 (members in the order of the object).
 *
 * A closure pushes the nodes that it finds; everything about the expression is decided beforehand.
 */

import type { Segment, Selector, Test } from '../../../paths/json/model.ts';
import { isObject } from '../text.ts';
import { compileTest } from './filter.ts';
import { compileMember, elementAt } from './singular.ts';

/** Pushes the nodes found from `node`; `root` is the meaning of `$` in filters. */
export type Find = (node: unknown, root: unknown, found: unknown[]) => void;

export function compileSegments(segments: readonly Segment[]): Find {
  let next: Find = (node, _root, found) => {
    found.push(node);
  };
  for (const segment of segments.toReversed()) next = compileSegment(segment, next);
  return next;
}

/** Whether a node passes a filter; `root` is what `$` means in it. */
export const compileFilter = (test: Test): ((node: unknown, root: unknown) => boolean) => compileTest(test, compileSegments);

function compileSegment({ descendant, selectors }: Segment, next: Find): Find {
  const finds = selectors.map((selector) => compileSelector(selector, next));
  const [only] = finds as [Find];
  const here: Find =
    finds.length === 1
      ? only
      : (node, root, found) => {
          for (const find of finds) find(node, root, found);
        };
  if (!descendant) return here;
  const everywhere: Find = (node, root, found) => {
    here(node, root, found);
    if (Array.isArray(node)) for (const element of node) everywhere(element, root, found);
    else if (isObject(node)) for (const name of Object.keys(node)) everywhere(node[name], root, found);
  };
  return everywhere;
}

function compileSelector(selector: Selector, next: Find): Find {
  switch (selector.kind) {
    case 'name': {
      const member = compileMember(selector.name);
      return (node, root, found) => {
        const value = member(node);
        if (value !== undefined) next(value, root, found);
      };
    }
    case 'index': {
      const { index } = selector;
      return (node, root, found) => {
        const value = elementAt(node, index);
        if (value !== undefined) next(value, root, found);
      };
    }
    case 'wildcard':
      return (node, root, found) => {
        if (Array.isArray(node)) for (let i = 0; i < node.length; i++) next(node[i], root, found);
        else if (isObject(node)) for (const name of Object.keys(node)) next(node[name], root, found);
      };
    case 'slice':
      return compileSlice(selector.start, selector.end, selector.step, next);
    case 'filter': {
      const test = compileFilter(selector.test);
      return (node, root, found) => {
        if (Array.isArray(node)) {
          for (const element of node) if (test(element, root)) next(element, root, found);
        } else if (isObject(node)) {
          for (const name of Object.keys(node)) if (test(node[name], root)) next(node[name], root, found);
        }
      };
    }
  }
}

/** @see https://www.rfc-editor.org/rfc/rfc9535#section-2.3.4.2.2 */
function compileSlice(start: number | undefined, end: number | undefined, step: number, next: Find): Find {
  return (node, root, found) => {
    if (!Array.isArray(node) || step === 0) return;
    const { length } = node;
    const from = (position: number) => (position < 0 ? length + position : position);
    if (step > 0) {
      const first = Math.max(from(start ?? 0), 0);
      const last = Math.min(from(end ?? length), length);
      for (let i = first; i < last; i += step) next(node[i], root, found);
    } else {
      const first = start === undefined ? length - 1 : Math.min(from(start), length - 1);
      const last = end === undefined ? -1 : Math.max(from(end), -1);
      for (let i = first; i > last; i += step) next(node[i], root, found);
    }
  };
}
