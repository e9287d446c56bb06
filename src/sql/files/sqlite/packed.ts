/**
 * The rows of a table by hundreds: SQLite makes one JSON text of them, which costs a third of a JavaScript value for each cell.
 *
 * What JSON does not have as the cells are written otherwise (a BLOB among texts, a real with many digits, a very long row) makes the
 * statement fail: as an element of an array, JSON refuses a BLOB. Then these rows are read one by one. Both see the state of one transaction.
 */
import type { TableScan } from '../../database.ts';
import type { CellWriter } from '../cells.ts';
import type { Cursor } from '../engine.ts';
import { quoted } from './catalogue.ts';
import type { SqliteCursor } from './cursor.ts';

/** The part of a prepared statement that is used. */
interface Prepared {
  get(...parameters: readonly bigint[]): unknown;
}

export interface PackedQueries {
  readonly prepare: (sql: string) => Prepared;
  /** The rows of a query in the ordinary way. */
  readonly rows: (sql: string, parameters: readonly bigint[]) => SqliteCursor;
}

/** Rows of one text, and the characters of one of them: so a text has at most 8 MB. */
const ROWS = 512;
const ROW_CHARACTERS = 4096;

/** After so many attempts, more failed than not, no other is made. */
const ATTEMPTS = 8;

const LEAST_ROWID = -(2n ** 63n);
const GREATEST_ROWID = 2n ** 63n - 1n;

const ROWIDS: readonly string[] = ['rowid', '_rowid_', 'oid'];

/** JSON has no BLOB. */
const REFUSED = "x''";

/**
 * @param names all columns of the table
 * @param expected the storage classes that each column of the scan expects
 * @returns undefined: the table cannot be read so
 */
export function packedCursor(
  queries: PackedQueries,
  table: TableScan,
  names: readonly string[],
  expected: readonly string[],
): Cursor | undefined {
  const taken = new Set(names.map((name) => name.toLowerCase()));
  const rowid = ROWIDS.find((name) => !taken.has(name));
  if (rowid === undefined) return undefined;
  const columns = table.columns.map(quoted);
  const cells = columns.map((column, i) => cellOf(column, expected[i] as string));
  const from = `FROM ${quoted(table.name)} WHERE ${rowid} >= ? ORDER BY ${rowid} LIMIT ${ROWS}`;
  try {
    const packed = queries.prepare(
      `SELECT max(id), count(*), group_concat(iif(length(cells) > ${ROW_CHARACTERS}, json_array(${REFUSED}), cells))
        FROM (SELECT ${rowid} AS id, json_array(${cells.join(', ')}) AS cells ${from})`,
    );
    const last = queries.prepare(`SELECT max(id) FROM (SELECT ${rowid} AS id ${from})`);
    const single = `SELECT ${columns.join(', ')} FROM ${quoted(table.name)} WHERE ${rowid} BETWEEN ? AND ? ORDER BY ${rowid}`;
    const millionths = expected.flatMap((classes, i) => (classes.includes('r') ? [i] : []));
    return new PackedCursor(packed, last, (first, end) => queries.rows(single, [first, end]), millionths);
  } catch {
    // Too many columns for a function, or a version without one of the functions.
    return undefined;
  }
}

/**
 * A cell as an element of a JSON array: a text, null, the digits of an integer, or of a real the number of millionths.
 *
 * **Claim.** If a whole number below 10^15 gives the real when it is divided by 10^6, its digits are those of the real's shortest text.
 *
 * **Why.** As for hundredths (`CellWriter.addHundredths`): it is a decimal of at most fifteen digits, and two different ones are read as different
 * doubles. JavaScript writes an exponent below 10^-6 and from 10^21 on. SQLite divides doubles as JavaScript does.
 */
function cellOf(column: string, expected: string): string {
  const has = (storage: string): boolean => expected.includes(storage);
  const count = `CAST(${column} * 1000000.0 + iif(${column} < 0, -0.5, 0.5) AS INTEGER)`;
  const cases = [
    has('t') ? `WHEN 'text' THEN ${column}` : '',
    // Beside reals an integer is a text, as a number would be millionths.
    has('i') ? `WHEN 'integer' THEN ${has('r') ? `CAST(${column} AS TEXT)` : column}` : '',
    has('r') ? `WHEN 'real' THEN iif(${column} > -1e9 AND ${column} < 1e9 AND ${count} / 1000000.0 = ${column}, ${count}, ${REFUSED})` : '',
    has('b') ? `WHEN 'blob' THEN hex(${column})` : '',
  ];
  return `CASE typeof(${column}) ${cases.filter((one) => one !== '').join(' ')} WHEN 'null' THEN NULL ELSE ${REFUSED} END`;
}

class PackedCursor implements Cursor {
  readonly #packed: Prepared;
  readonly #last: Prepared;
  readonly #rows: (first: bigint, end: bigint) => SqliteCursor;
  /** Columns whose numbers are millionths. */
  readonly #millionths: readonly number[];
  /** The least rowid that has not been read. */
  #next = LEAST_ROWID;
  /** Rows that are read one by one. */
  #single: SqliteCursor | undefined;
  #failed = 0;
  #attempts = 0;

  constructor(packed: Prepared, last: Prepared, rows: (first: bigint, end: bigint) => SqliteCursor, millionths: readonly number[]) {
    this.#packed = packed;
    this.#last = last;
    this.#rows = rows;
    this.#millionths = millionths;
  }

  fill(batch: CellWriter): boolean {
    while (this.#single === undefined && !batch.full) {
      if (this.#next > GREATEST_ROWID) return true;
      const found = this.#read();
      // In a separate batch.
      if (found === undefined && batch.rows > 0) return false;
      if (found === undefined) this.#single = this.#unpacked();
      else if (found.rows === 0) return true;
      else {
        batch.addPackedRows(found.rows, found.text, this.#millionths);
        this.#next = found.end + 1n;
      }
    }
    if (this.#single?.fill(batch) === true) this.#single = undefined;
    return this.#single === undefined && this.#next > GREATEST_ROWID;
  }

  close(): void {
    this.#single?.close();
  }

  /** @returns undefined: these rows cannot be packed */
  #read(): { readonly end: bigint; readonly rows: number; readonly text: string } | undefined {
    if (this.#attempts >= ATTEMPTS && this.#failed * 2 > this.#attempts) return undefined;
    this.#attempts++;
    try {
      const [end, rows, text] = this.#packed.get(this.#next) as [bigint | null, bigint, string | null];
      // A text that begins with NUL has a mark.
      if (text?.includes('"\\u0000') !== true) return { end: end ?? GREATEST_ROWID, rows: Number(rows), text: text ?? '' };
    } catch {
      // If the file cannot be read, reading row by row says so.
    }
    this.#failed++;
    return undefined;
  }

  /** The next rows one by one: as many as one text would have, or all that are left. */
  #unpacked(): SqliteCursor {
    const first = this.#next;
    const isLast = this.#attempts >= ATTEMPTS && this.#failed * 2 > this.#attempts;
    const [found] = isLast ? [null] : (this.#last.get(first) as [bigint | null]);
    const end = found ?? GREATEST_ROWID;
    this.#next = end + 1n;
    return this.#rows(first, end);
  }
}
