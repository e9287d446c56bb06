/** What a node provides, requires and keeps: one switch each. Division and explanation ask here. */
import type { Expression, Term } from '../algebra.ts';
import {
  expressionsOf,
  isOfRow,
  isTerm,
  type Leaf,
  leavesOf,
  leavesOfCheck,
  leavesOfCollect,
  leavesOfColumn,
  leavesOfStep,
  leavesOfTerm,
  spansRows,
} from '../expressions.ts';
import { isOfPairs, type RulePlan } from '../plan.ts';
import type { Node, NodeState, Provided, Required } from './nodes.ts';

/** @param inputs what the inputs of the node provide, in their order */
export function provides(node: Node, inputs: readonly Provided[]): Provided {
  const [first = RECORDS] = inputs;
  switch (node.kind) {
    case 'scan':
      return { ...RECORDS, ofDatabase: node.operator.source.kind !== 'file', position: node.operator.index };
    case 'unnest':
      return reading(first, leavesOfStep(node.operator), []);
    case 'extend':
      return reading(first, leavesOfStep(node.operator), expressionsIn(node.operator.columns));
    case 'number':
      // Below a join rows may be missing, and the others have other numbers.
      return { ...first, partitioning: 'whole', ofFirst: first.ofFirst === 'first' ? 'first' : 'others' };
    case 'join': {
      const { on, ordinal, type } = node.operator;
      const keys = on.map(({ left }) => left);
      const pairs = reading(first, keys.flatMap(leavesOf), keys);
      return {
        ...pairs,
        order: node.deferred ? 'none' : first.order,
        ofFirst: type === 'left' || hasOthers(inputs) ? 'others' : 'some',
        deterministic: pairs.deterministic && inputs.every(({ deterministic }) => deterministic),
        unique: ordinal === undefined ? undefined : first.unique,
        ofDatabase: inputs.some(({ ofDatabase }) => ofDatabase),
      };
    }
    case 'project': {
      const { keys, columns, counts } = node.operator;
      const cells = [...keys, ...columns];
      return { ...reading(first, cells.flatMap(leavesOfColumn), expressionsIn(cells)), unique: counts ? first.unique : 'distinct' };
    }
    case 'encode': {
      const { map, rules, proof } = node;
      const terms = [map.subject, ...map.checks, ...rules.flatMap(termsOfRule)];
      const statements = reading(first, terms.flatMap(leavesOfTerm), terms.flatMap(expressionsOf));
      const unique = rules.every(({ distinct }) => distinct === 'subject') ? proof : undefined;
      return { ...statements, unique, subjectTellsRow: map.identifiesRow, position: undefined };
    }
    case 'gather': {
      const { collection } = node.collect;
      const expressions = expressionsOf({ kind: 'head', origin: collection.origin, collection });
      const statements = reading(first, leavesOfCollect(node.collect), expressions);
      const partitioning = spansRows(collection) ? 'whole' : statements.partitioning;
      // A collection with fewer members is another one.
      const ofFirst = spansRows(collection) || inputs.length > 1 ? 'others' : statements.ofFirst;
      // Nodes of lists and numbers of members are of one collection: see `findOverlaps`.
      return { ...statements, partitioning, ofFirst, unique: 'distinct', subjectTellsRow: node.map.identifiesRow, position: undefined };
    }
    case 'distinct':
      return { ...merged(inputs), unique: 'distinct' };
    case 'reify':
    case 'output':
      return merged(inputs);
    case 'check': {
      // The message of a broken promise has the position of the record.
      return reading(first, leavesOfCheck(node.check), []);
    }
  }
}

