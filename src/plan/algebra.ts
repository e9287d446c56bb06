/**
 * The plan as algebra: operators give rows, expressions read a row, terms are made of expressions. Plain, frozen data; a plan is a directed
 * acyclic graph, and the builder returns the same object for the same operator, so sharing needs no pass.
 *
 * A *row* is one logical iteration. Expressions have none, one or several values for a row; a term has a text for each combination.
 */
import type {
  Annotation,
  Dialect,
  FileSource,
  LogicalSource,
  LogicalTarget,
  Origin,
  RdfTerm,
  SqlSource,
  TermType,
} from '../mapping/model/model.ts';

export type Operator = Scan | Unnest | Extend | NumberRows | Join;

/** How references and iterators are written. */
export type Formulation = FileSource['formulation'];

/** A cell of a row. */
export interface Column {
  /** Unique in the plan. */
  readonly id: number;
  /** For people; empty for the record of a scan. */
  readonly name: string;
}

/** The records of one iterator over one source. */
export interface Scan {
  readonly kind: 'scan';
  readonly source: LogicalSource | SqlPairs;
  /** Strictness and null handling of the reader. */
  readonly dialect: 'rml' | 'legacy';
  readonly iterator: string | undefined;
  /** Of the iterator, for faults. */
  readonly origin: Origin;
  /** The record; after a join that the database makes, the record of the child and that of the parent. */
  readonly records: readonly Column[];
  /** 0-based position of the record. */
  readonly index: Column;
  /** Text that tells the record from the others of its source, also in a slice of that. */
  readonly identity: Column;
}

/** What a database is asked for: a table, a query, or a join. */
export type DatabaseRows = SqlSource | SqlPairs;

/**
 * A join that a database makes of two sources: the matching pairs of rows, each once. A reference names its side with the prefix `child ` or
 * `parent `. No text of a column means null.
 */
export interface SqlPairs {
  readonly kind: 'sql-pairs';
  readonly origin: Origin;
  /** The triples map that reads the pairs, and the only one: they are distinct in the columns that it reads. */
  readonly reader: string;
  readonly child: SqlSource;
  readonly parent: SqlSource;
  readonly conditions: readonly { readonly child: string; readonly parent: string }[];
}

/** One row for each item; a row without items stays, with nulls. */
export interface Unnest {
  readonly kind: 'unnest';
  readonly input: Operator;
  readonly origin: Origin;
  readonly item: Column;
  /** 0-based position of the item. */
  readonly index: Column;
  readonly items:
    | { readonly of: 'values'; readonly expression: Expression }
    /** The nodes that an iterator finds: within a record, or within the document that a text is (`formulation`). */
    | {
        readonly of: 'records';
        readonly within: Column;
        readonly formulation: Formulation | undefined;
        readonly iterator: string | undefined;
      };
}

/** The row with further cells. */
export interface Extend {
  readonly kind: 'extend';
  readonly input: Operator;
  /** A term's cell has its texts. */
  readonly columns: readonly { readonly column: Column; readonly value: Expression | RowTerm }[];
}

/** The row with its 0-based position among the rows. */
export interface NumberRows {
  readonly kind: 'number';
  readonly input: Operator;
  readonly column: Column;
}

/** The pairs of rows with equal texts in all conditions; a null equals nothing, of several values any may be equal. */
export interface Join {
  readonly kind: 'join';
  readonly origin: Origin;
  /** `left`: a row of the left side that meets none stays, with nulls. */
  readonly type: 'inner' | 'left';
  readonly left: Operator;
  readonly right: Project;
  /** What the columns of the right side are called in the pairs, in their order: joins may share a right side. */
  readonly columns: readonly Column[];
  /** In a canonical order. None: all pairs. */
  readonly on: readonly { readonly left: Expression; readonly right: Column }[];
  /** 0-based position of the pair among those of its left row. */
  readonly ordinal: Column | undefined;
  /** For people, if the sides are views: their names. */
  readonly views?: { readonly left: string; readonly right: string };
}

