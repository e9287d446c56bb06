/**
 * The terms of every dialect, in tables, and the one vocabulary that they are normalised to (the local names of today's RML).
 *
 * `rr:template`, the legacy and today's `rml:template` are one property here; whatever reads a mapping sees that name only.
 *
 * @see https://kg-construct.github.io/rml-core/spec/docs/ (and rml-io, rml-fnml, rml-cc, rml-lv, rml-star beside it)
 * @see https://rml.io/specs/rml/ and https://www.w3.org/TR/r2rml/
 */
import type { Dialect } from './model.ts';

/** What a node of a mapping is, by the property that leads to it; the words appear in messages. */
export type Place =
  | 'triples map'
  | 'subject map'
  | 'predicate map'
  | 'object map'
  | 'referencing object map'
  | 'graph map'
  | 'predicate object map'
  | 'language map'
  | 'datatype map'
  | 'join condition'
  | 'child map'
  | 'parent map'
  | 'logical source'
  | 'source'
  | 'reference formulation'
  | 'namespace';

/** A part of the language that this version knows by name only: what a message calls it, and what else helps. */
export const LATER = {
  functions: { name: 'functions', hint: 'map the value as it is, or prepare the input' },
  views: { name: 'logical views', hint: 'use the logical source itself' },
  collections: { name: 'collections and containers', hint: undefined },
  quoted: { name: 'quoted triples', hint: undefined },
  targets: { name: 'logical targets', hint: 'without them, the run writes one output' },
  sql: { name: 'SQL sources', hint: 'SQL sources come with the SQL transformer' },
} as const;

export type Later = keyof typeof LATER;

const TERM_MAPS = ['subject map', 'predicate map', 'object map', 'graph map', 'datatype map'] as const;
const EXPRESSION_MAPS = [...TERM_MAPS, 'language map', 'child map', 'parent map'] as const;

/** Property → where it may stand, or the part of the language that it belongs to and that comes later. */
export const PROPERTIES = {
  logicalSource: ['triples map'],
  subjectMap: ['triples map'],
  subject: ['triples map'],
  predicateObjectMap: ['triples map'],
  baseIRI: ['triples map'],
  class: ['subject map'],
  graph: ['subject map', 'predicate object map'],
  graphMap: ['subject map', 'predicate object map'],
  predicate: ['predicate object map'],
  predicateMap: ['predicate object map'],
  object: ['predicate object map'],
  objectMap: ['predicate object map'],
  constant: EXPRESSION_MAPS,
  reference: EXPRESSION_MAPS,
  template: EXPRESSION_MAPS,
  termType: TERM_MAPS,
  language: ['object map'],
  languageMap: ['object map'],
  datatype: ['object map'],
  datatypeMap: ['object map'],
  parentTriplesMap: ['referencing object map'],
  joinCondition: ['referencing object map'],
  child: ['join condition'],
  childMap: ['join condition'],
  parent: ['join condition'],
  parentMap: ['join condition'],
  source: ['logical source'],
  referenceFormulation: ['logical source'],
  iterator: ['logical source'],
  root: ['source'],
  path: ['source'],
  null: ['source'],
  encoding: ['source'],
  compression: ['source'],
  namespace: ['reference formulation'],
  namespacePrefix: ['namespace'],
  namespaceURL: ['namespace'],
  logicalTable: 'sql',
  query: 'sql',
  tableName: 'sql',
  sqlQuery: 'sql',
  sqlVersion: 'sql',
  inverseExpression: 'sql',
  functionExecution: 'functions',
  functionValue: 'functions',
  execution: 'functions',
  function: 'functions',
  functionMap: 'functions',
  input: 'functions',
  inputValue: 'functions',
  inputValueMap: 'functions',
  valueMap: 'functions',
  parameter: 'functions',
  parameterMap: 'functions',
  return: 'functions',
  returnMap: 'functions',
  condition: 'functions',
  gather: 'collections',
  gatherAs: 'collections',
  allowEmptyListAndContainer: 'collections',
  strategy: 'collections',
  viewOn: 'views',
  field: 'views',
  fieldName: 'views',
  expressionField: 'views',
  iterableField: 'views',
  leftJoin: 'views',
  innerJoin: 'views',
  parentLogicalView: 'views',
  structuralAnnotation: 'views',
  onFields: 'views',
  targetView: 'views',
  targetFields: 'views',
  quotedTriplesMap: 'quoted',
  starMap: 'quoted',
  parentTermMap: 'quoted',
  logicalTarget: 'targets',
  target: 'targets',
  serialization: 'targets',
} as const satisfies Record<string, readonly Place[] | Later>;

export type Property = keyof typeof PROPERTIES;

