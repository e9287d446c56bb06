/** The client has a method for every route of `/openapi.json`, and sends what that document says. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { mountRoutes } from '../../../api/app.ts';
import type { Api } from '../../../api/route.ts';
import { type ClientOptions, type FetchInit, QuadmillClient } from '../../../client/client.ts';
import type { Service } from '../../../queues/jobs.ts';

interface Sent {
  readonly url: URL;
  readonly init: FetchInit;
}

/** A client whose requests are recorded and answered with an empty object. */
function recording(options: ClientOptions = {}) {
  const sent: Sent[] = [];
  const client = new QuadmillClient('http://quadmill.example/below/', {
    ...options,
    fetch: async (url, init) => {
      sent.push({ url: new URL(url), init });
      return new Response('{"runs":[],"changes":[]}', { headers: { 'Content-Type': 'application/json' } });
    },
  });
  return { client, sent };
}

const DATABASE = {
  url: 'jdbc:postgresql://host:5432/db?a=b',
  user: 'ada',
  password: 'pässword',
  jdbc: 'postgresql',
  parameters: { ssl: 'true' },
};

const CONDITION = { ifMatch: 'tag', ifNoneMatch: '*' } as const;

/** Every method, with every option. */
async function callAll(client: QuadmillClient): Promise<void> {
  const { semiStructuredTransformer, sqlTransformer, graphWriter } = client;
  for (const service of [semiStructuredTransformer, sqlTransformer, graphWriter]) {
    await service.listRuns({ state: 'running', limit: 7 });
    await service.getRun('a/b');
    await service.cancel('a/b');
    await service.output('a/b', 2);
    await service.config({ paths: ['friendlyName', 'sql.cron'] });
    await service.updateConfig('friendlyName', 'x & y');
    await service.configHistory();
    await service.backUpConfig();
    await service.licence();
    await service.restartKafka();
  }
  const options = { idempotencyKey: 'k', urgency: 2 };
  await semiStructuredTransformer.start({ inputFileURL: ['a.csv'], logicalSource: 'a.csv', mappingURL: 'm.ttl' }, options);
  await semiStructuredTransformer.getMapping('a b.ttl');
  await semiStructuredTransformer.putMapping('a.yml', 'mappings:', CONDITION);
  await semiStructuredTransformer.updateCustomFunctions();
  await sqlTransformer.start({ ...options, dataset: 'people' });
  await sqlTransformer.getMapping();
  await sqlTransformer.putMapping('# none', CONDITION);
  await sqlTransformer.updateCron('0 0 2 * * ?');
  await sqlTransformer.testConnection(DATABASE);
  await sqlTransformer.query(DATABASE, 'SELECT 1', { format: 'csv' });
  await sqlTransformer.updateCustomFunctions();
  await graphWriter.start({ inputFileURL: 'a.nq' }, options);
  await graphWriter.checkConnection();
  await client.datasets.list();
  await client.datasets.get('a b.ttl', { limit: 3 });
  await client.datasets.version('a b.ttl', 3);
  await client.datasets.changesPage('a b.ttl', 3, {
    which: 'removed',
    offset: 2,
    limit: 2,
    subject: 'a',
    blankNodes: 'keep',
    target: 't.nq',
  });
  await client.datasets.findStatement('a b.ttl', { statement: '<s:a> <p:b> <o:c> .' });
  await client.datasets.position('a b.ttl');
  await client.datasets.changes('a b.ttl', 2, { format: 'nquads', which: 'removed', blankNodes: 'keep', target: 't.nq' });
  await client.datasets.graph('a b.ttl', { version: 3, blankNodes: 'skolem', target: 't.nq' });
  await client.studio.me();
  await client.studio.functions();
  const place = { service: 'sql-transformer', draft: true } as const;
  await client.studio.upload('a.csv', new Blob(['id']));
  await client.studio.sample({ location: 'a.csv' });
  await client.studio.items({ location: 'a.json', format: 'json', iterator: '$[*]', references: [] });
  await client.studio.ontology({ location: 'a.ttl' });
  await client.studio.preview({ name: 'a.ttl', text: '' });
  await client.studio.findStatement({ name: 'a.ttl', text: '', statement: '<s:a> <p:b> <o:c> .' });
  await client.studio.tables();
  await client.studio.joins({ name: 'a.ttl', text: '', child: '_:a', parent: '_:b' });
  await client.studio.listRecords({ name: 'a.ttl', text: '', triplesMap: '_:people' });
  await client.studio.listMappings(place);
  await client.studio.getMapping('a b.ttl', place);
  await client.studio.putMapping('a b.ttl', { text: '', side: {} }, { ...place, ...CONDITION });
  await client.studio.deleteMapping('a b.ttl', { ...place, ifMatch: 'tag' });
  await client.live();
  await client.ready();
  await client.metrics();
  await client.openApi();
}

