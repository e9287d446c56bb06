/**
 * The vocabulary to which every dialect is normalised: the local names of current RML, and where each may occur.
 *
 * `namespaces.ts` says which IRIs have these names: `rr:template` and `rml:template` are one property here.
 *
 * @see https://kg-construct.github.io/rml-core/spec/docs/ (and rml-io, rml-fnml, rml-cc, rml-lv, rml-star)
 */

/** The role of a node, given by the property that leads to it. These words appear in messages. */
export type NodeRole =
  | 'triples map'
  | 'subject map'
  | 'predicate map'
  | 'object map'
  | 'referencing object map'
  | 'subject star map'
  | 'object star map'
  | 'graph map'
  | 'gather map'
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
  | 'service'
  | 'reference formulation'
  | 'namespace'
  | 'condition'
  | 'function execution'
  | 'function map'
  | 'return map'
  | 'input'
  | 'parameter map'
  | 'input value map'
  | 'function value'
  | 'compared value'
  | 'logical view'
  | 'field'
  | 'view join'
  | 'logical target'
  | 'target'
  | 'structural annotation';

const TERM_MAPS = ['subject map', 'predicate map', 'object map', 'graph map', 'datatype map'] as const;
/** A gather map is a term map. It makes no graph: which graph has its statements would be open. */
const GATHER_MAPS = ['subject map', 'predicate map', 'object map'] as const;
const EXPRESSION_MAPS = [
  ...TERM_MAPS,
  'language map',
  'child map',
  'parent map',
  'condition',
  'function map',
  'return map',
  'parameter map',
  'input value map',
  'compared value',
  'field',
] as const;

/** Property → the roles in which it may occur. */
export const PROPERTIES = {
  logicalSource: ['triples map', 'function value'],
  logicalTable: ['triples map'],
  subjectMap: ['triples map'],
  subject: ['triples map'],
  predicateObjectMap: ['triples map', 'function value'],
  baseIRI: ['triples map'],
  class: ['subject map', 'subject star map'],
  graph: ['subject map', 'subject star map', 'predicate object map'],
  graphMap: ['subject map', 'subject star map', 'predicate object map'],
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
  joinCondition: ['referencing object map', 'subject star map', 'object star map', 'view join'],
  child: ['join condition'],
  childMap: ['join condition'],
  parent: ['join condition'],
  parentMap: ['join condition'],
  source: ['logical source'],
  referenceFormulation: ['logical source', 'field'],
  iterator: ['logical source', 'field'],
  query: ['logical source'],
  tableName: ['logical table', 'logical source'],
  sqlQuery: ['logical table', 'logical source'],
  sqlVersion: ['logical table', 'logical source'],
  root: ['source', 'target'],
  path: ['source', 'target'],
  null: ['source', 'database', 'service'],
  encoding: ['source', 'database', 'service', 'logical target', 'target'],
  compression: ['source', 'database', 'service', 'logical target', 'target'],
  namespace: ['reference formulation'],
  namespacePrefix: ['namespace'],
  namespaceURL: ['namespace'],
  functionExecution: EXPRESSION_MAPS,
  functionValue: [...EXPRESSION_MAPS, 'join condition'],
  return: EXPRESSION_MAPS,
  returnMap: EXPRESSION_MAPS,
  condition: EXPRESSION_MAPS,
  function: ['function execution'],
  functionMap: ['function execution'],
  input: ['function execution'],
  parameter: ['input'],
  parameterMap: ['input'],
  inputValue: ['input'],
  inputValueMap: ['input'],
  childTermMap: ['compared value'],
  parentTermMap: ['compared value'],
  gather: GATHER_MAPS,
  gatherAs: GATHER_MAPS,
  allowEmptyListAndContainer: GATHER_MAPS,
  strategy: GATHER_MAPS,
  viewOn: ['logical view'],
  field: ['logical view', 'field', 'view join'],
  fieldName: ['field'],
  leftJoin: ['logical view'],
  innerJoin: ['logical view'],
  parentLogicalView: ['view join'],
  structuralAnnotation: ['logical view'],
  onFields: ['structural annotation'],
  targetView: ['structural annotation'],
  targetFields: ['structural annotation'],
  quotedTriplesMap: ['subject star map', 'object star map'],
  starMap: ['subject star map', 'object star map'],
  logicalTarget: [...TERM_MAPS, 'subject star map', 'object star map', 'language map'],
  target: ['logical target'],
  serialization: ['logical target', 'target'],
} as const satisfies Record<string, readonly NodeRole[]>;

