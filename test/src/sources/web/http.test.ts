/** Distributions of DCAT and forms of the Web of Things as sources, and what a server is sent. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { describeFault } from '../../../../src/core/fault.ts';
import { readLogins } from '../../../../src/storage/logins.ts';
import { secrets } from '../../../support/secrets.ts';
import { parquet } from '../parquet/writing.ts';
import { type Answering, makeRuns, startAnswering } from './running.ts';

const runs = makeRuns();
let server: Answering;
let other: Answering;
beforeAll(async () => {
  [server, other] = [await startAnswering(), await startAnswering()];
});
beforeEach(() => {
  for (const { seen } of [server, other]) seen.splice(0);
});
afterAll(async () => {
  await Promise.all([server.stop(), other.stop()]);
  runs.remove();
});

const PREFIXES = `@prefix rml: <http://w3id.org/rml/> . @prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix td: <https://www.w3.org/2019/wot/td#> .
@prefix hctl: <https://www.w3.org/2019/wot/hypermedia#> . @prefix htv: <http://www.w3.org/2011/http#> . @prefix ex: <http://e/> .
`;
const mappingOf = (source: string, formulation: string, reference = 'id'): string => `${PREFIXES}
<http://e/M> rml:logicalSource [ rml:source [ ${source} ] ; ${formulation} ] ;
  rml:subjectMap [ rml:template "http://e/{${reference}}" ] ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:object "x" ] .
`;
const CSV = 'rml:referenceFormulation rml:CSV';
const JSON_ROWS = 'rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]"';
const ONE = ['<http://e/1> <http://e/p> "x" .'];
const answering =
  (type: string, body: string | Buffer): Answering['answer'] =>
  (_, response) =>
    response.writeHead(200, { 'content-type': type }).end(body);
const distribution = (path: string, more = ''): string => `a dcat:Distribution ; dcat:downloadURL <${server.origin}${path}> ${more}`;
const thing = (path: string, more = ''): string =>
  `a td:Thing ; td:hasPropertyAffordance [ td:hasForm [ hctl:hasTarget "${server.origin}${path}" ${more} ] ]`;
const logins = (...entries: string[]) => ({ web: { ...RUN_DEFAULTS.web, logins: readLogins(secrets(entries)) } });
const withLogin = ({ origin }: Answering, login: string, path = '/'): string => `http://${login}@${new URL(origin).host}${path}`;
const basic = (login: string): string => `Basic ${Buffer.from(login).toString('base64')}`;

describe('a source on the web', () => {
  test.each<[string, () => string, string, Answering['answer']]>([
    ['of CSV', () => distribution('/a'), CSV, answering('text/csv', 'id\n1\n')],
    ['of CSV with tabs, as the answer says', () => distribution('/a'), CSV, answering('text/tab-separated-values', 'x\tid\n0\t1\n')],
    [
      'of CSV with tabs, as the mapping says',
      () => distribution('/a', '; dcat:mediaType "text/tab-separated-values"'),
      CSV,
      answering('text/plain', 'x\tid\n0\t1\n'),
    ],
    [
      'of Parquet as a table',
      () => distribution('/a'),
      CSV,
      answering('application/vnd.apache.parquet', parquet([{ name: 'id', type: 'STRING', data: ['1'] }])),
    ],
    ['of JSON', () => distribution('/a'), JSON_ROWS, answering('application/vnd.x+json', '[{"id":1}]')],
    ['of JSON Lines', () => distribution('/a'), JSON_ROWS, answering('application/x-ndjson', '{"id":1}\n')],
    [
      'whose format only the mapping tells',
      () => distribution('/a', '; dcat:mediaType "application/json"'),
      'rml:iterator "$[*]"',
      answering('application/octet-stream', '[{"id":1}]'),
    ],
    [
      'packed, as DCAT says',
      () => distribution('/a', '; dcat:compressFormat <https://www.iana.org/assignments/media-types/application/gzip>'),
      CSV,
      answering('application/gzip', gzipSync('id\n1\n')),
    ],
    [
      'packed, as rml:Source says',
      () => distribution('/a', '; a rml:Source ; rml:compression rml:gzip ; rml:encoding rml:UTF-16'),
      CSV,
      answering('application/gzip', gzipSync(Buffer.from('\ufeffid\n1\n', 'utf16le'))),
    ],
    ['behind an access URL', () => `a dcat:Distribution ; dcat:accessURL "${server.origin}/a"`, CSV, answering('text/csv', 'id\n1\n')],
    ['of a dataset', () => `a dcat:Dataset ; dcat:distribution [ ${distribution('/a')} ]`, CSV, answering('text/csv', 'id\n1\n')],
    [
      'of XML, as a thing',
      () => thing('/a'),
      'rml:referenceFormulation rml:XPath ; rml:iterator "/r/i"',
      answering('text/xml', '<r><i><id>1</id></i></r>'),
    ],
  ])('%s is read', async (_, source, formulation, answer) => {
    server.answer = answer;
    expect((await runs.run(mappingOf(source(), formulation))).lines).toEqual(ONE);
  });

  test('of a file is read', async () => {
    const file = runs.write('one.csv', 'id\n1\n');
    expect((await runs.run(mappingOf(`a dcat:Distribution ; dcat:downloadURL <file://${file}>`, CSV))).lines).toEqual(ONE);
  });

  test('is asked for with the headers of its form', async () => {
    server.answer = answering('application/json', '[{"id":1}]');
    const headers =
      'htv:headers ( [ htv:fieldName "User-Agent" ; htv:fieldValue "Processor" ] [ htv:fieldName "Accept-Language" ; htv:fieldValue "de" ] )';
    await runs.run(mappingOf(thing('/a?b=c', `; hctl:forContentType "application/json" ; htv:methodName "GET" ; ${headers}`), JSON_ROWS));
    expect(server.seen).toMatchObject([
      { method: 'GET', path: '/a?b=c', headers: { accept: 'application/json', 'user-agent': 'Processor', 'accept-language': 'de' } },
    ]);
  });

  test.each([
    ['an HTML page', CSV, 'text/html', /answered text\/html, and the mapping reads this source as CSV/],
    ['another format', JSON_ROWS, 'text/csv', /answered text\/csv, and the mapping reads this source as JSON/],
  ])('that answers with %s is reported', async (_, formulation, type, said) => {
    server.answer = answering(type, 'x');
    for (const source of [distribution('/a'), thing('/a')]) {
      const fault = await runs.faultOf(mappingOf(source, formulation));
      expect(fault.code).toBe('source/type');
      expect(describeFault(fault)).toMatch(said);
    }
  });
});

describe('logins', () => {
  const sent = async (entries: readonly string[], path: string, mapping = distribution(path)): Promise<Record<string, unknown>> => {
    server.answer = answering('text/csv', 'id\n1\n');
    server.seen.splice(0);
    await runs.run(mappingOf(mapping, CSV), logins(...entries));
    const { authorization, 'x-api-key': key } = server.seen[0]?.headers ?? {};
    return { authorization, key };
  };

  test('go to the addresses that lie below theirs, the longest path first', async () => {
    const entries = [withLogin(server, 'a:1'), withLogin(server, 'b%40c:2%2C3', '/data/'), `${server.origin}/data/ X-Api-Key: k=1 2`];
    expect(await sent(entries, '/other')).toEqual({ authorization: basic('a:1'), key: undefined });
    expect(await sent(entries, '/data/x.csv')).toEqual({ authorization: basic('b@c:2,3'), key: 'k=1 2' });
    expect(await sent(entries, '/database')).toEqual({ authorization: basic('a:1'), key: undefined });
    expect(await sent([withLogin(server, 'a:1', '/data')], '/database')).toEqual({ authorization: undefined, key: undefined });
    expect(await sent([withLogin(server, 'a:1', '/data')], '/data/x')).toEqual({ authorization: basic('a:1'), key: undefined });
    expect(await sent([withLogin(other, 'a:1')], '/data/x')).toEqual({ authorization: undefined, key: undefined });
  });

  test('also go with plain paths of mappings, and with inputs', async () => {
    const path = `a rml:FilePath ; rml:path "${server.origin}/a.csv"`;
    expect(await sent([withLogin(server, 'a:1')], '', path)).toEqual({ authorization: basic('a:1'), key: undefined });
    server.seen.splice(0);
    const inputs = [{ name: 'x.csv', url: `${server.origin}/a.csv` }];
    await runs.run(mappingOf('a rml:FilePath ; rml:path "x.csv"', CSV), { ...logins(withLogin(server, 'a:1')), inputs });
    expect(server.seen[0]?.headers.authorization).toBe(basic('a:1'));
  });

  test('of one server do not reach another one by a redirect, whose own is sent', async () => {
    server.answer = (_, response) => response.writeHead(302, { location: `${other.origin}/there` }).end();
    other.answer = answering('text/csv', 'id\n1\n');
    const entries = [withLogin(server, 'a:1'), `${server.origin} X-Api-Key: k`];
    const { lines } = await runs.run(mappingOf(distribution('/a'), CSV), logins(...entries));
    expect(lines).toEqual(ONE);
    expect(other.seen[0]?.headers).not.toHaveProperty('authorization');
    expect(other.seen[0]?.headers).not.toHaveProperty('x-api-key');
    await runs.run(mappingOf(distribution('/a'), CSV), logins(...entries, withLogin(other, 'b:2')));
    expect(other.seen[1]?.headers.authorization).toBe(basic('b:2'));
  });

  test('are not in the fault of a server that refuses them', async () => {
    server.answer = (_, response) => response.writeHead(403).end();
    const fault = await runs.faultOf(mappingOf(distribution('/a'), CSV), logins(withLogin(server, 'a:hunter2')));
    expect(fault.code).toBe('source/refused');
    expect(JSON.stringify(fault)).not.toContain('hunter2');
  });

  test.each([
    'https://host/',
    'host user:password',
    'ftp://u:p@host/',
    'https://u:p@host/?a=b',
    'https://u:p@host/ X-Key: k',
    'https://host/ X Key: k',
    'https://%zz:p@host/',
  ])('%s is none', (entry) => {
    expect(() => readLogins(secrets(['https://u:p@host/', entry]))).toThrow(
      /Entry 2 of SOURCE_LOGINS is not a login: expected `https:\/\/user:password@host\/path`/,
    );
  });
});

test('redirects end somewhere', async () => {
  server.answer = (_, response) => response.writeHead(302, { location: '/again' }).end();
  expect(await runs.faultOf(mappingOf(distribution('/a'), CSV))).toMatchObject({
    code: 'source/refused',
    message: expect.stringContaining('answered 302'),
  });
  server.answer = (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end();
  expect(describeFault(await runs.faultOf(mappingOf(distribution('/a'), CSV)))).toContain('it redirects to a file: address');
});
