/**
 * Batches of rows as bytes, on their way from the host process to the session.
 *
 * A batch has the byte length of each cell as a 32-bit number, -1 for null, row by row, and then the UTF-8 of all texts.
 */

import type { Batch } from './engine.ts';

/** The longest text that is sliced from the text of the batch: V8 copies texts up to this length, and lets longer ones keep the whole batch in memory. */
const COPIED = 12;

const BATCH_ROWS = 2048;
const BATCH_CHARACTERS = 2 ** 20;

/** Collects the cells of a batch. */
export class CellWriter implements Batch {
  readonly #lengths: number[] = [];
  readonly #texts: string[] = [];
  /** Characters so far. */
  size = 0;
  rows = 0;

  get full(): boolean {
    return this.rows >= BATCH_ROWS || this.size >= BATCH_CHARACTERS;
  }

  add(row: readonly (string | null)[]): void {
    for (const cell of row) {
      if (cell === null) {
        this.#lengths.push(-1);
        continue;
      }
      this.#lengths.push(cell.length);
      this.#texts.push(cell);
      this.size += cell.length;
    }
    this.rows++;
  }

  bytes(): Buffer {
    const text = Buffer.from(this.#texts.join(''), 'utf8');
    const lengths = Int32Array.from(this.#lengths);
    // ASCII alone has as many bytes as characters.
    if (text.length !== this.size) {
      let next = 0;
      for (let i = 0; i < lengths.length; i++)
        if ((lengths[i] as number) >= 0) lengths[i] = Buffer.byteLength(this.#texts[next++] as string, 'utf8');
    }
    return Buffer.concat([Buffer.from(lengths.buffer), text]);
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
