/** Questions whose answer takes long: what came in time is given, or the answer says what took the time. */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { type Answer, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
/** A database that takes connections and never answers. */
let silent: TcpServer;
const sockets = new Set<Socket>();
/** Begins documents, and never ends them. */
let slow: Server;

const DOCUMENTS: Readonly<Record<string, string>> = {
  // Readers wait for a few hundred bytes, by which they know the encoding.
  '/people.json': `[{"id":1},{"id":2,"name":"${'x'.repeat(500)}"},{"id":3},`,
  '/terms.ttl': `@prefix owl: <http://www.w3.org/2002/07/owl#> .\n@prefix e: <http://e.example/> .\ne:A a owl:Class .\ne:B a owl:Class .\n`,
  '/terms.jsonld': '{"@context":{},"@id":"http://e.example/A",',
};

const portOf = (server: TcpServer | Server): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  directory = await temporaryDirectory();
  silent = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  slow = createServer(({ url = '' }, response) => {
    const text = DOCUMENTS[url];
    if (text !== undefined) response.write(text);
  });
  for (const server of [silent, slow]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const env = { JDBC_URL: `jdbc:postgresql://127.0.0.1:${portOf(silent)}/shop`, DB_USER: 'u', DB_PASSWORD: 'secret' };
  service = await startService({ cwd: directory.path, env });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  silent?.close();
  slow?.closeAllConnections();
  slow?.close();
  await service?.stop();
  await directory.remove();
});

const ask = (path: string, question: unknown): Promise<Answer> => postJson(`${service.url}/studio/${path}`, question);

const TABLE = `@prefix rml: <http://w3id.org/rml/> .
@prefix rr: <http://www.w3.org/ns/r2rml#> .
<#T> rr:logicalTable [ rr:tableName "t" ] ; rr:subjectMap [ rr:template "http://e.example/{id}" ; rr:class <http://e.example/T> ] .
`;
const peopleText = (): string => `@prefix rml: <http://w3id.org/rml/> .
<#P> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:path "http://127.0.0.1:${portOf(slow)}/people.json" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ] ;
  rml:subjectMap [ rml:template "http://e.example/{$.id}" ; rml:class <http://e.example/P> ] .
`;
const database = (): string => `127.0.0.1:${portOf(silent)}`;

test('a preview of a database that does not answer says so, with the diagnostics of its mapping', async () => {
  const { status, body } = await ask('previews', { name: 't.ttl', text: TABLE, service: 'sql-transformer' });
  expect([status, body]).toMatchObject([
    200,
    { statements: [], fault: { code: 'limit/exceeded', hint: expect.stringMatching(/^Ask again/) as unknown } },
  ]);
  const { message } = (body as { fault: { message: string } }).fault;
  expect(message).toMatch(/^There was no answer within \d s\. It took the time: connecting to /);
  expect(message).toContain(`connecting to jdbc:postgresql://${database()}/shop`);
  expect(JSON.stringify(body)).not.toContain('secret');
});

test('the fields of a table, and the list of tables, name the database that does not answer', async () => {
  const detail = expect.stringMatching(/There was no answer within \d s\. It took the time: connecting to .*\/shop/) as unknown;
  expect(await ask('samples', { of: 'table', location: 't' })).toMatchObject({ status: 400, body: { detail } });
  const tables = await fetch(`${service.url}/studio/tables`);
  expect([tables.status, await tables.json()]).toMatchObject([400, { detail }]);
});

test('the records of a triples map, and those that make a statement, are found among what came in time', async () => {
  const question = { name: 'p.ttl', text: peopleText() };
  const late = [`http://127.0.0.1:${portOf(slow)}/people.json`];
  const records = await ask('records', { ...question, triplesMap: 'http://example.com/base/#P' });
  expect(records).toMatchObject({ status: 200, body: { late, rows: [{ statements: 1 }, { statements: 1 }, { statements: 1 }] } });
  const statement = '<http://e.example/2> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e.example/P> .';
  expect(await ask('statements', { ...question, statement })).toMatchObject({ status: 200, body: { late, count: 1 } });
});

test('of an ontology there is what came in time; one that is read as a whole says that it came in part', async () => {
  const at = (name: string): string => `http://127.0.0.1:${portOf(slow)}/${name}`;
  expect(await ask('ontologies', { location: at('terms.ttl') })).toMatchObject({
    status: 200,
    body: {
      terms: [{ iri: 'http://e.example/A' }, { iri: 'http://e.example/B' }],
      cut: [expect.stringMatching(/there was no time for more/)],
    },
  });
  expect(await ask('ontologies', { location: at('terms.jsonld') })).toMatchObject({
    status: 400,
    body: {
      detail: `Only a part of ${at('terms.jsonld')} came in time, and JSON-LD is read as a whole`,
      hint: expect.stringMatching(/add it as a file/),
    },
  });
  expect(await ask('ontologies', { location: at('nothing.ttl') })).toMatchObject({
    status: 400,
    body: { detail: `Nothing of ${at('nothing.ttl')} came in time` },
  });
});
