/**
 * The normal form of a mapping: every dialect (current RML, legacy RML, R2RML) is translated to it before planning.
 *
 * Plain, frozen data. Every node carries the origin of the statement that made it. Variants are unions on `kind`.
 */

import type { CsvDialect } from '../../core/input/csv-dialect.ts';
import { FORMULATIONS, type Formulation, formatOfPath, hasTypedColumns, readAs } from '../../core/input/formats.ts';
import type { Secret } from '../../core/secret.ts';
import type { DiagnosticCode } from './codes.ts';

/** Where a statement stands: document as the user named it, 1-based line and column. */
export interface Origin {
  readonly document: string;
  readonly line: number;
  readonly column: number;
  /** In YARRRML: the way of keys to the value, `mappings.person.po[0].objects`. */
  readonly key?: string;
}

/** `rml`: current vocabulary; `legacy`: semweb.mmlab.be; `r2rml`: only rr:. Determines strictness and null handling. */
export type Dialect = 'rml' | 'legacy' | 'r2rml';

/** What happens when a record yields an invalid term: the run ends, or the record is counted and skipped. */
export type ErrorPolicy = 'strict' | 'skip' | 'quarantine';

/** @param wanted undefined: the default of the dialect */
export const policyOf = (dialect: Dialect, wanted: ErrorPolicy | undefined): ErrorPolicy =>
  wanted ?? (dialect === 'legacy' ? 'skip' : 'strict');

/**
 * Whether an invalid object is left out with its statement, and the record goes on: in legacy RML under `skip`, as its engines do. Otherwise the record is
 * rejected, as it is in any case for an invalid subject, graph or key of a join.
 */
export const leavesObjectsOut = (dialect: Dialect, wanted: ErrorPolicy | undefined): boolean =>
  dialect === 'legacy' && policyOf(dialect, wanted) === 'skip';

/** What becomes of a literal whose text is not in the lexical space of its datatype: no valid term, written with a warning, or written. */
export const DATATYPE_CHECKS = ['error', 'warn', 'off'] as const;
export type DatatypeCheck = (typeof DATATYPE_CHECKS)[number];

/**
 * Where the specification of a language says that such a literal is a data error, it is one.
 *
 * @param wanted undefined: the default of the language. YARRRML has that of today's RML
 */
export const datatypeCheckOf = (
  { dialect, origin }: Pick<TriplesMap, 'dialect' | 'origin'>,
  wanted: DatatypeCheck | undefined,
): DatatypeCheck => wanted ?? (dialect === 'legacy' && origin.key === undefined ? 'warn' : 'error');

/** What a run does with values that are wrong; undefined: the default of each language. */
export interface Policies {
  readonly onError?: ErrorPolicy | undefined;
  readonly datatypeCheck?: DatatypeCheck | undefined;
}

export interface Mapping {
  readonly triplesMaps: readonly TriplesMap[];
  /** What views promise of their rows. Views may refer to each other in circles here, so the promises are not part of them. */
  readonly annotations: readonly Annotation[];
}

export interface TriplesMap {
  /** IRI, or `_:label` that is unique over all documents of the run. */
  readonly id: string;
  /** Display name: the last segment of the IRI, or the line in the document. */
  readonly name: string;
  readonly origin: Origin;
  readonly dialect: Dialect;
  readonly source: LogicalSource | LogicalView;
  /** rml:baseIRI of this triples map; undefined: the base of the run. */
  readonly baseIri: string | undefined;
  /** rml:NonAssertedTriplesMap: its triples are only quoted by others. */
  readonly quotedOnly?: true;
  readonly subject: SubjectMap;
  readonly predicateObjects: readonly PredicateObjectMap[];
}

export type LogicalSource = FileSource | SqlSource;

/**
 * Rows made of the records of a logical source, or of the rows of another view: their fields, which references name.
 *
 * @see https://kg-construct.github.io/rml-lv/spec/docs/
 */
export interface LogicalView {
  readonly kind: 'view';
  readonly origin: Origin;
  /** IRI or `_:label`. */
  readonly id: string;
  /** Display name: the last segment of the IRI, or the line in the document. */
  readonly name: string;
  readonly on: LogicalSource | LogicalView;
  readonly fields: readonly Field[];
  readonly joins: readonly ViewJoin[];
}

