/**
 * Divides a run among threads: groups of scans, and slices of large documents and tables.
 *
 * The threads that execute a group share its tables (`distinct/shared.ts`), so slices may repeat statements. Its join indexes are filled first,
 * by each thread for itself, so a slice finds all parents of its records.
 */
import { randomInt } from 'node:crypto';
import { LinkedAbort } from '../../core/abort.ts';
import { obstaclesOf } from '../../plan/physical/division.ts';
import type { Plan, ScanPlan } from '../../plan/plan.ts';
import { readerOf } from '../../sources/formats.ts';
import type { InputState } from '../../storage/storage.ts';
import { type DocumentPlace, formatBefore } from '../prepare/documents/inputs.ts';
import type { PreparedRun } from '../prepare/open.ts';
import { type ByteSlice, type KeyRange, type RunRequest, type SliceScan, STANDARD_INPUT } from '../request.ts';
import { localState, slicesOf } from '../slices/file-slices.ts';
import { sidesOfGroup } from '../slices/sides.ts';
import { rangesOf } from '../slices/slices.ts';
import { reserveTables } from './group.ts';
import type { SharedGroup, Unit } from './messages.ts';

/** Inputs that are smaller together are mapped by one thread: starting others takes longer. */
const LEAST_BYTES = 64 << 20;
/** Without slices, another thread is started for groups of so many bytes together, beside the largest one. */
const LEAST_GROUP_BYTES = 16 << 20;
/** Slices of about this size: small enough that no thread waits long for the last one, large enough that opening them does not count. */
const LEAST_SLICE_BYTES = 2 << 20;
const MOST_SLICE_BYTES = 64 << 20;
const SLICES_PER_THREAD = 12;
/** About what a row of a table is worth, in bytes of a file. */
const ROW_BYTES = 100;
/** The sides of joins that each thread reads for itself have at most this share of the memory, all threads together. */
const BUILD_SHARE = 1 / 4;
/** Larger ones take longer to read in each thread than is gained. */
const MOST_BUILD_BYTES = 32 << 20;

/** The units of a group, in the order in which they should begin. Those that are slices come as the document is cut. */
export interface GroupUnits {
  readonly group: SharedGroup | undefined;
  readonly units: AsyncIterable<Unit> | Iterable<Unit>;
}

/** How a run is divided. */
export interface Division {
  readonly groups: readonly GroupUnits[];
  /** So many threads have something to do, at most. */
  readonly threads: number;
  /** Of the databases, by address name: all threads read them. */
  readonly snapshots: Readonly<Record<string, string>>;
  /** What is executed in place of a group whose join indexes do not fit in memory. */
  whole(group: SharedGroup): Unit;
  /** Ends cutting. */
  close(): Promise<void>;
}

/**
 * Divides a run. undefined: one thread does, because there is little to read, or because everything belongs together.
 *
 * A group stays whole if some of its documents are not on this machine or change with their position in the input: JSON and XML that is not
 * read record by record, views that promise something or count their rows, collections over several records. Groups over databases whose state other
 * sessions cannot see are executed by one thread, so that the run sees one state.
 *
 * @throws Fault those of the documents' readers
 */
export async function divide(prepared: PreparedRun, request: RunRequest, signal: AbortSignal): Promise<Division | undefined> {
  const divider = new Divider(prepared, request, signal);
  try {
    const division = (await divider.isLarge()) ? await divideBy(divider, prepared, request) : undefined;
    if (division === undefined) await divider.close();
    return division;
  } catch (error) {
    await divider.close();
    throw error;
  }
}