type Operation = {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly string[];
  readonly types: readonly string[];
};

const operations = (served: Service | 'all'): readonly Operation[] =>
  mountRoutes({ queues: {}, config: {} } as unknown as Api, served).map(({ prefix, route: { method, path, parameters = [], body } }) => ({
    method,
    path: prefix + path,
    parameters: parameters.map(({ name }) => name),
    types: [body?.type ?? []].flat(),
  }));

/** GET of `/process` with the inputs in the query is for scripts; `/sparql` is for SPARQL clients, `/ldes` for those of event streams; `/`, `/queues` and the page of the studio for browsers. */
const WITHOUT_METHOD =
  /^(GET \/(semi-structured-transformer|graph-writer)\/process|GET \/(studio(\/assets\/\{file\})?)?|GET \/datasets\/\{name\}\/ldes.*|\w+ \/(sparql|queues))$/;

const pathOf = ({ url }: Sent): string =>
  url.pathname
    .replace('/below', '')
    .replace('/runs/a%2Fb', '/runs/{id}')
    .replace('/versions/3', '/versions/{version}')
    .replace('/outputs/2', '/outputs/{number}')
    .replace('a%20b.ttl', '{name}');

describe('every route of the three services', () => {
  let sent: readonly Sent[];
  beforeAll(async () => {
    const { client, sent: all } = recording();
    await callAll(client);
    sent = all;
  });

  test('has a method', () => {
    const wanted = operations('all').map(({ method, path }) => `${method} ${path}`);
    const called = sent.map((one) => `${one.init.method} ${pathOf(one)}`);
    expect(called.toSorted()).toEqual(wanted.filter((one) => !WITHOUT_METHOD.test(one)).sort());
  });

  test('gets no parameter, header or type of body that it does not have', () => {
    const wrong = sent.flatMap((one) => {
      const found = operations('all').find(({ method, path }) => method === one.init.method && path === pathOf(one));
      // OpenAPI has the types of an answer in its place: a parameter `Accept` is none.
      const { 'Content-Type': type, Accept: _, ...headers } = one.init.headers;
      const names = [...one.url.searchParams.keys(), ...Object.keys(headers)].filter((name) => !found?.parameters.includes(name));
      return [...names, ...(type === undefined || found?.types.includes(type) ? [] : [type])].map((name) => [pathOf(one), name]);
    });
    expect(wrong).toEqual([]);
  });

  test('gets every parameter that it has', () => {
    const missing = sent.flatMap((one) => {
      const found = operations('all').find(({ method, path }) => method === one.init.method && path === pathOf(one));
      const given = [...one.url.searchParams.keys(), ...Object.keys(one.init.headers), 'id', 'name', 'number', 'version'];
      // The option is sent in the body.
      return (found?.parameters ?? [])
        .filter((name) => !given.includes(name) && !/^config(Entry|Value)$/.test(name))
        .map((name) => [pathOf(one), name]);
    });
    expect(missing).toEqual([]);
  });

  test('a password is sent as the Base64 of its UTF-8 bytes', () => {
    const { url } = sent.find((one) => pathOf(one).endsWith('/testDBConnection')) as Sent;
    expect(Buffer.from(url.searchParams.get('password') ?? '', 'base64').toString('utf8')).toBe('pässword');
  });
});

