/**
 * The thread that maps: one run at a time, any number of them after each other.
 *
 * It asks before it gives its output the final name, so that an attempt that has lost its job, or whose run was
 * cancelled, publishes nothing.
 */
import { rm } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { Fault } from '../src/fault.ts';
import type { Rejection } from '../src/run/request.ts';
import { openFileSink } from '../src/sinks/file.ts';
import { FORMAT_EXTENSION, type QuadSink } from '../src/sinks/sink.ts';
import type { Engine, FromThread, Task, ThreadData, ToThread } from './messages.ts';
import { RejectionFile, removeLeftovers, removeSpills, writeManifest } from './output.ts';

const port = parentPort;
if (port === null) throw new Error('workers/thread is started as a worker thread');
const say = (message: FromThread): void => port.postMessage(message);

const engine = (await import((workerData as ThreadData).engine)) as Engine;

/** The run that goes on. */
let current: { readonly stop: AbortController; allow: () => void } | undefined;

port.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'run':
      void carryOut(message.task);
      return;
    case 'commit':
      current?.allow();
      return;
    case 'abort':
      current?.stop.abort(Fault.from(message.fault));
      return;
  }
});

async function carryOut(task: Task): Promise<void> {
  const stop = new AbortController();
  const allowed = new Promise<void>((resolve, reject) => {
    current = { stop, allow: resolve };
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason));
  });
  // Nobody may be waiting for it yet when the abort comes.
  allowed.catch(() => undefined);
  try {
    const result = await map(task, stop.signal, allowed);
    say({ kind: 'done', result });
  } catch (error) {
    // Whatever the engine says on its way out: it was stopped for the reason that the abort gave.
    const fault = stop.signal.aborted ? (stop.signal.reason as Fault) : Fault.of(error);
    say({ kind: 'failed', fault: fault.toJSON() });
  } finally {
    current = undefined;
  }
}

async function map(task: Task, signal: AbortSignal, allowed: Promise<void>) {
  const { directory, name, format, attempt } = task.output;
  await removeLeftovers(directory, name);
  await removeSpills(task.request.spillDirectory);
  const rejected = task.request.onError === 'quarantine' ? new RejectionFile(task.output) : undefined;
  const first: string[] = [];
  const reject = (rejection: Rejection): void => {
    if (first.length < SHOWN) first.push(rejection.fault.message);
    rejected?.add(rejection);
  };
  let sink: QuadSink | undefined;
  let published = false;
  try {
    sink = await openFileSink({ directory, name: `${name}.${FORMAT_EXTENSION[format]}`, format, attempt });
    const progress = (now: { records: number; quads: number; bytesRead: number }): void => say({ kind: 'progress', progress: now });
    const report = await engine.executeRun(task.request, sink, { signal, progress, reject });
    signal.throwIfAborted();
    say({ kind: 'mapped' });
    await allowed;
    published = true;
    const parts = await sink.commit();
    const rejections = await rejected?.commit();
    const warnings = [...report.warnings, ...rejectionWarnings(report.rejected, first)];
    const manifest = await writeManifest(task, report, parts, rejections);
    return { report: { ...report, warnings }, parts, manifest, rejections };
  } catch (error) {
    // What ended the run is worth more than what may go wrong while tidying up; the next attempt tidies up as well.
    await Promise.allSettled([rejected?.abort(), sink?.abort()]);
    // The parts may have appeared, but a run without a manifest is none.
    if (published) await Promise.allSettled([removeLeftovers(directory, name, true)]);
    throw error;
  } finally {
    await rm(task.request.spillDirectory, { recursive: true, force: true });
  }
}

const SHOWN = 3;

function rejectionWarnings(count: number, first: readonly string[]): readonly string[] {
  if (count === 0) return [];
  const more = count > first.length ? '; …' : '';
  return [`${count} ${count === 1 ? 'record was' : 'records were'} rejected: ${first.join('; ')}${more}`];
}
