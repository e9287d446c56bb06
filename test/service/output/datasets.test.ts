/** Runs of a real service that make versions of datasets: by request and by option, in their order, and after a process was killed. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { writeSqlite } from '../../servers/databases/sqlite.ts';
import { soakTest, test } from '../../support/jest/extent.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { PEOPLE_LINES, peopleMapping, slowInput } from '../../support/service/inputs.ts';
import { type Answer, ask, poll, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

let directory: { readonly path: string; remove(): Promise<void> };
let service: ServiceProcess;
const at = (name: string): string => join(directory.path, name);
const base = (): string => `${service.url}/semi-structured-transformer`;
const start = (): Promise<ServiceProcess> =>
  startService({
    cwd: directory.path,
    env: {
      QUEUE_URL: 'embedded:',
      DATA_DIR: at('data'),
      WORKER_CONCURRENCY: '2',
      LOCK_SECONDS: '2',
      STALLED_SECONDS: '1',
      RETRY_SECONDS: '1',
      JDBC_URL: `jdbc:sqlite:${at('shop.db')}`,
    },
  });

/** Writes rows of people, and asks for a run over them. */
async function run(dataset: string | undefined, rows: readonly string[], headers?: Readonly<Record<string, string>>): Promise<Answer> {
  const input = at(`${dataset}-${Math.random()}.csv`);
  await writeFile(input, `id,name\n${rows.map((row) => `${row}\n`).join('')}`);
  return postJson(`${base()}/process`, { inputFileURL: input, mappingURL: at('people.ttl'), dataset }, headers);
}

const setOption = (configEntry: string, configValue: string): Promise<Answer> =>
  ask(`${base()}/updateConfig`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ configEntry, configValue }),
  });

const linesOf = async (urls: readonly string[]): Promise<readonly string[]> => {
  const texts = await Promise.all(urls.map(async (url) => gunzipSync(await readFile(fileURLToPath(url))).toString()));
  return texts.flatMap((text) => text.trimEnd().split('\n')).sort();
};

const line = (id: string, name: string): string => `<http://example.com/${id}> <http://example.com/name> "${name}" .`;

beforeAll(async () => {
  directory = await temporaryDirectory();
  await writeFile(at('people.ttl'), peopleMapping('csv', 'people.csv'));
  service = await start();
}, 60_000);
afterAll(async () => {
  await service?.stop();
  await directory.remove();
});

test('a run makes a version: its report has the statements that came and those that went', async () => {
  const first = await run('people', ['1,Ann', '2,Bob']);
  expect([first.status, first.body]).toEqual([
    200,
    expect.objectContaining({
      dataset: 'people',
      version: 1,
      previousVersion: 0,
      added: 2,
      removed: 0,
      removedFileLocations: [],
      quads: 2,
    }),
  ]);
  expect(await linesOf(first.body.outputFileLocations)).toEqual(PEOPLE_LINES);
  const second = await run('people', ['1,Ann', '3,Cem']);
  expect(second.body).toMatchObject({ version: 2, previousVersion: 1, added: 1, removed: 1, records: 2, quads: 2 });
  expect(await linesOf(second.body.outputFileLocations)).toEqual([line('3', 'Cem')]);
  expect(await linesOf(second.body.removedFileLocations)).toEqual([line('2', 'Bob')]);
  expect(fileURLToPath(second.body.outputFileLocations[0])).toBe(at('data/datasets/people/versions/000002.added.nq.gz'));
  const same = await run('people', ['3,Cem', '1,Ann', '1,Ann']);
  expect([same.status, same.body]).toEqual([
    200,
    expect.objectContaining({ version: 2, previousVersion: 2, added: 0, removed: 0, outputFileLocations: [], removedFileLocations: [] }),
  ]);
  // The graph writer of the process takes the messages.
  const asked = new URLSearchParams({ query: `ASK { ${line('3', 'Cem')} }` });
  await poll(`${service.url}/sparql?${asked}`, ({ body }) => body.boolean === true, 15_000);
  const gone = new URLSearchParams({ query: `ASK { ${line('2', 'Bob')} }` });
  expect((await ask(`${service.url}/sparql?${gone}`)).body.boolean).toBe(false);
  const view = await ask(`${base()}/runs/${second.body.runId}`);
  expect(view.body).toMatchObject({ dataset: 'people', attempts: 1, outcome: { report: { version: 2, removed: 1 } } });
  const metrics = (await ask(`${service.url}/metrics`)).body as string;
  for (const [name, value] of [
    ['versions_total', '2'],
    ['added_total', '3'],
    ['removed_total', '1'],
    ['last_version_timestamp_seconds', '\\d+'],
    ['version', '2'],
    ['target_version', '2'],
  ])
    expect(metrics).toMatch(new RegExp(`^rml_dataset_${name}\\{dataset="people"\\} ${value}`, 'm'));
});

