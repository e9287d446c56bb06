/** The first rows of Parquet, with what is nested in them. */
import type { Fault } from '../core/fault.ts';
import { fromBytes } from '../core/text.ts';
import { TypedValue, XSD } from '../core/value.ts';
import type { DocumentSample, Tree } from '../infer/sample.ts';
import { ForeignValue, foreignValue } from '../sources/json/text.ts';
import type { ParquetOptions } from '../sources/source.ts';
import { type Ending, endOfRows } from './beginning.ts';
import type { SampleOptions } from './options.ts';

/** @throws Fault those of the reader */
export async function sampleParquet(
  bytes: AsyncIterable<Uint8Array>,
  read: ParquetOptions,
  options: Pick<SampleOptions, 'records'> & Ending,
): Promise<Pick<DocumentSample, 'root' | 'isWhole' | 'notes' | 'fault'>> {
  const { records, signal } = options;
  const { openParquetRows } = await import('../sources/parquet/parquet.ts');
  const rows = await openParquetRows(bytes, read);
  const notes = new Set<string>();
  const root: Tree[] = [];
  let isWhole = true;
  let fault: Fault | undefined;
  try {
    for await (const values of rows.read(signal ?? new AbortController().signal)) {
      if (root.length === records) {
        isWhole = false;
        break;
      }
      root.push({ members: new Map(rows.columns.map((name, at) => [name, treeOf(values[at], name, notes)])) });
    }
  } catch (error) {
    fault = endOfRows(error, options, root.length);
    isWhole = false;
  } finally {
    await rows.close();
  }
  return { root, isWhole, notes: [...notes], ...(fault === undefined ? {} : { fault }) };
}

/** @param node of JSON: its texts are one-byte UTF-8, its numbers integers @param column for notes */
function treeOf(node: unknown, column: string, notes: Set<string>): Tree {
  if (node === null || node === undefined) return null;
  if (typeof node === 'string') return fromBytes(node);
  if (typeof node === 'number') return { text: String(node), datatype: `${XSD}integer` };
  if (typeof node === 'boolean') return { text: String(node), datatype: `${XSD}boolean` };
  if (Array.isArray(node)) return node.map((item) => treeOf(item, column, notes));
  if (node instanceof ForeignValue) {
    const value = foreignValue(node);
    if (value instanceof TypedValue) return { text: fromBytes(value.written), datatype: value.datatype };
    notes.add(`${JSON.stringify(column)} has values that cannot be read: a run rejects their records`);
    return null;
  }
  return { members: new Map(Object.entries(node).map(([name, inner]) => [fromBytes(name), treeOf(inner, column, notes)])) };
}
