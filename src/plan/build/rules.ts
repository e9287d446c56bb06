/**
 * Mapping → algebra. Each triples map becomes the rules over its rows: one statement pattern for each combination of graph, predicate and
 * object.
 *
 * Quoted triples may be made with joins, which give other rows. Patterns that need them are separate rules (`MapInfo.isPart`), over these
 * rows. The rows of the triples map itself always have rules, which report its records even if they write nothing.
 */
import { expressionText } from '../../mapping/model/expressions.ts';
import type { LogicalTarget, Mapping, SubjectMap, TermMap, TriplesMap } from '../../mapping/model/model.ts';
import { DEFAULT_GRAPH_IRIS, mapsIn, referredBy } from '../../mapping/model/model.ts';
import type { Emit, Expression, MapInfo, MapRules, Operator, RowTerm, StatementPlace, Term } from '../algebra.ts';
import { collectionTerms, holds, keyTerm, scanOf, termKey, termsIn } from '../expressions.ts';
import { type Choice, Choices, typeOf } from './choices.ts';
import { CollectPlaces } from './collections.ts';
import { joinedRows, joinOf, ownTermsOf } from './joined-rows.ts';
import type { Builder } from './operators.ts';
import type { NamedRows, ViewBuilder } from './views.ts';

/** @param runBase the base for relative IRIs of triples maps without their own */
export function buildRules({ triplesMaps }: Mapping, runBase: string, builder: Builder, views: ViewBuilder): readonly MapRules[] {
  const rowsOf = (map: TriplesMap): NamedRows => views.rowsOfMap(map);
  const parents = new Set(triplesMaps.flatMap(mapsIn).flatMap((one) => (one.kind === 'term' ? [] : [referredBy(one)])));
  const infos = new Map(triplesMaps.map((map) => [map, infoOf(map, scanOf(rowsOf(map).rows).source, parents)]));
  const choices = new Choices({ triplesMaps, base: runBase, builder, rowsOf, infoOf: (map) => infos.get(map) as MapInfo });
  const all = triplesMaps.map((map) => rulesOf(map, rowsOf(map).rows, infos.get(map) as MapInfo, choices, builder));
  return all.flatMap(([rules, ...parts], i) => {
    // Known only after all have been built.
    const keys = choices.keysElsewhere(triplesMaps[i] as TriplesMap).filter(isFallibleKey);
    return keys.length === 0 ? [rules, ...parts] : [{ ...rules, checks: [...rules.checks, ...keys.map(keyTerm)] }, ...parts];
  });
}

const infoOf = (
  { id, name, origin, dialect, subject, predicateObjects, quotedOnly }: TriplesMap,
  source: MapInfo['source'],
  parents: ReadonlySet<string>,
): MapInfo => ({
  id,
  name,
  origin,
  dialect,
  source,
  subject: subjectText(subject),
  quotedOnly: quotedOnly === true,
  isOnlyParent: parents.has(id) && subject.classes.length + predicateObjects.length === 0,
  isPart: false,
});

const subjectText = (subject: SubjectMap): string =>
  subject.kind === 'star' ? `<< ${subject.quoted.replace(/^.*[/#]/, '')} >>` : expressionText(subject.expression);

/** A statement pattern, with the joins that its terms need. */
interface Pattern {
  readonly subject: Choice;
  readonly predicate: RowTerm;
  readonly object: Choice;
  readonly graph: RowTerm | undefined;
  readonly target: LogicalTarget | undefined;
}

type Targets = readonly LogicalTarget[] | undefined;

/** undefined: the default graph. */
interface Graph {
  readonly graph: RowTerm | undefined;
  readonly targets: Targets;
}