export type Property = keyof typeof PROPERTIES;

/** Roles in which legacy documents have a property of subject maps and predicate object maps, which other engines ignore there. */
const AROUND_TERMS = ['triples map', 'predicate object map', 'predicate map', 'object map', 'referencing object map', 'graph map'] as const;

/** Roles in which legacy documents have a property without meaning there: ignored with a warning. */
export const HARMLESS: Partial<Record<Property, readonly NodeRole[]>> = {
  class: AROUND_TERMS,
  graph: AROUND_TERMS,
  graphMap: AROUND_TERMS,
  reference: ['referencing object map'],
  template: ['referencing object map'],
  constant: ['referencing object map'],
  // On a referencing object map they are meant for its join condition.
  child: ['object map'],
  parent: ['object map'],
  termType: ['predicate object map', 'referencing object map', 'triples map', 'language map', 'compared value'],
  datatype: ['subject map', 'predicate map', 'graph map', 'predicate object map', 'referencing object map'],
  language: ['subject map', 'predicate map', 'graph map', 'predicate object map', 'referencing object map'],
};

/** Class → the roles whose nodes may have it. An empty list: it says nothing about the role. */
export const CLASSES = {
  TriplesMap: ['triples map', 'function value'],
  AssertedTriplesMap: ['triples map'],
  SubjectMap: ['subject map', 'subject star map'],
  PredicateMap: ['predicate map'],
  ObjectMap: ['object map', 'referencing object map', 'object star map', 'compared value'],
  RefObjectMap: ['referencing object map'],
  GraphMap: ['graph map'],
  LanguageMap: ['language map'],
  DatatypeMap: ['datatype map'],
  ChildMap: ['child map'],
  ParentMap: ['parent map'],
  TermMap: [...TERM_MAPS, 'input value map'],
  ExpressionMap: EXPRESSION_MAPS,
  PredicateObjectMap: ['predicate object map'],
  Join: ['join condition'],
  LogicalSource: ['logical source'],
  AbstractLogicalSource: ['logical source', 'logical view'],
  Iterable: ['logical source', 'field'],
  LogicalTable: ['logical table', 'logical source'],
  BaseTableOrView: ['logical table', 'logical source'],
  R2RMLView: ['logical table', 'logical source'],
  Source: ['source', 'database', 'service'],
  FilePath: ['source', 'target'],
  RelativePathSource: ['source'],
  ReferenceFormulation: ['reference formulation'],
  XPathReferenceFormulation: ['reference formulation'],
  Namespace: ['namespace'],
  Encoding: [],
  Compression: [],
  Strategy: [],
  FunctionExecution: ['function execution'],
  FunctionTermMap: EXPRESSION_MAPS,
  Execution: ['function execution'],
  Input: ['input'],
  FunctionMap: ['function map'],
  ParameterMap: ['parameter map'],
  ReturnMap: ['return map'],
  GatherMap: GATHER_MAPS,
  LogicalView: ['logical view'],
  LogicalViewJoin: ['view join'],
  Field: ['field'],
  ExpressionField: ['field'],
  IterableField: ['field'],
  StructuralAnnotation: ['structural annotation'],
  PrimaryKeyAnnotation: ['structural annotation'],
  ForeignKeyAnnotation: ['structural annotation'],
  InclusionAnnotation: ['structural annotation'],
  UniqueAnnotation: ['structural annotation'],
  NotNullAnnotation: ['structural annotation'],
  IriSafeAnnotation: ['structural annotation'],
  NonAssertedTriplesMap: ['triples map'],
  StarMap: ['subject star map', 'object star map'],
  LogicalTarget: ['logical target'],
  Target: ['target'],
} as const satisfies Record<string, readonly NodeRole[]>;

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
  'SPARQL',
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

/** Result formats in the older namespace of reference formulations; today they stand in `http://www.w3.org/ns/formats/`. */
export const SPARQL_RESULTS = ['SPARQL_Results_CSV', 'SPARQL_Results_TSV', 'SPARQL_Results_JSON', 'SPARQL_Results_XML'] as const;

export type Individual = (typeof INDIVIDUALS)[number] | (typeof SPARQL_RESULTS)[number] | 'SQL2008' | 'CSS3';
