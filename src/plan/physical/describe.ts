/** A physical plan as text for people: what each node provides, requires and keeps, and why a group is not divided. */
import { expressionsOf, holds, isTerm, spansRows } from '../expressions.ts';
import type { MapPlan, NotPushed, Plan } from '../plan.ts';
import { type Obstacle, obstaclesOf, type PartsIn, type Reason } from './division.ts';
import { comparedMap } from './keys.ts';
import type { Node, NodeId, NodeState, PhysicalPlan, Provided, Required, ScanNode } from './nodes.ts';
import { requires, stateOf, termsOfRule } from './properties.ts';

/**
 * @param nameOf of a source, for people
 * @param wholeOf what the records of a scan need in memory beside one after the other, as a sentence without its subject
 */
export function describePhysical(
  physical: PhysicalPlan,
  plan: Plan,
  nameOf: (node: ScanNode) => string,
  wholeOf: (node: ScanNode) => string | undefined,
): readonly string[] {
  const { nodes, groups } = physical;
  const line = (id: NodeId): string => describeNode(physical, id, plan, nameOf);
  const lines = groups.flatMap((group, number) => [
    `group ${number + 1}`,
    ...group.map((id) => `  ${line(id)}`),
    ...(['threads', 'workers'] as const).flatMap((parts) => describeDivision(physical, number, parts)),
    ...describeReasons('streams its records', 'streams its records, but', group, (id) => notStreamed(nodes[id] as Node, wholeOf)),
    ...describeReasons(undefined, 'leaves to no database:', group, (id) =>
      notPushedDown(nodes[id] as Node, physical.provided[id] as Provided),
    ),
  ]);
  return [...lines, ...nodes.flatMap((node, id) => (node.kind === 'output' ? [line(id)] : []))];
}

function describeNode({ nodes, provided }: PhysicalPlan, id: NodeId, { targets }: Plan, nameOf: (node: ScanNode) => string): string {
  const node = nodes[id] as Node;
  const what = ((): string => {
    switch (node.kind) {
      case 'scan':
        return `${nameOf(node)}${node.operator.iterator === undefined ? '' : `, each ${node.operator.iterator}`}`;
      case 'unnest':
        return node.operator.item.name;
      case 'extend':
        return node.operator.columns.map(({ column }) => column.name).join(', ');
      case 'number':
        return node.operator.column.name;
      case 'join':
        return `${node.gives}, ${node.operator.type}`;
      case 'project':
        return partsOfSide(node);
      case 'check':
        return `${node.check.kind} of ${node.check.view}`;
      case 'encode':
        return node.map.map.name;
      case 'gather':
        return `${node.collect.collection.as} of ${node.map.map.name}`;
      case 'distinct':
        return `by ${node.by}`;
      case 'reify':
        return 'quoted triples';
      case 'output':
        return targets[node.output - 1]?.path ?? 'of the run';
    }
  })();
  const from = node.inputs.length === 0 ? '' : ` ← ${node.inputs.map((input) => input + 1).join(', ')}`;
  const needs = describeRequired(requires(node), node.inputs);
  const state = stateOf(node);
  const asked = questionOf(comparedMap(node, nodes));
  const clauses = [
    ...(node.kind === 'output' || node.kind === 'check' ? [] : [`provides: ${describeProvided(provided[id] as Provided)}`]),
    ...(needs.length === 0 ? [] : [`requires: ${needs.join(', ')}`]),
    ...(state === undefined ? [] : [`keeps: ${describeState(state)}`]),
    ...(asked === undefined ? [] : [`asks: ${asked}`]),
  ];
  return `${id + 1} ${node.kind} ${what}${from}${clauses.length === 0 ? '' : `: ${clauses.join('; ')}`}`;
}

/** What is asked of a document before the run. */
function questionOf(map: MapPlan | undefined): string | undefined {
  if (map === undefined) return undefined;
  if (map.keyReferences.length > 0) return `is ${map.keyReferences.join(' or ')} a key?`;
  return map.keyTerm === undefined ? undefined : 'has each row another subject?';
}

function partsOfSide({ operator: { map, columns } }: Extract<Node, { kind: 'project' }>): string {
  if (map === undefined) return 'rows of a view';
  const [column] = columns;
  return `${column !== undefined && isTerm(column.value) && column.value.kind === 'quoted' ? 'triples' : 'subjects'} of ${map.name}`;
}

const UNIQUE: Readonly<Record<NonNullable<Provided['unique']>, string>> = {
  position: 'each with its position',
  catalogue: 'no two equal, by a key of the table',
  annotation: 'no two equal, by a key that a view promises',
  found: 'no two equal, by a key that was found in the document',
  ascending: 'no two equal, by a column that ascends',
  distinct: 'no two equal',
};

function describeProvided({ partitioning, order, readsPosition, deterministic, unique }: Provided): string {
  return [
    partitioning === 'records' ? 'divisible' : 'not divisible',
    order === 'input' ? 'in order' : 'in any order',
    ...(readsPosition ? ['made of positions'] : []),
    ...(deterministic ? [] : ['not repeatable']),
    ...(unique === undefined ? [] : [UNIQUE[unique]]),
  ].join(', ');
}

const TOGETHER: Readonly<Record<NonNullable<Required['together']>, string>> = {
  all: 'all rows',
  pair: 'equal pairs',
  statement: 'equal statements',
  subject: 'equal subjects',
  head: 'equal heads',
  reifier: 'equal reifiers',
  values: 'equal values',
};