test.each(['semi-structured-transformer', 'sql-transformer', 'graph-writer'] as const)('%s alone stands at the root', async (name) => {
  const { client, sent } = recording({ service: name });
  const own = {
    'semi-structured-transformer': 'semiStructuredTransformer',
    'sql-transformer': 'sqlTransformer',
    'graph-writer': 'graphWriter',
  } as const;
  await client[own[name]].licence();
  expect(sent.map(pathOf)).toEqual(['/license']);
  expect(operations(name).some(({ path }) => path === '/license')).toBe(true);
});

describe('repetition', () => {
  /** Answers the statuses one after the other; `lost`: no answer. */
  function answering(...statuses: readonly (number | 'lost')[]) {
    const keys: (string | undefined)[] = [];
    const client = new QuadmillClient('http://quadmill.example', {
      fetch: async (_, { headers }) => {
        const status = statuses[keys.length];
        keys.push(headers['Idempotency-Key']);
        if (status === 'lost') throw new TypeError('fetch failed');
        return new Response(`{"id":"x","status":${status},"detail":"busy"}`, {
          status,
          headers: { 'Content-Type': status === 202 ? 'application/json' : 'application/problem+json', 'Retry-After': '0' },
        });
      },
    });
    return { client, keys };
  }

  test('a start without an answer is repeated with the same key, so that there is one run', async () => {
    const { client, keys } = answering('lost', 503, 429, 202);
    expect((await client.graphWriter.start({ inputFileURL: 'a.nq' })).id).toBe('x');
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  });

  test.each<[string, (client: QuadmillClient) => Promise<unknown>]>([
    ['restartKafka', ({ graphWriter }) => graphWriter.restartKafka()],
    ['updateCustomFunctions', ({ sqlTransformer }) => sqlTransformer.updateCustomFunctions()],
    ['testConnection', ({ sqlTransformer }) => sqlTransformer.testConnection(DATABASE)],
    ['query', ({ sqlTransformer }) => sqlTransformer.query(DATABASE, 'SELECT 1')],
    ['checkConnection', ({ graphWriter }) => graphWriter.checkConnection()],
  ])('%s is not repeated', async (_, call) => {
    const { client, keys } = answering(503, 200);
    await expect(call(client)).rejects.toMatchObject({ name: 'ProblemError', status: 503 });
    expect(keys).toHaveLength(1);
  });

  test('the last answer is the error', async () => {
    const { client, keys } = answering(503, 503, 503, 503, 503, 202);
    await expect(client.live()).rejects.toMatchObject({ status: 503, problem: { detail: 'busy' } });
    expect(keys).toHaveLength(5);
  });

  test('a signal ends the pause', async () => {
    const controller = new AbortController();
    const client = new QuadmillClient('http://quadmill.example', {
      fetch: async () => {
        queueMicrotask(() => controller.abort(new Error('enough')));
        return new Response('', { status: 503, headers: { 'Retry-After': '50' } });
      },
    });
    await expect(client.live({ signal: controller.signal })).rejects.toThrow('enough');
  });
});

test.each(['file:///x', 'http://h/?a=b', 'http://h/#a', 'nonsense'])('refuses the URL %s', (url) => {
  expect(() => new QuadmillClient(url)).toThrow(`without login, query and fragment, not '${url}'`);
});

test('refuses a URL with a login, and does not show it', () => {
  expect(() => new QuadmillClient('http://ada:secret@h')).toThrow(/^((?!secret).)*not one with a login: give a token instead$/);
});