/** Class → the places whose nodes may have it, or the part that comes later; an empty list: it says nothing about a place. */
export const CLASSES = {
  TriplesMap: ['triples map'],
  AssertedTriplesMap: ['triples map'],
  SubjectMap: ['subject map'],
  PredicateMap: ['predicate map'],
  ObjectMap: ['object map', 'referencing object map'],
  RefObjectMap: ['referencing object map'],
  GraphMap: ['graph map'],
  LanguageMap: ['language map'],
  DatatypeMap: ['datatype map'],
  ChildMap: ['child map'],
  ParentMap: ['parent map'],
  TermMap: TERM_MAPS,
  ExpressionMap: EXPRESSION_MAPS,
  PredicateObjectMap: ['predicate object map'],
  Join: ['join condition'],
  LogicalSource: ['logical source'],
  AbstractLogicalSource: ['logical source'],
  Iterable: ['logical source'],
  Source: ['source'],
  FilePath: ['source'],
  RelativePathSource: ['source'],
  ReferenceFormulation: ['reference formulation'],
  XPathReferenceFormulation: ['reference formulation'],
  Namespace: ['namespace'],
  Encoding: [],
  Compression: [],
  Strategy: [],
  LogicalTable: 'sql',
  BaseTableOrView: 'sql',
  R2RMLView: 'sql',
  FunctionExecution: 'functions',
  FunctionTermMap: 'functions',
  Execution: 'functions',
  Input: 'functions',
  FunctionMap: 'functions',
  ParameterMap: 'functions',
  ReturnMap: 'functions',
  GatherMap: 'collections',
  LogicalView: 'views',
  LogicalViewJoin: 'views',
  Field: 'views',
  ExpressionField: 'views',
  IterableField: 'views',
  StructuralAnnotation: 'views',
  PrimaryKeyAnnotation: 'views',
  ForeignKeyAnnotation: 'views',
  InclusionDependencyAnnotation: 'views',
  UniqueAnnotation: 'views',
  NonNullableAnnotation: 'views',
  IRISafeAnnotation: 'views',
  NonAssertedTriplesMap: 'quoted',
  StarMap: 'quoted',
  LogicalTarget: 'targets',
  Target: 'targets',
} as const satisfies Record<string, readonly Place[] | Later>;

export type Class = keyof typeof CLASSES;

/** Named values that a mapping can point at. */
const INDIVIDUALS = [
  'IRI',
  'URI',
  'UnsafeIRI',
  'UnsafeURI',
  'BlankNode',
  'Literal',
  'defaultGraph',
  'CSV',
  'JSONPath',
  'XPath',
  'SQL2008Table',
  'SQL2008Query',
  'UTF-8',
  'UTF-16',
  'none',
  'gzip',
  'zip',
  'targz',
  'tarxz',
  'MappingDirectory',
  'CurrentWorkingDirectory',
  'append',
  'cartesianProduct',
] as const;

export type Individual = (typeof INDIVIDUALS)[number] | 'SQL2008' | 'CSS3' | 'SPARQL';

/** A namespace: its customary prefix, what a triples map that is made of it speaks, and its local names → ours. */
interface Namespace {
  readonly iri: string;
  readonly prefix: string;
  readonly dialect: Dialect;
  readonly properties: ReadonlyMap<string, Property>;
  readonly classes: ReadonlyMap<string, Class>;
  readonly individuals: ReadonlyMap<string, Individual>;
}

const same = <T extends string>(...names: readonly T[]): ReadonlyMap<string, T> => new Map(names.map((name) => [name, name]));
const also = <T extends string>(known: ReadonlyMap<string, T>, renamed: Readonly<Record<string, T>>): ReadonlyMap<string, T> =>
  new Map([...known, ...Object.entries(renamed)]);
const none: ReadonlyMap<string, never> = new Map<string, never>();
const namesOf = <T extends string>(table: Record<T, unknown>, without: readonly T[] = []): T[] =>
  (Object.keys(table) as T[]).filter((name) => !without.includes(name));

const R2RML_ONLY = ['logicalTable', 'tableName', 'sqlQuery', 'sqlVersion', 'inverseExpression', 'starMap'] as const;

