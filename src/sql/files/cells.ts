/**
 * Batches of rows as bytes, on their way from the host process to the session.
 *
 * A batch has the byte length of each cell as a 32-bit number, -1 for null, row by row, and then the UTF-8 of all texts.
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

  get full(): boolean {
    return this.rows >= BATCH_ROWS || this.#size >= BATCH_BYTES;
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
  parts(): readonly [lengths: Buffer, texts: Buffer] {
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

/** A copy where the bytes do not begin at a multiple of four. */
function lengthsOf({ buffer, byteOffset }: Buffer, count: number): Int32Array {
  return byteOffset % 4 === 0
    ? new Int32Array(buffer, byteOffset, count)
    : new Int32Array(buffer.slice(byteOffset, byteOffset + count * 4));
}