test('the same request three times makes one version, and the store stays as it is', async () => {
  await writeFile(
    at('blank.ttl'),
    `@prefix rml: <http://w3id.org/rml/> .
    <#Visit> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
      rml:subjectMap [ rml:termType rml:BlankNode ; rml:class <http://example.com/Visit> ] ;
      rml:predicateObjectMap [ rml:predicate <http://example.com/of> ; rml:objectMap [ rml:template "{name}" ; rml:termType rml:BlankNode ] ] ;
      rml:predicateObjectMap [ rml:predicate <http://example.com/visitor> ; rml:objectMap [ rml:reference "name" ] ] .`,
  );
  await writeFile(at('visits.csv'), 'id,name\n1,Ann\n2,Bob\n2,Bob\n');
  const stored = async (): Promise<readonly string[]> => {
    const query = 'SELECT ?s ?p ?o { ?s a <http://example.com/Visit> ; ?p ?o }';
    const { body } = await ask(`${service.url}/sparql?${new URLSearchParams({ query })}`);
    return body.results.bindings.map((row: unknown) => JSON.stringify(row)).sort();
  };
  const post = (): Promise<Answer> =>
    postJson(`${base()}/process`, { inputFileURL: at('visits.csv'), mappingURL: at('blank.ttl'), dataset: 'visits' });
  const targetVersion = async (): Promise<string | undefined> =>
    /^rml_dataset_target_version\{dataset="visits"\} (\d+)/m.exec((await ask(`${service.url}/metrics`)).body as string)?.[1];
  const first = await post();
  expect([first.status, first.body]).toEqual([200, expect.objectContaining({ version: 1, previousVersion: 0, added: 9, removed: 0 })]);
  await poll(`${service.url}/metrics`, ({ body }) => body.includes('rml_dataset_target_version{dataset="visits"} 1'), 15_000);
  const before = await stored();
  expect(before).toHaveLength(9);
  for (const same of [await post(), await post()])
    expect([same.status, same.body]).toEqual([
      200,
      expect.objectContaining({ version: 1, previousVersion: 1, added: 0, removed: 0, outputFileLocations: [], removedFileLocations: [] }),
    ]);
  const again = await postJson(`${service.url}/graph-writer/process`, { dataset: 'visits' });
  expect(again.body).toMatchObject({ version: 1, previousVersion: 1, quadsWritten: 0 });
  expect([await stored(), await targetVersion()]).toEqual([before, '1']);
  expect((await ask(`${service.url}/datasets/visits`)).body).toMatchObject({ currentVersion: 1 });
}, 60_000);

