/**
 * Reads delimited text as records, in file order: a byte scanner that cuts only the cells that the plan asks for.
 *
 * A record is an array of cells by slot: `null` where the row has no such cell (or, in the legacy dialect, an empty
 * unquoted one). The first row is the header unless the dialect says otherwise (then columns are named `1`, `2`, …).
 * Rows end at LF, CRLF or CR; rows without any character are skipped. A quote inside an unquoted cell is a character.
 * Memory: one chunk, one batch and one partial row.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4180 and https://www.w3.org/TR/tabular-data-model/#parsing
 */
import { Fault } from '../fault.ts';
import { nearest } from '../nearest.ts';
import { fromBytes, toBytes } from '../text.ts';
import type { Reader } from '../value.ts';
import { toUtf8 } from './encoding.ts';
import type { Batch, CsvDialect, IterationRequest, OpenScan, Reading, Scan } from './source.ts';

type Row = (string | null)[];

const LF = 10;
const CR = 13;
const BATCH_ROWS = 512;

export const openCsv: OpenScan = async (bytes, iterations, reading) => {
  const scanner = new CsvScanner(toUtf8(bytes, reading.encoding, undefined, reading.name), reading);
  try {
    await scanner.readHeader();
  } catch (error) {
    await scanner.close();
    throw error;
  }
  return new CsvScan(scanner, iterations, reading);
};

/**
 * The bytes that the header takes, with all that stands before it but a byte order mark: records begin there.
 *
 * @throws Fault as `openCsv`
 */
export async function csvHeadBytes(bytes: AsyncIterable<Uint8Array>, reading: Reading): Promise<number> {
  const scanner = new CsvScanner(toUtf8(bytes, reading.encoding, undefined, reading.name), reading);
  try {
    await scanner.readHeader();
    return scanner.byte;
  } finally {
    await scanner.close();
  }
}

class CsvScan implements Scan {
  readonly #scanner: CsvScanner;
  readonly #iterations: readonly IterationRequest[];
  readonly #reading: Reading;

  constructor(scanner: CsvScanner, iterations: readonly IterationRequest[], reading: Reading) {
    this.#scanner = scanner;
    this.#iterations = iterations;
    this.#reading = reading;
  }

