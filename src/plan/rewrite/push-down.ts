/**
 * Join push-down: a join whose two sides are in one database, and comparable there, becomes a scan of the matching pairs of rows. All other
 * joins are made by the engine.
 *
 * @see https://www.w3.org/TR/r2rml/#foreign-key (joint SQL query)
 */
import { policyOf } from '../../mapping/model/model.ts';
import type { Column, Emit, Join, MapInfo, MapRules, Scan, SqlPairs, Term } from '../algebra.ts';
import type { Builder } from '../build/operators.ts';
import type { CatalogueMetadata } from '../catalogue-metadata.ts';
import { expressionsOf, isInCell, isOfRow, isTerm, renameTerm } from '../expressions.ts';
import type { NotPushed } from '../plan.ts';
import { findGuards, type Guards, ruleJoins, without } from './guards.ts';
import type { Rewrite } from './rewrite.ts';

export const pushDownJoins: Rewrite = (algebra, { catalogue, builder, ...policies }) => {
  const { maps } = algebra;
  const guards = findGuards(maps, catalogue, policies);
  // Where a rejected record ends the run, no guards are needed.
  const ofPairs = ({ map }: MapRules): Guards | undefined => (policyOf(map.dialect, policies.onError) === 'strict' ? undefined : guards);
  const split = maps.map((rules) => splitJoins(rules, catalogue, ofPairs(rules), builder));
  const remaining = split.flat();
  if (remaining.length === maps.length) return algebra;
  const parents = new Set<MapInfo | undefined>(remaining.flatMap((rules) => ruleJoins(rules).map(({ right }) => right.map)));
  const left = findGuards(remaining, catalogue, policies);
  const rewritten = split.flatMap(([rules, ...pushed], at) => {
    const whole = maps[at] as MapRules;
    const own = rules as MapRules;
    const all = guards.of(whole);
    // A triples map whose only rules were joins is dropped, unless it can reject a record.
    const isNeeded = own.emits.length + own.collects.length > 0 || parents.has(own.map) || whole.emits.length === 0 || all.length > 0;
    return isNeeded ? [{ ...own, checks: [...own.checks, ...without(all, left.of(own))] }, ...pushed] : pushed;
  });
  return { ...algebra, maps: rewritten };
};

/** The triples map without the joins that are pushed down, followed by one for each of those. */
function splitJoins(rules: MapRules, catalogue: CatalogueMetadata, guards: Guards | undefined, builder: Builder): readonly MapRules[] {
  const pushed: MapRules[] = [];
  const emits = rules.emits.filter((emit) => {
    const joined =
      emit.input.kind === 'join' ? pushDown(rules, emit, emit.input, pushed.length + 1, catalogue, guards, builder) : undefined;
    if (joined !== undefined) pushed.push(joined);
    return joined === undefined;
  });
  return [pushed.length === 0 ? rules : { ...rules, emits }, ...pushed];
}

/** The sides of a join that a database can make. */
interface Sides {
  readonly child: Scan;
  readonly parent: Scan;
  readonly object: Term;
  readonly source: Pick<SqlPairs, 'child' | 'parent' | 'conditions'>;
}

/** What a database is asked for to make the join of a statement; or why the engine makes it. */
export function sidesOf({ rows, subject }: MapRules, emit: Emit, { on, right }: Join, catalogue: CatalogueMetadata): Sides | NotPushed {
  const [projected] = right.columns;
  if (rows.kind !== 'scan' || right.input.kind !== 'scan' || right.map === undefined) return 'view';
  if (projected === undefined || !isTerm(projected.value)) return 'view';
  const { source: child } = rows;
  const { source: parent } = right.input;
  const { value: object } = projected;
  if (child.kind !== 'sql' || parent.kind !== 'sql') return 'file';
  if (on.length === 0) return 'no condition';
  // A text that means null equals nothing, also where the columns are equal.
  if (child.nulls.length + parent.nulls.length > 0) return 'nulls';
  const { predicate, graph } = emit;
  const terms = [subject, predicate, object, ...(graph === undefined ? [] : [graph])];
  if (terms.some(belongsToRecord)) return 'record';
  const conditions: { child: string; parent: string }[] = [];
  for (const [i, { left }] of on.entries()) {
    const key = right.keys[i]?.value;
    if (left.kind !== 'read' || key?.kind !== 'read') return 'key';
    if (!catalogue.canJoin(child, left.reference, parent, key.reference)) return 'columns';
    conditions.push({ child: left.reference, parent: key.reference });
  }
  return { child: rows, parent: right.input, object, source: { child, parent, conditions } };
}

/** Whether a term is a blank node of its record, a random value, or has one within: a pair of rows is another record. */
const belongsToRecord = (term: Term): boolean => isInCell(term) || expressionsOf(term).some(isOfRow);

/** undefined: the engine makes the join, also where a guard belongs to its record. */
function pushDown(
  rules: MapRules,
  emit: Emit,
  join: Join,
  number: number,
  catalogue: CatalogueMetadata,
  guards: Guards | undefined,
  builder: Builder,
): MapRules | undefined {
  const sides = sidesOf(rules, emit, join, catalogue);
  if (typeof sides === 'string') return undefined;
  const ofChildren = guards?.of(rules) ?? [];
  const ofParents = guards?.asParent(join.right) ?? [];
  if ([...ofChildren, ...ofParents].some(belongsToRecord)) return undefined;
  const { map, subject } = rules;
  const { predicate, graph } = emit;
  const { origin, right } = join;
  const id = `${map.id} join ${number}`;
  const source: SqlPairs = { kind: 'sql-pairs', origin, reader: id, ...sides.source };
  const records = [builder.column('child'), builder.column('parent')] as const;
  const pairs: Scan = {
    kind: 'scan',
    source,
    dialect: sides.child.dialect,
    iterator: undefined,
    origin,
    records,
    index: builder.column('#'),
    identity: builder.column('identity'),
  };
  const [own] = sides.child.records as [Column];
  const [other] = sides.parent.records as [Column];
  const ofChild = new Map([[own, records[0]]]);
  const ofParent = new Map([[other, records[1]]]);
  return {
    map: { ...map, id, name: `${map.name} joined with ${right.map?.name}`, origin, source },
    rows: pairs,
    subject: renameTerm(subject, ofChild),
    emits: [
      {
        input: pairs,
        predicate: renameTerm(predicate, ofChild),
        object: renameTerm(sides.object, ofParent),
        graph: graph === undefined ? undefined : renameTerm(graph, ofChild),
        target: emit.target,
      },
    ],
    collects: [],
    checks: [...ofChildren.map((term) => renameTerm(term, ofChild)), ...ofParents.map((term) => renameTerm(term, ofParent))],
  };
}
