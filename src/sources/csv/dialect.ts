/** The dialect of a document, checked and as bytes. */
import { Fault } from '../../core/fault.ts';
import { contradictionIn, DEFAULT_DELIMITER, DEFAULT_QUOTE, delimiterOf, quoteOf } from '../../core/input/csv-dialect.ts';
import { toBytes } from '../../core/text.ts';
import type { ReadOptions } from '../source.ts';

const BACKSLASH = 92;

export interface ByteDialect {
  readonly delimiter: number;
  readonly quote: number;
  readonly doubleQuote: boolean;
  readonly escape: number;
  /** One-byte text; empty: there are no comments. */
  readonly comment: string;
  readonly trimStart: boolean;
  readonly trimEnd: boolean;
  readonly skipBlankRows: boolean | undefined;
}

export function byteDialect({ csv: dialect = {}, name }: Pick<ReadOptions, 'csv' | 'name'>): ByteDialect {
  const problem = contradictionIn(dialect);
  if (problem !== undefined) throw new Fault('mapping/invalid', `Rows of ${name} cannot be told: ${problem}`);
  const quote = dialect.quoteChar === null ? null : checked(quoteOf, dialect.quoteChar ?? DEFAULT_QUOTE, 'quote');
  const doubleQuote = dialect.doubleQuote ?? true;
  return {
    delimiter: checked(delimiterOf, dialect.delimiter ?? DEFAULT_DELIMITER, 'delimiter').charCodeAt(0),
    quote: quote === null ? -1 : quote.charCodeAt(0),
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
