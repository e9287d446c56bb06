/**
 * Mapping → plan. The mapping is built as algebra (`algebra.ts`), rewritten, and then laid out as what is carried out: one pass over each source.
 */
import type { Mapping, Policies } from '../mapping/model/model.ts';
import type { Algebra, Collect, Collection, Emit, Join, MapRules, Operator, RowTerm, Scan, StatementPlace, Term } from './algebra.ts';
import { buildAlgebra } from './build/build.ts';
import { Builder } from './build/operators.ts';
import { type CatalogueMetadata, NO_METADATA } from './catalogue-metadata.ts';
import {
  identifiesRow,
  isDeclaredUnique,
  isFunctionallyDependent,
  isOfRowAlone,
  isUnique,
  keyedBy,
  keyReferences,
  mayTellRow,
} from './dependencies.ts';
import { collectionTerms, definitionOf, isTerm, memberJoins, readsDatabase, rowJoins, scanOf, stepsOf, termKey } from './expressions.ts';
import { findOverlaps, findReifierOverlaps, type ReifierOverlaps } from './overlaps.ts';
import type { CollectPlan, MapPlan, NestedPlan, NotPushed, ObjectPlan, Plan, RulePlan, StepPlan } from './plan.ts';
import { sidesOf } from './rewrite/push-down.ts';
import { rewritten } from './rewrite/rewrites.ts';
import { groupScans, groupsOf, isObjectOf, type NestedDraft, orderScans, projectsOf } from './scans.ts';

/**
 * Plans a mapping that has no errors. Pure: the same arguments give the same plan. Throws nothing.
 *
 * @param runBase base IRI of the run, absolute; triples maps may have their own
 * @param catalogue metadata of databases; without them no key is known, and no join is pushed down
 * @param reifiers whether the statements are written in RDF 1.2, where quoted triples as subjects have reifiers
 * @returns scans in execution order (parents of joins before their children where possible); `MapPlan.index` counts the triples maps in
 * that order
 */
export function planMapping(
  mapping: Mapping,
  runBase: string,
  catalogue: CatalogueMetadata = NO_METADATA,
  policies: Policies = {},
  reifiers = false,
): Plan {
  const builder = new Builder();
  const built = buildAlgebra(mapping, runBase, builder);
  return planAlgebra(rewritten(built, { ...policies, builder, catalogue }), catalogue, reifiers);
}

