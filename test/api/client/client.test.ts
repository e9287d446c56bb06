/** The client with the built service; every answer is what `/openapi.json` says. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FailureError, type Fetch, ProblemError, QuadmillClient, type RunView } from '../../../client/client.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { differencesFrom, type OpenApi } from '../../support/service/documented.ts';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { type ServiceProcess, startService } from '../../support/service/process.ts';

const TOKEN = 'a-long-secret';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
let client: QuadmillClient;
/** Answers that the document does not have. */
const wrong: unknown[] = [];
let checked = 0;

/** `fetch` that compares each answer with the document. */
function checking(document: OpenApi): Fetch {
  const differences = differencesFrom(document);
  return async (url, init) => {
    const response = await fetch(url, init);
    checked++;
    wrong.push(...(await differences(init.method, url, response)));
    return response;
  };
}

beforeAll(async () => {
  directory = await temporaryDirectory();
  await writeFile(join(directory.path, 'people.csv'), PEOPLE.csv);
  service = await startService({ cwd: directory.path, env: { QUEUE_URL: 'embedded:', API_TOKENS: `admin:${TOKEN}` } });
  const document = (await new QuadmillClient(service.url).openApi()) as unknown as OpenApi;
  client = new QuadmillClient(service.url, { token: async () => TOKEN, fetch: checking(document) });
});
afterAll(async () => {
  await service?.stop();
  await directory?.remove();
});

test('a mapping is uploaded, a run is started, its outcome awaited and its graph written', async () => {
  const { semiStructuredTransformer: transformer, graphWriter } = client;
  const mapping = peopleMapping('csv', 'people.csv');
  await transformer.putMapping('people.ttl', mapping);
  expect(await transformer.getMapping('people.ttl')).toBe(mapping);

  const seen: RunView[] = [];
  const report = await transformer.run({ inputFileURL: 'people.csv', logicalSource: 'people.csv' }, { onView: (view) => seen.push(view) });
  expect(report).toMatchObject({ records: 2, quads: 2, rejectedRecords: 0 });
  expect(seen.at(-1)).toMatchObject({ id: report.runId, state: 'completed' });
  expect((await transformer.listRuns({ state: 'completed', limit: 5 })).map(({ id }) => id)).toContain(report.runId);

  expect(await graphWriter.run({ inputFileURL: report.outputFileLocations })).toMatchObject({ quadsWritten: 2 });
  expect(await graphWriter.checkConnection()).toMatchObject({ success: true, type: 'embedded' });
});

test('the same key is the same run, and an ended run cannot be cancelled', async () => {
  const request = { inputFileURL: 'people.csv', logicalSource: 'people.csv' };
  const options = { idempotencyKey: 'monday' };
  const { id } = await client.semiStructuredTransformer.start(request, options);
  expect((await client.semiStructuredTransformer.start(request, options)).id).toBe(id);
  await client.semiStructuredTransformer.outcome(id);
  await expect(client.semiStructuredTransformer.cancel(id)).rejects.toMatchObject({ name: 'ProblemError', status: 409 });
});

test('a run that fails is a FailureError with its message', async () => {
  const request = { inputFileURL: 'missing.csv', logicalSource: 'people.csv' };
  const failed = (await client.semiStructuredTransformer.run(request).catch((error) => error)) as FailureError;
  expect(failed).toMatchObject({ name: 'FailureError', failure: { code: 'source/missing', runId: expect.any(String) } });
  expect(failed.message).toContain('missing.csv');
});

test('a wrong mapping is a ProblemError with diagnostics', async () => {
  const refused = (await client.semiStructuredTransformer.putMapping('people.ttl', 'nonsense').catch((error) => error)) as ProblemError;
  expect(refused).toBeInstanceOf(ProblemError);
  expect(refused.problem).toMatchObject({ status: 400, code: 'mapping/syntax', diagnostics: [{ line: 1 }] });
});

test('configuration, licence, schedule and health', async () => {
  const { graphWriter, sqlTransformer } = client;
  expect(await graphWriter.updateConfig('friendlyName', 'Böoks')).toEqual({ configEntry: 'friendlyName', configValue: 'Böoks' });
  expect(await graphWriter.config({ paths: ['friendlyName'] })).toEqual({ friendlyName: 'Böoks' });
  expect((await graphWriter.configHistory())[0]).toMatchObject({ value: 'Böoks' });
  expect((await graphWriter.backUpConfig()).location).toMatch(/^file:/);
  expect(await graphWriter.licence()).toHaveProperty('validationStatus');
  expect((await sqlTransformer.updateCron('0 0 2 * * ?')).next).toHaveLength(3);
  expect(await sqlTransformer.updateCron(undefined)).toEqual({ cron: null });
  expect(await client.ready()).toMatchObject({ status: 'up' });
  expect(await client.metrics()).toContain('# HELP');
});

test('a database that is not there', async () => {
  const database = { url: 'jdbc:postgresql://127.0.0.1:1/none', user: 'ada', password: 'x' };
  await expect(client.sqlTransformer.testConnection(database)).rejects.toMatchObject({ status: 400 });
  await expect(client.sqlTransformer.query(database, 'SELECT 1')).rejects.toMatchObject({ status: 400 });
});

test('without the token nothing is answered', async () => {
  await expect(new QuadmillClient(service.url).graphWriter.config()).rejects.toMatchObject({ name: 'ProblemError', status: 401 });
});

test('a signal ends the waiting', async () => {
  await expect(client.live({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
});

test('every answer was one of the document', () => {
  expect(checked).toBeGreaterThan(20);
  expect(wrong).toEqual([]);
});
