/**
 * The chunks of inputs as units. Those of the version before are named by their numbers, those that came by numbers behind all of these. Records of a
 * chunk that came which one that is gone has as well are a unit that stays (`parts.ts`).
 */
import type { RunHooks } from '../../../run/request.ts';
import { changesOfUnits, EQUAL_NAMED, MOST_MAPPED, TOO_MANY, type UnitChanges, type UnitsRun } from '../changes.ts';
import { countsEqual } from '../joins.ts';
import { NotByRecord, type Unit, type Units } from '../units.ts';
import type { NumberedChunk, RecordInput } from './input.ts';
import { hooksOf } from './inputs.ts';
import { Parts, type Replaced } from './parts.ts';
import { RecordDraft, RecordState, type RecordsInfo } from './state.ts';
import type { TextReader } from './texts.ts';

/** A table has fewer chunks (`unit-index.ts`). */
const FIRST_ADDED = 2 ** 27;
/** Before the number of a chunk that came: its records that stay. */
const FIRST_REST = 2 ** 28;
/** Of a record that is compared, beside its text. */
const RECORD_BYTES = 192;
const USUAL_RECORD_BYTES = 64;

/** A chunk that came, and the chunk of the version before, the last one that stays before it; -1: there is none. */
interface Added {
  readonly chunk: number;
  readonly behind: number;
}

interface Knowledge {
  readonly memoryBytes: number;
  /** By scan: `countsEqual`. */
  readonly counted: readonly boolean[];
}

/** The caller ends it with `close`, and the state and the draft as well. */
export class ChunkUnits implements Units {
  readonly removed: readonly Unit[];
  readonly added: readonly Unit[];
  readonly bytes: number;
  readonly #inputs: readonly RecordInput[];
  readonly #old: RecordState;
  readonly #draft: RecordDraft;
  readonly #texts: TextReader;
  readonly #parts: Parts;

  private constructor(
    inputs: readonly RecordInput[],
    old: RecordState,
    draft: RecordDraft,
    added: readonly Added[],
    texts: TextReader,
    bytes: number,
    { memoryBytes, counted }: Knowledge,
  ) {
    this.#inputs = inputs;
    this.#old = old;
    this.#draft = draft;
    this.#texts = texts;
    this.bytes = bytes;
    const parts = new Parts(
      this.#places(added, memoryBytes, counted),
      {
        old: (chunk) => old.texts.read(chunk),
        fresh: (chunk) => texts.read(chunk),
        recordsOf: (scan, text) => (inputs[scan] as RecordInput).recordsOf(text),
      },
      memoryBytes,
    );
    this.#parts = parts;
    this.added = added.flatMap(({ chunk }) => (parts.addedBytes(chunk) === 0 ? [] : [FIRST_ADDED + chunk]));
    const removed: number[] = [];
    for (let chunk = 0; chunk < old.table.count; chunk++) {
      if (!draft.isGone(chunk)) continue;
      if (parts.goneBytes(chunk) !== 0) removed.push(chunk);
      const fresh = parts.freshOf(chunk);
      if (fresh !== undefined) draft.move(chunk, fresh);
    }
    this.removed = removed;
  }

