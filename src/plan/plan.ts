/**
 * Mapping → plan: the scans and their order, the rules that each record feeds, the joins, and which rules could make the same statement.
 * Plain data; nothing here reads a source.
 *
 * The mapping is built as algebra (`algebra.ts`), rewritten, and then laid out as what is carried out: one pass over each source.
 */
import type { LogicalTarget, Mapping, Policies } from '../mapping/model/model.ts';
import type {
  Algebra,
  Check,
  Collect,
  Expression,
  Extend,
  Join,
  MapInfo,
  MapRules,
  NumberRows,
  Operator,
  Place,
  Project,
  Scan,
  Term,
  Unnest,
} from './algebra.ts';
import { buildAlgebra } from './build/build.ts';
import { Builder } from './build/operators.ts';
import { type CatalogueMetadata, NO_METADATA } from './catalogue-metadata.ts';
import {
  identifiesRow,
  isDeclaredUnique,
  isFunctionallyDependent,
  isUnique,
  type KeyedBy,
  keyedBy,
  keyReferences,
} from './dependencies.ts';
import { type Leaf, leavesOf, leavesOfCollect, leavesOfTerm, joinsOf as membersOf, scanOf, stepsOf } from './expressions.ts';
import { findOverlaps, findReifierOverlaps, type ReifierOverlaps } from './overlaps.ts';
import { rewritten } from './rewrite/rewrites.ts';
import { groupScans, groupsOf, isObjectOf, joinsIn, type NestedDraft, orderScans, projectsOf } from './scans.ts';

export interface Plan {
  /** In execution order: where possible, the parent of a join before its child. */
  readonly scans: readonly ScanPlan[];
  /** The build sides of joins: terms of the parent by key. Children with the same parent and parent keys share one. */
  readonly joins: readonly Project[];
  /** What views promise of their rows. */
  readonly checks: readonly Check[];
  /** Groups of scan positions. Scans of different groups have no join, no possible statement and no reifier in common. */
  readonly groups: readonly (readonly number[])[];
  /** Where statements go that do not go to the output of the run; each writes another file. */
  readonly targets: readonly LogicalTarget[];
}

/** One pass over one document. */
export interface ScanPlan {
  readonly source: Scan['source'];
  readonly dialect: 'rml' | 'legacy';
  readonly iterations: readonly IterationPlan[];
  /** Index of the document, if the source has several. */
  readonly document?: number;
}

/** One iterator of a scan, and everything that its records feed. */
export interface IterationPlan {
  readonly scan: Scan;
  readonly iterator: string | undefined;
  /** `document:line:column`. */
  readonly origin: string;
  readonly references: readonly string[];
  /** By reference: where the mapping has it, each `document:line:column`. */
  readonly places: ReadonlyMap<string, readonly string[]>;
  /** Iterators within the records. */
  readonly nested: readonly NestedPlan[];
  /** The records themselves first, if something reads them as they are. */
  readonly pipelines: readonly PipelinePlan[];
}

/** An iterator within records, or within the items of another one. */
export interface NestedPlan {
  readonly iterator: string;
  /** `document:line:column`. */
  readonly origin: string;
  readonly references: readonly string[];
  readonly nested: readonly NestedPlan[];
}

/** From the records to rows, and what these feed. */
export interface PipelinePlan {
  /** None: the rows are the records. */
  readonly steps: readonly StepPlan[];
  readonly maps: readonly MapPlan[];
  /** Joins (by index) whose build side these rows fill. */
  readonly buildSides: readonly number[];
  /** Checks (by index) of these rows. */
  readonly checks: readonly number[];
}

export type StepPlan =
  | { readonly kind: 'unnest'; readonly operator: Unnest }
  | { readonly kind: 'extend'; readonly operator: Extend }
  | { readonly kind: 'number'; readonly operator: NumberRows }
  /** `deferred`: the right side is complete only at the end. */
  | { readonly kind: 'join'; readonly operator: Join; readonly join: number; readonly deferred: boolean };

/** A triples map as rules with a common subject. */
export interface MapPlan extends Pick<MapRules, 'map' | 'subject' | 'checks'> {
  readonly index: number;
  /** No two records make the same statement by a rule that is distinct by `subject`: no check is needed. */
  readonly unique: boolean;
  /** References of a document's rows: if one of them has another text in each row, `unique` holds. */
  readonly keyReferences: readonly string[];
  /** The subject identifies its row of a table (for a join, of the child's table): rows can be distributed, and no subject comes twice. */
  readonly identifiesRow: boolean;
  /** Other rows, or other triples maps, may write statements of its reifiers. False in RDF-star, which has none. */
  readonly sharesReifiers: boolean;
  readonly rules: readonly RulePlan[];
  readonly collects: readonly CollectPlan[];
}