async function divideBy(divider: Divider, prepared: PreparedRun, request: RunRequest): Promise<Division | undefined> {
  const { plan, databases } = prepared;
  const snapshots = (await databases?.snapshots()) ?? {};
  divider.snapshots = snapshots;
  const shared: SharedUnits[] = [];
  const whole: (readonly SliceScan[])[] = [];
  const together: SliceScan[] = [];
  for (const [position, group] of plan.groups.entries()) {
    const slices = await divider.slicesOf(position);
    if (slices !== undefined) shared.push({ group: divider.sharedGroup(position, group), slices, scans: group.length });
    else if (divider.seesOneStateOnly(group)) together.push(...wholeScans(group));
    else whole.push(wholeScans(group));
  }
  if (together.length > 0) whole.push(together.toSorted((a, b) => a.position - b.position));
  if (shared.length === 0 && !(await divider.hasSeveral(whole))) return undefined;
  let index = 0;
  const unitOf = (scans: readonly SliceScan[], group?: SharedGroup): Unit => ({ index: index++, scans, group });
  // What cannot be cut takes longest, and more scans longer than few.
  whole.sort((a, b) => b.length - a.length);
  shared.sort((a, b) => b.scans - a.scans);
  return {
    groups: [
      ...whole.map((scans) => ({ group: undefined, units: [unitOf(scans)] })),
      ...shared.map(({ group, slices }) => ({ group, units: mapped(slices, (slice) => unitOf([slice], group)) })),
    ],
    threads: shared.length > 0 ? request.threads : Math.min(request.threads, whole.length),
    snapshots,
    whole: (group) => unitOf(wholeScans(plan.groups[group.index] as readonly number[])),
    close: () => divider.close(),
  };
}

interface SharedUnits {
  readonly group: SharedGroup;
  readonly slices: AsyncIterable<SliceScan>;
  /** Number of scans. */
  readonly scans: number;
}

async function* mapped<T, R>(items: AsyncIterable<T>, toResult: (item: T) => R): AsyncGenerator<R> {
  for await (const item of items) yield toResult(item);
}

const wholeScans = (group: readonly number[]): readonly SliceScan[] => group.map((position) => ({ position, range: undefined }));

class Divider {
  readonly #prepared: PreparedRun;
  readonly #request: RunRequest;
  /** Of the databases whose state other sessions can see. */
  snapshots: Readonly<Record<string, string>> = {};
  readonly #stop: LinkedAbort;
  /** Scans that are being cut: each has its document open. */
  readonly #cutting: AsyncGenerator<SliceScan>[] = [];
  readonly #states = new Map<number, InputState | undefined>();
  /** By index of the group: the documents that fill its join indexes. */
  readonly #sides = new Map<number, readonly SliceScan[]>();

  constructor(prepared: PreparedRun, request: RunRequest, signal: AbortSignal) {
    this.#prepared = prepared;
    this.#request = request;
    this.#stop = new LinkedAbort([signal]);
  }

