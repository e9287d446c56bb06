/** Checks the dialect of a document and converts it to bytes for the scanner. */
import { Fault } from '../../core/fault.ts';
import { contradictionIn, DEFAULT_DELIMITER, delimiterOf, quoteIn, quoteOf, undeclaredQuote } from '../../core/input/csv-dialect.ts';
import { toBytes } from '../../core/text.ts';
import type { CsvOptions } from '../source.ts';

const BACKSLASH = 92;

/** A character is its code, −1 if the dialect has none. */
export interface ByteDialect {
  readonly delimiter: number;
  readonly quote: number;
  /** Of `undeclaredQuote`. */
  readonly undeclaredQuote: number;
  readonly doubleQuote: boolean;
  /** A backslash, unless quotes are doubled. */
  readonly escape: number;
  /** Prefix of comments as one-byte text. Empty: there are no comments. */
  readonly comment: string;
  readonly trimStart: boolean;
  readonly trimEnd: boolean;
  /** As in `CsvDialect`. */
  readonly skipBlankRows: boolean | undefined;
}

/** @throws Fault mapping/invalid — the dialect is ambiguous, or the delimiter or quote is not one ASCII character */
export function byteDialect({ csv: dialect = {}, name }: Pick<CsvOptions, 'csv' | 'name'>): ByteDialect {
  const problem = contradictionIn(dialect);
  if (problem !== undefined) throw new Fault('mapping/invalid', `Rows of ${name} cannot be told: ${problem}`);
  const declared = quoteIn(dialect);
  const quote = declared === null ? null : checked(quoteOf, declared, 'quote');
  const doubleQuote = dialect.doubleQuote ?? true;
  return {
    delimiter: checked(delimiterOf, dialect.delimiter ?? DEFAULT_DELIMITER, 'delimiter').charCodeAt(0),
    quote: quote?.charCodeAt(0) ?? -1,
    undeclaredQuote: undeclaredQuote(dialect)?.charCodeAt(0) ?? -1,
    doubleQuote,
    escape: doubleQuote ? -1 : BACKSLASH,
    comment: toBytes(dialect.commentPrefix ?? ''),
    trimStart: dialect.trim === 'both' || dialect.trim === 'start',
    trimEnd: dialect.trim === 'both' || dialect.trim === 'end',
    skipBlankRows: dialect.skipBlankRows,
  };
}

function checked<T>(read: (text: string) => T | undefined, text: string, what: string): T {
  const found = read(text);
  if (found === undefined) throw new Fault('mapping/invalid', `The ${what} ${JSON.stringify(text)} is not one ASCII character`);
  return found;
}
