/** The endpoints of the graph writer, with the embedded store as its target. */
import { writeFile } from 'node:fs/promises';
import { expect } from '@jest/globals';
import { common, type Endpoints, problem, testEndpoints } from './endpoints.ts';

const SERVICE = 'graph-writer';

/** Both forms of a request. */
const written = (ask: (file: string) => ReturnType<Endpoints['ask']>) => async (file: string) => {
  const { status, body } = await ask(file);
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({
      input: [file],
      target: expect.any(String),
      mode: 'insert',
      quadsWritten: 2,
      batches: expect.any(Number),
      processingTime: expect.any(Number),
      runId: expect.any(String),
      warnings: [],
    }),
  ]);
};
const failed = (answer: Awaited<ReturnType<Endpoints['ask']>>, error: RegExp, entity: string): void => {
  expect([answer.status, answer.body]).toEqual([
    400,
    expect.objectContaining({ error: expect.stringMatching(error), type: 'Graph-Writer', version: expect.any(String), entity }),
  ]);
  // Unlike those of the transformers, its messages have no full stop at the end.
  expect(answer.body.error).toMatch(/[^.]$/);
};

testEndpoints(
  SERVICE,
  { RUN_ATTEMPTS: '1', TRIPLESTORE_PATIENCE_SECONDS: '0' },
  async (at) => {
    await writeFile(at('a.nq'), '<http://e.org/s> <http://e.org/p> "a" .\n<http://e.org/s> <http://e.org/q> "b" <http://e.org/g> .\n');
    await writeFile(at('a.csv'), 'a,b\n1,2\n');
  },
  {
    ...common(SERVICE, 'serviceWriterConfig', 'Graph-Writer'),
    'GET /process': {
      good: async ({ ask, at }) => {
        const get = written((inputRdfURL) => ask('GET', '/process', { query: { inputRdfURL } }));
        await get(`file://${at('a.nq')}`);
        await get(at('a.nq'));
      },
      bad: async ({ ask, at }) => {
        const get = (query: Readonly<Record<string, string>>) => ask('GET', '/process', { query });
        failed(await get({ inputRdfURL: at('nothing.nq') }), /nothing\.nq/, at('nothing.nq'));
        failed(await get({ inputRdfURL: at('a.csv') }), /csv.*nq/, at('a.csv'));
        expect(await get({})).toMatchObject(problem('request/invalid'));
        expect(await get({ inputFileURI: at('a.nq') })).toMatchObject(problem('request/invalid'));
      },
    },
    'POST /process': {
      good: async ({ ask, at }) => {
        await written((inputFileURL) => ask('POST', '/process', { body: { inputFileURL } }))(at('a.nq'));
        expect(await ask('POST', '/process', { body: { inputFileURL: [at('a.nq'), at('a.nq')] } })).toMatchObject({
          status: 200,
          body: { input: [at('a.nq'), at('a.nq')] },
        });
      },
      bad: async ({ ask, at }) => {
        failed(await ask('POST', '/process', { body: { inputFileURL: at('a.csv') } }), /csv.*nq/, at('a.csv'));
        expect(await ask('POST', '/process', { body: {} })).toMatchObject(problem('request/invalid'));
        expect(await ask('POST', '/process', { body: '[' })).toMatchObject(problem('request/malformed'));
        expect(await ask('POST', '/process', { body: 'a', type: 'text/plain' })).toMatchObject(problem('request/media-type', 415));
      },
    },
    'GET /checkConnection': {
      good: async ({ ask }) => {
        expect(await ask('GET', '/checkConnection')).toMatchObject({
          status: 200,
          body: {
            success: true,
            target: expect.any(String),
            type: 'embedded',
            product: expect.any(String),
            milliseconds: expect.any(Number),
          },
        });
      },
      bad: async ({ ask, set }) => {
        await set('TRIPLESTORE_TYPE', 'sparql');
        await set('TRIPLESTORE_ENDPOINT', 'http://127.0.0.1:1/update');
        const { status, body } = await ask('GET', '/checkConnection');
        expect([status, body]).toEqual([
          400,
          expect.objectContaining({ error: expect.stringContaining('127.0.0.1:1'), type: 'Graph-Writer', version: expect.any(String) }),
        ]);
      },
    },
  },
);
