/** Shared state of one write: the store, the retry policy, the counts, and the abort signal. */
import { setImmediate as turn } from 'node:timers/promises';
import { describeFault, excerpt, Fault } from '../core/fault.ts';
import { checkCounts } from '../core/limits.ts';
import { fromBytes } from '../core/text.ts';
import type { StatementBlock } from '../nquads/read.ts';
import type { RejectedStatement, Statement } from '../nquads/statement.ts';
import type { GraphTarget } from '../targets/target.ts';
import { type BatchSizer, openSizer } from './batch-size.ts';
import { type CheckpointTracker, trackCheckpoints } from './checkpoint.ts';
import { IllTypedLiterals } from './ill-typed.ts';
import type { WriteInput } from './inputs.ts';
import type { WriteHooks, WritePosition, WriteRequest } from './request.ts';
import { openRetryPolicy, type RetryPolicy } from './retry.ts';

export interface WriteRun {
  readonly target: GraphTarget;
  readonly request: Omit<WriteRequest, 'target'>;
  readonly inputs: readonly WriteInput[];
  /** Ends the run; its reason is the fault of the run. */
  readonly signal: AbortSignal;
  readonly retryPolicy: RetryPolicy;
  readonly sizer: BatchSizer;
  readonly checkpoints: CheckpointTracker;
  /** The position at which this attempt starts; undefined: the beginning. */
  readonly resume: WritePosition | undefined;
  /** Maximum memory of a batch. */
  readonly batchBytes: number;
  readonly counts: { statements: number; bytesRead: number; bytesSpilled: number; rejected: number };
  readonly warnings: string[];
  readonly illTyped: IllTypedLiterals;
  /** Does it in the background, a few at a time: resolves when it has begun. @throws Fault whatever has ended the run */
  start(task: () => Promise<void>): Promise<void>;
  /** Resolves when everything that was started is done. @throws Fault whatever has ended the run */
  drain(): Promise<void>;
  /** Ends whatever is under way with this fault, unless another one came first. */
  stop(error: unknown): void;
  /** Resolves when nothing is under way any more, whatever came of it. */
  settled(): Promise<void>;
  /** @throws Fault record/limit */
  reject(rejected: RejectedStatement): void;
  /** Gives the event loop a turn when it had none for a while. @throws Fault whatever has ended the run */
  yieldToEventLoop(): Promise<void>;
}

export interface WriteRunOptions extends Pick<WriteRun, 'target' | 'request' | 'inputs' | 'resume'> {
  readonly version: string | undefined;
  readonly hooks: WriteHooks;
  readonly ending: AbortController;
}

const TURN_MS = 25;
/** Larger requests are no faster, and take their memory several times while they are on their way. */
const MOST_BATCH_BYTES = 16 * 2 ** 20;

export function openWriteRun({ target, request, inputs, resume, version, hooks, ending }: WriteRunOptions): WriteRun {
  const { signal } = ending;
  const running = new Set<Promise<void>>();
  const inFlight = Math.max(1, target.sizes.inFlight);
  const counts = { statements: 0, bytesRead: 0, bytesSpilled: 0, rejected: resume?.rejected ?? 0 };
  const stop = (error: unknown): void => {
    if (!signal.aborted) ending.abort(withInput(Fault.of(error), inputs));
  };
  let lastTurn = performance.now();
  return {
    target,
    request,
    inputs,
    resume,
    signal,
    retryPolicy: openRetryPolicy(request.patienceSeconds, signal, hooks.waiting),
    sizer: openSizer(target.sizes),
    checkpoints: trackCheckpoints(version, resume),
    batchBytes: Math.min(MOST_BATCH_BYTES, request.memoryBudgetBytes / (4 * inFlight)),
    counts,
    warnings: [],
    illTyped: new IllTypedLiterals(),
    stop,
    settled: async () => void (await Promise.all(running)),
    async start(task) {
      while (running.size >= inFlight) await Promise.race(running);
      signal.throwIfAborted();
      const one = task()
        .catch(stop)
        .finally(() => running.delete(one));
      running.add(one);
    },
    async drain() {
      await Promise.all(running);
      signal.throwIfAborted();
    },
    reject(rejected) {
      signal.throwIfAborted();
      counts.rejected++;
      hooks.reject?.(rejected);
      if (counts.rejected <= request.maxRejected) return;
      // Here and now: other batches on their way have nothing more to say.
      stop(tooManyRejected(request.maxRejected, Fault.from(rejected.fault)));
      signal.throwIfAborted();
    },
    async yieldToEventLoop() {
      if (performance.now() - lastTurn > TURN_MS) {
        await turn();
        lastTurn = performance.now();
      }
      signal.throwIfAborted();
    },
  };
}

/** What does not fit is not loaded by any other try: the log has to name it. */
function withInput(fault: Fault, inputs: readonly WriteInput[]): Fault {
  if (fault.code !== 'store/full') return fault;
  const names = inputs.map(({ name }) => name);
  const message = `The embedded store does not take all of ${names.join(', ')}: ${fault.message}`;
  return fault.with({ message, place: names[0] === undefined ? {} : { input: names[0] } });
}

const tooManyRejected = (most: number, last: Fault): Fault =>
  new Fault('record/limit', `More than ${most} statements were rejected; the last: ${describeFault(last)}`, {
    place: last.place,
    limit: 'MAX_REJECTED_STATEMENTS',
    hint: 'Mend the input, or raise MAX_REJECTED_STATEMENTS',
  });

/** @throws Fault limit/exceeded */
export function countBlock(
  { counts, request, inputs, illTyped }: WriteRun,
  { statements, rejected, end }: StatementBlock,
  input: number,
): void {
  counts.statements += statements.length + rejected.length;
  const place = { input: inputs[input]?.name ?? '', line: end.line };
  illTyped.look(statements, place.input);
  checkCounts(request.limits, { records: counts.statements, quads: counts.statements }, place);
}

const MOST_CHARACTERS = 16 * 2 ** 10;

/** What the store has said of a statement, for who reads what was rejected. */
export function refusedStatement(statement: Statement, input: string, line: number, reason: Fault): RejectedStatement {
  const { subject, predicate, object, graph } = statement;
  const text = fromBytes(`${subject} ${predicate} ${object}${graph === '' ? '' : ` ${graph}`} .`).slice(0, MOST_CHARACTERS);
  const { message, hint } = reason;
  const place = { input, ...(line === 0 ? {} : { line }), value: excerpt(text) };
  return { input, line, statement: text, fault: { code: 'target/refused', message, place, ...(hint === undefined ? {} : { hint }) } };
}
