/** `quadmill write --dataset`: what people see, and what is refused. */
import { execFile, spawn } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openEmbeddedStore } from '../../../../src/targets/embedded/embedded.ts';
import { writeDatasetTo } from '../../../../src/write/dataset/write.ts';
import { storeClient } from '../../../support/service/store-client.ts';
import { memoryTarget } from '../memory-target.ts';
import { listening, workspace } from '../writing.ts';
import { memoryDataset } from './memory-dataset.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-dataset-command-'));
  await writeFile(join(directory, 'people.ttl'), MAPPING);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const MAPPING = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> .
ex:m rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://e/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:in ; rml:objectMap [ rml:template "n{id}" ; rml:termType rml:BlankNode ] ; rml:graph ex:g ] .
`;

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const quadmill = (...args: readonly string[]): Promise<Ended> =>
  new Promise((done) => {
    const child = execFile(process.execPath, [resolve('bin/quadmill.js'), ...args], { cwd: directory }, (_, out, err) =>
      done({ code: child.exitCode, out, err }),
    );
  });
const write = (...args: readonly string[]): Promise<Ended> => quadmill('write', ...args);

async function version(rows: string): Promise<void> {
  await writeFile(join(directory, 'people.csv'), `id,name\n${rows}`);
  expect(await quadmill('run', 'people.ttl', '--dataset', 'people')).toMatchObject({ code: 0 });
}

async function inStore<T>(act: (client: ReturnType<typeof storeClient>) => Promise<T>): Promise<T> {
  const store = await openEmbeddedStore(join(directory, 'store'));
  try {
    return await act(storeClient(store.endpoint));
  } finally {
    await store.close();
  }
}

const names = async (): Promise<readonly string[]> =>
  (await inStore((client) => client.quads())).filter((line) => line.includes('<http://e/name>'));
const stats = ({ err }: Ended): unknown => JSON.parse(err.trim().split('\n').at(-1) as string);
const named = (id: number, name: string): string => `<http://e/${id}> <http://e/name> "${name}" .`;

