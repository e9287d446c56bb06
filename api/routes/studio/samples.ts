/** `/studio/samples`: the fields of an input, read by a worker from its beginning; `/studio/tables`: the tables of the database. */
import type { Service } from '../../../queues/jobs.ts';
import type { ItemsQuestion, SampleQuestion } from '../../../queues/preview.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { Route } from '../../route.ts';
import type { Ask } from './ask.ts';
import { assertNoPassword } from './secrets.ts';

/** @param services those of the process */
export function samplesRoutes(ask: Ask, services: readonly Service[]): readonly Route[] {
  const assertSql = (): void => {
    if (!services.includes('sql-transformer'))
      throw new Fault('request/invalid', 'This process has no sql-transformer, whose database has the tables', {
        hint: 'Ask a process of the SQL transformer, or one of all services',
      });
  };
  return [
    {
      method: 'GET',
      path: '/studio/tables',
      role: 'operator',
      summary: 'Lists the tables of the database of the SQL transformer',
      isQuery: true,
      replies: { 200: { description: 'The tables with their columns and keys', schema: 'StudioTables' } },
      handle: async ({ request }) => {
        assertSql();
        return { status: 200, body: await ask({ kind: 'tables' }, request) };
      },
    },
    {
      method: 'POST',
      path: '/studio/samples',
      role: 'operator',
      summary: 'Reads the beginning of an input: its fields, their kinds and values',
      body: { type: 'application/json', schema: 'StudioSampleRequest', required: true },
      replies: { 200: { description: 'The fields, as far as they were read', schema: 'StudioSample' } },
      handle: async ({ request, body }) => {
        const { of, ...file } = (await body()) as Omit<SampleQuestion, 'kind'> & { readonly of?: 'file' | 'table' | 'query' };
        if (of === 'table' || of === 'query') {
          assertSql();
          const { location: text, deeper, nulls } = file;
          return { status: 200, body: await ask({ kind: 'rows', of, text, deeper, nulls }, request) };
        }
        assertNoPassword(file.location);
        return { status: 200, body: await ask({ ...file, kind: 'sample' }, request) };
      },
    },
    {
      method: 'POST',
      path: '/studio/items',
      role: 'operator',
      summary: 'Gives single items of a list of JSON, JSON Lines or XML: from a position on, or with a certain value',
      body: { type: 'application/json', schema: 'StudioItemsRequest', required: true },
      replies: { 200: { description: 'The items, with the values that are asked for', schema: 'StudioItems' } },
      handle: async ({ request, body }) => {
        const question = (await body()) as Omit<ItemsQuestion, 'kind' | 'from'> & { readonly from?: number };
        assertNoPassword(question.location);
        return { status: 200, body: await ask({ from: 0, ...question, kind: 'items' }, request) };
      },
    },
  ];
}
