/** Opens a scan of the plan over a document, by its format. */

import { createHash } from 'node:crypto';
import { Fault } from '../../../core/fault.ts';
import { delimiterOf, FORMULATIONS, formatOfMediaType, formatOfPath, type InputFormat, isWorkbook } from '../../../core/input/formats.ts';
import { redact } from '../../../core/redact.ts';
import { type FileSource, hasTypedValues, namesTypedColumns } from '../../../mapping/model/model.ts';
import type { ScanPlan } from '../../../plan/plan.ts';
import { openDocument, readerOf } from '../../../sources/formats.ts';
import type {
  Batch,
  FileOptions,
  Identity,
  IterationRequest,
  NestedRecords,
  OpenedScan,
  OpenScan,
  Ranges,
  ReadOptions,
  Scan,
  Served,
  Spill,
  Unseen,
} from '../../../sources/source.ts';
import { openInput, probeInput, rangesOf } from '../../../storage/open.ts';
import { changedFault, type OpenedInput, type OpenOptions, type WebAsk } from '../../../storage/storage.ts';
import { withoutPosition } from '../../report.ts';
import { type ByteSlice, type DocumentBytes, type RunHooks, type RunRequest, STANDARD_INPUT } from '../../request.ts';
import { type DocumentPlace, formatBefore, formatByName, formatOf, withOtherPlace } from './inputs.ts';
import { type OpenPage, openPages } from './pages/paged-scan.ts';
import { RESULT_TYPES } from './web-answer.ts';

/** What is read of a document: a scan of a plan, or a part of one. */
interface Wanted extends Pick<ScanPlan, 'dialect'> {
  readonly iterations: readonly IterationRequest[];
}

/** Opens a document, or a slice of it. The caller closes it. @param given in place of what is at the address */
export async function openFileScan(
  plan: Wanted,
  source: FileSource,
  place: DocumentPlace,
  request: RunRequest,
  signal: AbortSignal,
  slice: ByteSlice | undefined,
  spill: Spill | undefined,
  given?: DocumentBytes,
): Promise<OpenedScan> {
  const { url } = place;
  const { inputOptions } = request;
  const standardInput = inputOptions !== undefined && place.given && url === STANDARD_INPUT;
  const name = standardInput ? 'standard input' : redact(url);
  const { workingDirectory, limits, web, reach } = request;
  const asked = askOf(source);
  const ask = asked && request.firstRecords !== undefined ? { ...asked, promptly: true } : asked;
  if (given !== undefined) {
    const text = readOptionsOf(plan, source, formatOf(place, source, inputOptions), name, request, { spill });
    const scan = await (await openerOf(source))(given.bytes, plan.iterations, text);
    return { name, typed: isTyped(plan, source), scan, batches: () => told(scan, signal, given), close: async () => scan.close?.() };
  }
  const isArchive = isReadAsWorkbook(source, place, inputOptions);
  const options: OpenOptions = {
    workingDirectory,
    signal,
    compression: source.compression,
    isArchive,
    limits,
    standardInput,
    reach,
    web,
    s3: web.s3,
    ask,
  };
  const paging = source.request?.kind === 'get' && /^https?:/i.test(url) ? source.request.paging : undefined;
  if (paging !== undefined) {
    const open = openPagesOf(plan, source, place, request, options, spill);
    const scan = await openPages(paging, url, plan.iterations, source.formulation, open, { ...limits, pages: web.pages });
    return { name, typed: isTyped(plan, source), scan, close: async () => scan.close?.() };
  }
  const isWhole = readerOf(formatBefore(url, source, inputOptions)).readsRanges === true;
  const body = isWhole ? undefined : (slice ?? (await wholeOf(place, options)));
  if (body !== undefined && place.version !== undefined && body.version !== place.version) throw changedFault(name);
  const input = await (body === undefined ? openInput(standardInput ? name : url, options) : openSlice(url, options, body)).catch(
    (error) => {
      throw withOtherPlace(error, source, place, request);
    },
  );
  try {
    // The name of an archive tells the format of its file, or else the name of that does.
    const isUntold = input.member !== undefined && formatByName(url) === undefined;
    const named = isUntold ? { ...place, url: input.member as string } : place;
    const format = formatOf(named, source, inputOptions, input.mediaType);
    const { readsRanges = false } = readerOf(format);
    const hasRanges = readsRanges && !standardInput && source.request === undefined;
    const ranges = hasRanges ? await rangesOf(url, options, place.version ?? slice?.version) : undefined;
    if (ranges !== undefined) await input.close();
    const opening = { sheet: place.sheet, served: servedOf(url, input), spill, ranges, slice };
    const open = await openerOf(source);
    const scan = await open(input.bytes, plan.iterations, readOptionsOf(plan, source, format, name, request, opening));
    const close = async (): Promise<void> => {
      await scan.close?.();
      await input.close();
    };
    const opened = { name, typed: isTyped(plan, source), scan, close };
    if (slice === undefined) return opened;
    if (!readsRanges) return { ...opened, scan: placed(scan, slice, () => linesBefore(url, options, slice)), recordsFrom: slice.from };
    // Rows are numbered as in the document, items of iterators are not.
    return { ...opened, recordsFrom: plan.iterations.every(({ iterator }) => iterator === undefined) ? 0 : slice.from };
  } catch (error) {
    await input.close();
    throw error;
  }
}

