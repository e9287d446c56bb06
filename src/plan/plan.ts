/**
 * Mapping → plan: the scans and their order, the rules that each record feeds, the joins, and which rules could make the same statement.
 * Plain data; nothing here reads a source.
 */
import type { ErrorPolicy, Expression, LogicalSource, Mapping, TermMap, TriplesMap } from '../mapping/model/model.ts';
import { type CatalogueMetadata, NO_METADATA } from './catalogue-metadata.ts';
import { identifiesRow, isFunctionallyDependent, isUnique } from './dependencies.ts';
import { findOverlaps } from './overlaps.ts';
import { pushDownJoins } from './push-down.ts';
import { draftRules, expressionKey, type JoinPlan, type MapDraft, type ObjectPlan } from './rules.ts';
import { groupScans, groupsOf, orderScans } from './scans.ts';

export type { JoinPlan, ObjectPlan } from './rules.ts';

export interface Plan {
  /** In execution order: where possible, the parent of a join before its child. */
  readonly scans: readonly ScanPlan[];
  readonly joins: readonly JoinPlan[];
  /** Groups of scan positions. Scans of different groups have no join and no possible statement in common. */
  readonly groups: readonly (readonly number[])[];
}

/** One pass over one document. */
export interface ScanPlan {
  readonly source: LogicalSource;
  readonly dialect: 'rml' | 'legacy';
  readonly iterations: readonly IterationPlan[];
  /** Index of the document, if the source has several. */
  readonly document?: number;
}

/** One iterator of a scan, and everything that its records feed. */
export interface IterationPlan {
  readonly iterator: string | undefined;
  /** `document:line:column`. */
  readonly origin: string;
  readonly references: readonly string[];
  readonly maps: readonly MapPlan[];
  /** Joins (by index) whose build side these records fill. */
  readonly buildSides: readonly number[];
}

/** A triples map as rules with a common subject. */
export interface MapPlan {
  readonly index: number;
  readonly triplesMap: TriplesMap;
  /** No two records make the same statement by a rule that is distinct by `subject`: no check is needed. */
  readonly unique: boolean;
  /** The subject identifies its row of a table (for a join, of the child's table): rows can be distributed, and no subject comes twice. */
  readonly identifiesRow: boolean;
  readonly rules: readonly RulePlan[];
}

/** One statement pattern. */
export interface RulePlan {
  readonly predicate: TermMap;
  readonly object: ObjectPlan;
  /** undefined: the default graph. */
  readonly graph: TermMap | undefined;
  /**
   * How duplicates are found. `subject`: only records with the same subject in this triples map can repeat a statement of this rule.
   * `overlapping`: other rules may make the same statement, or the predicate or graph is not constant.
   */
  readonly distinct: 'subject' | 'overlapping';
  /** The object depends functionally on the subject: for a known subject it need not be checked. */
  readonly functionallyDependent: boolean;
}

/**
 * Plans a mapping that has no errors. Pure: the same arguments give the same plan. Throws nothing.
 *
 * @param runBase base IRI of the run, absolute; triples maps may have their own
 * @param metadata catalogue metadata of databases; without it no key is known, and no join is pushed down
 * @param onError undefined: the default of each triples map's dialect
 * @returns scans in execution order (parents of joins before their children where possible); `MapPlan.index` counts the triples maps in
 * that order
 */
export function planMapping(given: Mapping, runBase: string, metadata: CatalogueMetadata = NO_METADATA, onError?: ErrorPolicy): Plan {
  const mapping = pushDownJoins(given, metadata, onError);
  const joins: JoinPlan[] = [];
  const joinsByName = new Map<string, JoinPlan>();
  const byId = new Map(mapping.triplesMaps.map((map) => [map.id, map]));

  const joinOf = (parent: TriplesMap, keys: readonly Expression[]): JoinPlan => {
    const name = `${parent.id} ${JSON.stringify(keys.map(expressionKey))}`;
    let join = joinsByName.get(name);
    if (join === undefined) {
      join = { index: joins.length, parent, keys };
      joins.push(join);
      joinsByName.set(name, join);
    }
    return join;
  };

  const drafts = mapping.triplesMaps.map((triplesMap): MapDraft => ({ triplesMap, rules: draftRules(triplesMap, byId, joinOf) }));
  const scans = orderScans(groupScans(drafts, joins));
  const scanOf = new Map<string, number>();
  for (const [position, scan] of scans.entries())
    for (const iteration of scan.iterations) for (const draft of iteration.maps) scanOf.set(draft.triplesMap.id, position);

  const { overlappingRules, overlappingMaps } = findOverlaps(
    scans.flatMap((scan) => scan.iterations.flatMap((iteration) => iteration.maps)),
    joins,
    runBase,
  );
  let index = 0;
  return {
    joins,
    groups: groupsOf(scans, [
      ...overlappingMaps.map(([a, b]) => [scanOf.get(a.id), scanOf.get(b.id)] as [number, number]),
      ...scans.flatMap((scan, position) =>
        [...scan.needs].map((key) => [position, scans.findIndex((other) => other.key === key)] as [number, number]),
      ),
    ]),
    scans: scans.map((scan, position) => ({
      source: scan.source,
      dialect: scan.dialect,
      iterations: scan.iterations.map((iteration) => ({
        iterator: iteration.iterator,
        origin: iteration.origin,
        references: [...iteration.references],
        buildSides: iteration.buildSides,
        maps: iteration.maps.map((draft) => ({
          index: index++,
          triplesMap: draft.triplesMap,
          unique: isUnique(draft, runBase, metadata),
          identifiesRow: identifiesRow(draft, runBase, metadata),
          rules: draft.rules.map((rule): RulePlan => {
            const { object } = rule;
            const distinct = overlappingRules.has(rule) ? 'overlapping' : 'subject';
            const functionallyDependent = isFunctionallyDependent(rule, draft.triplesMap, runBase, metadata);
            if (object.kind !== 'join') return { ...rule, object, distinct, functionallyDependent: functionallyDependent };
            const parent = joins[object.join]?.parent as TriplesMap;
            return {
              ...rule,
              object: { ...object, deferred: (scanOf.get(parent.id) as number) >= position },
              distinct,
              functionallyDependent: functionallyDependent,
            };
          }),
        })),
      })),
    })),
  };
}
