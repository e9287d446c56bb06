/** Shared by all `/process` routes: turns a request into a run, and its outcome into the answer. */

import { NO_WORKERS } from '../queues/backend/worker-registry.ts';
import type { Outcome, RunView, ServiceRequest } from '../queues/jobs.ts';
import type { Snapshot } from '../src/config/options/options.ts';
import { Fault } from '../src/core/fault.ts';
import { redact } from '../src/core/redact.ts';
import { type Api, type Call, explainQueueError, type Parameter, type Reply, type Route, withinQueueWait } from './route.ts';

export const RUN_REPLIES: Route['replies'] = {
  200: { description: 'The run completed', schema: 'SuccessReport' },
  202: { description: 'The run continues; Location has its address', schema: 'RunView' },
  400: { description: 'The run failed (failure message), or the request is wrong (problem)', schema: 'FailureMessage' },
};

export const RUN_HEADERS: readonly Parameter[] = [
  {
    name: 'Prefer',
    in: 'header',
    description:
      '`respond-async`: answer 202 at once; `wait=SECONDS`: answer 202 after that time; `urgency=0` to `urgency=7` (default: 3): runs with a smaller number are taken first',
  },
  {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'The same key with the same request gives the same run',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
];

/**
 * Submits the run request for the current configuration, and answers with its outcome, or with 202 if that is not waited for.
 *
 * @throws Fault — those of `request`; request/conflict — a used key; service/unavailable
 */
export async function answerRun(api: Api, call: Call, request: (snapshot: Snapshot) => Promise<ServiceRequest>): Promise<Reply> {
  if (api.draining.aborted) throw new Fault('service/unavailable', 'This process is shutting down and accepts no more runs');
  const preference = readPreference(call);
  const idempotencyKey = call.parameters['Idempotency-Key'] as string | undefined;
  const snapshot = api.config.snapshot();
  const transform = await request(snapshot);
  const { id } = await withinQueueWait(
    api,
    api.runs.submit(transform, { idempotencyKey, caller: call.actor, urgency: preference.urgency }),
  );

  if (api.workerCount?.(transform.service) === 0) warnOfNoWorkers(api, id);

  const waitMs = shortest(snapshot.PROCESS_WAIT_SECONDS * 1_000, preference.waitMs);
  const outcome = preference.async && preference.waitMs === 0 ? undefined : await waitForOutcome(api, call, id, waitMs);
  return outcome === undefined ? accepted(api, call, id, transform, preference.applied) : replyOf(outcome);
}

/** 400 also for a cancelled run: it did not do what the caller asked. */
function replyOf(outcome: Outcome): Reply {
  return outcome.state === 'completed' ? { status: 200, body: outcome.report } : { status: 400, body: outcome.failure };
}

/**
 * The outcome; undefined if the wait is over, the process ends, the client has closed the connection or the queue is away. The run itself
 * continues in all these cases.
 */
async function waitForOutcome(api: Api, call: Call, id: string, waitMs: number): Promise<Outcome | undefined> {
  const { socket } = call.request;
  const left = deferred();
  const ending = deferred();
  const ends: Promise<Outcome | undefined>[] = [
    explainQueueError(api, api.runs.outcome(id, waitMs)).catch((error) => {
      if (error instanceof Fault && error.code === 'service/unavailable') return undefined;
      throw error;
    }),
    left.promise,
    ending.promise,
  ];
  socket.once('close', left.resolve);
  api.ending.addEventListener('abort', ending.resolve);
  try {
    if (socket.destroyed || api.ending.aborted) return undefined;
    return await Promise.race(ends);
  } finally {
    socket.off('close', left.resolve);
    api.ending.removeEventListener('abort', ending.resolve);
  }
}

/** Cheaper than an AbortController per request, where the events are rare. */
function deferred(): { readonly promise: Promise<undefined>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<undefined>((settle) => {
    resolve = () => settle(undefined);
  });
  return { promise, resolve };
}

async function accepted(api: Api, call: Call, id: string, request: ServiceRequest, applied: string): Promise<Reply> {
  const view = await withinQueueWait(api, api.runs.get(id)).catch((error) => {
    if (error instanceof Fault && error.code === 'service/unavailable') return undefined;
    throw error;
  });
  return {
    status: 202,
    headers: { Location: `${call.baseUrl}/runs/${encodeURIComponent(id)}`, ...(applied === '' ? {} : { 'Preference-Applied': applied }) },
    body: withReason(api, view ?? queuedView(id, request)),
  };
}

const WARN_INTERVAL_MS = 60_000;
const warned = new WeakMap<Api['logger'], number>();

/** At most once a minute, however many runs wait. */
function warnOfNoWorkers({ logger }: Api, run: string): void {
  const now = performance.now();
  if (now - (warned.get(logger) ?? Number.NEGATIVE_INFINITY) < WARN_INTERVAL_MS) return;
  warned.set(logger, now);
  logger.warn({ run }, NO_WORKERS);
}

/** Adds the reason to a run that waits while there are no workers. */
export function withReason(
  { workerCount }: Pick<Api, 'workerCount'>,
  view: RunView,
): RunView & { readonly reason?: string; readonly workers?: number } {
  const waits = view.state === 'queued' || view.state === 'retrying';
  return waits && workerCount?.(view.service) === 0 ? { ...view, reason: NO_WORKERS, workers: 0 } : view;
}

/** View of a submitted run, for when the queue cannot be read any more. */
function queuedView(id: string, request: ServiceRequest): RunView {
  return {
    id,
    service: request.service,
    state: 'queued',
    attempts: 0,
    submittedAt: new Date().toISOString(),
    startedAt: undefined,
    endedAt: undefined,
    progress: undefined,
    input: request.inputs.map(({ url }) => redact(url)),
    outcome: undefined,
  };
}

interface Preference {
  readonly async: boolean;
  /** 0 without `wait`. */
  readonly waitMs: number;
  readonly urgency: number | undefined;
  /** Value of `Preference-Applied` if the answer is 202. */
  readonly applied: string;
}

/** Reads `respond-async`, `wait` and `urgency` of the Prefer header; the standard says to ignore unknown preferences. */
function readPreference(call: Call): Preference {
  const header = call.request.headers.prefer;
  const preferences = String(header ?? '')
    .split(',')
    .map((one) => one.split(';', 1)[0]?.trim().toLowerCase() ?? '');
  const async = preferences.includes('respond-async');
  const wait = preferences.map((one) => /^wait\s*=\s*"?(\d{1,6})"?$/.exec(one)?.[1]).find((seconds) => seconds !== undefined);
  const urgency = preferences.map((one) => /^urgency\s*=\s*"?([0-7])"?$/.exec(one)?.[1]).find((number) => number !== undefined);
  const applied = [
    ...(async ? ['respond-async'] : []),
    ...(wait === undefined ? [] : [`wait=${wait}`]),
    ...(urgency === undefined ? [] : [`urgency=${urgency}`]),
  ].join(', ');
  return {
    async,
    waitMs: wait === undefined ? 0 : Number(wait) * 1_000,
    urgency: urgency === undefined ? undefined : Number(urgency),
    applied,
  };
}

/** The shorter of two waits; 0 means no limit. */
const shortest = (a: number, b: number): number => (a === 0 || b === 0 ? Math.max(a, b) : Math.min(a, b));
