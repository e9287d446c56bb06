/** What the studio reads of the built service: the caller, and the functions. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { StudioFunction } from '../../../client/types.ts';
import { FUNCTIONS } from '../../../src/functions/registry.ts';
import { described, EX } from '../../src/custom-functions/support.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { type Answer, ask, type ServiceProcess, startService } from '../../support/service/process.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
const TOKENS = { viewer: 'v-long-secret', operator: 'o-long-secret', admin: 'a-long-secret' } as const;
const as = (role: keyof typeof TOKENS, path: string, init: RequestInit = {}): Promise<Answer> =>
  ask(service.url + path, { ...init, headers: { authorization: `Bearer ${TOKENS[role]}` } });

beforeAll(async () => {
  directory = await temporaryDirectory();
  await writeFile(join(directory.path, 'functions.ttl'), described('mark'));
  await writeFile(join(directory.path, 'code.mjs'), "export const mark = (text) => text + '!';");
  service = await startService({
    cwd: directory.path,
    env: {
      API_TOKENS: Object.entries(TOKENS)
        .map(([role, token]) => `${role}-name:${role}:${token}`)
        .join(),
      CUSTOM_FUNCTION_TTL_URL: join(directory.path, 'functions.ttl'),
      MAX_BODY_BYTES: '4096',
      TRIPLESTORE_ENDPOINT: 'http://ada:hidden-word@127.0.0.1:7/sparql',
      TRIPLESTORE_TYPE: 'sparql',
    },
  });
});
afterAll(async () => {
  await service?.stop();
  await directory.remove();
});

test.each(['viewer', 'operator', 'admin'] as const)('a %s gets name and role', async (role) => {
  const { status, body } = await as(role, '/studio/me');
  expect([status, body]).toEqual([
    200,
    {
      actor: `${role}-name`,
      role,
      limits: { maxBodyBytes: 4096, maxUploadBytes: 2 ** 30 },
      services: ['semi-structured-transformer', 'sql-transformer', 'graph-writer'],
      target: { type: 'sparql', location: expect.stringContaining('127.0.0.1:7/sparql') },
      writeModes: ['insert', 'update'],
      writeMode: 'insert',
    },
  ]);
  expect(JSON.stringify(body)).not.toContain('hidden-word');
});

test('functions have parameters and examples, and custom ones come first when they are deployed', async () => {
  const list = async (): Promise<readonly StudioFunction[]> => (await as('viewer', '/studio/functions')).body.functions;
  expect((await list()).map(({ iri }) => iri)).toEqual(FUNCTIONS.map(({ iri }) => iri));
  const upper = (await list()).find(({ name }) => name === 'grel:toUpperCase');
  expect(upper).toMatchObject({
    family: 'Text',
    deterministic: true,
    parameters: [{ type: 'string', required: true, iri: expect.stringContaining('http') }],
    examples: expect.arrayContaining([{ given: [expect.any(String)], gives: expect.any(String) }]),
  });
  expect((await as('admin', '/semi-structured-transformer/updateCustomFunctions')).status).toBe(200);
  const [first, second] = await list();
  expect(first).toMatchObject({ iri: `${EX}mark`, family: null });
  expect(second?.iri).toBe(FUNCTIONS[0]?.iri);
});
