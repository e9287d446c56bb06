/**
 * Mapping → algebra. Each triples map becomes the rules over its rows: one statement pattern for each combination of graph, predicate and
 * object.
 */

import { expressionText } from '../../mapping/model/expressions.ts';
import type {
  LogicalSource,
  LogicalTarget,
  Expression as MappedExpression,
  Mapping,
  PredicateObjectMap,
  ReferencingObjectMap,
  TermMap,
  TriplesMap,
} from '../../mapping/model/model.ts';
import { DEFAULT_GRAPH_IRIS } from '../../mapping/model/model.ts';
import type { Emit, Join, MapInfo, MapRules, Operator, Project, RowTerm } from '../algebra.ts';
import { scanOf, termKey } from '../expressions.ts';
import { Builder } from './operators.ts';
import { expressionOf, termOf } from './terms.ts';
import { type NamedRows, ViewBuilder } from './views.ts';

const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

type Targets = readonly LogicalTarget[] | undefined;

/** The object of a statement pattern, and where it comes from. */
type ObjectOf = Pick<Emit, 'input' | 'object'> & { readonly targets: Targets };

/** undefined: the default graph. */
interface Graph {
  readonly graph: RowTerm | undefined;
  readonly targets: Targets;
}

/** @param runBase the base for relative IRIs of triples maps without their own */
export function buildRules({ triplesMaps }: Mapping, runBase: string, builder = new Builder()): readonly MapRules[] {
  const byId = new Map(triplesMaps.map((map) => [map.id, map]));
  const views = new ViewBuilder(triplesMaps, builder);
  const rowsOf = ({ source, dialect }: TriplesMap): NamedRows => views.rowsOf(source, dialect);
  const infos = new Map(triplesMaps.map((map) => [map.id, infoOf(map, scanOf(rowsOf(map).rows).source)]));
  const rulesOf = (map: TriplesMap): MapRules => {
    const { rows, leaf } = rowsOf(map);
    const base = map.baseIri ?? runBase;
    const term = (of: TermMap): RowTerm => termOf(of, leaf, base, map.id);
    const parent = (of: ReferencingObjectMap): Pick<Emit, 'input' | 'object'> => {
      const other = byId.get(of.parent) as TriplesMap;
      const otherBase = other.baseIri ?? runBase;
      // The parent's subject for the same record.
      if (of.conditions.length === 0 && of.all !== true) return { input: rows, object: termOf(other.subject, leaf, otherBase, other.id) };
      const conditions = sortedConditions(of);
      const { rows: input, leaf: otherLeaf } = rowsOf(other);
      const right = builder.project(
        input,
        infos.get(other.id) as MapInfo,
        conditions.map((condition) => expressionOf(condition.parent, otherLeaf, other.id)),
        termOf(other.subject, otherLeaf, otherBase, other.id),
      );
      const join: Join = {
        kind: 'join',
        origin: of.origin,
        type: 'inner',
        left: rows,
        right,
        ordinal: undefined,
        on: conditions.map((condition, i) => ({
          left: expressionOf(condition.child, leaf, map.id),
          right: (right.keys[i] as Project['keys'][number]).column,
        })),
      };
      return {
        input: join,
        object: { kind: 'encoded', origin: of.origin, column: (right.columns[0] as Project['columns'][number]).column },
      };
    };
    const object = (of: PredicateObjectMap['objects'][number]): ObjectOf =>
      of.kind === 'term'
        ? { input: rows, object: term(of), targets: of.targets }
        : { ...parent(of), targets: (byId.get(of.parent) as TriplesMap).subject.targets };
    return { map: infos.get(map.id) as MapInfo, rows, subject: term(map.subject), emits: emitsOf(map, rows, term, object), checks: [] };
  };
  return triplesMaps.map(rulesOf);
}

const infoOf = ({ id, name, origin, dialect, subject }: TriplesMap, source: LogicalSource): MapInfo => ({
  id,
  name,
  origin,
  dialect,
  source,
  subject: expressionText(subject.expression),
});

/**
 * The statement patterns of a triples map: classes first, then predicate object maps in the order of the mapping. Within each they are
 * ordered by graph, then predicate, then object. A statement goes to every graph of the subject map and of its predicate object map, each
 * once, or to the default graph if there is none.
 */
function emitsOf(
  map: TriplesMap,
  rows: Operator,
  term: (of: TermMap) => RowTerm,
  object: (of: PredicateObjectMap['objects'][number]) => ObjectOf,
): readonly Emit[] {
  const emits: Emit[] = [];
  const { subject } = map;
  /** To all targets of all terms: one pattern for each. */
  const emit = (pattern: Omit<Emit, 'target'>, ...targets: readonly Targets[]): void => {
    const all = new Set([subject.targets, ...targets].flatMap((some) => some ?? []));
    if (all.size === 0) emits.push({ ...pattern, target: undefined });
    for (const target of all) emits.push({ ...pattern, target });
  };
  const type = (origin: Emit['predicate']['origin']): RowTerm => ({
    kind: 'constant',
    origin,
    term: { kind: 'iri', value: RDF_TYPE },
    type: 'iri',
    base: '',
  });
  for (const { graph, targets } of graphsOf(subject.graphs, term)) {
    for (const one of subject.classes) emit({ input: rows, predicate: type(one.origin), object: term(one), graph }, targets);
  }
  for (const { predicates, objects, graphs } of map.predicateObjects) {
    for (const { graph, targets } of graphsOf([...subject.graphs, ...graphs], term)) {
      for (const predicate of predicates) {
        for (const one of objects) {
          const { targets: ofObject, ...made } = object(one);
          emit({ ...made, predicate: term(predicate), graph }, targets, predicate.targets, ofObject);
        }
      }
    }
  }
  return emits;
}

/** Conditions are unordered; a canonical order lets equal joins share an index. */
const sortedConditions = ({ conditions }: ReferencingObjectMap) => {
  const meaning = ({ origin: _, ...rest }: MappedExpression): string => JSON.stringify(rest);
  return conditions.toSorted((a, b) => (meaning(a.parent) < meaning(b.parent) ? -1 : 1));
};

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
