/** The first rows of a query. */
import type { RowBatch } from '../database.ts';

/** Gives up the query behind the `most`-th row. */
export async function* firstRows(batches: AsyncIterable<RowBatch>, most: number): AsyncGenerator<RowBatch> {
  let left = most;
  for await (const { rows, bytes } of batches) {
    yield { rows: rows.length > left ? rows.slice(0, left) : rows, bytes };
    left -= rows.length;
    if (left <= 0) return;
  }
}
