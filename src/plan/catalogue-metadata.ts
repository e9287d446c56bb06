/** Catalogue metadata of databases for the planner: collected before planning, without reading any row. */
import type { SqlSource } from '../mapping/model/model.ts';
import type { DatabaseRows, SqlPairs } from './algebra.ts';

export interface CatalogueMetadata {
  /** Whether equal texts in `references` mean the same row: the references contain a non-null unique key whose texts are injective. */
  isKey(source: DatabaseRows, references: readonly string[]): boolean;
  /** Whether equal texts in `references` come from one row of a table: that of the source, or of the child of a join. */
  identifiesRow(source: DatabaseRows, references: readonly string[]): boolean;
  /** Of pairs, which differ in some value: whether their texts differ as well. */
  areDistinct(pairs: SqlPairs, references: readonly string[]): boolean;
  /** Whether a row has at most one value for the reference: false for an array. */
  isSingle(source: DatabaseRows, reference: string): boolean;
  /** Whether every value has a lexical form: false for a date that may be infinite. */
  isAlwaysValid(source: DatabaseRows, reference: string): boolean;
  /** Whether both columns are in one database, and `=` between them is equivalent to comparing their texts. */
  canJoin(child: SqlSource, childReference: string, parent: SqlSource, parentReference: string): boolean;
}

/** No metadata: nothing may be assumed. */
export const NO_METADATA: CatalogueMetadata = {
  isKey: () => false,
  identifiesRow: () => false,
  areDistinct: () => false,
  isSingle: () => false,
  isAlwaysValid: () => false,
  canJoin: () => false,
};