/** What is required of several inputs alike is said once. */
function describeRequired(needs: readonly Required[], inputs: readonly NodeId[]): readonly string[] {
  const byText = new Map<string, number[]>();
  for (const [port, { together, ordered, complete }] of needs.entries()) {
    const texts = [
      ...(complete ? ['all rows first'] : []),
      ...(together === undefined ? [] : [`${TOGETHER[together]} in one place${ordered ? ', in order' : ''}`]),
    ];
    for (const text of texts) byText.set(text, [...(byText.get(text) ?? []), (inputs[port] as NodeId) + 1]);
  }
  return [...byText].map(([text, from]) => `${text} (${from.join(', ')})`);
}

const VALUES: Readonly<Record<NodeState['value'], string>> = { nothing: '', count: 'a count', texts: 'texts', row: 'rows' };

function describeState({ key, value }: NodeState): string {
  const found = key === 'hash' ? 'a hash' : key === 'text' ? 'a key' : undefined;
  return found === undefined ? VALUES[value] : value === 'nothing' ? `${found} of each` : `${VALUES[value]} by ${found}`;
}

function describeDivision(physical: PhysicalPlan, group: number, parts: PartsIn): readonly string[] {
  const obstacles = obstaclesOf(physical, group, parts);
  const reasons = obstacles.map(({ node, reason }: Obstacle) => `${node + 1} ${REASONS[reason]}`);
  const hasJoins = physical.groups[group]?.some((id) => physical.nodes[id]?.kind === 'join');
  if (reasons.length === 0) return [`  ${parts} divide the records${hasJoins ? ', if each can read the build sides of the joins' : ''}`];
  return [`  ${parts} do not divide the records:`, ...reasons.map((reason) => `    ${reason}`)];
}

/** @param all where there is no reason; undefined: nothing is said then */
function describeReasons(
  all: string | undefined,
  except: string,
  group: readonly NodeId[],
  reasonOf: (id: NodeId) => string | undefined,
): readonly string[] {
  const reasons = group.flatMap((id) => {
    const reason = reasonOf(id);
    return reason === undefined ? [] : [`    ${id + 1} ${reason}`];
  });
  if (reasons.length > 0) return [`  ${except}`, ...reasons];
  return all === undefined ? [] : [`  ${all}`];
}

/** What a node keeps of its rows, or why they wait; undefined: it gives them on, and keeps no more the more there are. */
function notStreamed(node: Node, wholeOf: (node: ScanNode) => string | undefined): string | undefined {
  if (node.kind === 'scan') return wholeOf(node);
  const state = stateOf(node);
  if (state === undefined || state.value === 'count') return undefined;
  switch (node.kind) {
    case 'join':
      return 'pairs its rows at the end: its build side is read with them, or behind them';
    case 'project':
      return 'keeps all of its rows: others are looked up in them';
    case 'check':
      return 'keeps the values of all rows, and compares at the end what does not fit in memory';
    case 'gather':
      if (spansRows(node.collect.collection)) return 'keeps members until the end: any row may append to its collection';
      return node.collect.joins.some(({ deferred }) => deferred) ? 'keeps rows whose members are found at the end' : undefined;
    case 'distinct':
      return `keeps hashes of ${node.by === 'subject' ? 'subjects and their objects' : 'statements'}, and compares at the end what does not fit in memory`;
    default:
      return 'keeps hashes of reifiers, and compares at the end what does not fit in memory';
  }
}

/** What a database could be asked for, and is not: a join, a filter, or fewer columns. */
function notPushedDown(node: Node, { ofDatabase }: Provided): string | undefined {
  switch (node.kind) {
    case 'join':
      return node.notPushed && `is a join that ${JOINS[node.notPushed]}`;
    case 'scan': {
      const { source } = node.operator;
      const isQuery = source.kind === 'sql' && source.content.kind === 'query';
      return isQuery ? 'is a query, which runs as it is written, with all of its columns' : undefined;
    }
    case 'encode': {
      const terms = [node.map.subject, ...node.rules.flatMap(termsOfRule)];
      const isFilter = ofDatabase && terms.flatMap(expressionsOf).some((one) => holds(one, 'conditional'));
      return isFilter ? 'checks a condition of each row' : undefined;
    }
    default:
      return undefined;
  }
}

const JOINS: Readonly<Record<NotPushed, string>> = {
  view: 'reads or gives rows of a view',
  members: 'gives members of a collection',
  file: 'reads a file on one side',
  'no condition': 'has no condition',
  nulls: 'compares columns of which a text means null',
  record: 'depends on a term that belongs to its record, which a pair is not',
  key: 'compares what is made of columns',
  columns: 'compares columns of two databases, or of types whose values may be equal where texts differ',
};

const REASONS: Readonly<Record<Reason, string>> = {
  position: 'reads the position of its record, which a part of the document does not know',
  order: 'needs all rows in one place',
  'all pairs': 'has no condition, and the run reports how many pairs it makes as a whole',
  collection: 'adds rows to one collection, in their order',
  pairs: 'makes pairs of rows, which the database gives once for a query, and not for several',
  repeats: 'compares statements of a table, and no key tells that two parts make none in common',
  reifier: 'compares reifiers, and parts do not share them',
};
