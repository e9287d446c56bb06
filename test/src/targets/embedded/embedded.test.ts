/** The embedded store over HTTP: SPARQL 1.1 Protocol, Graph Store Protocol, and requests that are wrong, slow or too large. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type EmbeddedStore, openEmbeddedStore } from '../../../../src/targets/embedded/embedded.ts';
import { isRepeatable, queryForm } from '../../../../src/targets/embedded/engine/query.ts';
import { negotiate } from '../../../../src/targets/embedded/http/formats.ts';
import { linesOf, type StoreClient, storeClient } from '../../../support/service/store-client.ts';

let directory: string;
let store: EmbeddedStore;
let client: StoreClient;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-embedded-'));
  store = await openEmbeddedStore(directory, { bodyBytes: 4_000_000 });
  client = storeClient(store.endpoint);
});
afterAll(async () => {
  await store.close();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(() => client.update('DROP ALL'));

const SMALL = '<urn:a> <urn:p> "1" .\n<urn:a> <urn:p> "2" <urn:g> .\n';
const form = (fields: Record<string, string>): RequestInit => ({ method: 'POST', body: new URLSearchParams(fields) });
const send = (method: string, type: string, body: string): RequestInit => ({ method, headers: { 'content-type': type }, body });

describe('queries', () => {
  const query = 'SELECT ?o WHERE { ?s <urn:p> ?o }';
  beforeEach(() => client.add(SMALL));

  test.each<[string, string, RequestInit]>([
    ['by GET', `?query=${encodeURIComponent(query)}`, {}],
    ['as a form', '', form({ query })],
    ['as they are', '', send('POST', 'application/sparql-query', query)],
    ['with a charset', '', send('POST', 'application/sparql-query; charset=utf-8', query)],
  ])('are accepted %s', async (_, search, init) => {
    const response = await client.ask(search, init);
    expect(response.headers.get('content-type')).toBe('application/sparql-results+json');
    expect(await response.json()).toMatchObject({ results: { bindings: [{ o: { type: 'literal', value: '1' } }] } });
  });

  test.each([
    ['SELECT', query, 'application/sparql-results+xml', 'application/sparql-results+xml', '<literal>1</literal>'],
    ['SELECT', query, 'text/csv', 'text/csv; charset=utf-8', 'o\r\n1\r\n'],
    ['SELECT', query, 'text/tab-separated-values', 'text/tab-separated-values; charset=utf-8', '?o\n"1"\n'],
    ['SELECT', query, 'text/html, */*;q=0.1', 'application/sparql-results+json', '"value":"1"'],
    ['ASK', 'ASK { ?s ?p "1" }', 'application/json', 'application/sparql-results+json', '"boolean":true'],
    ['CONSTRUCT', 'CONSTRUCT WHERE { ?s ?p ?o }', 'application/n-triples', 'application/n-triples', '<urn:a> <urn:p> "1" .\n'],
    ['CONSTRUCT', 'CONSTRUCT WHERE { ?s ?p ?o }', '*/*', 'text/turtle; charset=utf-8', '<urn:a> <urn:p> "1" .'],
    ['DESCRIBE', '# of a\nPREFIX u: <urn:> DESCRIBE u:a', 'application/n-quads', 'application/n-quads', '<urn:a> <urn:p> "1" .\n'],
  ])('%s answers with what Accept asks for', async (_, text, accept, type, part) => {
    const response = await client.query(text, accept);
    expect(response.headers.get('content-type')).toBe(type);
    expect(await response.text()).toContain(part);
  });

  test('see the graphs that the request names, and no others', async () => {
    const values = async (parameters: string): Promise<string> => {
      const text = encodeURIComponent('SELECT ?o WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }');
      return (await client.ask(`?query=${text}${parameters}`, { headers: { accept: 'text/csv' } })).text();
    };
    expect((await values('')).trim().split('\r\n').sort()).toEqual(['1', '2', 'o']);
    expect(await values('&default-graph-uri=urn:g')).toBe('o\r\n2\r\n');
    expect(await values('&named-graph-uri=urn:g')).toBe('o\r\n2\r\n');
    expect(await values('&default-graph-uri=urn:other')).toBe('o\r\n');
  });
});

