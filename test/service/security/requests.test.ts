/** Limits of requests, security headers and cross-site requests, on a built process and raw connections. */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { ask, type ServiceProcess, startService } from '../../support/service/process.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
const sockets: Socket[] = [];

const ADMIN = 'a-long-secret';
const bearer = { authorization: `Bearer ${ADMIN}` };

beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await startService({
    cwd: directory.path,
    env: {
      API_TOKENS: `ada:admin:${ADMIN},vic:viewer:v-long-secret`,
      REQUEST_TIMEOUT_SECONDS: '1',
      MAX_HEADER_BYTES: '8192',
      MAX_CONNECTIONS: '40',
      MAX_BODY_BYTES: '2048',
    },
  });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await service?.stop();
  await directory.remove();
});

interface Raw {
  /** All that came, when the server has closed the connection. */
  readonly closed: Promise<string>;
  write(text: string): void;
}

function raw(text: string): Raw {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  sockets.push(socket);
  let came = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    came += part;
  });
  // A server that closes while it is written to.
  socket.on('error', () => undefined);
  const closed = new Promise<string>((done) => socket.on('close', () => done(came)));
  socket.write(text);
  return { closed, write: (more) => void socket.write(more) };
}

const GET = '/semi-structured-transformer/config';
const head = (path = GET): string => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${ADMIN}\r\n`;
const SECURED = {
  'content-security-policy': expect.stringMatching(/frame-ancestors 'none'/),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

describe('what is no request, or comes too slowly', () => {
  const ROWS: readonly (readonly [name: string, text: string, status: number, code: string])[] = [
    ['headers that never end', head(), 408, 'request/timeout'],
    ['a request line that never ends', 'GET /sem', 408, 'request/timeout'],
    [
      'a body that never comes',
      `${head('/graph-writer/process').replace('GET', 'POST')}Content-Type: application/json\r\nContent-Length: 10\r\n\r\n`,
      408,
      'request/timeout',
    ],
    ['too large a header', `${head()}X-Large: ${'x'.repeat(9_000)}\r\n\r\n`, 431, 'request/headers'],
    ['too many headers', head() + Array.from({ length: 1_000 }, (_, i) => `X-${i}: value\r\n`).join(''), 431, 'request/headers'],
    ['too long a path', `${head(`/${'x'.repeat(9_000)}`)}\r\n`, 431, 'request/headers'],
    ['no HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400, 'request/malformed'],
    ['two lengths', `${head()}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, 400, 'request/malformed'],
    ['a length and chunks', `${head()}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400, 'request/malformed'],
    ['a space in the name of a header', `${head()}X-Bad : 1\r\n\r\n`, 400, 'request/malformed'],
    ['a NUL in a header', `${head()}X-Bad: a\0b\r\n\r\n`, 400, 'request/malformed'],
  ];
  /** All at once, because some wait for the time limit. */
  let answers: readonly Promise<string>[];
  beforeAll(() => {
    answers = ROWS.map(([, text]) => raw(text).closed);
  });

  test.each(ROWS.map(([name, , status, code], i) => [name, i, status, code] as const))('%s', async (_, i, status, code) => {
    const answer = (await answers[i]) ?? '';
    const [top = '', body = ''] = answer.split('\r\n\r\n');
    expect(top).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const headers = Object.fromEntries(
      top
        .split('\r\n')
        .slice(1)
        .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
    );
    expect(headers).toMatchObject({ ...SECURED, 'content-type': 'application/problem+json' });
    expect(JSON.parse(body)).toMatchObject({ status, code });
  });

  test('many clients that send a byte now and then hold no other client up', async () => {
    const slow = Array.from({ length: 30 }, () => raw(head()));
    const trickle = setInterval(() => {
      for (const one of slow) one.write('X: ');
    }, 50);
    try {
      expect((await ask(service.url + GET, { headers: bearer })).status).toBe(200);
      for (const one of slow) expect(await one.closed).toMatch(/^HTTP\/1.1 408 /);
    } finally {
      clearInterval(trickle);
    }
  });

  test('more connections than MAX_CONNECTIONS are closed, and there is room again afterwards', async () => {
    const many = Array.from({ length: 60 }, () => raw(head()));
    const ends = await Promise.all(many.map((one) => one.closed));
    expect(ends.filter((answer) => answer === '').length).toBeGreaterThanOrEqual(20);
    expect(ends.filter((answer) => answer !== '').length).toBeGreaterThan(0);
    expect((await ask(service.url + GET, { headers: bearer })).status).toBe(200);
  });

  test('a body that is too large', async () => {
    const init = {
      method: 'POST',
      headers: { ...bearer, 'content-type': 'application/json' },
      body: JSON.stringify({ a: 'x'.repeat(3_000) }),
    };
    expect(await ask(`${service.url}/semi-structured-transformer/process`, init)).toMatchObject({
      status: 413,
      body: { code: 'request/too-large' },
    });
  });
});

test.each([
  ['GET', '/health/live', 200],
  ['GET', '/openapi.json', 200],
  ['GET', '/metrics', 200],
  ['GET', GET, 200],
  ['GET', '/queues/', 200],
  ['GET', '/queues/api/queues', 200],
  ['GET', '/queues', 308],
  ['GET', '/nothing', 404],
  ['POST', GET, 405],
  ['OPTIONS', GET, 204],
] as const)('security headers of %s %s', async (method, path, status) => {
  const answer = await fetch(service.url + path, { method, headers: bearer, redirect: 'manual' });
  await answer.arrayBuffer();
  expect(answer.status).toBe(status);
  expect(Object.fromEntries(answer.headers)).toMatchObject(SECURED);
  expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  expect(answer.headers.get('x-powered-by')).toBeNull();
});

test('several Host headers are no request', async () => {
  const end = 'Connection: close\r\n\r\n';
  for (const hosts of ['Host: localhost\r\nHost: evil.example\r\n', 'Host: localhost\r\nhost: localhost\r\n'])
    expect(await raw(`GET ${GET} HTTP/1.1\r\n${hosts}Authorization: Bearer ${ADMIN}\r\n${end}`).closed).toMatch(/^HTTP\/1\.1 400 /);
  expect(await raw(`GET /queues/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n${end}`).closed).toMatch(/^HTTP\/1\.1 400 /);
  expect(await raw(`GET ${GET} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ADMIN}\r\n${end}`).closed).toMatch(
    /^HTTP\/1\.1 200 /,
  );
});

test.each(['meta', 'events', 'wait', 'completed', 'id', 'marker', 'stalled-check', `r${'0'.repeat(32)}`, `r${'0'.repeat(32)}:lock`])(
  'there is no run %s',
  async (id) => {
    for (const [method, more] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/output/1'],
    ] as const)
      expect(await ask(`${service.url}/semi-structured-transformer/runs/${id}${more}`, { method, headers: bearer })).toMatchObject({
        status: 404,
        body: { code: 'request/not-found' },
      });
  },
);

test('a page of another site changes nothing by GET, also with a token', async () => {
  const headers = { ...bearer, 'sec-fetch-site': 'cross-site' };
  for (const path of [
    'semi-structured-transformer/process',
    'sql-transformer/process',
    'graph-writer/process',
    'sql-transformer/restartKafka',
  ]) {
    expect((await ask(`${service.url}/${path}`, { headers })).status).toBe(403);
  }
});

test('429 with Retry-After, for wrong tokens and for too many requests; metrics count them', async () => {
  const set = (option: string, value: string) =>
    ask(`${service.url}/semi-structured-transformer/updateConfig?configEntry=${option}&configValue=${value}`, {
      method: 'PUT',
      headers: bearer,
    });
  expect((await set('WRONG_TOKENS_PER_MINUTE', '2')).status).toBe(200);
  const guess = () => ask(service.url + GET, { headers: { authorization: 'Bearer guess' } });
  expect([(await guess()).status, (await guess()).status]).toEqual([401, 401]);
  const locked = await guess();
  expect(locked).toMatchObject({ status: 429, body: { code: 'request/too-many', hint: expect.stringContaining('Retry-After') } });
  expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(0);
  // Who has shown a right token from here goes on.
  expect((await set('REQUESTS_PER_MINUTE', '3')).status).toBe(200);
  const asVic = () => ask(`${service.url}/metrics`, { headers: { authorization: 'Bearer v-long-secret' } });
  expect((await asVic()).status).toBe(429);
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) statuses.push((await ask(service.url + GET, { headers: bearer })).status);
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(4);
  expect(statuses.at(-1)).toBe(429);
  for (let i = 0; i < 10; i++) expect((await ask(`${service.url}/health/live`)).status).toBe(200);
});