test('a run reads the rows that have changed', async () => {
  await mkdir(at('data/mappings/sql-transformer'), { recursive: true });
  await writeFile(
    at('data/mappings/sql-transformer/mapping.ttl'),
    `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix qms: <http://w3id.org/quadmill/source#> .
    <#C> rr:logicalTable [ rr:tableName "customers" ; qms:changedSince "version" ; qms:deletedWhen "gone" ] ; rr:subjectMap [ rr:template "http://example.com/{id}" ] ;
      rr:predicateObjectMap [ rr:predicate <http://example.com/name> ; rr:objectMap [ rr:column "name" ] ] .`,
  );
  await writeSqlite(
    at('shop.db'),
    "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, version INTEGER, gone BOOLEAN); INSERT INTO customers VALUES (1, 'Ann', 1, 0), (2, 'Bob', 2, 0), (3, 'Eve', 3, 1)",
  );
  const read = (): Promise<Answer> => ask(`${service.url}/sql-transformer/process?dataset=shop`);
  const first = await read();
  expect([first.status, first.body]).toEqual([200, expect.objectContaining({ version: 1, added: 2, removed: 0 })]);
  await writeSqlite(
    at('shop.db'),
    "UPDATE customers SET name = 'Bo', version = 4 WHERE id = 2; UPDATE customers SET name = 'unseen' WHERE id = 1",
  );
  const second = await read();
  expect(second.body).toMatchObject({ version: 2, previousVersion: 1, added: 1, removed: 1 });
  expect(await linesOf(second.body.outputFileLocations)).toEqual([line('2', 'Bo')]);
  expect((await read()).body).toMatchObject({ version: 2, previousVersion: 2, added: 0, removed: 0, outputFileLocations: [] });
});

test('the graph writer writes the versions that the target lacks, into the graph of the option', async () => {
  const write = (body: object): Promise<Answer> => postJson(`${service.url}/graph-writer/process`, body);
  const linesIn = async (graph: string): Promise<readonly string[]> => {
    const query = `SELECT ?s ?o { GRAPH <${graph}> { ?s ?p ?o } } ORDER BY ?s`;
    const { body } = await ask(`${service.url}/sparql?${new URLSearchParams({ query })}`);
    return body.results.bindings.map(({ s, o }: Record<string, { value: string }>) => `${s?.value} ${o?.value}`);
  };
  const person = (id: string, name: string): string => `http://example.com/${id} ${name}`;
  const graph = 'http://example.com/graph/written';
  const setGraph = (value: string) =>
    ask(`${service.url}/graph-writer/updateConfig?${new URLSearchParams({ configEntry: 'GRAPH_IRI', configValue: value })}`, {
      method: 'PUT',
    });
  expect((await setGraph('graph/{dataset}')).status).toBe(400);
  expect((await setGraph('http://example.com/graph/{dataset}')).status).toBe(200);
  try {
    await run('written', ['1,Ann', '2,Bob']);
    await run('written', ['1,Ann', '3,Cem']);
    const first = await write({ dataset: 'written' });
    expect([first.status, first.body]).toEqual([200, expect.objectContaining({ dataset: 'written', version: 2 })]);
    expect(await linesIn(graph)).toEqual([person('1', 'Ann'), person('3', 'Cem')]);
    const again = await write({ dataset: 'written' });
    expect(again.body).toMatchObject({ version: 2, previousVersion: 2, quadsWritten: 0, rejectedRecords: 0 });
    const update = `DELETE DATA { GRAPH <${graph}> { ${line('1', 'Ann')} } } ; INSERT DATA { GRAPH <${graph}> { ${line('9', 'Zoe')} } }`;
    const headers = { 'content-type': 'application/sparql-update' };
    expect((await ask(`${service.url}/sparql`, { method: 'POST', headers, body: update })).status).toBeLessThan(300);
    const resync = await write({ dataset: 'written', resync: true });
    expect(resync.body).toMatchObject({ version: 2, previousVersion: 2, quadsWritten: 2 });
    expect(await linesIn(graph)).toEqual([person('1', 'Ann'), person('3', 'Cem')]);
  } finally {
    await setGraph('');
  }
  const moved = await write({ dataset: 'written' });
  expect([moved.status, moved.body.code]).toEqual([400, 'request/conflict']);
  const unknown = await write({ dataset: 'unknown' });
  expect([unknown.status, unknown.body.code, unknown.body.error]).toEqual([
    400,
    'source/missing',
    expect.stringContaining('no dataset unknown'),
  ]);
  for (const [body, detail] of [
    [{ dataset: 'written', inputFileURL: at('a.nq') }, /both given/],
    [{ dataset: 'written', mode: 'insert' }, /mode and graphs are for files/],
    [{ inputFileURL: at('a.nq'), resync: true }, /resync is for a dataset/],
    [{ dataset: 'a b' }, /no name of a dataset/],
  ] as const)
    expect(await write(body)).toMatchObject({ status: 400, body: { detail: expect.stringMatching(detail) } });
}, 60_000);