describe('updates', () => {
  test.each<[string, RequestInit]>([
    ['as a form', form({ update: 'INSERT DATA { <urn:a> <urn:p> "ü😀" }' })],
    ['as they are', send('POST', 'application/sparql-update', 'INSERT DATA { <urn:a> <urn:p> "ü😀" }')],
  ])('are accepted %s', async (_, init) => {
    expect((await client.ask('', init)).status).toBe(204);
    expect(await client.quads()).toEqual(['<urn:a> <urn:p> "ü😀" .']);
  });

  test('happen as a whole or not at all', async () => {
    await client.add(SMALL);
    await expect(client.update('INSERT DATA { <urn:b> <urn:p> 1 }; CREATE GRAPH <urn:g>')).rejects.toThrow('400');
    expect(await client.quads()).toEqual(linesOf(SMALL));
  });
});

describe('graphs', () => {
  test('numbers, booleans and times come back in the form of their value, language tags in lower case', async () => {
    const XSD = 'http://www.w3.org/2001/XMLSchema#';
    const lines = [
      ['"01"^^<integer>', '"1"^^<integer>'],
      ['"007"^^<int>', '"7"^^<integer>'],
      ['"1.50"^^<decimal>', '"1.5"^^<decimal>'],
      ['"1"^^<boolean>', '"true"^^<boolean>'],
      ['"2020-01-01T00:00:00.000Z"^^<dateTime>', '"2020-01-01T00:00:00Z"^^<dateTime>'],
      ['"12 kg"^^<integer>', '"12 kg"^^<integer>'],
      ['"01"', '"01"'],
      ['"colour"@en-GB', '"colour"@en-gb'],
    ].map((pair) => pair.map((object) => `<urn:a> <urn:p> ${object.replace('<', `<${XSD}`)} .`));
    await client.add(`${lines.map(([given]) => given).join('\n')}\n`);
    expect(await client.quads()).toEqual(lines.map(([, stored]) => stored).sort());
  });

  test('the dataset is added to, replaced and given as a whole', async () => {
    expect((await client.ask('', send('POST', 'application/n-quads', SMALL))).status).toBe(204);
    expect((await client.ask('', send('POST', 'application/trig', '<urn:h> { <urn:a> <urn:p> "3" }'))).status).toBe(204);
    expect(await client.quads()).toHaveLength(3);
    expect((await client.ask('', send('PUT', 'application/n-quads', '<urn:z> <urn:p> "z" .\n'))).status).toBe(204);
    expect(await client.quads()).toEqual(['<urn:z> <urn:p> "z" .']);
  });

  test('a named graph is made, added to, replaced, given and removed', async () => {
    await client.add(SMALL);
    const graph = '?graph=urn:h';
    const turtle = async (): Promise<readonly string[]> =>
      linesOf(await (await client.ask(graph, { headers: { accept: 'application/n-triples' } })).text());
    expect((await client.ask(graph)).status).toBe(404);
    expect((await client.ask(graph, send('PUT', 'text/turtle', '<urn:a> <urn:q> 1, 2 .'))).status).toBe(201);
    expect(await turtle()).toHaveLength(2);
    expect((await client.ask(graph, send('POST', 'application/n-triples', '<urn:a> <urn:q> "3" .'))).status).toBe(204);
    expect(await turtle()).toHaveLength(3);
    expect((await client.ask(graph, send('PUT', 'text/turtle', '<urn:a> <urn:q> "4" .'))).status).toBe(204);
    expect(await turtle()).toEqual(['<urn:a> <urn:q> "4" .']);
    expect((await client.ask(graph, send('PUT', 'text/turtle', ''))).status).toBe(204);
    expect(await turtle()).toEqual([]);
    expect((await client.ask(graph, { method: 'DELETE' })).status).toBe(204);
    expect((await client.ask(graph, { method: 'DELETE' })).status).toBe(404);
    expect(await client.quads()).toEqual(linesOf(SMALL));
  });

  test('the default graph is replaced alone', async () => {
    await client.add(SMALL);
    expect((await client.ask('?default', send('PUT', 'text/turtle', '<urn:a> <urn:p> "9" .'))).status).toBe(204);
    expect(await client.quads()).toEqual(['<urn:a> <urn:p> "2" <urn:g> .', '<urn:a> <urn:p> "9" .']);
    expect((await client.ask('?default', { method: 'DELETE' })).status).toBe(204);
    expect(await client.quads()).toEqual(['<urn:a> <urn:p> "2" <urn:g> .']);
  });

  test('a document that breaks off changes nothing, whatever it was to replace', async () => {
    await client.add(SMALL);
    const cut = '<urn:n> <urn:p> "1" .\n<urn:n> <urn:p> "2';
    for (const [search, method, type] of [
      ['', 'POST', 'application/n-quads'],
      ['', 'PUT', 'application/n-quads'],
      ['?graph=urn:g', 'PUT', 'text/turtle'],
      ['?graph=urn:g', 'POST', 'text/turtle'],
    ] as const) {
      const response = await client.ask(search, send(method, type, cut));
      expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('line 2')]);
    }
    expect(await client.quads()).toEqual(linesOf(SMALL));
  });
});

