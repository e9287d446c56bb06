/**
 * A fake engine controlled by the URL of the first input, so that tests of queues and workers choose what happens to a run. It has the
 * interface of `src/run/run.ts`.
 *
 * A run whose first input is `slices=<count>` is cut; slice n does what the input named `n` says, and the cutting does what the input named
 * `cut` says. A directory represents the state that the slices read: it exists until the cut is released.
 */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { threadId } from 'node:worker_threads';
import { Fault, type FaultCode } from '../../../src/core/fault.ts';
import type { RunHooks, RunReport, RunRequest } from '../../../src/run/request.ts';
import type { SliceSizes } from '../../../src/run/slices/slices.ts';
import type { QuadSink } from '../../../src/sinks/sink.ts';
import type { CutRun } from '../../../workers/threads/messages.ts';

type Act = (argument: string, given: { readonly request: RunRequest; readonly sink: QuadSink; readonly hooks: RunHooks }) => Promise<void>;

const ACTS: Readonly<Record<string, Act>> = {
  ok: async () => undefined,
  /** Takes that many milliseconds, and stops when aborted. */
  slow: async (milliseconds, { hooks }) => {
    for (const end = Date.now() + Number(milliseconds); Date.now() < end; ) {
      if (hooks.signal?.aborted) throw new Fault('run/cancelled', 'stopped by the signal');
      hooks.progress?.({ records: 1, quads: 1, bytesRead: 7 });
      await sleep(20);
    }
  },
  fault: async (code, { request }) => {
    throw new Fault(code as FaultCode, `it failed with ${code}`, { place: { input: request.inputs.at(-1)?.url } });
  },
  /** Fails with a transient error until this attempt. */
  flaky: async (attempt, { request }) => {
    if (attemptOf(request) < Number(attempt)) throw new Fault('source/unreadable', `attempt ${attemptOf(request)} is too early`);
  },
  /** Never stops by itself, not even when aborted. */
  deaf: async () => {
    for (;;) await sleep(1000);
  },
  /** As `deaf`, and blocks its thread. */
  busy: async () => {
    for (;;);
  },
  memory: async () => {
    const held: string[][] = [];
    for (;;) held.push(Array.from({ length: 100_000 }, (_, i) => `${i} ${held.length}`));
  },
  /** Holds that many megabytes outside of the heap until aborted. */
  buffers: async (megabytes, given) => {
    const held = Array.from({ length: Number(megabytes) }, () => Buffer.alloc(2 ** 20, 1));
    await ACTS.slow?.('60000', given);
    held.length = 0;
  },
  /** Kills the whole worker process. */
  die: async () => {
    process.kill(process.pid, 'SIGKILL');
    await sleep(60_000);
  },
  /** As `die`, but only in the first attempt, after a delay, and without waiting for it. */
  dieonce: async (milliseconds, { request }) => {
    if (attemptOf(request) === 1) setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(milliseconds));
  },
  /** As `dieonce`, for slices in another process than the waiting one. */
  dieaway: async (milliseconds, given) => {
    if (given.request.slice?.snapshots.process !== String(process.pid)) await ACTS.dieonce?.(milliseconds, given);
  },
  /** Writes that many statements, each in its own part. */
  parts: async (count, { sink }) => {
    for (let i = 2; i <= Number(count); i++) {
      await sink.rollOver?.();
      await sink.write(`<urn:part> <urn:p> "${i}" .\n`);
    }
    await sink.rollOver?.();
  },
  /** Writes how many threads it may have, and then goes on until there is a file. */
  threads: async (file, { request, sink, hooks }) => {
    await sink.write(`<urn:run> <urn:threads> "${request.threads}" .\n`);
    while (!existsSync(file)) {
      hooks.progress?.({ records: 1, quads: 1, bytesRead: 7 });
      await sleep(20);
    }
  },
  /** Writes in which thread it is. */
  thread: async (_, { sink }) => {
    await sink.write(`<urn:run> <urn:thread> "${threadId}" .\n`);
  },
  slices: async () => undefined,
  reject: async (count, { hooks }) => {
    for (let i = 0; i < Number(count); i++) {
      hooks.reject?.({ triplesMap: 'map', fault: { code: 'record/term', message: `record ${i} is bad`, place: { record: i } } });
    }
  },
};

export async function executeRun(request: RunRequest, sink: QuadSink, hooks: RunHooks): Promise<RunReport> {
  const { slice } = request;
  const url = (slice === undefined ? request.inputs[0] : inputNamed(request, String(slice.index)))?.url ?? 'ok';
  const acts = url.split('&').map((act) => act.split('=') as [string, string?]);
  const unknown = acts.find(([name]) => name !== 'empty' && ACTS[name] === undefined);
  if (unknown !== undefined) throw new Fault('source/missing', `no act ${unknown[0]}`);
  const line =
    slice === undefined ? `<urn:${request.runId}> <urn:p> <urn:o> .\n` : `<urn:${request.runId}> <urn:slice> "${slice.index}" .\n`;
  const isEmpty = acts.some(([name]) => name === 'empty');
  if (!isEmpty) await sink.write(line);
  checkState(request);
  for (const [name, argument = ''] of acts) await ACTS[name]?.(argument, { request, sink, hooks });
  checkState(request);
  return {
    records: 1,
    quads: isEmpty ? 0 : 1,
    rejected: Number(acts.find(([name]) => name === 'reject')?.[1] ?? 0),
    bytesRead: 7,
    bytesWritten: line.length,
    seconds: 0,
    triplesMaps: [],
    warnings: slice === undefined ? [] : [`slices were mapped by the process ${process.pid}`],
    mappings: request.mappings.map((mapping) => ({ url: mapping, sha256: '0'.repeat(64) })),
  };
}

export async function sliceRun(request: RunRequest, { rows }: SliceSizes, signal: AbortSignal): Promise<CutRun | undefined> {
  const [name, count] = (request.inputs[0]?.url ?? '').split('=');
  if (name !== 'slices' || rows === 0 || rows > 1_000) return undefined;
  const [act = '', argument = ''] = inputNamed(request, 'cut')?.url.split('=') ?? [];
  await ACTS[act]?.(argument, { request, sink: undefined as never, hooks: { signal } });
  const state = join(dirname(request.spillDirectory), `state-${request.runId}-${attemptOf(request)}`);
  await mkdir(state, { recursive: true });
  return {
    slices: Array.from({ length: Number(count) }, (_, index) => ({
      index,
      digest: '',
      scans: [],
      snapshots: { state, process: String(process.pid) },
    })),
    release: () => rm(state, { recursive: true, force: true }),
  };
}

const inputNamed = ({ inputs }: RunRequest, name: string) => inputs.find((input) => input.name === name);

function checkState({ slice, database }: RunRequest): void {
  if (slice !== undefined && database?.password === undefined) throw new Fault('database/missing', 'the slice was given no database');
  const state = slice?.snapshots.state;
  if (state !== undefined && !existsSync(state)) throw new Fault('database/lost', 'the state that the slice reads is gone');
}

/** The spill directory is named after the attempt: `2`; for a slice `2-5-1`, with its own attempt at the end. */
function attemptOf(request: RunRequest): number {
  return Number(request.spillDirectory.split(/[.-]/).pop());
}
