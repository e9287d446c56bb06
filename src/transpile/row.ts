/** What expressions and terms are made of: a row, and its values. */
import type { Origin } from '../mapping/model/model.ts';
import type { Column } from '../plan/algebra.ts';
import type { Leaf } from '../plan/expressions.ts';
import type { Refusals } from './refusals.ts';
import { NULL, type Sql } from './sql.ts';

/** A value of a row, null where it has none. */
export interface Value {
  /** As it is written in the source. */
  readonly written: Sql;
  /** In the canonical form of its natural datatype: what functions see. */
  readonly canonical: Sql;
  /** As a literal with its natural datatype; undefined: it has none, and is a plain literal. */
  readonly literal: Sql | undefined;
  /** Whether a row may have several: then there is a row of SQL for each, and none without. */
  readonly isSeveral: boolean;
}

/** A value of a row; of several, that of a column for which there is a row for each, made of a column with the array of them. */
export interface Reading {
  readonly value: Value;
  readonly several?: { readonly element: string; readonly array: string };
}

export const valueOf = (sql: Sql, isSeveral = false): Value => ({ written: sql, canonical: sql, literal: undefined, isSeveral });

/** Defines the functions of SQL that the job needs. */
export interface Definer {
  /** A call of a function, which is defined from now on. */
  call(name: string, ...to: readonly Sql[]): Sql;
}

/** What a row gives. */
export interface Row {
  /** undefined: SQL has no such value. */
  read(leaf: Leaf): Value | undefined;
  /** The term that a join has brought; undefined: it has brought none. */
  readonly joined: Sql | undefined;
  /**
   * The same row for an expression beside others: of a reference with several values each takes its own, so that together they have all
   * combinations.
   *
   * @param part a letter or number, different from those of the expressions beside it
   */
  beside(part: string | number): Row;
  /** The same row for an expression whose values do not make rows: `several` has the array of each reference with several values, by its element. */
  apart(part: string | number): Row & { readonly several: ReadonlyMap<string, string> };
  /** A text that tells the row from others of its triples map; undefined: SQL has none. @param columns of the expression `row` */
  identity(columns: readonly Column[]): Sql | undefined;
  readonly refusals: Refusals;
  readonly definitions: Definer;
  /** What labels of blank nodes begin with. */
  readonly labels: string;
}

export function refused(row: Row, origin: Origin, reason: string): Sql {
  row.refusals.add(origin, reason);
  return NULL;
}
