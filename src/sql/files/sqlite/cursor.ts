/** The rows of a query, one JavaScript value for each cell, as texts. */
import type { CellWriter } from '../cells.ts';
import type { Cursor } from '../engine.ts';
import { MARK } from './kinds.ts';

export type Cell = null | string | bigint | number | Uint8Array;

export class SqliteCursor implements Cursor {
  /** The iterator of the package does not keep its statement alive. */
  readonly statement: object;
  readonly #rows: Iterator<readonly Cell[]>;
  readonly #columns: readonly Writing[];

  constructor(statement: object, rows: Iterator<readonly Cell[]>, columns: readonly Writing[]) {
    this.statement = statement;
    this.#rows = rows;
    this.#columns = columns;
  }

  next(): readonly (string | null)[] | undefined {
    const { done, value } = this.#rows.next();
    if (done === true) return undefined;
    return value.map((cell, i) => textOf(cell, this.#columns[i] as Writing));
  }

  fill(batch: CellWriter): boolean {
    const columns = this.#columns;
    while (!batch.full) {
      const { done, value } = this.#rows.next();
      if (done === true) return true;
      for (let i = 0; i < value.length; i++) {
        const cell = value[i] as Cell;
        const column = columns[i] as Writing;
        if (typeof cell === 'bigint' && column.integer === '') {
          const number = Number(cell);
          if (Number.isSafeInteger(number)) batch.addInteger(number);
          else batch.add(String(cell));
        } else if (typeof cell !== 'number' || column.real !== '' || !batch.addHundredths(cell)) batch.add(textOf(cell, column));
      }
      batch.endRow();
    }
    return false;
  }

  close(): void {
    this.#rows.return?.();
  }
}

/** What stands in front of the values of a column, by their storage class: a mark, or nothing where the class is expected. */
export interface Writing {
  readonly integer: string;
  readonly real: string;
  readonly text: string;
  readonly blob: string;
}

/** @param expected the storage classes that are not marked */
export function writing(expected: string): Writing {
  const before = (storage: string): string => (expected.includes(storage) ? '' : MARK + storage);
  return { integer: before('i'), real: before('r'), text: before('t'), blob: before('b') };
}

function textOf(cell: Cell, { integer, real, text, blob }: Writing): string | null {
  if (cell === null) return null;
  switch (typeof cell) {
    case 'bigint':
      return integer + integerText(cell);
    case 'string': // a text that begins with the mark is marked, too
      return cell.charCodeAt(0) === 0 ? `${MARK}t${cell}` : text + cell;
    case 'number':
      return real + realText(cell);
    default:
      return blob + Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength).toString('hex').toUpperCase();
  }
}

/** A small number has its text sooner than a BigInt. */
function integerText(value: bigint): string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? String(number) : String(value);
}

/** The shortest text of the same double. SQLite stores NaN as null. */
const realText = (value: number): string => (Number.isFinite(value) ? String(value) : value > 0 ? 'INF' : '-INF');
