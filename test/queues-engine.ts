/**
 * An engine that does what the first input's URL says, so that tests of queues and workers choose what happens to a run.
 * It has the signature of `src/run/run.ts`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault, type FaultCode } from '../src/fault.ts';
import type { RunHooks, RunReport, RunRequest } from '../src/run/request.ts';
import type { QuadSink } from '../src/sinks/sink.ts';

type Act = (argument: string, given: { readonly request: RunRequest; readonly sink: QuadSink; readonly hooks: RunHooks }) => Promise<void>;

const ACTS: Readonly<Record<string, Act>> = {
  ok: async () => undefined,
  /** Takes so many milliseconds, and stops when it is told to. */
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
  /** Fails in a way that can get better, until the attempt of this number. */
  flaky: async (attempt, { request }) => {
    if (attemptOf(request) < Number(attempt)) throw new Fault('source/unreadable', `attempt ${attemptOf(request)} is too early`);
  },
  /** Never stops by itself, whatever it is told. */
  deaf: async () => {
    for (;;) await sleep(1000);
  },
  /** As `deaf`, and never lets its thread do anything else. */
  busy: async () => {
    for (;;);
  },
  memory: async () => {
    const held: string[][] = [];
    for (;;) held.push(Array.from({ length: 100_000 }, (_, i) => `${i} ${held.length}`));
  },
  /** Takes the whole worker process down. */
  die: async () => {
    process.kill(process.pid, 'SIGKILL');
    await sleep(60_000);
  },
  reject: async (count, { hooks }) => {
    for (let i = 0; i < Number(count); i++) {
      hooks.reject?.({ triplesMap: 'map', fault: { code: 'record/term', message: `record ${i} is bad`, place: { record: i } } });
    }
  },
};

export async function executeRun(request: RunRequest, sink: QuadSink, hooks: RunHooks): Promise<RunReport> {
  const [name = '', argument = ''] = (request.inputs[0]?.url ?? '').split('=');
  const act = ACTS[name];
  if (act === undefined) throw new Fault('source/missing', `no act ${name}`);
  const line = `<urn:${request.runId}> <urn:p> <urn:o> .\n`;
  await sink.write(line);
  await act(argument, { request, sink, hooks });
  return {
    records: 1,
    quads: 1,
    rejected: name === 'reject' ? Number(argument) : 0,
    bytesRead: 7,
    bytesWritten: line.length,
    seconds: 0,
    triplesMaps: [],
    warnings: [],
    mappings: request.mappings.map((url) => ({ url, sha256: '0'.repeat(64) })),
  };
}

/** The spill directory is the attempt's own, and named after it. */
function attemptOf(request: RunRequest): number {
  return Number(request.spillDirectory.split('.').pop());
}
