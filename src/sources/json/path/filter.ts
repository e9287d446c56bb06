/**
 * Filter expressions of JSONPath → closures.
 *
 * Text is compared as UTF-8 bytes, which is the code point order that RFC 9535 requires; functions that count or match characters decode
 * first.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9535#section-2.3.5
 */
import { excerpt, Fault } from '../../../core/fault.ts';
import { fromBytes } from '../../../core/text.ts';
import { type Call, isSingular, type Operand, type Operator, type Query, type Segment, type Test } from '../../../paths/json/model.ts';
import { compileRegExp } from '../../../paths/json/regexp.ts';
import { type BoundedRegExp, UnboundedRegExp } from '../../../regexp/linear.ts';
import { comparable, isObject, Numeral, writtenNumber } from '../text.ts';
import { compileSingular } from './singular.ts';

type Decide = (node: unknown, root: unknown) => boolean;
/** A value, or undefined for Nothing. */
type Evaluate = (node: unknown, root: unknown) => unknown;

/** Segments → what finds their nodes. `query.ts` hands its own in: filters stand in queries, and queries in filters. */
export type CompileSegments = (segments: readonly Segment[]) => (node: unknown, root: unknown, found: unknown[]) => void;

export function compileTest(test: Test, segments: CompileSegments): Decide {
  switch (test.kind) {
    case 'or': {
      const tests = test.tests.map((one) => compileTest(one, segments));
      return (node, root) => tests.some((decide) => decide(node, root));
    }
    case 'and': {
      const tests = test.tests.map((one) => compileTest(one, segments));
      return (node, root) => tests.every((decide) => decide(node, root));
    }
    case 'not': {
      const decide = compileTest(test.test, segments);
      return (node, root) => !decide(node, root);
    }
    case 'exists': {
      if (isSingular(test.query)) {
        const find = compileSingular(test.query);
        return (node, root) => find(node, root) !== undefined;
      }
      const nodes = compileNodes(test.query, segments);
      return (node, root) => nodes(node, root).length > 0;
    }
    case 'call': {
      const evaluate = compileCall(test.call, segments);
      return (node, root) => evaluate(node, root) === true;
    }
    case 'compare': {
      const left = compileOperand(test.left, segments);
      const right = compileOperand(test.right, segments);
      const compare = COMPARE[test.operator];
      return (node, root) => compare(comparable(left(node, root)), comparable(right(node, root)));
    }
  }
}

/** True when the test refers to the root of the document, and thus cannot be decided from the element alone. */
export const usesRoot = (test: Test): boolean => [...queriesIn(test)].some(queryUsesRoot);

/** The queries of a test, without those within their own filters. */
export function* queriesIn(test: Test): Generator<Query> {
  switch (test.kind) {
    case 'or':
    case 'and':
      for (const one of test.tests) yield* queriesIn(one);
      return;
    case 'not':
      yield* queriesIn(test.test);
      return;
    case 'exists':
      yield test.query;
      return;
    case 'call':
      for (const operand of test.call.operands) yield* queriesOf(operand);
      return;
    case 'compare':
      yield* queriesOf(test.left);
      yield* queriesOf(test.right);
  }
}

function* queriesOf(operand: Operand): Generator<Query> {
  if (operand.kind === 'query') yield operand.query;
  else if (operand.kind === 'call') for (const one of operand.call.operands) yield* queriesOf(one);
}

const queryUsesRoot = (query: Query): boolean =>
  query.absolute ||
  query.segments.some(({ selectors }) => selectors.some((selector) => selector.kind === 'filter' && usesRoot(selector.test)));

function compileNodes(query: Query, segments: CompileSegments): (node: unknown, root: unknown) => unknown[] {
  const find = segments(query.segments);
  return (node, root) => {
    const found: unknown[] = [];
    find(query.absolute ? root : node, root, found);
    return found;
  };
}

function compileOperand(operand: Operand, segments: CompileSegments): Evaluate {
  switch (operand.kind) {
    case 'literal': {
      const { value } = operand;
      return () => value;
    }
    case 'number': {
      const value = writtenNumber(Number(operand.text)) === operand.text ? Number(operand.text) : new Numeral(operand.text);
      return () => value;
    }
    case 'query':
      return compileSingular(operand.query);
    case 'call':
      return compileCall(operand.call, segments);
  }
}

function compileCall({ name, operands }: Call, segments: CompileSegments): Evaluate {
  const [first, second] = operands as [Operand, Operand];
  switch (name) {
    case 'length': {
      const of = compileOperand(first, segments);
      return (node, root) => {
        const value = of(node, root);
        if (typeof value === 'string') return [...fromBytes(value)].length;
        if (Array.isArray(value)) return value.length;
        return isObject(value) ? Object.keys(value).length : undefined;
      };
    }
    case 'count':
    case 'value': {
      const nodes = compileNodes((first as Operand & { kind: 'query' }).query, segments);
      if (name === 'count') return (node, root) => nodes(node, root).length;
      return (node, root) => {
        const found = nodes(node, root);
        return found.length === 1 ? found[0] : undefined;
      };
    }
    case 'match':
    case 'search': {
      const text = compileOperand(first, segments);
      const pattern = compileOperand(second, segments);
      const compiled = new Map<string, BoundedRegExp | undefined>();
      return (node, root) => {
        const subject = text(node, root);
        const source = pattern(node, root);
        if (typeof subject !== 'string' || typeof source !== 'string') return false;
        if (!compiled.has(source)) {
          // Patterns may come from the data; a few are cached.
          if (compiled.size >= 64) compiled.clear();
          compiled.set(source, compileRegExp(fromBytes(source), name === 'match'));
        }
        return decide(compiled.get(source), source, fromBytes(subject));
      };
    }
  }
}

/** What is no I-Regexp matches nothing. */
function decide(pattern: BoundedRegExp | undefined, source: string, text: string): boolean {
  if (pattern === undefined) return false;
  try {
    return pattern.for(text).test(text);
  } catch (error) {
    if (!(error instanceof UnboundedRegExp)) throw error;
    const message = `The regular expression ${excerpt(fromBytes(source))} of a JSONPath is not tried: ${error.message}`;
    throw new Fault('limit/exceeded', message, {
      place: { value: excerpt(text) },
      hint: 'Repeat fewer times what repeats itself.',
      cause: error,
    });
  }
}

const COMPARE: Readonly<Record<Operator, (left: unknown, right: unknown) => boolean>> = {
  '==': equal,
  '!=': (left, right) => !equal(left, right),
  '<': less,
  '>': (left, right) => less(right, left),
  '<=': (left, right) => less(left, right) || equal(left, right),
  '>=': (left, right) => less(right, left) || equal(left, right),
};

const isNumber = (value: unknown): value is number | Numeral => typeof value === 'number' || value instanceof Numeral;

function equal(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right) === 0;
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length && left.every((value, i) => equal(value, right[i]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => Object.hasOwn(right, name) && equal(left[name], right[name]));
}

function less(left: unknown, right: unknown): boolean {
  if (typeof left === 'string') return typeof right === 'string' && left < right;
  return isNumber(left) && isNumber(right) && compareNumbers(left, right) < 0;
}

const INTEGER = /^-?[0-9]+$/;

/** Long integers are compared exactly, everything else as doubles. */
function compareNumbers(left: number | Numeral, right: number | Numeral): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const a = writtenNumber(left);
  const b = writtenNumber(right);
  if (INTEGER.test(a) && INTEGER.test(b)) return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
  const difference = Number(a) - Number(b);
  return Number.isNaN(difference) ? 0 : difference;
}
