/** What is sent to each product, also to those that no test can start: where to, with which login, in which words. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Fault } from '../../../../src/core/fault.ts';
import { Secret } from '../../../../src/core/secret.ts';
import { faultOfAnswer, type StoreAnswer } from '../../../../src/targets/sparql/faults.ts';
import { login } from '../../../../src/targets/sparql/login.ts';
import { readEndpoint, SPARQL_PRODUCTS, type SparqlType } from '../../../../src/targets/sparql/products.ts';
import { sparqlTarget } from '../../../../src/targets/sparql/sparql.ts';
import { insertData, replacement } from '../../../../src/targets/sparql/update.ts';
import { TARGET_TYPES, type TargetType } from '../../../../src/targets/target.ts';
import { address, statements } from './stores.ts';

const never = new AbortController().signal;

describe('the endpoint that a user gives', () => {
  test.each<[SparqlType, string, string, string, string | undefined]>([
    ['sparql', 'http://h/sparql', 'http://h/sparql', 'http://h/sparql', undefined],
    ['sparql', 'http://h/ds/update', 'http://h/ds/query', 'http://h/ds/update', undefined],
    ['fuseki', 'http://h:3030/ds', 'http://h:3030/ds', 'http://h:3030/ds', 'http://h:3030/ds'],
    ['fuseki', 'http://h:3030/ds/', 'http://h:3030/ds', 'http://h:3030/ds', 'http://h:3030/ds'],
    ['fuseki', 'http://h:3030/ds/update', 'http://h:3030/ds/query', 'http://h:3030/ds/update', 'http://h:3030/ds/data'],
    ['rdf4j', 'http://h/rdf4j-server/repositories/r', 'http://h/rdf4j-server/repositories/r', 'S', 'S'],
    ['rdf4j', 'http://h/rdf4j-server/repositories/r/statements', 'http://h/rdf4j-server/repositories/r', 'S', 'S'],
    ['graphdb', 'https://h:7200/repositories/r', 'https://h:7200/repositories/r', 'S', 'S'],
    ['stardog', 'http://h:5820/db', 'http://h:5820/db/query', 'http://h:5820/db/update', undefined],
    ['stardog', 'http://h:5820/db/update', 'http://h:5820/db/query', 'http://h:5820/db/update', undefined],
    [
      'blazegraph',
      'http://h/bigdata/namespace/kb/sparql',
      'http://h/bigdata/namespace/kb/sparql',
      'http://h/bigdata/namespace/kb/sparql',
      undefined,
    ],
    ['neptune', 'https://h:8182', 'https://h:8182/sparql', 'https://h:8182/sparql', undefined],
    ['neptune', 'https://h:8182/sparql', 'https://h:8182/sparql', 'https://h:8182/sparql', undefined],
    ['virtuoso', 'http://h:8890', 'http://h:8890/sparql-auth', 'http://h:8890/sparql-auth', undefined],
    ['virtuoso', 'http://h:8890/sparql', 'http://h:8890/sparql', 'http://h:8890/sparql', undefined],
  ])('%s: %s', (type, endpoint, query, update, quads) => {
    const { base } = readEndpoint(type, endpoint);
    const statementsUrl = `${query}/statements`;
    const urls = SPARQL_PRODUCTS[type].urls(base);
    expect(urls).toMatchObject({ query, update: update === 'S' ? statementsUrl : update });
    expect(urls.quads).toBe(quads === 'S' ? statementsUrl : quads);
  });

  test.each(['', 'ds', 'bolt://h', 'file:///tmp/x', '/ds/update'])('%j is none', async (endpoint) => {
    await expect(sparqlTarget(address('sparql', endpoint))).rejects.toMatchObject({ code: 'config/invalid' });
  });

  test('every type of target but one has a row', () => {
    expect(Object.keys(SPARQL_PRODUCTS).sort()).toEqual(TARGET_TYPES.filter((type) => type !== 'neo4j').sort());
  });

  test('a type that speaks no SPARQL', async () => {
    await expect(sparqlTarget(address('neo4j', 'http://h'))).rejects.toMatchObject({ code: 'target/unknown' });
    await expect(sparqlTarget(address('toString' as TargetType, 'http://h'))).rejects.toMatchObject({ code: 'target/unknown' });
  });

  test('Neptune takes no password, and says what to do', async () => {
    const fault = await sparqlTarget(address('neptune', 'https://h:8182', { username: 'key', password: new Secret('very-secret') })).then(
      () => Promise.reject(new Error('it was taken')),
      (error: Fault) => error,
    );
    expect([fault.code, fault.hint]).toEqual(['config/invalid', expect.stringContaining('SigV4')]);
    expect(JSON.stringify(fault)).not.toContain('very-secret');
  });
});

describe('requests', () => {
  interface Seen {
    readonly line: string;
    readonly type: string | undefined;
    readonly login: string | undefined;
    readonly body: string;
  }
  let server: Server;
  let origin: string;
  let seen: Seen[];

  beforeAll(async () => {
    server = createServer(async (incoming, outgoing) => {
      const body = (await incoming.toArray()).join('');
      const { authorization, 'content-type': type } = incoming.headers;
      seen.push({ line: `${incoming.method} ${incoming.url}`, type, login: authorization, body });
      outgoing.writeHead(204).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  beforeEach(() => {
    seen = [];
  });

  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const DATA = statements('<urn:a> <urn:p> "1" .\n<urn:a> <urn:p> "2" .\n<urn:a> <urn:q> "3" <urn:g> .');
  const LINES = '<urn:a> <urn:p> "1" .\n<urn:a> <urn:p> "2" .\n<urn:a> <urn:q> "3" <urn:g> .\n';
  const NAMED = 'DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { VALUES (?g ?s ?p) {\n(<urn:g> <urn:a> <urn:q>)\n} GRAPH ?g { ?s ?p ?o } } ;\n';
  const UNNAMED = 'WHERE { VALUES (?s ?p) {\n(<urn:a> <urn:p>)\n} ?s ?p ?o } ;\n';
  const INSERT = 'INSERT DATA {\n<urn:a> <urn:p> "1" .\n<urn:a> <urn:p> "2" .\nGRAPH <urn:g> {\n<urn:a> <urn:q> "3" .\n}\n}';
  const NIL = 'GRAPH <http://www.openrdf.org/schema/sesame#nil> { ?s ?p ?o }';
  const own = `${NAMED}DELETE { ?s ?p ?o } ${UNNAMED}${INSERT}`;
  /** Of a product whose default graph has the name `iri`. */
  const insertNamed = (iri: string): string => INSERT.replace('{\n', `{\nGRAPH <${iri}> {\n`).replace('GRAPH <urn:g>', '}\nGRAPH <urn:g>');
  const replaceNamed = (iri: string): string => `${NAMED.replace('(<urn:g>', `(<${iri}> <urn:a> <urn:p>)\n(<urn:g>`)}${insertNamed(iri)}`;

  test.each<[SparqlType, string, string, string, string]>([
    ['sparql', '/sparql', 'POST /sparql', INSERT, own],
    ['fuseki', '/ds/update', 'POST /ds/data', LINES, own],
    ['graphdb', '/repositories/r', 'POST /repositories/r/statements', LINES, `${NAMED}DELETE { ${NIL} } ${UNNAMED}${INSERT}`],
    [
      'rdf4j',
      '/rdf4j-server/repositories/r',
      'POST /rdf4j-server/repositories/r/statements',
      LINES,
      `${NAMED}DELETE { ${NIL} } ${UNNAMED}${INSERT}`,
    ],
    ['stardog', '/db', 'POST /db/update', INSERT, own],
    [
      'blazegraph',
      '/bigdata/namespace/kb/sparql',
      'POST /bigdata/namespace/kb/sparql',
      insertNamed('http://www.bigdata.com/rdf#nullGraph'),
      replaceNamed('http://www.bigdata.com/rdf#nullGraph'),
    ],
    [
      'neptune',
      '',
      'POST /sparql',
      insertNamed('http://aws.amazon.com/neptune/vocab/v01/DefaultNamedGraph'),
      replaceNamed('http://aws.amazon.com/neptune/vocab/v01/DefaultNamedGraph'),
    ],
    ['virtuoso', '/sparql', 'POST /sparql', insertNamed('virt:DEFAULT'), replaceNamed('virt:DEFAULT')],
  ])('to %s', async (type, path, line, insertion, change) => {
    const target = await sparqlTarget(address(type, `${origin}${path}`));
    await target.insert(DATA, never);
    await target.replace(DATA, 'property', never);
    await target.close();
    expect(seen.map(({ body }) => body)).toEqual([insertion, change]);
    expect(seen[0]?.line).toBe(line);
    expect(seen.map(({ type }) => type)).toEqual([
      insertion === LINES ? 'application/n-quads' : 'application/sparql-update; charset=utf-8',
      'application/sparql-update; charset=utf-8',
    ]);
    expect(seen.map((each) => each.login)).toEqual([undefined, undefined]);
  });

  test('the login comes with the first request, in UTF-8', async () => {
    const target = await sparqlTarget(address('stardog', `${origin}/db`, { username: 'ann', password: new Secret('pä:ss') }));
    await target.insert(DATA, never);
    await target.close();
    expect(seen.map((each) => each.login)).toEqual([`Basic ${Buffer.from('ann:pä:ss').toString('base64')}`]);
  });

  test('the query of the endpoint goes along, and is not shown', async () => {
    const target = await sparqlTarget(address('sparql', `${origin}/sparql?apikey=very-secret`));
    await target.insert(DATA, never);
    expect(target.describe()).not.toContain('very-secret');
    await target.close();
    expect(seen.map(({ line }) => line)).toEqual(['POST /sparql?apikey=very-secret']);
  });

  test.each<[SparqlType, string, readonly string[]]>([
    ['sparql', '/sparql', ['POST /sparql', 'GET /sparql?query=ASK%7B%7D']],
    ['embedded', '/sparql', ['POST /sparql', 'POST /sparql', 'GET /sparql?query=ASK%7B%7D']],
    ['fuseki', '/ds', ['POST /ds', 'POST /ds', 'GET /$/server']],
  ])('a probe of %s reads no data', async (type, path, lines) => {
    const target = await sparqlTarget(address(type, `${origin}${path}`));
    await target.probe(never);
    await target.close();
    expect(seen.map(({ line }) => line)).toEqual(lines);
  });

  test('a graph that SPARQL cannot name is refused before anything is sent', async () => {
    const target = await sparqlTarget(address('rdf4j', `${origin}/repositories/r`));
    await expect(target.replaceGraph('_:g', 'key', never)).rejects.toMatchObject({ code: 'target/refused' });
    await target.close();
    expect(seen).toEqual([]);
  });

  test('nothing is sent for nothing', async () => {
    const target = await sparqlTarget(address('sparql', `${origin}/sparql`));
    await target.insert([], never);
    await target.replace([], 'subject', never);
    await target.close();
    expect(seen).toEqual([]);
  });
});

