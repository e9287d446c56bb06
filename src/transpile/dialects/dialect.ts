/** What a dialect of SQL gives: how it reads files, how rows become several, and how lines are written. */
import type { Words } from './words.ts';

export const DIALECTS = ['spark', 'duckdb'] as const;
export type DialectName = (typeof DIALECTS)[number];

/** A source that SQL can read. */
export type Readable = (CsvFile | JsonFile | TableRows) & {
  /** Whether the view has the column `ROW`. */
  readonly areNamed: boolean;
};

/** Rows of delimited text; the first row has the names of the columns. */
export interface CsvFile {
  readonly kind: 'csv';
  /** A path or URL as the engine of the dialect takes it. */
  readonly path: string;
  readonly delimiter: string;
  readonly quote: string | null;
  /** Texts that are no value. */
  readonly nulls: readonly string[];
  readonly columns: readonly string[];
}

/** Records of JSON. */
export interface JsonFile {
  readonly kind: 'json';
  readonly path: string;
  /** Each line is a value, and the root is the array of them. */
  readonly lines: boolean;
  /** From the root to the records: names of members, and `undefined` for each element of an array. */
  readonly steps: readonly (string | undefined)[];
  readonly references: readonly JsonReference[];
  /** Whether the records stay beside what is read of them, as the column `RECORD`. */
  readonly isKept: boolean;
}

/** Items of a list within a record, beside their rows. */
export interface JsonItems {
  /** In FROM. */
  readonly rows: string;
  /** The column of the record. */
  readonly within: string;
  /** The members that lead to the list. */
  readonly names: readonly string[];
  readonly references: readonly JsonReference[];
  /** The column of the item, and the beginning of the names of the columns of its references. */
  readonly item: string;
}

export const RECORD = 'r0';

/** Tells a record from all others of its source: letters, digits and `_`. Equal in each query over the same files. */
export const ROW = 'row_id';

/** The members that lead from a record to a value. */
export interface JsonReference {
  readonly names: readonly string[];
  /** Members of each element of the array to which `names` lead; undefined: there is one value at most. */
  readonly each: readonly string[] | undefined;
  /** What is read of the one value. */
  readonly forms: ReadonlySet<Form>;
}

/** Forms of a value of JSON, each a column. */
export type Form = 'text' | 'value' | 'literal';

/** A table or view of the engine. Columns that are read are text. */
export interface TableRows {
  readonly kind: 'table';
  /** As SQL writes it. */
  readonly name: string;
  readonly nulls: readonly string[];
  readonly columns: readonly string[];
}

/** What a view of records has for a reference: `c1` is its text, `v1` and `n1` its canonical text and its literal, if it is of JSON, `a1` its values. */
export const textColumn = (at: number): string => `c${at + 1}`;
export const valueColumn = (at: number): string => `v${at + 1}`;
export const literalColumn = (at: number): string => `n${at + 1}`;
export const arrayColumn = (at: number): string => `a${at + 1}`;

export interface Dialect extends Words {
  readonly name: DialectName;
  /** For people. */
  readonly title: string;
  /** Statements before the views: settings, and the functions of text. */
  readonly preamble: readonly string[];
  /**
   * Statements that make the view `records_N`, with the columns above for each reference in their order.
   *
   * @param number N
   */
  viewOf(source: Readable, number: number): readonly string[];
  /** A query of rows, each with each of the items as columns; without items it stays, with nulls. */
  itemsOf(items: JsonItems): string;
  list(texts: readonly string[]): string;
  /** In the list of a SELECT: a row for each text of a column with a list. */
  explode(list: string): string;
  /** In FROM, after a view: a row for each value of a column, which becomes the column `element`, and none for a row without. */
  lateral(array: string, element: string): string;
  /** The same with the 0-based positions of the values, as the column `ELEMENT_at`. */
  positioned(array: string, element: string): string;
  /** The same as `lateral`, with a row for one without, where the column is null. */
  outerLateral(array: string, element: string): string;
  /** Whether several machines share the work: then rows with equal texts are brought together before duplicates among their lines are looked for. */
  readonly movesRows: boolean;
  /** Behind FROM: rows with equal columns come to one task. */
  distribute(columns: readonly string[]): string;
  /** The statement that writes the lines of a query. @param target the name of a logical target; undefined: they go to the output of the run */
  write(query: string, target?: string): string;
}

/** Patterns of the characters that percent-encoding keeps: unreserved ones, and `ucschar` of RFC 3987. */
export const UNRESERVED = 'A-Za-z0-9._~\\-';
export const UCSCHAR = [
  '\\x{A0}-\\x{D7FF}\\x{F900}-\\x{FDCF}\\x{FDF0}-\\x{FFEF}',
  ...Array.from({ length: 14 }, (_, i) => {
    const plane = (i + 1).toString(16).toUpperCase();
    return `\\x{${plane}${plane === 'E' ? '1' : '0'}000}-\\x{${plane}FFFD}`;
  }),
].join('');

/** Parts of a number as JSON writes it. */
export const NUMBER = '^(-?)([0-9]+)(?:\\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?\\z';

/** Digits up to which a decimal and its nearest double determine each other, and the exponents that are far from the ends of the range. */
export const EXACT_DIGITS = 15;
export const SAFE_EXPONENT = 290;

/**
 * JSON in which each text begins with `s`, and each number, `true` and `false` is a text that begins with `b`; `null` stays. Engines change how numbers are
 * written, and give a text and an object the same text: of this JSON they change nothing that is read, and a value that begins with neither is an
 * object or array. Names of members begin with `s` as well.
 */
export const TAGGED_TEXT = 's';
export const TAGGED_WORD = 'b';
/** A text with its quotes, what stands between two texts, or a quote that is not closed. @param possessive for Java, which otherwise takes a frame of its stack for each escape */
export const jsonChunk = (possessive: '' | '+'): string => `"[^"\\\\]*${possessive}(?:\\\\.[^"\\\\]*${possessive})*${possessive}"|[^"]+|"`;
/** A number or literal between two texts. */
export const JSON_WORD = '[^ \\t\\r\\n,:{}\\[\\]]+';
export const JSON_WORDS = '^(?:-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)\\z';
/** A name without quotes. */
export const JSON_BARE_NAME = '[^ \\t\\r\\n,:{}\\[\\]][ \\t\\r\\n]*:';