  /**
   * Chunks that are gone and that came behind the same chunk that stays, as far as their records fit into memory. Each is in one place at most. Not of scans whose
   * equal records count: equal records of a part are one.
   */
  *#places(added: readonly Added[], memoryBytes: number, counted: readonly boolean[]): Generator<Replaced> {
    const { table: fresh } = this.#draft;
    const { table } = this.#old;
    const cameTo = this.#inputs.map((): Added[] => []);
    for (const one of added) {
      const scan = fresh.scan(one.chunk);
      if (!counted[scan]) cameTo[scan]?.push(one);
    }
    // The last one first.
    for (const came of cameTo) came.sort((a, b) => b.behind - a.behind || b.chunk - a.chunk);
    for (let chunk = 0; chunk < table.count; ) {
      const scan = table.scan(chunk);
      const behind = chunk > 0 && table.scan(chunk - 1) === scan ? chunk - 1 : -1;
      const place = { scan, gone: [] as number[], came: [] as number[] };
      let bytes = 0;
      for (; chunk < table.count && table.scan(chunk) === scan && this.#draft.isGone(chunk); chunk++) {
        place.gone.push(chunk);
        bytes += table.length(chunk);
      }
      const left = cameTo[scan] as Added[];
      for (let one = left.at(-1); one !== undefined && one.behind <= behind; one = left.at(-1)) {
        left.pop();
        if (one.behind < behind) continue;
        place.came.push(one.chunk);
        bytes += fresh.length(one.chunk);
      }
      const isCompared = place.gone.length > 0 && place.came.length > 0;
      if (isCompared && bytes * (1 + RECORD_BYTES / USUAL_RECORD_BYTES) <= memoryBytes) yield place;
      // The chunk that stays, behind which the next ones are.
      if (chunk < table.count && !this.#draft.isGone(chunk)) chunk++;
    }
  }

  /**
   * Cuts the inputs into chunks.
   *
   * @param share of the bytes of both versions that may be new; more are not read
   * @returns undefined: more are new
   * @throws Fault sink/failed, source/unreadable; those of the readers
   */
  static async read(
    inputs: readonly RecordInput[],
    old: RecordState,
    draft: RecordDraft,
    share: number,
    known: Knowledge,
    signal: AbortSignal | undefined,
  ): Promise<ChunkUnits | undefined> {
    const before: number[] = inputs.map(() => 0);
    for (let chunk = 0; chunk < old.table.count; chunk++) {
      const scan = old.table.scan(chunk);
      before[scan] = (before[scan] as number) + old.table.length(chunk);
    }
    const bytes = inputs.reduce((sum, { sizeBytes }, scan) => sum + (before[scan] as number) + (sizeBytes ?? (before[scan] as number)), 0);
    let left = bytes * share;
    const added: Added[] = [];
    for (const [scan, input] of inputs.entries()) {
      const expected = draft.expected(scan);
      for await (const text of input.chunks(old.info.sizes[scan] as NonNullable<(typeof old.info.sizes)[0]>, expected)) {
        const { chunk, isNew } = draft.add(scan, text);
        if (draft.hasRepeated && known.counted[scan]) throw new NotByRecord(EQUAL_NAMED);
        if (!isNew) continue;
        added.push({ chunk, behind: draft.lastKept });
        left -= text.length;
        if (left < 0) return undefined;
        signal?.throwIfAborted();
      }
    }
    return new ChunkUnits(inputs, old, draft, added, await draft.finishTexts(), bytes, known);
  }

  bytesOf(unit: Unit): number {
    if (unit >= FIRST_REST) return this.#draft.table.length(unit - FIRST_REST) - (this.#parts.addedBytes(unit - FIRST_REST) ?? 0);
    if (unit < FIRST_ADDED) return this.#parts.goneBytes(unit) ?? this.#old.table.length(unit);
    return this.#parts.addedBytes(unit - FIRST_ADDED) ?? this.#draft.table.length(unit - FIRST_ADDED);
  }

  scanOf(unit: Unit): number {
    return unit < FIRST_ADDED ? this.#old.table.scan(unit) : this.#draft.table.scan(this.#numberOf(unit));
  }

  stays(unit: Unit): boolean {
    return unit >= FIRST_REST || !this.#draft.isGone(unit);
  }

  makers(subjects: Iterable<number>, take: (units: readonly Unit[]) => void): void {
    this.#old.subjects.chunksOf(subjects, (chunks) => take(this.#unitsOf(chunks)));
  }

  holders(keys: Iterable<number>, take: (units: readonly Unit[]) => void): void {
    this.#old.keys.chunksOf(keys, (chunks) => take(this.#unitsOf(chunks)));
  }