/** Opens the messages of a topic. @param open of the hooks, without which no such run is prepared */
export function openTopicScan(plan: Wanted, source: FileSource, request: RunRequest, open: RunHooks['openTopic']): Promise<OpenedScan> {
  const options = readOptionsOf(plan, source, source.formulation, redact(source.path), request);
  return (open as NonNullable<typeof open>)({ source, iterations: plan.iterations, options, typed: isTyped(plan, source) });
}

async function* told(scan: Scan, signal: AbortSignal, { read }: DocumentBytes): AsyncGenerator<Batch> {
  for await (const batch of scan.batches(signal)) {
    read?.(batch.bytes);
    yield batch;
  }
}

/** All of a document of which a version must be read; undefined: none must. */
async function wholeOf({ url, version }: DocumentPlace, options: OpenOptions): Promise<ByteSlice | undefined> {
  const state = version === undefined ? undefined : await probeInput(url, options);
  return state && { kind: 'bytes', head: 0, from: 0, to: state.sizeBytes, version: state.version };
}

/** Whether a document is read as a workbook, by what is known before it is opened. */
function isReadAsWorkbook({ request }: FileSource, { url, sheet }: DocumentPlace, inputOptions: RunRequest['inputOptions']): boolean {
  const declared = request?.kind === 'get' && request.mediaType !== undefined ? formatOfMediaType(request.mediaType) : undefined;
  return sheet !== undefined || [inputOptions?.format, formatOfPath(url), declared].some(isWorkbook);
}

const isTyped = ({ dialect }: Wanted, source: FileSource): boolean =>
  (dialect === 'rml' || namesTypedColumns(source)) && hasTypedValues(source);

/** Opens the pages of a Web API, each as a document. */
function openPagesOf(
  plan: Wanted,
  source: FileSource,
  place: DocumentPlace,
  request: RunRequest,
  options: OpenOptions,
  spill: Spill | undefined,
): OpenPage {
  return async (address, iterations) => {
    const input = await openInput(address, options);
    try {
      const name = redact(address);
      const format = formatOf({ ...place, url: address }, source, request.inputOptions, input.mediaType);
      const open = await openerOf(source);
      const digest = createHash('sha256');
      const bytes = (async function* () {
        for await (const chunk of input.bytes) {
          digest.update(chunk);
          yield chunk;
        }
      })();
      const opening = { sheet: place.sheet, served: servedOf(address, input), spill };
      // Identities are those of one document: of several pages, positions count.
      const whole = iterations.map((iteration) => ({ ...iteration, namesRows: false }));
      const scan = await open(bytes, whole, readOptionsOf(plan, source, format, name, request, opening));
      return {
        scan,
        web: input.web,
        digest: () => digest.copy().digest('base64'),
        async close() {
          await scan.close?.();
          await input.close();
        },
      };
    } catch (error) {
      await input.close();
      throw error;
    }
  };
}

