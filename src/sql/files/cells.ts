/**
 * Batches of rows as bytes, on their way from the host process to the session.
 *
 * A batch has the byte length of each cell as a 32-bit number, -1 for null, row by row, and then the UTF-8 of all texts. Or it is packed: JSON
 * arrays with commas between them, one for each row, of texts, null and whole numbers.
 */

const BATCH_ROWS = 2048;
const BATCH_BYTES = 2 ** 20;

/** Up to this length a text of ASCII is written faster character by character than by a call of native code. */
const SHORT = 64;

/** Collects the cells of a batch. */
export class CellWriter {
  #lengths = new Int32Array(BATCH_ROWS * 8);
  #cells = 0;
  #text = Buffer.allocUnsafe(BATCH_BYTES + 2 ** 17);
  #size = 0;
  rows = 0;
  /** Of a packed batch: the columns whose numbers are millionths. Others are written with their digits. */
  millionths: readonly number[] | undefined;
  readonly #packed: string[] = [];
  #packedLength = 0;

  get full(): boolean {
    return this.rows >= BATCH_ROWS || this.#size >= BATCH_BYTES || this.#packedLength >= BATCH_BYTES;
  }

  /** Adds rows to a packed batch, which has no others. */
  addPackedRows(rows: number, arrays: string, millionths: readonly number[]): void {
    this.#packed.push(arrays);
    this.#packedLength += arrays.length;
    this.rows += rows;
    this.millionths = millionths;
  }

  /** Adds a cell to the row, behind those before it. */
  add(cell: string | null): void {
    this.#length(cell === null ? -1 : this.#write(cell));
  }

  /** Adds a cell with the text of a number: its digits are written where they go, and no text is made. @param value a safe integer */
  addInteger(value: number): void {
    if (value < 0 || value >= 2 ** 31) {
      this.#length(this.#write(String(value)));
      return;
    }
    this.#length(this.#digits(value));
  }

