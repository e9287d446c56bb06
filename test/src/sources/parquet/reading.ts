/** Reads Parquet in tests. */
import { Fault } from '../../../../src/core/fault.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import { type TypedValue, type Values, XSD } from '../../../../src/core/value.ts';
import { openParquet } from '../../../../src/sources/parquet/parquet.ts';
import type { ParquetOptions, Scan } from '../../../../src/sources/source.ts';

export const READING: ParquetOptions = {
  format: 'parquet',
  name: 'people.parquet',
  dialect: 'rml',
  nulls: [],
  maxRecordBytes: 2 ** 20,
};

async function* chunks(bytes: Uint8Array) {
  yield bytes;
}

export interface Read {
  readonly iterator?: string;
  readonly options?: Partial<ParquetOptions>;
}

/** A file in memory, to be read at any offset. */
export const rangesOf = (bytes: Buffer): NonNullable<ParquetOptions['ranges']> => ({
  sizeBytes: bytes.length,
  read: async (from, to) => Buffer.from(bytes.subarray(from, to)),
});

/** A scan of a file in memory. */
function scanOf(bytes: Buffer, references: readonly string[], { iterator, options = {} }: Read = {}): Promise<Scan> {
  return openParquet(chunks(bytes), [{ iterator, references, origin: 'm.ttl:1:1' }], { ...READING, ranges: rangesOf(bytes), ...options });
}

/** `value` of each reference in each record: a text, or `text^^datatype`, with `=written` where that is another one. */
export async function read(bytes: Buffer, references: readonly string[], how: Read = {}): Promise<unknown[][]> {
  return rowsOf(await scanOf(bytes, references, how), references);
}

async function rowsOf(scan: Scan, references: readonly string[]): Promise<unknown[][]> {
  const readers = references.map((reference) => {
    const accessor = scan.accessor(0, reference);
    const datatype = scan.datatype?.(0, reference);
    return (record: unknown) => shown(accessor(record), datatype);
  });
  const rows: unknown[][] = [];
  try {
    for await (const batch of scan.batches(new AbortController().signal))
      for (const record of batch.records) rows.push(readers.map((reader) => reader(record)));
  } finally {
    await scan.close?.();
  }
  return rows;
}

function shown(values: Values, datatype: string | null | undefined): unknown {
  if (values === null) return null;
  if (Array.isArray(values)) return values.map((value) => shown(value, datatype));
  if (typeof values === 'string')
    return fromBytes(values) + (datatype === undefined || datatype === null ? '' : `^^${datatype.replace(XSD, '')}`);
  if (datatype === null) throw new Error('a value has a datatype, and its column promises that none has');
  const { text, written, datatype: own } = values as TypedValue;
  return `${text}^^${own.replace(XSD, '')}${written === text ? '' : `=${written}`}`;
}

/** The fault with which reading ends. */
export async function faultOf(reading: Promise<unknown>): Promise<Fault> {
  try {
    await reading;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('expected a fault');
}