/** A field; that of a nested field has the names of its parents in front: `item.type`. Its position among its siblings is `item.type.#`. */
export type Field =
  /** One row for each value of the expression. Nested fields read the value as a document. */
  | {
      readonly kind: 'expression';
      readonly origin: Origin;
      readonly name: string;
      readonly expression: Expression;
      readonly fields: readonly Field[];
    }
  /** One row for each record that the iterator finds: no value itself, but its nested fields have. */
  | {
      readonly kind: 'iterable';
      readonly origin: Origin;
      readonly name: string;
      /** undefined: that of what it stands in. */
      readonly formulation: FileSource['formulation'] | undefined;
      readonly iterator: string | undefined;
      readonly fields: readonly Field[];
    };

/** Fields of another view, for the pairs of rows that meet all conditions. */
export interface ViewJoin {
  readonly kind: 'inner' | 'left';
  readonly origin: Origin;
  readonly parent: LogicalView;
  readonly conditions: readonly JoinCondition[];
  readonly fields: readonly { readonly origin: Origin; readonly name: string; readonly expression: Expression }[];
}

/**
 * A structural annotation: what a view promises of the values of some fields.
 *
 * `iri-safe`: each has unreserved characters only. `not-null`: each row has a value in each. `unique`: no two rows have the same values.
 * `inclusion`: the values of each row, none of them null, are those of some row of `target`.
 *
 * @see https://kg-construct.github.io/rml-lv/spec/docs/#annotations
 */
export interface Annotation {
  readonly kind: 'iri-safe' | 'not-null' | 'unique' | 'inclusion';
  readonly origin: Origin;
  /** As the mapping names it, for people: `rml:PrimaryKeyAnnotation`. */
  readonly name: string;
  readonly view: LogicalView;
  readonly fields: readonly FieldName[];
  /** Of `inclusion`, and of no other kind; as many fields as the view has. */
  readonly target: { readonly view: LogicalView; readonly fields: readonly FieldName[] } | undefined;
}

/** A reference to a field of a view. */
export interface FieldName {
  readonly origin: Origin;
  readonly name: string;
}

/** The sources of the records that a triples map reads, those of joined views included. */
export function sourcesOf(source: LogicalSource | LogicalView): readonly LogicalSource[] {
  if (source.kind !== 'view') return [source];
  return [...sourcesOf(source.on), ...source.joins.flatMap(({ parent }) => sourcesOf(parent))];
}

/** The views that triples maps read, those that they are made of, and those that their annotations name. */
export function viewsOf({ triplesMaps, annotations }: Mapping): ReadonlySet<LogicalView> {
  const views = new Set<LogicalView>();
  const add = (source: LogicalSource | LogicalView): void => {
    if (source.kind !== 'view' || views.has(source)) return;
    views.add(source);
    add(source.on);
    for (const { parent } of source.joins) add(parent);
    for (const { view, target } of annotations) if (view === source && target !== undefined) add(target.view);
  };
  for (const { source } of triplesMaps) add(source);
  return views;
}

/** Everything that a run of the mapping reads. */
export const allSourcesOf = (mapping: Mapping): readonly LogicalSource[] =>
  [...mapping.triplesMaps.map(({ source }) => source), ...viewsOf(mapping)].flatMap(sourcesOf);

/** The rows of a table, a view or a query of a database. */
export interface SqlSource {
  readonly kind: 'sql';
  readonly origin: Origin;
  /** IRI or `_:label` of the logical source, and of its rml:source if that is a node. */
  readonly ids: readonly string[];
  /** undefined: the database that the run is configured with (R2RML names none). */
  readonly connection: SqlConnection | undefined;
  readonly content: SqlContent;
  /**
   * What a reference is. `identifiers` (R2RML): an SQL identifier, `name` or `"Name"`, matched with a column by the rules of the product.
   * `labels` (RML): the exact column name of the result; quotes would be part of it.
   */
  readonly references: 'identifiers' | 'labels';
  /** Texts that mean null (rml:null), in addition to SQL NULL. */
  readonly nulls: readonly string[];
  /** qms:zone "none": times and timestamps of messages without a schema have no zone, whatever is written. */
  readonly zone?: 'none';
  /** Of a table. undefined: nothing is said, so a dataset reads all rows. */
  readonly changes?: TableChanges;
}

/** How changed rows of a table are found. A dataset reads the rows that have changed; a plain run reads all of them. */
export interface TableChanges {
  readonly origin: Origin;
  /** qms:changedSince: the column whose values grow with each change of a row. */
  readonly column: string;
  /** qms:deletedWhen: the column that says which rows count as deleted. */
  readonly deleted?: string;
  /** qms:overlap: how far below the largest value rows are read again, in seconds or units. undefined: see `streams/polling/watermark.ts` */
  readonly overlap?: number;
}

