/** Uploads on the built service: whole or not at all, within limits, and read by runs. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { type Answer, ask, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

const MAX_BYTES = 100_000;
const QUOTA_BYTES = 250_000;
const MAPPING_URL = '/semi-structured-transformer/rml?fileName=people.ttl';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
const uploads = (): string => join(directory.path, 'data', 'uploads');
const list = async (): Promise<readonly string[]> => (await readdir(uploads()).catch(() => [])).sort();

beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await startService({
    cwd: directory.path,
    env: {
      DATA_DIR: join(directory.path, 'data'),
      ALLOWED_DIRECTORIES: join(directory.path, 'allowed'),
      MAX_UPLOAD_BYTES: String(MAX_BYTES),
      UPLOAD_QUOTA_BYTES: String(QUOTA_BYTES),
    },
  });
});
afterAll(async () => {
  await service?.stop();
  await directory.remove();
});

const OCTETS = { 'content-type': 'application/octet-stream' };
const upload = (name: string, body: string | Blob, headers: Readonly<Record<string, string>> = OCTETS): Promise<Answer> =>
  ask(`${service.url}/studio/uploads?name=${encodeURIComponent(name)}`, { method: 'POST', headers, body });
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

test('a file is there when it is whole, and a run reads it though only another directory is allowed', async () => {
  const { status, body } = await upload('C:\\Users\\ada\\people.csv', PEOPLE.csv);
  const told = { bytes: Buffer.byteLength(PEOPLE.csv), sha256: sha256(PEOPLE.csv), format: 'csv' };
  expect([status, body]).toEqual([201, { url: expect.stringMatching(/^file:.*\/uploads\/people\.csv$/), ...told }]);
  expect(await readFile(fileURLToPath(body.url), 'utf8')).toBe(PEOPLE.csv);
  expect(await list()).toEqual(['people.csv']);
  const put = await ask(service.url + MAPPING_URL, {
    method: 'PUT',
    headers: { 'content-type': 'text/turtle' },
    body: peopleMapping('csv', 'people.csv'),
  });
  expect(put.status).toBe(200);
  const run = await postJson(`${service.url}/semi-structured-transformer/process`, { inputFileURL: body.url, logicalSource: 'people.csv' });
  expect({ status: run.status, body: run.body }).toMatchObject({ status: 200 });
});

test('the same bytes again are no conflict, other bytes under the name are', async () => {
  expect(await upload('people.csv', PEOPLE.csv)).toMatchObject({ status: 200, body: { sha256: sha256(PEOPLE.csv) } });
  expect(await upload('people.csv', 'other')).toMatchObject({ status: 409, body: { code: 'request/conflict' } });
  expect(await readFile(join(uploads(), 'people.csv'), 'utf8')).toBe(PEOPLE.csv);
});

test('of two that upload other bytes under one name at once, one succeeds', async () => {
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((text) => upload('race.csv', text)));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
});

test.each([
  ['..', 400],
  ['../../.profile.csv', 400],
  ['a/', 400],
  ['a\nb.csv', 400],
  [`${'ä'.repeat(101)}.csv`, 400],
  ['program.exe', 400],
  ['no-extension', 400],
  ['../../../escape.csv', 201],
])('the name %j: %i', async (name, expected) => {
  expect((await upload(name, 'id\n1\n')).status).toBe(expected);
  expect(await readdir(directory.path)).not.toContain('escape.csv');
});

test('another media type is refused', async () => {
  expect((await upload('form.csv', 'id', { 'content-type': 'text/plain' })).status).toBe(415);
});

test('too large: told by its length, and found out on the way', async () => {
  const before = await list();
  expect(await upload('large.csv', 'x'.repeat(MAX_BYTES + 1))).toMatchObject({
    status: 413,
    body: { hint: expect.stringContaining('MAX_UPLOAD_BYTES') },
  });
  const parts = async function* () {
    for (let i = 0; i < 11; i++) yield Buffer.alloc(10_000, 'x');
  };
  const chunked = { method: 'POST', headers: OCTETS, body: Readable.toWeb(Readable.from(parts())), duplex: 'half' } as RequestInit;
  expect((await ask(`${service.url}/studio/uploads?name=large.csv`, chunked)).status).toBe(413);
  expect(await list()).toEqual(before);
});

test('a client that leaves in the middle leaves nothing', async () => {
  const before = await list();
  const sent = request(`${service.url}/studio/uploads?name=broken.csv`, {
    method: 'POST',
    headers: { ...OCTETS, 'content-length': 50_000 },
  });
  sent.on('error', () => undefined);
  sent.write('x'.repeat(20_000));
  while ((await list()).length === before.length) await sleep(20);
  expect((await list()).filter((name) => name.endsWith('.part'))).toHaveLength(1);
  sent.destroy();
  while ((await list()).length > before.length) await sleep(20);
  expect(await list()).toEqual(before);
});

test('files together have at most the quota', async () => {
  const big = 'x'.repeat(MAX_BYTES);
  expect((await upload('one.csv', big)).status).toBe(201);
  expect((await upload('two.csv', big)).status).toBe(201);
  const before = await list();
  expect(await upload('three.csv', big)).toMatchObject({ status: 507, body: { code: 'request/no-room' } });
  expect(await list()).toEqual(before);
});

test('nothing is served back', async () => {
  for (const path of ['/studio/uploads', '/studio/uploads/people.csv', '/uploads/people.csv']) {
    const { status, body } = await ask(service.url + path);
    expect([404, 405]).toContain(status);
    expect(JSON.stringify(body)).not.toContain(PEOPLE.csv.slice(0, 20));
  }
});
