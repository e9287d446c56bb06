/** Servers that are in trouble for a while, limit their clients, or break connections; tokens that expire; answers that were kept. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { describeFault } from '../../../../src/core/fault.ts';
import { readLogins } from '../../../../src/storage/logins.ts';
import { retryAfterMs } from '../../../../src/storage/web/retry.ts';
import { secrets } from '../../../support/secrets.ts';
import { type Answering, makeRuns, startAnswering } from './running.ts';

const runs = makeRuns();
let server: Answering;
let login: Answering;
beforeAll(async () => {
  [server, login] = [await startAnswering(), await startAnswering()];
});
beforeEach(() => {
  for (const { seen } of [server, login]) seen.splice(0);
});
afterAll(async () => {
  await Promise.all([server.stop(), login.stop()]);
  runs.remove();
});

const PREFIXES = `@prefix rml: <http://w3id.org/rml/> . @prefix td: <https://www.w3.org/2019/wot/td#> . @prefix ex: <http://e/> .
@prefix hctl: <https://www.w3.org/2019/wot/hypermedia#> . @prefix qw: <http://w3id.org/quadmill/web#> .
`;
const mapping = (subject = 'rml:template "http://e/{id}"'): string => `${PREFIXES}
<http://e/M> rml:logicalSource [ rml:source [ a td:Thing ; td:hasForm [ hctl:hasTarget "${server.origin}/rows" ;
    qw:paging [ a qw:NextLink ; qw:reference "$.next" ] ] ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$.items[*]" ] ;
  rml:subjectMap [ ${subject} ] ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference "id" ] ] .
`;
const web = (more: object = {}) => ({ web: { ...RUN_DEFAULTS.web, ...more } });
type Request = Parameters<Answering['answer']>[0];
type Response = Parameters<Answering['answer']>[1];
const pageOf = (request: Request): number => Number(new URL(request.url as string, 'http://h').searchParams.get('p') ?? 0);
const bodyOf = (page: number, padding = ''): string =>
  JSON.stringify({ items: [{ id: 2 * page, padding }, { id: 2 * page + 1 }], next: page < 2 ? `?p=${page + 1}` : null });
const send = (response: Response, body: string | Buffer, headers: Record<string, string> = {}): void =>
  void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body);
/** The first answers to page 1 are these; all others are pages. */
const failing = (...answers: readonly ((response: Response) => void)[]): Answering['answer'] => {
  const left = [...answers];
  return (request, response) => {
    const answer = pageOf(request) === 1 ? left.shift() : undefined;
    if (answer === undefined) send(response, bodyOf(pageOf(request)));
    else answer(response);
  };
};
const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: Response): void =>
    void response.writeHead(code, headers).end();
/** Sends the beginning and breaks the connection. */
const broken =
  (beginning: string | Buffer, headers: Record<string, string> = {}) =>
  (response: Response): void => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.write(beginning);
    setTimeout(() => response.destroy(), 50);
  };
const ALL = [0, 1, 2, 3, 4, 5].map((id) => `<http://e/${id}> <http://e/p> "${id}"^^<http://www.w3.org/2001/XMLSchema#integer> .`);

describe('a page is asked for again', () => {
  test.each<[name: string, answers: readonly ((response: Response) => void)[]]>([
    ['after errors of the server', [status(500), status(503, { 'retry-after': '0' })]],
    ['after a limit, when the server says', [status(429, { 'retry-after': '1' })]],
    ['after a limit without a time', [status(403, { 'x-ratelimit-remaining': '0' })]],
    ['after a connection that broke before the answer', [(response) => void response.destroy()]],
    ['after a connection that broke in the middle, once and again', [broken(bodyOf(1).slice(0, 20)), broken(bodyOf(1).slice(0, 5))]],
    [
      'after a connection that broke in the middle of an encoded answer',
      [broken(gzipSync(bodyOf(1)).subarray(0, 20), { 'content-encoding': 'gzip' })],
    ],
  ])('%s', async (_, answers) => {
    server.answer = failing(...answers);
    const { lines, report } = await runs.run(mapping());
    expect(lines).toEqual(ALL);
    expect(report.records).toBe(6);
    expect(server.seen).toHaveLength(3 + answers.length);
  });

  test('and not before the time that the server names has passed', async () => {
    server.answer = failing(status(503, { 'retry-after': '1' }));
    const startedAt = performance.now();
    await runs.run(mapping());
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(995);
  });

  test('but not for longer than the options say', async () => {
    server.answer = failing(status(429, { 'retry-after': '3600' }));
    const fault = await runs.faultOf(mapping());
    expect(fault).toMatchObject({ code: 'source/unreadable', retriable: true, place: { page: 2 } });
    expect(describeFault(fault)).toMatch(/asks to wait 3600 s, and SOURCE_WAIT_SECONDS allows 120 s/);
    expect(server.seen).toHaveLength(2);
  });

  test('but not more often than the options say, and not where it would not help', async () => {
    server.answer = failing(...Array.from({ length: 9 }, () => status(502)));
    expect(await runs.faultOf(mapping(), web({ retries: 1 }))).toMatchObject({ code: 'source/unreadable', place: { page: 2 } });
    expect(server.seen).toHaveLength(3);
    server.seen.splice(0);
    server.answer = failing(status(400));
    expect(await runs.faultOf(mapping())).toMatchObject({ code: 'source/refused', place: { page: 2 } });
    expect(server.seen).toHaveLength(2);
  });

  test('while a run that is cancelled does not wait', async () => {
    const ending = new AbortController();
    server.answer = failing((response) => {
      status(503, { 'retry-after': '100' })(response);
      setTimeout(() => ending.abort(), 50);
    });
    expect((await runs.faultOf(mapping(), {}, ending.signal)).code).toBe('run/cancelled');
  });
});

