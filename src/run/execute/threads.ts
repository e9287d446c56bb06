/** Executes groups of scans in several threads: they map, this one writes their output in order of arrival. */

import { Worker } from 'node:worker_threads';
import { compiled } from '../../core/compiled.ts';
import { Fault, type FaultData } from '../../core/fault.ts';
import { type Packed, packSecrets } from '../../core/secret.ts';
import type { Plan } from '../../plan/plan.ts';
import type { QuadSink } from '../../sinks/sink.ts';
import type { Progress, Rejection, RunHooks, RunRequest } from '../request.ts';
import type { ScansResult } from './scans.ts';

export interface ThreadData {
  readonly request: Packed<RunRequest>;
  /** Database snapshots that all threads read. */
  readonly snapshots: Readonly<Record<string, string>>;
}

export type ToThread =
  | { readonly kind: 'scans'; readonly positions: readonly number[] }
  | { readonly kind: 'written' }
  | { readonly kind: 'end' };

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'lines'; readonly bytes: Uint8Array }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'rejection'; readonly rejection: Rejection }
  | { readonly kind: 'done'; readonly result: ScansResult }
  | { readonly kind: 'failed'; readonly fault: FaultData };

/** @throws Fault the first one of any thread; the other threads are terminated */
export async function executeInThreads(
  request: RunRequest,
  plan: Plan,
  count: number,
  snapshots: Readonly<Record<string, string>>,
  sink: Pick<QuadSink, 'write'>,
  hooks: RunHooks,
): Promise<readonly ScansResult[]> {
  // Starting with the largest group would need the sizes of the inputs; the number of scans is the best estimate.
  const waiting = plan.groups.toSorted((a, b) => b.length - a.length);
  const share: RunRequest = { ...request, threads: 1, memoryBudgetBytes: Math.floor(request.memoryBudgetBytes / count) };
  const results: ScansResult[] = [];
  const progress = new Map<Worker, Progress>();
  const workerData: ThreadData = { request: packSecrets(share), snapshots };
  const threads = Array.from({ length: count }, () => new Worker(compiled('src/run/execute/thread.js'), { workerData }));
  let rejected = 0;
  let writing: Promise<void> = Promise.resolve();
  const drive = (thread: Worker): Promise<void> =>
    new Promise((resolve, reject) => {
      const send = (message: ToThread) => thread.postMessage(message);
      const next = () => {
        const positions = waiting.shift();
        send(positions === undefined ? { kind: 'end' } : { kind: 'scans', positions });
        if (positions === undefined) resolve();
      };
      const cancel = () => reject(new Fault('run/cancelled', 'The run was cancelled'));
      hooks.signal?.addEventListener('abort', cancel);
      thread.on('error', reject);
      thread.on('exit', () => reject(new Fault('internal/error', 'A mapping thread ended before its work')));
      thread.on('message', (message: FromThread) => {
        switch (message.kind) {
          case 'ready':
            return next();
          case 'done':
            results.push(message.result);
            progress.delete(thread);
            return next();
          case 'failed':
            return reject(Fault.from(message.fault));
          case 'progress':
            progress.set(thread, message.progress);
            return hooks.progress?.(total(results, progress.values()));
          case 'rejection':
            hooks.reject?.(message.rejection);
            rejected++;
            if (rejected > request.maxRejected) {
              reject(new Fault('record/limit', `More than ${request.maxRejected} records were rejected`, { limit: 'MAX_REJECTED' }));
            }
            return;
          case 'lines': {
            const { buffer, byteOffset, byteLength } = message.bytes;
            const lines = Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString('latin1');
            writing = writing.then(() => sink.write(lines));
            writing.then(() => send({ kind: 'written' }), reject);
          }
        }
      });
    });
  try {
    if (hooks.signal?.aborted) throw new Fault('run/cancelled', 'The run was cancelled');
    await Promise.all(threads.map(drive));
    await writing;
    return results;
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}

function total(results: readonly ScansResult[], running: Iterable<Progress>): Progress {
  const sum = { records: 0, quads: 0, bytesRead: 0 };
  for (const part of [...results, ...running]) {
    sum.records += part.records;
    sum.quads += part.quads;
    sum.bytesRead += part.bytesRead;
  }
  return sum;
}
