/** A mapping from a failing server: another attempt may succeed, and no caller waits in vain. */
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { readText } from '../../../src/storage/open.ts';
import { fastest } from '../../support/fastest.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { ask, poll, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

const MAPPING = peopleMapping('csv', 'people.csv');
type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const well: Answer = (response) => void response.writeHead(200, { 'content-type': 'text/turtle' }).end(MAPPING);
const TROUBLE: Readonly<Record<string, Answer>> = {
  'answers 503': (response) => void response.writeHead(503).end('not now'),
  'resets the connection': (_, request) => request.socket.resetAndDestroy(),
  'breaks off in the middle': (response, request) => {
    response.writeHead(200, { 'content-length': MAPPING.length });
    response.write(MAPPING.slice(0, 50), () => request.socket.destroy());
  },
};
const silent: Answer = () => undefined;

let server: Server;
let url: string;
/** The first requests are answered by these, later ones correctly. */
let answers: Answer[];
let requests: number;

beforeEach(async () => {
  answers = [];
  requests = 0;
  server = createServer((request, response) => {
    requests++;
    (answers.shift() ?? well)(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/people.ttl`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test('a server that sends nothing for a while is asked again', async () => {
  const some: Answer = (response) => void response.writeHead(200).write('some');
  for (const trouble of [silent, some]) {
    // On a busy machine a request may be given up before the server has seen it.
    answers = [trouble, trouble];
    await expect(readText(url, 1_000, { reach: undefined, workingDirectory: '/', silenceMs: 200 })).rejects.toMatchObject({
      code: 'source/unreadable',
      retriable: true,
      message: expect.stringContaining('sent nothing for 0.2 s'),
    });
  }
  answers = [];
  expect(await readText(url, 1_000, { reach: undefined, workingDirectory: '/', silenceMs: 10_000 })).toBe(MAPPING);
});

describe('over the service', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let service: ServiceProcess;
  const process_ = (prefer: Record<string, string> = {}) =>
    postJson(`${service.url}/process`, { inputFileURL: join(directory.path, 'people.csv'), mappingURL: url }, prefer);

  beforeAll(async () => {
    directory = await temporaryDirectory();
    await writeFile(join(directory.path, 'people.csv'), PEOPLE.csv);
    service = await startService({
      cwd: directory.path,
      env: { SERVICE: 'semi-structured-transformer' },
    });
  }, 60_000);
  afterAll(async () => {
    await service.stop();
    await directory.remove();
  });

  test.each(Object.entries(TROUBLE))('a run whose mapping server %s is retried and completes', async (_, trouble) => {
    // The API also reads the mapping, before the run's first attempt does.
    answers = [trouble, trouble];
    const { status, body } = await process_();
    expect({ status, quads: body.quads }).toEqual({ status: 200, quads: 2 });
    expect((await ask(`${service.url}/runs/${body.runId}`)).body).toMatchObject({ state: 'completed', attempts: 2 });
    expect(requests).toBeGreaterThan(2);
  });

  test('a run whose mapping server has no such file fails at once', async () => {
    const missing: Answer = (response) => void response.writeHead(404).end();
    answers = [missing, missing, missing];
    const { status, body } = await process_();
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'mapping/unreadable' });
    expect(requests).toBe(2);
  });

  test('a run that waits for its mapping is cancelled within a second', async () => {
    const cancel = async (): Promise<number> => {
      answers = [well, silent];
      const before = requests;
      const { body } = await process_({ prefer: 'respond-async' });
      await poll(`${service.url}/runs/${body.id}`, ({ body: { state } }) => state === 'running' && requests === before + 2);
      const asked = performance.now();
      await ask(`${service.url}/runs/${body.id}`, { method: 'DELETE' });
      await poll(`${service.url}/runs/${body.id}`, ({ body: { state } }) => state === 'cancelled');
      return performance.now() - asked;
    };
    expect(await fastest(1_000, cancel)).toBeLessThan(1_000);
  });
});

describe('a fault with more said', () => {
  const place = { input: 'a', line: 3 };
  const fault = new Fault('limit/exceeded', 'too large', { place, hint: 'cut it', limit: 'MAX_DEPTH' });
  const same = { code: 'limit/exceeded', message: 'too large', place, hint: 'cut it', limit: 'MAX_DEPTH' } as const;
  test.each<[string, Parameters<Fault['with']>[0], object]>([
    ['keeps what is not given', {}, same],
    ['has more of a place', { place: { record: 7 } }, { ...same, place: { ...place, record: 7 } }],
    ['has a place without what does not hold any more', { place: { line: undefined } }, { ...same, place: { input: 'a' } }],
    ['has another hint', { hint: 'wait' }, { ...same, hint: 'wait' }],
    ['is of another kind', { code: 'source/refused', message: 'no' }, { ...same, code: 'source/refused', message: 'no' }],
  ])('%s', (_, more, expected) => {
    expect(fault.with(more).toJSON()).toStrictEqual(expected);
    expect(fault.with(more).cause).toBe(fault);
  });
});
