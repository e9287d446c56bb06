/** Cuts a large document into byte ranges, where the reader of its format finds cuts. */

import { redact } from '../../core/redact.ts';
import type { FileSource } from '../../mapping/model/model.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import { readerOf } from '../../sources/formats.ts';
import { probeInput } from '../../storage/open.ts';
import type { InputState } from '../../storage/storage.ts';
import { isLocal } from '../../storage/url.ts';
import { formatBefore, formatByName } from '../prepare/documents/inputs.ts';
import { readOptionsOf } from '../prepare/documents/open-scan.ts';
import type { ByteSlice, RunRequest } from '../request.ts';
import { Document, slicesBetween } from './document.ts';

/** Each slice is a job and a part of the output. Beyond this number, slices grow. */
const MAX_SLICES = 4096;

/**
 * Whether some input of the request may be large enough to be cut. Asked before anything else of the run, since most inputs are small.
 * Files that only the mapping names are not considered.
 */
export async function hasLargeInput(request: RunRequest, sliceBytes: number, signal: AbortSignal): Promise<boolean> {
  if (sliceBytes === 0) return false;
  for (const { url } of request.inputs) if (((await stateOf(url, request, signal))?.sizeBytes ?? 0) > sliceBytes) return true;
  return false;
}

/** The state of a document that slices read as a whole; undefined: they cannot read the same version, or it is beyond the limit of the run. */
export async function wholeState(
  source: FileSource,
  url: string,
  request: RunRequest,
  signal: AbortSignal,
): Promise<InputState | undefined> {
  if (source.compression !== 'none' || source.request !== undefined) return undefined;
  const state = await stateOf(url, request, signal);
  // A document beyond the limit of the run is left to its reader, which reports it.
  const allowed = request.limits.inputBytes || Number.POSITIVE_INFINITY;
  return state === undefined || state.sizeBytes > allowed ? undefined : state;
}

/**
 * Ranges of about `sliceBytes` each of a document; one or none if the document is small or cannot be cut: it is compressed, not UTF-8, of
 * another format, or the answer to a request with headers or a query; JSON and XML whose records are not independent; CSV, JSON and XML over
 * HTTP.
 *
 * What stands before a cut tells whether it is one, so the document is read once, up to the last cut. That is fast on a disk, but over HTTP it
 * would take as long as mapping it. JSON Lines are read only around each cut, unless lines name blank nodes; of Parquet only the footer is read.
 *
 * @throws Fault those of the document's reader
 */
export async function byteSlicesOf(
  scan: ScanPlan,
  source: FileSource,
  url: string,
  request: RunRequest,
  sliceBytes: number,
  signal: AbortSignal,
): Promise<readonly ByteSlice[]> {
  const state = sliceBytes === 0 ? undefined : await wholeState(source, url, request, signal);
  if (state === undefined || state.sizeBytes <= sliceBytes) return [];
  const slices: ByteSlice[] = [];
  for await (const slice of slicesOf(scan, source, url, request, state, Math.ceil(state.sizeBytes / sliceBytes), signal))
    slices.push(slice);
  return slices;
}

/**
 * As `byteSlicesOf`, for a document that is known to be large: each slice as soon as its end is found.
 *
 * @param wanted number of slices; there may be fewer
 */
export async function* slicesOf(
  scan: ScanPlan,
  source: FileSource,
  url: string,
  request: RunRequest,
  state: InputState,
  wanted: number,
  signal: AbortSignal,
): AsyncGenerator<ByteSlice> {
  const { workingDirectory, reach, web } = request;
  const document = new Document(url, state, { workingDirectory, reach, signal, s3: web.s3 });
  const count = Math.min(MAX_SLICES, wanted);
  const format = formatBefore(url, source, request.inputOptions);
  const find = await readerOf(format).cuts?.find();
  const targets = Array.from({ length: count - 1 }, (_, i) => Math.round(((i + 1) * state.sizeBytes) / count));
  const cuts = await find?.(document, scan.iterations, readOptionsOf(scan, source, format, redact(url), request), targets);
  if (cuts !== undefined) yield* slicesBetween(document, cuts);
}

/** The state of a document on this machine that may be cut; undefined: it is elsewhere, not there, or of a format that is not cut. */
export const localState = async (url: string, request: RunRequest, signal: AbortSignal): Promise<InputState | undefined> =>
  isLocal(url) ? stateOf(url, request, signal).catch(() => undefined) : undefined;

/** undefined: do not cut. */
async function stateOf(url: string, { workingDirectory, reach, web }: RunRequest, signal: AbortSignal): Promise<InputState | undefined> {
  const format = formatByName(url);
  const cuts = format === undefined ? undefined : readerOf(format).cuts;
  if (cuts === undefined || (/^https?:/i.test(url) && cuts.seeks !== true)) return undefined;
  return probeInput(url, { workingDirectory, reach, signal, s3: web.s3 });
}
