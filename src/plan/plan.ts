/**
 * Mapping → plan: the scans and their order, the rules that each record feeds, the joins, and which rules could make the same statement.
 * Plain data; nothing here reads a source.
 *
 * The mapping is built as algebra (`algebra.ts`), rewritten, and then laid out as what is carried out: one pass over each source.
 */
import type { ErrorPolicy, LogicalSource, Mapping } from '../mapping/model/model.ts';
import type { Expression, Join, MapInfo, MapRules, Project, RowTerm } from './algebra.ts';
import { Builder, buildRules } from './build.ts';
import { type CatalogueMetadata, NO_METADATA } from './catalogue-metadata.ts';
import { identifiesRow, isFunctionallyDependent, isUnique } from './dependencies.ts';
import { findOverlaps } from './overlaps.ts';
import { pushDownJoins } from './push-down.ts';
import { groupScans, groupsOf, orderScans, projectsOf } from './scans.ts';

export interface Plan {
  /** In execution order: where possible, the parent of a join before its child. */
  readonly scans: readonly ScanPlan[];
  /** The build sides of joins: terms of the parent by key. Children with the same parent and parent keys share one. */
  readonly joins: readonly Project[];
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
export interface MapPlan extends Pick<MapRules, 'map' | 'subject' | 'checks'> {
  readonly index: number;
  /** No two records make the same statement by a rule that is distinct by `subject`: no check is needed. */
  readonly unique: boolean;
  /** The subject identifies its row of a table (for a join, of the child's table): rows can be distributed, and no subject comes twice. */
  readonly identifiesRow: boolean;
  readonly rules: readonly RulePlan[];
}

/** One statement pattern. */
export interface RulePlan {
  readonly predicate: RowTerm;
  readonly object: ObjectPlan;
  /** undefined: the default graph. */
  readonly graph: RowTerm | undefined;
  /**
   * How duplicates are found. `subject`: only records with the same subject in this triples map can repeat a statement of this rule.
   * `overlapping`: other rules may make the same statement, or the predicate or graph is not constant.
   */
  readonly distinct: 'subject' | 'overlapping';
  /** The object depends functionally on the subject: for a known subject it need not be checked. */
  readonly functionallyDependent: boolean;
}

export type ObjectPlan =
  | { readonly kind: 'term'; readonly term: RowTerm }
  /** The terms of a join's build side with the keys of the record; `deferred`: found when both sides are complete. */
  | { readonly kind: 'join'; readonly join: number; readonly keys: readonly Expression[]; readonly deferred: boolean };

/**
 * Plans a mapping that has no errors. Pure: the same arguments give the same plan. Throws nothing.
 *
 * @param runBase base IRI of the run, absolute; triples maps may have their own
 * @param metadata catalogue metadata of databases; without it no key is known, and no join is pushed down
 * @param onError undefined: the default of each triples map's dialect
 * @returns scans in execution order (parents of joins before their children where possible); `MapPlan.index` counts the triples maps in
 * that order
 */
export function planMapping(mapping: Mapping, runBase: string, metadata: CatalogueMetadata = NO_METADATA, onError?: ErrorPolicy): Plan {
  const builder = new Builder();
  const maps = pushDownJoins(buildRules(mapping, runBase, builder), metadata, onError, builder);
  const joins = projectsOf(maps);
  const joinIndexes = new Map(joins.map((project, index) => [project, index]));
  const scans = orderScans(groupScans(maps));
  const positionOf = new Map(scans.flatMap(({ iterations }, position) => iterations.map(({ scan }) => [scan, position] as const)));
  const positionOfKey = new Map(scans.map(({ key }, position) => [key, position]));
  const { overlappingEmits, overlappingMaps } = findOverlaps(scans.flatMap((scan) => scan.iterations.flatMap(({ maps }) => maps)));
  const joined = ({ right, on }: Join, position: number): ObjectPlan => ({
    kind: 'join',
    join: joinIndexes.get(right) as number,
    keys: on.map(({ left }) => left),
    deferred: (positionOf.get(right.input) as number) >= position,
  });
  const rulesOf = (rules: MapRules, position: number): readonly RulePlan[] =>
    rules.emits.map((emit) => {
      const { input, predicate, object, graph } = emit;
      return {
        predicate,
        object: object.kind === 'encoded' ? joined(input as Join, position) : { kind: 'term', term: object },
        graph,
        distinct: overlappingEmits.has(emit) ? 'overlapping' : 'subject',
        functionallyDependent: isFunctionallyDependent(emit, rules, metadata),
      };
    });
  let index = 0;
  return {
    joins,
    groups: groupsOf(scans, [
      ...overlappingMaps.map(([a, b]) => [positionOf.get(a.rows), positionOf.get(b.rows)] as [number, number]),
      ...scans.flatMap(({ needs }, position) => [...needs].map((key) => [position, positionOfKey.get(key)] as [number, number])),
    ]),
    scans: scans.map(({ source, dialect, iterations }, position) => ({
      source,
      dialect,
      iterations: iterations.map(({ scan, origin, references, buildSides, maps }) => ({
        iterator: scan.iterator,
        origin,
        references: [...references],
        buildSides: buildSides.map((project) => joinIndexes.get(project) as number),
        maps: maps.map((rules) => ({
          index: index++,
          map: rules.map,
          subject: rules.subject,
          checks: rules.checks,
          unique: isUnique(rules, metadata),
          identifiesRow: identifiesRow(rules, metadata),
          rules: rulesOf(rules, position),
        })),
      })),
    })),
  };
}

/** Whether the rows of a triples map are pairs that a database has joined. */
export const isOfPairs = ({ source }: MapInfo): boolean => source.kind === 'sql' && source.content.kind === 'join';