/** The header of the document followed by the bytes of the slice, as if they were the whole document. */
async function openSlice(url: string, options: OpenOptions, { head, from, to, version, before, behind }: ByteSlice): Promise<OpenedInput> {
  if (from === head && before === undefined) {
    const body = await openInput(url, { ...options, range: { from: 0, to, version } });
    return behind === undefined ? body : { ...body, bytes: between('', body.bytes, behind) };
  }
  const body = await openInput(url, { ...options, range: { from, to, version } });
  if (before !== undefined || behind !== undefined) return { ...body, bytes: between(before ?? '', body.bytes, behind ?? '') };
  if (head === 0) return body;
  const first = await openInput(url, { ...options, range: { from: 0, to: head, version } }).catch(async (error) => {
    await body.close();
    throw error;
  });
  const both = async function* (): AsyncGenerator<Uint8Array> {
    yield* first.bytes;
    yield* body.bytes;
  };
  return {
    ...body,
    bytes: both(),
    async close() {
      await first.close();
      await body.close();
    },
  };
}

async function* between(before: string, bytes: AsyncIterable<Uint8Array>, behind: string): AsyncGenerator<Uint8Array> {
  if (before !== '') yield Buffer.from(before, 'latin1');
  yield* bytes;
  if (behind !== '') yield Buffer.from(behind, 'latin1');
}

/** The lines of a document before a slice. */
interface LinesBefore {
  /** Line feeds before the slice, without those that its reader has read before it. */
  readonly count: number;
  /** Bytes of the line on which the slice begins. */
  readonly columns: number;
  /** 1-based line of the slice's reader on which the slice begins. */
  readonly first: number;
}

/** Counted when a fault is to be reported, by reading the document again. */
async function linesBefore(url: string, options: OpenOptions, { head, from, version, before }: ByteSlice): Promise<LinesBefore> {
  let count = 0;
  let inHead = 0;
  let at = 0;
  let last = 0;
  const input = await openInput(url, { ...options, range: { from: 0, to: from, version } });
  for await (const chunk of input.bytes) {
    for (let i = chunk.indexOf(LINE_FEED); i >= 0; i = chunk.indexOf(LINE_FEED, i + 1)) {
      count++;
      if (at + i < head) inHead++;
      last = at + i + 1;
    }
    at += chunk.length;
  }
  const read = before === undefined ? inHead : before.split('\n').length - 1;
  return { count: count - read, columns: from - last, first: read + 1 };
}

const LINE_FEED = 10;

/** The scan of a slice, with positions reported relative to the document. @param lines undefined: the slice begins the document */
function placed(scan: Scan, slice: ByteSlice, lines: () => Promise<LinesBefore>): Scan {
  return {
    accessor: (iteration, reference) => scan.accessor(iteration, reference),
    ...(scan.nested === undefined
      ? {}
      : { nested: (iteration: number, iterator: string) => scan.nested?.(iteration, iterator) as NestedRecords }),
    unmatched: (iteration) => scan.unmatched(iteration),
    warnings: () => (scan.warnings?.() ?? []).map(slice.from === slice.head ? (warning) => warning : withoutPosition),
    hint: (iteration, reference, within) => scan.hint?.(iteration, reference, within),
    ...(scan.unseen === undefined ? {} : { unseen: (iteration: number) => scan.unseen?.(iteration) as Unseen }),
    async *batches(signal) {
      const counted = textBefore(slice);
      const most = slice.to - slice.from;
      // Lines are those of the document only where the slice begins it.
      const own = slice.from === slice.head && slice.before === undefined ? {} : { lineOf: undefined };
      const { counts } = slice;
      try {
        for await (const batch of scan.batches(signal))
          yield {
            ...batch,
            ...own,
            ...(counts === undefined ? {} : { identityOf: (position) => inWhole(batch.identityOf?.(position) ?? position, counts) }),
            bytes: Math.min(most, Math.max(0, batch.bytes - counted)),
          };
      } catch (error) {
        throw await inDocument(error, slice, lines);
      }
    },
  };
}

/** What tells a record of the slice from all of the document. A count goes on from that before the slice while those around it have not grown. */
function inWhole(identity: Identity, counts: readonly number[]): Identity {
  if (typeof identity === 'number') return identity + (counts[0] as number);
  if (typeof identity === 'string') return identity;
  let goesOn = true;
  return identity.map((count, level) => {
    const before = goesOn ? (counts[level] ?? 0) : 0;
    goesOn &&= count === 0;
    return count + before;
  });
}

/** Bytes that the reader of a slice reads before the slice itself. */
const textBefore = ({ head, from, before }: ByteSlice): number => before?.length ?? (from === head ? 0 : head);

