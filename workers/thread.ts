/**
 * The thread that maps: one run or slice at a time, any number of them after each other.
 *
 * It asks before it gives its output the final name, so that an attempt that has lost its job, or whose run was
 * cancelled, publishes nothing.
 */
import { rm } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { SliceResult } from '../queues/jobs.ts';
import { Fault } from '../src/fault.ts';
import type { Rejection, RunReport } from '../src/run/request.ts';
import { type FileSink, openFileSink } from '../src/sinks/file.ts';
import { FORMAT_EXTENSION } from '../src/sinks/sink.ts';
import type { CutRun, Engine, FromThread, RunResult, Task, ThreadData, ToThread } from './messages.ts';
import { RejectionFile, removeAttempt, removeLeftovers, removeSpills } from './output.ts';
import { publish, publishSlices } from './publish.ts';

const port = parentPort;
if (port === null) throw new Error('workers/thread is started as a worker thread');
const say = (message: FromThread): void => port.postMessage(message);

const engine = (await import((workerData as ThreadData).engine)) as Engine;

/** How often the process is told of the memory that a run holds. */
const TELL_MS = 250;

/** The run that goes on. */
let current: { readonly stop: AbortController; allow: (slices: readonly SliceResult[]) => void } | undefined;

port.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'run':
      void carryOut(message.task);
      return;
    case 'commit':
      current?.allow(message.slices);
      return;
    case 'abort':
      current?.stop.abort(Fault.from(message.fault));
      return;
  }
});

/** What a task needs while it goes on. */
interface Turn {
  readonly signal: AbortSignal;
  /** Resolves with the answer to `cut` or `mapped`, rejects with the reason of the signal. */
  readonly allowed: Promise<readonly SliceResult[]>;
}

async function carryOut(task: Task): Promise<void> {
  const stop = new AbortController();
  const allowed = new Promise<readonly SliceResult[]>((resolve, reject) => {
    current = { stop, allow: resolve };
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason));
  });
  // Nobody may be waiting for it yet when the abort comes.
  allowed.catch(() => undefined);
  const turn = { signal: stop.signal, allowed };
  const telling = setInterval(() => {
    const { heapTotal, external } = process.memoryUsage();
    say({ kind: 'memory', bytes: heapTotal + external });
  }, TELL_MS);
  try {
    const result = await (task.request.slice === undefined ? mapRun(task, turn) : mapSlice(task, turn));
    say({ kind: 'done', result });
  } catch (error) {
    // Whatever the engine says on its way out: it was stopped for the reason that the abort gave.
    const fault = stop.signal.aborted ? (stop.signal.reason as Fault) : Fault.of(error);
    say({ kind: 'failed', fault: fault.toJSON() });
  } finally {
    clearInterval(telling);
    current = undefined;
  }
}

async function mapRun(task: Task, turn: Turn): Promise<RunResult> {
  const { directory, name } = task.output;
  await removeLeftovers(directory, name);
  await removeSpills(task.request.spillDirectory);
  const cut = task.sliceRows > 0 ? await engine.cutRun?.(task.request, task.sliceRows, turn.signal) : undefined;
  if (cut !== undefined) return waitForSlices(task, cut, turn);
  return mapInto(task, turn, async ({ sink, rejected, report, first }) => {
    say({ kind: 'mapped' });
    await turn.allowed;
    return publish(task, report, first, async () => ({ parts: await sink.commit(), rejections: await rejected?.commit() }));
  });
}

async function waitForSlices(task: Task, cut: CutRun, { signal, allowed }: Turn): Promise<RunResult> {
  const started = performance.now();
  let results: readonly SliceResult[];
  try {
    signal.throwIfAborted();
    say({ kind: 'cut', slices: cut.slices });
    results = await allowed;
  } finally {
    // What the slices read is read: a connection that breaks now has nothing to spoil.
    await cut.release().catch(() => undefined);
  }
  return publishSlices(task, results, (performance.now() - started) / 1000);
}

/** Files stay under their temporary names. They are complete before the question: who asks later for what is left finds them. */
async function mapSlice(task: Task, turn: Turn): Promise<SliceResult> {
  const { directory, name, attempt } = task.output;
  const slice = attempt.replace(/-\d+$/, '');
  await removeAttempt(directory, name, slice);
  await removeSpills(task.request.spillDirectory, slice);
  return mapInto(task, turn, async ({ sink, rejected, report, first }) => {
    const parts = await sink.finish();
    const rejections = rejected?.finish();
    say({ kind: 'mapped' });
    await turn.allowed;
    return { report, parts, rejections, rejected: first };
  });
}

interface Mapped {
  readonly sink: FileSink;
  readonly rejected: RejectionFile | undefined;
  readonly report: RunReport;
  /** Messages of the first rejected records. */
  readonly first: readonly string[];
}

/** Maps into files of the task's own. What `end` throws removes them as well. */
async function mapInto<R>(task: Task, { signal }: Turn, end: (mapped: Mapped) => Promise<R>): Promise<R> {
  const { directory, name, format, attempt } = task.output;
  const rejected = task.request.onError === 'quarantine' ? new RejectionFile(task.output) : undefined;
  const first: string[] = [];
  const reject = (rejection: Rejection): void => {
    if (first.length < SHOWN) first.push(rejection.fault.message);
    rejected?.add(rejection);
  };
  let sink: FileSink | undefined;
  try {
    sink = await openFileSink({ directory, name: `${name}.${FORMAT_EXTENSION[format]}`, format, attempt });
    const progress = (now: { records: number; quads: number; bytesRead: number }): void => say({ kind: 'progress', progress: now });
    const report = await engine.executeRun(task.request, sink, { signal, progress, reject });
    signal.throwIfAborted();
    return await end({ sink, rejected, report, first });
  } catch (error) {
    // What ended the run is worth more than what may go wrong while tidying up; the next attempt tidies up as well.
    await Promise.allSettled([rejected?.abort(), sink?.abort()]);
    throw error;
  } finally {
    await rm(task.request.spillDirectory, { recursive: true, force: true });
  }
}

const SHOWN = 3;
