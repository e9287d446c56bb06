/**
 * The state of a dataset: the graphs of its newest version, as logs with an index. Private, and rebuilt from the versions when it is lost.
 *
 * A state is a directory of the state directory. It is complete before the manifest of its version is written, and names the run that wrote that
 * manifest. So a state counts only for a version that exists: it is never ahead of it.
 */
import { randomInt } from 'node:crypto';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { HASH_VERSION } from '../../core/hash.ts';
import { MemoryBudget } from '../../spill/budget.ts';
import { makeDirectory } from '../../storage/local/directory.ts';
import { type DirectoryLock, lockDirectory } from '../../storage/local/directory-lock.ts';
import { syncDirectory, writeAtomically } from '../../storage/local/file.ts';
import type { Folding } from '../changes.ts';
import { type Dataset, jsonText } from '../dataset.ts';
import { GraphLogReader, GraphLogWriter } from '../graphs/graph-log.ts';
import type { Manifest } from '../manifest.ts';
import type { RecordsInfo } from '../records/chunks/state.ts';

const FORMAT = 2;
const RECORD = 'state.json';
const RECORDS = 'records';
/** Directories of a run that is not complete, and of temporary files. */
export const TEMPORARY = 'temporary';

/** What a graph was made of, in the newest run. */
export type Seen = Pick<Manifest, 'digest' | 'run' | 'inputs'>;

interface StateRecord {
  readonly format: typeof FORMAT;
  readonly hashes: typeof HASH_VERSION;
  readonly dataset: string;
  readonly version: number;
  /** The run that wrote the manifest of the version. */
  readonly runId: string;
  readonly seed: number;
  /** What the graph was made of; undefined: of the versions. */
  readonly seen?: Seen | undefined;
  /** The state by record, in the directory `records`. There are no graphs then. */
  readonly records?: RecordsInfo | undefined;
  /** Paths of the logical targets; the graph of the n-th one, from 1, is in the directory of that number, that of the output in `0`. */
  readonly targets: readonly string[];
}

/** The graphs of a version, or its records. */
export class State {
  readonly directory: string;
  readonly record: Pick<StateRecord, 'seed' | 'targets' | 'seen' | 'records'>;

  constructor(directory: string, record: StateRecord) {
    this.directory = directory;
    this.record = record;
  }

  get recordsDirectory(): string {
    return join(this.directory, RECORDS);
  }

  /** undefined: the version has no such target. @param target undefined: the output of the run */
  open(target: string | undefined): GraphLogReader | undefined {
    const number = target === undefined ? 0 : this.record.targets.indexOf(target) + 1;
    return number === 0 && target !== undefined ? undefined : new GraphLogReader(join(this.directory, String(number)));
  }
}

/**
 * Locks a state directory (created if missing), so that one process at a time writes the dataset.
 *
 * @param url of the dataset
 * @param isQueued whether a queue orders the runs: an owner on another machine that gives no sign of life has ended then
 * @throws Fault service/unavailable — another process writes it
 */
export async function lockState(directory: string, url: string, isQueued = false): Promise<DirectoryLock> {
  try {
    // Others may read the versions beside the state.
    makeDirectory(dirname(directory));
  } catch {
    // The lock says so.
  }
  return lockDirectory(directory, { what: 'state', hint: `Another run writes the dataset ${url}: wait until it has ended`, isQueued });
}

/** The state of the newest version. undefined: it is lost, or there is no version. */
export async function stateOf(dataset: Dataset, directory: string): Promise<State | undefined> {
  if (dataset.current === 0) return undefined;
  const { runId } = await dataset.manifest(dataset.current);
  let found: State | undefined;
  for (const name of await readdir(directory)) {
    const record = await recordIn(join(directory, name));
    // A run by output that was killed may have left graphs that it has made of the versions.
    if (
      record?.dataset === dataset.description.id &&
      record.version === dataset.current &&
      record.runId === runId &&
      !found?.record.records
    )
      found = new State(join(directory, name), record);
  }
  return found;
}

async function recordIn(directory: string): Promise<StateRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(join(directory, RECORD), 'utf8')) as StateRecord;
    return record.format === FORMAT && record.hashes === HASH_VERSION ? record : undefined;
  } catch {
    // Another directory, or one that is not complete.
    return undefined;
  }
}

