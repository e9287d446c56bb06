/** The rows of a query as CSV with a header row. @see https://www.rfc-editor.org/rfc/rfc4180 */
import { toBytes } from '../../core/text.ts';
import type { Column } from '../database.ts';
import { distinctLabels, type ResultWriter, textOf } from './result.ts';

/** NULL is an empty field, and an empty text is `""`. Arrays are in the server's form. */
export function csvResult(columns: readonly Column[]): ResultWriter {
  const fieldOf = (cell: string | null, column: Column): string =>
    cell === null ? '' : quoted(column.elements === undefined ? textOf(column, cell) : cell);
  return {
    head: `${distinctLabels(columns)
      .map((label) => quoted(toBytes(label)))
      .join(',')}\r\n`,
    row: (cells) => `${columns.map((column, i) => fieldOf(cells[i] ?? null, column)).join(',')}\r\n`,
    end: () => '',
  };
}

const NEEDS_QUOTES = /^$|[",\r\n]/;

const quoted = (text: string): string => (NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
