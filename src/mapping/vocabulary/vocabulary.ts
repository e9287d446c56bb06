/**
 * The vocabulary to which every dialect is normalised: the local names of current RML, and where each may occur.
 *
 * `namespaces.ts` says which IRIs have these names: `rr:template` and `rml:template` are one property here.
 *
 * @see https://kg-construct.github.io/rml-core/spec/docs/ (and rml-io, rml-fnml, rml-cc, rml-lv, rml-star)
 */

/** The role of a node, given by the property that leads to it. These words appear in messages. */
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
  | 'logical table'
  | 'source'
  | 'database'
  | 'reference formulation'
  | 'namespace';

/** A feature of the language that is not supported yet: its display name for messages, and a workaround if there is one. */
export const LATER = {
  functions: { name: 'functions', hint: 'map the value as it is, or prepare the input' },
  views: { name: 'logical views', hint: 'use the logical source itself' },
  collections: { name: 'collections and containers', hint: undefined },
  quoted: { name: 'quoted triples', hint: undefined },
  targets: { name: 'logical targets', hint: 'without them, the run writes one output' },
} as const;

export type Later = keyof typeof LATER;

const TERM_MAPS = ['subject map', 'predicate map', 'object map', 'graph map', 'datatype map'] as const;
const EXPRESSION_MAPS = [...TERM_MAPS, 'language map', 'child map', 'parent map'] as const;

/** Property → the roles in which it may occur, or the unsupported feature to which it belongs. */
export const PROPERTIES = {
  logicalSource: ['triples map'],
  logicalTable: ['triples map'],
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
  inverseExpression: TERM_MAPS,
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
  query: ['logical source'],
  tableName: ['logical table', 'logical source'],
  sqlQuery: ['logical table', 'logical source'],
  sqlVersion: ['logical table', 'logical source'],
  root: ['source'],
  path: ['source'],
  null: ['source', 'database'],
  encoding: ['source', 'database'],
  compression: ['source', 'database'],
  namespace: ['reference formulation'],
  namespacePrefix: ['namespace'],
  namespaceURL: ['namespace'],
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
  parentTermMap: 'functions',
  childTermMap: 'functions',
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
  logicalTarget: 'targets',
  target: 'targets',
  serialization: 'targets',
} as const satisfies Record<string, readonly Place[] | Later>;

export type Property = keyof typeof PROPERTIES;

/** Roles in which legacy documents have a property without meaning there: ignored with a warning. */
export const HARMLESS: Partial<Record<Property, readonly Place[]>> = {
  termType: ['predicate object map', 'referencing object map', 'triples map', 'language map'],
  datatype: ['subject map', 'predicate map', 'graph map', 'predicate object map', 'referencing object map'],
  language: ['subject map', 'predicate map', 'graph map', 'predicate object map', 'referencing object map'],
};

/** Class → the roles whose nodes may have it, or the unsupported feature. An empty list: it says nothing about the role. */
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
  LogicalTable: ['logical table', 'logical source'],
  BaseTableOrView: ['logical table', 'logical source'],
  R2RMLView: ['logical table', 'logical source'],
  Source: ['source', 'database'],
  FilePath: ['source'],
  RelativePathSource: ['source'],
  ReferenceFormulation: ['reference formulation'],
  XPathReferenceFormulation: ['reference formulation'],
  Namespace: ['namespace'],
  Encoding: [],
  Compression: [],
  Strategy: [],
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

/** Named individuals that a mapping can refer to. */
export const INDIVIDUALS = [
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
