/** Cuts a large document into byte ranges: between two rows of CSV, between two lines of JSON Lines, or between row groups of Parquet. */

import { redact } from '../../core/redact.ts';
import type { FileSource } from '../../mapping/model/model.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import { csvHeadBytes } from '../../sources/csv/csv.ts';
import { CsvCuts, canBeCut } from '../../sources/csv/cuts.ts';
import { utf8Mark } from '../../sources/encoding.ts';
import { staysInLine } from '../../sources/json/expression.ts';
import type { ReadOptions } from '../../sources/source.ts';
import { openInput, probeInput } from '../../storage/open.ts';
import type { InputState, OpenOptions } from '../../storage/storage.ts';
import { readOptionsOf } from '../execute/open-scan.ts';
import { formatByName, isParquet } from '../prepare/inputs.ts';
import type { ByteSlice, RunRequest } from '../request.ts';

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
 * Ranges of about `sliceBytes` each of a document; one or none if the document is small or cannot be cut: it is compressed, not UTF-8,
 * neither CSV nor JSON Lines nor Parquet, CSV over HTTP, or the answer to a request with headers or a query.
 *
 * A quoted CSV cell may contain line feeds, so the document is read once, up to the last cut. That is fast on a disk, but over HTTP it
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
  const { workingDirectory, reach, web } = request;
  const document = new Document(url, state, { workingDirectory, reach, signal, s3: web.s3 });
  if (isParquet(url, source, request.inputOptions))
    return rowGroupSlices(document, readOptionsOf(scan, source, 'parquet', redact(url), request), sliceBytes);
  const mark = utf8Mark(await document.read(0, HEAD_BYTES), source.encoding);
  if (mark === undefined) return [];
  const readOptions = readOptionsOf(scan, source, formatByName(url), redact(url), request);
  const count = Math.min(MAX_SLICES, Math.ceil(state.sizeBytes / sliceBytes));
  const targets = Array.from({ length: count - 1 }, (_, i) => Math.round(((i + 1) * state.sizeBytes) / count));
  if (source.formulation === 'csv') return csvSlices(document, readOptions, mark, targets);
  return readOptions.jsonLines === true && areLines(scan) ? slicesAt(document, 0, await lineCuts(document, targets)) : [];
}

/** undefined: do not cut. */
async function stateOf(url: string, { workingDirectory, reach, web }: RunRequest, signal: AbortSignal): Promise<InputState | undefined> {
  const format = formatByName(url);
  if (format !== 'jsonl' && format !== 'parquet' && (/^https?:/i.test(url) || (format !== 'csv' && format !== 'tsv'))) return undefined;
  return probeInput(url, { workingDirectory, reach, signal, s3: web.s3 });
}

/** Random access to a document. */
class Document {
  readonly sizeBytes: number;
  readonly version: string;
  readonly #url: string;
  readonly #options: OpenOptions;

  constructor(url: string, { sizeBytes, version }: InputState, options: OpenOptions) {
    this.sizeBytes = sizeBytes;
    this.version = version;
    this.#url = url;
    this.#options = options;
  }

  /** The bytes from an offset to the end, in chunks. */
  async *bytes(from: number, to = this.sizeBytes): AsyncGenerator<Uint8Array> {
    const range = { from, to: Math.min(to, this.sizeBytes), version: this.version };
    if (range.from < range.to) yield* (await openInput(this.#url, { ...this.#options, range })).bytes;
  }

  async read(from: number, to: number): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.bytes(from, to)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }
}

function slicesAt({ sizeBytes, version }: Document, head: number, cuts: readonly number[]): readonly ByteSlice[] {
  const starts = [head, ...cuts.filter((cut) => cut > head && cut < sizeBytes)];
  return starts.map((from, i) => ({ kind: 'bytes', head, from, to: starts[i + 1] ?? sizeBytes, version }));
}

// ---------------------------------------------------------------- CSV

async function csvSlices(
  document: Document,
  readOptions: ReadOptions,
  mark: number,
  targets: readonly number[],
): Promise<readonly ByteSlice[]> {
  if (!canBeCut(readOptions.csv ?? {})) return [];
  const head = mark + (await csvHeadBytes(document.bytes(0), readOptions));
  const wanted = targets.filter((target) => target > head);
  const cuts = new CsvCuts(readOptions.csv ?? {}, head, wanted);
  for await (const chunk of document.bytes(head)) {
    cuts.feed(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    if (!cuts.wanted) break;
  }
  return slicesAt(document, head, cuts.cuts);
}

// ---------------------------------------------------------------- Parquet

/** Slices of whole row groups: each begins where a row group does. Those that stand in no order in the file are not cut. */
async function rowGroupSlices(document: Document, readOptions: ReadOptions, sliceBytes: number): Promise<readonly ByteSlice[]> {
  const ranges = { sizeBytes: document.sizeBytes, read: (from: number, to: number) => document.read(from, to) };
  const { rowGroupOffsets } = await import('../../sources/parquet/parquet.ts');
  const offsets = await rowGroupOffsets(document.bytes(document.sizeBytes), { ...readOptions, ranges });
  if (offsets.some((offset, i) => !Number.isFinite(offset) || offset <= (offsets[i - 1] ?? 0))) return [];
  const least = Math.max(sliceBytes, Math.ceil(document.sizeBytes / MAX_SLICES));
  const cuts: number[] = [];
  for (const offset of offsets.slice(1)) if (offset - (cuts.at(-1) ?? 0) >= least) cuts.push(offset);
  return slicesAt(document, 0, cuts);
}

// ---------------------------------------------------------------- JSON Lines

/**
 * Whether the records of a line are independent of other lines. The legacy dialect rejects a reference without a node in any record: a
 * slice cannot know that.
 */
function areLines({ iterations, dialect }: ScanPlan): boolean {
  return dialect === 'rml' && iterations.every(({ iterator = '$[*]', references }) => staysInLine(iterator, references, { dialect }));
}

async function lineCuts(document: Document, targets: readonly number[]): Promise<readonly number[]> {
  const cuts: number[] = [];
  for (const target of targets) {
    if (target <= (cuts.at(-1) ?? 0)) continue;
    for (let bytes = FIRST_WINDOW_BYTES; bytes <= LAST_WINDOW_BYTES; bytes *= 8) {
      const found = findLine(await document.read(target, target + bytes));
      if (found !== undefined) cuts.push(target + found);
      if (found !== undefined || target + bytes >= document.sizeBytes) break;
    }
  }
  return cuts;
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