/** The distinct rows of these columns: the right side of joins. */
export interface Project {
  readonly kind: 'project';
  readonly input: Operator;
  /** The triples map that reads the input, and reports invalid terms; undefined: the fields of a view, which are no terms. */
  readonly map: MapInfo | undefined;
  readonly keys: readonly { readonly column: Column; readonly value: Expression }[];
  readonly columns: readonly { readonly column: Column; readonly value: Expression | Term }[];
  /** Bag semantics: equal rows are kept apart, in the order of the input, because a consumer counts them. */
  readonly counts: boolean;
}

/** Row → values. Text here is ordinary (UTF-16) text, which compiling turns to bytes. */
export type Expression =
  | { readonly kind: 'constant'; readonly origin: Origin; readonly text: string }
  /** A reference, in the syntax of the record's reference formulation. */
  | Read
  | Cell
  /** The product over the distinct expressions among the parts, each once. */
  | { readonly kind: 'template'; readonly origin: Origin; readonly parts: readonly (string | Read | Cell)[] }
  /**
   * Text that identifies the row within its triples map: for one blank node per row. `columns` are the identity of its record and the positions
   * of its items and pairs, which are equal wherever the row is made.
   */
  | { readonly kind: 'row'; readonly origin: Origin; readonly map: string; readonly columns: readonly Column[] }
  /** A result of a function; undefined: the function's first. */
  | { readonly kind: 'call'; readonly origin: Origin; readonly execution: Execution; readonly returns: string | undefined }
  /** The values of `value` where some value of `condition` is true; elsewhere it is not evaluated. */
  | { readonly kind: 'conditional'; readonly origin: Origin; readonly condition: Expression; readonly value: Expression };

/** A function and its arguments. */
export interface Execution {
  /** IRI. */
  readonly function: string;
  readonly deterministic: boolean;
  /** `file` identifies the file that the value names, and takes its place. */
  readonly inputs: readonly { readonly parameter: string; readonly value: Expression; readonly file?: string }[];
}

/** The values of a cell. */
export interface Cell {
  readonly kind: 'cell';
  readonly origin: Origin;
  readonly column: Column;
}

export interface Read {
  readonly kind: 'read';
  readonly origin: Origin;
  /** Of the field of a view through which it is read. */
  readonly field?: Origin;
  readonly record: Column;
  readonly reference: string;
}

/** A term of the row itself, or one whose text stands in a cell: a join brings it, or it was made before a join. */
export type Term = RowTerm | EncodedTerm;

/** Values → N-Quads text. `base` is prepended to what is no absolute IRI. */
export type RowTerm =
  | {
      readonly kind: 'constant';
      readonly origin: Origin;
      /** Language and datatype of the term map are part of it. */
      readonly term: RdfTerm;
      readonly type: TermType;
      readonly base: string;
    }
  | {
      readonly kind: 'iri';
      readonly origin: Origin;
      readonly type: Exclude<TermType, 'blank' | 'literal'>;
      readonly value: Expression;
      readonly base: string;
    }
  | { readonly kind: 'blank'; readonly origin: Origin; readonly value: Expression }
  | {
      readonly kind: 'literal';
      readonly origin: Origin;
      readonly value: Expression;
      /** At most one of the two. With neither, a reference brings the natural datatype of its values. */
      readonly language: Expression | undefined;
      readonly datatype: RowTerm | undefined;
    }
  | QuotedTerm
  | HeadTerm;

/** The head of a list or container: what stands for it in statements. */
export interface HeadTerm {
  readonly kind: 'head';
  readonly origin: Origin;
  readonly collection: Collection;
}

/** The lists or containers that a gather map makes of a row. */
export interface Collection {
  readonly origin: Origin;
  readonly as: 'list' | 'bag' | 'seq' | 'alt';
  /** Number among the gather maps of its triples map, which tells their blank nodes apart. */
  readonly number: number;
  /** Text that identifies the row, for the blank nodes of a collection without a named head. */
  readonly row: Expression;
  /** undefined: each collection has a separate blank node. Otherwise all rows with an equal head append to one collection in each graph. */
  readonly head: RowTerm | undefined;
  readonly members: readonly Member[];
  readonly strategy: 'append' | 'product';
  readonly allowEmpty: boolean;
}

