/** Executes a run in several threads: they map, and this one writes their output, in order of arrival. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { resourceLimits, type WorkerOptions } from 'node:worker_threads';
import { atMost, LinkedAbort } from '../../core/abort.ts';
import { Fault } from '../../core/fault.ts';
import { packSecrets } from '../../core/secret.ts';
import { readerOf } from '../../sources/formats.ts';
import { MemoryBudget, SharedBudget } from '../../spill/budget.ts';
import { spillName } from '../../spill/space.ts';
import { SharedMemory } from '../distinct/shared.ts';
import type { FoundKey } from '../execute/key-finder.ts';
import { type Outputs, openTexts } from '../execute/outputs.ts';
import type { ScansResult } from '../execute/scans.ts';
import { Writer } from '../execute/writer.ts';
import { formatBefore } from '../prepare/documents/inputs.ts';
import { dataOf, type PreparedRun } from '../prepare/open.ts';
import type { PartReport } from '../report.ts';
import { rejectedTooMany, sumOfProgress } from '../report.ts';
import type { Progress, RunHooks, RunRequest } from '../request.ts';
import { MappingThread } from './mapping-thread.ts';
import type { BuiltSides, FromThread, SharedGroup, ThreadData, Unit } from './messages.ts';
import { Undecided } from './undecided.ts';
import { type Division, divide, type GroupUnits } from './units.ts';

const NEVER = new AbortController().signal;
/** For threads to close databases and processes of functions. */
const CLOSE_MS = 5000;

/**
 * Starts the threads of a run, which open its databases and functions while the caller looks at its documents.
 *
 * @returns undefined: one thread executes the run, because there is little to read, or because everything belongs together
 *
 * @throws Fault those of the documents' readers
 */
export async function startThreads(request: RunRequest, prepared: PreparedRun, hooks: RunHooks): Promise<RunThreads | undefined> {
  const division = await divide(prepared, request, hooks.signal ?? NEVER);
  if (division === undefined) return undefined;
  if (hooks.signal?.aborted) {
    await division.close();
    throw cancelled();
  }
  return new RunThreads({ ...request, threads: 1, startedAt: request.startedAt ?? Date.now() }, prepared, division, hooks);
}

const cancelled = (): Fault => new Fault('run/cancelled', 'The run was cancelled');

/** A group whose units are being handed out. */
interface Queued extends GroupUnits {
  /** Units that are known and were not handed out. */
  readonly waiting: Unit[];
  /** All units are known. */
  isComplete: boolean;
  /** Units that were handed out and have not ended. */
  running: number;
  /** Threads whose join indexes are filled. */
  readonly built: Set<MappingThread>;
  spilled: boolean;
}

/** What the threads of a run have done. */
export type ThreadPart = ScansResult & Pick<PartReport, 'sides'>;

/** Looks for keys in documents. */
export type KeySearch = (signal: AbortSignal) => Promise<readonly FoundKey[]>;

