/** The first rows of CSV and of sheets. */
import { Fault } from '../core/fault.ts';
import { fromBytes } from '../core/text.ts';
import { type Accessor, TypedValue, type Values } from '../core/value.ts';
import type { DocumentSample, Members, Tree } from '../infer/sample.ts';
import { openDocument } from '../sources/formats.ts';
import type { ReadOptions } from '../sources/source.ts';
import { type Ending, endOfRows } from './beginning.ts';
import type { SampleOptions } from './options.ts';

/** @throws Fault those of the reader; source/type — the format has no columns */
export async function sampleTable(
  bytes: AsyncIterable<Uint8Array>,
  read: ReadOptions,
  options: Pick<SampleOptions, 'records'> & Ending,
): Promise<Pick<DocumentSample, 'root' | 'columns' | 'isWhole' | 'notes' | 'fault'>> {
  const { records, signal } = options;
  const scan = await openDocument(bytes, [{ iterator: undefined, references: [], origin: '' }], read);
  try {
    if (scan.columns === undefined)
      throw new Fault('source/type', `The columns of ${read.format} cannot be listed`, { place: { input: read.name } });
    const { names, notes } = referable(scan.columns());
    const accessors = names.map((name): [string, Accessor] => [name, scan.accessor(0, name)]);
    const root: Members[] = [];
    let isWhole = true;
    let fault: Fault | undefined;
    try {
      for await (const batch of scan.batches(signal ?? new AbortController().signal)) {
        for (const record of batch.records) {
          if (root.length === records) isWhole = false;
          else root.push({ members: new Map(accessors.map(([name, accessor]) => [name, cellOf(accessor, record, name, notes)])) });
        }
        if (!isWhole) break;
      }
    } catch (error) {
      // The header has fields, too.
      fault = endOfRows(error, options, root.length, names.length > 0);
      isWhole = false;
    }
    return { root, columns: names, isWhole, notes: [...notes], ...(fault === undefined ? {} : { fault }) };
  } finally {
    await scan.close?.();
  }
}

/** Columns without a name, and those that share one, cannot be referred to. */
function referable(columns: readonly string[]): { readonly names: readonly string[]; readonly notes: Set<string> } {
  const notes = new Set<string>();
  const names = [...new Set(columns)].filter((name) => {
    const count = columns.filter((other) => other === name).length;
    if (name === '') notes.add(`${count === 1 ? 'A column has' : `${count} columns have`} no name in the header: left out`);
    else if (count > 1) notes.add(`The header names ${count} columns ${JSON.stringify(name)}: left out; rename them in the file`);
    return name !== '' && count === 1;
  });
  return { names, notes };
}

function cellOf(accessor: Accessor, record: unknown, name: string, notes: Set<string>): Tree {
  try {
    return treeOf(accessor(record));
  } catch (error) {
    // A cell without a value, such as #REF!.
    if (!(error instanceof Fault) || error.code !== 'record/term') throw error;
    notes.add(`${JSON.stringify(name)} has cells without a valid value: a run rejects their records`);
    return null;
  }
}

function treeOf(values: Values): Tree {
  if (values === null) return null;
  if (Array.isArray(values)) return values.map((value) => treeOf(value));
  const value = values as string | TypedValue;
  return value instanceof TypedValue ? { text: fromBytes(value.written), datatype: value.datatype } : fromBytes(value);
}
