/**
 * The thread that maps and writes: one task at a time, or several small runs, any number one after another.
 *
 * It asks before it gives its output final names, so that an attempt that has lost its lock or was cancelled publishes nothing.
 */

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { RunProgress, SliceResult } from '../../queues/jobs.ts';
import { Fault } from '../../src/core/fault.ts';
import { unpackSecrets } from '../../src/core/secret.ts';
import { SubjectFile } from '../../src/run/distinct/subject-file.ts';
import type { PreparedRun } from '../../src/run/prepare/open.ts';
import type { Rejection, RunReport } from '../../src/run/request.ts';
import { type FileSink, openFileSink, temporaryName } from '../../src/sinks/file.ts';
import { FORMAT_EXTENSION } from '../../src/sinks/sink.ts';
import { makeDirectory } from '../../src/storage/local/directory.ts';
import { hasEarlier, RejectionFile, removeAttempt, removeEarlier, removeEarlierSpills } from '../output/output.ts';
import { MAX_SHOWN, publish, publishSlices } from '../output/publish.ts';
import { TargetParts } from '../output/targets.ts';
import { SliceFiles, sendSlice } from '../output/transfer.ts';
import type { RunResult, Task } from '../task.ts';
import { makeVersion } from './dataset.ts';
import type { CutRun, Engine, FromTask, FromThread, TaskContext, ThreadCommand, ThreadData, ThreadResult, ToThread } from './messages.ts';
import { checkGraphFormat, graphFilesOf } from './property-graph.ts';
import { withoutRepetitions } from './repetitions.ts';
import { assertSmall, TooLarge } from './small.ts';
import { writeInputs } from './write-task.ts';

const port = parentPort;
if (port === null) throw new Error('workers/thread is started as a worker thread');
const postOf =
  (id: number): Post =>
  (message) =>
    port.postMessage({ id, ...message } satisfies FromThread);

type Post = (message: FromTask) => void;

const engine = import((workerData as ThreadData).engine) as Promise<Engine>;

/** How often the progress and the memory of the running task are reported. The owner stores progress no more often; most runs end earlier. */
const REPORT_MS = 250;

interface CurrentTask {
  readonly stop: AbortController;
  allow: (slices: readonly SliceResult[]) => void;
  /** Since the last report. */
  progress: RunProgress | undefined;
  /** What the run's own threads hold. */
  threadBytes: number;
}

/** The running tasks. */
const running = new Map<number, CurrentTask>();

port.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'task':
      void execute(message.id, unpackSecrets(message.command));
      return;
    case 'commit':
      running.get(message.id)?.allow(message.slices);
      return;
    case 'abort':
      running.get(message.id)?.stop.abort(Fault.from(message.fault));
      return;
  }
});

async function execute(id: number, command: ThreadCommand): Promise<void> {
  const post = postOf(id);
  const stop = new AbortController();
  const now: CurrentTask = { stop, allow: () => undefined, progress: undefined, threadBytes: 0 };
  running.set(id, now);
  const context: TaskContext = {
    signal: stop.signal,
    progress: (progress) => {
      now.progress = progress;
    },
    memory: (bytes) => {
      now.threadBytes = bytes;
    },
    ask: (question) =>
      new Promise((resolve, reject) => {
        stop.signal.throwIfAborted();
        stop.signal.addEventListener('abort', () => reject(stop.signal.reason), { once: true });
        now.allow = resolve;
        post(question);
      }),
  };
  const reporting = setInterval(() => {
    const { heapTotal, external } = process.memoryUsage();
    post({ kind: 'memory', bytes: Math.round((heapTotal + external) / running.size) + now.threadBytes });
    if (now.progress !== undefined) post({ kind: 'progress', progress: now.progress });
    now.progress = undefined;
  }, REPORT_MS);
  try {
    const result = await resultOf(command, context, post);
    post({ kind: 'done', result });
  } catch (error) {
    if (error instanceof TooLarge && !stop.signal.aborted) return post({ kind: 'large' });
    // After an abort its reason counts, whatever the engine throws.
    const fault = stop.signal.aborted ? (stop.signal.reason as Fault) : Fault.of(error);
    post({ kind: 'failed', fault: fault.toJSON() });
  } finally {
    clearInterval(reporting);
    running.delete(id);
  }
}

async function resultOf(command: ThreadCommand, context: TaskContext, post: Post): Promise<ThreadResult> {
  if (command.kind === 'write') return writeInputs(command.task, context, post);
  const { task } = command;
  if (task.dataset !== undefined) return makeVersion(task, task.dataset, context);
  return task.request.slice === undefined ? mapRun(task, context) : mapSlice(task, context);
}

async function mapRun(task: Task, context: TaskContext): Promise<RunResult> {
  checkGraphFormat(task);
  const { name } = task.output;
  if (await hasEarlier(task.output)) {
    await removeEarlier(task.output, name, task.output.attempt);
    await removeEarlierSpills(task.request.spillDirectory);
  }
  const { rows, bytes } = task.slices;
  const isCut = (rows > 0 || bytes > 0) && !task.shared;
  let prepared: PreparedRun | undefined;
  const keep = (whole: PreparedRun): void => {
    prepared = whole;
  };
  const cut = isCut ? await (await engine).sliceRun?.(task.request, task.slices, context.signal, keep) : undefined;
  if (cut !== undefined) return waitForSlices(task, cut, context);
  const end = async ({ sink, targets, rejected, report, first }: Mapped): Promise<RunResult> => {
    const propertyGraph = task.output.propertyGraph && (await graphFilesOf(task, await sink.finish(), context.signal));
    await context.ask({ kind: 'mapped' }).catch(async (error) => {
      await removeAttempt(task.output, name, task.output.attempt);
      throw error;
    });
    const finish = async () => ({
      parts: await sink.finish(),
      targets: await targets.finish(),
      rejections: rejected?.finish(),
      propertyGraph,
    });
    return publish(task, report, first, finish, () => context.ask({ kind: 'mapped' }));
  };
  return mapInto(task, context, end, { prepared });
}