/** The caller ends them, whatever becomes of the run. */
export class RunThreads {
  readonly #request: RunRequest;
  readonly #division: Division;
  readonly #hooks: RunHooks;
  readonly #budget: MemoryBudget;
  readonly #prepared: PreparedRun;
  readonly #threads: readonly MappingThread[];
  readonly #queue: Queued[];
  readonly #running = new Map<MappingThread, Queued>();
  readonly #idle = new Set<MappingThread>();
  readonly #results: { readonly index: number; readonly result: ScansResult }[] = [];
  readonly #progress = new Map<MappingThread, Progress>();
  /** What the threads hold. */
  readonly #held = new Map<MappingThread, number>();
  /** Groups whose shared memory is not needed any more. */
  readonly #released = new Set<SharedGroup>();
  readonly #undecided = new Map<number, Undecided>();
  /** By group: what fills its join indexes, of which each thread reads all. */
  readonly #sides = new Map<SharedGroup, ScansResult>();
  readonly #ended: Promise<void>;
  /** Settle `#ended`: all units have been executed, or the first fault of any thread. */
  #resolve: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  readonly #cancel = (): void => this.#reject(cancelled());
  /** Buffers that wait to be written. */
  #full: { readonly thread: MappingThread; readonly bytes: Uint8Array; readonly output: number }[] = [];
  /** Of `execute`. */
  #outputs: Outputs | undefined;
  #rejected = 0;
  /** Records of which statements were left out. */
  #losses = 0;
  /** This thread looks for keys. */
  #searchesKeys = false;
  #isEnded = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(request: RunRequest, prepared: PreparedRun, division: Division, hooks: RunHooks) {
    this.#request = request;
    this.#prepared = prepared;
    this.#division = division;
    this.#hooks = hooks;
    this.#queue = division.groups.map((group) => queued(group));
    const budget = SharedBudget.open();
    this.#budget = new SharedBudget(request.memoryBudgetBytes, budget);
    this.#ended = new Promise<void>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // A thread may fail before anybody waits.
    this.#ended.catch(() => undefined);
    hooks.signal?.addEventListener('abort', this.#cancel);
    const run = packSecrets({ request, prepared: dataOf(prepared) });
    const workerData: ThreadData = { run, snapshots: division.snapshots, budget };
    // Those of a thread that has limits have the same ones.
    const options = { workerData, ...(resourceLimits?.maxOldGenerationSizeMb === undefined ? {} : { resourceLimits }) };
    this.#threads = Array.from({ length: division.threads }, () => this.#startThread(options));
  }