describe('errors', () => {
  test.each<[string, string, RequestInit, number, string]>([
    ['a query that breaks off', `?query=${encodeURIComponent('SELECT * WHERE { ?s ?p ')}`, {}, 400, 'error at 1:24'],
    ['what is no query', '?query=hello', {}, 400, 'expected a name'],
    ['an update in place of a query', `?query=${encodeURIComponent('DROP ALL')}`, {}, 400, 'error at'],
    ['two queries', '?query=a&query=b', {}, 400, 'query is given 2 times'],
    ['an update by GET', '?update=x', {}, 405, 'POST'],
    ['a form of nothing', '', form({ x: 'y' }), 400, 'query or the field update'],
    ['another type', '', send('POST', 'text/html', 'x'), 415, 'text/html'],
    ['quads into a graph', '?graph=urn:g', send('PUT', 'application/n-quads', SMALL), 415, 'a graph takes'],
    ['another Accept', '', { headers: { accept: 'image/png' } }, 406, 'image/png'],
    ['an IRI that is none', '?graph=a%3E', {}, 400, 'is not an absolute IRI'],
    ['graph and default', '?graph=urn:g&default', {}, 400, 'both'],
    ['removing nothing', '', { method: 'DELETE' }, 400, 'names no graph'],
    ['another method', '', { method: 'PATCH' }, 405, 'PATCH'],
    ['bytes that are no UTF-8', '', { ...send('POST', 'application/sparql-update', ''), body: Buffer.from([0xff]) }, 400, 'UTF-8'],
    ['USING by parameter', '?using-graph-uri=urn:g', send('POST', 'application/sparql-update', 'DROP ALL'), 400, 'USING'],
    ['a large body', '', send('POST', 'application/n-quads', '#'.repeat(4_000_001)), 413, '4000000'],
  ])('%s is refused with the reason', async (_, search, init, status, words) => {
    const response = await client.ask(search, init);
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(words)]);
  });

  test.each([
    ['no login', undefined],
    ['another password', `Basic ${Buffer.from('quadmill:guess').toString('base64')}`],
  ])('%s: access is denied', async (_, authorization) => {
    const url = new URL(store.endpoint);
    url.username = url.password = '';
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      const response = await fetch(url, { method, headers: authorization === undefined ? {} : { authorization } });
      expect(response.status).toBe(401);
    }
  });
});

