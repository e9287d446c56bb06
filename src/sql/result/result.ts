/** The rows of a query as the bytes of a document: form (JSON or CSV) by argument, batch after batch, in constant memory. */
import { isUtf8 } from 'node:buffer';
import { Fault } from '../../core/fault.ts';
import type { Column, RowBatch } from '../database.ts';

/** How a form writes what a query gives. All texts are one-byte UTF-8 (see `text.ts`). */
export interface ResultWriter {
  readonly head: string;
  row(cells: readonly (string | null)[], first: boolean): string;
  end(summary: ResultSummary): string;
}

export interface ResultSummary {
  readonly rowCount: number;
  /** There were more rows than the answer may have. */
  readonly truncated: boolean;
}

/** Every chunk but the last has at least so many bytes. */
export const CHUNK_BYTES = 64 * 2 ** 10;

/** The document in chunks; at most `maxRows` rows. Reads no batch before it is wanted, and gives up the rest. */
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

/** A server without an encoding (PostgreSQL's SQL_ASCII) may send any bytes: what is no UTF-8 is shown as U+FFFD. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'), 'utf8');
}

/** The columns' names, told apart: a name that came before gets `_2`, `_3`, …, whichever no other column has. */
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

/** The canonical text of a value, or the server's own where the datatype has no such value (an infinite date). */
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
