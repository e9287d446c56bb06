/** `/studio/previews` and `/studio/statements`: what the text of a mapping makes of the first records, and what makes a statement. */
import type { Service, Transformer } from '../../../queues/jobs.ts';
import type { PreviewQuestion, StatementQuestion } from '../../../queues/preview.ts';
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
      replies: { 200: { description: 'The statements and diagnostics, also of a mapping with errors', schema: 'StudioPreview' } },
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
