/**
 * Join push-down: a join whose two sides are in one database, and comparable there, becomes a scan of the matching pairs of rows. All other
 * joins are made by the engine.
 *
 * @see https://www.w3.org/TR/r2rml/#foreign-key (joint SQL query)
 */
import { policyOf } from '../../mapping/model/model.ts';
import type { Column, Emit, Join, MapInfo, MapRules, Scan, SqlPairs } from '../algebra.ts';
import type { Builder } from '../build/operators.ts';
import type { CatalogueMetadata } from '../catalogue-metadata.ts';
import { expressionsOf, isInCell, isOfRow, isTerm, renameTerm } from '../expressions.ts';
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

/** undefined: the engine makes the join. */
function pushDown(
  rules: MapRules,
  emit: Emit,
  { origin, on, right }: Join,
  number: number,
  catalogue: CatalogueMetadata,
  guards: Guards | undefined,
  builder: Builder,
): MapRules | undefined {
  const { map, rows, subject } = rules;
  const [projected] = right.columns;
  if (rows.kind !== 'scan' || right.input.kind !== 'scan' || right.map === undefined) return undefined;
  if (projected === undefined || !isTerm(projected.value)) return undefined;
  const { source: child } = rows;
  const { source: parent } = right.input;
  const { value: object } = projected;
  if (on.length === 0 || child.kind !== 'sql' || parent.kind !== 'sql') return undefined;
  // A text that means null equals nothing, also where the columns are equal.
  if (child.nulls.length + parent.nulls.length > 0) return undefined;
  // Per-record blank nodes and random values belong to their record, which a pair of rows is not.
  const { predicate, graph } = emit;
  const terms = [subject, predicate, object, ...(graph === undefined ? [] : [graph])];
  if (terms.some((term) => isInCell(term) || expressionsOf(term).some(isOfRow))) return undefined;
  const conditions: { child: string; parent: string }[] = [];
  for (const [i, { left }] of on.entries()) {
    const key = right.keys[i]?.value;
    if (left.kind !== 'read' || key?.kind !== 'read') return undefined;
    if (!catalogue.canJoin(child, left.reference, parent, key.reference)) return undefined;
    conditions.push({ child: left.reference, parent: key.reference });
  }
  const id = `${map.id} join ${number}`;
  const source: SqlPairs = { kind: 'sql-pairs', origin, reader: id, child, parent, conditions };
  const records = [builder.column('child'), builder.column('parent')] as const;
  const pairs: Scan = {
    kind: 'scan',
    source,
    dialect: rows.dialect,
    iterator: undefined,
    origin,
    records,
    index: builder.column('#'),
    identity: builder.column('identity'),
  };
  const [own] = rows.records as [Column];
  const [other] = right.input.records as [Column];
  const ofChild = new Map([[own, records[0]]]);
  const ofParent = new Map([[other, records[1]]]);
  return {
    map: { ...map, id, name: `${map.name} joined with ${right.map.name}`, origin, source },
    rows: pairs,
    subject: renameTerm(subject, ofChild),
    emits: [
      {
        input: pairs,
        predicate: renameTerm(predicate, ofChild),
        object: renameTerm(object, ofParent),
        graph: graph === undefined ? undefined : renameTerm(graph, ofChild),
        target: emit.target,
      },
    ],
    collects: [],
    checks: [
      ...(guards?.of(rules).map((term) => renameTerm(term, ofChild)) ?? []),
      ...(guards?.asParent(right).map((term) => renameTerm(term, ofParent)) ?? []),
    ],
  };
}
