/** Options that an admin changes while the service runs: they lead nowhere that the service could not reach when it started. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { type Answer, ask, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
let canary: Server;
let hits = 0;
let port: number;

const at = (name: string): string => join(directory.path, name);
const headers = { authorization: 'Bearer a-long-secret' };
const url = (path: string): string => `http://127.0.0.1:${new URL(service.url).port}/semi-structured-transformer${path}`;
const set = (option: string, value: string): Promise<Answer> =>
  ask(url(`/updateConfig?${new URLSearchParams({ configEntry: option, configValue: value })}`), { method: 'PUT', headers });
const get = (path: string, method = 'GET'): Promise<Answer> => ask(url(path), { method, headers });

beforeAll(async () => {
  directory = await temporaryDirectory();
  canary = createServer((socket) => {
    hits++;
    socket.destroy();
  });
  await new Promise<void>((done) => canary.listen(0, '127.0.0.1', done));
  ({ port } = canary.address() as AddressInfo);
  await mkdir(at('data/inputs'), { recursive: true });
  await mkdir(at('secret'));
  await writeFile(at('secret/people.csv'), PEOPLE.csv);
  await writeFile(at('secret/people.ttl'), peopleMapping('csv', 'people.csv'));
  await writeFile(at('data/inputs/people.csv'), PEOPLE.csv);
  await writeFile(at('data/inputs/people.ttl'), peopleMapping('csv', 'people.csv'));
  service = await startService({
    cwd: directory.path,
    env: { HOST: '0.0.0.0', DATA_DIR: at('data'), API_TOKENS: 'admin:a-long-secret', RUN_ATTEMPTS: '1' },
  });
});
afterAll(async () => {
  await service?.stop();
  canary.close();
  await directory.remove();
});

test.each<[option: string, value: () => string]>([
  ['MAPPINGS_DIR_URL', () => at('secret')],
  ['MAPPINGS_DIR_URL', () => `http://127.0.0.1:${port}/`],
  ['MAPPINGS_DIR_URL', () => `http://localhost:${port}/`],
  ['OUTPUT_DIR_URL', () => at('secret')],
  ['PROV_OUTPUT_DIR_URL', () => at('secret')],
  ['CUSTOM_FUNCTION_TTL_URL', () => `http://localhost:${port}/functions.ttl`],
  ['CUSTOM_FUNCTION_JAR_URL', () => at('secret/people.csv')],
  ['CONFIG_BACKUP', () => at('secret/people.csv')],
  ['S3_ENDPOINT', () => `http://127.0.0.1:${port}`],
])('%s is not changed: 403', async (option, value) => {
  const answer = await set(option, value());
  expect([answer.status, answer.body.detail]).toEqual([403, expect.stringContaining('while the process runs')]);
  await postJson(url('/process'), { inputFileURL: at('data/inputs/people.csv') }, headers);
  await get('/updateCustomFunctions');
  expect(
    (await postJson(url('/process'), { inputFileURL: at('secret/people.csv'), mappingURL: at('data/inputs/people.ttl') }, headers)).status,
  ).toBe(403);
  expect(hits).toBe(0);
});

test('places within the reach are taken, and a backup overwrites nothing but a backup', async () => {
  expect((await set('MAPPINGS_DIR_URL', at('data/inputs'))).status).toBe(200);
  expect(await postJson(url('/process'), { inputFileURL: at('data/inputs/people.csv') }, headers)).toMatchObject({
    status: 200,
    body: { records: 2 },
  });
  expect((await set('CONFIG_BACKUP', at('data/inputs/people.csv'))).status).toBe(200);
  const refused = await get('/uploadConfigBackup', 'PUT');
  expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining('is not a backup of a configuration')]);
  expect(await readFile(at('data/inputs/people.csv'), 'utf8')).toBe(PEOPLE.csv);
  expect((await set('CONFIG_BACKUP', '')).status).toBe(200);
  for (let i = 0; i < 2; i++) expect((await get('/uploadConfigBackup', 'PUT')).status).toBe(200);
});