test('a run that fails makes no version, and records that are rejected go to a file', async () => {
  await run('faults', ['1,Ann']);
  const [failed, next] = await Promise.all([
    postJson(`${base()}/process`, { inputFileURL: at('none.csv'), mappingURL: at('people.ttl'), dataset: 'faults' }),
    run('faults', ['1,Bob']),
  ]);
  expect([failed.status, failed.body.code, next.body.version]).toEqual([400, 'source/missing', 2]);
  await setOption('ON_ERROR', 'quarantine');
  await writeFile(
    at('typed.ttl'),
    peopleMapping('csv', 'people.csv')
      .replace('rml:reference "name"', 'rml:reference "name" ; rml:datatype xsd:integer')
      .replace('@prefix', '@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n@prefix'),
  );
  await writeFile(at('typed.csv'), 'id,name\n1,5\n2,five\n');
  const rejected = await postJson(`${base()}/process`, { inputFileURL: at('typed.csv'), mappingURL: at('typed.ttl'), dataset: 'faults' });
  await setOption('ON_ERROR', 'auto');
  expect(rejected.body).toMatchObject({
    version: 3,
    added: 1,
    removed: 1,
    rejectedRecords: 1,
    warnings: [expect.stringMatching(/rejected/)],
  });
  const file = at(`data/output/Semi-Structured-Transformer-${rejected.body.runId}.rejected.ndjson`);
  expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(1);
}, 30_000);

test('GET takes the name as well, and the option gives it to runs that name none', async () => {
  await writeFile(at('one.csv'), 'id,name\n1,Ann\n');
  const query = new URLSearchParams({ inputFileURL: at('one.csv'), mappingURL: at('people.ttl'), dataset: 'asked' });
  expect((await ask(`${base()}/process?${query}`)).body).toMatchObject({ dataset: 'asked', version: 1, added: 1 });
  const set = (value: string): Promise<Answer> => setOption('DATASET', value);
  expect((await set('../x')).status).toBe(400);
  expect((await set('usual')).status).toBe(200);
  expect((await run(undefined, ['1,Ann'])).body).toMatchObject({ dataset: 'usual', version: 1 });
  expect((await set('')).status).toBe(200);
  expect((await run(undefined, ['1,Ann'])).body.dataset).toBeUndefined();
});

test('RETAIN_VERSIONS folds old versions after a run, and the routes read what is left', async () => {
  const set = (configValue: number) =>
    ask(`${base()}/updateConfig`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ configEntry: 'RETAIN_VERSIONS', configValue }),
    });
  expect((await set(2)).status).toBe(200);
  for (const name of ['Ann', 'Bob', 'Cem', 'Dan'])
    expect((await run('short', [`1,${name}`])).body).toMatchObject({ dataset: 'short', warnings: [] });
  await set(0);
  const { body } = await ask(`${service.url}/datasets/short`);
  expect(body).toMatchObject({ currentVersion: 4, oldestVersion: 3, versions: [{ version: 4, added: 1, removed: 1 }, { version: 3 }] });
  expect((await ask(`${service.url}/datasets/short/changes?since=2`)).status).toBe(410);
  const graph = await ask(`${service.url}/datasets/short/graph?version=3`);
  expect(graph.body).toBe(`${line('1', 'Cem')}\n`);
});

