/** A write by a loader: what it gets, what is refused before, and what comes of one that fails. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type BulkRequest, executeBulkWrite } from '../../../src/bulk/bulk.ts';
import { loadIntoNeptune } from '../../../src/bulk/neptune.ts';
import type { RejectedStatement } from '../../../src/nquads/statement.ts';
import { bulkRequest, statements } from './requests.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-bulk-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const rejected: RejectedStatement[] = [];
const write = (request: BulkRequest, signal = new AbortController().signal) =>
  executeBulkWrite(request, { signal, reject: (one) => void rejected.push(one) });

/** A loader that keeps its arguments and the files that they name. */
function loader(end = ''): readonly string[] {
  const script = join(directory, 'loader.cjs');
  writeFileSync(
    script,
    `const fs = require('node:fs'); const args = process.argv.slice(2);
fs.writeFileSync(${JSON.stringify(join(directory, 'args.json'))}, JSON.stringify(args));
fs.writeFileSync(${JSON.stringify(join(directory, 'loaded.nq'))}, args.filter((one) => one.endsWith('.nq')).map((one) => fs.readFileSync(one, 'utf8')).join(''));
${end}`,
  );
  return [process.execPath, script];
}
const left = (): readonly string[] => readdirSync(directory).filter((name) => name.startsWith('quadmill-'));

function input(lines: readonly string[]): string {
  const path = join(directory, 'graph.nq');
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

test('the loader gets the statements that a store takes, and the files are gone afterwards', async () => {
  const lines = statements(30_000);
  rejected.length = 0;
  const bad = ['<http://example.com/%zz> <http://example.com/p> "a" .', '<relative> <http://example.com/p> "b" .', 'no statement'];
  const request = bulkRequest(directory, 'fuseki', 'db', [input([...lines, ...bad])], { loader: loader() });
  const report = await write(request);
  expect(report).toMatchObject({
    statements: 30_003,
    quadsWritten: 30_000,
    rejected: 3,
    target: 'db, by the loader of Apache Jena Fuseki',
  });
  expect(rejected.map(({ line }) => line)).toEqual([30_001, 30_002, 30_003]);
  expect(readFileSync(join(directory, 'loaded.nq'), 'utf8')).toBe(`${lines.join('\n')}\n`);
  expect(JSON.parse(readFileSync(join(directory, 'args.json'), 'utf8')).slice(0, 2)).toEqual(['--loc', join(directory, 'db')]);
  expect(left()).toEqual([]);
});

test('blank nodes are IRIs, the same ones each time', async () => {
  const request = bulkRequest(directory, 'fuseki', 'db', [input(['_:a <http://example.com/p> _:b .'])], { loader: loader() });
  await write(request);
  const first = readFileSync(join(directory, 'loaded.nq'), 'utf8');
  expect(first).toMatch(/^<http:\/\/example\.com\/\.well-known\/genid\/\S+> <http:\/\/example\.com\/p> <http:\/\/example\.com\/\S+> \.\n$/);
  await write(request);
  expect(readFileSync(join(directory, 'loaded.nq'), 'utf8')).toBe(first);
});

test('nothing is loaded where there are no statements', async () => {
  await write(bulkRequest(directory, 'fuseki', 'db', [input([])], { loader: loader() }));
  expect(existsSync(join(directory, 'args.json'))).toBe(false);
});

test('a loader that fails is quoted', async () => {
  const request = bulkRequest(directory, 'fuseki', 'db', [input(statements(10))], {
    loader: loader("console.error('it is locked by process 7'); process.exit(3);"),
  });
  await expect(write(request)).rejects.toMatchObject({
    code: 'target/refused',
    message: expect.stringMatching(/exit code 3\):\n {2}it is locked by process 7$/),
    hint: expect.stringContaining('The server must be stopped meanwhile'),
  });
  expect(left()).toEqual([]);
});

test('a loader that is not there is named, with where it comes from', async () => {
  const request = bulkRequest(directory, 'fuseki', 'db', [input(statements(1))], { loader: ['no-such-loader'] });
  await expect(write(request)).rejects.toMatchObject({
    code: 'config/invalid',
    message: expect.stringContaining('no-such-loader cannot be started'),
    hint: 'It comes with Apache Jena (its folder bin); --loader names the command that starts it',
  });
});