/** A collection that each row adds to. */
export interface CollectPlan extends Pick<Collect, 'collection'> {
  /** By graph and output: 0 is the output of the run, n `Plan.targets[n - 1]`. */
  readonly places: readonly { readonly graph: Place['graph']; readonly output: number }[];
  /** Other rules may make one of its statements. */
  readonly overlapping: boolean;
  /** The joins that find members of it, or of collections within it. */
  readonly joins: readonly { readonly operator: Join; readonly join: number; readonly deferred: boolean }[];
}

/** One statement pattern. */
export interface RulePlan {
  readonly predicate: Term;
  readonly object: ObjectPlan;
  /** undefined: the default graph. */
  readonly graph: Term | undefined;
  /** 0: the output of the run; n: `Plan.targets[n - 1]`. */
  readonly output: number;
  /**
   * How duplicates are found. `subject`: only records with the same subject in this triples map can repeat a statement of this rule.
   * `overlapping`: other rules may make the same statement, or the predicate or graph is not constant.
   */
  readonly distinct: 'subject' | 'overlapping';
  /** The object depends functionally on the subject: for a known subject it need not be checked. */
  readonly functionallyDependent: boolean;
}

export type ObjectPlan =
  | { readonly kind: 'term'; readonly term: Term }
  /** The terms of a join's build side with the keys of the record; `deferred`: found when both sides are complete. */
  | {
      readonly kind: 'join';
      readonly operator: Join;
      readonly join: number;
      readonly keys: readonly Expression[];
      readonly deferred: boolean;
      readonly keyedBy: KeyedBy;
    };

/**
 * Plans a mapping that has no errors. Pure: the same arguments give the same plan. Throws nothing.
 *
 * @param runBase base IRI of the run, absolute; triples maps may have their own
 * @param metadata catalogue metadata of databases; without it no key is known, and no join is pushed down
 * @param reifiers whether the statements are written in RDF 1.2, where quoted triples as subjects have reifiers
 * @returns scans in execution order (parents of joins before their children where possible); `MapPlan.index` counts the triples maps in
 * that order
 */
export function planMapping(
  mapping: Mapping,
  runBase: string,
  metadata: CatalogueMetadata = NO_METADATA,
  policies: Policies = {},
  reifiers = false,
): Plan {
  const builder = new Builder();
  const built = buildAlgebra(mapping, runBase, builder);
  return planAlgebra(rewritten(built, { ...policies, builder, facts: metadata }), metadata, reifiers);
}

