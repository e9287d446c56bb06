/** Parquet files for tests. */
import { type ColumnSource, type ParquetWriteOptions, parquetWriteBuffer } from 'hyparquet-writer';

export type Column = Omit<ColumnSource, 'data'> & { readonly data: readonly unknown[] };

/** A file of these columns, uncompressed unless `options` say otherwise. */
export const parquet = (columns: readonly Column[], options: Partial<ParquetWriteOptions> = {}): Buffer =>
  Buffer.from(parquetWriteBuffer({ codec: 'UNCOMPRESSED', ...options, columnData: columns as ColumnSource[] }));
