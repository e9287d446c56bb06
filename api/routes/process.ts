/** `/process` of each transformer: starts a run. */
import { inputsRequest } from '../../queues/requests/inputs.ts';
import { SourceFault } from '../../queues/requests/mapping-sources.ts';
import type { ProcessFields } from '../../queues/requests/process.ts';
import { PROCESS_REQUEST, SQL_REQUEST } from '../../queues/requests/schemas.ts';
import { sqlRequest } from '../../queues/requests/transform.ts';
import { requestFailureMessage } from '../../queues/runs/outcome.ts';
import { Fault } from '../../src/core/fault.ts';
import { RequestFault } from '../problem.ts';
import { type Api, type Call, parametersOf, type Reply, type Route, withinQueueWait } from '../route.ts';
import { answerRun, RUN_HEADERS, RUN_REPLIES } from '../run-answer.ts';

/** Routes of the semi-structured transformer. */
export function processRoutes(api: Api): readonly Route[] {
  const common = {
    path: '/process',
    role: 'operator',
    summary: 'Transforms input files, and waits for the outcome',
    replies: RUN_REPLIES,
  } as const;
  return [
    {
      ...common,
      method: 'POST',
      parameters: RUN_HEADERS,
      body: { type: 'application/json', schema: 'ProcessRequest', required: true },
      handle: async (call) => processInputs(api, call, await call.body()),
    },
    {
      ...common,
      method: 'GET',
      hasSideEffects: true,
      parameters: [...parametersOf(PROCESS_REQUEST), ...RUN_HEADERS],
      misspelt: 'refused',
      handle: (call) => processInputs(api, call, call.parameters),
    },
  ];
}

/** Route of the SQL transformer: database and mapping come from the configuration. */
export function sqlProcessRoute(api: Api): Route {
  return {
    method: 'GET',
    path: '/process',
    role: 'operator',
    summary: 'Transforms the database by the master mapping, and waits for the outcome',
    replies: RUN_REPLIES,
    hasSideEffects: true,
    parameters: [...parametersOf(SQL_REQUEST), ...RUN_HEADERS],
    handle: async (call) => {
      try {
        return await answerRun(api, call, (snapshot) =>
          sqlRequest(snapshot, api.workingDirectory, call.parameters.dataset as string | undefined),
        );
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== 'mapping/unreadable') throw error;
        const failure = requestFailureMessage('sql-transformer', error);
        if (api.deadLetter !== undefined) await withinQueueWait(api, api.deadLetter('sql-transformer', failure));
        return { status: 400, body: { ...failure, runId: undefined } };
      }
    },
  };
}

async function processInputs(api: Api, call: Call, fields: object | undefined): Promise<Reply> {
  return answerRun(api, call, async (snapshot) => {
    try {
      return await inputsRequest(fields as ProcessFields, snapshot, api.workingDirectory, await api.functions.described());
    } catch (error) {
      if (!(error instanceof SourceFault)) throw error;
      throw new RequestFault(error.code, error.message, {
        place: error.place,
        hint: error.hint,
        members: { names: error.names },
        cause: error,
      });
    }
  });
}
