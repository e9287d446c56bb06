/** `/studio/previews`, `/studio/statements`, `/studio/records` and `/studio/joins`: what a mapping makes of the first records, and why. */
import type { Service, Transformer } from '../../../queues/jobs.ts';
import type { JoinsQuestion, PreviewQuestion, RecordsQuestion, StatementQuestion } from '../../../queues/preview.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { Fields } from '../../../src/core/schema.ts';
import type { Route } from '../../route.ts';
import type { Ask } from './ask.ts';
import { assertNoPassword } from './secrets.ts';

const RECORDS = 100;

/** @param services those of the process; at least one is a transformer */
export function previewRoutes(ask: Ask, services: readonly Service[]): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/studio/previews',
      role: 'operator',
      summary: 'Maps the first records of the inputs of a mapping, and gives the statements with what makes them',
      body: { type: 'application/json', schema: 'StudioPreviewRequest', required: true },
      replies: { 200: { description: 'The statements of the triples maps without errors, and all diagnostics', schema: 'StudioPreview' } },
      handle: async ({ request, body }) => {
        const question: PreviewQuestion = { kind: 'preview', ...mappingIn((await body()) as Fields, services) };
        return { status: 200, body: await ask(question, request) };
      },
    },
    {
      method: 'POST',
      path: '/studio/statements',
      role: 'operator',
      summary: 'Finds the records that make a statement, among the first ones of the inputs',
      body: { type: 'application/json', schema: 'StudioStatementRequest', required: true },
      replies: { 200: { description: 'The records, with the triples map and the values that it reads', schema: 'StudioStatement' } },
      handle: async ({ request, body }) => {
        const fields = (await body()) as Fields;
        const question: StatementQuestion = { kind: 'statement', ...mappingIn(fields, services), statement: fields.statement as string };
        return { status: 200, body: await ask(question, request) };
      },
    },
    {
      method: 'POST',
      path: '/studio/records',
      role: 'operator',
      summary: 'Lists the first records of a triples map, with the values that it reads and the number of statements',
      body: { type: 'application/json', schema: 'StudioRecordsRequest', required: true },
      replies: { 200: { description: 'The records, also those that make no statement or are rejected', schema: 'StudioRecords' } },
      handle: async ({ request, body }) => {
        const fields = (await body()) as Fields;
        const question: RecordsQuestion = { kind: 'records', ...mappingIn(fields, services), triplesMap: fields.triplesMap as string };
        return { status: 200, body: await ask(question, request) };
      },
    },
    {
      method: 'POST',
      path: '/studio/joins',
      role: 'operator',
      summary: 'Counts the first records of a triples map that find a partner by a join',
      body: { type: 'application/json', schema: 'StudioJoinsRequest', required: true },
      replies: { 200: { description: 'The joins that are meant, each with its counts and keys', schema: 'StudioJoins' } },
      handle: async ({ request, body }) => {
        const fields = (await body()) as Fields;
        const { child, parent, predicate } = fields as unknown as JoinsQuestion;
        const question: JoinsQuestion = { kind: 'joins', ...mappingIn(fields, services), child, parent, predicate };
        return { status: 200, body: await ask(question, request) };
      },
    },
  ];
}

function mappingIn(fields: Fields, services: readonly Service[]): Omit<PreviewQuestion, 'kind'> {
  const { name, text, inputs, records } = fields as Omit<PreviewQuestion, 'kind'>;
  const transformers = services.filter((one): one is Transformer => one !== 'graph-writer');
  const service = (fields.service as Transformer | undefined) ?? (transformers[0] as Transformer);
  if (!transformers.includes(service)) throw new Fault('request/invalid', `This process has no ${service}`);
  assertNoPassword(text, ...(inputs ?? []).map(({ url }) => url));
  return { service, name, text, inputs: inputs ?? [], records: records ?? RECORDS };
}
