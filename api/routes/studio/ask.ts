/** Questions of the studio, which workers answer. */
import type { IncomingMessage } from 'node:http';
import type { Question } from '../../../queues/preview.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { Api } from '../../route.ts';

/** Resolves to the answer of a worker. @throws Fault as `Previews.ask`; request/too-many */
export type Ask = (question: Question, request: IncomingMessage) => Promise<unknown>;

/** Of one process: each waits for a worker, and holds its answer in memory. */
const MAX_QUESTIONS = 32;

/** A caller that leaves, and the end of the process, withdraw the question. */
export function askFor(api: Api): Ask {
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
