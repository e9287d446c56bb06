/** Executes a run in several threads: they map, this one writes their output in order of arrival. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { resourceLimits, Worker } from 'node:worker_threads';
import { atMost } from '../../core/abort.ts';
import { bundled } from '../../core/compiled.ts';
import { Fault, type FaultData } from '../../core/fault.ts';
import { packSecrets } from '../../core/secret.ts';
import { MemoryBudget, SharedBudget } from '../distinct/distinct.ts';
import { SharedMemory } from '../distinct/shared.ts';
import { spillName } from '../distinct/spill.ts';
import type { FoundKeys } from '../execute/file-keys.ts';
import type { LineSink } from '../execute/outputs.ts';
import type { ScansResult } from '../execute/scans.ts';
import type { PreparedRun } from '../prepare/prepare.ts';
import { commonFaults, limitWarnings, warningsOf } from '../report.ts';
import type { Progress, RunHooks, RunRequest } from '../request.ts';
import type { FromThread, SharedGroup, ThreadData, ToThread, Unit } from './messages.ts';
import { Undecided } from './undecided.ts';
import { type Division, divide, type GroupUnits } from './units.ts';

const NEVER = new AbortController().signal;
/** For threads to close databases and processes of functions. */
const CLOSE_MS = 5000;

/**
 * @param keyed of `findKeyedMaps`
 * @returns undefined: one thread executes the run, because there is little to read, or because everything belongs together; nothing was written.
 *
 * @throws Fault the first one of any thread; the other threads are terminated
 */
export async function executeInThreads(
  request: RunRequest,
  prepared: PreparedRun,
  keyed: FoundKeys,
  sink: LineSink,
  hooks: RunHooks,
): Promise<readonly ScansResult[] | undefined> {
  const division = await divide(prepared, request, hooks.signal ?? NEVER);
  if (division === undefined) return undefined;
  if (hooks.signal?.aborted) {
    await division.close();
    throw cancelled();
  }
  const started = { ...request, startedAt: request.startedAt ?? Date.now() };
  const threads = new RunThreads(started, { digest: prepared.digest, keyed }, division, sink, hooks);
  try {
    const results = await threads.execute();
    await threads.close();
    return results;
  } finally {
    await threads.end();
  }
}

function threadFault(error: Error): Error {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return new Fault('limit/exceeded', 'A mapping thread of the run needed more memory than a thread may use', {
    limit: 'THREAD_MEMORY_MB',
    hint: 'Raise THREAD_MEMORY_MB, lower MEMORY_BUDGET_MB, or split the input',
    cause: error,
  });
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
  readonly built: Set<Worker>;
  spilled: boolean;
}

