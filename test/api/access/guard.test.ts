/** Authorization: tokens and roles, and what is served without tokens. */
import { request } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { makeGuard } from '../../../api/access/guard.ts';
import { parseTokens } from '../../../api/access/tokens.ts';
import { mountRoutes } from '../../../api/app.ts';
import type { Api } from '../../../api/route.ts';
import { DEFAULTS } from '../../../src/config/options/options.ts';
import { isLoopback } from '../../../src/core/reach/loopback.ts';
import { Secret } from '../../../src/core/secret.ts';
import { secrets } from '../../support/secrets.ts';
import { type FakeApi, startFakeApi } from '../../support/service/fake.ts';

let api: FakeApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

describe('tokens', () => {
  test.each([
    [['ann:viewer:s3cret'], [['ann', 'viewer']]],
    [
      ['ann:viewer:a:b:c', 'bob:admin:x'],
      [
        ['ann', 'viewer'],
        ['bob', 'admin'],
      ],
    ],
    [['operator:s3cret'], [['operator-1', 'operator']]],
  ])('%j', (entries, expected) => {
    expect(parseTokens(secrets(entries)).map(({ name, role }) => [name, role])).toEqual(expected);
  });

  test.each([[['s3cret']], [['ann:owner:s3cret']], [['ann:viewer:']], [[':viewer:s3cret']], [['ann:viewer:s3cret1', 'ann:admin:s3cret2']]])(
    'refuses %j without repeating the secret',
    (entries) => {
      expect(() => parseTokens(secrets(entries))).toThrow(/API_TOKENS/);
      expect(() => parseTokens(secrets(entries))).not.toThrow(/s3cret/);
    },
  );

  test.each([
    [undefined, '/semi-structured-transformer/config', 'GET', 401],
    ['wrong', '/semi-structured-transformer/config', 'GET', 401],
    ['v-token', '/semi-structured-transformer/config', 'GET', 200],
    ['v-token', '/semi-structured-transformer/runs', 'GET', 200],
    ['v-token', '/metrics', 'GET', 200],
    [undefined, '/metrics', 'GET', 401],
    ['v-token', '/semi-structured-transformer/process', 'POST', 403],
    ['o-token', '/semi-structured-transformer/process', 'POST', 400],
    ['o-token', '/semi-structured-transformer/updateConfig', 'PUT', 403],
    ['o-token', '/semi-structured-transformer/rml?fileName=x.ttl', 'PUT', 403],
    ['a-token', '/semi-structured-transformer/updateConfig', 'PUT', 400],
    ['a-token', '/semi-structured-transformer/config', 'GET', 200],
    [undefined, '/health/live', 'GET', 200],
    [undefined, '/openapi.json', 'GET', 200],
  ])('with token %s, %s answers %s with %i', async (token, path, method, status) => {
    api = await startFakeApi({
      API_TOKENS: [new Secret('vic:viewer:v-token'), new Secret('oli:operator:o-token'), new Secret('ada:admin:a-token')],
    });
    const response = await fetch(api.url + path, { method, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(status);
    expect(response.headers.has('www-authenticate')).toBe(status === 401);
    await response.arrayBuffer();
  });
});

describe('without tokens', () => {
  test.each(['0.0.0.0', '::', '192.168.0.7', 'example.com'])('refuses to listen on %s, unless that is allowed', (host) => {
    const options = { ...DEFAULTS, HOST: host };
    expect(() => makeGuard(options, () => options)).toThrow(/API_TOKENS|tokens/);
    expect(() => makeGuard({ ...options, ALLOW_ANONYMOUS: true }, () => options)).not.toThrow();
    expect(() => makeGuard({ ...options, API_TOKENS: secrets(['ann:viewer:x']) }, () => options)).not.toThrow();
  });

  test.each([
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['localhost', true],
    ['::1', true],
    ['127.0.0.1.example.com', false],
    ['0.0.0.0', false],
    ['10.0.0.1', false],
  ])('%s is this machine alone: %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });

  const statusOf = (url: string, headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request(url, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });

  test.each<[string, Record<string, string>, number]>([
    ['localhost', { host: 'localhost:8080' }, 200],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a name that was made to point here', { host: 'evil.example:8080' }, 403],
    ['the address bar', { 'sec-fetch-site': 'none' }, 200],
  ])('answers %s as it should', async (_, headers, status) => {
    api = await startFakeApi({});
    expect(await statusOf(`${api.url}/semi-structured-transformer/config`, headers)).toBe(status);
  });

  const store = { endpoint: 'http://127.0.0.1:1/' };
  const gets = mountRoutes({ queues: {}, config: {}, store } as unknown as Api, 'all')
    .filter(({ route }) => route.method === 'GET')
    .map(({ prefix, route }) => prefix + route.path);
  /** What starts, changes or queries nothing. */
  const READS = [
    '/',
    '/config',
    '/config/history',
    '/datasets',
    '/datasets/{name}',
    '/datasets/{name}/changes',
    '/datasets/{name}/graph',
    '/datasets/{name}/ldes',
    '/datasets/{name}/ldes/{part}/{page}',
    '/datasets/{name}/versions/{version}',
    '/datasets/{name}/versions/{version}/changes',
    '/health/live',
    '/health/ready',
    '/license',
    '/metrics',
    '/openapi.json',
    '/queues',
    '/rml',
    '/runs',
    '/runs/{id}',
    '/runs/{id}/outputs/{number}',
    '/studio',
    '/studio/assets/{file}',
    '/studio/functions',
    '/studio/mappings',
    '/studio/mappings/{name}',
    '/studio/me',
  ];

  test.each(gets)('an address that a browser opens by itself only reads: GET %s', async (path) => {
    api = await startFakeApi({ SERVICE: 'all' }, { store });
    const url = api.url + path.replace(/\{\w+\}/g, '1');
    const isRead = READS.includes(path.replace(/^\/(semi-structured-transformer|sql-transformer|graph-writer)(?=\/)/, ''));
    expect((await statusOf(url, { 'sec-fetch-site': 'none' })) === 403).toBe(!isRead);
    expect(await statusOf(url, {})).not.toBe(403);
  });
});
