/**
 * Cuts a large document into byte ranges: between rows of CSV, lines of JSON Lines, elements of a JSON array, XML elements, or row groups of
 * Parquet.
 */

import type { InputFormat } from '../../core/input/formats.ts';
import { redact } from '../../core/redact.ts';
import type { FileSource } from '../../mapping/model/model.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import { csvHeadBytes } from '../../sources/csv/csv.ts';
import { CsvCuts, canBeCut } from '../../sources/csv/cuts.ts';
import { utf8Mark } from '../../sources/encoding.ts';
import { staysInLine } from '../../sources/json/expression.ts';
import type { ReadOptions } from '../../sources/source.ts';
import { declaredEncoding } from '../../sources/xml/declared-encoding.ts';
import { probeInput } from '../../storage/open.ts';
import type { InputState } from '../../storage/storage.ts';
import { isLocal } from '../../storage/url.ts';
import { readOptionsOf } from '../execute/open-scan.ts';
import { formatByName, isParquet } from '../prepare/inputs.ts';
import type { ByteSlice, RunRequest } from '../request.ts';
import { type Cut, cutAt, cutsIn, Document, slicesBetween } from './document.ts';
import { elementSlices } from './element-slices.ts';

/** Enough for a byte order mark, and to recognise UTF-16. */
const HEAD_BYTES = 256;
/** Each slice is a job and a part of the output. Beyond this number, slices grow. */
const MAX_SLICES = 4096;
/** JSON Lines are examined around a cut, in windows of growing size. */
const FIRST_WINDOW_BYTES = 1 << 16;
const LAST_WINDOW_BYTES = 1 << 28;

/**
 * Whether some input of the request may be large enough to be cut. Asked before anything else of the run, since most inputs are small.
 * Files that only the mapping names are not considered.
 */
export async function hasLargeInput(request: RunRequest, sliceBytes: number, signal: AbortSignal): Promise<boolean> {
  if (sliceBytes === 0) return false;
  for (const { url } of request.inputs) if (((await stateOf(url, request, signal))?.sizeBytes ?? 0) > sliceBytes) return true;
  return false;
}

/**
 * Ranges of about `sliceBytes` each of a document; one or none if the document is small or cannot be cut: it is compressed, not UTF-8, of
 * another format, or the answer to a request with headers or a query; JSON and XML whose records are not independent; CSV, JSON and XML over
 * HTTP.
 *
 * What stands before a cut tells whether it is one, so the document is read once, up to the last cut. That is fast on a disk, but over HTTP it
 * would take as long as mapping it. JSON Lines are read only around each cut, and of Parquet only the footer.
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
  if (sliceBytes === 0 || source.compression !== 'none' || source.request !== undefined) return [];
  const state = await stateOf(url, request, signal);
  // A document beyond the limit of the run is left to its reader, which reports it.
  const allowed = request.limits.inputBytes || Number.POSITIVE_INFINITY;
  if (state === undefined || state.sizeBytes <= sliceBytes || state.sizeBytes > allowed) return [];
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
  if (isParquet(url, source, request.inputOptions)) {
    yield* rowGroupSlices(document, readOptionsOf(scan, source, 'parquet', redact(url), request), state.sizeBytes / count);
    return;
  }
  const head = await document.read(0, HEAD_BYTES);
  const declared = source.formulation === 'xml' ? declaredEncoding(head) : undefined;
  const mark = utf8Mark(head, request.inputOptions?.encoding ?? source.encoding ?? declared);
  if (mark === undefined) return;
  const format = formatByName(url);
  const readOptions = readOptionsOf(scan, source, format, redact(url), request);
  const targets = Array.from({ length: count - 1 }, (_, i) => Math.round(((i + 1) * state.sizeBytes) / count));
  if (source.formulation === 'csv') yield* csvSlices(document, readOptions, mark, targets);
  else if (readOptions.jsonLines === true) {
    if (areLines(scan)) yield* slicesBetween(document, 0, lineCuts(document, targets));
  }
  // Another format than the name says may have other records.
  else if (request.inputOptions?.format === undefined && format === source.formulation && format !== 'parquet')
    yield* elementSlices(document, format, scan.iterations, readOptions, mark, targets);
}

const CUT_FORMATS: ReadonlySet<InputFormat> = new Set(['csv', 'tsv', 'json', 'jsonl', 'xml', 'parquet']);
/** Formats of which not all that stands before a cut has to be read. */
const READ_AT_CUTS: ReadonlySet<InputFormat> = new Set(['jsonl', 'parquet']);

