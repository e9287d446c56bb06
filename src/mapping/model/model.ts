/**
 * The normal form of a mapping: what every dialect (today's RML, legacy RML, R2RML) becomes before anything is planned.
 *
 * Plain, frozen data. Every node carries the origin of the statement that made it. Variants are unions on `kind`; what a
 * later version adds (functions, logical views, gather maps, quoted triples) is a further variant here.
 */

import type { CsvDialect } from '../../core/csv-dialect.ts';

/** Where a statement stands: document as the user named it, 1-based line and column. */
export interface Origin {
  readonly document: string;
  readonly line: number;
  readonly column: number;
}

/** `rml`: today's vocabulary; `legacy`: semweb.mmlab.be; `r2rml`: rr: alone. Strictness and nulls follow it. */
export type Dialect = 'rml' | 'legacy' | 'r2rml';

/** What happens when a record gives no valid term: the run ends, or the record is counted and left out. */
export type ErrorPolicy = 'strict' | 'skip' | 'quarantine';

/** @param wanted undefined: as the dialect has it */
export const policyOf = (dialect: Dialect, wanted: ErrorPolicy | undefined): ErrorPolicy =>
  wanted ?? (dialect === 'legacy' ? 'skip' : 'strict');

export interface Mapping {
  readonly triplesMaps: readonly TriplesMap[];
}

export interface TriplesMap {
  /** IRI, or `_:label` that is unique over all documents of the run. */
  readonly id: string;
  /** For people: the IRI's last segment, or the document's line. */
  readonly name: string;
  readonly origin: Origin;
  readonly dialect: Dialect;
  readonly source: LogicalSource;
  /** rml:baseIRI of this triples map; the run's base otherwise. */
  readonly baseIri: string | undefined;
  readonly subject: SubjectMap;
  readonly predicateObjects: readonly PredicateObjectMap[];
  /** Made by planning: terms that stand in no statement of this triples map; a record that gives no valid one gives no statement either. */
  readonly guards?: readonly TermMap[];
}

export type LogicalSource = FileSource | SqlSource;

/** The rows of a table, a view or a query of a database. */
export interface SqlSource {
  readonly kind: 'sql';
  readonly origin: Origin;
  /** IRI or `_:label` of the logical source, and of its rml:source where that is a node. */
  readonly ids: readonly string[];
  /** undefined: the database that the run is given (R2RML names none). */
  readonly connection: SqlConnection | undefined;
  readonly content: SqlContent;
  /**
   * What a reference is. `identifiers` (R2RML): an SQL identifier, `name` or `"Name"`, which the product's rules match with a column.
   * `labels` (RML): the column's name as the result calls it; quotes would be part of it.
   */
  readonly references: 'identifiers' | 'labels';
  /** Texts that mean null (rml:null), besides SQL's own. */
  readonly nulls: readonly string[];
}

export type SqlContent =
  /** An SQL identifier, with or without schema, as the mapping writes it: `student`, `"Student"`, `test.student`. */
  | { readonly kind: 'table'; readonly origin: Origin; readonly name: string }
  /** One SELECT, without a semicolon at its end. */
  | { readonly kind: 'query'; readonly origin: Origin; readonly sql: string }
  /**
   * Made by planning from a join of two contents of one database: the pairs of rows that meet, each once. A reference is that of a
   * side, behind `child ` or `parent `.
   */
  | {
      readonly kind: 'join';
      readonly origin: Origin;
      /** The triples map that planning has made for it: its rows are distinct in the columns that this one reads, and shared with no other. */
      readonly reader: string;
      readonly child: SqlSource;
      readonly parent: SqlSource;
      readonly conditions: readonly { readonly child: string; readonly parent: string }[];
    };

