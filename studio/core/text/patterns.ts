/**
 * What a mapping says, as patterns of statements: one for each subject, predicate, object and set of graphs, with the records that it is made
 * of. Mappings with the same patterns make the same statements of the same records, however they are divided into triples maps.
 */
import type {
  Expression,
  Field,
  LogicalSource,
  LogicalView,
  Mapping,
  ReferencingObjectMap,
  TermMap,
  TriplesMap,
} from '../../../src/mapping/model/model.ts';
import { DEFAULT_GRAPH_IRIS } from '../../../src/mapping/model/model.ts';
import { parseReference } from '../../../src/paths/json/parse.ts';
import { parsePath } from '../../../src/paths/xml/path.ts';

const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

/** Sorted, each once. */
export function patternsOf(mapping: Mapping): readonly string[] {
  const maps = new Map(mapping.triplesMaps.map((map) => [map.id, map]));
  return [...new Set(mapping.triplesMaps.flatMap((map) => patternsOfMap(map, maps)))].sort();
}

function patternsOfMap(map: TriplesMap, maps: ReadonlyMap<string, TriplesMap>): readonly string[] {
  const { subject, predicateObjects, dialect, baseIri } = map;
  if (subject.kind === 'star') throw new Error('a pattern has no quoted subject');
  const records = [dialect, baseIri, plain(recordsOf(map), dialect)];
  const head = termOf(subject, map);
  const own = subject.graphs.map((graph) => termOf(graph, map));
  const pattern = (predicate: unknown, object: unknown, more: readonly unknown[] = []): string =>
    JSON.stringify([records, head, predicate, object, graphsOf([...own, ...more])]);
  const typed = subject.classes.map((one) => pattern(['iri', RDF_TYPE], termOf(one, map)));
  const others = predicateObjects.flatMap(({ predicates, objects, graphs }) =>
    predicates.flatMap((predicate) =>
      objects.map((object) => {
        if (object.kind === 'star') throw new Error('a pattern has no quoted object');
        const value = object.kind === 'term' ? termOf(object, map) : referred(object, map, maps);
        return pattern(
          termOf(predicate, map),
          value,
          graphs.map((graph) => termOf(graph, map)),
        );
      }),
    ),
  );
  return [...typed, ...others];
}

const graphsOf = (graphs: readonly unknown[]): readonly string[] => [...new Set(graphs.map((graph) => JSON.stringify(graph)))].sort();

function referred({ parent, conditions, all }: ReferencingObjectMap, map: TriplesMap, maps: ReadonlyMap<string, TriplesMap>): unknown {
  const other = maps.get(parent) as TriplesMap;
  if (other.subject.kind === 'star') throw new Error('a pattern has no quoted parent');
  if (conditions.length === 0 && all !== true) return termOf(other.subject, other);
  const keys = conditions.map(({ child, parent: value }) => [expressionOf(child, map), expressionOf(value, other)]);
  return [all, plain(recordsOf(other), other.dialect), termOf(other.subject, other), keys.map((key) => JSON.stringify(key)).sort()];
}

function termOf({ termType, expression, language, datatype }: TermMap, map: TriplesMap): unknown {
  if (expression.kind === 'constant') {
    const { term } = expression;
    if (term.kind === 'iri') return ['iri', DEFAULT_GRAPH_IRIS.has(term.value) ? 'default graph' : term.value];
    const own =
      term.kind === 'literal'
        ? [
            language === undefined ? term.language : expressionOf(language, map),
            datatype === undefined ? term.datatype : datatype.expression.kind === 'constant' && datatype.expression.term.value,
          ]
        : [];
    return [term.kind, term.value, ...own];
  }
  return [termType, expressionOf(expression, map), language && expressionOf(language, map), datatype && termOf(datatype, map)];
}

