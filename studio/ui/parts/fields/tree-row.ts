/** A row of a tree, as all trees show it. */
export interface TreeRow {
  readonly key: string;
  /** 1: at the top. */
  readonly level: number;
  /** For screen readers, and for finding a row by its first letters. */
  readonly name: string;
  /** undefined: it has nothing below. */
  readonly isOpen?: boolean | undefined;
  /** Among the rows with the same parent, from 1. */
  readonly position: number;
  readonly size: number;
}
