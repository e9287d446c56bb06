/** What planning may know of databases: asked before, answered without a look at any row. */
import type { SqlSource } from '../mapping/model/model.ts';

export interface CatalogueMetadata {
  /** Whether rows with equal texts there are one row: the references hold a unique key without nulls, whose texts tell its values apart. */
  isKey(source: SqlSource, references: readonly string[]): boolean;
  /** Whether rows with equal texts there are made of one row of a table: that of the source, or of the child of a join. */
  identifiesRow(source: SqlSource, references: readonly string[]): boolean;
  /** Of the rows of a join, which differ in some value: whether their texts differ then, too. */
  areDistinct(source: SqlSource, references: readonly string[]): boolean;
  /** Whether a row has at most one value there: false for an array. */
  isSingle(source: SqlSource, reference: string): boolean;
  /** Whether all values there have a lexical form: false for a date that may be infinite. */
  isAlwaysValid(source: SqlSource, reference: string): boolean;
  /** Whether both are of one database, and `=` between the two columns means what comparing their texts means. */
  canJoin(child: SqlSource, childReference: string, parent: SqlSource, parentReference: string): boolean;
}

/** Without a look at the databases, nothing is known. */
export const NO_METADATA: CatalogueMetadata = {
  isKey: () => false,
  identifiesRow: () => false,
  areDistinct: () => false,
  isSingle: () => false,
  isAlwaysValid: () => false,
  canJoin: () => false,
};
