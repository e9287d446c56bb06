/** How the JSON tests read a document and show what they read. */
import { Fault } from '../../../../src/core/fault.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import { TypedValue, type Values } from '../../../../src/core/value.ts';
import { openJson } from '../../../../src/sources/json/json.ts';
import type { JsonOptions } from '../../../../src/sources/source.ts';

export const READING: JsonOptions = {
  format: 'json',
  name: 'input.json',
  dialect: 'rml',
  nulls: [],
  encoding: undefined,
  maxRecordBytes: 1_000_000,
};

export async function* chunks(bytes: Uint8Array, sizes: () => number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const size = sizes();
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

export interface Request {
  readonly document: string | Uint8Array;
  readonly iterators: readonly (string | undefined)[];
  readonly references?: readonly string[];
  readonly reading?: Partial<JsonOptions>;
  readonly chunk?: number | (() => number);
}

/** By iteration: for each record, what each reference reads. */
export async function read({ document, iterators, references = [], reading = {}, chunk = 1 << 20 }: Request): Promise<Values[][][]> {
  const bytes = typeof document === 'string' ? Buffer.from(document) : document;
  const sizes = typeof chunk === 'number' ? () => chunk : chunk;
  const iterations = iterators.map((iterator) => ({ iterator, references, origin: 'mapping.ttl:1:1' }));
  const scan = await openJson(chunks(bytes, sizes), iterations, { ...READING, ...reading });
  const readers = iterations.map((_, i) => references.map((reference) => scan.accessor(i, reference)));
  const found: Values[][][] = iterations.map(() => []);
  for await (const batch of scan.batches(new AbortController().signal)) {
    if (batch.first !== found[batch.iteration]?.length) throw new Error(`a batch begins at ${batch.first}`);
    for (const record of batch.records) found[batch.iteration]?.push((readers[batch.iteration] ?? []).map((reader) => reader(record)));
  }
  return found;
}

export async function faultOf(reading: Promise<unknown>): Promise<Fault> {
  const error = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Fault)) throw new Error(`expected a fault, got ${String(error)}`);
  return error;
}

/** A value as text, with the local name of its datatype. */
export const show = (values: Values): unknown => {
  if (values === null) return null;
  if (typeof values === 'string') return fromBytes(values);
  if (values instanceof TypedValue) return `${fromBytes(values.text)}^^${values.datatype.split('#')[1]}`;
  return values.map(show);
};

export const showAll = (found: Values[][][]): unknown =>
  found.map((records) => records.map((values) => (values.length === 1 ? show(values[0] as Values) : values.map(show))));