/** The rules over the rows of a triples map, then those over joined rows. */
function rulesOf(map: TriplesMap, rows: Operator, info: MapInfo, choices: Choices, builder: Builder): readonly [MapRules, ...MapRules[]] {
  const subjects = choices.subjects(map);
  const patterns = patternsOf(map, subjects, choices);
  const isPlain = ({ subject, object }: Pattern): boolean => subject.joins.length + rowJoinsOf(object).length === 0;
  const plain = info.quotedOnly ? [] : patterns.filter(isPlain);
  const others = patterns.filter((pattern) => !plain.includes(pattern));
  const places = new CollectPlaces();
  for (const place of placesOfMap(map, choices)) for (const { term } of subjects) places.add(term, place, map.id);
  for (const { predicate, object, graph, target } of plain)
    for (const term of [predicate, object.term]) places.add(term, { graph, target }, map.id);
  const own: MapRules = {
    map: info,
    rows,
    subject: subjects.find(({ joins }) => joins.length === 0)?.term ?? NOTHING,
    emits: plain.map((pattern) => emitOf(pattern, rows)),
    collects: places.collects,
    checks: [],
  };
  if (others.length === 0 && !info.quotedOnly) return [own];
  const reporting: MapRules = { ...own, subject: NOTHING, emits: [], collects: [], checks: checksOf(patterns) };
  if (info.quotedOnly) return [reporting];
  const terms = patterns.flatMap(patternTerms);
  const partOf = (group: readonly [Pattern, ...Pattern[]]): MapRules => {
    const [{ subject, object }] = group;
    const keys = group.flatMap((one) => lookUpKeys(one.object));
    const joined = joinedRows(rows, [...subject.joins, ...rowJoinsOf(object)], terms, keys, builder);
    const emits = group.map(({ predicate, object: { term, joins }, graph, target }) =>
      emitOf(
        {
          target,
          predicate: joined.term(predicate),
          object: { term: joined.term(term), joins: joins.map((join) => ({ ...join, keys: join.keys.map(joined.key) })) },
          graph: graph === undefined ? undefined : joined.term(graph),
        },
        joined.rows,
      ),
    );
    return { map: { ...info, isPart: true }, rows: joined.rows, subject: joined.term(subject.term), emits, collects: [], checks: [] };
  };
  const ofRecords = own.emits.length + own.collects.length === 0 ? [] : [{ ...own, map: { ...info, isPart: true } }];
  return [reporting, ...ofRecords, ...groupsOf(others).map(partOf)];
}

/** The joins that the rows of a statement need. One that brings the whole object is looked up for each row instead. */
const rowJoinsOf = ({ term, joins }: Choice): Choice['joins'] => (term.kind === 'encoded' ? [] : joins);

/** The keys that are looked up for each row. */
const lookUpKeys = ({ term, joins }: Choice): readonly Expression[] => (term.kind === 'encoded' ? joins.flatMap(({ keys }) => keys) : []);

const patternTerms = ({ subject, predicate, object, graph }: Pattern): readonly Term[] => [
  subject.term,
  predicate,
  object.term,
  ...(graph === undefined ? [] : [graph]),
];