describe('texts of updates', () => {
  const { virtuoso, sparql } = SPARQL_PRODUCTS;
  const many = (count: number) => statements(Array.from({ length: count }, (_, i) => `<urn:${i}> <urn:p> "1" <urn:g> .\n`).join(''));

  test('a product that takes few statements at once gets several INSERT DATA in one request', () => {
    const text = insertData(many(4_500), virtuoso);
    expect(text.match(/INSERT DATA/g)).toHaveLength(3);
    expect(text.match(/<urn:p>/g)).toHaveLength(4_500);
    expect(insertData(many(4_500), sparql).match(/INSERT DATA/g)).toHaveLength(1);
  });

  test('a graph without a name that SPARQL could write is refused', () => {
    const blank = statements('<urn:s> <urn:p> "1" _:g .');
    for (const write of [() => insertData(blank, sparql), () => replacement(blank, 'subject', sparql)])
      expect(write).toThrow(expect.objectContaining({ code: 'target/refused' }));
  });

  test('each key stands once, and blank nodes are no keys', () => {
    const text = replacement(statements('<urn:s> <urn:p> "1" .\n<urn:s> <urn:q> "2" .\n_:b <urn:p> "3" .'), 'subject', sparql);
    expect(text).toContain('VALUES (?s) {\n(<urn:s>)\n}');
    expect(text).toContain('_:b0 <urn:p> "3" .');
  });
});

