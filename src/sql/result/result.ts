/** The rows of a query as a JSON or CSV document, batch by batch, in constant memory. */
import { isUtf8 } from 'node:buffer';
import { Fault } from '../../core/fault.ts';
import type { Column, RowBatch } from '../database.ts';

/** How a format writes a query's result. All texts are one-byte UTF-8 (see `core/text.ts`). */
export interface ResultWriter {
  readonly head: string;
  row(cells: readonly (string | null)[], first: boolean): string;
  end(summary: ResultSummary): string;
}

export interface ResultSummary {
  readonly rowCount: number;
  /** There were more rows than the maximum. */
  readonly truncated: boolean;
}

/** Minimum size in bytes of every chunk but the last. */
export const CHUNK_BYTES = 64 * 2 ** 10;

/** The document in chunks, with at most `maxRows` rows. Reads a batch only on demand, and cancels the rest. */
export async function* writeResult(
  writer: ResultWriter,
  batches: AsyncIterable<RowBatch>,
  maxRows: number,
): AsyncGenerator<Buffer, ResultSummary> {
  let text = writer.head;
  let rowCount = 0;
  let truncated = false;
  reading: for await (const { rows } of batches) {
    for (const row of rows) {
      if (rowCount === maxRows) {
        truncated = true;
        break reading;
      }
      text += writer.row(row, rowCount === 0);
      rowCount++;
      if (text.length < CHUNK_BYTES) continue;
      yield bytesOf(text);
      text = '';
    }
  }
  const summary = { rowCount, truncated };
  yield bytesOf(text + writer.end(summary));
  return summary;
}

/** A server without encoding (PostgreSQL's SQL_ASCII) may send any bytes: invalid UTF-8 is shown as U+FFFD. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'), 'utf8');
}

/** Unique column names: a repeated name gets `_2`, `_3`, …, avoiding the names of other columns. */
export function distinctLabels(columns: readonly Pick<Column, 'name'>[]): readonly string[] {
  const names = new Set(columns.map(({ name }) => name));
  const taken = new Set<string>();
  const labelOf = (name: string): string => {
    if (!taken.has(name)) return name;
    for (let number = 2; ; number++) {
      const label = `${name}_${number}`;
      if (!names.has(label) && !taken.has(label)) return label;
    }
  };
  return columns.map(({ name }) => {
    const label = labelOf(name);
    taken.add(label);
    return label;
  });
}

/** The canonical text of a value, or the server's text if the datatype has no such value (an infinite date). */
export function textOf({ canonical }: Pick<Column, 'canonical'>, text: string): string {
  return canonical === undefined ? text : (unlessOutside(() => canonical(text)) ?? text);
}

/** undefined: the datatype has no such value. */
export function unlessOutside<T>(value: () => T): T | undefined {
  try {
    return value();
  } catch (error) {
    if (error instanceof Fault && error.code === 'record/term') return undefined;
    throw error;
  }
}
