/**
 * Batches of rows as bytes, on their way from the host process to the session.
 *
 * A batch has the byte length of each cell as a 32-bit number, -1 for null, row by row, and then the UTF-8 of all texts.
 */

/** The longest text that is sliced from the text of the batch: V8 copies texts up to this length, and lets longer ones keep the whole batch in memory. */
const COPIED = 12;

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

  /** Adds a row. */
  add(row: readonly (string | null)[]): void {
    for (let i = 0; i < row.length; i++) {
      const cell = row[i] as string | null;
      this.#length(cell === null ? -1 : this.#write(cell));
    }
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

/** The rows of a batch. Texts are one-byte UTF-8. */
export function readCells(bytes: Buffer, columns: number, rows: number): (string | null)[][] {
  let at = columns * rows * 4;
  let length = 0;
  const all = bytes.toString('latin1', at);
  const start = at;
  const result: (string | null)[][] = [];
  for (let row = 0; row < rows; row++) {
    const cells: (string | null)[] = [];
    for (let column = 0; column < columns; column++) {
      const size = bytes.readInt32LE(length);
      length += 4;
      if (size < 0) {
        cells.push(null);
        continue;
      }
      cells.push(size <= COPIED ? all.slice(at - start, at - start + size) : bytes.toString('latin1', at, at + size));
      at += size;
    }
    result.push(cells);
  }
  return result;
}
