/** Routes other than `/process` over HTTP, with runs in memory: paths, methods, configuration, mappings, operators. */
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { findJsonError } from '../../api/json-error.ts';
import { withReason } from '../../api/run-answer.ts';
import type { RunView } from '../../queues/jobs.ts';
import { FAULTS } from '../../src/core/fault.ts';
import { Secret } from '../../src/core/secret.ts';
import { createLogger } from '../../src/core/telemetry/observe.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { type FakeApi, startFakeApi, successReport } from '../support/service/fake.ts';

let directory: string;
let api: FakeApi;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-api-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));
beforeEach(async () => {
  api = await startFakeApi({ DATA_DIR: directory, DB_PASSWORD: new Secret('hunter2') });
});
afterEach(() => api.close());

const base = (): string => `${api.url}/semi-structured-transformer`;
const get = async (url: string): Promise<{ status: number; type: string | null; headers: Headers; body: Record<string, unknown> }> => {
  const response = await fetch(url);
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
};

test('/ is a page of links, and each of them answers', async () => {
  const page = await fetch(`${api.url}/`);
  const text = await page.text();
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, href]) => href as string);
  expect(links).toEqual(
    expect.arrayContaining(['/openapi.json', '/health/ready', '/semi-structured-transformer/config', '/graph-writer/runs']),
  );
  for (const link of links) {
    expect(link).toMatch(/^\/\w/);
    const { status } = await fetch(api.url + link, { redirect: 'manual' });
    expect([link, [200, 308].includes(status)]).toEqual([link, true]);
  }
});

describe('paths and methods', () => {
  test.each([
    ['GET', '/process', 404, 'request/not-found'],
    ['GET', '/config', 404, 'request/not-found'],
    ['GET', '/semi-structured-transformer/nothing', 404, 'request/not-found'],
    ['GET', '/semi-structured-transformer/PROCESS', 404, 'request/not-found'],
    ['GET', '/semi-structured-transformer/runs/unknown', 404, 'request/not-found'],
    ['DELETE', '/semi-structured-transformer/runs/unknown', 404, 'request/not-found'],
    ['DELETE', '/semi-structured-transformer/process', 405, 'request/method'],
    ['POST', '/semi-structured-transformer/config', 405, 'request/method'],
    ['GET', '/semi-structured-transformer/updateConfig', 405, 'request/method'],
    ['GET', '/semi-structured-transformer/uploadConfigBackup', 405, 'request/method'],
    ['GET', '/semi-structured-transformer/updateCustomFunctions', 400, 'config/invalid'],
    ['GET', '/semi-structured-transformer/restartKafka', 409, 'request/conflict'],
    ['POST', '/sql-transformer/process', 405, 'request/method'],
    ['PUT', '/sql-transformer/updateConfig', 400, 'request/invalid'],
    ['GET', '/sql-transformer/runs/unknown', 404, 'request/not-found'],
    ['GET', '/sql-transformer/testDBConnection', 400, 'request/invalid'],
    ['GET', '/sql-transformer/queryDatabase', 400, 'request/invalid'],
    ['GET', '/sql-transformer/rml', 404, 'request/not-found'],
    ['PUT', '/sql-transformer/rml', 415, 'request/media-type'],
    ['GET', '/sql-transformer/updateCustomFunctions', 400, 'config/invalid'],
    ['GET', '/sql-transformer/updateCron', 405, 'request/method'],
    ['GET', '/sql-transformer/restartKafka', 409, 'request/conflict'],
    ['GET', '/graph-writer/process', 400, 'request/invalid'],
    ['POST', '/graph-writer/process', 400, 'request/invalid'],
    ['PUT', '/graph-writer/updateConfig', 400, 'request/invalid'],
    ['GET', '/graph-writer/restartKafka', 409, 'request/conflict'],
  ])('%s %s answers %i', async (method, path, status, code) => {
    const response = await fetch(api.url + path, { method });
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ status, code, instance: path, title: expect.any(String), type: expect.any(String) });
    expect(response.status).toBe(status);
    expect(response.headers.has('allow')).toBe(status === 405);
  });

  test('an unknown path at the root names the prefixes and the path that was meant', async () => {
    const { body } = await get(`${api.url}/config`);
    expect(body.detail).toContain('/semi-structured-transformer');
    expect(body.hint).toContain('/semi-structured-transformer/config');
  });

  test('405 lists the allowed methods', async () => {
    const response = await fetch(`${base()}/process`, { method: 'DELETE' });
    expect(response.headers.get('allow')).toBe('GET, POST');
    expect((await fetch(`${base()}/config`, { method: 'DELETE' })).headers.get('allow')).toBe('GET, HEAD');
  });

  test('HEAD, its refusal and OPTIONS agree on what a path answers', async () => {
    for (const path of ['/process', '/config', '/runs', '/runs/r1', '/rml']) {
      const options = (await fetch(base() + path, { method: 'OPTIONS' })).headers.get('allow') as string;
      const refused = await fetch(base() + path, { method: 'PATCH' });
      const head = await fetch(base() + path, { method: 'HEAD' });
      expect([path, refused.status, refused.headers.get('allow')]).toEqual([path, 405, options]);
      expect([path, head.status === 405]).toEqual([path, !options.includes('HEAD')]);
      if (head.status === 405) expect(head.headers.get('allow')).toBe(options);
    }
  });

  test('OPTIONS lists the allowed methods', async () => {
    const response = await fetch(`${base()}/process`, { method: 'OPTIONS' });
    expect(response.status).toBe(204);
    expect(response.headers.get('allow')).toContain('POST');
  });

  test('a single service is mounted at the root only', async () => {
    const alone = await startFakeApi({ DATA_DIR: directory, SERVICE: 'semi-structured-transformer' });
    try {
      expect((await get(`${alone.url}/config`)).status).toBe(200);
      expect((await get(`${alone.url}/semi-structured-transformer/config`)).status).toBe(404);
    } finally {
      await alone.close();
    }
  });
});

