/** The inputs of a run whose records are compared, and their chunks in place of them. */
import { redact } from '../../../core/redact.ts';
import type { FileSource } from '../../../mapping/model/model.ts';
import type { ScanPlan } from '../../../plan/plan.ts';
import { formatBefore } from '../../../run/prepare/documents/inputs.ts';
import { readOptionsOf } from '../../../run/prepare/documents/open-scan.ts';
import type { PreparedRun } from '../../../run/prepare/open.ts';
import type { DocumentBytes, RunHooks, RunRequest } from '../../../run/request.ts';
import { Document } from '../../../run/slices/document.ts';
import type { Borders } from '../../../sources/cuts.ts';
import { readerOf } from '../../../sources/formats.ts';
import { probeInput } from '../../../storage/open.ts';
import { isLocal } from '../../../storage/url.ts';
import { NotByRecord } from '../units.ts';
import { type ChunkSizes, chunksOf, type Expected } from './chunks.ts';
import type { NumberedChunk, RecordInput, Replacement, Took } from './input.ts';
import { openRows } from './row-inputs.ts';

/** @param replacements of each scan */
export const hooksOf = (replacements: readonly Replacement[]): Pick<RunHooks, 'document' | 'scan'> => ({
  document: (scan) => replacements[scan]?.document,
  scan: (scan, opened) => replacements[scan]?.scan?.(opened) ?? opened,
});

/**
 * The inputs of the scans of a plan: the bytes of documents of which the borders of records are known, else rows of what is read of records.
 *
 * @returns a text: why their records cannot be told apart
 * @throws Fault those of their readers
 */
export async function openRecords(
  prepared: PreparedRun,
  request: RunRequest,
  signal: AbortSignal | undefined,
): Promise<readonly RecordInput[] | string> {
  const inputs: RecordInput[] = [];
  for (const position of prepared.plan.scans.keys()) {
    const { plan, places } = prepared;
    const { source, ...scan } = plan.scans[position] as ScanPlan;
    const { url } = places[position] ?? {};
    const input =
      source.kind !== 'file' || url === undefined ? undefined : await documentInput({ ...scan, source }, source, url, request, signal);
    if (typeof input === 'string') return input;
    if (input === undefined && scan.iterations.some(({ nested }) => nested.length > 0))
      return `items within the records of ${redact(url ?? '')} are read`;
    inputs.push(input ?? (await openRows(prepared, position, request, signal)));
  }
  return inputs;
}

/** @returns undefined: the borders of its records are not known; a text: it cannot be read */
async function documentInput(
  scan: ScanPlan,
  source: FileSource,
  url: string,
  request: RunRequest,
  signal: AbortSignal | undefined,
): Promise<RecordInput | string | undefined> {
  const { workingDirectory, reach, web, limits, maxRecordBytes, inputOptions } = request;
  const name = redact(url);
  const access = { workingDirectory, reach, signal, web, s3: web.s3 };
  // What a server says of a document, its charset for one, decides how that is read: the values are compared.
  const state = source.compression === 'none' && isLocal(url) ? await probeInput(url, access) : undefined;
  if (state === undefined) return undefined;
  if (limits.inputBytes > 0 && state.sizeBytes > limits.inputBytes) return `${name} is larger than MAX_INPUT_BYTES`;
  const document = new Document(url, state, access);
  const format = formatBefore(url, source, inputOptions);
  const open = await readerOf(format).borders?.();
  const borders: Borders | undefined = await open?.(document, scan.iterations, readOptionsOf(scan, source, format, name, request));
  if (borders === undefined) return undefined;
  const parts = { head: await document.read(0, borders.head), mark: borders.mark };
  const chunks = (sizes: ChunkSizes, expected?: Expected): AsyncIterable<Buffer> =>
    chunksOf(document.bytes(borders.head), borders, sizes, maxRecordBytes, expected);
  const areRecords = (text: Buffer): boolean => borders.areRecords?.(text) !== false;
  return {
    name,
    head: parts.head,
    sizeBytes: state.sizeBytes,
    async *chunks(sizes, expected) {
      for await (const text of chunks(sizes, expected)) {
        if (!areRecords(text)) throw new NotByRecord(`${name} has records that are not lines`);
        yield text;
      }
    },
    recordsOf(text) {
      const records: Buffer[] = [];
      for (let from = 0; from < text.length; ) {
        const next = borders.escape < 0 ? -1 : text.indexOf(borders.escape, from);
        const end = borders.endOf(text, from, next < 0 ? Number.POSITIVE_INFINITY : next);
        records.push(text.subarray(from, end < 0 ? text.length : end));
        from = end < 0 ? text.length : end;
      }
      return records;
    },
    replayed: (texts, took) => ({ document: documentOf(parts, endedEach(texts), took) }),
    recorded(sizes, add, took) {
      const numbered = async function* (): AsyncGenerator<NumberedChunk> {
        for await (const text of chunks(sizes)) yield [add(areRecords(text) ? text : undefined), text];
      };
      return { document: documentOf(parts, numbered(), took) };
    },
  };
}

/** Others may follow: the last chunk of a document may lack the end of its last line. */
function* endedEach(chunks: Iterable<NumberedChunk>): Generator<NumberedChunk> {
  for (const [chunk, text] of chunks) yield [chunk, text[text.length - 1] === LF ? text : Buffer.concat([text, Buffer.of(LF)])];
}

const LF = 10;

/**
 * Chunks as a document.
 *
 * **Claim.** Records that a reader gives between two calls of `DocumentBytes.read` are of the chunks that `took` was called with. **Proof.** A reader gives
 * records in their order. The first one of these ends behind the last call's bytes or with them: where it is complete only at the end of the document,
 * the bytes are the same ones, and `took` is not called again. The last one ends within the bytes of this call. So each ends in a chunk that has bytes
 * between both, and it begins there, since a chunk is of whole records.
 *
 * @param took called with the chunks of the next records; there may be more
 */
export function documentOf(
  { head, mark }: { readonly head: Buffer; readonly mark: number },
  chunks: AsyncIterable<NumberedChunk> | Iterable<NumberedChunk>,
  took: Took,
): DocumentBytes {
  let given: { readonly chunk: number; readonly from: number; readonly to: number }[] = [];
  let last = head.length - mark;
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    let at = last;
    if (head.length > 0) yield head;
    for await (const [chunk, text] of chunks) {
      given.push({ chunk, from: at, to: at + text.length });
      at += text.length;
      yield text;
    }
  };
  const read = (to: number): void => {
    if (to <= last) return;
    given = given.filter((one) => one.to > last);
    took(given.filter((one) => one.from < to).map(({ chunk }) => chunk));
    last = to;
  };
  return { bytes: bytes(), read };
}