  #startThread(options: WorkerOptions): MappingThread {
    const thread: MappingThread = new MappingThread(options, {
      receive: (message) => this.#receive(thread, message),
      fail: this.#reject,
    });
    return thread;
  }

  #receive(thread: MappingThread, message: FromThread): void {
    try {
      this.#handle(thread, message);
      if (this.#isDone) this.#resolve();
    } catch (error) {
      this.#reject(error);
    }
  }

  /**
   * @param findKeys looks for keys while threads map
   * @throws Fault the first one of any thread
   */
  async execute(findKeys: KeySearch, outputs: Outputs): Promise<readonly ThreadPart[]> {
    this.#outputs = outputs;
    for (const thread of this.#threads) thread.send({ kind: 'forms', forms: outputs.forms });
    const stop = new LinkedAbort([this.#hooks.signal]);
    const begun = this.#begin(findKeys, stop.signal);
    try {
      await this.#ended;
    } finally {
      this.#isEnded = true;
      stop.abort();
      await this.#division.close();
      await begun;
    }
    await this.#writing;
    const results = this.#resultsWith(await this.#drain(outputs));
    await this.#close();
    return results;
  }

  /**
   * Whether threads should map, and compare all subjects, while this one looks for keys. Not where the look keeps the values of a column
   * (`isKey`): it has the memory that tables of subjects would take. Nor where a group is one unit, which would begin before its keys are known.
   */
  get mapsMeanwhile(): boolean {
    const { plan, places } = this.#prepared;
    if (this.#queue.some(({ group }) => group === undefined)) return false;
    return !plan.scans.some(({ source }, position) => {
      const url = places[position]?.url;
      if (source.kind !== 'file' || url === undefined) return false;
      return readerOf(formatBefore(url, source, this.#request.inputOptions)).isKey !== undefined;
    });
  }

  async #begin(findKeys: KeySearch, signal: AbortSignal): Promise<void> {
    this.#searchesKeys = true;
    const found = findKeys(signal).then((keys) => {
      for (const thread of this.#threads) thread.send({ kind: 'keys', keys });
      this.#searchesKeys = false;
      this.#wake();
    });
    await Promise.all([found.catch(this.#reject), this.#supply().catch(this.#reject)]);
    if (this.#isDone) this.#resolve();
  }

  get #isDone(): boolean {
    return this.#queue.length === 0 && this.#idle.size === this.#division.threads;
  }

  /** Cuts documents while threads map what is cut, one group after the other. */
  async #supply(): Promise<void> {
    for (const queued of [...this.#queue]) {
      for await (const unit of queued.units) {
        if (this.#isEnded || queued.spilled) break;
        queued.waiting.push(unit);
        this.#wake();
      }
      queued.isComplete = true;
      this.#leave(queued);
      this.#wake();
    }
  }

  #wake(): void {
    for (const thread of [...this.#idle]) this.#assign(thread);
  }

  /** Lets the threads close what they have open. */
  async #close(): Promise<void> {
    await atMost(CLOSE_MS, Promise.all(this.#threads.map((thread) => thread.close())));
  }

  /** Ends the threads and removes what they left: one that is terminated in the middle leaves its spill files. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.#hooks.signal?.removeEventListener('abort', this.#cancel);
    await this.#division.close();
    await Promise.all(this.#threads.map((thread) => thread.end()));
    for (const undecided of this.#undecided.values()) await undecided.remove();
    const { spillDirectory, runId } = this.#request;
    const left = await readdir(spillDirectory).catch(() => []);
    const own = left.filter((name) => name.startsWith(spillName(runId, '')));
    await Promise.all(own.map((name) => rm(join(spillDirectory, name), { recursive: true, force: true })));
  }

  #handle(thread: MappingThread, message: FromThread): void {
    switch (message.kind) {
      case 'ready':
        this.#assign(thread);
        return;
      case 'built':
        this.#built(thread, message);
        return;
      case 'done':
        this.#results.push(message);
        this.#progress.delete(thread);
        this.#done(thread);
        return;
      case 'failed':
        this.#reject(Fault.from(message.fault));
        return;
      case 'progress':
        this.#progress.set(thread, message.progress);
        this.#hooks.progress?.(this.#total());
        return;
      case 'memory':
        this.#held.set(thread, message.bytes);
        this.#hooks.memory?.(this.#heldBytes());
        return;
      case 'rejection':
        this.#hooks.reject?.(message.rejection);
        this.#rejected++;
        this.#checkRejected();
        return;
      case 'loss':
        this.#losses++;
        this.#checkRejected();
        return;
      case 'text':
        this.#full.push({ thread, bytes: message.bytes, output: message.output });
        if (this.#full.length === 1) this.#write(() => this.#writeFull());
        return;
      case 'undecided':
        this.#write(async () => {
          await this.#undecidedOf(message.group).add(message.statements);
          thread.send({ kind: 'written', buffer: undefined });
        });
    }
  }

  #checkRejected(): void {
    const { maxRejected } = this.#request;
    if (this.#rejected + this.#losses > maxRejected) this.#reject(rejectedTooMany(maxRejected, this.#losses > 0));
  }

  /** Writes all that came while other buffers were written. */
  async #writeFull(): Promise<void> {
    const full = this.#full;
    this.#full = [];
    const outputs = this.#outputs as Outputs;
    for (const output of outputs.forms.keys()) {
      const buffers = full.flatMap((one) => (one.output === output ? [one.bytes] : []));
      if (buffers.length > 0) await outputs.writeBytes(buffers, output);
    }
    for (const { thread, bytes } of full) thread.send({ kind: 'written', buffer: bytes.buffer as ArrayBuffer });
  }

  #write(act: () => Promise<void>): void {
    this.#writing = this.#writing.then(act);
    this.#writing.catch(this.#reject);
  }

  #undecidedOf(group: number): Undecided {
    const known = this.#undecided.get(group);
    if (known !== undefined) return known;
    const undecided = new Undecided(this.#request.spillDirectory, spillName(this.#request.runId, `undecided-${group}`));
    this.#undecided.set(group, undecided);
    return undecided;
  }

  /** Gives the thread its next work. It is idle if there is none, or none yet. */
  #assign(thread: MappingThread): void {
    const [next] = this.#queue;
    if (next === undefined) {
      this.#idle.add(thread);
      return;
    }
    const { group } = next;
    if (group !== undefined && group.builds.length > 0 && next.built.size < this.#division.threads) {
      // No thread may begin before it is known that the indexes fit in the memory of all.
      if (next.built.has(thread)) this.#idle.add(thread);
      else {
        this.#idle.delete(thread);
        thread.send({ kind: 'build', group });
      }
      return;
    }
    const unit = this.#running.size < this.#mostRunning ? next.waiting.shift() : undefined;
    if (unit === undefined) {
      this.#idle.add(thread);
      return;
    }
    this.#idle.delete(thread);
    next.running++;
    this.#running.set(thread, next);
    this.#leave(next);
    thread.send({ kind: 'unit', unit });
  }

  /** While this thread looks for keys, it computes in place of one that maps: what is mapped meanwhile compares all subjects. */
  get #mostRunning(): number {
    return this.#searchesKeys ? this.#threads.length - 1 : this.#threads.length;
  }

  #built(thread: MappingThread, { spilled, sides }: BuiltSides): void {
    const next = this.#queue[0] as Queued;
    const group = next.group as SharedGroup;
    next.built.add(thread);
    next.spilled ||= spilled;
    this.#sides.set(group, sides);
    if (next.built.size === this.#division.threads && next.spilled) {
      this.#queue.shift();
      this.#sides.delete(group);
      this.#release(group);
      const unit = this.#division.whole(group);
      this.#queue.unshift(queued({ group: undefined, units: [unit] }, [unit]));
    }
    this.#idle.add(thread);
    if (next.built.size < this.#division.threads) this.#assign(thread);
    else this.#wake();
  }

  #done(thread: MappingThread): void {
    const ended = this.#running.get(thread) as Queued;
    this.#running.delete(thread);
    ended.running--;
    this.#leave(ended);
    this.#assign(thread);
  }

  /** Goes on behind a group of which all units were handed out, and frees its memory when they have ended. */
  #leave(group: Queued): void {
    if (!group.isComplete || group.waiting.length > 0 || group.spilled) return;
    if (this.#queue[0] === group) this.#queue.shift();
    if (group.running === 0 && group.group !== undefined) this.#release(group.group);
  }

  /** No thread uses the tables and indexes of the group any more. */
  #release(group: SharedGroup): void {
    this.#released.add(group);
    for (const thread of this.#threads) thread.send({ kind: 'drop', group: group.index });
    new SharedMemory(group.memory, this.#budget).release();
  }

  /** Writes the statements that were undecided, and returns their numbers by output. */
  async #drain(outputs: Outputs): Promise<readonly number[]> {
    const texts = await openTexts(outputs.forms, this.#prepared.plan.targets.length);
    const { limits, memoryBudgetBytes } = this.#request;
    const { signal } = this.#hooks;
    for (const undecided of this.#undecided.values()) {
      const writer = new Writer({
        outputs: texts,
        sink: outputs,
        space: undecided.space,
        limits,
        hooks: signal === undefined ? {} : { signal },
      });
      for await (const made of undecided.drain(new MemoryBudget(memoryBudgetBytes), texts)) {
        await writer.take(made);
        await writer.yieldToEventLoop();
      }
      await writer.flush();
    }
    return texts.map(({ statements }) => statements);
  }

  /** @param drained numbers of statements that no thread has counted, by output */
  #resultsWith(drained: readonly number[]): readonly ThreadPart[] {
    const nothing = { records: 0, quads: 0, rejected: 0, bytesRead: 0, triplesMaps: [], warnings: [] };
    const rest: ThreadPart = {
      ...nothing,
      quads: drained.reduce((sum, count) => sum + count, 0),
      statements: drained,
      bytesSpilled: [...this.#undecided.values()].reduce((sum, { space }) => sum + space.bytes, 0),
    };
    return [
      ...this.#results.toSorted((a, b) => a.index - b.index).map(({ result }) => result),
      rest,
      ...[...this.#sides.values()].map((sides): ThreadPart => ({ ...nothing, statements: drained.map(() => 0), sides })),
    ];
  }

  #heldBytes(): number {
    const groups = this.#division.groups.flatMap(({ group }) => (group === undefined || this.#released.has(group) ? [] : [group]));
    const shared = groups.reduce((sum, { memory }) => sum + new SharedMemory(memory, this.#budget).usedBytes, 0);
    return [...this.#held.values()].reduce((sum, bytes) => sum + bytes, shared);
  }

  #total(): Progress {
    return sumOfProgress([...this.#results.map(({ result }) => result), ...this.#progress.values()]);
  }
}

/** @param known all of its units; undefined: they become known */
const queued = (group: GroupUnits, known?: readonly Unit[]): Queued => ({
  ...group,
  waiting: [...(known ?? [])],
  isComplete: known !== undefined,
  running: 0,
  built: new Set(),
  spilled: false,
});