describe('/config and /updateConfig', () => {
  test('the whole document has the known fields, and hides secrets', async () => {
    const { status, body } = await get(`${base()}/config`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      applicationName: 'Semi-Structured-Transformer',
      version: expect.any(String),
      friendlyName: expect.any(String),
      serviceTransformerConfig: {
        kafka: { topicNameSource: 'source_urls', topicNameDLQ: 'dead_letter_queue' },
        provenance: { kafka: { topicNameSuccess: expect.any(String), topicNameDLQ: expect.any(String) }, recordProvo: expect.any(Boolean) },
      },
    });
    expect(JSON.stringify(body)).not.toContain('hunter2');
    expect(JSON.stringify(body)).toContain('******');
  });

  test('paths restricts it, by names and by paths', async () => {
    const { body } = await get(`${base()}/config?paths=friendlyName,KAFKA_TOPIC_NAME_SOURCE`);
    expect(body).toEqual({
      friendlyName: 'Semi-Structured-Transformer',
      serviceTransformerConfig: { kafka: { topicNameSource: 'source_urls' } },
    });
  });

  test('an unknown entry is 400 with the nearest name', async () => {
    const { status, body } = await get(`${base()}/config?paths=frendlyName`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'config/unknown', hint: expect.stringContaining('friendlyName') });
  });

  const put = (query: string, body?: unknown): Promise<Response> =>
    fetch(`${base()}/updateConfig${query}`, {
      method: 'PUT',
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });

  test.each<[string, string, unknown, number, unknown]>([
    [
      'by query',
      '?configEntry=friendlyName&configValue=Mill%20one',
      undefined,
      200,
      { configEntry: 'friendlyName', configValue: 'Mill one' },
    ],
    [
      'by JSON body',
      '',
      { configEntry: 'PROCESS_WAIT_SECONDS', configValue: 3 },
      200,
      { configEntry: 'PROCESS_WAIT_SECONDS', configValue: 3 },
    ],
    ['a secret', '?configEntry=DB_PASSWORD&configValue=s3cret', undefined, 200, { configEntry: 'DB_PASSWORD', configValue: '******' }],
    ['an unknown option', '?configEntry=frendlyName&configValue=x', undefined, 400, { code: 'config/unknown' }],
    ['a value of another type', '?configEntry=DISTINCT&configValue=perhaps', undefined, 400, { code: 'config/invalid' }],
    ['an option that is read at start only', '?configEntry=PORT&configValue=1', undefined, 400, { code: 'config/invalid' }],
    ['no value', '?configEntry=friendlyName', undefined, 400, { code: 'request/invalid' }],
    ['no entry', '?configValue=x', undefined, 400, { code: 'request/invalid' }],
    ['an entry twice', '?configEntry=a&configEntry=b&configValue=x', undefined, 400, { code: 'request/invalid' }],
    ['a body that is a list', '', ['a'], 400, { code: 'request/invalid' }],
  ])('changes: %s', async (_, query, body, status, answer) => {
    const response = await put(query, body);
    expect(await response.json()).toMatchObject(answer as object);
    expect(response.status).toBe(status);
  });

  test('a change is seen at once', async () => {
    await put('?configEntry=friendlyName&configValue=Mill%20two');
    expect((await get(`${base()}/config?paths=friendlyName`)).body).toEqual({ friendlyName: 'Mill two' });
  });
});