/** What a node needs of each of its inputs, in their order. */
export function requires(node: Node): readonly Required[] {
  switch (node.kind) {
    case 'number':
      return [{ ...NOTHING, together: 'all', ordered: true }];
    case 'join':
      return [NOTHING, { ...NOTHING, complete: true }];
    case 'encode': {
      const { map, identifiesRow } = node.map;
      // A database gives each pair once for a query, and not for several of them: children that differ in what nothing reads make equal pairs.
      return [{ ...NOTHING, together: node.proof !== undefined && !identifiesRow && isOfPairs(map) ? 'pair' : undefined }];
    }
    case 'check':
      return [{ ...NOTHING, together: node.check.kind === 'unique' ? 'values' : undefined }];
    case 'gather':
      return node.inputs.map((_, port) => ({
        ...NOTHING,
        together: port === 0 && spansRows(node.collect.collection) ? 'head' : undefined,
      }));
    case 'distinct':
      return node.inputs.map(() => ({ ...NOTHING, together: node.by }));
    case 'reify':
      return node.inputs.map(() => ({ ...NOTHING, together: 'reifier' }));
    default:
      return node.inputs.map(() => NOTHING);
  }
}

/** What a node keeps from row to row; undefined: nothing. */
export function stateOf(node: Node): NodeState | undefined {
  switch (node.kind) {
    case 'number':
      return { key: undefined, value: 'count' };
    case 'join':
      // The build side has its rows in `project`.
      return node.deferred ? { key: 'text', value: node.gives === 'objects' ? 'texts' : 'row' } : undefined;
    case 'project':
      return { key: 'text', value: node.operator.map === undefined ? 'row' : 'texts' };
    case 'check':
      return node.check.kind === 'unique' ? { key: 'text', value: 'nothing' } : undefined;
    case 'gather':
      return spansRows(node.collect.collection) || node.inputs.length > 1 ? { key: 'text', value: 'row' } : undefined;
    case 'distinct':
      return { key: 'hash', value: node.by === 'subject' ? 'texts' : 'nothing' };
    case 'reify':
      return { key: 'hash', value: 'nothing' };
    default:
      return undefined;
  }
}

const NOTHING: Required = { together: undefined, ordered: false, complete: false };

const RECORDS: Provided = {
  partitioning: 'records',
  order: 'input',
  ofFirst: 'first',
  readsPosition: false,
  deterministic: true,
  unique: 'position',
  subjectTellsRow: false,
  ofDatabase: false,
  position: undefined,
};

/** What rows provide that are made by reading others. */
function reading(input: Provided, leaves: readonly Leaf[], expressions: readonly Expression[]): Provided {
  const isPosition = (leaf: Leaf): boolean => leaf.kind === 'cell' && leaf.column === input.position;
  return {
    ...input,
    readsPosition: input.readsPosition || leaves.some(isPosition),
    deterministic: input.deterministic && !expressions.some(isOfRow),
  };
}

function merged(inputs: readonly Provided[]): Provided {
  return {
    partitioning: inputs.every(({ partitioning }) => partitioning === 'records') ? 'records' : 'whole',
    order: 'none',
    ofFirst: hasOthers(inputs) ? 'others' : 'some',
    readsPosition: inputs.some(({ readsPosition }) => readsPosition),
    deterministic: inputs.every(({ deterministic }) => deterministic),
    unique: undefined,
    subjectTellsRow: inputs.every(({ subjectTellsRow }) => subjectTellsRow),
    ofDatabase: inputs.some(({ ofDatabase }) => ofDatabase),
    position: undefined,
  };
}

const hasOthers = (inputs: readonly Provided[]): boolean => inputs.some(({ ofFirst }) => ofFirst === 'others');

const expressionsIn = (cells: readonly { readonly value: Expression | Term }[]): readonly Expression[] =>
  cells.flatMap(({ value }) => (isTerm(value) ? expressionsOf(value) : [value]));

/** The terms of a rule that are made of its rows. */
export const termsOfRule = ({ predicate, object, graph }: RulePlan): readonly Term[] => [
  predicate,
  ...(graph === undefined ? [] : [graph]),
  ...(object.kind === 'term' ? [object.term] : []),
];