function expressionOf(expression: Expression, map: TriplesMap): unknown {
  switch (expression.kind) {
    case 'constant':
      return expression.term.value;
    case 'reference':
      return ['reference', pathOf(expression.reference, map.source, map.dialect)];
    case 'template':
      return expression.parts.map((part) =>
        part.kind === 'text' ? part.text : { reference: pathOf(part.reference, map.source, map.dialect) },
      );
    case 'fresh':
      return 'fresh';
    case 'call': {
      const { execution, returns } = expression;
      return [execution.function, returns, execution.inputs.map(({ parameter, value }) => [parameter, expressionOf(value, map)])];
    }
    case 'conditional':
      return ['if', expressionOf(expression.condition, map), expressionOf(expression.value, map)];
  }
}

/**
 * What a reference leads to from the root of the document: `name` and `$.name` are one path, and so is the name of a view that stands for them.
 */
function pathOf(text: string, source: LogicalSource | LogicalView, dialect: TriplesMap['dialect']): unknown {
  const base = source.kind === 'view' ? (isPlain(source) ? source.on : undefined) : source;
  if (base?.kind !== 'file') return text;
  const way = source.kind === 'view' ? wayTo(text, source.fields, '') : [text];
  if (way === undefined) return text;
  const { formulation } = base;
  if (formulation === 'csv' || formulation === 'parquet') return way.at(-1);
  const steps = [base.iterator ?? '', ...way].reduce<readonly unknown[] | undefined>(
    (before, one) => before && after(before, one, formulation, dialect),
    [],
  );
  return steps ?? [base.iterator, ...way];
}

/** The steps of a path behind others. undefined: it is not taken apart. */
function after(
  before: readonly unknown[],
  text: string,
  formulation: 'json' | 'xml',
  dialect: TriplesMap['dialect'],
): readonly unknown[] | undefined {
  if (text === '') return before;
  if (formulation === 'json') {
    const { ups, query } = parseReference(text, dialect === 'legacy' ? 'loose' : 'short');
    return [...before.slice(0, before.length - ups), ...query.segments];
  }
  const path = parsePath(text);
  if (path === undefined) return undefined;
  const target = path.target.kind === 'element' ? [] : [path.target];
  return [...before.slice(0, before.length - path.ups), ...path.steps, ...target];
}

/** The iterators on the way to a field of a view, and its reference. undefined: the view has no such field. */
function wayTo(name: string, fields: readonly Field[], prefix: string): readonly string[] | undefined {
  for (const field of fields) {
    if (field.kind === 'iterable') {
      const within = wayTo(name, field.fields, `${prefix}${field.name}.`);
      if (within !== undefined) return [field.iterator ?? '', ...within];
    } else if (prefix + field.name === name && field.expression.kind === 'reference') return [field.expression.reference];
  }
  return undefined;
}

const isPlain = ({ on, joins }: LogicalView): boolean => joins.length === 0 && on.kind !== 'view';

/** Subjects show which records they are of, where they read fields. What a view has besides makes no difference. */
function recordsOf({ source, subject }: TriplesMap): LogicalSource | LogicalView {
  const base = source.kind === 'view' && isPlain(source) ? (source.on as LogicalSource) : source;
  if (base.kind !== 'file' || subject.kind === 'star') return base;
  const reads = /"reference"/.test(JSON.stringify(subject.expression));
  return reads ? { ...base, iterator: undefined } : base;
}

const NAMES: ReadonlySet<string> = new Set(['origin', 'iteratorOrigin', 'ids', 'id']);

/** Without places and names of nodes; secrets as they are. */
const plain = (source: LogicalSource | LogicalView, dialect: TriplesMap['dialect']): unknown =>
  JSON.parse(
    JSON.stringify(source, (key, value) =>
      // Nothing said of CSV is what is usual.
      NAMES.has(key) || value === null || value === undefined || (key === 'csv' && Object.keys(value ?? {}).length === 0)
        ? undefined
        : key === 'iterator'
          ? source.kind === 'file' && (source.formulation === 'json' || source.formulation === 'xml')
            ? (after([], value, source.formulation, dialect) ?? value)
            : value
          : value,
    ),
  );