describe('quadmill write --dataset', () => {
  test('with --follow each new version is written, until SIGTERM', async () => {
    await version('1,Ann\n');
    const args = ['write', '--dataset', 'people', '--target', 'followed', '--follow'];
    const child = spawn(process.execPath, [resolve('bin/quadmill.js'), ...args], { cwd: directory });
    let out = '';
    child.stdout.on('data', (text) => {
      out += text;
    });
    const ended = new Promise((done) => child.on('exit', done));
    const has = async (number: number): Promise<void> => {
      for (const deadline = Date.now() + 30_000; !out.includes(`has version ${number},`) && Date.now() < deadline; )
        await new Promise((done) => setTimeout(done, 50));
      expect(out).toContain(`has version ${number},`);
    };
    await has(1);
    await version('1,Ann\n2,Bob\n');
    await has(2);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    const store = await openEmbeddedStore(join(directory, 'followed'));
    const lines = await storeClient(store.endpoint).quads();
    await store.close();
    expect(lines.filter((line) => line.includes('<http://e/name>'))).toEqual([named(1, 'Ann'), named(2, 'Bob')]);
    await rm(join(directory, 'people'), { recursive: true });
    const refused = await write('--dataset', 'people', '--target', 'followed', '--follow', '--resync');
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('leave out --follow')]);
    const without = await write('graph.nq', '--target', 'followed', '--follow');
    expect([without.code, without.err]).toEqual([2, expect.stringContaining('give --dataset DIR')]);
  });

  test('writes what the target lacks, once; a resync mends it', async () => {
    await version('1,Ann\n2,Bob\n');
    const first = await write('--dataset', 'people', '--target', 'store', '--stats');
    expect([first.code, first.out]).toEqual([
      0,
      expect.stringMatching(/^dataset people: Embedded store .*store has version 1, 4 statements/),
    ]);
    expect(stats(first)).toMatchObject({ dataset: 'people', version: 1, previousVersion: 0, statements: 4, rejected: 0 });
    await version('1,Ann\n3,Cyd\n');
    await version('1,Ann\n3,Cid\n');
    const second = await write('--dataset', 'people', '--target', 'store', '--stats');
    expect(stats(second)).toMatchObject({ version: 3, previousVersion: 1, statements: 6 });
    expect(await names()).toEqual([named(1, 'Ann'), named(3, 'Cid')]);
    const again = await write('--dataset', 'people', '--target', 'store', '--stats');
    expect([stats(again), again.out]).toEqual([
      expect.objectContaining({ version: 3, previousVersion: 3, statements: 0, batches: 0 }),
      expect.stringContaining('has version 3 already'),
    ]);
    await inStore(async (client) => {
      expect((await client.quads()).filter((line) => line.includes('_:'))).toEqual([]);
      await client.update(
        'DELETE DATA { <http://e/1> <http://e/name> "Ann" } ; INSERT DATA { <urn:x> <urn:p> "1" . GRAPH <urn:other> { <urn:x> <urn:p> "1" } }',
      );
    });
    const resync = await write('--dataset', 'people', '--target', 'store', '--resync', '--stats');
    expect([resync.code, resync.out, stats(resync)]).toEqual([
      0,
      expect.stringContaining('2 statements differed'),
      expect.objectContaining({ statements: 2 }),
    ]);
    const lines = await inStore((client) => client.quads());
    expect([lines.filter((line) => line.startsWith('<urn:x>')), await names()]).toEqual([
      ['<urn:x> <urn:p> "1" <urn:other> .'],
      [named(1, 'Ann'), named(3, 'Cid')],
    ]);
  }, 240_000);

  test('another dataset of the name, another form, a version that is not there, and removed versions are refused; a resync takes them', async () => {
    const refused = async (...args: readonly string[]): Promise<string> => {
      const { code, err } = await write('--dataset', ...args, '--target', 'store');
      expect([code, err]).toEqual([2, expect.stringContaining('--resync')]);
      return err;
    };
    expect(await refused('people', '--graph', 'http://e/other')).toContain('in another form: graph default');
    const description = join(directory, 'people', 'dataset.json');
    await copyFile(description, join(directory, 'kept.json'));
    const other = { ...JSON.parse(await readFile(description, 'utf8')), id: 'c0ffee00-0000-4000-8000-000000000000' };
    await writeFile(description, JSON.stringify(other));
    expect(await refused('people')).toContain('another dataset that is also called people');
    await copyFile(join(directory, 'kept.json'), description);
    await rm(join(directory, 'people', 'versions', '000003.json'));
    expect(await refused('people')).toContain('has version 3 of the dataset people, whose newest version is 2');
    expect(await write('--dataset', 'people', '--target', 'store', '--resync')).toMatchObject({ code: 0 });
    expect(await names()).toEqual([named(1, 'Ann'), named(3, 'Cyd')]);
    for (const name of ['Cid', 'Cad', 'Cud']) await version(`1,Ann\n3,${name}\n`);
    expect(await quadmill('dataset', 'remove-versions', 'people', '--keep', '1')).toMatchObject({ code: 0 });
    expect(await refused('people')).toContain('oldest changes are those of version 5');
    expect(await write('--dataset', 'people', '--target', 'store', '--resync')).toMatchObject({ code: 0 });
    expect(await names()).toEqual([named(1, 'Ann'), named(3, 'Cud')]);
    expect(stats(await write('--dataset', 'people', '--target', 'store', '--stats'))).toMatchObject({ version: 5, statements: 0 });
  }, 240_000);

  test('--graph takes the statements that are in none', async () => {
    const args = ['--dataset', 'people', '--target', 'graph-store', '--graph', 'http://e/own'];
    expect(await write(...args)).toMatchObject({ code: 0 });
    await version('1,Eva\n');
    expect(await write(...args)).toMatchObject({ code: 0 });
    const store = await openEmbeddedStore(join(directory, 'graph-store'));
    const lines = await storeClient(store.endpoint).quads();
    await store.close();
    expect(lines.filter((line) => line.includes('<http://e/name>'))).toEqual(['<http://e/1> <http://e/name> "Eva" <http://e/own> .']);
  }, 120_000);

  test.each([
    [['--dataset', 'people', 'x.nq', '--target', 's'], 'files or --dataset, not both'],
    [['--dataset', 'people', '--target', 's', '--mode', 'update'], 'leave out --mode'],
    [['--dataset', 'people', '--target', 's', '--scope', 'graph'], 'leave out --scope'],
    [['--dataset', 'people', '--target', 's', '--graph', 'a:b', '--graph', 'a:c'], 'takes one --graph'],
    [['x.nq', '--target', 's', '--resync'], 'give --dataset DIR'],
    [['--dataset', 'people'], 'needs a target'],
    [['--dataset', 'people', '--target', 's', '--graph', 'own'], 'is no absolute IRI'],
  ])('%j is wrong', async (args, words) => {
    expect(await write(...args)).toMatchObject({ code: 2, err: expect.stringContaining(words) });
  });

  test.each([
    [['--dataset', 'nothing', '--target', 's'], 'There is no dataset in'],
    [['--dataset', '.', '--target', 's'], 'There is no dataset in'],
  ])('%j fails', async (args, words) => {
    expect(await write(...args)).toMatchObject({ code: 1, err: expect.stringContaining(words) });
  });

  test('a store that takes no updates', async () => {
    const server = createServer((request, response) => {
      if (request.method === 'GET') response.writeHead(200).end('{"results":{"bindings":[]}}');
      else response.writeHead(405).end('Method not allowed');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const { code, err } = await write('--dataset', 'people', '--target', `http://127.0.0.1:${port}/sparql`);
    server.close();
    server.closeAllConnections();
    expect([code, err]).toEqual([1, expect.stringContaining('takes no statements there')]);
  });
});

