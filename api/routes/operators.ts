/** `/health/live`, `/health/ready` and `/metrics`: for the operators of the service. */
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { queueRefusal } from '../../queues/backend/refusals.ts';
import { backlogOf } from '../../queues/runs/backlog.ts';
import { directories } from '../../src/config/directories.ts';
import { expiryOf, licenceOf } from '../../src/config/licence.ts';
import { VERSION } from '../../src/config/version.ts';
import { Fault } from '../../src/core/fault.ts';
import { type Measures, metricsText, registry } from '../../src/core/telemetry/observe.ts';
import { RequestFault } from '../problem.ts';
import { type Api, type Route, withinQueueWait } from '../route.ts';

export const READINESS = '/health/ready';

export function operatorRoutes(api: Api): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/health/live',
      role: undefined,
      summary: 'Says that the process is alive',
      replies: { 200: { description: 'It is', schema: 'Health' } },
      handle: async () => ({ status: 200, body: { status: 'up', version: VERSION } }),
    },
    {
      method: 'GET',
      path: READINESS,
      role: undefined,
      summary:
        'Says whether runs can be accepted: the queue takes writes and, if this process has workers, they run. Also shows the number of worker processes and the states of the message queue and of the follower, which do not affect readiness',
      replies: { 200: { description: 'They can', schema: 'Health' } },
      handle: async () => {
        const { checks, reason } = await checkReadiness(api);
        const down = Object.entries(checks).filter(([, state]) => state !== 'up');
        const shown = withFollower(api, withMessages(api, checks));
        const reasons = { ...shown.reasons, ...(reason === undefined ? {} : { queue: reason }) };
        const members = {
          ...shown,
          ...(Object.keys(reasons).length === 0 ? {} : { reasons }),
          ...(api.workerCount === undefined ? {} : { workers: api.workerCount() }),
        };
        if (down.length === 0) return { status: 200, body: { status: 'up', version: VERSION, ...members } };
        throw new RequestFault('service/unavailable', `Not ready: ${down.map(([name, state]) => `${name} is ${state}`).join(', ')}`, {
          members,
        });
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      role: 'viewer',
      summary: 'Metrics in the text format of Prometheus',
      replies: { 200: { description: 'The metrics', type: 'text/plain', schema: { type: 'string' } } },
      handle: async () => ({
        status: 200,
        type: registry.contentType,
        body: await metricsText(measures(api)),
      }),
    },
  ];
}

function measures(api: Api): Measures {
  const { queues } = api;
  return {
    counts: () => withinQueueWait(api, api.runs.counts()),
    licenceExpiry: () => expiryOf(licenceOf(api.config.snapshot(), Date.now())),
    ...(queues === undefined ? {} : { backlog: () => withinQueueWait(api, backlogOf(queues, api.services)) }),
    freeBytes: async () => {
      const { output, spill } = directories(api.config.snapshot(), api.workingDirectory);
      return { spill: await freeBytes(spill), ...(isFile(output) ? { output: await freeBytes(pathOf(output)) } : {}) };
    },
  };
}

const isFile = (url: string): boolean => !/^[a-z][a-z0-9+.-]+:/i.test(url) || url.startsWith('file:');
const pathOf = (url: string): string => (url.startsWith('file:') ? fileURLToPath(url) : url);

/** Free bytes of the disk of a directory, or of its nearest existing parent. */
async function freeBytes(directory: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  } catch (error) {
    const parent = dirname(directory);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === directory) throw error;
    return freeBytes(parent);
  }
}

type State = 'up' | 'down' | 'ending';

interface Shown {
  readonly checks: Readonly<Record<string, State | 'off' | 'standby'>>;
  readonly reasons?: Readonly<Record<string, string>>;
}

/** As the message queue: runs do not need it. */
function withFollower({ follower }: Api, { checks, reasons }: Shown): Shown {
  const now = follower?.();
  if (now === undefined) return { checks, ...(reasons && { reasons }) };
  const { state, reason } = now;
  const all = { ...reasons, ...(reason === undefined ? {} : { follower: reason }) };
  return { checks: { ...checks, follower: state }, ...(Object.keys(all).length === 0 ? {} : { reasons: all }) };
}

/** Runs do not need the message queue, so its state is shown without affecting readiness. */
function withMessages({ messages }: Api, checks: Readonly<Record<string, State>>): Shown {
  const now = messages?.();
  if (now === undefined) return { checks };
  const { on, lastError } = now;
  if (!on || lastError === undefined) return { checks: { ...checks, messages: on ? 'up' : 'off' } };
  return { checks: { ...checks, messages: 'down' }, reasons: { messages: lastError } };
}

/** `reason`: why the queue is down, where it says so. */
async function checkReadiness(api: Api): Promise<{ readonly checks: Readonly<Record<string, State>>; readonly reason?: string }> {
  const { queues } = api;
  // A queue that is full or read-only still answers questions, so it is written to.
  const answer = Promise.all([api.runs.counts(), queues?.ping()]);
  const queue = await withinQueueWait(api, answer).then(
    () => ({ state: 'up' as const }),
    (error) => {
      const fault = queueRefusal(error) ?? error;
      if (fault instanceof Fault && fault.code === 'service/unavailable') return { state: 'down' as const, reason: fault.message };
      throw error;
    },
  );
  const workers = api.workers?.();
  const checks = {
    queue: queue.state,
    ...(workers === undefined ? {} : { workers: workers.running ? ('up' as const) : ('down' as const) }),
    ...(api.draining.aborted ? { process: 'ending' as const } : {}),
  };
  return { checks, ...('reason' in queue ? { reason: queue.reason } : {}) };
}