describe('answers of products that are not run here', () => {
  const JSON_TYPE = 'application/json';
  const html = (title: string): string => `<html><head><title>${title}</title></head><body><h2>${title}</h2></body></html>`;

  test.each<[SparqlType, number, string, string, string, string]>([
    [
      'neptune',
      400,
      JSON_TYPE,
      '{"code":"MalformedQueryException","detailedMessage":"Malformed query: line 3"}',
      'target/refused',
      'Malformed query: line 3',
    ],
    [
      'neptune',
      500,
      JSON_TYPE,
      '{"code":"ConcurrentModificationException","detailedMessage":"Failed to complete"}',
      'target/busy',
      'S 500: Failed to complete',
    ],
    ['neptune', 500, JSON_TYPE, '{"code":"MemoryLimitExceededException","detailedMessage":"No memory"}', 'target/busy', 'S 500: No memory'],
    ['neptune', 429, JSON_TYPE, '{"code":"ThrottlingException","detailedMessage":"Rate exceeded"}', 'target/busy', 'S 429: Rate exceeded'],
    [
      'neptune',
      403,
      JSON_TYPE,
      '{"message":"Missing Authentication Token"}',
      'target/credentials',
      'S refuses the login: Missing Authentication Token',
    ],
    [
      'stardog',
      403,
      'text/plain',
      'The server is in read-only mode',
      'target/read-only',
      'S takes no statements there (S answered 403: The server is in read-only mode)',
    ],
    ['stardog', 400, JSON_TYPE, '{"message":"Parse error","code":"QE0PE2"}', 'target/refused', 'Parse error'],
    ['stardog', 400, JSON_TYPE, '{"cut off', 'target/refused', '{"cut off'],
    ['graphdb', 409, 'text/plain', 'Shapes are violated', 'target/refused', 'Shapes are violated'],
    ['graphdb', 500, 'text/html', html('Out of disk &lt;1 MB'), 'target/busy', 'S 500: Out of disk <1 MB'],
    [
      'blazegraph',
      500,
      'text/plain',
      'SPARQL-UPDATE: updateStr=...\njava.lang.Exception',
      'target/refused',
      'SPARQL-UPDATE: updateStr=...',
    ],
    ['blazegraph', 500, 'text/plain', '', 'target/refused', 'S answered 500'],
    ['sparql', 400, 'text/plain', '\r\n  \n\u0000Parse\terror\r\nmore', 'target/refused', 'Parse error'],
    ['sparql', 423, 'text/plain', 'Transaction conflict with another', 'target/busy', 'S answered 423: Transaction conflict with another'],
  ])('%s: %i, %s', (type, status, contentType, body, code, message) => {
    const answer: StoreAnswer = { status, text: body, header: (name) => (name === 'content-type' ? contentType : undefined) };
    const fault = faultOfAnswer(answer, { name: 'S', url: 'http://h/', product: SPARQL_PRODUCTS[type] });
    expect([fault?.code, fault?.message]).toEqual([code, message.replace(/^S (\d)/, 'S answered $1')]);
  });

  test('success is no fault', () => {
    const answer: StoreAnswer = { status: 204, text: '', header: () => undefined };
    expect(faultOfAnswer(answer, { name: 'S', url: 'http://h/', product: SPARQL_PRODUCTS.sparql })).toBeUndefined();
  });
});

