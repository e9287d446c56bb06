/** SPARQL endpoints as sources: a real store, and a server that answers as an endpoint in trouble does. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { describeFault } from '../../../../src/core/fault.ts';
import { readLogins } from '../../../../src/storage/logins.ts';
import { SHARED_START_MS, type SharedFuseki, sharedFuseki } from '../../../servers/shared/shared.ts';
import { FUSEKI_USERS, missingFuseki } from '../../../servers/stores/fuseki.ts';
import { secrets } from '../../../support/secrets.ts';
import { type Answering, makeRuns, startAnswering } from './running.ts';

const runs = makeRuns();
afterAll(() => runs.remove());

const PREFIXES = `@prefix rml: <http://w3id.org/rml/> . @prefix sd: <http://www.w3.org/ns/sparql-service-description#> .
@prefix formats: <http://www.w3.org/ns/formats/> . @prefix ex: <http://e/> .
`;
const QUERY = 'SELECT ?s ?v WHERE { ?s <http://e/v> ?v }';
const XSD = 'http://www.w3.org/2001/XMLSchema#';

const mappingOf = (endpoint: string, format: string, { query = QUERY, subject = 's', value = 'v', more = '' } = {}): string => `${PREFIXES}
<http://e/M> a rml:TriplesMap ; rml:logicalSource [ rml:source [ a rml:Source, sd:Service ; sd:endpoint <${endpoint}> ${more} ] ;
    rml:referenceFormulation ${format} ; rml:iterator """${query}""" ] ;
  rml:subjectMap [ rml:reference "${subject}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference "${value}" ] ] .
`;

const FORMATS = ['CSV', 'TSV', 'JSON', 'XML'].map((name) => `formats:SPARQL_Results_${name}`);
const withLogins = (...entries: string[]) => ({ web: { ...RUN_DEFAULTS.web, logins: readLogins(secrets(entries)) } });

const noFuseki = await missingFuseki();
(noFuseki === undefined ? describe : describe.skip)(
  `a run over a store${noFuseki === undefined ? '' : ` (not tested: ${noFuseki})`}`,
  () => {
    let store: SharedFuseki;
    const load = (dataset: string, turtle: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${dataset}/data?default`, { method: 'PUT', headers: { 'content-type': 'text/turtle', ...headers }, body: turtle });

    beforeAll(async () => {
      store = await sharedFuseki();
    }, SHARED_START_MS);
    afterAll(() => store?.stop());

    const DATA = `@prefix ex: <http://e/> . @prefix xsd: <${XSD}> .
ex:a ex:v 1 . ex:b ex:v 1.50 . ex:c ex:v "2.5e0"^^xsd:double . ex:d ex:v true . ex:e ex:v "Zürich" . ex:f ex:v "tab\\tquote\\"line\\n" .
ex:g ex:v ex:other . ex:h ex:v "2024-01-01"^^xsd:date . ex:i ex:v "hallo"@de .`;
    const plain = [
      '<http://e/a> <http://e/p> "1" .',
      '<http://e/b> <http://e/p> "1.50" .',
      '<http://e/c> <http://e/p> "2.5e0" .',
      '<http://e/d> <http://e/p> "true" .',
      '<http://e/e> <http://e/p> "Zürich" .',
      '<http://e/f> <http://e/p> "tab\tquote\\"line\\n" .',
      '<http://e/g> <http://e/p> "http://e/other" .',
      '<http://e/h> <http://e/p> "2024-01-01" .',
      '<http://e/i> <http://e/p> "hallo" .',
    ];
    const types: Readonly<Record<string, string>> = { a: 'integer', b: 'decimal', c: 'double', d: 'boolean', h: 'date' };
    const typed = plain.map((line) => {
      const type = types[line.charAt(10)];
      return type === undefined ? line : line.replace(/" \.$/, `"^^<${XSD}${type}> .`);
    });

    test.each(FORMATS)('gives the terms of the solutions, read as %s', async (format) => {
      await load(store.memory, DATA);
      const { lines, report } = await runs.run(mappingOf(`${store.memory}/query`, format));
      expect(lines).toEqual(format.endsWith('CSV') ? plain : typed);
      expect(report.records).toBe(9);
    });

    test('takes the format from the service, and JSON otherwise', async () => {
      await load(store.memory, DATA);
      const without = mappingOf(`${store.memory}/query`, '').replace(/rml:referenceFormulation\s+;/, '');
      expect((await runs.run(without)).lines).toEqual(typed);
      expect((await runs.run(without.replace('sd:endpoint', 'sd:resultFormat formats:SPARQL_Results_CSV ; sd:endpoint'))).lines).toEqual(
        plain,
      );
    });

    test.each(FORMATS)('makes no statement of a variable without a binding, nor of what rml:null names, read as %s', async (format) => {
      await load(
        store.memory,
        '<http://e/a> <http://e/n> "x" ; <http://e/v> "1" . <http://e/b> <http://e/n> "x" . <http://e/c> <http://e/n> "x" ; <http://e/v> "-" .',
      );
      const query = 'SELECT ?s ?v { ?s <http://e/n> ?n OPTIONAL { ?s <http://e/v> ?v } }';
      const { lines } = await runs.run(mappingOf(`${store.memory}/query`, format, { query, more: '; rml:null "-"' }));
      expect(lines).toEqual(['<http://e/a> <http://e/p> "1" .']);
    });

    test.each([
      ['formats:SPARQL_Results_JSON', 's.value', 'v.datatype'],
      ['formats:SPARQL_Results_JSON', '?s', "$['v']['datatype']"],
      ['formats:SPARQL_Results_XML', 'binding[@name="s"]/uri', 'binding[@name="v"]/literal/@datatype'],
    ])('reads %s by the paths %s and %s, too', async (format, subject, value) => {
      await load(store.memory, '<http://e/a> <http://e/v> 1 .');
      const mapping = mappingOf(`${store.memory}/query`, format, {
        subject: subject.replaceAll('"', '\\"'),
        value: value.replaceAll('"', '\\"'),
      });
      expect((await runs.run(mapping)).lines).toEqual([`<http://e/a> <http://e/p> "${XSD}integer" .`]);
    });

    test('joins the solutions of two endpoints, and sends a query that is too long for a URL', async () => {
      await load(store.memory, '<http://e/a> <http://e/v> "k" .');
      await load(store.tdb, '<http://e/x> <http://e/v> "k" .');
      const long = `SELECT ?s ?v WHERE { ?s <http://e/v> ?v FILTER (?v != "${'n'.repeat(3000)}") }`;
      const second = mappingOf(`${store.tdb}/query`, 'formats:SPARQL_Results_TSV', { query: long })
        .slice(PREFIXES.length)
        .replace('<http://e/M>', '<http://e/N>');
      const first = mappingOf(`${store.memory}/query`, 'formats:SPARQL_Results_JSON').replace(
        'rml:objectMap [ rml:reference "v" ]',
        'rml:objectMap [ rml:parentTriplesMap <http://e/N> ; rml:joinCondition [ rml:child "v" ; rml:parent "v" ] ]',
      );
      expect((await runs.run(first + second)).lines).toEqual([
        '<http://e/a> <http://e/p> <http://e/x> .',
        '<http://e/x> <http://e/p> "k" .',
      ]);
    });

    test('logs in as the options say, and not otherwise', async () => {
      const { username, password } = FUSEKI_USERS.writer;
      await load(store.secret, '<http://e/a> <http://e/v> "1" .', {
        authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      });
      const mapping = mappingOf(`${store.secret}/query`, 'formats:SPARQL_Results_CSV');
      const { host } = new URL(store.secret);
      expect((await runs.run(mapping, withLogins(`http://${username}:${password}@${host}/`))).lines).toHaveLength(1);
      const refused = await runs.faultOf(mapping, withLogins(`http://${username}:${password}@${host}/elsewhere/`));
      expect(refused).toMatchObject({ code: 'source/refused', retriable: false });
      expect(describeFault(refused)).toMatch(/answered 401 .*SOURCE_LOGINS/);
    });

    test('says where the syntax of a query is wrong', async () => {
      const fault = await runs.faultOf(
        mappingOf(`${store.memory}/query`, 'formats:SPARQL_Results_JSON', { query: 'SELECT ?s WHERE { ?s ?p' }),
      );
      expect(fault).toMatchObject({ code: 'source/refused', retriable: false });
      expect(describeFault(fault)).toMatch(/answered 400 .*line 1.*Check the query/i);
    });

    test('says that there is no such endpoint', async () => {
      const fault = await runs.faultOf(mappingOf(`${store.origin}/nowhere/query`, 'formats:SPARQL_Results_JSON'));
      expect(fault).toMatchObject({ code: 'source/missing', hint: 'Check sd:endpoint' });
    });

    test.each(FORMATS)('names a variable that the query does not select, read as %s', async (format) => {
      await load(store.memory, '<http://e/a> <http://e/v> "1" .');
      const fault = await runs.faultOf(mappingOf(`${store.memory}/query`, format, { value: 'vv' }), { onError: 'strict' });
      expect(fault.code).toBe('mapping/reference');
      expect(describeFault(fault)).toMatch(/vv.*(Did you mean "v"|a variable that the query selects)/);
    });
  },
);

describe('an endpoint in trouble', () => {
  let server: Answering;
  beforeAll(async () => {
    server = await startAnswering();
  });
  beforeEach(() => void server.seen.splice(0));
  afterAll(() => server.stop());
  const mapping = (format = 'JSON'): string => mappingOf(`${server.origin}/sparql?a=1`, `formats:SPARQL_Results_${format}`);

  test('is asked by GET with the query and the format, besides its own parameters', async () => {
    server.answer = (_, response) => response.writeHead(200, { 'content-type': 'text/csv' }).end('s,v\r\nhttp://e/a,1\r\n');
    expect((await runs.run(mapping('CSV'))).lines).toEqual(['<http://e/a> <http://e/p> "1" .']);
    const [{ method, path, headers }] = server.seen as [(typeof server.seen)[0]];
    expect([method, headers.accept, Object.fromEntries(new URL(path, server.origin).searchParams)]).toEqual([
      'GET',
      'text/csv',
      { a: '1', query: QUERY },
    ]);
  });

  test.each<[string, string, Answering['answer'], object, RegExp]>([
    [
      'answers a page',
      'JSON',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<p>Welcome</p>'),
      { code: 'source/type', retriable: false },
      /answered text\/html, and the mapping reads SPARQL results as JSON \(application\/sparql-results\+json\)/,
    ],
    [
      'answers in another format',
      'CSV',
      (_, response) => response.writeHead(200, { 'content-type': 'application/sparql-results+xml' }).end('<sparql/>'),
      { code: 'source/type' },
      /answered application\/sparql-results\+xml, and the mapping reads SPARQL results as CSV/,
    ],
    [
      'breaks off, which its length tells',
      'CSV',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/csv', 'content-length': '1000' });
        response.write('s,v\r\nhttp://e/a,1\r\n', () => response.destroy());
      },
      { code: 'source/unreadable', retriable: true },
      /The answer is incomplete/,
    ],
    [
      'ends within a document of JSON',
      'JSON',
      (_, response) =>
        response
          .writeHead(200, { 'content-type': 'application/sparql-results+json' })
          .end('{"results":{"bindings":[{"s":{"type":"uri","value":"http://e/a"}},'),
      { code: 'source/malformed', retriable: false },
      /ends|end of/,
    ],
    [
      'ends within a document of XML',
      'XML',
      (_, response) =>
        response
          .writeHead(200, { 'content-type': 'application/sparql-results+xml' })
          .end('<sparql xmlns="http://www.w3.org/2005/sparql-results#"><results><result>'),
      { code: 'source/malformed' },
      /end/,
    ],
    [
      'has no time',
      'JSON',
      (_, response) => response.writeHead(503).end('Try again later'),
      { code: 'source/unreadable', retriable: true },
      /answered 503 Service Unavailable: Try again later/,
    ],
    [
      'says with a page what is wrong',
      'JSON',
      (_, response) =>
        response.writeHead(400, { 'content-type': 'text/html' }).end('<html><title>E</title><h1>Error</h1>\n<p>Line 3: <b>bad</b></p>'),
      { code: 'source/refused' },
      /answered 400 Bad Request: Error Line 3: bad/,
    ],
  ])('that %s is reported', async (_, format, answer, expected, said) => {
    server.answer = answer;
    const fault = await runs.faultOf(mapping(format));
    expect(fault).toMatchObject(expected);
    expect(describeFault(fault)).toMatch(said);
    expect(describeFault(fault)).toContain(`${server.origin}/sparql`);
  });

  test('that does not answer in time is reported, and not asked again', async () => {
    server.answer = () => undefined;
    const fault = await runs.faultOf(mapping(), { web: { ...RUN_DEFAULTS.web, answerSeconds: 1 } });
    expect(fault).toMatchObject({ code: 'source/refused', retriable: false, message: expect.stringContaining('within 1 s') });
    expect(fault.hint).toContain('SOURCE_ANSWER_SECONDS');
  });

  test('that is not there is reported', async () => {
    const gone = await startAnswering();
    await gone.stop();
    const fault = await runs.faultOf(mappingOf(`${gone.origin}/sparql`, 'formats:SPARQL_Results_JSON'));
    expect(fault).toMatchObject({ code: 'source/unreadable', retriable: true, message: expect.stringContaining('connection refused') });
  });

  test('that has moved gets the query again, by GET and by POST', async () => {
    server.answer = ({ url }, response) =>
      url?.startsWith('/new')
        ? response.writeHead(200, { 'content-type': 'text/csv' }).end('s,v\r\nhttp://e/a,1\r\n')
        : response.writeHead(301, { location: '/new' }).end();
    expect((await runs.run(mapping('CSV'))).lines).toHaveLength(1);
    const long = `${QUERY} # ${'x'.repeat(3000)}`;
    expect((await runs.run(mappingOf(`${server.origin}/sparql`, 'formats:SPARQL_Results_CSV', { query: long }))).lines).toHaveLength(1);
    expect(server.seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST', 'POST']);
    expect(new URLSearchParams(server.seen[3]?.body).get('query')).toBe(long);
  });

  test('is replaced by an input: a URL gets the query, a file holds the answer', async () => {
    server.answer = (_, response) => response.writeHead(200, { 'content-type': 'text/csv' }).end('s,v\r\nhttp://e/a,1\r\n');
    const unreachable = mappingOf('http://endpoint.invalid/sparql', 'formats:SPARQL_Results_CSV');
    const name = 'http://endpoint.invalid/sparql';
    expect((await runs.run(unreachable, { inputs: [{ name, url: `${server.origin}/sparql` }] })).lines).toEqual([
      '<http://e/a> <http://e/p> "1" .',
    ]);
    expect(server.seen[0]?.path).toContain('query=SELECT');
    const file = runs.write('answer.csv', 's,v\nhttp://e/b,2\n');
    expect((await runs.run(unreachable, { inputs: [{ name, url: file }] })).lines).toEqual(['<http://e/b> <http://e/p> "2" .']);
  });
});
