/**
 * Mapping → algebra. Each triples map becomes the rules over its rows: one statement pattern for each combination of graph, predicate and
 * object.
 */
import type {
  LogicalSource,
  Expression as MappedExpression,
  Mapping,
  PredicateObjectMap,
  ReferencingObjectMap,
  SqlSource,
  TermMap,
  TriplesMap,
} from '../mapping/model/model.ts';
import { DEFAULT_GRAPH_IRIS, expressionText } from '../mapping/model/model.ts';
import type { Column, Emit, Expression, Join, MapInfo, MapRules, Project, Read, RowTerm, Scan } from './algebra.ts';
import { expressionKey, termKey } from './expressions.ts';

const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

/** Makes the operators of a plan, each once. */
export class Builder {
  #columns = 0;
  readonly #scans = new Map<string, Scan>();
  readonly #projects = new Map<string, Project>();

  column(name: string): Column {
    return { id: this.#columns++, name };
  }

  scan({ source, dialect: mapDialect }: TriplesMap): Scan {
    const dialect = mapDialect === 'rml' ? 'rml' : 'legacy';
    const file = source.kind === 'file' && source.formulation !== 'csv' ? source : undefined;
    const key = JSON.stringify([sourceKey(source, dialect), file?.iterator]);
    const known = this.#scans.get(key);
    if (known !== undefined) return known;
    const origin = source.kind === 'sql' ? source.content.origin : (file?.iteratorOrigin ?? source.origin);
    const scan: Scan = { kind: 'scan', source, dialect, iterator: file?.iterator, origin, records: [this.column('')] };
    this.#scans.set(key, scan);
    return scan;
  }

  /** Children with the same parent and the same parent keys share one. */
  project(input: Scan, map: MapInfo, keys: readonly Expression[], term: RowTerm): Project {
    const key = JSON.stringify([map.id, keys.map(expressionKey)]);
    const known = this.#projects.get(key);
    if (known !== undefined) return known;
    const columns = keys.map((value, i) => ({ column: this.column(`key ${i + 1}`), value }));
    const project: Project = { kind: 'project', input, map, keys: columns, term: { column: this.column('subject'), value: term } };
    this.#projects.set(key, project);
    return project;
  }
}

/** @param runBase the base for relative IRIs of triples maps without their own */
export function buildRules({ triplesMaps }: Mapping, runBase: string, builder = new Builder()): readonly MapRules[] {
  const byId = new Map(triplesMaps.map((map) => [map.id, map]));
  const infos = new Map(triplesMaps.map((map) => [map.id, infoOf(map)]));
  const rulesOf = (map: TriplesMap): MapRules => {
    const rows = builder.scan(map);
    const [record] = rows.records as [Column];
    const base = map.baseIri ?? runBase;
    const term = (of: TermMap): RowTerm => termOf(of, record, base, map.id);
    const parent = (of: ReferencingObjectMap): Pick<Emit, 'input' | 'object'> => {
      const other = byId.get(of.parent) as TriplesMap;
      const otherBase = other.baseIri ?? runBase;
      // The parent's subject for the same record.
      if (of.conditions.length === 0 && of.all !== true) return { input: rows, object: termOf(other.subject, record, otherBase, other.id) };
      const conditions = sortedConditions(of);
      const input = builder.scan(other);
      const [otherRecord] = input.records as [Column];
      const right = builder.project(
        input,
        infos.get(other.id) as MapInfo,
        conditions.map((condition) => expressionOf(condition.parent, otherRecord, other.id)),
        termOf(other.subject, otherRecord, otherBase, other.id),
      );
      const join: Join = {
        kind: 'join',
        origin: of.origin,
        left: rows,
        right,
        on: conditions.map((condition, i) => ({
          left: expressionOf(condition.child, record, map.id),
          right: (right.keys[i] as Project['keys'][number]).column,
        })),
      };
      return { input: join, object: { kind: 'encoded', origin: of.origin, column: right.term.column } };
    };
    const object = (of: PredicateObjectMap['objects'][number]): Pick<Emit, 'input' | 'object'> =>
      of.kind === 'term' ? { input: rows, object: term(of) } : parent(of);
    return { map: infos.get(map.id) as MapInfo, rows, subject: term(map.subject), emits: emitsOf(map, rows, term, object), checks: [] };
  };
  return triplesMaps.map(rulesOf);
}

const infoOf = ({ id, name, origin, dialect, source, subject }: TriplesMap): MapInfo => ({
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
  rows: Scan,
  term: (of: TermMap) => RowTerm,
  object: (of: PredicateObjectMap['objects'][number]) => Pick<Emit, 'input' | 'object'>,
): readonly Emit[] {
  const emits: Emit[] = [];
  const type = (origin: Emit['predicate']['origin']): RowTerm => ({
    kind: 'constant',
    origin,
    term: { kind: 'iri', value: RDF_TYPE },
    type: 'iri',
    base: '',
  });
  for (const graph of graphsOf(map.subject.graphs, term)) {
    for (const one of map.subject.classes) emits.push({ input: rows, predicate: type(one.origin), object: term(one), graph });
  }
  for (const { predicates, objects, graphs } of map.predicateObjects) {
    for (const graph of graphsOf([...map.subject.graphs, ...graphs], term)) {
      for (const predicate of predicates) {
        for (const one of objects) emits.push({ ...object(one), predicate: term(predicate), graph });
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
function graphsOf(maps: readonly TermMap[], term: (of: TermMap) => RowTerm): (RowTerm | undefined)[] {
  if (maps.length === 0) return [undefined];
  const graphs = new Map<string, RowTerm | undefined>();
  for (const map of maps) {
    const { expression } = map;
    const graph = term(map);
    const isDefault = expression.kind === 'constant' && DEFAULT_GRAPH_IRIS.has(expression.term.value);
    graphs.set(isDefault ? '' : termKey(graph), isDefault ? undefined : graph);
  }
  return [...graphs.values()];
}

/** @param map id of the triples map, which per-record blank nodes belong to */
export function termOf(of: TermMap, record: Column, base: string, map: string): RowTerm {
  const { origin, termType: type, expression, language, datatype } = of;
  if (expression.kind === 'constant' && isFixed(of))
    return { kind: 'constant', origin: expression.origin, term: constantOf(of), type, base };
  const value = expressionOf(expression, record, map);
  switch (type) {
    case 'blank':
      return { kind: 'blank', origin, value };
    case 'literal':
      return {
        kind: 'literal',
        origin,
        value,
        language: language === undefined ? undefined : expressionOf(language, record, map),
        datatype: datatype === undefined ? undefined : termOf(datatype, record, base, map),
      };
    default:
      return { kind: 'iri', origin, type, value, base };
  }
}

/** Whether the language and datatype of a constant are the same for every record. */
const isFixed = ({ language, datatype }: TermMap): boolean =>
  [language, datatype?.expression].every((expression) => expression === undefined || expression.kind === 'constant');

/** The constant of a term map, with the language or datatype of the term map. */
function constantOf({ termType, expression, language, datatype }: TermMap) {
  const { term } = expression as Extract<MappedExpression, { kind: 'constant' }>;
  if (termType !== 'literal') return term;
  const own = term.kind === 'literal' ? term : undefined;
  return {
    kind: 'literal' as const,
    value: term.value,
    language: language?.kind === 'constant' ? language.term.value : own?.language,
    datatype: datatype?.expression.kind === 'constant' ? datatype.expression.term.value : (own?.datatype ?? `${XSD}string`),
  };
}

const XSD = 'http://www.w3.org/2001/XMLSchema#';

export function expressionOf(of: MappedExpression, record: Column, map: string): Expression {
  const { origin } = of;
  const read = (reference: string): Read => ({ kind: 'read', origin, record, reference });
  switch (of.kind) {
    case 'constant':
      return { kind: 'constant', origin, text: of.term.value };
    case 'reference':
      return read(of.reference);
    case 'template':
      return { kind: 'template', origin, parts: of.parts.map((part) => (part.kind === 'text' ? part.text : read(part.reference))) };
    case 'fresh':
      return { kind: 'row', origin, map };
  }
}

/** Equal for documents that one pass can read: the same source with the same read options. */
export function sourceKey(source: LogicalSource, dialect: string): string {
  if (source.kind === 'sql') return JSON.stringify([sqlKey(source), source.nulls]);
  const { path, root, formulation, nulls, encoding, compression, namespaces, csv } = source;
  return JSON.stringify([path, root, formulation, nulls, encoding, compression, namespaces, csv, dialect, source.origin.document]);
}

/** Equal for sources with the same rows and the same reference syntax. */
export function sqlKey({ connection, content, references }: SqlSource): string {
  const database = connection === undefined ? null : [connection.jdbcUrl, connection.driver, connection.user, connection.password];
  switch (content.kind) {
    case 'table':
      return JSON.stringify([database, references, 'table', content.name]);
    case 'query':
      return JSON.stringify([database, references, 'query', content.sql]);
    case 'join':
      return JSON.stringify(['join', content.reader]);
  }
}