  /** What the indexes say of a chunk holds of each of its parts. */
  #unitsOf(chunks: readonly number[]): readonly Unit[] {
    const parts = this.#parts;
    const units = chunks.flatMap((chunk) => {
      const fresh = parts.freshOf(chunk);
      if (fresh === undefined) return [chunk];
      return parts.goneBytes(chunk) === 0 ? [FIRST_REST + fresh] : [chunk, FIRST_REST + fresh];
    });
    return [...new Set(units)];
  }

  addMaker(subject: number, unit: Unit): void {
    this.#draft.subjects.add(subject, this.#numberOf(unit));
  }

  addHolder(key: number, unit: Unit): void {
    this.#draft.keys.add(key, this.#numberOf(unit));
  }

  reading(units: readonly Unit[], took: (units: readonly Unit[]) => void): Pick<RunHooks, 'document' | 'scan'> {
    const byScan: Unit[][] = this.#inputs.map(() => []);
    for (const unit of units) byScan[this.scanOf(unit)]?.push(unit);
    return hooksOf(this.#inputs.map((input, scan) => input.replayed(this.#textsOf(byScan[scan] as Unit[]), took)));
  }

  /** Completes the state of the new version. @throws Fault sink/failed, source/unreadable */
  async finish(): Promise<RecordsInfo> {
    return this.#draft.finish(
      this.#inputs.map(({ head }) => head),
      this.#old.info.sizes,
    );
  }

  close(): void {
    this.#texts.close();
  }

  /** In the new version. */
  #numberOf(unit: Unit): number {
    if (unit >= FIRST_REST) return unit - FIRST_REST;
    return unit < FIRST_ADDED ? this.#draft.numberOf(unit) : unit - FIRST_ADDED;
  }

  *#textsOf(units: readonly Unit[]): Generator<NumberedChunk> {
    for (const unit of units) yield [unit, this.#textOf(unit)];
  }

  #textOf(unit: Unit): Buffer {
    if (unit >= FIRST_REST) return this.#parts.rest(unit - FIRST_REST);
    if (unit < FIRST_ADDED) return this.#parts.gone(unit) ?? this.#old.texts.read(unit);
    return this.#parts.added(unit - FIRST_ADDED) ?? this.#texts.read(unit - FIRST_ADDED);
  }
}

export interface RecordsRun extends UnitsRun {
  readonly inputs: readonly RecordInput[];
  /** Where the new state goes. */
  readonly directory: string;
}

/** Changes, which wait to be written, and the state of the new version. */
export interface RecordChanges extends UnitChanges {
  readonly info: RecordsInfo;
}

/**
 * The changes of a version, by the chunks of its inputs.
 *
 * @param directory of the state of the version before
 * @param isForced whether all records may be mapped
 * @returns a text: why the changes are to be found by output
 * @throws Fault sink/failed, source/unreadable — the state is damaged; those of the run
 */
export async function changesByRecord(
  run: RecordsRun,
  directory: string,
  info: RecordsInfo,
  isForced: boolean,
): Promise<RecordChanges | string> {
  const { inputs, seed } = run;
  if (info.heads.length !== inputs.length) return 'the inputs are others than in the version before';
  const other = inputs.find(({ head }, scan) => head.toString('base64') !== info.heads[scan]);
  if (other !== undefined) return `the header of ${other.name} has changed`;
  const old = new RecordState(directory, info, seed);
  let draft: RecordDraft | undefined;
  let units: ChunkUnits | undefined;
  try {
    draft = new RecordDraft(run.directory, seed, old);
    const { scans, checks } = run.prepared.plan;
    const known = { memoryBytes: run.request.memoryBudgetBytes / 2, counted: scans.map((scan) => countsEqual(scan, checks)) };
    units = await ChunkUnits.read(inputs, old, draft, isForced ? Number.POSITIVE_INFINITY : MOST_MAPPED, known, run.hooks.signal);
    if (units === undefined) return TOO_MANY;
    const changes = await changesOfUnits(run, units, isForced);
    if (typeof changes === 'string') return changes;
    try {
      return { ...changes, info: await units.finish() };
    } catch (error) {
      changes.close();
      throw error;
    }
  } catch (error) {
    if (error instanceof NotByRecord) return error.message;
    throw error;
  } finally {
    units?.close();
    old.close();
    await draft?.abort();
  }
}
