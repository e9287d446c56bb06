/**
 * Inputs as rows of what is read of their records: the texts of a database, or the values of the references of a plan.
 *
 * A chunk has rows one after the other, each packed (`run/join/packed-row.ts`): the number of its iteration, and its cells.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { redact } from '../../../core/redact.ts';
import type { Accessor, Values } from '../../../core/value.ts';
import type { ScanPlan } from '../../../plan/plan.ts';
import type { Databases } from '../../../run/databases/databases.ts';
import { type Cell, packRow, unpackRow } from '../../../run/join/packed-row.ts';
import type { DocumentPlace } from '../../../run/prepare/documents/inputs.ts';
import { openFileScan } from '../../../run/prepare/documents/open-scan.ts';
import type { PreparedRun } from '../../../run/prepare/open.ts';
import type { RunRequest } from '../../../run/request.ts';
import type { Batch, OpenedScan, Scan } from '../../../sources/source.ts';
import { SpillSpace, spillName } from '../../../spill/space.ts';
import { probeInput } from '../../../storage/open.ts';
import { NotByRecord } from '../units.ts';
import { type ChunkSizes, isBorder } from './chunks.ts';
import type { NumberedChunk, RecordInput, Took } from './input.ts';

const COLON = 58;
const NEVER = new AbortController().signal;
/** About what a row of a table is worth. */
const ROW_BYTES = 100;

/** @param position of the scan */
export async function openRows(
  { plan, places, databases, version }: PreparedRun,
  position: number,
  request: RunRequest,
  signal = NEVER,
): Promise<RecordInput> {
  const scan = plan.scans[position] as ScanPlan;
  const { source, iterations } = scan;
  const asked = iterations.map(({ iterator, references }) => [iterator ?? null, references]);
  if (source.kind !== 'file') {
    const table = source.kind === 'sql' ? databases?.tableOf(source) : undefined;
    const open = (): OpenedScan => (databases as Databases).openScan(scan, source, undefined, undefined);
    const { scan: columns } = open();
    const datatypes = iterations.map(({ references }, i) => references.map((reference) => columns.datatype?.(i, reference) ?? null));
    return new Rows(
      'the database',
      // What the server says of columns decides how their texts are read.
      Buffer.from(JSON.stringify([asked, datatypes, version, columns.kept?.layout])),
      table?.estimatedRows === undefined ? undefined : table.estimatedRows * ROW_BYTES,
      scan,
      async () => open(),
      signal,
    );
  }
  const place = places[position] as DocumentPlace;
  const { workingDirectory, reach, web, memoryBudgetBytes, spillDirectory, runId } = request;
  const state = await probeInput(place.url, { workingDirectory, reach, signal, web, s3: web.s3 });
  const open = async (): Promise<OpenedScan> => {
    const space = new SpillSpace(join(spillDirectory, spillName(runId, `rows-${position}-${randomUUID()}`)));
    const spill = { afterBytes: memoryBudgetBytes, open: () => space.text() };
    const opened = await openFileScan(scan, source, place, request, signal, undefined, spill);
    const close = async (): Promise<void> => {
      await opened.close();
      await space.remove();
    };
    return { ...opened, close };
  };
  return new Rows(redact(place.url), Buffer.from(JSON.stringify(asked)), state?.sizeBytes, scan, open, signal);
}

/** A row: the number of its iteration, and what accessors read. */
type Row = readonly [iteration: number, cells: readonly Cell[]];

class Rows implements RecordInput {
  readonly name: string;
  readonly head: Buffer;
  readonly sizeBytes: number | undefined;
  readonly #plan: ScanPlan;
  readonly #open: () => Promise<OpenedScan>;
  readonly #signal: AbortSignal;

  constructor(
    name: string,
    head: Buffer,
    sizeBytes: number | undefined,
    plan: ScanPlan,
    open: () => Promise<OpenedScan>,
    signal: AbortSignal,
  ) {
    this.name = name;
    this.head = head;
    this.sizeBytes = sizeBytes;
    this.#plan = plan;
    this.#open = open;
    this.#signal = signal;
  }

  async *chunks(sizes: ChunkSizes): AsyncGenerator<Buffer> {
    const opened = await this.#open();
    try {
      for await (const { text, fault } of this.#chunksOf(opened, this.#readerOf(opened), sizes)) {
        if (text === undefined) throw new NotByRecord(`of the records, some cannot be read: ${(fault as Error).message}`);
        yield text;
      }
    } finally {
      await opened.close();
    }
  }

  recordsOf(text: Buffer): readonly Buffer[] {
    const records: Buffer[] = [];
    for (let from = 0; from < text.length; ) {
      const colon = text.indexOf(COLON, from);
      // Behind the tag of a text stands its length.
      const end = colon + 1 + Number(text.toString('latin1', from + 1, colon));
      records.push(text.subarray(from, end));
      from = end;
    }
    return records;
  }

  replayed(chunks: Iterable<NumberedChunk>, took: Took): { readonly scan: (opened: OpenedScan) => OpenedScan } {
    return {
      scan: (opened) => {
        const batches = async function* (): AsyncGenerator<Batch> {
          const counts: number[] = [];
          for (const [chunk, text] of chunks) {
            took([chunk]);
            const rows = unpackRow(text.toString('latin1')).map((row): Row => {
              const [iteration, ...cells] = unpackRow(row as string);
              return [Number(iteration), cells];
            });
            yield* batchesOf(rows, counts, 0, scan.kept?.identity);
          }
        };
        const { scan } = this.#readerOf(opened);
        // What some records lack, others may have.
        return { ...opened, scan: { ...scan, unmatched: () => [] }, batches };
      },
    };
  }