/** Lays an algebra out as what is carried out. */
export function planAlgebra({ maps, checks }: Algebra, metadata: CatalogueMetadata, reifiers = false): Plan {
  const checkIndexes = new Map(checks.map((check, index) => [check, index]));
  const joins = projectsOf(maps, checks);
  const joinIndexes = new Map(joins.map((project, index) => [project, index]));
  const scans = orderScans(groupScans(maps, checks));
  const positions = new Map(scans.flatMap(({ iterations }, position) => iterations.map(({ scan }) => [scan, position] as const)));
  const positionOf = (rows: Operator): number => positions.get(scanOf(rows)) as number;
  const positionOfKey = new Map(scans.map(({ key }, position) => [key, position]));
  const inOrder = scans.flatMap(({ iterations }) => iterations.flatMap(({ pipelines }) => pipelines.flatMap((pipeline) => pipeline.maps)));
  const placesOf = ({ emits, collects }: MapRules): readonly Place[] => [...emits, ...collects.flatMap(({ places }) => places)];
  const targets = [...new Set(inOrder.flatMap((rules) => placesOf(rules).flatMap(({ target }) => target ?? [])))];
  const { overlappingEmits, overlappingMaps } = findOverlaps(inOrder);
  const reifierOverlaps = reifiers ? findReifierOverlaps(inOrder) : NO_REIFIERS;
  const isDeferred = ({ left, right }: Join): boolean =>
    positionOf(right.input) >= positionOf(left) || joinsIn(right.input).some((join) => isDeferred(join));
  const joinOf = ({ right }: Join): number => joinIndexes.get(right) as number;
  const outputOf = ({ target }: Pick<Place, 'target'>): number => (target === undefined ? 0 : targets.indexOf(target) + 1);
  const rulesOf = (rules: MapRules): readonly RulePlan[] =>
    rules.emits.map((emit) => {
      const { input, predicate, object, graph } = emit;
      const objectPlan: ObjectPlan = isObjectOf(input, object)
        ? {
            kind: 'join',
            operator: input,
            join: joinOf(input),
            keys: input.on.map(({ left }) => left),
            deferred: isDeferred(input),
            keyedBy: keyedBy(input, rules, metadata),
          }
        : { kind: 'term', term: object };
      return {
        predicate,
        object: objectPlan,
        graph,
        output: outputOf(emit),
        distinct: overlappingEmits.has(emit) ? 'overlapping' : 'subject',
        functionallyDependent: isFunctionallyDependent(emit, rules, metadata),
      };
    });
  const collectOf = (collect: Collect): CollectPlan => ({
    collection: collect.collection,
    places: collect.places.map((place) => ({ graph: place.graph, output: outputOf(place) })),
    overlapping: overlappingEmits.has(collect),
    joins: membersOf(collect.collection).map((operator) => ({ operator, join: joinOf(operator), deferred: isDeferred(operator) })),
  });
  let index = 0;
  const mapOf = (rules: MapRules): MapPlan => ({
    index: index++,
    map: rules.map,
    subject: rules.subject,
    checks: rules.checks,
    unique: isUnique(rules, metadata) || isDeclaredUnique(rules, checks, metadata),
    keyReferences: rules.rows.kind === 'scan' && rules.rows.source.kind === 'file' ? keyReferences(rules, metadata) : [],
    identifiesRow: identifiesRow(rules, metadata),
    sharesReifiers: reifierOverlaps.shared.has(rules),
    rules: rulesOf(rules),
    collects: rules.collects.map(collectOf),
  });
  const stepOf = (operator: Exclude<Operator, Scan>): StepPlan => {
    switch (operator.kind) {
      case 'unnest':
        return { kind: 'unnest', operator };
      case 'extend':
        return { kind: 'extend', operator };
      case 'number':
        return { kind: 'number', operator };
      case 'join':
        return { kind: 'join', operator, join: joinOf(operator), deferred: isDeferred(operator) };
    }
  };
  return {
    targets,
    joins,
    checks,
    groups: groupsOf(scans, [
      ...[...overlappingMaps, ...reifierOverlaps.maps].map(([a, b]) => [positionOf(a.rows), positionOf(b.rows)] as [number, number]),
      ...scans.flatMap(({ needs }, position) => [...needs].map((key) => [position, positionOfKey.get(key)] as [number, number])),
    ]),
    scans: scans.map(({ source, dialect, iterations }) => ({
      source,
      dialect,
      iterations: iterations.map(({ scan, origin, references, nested, pipelines }) => ({
        scan,
        iterator: scan.iterator,
        origin,
        references: [...references.keys()],
        places: new Map([...references].map(([reference, places]) => [reference, [...places]])),
        nested: nested.map(nestedPlan),
        pipelines: pipelines.map((pipeline) => ({
          steps: stepsOf(pipeline.rows).map(stepOf),
          maps: pipeline.maps.map(mapOf),
          buildSides: pipeline.buildSides.map((project) => joinIndexes.get(project) as number),
          checks: pipeline.checks.map((check) => checkIndexes.get(check) as number),
        })),
      })),
    })),
  };
}

const NO_REIFIERS: ReifierOverlaps = { maps: [], shared: new Set() };

const nestedPlan = ({ iterator, origin, references, nested }: NestedDraft): NestedPlan => ({
  iterator,
  origin,
  references: [...references],
  nested: nested.map(nestedPlan),
});

/** The triples maps that the records of an iteration feed. */
export const mapsOf = ({ pipelines }: IterationPlan): readonly MapPlan[] => pipelines.flatMap(({ maps }) => maps);

/** Everything that a triples map reads of its rows. */
export const leavesOfMap = ({ subject, checks, rules, collects }: MapPlan): readonly Leaf[] => [
  ...[subject, ...checks].flatMap(leavesOfTerm),
  ...rules.flatMap(({ predicate, object, graph }) => [
    ...leavesOfTerm(predicate),
    ...(graph === undefined ? [] : leavesOfTerm(graph)),
    ...(object.kind === 'term' ? leavesOfTerm(object.term) : object.keys.flatMap(leavesOf)),
  ]),
  ...collects.flatMap(leavesOfCollect),
];

/** Whether the rows of a triples map are pairs that a database has joined. */
export const isOfPairs = ({ source }: MapInfo): boolean => source.kind === 'sql' && source.content.kind === 'join';
