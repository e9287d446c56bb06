/**
 * The document of the studio: what a person has drawn, and the text of the mapping that it stands for.
 *
 * A document is immutable. Its elements are records in one map by id; a command replaces those that it changes and keeps the others, so that
 * two documents are compared record by record, by identity. Incomplete elements are allowed: they stay in the document and are left out of
 * the mapping. The names and kinds of fields that samples show are no part of it.
 */

/** Unique in its document. */
export type Id = string;

/** One step from an object to a part of it. `index` counts from 0; XPath writes it from 1. */
export type Step =
  | { readonly name: string }
  | { readonly attribute: string }
  | { readonly each: true }
  | { readonly index: number }
  | { readonly text: true };

/** From the root of a record's document. Flat inputs (CSV, SQL, sheets): a single name. With an index step it is ungrouped. */
export type Path = readonly Step[];

/** A field of an input. */
export interface FieldRef {
  readonly input: Id;
  readonly path: Path;
}

export type Expression =
  | { readonly kind: 'field'; readonly ref: FieldRef }
  | { readonly kind: 'template'; readonly parts: readonly (string | FieldRef)[] }
  | { readonly kind: 'constant'; readonly value: string }
  | { readonly kind: 'call'; readonly function: string; readonly arguments: readonly Argument[]; readonly returns?: string }
  /** JSONPath, XPath or SQL that the canvas does not take apart. */
  | { readonly kind: 'written'; readonly text: string }
  /** A new blank node for each record. */
  | { readonly kind: 'fresh' };

export interface Argument {
  /** IRI. */
  readonly parameter: string;
  readonly value: Expression;
}

export type TermType = 'iri' | 'uri' | 'unsafe-iri' | 'unsafe-uri' | 'blank' | 'literal';

export type Language = 'rml' | 'legacy' | 'r2rml' | 'yarrrml';

export type Format = 'csv' | 'json' | 'jsonl' | 'xml' | 'xlsx' | 'ods' | 'parquet' | 'sql';

export type Location =
  | { readonly kind: 'upload'; readonly url: string }
  | { readonly kind: 'url'; readonly url: string }
  /** A path relative to the mapping, or to another directory: `working-directory`, or the directory's path or IRI. */
  | { readonly kind: 'file'; readonly path: string; readonly directory?: string }
  | { readonly kind: 'table'; readonly table: string; readonly database?: Database }
  | { readonly kind: 'query'; readonly query: string; readonly database?: Database };

/** A database that the mapping names. Absent: that of the run. */
export interface Database {
  /** JDBC. */
  readonly url: string;
  readonly driver?: string;
  readonly user?: string;
  /** As the text of the mapping has it; never shown, and never in the side file. */
  readonly password?: string;
}

/** Absent: the default of RFC 4180. */
export interface CsvDialect {
  readonly delimiter?: string;
  /** Empty: none, which is also the default between tabs. */
  readonly quote?: string;
  readonly header?: boolean;
  readonly encoding?: string;
}

/** A file, table or query. */
export interface Input {
  readonly kind: 'input';
  readonly id: Id;
  /** Shown to the user, unique among inputs: `orders.json`. */
  readonly name: string;
  readonly location: Location;
  readonly format: Format;
  /** The switch of rule R5: whether a selection means all instances. Always true for flat inputs. */
  readonly grouped: boolean;
  /** Of XML: prefix → IRI. */
  readonly namespaces: Readonly<Record<string, string>>;
  /** Values that count as null. */
  readonly nulls: readonly string[];
  readonly dialect?: CsvDialect;
  /** Absent: none. */
  readonly compression?: 'gzip' | 'zip' | 'targz' | 'tarxz';
}

export interface Entity {
  readonly kind: 'entity';
  readonly id: Id;
  readonly name: string;
  readonly input: Id;
  /** The object that it stands for: the deepest level of its identifier (invariant I2). */
  readonly level: Path;
  readonly identifier: Expression;
  readonly termType: TermType;
  /** Absolute IRIs. */
  readonly classes: readonly string[];
  readonly graphs: readonly Id[];
  /** Its triples maps, by the name that they have in the text; one unless it was read from several. */
  readonly parts: readonly string[];
}

export interface Attribute {
  readonly kind: 'attribute';
  readonly id: Id;
  readonly value: Expression;
  readonly termType: TermType;
  /** Absolute IRI; never together with `language`. */
  readonly datatype?: string;
  readonly language?: string;
}

/**
 * How an edge is printed. *same*: within one iteration. *down*: one reference through deeper lists. *view*: several references through one
 * list, or a field above the iteration. *join*: by conditions.
 */
export type EdgeForm = 'same' | 'down' | 'view' | 'join';

export interface Edge {
  readonly kind: 'edge';
  readonly id: Id;
  readonly from: Id;
  /** An entity or an attribute. */
  readonly to: Id;
  /** Absolute IRIs; none: incomplete. */
  readonly predicates: readonly string[];
  readonly graphs: readonly Id[];
  /** The part of `from` that has it. */
  readonly part: string;
  readonly form: EdgeForm;
}

/** Of an edge of form `join`. */
export interface Join {
  readonly kind: 'join';
  readonly id: Id;
  readonly edge: Id;
  /** None: incomplete. */
  readonly conditions: readonly JoinCondition[];
}

export interface JoinCondition {
  readonly child: Expression;
  readonly parent: Expression;
}

export interface Graph {
  readonly kind: 'graph';
  readonly id: Id;
  readonly name: Expression;
}

export interface Prefix {
  readonly kind: 'prefix';
  readonly id: Id;
  readonly name: string;
  readonly iri: string;
}

/** What the canvas does not draw, and why. */
export interface TextPart {
  readonly kind: 'text';
  readonly id: Id;
  /** The element whose block shows it; undefined: it is a separate block. */
  readonly of: Id | undefined;
  readonly anchor: Anchor;
  readonly reason: string;
}

/** A range of the text, in UTF-16 units. */
export interface Anchor {
  readonly from: number;
  readonly to: number;
}

/** Where a block stands on the canvas. */
export interface BlockPlace {
  readonly kind: 'place';
  readonly id: Id;
  readonly of: Id;
  readonly x: number;
  readonly y: number;
  readonly width?: number;
  /** Paths of the levels that are unfolded, as texts. */
  readonly open: readonly string[];
  readonly pinned: boolean;
}

export type Element = Input | Entity | Attribute | Edge | Join | Graph | Prefix | TextPart | BlockPlace;

/** The mapping as it is written. `anchors` are the ranges of elements, by id; they nest or are apart (invariant I9). */
export interface MappingText {
  readonly text: string;
  readonly anchors: ReadonlyMap<Id, readonly Anchor[]>;
}

export interface StudioDocument {
  readonly records: ReadonlyMap<Id, Element>;
  readonly language: Language;
  readonly base?: string;
  /** Lifts rule R2, and allows XPath upwards in the text. */
  readonly expert: boolean;
  /** Keys of suggestions that are not made again. Absent: none. */
  readonly rejected?: readonly string[];
  readonly text: MappingText;
}
