/** Ontologies, read by a worker of the built service. */
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { StudioUpload } from '../../../client/types.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { type Answer, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

const TURTLE = `@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<#Order> a owl:Class ; rdfs:label "Order"@en . <https://example.org/total> a owl:DatatypeProperty .
`;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
/** Leads from `/terms` to Turtle, or to a page for those who do not ask for it. */
let vocabularies: Server;
let host: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await startService({ cwd: directory.path, env: { DATA_DIR: join(directory.path, 'data') } });
  vocabularies = createServer(({ url, headers: { accept = '' } }, response) => {
    if (url === '/terms') response.writeHead(303, { location: '/v2/terms' }).end();
    else if (accept.includes('text/turtle')) response.writeHead(200, { 'content-type': 'text/turtle' }).end(TURTLE);
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<!DOCTYPE html><html></html>');
  });
  await new Promise<void>((done) => vocabularies.listen(0, '127.0.0.1', done));
  host = `http://127.0.0.1:${(vocabularies.address() as AddressInfo).port}`;
});
afterAll(async () => {
  vocabularies?.close();
  await service?.stop();
  await directory.remove();
});

const ask = (question: unknown): Promise<Answer> => postJson(`${service.url}/studio/ontologies`, question);

test('an upload', async () => {
  const uploaded = await fetch(`${service.url}/studio/uploads?name=shop.owl`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: TURTLE,
  });
  const { url, format } = (await uploaded.json()) as StudioUpload;
  expect([uploaded.status, format]).toEqual([201, 'rdfxml']);
  const { status, body } = await ask({ location: url });
  expect([status, body]).toMatchObject([200, { format: 'turtle', statements: 3, terms: [{ iri: 'https://example.org/total' }] }]);
  expect(body).toMatchObject({ cut: [expect.stringContaining('relative to the file')] });
});

test('an address: Turtle is asked for, redirects are followed, and relative IRIs are those of the last address', async () => {
  const { status, body } = await ask({ location: `${host}/terms` });
  expect([status, body]).toMatchObject([
    200,
    {
      format: 'turtle',
      cut: [],
      terms: [
        { iri: `${host}/v2/terms#Order`, kind: 'class', labels: [{ text: 'Order', language: 'en' }] },
        { iri: 'https://example.org/total', kind: 'datatype-property', labels: [] },
      ],
    },
  ]);
});

test('a relative path of the mapping directory', async () => {
  const mappings = join(directory.path, 'data', 'mappings', 'semi-structured-transformer');
  await mkdir(mappings, { recursive: true });
  await writeFile(join(mappings, 'terms.ttl'), TURTLE);
  expect(await ask({ location: 'terms.ttl', mappings: 'semi-structured-transformer' })).toMatchObject({ status: 200 });
  expect(await ask({ location: 'terms.ttl' })).toMatchObject({ status: 400, body: { code: 'source/missing' } });
});

test.each<[string, object, RegExp]>([
  ['no location', {}, /location/],
  ['a format that is not known', { location: 'a.ttl', format: 'obo' }, /format/],
  ['a password', { location: 'https://ada:secret@example.org/a.ttl' }, /password/],
  ['what is no RDF', { location: 'page.owl' }, /page\.owl is a page in HTML/],
])('%s is a problem answer', async (_, question, says) => {
  await writeFile(join(directory.path, 'page.owl'), '<!DOCTYPE html><html></html>');
  const { status, body } = await ask(question);
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(says)]);
  expect(JSON.stringify(body)).not.toContain('secret');
});
