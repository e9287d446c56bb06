/** `/studio/samples`: the fields of an input, read by a worker from its beginning. */
import type { IncomingMessage } from 'node:http';
import type { Question } from '../../../queues/preview.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { Api, Route } from '../../route.ts';

/** Of one process: each waits for a worker, and holds its answer in memory. */
const MAX_QUESTIONS = 32;

export function samplesRoute(api: Api): Route {
  const ask = askFor(api);
  return {
    method: 'POST',
    path: '/studio/samples',
    role: 'operator',
    summary: 'Reads the beginning of an input: its fields, their kinds and values',
    body: { type: 'application/json', schema: 'StudioSampleRequest', required: true },
    replies: { 200: { description: 'The fields, as far as they were read', schema: 'StudioSample' } },
    handle: async ({ request, body }) => {
      const { location, format, delimiter, encoding, deeper } = (await body()) as Omit<Extract<Question, { kind: 'sample' }>, 'kind'>;
      return { status: 200, body: await ask({ kind: 'sample', location, format, delimiter, encoding, deeper }, request) };
    },
  };
}

/** Asks a worker. A caller that leaves, and the end of the process, withdraw the question. */
function askFor(api: Api): (question: Question, request: IncomingMessage) => Promise<unknown> {
  let asked = 0;
  return async (question, { socket }) => {
    if (asked >= MAX_QUESTIONS) {
      throw new Fault(
        'request/too-many',
        `${MAX_QUESTIONS} questions are waiting for an answer, the most that this process takes at once`,
        {
          hint: 'Try again in a moment',
        },
      );
    }
    const over = new AbortController();
    const end = (): void => over.abort();
    socket.on('close', end);
    api.ending.addEventListener('abort', end);
    if (socket.destroyed || api.ending.aborted) end();
    asked++;
    try {
      return await api.previews.ask(question, over.signal);
    } finally {
      asked--;
      socket.off('close', end);
      api.ending.removeEventListener('abort', end);
    }
  };
}