describe('/rml', () => {
  const mapping = `@prefix rml: <http://w3id.org/rml/> .
<http://example.com/m> a rml:TriplesMap ;
  rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ] .
`;
  const put = (fileName: string | undefined, body: string, type = 'text/turtle'): Promise<Response> =>
    fetch(`${base()}/rml${fileName === undefined ? '' : `?fileName=${encodeURIComponent(fileName)}`}`, {
      method: 'PUT',
      body,
      headers: type === '' ? {} : { 'content-type': type },
    });
  const read = (fileName: string): Promise<Response> => fetch(`${base()}/rml?fileName=${encodeURIComponent(fileName)}`);
  const mappings = (): string => join(directory, 'mappings', 'semi-structured-transformer');

  test('before there is any mapping, none is found', async () => {
    expect((await read('people.ttl')).status).toBe(404);
  });

  test.each(['people.ttl', 'deep/er/people.ttl', './people.ttl'])('writes and reads back %s', async (fileName) => {
    const written = await put(fileName, mapping);
    expect(await written.text()).toBe('');
    expect(written.status).toBe(200);
    const back = await read(fileName);
    expect(back.headers.get('content-type')).toBe('text/turtle');
    expect(await back.text()).toBe(mapping);
    expect(await readFile(join(mappings(), fileName), 'utf8')).toBe(mapping);
  });

  const yarrrml = 'mappings:\n  person:\n    sources: [[people.csv~csv]]\n    s: http://example.com/$(id)\n';

  test.each(['application/yaml', 'text/yaml', 'application/x-yaml'])('writes and reads back YARRRML of type %s', async (type) => {
    expect((await put('people.yml', yarrrml, type)).status).toBe(200);
    const back = await read('people.yml');
    expect([back.headers.get('content-type'), await back.text()]).toEqual(['application/yaml', yarrrml]);
  });

  test.each(['people.yaml', 'people.yarrrml', 'people.yarrr.yml'])('takes YARRRML under the name %s', async (name) => {
    expect((await put(name, yarrrml, 'application/yaml')).status).toBe(200);
    expect((await read(name)).headers.get('content-type')).toBe('application/yaml');
    expect((await put(name, mapping)).status).toBe(415);
  });

  test('YARRRML that is wrong is 400 with the key, and Turtle with its name 415', async () => {
    const response = await put('wrong.yaml', yarrrml.replace('sources:', 'source5:'), 'application/yaml');
    const { diagnostics } = (await response.json()) as { diagnostics: readonly { key: string }[] };
    expect([response.status, diagnostics[0]?.key]).toEqual([400, 'mappings.person']);
    expect((await put('wrong.yaml', mapping, 'text/turtle')).status).toBe(415);
    expect((await read('wrong.yaml')).status).toBe(404);
  });

  test('accepts an absolute path and a file: URL inside the mapping directory', async () => {
    expect((await put(join(mappings(), 'absolute.ttl'), mapping, 'text/turtle; charset=UTF-8')).status).toBe(200);
    expect((await put(`file://${join(mappings(), 'url.ttl')}`, mapping)).status).toBe(200);
    expect(await (await read('absolute.ttl')).text()).toBe(mapping);
    expect(await (await read('url.ttl')).text()).toBe(mapping);
  });

  test('a body that is not a mapping is 400 with every diagnostic, and the old file stays', async () => {
    await put('people.ttl', mapping);
    const response = await put('people.ttl', mapping.replace('rml:template', 'rml:tmplate').replace('rml:path', 'rml:pth'));
    expect(response.status).toBe(400);
    const problem = (await response.json()) as { code: string; diagnostics: { line: number; column: number; severity: string }[] };
    expect(problem.code).toBe('mapping/invalid');
    expect(new Set(problem.diagnostics.filter(({ severity }) => severity === 'error').map(({ line }) => line)).size).toBeGreaterThan(1);
    for (const { line, column } of problem.diagnostics) expect([line, column].every((n) => Number.isInteger(n) && n > 0)).toBe(true);
    expect(await (await read('people.ttl')).text()).toBe(mapping);
    expect((await readdir(mappings())).filter((name) => name.includes('.part'))).toEqual([]);
  });

  test.each([
    ['not Turtle', '@prefix rml: <x> .\n<a> <b> ;;; "', 'mapping/syntax'],
    ['Turtle without a triples map', '<http://a> <http://b> <http://c> .', 'mapping/invalid'],
    ['empty', '', 'mapping/invalid'],
  ])('a body that is %s is refused', async (_, body, code) => {
    const response = await put('other.ttl', body);
    expect(await response.json()).toMatchObject({ status: 400, code });
    expect((await read('other.ttl')).status).toBe(404);
  });

  test.each(['', 'application/json', 'text/turtle; charset=latin1', 'text/plain'])('a body of type %j is 415', async (type) => {
    const response = await put('other.ttl', mapping, type);
    expect(response.status).toBe(415);
    expect((await response.json()) as object).toMatchObject({ code: 'request/media-type' });
  });

  test('locations outside the mapping directory are 403, for reading and writing', async () => {
    await mkdir(mappings(), { recursive: true });
    await writeFile(join(directory, 'secret.ttl'), 'secret');
    await symlink(join(directory, 'secret.ttl'), join(mappings(), 'link.ttl'));
    await symlink(directory, join(mappings(), 'up'));
    const outside = [
      '../secret.ttl',
      'a/../../secret.ttl',
      join(directory, 'secret.ttl'),
      '/etc/passwd',
      'file:///etc/passwd',
      'http://example.com/a.ttl',
      'link.ttl',
      'up/secret.ttl',
      `${mappings()}-beside/x.ttl`,
      'a\0b.ttl',
    ];
    for (const fileName of outside) {
      for (const response of [await read(fileName), await put(fileName, mapping)]) {
        expect([fileName, response.status]).toEqual([fileName, 403]);
        expect(await response.json()).toMatchObject({ code: 'request/forbidden' });
      }
    }
    expect(await readFile(join(directory, 'secret.ttl'), 'utf8')).toBe('secret');
  });

  test('a location is needed, of a file', async () => {
    expect((await put(undefined, mapping)).status).toBe(400);
    expect((await put('.', mapping)).status).toBe(400);
    expect((await read('.')).status).toBe(400);
    expect((await fetch(`${base()}/rml`)).status).toBe(400);
  });
});

