/** Pages of the changes of a version, and the version that a store has, over HTTP. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { QuadmillClient } from '../../../client/client.ts';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { openFiles } from '../../../src/datasets/files.ts';
import { removeVersions } from '../../../src/datasets/retention.ts';
import { runDataset } from '../../../src/datasets/run.ts';
import { USUAL_S3_ACCESS } from '../../../src/storage/s3-access.ts';
import { type FakeApi, startFakeApi } from '../../support/service/fake.ts';

const MAPPING = `
@prefix rml: <http://w3id.org/rml/> .
<http://example.com/m#Row> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "rows.csv" ] ;
    rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate <http://example.com/name> ; rml:objectMap [ rml:reference "name" ] ] ;
  rml:predicateObjectMap [ rml:predicate <http://example.com/town> ; rml:objectMap [ rml:template "{town}" ; rml:termType rml:BlankNode ] ] ;
  rml:predicateObjectMap [ rml:predicate <http://example.com/also> ; rml:objectMap [ rml:reference "name" ;
    rml:logicalTarget [ rml:target [ a rml:FilePath ; rml:path "also.nq" ] ] ] ] .
`;
const rows = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => `${from + i},name ${from + i},town ${(from + i) % 7}\n`).join('');

let directory: string;
let api: FakeApi;
let client: QuadmillClient;
let store: Server;
/** Of the store, as bindings of SPARQL results. */
let stored: readonly (readonly [predicate: string, object: string])[] = [];
let datasetId: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-pages-'));
  writeFileSync(join(directory, 'mapping.ttl'), MAPPING);
  const place = (name: string) => {
    const at = join(directory, 'datasets', name);
    return { files: openFiles(at, directory, USUAL_S3_ACCESS), stateDirectory: join(at, 'state') };
  };
  for (const [name, tables] of [
    ['people', [rows(0, 300), rows(100, 500), rows(100, 500)]],
    ['short', [rows(0, 3), rows(1, 3), rows(2, 5)]],
  ] as const) {
    for (const [at, table] of tables.entries()) {
      writeFileSync(join(directory, 'rows.csv'), `id,name,town\n${table}`);
      const request = {
        ...RUN_DEFAULTS,
        runId: `run-${at + 1}`,
        inputs: [],
        mappings: [join(directory, 'mapping.ttl')],
        workingDirectory: directory,
        spillDirectory: join(directory, 'spill'),
      };
      await runDataset(place(name), request, {});
    }
  }
  await removeVersions(place('short'), 2, { directory: join(directory, 'folding'), memoryBudgetBytes: 2 ** 20 });
  store = createServer((_, response) => {
    const binding = ([p, o]: readonly [string, string]) => ({
      s: { type: 'uri', value: `urn:uuid:${datasetId}` },
      p: { type: 'uri', value: `urn:x-quadmill:${p}` },
      o: { type: 'literal', value: o },
    });
    response.setHeader('content-type', 'application/sparql-results+json');
    response.end(JSON.stringify({ head: { vars: ['s', 'p', 'o'] }, results: { bindings: stored.map(binding) } }));
  });
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
  api = await startFakeApi({
    DATA_DIR: join(directory, 'data'),
    DATASETS_DIR_URL: join(directory, 'datasets'),
    TRIPLESTORE_TYPE: 'sparql',
    TRIPLESTORE_ENDPOINT: `http://127.0.0.1:${(store.address() as AddressInfo).port}/`,
  });
  client = new QuadmillClient(api.url, { retries: 0 });
  datasetId = (await client.datasets.get('people')).id;
}, 60_000);

afterAll(async () => {
  await api?.close();
  await new Promise((resolve) => store.close(resolve));
  rmSync(directory, { recursive: true, force: true });
});

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

