/**
 * The plan as algebra: operators give rows, expressions read a row, terms are made of expressions. Plain, frozen data; a plan is a directed
 * acyclic graph, and the builder returns the same object for the same operator, so sharing needs no pass.
 *
 * A *row* is one logical iteration. Expressions have none, one or several values for a row; a term has a text for each combination.
 */
import type { Dialect, LogicalSource, Origin, RdfTerm, TermType } from '../mapping/model/model.ts';

export type Operator = Scan | Join | Project;

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
  readonly source: LogicalSource;
  /** Strictness and null handling of the reader. */
  readonly dialect: 'rml' | 'legacy';
  readonly iterator: string | undefined;
  /** Of the iterator, for faults. */
  readonly origin: Origin;
  /** The record; after a join that the database makes, the record of the child and that of the parent. */
  readonly records: readonly Column[];
}

/** The pairs of rows with equal texts in all conditions; a null equals nothing, of several values any may be equal. */
export interface Join {
  readonly kind: 'join';
  readonly origin: Origin;
  readonly left: Operator;
  readonly right: Project;
  /** In a canonical order. None: all pairs. */
  readonly on: readonly { readonly left: Expression; readonly right: Column }[];
}

/** The distinct rows of these columns. */
export interface Project {
  readonly kind: 'project';
  readonly input: Scan;
  /** The triples map that reads the input: it reports invalid terms. */
  readonly map: MapInfo;
  readonly keys: readonly { readonly column: Column; readonly value: Expression }[];
  readonly term: { readonly column: Column; readonly value: RowTerm };
}

/** Row → values. Text here is ordinary (UTF-16) text, which compiling turns to bytes. */
export type Expression =
  | { readonly kind: 'constant'; readonly origin: Origin; readonly text: string }
  /** A reference, in the syntax of the record's reference formulation. */
  | Read
  /** The product over the distinct expressions among the parts, each once. */
  | { readonly kind: 'template'; readonly origin: Origin; readonly parts: readonly (string | Read)[] }
  /** Text that identifies the row within its triples map: for one blank node per record. */
  | { readonly kind: 'row'; readonly origin: Origin; readonly map: string };

export interface Read {
  readonly kind: 'read';
  readonly origin: Origin;
  readonly record: Column;
  readonly reference: string;
}

/** A term of the row itself, or one that its join brings. */
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
    };

/** A term of the right side of a join. */
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
  readonly source: LogicalSource;
  /** The subject as the mapping writes it. */
  readonly subject: string;
}

/** What a triples map makes of each row: all of it, or nothing if one of the terms is invalid. */
export interface MapRules {
  readonly map: MapInfo;
  readonly rows: Scan;
  readonly subject: RowTerm;
  readonly emits: readonly Emit[];
  /** Terms of no statement that must be valid all the same: what a rewrite has moved elsewhere. */
  readonly checks: readonly RowTerm[];
}

/** One statement pattern. */
export interface Emit {
  /** The rows of the triples map, or a join whose left side they are. */
  readonly input: Scan | Join;
  readonly predicate: RowTerm;
  readonly object: Term;
  /** undefined: the default graph. */
  readonly graph: RowTerm | undefined;
}