  recorded(
    sizes: ChunkSizes,
    add: (text: Buffer | undefined) => number,
    took: Took,
  ): { readonly scan: (opened: OpenedScan) => OpenedScan } {
    return {
      scan: (opened) => {
        const reader = this.#readerOf(opened);
        const chunks = this.#chunksOf(opened, reader, sizes);
        const batches = async function* (): AsyncGenerator<Batch> {
          const counts: number[] = [];
          for await (const { text, rows, bytes } of chunks) {
            took([add(text)]);
            yield* batchesOf(rows, counts, bytes, reader.scan.kept?.identity);
          }
        };
        const { scan } = opened;
        const told = {
          unmatched: (iteration: number) => scan.unmatched(iteration),
          hint: (...of: Parameters<NonNullable<Scan['hint']>>) => scan.hint?.(...of),
          warnings: () => scan.warnings?.() ?? [],
          ...(scan.unseen === undefined
            ? {}
            : { unseen: (iteration: number) => scan.unseen?.(iteration) as ReturnType<NonNullable<Scan['unseen']>> }),
        };
        return { ...opened, scan: { ...reader.scan, ...told }, batches };
      },
    };
  }

  /** The rows of a scan that was opened, some together. `text` is undefined where a value cannot be read, which is `fault`. */
  async *#chunksOf(opened: OpenedScan, reader: RowReader, sizes: ChunkSizes): AsyncGenerator<RowChunk> {
    let rows: Row[] = [];
    let texts: Buffer[] = [];
    let length = 0;
    let fault: unknown;
    let bytes = 0;
    const chunk = (): RowChunk => {
      const made: RowChunk = { rows, bytes, fault, text: fault === undefined ? Buffer.concat(texts, length) : undefined };
      rows = [];
      texts = [];
      length = 0;
      fault = undefined;
      return made;
    };
    reader.begin();
    for await (const batch of opened.batches?.() ?? opened.scan.batches(this.#signal)) {
      bytes = batch.bytes;
      const { iteration } = batch;
      for (const record of batch.records) {
        const cells = reader.cellsOf(iteration, record);
        rows.push([iteration, cells]);
        const unread = cells.find((cell) => (cell as unknown) instanceof Unread);
        if (unread !== undefined) {
          fault = (unread as unknown as Unread).error;
          yield chunk();
          continue;
        }
        const text = Buffer.from(packRow([packRow([String(iteration), ...cells])]), 'latin1');
        texts.push(text);
        length += text.length;
        if (isBorder(text, text.length, length, text.length, sizes)) yield chunk();
      }
    }
    if (rows.length > 0) yield chunk();
  }

  #readerOf({ scan }: OpenedScan): RowReader {
    const over = {
      ...(scan.datatype === undefined ? {} : { datatype: (iteration: number, reference: string) => scan.datatype?.(iteration, reference) }),
      batches: () => {
        throw new Error('records are read as rows');
      },
      unmatched: () => [],
    };
    // Rows of a database are what they are: accessors read them.
    if (this.#plan.source.kind !== 'file')
      return {
        scan: { ...over, ...(scan.kept && { kept: scan.kept }), accessor: (iteration, reference) => scan.accessor(iteration, reference) },
        begin: () => undefined,
        cellsOf: (_, record) => [...(record as readonly (string | null)[])],
      };
    const references = this.#plan.iterations.map((iteration) => iteration.references);
    const accessors: (Accessor | undefined)[][] = references.map(() => []);
    const accessorOf = (iteration: number, slot: number): Accessor => {
      const known = accessors[iteration] as (Accessor | undefined)[];
      const found = known[slot] ?? scan.accessor(iteration, references[iteration]?.[slot] as string);
      known[slot] = found;
      return found;
    };
    const accessor = (iteration: number, reference: string): Accessor => {
      const slot = references[iteration]?.indexOf(reference) as number;
      accessorOf(iteration, slot);
      return (row) => {
        const cell = (row as readonly unknown[])[slot];
        if (cell instanceof Unread) throw cell.error;
        return cell as Values;
      };
    };
    return {
      scan: { ...over, accessor },
      begin: () => {
        for (const [iteration, of] of references.entries()) for (const slot of of.keys()) accessorOf(iteration, slot);
      },
      cellsOf: (iteration, record) =>
        (references[iteration] as readonly string[]).map((_, slot) => {
          try {
            return accessorOf(iteration, slot)(record);
          } catch (error) {
            return new Unread(error) as unknown as Cell;
          }
        }),
    };
  }
}

interface RowReader {
  /** Over rows. */
  readonly scan: Scan;
  /** Before the first batch is read. @throws Fault mapping/reference */
  begin(): void;
  cellsOf(iteration: number, record: unknown): readonly Cell[];
}

interface RowChunk {
  readonly rows: readonly Row[];
  readonly text: Buffer | undefined;
  readonly fault: unknown;
  /** Of the document, read so far. */
  readonly bytes: number;
}

/** In place of a value that cannot be read: reading it throws the fault. */
class Unread {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** @param counts of the rows of each iteration so far */
function* batchesOf(
  rows: readonly Row[],
  counts: number[],
  bytes: number,
  identity: NonNullable<Scan['kept']>['identity'],
): Generator<Batch> {
  for (const iteration of new Set(rows.map(([of]) => of))) {
    const records = rows.flatMap(([of, cells]) => (of === iteration ? [cells] : []));
    const first = counts[iteration] ?? 0;
    yield { iteration, records, first, bytes, ...(identity && { identityOf: (position: number) => identity(records[position - first]) }) };
    counts[iteration] = first + records.length;
  }
}