describe('a write of a dataset', () => {
  const space = workspace();
  afterAll(() => space.remove());

  test('needs a target that keeps versions', async () => {
    const request = { ...space.request([]), dataset: memoryDataset(), graph: undefined, resync: undefined };
    await expect(writeDatasetTo(memoryTarget(), request, listening())).rejects.toMatchObject({
      code: 'request/invalid',
      message: expect.stringContaining('cannot keep versions'),
    });
  });

  test('of a dataset without a version sends nothing', async () => {
    const sent: unknown[] = [];
    const versions = { takesKept: false, positions: async () => [], change: async (batch: unknown) => void sent.push(batch) };
    const request = { ...space.request([]), dataset: memoryDataset(), graph: undefined, resync: undefined };
    const report = await writeDatasetTo({ ...memoryTarget(), versions }, request, listening());
    expect([report.statements, report.version, sent]).toEqual([0, 0, []]);
  });

  test('a comparison needs a target that can be read', async () => {
    const dataset = memoryDataset();
    dataset.push(['<http://e/s> <http://e/p> "1" .\n']);
    const versions = { takesKept: true, positions: async () => [], change: async () => undefined };
    const request = { ...space.request([]), dataset, graph: undefined, resync: () => [] };
    await expect(writeDatasetTo({ ...memoryTarget(), versions }, request as never, listening())).rejects.toMatchObject({
      message: expect.stringContaining('cannot be read back'),
    });
  });

  test.each([
    ['other datasets', [{ id: 'other', name: 'other', version: 1, complete: true, form: '' }], [], 'also has other'],
    ['statements of nothing known', [], ['<urn:x> <urn:p> "1" .'], 'other statements there'],
  ] as const)('a comparison of the default graph of a store with %s', async (_, positions, there, words) => {
    const dataset = memoryDataset();
    dataset.push(['<http://e/s> <http://e/p> "1" .\n']);
    const versions = {
      takesKept: false,
      positions: async () => positions,
      change: async () => undefined,
      async *read() {
        yield there.map(() => ({ subject: '<urn:x>', predicate: '<urn:p>', object: '"1"', graph: '', line: 1 }));
      },
    };
    const request = { ...space.request([]), dataset, graph: undefined, resync: () => [] };
    await expect(writeDatasetTo({ ...memoryTarget(), versions }, request as never, listening())).rejects.toMatchObject({
      code: 'request/conflict',
      message: expect.stringContaining(words),
    });
  });
});
