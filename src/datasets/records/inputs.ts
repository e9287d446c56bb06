/** The inputs of a run whose records are compared, and their chunks as documents. */
import { redact } from '../../core/redact.ts';
import type { FileSource } from '../../mapping/model/model.ts';
import { formatBefore } from '../../run/prepare/documents/inputs.ts';
import { readOptionsOf } from '../../run/prepare/documents/open-scan.ts';
import type { PreparedRun } from '../../run/prepare/open.ts';
import type { DocumentBytes, RunRequest } from '../../run/request.ts';
import { Document } from '../../run/slices/document.ts';
import type { Borders } from '../../sources/cuts.ts';
import { readerOf } from '../../sources/formats.ts';
import { probeInput } from '../../storage/open.ts';
import { type ChunkSizes, chunksOf, sizesFor } from './chunks.ts';

/** The document of a scan. */
export interface RecordInput {
  readonly name: string;
  /** What stands before its records. */
  readonly head: Buffer;
  readonly mark: number;
  readonly sizeBytes: number;
  /** For the first version. */
  readonly sizes: ChunkSizes;
  chunks(sizes: ChunkSizes): AsyncIterable<Buffer>;
}

/**
 * The documents of the scans of a plan.
 *
 * @returns a text: why their records cannot be told apart
 * @throws Fault those of their readers
 */
export async function openRecords(
  { plan, places }: Pick<PreparedRun, 'plan' | 'places'>,
  request: RunRequest,
  signal: AbortSignal | undefined,
): Promise<readonly RecordInput[] | string> {
  const { workingDirectory, reach, web, limits, maxRecordBytes, inputOptions } = request;
  const inputs: RecordInput[] = [];
  for (const [position, scan] of plan.scans.entries()) {
    const source = scan.source as FileSource;
    const { url } = places[position] as { readonly url: string };
    const name = redact(url);
    const access = { workingDirectory, reach, signal, web, s3: web.s3 };
    const state = await probeInput(url, access);
    if (state === undefined) return `${name} is packed`;
    if (limits.inputBytes > 0 && state.sizeBytes > limits.inputBytes) return `${name} is larger than MAX_INPUT_BYTES`;
    const document = new Document(url, state, access);
    const format = formatBefore(url, source, inputOptions);
    const open = await readerOf(format).borders?.();
    const borders: Borders | undefined = await open?.(document, readOptionsOf(scan, source, format, name, request));
    if (borders === undefined) return `the records of ${name} cannot be told apart without its reader`;
    inputs.push({
      name,
      head: await document.read(0, borders.head),
      mark: borders.mark,
      sizeBytes: state.sizeBytes,
      sizes: sizesFor(state.sizeBytes),
      chunks: (sizes) => chunksOf(document.bytes(borders.head), borders, sizes, maxRecordBytes),
    });
  }
  return inputs;
}

export type NumberedChunk = readonly [chunk: number, text: Buffer];

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
  { head, mark }: RecordInput,
  chunks: AsyncIterable<NumberedChunk> | Iterable<NumberedChunk>,
  took?: (chunks: readonly number[]) => void,
): DocumentBytes {
  let given: { readonly chunk: number; readonly from: number; readonly to: number }[] = [];
  let last = head.length - mark;
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    let at = last;
    if (head.length > 0) yield head;
    for await (const [chunk, text] of chunks) {
      if (took !== undefined) given.push({ chunk, from: at, to: at + text.length });
      at += text.length;
      yield text;
    }
  };
  const read = (to: number): void => {
    if (to <= last) return;
    given = given.filter((one) => one.to > last);
    took?.(given.filter((one) => one.from < to).map(({ chunk }) => chunk));
    last = to;
  };
  return took === undefined ? { bytes: bytes() } : { bytes: bytes(), read };
}