  /**
   * Adds a cell with the text of a number with at most two decimals, as `String` has it.
   *
   * **Claim.** If a whole number of hundredths below 2^31 gives `value` when it is divided by 100, its digits are those of `String(value)`.
   *
   * **Why.** Both are decimals of at most fifteen digits that are read as `value`. Two different decimals of at most fifteen digits are read
   * as different doubles, so they are one number, and neither has zeros at its end.
   *
   * @returns false: it has more decimals, or is large or negative, and nothing was added
   */
  addHundredths(value: number): boolean {
    const hundredths = Math.round(value * 100);
    if (!(hundredths >= 0 && hundredths < 2 ** 31) || hundredths / 100 !== value) return false;
    const whole = (hundredths / 100) | 0;
    const fraction = hundredths - whole * 100;
    let size = this.#digits(whole);
    if (fraction > 0) {
      if (this.#text.length - this.#size < 3) this.#grow(3);
      const tenth = (fraction / 10) | 0;
      const last = fraction - tenth * 10;
      this.#text[this.#size++] = 46;
      this.#text[this.#size++] = 48 + tenth;
      if (last > 0) this.#text[this.#size++] = 48 + last;
      size += last > 0 ? 3 : 2;
    }
    this.#length(size);
    return true;
  }

  /** The row is complete. */
  endRow(): void {
    this.rows++;
  }

  /**
   * Adds a row.
   *
   * @param lengths of the UTF-8 of each text, -1 for null
   * @param texts all of them, one behind the other
   */
  addPacked(lengths: readonly number[], texts: string): void {
    for (let i = 0; i < lengths.length; i++) this.#length(lengths[i] as number);
    this.#write(texts);
    this.rows++;
  }

  /** The parts of the batch, in order. They are valid until the writer is used again. */
  parts(): readonly Buffer[] {
    if (this.millionths !== undefined) return [Buffer.from(this.#packed.join(','), 'utf8')];
    return [Buffer.from(this.#lengths.buffer, 0, this.#cells * 4), this.#text.subarray(0, this.#size)];
  }

  /** @param value below 2^31 @returns the number of its digits */
  #digits(value: number): number {
    if (this.#text.length - this.#size < 10) this.#grow(10);
    const bytes = this.#text;
    let digits = 1;
    for (let rest = value; rest >= 10; rest = (rest / 10) | 0) digits++;
    for (let at = this.#size + digits - 1, rest = value; at >= this.#size; at--) {
      const tenth = (rest / 10) | 0;
      bytes[at] = 48 + rest - tenth * 10;
      rest = tenth;
    }
    this.#size += digits;
    return digits;
  }

  #length(bytes: number): void {
    if (this.#cells === this.#lengths.length) {
      const longer = new Int32Array(this.#cells * 2);
      longer.set(this.#lengths);
      this.#lengths = longer;
    }
    this.#lengths[this.#cells++] = bytes;
  }

  /** @returns the bytes of the text */
  #write(text: string): number {
    const { length } = text;
    const start = this.#size;
    if (this.#text.length - start < length * 3) this.#grow(length * 3);
    const bytes = this.#text;
    let i = 0;
    if (length <= SHORT) {
      for (; i < length; i++) {
        const character = text.charCodeAt(i);
        if (character > 0x7f) break;
        bytes[start + i] = character;
      }
    }
    const size = i === length ? length : bytes.write(text, start, 'utf8');
    this.#size = start + size;
    return size;
  }

  #grow(more: number): void {
    const longer = Buffer.allocUnsafe(Math.max(this.#text.length * 2, this.#size + more));
    this.#text.copy(longer, 0, 0, this.#size);
    this.#text = longer;
  }
}

/**
 * The rows of a batch. Texts are one-byte UTF-8, and cut from the text of the batch, which costs half of what it costs to make each from
 * bytes: who keeps one longer than its batch takes a copy (`detach`), as of the texts of CSV.
 */
export function readCells(bytes: Buffer, columns: number, rows: number): (string | null)[][] {
  const all = bytes.toString('latin1', columns * rows * 4);
  const lengths = lengthsOf(bytes, columns * rows);
  const result: (string | null)[][] = new Array(rows);
  let at = 0;
  for (let row = 0, cell = 0; row < rows; row++) {
    const cells: (string | null)[] = new Array(columns);
    for (let column = 0; column < columns; column++) {
      const size = lengths[cell++] as number;
      if (size < 0) cells[column] = null;
      else {
        cells[column] = all.slice(at, at + size);
        at += size;
      }
    }
    result[row] = cells;
  }
  return result;
}

/** Characters of JSON. */
const QUOTE = 0x22;
const COMMA = 0x2c;
const END = 0x5d;
const NULL = 0x6e;

/** The rows of a packed batch, as those of `readCells`. */
export function readPackedRows(bytes: Buffer, columns: number, rows: number, millionths: readonly number[]): (string | null)[][] {
  const all = bytes.toString('latin1');
  const hasMillionths = Array.from({ length: columns }, (_, i) => millionths.includes(i));
  const result: (string | null)[][] = new Array(rows);
  let escape = placeOf(all, '\\', 0);
  let at = 0;
  for (let row = 0; row < rows; row++) {
    const cells: (string | null)[] = new Array(columns);
    for (let column = 0; column < columns; column++) {
      // Behind the bracket or the comma.
      at++;
      const first = all.charCodeAt(at);
      let end: number;
      if (first === QUOTE) {
        end = all.indexOf('"', at + 1);
        if (escape < end) {
          end = endOfText(all, at + 1);
          cells[column] = JSON.parse(all.slice(at, end + 1)) as string;
          escape = placeOf(all, '\\', end);
        } else cells[column] = all.slice(at + 1, end);
        end++;
      } else if (first === NULL) {
        cells[column] = null;
        end = at + 4;
      } else {
        end = at + 1;
        for (let next = all.charCodeAt(end); next !== COMMA && next !== END; next = all.charCodeAt(end)) end++;
        const digits = all.slice(at, end);
        cells[column] = hasMillionths[column] === true ? decimal(digits) : digits;
      }
      at = end;
    }
    // Behind the closing bracket and the comma.
    at += 2;
    result[row] = cells;
  }
  return result;
}

function placeOf(text: string, part: string, from: number): number {
  const found = text.indexOf(part, from);
  return found < 0 ? text.length : found;
}

/** The place of the quote that ends a text of JSON. @param from behind the quote that begins it */
function endOfText(text: string, from: number): number {
  let at = from;
  for (let next = text.charCodeAt(at); next !== QUOTE; next = text.charCodeAt(at)) at += next === 0x5c ? 2 : 1;
  return at;
}

/** A number of millionths, as `String` writes the number. */
function decimal(millionths: string): string {
  const sign = millionths.charCodeAt(0) === 0x2d ? '-' : '';
  const digits = millionths.slice(sign.length).padStart(7, '0');
  const whole = digits.slice(0, -6);
  let end = digits.length;
  while (end > whole.length && digits.charCodeAt(end - 1) === 0x30) end--;
  return end === whole.length ? sign + whole : `${sign}${whole}.${digits.slice(whole.length, end)}`;
}

/** A copy where the bytes do not begin at a multiple of four. */
function lengthsOf({ buffer, byteOffset }: Buffer, count: number): Int32Array {
  return byteOffset % 4 === 0
    ? new Int32Array(buffer, byteOffset, count)
    : new Int32Array(buffer.slice(byteOffset, byteOffset + count * 4));
}
