/** `/process` and `/checkConnection` of the graph writer. */

import { type WriteFields, writtenOf } from '../../queues/requests/process.ts';
import { WRITE_QUERY } from '../../queues/requests/schemas.ts';
import { datasetWriteRequest, targetOf, writerRequest } from '../../queues/requests/writer.ts';
import { failureMessage } from '../../queues/runs/outcome.ts';
import { Fault } from '../../src/core/fault.ts';
import { redact } from '../../src/core/redact.ts';
import type { TargetProbe, WriteMode } from '../../src/targets/target.ts';
import { type Api, type Call, parametersOf, type Reply, type Route } from '../route.ts';
import { answerRun, RUN_HEADERS, RUN_REPLIES } from '../run-answer.ts';

export function writerRoutes(api: Api): readonly Route[] {
  const common = {
    path: '/process',
    role: 'operator',
    summary: 'Writes files of N-Quads, or versions of a dataset, to the target, and waits for the outcome',
    replies: { ...RUN_REPLIES, 200: { description: 'The run completed: its processing report', schema: 'WriterReport' } },
  } as const;
  const write = (call: Call, fields: object | undefined, mode: unknown, graphs: unknown): Promise<Reply> => {
    const written = writtenOf((fields ?? {}) as WriteFields);
    if ('dataset' in written) {
      if (mode != null || graphs != null)
        throw new Fault(
          'request/invalid',
          'mode and graphs are for files: of a dataset, statements are added and removed as its versions say',
        );
      return answerRun(api, call, async (snapshot) => datasetWriteRequest(written, snapshot, api.workingDirectory));
    }
    const own = {
      mode: mode as WriteMode | undefined,
      graphs: graphs == null ? undefined : ([graphs as string | readonly string[]].flat() as readonly string[]),
    };
    return answerRun(api, call, async (snapshot) => writerRequest(written, snapshot, api.workingDirectory, own));
  };
  return [
    {
      ...common,
      method: 'GET',
      hasSideEffects: true,
      parameters: [...parametersOf(WRITE_QUERY), ...RUN_HEADERS],
      misspelt: 'refused',
      handle: async (call) => {
        const { inputRdfURL, dataset, resync, mode, graphs } = call.parameters;
        return write(call, { inputFileURL: inputRdfURL, dataset, resync }, mode, graphs);
      },
    },
    {
      ...common,
      method: 'POST',
      parameters: RUN_HEADERS,
      body: { type: 'application/json', schema: 'WriteRequest', required: true },
      handle: async (call) => {
        const body = await call.body();
        return write(call, body, body?.mode, body?.graphs);
      },
    },
    {
      method: 'GET',
      path: '/checkConnection',
      role: 'operator',
      summary: 'Tests the connection to the target with the configured login',
      hasSideEffects: true,
      replies: {
        200: { description: 'The target answers, and accepts statements', schema: 'ConnectionCheck' },
        400: { description: 'The target does not answer, or refuses: a failure message', schema: 'FailureMessage' },
      },
      handle: () => checkConnection(api),
    },
  ];
}

async function checkConnection(api: Api): Promise<Reply> {
  const snapshot = api.config.snapshot();
  try {
    const { product, milliseconds } = await probe(api);
    const { TRIPLESTORE_TYPE: type, TRIPLESTORE_ENDPOINT: endpoint } = snapshot;
    return {
      status: 200,
      body: { success: true, target: endpoint === undefined ? 'embedded' : redact(endpoint), type, product, milliseconds },
    };
  } catch (error) {
    if (!(error instanceof Fault) || error.code === 'internal/error') throw error;
    const target = snapshot.TRIPLESTORE_ENDPOINT ?? snapshot.TRIPLESTORE_TYPE;
    const failure = failureMessage({ runId: '', service: 'graph-writer', inputs: [{ name: undefined, url: target }] }, error, new Date());
    return { status: 400, body: { ...failure, runId: undefined } };
  }
}

async function probe(api: Api): Promise<TargetProbe> {
  const address = targetOf(api.config.snapshot(), api.store);
  const { openTarget } = await import('../../src/targets/open.ts');
  const target = await openTarget(address);
  try {
    return await target.probe(api.ending);
  } finally {
    await target.close();
  }
}