/** The state of a document on this machine that may be cut; undefined: it is elsewhere, not there, or of a format that is not cut. */
export const localState = async (url: string, request: RunRequest, signal: AbortSignal): Promise<InputState | undefined> =>
  isLocal(url) ? stateOf(url, request, signal).catch(() => undefined) : undefined;

/** undefined: do not cut. */
async function stateOf(url: string, { workingDirectory, reach, web }: RunRequest, signal: AbortSignal): Promise<InputState | undefined> {
  const format = formatByName(url);
  if (format === undefined || !CUT_FORMATS.has(format)) return undefined;
  if (/^https?:/i.test(url) && !READ_AT_CUTS.has(format)) return undefined;
  return probeInput(url, { workingDirectory, reach, signal, s3: web.s3 });
}

// ---------------------------------------------------------------- CSV

async function* csvSlices(
  document: Document,
  readOptions: ReadOptions,
  mark: number,
  targets: readonly number[],
): AsyncGenerator<ByteSlice> {
  if (!canBeCut(readOptions.csv ?? {})) return;
  const head = mark + (await csvHeadBytes(document.bytes(0), readOptions));
  const wanted = targets.filter((target) => target > head);
  yield* slicesBetween(document, head, cutsIn(document, head, new CsvCuts(readOptions.csv ?? {}, head, wanted), cutAt));
}

// ---------------------------------------------------------------- Parquet

/** Slices of whole row groups: each begins where a row group does. Those that stand in no order in the file are not cut. */
async function* rowGroupSlices(document: Document, readOptions: ReadOptions, sliceBytes: number): AsyncGenerator<ByteSlice> {
  const ranges = { sizeBytes: document.sizeBytes, read: (from: number, to: number) => document.read(from, to) };
  const { rowGroupOffsets } = await import('../../sources/parquet/parquet.ts');
  const offsets = await rowGroupOffsets(document.bytes(document.sizeBytes), { ...readOptions, ranges });
  if (offsets.some((offset, i) => !Number.isFinite(offset) || offset <= (offsets[i - 1] ?? 0))) return;
  const least = Math.max(sliceBytes, Math.ceil(document.sizeBytes / MAX_SLICES));
  const cuts: number[] = [];
  for (const offset of offsets.slice(1)) if (offset - (cuts.at(-1) ?? 0) >= least) cuts.push(offset);
  yield* slicesBetween(document, 0, cuts.map(cutAt));
}

// ---------------------------------------------------------------- JSON Lines

/**
 * Whether the records of a line are independent of other lines. The legacy dialect rejects a reference without a node in any record: a
 * slice cannot know that.
 */
function areLines({ iterations, dialect }: ScanPlan): boolean {
  return dialect === 'rml' && iterations.every(({ iterator = '$[*]', references }) => staysInLine(iterator, references, { dialect }));
}

async function* lineCuts(document: Document, targets: readonly number[]): AsyncGenerator<Cut> {
  let last = 0;
  for (const target of targets) {
    if (target <= last) continue;
    for (let bytes = FIRST_WINDOW_BYTES; bytes <= LAST_WINDOW_BYTES; bytes *= 8) {
      const found = findLine(await document.read(target, target + bytes));
      if (found !== undefined) {
        last = target + found;
        yield cutAt(last);
      }
      if (found !== undefined || target + bytes >= document.sizeBytes) break;
    }
  }
}

/**
 * Offset of a line that begins a value. The reader also accepts values that span several lines. Within such a value no two consecutive
 * lines are JSON by themselves, since a comma, a colon or a bracket is between them.
 */
function findLine(window: Buffer): number | undefined {
  let before = false;
  for (let from = window.indexOf(LF) + 1; from > 0; ) {
    const end = window.indexOf(LF, from);
    if (end < 0) return undefined;
    const isWhole = isJson(window.toString('utf8', from, end));
    if (before && isWhole) return from;
    before = isWhole;
    from = end + 1;
  }
  return undefined;
}

const LF = 10;

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
