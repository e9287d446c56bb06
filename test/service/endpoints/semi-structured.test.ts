/** The endpoints of the semi-structured transformer. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { common, customFunctions, FUNCTIONS, problem, testEndpoints } from './endpoints.ts';

const SERVICE = 'semi-structured-transformer';
const MAPPING = peopleMapping('csv', 'people.csv');

testEndpoints(
  SERVICE,
  {},
  async (at) => {
    await writeFile(at('people.csv'), PEOPLE.csv);
    await writeFile(at('broken.json'), '{"people": [');
    await writeFile(at('people.txt'), PEOPLE.csv);
    await writeFile(at('people.ttl'), MAPPING);
    await writeFile(at('json.ttl'), peopleMapping('json', 'broken.json'));
    for (const [name, text] of Object.entries(FUNCTIONS)) await writeFile(at(name), text);
  },
  {
    ...common(SERVICE, 'serviceTransformerConfig', 'Semi-Structured-Transformer'),
    'POST /process': {
      good: async ({ ask, at }) => {
        for (const body of [
          { inputFileURL: at('people.csv'), logicalSource: 'people.csv', mappingURL: at('people.ttl') },
          { inputFileURL: [`file://${at('people.csv')}`], logicalSource: ['people.csv'], mappingURL: `file://${at('people.ttl')}` },
        ]) {
          const { status, body: report } = await ask('POST', '/process', { body });
          expect([status, report]).toEqual([
            200,
            expect.objectContaining({
              input: [body.inputFileURL].flat(),
              successfulIterations: 1,
              failedIterations: 0,
              outputFileLocations: [expect.stringMatching(/^file:.*Semi-Structured-Transformer-.+\.nq$/)],
              mappingFiles: [body.mappingURL],
              processingTime: expect.any(Number),
              runId: expect.any(String),
              records: 2,
              quads: 2,
              rejectedRecords: 0,
              warnings: [],
            }),
          ]);
          const graph = await readFile(fileURLToPath(report.outputFileLocations[0]), 'utf8');
          expect(graph).toContain('<http://example.com/1> <http://example.com/name> "Ann" .\n');
        }
      },
      bad: async ({ ask, at }) => {
        const process = (body: unknown, type?: string) => ask('POST', '/process', { body, ...(type === undefined ? {} : { type }) });
        // A run that fails has the failure message of the specification.
        const failed = await process({ inputFileURL: at('broken.json'), mappingURL: at('json.ttl') });
        expect([failed.status, failed.body]).toEqual([
          400,
          expect.objectContaining({
            error: expect.stringMatching(/^Record '.*broken\.json' could not be processed due to: .+\.$/s),
            type: 'Semi-Structured-Transformer',
            version: expect.any(String),
            entity: at('broken.json'),
            provenance: '',
          }),
        ]);
        const other = await process({ inputFileURL: at('people.txt'), mappingURL: at('people.ttl') });
        expect([other.status, other.body.error]).toEqual([400, expect.stringMatching(/txt.*XML, JSON, CSV, XLSX, ODS/)]);
        // A request that is wrong makes no run.
        expect(await process({})).toMatchObject(problem('request/invalid'));
        expect(await process('{')).toMatchObject(problem('request/malformed'));
        expect(await process('<a/>', 'text/xml')).toMatchObject(problem('request/media-type', 415));
        expect(await process({ inputFileURL: [at('people.csv')], logicalSource: ['a', 'b'] })).toMatchObject(problem('request/invalid'));
        const unknown = await process({ inputFileURL: at('people.csv'), logicalSource: 'peple.csv', mappingURL: at('people.ttl') });
        expect([unknown.status, unknown.body.hint]).toEqual([400, expect.stringContaining('people.csv')]);
        expect(await ask('DELETE', '/process')).toMatchObject({ status: 405 });
      },
    },
    'PUT /rml': {
      good: async ({ ask, at }) => {
        for (const text of [MAPPING, `${MAPPING}# the second one\n`]) {
          const put = await ask('PUT', '/rml', { query: { fileName: 'put.ttl' }, body: text, type: 'text/turtle' });
          expect([put.status, put.text]).toEqual([200, '']);
          expect((await ask('GET', '/rml', { query: { fileName: 'put.ttl' } })).text).toBe(text);
        }
        // In effect at once: a run that names no mapping takes it.
        expect(await ask('POST', '/process', { body: { inputFileURL: at('people.csv') } })).toMatchObject({
          status: 200,
          body: { mappingFiles: expect.arrayContaining([expect.stringContaining('put.ttl')]), quads: 2 },
        });
      },
      bad: async ({ ask }) => {
        const put = (fileName: string, body: string, type = 'text/turtle') => ask('PUT', '/rml', { query: { fileName }, body, type });
        const broken = await put('put.ttl', '@prefix ex: <http://e/> .\nex:a ex:b');
        expect([broken.status, JSON.stringify(broken.body)]).toEqual([400, expect.stringMatching(/"line":2/)]);
        expect((await ask('GET', '/rml', { query: { fileName: 'put.ttl' } })).text).toContain('the second one');
        expect(await put('../outside.ttl', MAPPING)).toMatchObject(problem('request/forbidden', 403));
        expect(await put('put.ttl', MAPPING, 'text/plain')).toMatchObject(problem('request/media-type', 415));
        expect(await ask('PUT', '/rml', { body: MAPPING, type: 'text/turtle' })).toMatchObject(problem('request/invalid'));
      },
    },
    'GET /rml': {
      good: async ({ ask }) => {
        await ask('PUT', '/rml', { query: { fileName: 'get.ttl' }, body: MAPPING, type: 'text/turtle' });
        const got = await ask('GET', '/rml', { query: { fileName: 'get.ttl' } });
        expect([got.status, got.headers.get('content-type'), got.text]).toEqual([200, expect.stringMatching(/^text\/turtle/), MAPPING]);
      },
      bad: async ({ ask }) => {
        expect(await ask('GET', '/rml', { query: { fileName: 'nothing.ttl' } })).toMatchObject(problem('request/not-found', 404));
        expect(await ask('GET', '/rml', { query: { fileName: '../../people.ttl' } })).toMatchObject(problem('request/forbidden', 403));
        expect(await ask('GET', '/rml')).toMatchObject(problem('request/invalid'));
      },
    },
    'GET /updateCustomFunctions': customFunctions,
  },
);
