/** Reads a workbook in a test. */
import { tmpdir } from 'node:os';
import { Fault } from '../../../../src/core/fault.ts';
import type { WorkbookFormat } from '../../../../src/core/input/formats.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import { TypedValue } from '../../../../src/core/value.ts';
import { openOdsScan, openXlsbScan, openXlsScan, openXlsxScan } from '../../../../src/sources/sheet/sheet.ts';
import type { OpenScan, WorkbookOptions } from '../../../../src/sources/source.ts';

export const OPENERS: Readonly<Record<WorkbookFormat, OpenScan<WorkbookOptions>>> = {
  xlsx: openXlsxScan,
  xlsb: openXlsbScan,
  xls: openXlsScan,
  ods: openOdsScan,
};

export const READING: WorkbookOptions = {
  format: 'xlsx',
  name: 'people.xlsx',
  dialect: 'rml',
  nulls: [],
  maxRecordBytes: 2 ** 20,
  naturalDatatypes: true,
};

export const FILES = { directory: tmpdir(), memoryBytes: 2 ** 20, inflationRatio: 100, inputBytes: 0 };

async function* chunks(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Rows of values, and what the reader remarked. A typed value is `text^^datatype`. */
export async function readSheet(
  bytes: Buffer,
  columns: readonly string[],
  reading: Partial<WorkbookOptions> = {},
  format: WorkbookFormat = 'xlsx',
): Promise<{ readonly rows: readonly (string | null)[][]; readonly warnings: readonly string[] }> {
  const open = OPENERS[format];
  const options = { ...READING, ...reading, name: `people.${format}` };
  const scan = await open(chunks(bytes, 1000), [{ iterator: undefined, references: columns, origin: 'm.ttl:1:1' }], options);
  try {
    const readers = columns.map((column) => scan.accessor(0, column));
    const rows: (string | null)[][] = [];
    for await (const batch of scan.batches(new AbortController().signal)) {
      if (batch.first !== rows.length) throw new Error(`a batch begins at ${batch.first}, ${rows.length} were read`);
      for (const record of batch.records)
        rows.push(
          readers.map((read) => {
            const value = read(record);
            if (value === null) return null;
            return value instanceof TypedValue ? `${value.text}^^${value.datatype.split('#')[1]}` : fromBytes(value as string);
          }),
        );
    }
    return { rows, warnings: scan.warnings?.() ?? [] };
  } finally {
    await scan.close?.();
  }
}

export async function faultOf(reading: Promise<unknown>): Promise<Fault> {
  try {
    await reading;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('expected a fault');
}