describe('limits', () => {
  let small: EmbeddedStore;
  let place: string;
  const open = async (limits: Parameters<typeof openEmbeddedStore>[1]): Promise<StoreClient> => {
    place = await mkdtemp(join(tmpdir(), 'quadmill-embedded-'));
    small = await openEmbeddedStore(place, limits);
    return storeClient(small.endpoint);
  };
  afterEach(async () => {
    await small.close();
    await rm(place, { recursive: true, force: true });
  });
  const many = (count: number, text: string): string => {
    const lines: string[] = [];
    for (let i = 0; i < count; i++) lines.push(`<urn:s${i}> <urn:p> "${text}${i}" .\n`);
    return lines.join('');
  };
  const ENDLESS = 'FILTER(?a != ?d && ?c = ?e)';

  test('an endless query or update is stopped; requests behind it and earlier writes are not affected', async () => {
    const one = await open({ querySeconds: 4, updateSeconds: 4 });
    await one.add(many(20_000, 'x'));
    const query = one.query(`SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ${ENDLESS} }`);
    const update = one.update(`INSERT { <urn:x> <urn:y> "z" } WHERE { ?a ?b ?c . ?d ?e ?f . ${ENDLESS} }`);
    const behind = one.count();
    const answer = await query;
    expect([answer.status, await answer.text()]).toEqual([504, expect.stringContaining('longer than 4 s')]);
    await expect(update).rejects.toThrow('504');
    expect(await behind).toBe(20_000);
    await one.add('<urn:after> <urn:p> "1" .\n');
    expect(await one.count()).toBe(20_001);
  });

  const CARTESIAN = `SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ${ENDLESS} }`;
  const seconds = async (work: Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await work;
    return (performance.now() - began) / 1_000;
  };

  test('a write does not wait for the queries that take long', async () => {
    const one = await open({ querySeconds: 20 });
    await one.add(many(20_000, 'x'));
    const queries = [one.query(CARTESIAN), one.query(CARTESIAN), one.query(CARTESIAN)];
    await new Promise((resolve) => setTimeout(resolve, 200));
    // Behind all of them it would be 60 seconds.
    expect(await seconds(one.add('<urn:after> <urn:p> "1" .\n'))).toBeLessThan(15);
    expect((await Promise.all(queries)).map(({ status }) => status)).toEqual([504, 504, 504]);
    expect(await one.count()).toBe(20_001);
  }, 120_000);

  test('the query that runs goes on beside the write, and shows the state before it', async () => {
    const one = await open({ querySeconds: 100 });
    await one.add(many(20_000, 'x'));
    // Two million digests: long, but it ends.
    const digests = 'FILTER(STRLEN(?c) < 4 && !CONTAINS(SHA512(CONCAT(?c, ?f)), "zz"))';
    const long = one.query(`SELECT (COUNT(*) AS ?n) WHERE { ?a <urn:p> ?c . ?d <urn:p> ?f . ${digests} }`, 'text/csv');
    await new Promise((resolve) => setTimeout(resolve, 200));
    const first = await Promise.race([one.add('<urn:after> <urn:p> "x" .\n').then(() => 'the write'), long.then(() => 'the query')]);
    expect(first).toBe('the write');
    expect(await one.count()).toBe(20_001);
    const answer = await long;
    expect([answer.status, (await answer.text()).trim().split(/\s+/)[1]]).toEqual([200, String(100 * 20_000)]);
  }, 120_000);

  test('a query is ended for a write where memory has no room for both', async () => {
    const one = await open({ querySeconds: 60, memoryBytes: 20_000_000 });
    await one.add(many(20_000, 'x'));
    const query = one.query(CARTESIAN);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await seconds(one.add('<urn:after> <urn:p> "1" .\n'))).toBeLessThan(15);
    const answer = await query;
    expect([answer.status, await answer.text()]).toEqual([504, expect.stringContaining('a write waited for it')]);
    expect(await one.count()).toBe(20_001);
  }, 60_000);

  test('queries end when their client leaves, whether they run or wait', async () => {
    const one = await open({ querySeconds: 300 });
    await one.add(many(20_000, 'x'));
    const leave = new AbortController();
    const init = { ...send('POST', 'application/sparql-query', CARTESIAN), signal: leave.signal };
    const left = [one.ask('', init), one.ask('', init), one.ask('', init)].map((query) => query.catch((error: Error) => error.name));
    await new Promise((resolve) => setTimeout(resolve, 200));
    leave.abort();
    expect(await Promise.all(left)).toEqual(['AbortError', 'AbortError', 'AbortError']);
    // A query behind them.
    expect(await seconds(one.count())).toBeLessThan(15);
  }, 60_000);

  test('a caller may have 16 queries that wait; another one is refused, and other callers are not', async () => {
    const one = await open({ querySeconds: 3 });
    await one.add(many(20_000, 'x'));
    const as = (caller: string, query: string): Promise<Response> =>
      one.ask('', {
        ...send('POST', 'application/sparql-query', query),
        headers: { 'content-type': 'application/sparql-query', 'quadmill-caller': caller },
      });
    const running = as('vic', CARTESIAN);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const waiting = Array.from({ length: 20 }, () => as('vic', 'ASK {}'));
    const other = as('oli', 'ASK {}');
    const statuses = (await Promise.all([running, ...waiting])).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(16).fill(200), 429, 429, 429, 429, 504]);
    expect((await other).status).toBe(200);
  }, 60_000);

  test('a query that nests too deeply fails alone', async () => {
    const one = await open({});
    await one.add(SMALL);
    const deep = `SELECT * WHERE { ${'{'.repeat(100_000)} ?s ?p ?o ${'}'.repeat(100_000)} }`;
    const answer = await one.ask('', send('POST', 'application/sparql-query', deep));
    expect([answer.status, await answer.text()]).toEqual([507, expect.stringContaining('memory')]);
    expect(await one.quads()).toEqual(linesOf(SMALL));
  });

  test('a write that exceeds the memory is undone; smaller ones are accepted', async () => {
    const one = await open({ memoryBytes: 30_000_000 });
    await one.add(SMALL);
    await expect(one.add(many(40_000, 'x'.repeat(500)))).rejects.toThrow(/507 .*30 MB are allowed/);
    expect(await one.quads()).toEqual(linesOf(SMALL));
    await one.add('<urn:after> <urn:p> "1" .\n');
    expect(await one.count()).toBe(3);
  });
});