async function waitForSlices(task: Task, cut: CutRun, { signal, ask }: TaskContext): Promise<RunResult> {
  const started = performance.now();
  let results: readonly SliceResult[];
  try {
    results = await ask({ kind: 'cut', slices: cut.slices });
  } finally {
    // All slices have been read, so an error of this connection is harmless.
    await cut.release().catch(() => undefined);
  }
  const files = new SliceFiles(task.output, results, signal);
  if (results.some(({ subjects }) => subjects !== undefined)) {
    results = await withoutRepetitions(task, results, files, signal);
    // That may have taken a while.
    await ask({ kind: 'mapped' });
  }
  const parts = results.flatMap((result) => result.parts);
  if (task.output.propertyGraph !== undefined) await files.fetch(parts.map(({ file }) => file));
  const propertyGraph = await graphFilesOf(task, parts, signal);
  if (propertyGraph !== undefined) await ask({ kind: 'mapped' });
  const seconds = (performance.now() - started) / 1000;
  return publishSlices(task, results, files, seconds, () => ask({ kind: 'mapped' }), signal, propertyGraph);
}

/** Files keep their temporary names. They are complete before the question, so the process that cleans up after it finds all of them. */
async function mapSlice(task: Task, context: TaskContext): Promise<SliceResult> {
  const { directory, name, attempt } = task.output;
  await removeEarlier(task.output, name, attempt);
  await removeEarlierSpills(task.request.spillDirectory);
  const { distinct, slice } = task.request;
  const group = distinct ? slice?.group : undefined;
  const file = temporaryName(`${name}.subjects`, attempt);
  if (group !== undefined) makeDirectory(directory);
  const subjects = group === undefined ? undefined : new SubjectFile(join(directory, file));
  try {
    return await mapInto(
      task,
      context,
      async ({ sink, targets: open, rejected, report, first }) => {
        const parts = await sink.finish();
        const targets = (await open.finish()).map(({ part, ...target }) => ({ ...target, parts: [part] }));
        const rejections = rejected?.finish();
        subjects?.finish();
        const ofTargets = targets.length === 0 ? {} : { targets };
        const result = {
          report,
          parts,
          ...ofTargets,
          rejections,
          rejected: first,
          subjects: group === undefined ? undefined : { group, file },
        };
        await sendSlice(task.output, result);
        await context.ask({ kind: 'mapped' });
        return result;
      },
      { subjects },
    );
  } catch (error) {
    subjects?.close();
    if (subjects !== undefined) await rm(join(directory, file), { force: true });
    throw error;
  }
}

interface Mapped {
  readonly sink: FileSink;
  readonly targets: TargetParts;
  readonly rejected: RejectionFile | undefined;
  readonly report: RunReport;
  /** Messages of the first rejected records. */
  readonly first: readonly string[];
}

/** Maps into temporary files of the task. They are removed if mapping or `end` throws. @param prepared the run, if it is prepared already */
async function mapInto<R>(
  task: Task,
  { signal, progress, memory }: TaskContext,
  end: (mapped: Mapped) => Promise<R>,
  { subjects, prepared }: { readonly subjects?: SubjectFile | undefined; readonly prepared?: PreparedRun | undefined },
): Promise<R> {
  const { directory, name, format, attempt } = task.output;
  const rejected = task.request.onError === 'quarantine' ? new RejectionFile(task.output) : undefined;
  const first: string[] = [];
  const reject = (rejection: Rejection): void => {
    if (first.length < MAX_SHOWN) first.push(rejection.fault.message);
    rejected?.add(rejection);
  };
  const targets = new TargetParts(task.output, task.request.slice !== undefined);
  let sink: FileSink | undefined;
  // The engine closes what it is given.
  let unclosed = prepared;
  try {
    sink = await openFileSink({ directory, name: `${name}.${FORMAT_EXTENSION[format]}`, format, attempt });
    const subject = subjects === undefined ? {} : { subject: (token: string) => subjects.add(token) };
    const located = task.shared ? { located: (urls: readonly string[]) => assertSmall(urls, task) } : {};
    const hooks = { signal, progress, memory, reject, openTarget: targets.open, ...subject, ...located };
    const { executeRun } = await engine;
    unclosed = undefined;
    const report = await executeRun(task.request, sink, hooks, prepared);
    signal.throwIfAborted();
    return await end({ sink, targets, rejected, report, first });
  } catch (error) {
    // The original error matters more than an error of the cleanup, which the next attempt repeats.
    await Promise.allSettled([rejected?.abort(), sink?.abort(), targets.abort()]);
    throw error;
  } finally {
    await unclosed?.close();
    // Most runs spill nothing.
    if (existsSync(task.request.spillDirectory)) await rm(task.request.spillDirectory, { recursive: true, force: true });
  }
}