describe('a digest', () => {
  const challenge = (nonce: string, more = ''): string =>
    `Digest realm="SPARQL", nonce="${nonce}", opaque="xyz", qop="auth", algorithm=MD5${more}`;

  test('is that of RFC 2617 where the server asks for no more', () => {
    const ours = login('digest', { username: 'Mufasa', password: new Secret('Circle Of Life') });
    expect(ours.challenged('Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093"')).toBe(true);
    // MD5(MD5("Mufasa:testrealm@host.com:Circle Of Life"):nonce:MD5("GET:/dir/index.html")), as RFC 2069 has it.
    expect(ours.header('GET', '/dir/index.html')).toContain('response="670fd8c2df070c60b045671b8b24ff02"');
  });

  test('counts its uses of a nonce, and begins again with another one', () => {
    const ours = login('digest', { username: 'dba', password: new Secret('dba') });
    expect(ours.header('POST', '/sparql-auth')).toBeUndefined();
    expect(ours.wantsChallenge()).toBe(true);
    expect(ours.challenged(challenge('one'))).toBe(true);
    expect(ours.wantsChallenge()).toBe(false);
    expect(ours.header('POST', '/sparql-auth')).toMatch(/nonce="one".*opaque="xyz".*algorithm=MD5, qop=auth, nc=00000001,/);
    expect(ours.header('POST', '/sparql-auth')).toMatch(/nc=00000002,/);
    expect(ours.challenged(challenge('one'))).toBe(false);
    expect(ours.challenged(challenge('one', ', stale=true'))).toBe(true);
    expect(ours.challenged(challenge('two'))).toBe(true);
    expect(ours.header('POST', '/sparql-auth')).toMatch(/nonce="two".*nc=00000001,/);
  });

  test.each([
    undefined,
    'Basic realm="x"',
    'Digest realm="x"',
    'Digest realm="x", nonce="n", algorithm=MD5-sess',
    'Digest realm="x", nonce="n", qop="auth-int"',
  ])('is not made for %s', (header) => {
    expect(login('digest', { username: 'a', password: new Secret('b') }).challenged(header)).toBe(false);
  });
});
