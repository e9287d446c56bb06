/** `/updateCustomFunctions` on the built service: deploying, what stays after a failure, and which version a run keeps. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { described, EX } from '../src/custom-functions/support.ts';
import { temporaryDirectory } from '../support/queues/backends.ts';
import { type Answer, ask, postJson, type ServiceProcess, startService } from '../support/service/process.ts';

const MAPPING = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <${EX}> .
<#People> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.org/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:is ; rml:objectMap [ rml:functionExecution [
    rml:function ex:mark ; rml:input [ rml:parameter ex:text ; rml:inputValueMap [ rml:reference "name" ] ] ] ] ] .`;

let directory: { readonly path: string; remove(): Promise<void> };
let service: ServiceProcess;
const at = (name: string): string => join(directory.path, name);
const base = (): string => `${service.url}/semi-structured-transformer`;
const write = (files: Readonly<Record<string, string>>): Promise<unknown> =>
  Promise.all(Object.entries(files).map(([name, text]) => writeFile(at(name), text)));
const set = async (option: string, value: string): Promise<void> => {
  const { status } = await ask(`${base()}/updateConfig?configEntry=${option}&configValue=${encodeURIComponent(value)}`, { method: 'PUT' });
  expect(status).toBe(200);
};
const deploy = (): Promise<Answer> => ask(`${base()}/updateCustomFunctions`);
const run = (): Promise<Answer> =>
  postJson(`${base()}/process`, { inputFileURL: at('people.csv'), logicalSource: 'people.csv', mappingURL: at('mapping.ttl') });
/** What the run states of the record. */
const stated = async ({ status, body }: Answer): Promise<string> => {
  expect({ status, body }).toMatchObject({ status: 200 });
  return /"(.*)"/.exec(await readFile(fileURLToPath(body.outputFileLocations[0]), 'utf8'))?.[1] ?? '';
};
const code = (mark: string): string => `export const mark = (text) => text + '${mark}';`;

const start = async (): Promise<void> => {
  service = await startService({ cwd: directory.path, env: { DATA_DIR: at('data') } });
};
beforeAll(async () => {
  directory = await temporaryDirectory();
  await write({ 'mapping.ttl': MAPPING, 'people.csv': 'id,name\n1,Ada\n', 'functions.ttl': described('mark'), 'code.mjs': code('!') });
  await start();
});
afterAll(async () => {
  await service?.stop();
  await directory.remove();
});

test('without the option it is a 400 problem that names it', async () => {
  expect(await deploy()).toMatchObject({
    status: 400,
    body: { code: 'config/invalid', hint: expect.stringContaining('CUSTOM_FUNCTION_TTL_URL') },
  });
  expect((await run()).status).toBe(400);
});

test('functions are deployed, and a run and a mapping may call them', async () => {
  await set('CUSTOM_FUNCTION_TTL_URL', at('functions.ttl'));
  const refused = await ask(`${base()}/rml?fileName=m.ttl`, { method: 'PUT', headers: { 'content-type': 'text/turtle' }, body: MAPPING });
  expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining('there is no function') } });
  const { status, body } = await deploy();
  expect([status, body]).toEqual([200, { functions: [`${EX}mark`], version: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
  expect(await stated(await run())).toBe('Ada!');
  const taken = await ask(`${base()}/rml?fileName=m.ttl`, { method: 'PUT', headers: { 'content-type': 'text/turtle' }, body: MAPPING });
  expect(taken.status).toBe(200);
});

test('a set that fails leaves the one from before in place', async () => {
  const example = `[] fno:executes ex:mark ; ex:text "a" ; ex:result "a?" .`;
  for (const [files, message] of [
    [{ 'code.mjs': 'export const mark = ' }, 'cannot be loaded'],
    [{ 'code.mjs': code('!'), 'functions.ttl': described('mark') + example }, 'gives "a!", and "a?" is expected'],
    [{ 'functions.ttl': 'ex:f' }, 'functions.ttl:1:'],
  ] as const) {
    await write(files);
    expect(await deploy()).toMatchObject({ status: 400, body: { code: 'functions/invalid', detail: expect.stringContaining(message) } });
    expect(await stated(await run())).toBe('Ada!');
  }
  await set('CUSTOM_FUNCTION_TTL_URL', at('missing.ttl'));
  expect(await deploy()).toMatchObject({
    status: 400,
    body: { code: 'functions/invalid', detail: expect.stringContaining('missing.ttl') },
  });
  expect(await stated(await run())).toBe('Ada!');
  await set('CUSTOM_FUNCTION_TTL_URL', at('functions.ttl'));
  await write({ 'functions.ttl': described('mark') });
});

test('new runs have the new version, also after a restart and without the copies of this process', async () => {
  await write({ 'code.mjs': code('?') });
  // The files alone change nothing.
  expect(await stated(await run())).toBe('Ada!');
  expect((await deploy()).status).toBe(200);
  expect(await stated(await run())).toBe('Ada?');
  await service.stop();
  await rm(at('data/functions'), { recursive: true });
  await write({ 'code.mjs': 'gone' });
  await start();
  expect(await stated(await run())).toBe('Ada?');
});

test('the option without a value removes the functions', async () => {
  await set('CUSTOM_FUNCTION_TTL_URL', '');
  expect(await deploy()).toMatchObject({ status: 200, body: { functions: [], version: null } });
  expect(await run()).toMatchObject({ status: 400, body: { error: expect.stringContaining('there is no function') } });
});