/** The subject of rules that write nothing. */
const NOTHING: RowTerm = {
  kind: 'constant',
  origin: { document: '', line: 0, column: 0 },
  term: { kind: 'iri', value: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#nil' },
  type: 'iri',
  base: '',
};

/** What may be invalid for a record in patterns that others write: its terms, and the keys of joins. */
function checksOf(patterns: readonly Pattern[]): readonly RowTerm[] {
  const terms = patterns
    .flatMap(patternTerms)
    .flatMap(ownTermsOf)
    .flatMap((term) => (term.kind === 'head' ? collectionTerms(term.collection) : [term]))
    .filter(isFallible);
  const keys = patterns.flatMap(({ subject, object }) => [...subject.joins, ...object.joins].flatMap((join) => join.keys));
  const all = [...terms, ...keys.filter(isFallibleKey).map(keyTerm)];
  return [...new Map(all.map((term) => [termKey(term), term])).values()];
}

/** Constants and percent-encoded templates are never invalid. */
export function isFallible(term: Term): boolean {
  switch (term.kind) {
    case 'constant':
    case 'encoded':
      return false;
    case 'quoted':
      return termsIn(term).some(isFallible);
    case 'iri':
      return term.value.kind !== 'template' || term.type === 'unsafe-iri' || term.type === 'unsafe-uri';
    default:
      return true;
  }
}

/** A function may refuse its arguments. */
export const isFallibleKey = (key: Expression): boolean => holds(key, 'call');

/** Patterns with the same joins share rows. */
function groupsOf(patterns: readonly Pattern[]): readonly (readonly [Pattern, ...Pattern[]])[] {
  const groups = new Map<Choice, Map<Choice | undefined, [Pattern, ...Pattern[]]>>();
  for (const pattern of patterns) {
    const { subject, object } = pattern;
    const ofSubject = groups.get(subject) ?? new Map<Choice | undefined, [Pattern, ...Pattern[]]>();
    groups.set(subject, ofSubject);
    const key = rowJoinsOf(object).length === 0 ? undefined : object;
    const group = ofSubject.get(key);
    if (group === undefined) ofSubject.set(key, [pattern]);
    else group.push(pattern);
  }
  return [...groups.values()].flatMap((group) => [...group.values()]);
}

/**
 * The statement patterns of a triples map: classes first, then predicate object maps in the order of the mapping. Within each they are
 * ordered by graph, then predicate, then object. A statement goes to every graph of the subject map and of its predicate object map, each
 * once, or to the default graph if there is none.
 */
function patternsOf(map: TriplesMap, subjects: readonly Choice[], choices: Choices): readonly Pattern[] {
  const patterns: Pattern[] = [];
  const term = (of: TermMap): RowTerm => choices.term(of, map);
  /** To all targets of all terms: one pattern for each. */
  const add = (pattern: Omit<Pattern, 'subject' | 'target'>, ...targets: readonly Targets[]): void => {
    for (const subject of subjects)
      for (const target of eachOf(map.subject.targets, ...targets)) patterns.push({ subject, ...pattern, target });
  };
  for (const { graph, targets } of graphsOf(map.subject.graphs, term)) {
    for (const one of map.subject.classes) add({ predicate: typeOf(one), object: { term: term(one), joins: [] }, graph }, targets);
  }
  for (const { predicates, objects, graphs } of map.predicateObjects) {
    // Once for all predicates and graphs, which so share the joins.
    const choicesOf = objects.map((one) => ({ targets: choices.targetsOf(one), all: choices.objects(one, map) }));
    for (const { graph, targets } of graphsOf([...map.subject.graphs, ...graphs], term)) {
      for (const predicate of predicates) {
        for (const { targets: ofObject, all } of choicesOf) {
          for (const object of all) add({ predicate: term(predicate), object, graph }, targets, predicate.targets, ofObject);
        }
      }
    }
  }
  return patterns;
}

/** Each of the targets; undefined is the output of the run, if there is none. */
function eachOf(...targets: readonly Targets[]): readonly (LogicalTarget | undefined)[] {
  const all = new Set(targets.flatMap((some) => some ?? []));
  return all.size === 0 ? [undefined] : [...all];
}

/** Where the subjects of a triples map are described. */
const placesOfMap = (map: TriplesMap, choices: Choices): readonly StatementPlace[] =>
  graphsOf(map.subject.graphs, (of) => choices.term(of, map)).flatMap(({ graph, targets }) =>
    eachOf(map.subject.targets, targets).map((target) => ({ graph, target })),
  );

function emitOf({ predicate, object, graph, target }: Omit<Emit, 'input' | 'object'> & Pick<Pattern, 'object'>, rows: Operator): Emit {
  const [join] = object.term.kind === 'encoded' ? object.joins : [];
  return { input: join === undefined ? rows : joinOf(join, rows), predicate, object: object.term, graph, target };
}

/** Distinct graphs. `undefined` is the default graph, also if the mapping names it by its IRI. */
function graphsOf(maps: readonly TermMap[], term: (of: TermMap) => RowTerm): Graph[] {
  if (maps.length === 0) return [{ graph: undefined, targets: undefined }];
  const graphs = new Map<string, Graph>();
  for (const map of maps) {
    const { expression, targets = [] } = map;
    const graph = term(map);
    const isDefault = expression.kind === 'constant' && DEFAULT_GRAPH_IRIS.has(expression.term.value);
    const key = isDefault ? '' : termKey(graph);
    graphs.set(key, { graph: isDefault ? undefined : graph, targets: [...(graphs.get(key)?.targets ?? []), ...targets] });
  }
  return [...graphs.values()];
}