const NAMESPACES: readonly Namespace[] = [
  {
    iri: 'http://w3id.org/rml/',
    prefix: 'rml',
    dialect: 'rml',
    properties: same(...namesOf(PROPERTIES, [...R2RML_ONLY])),
    classes: same(...namesOf(CLASSES, ['LogicalTable', 'BaseTableOrView', 'R2RMLView', 'FunctionTermMap'])),
    individuals: same(...INDIVIDUALS),
  },
  {
    iri: 'http://semweb.mmlab.be/ns/rml#',
    prefix: 'rml',
    dialect: 'legacy',
    properties: same(
      'logicalSource',
      'source',
      'reference',
      'referenceFormulation',
      'iterator',
      'query',
      'languageMap',
      'logicalTarget',
      'starMap',
      'quotedTriplesMap',
    ),
    classes: also(same('LogicalSource', 'LanguageMap', 'StarMap', 'NonAssertedTriplesMap'), { BaseSource: 'LogicalSource' }),
    individuals: none,
  },
  {
    iri: 'http://semweb.mmlab.be/ns/ql#',
    prefix: 'ql',
    dialect: 'legacy',
    properties: none,
    classes: none,
    individuals: same('CSV', 'JSONPath', 'XPath', 'CSS3', 'SPARQL'),
  },
  {
    iri: 'http://semweb.mmlab.be/ns/fnml#',
    prefix: 'fnml',
    dialect: 'legacy',
    properties: same('functionValue'),
    classes: same('FunctionTermMap'),
    individuals: none,
  },
  {
    iri: 'http://www.w3.org/ns/r2rml#',
    prefix: 'rr',
    dialect: 'r2rml',
    properties: also(
      same(
        'logicalTable',
        'tableName',
        'sqlQuery',
        'sqlVersion',
        'inverseExpression',
        'subjectMap',
        'subject',
        'predicateObjectMap',
        'class',
        'graph',
        'graphMap',
        'predicate',
        'predicateMap',
        'object',
        'objectMap',
        'constant',
        'template',
        'termType',
        'language',
        'datatype',
        'parentTriplesMap',
        'joinCondition',
        'child',
        'parent',
      ),
      { column: 'reference' },
    ),
    classes: same(
      'TriplesMap',
      'SubjectMap',
      'PredicateMap',
      'ObjectMap',
      'RefObjectMap',
      'GraphMap',
      'TermMap',
      'PredicateObjectMap',
      'Join',
      'LogicalTable',
      'BaseTableOrView',
      'R2RMLView',
    ),
    individuals: same('IRI', 'BlankNode', 'Literal', 'defaultGraph', 'SQL2008'),
  },
];

export type TermKind = 'properties' | 'classes' | 'individuals';

/** An IRI of an RML namespace. `name` is undefined where the namespace has no such term of that kind. */
export interface KnownTerm<T> {
  /** `rml:template`, for messages. */
  readonly short: string;
  readonly dialect: Dialect;
  readonly name: T | undefined;
  /** Prefixed names of the same kind that go with this namespace, its own first: for did-you-mean. */
  readonly others: readonly string[];
}

interface NameOf {
  properties: Property;
  classes: Class;
  individuals: Individual;
}

/** The term that `iri` is, or undefined for an IRI outside of every RML namespace. */
export function lookUp<K extends TermKind>(kind: K, iri: string): KnownTerm<NameOf[K]> | undefined {
  const namespace = NAMESPACES.find(({ iri: start }) => iri.startsWith(start));
  if (namespace === undefined) return undefined;
  const local = iri.slice(namespace.iri.length);
  const table = namespace[kind] as ReadonlyMap<string, NameOf[K]>;
  return {
    short: `${namespace.prefix}:${local}`,
    dialect: namespace.dialect,
    name: table.get(local),
    others: [namespace, ...companions(namespace)].flatMap(({ prefix, [kind]: names }) =>
      [...names.keys()].map((name) => `${prefix}:${name}`),
    ),
  };
}

/** Today's RML stands alone; everything older is used together. */
const companions = (namespace: Namespace): Namespace[] =>
  NAMESPACES.filter((other) => other !== namespace && other.dialect !== 'rml' && namespace.dialect !== 'rml');

/** Well-known prefixes → namespaces: what a document that forgot `@prefix` most likely means. */
export const USUAL_PREFIXES: Readonly<Record<string, string>> = {
  rml: 'http://w3id.org/rml/',
  rr: 'http://www.w3.org/ns/r2rml#',
  ql: 'http://semweb.mmlab.be/ns/ql#',
  fnml: 'http://semweb.mmlab.be/ns/fnml#',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  foaf: 'http://xmlns.com/foaf/0.1/',
  schema: 'http://schema.org/',
  d2rq: 'http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#',
  csvw: 'http://www.w3.org/ns/csvw#',
};

/** Every namespace of an RML vocabulary. */
export const RML_NAMESPACES: readonly string[] = NAMESPACES.map(({ iri }) => iri);

/** How a message writes an IRI: `rml:template` for ours and the usual prefixes, else in angle brackets. */
export function shorten(iri: string): string {
  const known = lookUp('properties', iri);
  if (known !== undefined) return known.short;
  for (const [prefix, namespace] of Object.entries(USUAL_PREFIXES)) {
    if (iri.startsWith(namespace) && /^[\w-]*$/.test(iri.slice(namespace.length))) return `${prefix}:${iri.slice(namespace.length)}`;
  }
  return `<${iri}>`;
}