describe('a page that is larger than what is held', () => {
  const large = bodyOf(1, 'x'.repeat(3 * 2 ** 20));
  const before = large.slice(0, 2 * 2 ** 20);

  test('goes on where the connection broke, with the same blank nodes', async () => {
    const blank = mapping('rml:template "b{id}" ; rml:termType rml:BlankNode');
    server.answer = (request, response) => send(response, pageOf(request) === 1 ? large : bodyOf(pageOf(request)));
    const { lines } = await runs.run(blank);
    const left = [broken(before), broken(large.slice(0, 2 ** 20 + 7))];
    server.answer = (request, response) => {
      const next = pageOf(request) === 1 ? (left.shift() ?? ((one: Response) => send(one, large))) : undefined;
      if (next === undefined) send(response, bodyOf(pageOf(request)));
      else next(response);
    };
    const again = await runs.run(blank);
    expect(left).toEqual([]);
    expect(again.lines).toEqual(lines);
    expect(again.report.records).toBe(6);
  });

  test.each<[name: string, other: string, type?: string]>([
    ['with other records', bodyOf(1, 'y'.repeat(3 * 2 ** 20))],
    ['that is shorter', bodyOf(1)],
    ['of another type', large, 'application/x-ndjson'],
  ])('ends the run where the server then sends a page %s', async (_, other, type = 'application/json') => {
    server.answer = failing(broken(before), (response) => send(response, other, { 'content-type': type }));
    const fault = await runs.faultOf(mapping());
    expect(fault).toMatchObject({ code: 'source/unreadable', retriable: true, place: { page: 2 } });
    expect(fault.message).toMatch(/has changed: the connection broke/);
  });
});

describe('how long a server wants to be left alone', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  test.each<[headers: Record<string, string>, milliseconds: number | undefined]>([
    [{}, undefined],
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }, 9000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1000 + 5) }, 5000],
    [{ 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '5' }, undefined],
    [{ 'ratelimit-remaining': '0', 'ratelimit-reset': '5' }, 5000],
    [{ ratelimit: '"default";r=0;t=12' }, 12_000],
    [{ ratelimit: '"default";r=10;t=12' }, undefined],
  ])('%j: %s ms', (headers, milliseconds) => {
    expect(retryAfterMs({ get: (name) => headers[name] ?? null }, now)).toBe(milliseconds);
  });
});

