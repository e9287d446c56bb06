/**
 * Finds keys of a CSV document: a column whose texts ascend from row to row, so that no two of them are the same; or a term of which all texts have
 * different hashes.
 */
import { Fault } from '../../core/fault.ts';
import { FORMULATIONS } from '../../core/input/formats.ts';
import { redact } from '../../core/redact.ts';
import type { FileSource } from '../../mapping/model/model.ts';
import { nameOf, readsOfTerm } from '../../plan/expressions.ts';
import type { KeyQuestion } from '../../plan/physical/keys.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import { readerOf } from '../../sources/formats.ts';
import { DistinctValues } from '../../sources/parquet/distinct-values.ts';
import type { OpenedScan } from '../../sources/source.ts';
import { memoryBytes } from '../../storage/local/memory.ts';
import type { Ranges } from '../../storage/open.ts';
import { compileTerm } from '../../terms/encode.ts';
import type { Accessors } from '../../terms/evaluate.ts';
import { Ascent } from '../distinct/ascent.ts';
import { type DocumentPlace, formatOf } from '../prepare/documents/inputs.ts';
import { openFileScan, readOptionsOf } from '../prepare/documents/open-scan.ts';
import type { ByteSlice, RunRequest } from '../request.ts';

/** The subjects of smaller documents take little memory, and about as much time as the look. */
const LEAST_BYTES = 32 << 20;
/** The system keeps documents up to this share of the memory: it does not read them from the disk twice. */
const MOST_OF_MEMORY = 1 / 4;
/** Parts that are looked at before the whole document: nearly all columns that do not ascend do not ascend there. */
const SAMPLES = 8;
const SAMPLE_BYTES = 1 << 15;
/** Line feeds behind which a sample may begin. */
const MOST_BEGINNINGS = 8;
const LF = 10;

/** Tables of fewer bytes take about as much time as looking for different texts, unless they do not fit in memory. */
const LEAST_TABLE_BYTES = 128 << 20;

export interface TextReader {
  /** Whether the texts of a column ascend. @throws Fault those of the document's reader */
  ascend(reference: string): Promise<boolean>;
  /** Whether the texts of a term are different, as far as that saves large tables. @throws Fault those of the document's reader, record/term */
  differ(question: KeyQuestion): Promise<boolean>;
}

/**
 * undefined: the document is no CSV on this machine, described by the mapping, small, or very large.
 *
 * @param slice the part of the document that is looked at; undefined: all of it
 *
 * **Proof.** Of texts that ascend, none comes twice (`distinct/ascent.ts`), nor of texts whose hashes are all different. They are the texts of the run: the
 * same reader gives the values, with the same options, and the same closures make terms of them. Rows without a value do not count.
 *
 * @throws Fault those of the document's reader
 */
