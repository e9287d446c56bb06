/** `/studio/samples`: the fields of an input, read by a worker from its beginning. */
import type { SampleQuestion } from '../../../queues/preview.ts';
import type { Route } from '../../route.ts';
import type { Ask } from './ask.ts';
import { assertNoPassword } from './secrets.ts';

export function samplesRoute(ask: Ask): Route {
  return {
    method: 'POST',
    path: '/studio/samples',
    role: 'operator',
    summary: 'Reads the beginning of an input: its fields, their kinds and values',
    body: { type: 'application/json', schema: 'StudioSampleRequest', required: true },
    replies: { 200: { description: 'The fields, as far as they were read', schema: 'StudioSample' } },
    handle: async ({ request, body }) => {
      const { location, format, delimiter, encoding, mappings, deeper } = (await body()) as Omit<SampleQuestion, 'kind'>;
      assertNoPassword(location);
      return { status: 200, body: await ask({ kind: 'sample', location, format, delimiter, encoding, mappings, deeper }, request) };
    },
  };
}