  get #plan(): Plan {
    return this.#prepared.plan;
  }

  async isLarge(): Promise<boolean> {
    let bytes = 0;
    for (const position of this.#plan.scans.keys()) bytes += await this.#sizeOf(position);
    return bytes >= (this.#request.threadBytes ?? LEAST_BYTES);
  }

  /** Whether groups are worth a thread beside that of the largest one. */
  async hasSeveral(groups: readonly (readonly SliceScan[])[]): Promise<boolean> {
    const sizes: number[] = [];
    for (const scans of groups) {
      let bytes = 0;
      for (const { position } of scans) bytes += await this.#sizeOf(position);
      sizes.push(bytes);
    }
    const others = sizes.reduce((sum, bytes) => sum + bytes, 0) - Math.max(0, ...sizes);
    return groups.length > 1 && others >= (this.#request.threadBytes === undefined ? LEAST_GROUP_BYTES : 0);
  }

  /** Scans and slices of scans that several threads can execute, as documents are cut; undefined: the group stays whole. */
  async slicesOf(index: number): Promise<AsyncIterable<SliceScan> | undefined> {
    const group = this.#plan.groups[index] as readonly number[];
    if (obstaclesOf(this.#prepared.physical, index, 'threads').length > 0 || !group.every((position) => this.#hasSnapshot(position)))
      return undefined;
    const { threads, memoryBudgetBytes } = this.#request;
    const stateOf = (position: number): Promise<InputState | undefined> => this.#stateOf(position);
    const most = Math.min(MOST_BUILD_BYTES, (memoryBudgetBytes * BUILD_SHARE) / threads);
    const sides = await sidesOfGroup(group, this.#prepared, this.#request, stateOf, most);
    if (sides === undefined) return undefined;
    this.#sides.set(index, sides);
    const slices = this.#cut(group);
    this.#cutting.push(slices);
    const { value: first } = (await slices.next()) as IteratorYieldResult<SliceScan>;
    return group.length > 1 || first.range !== undefined ? prepended(first, slices) : undefined;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#cutting.map((slices) => slices.return(undefined).catch(() => undefined)));
  }

  async *#cut(group: readonly number[]): AsyncGenerator<SliceScan> {
    for (const position of group) {
      let isWhole = true;
      for await (const range of this.#rangesOf(this.#plan.scans[position] as ScanPlan, position)) {
        isWhole = false;
        yield { position, range };
      }
      if (isWhole) yield { position, range: undefined };
    }
  }

  sharedGroup(index: number, group: readonly number[]): SharedGroup {
    const builds = this.#sides.get(index) ?? [];
    const memory = reserveTables(this.#plan, group, this.#request.memoryBudgetBytes);
    return { index, seed: randomInt(2 ** 31), memory, builds };
  }

  /** Whether the group reads a database whose state other sessions cannot see. */
  seesOneStateOnly(group: readonly number[]): boolean {
    return group.some((position) => this.#addressOf(position) !== undefined && !this.#hasSnapshot(position));
  }

  /** Whether other sessions see the same records: those of a document are looked at later. */
  #hasSnapshot(position: number): boolean {
    const { source } = this.#plan.scans[position] as ScanPlan;
    return source.kind === 'file' || Object.hasOwn(this.snapshots, this.#addressOf(position) as string);
  }

  #addressOf(position: number): string | undefined {
    const { source } = this.#plan.scans[position] as ScanPlan;
    return source.kind === 'file' ? undefined : this.#prepared.databases?.addressOf(source);
  }

  /** Several, or none: the scan is not cut. */
  async *#rangesOf(scan: ScanPlan, position: number): AsyncGenerator<ByteSlice | KeyRange> {
    const { threads, threadBytes } = this.#request;
    const size = await this.#sizeOf(position);
    const wanted = size / (threads * SLICES_PER_THREAD);
    const sliceBytes = threadBytes ?? Math.min(MOST_SLICE_BYTES, Math.max(LEAST_SLICE_BYTES, wanted));
    const { databases, places } = this.#prepared;
    if (scan.source.kind !== 'file') {
      const ranges = databases === undefined ? [] : await rangesOf(scan, databases, Math.max(1, Math.ceil(sliceBytes / ROW_BYTES)));
      if (ranges.length > 1) yield* ranges;
      return;
    }
    const state = await this.#stateOf(position);
    if (state === undefined || size <= sliceBytes) return;
    const { url } = places[position] as DocumentPlace;
    const { leastThreads = 1 } = readerOf(formatBefore(url, scan.source, this.#request.inputOptions)).cuts ?? {};
    if (threads < leastThreads && threadBytes === undefined) return;
    const slices = slicesOf(scan, scan.source, url, this.#request, state, Math.ceil(size / sliceBytes), this.#stop.signal);
    for await (const slice of slices) {
      // The only one.
      if (slice.from === slice.head && slice.to === size) return;
      yield slice;
    }
  }

  /** undefined: the document is not read as it is on this machine. */
  async #stateOf(position: number): Promise<InputState | undefined> {
    if (this.#states.has(position)) return this.#states.get(position);
    const { source } = this.#plan.scans[position] as ScanPlan;
    const url = this.#prepared.places[position]?.url;
    const isPlain = source.kind === 'file' && source.compression === 'none' && source.request === undefined && url !== STANDARD_INPUT;
    const state = isPlain && url !== undefined ? await localState(url, this.#request, this.#stop.signal) : undefined;
    const { inputBytes } = this.#request.limits;
    const known = state !== undefined && inputBytes > 0 && state.sizeBytes > inputBytes ? undefined : state;
    this.#states.set(position, known);
    return known;
  }

  /** In bytes; what is not known counts nothing. */
  async #sizeOf(position: number): Promise<number> {
    const { source } = this.#plan.scans[position] as ScanPlan;
    if (source.kind === 'file') return (await this.#stateOf(position))?.sizeBytes ?? 0;
    const table = source.kind === 'sql' ? this.#prepared.databases?.tableOf(source) : undefined;
    return (table?.estimatedRows ?? 0) * ROW_BYTES;
  }
}

async function* prepended<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}
