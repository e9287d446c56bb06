/** Finds a column of a CSV document whose texts ascend from row to row: no two of them are the same. */
import { Fault } from '../../core/fault.ts';
import { FORMULATIONS } from '../../core/input/formats.ts';
import { redact } from '../../core/redact.ts';
import type { FileSource } from '../../mapping/model/model.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import { readerOf } from '../../sources/formats.ts';
import { memoryBytes } from '../../storage/local/memory.ts';
import type { Ranges } from '../../storage/open.ts';
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

/** Whether the texts of a column ascend. */
export type AscentReader = (reference: string) => Promise<boolean>;

/**
 * undefined: the document is no CSV on this machine, described by the mapping, small, or very large.
 *
 * @param slice the part of the document that is looked at; undefined: all of it
 *
 * **Proof.** Of texts that ascend, none comes twice (`distinct/ascent.ts`). They are the texts of the run: the same reader gives them, with the
 * same options. Rows without a value do not count.
 *
 * @throws Fault those of the document's reader
 */
export async function ascentReader(
  scan: ScanPlan,
  source: FileSource,
  place: DocumentPlace,
  ranges: Ranges,
  slice: ByteSlice | undefined,
  request: RunRequest,
  signal: AbortSignal,
): Promise<AscentReader | undefined> {
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

  /** Adds the texts of a part, as long as they ascend. */
  const read = async (reference: string, from: number, to: number, ascent: Ascent): Promise<void> => {
    const part: ByteSlice = { kind: 'bytes', head, from, to, version };
    const opened = await openFileScan(readingOnly(scan, reference), source, place, request, signal, part, NO_SPILL);
    try {
      const textOf = opened.scan.accessor(0, reference);
      for await (const { records } of opened.scan.batches(signal)) {
        for (const record of records) {
          const text = textOf(record);
          // Columns that are not described have texts.
          if (text !== null && !ascent.add(text as string)) return;
        }
      }
    } finally {
      await opened.close();
    }
  };
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
        await read(reference, at + from, at + to, own).catch(leaveToReader);
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
  return async (reference) => {
    if (!(await ascendsInSamples(reference))) return false;
    const ascent = new Ascent();
    await read(reference, first, end, ascent);
    return ascent.holds;
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

/** The scan of which one reference alone is read. */
function readingOnly(scan: ScanPlan, reference: string): ScanPlan {
  const [iteration] = scan.iterations;
  if (iteration === undefined) throw new Error('a scan has no iteration');
  return { ...scan, iterations: [{ ...iteration, references: [reference], nested: [], pipelines: [] }] };
}

/** Rows of CSV never wait. */
const NO_SPILL = {
  afterBytes: Number.POSITIVE_INFINITY,
  open: () => {
    throw new Error('rows of CSV do not wait');
  },
};
