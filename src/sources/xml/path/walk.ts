/** References that are plain paths → functions over the light tree. Everything is parsed and looked up beforehand. */

import type { NamePattern, Path, Predicate, Step } from '../../../paths/xml/path.ts';
import type { Name } from '../names.ts';
import { type Attributes, type Child, Element, stringValue, Text, visitBelow } from '../tree.ts';
import type { NameTest } from './name-test.ts';

/** The string values of the nodes that a path selects, in document order: null for none, a string for one. */
export type Walk = (record: Element) => null | string | string[];

/** Binds a name pattern to the document. */
export type Bind = (pattern: NamePattern) => NameTest;

interface BoundStep {
  readonly descendant: boolean;
  readonly test: NameTest;
  readonly predicates: readonly BoundPredicate[];
}

export type BoundPredicate =
  | { readonly kind: 'position'; readonly position: number }
  | { readonly kind: 'attribute'; readonly test: NameTest; readonly value: string | undefined };

/** The elements that a path selects, in document order. */
export type Select = (record: Element) => readonly Element[];

/**
 * False if an XPath engine is needed for correct document order and counts (`//` anywhere but before the last element, or with a position),
 * or if the path may lead above the root element.
 *
 * @param depth levels between the root element and the element from which the path begins, at least
 */
export function isWalkable(path: Path, depth = 0): boolean {
  const last = path.steps.length - 1;
  if (path.steps.some((step, i) => step.descendant && (i < last || step.predicates.some((p) => p.kind === 'position')))) return false;
  return path.ups <= depth || (path.steps.length === 0 && path.target.kind === 'attribute');
}

/** Compiles a relative path for which `isWalkable` holds. */
export function compileWalk(path: Path, bind: Bind): Walk {
  const steps = bindSteps(path, bind);
  const take = compileTarget(path, bind);
  const { ups } = path;
  const walk: Walk =
    steps.length === 0
      ? (record) => collected([], record, take)
      : (record) => {
          const found: string[] = [];
          select(record, steps, 0, take, found);
          return found.length === 0 ? null : found.length === 1 ? (found[0] as string) : found;
        };
  if (ups === 0) return walk;
  // Neighbours have the same ancestor. It is complete when a record is read, and so is its value.
  let latest: Element | undefined;
  let value: ReturnType<Walk> = null;
  return (record) => {
    let element: Element | null = record;
    for (let i = 0; i < ups && element !== null; i++) element = element.parent;
    if (element === null) return null;
    if (element !== latest) {
      value = walk(element);
      latest = element;
    }
    return value;
  };
}

/** Compiles a relative path to elements, without `..`, for which `isWalkable` holds. */
export function compileSelect(path: Path, bind: Bind): Select {
  const steps = bindSteps(path, bind);
  if (steps.length === 0) return (record) => [record];
  const take: Take<Element> = (element, found) => {
    found.push(element);
  };
  return (record) => {
    const found: Element[] = [];
    select(record, steps, 0, take, found);
    return found;
  };
}

const bindSteps = (path: Path, bind: Bind): readonly BoundStep[] =>
  path.steps.map((step) => ({ descendant: step.descendant, test: bind(step.name), predicates: bindPredicates(step, bind) }));

export const bindPredicates = (step: Step, bind: Bind): readonly BoundPredicate[] =>
  step.predicates.map((p: Predicate) => (p.kind === 'position' ? p : { kind: 'attribute', test: bind(p.name), value: p.value }));

/** True if the element has the attribute that the predicate requires. */
function hasAttribute(attributes: Attributes, predicate: Extract<BoundPredicate, { kind: 'attribute' }>): boolean {
  for (let i = 0; i < attributes.length; i += 2) {
    if (predicate.test(attributes[i] as Name) && (predicate.value === undefined || attributes[i + 1] === predicate.value)) return true;
  }
  return false;
}

/** Adds the values of a selected element, or the element. */
type Take<Found> = (element: Element, found: Found[]) => void;

function collected(found: string[], element: Element, take: Take<string>): null | string | string[] {
  take(element, found);
  return found.length === 0 ? null : found.length === 1 ? (found[0] as string) : found;
}

function compileTarget(path: Path, bind: Bind): Take<string> {
  const { target } = path;
  switch (target.kind) {
    case 'element':
      return (element, found) => {
        found.push(element.first === null ? element.text : stringValue(element));
      };
    case 'text':
      return (element, found) => {
        if (element.first === null) {
          if (element.text !== '') found.push(element.text);
        } else
          for (let node: Child | null = element.first; node !== null; node = node.next) if (node instanceof Text) found.push(node.text);
      };
    case 'attribute': {
      const test = bind(target.name);
      return ({ attributes }, found) => {
        for (let i = 0; i < attributes.length; i += 2) if (test(attributes[i] as Name)) found.push(attributes[i + 1] as string);
      };
    }
  }
}

function select<Found>(element: Element, steps: readonly BoundStep[], at: number, take: Take<Found>, found: Found[]): void {
  const step = steps[at] as BoundStep;
  const { test, predicates } = step;
  if (step.descendant) {
    visitBelow(element, (node) => {
      if (node instanceof Element && test(node.name) && passes(node.attributes, predicates, [])) take(node, found);
    });
    return;
  }
  const last = at === steps.length - 1;
  const counts = predicates.length === 0 ? undefined : new Array<number>(predicates.length).fill(0);
  for (let child = element.first; child !== null; child = child.next) {
    if (!(child instanceof Element) || !test(child.name)) continue;
    if (counts !== undefined && !passes(child.attributes, predicates, counts)) continue;
    if (last) take(child, found);
    else select(child, steps, at + 1, take, found);
  }
}

/** Evaluates predicates in order; `counts` holds, for each, how many earlier children of this parent passed it. */
export function passes(attributes: Attributes, predicates: readonly BoundPredicate[], counts: number[]): boolean {
  for (let i = 0; i < predicates.length; i++) {
    const predicate = predicates[i] as BoundPredicate;
    if (predicate.kind === 'attribute') {
      if (!hasAttribute(attributes, predicate)) return false;
    } else {
      counts[i] = (counts[i] as number) + 1;
      if (counts[i] !== predicate.position) return false;
    }
  }
  return true;
}