/** Lays an algebra out as what is carried out. */
export function planAlgebra({ maps, checks }: Algebra, catalogue: CatalogueMetadata, reifiers = false): Plan {
  const checkIndexes = new Map(checks.map((check, index) => [check, index]));
  const joins = projectsOf(maps, checks);
  const joinIndexes = new Map(joins.map((project, index) => [project, index]));
  const scans = orderScans(groupScans(maps, checks));
  const positions = new Map(scans.flatMap(({ iterations }, position) => iterations.map(({ scan }) => [scan, position] as const)));
  const positionOf = (rows: Operator): number => positions.get(scanOf(rows)) as number;
  const positionOfKey = new Map(scans.map(({ key }, position) => [key, position]));
  const inOrder = scans.flatMap(({ iterations }) => iterations.flatMap(({ pipelines }) => pipelines.flatMap((pipeline) => pipeline.maps)));
  const placesOf = ({ emits, collects }: MapRules): readonly StatementPlace[] => [...emits, ...collects.flatMap(({ places }) => places)];
  const targets = [...new Set(inOrder.flatMap((rules) => placesOf(rules).flatMap(({ target }) => target ?? [])))];
  const { overlappingEmits, overlappingMaps } = findOverlaps(inOrder);
  const reifierOverlaps = reifiers ? findReifierOverlaps(inOrder) : NO_REIFIERS;
  const isDeferred = ({ left, right }: Join): boolean =>
    positionOf(right.input) >= positionOf(left) || rowJoins(right.input).some((join) => isDeferred(join));
  const notPushedOf = (rules: MapRules, emit: Emit, join: Join): NotPushed | undefined => {
    if (!readsDatabase(join)) return undefined;
    const sides = sidesOf(rules, emit, join, catalogue);
    // Only a guard can have kept it here.
    return typeof sides === 'string' ? sides : 'record';
  };
  const joinOf = ({ right }: Join): number => joinIndexes.get(right) as number;
  const outputOf = ({ target }: Pick<StatementPlace, 'target'>): number => (target === undefined ? 0 : targets.indexOf(target) + 1);
  /** Other terms are hardly ever different in each row. */
  const subjects = new Map<Operator, Set<string>>();
  for (const { rows, subject } of inOrder) subjects.set(rows, (subjects.get(rows) ?? new Set()).add(termKey(subject)));
  const isSubjectOfRow = (term: Term, rows: Operator): boolean => mayTellRow(term, rows) && subjects.get(rows)?.has(termKey(term)) === true;
  let number = 0;
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
            keyedBy: keyedBy(input, rules, catalogue),
            notPushed: notPushedOf(rules, emit, input),
          }
        : { kind: 'term', term: object };
      return {
        number: number++,
        predicate,
        object: objectPlan,
        graph,
        output: outputOf(emit),
        distinct: overlappingEmits.has(emit) ? 'overlapping' : 'subject',
        functionallyDependent: isFunctionallyDependent(emit, rules, catalogue),
        keyTerm:
          !overlappingEmits.has(emit) && isSubjectOfRow(object, rules.rows) && isOfRowAlone(rules, [emit], catalogue)
            ? termKey(object)
            : undefined,
        reified: reifiers && [definitionOf(rules.subject, rules.rows), definitionOf(object, input)].some(({ kind }) => kind === 'quoted'),
      };
    });
  const collectOf = (collect: Collect): CollectPlan => ({
    collection: collect.collection,
    places: collect.places.map((place) => ({ graph: place.graph, output: outputOf(place) })),
    overlapping: overlappingEmits.has(collect),
    reified: reifiers && membersIn(collect.collection).some(({ kind }) => kind === 'quoted'),
    joins: memberJoins(collect.collection).map((operator) => ({ operator, join: joinOf(operator), deferred: isDeferred(operator) })),
  });
  let index = 0;
  const mapOf = (rules: MapRules): MapPlan => ({
    index: index++,
    map: rules.map,
    subject: rules.subject,
    checks: rules.checks,
    unique: isUnique(rules, catalogue) ? 'catalogue' : isDeclaredUnique(rules, checks, catalogue) ? 'annotation' : undefined,
    keyReferences: keyReferences(rules, catalogue),
    keyTerm: mayTellRow(rules.subject, rules.rows) && isOfRowAlone(rules, rules.emits, catalogue) ? termKey(rules.subject) : undefined,
    identifiesRow: identifiesRow(rules, catalogue),
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
      iterations: iterations.map(({ scan, origin, references, nested, namesRows, pipelines }) => ({
        scan,
        iterator: scan.iterator,
        origin,
        references: [...references.keys()],
        places: new Map([...references].map(([reference, places]) => [reference, [...places]])),
        nested: nested.map(nestedPlan),
        namesRows,
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

/** What is written for the terms of a collection. */
const membersIn = (collection: Collection): readonly RowTerm[] => [
  ...collectionTerms(collection),
  ...memberJoins(collection).flatMap(({ right }) =>
    right.columns.flatMap(({ value }) => (isTerm(value) ? [definitionOf(value, right.input)] : [])),
  ),
];

const NO_REIFIERS: ReifierOverlaps = { maps: [], shared: new Set() };

const nestedPlan = ({ iterator, origin, references, nested }: NestedDraft): NestedPlan => ({
  iterator,
  origin,
  references: [...references],
  nested: nested.map(nestedPlan),
});