test.each([
  ['', /dataset is no name of a dataset: 1 to 64 letters/],
  ['..', /no name of a dataset/],
  ['a/b', /no name of a dataset/],
  ['x'.repeat(65), /no name of a dataset/],
  [['a'], /dataset is/],
])('%j is no name of a dataset', async (dataset, message) => {
  const answer = await postJson(`${base()}/process`, { inputFileURL: at('one.csv'), mappingURL: at('people.ttl'), dataset });
  expect([answer.status, answer.headers.get('content-type'), answer.body.detail]).toEqual([
    400,
    expect.stringContaining('application/problem+json'),
    expect.stringMatching(message),
  ]);
});

test('an option that excludes datasets is named', async () => {
  await setOption('OUTPUT_FILE_FORMAT', 'turtle');
  const answer = await run('people', ['1,Ann']);
  await setOption('OUTPUT_FILE_FORMAT', 'nquads');
  expect([answer.status, answer.body]).toEqual([
    400,
    expect.objectContaining({
      detail: expect.stringContaining('the files of a dataset are N-Quads'),
      hint: 'Set OUTPUT_FILE_FORMAT=nquads',
    }),
  ]);
});

test('runs of a dataset take turns in the order of their requests, and hold up no other run', async () => {
  const slow = await slowInput(3);
  const async = { prefer: 'respond-async' };
  try {
    const asked = await postJson(`${base()}/process`, { inputFileURL: slow.url, mappingURL: at('people.ttl'), dataset: 'turns' }, async);
    const ids = [asked.body.id as string];
    await slow.asked;
    // The more urgent ones are taken first.
    for (const urgency of [5, 3, 1])
      ids.push((await run('turns', [`1,${urgency}`], { prefer: `respond-async, urgency=${urgency}` })).body.id as string);
    const cancelled = (await run('turns', ['1,none'], async)).body.id as string;
    expect((await run('others', ['1,Ann'])).body).toMatchObject({ dataset: 'others', version: 1 });
    expect((await ask(`${base()}/runs/${ids[3]}`)).body).toMatchObject({ state: 'queued', dataset: 'turns', attempts: 0 });
    await ask(`${base()}/runs/${cancelled}`, { method: 'DELETE' });
    slow.release();
    const ended = await Promise.all(ids.map((id) => poll(`${base()}/runs/${id}`, ({ body }) => body.outcome !== undefined, 15_000)));
    expect(ended.map(({ body }) => [body.outcome.report?.version, body.attempts])).toEqual([1, 2, 3, 4].map((version) => [version, 1]));
    expect(await linesOf(ended[3]?.body.outcome.report.outputFileLocations)).toEqual([line('1', '1')]);
    expect((await ask(`${base()}/runs/${cancelled}`)).body.state).toBe('cancelled');
  } finally {
    await slow.close();
  }
}, 60_000);

soakTest(
  'a run whose process is killed makes its version once, and before those that were asked for later',
  async () => {
    const slow = await slowInput(3);
    const async = { prefer: 'respond-async' };
    try {
      const asked = await postJson(`${base()}/process`, { inputFileURL: slow.url, mappingURL: at('people.ttl'), dataset: 'killed' }, async);
      await slow.asked;
      const later = await run('killed', ['1,Ann'], async);
      service.kill('SIGKILL');
      await service.exited;
      slow.release();
      service = await start();
      const [first, second] = await Promise.all(
        [asked, later].map(({ body }) => poll(`${base()}/runs/${body.id}`, (answer) => answer.body.outcome !== undefined, 30_000)),
      );
      expect(first?.body.outcome.report).toMatchObject({ version: 1, previousVersion: 0, added: 3 });
      expect(second?.body.outcome.report).toMatchObject({ version: 2, previousVersion: 1, added: 1, removed: 3 });
    } finally {
      await slow.close();
    }
  },
  90_000,
);
