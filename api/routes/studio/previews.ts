/** `/studio/previews`, `/studio/statements`, `/studio/records` and `/studio/joins`: what a mapping makes of the first records, and why. */
import type { Service, Transformer } from '../../../queues/jobs.ts';
import type { JoinsQuestion, PreviewQuestion, RecordsQuestion, StatementQuestion } from '../../../queues/preview.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { Route } from '../../route.ts';
import type { Ask } from './ask.ts';
import { assertNoPassword } from './secrets.ts';

const RECORDS = 100;

type MappingQuestion = PreviewQuestion | StatementQuestion | RecordsQuestion | JoinsQuestion;

/** @param services those of the process; at least one is a transformer */
export function previewRoutes(ask: Ask, services: readonly Service[]): readonly Route[] {
  const route = (kind: MappingQuestion['kind'], path: string, schema: string, summary: string, description: string): Route => ({
    method: 'POST',
    path,
    role: 'operator',
    summary,
    body: { type: 'application/json', schema: `${schema}Request`, required: true },
    replies: { 200: { description, schema } },
    handle: async ({ request, body }) => {
      const question = { ...withDefaults((await body()) as Body, services), kind } as MappingQuestion;
      return { status: 200, body: await ask(question, request) };
    },
  });
  return [
    route(
      'preview',
      '/studio/previews',
      'StudioPreview',
      'Maps the first records of the inputs of a mapping, and gives the statements with what makes them',
      'The statements of the triples maps without errors, and all diagnostics',
    ),
    route(
      'statement',
      '/studio/statements',
      'StudioStatement',
      'Finds the records that make a statement, among the first ones of the inputs',
      'The records, with the triples map and the values that it reads',
    ),
    route(
      'records',
      '/studio/records',
      'StudioRecords',
      'Lists the first records of a triples map, with the values that it reads and the number of statements',
      'The records, also those that make no statement or are rejected',
    ),
    route(
      'joins',
      '/studio/joins',
      'StudioJoins',
      'Counts the first records of a triples map that find a partner by a join',
      'The joins that are meant, each with its counts and keys',
    ),
  ];
}

type Body = Omit<PreviewQuestion, 'kind' | 'service' | 'inputs' | 'records'> & Partial<PreviewQuestion>;

function withDefaults(body: Body, services: readonly Service[]): Omit<PreviewQuestion, 'kind'> {
  const { text, inputs = [], records = RECORDS } = body;
  const transformers = services.filter((one): one is Transformer => one !== 'graph-writer');
  const service = body.service ?? (transformers[0] as Transformer);
  if (!transformers.includes(service)) throw new Fault('request/invalid', `This process has no ${service}`);
  assertNoPassword(text, ...inputs.map(({ url }) => url));
  return { ...body, service, inputs, records };
}