describe('a token of OAuth 2', () => {
  let issued = 0;
  let valid = '';
  let lifeSeconds: number | undefined;
  const entry = (more = ''): string =>
    `${server.origin}/ OAuth2${more} http://my%3Aid:canary%2Fsecret%2C@${new URL(login.origin).host}/token?scope=a%20b&audience=x`;
  beforeEach(() => {
    // Another login for each test: tokens are kept.
    lifeSeconds = 3600;
    login.answer = (_, response) => {
      valid = `token-${++issued}`;
      send(response, JSON.stringify({ access_token: valid, token_type: 'Bearer', expires_in: lifeSeconds }));
    };
    server.answer = (request, response) =>
      request.headers.authorization === `Bearer ${valid}` ? send(response, bodyOf(pageOf(request))) : void response.writeHead(401).end();
  });
  const run = (path: string, more = '') =>
    runs.run(mapping(), web({ logins: readLogins(secrets([entry(more).replace('/token?', `/token/${path}?`)])) }));

  test('is asked for once, and sent with each page of this and the next run', async () => {
    expect((await run('once')).lines).toEqual(ALL);
    expect((await run('once')).lines).toEqual(ALL);
    expect(login.seen).toHaveLength(1);
    expect(login.seen[0]).toMatchObject({
      method: 'POST',
      body: 'grant_type=client_credentials&scope=a+b&audience=x',
      headers: { authorization: `Basic ${Buffer.from('my%3Aid:canary%2Fsecret%2C').toString('base64')}` },
    });
  });

  test('is asked for with id and secret in the form, where the option says so', async () => {
    await run('form', '-Form');
    expect(login.seen[0]?.headers).not.toHaveProperty('authorization');
    expect(Object.fromEntries(new URLSearchParams(login.seen[0]?.body))).toMatchObject({
      client_id: 'my:id',
      client_secret: 'canary/secret,',
    });
  });

  test('is asked for again when it has expired, and when the server refuses it in the middle of the pages', async () => {
    lifeSeconds = 1;
    const answer = server.answer;
    let slow = true;
    server.answer = (request, response) => {
      if (pageOf(request) !== 1 || !slow) return answer(request, response);
      slow = false;
      setTimeout(() => answer(request, response), 1000);
    };
    await run('expiring');
    expect(login.seen).toHaveLength(2);
    login.seen.splice(0);
    lifeSeconds = undefined;
    let isTaken = true;
    server.answer = (request, response) => {
      if (pageOf(request) === 1 && isTaken) {
        isTaken = false;
        valid = 'taken back';
      }
      answer(request, response);
    };
    expect((await run('refused')).lines).toEqual(ALL);
    expect(login.seen).toHaveLength(2);
  });

  test('that is refused again ends the run', async () => {
    server.answer = (_, response) => response.writeHead(401).end();
    const fault = await run('useless').then(undefined, (error) => error);
    expect(fault).toMatchObject({ code: 'source/refused', message: expect.stringContaining('answered 401') });
    expect(login.seen).toHaveLength(2);
  });

  test.each<[name: string, answer: Answering['answer'], message: RegExp, code: string]>([
    [
      'refuses the login',
      (_, response) => response.writeHead(401).end('{"error":"invalid_client","error_description":"canary/secret,"}'),
      /answered 401: invalid_client/,
      'source/refused',
    ],
    [
      'gives another kind of token',
      (_, response) => send(response, '{"access_token":"x","token_type":"mac"}'),
      /gave no bearer token/,
      'source/refused',
    ],
    ['gives a page', (_, response) => send(response, '<html>'), /gave no bearer token/, 'source/refused'],
    ['is away', (_, response) => response.writeHead(503).end(), /answered 503/, 'source/unreadable'],
    ['breaks connections', (_, response) => void response.destroy(), /cannot be reached: /, 'source/unreadable'],
  ])('is named where the endpoint %s, without a secret', async (name, answer, message, code) => {
    login.answer = answer;
    const logins = readLogins(secrets([entry().replace('/token?', `/token/${name.replaceAll(' ', '')}?`)]));
    const fault = await runs.faultOf(mapping(), web({ logins, retries: 0 }));
    expect(fault).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(`${describeFault(fault)} ${JSON.stringify(fault)}`).not.toMatch(/canary|my.?id/);
    expect(server.seen).toEqual([]);
  });

  test.each([
    'https://h/ OAuth2 https://id@t/',
    'https://h/ OAuth2 ftp://id:s@t/',
    'https://h/ ?a',
    'https://u:p@h/ ?a=b',
    'https://h/ ?a=%zz',
  ])('%s is no login', (text) => {
    expect(() => readLogins(secrets([text]))).toThrow(/Entry 1 of SOURCE_LOGINS is not a login/);
  });
});

