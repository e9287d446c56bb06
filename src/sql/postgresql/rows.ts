/** The text format of COPY: tabs between fields, a line feed after each row, `\N` for null, backslash escapes. */
import { isUtf8 } from 'node:buffer';
import { Fault } from '../../core/fault.ts';

const TAB = 9;
const LF = 10;
const BACKSLASH = 92;

export type Row = readonly (string | null)[];

/**
 * The rows in one-byte text that ends at the end of a row.
 *
 * @param columns number of columns; a row without columns is an empty line, like a row with one empty text
 * @see https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9.2
 */
export function splitRows(text: string, columns: number): Row[] {
  const rows: Row[] = [];
  const end = text.length;
  let at = 0;
  while (at < end) {
    const row = new Array<string | null>(columns);
    let column = 0;
    let start = at;
    let escaped = false;
    for (; at < end; at++) {
      const c = text.charCodeAt(at);
      if (c > BACKSLASH) continue;
      if (c === TAB || c === LF) {
        row[column++] = escaped ? unescape(text, start, at) : text.slice(start, at);
        start = at + 1;
        escaped = false;
        if (c === LF) break;
      } else if (c === BACKSLASH) escaped = true;
    }
    at++;
    if (columns === 0) row.length = 0;
    rows.push(row);
  }
  return rows;
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function unescape(text: string, start: number, end: number): string | null {
  if (end - start === 2 && text[start] === '\\' && text[start + 1] === 'N') return null;
  let plain = '';
  let from = start;
  let at = text.indexOf('\\', start);
  while (at !== -1 && at < end) {
    const character = text[at + 1] as string;
    // Before any other character, a backslash is dropped.
    plain += text.slice(from, at) + (ESCAPES[character] ?? character);
    from = at + 2;
    at = text.indexOf('\\', from);
  }
  return plain + text.slice(from, end);
}

/**
 * A server with the encoding SQL_ASCII sends any bytes that it was given.
 *
 * @param first 0-based position of the first row
 * @throws Fault source/encoding — with the row and the column
 */
export function checkUtf8(bytes: Buffer, columns: number, first: number, input: string): void {
  if (isUtf8(bytes)) return;
  const rows = splitRows(bytes.toString('latin1'), columns);
  const isInvalid = (text: string | null): boolean => text !== null && !isUtf8(Buffer.from(text, 'latin1'));
  const row = rows.findIndex((texts) => texts.some(isInvalid));
  const column = rows[row]?.findIndex(isInvalid) ?? -1;
  const text = rows[row]?.[column] ?? '';
  throw new Fault('source/encoding', `Column ${column + 1} of the result has a text that is not UTF-8`, {
    place: { input, record: first + row, value: JSON.stringify(Buffer.from(text, 'latin1').toString('utf8').slice(0, 80)) },
    hint:
      "The database's encoding is SQL_ASCII, which keeps any bytes. In a query, convert_from(convert(convert_to(name, 'SQL_ASCII'), " +
      "'LATIN1', 'UTF8'), 'SQL_ASCII') reads those of a column name that are LATIN1",
  });
}