export type SqlContent =
  /** An SQL identifier, optionally with schema, as the mapping writes it: `student`, `"Student"`, `test.student`. */
  | { readonly kind: 'table'; readonly origin: Origin; readonly name: string }
  /** One SELECT, without a trailing semicolon. */
  | { readonly kind: 'query'; readonly origin: Origin; readonly sql: string };

/** A database as described by the mapping (d2rq:Database). */
export interface SqlConnection {
  readonly origin: Origin;
  /** d2rq:jdbcDSN, a JDBC URL. */
  readonly jdbcUrl: string;
  /** d2rq:jdbcDriver, the name of a driver class. */
  readonly driver: string | undefined;
  readonly user: string | undefined;
  readonly password: Secret | undefined;
}

/** A document that is read through the storage layer. */
export interface FileSource {
  readonly kind: 'file';
  readonly origin: Origin;
  /** IRI or `_:label` of the logical source, and of its rml:source if that is a node. A request may bind either name. */
  readonly ids: readonly string[];
  /** The path or URL as the mapping writes it: the name by which a request binds it to a real location. */
  readonly path: string;
  /** What follows `#` in the path of a workbook: a sheet, a range or a name. undefined: the first sheet. */
  readonly sheet?: string;
  /** The base of a relative path; ignored for an absolute path or a URL. A string: the directory or IRI of rml:root. */
  readonly root:
    | { readonly kind: 'mapping' }
    | { readonly kind: 'working-directory' }
    | { readonly kind: 'directory'; readonly path: string };
  readonly formulation: Formulation;
  readonly iterator: string | undefined;
  readonly iteratorOrigin: Origin | undefined;
  readonly nulls: readonly string[];
  readonly encoding: string | undefined;
  readonly compression: 'none' | 'gzip' | 'zip' | 'targz' | 'tarxz';
  readonly namespaces: Readonly<Record<string, string>>;
  /** undefined: the dialect that the file extension implies, else commas, double quotes and one header row. */
  readonly csv: CsvDialect | undefined;
  /** What is asked of the server at `path`; undefined: nothing but the document. Without effect for a local file. */
  readonly request?: WebRequest | undefined;
}

/** What a server is asked for, besides a plain GET. It never holds a login: logins are options of the run. */
export type WebRequest =
  /** A form of the Web of Things, or a distribution of DCAT. `mediaType`: as the mapping declares it. */
  | {
      readonly kind: 'get';
      readonly headers: readonly (readonly [name: string, value: string])[];
      readonly mediaType: string | undefined;
      /** undefined: one answer has all records. */
      readonly paging?: Paging | undefined;
    }
  /** A SELECT that a SPARQL endpoint answers in this format. Its solutions are the records, variables are references. */
  | { readonly kind: 'select'; readonly origin: Origin; readonly query: string; readonly results: ResultFormat }
  | TopicRequest;

/** The messages of a topic, each a document. `FileSource.path` is its address. A follower reads it, and no run. */
export interface TopicRequest {
  readonly kind: 'topic';
  readonly origin: Origin;
  /** `host:port`. */
  readonly brokers: readonly string[];
  /** Where it has `*`, the topics that it matches: see `matchesTopic`. */
  readonly topic: string;
  readonly changes: TopicChanges;
  /** `text`: a message has no records within it, and its value is `qms:value`. */
  readonly content: 'document' | 'text';
}

/**
 * What a message is. `append`: a record that stays. `upsert`: the newest value of its key, which a message without a value removes. `debezium`: a change
 * of a row, which is the record.
 */
export type TopicChanges = 'append' | 'upsert' | 'debezium';

/** How the next page of a Web API is found. Expressions are JSONPath or XPath, from the root of a page. */
export interface Paging {
  readonly kind: 'link-header' | 'next-link' | 'cursor' | 'page-number' | 'offset';
  readonly origin: Origin;
  /** The address of the next page, or the value of `parameter` for it. */
  readonly reference: string | undefined;
  /** The parameter of the query that names a page. */
  readonly parameter: string | undefined;
  /** The number of the first page, or the offset of the first item. */
  readonly first: number;
  /** What is counted on a page: one without ends the source. undefined in rows: the rows; else nothing is counted. */
  readonly items: string | undefined;
  /** How many pages or items there are. */
  readonly pageCount: string | undefined;
  readonly recordCount: string | undefined;
}

/** The formats of SPARQL query results. @see https://www.w3.org/TR/sparql11-overview/#sparql11-results */
export type ResultFormat = 'csv' | 'tsv' | 'json' | 'xml';

/** The serialisations of RDF that a target may have. */
export type Serialization = 'nquads' | 'ntriples' | 'turtle' | 'trig' | 'jsonld' | 'n3' | 'rdfxml' | 'rdfjson';