export async function textReader(
  scan: ScanPlan,
  source: FileSource,
  place: DocumentPlace,
  ranges: Ranges,
  slice: ByteSlice | undefined,
  request: RunRequest,
  signal: AbortSignal,
): Promise<TextReader | undefined> {
  const { version } = ranges;
  const begin = slice?.from ?? 0;
  const end = slice?.to ?? ranges.sizeBytes;
  const format = formatOf(place, source, request.inputOptions);
  const { cuts } = readerOf(format);
  if (!FORMULATIONS[source.formulation].hasRows || cuts === undefined || source.csv?.columns !== undefined) return undefined;
  if (end - begin < (request.keyBytes ?? LEAST_BYTES) || end - begin > memoryBytes() * MOST_OF_MEMORY) return undefined;
  const document = { ...ranges, bytes: (from: number) => chunksOf(ranges, from) };
  const find = await cuts.find();
  const beginning = await find(document, scan.iterations, readOptionsOf(scan, source, format, redact(place.url), request), []);
  if (beginning === undefined) return undefined;
  const head = slice?.head ?? beginning.head;
  const first = Math.max(begin, head);

  /** Takes the records of a part, as long as `take` returns true. Returns whether it has taken all of them. */
  const read = async (
    references: readonly string[],
    from: number,
    to: number,
    open: (opened: OpenedScan) => (record: unknown, position: number) => boolean,
  ): Promise<boolean> => {
    const part: ByteSlice = { kind: 'bytes', head, from, to, version };
    const opened = await openFileScan(readingOnly(scan, references), source, place, request, signal, part, NO_SPILL);
    try {
      const take = open(opened);
      for await (const { records } of opened.scan.batches(signal)) {
        for (let i = 0; i < records.length; i++) if (!take(records[i], i)) return false;
      }
      return !signal.aborted;
    } finally {
      await opened.close();
    }
  };
  /** Adds the texts of a part, as long as they ascend. */
  const readAscending = (reference: string, from: number, to: number, ascent: Ascent): Promise<boolean> =>
    read([reference], from, to, ({ scan }) => {
      const textOf = scan.accessor(0, reference);
      // Columns that are not described have texts.
      return (record) => {
        const text = textOf(record);
        return text === null || ascent.add(text as string);
      };
    });
  const ascendsInSamples = async (reference: string): Promise<boolean> => {
    const step = Math.floor((end - first) / SAMPLES);
    if (step < SAMPLE_BYTES) return true;
    let ascent = new Ascent();
    for (let at = first + step; at + SAMPLE_BYTES <= end; at += step) {
      const sample = await ranges.read(at, at + SAMPLE_BYTES);
      const to = sample.lastIndexOf(LF) + 1;
      let found: Ascent | undefined;
      for (const from of beginningsIn(sample)) {
        const own = ascent.copy();
        // The end of the sample may be within a cell.
        await readAscending(reference, at + from, at + to, own).catch(leaveToReader);
        if (own.holds && own.count >= ascent.count + 2) {
          found = own;
          break;
        }
      }
      if (found === undefined) return false;
      ascent = found;
    }
    return true;
  };
  const ascend = async (reference: string): Promise<boolean> => {
    if (!(await ascendsInSamples(reference))) return false;
    const ascent = new Ascent();
    await readAscending(reference, first, end, ascent);
    return ascent.holds;
  };
  const differ = async ({ term, rowBytes }: KeyQuestion): Promise<boolean> => {
    const sample = await ranges.read(first, Math.min(end, first + SAMPLE_BYTES));
    const rows = ((end - first) / sample.length) * sample.reduce((count, byte) => (byte === LF ? count + 1 : count), 0);
    if (rows * rowBytes < (request.keyBytes ?? Math.min(LEAST_TABLE_BYTES, request.memoryBudgetBytes))) return false;
    // Freed before the run fills its own tables.
    const values = new DistinctValues((3 * request.memoryBudgetBytes) / 4);
    return read([...new Set(readsOfTerm(term).map(nameOf))], first, end, (opened) => {
      const { text: textOf } = compileTerm(term, accessorsOf(opened, request));
      return (record, position) => {
        const text = textOf(record, position);
        return text === null || (typeof text === 'string' && values.add(text));
      };
    });
  };
  return { ascend, differ };
}

/** The records of the only iteration of a scan, for terms that read nothing else. */
function accessorsOf({ scan, typed }: OpenedScan, { runId }: RunRequest): Accessors {
  const no = (): never => {
    throw new Error('a key is made of the texts of a row');
  };
  return {
    accessor: (leaf) => (leaf.kind === 'read' ? scan.accessor(0, nameOf(leaf)) : no()),
    encoded: no,
    typed,
    datatype: (leaf) => (leaf.kind === 'read' ? scan.datatype?.(0, nameOf(leaf)) : no()),
    labels: { values: '', rows: no },
    part: '',
    order: no,
    heads: no,
    run: runId,
    startedAt: 0,
  };
}

/** What is wrong with a document, the reader of the run says. */
export function leaveToReader(error: unknown): undefined {
  if (!(error instanceof Fault)) throw error;
}

async function* chunksOf({ sizeBytes, read }: Ranges, from: number): AsyncGenerator<Uint8Array> {
  for (let at = from; at < sizeBytes; at += SAMPLE_BYTES) yield await read(at, Math.min(at + SAMPLE_BYTES, sizeBytes));
}

/** Where a row may begin in a part of a document: behind the first line feeds. Some of them may be within a cell. */
function* beginningsIn(part: Buffer): Generator<number> {
  let from = 0;
  for (let count = 0; count < MOST_BEGINNINGS; count++) {
    from = part.indexOf(LF, from) + 1;
    if (from === 0) return;
    yield from;
  }
}

/** The scan of which some references alone are read. */
function readingOnly(scan: ScanPlan, references: readonly string[]): ScanPlan {
  const [iteration] = scan.iterations;
  if (iteration === undefined) throw new Error('a scan has no iteration');
  return { ...scan, iterations: [{ ...iteration, references, nested: [], pipelines: [] }] };
}

/** Rows of CSV never wait. */
const NO_SPILL = {
  afterBytes: Number.POSITIVE_INFINITY,
  open: () => {
    throw new Error('rows of CSV do not wait');
  },
};