describe('a page of changes', () => {
  test.each(['added', 'removed'] as const)('pages together are the %s statements of the version', async (which) => {
    const all = linesOf(await (await client.datasets.changes('people', 1, { format: 'nquads', which })).text());
    const found: string[] = [];
    for (let offset: number | null = 0; offset !== null; ) {
      const page = await client.datasets.changesPage('people', 2, { which, offset, limit: 70 });
      found.push(...page.statements);
      offset = page.next;
    }
    expect(all.length).toBe((await client.datasets.version('people', 2))[which]);
    expect(found.sort()).toEqual(all.sort());
  });

  test('has the subjects that are meant, and blank nodes in the form that is asked for', async () => {
    const { statements, next } = await client.datasets.changesPage('people', 2, { subject: '/41', blankNodes: 'keep' });
    expect(next).toBeNull();
    expect([...new Set(statements.map((line) => line.split(' ')[0]))].sort()).toEqual(
      Array.from({ length: 10 }, (_, i) => `<http://example.com/${410 + i}>`),
    );
    expect(statements.filter((line) => / _:q[0-9a-f]{32}\w+ \.$/.test(line))).toHaveLength(10);
    const skolem = await client.datasets.changesPage('people', 2, { subject: '/41' });
    expect(skolem.statements.some((line) => line.includes('_:'))).toBe(false);
  });

  test.each([
    ['people/versions/3/changes', 404],
    ['people/versions/0/changes', 400],
    ['people/versions/2/changes?which=both', 400],
    ['people/versions/2/changes?limit=1001', 400],
    ['people/versions/2/changes?limit=0', 400],
    ['people/versions/2/changes?offset=-1', 400],
    ['people/versions/2/changes?subject=', 400],
    ['people/versions/2/changes?target=x', 404],
    ['none/versions/1/changes', 404],
    ['short/versions/1/changes', 410],
  ])('%s is answered by the problem %d', async (path, status) => {
    const answer = await fetch(`${api.url}/datasets/${path}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json']);
  });

  test('of a logical target has the statements of that target', async () => {
    const { statements } = await client.datasets.changesPage('people', 2, { target: 'also.nq', limit: 1_000 });
    expect(statements).toHaveLength(200);
    expect(statements.every((line) => line.includes('<http://example.com/also>'))).toBe(true);
  });

  test('of a base is what that version has changed', async () => {
    const [added, removed] = await Promise.all(
      (['added', 'removed'] as const).map(async (which) => (await client.datasets.changesPage('short', 2, { which })).statements),
    );
    expect(added).toEqual([]);
    expect(removed?.map((line) => line.split(' ')[0])).toEqual(['<http://example.com/0>', '<http://example.com/0>']);
  });

  test('has a tag, so that it is not sent again', async () => {
    const path = `${api.url}/datasets/people/versions/2/changes?limit=2`;
    const first = await fetch(path);
    const tag = first.headers.get('etag') as string;
    expect([first.headers.get('content-type'), (await first.json()) as unknown]).toEqual([
      expect.stringMatching(/^application\/json/),
      { statements: expect.any(Array), next: 2 },
    ]);
    expect((await fetch(path, { headers: { 'if-none-match': tag } })).status).toBe(304);
    expect((await fetch(`${path}0`, { headers: { 'if-none-match': tag } })).status).toBe(200);
  });
});

describe('the version that the target has', () => {
  test.each<[string, typeof stored, object]>([
    ['nothing', [], { version: 0, complete: true }],
    [
      'a version',
      [
        ['name', 'people'],
        ['version', '1'],
        ['form', 'f'],
      ],
      { version: 1, complete: true },
    ],
    [
      'a part of one',
      [
        ['name', 'people'],
        ['loading', '2'],
        ['form', 'f'],
      ],
      { version: 2, complete: false },
    ],
  ])('%s', async (_, all, expected) => {
    stored = all;
    expect(await client.datasets.position('people')).toMatchObject({ type: 'sparql', currentVersion: 2, ...expected });
  });

  test('a dataset that is not there is a problem, and so is a process without a target', async () => {
    await expect(client.datasets.position('none')).rejects.toMatchObject({ status: 404 });
    const other = await startFakeApi({ DATA_DIR: join(directory, 'data'), DATASETS_DIR_URL: join(directory, 'datasets') });
    const answer = await fetch(`${other.url}/datasets/people/position`);
    expect(await answer.json()).toMatchObject({ code: 'config/invalid', hint: expect.stringContaining('TRIPLESTORE_ENDPOINT') });
    await other.close();
  });
});

test('without a worker nothing says what makes a statement', async () => {
  const statement = '<http://example.com/1> <http://example.com/name> "name 1" .';
  await expect(client.datasets.findStatement('people', { statement })).rejects.toMatchObject({ status: 503 });
  await expect(client.datasets.findStatement('people', { statement, version: 9 })).rejects.toMatchObject({ status: 404 });
  await expect(client.datasets.findStatement('people', { statement: ' ' })).rejects.toMatchObject({ status: 400 });
});