/**
 * A file that statements go to instead of the output of the run.
 *
 * @see https://kg-construct.github.io/rml-io/spec/docs/#target
 */
export interface LogicalTarget {
  readonly origin: Origin;
  /** IRI or `_:label`. */
  readonly id: string;
  /** A path or a `file:` URL, as the mapping writes it. */
  readonly path: string;
  /** The base of a relative path. */
  readonly root: FileSource['root'];
  readonly serialization: Serialization;
  readonly encoding: 'utf-8' | 'utf-16';
  readonly compression: FileSource['compression'];
}

/**
 * Whether the mapping reads a workbook or Parquet, whose values have datatypes in every dialect. An input of the request may have another format:
 * texts of CSV have no datatype, and cells of a workbook that takes the place of CSV give none.
 */
export const namesTypedColumns = ({ path, formulation }: Pick<FileSource, 'path' | 'formulation'>): boolean =>
  hasTypedColumns(readAs(formulation, formatOfPath(path)));

/** Whether values carry natural datatypes, in today's RML. */
export const hasTypedValues = (source: FileSource): boolean =>
  FORMULATIONS[source.formulation].typed ||
  source.request?.kind === 'select' ||
  source.request?.kind === 'topic' ||
  namesTypedColumns(source) ||
  source.csv?.columns?.some(({ datatype }) => datatype !== undefined) === true;

/** Whether its rows have cells that may be empty. Of those from SPARQL endpoints, each dialect says the same. */
export const hasEmptyCells = (source: LogicalSource): source is FileSource =>
  source.kind === 'file' && source.formulation === 'csv' && source.request?.kind !== 'select';

/** Whether cells may have several values. Which column a reference means is known only with the header, so this holds for all of them. */
export const hasSeparators = ({ csv }: FileSource): boolean => csv?.columns?.some(({ separator }) => separator !== undefined) === true;

export type RdfTerm =
  | { readonly kind: 'iri'; readonly value: string }
  | { readonly kind: 'blank'; readonly value: string }
  | { readonly kind: 'literal'; readonly value: string; readonly datatype: string; readonly language: string | undefined };

/** Where the text of a term comes from. Text here is ordinary (UTF-16) JavaScript text; compiling converts it to bytes. */
export type Expression =
  | { readonly kind: 'constant'; readonly origin: Origin; readonly term: RdfTerm }
  | { readonly kind: 'reference'; readonly origin: Origin; readonly reference: string }
  | { readonly kind: 'template'; readonly origin: Origin; readonly parts: readonly TemplatePart[] }
  /** One blank node per record (a term map of term type blank node without an expression). */
  | { readonly kind: 'fresh'; readonly origin: Origin }
  /** A result of a function. `returns`: IRI of the result; undefined: the function's first. */
  | { readonly kind: 'call'; readonly origin: Origin; readonly execution: FunctionExecution; readonly returns: string | undefined }
  /** The values of `value` where some value of `condition` is true. */
  | { readonly kind: 'conditional'; readonly origin: Origin; readonly condition: Expression; readonly value: Expression };

/** A function and its arguments. Expressions that take results of one execution share it. */
export interface FunctionExecution {
  readonly origin: Origin;
  /** IRI; reading guarantees that there is such a function, and that it takes these arguments. */
  readonly function: string;
  /** Equal arguments give equal results: not so for random values. */
  readonly deterministic: boolean;
  /** A parameter that takes a list may be given several times. */
  readonly inputs: readonly FunctionInput[];
}

export interface FunctionInput {
  readonly origin: Origin;
  /** IRI of the parameter. */
  readonly parameter: string;
  readonly value: Expression;
  /** The value, a constant, names the file of a table. */
  readonly table?: LookUpTable;
}

/** A table in which a function looks values up, which a run reads before its first record. */
export interface LookUpTable {
  readonly file: FileSource;
  /** The column that is searched, and that of the results. From 0. */
  readonly from: number;
  readonly to: number;
}

/** Text is unescaped; references are in the syntax of their reference formulation. */
export type TemplatePart = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'reference'; readonly reference: string };

/** rml:IRI, rml:URI, rml:UnsafeIRI, rml:UnsafeURI, rml:BlankNode, rml:Literal. */
export type TermType = 'iri' | 'uri' | 'unsafe-iri' | 'unsafe-uri' | 'blank' | 'literal';