/** A database as the mapping describes it (d2rq:Database). */
export interface SqlConnection {
  readonly origin: Origin;
  /** d2rq:jdbcDSN, a JDBC URL. */
  readonly jdbcUrl: string;
  /** d2rq:jdbcDriver, the name of a driver class. */
  readonly driver: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/** A document read through the storage layer. */
export interface FileSource {
  readonly kind: 'file';
  readonly origin: Origin;
  /** IRI or `_:label` of the logical source, and of its rml:source where that is a node: both are names a request may bind. */
  readonly ids: readonly string[];
  /** The path or URL as the mapping writes it: the name by which a request binds it to a real location. */
  readonly path: string;
  /** What a relative path is relative to; an absolute path or a URL ignores it. A string: the directory or IRI that rml:root gives. */
  readonly root:
    | { readonly kind: 'mapping' }
    | { readonly kind: 'working-directory' }
    | { readonly kind: 'directory'; readonly path: string };
  readonly formulation: 'csv' | 'json' | 'xml';
  readonly iterator: string | undefined;
  readonly iteratorOrigin: Origin | undefined;
  readonly nulls: readonly string[];
  readonly encoding: string | undefined;
  readonly compression: 'none' | 'gzip';
  readonly namespaces: Readonly<Record<string, string>>;
  /** undefined: what the name of the file says, else commas and double quotes below one header row. */
  readonly csv: CsvDialect | undefined;
}

export type RdfTerm =
  | { readonly kind: 'iri'; readonly value: string }
  | { readonly kind: 'blank'; readonly value: string }
  | { readonly kind: 'literal'; readonly value: string; readonly datatype: string; readonly language: string | undefined };

/** Where a term's text comes from. Text here is ordinary (UTF-16) JavaScript text; compiling turns it to bytes. */
export type Expression =
  | { readonly kind: 'constant'; readonly origin: Origin; readonly term: RdfTerm }
  | { readonly kind: 'reference'; readonly origin: Origin; readonly reference: string }
  | { readonly kind: 'template'; readonly origin: Origin; readonly parts: readonly TemplatePart[] }
  /** A blank node of its own for each record (a term map of term type blank node without an expression). */
  | { readonly kind: 'fresh'; readonly origin: Origin };

/** Text is unescaped; a reference stands as the source's language writes it. */
export type TemplatePart = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'reference'; readonly reference: string };

/** rml:IRI, rml:URI, rml:UnsafeIRI, rml:UnsafeURI, rml:BlankNode, rml:Literal. */
export type TermType = 'iri' | 'uri' | 'unsafe-iri' | 'unsafe-uri' | 'blank' | 'literal';

export interface TermMap {
  readonly kind: 'term';
  readonly origin: Origin;
  /** Settled: the default of the position and expression where the mapping names none. */
  readonly termType: TermType;
  readonly expression: Expression;
  /** Literals only, and at most one of the two. A constant language is checked for well-formedness (BCP 47) when read. */
  readonly language: Expression | undefined;
  readonly datatype: TermMap | undefined;
}

export interface SubjectMap extends TermMap {
  readonly classes: readonly TermMap[];
  readonly graphs: readonly TermMap[];
}

export interface PredicateObjectMap {
  readonly origin: Origin;
  readonly predicates: readonly TermMap[];
  readonly objects: readonly (TermMap | ReferencingObjectMap)[];
  readonly graphs: readonly TermMap[];
}

/** An object map whose objects are the subjects of another triples map. Without conditions: of the same record, or of `all` records. */
export interface ReferencingObjectMap {
  readonly kind: 'referencing';
  readonly origin: Origin;
  /** `TriplesMap.id`; reading has made sure that it is there. */
  readonly parent: string;
  readonly conditions: readonly JoinCondition[];
  /** Parent and child read different records, and nothing says which belong together. */
  readonly all?: true;
}

export interface JoinCondition {
  readonly origin: Origin;
  readonly child: Expression;
  readonly parent: Expression;
}

/** What is wrong, or worth knowing, about a mapping; `check` prints all of them. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  /** Stable slug, for example `unknown-term`, `missing-subject-map`, `not-supported`. */
  readonly code: string;
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

/** An expression as the mapping writes it, for messages. */
export function expressionText(expression: Expression): string {
  switch (expression.kind) {
    case 'constant':
      return JSON.stringify(expression.term.value);
    case 'reference':
      return expression.reference;
    case 'template':
      return expression.parts.map((part) => (part.kind === 'text' ? part.text : `{${part.reference}}`)).join('');
    case 'fresh':
      return '(a blank node for each record)';
  }
}