async function inDocument(error: unknown, slice: ByteSlice, lines: () => Promise<LinesBefore>): Promise<unknown> {
  if (!(error instanceof Fault) || error.code === 'run/cancelled') return error;
  const { from, to, head, before } = slice;
  const { byte, line, column, record } = error.place;
  const records = record === undefined ? {} : { recordsFrom: from };
  if (from === head && before === undefined) return error.with({ place: records });
  const counted = textBefore(slice);
  const isInHead = byte !== undefined && byte < counted && before === undefined;
  const at = byte === undefined || isInHead ? {} : { byte: Math.min(to, Math.max(0, byte - counted) + from) };
  if (line === undefined || isInHead) return error.with({ place: { ...at, ...records } });
  const { count, columns, first } = await lines();
  const onFirst = column !== undefined && line === first ? { column: column + columns } : {};
  return error.with({ place: { line: line + count, ...onFirst, ...at, ...records } });
}

/** Of a document that is no file of this machine. */
const servedOf = (url: string, { mediaType, charset }: OpenedInput): Served | undefined =>
  /^(?:https?|s3):/i.test(url) ? { mediaType, charset } : undefined;

/** What is known of a document when it is opened. */
interface Opening {
  readonly sheet?: string | undefined;
  readonly served?: Served | undefined;
  readonly spill?: Spill | undefined;
  readonly ranges?: Ranges | undefined;
  readonly slice?: ByteSlice | undefined;
}

/** @param format one that the formulation of the source reads */
export function readOptionsOf(
  { dialect }: Pick<Wanted, 'dialect'>,
  source: Pick<FileSource, 'formulation' | 'path' | 'nulls' | 'encoding' | 'namespaces' | 'csv'>,
  format: InputFormat,
  name: string,
  request: RunRequest,
  { sheet, served, spill, ranges, slice }: Opening = {},
): ReadOptions {
  const { inputOptions, maxRecordBytes, firstRecords, limits, xmlDefaultNamespace } = request;
  const { nulls, namespaces } = source;
  const common = { name, dialect, nulls, maxRecordBytes, ...(firstRecords === undefined ? {} : { promptly: true }) };
  const text = { ...common, encoding: inputOptions?.encoding ?? source.encoding, ...(served === undefined ? {} : { served }) };
  const depth = limits.depth === 0 ? {} : { maxDepth: limits.depth };
  const delimiter = delimiterOf(format);
  const csv = { ...(delimiter === undefined ? {} : { delimiter }), ...source.csv, ...inputOptions?.csv };
  const table = FORMULATIONS[source.formulation].hasRows ? { csv } : {};
  switch (format) {
    case 'csv':
    case 'tsv':
      return { ...text, format, ...table };
    case 'json':
    case 'jsonl':
      return { ...text, format, ...depth };
    case 'xml':
      return { ...text, format, ...depth, namespaces, xmlDefaultNamespace, ...(spill === undefined ? {} : { spill }) };
    default: {
      const columns = { ...common, ...depth, ...table, files: filesOf(request), naturalDatatypes: namesTypedColumns(source) };
      if (format !== 'parquet') return { ...columns, format, ...(sheet === undefined ? {} : { sheet }) };
      return { ...columns, format, ...(ranges === undefined ? {} : { ranges }), ...(slice === undefined ? {} : { slice }) };
    }
  }
}

/** What a server is asked for. `accept` says which format the source is read as, where the mapping tells. */
function askOf({ request, formulation }: FileSource): WebAsk | undefined {
  if (request === undefined || request.kind === 'topic') return undefined;
  if (request.kind === 'select') return { query: request.query, headers: { accept: RESULT_TYPES[request.results] } };
  const headers = Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value]));
  return { headers: { accept: request.mediaType ?? `${USUAL_TYPES[formulation]}, */*;q=0.1`, ...headers } };
}

const USUAL_TYPES: Readonly<Record<FileSource['formulation'], string>> = {
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
  json: 'application/json',
  xml: 'application/xml, text/xml;q=0.9',
};

const openerOf = async ({ request }: FileSource): Promise<OpenScan> =>
  request?.kind === 'select'
    ? (await import('../../../sources/sparql/results.ts')).openResults(request.results, openDocument)
    : openDocument;

/** A share of the memory for joins and de-duplication: what does not fit is in files. */
const filesOf = ({ spillDirectory, memoryBudgetBytes, limits }: RunRequest): FileOptions => ({
  directory: spillDirectory,
  memoryBytes: Math.floor(memoryBudgetBytes / 4),
  inflationRatio: limits.inflationRatio,
  inputBytes: limits.inputBytes,
});