describe('facts about a request that need no parser', () => {
  test.each([
    ['select * {}', 'SELECT'],
    ['# ask\nBASE <urn:select/> PREFIX ask: <urn:x#> \n prefix : <urn:y>\nCONSTRUCT { } WHERE { }', 'CONSTRUCT'],
    ['PREFIX a:<urn:a>DESCRIBE a:b', 'DESCRIBE'],
    ['INSERT DATA { }', undefined],
    ['', undefined],
  ])('%j is %s', (query, expected) => expect(queryForm(query)).toBe(expected));

  test.each([
    ["INSERT DATA { <urn:now(> <urn:p> \"RAND() LIMIT 1\", '''UUID() \\' ''' } # now()", true],
    [`INSERT DATA { <urn:s> <urn:p> """say ""now()"" \\""" """, "${'now() '.repeat(10)}" }`, true],
    ['INSERT { ?s <urn:p> ?o } WHERE { ?s ?p """a"b""" BIND(RAND() AS ?o) ?s ?q "c" }', false],
    ['DELETE { ?s ?p ?now } WHERE { ?s ?p ?now ; ex:limit 5 }', true],
    ['INSERT { ?s <urn:p> ?o } WHERE { ?s ?p ?x BIND(now ( ) AS ?o) }', false],
    ['INSERT { <urn:s> <urn:p> ?x } WHERE { SELECT ?x { ?s ?p ?x } LIMIT 1 }', false],
    ['INSERT { <urn:s> <urn:p> 1 } WHERE { { SELECT (1 AS ?is) WHERE { GRAPH <urn:g> { ?s ?p ?o } } LIMIT 1 } }', true],
    ['INSERT { <urn:s> <urn:p> 1 } WHERE { { SELECT (1 AS ?is) WHERE { FILTER(RAND() > 0.5) } LIMIT 1 } }', false],
    ['INSERT { <urn:s> <urn:p> ?n } WHERE { SELECT (SAMPLE(?x) AS ?n) { ?s ?p ?x } }', false],
  ])('%s: repeatable is %s', (update, expected) => expect(isRepeatable(update)).toBe(expected));

  test('also for an update with texts of many megabytes', () => {
    expect(isRepeatable(`INSERT DATA { <urn:s> <urn:p> "${'now() \\"'.repeat(4_000_000)}" , "${'x'.repeat(30_000_000)} rand()" }`)).toBe(
      true,
    );
  });

  test.each([
    [undefined, 'solutions', 'application/sparql-results+json'],
    ['text/csv;q=0.5, application/sparql-results+xml;q=0.9', 'solutions', 'application/sparql-results+xml'],
    ['application/json;q=0, */*', 'solutions', 'application/sparql-results+json'],
    ['text/*', 'triples', 'text/turtle'],
    ['application/n-quads', 'quads', 'application/n-quads'],
    ['text/turtle', 'quads', undefined],
  ] as const)('Accept %s of %s gives %s', (accept, offer, expected) => expect(negotiate(accept, offer)).toBe(expected));
});
