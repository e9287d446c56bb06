/** Inputs of a server that have not changed since the last version: they are read again where nothing proves that. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openFiles } from '../../../src/datasets/files.ts';
import { runDataset } from '../../../src/datasets/run.ts';
import { USUAL_S3_ACCESS } from '../../../src/storage/s3-access.ts';
import { requestOf } from '../run/random/engine.ts';

const MAPPING = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> .
<http://e/m> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "one.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://e/{id}" ; rml:class ex:T ] .
`;
const TIME = new Date(0).toUTCString();

/** A server gives `before`, and then `after`, of the same length, with the same headers. @returns of the second run: whether it read something, and what it added */
async function second(before: string, after: string, headers: readonly [Record<string, string>, Record<string, string>]) {
  const place = mkdtempSync(join(tmpdir(), 'quadmill-unread-'));
  let [text, sent] = [before, headers[0]];
  let bytes = 0;
  const server = createServer(({ headers: { range } }, response) => {
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
    const body = from === undefined ? text : text.slice(Number(from), Number(to) + 1);
    const part = from === undefined ? {} : { 'content-range': `bytes ${from}-${Number(from) + body.length - 1}/${text.length}` };
    bytes += body.length;
    response.writeHead(from === undefined ? 200 : 206, { 'content-type': 'text/csv', ...sent, ...part }).end(body);
  });
  try {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/one.csv`;
    writeFileSync(join(place, 'mapping.ttl'), MAPPING);
    const files = openFiles(join(place, 'dataset'), place, USUAL_S3_ACCESS);
    const run = (runId: string) => {
      const request = { ...requestOf({ mappings: ['mapping.ttl'], workingDirectory: place }, join(place, 'spill')), runId };
      return runDataset({ files, stateDirectory: join(place, 'dataset', 'state') }, { ...request, inputs: [{ name: 'one.csv', url }] }, {});
    };
    expect((await run('run-1')).added).toBe(before.split('\n').length - 2);
    [text, sent] = [after, headers[1]];
    bytes = 0;
    const { report, added } = await run('run-2');
    // A question for the state of an input is answered with its first byte.
    return { isRead: report !== undefined && bytes >= after.length, added };
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    rmSync(place, { recursive: true, force: true });
  }
}

const [OLD, NEW] = ['id\n1\n2\n', 'id\n1\n3\n'];

test('an input of a server with the same ETag is not read', async () => {
  const etag = { etag: '"1"' };
  expect(await second(OLD, OLD, [etag, etag])).toEqual({ isRead: false, added: 0 });
  expect(await second(OLD, NEW, [etag, { etag: '"2"' }])).toEqual({ isRead: true, added: 1 });
});

test.each([
  ['a weak ETag', { etag: 'W/"1"' }],
  ['a time', { 'last-modified': TIME }],
  ['nothing', {}],
])('an input of a server that has %s is read again', async (_, headers) => {
  expect(await second(OLD, NEW, [headers as Record<string, string>, headers as Record<string, string>])).toEqual({
    isRead: true,
    added: 1,
  });
});