describe('/runs', () => {
  const start = async (): Promise<string> => {
    await mkdir(join(directory, 'm'), { recursive: true });
    await writeFile(join(directory, 'm', 'm.ttl'), 'not even Turtle');
    const response = await fetch(`${base()}/process?inputFileURL=a.csv&mappingURL=${encodeURIComponent(join(directory, 'm', 'm.ttl'))}`, {
      headers: { prefer: 'respond-async' },
    });
    return ((await response.json()) as { id: string }).id;
  };

  test('lists the newest first, by state, up to a limit', async () => {
    const ids = [await start(), await start(), await start()];
    api.runs.end(ids[1] ?? '', { state: 'completed', report: successReport('x') });
    const listed = async (query: string) => ((await get(`${base()}/runs${query}`)).body.runs as { id: string }[]).map(({ id }) => id);
    expect(await listed('')).toEqual([ids[2], ids[1], ids[0]]);
    expect(await listed('?state=completed')).toEqual([ids[1]]);
    expect(await listed('?limit=1')).toEqual([ids[2]]);
  });

  test.each(['?state=dead', '?limit=0', '?limit=many', '?limit=100000', '?limit=1&limit=2'])('refuses %s', async (query) => {
    expect((await get(`${base()}/runs${query}`)).body).toMatchObject({ status: 400, code: 'request/invalid' });
  });

  test('cancels a run, but not one that has ended', async () => {
    const id = await start();
    const cancelled = await fetch(`${base()}/runs/${id}`, { method: 'DELETE' });
    expect(cancelled.status).toBe(200);
    expect(await cancelled.json()).toMatchObject({ id, state: 'cancelled' });
    const ended = await start();
    api.runs.end(ended, { state: 'completed', report: successReport(ended) });
    expect((await fetch(`${base()}/runs/${ended}`, { method: 'DELETE' })).status).toBe(409);
  });
});

