/** Route × role, over HTTP on the built service: who is let in is what the table here says, which is written apart from the routes. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mountRoutes } from '../../../api/app.ts';
import type { Api } from '../../../api/route.ts';
import { SERVICES, type Service } from '../../../queues/jobs.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { type ServiceProcess, startService } from '../../support/service/process.ts';

/** The least role; `all`: no token is needed. */
const TABLE = `
  POST   /semi-structured-transformer/process                operator
  GET    /semi-structured-transformer/process                operator
  GET    /semi-structured-transformer/runs                   viewer
  GET    /semi-structured-transformer/runs/{id}              viewer
  DELETE /semi-structured-transformer/runs/{id}              operator
  GET    /semi-structured-transformer/runs/{id}/outputs/{number} operator
  GET    /semi-structured-transformer/config                 viewer
  GET    /semi-structured-transformer/config/history         admin
  PUT    /semi-structured-transformer/updateConfig           admin
  PUT    /semi-structured-transformer/uploadConfigBackup     admin
  GET    /semi-structured-transformer/rml                    viewer
  PUT    /semi-structured-transformer/rml                    admin
  GET    /semi-structured-transformer/restartKafka           admin
  GET    /semi-structured-transformer/license                viewer
  GET    /semi-structured-transformer/updateCustomFunctions  admin
  GET    /sql-transformer/process                            operator
  GET    /sql-transformer/runs                               viewer
  GET    /sql-transformer/runs/{id}                          viewer
  DELETE /sql-transformer/runs/{id}                          operator
  GET    /sql-transformer/runs/{id}/outputs/{number}        operator
  GET    /sql-transformer/config                             viewer
  GET    /sql-transformer/config/history                     admin
  PUT    /sql-transformer/updateConfig                       admin
  PUT    /sql-transformer/uploadConfigBackup                 admin
  GET    /sql-transformer/rml                                viewer
  PUT    /sql-transformer/rml                                admin
  PUT    /sql-transformer/updateCron                         admin
  GET    /sql-transformer/testDBConnection                   operator
  GET    /sql-transformer/queryDatabase                      operator
  GET    /sql-transformer/restartKafka                       admin
  GET    /sql-transformer/license                            viewer
  GET    /sql-transformer/updateCustomFunctions              admin
  GET    /graph-writer/process                               operator
  POST   /graph-writer/process                               operator
  GET    /graph-writer/checkConnection                       operator
  GET    /graph-writer/runs                                  viewer
  GET    /graph-writer/runs/{id}                             viewer
  DELETE /graph-writer/runs/{id}                             operator
  GET    /graph-writer/runs/{id}/outputs/{number}           operator
  GET    /graph-writer/config                                viewer
  GET    /graph-writer/config/history                        admin
  PUT    /graph-writer/updateConfig                          admin
  PUT    /graph-writer/uploadConfigBackup                    admin
  GET    /graph-writer/restartKafka                          admin
  GET    /graph-writer/license                               viewer
  GET    /studio                                             all
  GET    /studio/assets/{file}                               all
  GET    /studio/me                                          viewer
  GET    /studio/functions                                   viewer
  GET    /studio/mappings                                    viewer
  GET    /studio/mappings/{name}                             viewer
  PUT    /studio/mappings/{name}                             admin
  DELETE /studio/mappings/{name}                             admin
  POST   /studio/uploads                                     operator
  GET    /studio/tables                                      operator
  POST   /studio/samples                                     operator
  POST   /studio/items                                       operator
  POST   /studio/ontologies                                  operator
  POST   /studio/previews                                    operator
  POST   /studio/statements                                  operator
  POST   /studio/records                                     operator
  POST   /studio/joins                                       operator
  GET    /health/live                                        all
  GET    /health/ready                                       all
  GET    /metrics                                            viewer
  GET    /datasets                                           viewer
  GET    /datasets/{name}                                    viewer
  GET    /datasets/{name}/versions/{version}                 viewer
  GET    /datasets/{name}/changes                            operator
  GET    /datasets/{name}/graph                              operator
  GET    /datasets/{name}/ldes                               operator
  GET    /datasets/{name}/ldes/{part}/{page}                 operator
  GET    /datasets/{name}/position                           operator
  GET    /datasets/{name}/versions/{version}/changes         operator
  POST   /datasets/{name}/statements                         operator
  GET    /sparql                                             viewer
  POST   /sparql                                             viewer
  PUT    /sparql                                             operator
  DELETE /sparql                                             operator
  GET    /queues                                             all
  GET    /                                                   all
  GET    /openapi.json                                       all
`;

const LEVELS = ['all', 'viewer', 'operator', 'admin'] as const;
type Level = (typeof LEVELS)[number];

const ROWS = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/) as [method: string, path: string, least: Level]);

const TOKENS = { viewer: 'v-long-secret', operator: 'o-long-secret', admin: 'a-long-secret' } as const;

const CALLERS: readonly (readonly [name: string, level: Level, authorization: string | undefined])[] = [
  ['nobody', 'all', undefined],
  ['a wrong token', 'all', 'Bearer nonsense'],
  ['a token that begins like one', 'all', `Bearer ${TOKENS.admin.slice(0, -1)}`],
  ['a token in the wrong scheme', 'all', `Basic ${Buffer.from(`ada:${TOKENS.admin}`).toString('base64')}`],
  ['a viewer', 'viewer', `Bearer ${TOKENS.viewer}`],
  ['an operator', 'operator', `Bearer ${TOKENS.operator}`],
  ['an admin', 'admin', `bearer ${TOKENS.admin}`],
];