export interface TermMap {
  readonly kind: 'term';
  readonly origin: Origin;
  /** Resolved: the default of position and expression if the mapping names none. */
  readonly termType: TermType;
  readonly expression: Expression;
  /** For literals only, and at most one of the two. A constant language tag is checked (BCP 47) when the mapping is read. */
  readonly language: Expression | undefined;
  readonly datatype: TermMap | undefined;
  /** Where statements with a term of this map go, those of its language and datatype maps included; none: nowhere on its account. */
  readonly targets?: readonly LogicalTarget[];
  /** The terms are the heads of collections. Without an expression (`fresh`), each collection has a blank node. */
  readonly gather?: Gather;
}

/**
 * What a gather map collects.
 *
 * @see https://kg-construct.github.io/rml-cc/spec/docs/
 */
export interface Gather {
  /** IRI or `_:label` of the gather map: where several places refer to it, they mean one collection for each record. */
  readonly id: string;
  readonly as: 'list' | 'bag' | 'seq' | 'alt';
  /** In the order of the mapping, at least one; those of term maps without `gather` are single values. */
  readonly members: readonly (TermMap | ReferencingObjectMap)[];
  /** `append`: the values of all members, one after the other. `product`: a collection for each combination of one value of each member. */
  readonly strategy: 'append' | 'product';
  /** Whether a record without members gives an empty list or container; otherwise it gives none. */
  readonly allowEmpty: boolean;
}

/**
 * A term map that quotes: its terms are the triples of another triples map, whatever their graphs. Without conditions: those of the same
 * record.
 *
 * @see https://kg-construct.github.io/rml-star/spec/docs/
 */
export interface StarMap {
  readonly kind: 'star';
  readonly origin: Origin;
  /** `TriplesMap.id`; reading guarantees that it exists, and that no triples map quotes itself, also through others. */
  readonly quoted: string;
  readonly conditions: readonly JoinCondition[];
  /** As `TermMap.targets`. Those of the quoted triples map are for its own statements. */
  readonly targets?: readonly LogicalTarget[];
}

export type SubjectMap = (TermMap | StarMap) & {
  readonly classes: readonly TermMap[];
  readonly graphs: readonly TermMap[];
};

export interface PredicateObjectMap {
  readonly origin: Origin;
  readonly predicates: readonly TermMap[];
  readonly objects: readonly (TermMap | ReferencingObjectMap | StarMap)[];
  readonly graphs: readonly TermMap[];
}

/**
 * An object map whose objects are the subjects of another triples map. Without conditions: of the same record, or with `all` of every
 * record.
 */
export interface ReferencingObjectMap {
  readonly kind: 'referencing';
  readonly origin: Origin;
  /** `TriplesMap.id`; reading guarantees that it exists. */
  readonly parent: string;
  readonly conditions: readonly JoinCondition[];
  /** Parent and child have different records, and no condition joins them: all pairs. */
  readonly all?: true;
}

/** The triples map that an object or a subject refers to. */
export const referredBy = (reference: ReferencingObjectMap | StarMap): string =>
  reference.kind === 'star' ? reference.quoted : reference.parent;

export interface JoinCondition {
  readonly origin: Origin;
  readonly child: Expression;
  readonly parent: Expression;
}

/** Whatever gives subjects or objects. */
export type AnyMap = TermMap | ReferencingObjectMap | StarMap;

/** A map, the members that it gathers, and theirs. */
export const withMembers = (map: AnyMap): readonly AnyMap[] =>
  map.kind === 'term' && map.gather !== undefined ? [map, ...map.gather.members.flatMap(withMembers)] : [map];

/** What of a triples map refers to its records. */
export interface TermMaps extends Pick<TriplesMap, 'predicateObjects'> {
  /** undefined: it is not valid. */
  readonly subject: TriplesMap['subject'] | undefined;
}

/** Every map of a triples map, members of collections included. */
export const mapsIn = ({ subject, predicateObjects }: TermMaps): readonly AnyMap[] =>
  [
    ...(subject === undefined ? [] : [subject, ...subject.classes, ...subject.graphs]),
    ...predicateObjects.flatMap(({ predicates, objects, graphs }) => [...predicates, ...graphs, ...objects]),
  ].flatMap(withMembers);

/** A problem in a mapping; `check` prints all of them. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  readonly code: DiagnosticCode;
  readonly origin: Origin;
  /** What was found and what was expected. */
  readonly message: string;
  /** What to do, for example `did you mean rml:reference?`. */
  readonly hint: string | undefined;
}

export const DEFAULT_GRAPH_IRIS: ReadonlySet<string> = new Set([
  'http://w3id.org/rml/defaultGraph',
  'http://www.w3.org/ns/r2rml#defaultGraph',
]);

/** `document:line:column`. */
export const formatOrigin = (origin: Origin): string => `${origin.document}:${origin.line}:${origin.column}`;