/** What a collection gathers; all of the values of a row, equal ones as often as they come. */
export type Member =
  | { readonly kind: 'term'; readonly term: RowTerm }
  /** A collection within the collection. */
  | { readonly kind: 'gather'; readonly collection: Collection }
  /** The terms that a join finds: those of each row of its right side, which counts equal rows. */
  | { readonly kind: 'joined'; readonly join: Join };

/** Triples as terms: all combinations of the texts of each. */
export interface QuotedTerm {
  readonly kind: 'quoted';
  readonly origin: Origin;
  readonly triples: readonly QuotedTriple[];
}

export interface QuotedTriple {
  readonly subject: Term;
  readonly predicate: Term;
  readonly object: Term;
}

/** The text in a cell. */
export interface EncodedTerm {
  readonly kind: 'encoded';
  readonly origin: Origin;
  readonly column: Column;
}

/** What is known of a triples map beyond its statements. */
export interface MapInfo {
  /** IRI, or `_:label` that is unique over all documents of the run. */
  readonly id: string;
  readonly name: string;
  readonly origin: Origin;
  /** Determines the default error policy. */
  readonly dialect: Dialect;
  readonly source: Scan['source'];
  /** The subject as the mapping writes it. */
  readonly subject: string;
  /** Whether its triples are only quoted. */
  readonly quotedOnly: boolean;
  /** Whether other triples maps refer to its subjects, and it states nothing itself. */
  readonly isOnlyParent: boolean;
  /** Other rows of a triples map, joined for its quoted triples: the rows of its records have their own entry, which reports them. */
  readonly isPart: boolean;
}

/** A mapping as algebra: what is built of it, and what rewrites change. */
export interface Algebra {
  readonly maps: readonly MapRules[];
  /** What views promise of their rows. */
  readonly checks: readonly Check[];
}

/** What a triples map makes of each row: all of it, or nothing if one of the terms is invalid. */
export interface MapRules {
  readonly map: MapInfo;
  readonly rows: Operator;
  readonly subject: Term;
  readonly emits: readonly Emit[];
  /** The collections whose statements each row adds to. */
  readonly collects: readonly Collect[];
  /** Terms of no statement that must be valid all the same: what a rewrite has moved elsewhere. */
  readonly checks: readonly RowTerm[];
}

/**
 * What a view promises of its rows (a structural annotation), checked while they flow. A row without a value in one of the fields breaks
 * none but `not-null`.
 */
export interface Check {
  readonly kind: Annotation['kind'];
  /** Of the annotation. */
  readonly origin: Origin;
  /** For people: the annotation and the view. */
  readonly name: string;
  readonly view: string;
  /** For `unique` each row counts. For `inclusion` a left join with the rows of the target. */
  readonly rows: Operator;
  readonly fields: readonly { readonly name: string; readonly value: Expression }[];
  /** Position of the record. */
  readonly position: Column;
  /** `found`: null where no row of the target has the values. */
  readonly target: { readonly view: string; readonly fields: readonly string[]; readonly found: Column } | undefined;
}

/** A collection, and the places that hold it: those of the statements with its head. */
export interface Collect {
  readonly collection: Collection;
  readonly places: readonly StatementPlace[];
}

/** Where statements go. */
export interface StatementPlace {
  /** undefined: the default graph. */
  readonly graph: Term | undefined;
  /** undefined: the output of the run. */
  readonly target: LogicalTarget | undefined;
}

/** One statement pattern. A statement that goes to several places has a pattern for each. */
export interface Emit extends StatementPlace {
  /** The rows of the triples map, or a join whose left side they are and whose only column is the object. */
  readonly input: Operator;
  readonly predicate: Term;
  readonly object: Term;
}
