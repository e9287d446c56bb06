/** `/sparql` of a process with an embedded store, over HTTP: roles, forwarding and problem answers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import { Secret } from '../../src/core/secret.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../src/targets/embedded/embedded.ts';
import { soakTest, test } from '../support/jest/extent.ts';
import { type FakeApi, startFakeApi } from '../support/service/fake.ts';
import { startService } from '../support/service/process.ts';
import { linesOf, type StoreClient, storeClient } from '../support/service/store-client.ts';

let directory: string;
let store: EmbeddedStore;
let client: StoreClient;
let api: FakeApi;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-sparql-'));
  store = await openEmbeddedStore(directory, { querySeconds: 4 });
  client = storeClient(store.endpoint);
  api = await startFakeApi({ API_TOKENS: [new Secret('vic:viewer:v-token'), new Secret('oli:operator:o-token')] }, { store });
});
afterAll(async () => {
  await api.close();
  await store.close();
  await rm(directory, { recursive: true, force: true });
});

const QUADS = '<urn:a> <urn:p> "1" .\n<urn:a> <urn:p> "ü" <urn:g> .\n';
beforeEach(async () => {
  await client.update('DROP ALL');
  await client.add(QUADS);
});

const ask = (token: string | undefined, search: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${api.url}/sparql${search}`, {
    ...init,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(init.headers as Record<string, string> | undefined),
    },
  });
const form = (fields: Record<string, string>): RequestInit => ({ method: 'POST', body: new URLSearchParams(fields) });
const send = (method: string, type: string, body: string): RequestInit => ({ method, headers: { 'content-type': type }, body });
const byGet = (query: string): string => `?query=${encodeURIComponent(query)}`;

describe('roles', () => {
  const update = 'INSERT DATA { <urn:new> <urn:p> 1 }';
  test.each<[string, string, RequestInit, number, number]>([
    ['a query by GET', byGet('ASK {}'), {}, 200, 200],
    ['a query as a form', '', form({ query: 'ASK {}' }), 200, 200],
    ['a query as it is', '', send('POST', 'application/sparql-query', 'ASK {}'), 200, 200],
    ['a graph', '?graph=urn:g', {}, 200, 200],
    ['an update as a form', '', form({ update }), 403, 204],
    ['an update beside a query', '', form({ query: 'ASK {}', update }), 403, 400],
    ['an update as it is', '', send('POST', 'application/sparql-update', update), 403, 204],
    ['quads', '', send('POST', 'application/n-quads', '<urn:new> <urn:p> "1" .'), 403, 204],
    ['a body of no type', '', { method: 'POST', body: Buffer.from('x') }, 403, 415],
    ['a new graph', '?graph=urn:n', send('PUT', 'text/turtle', '<urn:new> <urn:p> 1 .'), 403, 201],
    ['a removal', '?graph=urn:g', { method: 'DELETE' }, 403, 204],
  ])('%s', async (_, search, init, viewer, operator) => {
    expect((await ask(undefined, search, init)).status).toBe(401);
    const asViewer = await ask('v-token', search, init);
    expect([asViewer.status, await asViewer.text()]).toEqual([
      viewer,
      expect.stringContaining(viewer === 403 ? 'needs the role operator' : ''),
    ]);
    expect(await client.quads()).toEqual(linesOf(QUADS));
    expect((await ask('o-token', search, init)).status).toBe(operator);
  });
});

describe('callers', () => {
  test('a viewer with 16 queries that wait is refused with Retry-After; an operator writes meanwhile, and other viewers are answered', async () => {
    await client.add(Array.from({ length: 20_000 }, (_, i) => `<urn:s${i}> <urn:p> "${i}" .\n`).join(''));
    const leave = new AbortController();
    const endless = byGet('SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . FILTER(?a != ?d && ?c = ?e) }');
    const running = ask('v-token', endless, { signal: leave.signal }).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('v-token', byGet('ASK {}'))));
    const refused = answers.filter(({ status }) => status === 429);
    expect([refused.length, refused[0]?.headers.get('retry-after')]).toEqual([4, '2']);
    expect(await refused[0]?.json()).toMatchObject({ code: 'request/too-many', detail: expect.stringContaining('16 queries') });
    expect((await ask('o-token', '', send('POST', 'application/n-quads', '<urn:new> <urn:p> "1" .'))).status).toBe(204);
    leave.abort();
    await running;
  }, 60_000);

  test('queries end with the connection of the client', async () => {
    await client.add(Array.from({ length: 20_000 }, (_, i) => `<urn:s${i}> <urn:p> "${i}" .\n`).join(''));
    const leave = new AbortController();
    const endless = byGet('SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . FILTER(?a != ?d && ?c = ?e) }');
    const left = Array.from({ length: 5 }, () => ask('v-token', endless, { signal: leave.signal }).catch((error: Error) => error.name));
    await new Promise((resolve) => setTimeout(resolve, 300));
    leave.abort();
    expect(new Set(await Promise.all(left))).toEqual(new Set(['AbortError']));
    const began = performance.now();
    expect((await ask('v-token', byGet('ASK {}'))).status).toBe(200);
    // Five queries of four seconds each would take twenty.
    expect(performance.now() - began).toBeLessThan(12_000);
  }, 60_000);
});

describe('what goes through', () => {
  test('the answer comes in the format that was asked for, byte for byte', async () => {
    const query = 'SELECT ?o WHERE { GRAPH ?g { ?s ?p ?o } }';
    const response = await ask('v-token', byGet(query), { headers: { accept: 'text/csv' } });
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(await response.text()).toBe('o\r\nü\r\n');
  });

  test('parameters of the dataset', async () => {
    const response = await ask('v-token', `${byGet('SELECT ?o WHERE { ?s ?p ?o }')}&default-graph-uri=urn%3Ag`, {
      headers: { accept: 'text/csv' },
    });
    expect(await response.text()).toBe('o\r\nü\r\n');
  });

  test('large graphs, both ways', async () => {
    const lines = Array.from({ length: 30_000 }, (_, i) => `<urn:s${i}> <urn:p> "value ${i}" .`);
    const text = `${lines.join('\n')}\n`;
    expect((await ask('o-token', '?graph=urn:large', send('PUT', 'application/n-triples', text))).status).toBe(201);
    const response = await ask('v-token', '?graph=urn:large', { headers: { accept: 'application/n-triples' } });
    expect(linesOf(await response.text())).toEqual(lines.sort());
  });

  test('HEAD has the headers alone', async () => {
    const response = await ask('v-token', byGet('ASK {}'), { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  test('a client that leaves in the middle of its body changes nothing, and the next one is served', async () => {
    await new Promise<void>((resolve) => {
      const headers = { authorization: 'Bearer o-token', 'content-type': 'application/n-quads', 'content-length': 1_000_000 };
      const cut = request(`${api.url}/sparql`, { method: 'POST', headers });
      cut.on('error', () => resolve());
      cut.write('<urn:half> <urn:p> "1" .\n', () => setTimeout(() => cut.destroy(new Error('gone')), 50));
    });
    expect((await ask('v-token', byGet('ASK {}'))).status).toBe(200);
    expect(await client.quads()).toEqual(linesOf(QUADS));
  });
});

describe('problems', () => {
  soakTest.each<[string, string, RequestInit, number, string, string]>([
    ['a query that breaks off', byGet('SELECT * WHERE { ?s'), {}, 400, 'request/malformed', 'error at 1:'],
    ['a graph that is not there', '?graph=urn:none', {}, 404, 'request/not-found', '<urn:none>'],
    ['another Accept', '', { headers: { accept: 'image/png' } }, 406, 'request/not-acceptable', 'image/png'],
    ['another type', '?graph=urn:g', send('PUT', 'text/html', 'x'), 415, 'request/media-type', 'text/html'],
    ['another method', '', { method: 'PATCH' }, 405, 'request/method', 'PATCH'],
    ['an update by GET', '?update=x', {}, 405, 'request/method', 'POST'],
    [
      'a query without end',
      byGet('SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?h ?i ?j . FILTER(?a != ?d && ?c = ?e) }'),
      {},
      504,
      'store/time-limit',
      'longer than 4 s',
    ],
  ])('%s', async (name, search, init, status, code, words) => {
    if (name === 'a query without end')
      await client.add(Array.from({ length: 20_000 }, (_, i) => `<urn:s${i}> <urn:p> "${i}" .\n`).join(''));
    const response = await ask('o-token', search, init);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ status, code, detail: expect.stringContaining(words), instance: '/sparql' });
    expect(response.status).toBe(status);
    expect(response.headers.has('allow')).toBe(status === 405);
  });

  test('a form larger than MAX_BODY_BYTES', async () => {
    const little = await startFakeApi({ MAX_BODY_BYTES: 1024 }, { store });
    try {
      const response = await fetch(`${little.url}/sparql`, form({ query: `ASK {} #${'x'.repeat(2000)}` }));
      expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([413, 'request/too-large']);
    } finally {
      await little.close();
    }
  });

  test('a process without a store names the process that has it', async () => {
    const other = await startFakeApi({});
    try {
      const response = await fetch(`${other.url}/sparql?query=x`);
      expect(await response.json()).toMatchObject({
        status: 409,
        code: 'request/conflict',
        hint: expect.stringContaining('TRIPLESTORE_TYPE=embedded'),
      });
    } finally {
      await other.close();
    }
  });

  test('a store that has gone', async () => {
    const other = await startFakeApi({}, { store: { endpoint: 'http://quadmill:x@127.0.0.1:1/sparql' } });
    try {
      const response = await fetch(`${other.url}/sparql?query=x`);
      expect(await response.json()).toMatchObject({
        status: 503,
        code: 'service/unavailable',
        detail: 'The embedded store does not answer',
      });
    } finally {
      await other.close();
    }
  });
});

test('the OpenAPI document has the route', async () => {
  const { paths } = (await (await fetch(`${api.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { responses: object }>>;
  };
  expect(Object.keys(paths['/sparql'] ?? {})).toEqual(['get', 'post', 'put', 'delete']);
});

describe('npm start', () => {
  const env = (extra: Record<string, string> = {}): Record<string, string> => ({
    DATA_DIR: join(directory, 'data'),
    ...extra,
  });

  soakTest(
    'has a store that outlives it',
    async () => {
      const first = await startService({ env: env(), cwd: directory });
      expect((await fetch(`${first.url}/sparql`, send('POST', 'application/n-quads', QUADS))).status).toBe(204);
      first.kill('SIGKILL');
      await first.exited;
      const second = await startService({ env: env(), cwd: directory });
      try {
        const response = await fetch(`${second.url}/sparql`, { headers: { accept: 'application/n-quads' } });
        expect(linesOf(await response.text())).toEqual(linesOf(QUADS));
      } finally {
        expect((await second.stop()).code).toBe(0);
      }
      expect(second.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    },
    240_000,
  );

  test.each([
    ['another target', { TRIPLESTORE_TYPE: 'fuseki', TRIPLESTORE_ENDPOINT: 'http://127.0.0.1:1/ds' }],
    ['another service', { SERVICE: 'sql-transformer' }],
  ])(
    'with %s it has none',
    async (_, extra) => {
      const service = await startService({ env: env({ ...extra, DATA_DIR: join(directory, 'none') }), cwd: directory });
      try {
        expect((await fetch(`${service.url}/sparql?query=x`)).status).toBe(409);
        expect(service.log.some(({ msg }) => msg === 'embedded store opened')).toBe(false);
      } finally {
        await service.stop();
      }
    },
    240_000,
  );
});