test('the loader ends with the write', async () => {
  const ending = new AbortController();
  const request = bulkRequest(directory, 'fuseki', 'db', [input(statements(1))], { loader: loader('setTimeout(() => {}, 100_000);') });
  const written = write(request, ending.signal);
  const seen = setInterval(() => existsSync(join(directory, 'loaded.nq')) && ending.abort(new Error('enough')), 50);
  await expect(written).rejects.toThrow('enough');
  clearInterval(seen);
  expect(left()).toEqual([]);
});

test.each<[string, Parameters<typeof bulkRequest>[1], string, Partial<BulkRequest>, string]>([
  ['a store without a loader', 'graphdb', 'http://localhost/', {}, 'No loader is known for targets of the type graphdb'],
  ['an update', 'fuseki', 'db', { mode: 'update' }, 'A loader adds statements, and the write has the mode update'],
  [
    'a server in place of its directory',
    'fuseki',
    'http://localhost:3030/ds',
    {},
    'The loader of Fuseki writes into the directory of a TDB2 database',
  ],
  ['a server in place of a database', 'neo4j', 'neo4j://localhost', {}, 'The import of Neo4j makes a database'],
  ['Virtuoso without a login', 'virtuoso', 'localhost:1111', {}, 'The loader of Virtuoso needs a login'],
  ['Virtuoso by HTTP', 'virtuoso', 'http://localhost:8890', {}, 'The loader of Virtuoso is started by SQL'],
  ['object storage for a local loader', 'fuseki', 'db', { place: 's3://bucket/x' }, 'The loader of Apache Jena Fuseki reads local files'],
  ['a local directory for Neptune', 'neptune', 'https://cluster:8182', {}, 'The loader of Neptune reads objects of S3'],
  [
    'Neptune without a role',
    'neptune',
    'https://cluster:8182',
    { place: 's3://bucket/x' },
    'The loader of Neptune reads objects by a role',
  ],
])('refused before anything is read: %s', async (_, type, endpoint, more, message) => {
  const request = bulkRequest(directory, type, endpoint, [join(directory, 'missing.nq')], more);
  await expect(write(request)).rejects.toMatchObject({
    code: 'config/invalid',
    message: expect.stringContaining(message),
    hint: expect.any(String),
  });
  expect(left()).toEqual([]);
});

describe('Neptune', () => {
  let server: Server;
  const seen: { readonly method: string; readonly url: string; readonly body: string }[] = [];
  let answers: (readonly [status: number, body: unknown])[];
  beforeEach(async () => {
    seen.length = 0;
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        seen.push({ method: request.method ?? '', url: request.url ?? '', body });
        const [status, answer] = answers.shift() ?? [500, {}];
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => void server.close());
  const load = () =>
    loadIntoNeptune(
      {
        endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        source: 's3://bucket/x-',
        role: 'arn:aws:iam::1:role/r',
        region: 'eu-west-1',
      },
      new AbortController().signal,
    );
  const status = (name: string, errors: object = {}) =>
    [200, { status: '200 OK', payload: { overallStatus: { status: name }, errors } }] as const;

  test('a load is started, and its end waited for', async () => {
    answers = [[200, { status: '200 OK', payload: { loadId: 'load-1' } }], status('LOAD_IN_PROGRESS'), status('LOAD_COMPLETED')];
    await load();
    expect(seen.map(({ method, url }) => `${method} ${url.replace(/\?.*/, '')}`)).toEqual([
      'POST /loader',
      'GET /loader/load-1',
      'GET /loader/load-1',
    ]);
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
      source: 's3://bucket/x-',
      format: 'nquads',
      iamRoleArn: 'arn:aws:iam::1:role/r',
      region: 'eu-west-1',
      failOnError: 'TRUE',
    });
  }, 20_000);

  test('the errors of a load that fails are in the message', async () => {
    const errorLogs = [{ errorMessage: 'bad IRI', fileName: 's3://bucket/x-1.nq', recordNum: 7 }];
    answers = [[200, { payload: { loadId: 'load-1' } }], status('LOAD_FAILED', { errorLogs })];
    await expect(load()).rejects.toMatchObject({
      code: 'target/refused',
      message: 'The load load-1 of Neptune ended with LOAD_FAILED\n  s3://bucket/x-1.nq, record 7: bad IRI',
    });
  }, 20_000);

  test('a refused request is an error', async () => {
    answers = [[400, { detailedMessage: 'no such role' }]];
    await expect(load()).rejects.toMatchObject({ code: 'target/refused', message: expect.stringContaining('no such role') });
    answers = [[403, {}]];
    await expect(load()).rejects.toMatchObject({ code: 'target/credentials' });
  });
});