/** The graphs of the newest version, from the versions. */
export async function graphsOf(dataset: Dataset, directory: string, seed: number, folding: Folding): Promise<State> {
  const { targets = {}, runId } = await dataset.manifest(dataset.current);
  const draft = new StateDraft(directory, seed, folding.memoryBudgetBytes, 'graphs');
  try {
    for (const target of [undefined, ...Object.keys(targets)]) {
      const writer = draft.writer(target);
      for await (const lines of dataset.graph(dataset.current, target, folding)) await writer.write(lines);
    }
    return await draft.complete(dataset, dataset.current, runId);
  } catch (error) {
    await draft.abort();
    throw error;
  }
}

/** Random: a person who makes the data cannot find texts with equal hashes. */
export const newSeed = (): number => randomInt(2 ** 31);

/** A state that is being written. */
export class StateDraft {
  readonly seed: number;
  readonly #parent: string;
  readonly #directory: string;
  readonly #budget: MemoryBudget;
  readonly #targets: string[] = [];
  readonly #writers = new Map<string | undefined, GraphLogWriter>();
  #isFinished = false;
  #records: RecordsInfo | undefined;

  /** @param name of a temporary directory */
  constructor(parent: string, seed: number, memoryBudgetBytes: number, name = 'state') {
    this.#parent = parent;
    this.#directory = join(parent, TEMPORARY, name);
    this.seed = seed;
    this.#budget = new MemoryBudget(memoryBudgetBytes);
  }

  /** Paths of the logical targets, in the order in which their writers were asked for. */
  get targets(): readonly string[] {
    return this.#targets;
  }

  /** @throws Fault sink/failed */
  writer(target: string | undefined): GraphLogWriter {
    const known = this.#writers.get(target);
    if (known !== undefined) return known;
    if (target !== undefined) this.#targets.push(target);
    const number = target === undefined ? 0 : this.#targets.length;
    const writer = new GraphLogWriter(join(this.#directory, String(number)), this.seed, this.#budget);
    this.#writers.set(target, writer);
    return writer;
  }

  /** Of the state by record. */
  get recordsDirectory(): string {
    return join(this.#directory, RECORDS);
  }

  /** Leaves a state of graphs alone, or one by record. @param kept undefined: the graphs @param targets that have no writer */
  async keep(kept: RecordsInfo | undefined, targets: readonly string[] = []): Promise<void> {
    await this.finish();
    this.#targets.push(...targets);
    this.#records = kept;
    const directories = kept === undefined ? [RECORDS] : [...this.#writers.values()].map((_, number) => String(number));
    for (const name of directories) await rm(join(this.#directory, name), { recursive: true, force: true });
  }

  /** Completes the graphs. */
  async finish(): Promise<void> {
    if (this.#isFinished) return;
    for (const writer of this.#writers.values()) await writer.finish();
    this.#isFinished = true;
  }

  /** The graph of a target that has a writer. After `finish`. */
  open(target: string | undefined): GraphLogReader {
    return new GraphLogReader(join(this.#directory, String(target === undefined ? 0 : this.#targets.indexOf(target) + 1)));
  }

  /** Makes it the state of a version, which may not exist yet. @throws Fault sink/failed */
  async complete({ description }: Dataset, version: number, runId: string, seen?: Seen): Promise<State> {
    await this.finish();
    const record: StateRecord = {
      format: FORMAT,
      hashes: HASH_VERSION,
      dataset: description.id,
      version,
      runId,
      seed: this.seed,
      seen,
      records: this.#records,
      targets: this.#targets,
    };
    await writeAtomically(join(this.#directory, RECORD), jsonText(record));
    const to = join(this.#parent, `${version}-${runId.slice(-8)}-${newSeed()}`);
    try {
      await rename(this.#directory, to);
      await syncDirectory(this.#parent);
    } catch (error) {
      throw new Fault('sink/failed', `${to} cannot be made: ${(error as Error).message}`, { cause: error });
    }
    return new State(to, record);
  }

  async abort(): Promise<void> {
    if (!this.#isFinished) for (const writer of this.#writers.values()) await writer.abort();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** Removes the other states of a state directory, and what runs that were killed have left. @param kept undefined: none */
export async function removeStates(directory: string, kept: State | undefined): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    if (path !== kept?.directory && (name === TEMPORARY || /^\d+-/.test(name))) await rm(path, { recursive: true, force: true });
  }
}
