/** The graph writer as a service: requests, reports, exact failure texts, messages within the process. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { freePort } from '../servers/process/port.ts';
import { soakTest, test } from '../support/jest/extent.ts';
import { temporaryDirectory } from '../support/queues/backends.ts';
import { PEOPLE, peopleMapping } from '../support/service/inputs.ts';
import { type ServiceProcess, startService } from '../support/service/process.ts';

const directory = await temporaryDirectory();
const file = (name: string): string => join(directory.path, name);
let service: ServiceProcess;
let base: string;

beforeAll(async () => {
  await writeFile(file('a.nq'), '<http://e.org/s> <http://e.org/p> "a" .\n<http://e.org/s> <http://e.org/q> _:b <http://e.org/g> .\n');
  await writeFile(file('b.nq.gz'), gzipSync('<http://e.org/s> <http://e.org/p> "b" .\n'));
  await writeFile(file('a.csv'), 'a,b\n1,2\n');
  await writeFile(file('cut.nq'), '<http://e.org/s> <http://e.org/p> "c" .\n<http://e.org/s> <http://e.org/p> "d');
  await writeFile(file('bad.nq'), '<http://e.org/s> <http://e.org/p> "good" .\n<http://e.org/s> <relative> "bad" .\n');
  service = await startService({ cwd: directory.path, env: { PORT: '0', LOCAL_MESSAGES: 'false' } });
  base = `${service.url}/graph-writer`;
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await directory.remove();
}, 60_000);

const answer = async (response: Response) => ({ status: response.status, body: (await response.json()) as Record<string, unknown> });
const post = async (body: unknown, url = base) =>
  answer(await fetch(`${url}/process`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }));
const setOption = (entry: string, value: string) =>
  fetch(`${base}/updateConfig?configEntry=${entry}&configValue=${value}`, { method: 'PUT' });
const ask = async (query: string, root = service.url): Promise<readonly Record<string, { readonly value: string }>[]> => {
  const response = await fetch(`${root}/sparql?query=${encodeURIComponent(query)}`, {
    headers: { accept: 'application/sparql-results+json' },
  });
  return ((await response.json()) as { results: { bindings: Record<string, { value: string }>[] } }).results.bindings;
};
const valuesOf = async (subject: string, predicate: string, root = service.url): Promise<readonly string[]> =>
  (await ask(`SELECT ?o { <${subject}> <${predicate}> ?o } ORDER BY ?o`, root)).map(({ o }) => o?.value ?? '');

describe('a file that is written', () => {
  test('by GET is reported, and is in the store', async () => {
    const { status, body } = await answer(await fetch(`${base}/process?inputRdfURL=${encodeURIComponent(`file://${file('a.nq')}`)}`));
    expect(body).toMatchObject({ input: [`file://${file('a.nq')}`], mode: 'insert', quadsWritten: 2, batches: 1, rejectedRecords: 0 });
    expect(body.processingTime).toEqual(expect.any(Number));
    expect(status).toBe(200);
    expect(await valuesOf('http://e.org/s', 'http://e.org/p')).toEqual(['a']);
    const [node] = await ask('SELECT ?o { GRAPH <http://e.org/g> { ?s ?p ?o } }');
    expect(node?.o?.value).toMatch(/\/\.well-known\/genid\//);
  });

  test('by POST, two of them, one packed; twice is once', async () => {
    for (const _ of [1, 2]) {
      const { status, body } = await post({ inputFileURL: [file('a.nq'), file('b.nq.gz')] });
      expect(body).toMatchObject({ quadsWritten: 3, input: [file('a.nq'), file('b.nq.gz')] });
      expect(status).toBe(200);
    }
    expect(await valuesOf('http://e.org/s', 'http://e.org/p')).toEqual(['a', 'b']);
    expect(await ask('SELECT ?o { GRAPH <http://e.org/g> { ?s ?p ?o } }')).toHaveLength(1);
  });

  test('in update mode replaces the objects of its pairs, and the option holds from the moment that it is set', async () => {
    expect((await setOption('WRITE_MODE', 'update')).status).toBe(200);
    try {
      const { body } = await post({ inputFileURL: file('b.nq.gz') });
      expect(body).toMatchObject({ mode: 'update', quadsWritten: 1 });
      expect(await valuesOf('http://e.org/s', 'http://e.org/p')).toEqual(['b']);
    } finally {
      await setOption('WRITE_MODE', 'insert');
    }
  });

  test('in an update of graphs empties those that the request or the option names, and no other', async () => {
    const graphsOf = async (): Promise<readonly string[]> =>
      (await ask('SELECT DISTINCT ?g { GRAPH ?g { <http://e.org/named> ?p ?o } } ORDER BY ?g')).map(({ g }) => g?.value ?? '');
    const all = ['a', 'b', 'c'].map((name) => `http://e.org/named/${name}`);
    await writeFile(file('named.nq'), all.map((graph) => `<http://e.org/named> <http://e.org/p> "x" <${graph}> .\n`).join(''));
    await writeFile(file('none.nq'), '');
    await post({ inputFileURL: file('named.nq') });
    const refused = await post({ inputFileURL: file('none.nq'), graphs: [all[0]] });
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining('has the mode insert')]);
    try {
      await setOption('UPDATE_SCOPE', 'graph');
      await post({ inputFileURL: file('none.nq'), mode: 'update' });
      expect(await graphsOf()).toEqual(all);
      await post({ inputFileURL: file('none.nq'), mode: 'update', graphs: all[0] });
      expect(await graphsOf()).toEqual(all.slice(1));
      await setOption('UPDATE_GRAPHS', encodeURIComponent(all[1] as string));
      await post({ inputFileURL: file('none.nq'), mode: 'update' });
      expect(await graphsOf()).toEqual(all.slice(2));
      const query = new URLSearchParams({ inputRdfURL: file('none.nq'), mode: 'update', graphs: all[2] as string });
      await answer(await fetch(`${base}/process?${query}`));
      expect(await graphsOf()).toEqual([]);
    } finally {
      await setOption('UPDATE_SCOPE', 'property');
      await setOption('UPDATE_GRAPHS', '');
    }
  });

  test('with an invalid statement keeps the rest, and reports it', async () => {
    const { status, body } = await post({ inputFileURL: file('bad.nq') });
    expect(status).toBe(200);
    expect(body).toMatchObject({ quadsWritten: 1, rejectedRecords: 1, rejectedStatements: [{ line: 2, fault: { code: 'record/term' } }] });
    expect(body.rejections).toMatch(/Graph-Writer-\w+\.rejected\.ndjson$/);
    expect(await valuesOf('http://e.org/s', 'http://e.org/p')).toContain('good');
  });

  test('is a part of a directory, once the job that writes the directory has ended', async () => {
    await mkdir(file('graph'));
    for (const part of ['0', '1']) await writeFile(file(`graph/part-${part}.txt`), `<http://e.org/parts> <http://e.org/p> "${part}" .\n`);
    const early = await post({ inputFileURL: file('graph') });
    expect(early.status).toBe(400);
    expect(early.body).toMatchObject({ code: 'source/malformed', entity: file('graph') });
    expect(early.body.error).toContain('The directory has no file _SUCCESS');
    await writeFile(file('graph/_SUCCESS'), '');
    const url = `file://${file('graph')}/`;
    const { status, body } = await answer(await fetch(`${base}/process?inputRdfURL=${encodeURIComponent(url)}`));
    expect([status, body]).toEqual([200, expect.objectContaining({ input: [url], quadsWritten: 2 })]);
    expect(await valuesOf('http://e.org/parts', 'http://e.org/p')).toEqual(['0', '1']);
  });

  test('leaves nothing under a temporary name', async () => {
    expect((await readdir(join(directory.path, 'data', 'output'))).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('is a run that can be looked at', async () => {
    const { body } = await answer(await fetch(`${base}/runs`));
    expect((body.runs as { state: string; service: string }[]).every(({ service: name }) => name === 'graph-writer')).toBe(true);
    expect((body.runs as unknown[]).length).toBeGreaterThan(3);
  });
});

describe('a write that fails', () => {
  test('of a file of another type: 400, and the exact text', async () => {
    const { status, body } = await post({ inputFileURL: file('a.csv') });
    expect(status).toBe(400);
    expect(body).toMatchObject({ name: 'Graph-Writer', type: 'Graph-Writer', entity: file('a.csv'), code: 'source/type' });
    expect(body.error).toBe(`Record '${file('a.csv')}' could not be processed due to: Input has the file extension 'csv'; expected is nq`);
    expect(body).not.toHaveProperty('provenance');
    expect(body.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/);
  });

  test('of a file that is not there', async () => {
    const { status, body } = await post({ inputFileURL: file('nothing.nq') });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'source/missing', entity: file('nothing.nq') });
    expect(String(body.error)).toMatch(/^Record '.*nothing\.nq' could not be processed due to: .*[^.]$/);
  });

  test('of a truncated file names the line', async () => {
    const { status, body } = await post({ inputFileURL: file('cut.nq') });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'source/malformed', detail: { place: { line: 2 } } });
  });

  test.each([
    [{}, /inputFileURL/],
    [{ inputFileUrl: '/a.nq' }, /inputFileUrl/],
    [{ inputFileURL: [] }, /empty array/],
    [{ inputFileURL: 1 }, /number/],
  ])('because the request %j is wrong: a problem, and no run', async (request, detail) => {
    const { status, body } = await post(request);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'request/invalid', detail: expect.stringMatching(detail) });
  });
});

describe('the connection', () => {
  test('to the embedded store is checked', async () => {
    const { status, body } = await answer(await fetch(`${base}/checkConnection`));
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, target: 'embedded', type: 'embedded', product: 'Embedded store' });
  });

  test('to a store that is not there is a failure message', async () => {
    await setOption('TRIPLESTORE_TYPE', 'sparql');
    await setOption('TRIPLESTORE_ENDPOINT', 'http://127.0.0.1:1/ds');
    try {
      const { status, body } = await answer(await fetch(`${base}/checkConnection`));
      expect(status).toBe(400);
      expect(body).toMatchObject({ name: 'Graph-Writer', code: 'target/unreachable', entity: 'http://127.0.0.1:1/ds' });
    } finally {
      await setOption('TRIPLESTORE_TYPE', 'embedded');
      await setOption('TRIPLESTORE_ENDPOINT', '');
    }
  });

  test('that fails is reported while the run waits, and the run continues once it works', async () => {
    const port = await freePort();
    await setOption('TRIPLESTORE_TYPE', 'sparql');
    await setOption('TRIPLESTORE_ENDPOINT', `http://127.0.0.1:${port}/ds`);
    const log = (msg: string) => service.log.find((line) => line.msg === msg);
    let store: Server | undefined;
    try {
      const headers = { 'content-type': 'application/json', prefer: 'respond-async' };
      const body = JSON.stringify({ inputFileURL: file('a.nq') });
      const location = (await fetch(`${base}/process`, { method: 'POST', headers, body })).headers.get('location') as string;
      const run = new URL(location, service.url);
      const view = async () => (await (await fetch(run)).json()) as { state: string; progress?: Record<string, unknown> };
      // The log is written asynchronously, and progress twice a second.
      const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
        while (!(await holds())) await sleep(100);
      };
      await until(() => log('waiting for the target') !== undefined);
      expect(log('waiting for the target')).toMatchObject({ level: 'warn', reason: expect.stringContaining('cannot be reached') });
      await until(async () => (await view()).progress?.waiting !== undefined);
      expect(await view()).toMatchObject({ state: 'running', progress: { waiting: expect.stringContaining(`127.0.0.1:${port}`) } });
      store = createServer((_, response) => response.writeHead(204).end()).listen(port, '127.0.0.1');
      await until(async () => (await view()).state !== 'running');
      const { state, progress } = await view();
      expect(state).toBe('completed');
      expect(Object.keys(progress ?? {}).sort()).toEqual(['bytesRead', 'quads', 'records']);
      await until(() => log('target accepts statements again') !== undefined);
      expect(log('target accepts statements again')).toMatchObject({ run: run.pathname.split('/').at(-1) });
      expect(await (await fetch(`${service.url}/metrics`)).text()).toMatch(/^rml_write_retries_total [1-9]/m);
    } finally {
      store?.close();
      await setOption('TRIPLESTORE_TYPE', 'embedded');
      await setOption('TRIPLESTORE_ENDPOINT', '');
    }
  }, 60_000);

  test('is in the configuration, without its password', async () => {
    const { body } = await answer(await fetch(`${base}/config`));
    expect(body).toMatchObject({
      applicationName: 'Graph-Writer',
      serviceWriterConfig: { triplestore: { type: 'embedded', password: null } },
    });
  });
});

describe('blank nodes of runs', () => {
  const count = async (): Promise<number> => Number((await ask('SELECT (COUNT(*) AS ?n) { ?s <http://e.org/cell> ?o }'))[0]?.n?.value);
  const write = async (input: string): Promise<number> => {
    const request = { inputFileURL: file(input), logicalSource: 'rows.csv', mappingURL: file('rows.ttl') };
    const { body } = await post(request, `${service.url}/semi-structured-transformer`);
    await post({ inputRdfURL: (body as { outputFileLocations: readonly string[] }).outputFileLocations });
    return count();
  };

  test('are the same nodes in the store, however often an input is mapped and written, and others for another input', async () => {
    await writeFile(
      file('rows.ttl'),
      `@prefix rml: <http://w3id.org/rml/> .
<http://e.org/Row> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "rows.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:termType rml:BlankNode ] ;
  rml:predicateObjectMap [ rml:predicate <http://e.org/cell> ; rml:objectMap [ rml:reference "a" ] , [ rml:reference "b" ] ] .
`,
    );
    for (const name of ['rows.csv', 'more.csv']) await writeFile(file(name), 'a,b\n1,2\n3,4\n');
    expect([await write('rows.csv'), await write('rows.csv'), await write('rows.csv')]).toEqual([4, 4, 4]);
    expect([await write('more.csv'), await write('more.csv')]).toEqual([8, 8]);
  });
});

describe('messages within the process', () => {
  soakTest(
    'what a transformer has made reaches the store by itself',
    async () => {
      const cwd = join(directory.path, 'local');
      await mkdir(cwd);
      await writeFile(join(cwd, 'people.csv'), PEOPLE.csv);
      await writeFile(join(cwd, 'people.ttl'), peopleMapping('csv', 'people.csv'));
      const own = await startService({ cwd, env: { PORT: '0' } });
      try {
        const request = { inputFileURL: join(cwd, 'people.csv'), mappingURL: join(cwd, 'people.ttl') };
        const { body } = await post(request, `${own.url}/semi-structured-transformer`);
        const { quads } = body as { quads: number };
        expect(quads).toBeGreaterThan(0);
        const count = async (): Promise<number> => Number((await ask('SELECT (COUNT(*) AS ?n) { ?s ?p ?o }', own.url))[0]?.n?.value);
        while ((await count()) < quads) await sleep(100);
        expect(await count()).toBe(quads);
      } finally {
        await own.stop();
      }
    },
    120_000,
  );
});
