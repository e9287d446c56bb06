/** What sessions read: all rows of a table, or some; and of which rows the records are that are mapped next. */
import type { Batch, OpenedScan } from '../../sources/source.ts';
import type { KeptRows } from './state/rows.ts';
import type { Kept } from './state/state.ts';

type Chunks = AsyncIterable<readonly Kept[]> | Iterable<readonly Kept[]>;

export interface RowSource extends Pick<KeptRows, 'table'> {
  read(table: string): Chunks;
  /** Called before rows, or records of messages, are given, with what they are of. */
  giving?(rows: readonly Kept[]): void;
}

const NEVER = new AbortController().signal;

export class RowReading implements RowSource {
  readonly #rows: KeptRows;
  #chosen: Chunks | undefined;
  #given: readonly Kept[] = [];

  constructor(rows: KeptRows) {
    this.#rows = rows;
  }

  table(name: string): ReturnType<KeptRows['table']> {
    return this.#rows.table(name);
  }

  read(name: string): Chunks {
    return this.#chosen ?? this.#rows.read(name);
  }

  giving(rows: readonly Kept[]): void {
    this.#given = rows;
  }

  /**
   * The batches of a scan of kept rows.
   *
   * **Claim.** `took` is called with the rows that batches are of. **Proof.** A run reads one scan after the other, each to its end. Rows, and records
   * of messages, are given when a batch is asked for, which has them alone; the next ones come when that is mapped.
   *
   * @param chosen the rows that are read; undefined: all of the table
   */
  async *batches({ scan }: OpenedScan, chosen: Chunks | undefined, took: (row: Kept) => void): AsyncGenerator<Batch> {
    this.#chosen = chosen;
    try {
      for await (const batch of scan.batches(NEVER)) {
        const given = this.#given;
        yield { ...batch, took: (index) => took(given[index] as Kept) };
      }
    } finally {
      this.#chosen = undefined;
      this.#given = [];
    }
  }
}
