/** Provenance of runs of a real process: where it is, what it says, and what happens where it cannot be written. */
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readProvenance } from '../../queues/provenance/prov.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { type Answer, ask, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

let directory: { readonly path: string; remove(): Promise<void> };
let service: ServiceProcess;
const at = (name: string): string => join(directory.path, name);
const set = async (option: string, value: string): Promise<void> => {
  const query = new URLSearchParams({ configEntry: option, configValue: value });
  expect((await ask(`${service.url}/semi-structured-transformer/updateConfig?${query}`, { method: 'PUT' })).status).toBe(200);
};
const run = (input = 'people.csv'): Promise<Answer> =>
  postJson(`${service.url}/semi-structured-transformer/process`, { inputFileURL: at(input), mappingURL: at('people.ttl') });
const provenanceOf = async (url: string) => readProvenance(await readFile(fileURLToPath(url), 'utf8'));

beforeAll(async () => {
  directory = await temporaryDirectory();
  await writeFile(at('people.csv'), PEOPLE.csv);
  await writeFile(at('people.ttl'), peopleMapping('csv', 'people.csv'));
  const env = { DATA_DIR: at('data'), RECORD_PROVO: 'true', SLICE_BYTES: '8192' };
  service = await startService({ cwd: directory.path, env });
});
afterAll(async () => {
  await service?.stop();
  await directory.remove();
});

test('a completed run links its provenance, which names the very bytes', async () => {
  const { status, body } = await run();
  expect(status).toBe(200);
  expect(body.provenance).toMatch(new RegExp(`/data/output/Semi-Structured-Transformer-provenance-${body.runId}\\.nq$`));
  const found = await provenanceOf(body.provenance);
  expect(found.problems()).toEqual([]);
  const main = `urn:quadmill:run:${body.runId}`;
  const digest = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');
  expect(found.of(`${main}:input:1`, 'https://schema.org/sha256')).toEqual([digest(PEOPLE.csv)]);
  const [output] = body.outputFileLocations;
  expect(found.of(output, 'wasGeneratedBy')).toEqual([main]);
  expect(found.of(output, 'https://schema.org/sha256')).toEqual([digest(await readFile(fileURLToPath(output)))]);
  expect((await ask(`${service.url}/semi-structured-transformer/runs/${body.runId}`)).body.outcome.report.provenance).toBe(body.provenance);
});

test('a failed run has provenance, too, linked from its message', async () => {
  const { status, body } = await run('none.csv');
  expect(status).toBe(400);
  const found = await provenanceOf(body.provenance);
  expect(found.problems()).toEqual([]);
  expect(found.of(`urn:quadmill:run:${body.runId}`, 'http://w3id.org/quadmill/provenance#fault')).toEqual(['source/missing']);
});

test('each slice is an execution', async () => {
  await writeFile(at('large.csv'), `id,name\n${Array.from({ length: 3_000 }, (_, i) => `${i},Name ${i}\n`).join('')}`);
  const { body } = await run('large.csv');
  expect(body.quads).toBe(3_000);
  const found = await provenanceOf(body.provenance);
  expect(found.problems()).toEqual([]);
  const executions = found.all('Activity').filter((iri) => iri.includes(':execution:'));
  expect(executions.length).toBeGreaterThan(2);
  const records = executions.flatMap((one) => found.of(one, 'http://w3id.org/quadmill/provenance#records')).map(Number);
  expect(records.reduce((sum, one) => sum + one, 0)).toBe(3_000);
});

test('activities can be switched off, the directory changed, and all of it', async () => {
  await set('SWITCHED_OFF_ACTIVITIES', 'execution,message');
  await set('PROV_OUTPUT_DIR_URL', 'prov');
  const { body } = await run();
  expect(body.provenance).toBe(`file://${at('prov')}/Semi-Structured-Transformer-provenance-${body.runId}.nq`);
  expect((await provenanceOf(body.provenance)).all('Activity')).toEqual([`urn:quadmill:run:${body.runId}`]);
  await set('RECORD_PROVO', 'false');
  expect((await run()).body).not.toHaveProperty('provenance');
  await set('RECORD_PROVO', 'true');
});

test('provenance that cannot be written fails no run', async () => {
  await writeFile(at('file'), '');
  await set('PROV_OUTPUT_DIR_URL', at('file/below'));
  const { status, body } = await run();
  expect(status).toBe(200);
  expect(body).not.toHaveProperty('provenance');
  expect(await service.waitForLog('provenance not recorded', (line) => line.run === body.runId)).toMatchObject({ level: 'warn' });
  await set('PROV_OUTPUT_DIR_URL', 's3://bucket/prov/');
  expect((await run()).status).toBe(200);
  expect(await readdir(at('data/output'))).not.toContainEqual(expect.stringMatching(/\.part$/));
});
