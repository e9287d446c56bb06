/** Single items of a list of JSON, JSON Lines or XML, from any position on, or with a certain value. */
import { Fault } from '../core/fault.ts';
import { redact } from '../core/redact.ts';
import { fromBytes } from '../core/text.ts';
import { type Accessor, TypedValue } from '../core/value.ts';
import { beginningOf } from '../infer/fields.ts';
import { openDocument } from '../sources/formats.ts';
import type { ReadOptions } from '../sources/source.ts';
import { openInput } from '../storage/open.ts';
import type { FieldsAccess } from './fields.ts';

export interface ItemsQuestion {
  readonly location: string;
  /** `jsonl`: a sequence of JSON values, which is one list. */
  readonly format: 'json' | 'jsonl' | 'xml';
  /** Of XML: by prefix. */
  readonly namespaces?: Readonly<Record<string, string>> | undefined;
  /** JSONPath or XPath of the items of one list. */
  readonly iterator: string;
  /** From an item on. */
  readonly references: readonly string[];
  /** Position of the first item that is wanted, from 0. */
  readonly from: number;
  /** Only items with this in one of their values, in any case. */
  readonly find?: string | undefined;
  /** Texts that mean no value. */
  readonly nulls?: readonly string[] | undefined;
}

export interface ItemsAnswer {
  readonly items: readonly FoundItem[];
  /** Position behind the last item that was looked at. */
  readonly next: number;
  /** The list has no more items. */
  readonly complete: boolean;
  /** There was no time to look further. */
  readonly cut: boolean;
}

export interface FoundItem {
  /** From 0. */
  readonly position: number;
  /** The beginning of the first value of each reference; null: it has none. */
  readonly values: readonly (string | null)[];
}

const MOST_ITEMS = 20;

/**
 * Reads no further than the last item that is given.
 *
 * @param until when the answer has to be there, in milliseconds since 1970
 * @throws Fault of `openInput` and the readers; mapping/reference — an expression is not valid
 */
export async function sampleItems(question: ItemsQuestion, access: FieldsAccess, until: number): Promise<ItemsAnswer> {
  const { location, format, namespaces = {}, iterator, references, from, find, nulls = [] } = question;
  const { workingDirectory, reach, limits, web, maxRecordBytes } = access;
  const over = new AbortController();
  // A list may end far before its document, and a server may be slow: no item comes then at which the time could be checked.
  const timer = setTimeout(() => over.abort(new Fault('run/cancelled', 'The time is over')), Math.max(0, until - Date.now()));
  const items: FoundItem[] = [];
  let next = 0;
  let input: Awaited<ReturnType<typeof openInput>> | undefined;
  try {
    input = await openInput(location, { workingDirectory, reach, limits, web, s3: web.s3, signal: over.signal });
    const common = { name: redact(location), dialect: 'rml', nulls, encoding: undefined, maxRecordBytes, promptly: true } as const;
    const options: ReadOptions = format === 'xml' ? { ...common, format, namespaces } : { ...common, format };
    const scan = await openDocument(input.bytes, [{ iterator, references, origin: '' }], options);
    try {
      const accessors = references.map((reference) => scan.accessor(0, reference));
      const wanted = find?.toLowerCase();
      for await (const { first, records } of scan.batches(over.signal)) {
        for (const [i, record] of records.entries()) {
          if (items.length === MOST_ITEMS) return { items, next, complete: false, cut: false };
          next = first + i + 1;
          if (next <= from) continue;
          const values = accessors.map((accessor) => valueOf(accessor, record));
          if (wanted === undefined || values.some((value) => value?.toLowerCase().includes(wanted)))
            items.push({ position: next - 1, values: values.map((value) => value && beginningOf(value)) });
        }
      }
      return { items, next, complete: true, cut: false };
    } finally {
      await scan.close?.();
    }
  } catch (error) {
    if (over.signal.aborted) return { items, next, complete: false, cut: true };
    throw error;
  } finally {
    clearTimeout(timer);
    await input?.close();
  }
}

/** null: there is none, or an object or list in its place. */
function valueOf(accessor: Accessor, record: unknown): string | null {
  try {
    const values = accessor(record);
    const value = Array.isArray(values) ? values[0] : values;
    return value == null ? null : fromBytes(value instanceof TypedValue ? value.written : (value as string));
  } catch (error) {
    if (error instanceof Fault && error.code === 'record/term') return null;
    throw error;
  }
}
