/** What a version of a dataset has changed, in pages, and what makes a statement of a dataset. */
import { toBytes } from '../../../src/core/text.ts';
import { type BlankNodeForm, skolemising } from '../../../src/datasets/formats.ts';
import { pageOf } from '../../../src/nquads/page.ts';
import type { Api, Parameter, Route } from '../../route.ts';
import { askFor } from '../studio/ask.ts';
import { answered } from './answer.ts';
import { assertTarget, BLANK_NODES, manifestOf, NAME, openDataset, TARGET } from './place.ts';

const MOST = 1_000;
const PARAMETERS: readonly Parameter[] = [
  NAME,
  {
    name: 'version',
    in: 'path',
    required: true,
    description: 'Number of the version',
    schema: { type: 'integer', minimum: 1 },
  },
  {
    name: 'which',
    in: 'query',
    description: 'Statements that the version before does not have, or those that it alone has',
    schema: { type: 'string', enum: ['added', 'removed'], default: 'added' },
  },
  { name: 'offset', in: 'query', description: 'How many of them are passed over', schema: { type: 'integer', minimum: 0, default: 0 } },
  {
    name: 'limit',
    in: 'query',
    description: 'How many statements at most; a page also ends after 1 MiB of text',
    schema: { type: 'integer', minimum: 1, maximum: MOST, default: 100 },
  },
  {
    name: 'subject',
    in: 'query',
    description: 'Only statements with this text in their subject',
    schema: { type: 'string', minLength: 1, maxLength: 10_000 },
  },
  BLANK_NODES,
  TARGET,
];

interface PageParameters {
  readonly name: string;
  readonly version: number;
  readonly which: 'added' | 'removed';
  readonly offset: number;
  readonly limit: number;
  readonly subject?: string;
  readonly blankNodes: BlankNodeForm;
  readonly target?: string;
}

export function statementRoutes(api: Api): readonly Route[] {
  const ask = askFor(api);
  return [
    {
      method: 'GET',
      path: '/datasets/{name}/versions/{version}/changes',
      role: 'operator',
      summary: 'A page of the statements that a version has added or removed',
      parameters: PARAMETERS,
      replies: { 200: { description: 'Statements in the order of the file', schema: 'DatasetChanges' } },
      handle: async (call) => {
        const { name, version, which, blankNodes, target, ...page } = call.parameters as unknown as PageParameters;
        const { SKOLEM_BASE_IRI: base } = api.config.snapshot();
        const known = await openDataset(api, name);
        assertTarget(name, await manifestOf(known, version), target);
        const { id } = known.description;
        return answered(api, call, {
          type: 'application/json',
          madeOf: [id, version, which, page, blankNodes, base, target],
          caching: 'changing',
          async *text(signal) {
            const dataset = await openDataset(api, name, signal);
            const convert = blankNodes === 'keep' ? undefined : skolemising(base, dataset.description.name);
            async function* pieces(): AsyncGenerator<string> {
              for await (const lines of dataset.lines(version, which, target)) yield convert === undefined ? lines : convert(lines);
            }
            const { statements, next = null } = await pageOf(pieces(), { ...page, subject: page.subject }, signal);
            yield toBytes(JSON.stringify({ statements, next }));
          },
        });
      },
    },
    {
      method: 'POST',
      path: '/datasets/{name}/statements',
      role: 'operator',
      summary: 'Finds the rules that can make a statement of the dataset, and the records of its inputs that make it now',
      parameters: [NAME],
      body: { type: 'application/json', schema: 'DatasetStatementRequest', required: true },
      replies: { 200: { description: 'Rules of the mapping and records of the inputs, as both are now', schema: 'StudioStatement' } },
      handle: async ({ parameters, body, request }) => {
        const { name } = parameters as { readonly name: string };
        const given = (await body()) as { readonly statement: string; readonly version?: number };
        const dataset = await openDataset(api, name);
        const { id } = dataset.description;
        const { run } = await manifestOf(dataset, given.version ?? dataset.current);
        // Functions are those of the service, and so is the login of a database.
        const { jdbcUrl, user: _user, functions: _functions, ...options } = run;
        const service = jdbcUrl === undefined ? 'semi-structured-transformer' : 'sql-transformer';
        const made = { statement: given.statement, run: { ...options, dataset: id }, jdbcUrl };
        return { status: 200, body: await ask({ kind: 'made', service, ...made }, request) };
      },
    },
  ];
}
