/**
 * How rows and cells of delimited text are written: the options that mappings and the command line may set, and that the CSV reader
 * honours.
 */

import type { CsvFormat } from './csv-format.ts';

/** Absent fields have their default values. @see https://www.w3.org/TR/tabular-metadata/#dialect-descriptions */
export interface CsvDialect {
  /** One ASCII character. undefined: a comma, or the delimiter that the file extension implies. */
  readonly delimiter?: string;
  /** One ASCII character. null: no quoting. undefined: see `quoteIn`. */
  readonly quoteChar?: string | null;
  /** false: a backslash escapes the next character, inside and outside of quotes. */
  readonly doubleQuote?: boolean;
  /** Prefix of comment lines. null, the default: there are no comments. */
  readonly commentPrefix?: string | null;
  /** Default 1. A column's name is the first non-empty text in these rows. 0: columns are named `1`, `2`, … or `_col.1`, `_col.2`, … */
  readonly headerRows?: number;
  /** Rows to skip before the header. */
  readonly skipRows?: number;
  /** The ends of a cell from which white space is removed. */
  readonly trim?: CsvTrim;
  /** undefined: empty lines are skipped. true: rows of empty cells are skipped as well. false: nothing is skipped. */
  readonly skipBlankRows?: boolean;
  /** Columns to skip at the beginning of each row. */
  readonly skipColumns?: number;
  /** What CSVW says of columns, in their order. Those of a file with a header are found by their titles. */
  readonly columns?: readonly CsvColumn[];
}

/** A column as CSVW describes it. */
export interface CsvColumn {
  /** What references may call it besides its titles. */
  readonly name?: string;
  /** Texts that its header may have, the name among them. */
  readonly titles: readonly string[];
  /** Texts that mean null in this column, in place of those of the source. */
  readonly nulls?: readonly string[];
  /** The value of empty cells. */
  readonly default?: string;
  /** IRI of the natural datatype. undefined: plain texts. */
  readonly datatype?: string;
  /** How values of the datatype are written. undefined: as XML Schema writes them. */
  readonly format?: CsvFormat;
  /** Between the values of a cell. undefined: a cell has one value. */
  readonly separator?: string;
}

export type CsvTrim = 'none' | 'start' | 'end' | 'both';

export const DEFAULT_DELIMITER = ',';
export const DEFAULT_QUOTE = '"';

/** Parses a delimiter as a person writes it: one ASCII character, or `\t` for a tab. undefined: not a delimiter. */
export function delimiterOf(text: string): string | undefined {
  const delimiter = text === '\\t' ? '\t' : text;
  return isOneCharacter(delimiter) && delimiter !== '\\' ? delimiter : undefined;
}

/** Parses a quote character as a person writes it; null for an empty text (no quoting). undefined: not a quote character. */
export function quoteOf(text: string): string | null | undefined {
  if (text === '') return null;
  return isOneCharacter(text) && text !== '\\' ? text : undefined;
}

const isOneCharacter = (text: string): boolean => /^[\t\x20-\x7e]$/.test(text);

/**
 * The quote of a dialect; null: none.
 *
 * Tab-separated text has no quotes unless they are declared: its media type knows none, and a quote at the beginning of a cell would swallow rows.
 *
 * @see https://www.iana.org/assignments/media-types/text/tab-separated-values
 */
export const quoteIn = ({ delimiter, quoteChar = hasTabs(delimiter) ? null : DEFAULT_QUOTE }: CsvDialect): string | null => quoteChar;

/** A quote that others read in text of a dialect, and that is a character here because the dialect declares none. */
export const undeclaredQuote = (dialect: CsvDialect): string | undefined =>
  dialect.quoteChar === undefined && quoteIn(dialect) === null ? DEFAULT_QUOTE : undefined;

const hasTabs = (delimiter = DEFAULT_DELIMITER): boolean => delimiterOf(delimiter) === '\t';

/** What makes a dialect ambiguous, as a message; undefined: nothing. */
export function contradictionIn(dialect: CsvDialect): string | undefined {
  const { delimiter = DEFAULT_DELIMITER, commentPrefix } = dialect;
  const quoteChar = quoteIn(dialect);
  const written = JSON.stringify(delimiter);
  if (delimiter === quoteChar) return `${written} is the delimiter and the quote`;
  if (commentPrefix?.startsWith(delimiter)) return `comments begin with ${JSON.stringify(commentPrefix)}, and ${written} is the delimiter`;
  if (quoteChar !== null && commentPrefix?.startsWith(quoteChar))
    return `comments begin with ${JSON.stringify(commentPrefix)}, and ${JSON.stringify(quoteChar)} is the quote`;
  return undefined;
}