describe('operators', () => {
  test('a living process whose queue answers is live and ready', async () => {
    expect((await get(`${api.url}/health/live`)).body).toMatchObject({ status: 'up' });
    expect((await get(`${api.url}/health/ready`)).body).toMatchObject({ status: 'up', checks: { queue: 'up' } });
  });

  test.each(['refuses', 'hangs'] as const)('a process whose queue %s is live, and not ready', async (how) => {
    api.runs.breaks(how);
    expect((await get(`${api.url}/health/live`)).status).toBe(200);
    const { status, body, headers } = await get(`${api.url}/health/ready`);
    expect(status).toBe(503);
    expect(headers.has('retry-after')).toBe(true);
    expect(body).toMatchObject({ code: 'service/unavailable', checks: { queue: 'down' } });
  });

  test.each(['refuses', 'hangs'] as const)('asking whether it is ready, while the queue %s, leaves no error in the log', async (how) => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const starting = await startFakeApi({ DATA_DIR: directory }, { logger });
    starting.runs.breaks(how);
    expect((await get(`${starting.url}/health/ready`)).status).toBe(503);
    expect(lines).toEqual([]);
    // Also reports what else is lost.
    starting.runs.breaks('refuses');
    await get(`${starting.url}/semi-structured-transformer/runs/r1`);
    expect(lines.map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ level: 'warn', msg: 'request failed' })]);
    await starting.close();
  });

  test('a fleet without workers reports that', async () => {
    let workers = 0;
    const lonely = await startFakeApi({ DATA_DIR: directory }, { workerCount: () => workers });
    try {
      expect((await get(`${lonely.url}/health/ready`)).body).toMatchObject({ status: 'up', workers: 0 });
      const view = { state: 'queued', attempts: 0 } as RunView;
      expect(withReason({ workerCount: () => 0 }, view)).toMatchObject({ workers: 0, reason: expect.stringContaining('--role worker') });
      expect(withReason({ workerCount: () => 0 }, { ...view, state: 'running' })).not.toHaveProperty('reason');
      expect(withReason({ workerCount: () => 1 }, view)).not.toHaveProperty('reason');
      workers = 3;
      expect((await get(`${lonely.url}/health/ready`)).body).toMatchObject({ workers: 3 });
    } finally {
      await lonely.close();
    }
  });

  test('a process that is shutting down is not ready, and accepts no more runs', async () => {
    api.drain();
    expect((await get(`${api.url}/health/ready`)).body).toMatchObject({ status: 503, checks: { process: 'ending' } });
    expect((await get(`${base()}/process?inputFileURL=a.csv`)).status).toBe(503);
    expect(api.runs.submitted).toEqual([]);
  });

  test('metrics count requests by route pattern, never by path', async () => {
    await fetch(`${base()}/runs/some-run-id`);
    await fetch(`${api.url}/no/such/path`);
    const response = await fetch(`${api.url}/metrics`);
    expect(response.headers.get('content-type')).toContain('text/plain');
    const text = await response.text();
    expect(text).toContain('rml_http_requests_total{route="/semi-structured-transformer/runs/{id}",method="GET",status="404"}');
    expect(text).toContain('route="none"');
    expect(text).not.toContain('some-run-id');
    expect(text).not.toContain('/no/such/path');
  });

  test('the OpenAPI document has every route, and its references lead somewhere', async () => {
    const { body } = await get(`${api.url}/openapi.json`);
    const paths = body.paths as Record<string, Record<string, { operationId: string }>>;
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        '/semi-structured-transformer/process',
        '/semi-structured-transformer/runs/{id}',
        '/sql-transformer/updateCron',
        '/graph-writer/checkConnection',
        '/health/ready',
      ]),
    );
    const ids = Object.values(paths).flatMap((operations) => Object.values(operations).map(({ operationId }) => operationId));
    expect(new Set(ids).size).toBe(ids.length);
    const schemas = (body.components as { schemas: Record<string, unknown> }).schemas;
    const references = [...JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name ?? '');
    expect(references.length).toBeGreaterThan(10);
    expect(references.filter((name) => !(name in schemas))).toEqual([]);
  });
});

