/** How rows and cells of delimited text are written: what mappings and the command line may say, and the CSV reader honours. */

/** What is left out has its usual value. @see https://www.w3.org/TR/tabular-metadata/#dialect-descriptions */
export interface CsvDialect {
  /** One ASCII character; undefined: a comma, or what the name of the file says. */
  readonly delimiter?: string;
  /** One ASCII character, by default `"`. null: there are no quotes. */
  readonly quoteChar?: string | null;
  /** false: a backslash before a character makes it text, within quotes and without. */
  readonly doubleQuote?: boolean;
  /** What a line begins with that is no row. null, and by default: there are no comments. */
  readonly commentPrefix?: string | null;
  /** By default 1; columns have the first text that one of these rows has for them. 0: they are named `1`, `2`, … or `_col.1`, `_col.2`, … */
  readonly headerRows?: number;
  /** Rows before the header, whatever is in them. */
  readonly skipRows?: number;
  /** Which ends of a cell lose their white space. */
  readonly trim?: CsvTrim;
  /** undefined: lines without any character are no rows; true: nor are rows of empty cells; false: both are. */
  readonly skipBlankRows?: boolean;
}

export type CsvTrim = 'none' | 'start' | 'end' | 'both';

export const DEFAULT_DELIMITER = ',';
export const DEFAULT_QUOTE = '"';

/** The delimiter that a person has written: one ASCII character, a tab also as `\t`; undefined: it is none. */
export function delimiterOf(text: string): string | undefined {
  const delimiter = text === '\\t' ? '\t' : text;
  return isOneCharacter(delimiter) && delimiter !== '\\' ? delimiter : undefined;
}

/** The quote that a person has written, null for an empty text (no quotes); undefined: it is none. */
export function quoteOf(text: string): string | null | undefined {
  if (text === '') return null;
  return isOneCharacter(text) && text !== '\\' ? text : undefined;
}

const isOneCharacter = (text: string): boolean => /^[\t\x20-\x7e]$/.test(text);

/** What makes a dialect ambiguous, in words; undefined: nothing. */
export function contradictionIn({
  delimiter = DEFAULT_DELIMITER,
  quoteChar = DEFAULT_QUOTE,
  commentPrefix,
}: CsvDialect): string | undefined {
  const written = JSON.stringify(delimiter);
  if (delimiter === quoteChar) return `${written} is the delimiter and the quote`;
  if (commentPrefix?.startsWith(delimiter)) return `comments begin with ${JSON.stringify(commentPrefix)}, and ${written} is the delimiter`;
  if (quoteChar !== null && commentPrefix?.startsWith(quoteChar))
    return `comments begin with ${JSON.stringify(commentPrefix)}, and ${JSON.stringify(quoteChar)} is the quote`;
  return undefined;
}
