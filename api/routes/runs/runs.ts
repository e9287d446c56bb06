/** `/runs`: views and cancels runs. */
import type { RunState } from '../../../queues/jobs.ts';
import { RUN_STATES } from '../../../queues/runs/life.ts';
import { excerpt, Fault } from '../../../src/core/fault.ts';
import { type Api, type Call, explainQueueError, type Route, withinQueueWait } from '../../route.ts';
import { withReason } from '../../run-answer.ts';
import { runOutputRoute } from './output.ts';

/** Gives a worker time to stop the run before the answer reports its state. */
const CANCEL_MS = 5_000;

export function runRoutes(api: Api): readonly Route[] {
  const idParameter = { name: 'id', in: 'path', required: true, description: 'Id of the run' } as const;
  const found = { description: 'The run', schema: 'RunView' } as const;
  return [
    {
      method: 'GET',
      path: '/runs',
      role: 'viewer',
      summary: 'Lists runs, the newest first',
      parameters: [
        { name: 'state', in: 'query', description: 'Only runs in this state', schema: { type: 'string', enum: RUN_STATES } },
        {
          name: 'limit',
          in: 'query',
          description: 'How many at most',
          schema: { type: 'integer', minimum: 1, maximum: 1_000, default: 50 },
        },
      ],
      replies: { 200: { description: 'The runs', schema: { type: 'object', properties: { runs: { type: 'array', items: 'RunView' } } } } },
      handle: async ({ parameters, service }) => {
        const { state, limit } = parameters as { readonly state?: RunState; readonly limit: number };
        // A long list may take longer than one answer of the queue may, so `list` limits the time of each step.
        const runs = await explainQueueError(api, api.runs.list({ service, state, limit }));
        return { status: 200, body: { runs: runs.map((run) => withReason(api, run)) } };
      },
    },
    {
      method: 'GET',
      path: '/runs/{id}',
      role: 'viewer',
      summary: 'Shows the state of a run, its progress and, once there is one, its outcome',
      parameters: [idParameter],
      replies: { 200: found },
      handle: async (call) => {
        const run = await withinQueueWait(api, api.runs.get(idOf(call)));
        if (run === undefined || run.service !== call.service) throw noRun(call);
        return { status: 200, body: withReason(api, run) };
      },
    },
    {
      method: 'DELETE',
      path: '/runs/{id}',
      role: 'operator',
      summary: 'Cancels a waiting or running run',
      parameters: [idParameter],
      replies: {
        200: { ...found, description: 'The run is cancelled' },
        202: { ...found, description: 'The run is about to be cancelled' },
      },
      handle: async (call) => {
        const before = await withinQueueWait(api, api.runs.get(idOf(call)));
        if (before === undefined || before.service !== call.service) throw noRun(call);
        const run = (await withinQueueWait(api, api.runs.cancel(before.id), CANCEL_MS)) ?? before;
        if (run.state === 'completed' || run.state === 'failed') {
          throw new Fault('request/conflict', `The run ${run.id} has ${run.state} already and cannot be cancelled`);
        }
        return { status: run.state === 'cancelled' ? 200 : 202, body: run };
      },
    },
    runOutputRoute(api, idOf),
  ];
}

/** @throws Fault request/not-found — no run has such an id, and PostgreSQL takes no NUL */
function idOf(call: Call): string {
  const { id = '' } = call.params;
  if (/[\0-\x1f\x7f]/.test(id)) throw noRun(call);
  return id;
}

const noRun = ({ params: { id = '' } }: Call): Fault =>
  new Fault('request/not-found', `There is no run ${/^[\x21-\x7e]{1,200}$/.test(id) ? id : excerpt(id)}`, {
    hint: 'Ended runs are kept for KEEP_RUNS_SECONDS, KEEP_RUNS_COUNT of them at most',
  });