describe('answers that were kept', () => {
  let directory: string;
  const versions = new Map<number, string>();
  /** The statuses that the server has answered. */
  const answered: number[] = [];
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'quadmill-kept-'));
    versions.clear();
    answered.splice(0);
  });
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  const keeping = (bytes = 2 ** 20, more: object = {}) => web({ cache: { directory, bytes }, ...more });
  const conditional =
    (headers: (page: number) => Record<string, string> = (page) => ({ etag: `"${versions.get(page) ?? 'v1'}"` })): Answering['answer'] =>
    (request, response) => {
      const page = pageOf(request);
      const own = headers(page);
      const isSame = own.etag !== undefined && request.headers['if-none-match'] === own.etag;
      answered.push(isSame ? 304 : 200);
      if (isSame) response.writeHead(304).end();
      else send(response, bodyOf(page, versions.get(page)), own);
    };
  test('are used where the server says that they are still valid, and replaced where not', async () => {
    server.answer = conditional();
    expect((await runs.run(mapping(), keeping())).lines).toEqual(ALL);
    expect((await runs.run(mapping(), keeping())).lines).toEqual(ALL);
    expect(answered).toEqual([200, 200, 200, 304, 304, 304]);
    answered.splice(0);
    versions.set(1, 'v2');
    await runs.run(mapping(), keeping());
    await runs.run(mapping(), keeping());
    expect(answered).toEqual([304, 200, 304, 304, 304, 304]);
    remove();
  });

  test('are not used for another login', async () => {
    server.answer = conditional();
    const as = (key: string) => keeping(2 ** 20, { logins: readLogins(secrets([`${server.origin}/ X-Api-Key: ${key}`])) });
    await runs.run(mapping(), as('canary1'));
    await runs.run(mapping(), as('canary2'));
    expect(answered).toEqual([200, 200, 200, 200, 200, 200]);
    for (const name of readdirSync(directory)) expect(readFileSync(join(directory, name), 'latin1')).not.toContain('canary');
    remove();
  });

  test('are none where the server forbids it, names no version, or breaks the connection', async () => {
    server.answer = conditional(() => ({ etag: '"v1"', 'cache-control': 'private, no-store' }));
    await runs.run(mapping(), keeping());
    server.answer = (request, response) => send(response, bodyOf(pageOf(request)));
    await runs.run(mapping(), keeping());
    server.answer = (_, response) => broken(bodyOf(0).slice(0, 9), { etag: '"v1"' })(response);
    await runs.faultOf(mapping(), keeping(2 ** 20, { retries: 0 }));
    expect(readdirSync(directory)).toEqual([]);
    remove();
  });

  test('have a limit: those that were not used for longest go first', async () => {
    server.answer = conditional((page) => ({ etag: `"v${page}"` }));
    for (const page of [0, 1, 2]) versions.set(page, 'x'.repeat(1000));
    await runs.run(mapping(), keeping(10_000));
    const sizes = readdirSync(directory).map((name) => statSync(join(directory, name)).size);
    // Each takes a block of 4096 bytes.
    expect(sizes).toHaveLength(2);
    expect((await runs.run(mapping(), keeping(500))).lines).toEqual(ALL);
    remove();
  });

  test('leave files of others alone, and no file open', async () => {
    const others = ['notes.tmp', 'a.answer', `${'0'.repeat(64)}.tmp`];
    for (const name of others) {
      writeFileSync(join(directory, name), 'x'.repeat(9000));
      utimesSync(join(directory, name), 1, 1);
    }
    server.answer = conditional();
    await runs.run(mapping(), keeping(8192));
    expect(readdirSync(directory)).toEqual(expect.arrayContaining(others));
    // The answer that was kept is opened, and refused before it is read.
    await runs.faultOf(
      mapping().replace('rml:JSONPath ; rml:iterator "$.items[*]"', 'rml:XPath ; rml:iterator "/r"').replace('"$.next"', '"/r/n"'),
      keeping(),
    );
    const descriptors = '/proc/self/fd';
    if (!existsSync(descriptors)) return remove();
    const open = readdirSync(descriptors).flatMap((name) => {
      try {
        return [readlinkSync(join(descriptors, name))];
      } catch {
        // It was that of the listing.
        return [];
      }
    });
    expect(open.filter((path) => path.startsWith(directory))).toEqual([]);
    remove();
  });

  test('that are damaged are fetched again', async () => {
    server.answer = conditional();
    await runs.run(mapping(), keeping());
    for (const name of readdirSync(directory)) writeFileSync(join(directory, name), 'nothing');
    answered.splice(0);
    expect((await runs.run(mapping(), keeping())).lines).toEqual(ALL);
    expect(answered).toEqual([200, 200, 200]);
    remove();
  });

  test('need a directory', async () => {
    server.answer = conditional();
    const file = join(directory, 'file');
    writeFileSync(file, '');
    const fault = await runs.faultOf(mapping(), web({ cache: { directory: file, bytes: 1 } }));
    expect(fault).toMatchObject({ code: 'config/invalid', message: expect.stringContaining('SOURCE_CACHE_DIRECTORY') });
    remove();
  });
});