test('docs/api.md names every path and every status of a problem', async () => {
  const text = await readFile(join(PROJECT_ROOT, 'docs', 'api.md'), 'utf8');
  const paths = Object.keys((await get(`${api.url}/openapi.json`)).body.paths as object).map((path) =>
    path.replace(/^\/(semi-structured-transformer|sql-transformer|graph-writer)/, ''),
  );
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => !text.includes(path))).toEqual([]);
  const statuses = Object.entries(FAULTS)
    .filter(([code]) => /^(request|service|config|internal)\//.test(code) && code !== 'request/too-many')
    .map(([, { status }]) => status);
  expect(statuses.filter((status) => !text.includes(String(status)))).toEqual([]);
});

describe('the place of a JSON error', () => {
  test.each([
    ['', '1:1 a value'],
    ['{"a":1,}', '1:8 a name in double quotes'],
    ['[1,]', '1:4 a value'],
    ['{"a" 1}', "1:6 ':'"],
    ['{"a":1 "b":2}', "1:8 ','"],
    ['[1 2]', "1:4 ','"],
    ['{a:1}', '1:2 JSON, in which names and texts are in double quotes'],
    ['{\n "é": "x\ny"}', '2:7 a string that is well-formed and ends'],
    ['{"a":"\\x"}', '1:6 a string that is well-formed and ends'],
    ['01', '1:2 the end of the text'],
    ['[1', "1:3 ',' or ']'"],
    ['{"a":{"b":[]}} x', '1:16 JSON, in which names and texts are in double quotes'],
  ])('%j', (text, expected) => {
    const found = findJsonError(text);
    expect(`${found?.line}:${found?.column} ${found?.expected}`).toBe(expected);
    expect(() => JSON.parse(text)).toThrow();
  });

  test.each(['{}', '[]', ' {"a":[1,-2.5e+3,true,false,null,"\\u00e9"],"b":{}} \n', '"x"', '0'])('is nowhere in %j', (text) => {
    expect(findJsonError(text)).toBeUndefined();
    JSON.parse(text);
  });

  test('is not told in a text that is nested too deeply, which is refused all the same', async () => {
    for (const body of ['['.repeat(100_000), '{"a":'.repeat(50_000)]) {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      const response = await fetch(`${api.url}/semi-structured-transformer/process`, init);
      expect([response.status, await response.json()]).toMatchObject([400, { code: 'request/malformed' }]);
    }
  });
});