  reader(iteration: number, reference: string): Reader {
    const name = toBytes(reference);
    const header = this.#scanner.header;
    const column = header.indexOf(name);
    const origin = this.#iterations[iteration]?.origin;
    const place = { input: this.#reading.name, expression: reference, ...(origin === undefined ? {} : { mapping: origin }) };
    if (column < 0) {
      const names = header.map(fromBytes);
      const near = nearest(reference, names);
      throw new Fault('mapping/reference', `There is no column ${JSON.stringify(reference)}`, {
        place,
        hint:
          near.length > 0
            ? `Did you mean ${near.map((n) => JSON.stringify(n)).join(' or ')}?`
            : `The columns are ${names.map((n) => JSON.stringify(n)).join(', ')}.`,
      });
    }
    if (header.indexOf(name, column + 1) >= 0) {
      throw new Fault('mapping/reference', `The header names the column ${JSON.stringify(reference)} twice`, {
        place,
        hint: 'Rename one of them in the file.',
      });
    }
    const slot = this.#scanner.slot(column);
    const nulls = new Set(this.#reading.nulls.map(toBytes));
    if (nulls.size === 0) return (record) => (record as Row)[slot] as string | null;
    return (record) => {
      const cell = (record as Row)[slot] as string | null;
      return cell === null || nulls.has(cell) ? null : cell;
    };
  }

  async *batches(signal: AbortSignal): AsyncIterable<Batch> {
    const scanner = this.#scanner;
    let first = 0;
    try {
      while (true) {
        const records = scanner.takeRows(BATCH_ROWS);
        if (records.length > 0) {
          for (let iteration = 0; iteration < this.#iterations.length; iteration++)
            yield { iteration, records, first, bytes: scanner.bytesRead };
          first += records.length;
        } else if (!(await scanner.fill())) return;
        if (signal.aborted) throw new Fault('run/cancelled', 'The run was cancelled');
      }
    } finally {
      await scanner.close();
    }
  }

  warnings(): readonly string[] {
    const { longRows, firstLongRow, header } = this.#scanner;
    if (longRows === 0) return [];
    const rows = longRows === 1 ? 'A row has' : `${longRows} rows have`;
    return [
      `${rows} more cells than the header names (${header.length}); what is beyond was not read. Often a cell with a delimiter lacks its quotes (input ${this.#reading.name}, record ${firstLongRow})`,
    ];
  }

  /** A column that is not in the header is a fault of `reader` already. */
  unmatched(): readonly string[] {
    return [];
  }
}

/** The slots of a row of which every column is wanted, as many as a row may have. Nobody writes to it. */
const EVERY_COLUMN: Int32Array = Int32Array.from({ length: 65_536 }, (_, column) => column);

class CsvScanner {
  header: readonly string[] = [];
  bytesRead = 0;
  /** Rows with text beyond the last column of the header, and the position of the first. */
  longRows = 0;
  firstLongRow = 0;

  readonly #input: AsyncIterator<Uint8Array>;
  readonly #reading: Reading;
  readonly #delimiter: number;
  readonly #quote: number;
  readonly #doubleQuote: boolean;
  readonly #comment: number;
  readonly #trim: boolean;
  readonly #emptyIsNull: boolean;
  #buffer: Buffer = Buffer.alloc(0);
  #text = '';
  #at = 0;
  #ended = false;
  /** Row and line of the row at `#at`, for messages; lines are counted only when a message needs them. */
  #row = 0;
  #linesBefore = 1;
  #countedTo = 0;
  /** By column: the slot of its cell in a record, or -1. */
  #slots: Int32Array = new Int32Array(0);
  #blank: Row = [];

  constructor(bytes: AsyncIterable<Uint8Array>, reading: Reading) {
    const dialect: CsvDialect = reading.csv ?? {};
    this.#input = bytes[Symbol.asyncIterator]();
    this.#reading = reading;
    this.#delimiter = oneByte(dialect.delimiter ?? ',', 'delimiter');
    this.#quote = dialect.quoteChar === null ? -1 : oneByte(dialect.quoteChar ?? '"', 'quote character');
    this.#doubleQuote = dialect.doubleQuote ?? true;
    this.#comment = dialect.commentPrefix == null ? -1 : oneByte(dialect.commentPrefix, 'comment prefix');
    this.#trim = dialect.trim ?? false;
    this.#emptyIsNull = reading.dialect === 'legacy';
  }

  /** The record slot that holds `column`; ask for all columns before the first row is taken. */
  slot(column: number): number {
    const known = this.#slots[column] as number;
    if (known >= 0) return known;
    const slot = this.#blank.length;
    this.#slots[column] = slot;
    this.#blank.push(null);
    return slot;
  }

  async readHeader(): Promise<void> {
    const dialect: CsvDialect = this.#reading.csv ?? {};
    let skip = dialect.skipRows ?? 0;
    // For the header every column is wanted: the slots are the columns themselves.
    this.#slots = EVERY_COLUMN;
    let row: Row | undefined;
    let at = 0;
    while (true) {
      at = this.#at;
      row = this.takeRows(1)[0];
      if (row !== undefined) {
        if (skip-- > 0) continue;
        break;
      }
      if (!(await this.fill())) break;
    }
    if (row === undefined) {
      throw new Fault('source/malformed', 'The input is empty: a header row with the names of the columns was expected', {
        place: { input: this.#reading.name },
      });
    }
    if (dialect.header === false) {
      this.header = row.map((_, column) => String(column + 1));
      this.#at = at;
    } else this.header = row.map((cell) => cell ?? '');
    this.#row = 0;
    this.#slots = new Int32Array(this.header.length).fill(-1);
    this.#blank = [];
  }

  /** Reads on; false at the end of the input. A partial row stays in the buffer, so reads grow with it, up to the limit of a row, and stay linear. */
  async fill(): Promise<boolean> {
    if (this.#ended) return false;
    const rest = this.#buffer.subarray(this.#at);
    const limit = this.#reading.maxRecordBytes;
    if (rest.length > limit) throw this.#tooLong();
    const chunks: Uint8Array[] = [rest];
    let size = rest.length;
    const wanted = Math.min(rest.length * 2, limit) + 1;
    while (size < wanted && !this.#ended) {
      const next = await this.#input.next();
      if (next.done === true) this.#ended = true;
      else {
        chunks.push(next.value);
        size += next.value.length;
        this.bytesRead += next.value.length;
      }
    }
    this.#countLines(this.#at);
    this.#buffer = Buffer.concat(chunks, size);
    this.#text = this.#buffer.toString('latin1');
    this.#at = 0;
    this.#countedTo = 0;
    return true;
  }

  /** Where the next row begins, or empty lines before it; a byte order mark does not count. */
  get byte(): number {
    return this.#byteAt(this.#at);
  }

  async close(): Promise<void> {
    this.#ended = true;
    await this.#input.return?.();
  }

  /** Up to `limit` whole rows from the buffer; none when it holds only a partial row. */
  takeRows(limit: number): Row[] {
    const buffer = this.#buffer;
    const text = this.#text;
    const end = buffer.length;
    const delimiter = this.#delimiter;
    const quote = this.#quote;
    const slots = this.#slots;
    const width = slots.length;
    const longest = this.#reading.maxRecordBytes;
    const header = this.header.length === 0;
    const emptyCell = this.#emptyIsNull && !header ? null : '';
    const rows: Row[] = [];
    let at = this.#at;
    while (rows.length < limit && at < end) {
      const first = buffer[at] as number;
      if (first === LF || first === CR) {
        at++;
        this.#at = at;
        continue;
      }
      if (first === this.#comment) {
        const next = buffer.indexOf(LF, at);
        if (next < 0 && !this.#ended) break;
        at = next < 0 ? end : next + 1;
        this.#at = at;
        continue;
      }
      const row: Row = header ? [] : this.#blank.slice();
      let column = 0;
      let complete = false;
      let surplus = false;
      while (true) {
        const slot = column < width ? (slots[column] as number) : -1;
        let c = -1;
        if (at < end && buffer[at] === quote) {
          const close = this.#closingQuote(at + 1);
          if (close < 0) break;
          if (slot >= 0) row[slot] = this.#unquote(at + 1, close);
          else if (column >= width) surplus = true;
          at = close + 1;
          if (at < end) c = buffer[at] as number;
          if (c !== -1 && c !== delimiter && c !== LF && c !== CR) throw this.#malformedQuote(at, column);
        } else {
          const start = at;
          while (at < end) {
            c = buffer[at] as number;
            if (c === delimiter || c === LF || c === CR) break;
            at++;
          }
          if (at === end) c = -1;
          if (slot >= 0) row[slot] = at === start ? emptyCell : this.#trim ? text.slice(start, at).trim() : text.slice(start, at);
          else if (column >= width && at > start) surplus = true;
        }
        if (c === delimiter) {
          at++;
          column++;
          continue;
        }
        if (c === -1) {
          // The end of the buffer: the row is whole only if this is the end of the input.
          if (this.#ended) complete = true;
          break;
        }
        if (c === CR && at + 1 === end && !this.#ended) break;
        at += c === CR && buffer[at + 1] === LF ? 2 : 1;
        complete = true;
        break;
      }
      if (!complete) break;
      if (at - this.#at > longest) throw this.#tooLong();
      if (surplus) {
        if (this.longRows === 0) this.firstLongRow = this.#row;
        this.longRows++;
      }
      rows.push(row);
      this.#at = at;
      this.#row++;
    }
    return rows;
  }

  /** Position of the quote that closes the cell that begins at `from`, or -1 when the buffer ends before it. */
  #closingQuote(from: number): number {
    const buffer = this.#buffer;
    let at = from;
    while (true) {
      at = buffer.indexOf(this.#quote, at);
      if (at < 0 || (at + 1 === buffer.length && !this.#ended)) {
        if (!this.#ended) return -1;
        throw new Fault('source/malformed', 'A quoted cell is never closed', {
          place: { ...this.#place(), line: this.#lineAt(from), byte: this.#byteAt(from) },
          hint: 'Close the quote, or double a quote that belongs to the text.',
        });
      }
      if (this.#doubleQuote && buffer[at + 1] === this.#quote) at += 2;
      else return at;
    }
  }

  #unquote(from: number, to: number): string {
    const cell = this.#text.slice(from, to);
    const quote = String.fromCharCode(this.#quote);
    const plain = this.#doubleQuote && cell.includes(quote) ? cell.replaceAll(quote + quote, quote) : cell;
    return this.#trim ? plain.trim() : plain;
  }

  #tooLong(): Fault {
    return new Fault('limit/exceeded', `A row is longer than the ${this.#reading.maxRecordBytes} bytes that are allowed`, {
      place: { ...this.#place(), line: this.#lineAt(this.#at), byte: this.#byteAt(this.#at) },
      limit: 'MAX_RECORD_BYTES',
      hint: 'Look for a quote that is not closed, or raise MAX_RECORD_BYTES (--max-record-mb)',
    });
  }

  #malformedQuote(at: number, column: number): Fault {
    return new Fault('source/malformed', 'A quoted cell is followed by something other than a delimiter or the end of the row', {
      place: {
        ...this.#place(),
        line: this.#lineAt(at),
        byte: this.#byteAt(at),
        expression: fromBytes(this.header[column] ?? `column ${column + 1}`),
      },
      hint: 'Double a quote that belongs to the text.',
    });
  }

  #place() {
    return { input: this.#reading.name, ...(this.header.length === 0 ? {} : { record: this.#row }) };
  }

  #byteAt(at: number): number {
    return this.bytesRead - this.#buffer.length + at;
  }

  #lineAt(at: number): number {
    this.#countLines(at);
    return this.#linesBefore;
  }

  #countLines(to: number): void {
    for (let i = this.#buffer.indexOf(LF, this.#countedTo); i >= 0 && i < to; i = this.#buffer.indexOf(LF, i + 1)) this.#linesBefore++;
    this.#countedTo = Math.max(this.#countedTo, to);
  }
}

function oneByte(character: string, what: string): number {
  const code = character.charCodeAt(0);
  if (character.length !== 1 || code >= 0x80) {
    throw new Fault('mapping/invalid', `The ${what} ${JSON.stringify(character)} is not a single ASCII character`);
  }
  return code;
}
