/** How a product writes SQL: what the engine must know of it to write queries and to read the names in mappings. Pure text, without a connection. */
export interface Dialect {
  readonly names: NameRules;
  /** A quoted column for which DISTINCT compares texts, not collation keys: `a` and `A` are different. */
  exactText(quoted: string): string;
  /** A quoted text column that `=` compares as we compare texts, for columns of the family `text`. */
  comparedText(quoted: string): string;
  /** A text as SQL that is compared as a value of a column. */
  literal(text: string, isNumber: boolean): string;
  /**
   * A select list and FROM that put a row number in front of all columns, the same in every query of one transaction. Rows that are equal in all values are
   * interchangeable.
   *
   * @param table its name as SQL
   * @param number the quoted label of the row number
   */
  numberedRows(table: string, number: string, kind: 'table' | 'view', columns: readonly string[]): string;
  /** The first rows alone: what stands behind SELECT (and DISTINCT), and behind the statement. */
  limit(rows: number): { readonly before: string; readonly behind: string };
  /** What stands between a derived table and its name. */
  readonly alias: ' AS ' | ' ';
  /** Whether `dividend` is a multiple of `divisor`, both as SQL. */
  isMultiple(dividend: string, divisor: string): string;
  /** A query as the body of a derived table; undefined: the product does not take it there. */
  derived(query: string): string | undefined;
}

/** What most products share. */
export const COMMON: Omit<Dialect, 'numberedRows'> = {
  names: {
    mark: '"',
    marks: ['"'],
    // Letters beyond ASCII are letters.
    unquoted: /^[A-Za-z_\u0080-\u{10ffff}][\w$\u0080-\u{10ffff}]*$/u,
    fold: (name) => name,
    hasCase: false,
    tableParts: 2,
    tableForm: 'table or schema.table',
  },
  exactText: (quoted) => quoted,
  comparedText: (quoted) => quoted,
  literal: (text, isNumber) => (isNumber && /^-?\d+(?:\.\d+)?$/.test(text) ? text : `'${text.replaceAll("'", "''")}'`),
  limit: (rows) => ({ before: '', behind: ` LIMIT ${rows}` }),
  alias: ' AS ',
  isMultiple: (dividend, divisor) => `${dividend} % ${divisor} = 0`,
  derived: (query) => query,
};

export interface NameRules {
  /** The quotation mark of identifiers. */
  readonly mark: '"' | '`';
  /** The marks that mappings may write; R2RML has double quotes for every product. */
  readonly marks: readonly string[];
  /** A name may also stand between brackets, with `]]` for `]`. */
  readonly brackets?: true;
  /** A name without quotes. */
  readonly unquoted: RegExp;
  /** The name as the server stores it. */
  fold(name: string, quoted: boolean): string;
  /** A column's name with the wrong case names no column. */
  readonly hasCase: boolean;
  /** The most parts of a table's name, and how one is written, for messages. */
  readonly tableParts: number;
  readonly tableForm: string;
}