const mounted = (served: Service | 'all'): readonly string[] =>
  mountRoutes({ queues: {}, config: {} } as unknown as Api, served).map(
    ({ route, prefix }) => `${route.method} ${prefix}${route.path} ${route.role ?? 'all'}`,
  );

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;

beforeAll(async () => {
  directory = await temporaryDirectory();
  const tokens = Object.entries(TOKENS).map(([role, token]) => `${role}:${token}`);
  service = await startService({
    cwd: directory.path,
    env: { API_TOKENS: tokens.join(), WRONG_TOKENS_PER_MINUTE: '0' },
  });
});
afterAll(async () => {
  await service?.stop();
  await directory.remove();
});

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
/** What the role depends on: of `POST /sparql` the table has a query. */
const QUERY = { headers: FORM, body: 'query=ASK%7B%7D' };

const send = async (method: string, path: string, authorization: string | undefined, init: RequestInit = {}) => {
  const headers = { ...(init.headers as Record<string, string>), ...(authorization === undefined ? {} : { authorization }) };
  const response = await fetch(service.url + path.replace('{id}', 'no-such-run'), { redirect: 'manual', method, ...init, headers });
  return { status: response.status, challenge: response.headers.get('www-authenticate'), body: await response.text() };
};

/** What a caller of `level` gets: let in, whatever the answer to the request is then, or the status of the refusal. */
const expectedOf = (level: Level, least: Level): 'let in' | 401 | 403 => {
  if (LEVELS.indexOf(level) >= LEVELS.indexOf(least)) return 'let in';
  return level === 'all' ? 401 : 403;
};

test('the table has every route, with its role', () => {
  expect(mounted('all').toSorted()).toEqual(ROWS.map((row) => row.join(' ')).sort());
});

test.each(Object.keys(SERVICES) as Service[])('%s alone has the same at the root', (name) => {
  const own = ROWS.filter(([, path]) => path.startsWith(`/${name}/`)).map(([method, path, least]) =>
    [method, path.slice(name.length + 1), least].join(' '),
  );
  // The studio models for transformers.
  const elsewhere = name === 'graph-writer' ? /-transformer\/|graph-writer\/|^\/studio(\/|$)/ : /-transformer\/|graph-writer\//;
  const common = ROWS.filter(([, path]) => !elsewhere.test(path)).map((row) => row.join(' '));
  expect(mounted(name).toSorted()).toEqual([...own, ...common].sort());
});

test.each(CALLERS)('%s', async (_, level, authorization) => {
  const wrong: unknown[] = [];
  for (const [method, path, least] of ROWS) {
    for (const asked of method === 'GET' ? [method, 'HEAD'] : [method]) {
      const { status, challenge, body } = await send(asked, path, authorization, path === '/sparql' && method === 'POST' ? QUERY : {});
      // Where GET changes something, HEAD is refused to everybody.
      if (asked === 'HEAD' && status === 405) continue;
      const got = status === 401 || status === 403 ? status : 'let in';
      const isChallenged = (status === 401) === (challenge !== null);
      if (got !== expectedOf(level, least) || !isChallenged || status === 500) wrong.push([asked, path, status, challenge, body]);
    }
  }
  expect(wrong).toEqual([]);
});

describe('roles that depend on the request', () => {
  test.each([
    ['a query', QUERY, 'viewer'],
    ['an update', { headers: FORM, body: 'update=DELETE%20DATA%7B%7D' }, 'operator'],
    ['an update beside a query', { headers: FORM, body: 'query=ASK%7B%7D&update=CLEAR%20ALL' }, 'operator'],
    ['statements', { headers: { 'content-type': 'application/n-quads' }, body: '' }, 'operator'],
    ['an update without a form', { headers: { 'content-type': 'application/sparql-update' }, body: 'CLEAR ALL' }, 'operator'],
  ] as const)('%s in POST /sparql', async (_, init, least) => {
    for (const [name, level, authorization] of CALLERS) {
      const { status } = await send('POST', '/sparql', authorization, init);
      expect([name, status === 401 || status === 403 ? status : 'let in']).toEqual([name, expectedOf(level, least)]);
    }
  });

  test.each([
    ['GET', '/queues/', 'viewer'],
    ['GET', '/queues/api/queues', 'viewer'],
    ['PUT', '/queues/api/queues/pause', 'operator'],
    ['PUT', '/queues/api/queues/resume', 'operator'],
    ['PUT', '/queues/api/queues/transform-sql/clean/completed', 'operator'],
  ] as const)('the dashboard, %s %s', async (method, path, least) => {
    for (const [name, level, authorization] of CALLERS) {
      // Browsers send the token as the password of anybody.
      const expected = name === 'a token in the wrong scheme' ? 'let in' : expectedOf(level, least);
      const { status, body } = await send(method, path, authorization);
      const refusedToAll = status === 403 && body.includes('a run has one outcome');
      expect([name, (status === 401 || status === 403) && !refusedToAll ? status : 'let in']).toEqual([name, expected]);
    }
  });
});
