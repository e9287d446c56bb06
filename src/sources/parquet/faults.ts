/** What is wrong with a file → a fault that says where. */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import { LargeRow } from './columns/nested.ts';
import { DeepSchema } from './columns/schema.ts';
import { EncryptedParquet } from './file/metadata.ts';
import { encryptedFault } from './file/open.ts';
import { BrokenParquet } from './file/thrift.ts';
import { LargePage, PageError } from './pages/chunk.ts';
import { OtherCodec } from './pages/compression.ts';
import { LargeValue } from './pages/values.ts';

/** @param maxRecordBytes the limit of values and records */
export function parquetFault(error: unknown, place: FaultPlace & { readonly input: string }, maxRecordBytes: number): unknown {
  if (error instanceof PageError) {
    const fault = parquetFault(error.cause, place, maxRecordBytes);
    return fault instanceof Fault ? fault.with({ message: `${fault.message} (${error.message})` }) : fault;
  }
  if (error instanceof EncryptedParquet) return encryptedFault(place.input);
  if (error instanceof OtherCodec)
    return new Fault('source/refused', `The Parquet file cannot be read: ${error.message}`, {
      place,
      hint: 'Write it with Zstandard, Snappy, gzip, Brotli or LZ4',
      cause: error,
    });
  if (error instanceof DeepSchema)
    return new Fault('limit/exceeded', error.message, { place, limit: 'MAX_DEPTH', hint: 'Raise MAX_DEPTH' });
  if (error instanceof LargeValue)
    return new Fault('limit/exceeded', `A value has ${error.sizeBytes} bytes, and MAX_RECORD_BYTES allows ${maxRecordBytes}`, {
      place,
      limit: 'MAX_RECORD_BYTES',
      hint: 'Raise MAX_RECORD_BYTES (--max-record-mb)',
    });
  if (error instanceof LargeRow)
    return new Fault(
      'limit/exceeded',
      `A row has more nested values than fit into the ${maxRecordBytes} bytes that MAX_RECORD_BYTES allows`,
      {
        place,
        limit: 'MAX_RECORD_BYTES',
        hint: 'Raise MAX_RECORD_BYTES (--max-record-mb)',
      },
    );
  if (error instanceof LargePage)
    return new Fault('limit/exceeded', error.message, { place, hint: 'Write the file with smaller pages or row groups' });
  if (!(error instanceof BrokenParquet)) return error;
  return new Fault('source/malformed', `The Parquet file is damaged: ${error.message}`, {
    place,
    hint: 'Fetch or write the file again',
    cause: error,
  });
}