class RunThreads {
  readonly #request: RunRequest;
  readonly #division: Division;
  readonly #sink: LineSink;
  readonly #hooks: RunHooks;
  readonly #budget: MemoryBudget;
  readonly #threads: readonly Worker[];
  readonly #queue: Queued[];
  readonly #running = new Map<Worker, Queued>();
  readonly #idle = new Set<Worker>();
  readonly #results: { readonly index: number; readonly result: ScansResult }[] = [];
  readonly #progress = new Map<Worker, Progress>();
  /** What the threads hold. */
  readonly #held = new Map<Worker, number>();
  /** Groups whose shared memory is not needed any more. */
  readonly #released = new Set<SharedGroup>();
  readonly #undecided = new Map<number, Undecided>();
  /** By place: references that no record of a side has. */
  readonly #unmatched = new Map<string, FaultData>();
  #rejected = 0;
  #isEnded = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(request: RunRequest, plan: Pick<ThreadData, 'digest' | 'keyed'>, division: Division, sink: LineSink, hooks: RunHooks) {
    this.#request = request;
    this.#division = division;
    this.#sink = sink;
    this.#hooks = hooks;
    this.#queue = division.groups.map((group) => queued(group));
    const budget = SharedBudget.open();
    this.#budget = new SharedBudget(request.memoryBudgetBytes, budget);
    const packed = packSecrets({ ...request, threads: 1 });
    const workerData: ThreadData = { request: packed, snapshots: division.snapshots, ...plan, budget };
    // Those of a thread that has limits have the same ones.
    const options = { workerData, ...(resourceLimits?.maxOldGenerationSizeMb === undefined ? {} : { resourceLimits }) };
    this.#threads = Array.from({ length: division.threads }, () => new Worker(bundled('src/run/threads/thread.js'), options));
  }

  async execute(): Promise<readonly ScansResult[]> {
    let cancel: (() => void) | undefined;
    const supply = this.#supply();
    try {
      await new Promise<void>((resolve, reject) => {
        supply.then(() => {
          if (this.#isDone) resolve();
        }, reject);
        cancel = () => reject(cancelled());
        this.#hooks.signal?.addEventListener('abort', cancel);
        for (const thread of this.#threads) {
          thread.on('error', (error) => reject(threadFault(error)));
          thread.on('exit', () => reject(new Fault('internal/error', 'A mapping thread ended before its work')));
          thread.on('message', (message: FromThread) => {
            try {
              this.#hear(thread, message, reject);
              if (this.#isDone) resolve();
            } catch (error) {
              reject(error);
            }
          });
        }
      });
    } finally {
      if (cancel !== undefined) this.#hooks.signal?.removeEventListener('abort', cancel);
      this.#isEnded = true;
      await this.#division.close();
      await supply.catch(() => undefined);
    }
    await this.#writing;
    return this.#merged(await this.#drain());
  }

  get #isDone(): boolean {
    return this.#queue.length === 0 && this.#idle.size === this.#threads.length;
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
  async close(): Promise<void> {
    const exits = this.#threads.map((thread) => {
      thread.removeAllListeners('exit');
      return new Promise((resolve) => thread.once('exit', resolve));
    });
    for (const thread of this.#threads) send(thread, { kind: 'end' });
    await atMost(CLOSE_MS, Promise.all(exits));
  }

  /** Ends the threads and removes what they left: one that is terminated in the middle leaves its spill files. */
  async end(): Promise<void> {
    for (const thread of this.#threads) thread.removeAllListeners('exit');
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
    for (const undecided of this.#undecided.values()) await undecided.remove();
    const { spillDirectory, runId } = this.#request;
    const left = await readdir(spillDirectory).catch(() => []);
    const own = left.filter((name) => name.startsWith(spillName(runId, '')));
    await Promise.all(own.map((name) => rm(join(spillDirectory, name), { recursive: true, force: true })));
  }

  #hear(thread: Worker, message: FromThread, reject: (error: unknown) => void): void {
    switch (message.kind) {
      case 'ready':
        this.#assign(thread);
        return;
      case 'built':
        for (const fault of message.unmatched) this.#unmatched.set(JSON.stringify(fault.place), fault);
        this.#built(thread, message.spilled);
        return;
      case 'done':
        this.#results.push(message);
        this.#progress.delete(thread);
        this.#done(thread);
        return;
      case 'failed':
        reject(Fault.from(message.fault));
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
        if (this.#rejected > this.#request.maxRejected)
          reject(new Fault('record/limit', `More than ${this.#request.maxRejected} records were rejected`, { limit: 'MAX_REJECTED' }));
        return;
      case 'lines': {
        const { bytes } = message;
        const buffer = bytes.buffer as ArrayBuffer;
        this.#write(reject, async () => {
          if (this.#sink.writeBytes !== undefined) await this.#sink.writeBytes(bytes);
          else await this.#sink.write(Buffer.from(buffer, bytes.byteOffset, bytes.length).toString('latin1'));
          thread.postMessage({ kind: 'written', buffer } satisfies ToThread, [buffer]);
        });
        return;
      }
      case 'undecided':
        this.#write(reject, async () => {
          await this.#undecidedOf(message.group).add(message.lines, message.subjects);
          send(thread, { kind: 'written', buffer: undefined });
        });
    }
  }

  #write(reject: (error: unknown) => void, act: () => Promise<void>): void {
    this.#writing = this.#writing.then(act);
    this.#writing.catch(reject);
  }

  #undecidedOf(group: number): Undecided {
    const known = this.#undecided.get(group);
    if (known !== undefined) return known;
    const undecided = new Undecided(this.#request.spillDirectory, spillName(this.#request.runId, `undecided-${group}`));
    this.#undecided.set(group, undecided);
    return undecided;
  }

  /** Gives the thread its next work. It is idle if there is none, or none yet. */
  #assign(thread: Worker): void {
    const [next] = this.#queue;
    if (next === undefined) {
      this.#idle.add(thread);
      return;
    }
    const { group } = next;
    if (group !== undefined && group.builds.length > 0 && next.built.size < this.#threads.length) {
      // No thread may begin before it is known that the indexes fit in the memory of all.
      if (next.built.has(thread)) this.#idle.add(thread);
      else {
        this.#idle.delete(thread);
        send(thread, { kind: 'build', group });
      }
      return;
    }
    const unit = next.waiting.shift();
    if (unit === undefined) {
      this.#idle.add(thread);
      return;
    }
    this.#idle.delete(thread);
    next.running++;
    this.#running.set(thread, next);
    this.#leave(next);
    send(thread, { kind: 'unit', unit });
  }

  #built(thread: Worker, spilled: boolean): void {
    const next = this.#queue[0] as Queued;
    next.built.add(thread);
    next.spilled ||= spilled;
    if (next.built.size === this.#threads.length && next.spilled) {
      this.#queue.shift();
      this.#release(next.group as SharedGroup);
      const unit = this.#division.whole(next.group as SharedGroup);
      this.#queue.unshift(queued({ group: undefined, units: [unit] }, [unit]));
    }
    this.#idle.add(thread);
    if (next.built.size < this.#threads.length) this.#assign(thread);
    else this.#wake();
  }

  #done(thread: Worker): void {
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
    for (const one of this.#threads) send(one, { kind: 'drop', group: group.index });
    new SharedMemory(group.memory, this.#budget).release();
  }

  /** Writes the statements that were undecided, and returns their number. */
  async #drain(): Promise<number> {
    let count = 0;
    for (const undecided of this.#undecided.values()) {
      for await (const batch of undecided.drain(new MemoryBudget(this.#request.memoryBudgetBytes))) {
        const text = batch.join('');
        for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
        if (text !== '') await this.#sink.write(text);
        if (this.#hooks.signal?.aborted) throw cancelled();
      }
    }
    return count;
  }

  /** @param drained number of statements that no thread has counted */
  #merged(drained: number): readonly ScansResult[] {
    const results = this.#results.toSorted((a, b) => a.index - b.index).map(({ result }) => result);
    const faults = [...commonFaults(results.map(({ unmatched }) => unmatched))];
    const places = new Set(faults.map(({ place }) => JSON.stringify(place)));
    for (const [place, fault] of this.#unmatched) if (!places.has(place)) faults.push(Fault.from(fault));
    const warnings = [...limitWarnings(results.flatMap((result) => result.warnings)), ...warningsOf(faults, this.#request.onError)];
    const bytesSpilled = [...this.#undecided.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    const rest: ScansResult = { records: 0, quads: drained, rejected: 0, bytesRead: 0, bytesSpilled, triplesMaps: [], warnings };
    return [...results.map((result) => ({ ...result, warnings: [], unmatched: undefined })), rest];
  }

  #heldBytes(): number {
    const groups = this.#division.groups.flatMap(({ group }) => (group === undefined || this.#released.has(group) ? [] : [group]));
    const shared = groups.reduce((sum, { memory }) => sum + new SharedMemory(memory, this.#budget).usedBytes, 0);
    return [...this.#held.values()].reduce((sum, bytes) => sum + bytes, shared);
  }

  #total(): Progress {
    const sum = { records: 0, quads: 0, bytesRead: 0 };
    for (const part of [...this.#results.map(({ result }) => result), ...this.#progress.values()]) {
      sum.records += part.records;
      sum.quads += part.quads;
      sum.bytesRead += part.bytesRead;
    }
    return sum;
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

const send = (thread: Worker, message: ToThread): void => thread.postMessage(message);
