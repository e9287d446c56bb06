/** The whole service: one real process on the embedded queue, over HTTP. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { type Answering, startAnswering } from '../src/sources/web/running.ts';
import { fastDescribe, soakTest, test } from '../support/jest/extent.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { temporaryDirectory } from '../support/queues/backends.ts';
import { JOIN_MAPPING, PEOPLE, PEOPLE_LINES, peopleMapping, slowInput } from '../support/service/inputs.ts';
import { type Answer, ask, poll, postJson, type ServiceProcess, spawnService, startService } from '../support/service/process.ts';

let directory: { readonly path: string; remove(): Promise<void> };
let service: ServiceProcess;
const at = (name: string): string => join(directory.path, name);
const base = (): string => `${service.url}/semi-structured-transformer`;
const process_ = (body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer> =>
  postJson(`${base()}/process`, body, headers);
const linesOf = async (answer: Answer): Promise<string[]> => {
  const [url, ...others] = answer.body.outputFileLocations as string[];
  expect(others).toEqual([]);
  return (await readFile(fileURLToPath(url ?? ''), 'utf8')).trimEnd().split('\n').sort();
};

beforeAll(async () => {
  directory = await temporaryDirectory();
  for (const format of ['csv', 'json', 'xml'] as const) {
    await writeFile(at(`people.${format}`), PEOPLE[format]);
    await writeFile(at(`${format}.ttl`), peopleMapping(format, `people.${format}`));
  }
  service = await startService({ cwd: directory.path, env: { QUEUE_URL: 'embedded:', DATA_DIR: at('data'), WORKER_CONCURRENCY: '2' } });
});
afterAll(async () => {
  await service?.stop();
  await directory.remove();
});

test('the first log line says which queue is in use, and the listening line where', async () => {
  expect(service.log[0]).toMatchObject({ msg: 'queue opened', kind: 'embedded' });
  expect(await service.waitForLog('listening')).toMatchObject({ url: service.url, queue: expect.stringContaining('embedded') });
});

describe('a run that completes', () => {
  test.each(['csv', 'json', 'xml'] as const)('turns %s into a file of statements and its manifest', async (format) => {
    const answer = await process_({ inputFileURL: `file://${at(`people.${format}`)}`, mappingURL: `file://${at(`${format}.ttl`)}` });
    expect(answer.body).toMatchObject({
      input: [`file://${at(`people.${format}`)}`],
      successfulIterations: 1,
      failedIterations: 0,
      records: 2,
      quads: 2,
      rejectedRecords: 0,
      processingTime: expect.any(Number),
      mappingFiles: [expect.stringContaining(`${format}.ttl`)],
    });
    expect(answer.status).toBe(200);
    expect(await linesOf(answer)).toEqual(PEOPLE_LINES);
    const output = fileURLToPath(answer.body.outputFileLocations[0]);
    expect(output).toMatch(new RegExp(`/Semi-Structured-Transformer-${answer.body.runId}\\.nq$`));
    const manifest = JSON.parse(await readFile(output.replace(/\.nq$/, '.manifest.json'), 'utf8'));
    expect(JSON.stringify(manifest)).toContain('sha256');
  });

  test('reads an input that is packed with gzip', async () => {
    await writeFile(at('packed.csv.gz'), gzipSync(PEOPLE.csv));
    expect(await linesOf(await process_({ inputFileURL: at('packed.csv.gz'), mappingURL: at('csv.ttl') }))).toEqual(PEOPLE_LINES);
  });

  test.each(['xlsx', 'xls', 'ods'] as const)('reads a sheet of %s', async (format) => {
    const workbook = join(PROJECT_ROOT, 'test', 'src', 'sources', 'sheet', 'libreoffice', `features.${format}`);
    await writeFile(at(`book.${format}`), await readFile(workbook));
    await writeFile(at(`${format}.ttl`), peopleMapping('csv', `book.${format}#People`));
    const answer = await process_({ inputFileURL: `file://${at(`book.${format}`)}`, mappingURL: at(`${format}.ttl`) });
    expect(answer.body).toMatchObject({ records: 1, quads: 1 });
    expect(await linesOf(answer)).toEqual(['<http://example.com/1> <http://example.com/name> "rich text" .']);
    const refused = await process_({ inputFileURL: `file://${at(`book.${format}`)}#Nots`, mappingURL: at(`${format}.ttl`) });
    expect([refused.status >= 400, JSON.stringify(refused.body)]).toEqual([true, expect.stringContaining('Did you mean Notes')]);
  });

  test('joins two inputs, each bound to its logical source', async () => {
    await writeFile(at('join.ttl'), JOIN_MAPPING);
    await writeFile(at('p-2026.csv'), 'id,town\n1,b\n2,m\n3,x\n');
    await writeFile(at('t-2026.csv'), 'code,name\nb,Bonn\nm,Mainz\n');
    const answer = await process_({
      inputFileURL: [at('t-2026.csv'), at('p-2026.csv')],
      logicalSource: ['towns.csv', 'http://example.com/PeopleSource'],
      mappingURL: at('join.ttl'),
    });
    expect(await linesOf(answer)).toEqual([
      '<http://example.com/person/1> <http://example.com/livesIn> <http://example.com/town/Bonn> .',
      '<http://example.com/person/2> <http://example.com/livesIn> <http://example.com/town/Mainz> .',
    ]);
  });

  test('reports rows that find no partner, and warns where none does, and of triples maps without statements', async () => {
    await writeFile(at('join.ttl'), JOIN_MAPPING);
    await writeFile(at('p.csv'), 'id,town\n1,b\n2,x\n');
    const run = async (towns: string): Promise<Answer['body']> => {
      await writeFile(at('t.csv'), towns);
      const body = { inputFileURL: [at('t.csv'), at('p.csv')], logicalSource: ['towns.csv', 'http://example.com/PeopleSource'] };
      return (await process_({ ...body, mappingURL: at('join.ttl') })).body;
    };
    const some = await run('code,name\nb,Bonn\n');
    expect([some.joins, JSON.stringify(some.warnings)]).toEqual([
      [expect.objectContaining({ rows: 2, withoutPartner: 1, childKeys: ['"x"'], parentKeys: ['"b"'] })],
      expect.not.stringContaining('partner'),
    ]);
    const none = await run('code,name\nB,Bonn\n');
    expect([none.joins, none.warnings]).toEqual([
      [expect.objectContaining({ rows: 2, withoutPartner: 2, childKeys: ['"b"', '"x"'], parentKeys: ['"B"'] })],
      expect.arrayContaining([
        expect.stringMatching(/none of the 2 rows of .* found a partner/),
        expect.stringMatching(/gave no statement: no object map had a value/),
      ]),
    ]);
  });

  test('is started by GET as well', async () => {
    const query = new URLSearchParams({ inputFileURL: at('people.csv'), logicalSource: 'people.csv', mappingURL: at('csv.ttl') });
    expect(await linesOf(await ask(`${base()}/process?${query}`))).toEqual(PEOPLE_LINES);
  });

  test('takes a mapping put with /rml when none is named, and the new one at once when it is replaced', async () => {
    const put = (text: string) =>
      ask(`${base()}/rml?fileName=people.ttl`, { method: 'PUT', headers: { 'content-type': 'text/turtle' }, body: text });
    expect(await put(peopleMapping('csv', 'people.csv'))).toMatchObject({ status: 200, body: '' });
    expect(await linesOf(await process_({ inputFileURL: at('people.csv') }))).toEqual(PEOPLE_LINES);
    expect((await put(peopleMapping('csv', 'people.csv').replace('ex:name', 'ex:label'))).status).toBe(200);
    expect(await linesOf(await process_({ inputFileURL: at('people.csv') }))).toEqual(
      PEOPLE_LINES.map((line) => line.replace('name', 'label')),
    );
  });
});

fastDescribe('a run that fails', () => {
  beforeAll(async () => {
    await writeFile(at('people.pdf'), 'x');
    await writeFile(at('people'), 'x');
    await writeFile(at('broken.json'), '{"people": [{"id": 1, "name": "Ann"}, {"id" 2}]}');
    await writeFile(at('broken.xml'), '<people><person><id>1</id></people>');
    await writeFile(at('not-turtle.ttl'), '@prefix rml: <http://w3id.org/rml/> .\nrml:a rml:b ;;; "');
    await writeFile(at('not-mapping.ttl'), peopleMapping('csv', 'people.csv').replace('rml:subjectMap', 'rml:subjectMapp'));
    await writeFile(at('wrong-column.ttl'), peopleMapping('csv', 'people.csv').replace('"name"', '"nam"'));
  });

  test.each<[string, string, string, string, RegExp]>([
    ['an input of another type', 'people.pdf', 'csv.ttl', 'source/type', /pdf.*XML, JSON, CSV, XLSX, ODS/],
    ['an input without extension', 'people', 'csv.ttl', 'source/type', /extension.*XML, JSON, CSV, XLSX, ODS/],
    ['an input that is not there', 'poeple.csv', 'csv.ttl', 'source/missing', /poeple\.csv.*people\.csv/],
    ['JSON that is broken', 'broken.json', 'json.ttl', 'source/malformed', /./],
    ['XML that is broken', 'broken.xml', 'xml.ttl', 'source/malformed', /./],
    ['a mapping that is not there', 'people.csv', 'absent.ttl', 'mapping/unreadable', /absent\.ttl/],
    ['a mapping that is not Turtle', 'people.csv', 'not-turtle.ttl', 'mapping/syntax', /not-turtle\.ttl:2:/],
    ['a mapping that is not valid', 'people.csv', 'not-mapping.ttl', 'mapping/invalid', /subjectMap/],
    ['a column that is not there', 'people.csv', 'wrong-column.ttl', 'mapping/reference', /nam/],
  ])('%s: 400 and the failure message', async (_, input, mapping, code, reason) => {
    const before = Date.now();
    const url = `file://${at(input)}`;
    const { status, headers, body } = await process_({
      inputFileURL: url,
      logicalSource: mapping.startsWith('json') ? 'people.json' : mapping.startsWith('xml') ? 'people.xml' : 'people.csv',
      mappingURL: at(mapping),
    });
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(body).toMatchObject({
      name: 'Semi-Structured-Transformer',
      type: 'Semi-Structured-Transformer',
      entity: url,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      provenance: '',
      code,
    });
    expect(status).toBe(400);
    const start = `Record '${url}' could not be processed due to: `;
    expect(body.error.startsWith(start)).toBe(true);
    expect(body.error.slice(start.length)).toMatch(reason);
    expect(body.error).toMatch(/[^.]\.$/);
    expect(body.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/);
    // A date-time without zone is read as local time.
    expect(Math.abs(new Date(body.time).getTime() - before)).toBeLessThan(15_000);
    expect((await readdir(at('data/output'))).filter((name) => name.includes(body.runId))).toEqual([]);
    expect((await ask(`${base()}/runs/${body.runId}`)).body).toMatchObject({ state: 'failed', outcome: { failure: body } });
  });

  test('a request that is wrong makes no run', async () => {
    const count = async () => (await ask(`${base()}/runs?limit=1000`)).body.runs.length as number;
    const before = await count();
    const wrong = await process_({ inputFileURL: at('people.csv'), logicalSource: 'peple.csv', mappingURL: at('csv.ttl') });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'request/invalid', names: ['people.csv'] } });
    expect(wrong.headers.get('content-type')).toContain('application/problem+json');
    expect((await process_({})).status).toBe(400);
    expect(await count()).toBe(before);
  });
});

describe('a run that is not waited for', () => {
  const body = () => ({ inputFileURL: at('people.csv'), mappingURL: at('csv.ttl') });

  test('is answered 202, and found at its Location', async () => {
    const { status, headers, body: view } = await process_(body(), { prefer: 'respond-async' });
    expect(status).toBe(202);
    expect(headers.get('preference-applied')).toBe('respond-async');
    const location = headers.get('location') ?? '';
    expect(location).toBe(`${base()}/runs/${view.id}`);
    const done = await poll(location, ({ body }) => body.state === 'completed');
    expect(done.body).toMatchObject({
      id: view.id,
      input: [at('people.csv')],
      attempts: 1,
      outcome: { report: { quads: 2, runId: view.id } },
    });
    expect(Date.parse(done.body.endedAt)).toBeGreaterThanOrEqual(Date.parse(done.body.submittedAt));
  });

  test('is the same run for the same idempotency key, and another request with it is refused', async () => {
    const headers = { 'idempotency-key': 'order-66' };
    const answers = await Promise.all([process_(body(), headers), process_(body(), headers), process_(body(), headers)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body: { runId } }) => runId)).size).toBe(1);
    const other = await process_({ ...body(), mappingURL: at('json.ttl') }, headers);
    expect(other).toMatchObject({ status: 409, body: { code: 'request/conflict' } });
  });

  test('shows its progress, and can be cancelled while it reads', async () => {
    const input = await slowInput();
    try {
      const waiting = process_({ inputFileURL: input.url, mappingURL: at('csv.ttl') });
      await input.asked;
      const running = await poll(`${base()}/runs?state=running`, ({ body: { runs } }) => runs.length === 1);
      const { id } = running.body.runs[0];
      const cancelled = await ask(`${base()}/runs/${id}`, { method: 'DELETE' });
      expect([200, 202]).toContain(cancelled.status);
      const failure = await waiting;
      expect(failure).toMatchObject({ status: 400, body: { code: 'run/cancelled', runId: id } });
      expect((await ask(`${base()}/runs/${id}`)).body.state).toBe('cancelled');
      expect((await readdir(at('data/output'))).filter((name) => name.includes(id))).toEqual([]);
      expect((await ask(`${base()}/runs/${id}`, { method: 'DELETE' })).body).toMatchObject({ state: 'cancelled' });
    } finally {
      await input.close();
    }
  });

  soakTest('is answered 202 once PROCESS_WAIT_SECONDS are over, from the moment that the option is set', async () => {
    const input = await slowInput();
    const set = (seconds: number) =>
      ask(`${base()}/updateConfig?configEntry=PROCESS_WAIT_SECONDS&configValue=${seconds}`, { method: 'PUT' });
    try {
      expect((await set(1)).body).toEqual({ configEntry: 'PROCESS_WAIT_SECONDS', configValue: 1 });
      const { status, headers } = await process_({ inputFileURL: input.url, mappingURL: at('csv.ttl') });
      expect(status).toBe(202);
      input.release();
      await poll(headers.get('location') ?? '', ({ body }) => body.state === 'completed');
    } finally {
      await set(0);
      await input.close();
    }
  });
});

test('the documents of the operators stand at the root', async () => {
  expect((await ask(`${service.url}/health/live`)).status).toBe(200);
  expect((await ask(`${service.url}/health/ready`)).body).toMatchObject({ checks: { queue: 'up', workers: 'up' } });
  expect((await ask(`${service.url}/metrics`)).body).toContain('rml_runs_total{service="semi-structured-transformer",state="completed"}');
  expect((await ask(`${service.url}/openapi.json`)).body.openapi).toMatch(/^3\.1/);
  expect((await ask(`${service.url}/process`)).status).toBe(404);
});

describe('a process that is asked to end', () => {
  /** A separate service that reads a slow input. */
  const startSlow = async (name: string, drainSeconds: number) => {
    const cwd = at(name);
    await mkdir(cwd, { recursive: true });
    const env = { SERVICE: 'semi-structured-transformer', DRAIN_SECONDS: String(drainSeconds) };
    const input = await slowInput();
    const own = await startService({ cwd, env });
    const answer = postJson(`${own.url}/process`, { inputFileURL: input.url, mappingURL: at('csv.ttl') });
    await input.asked;
    return { cwd, env, input, own, answer };
  };

  soakTest('lets its run end, answers waiting callers, and exits 0', async () => {
    const { input, own, answer } = await startSlow('drain', 15);
    try {
      own.kill('SIGTERM');
      await own.waitForLog('draining');
      await expect(ask(`${own.url}/health/live`)).rejects.toThrow();
      input.release();
      expect(await answer).toMatchObject({ status: 200, body: { records: 2_000 } });
      expect(await own.exited).toEqual({ code: 0, signal: null });
    } finally {
      own.kill('SIGKILL');
      await input.close();
    }
  });

  soakTest('requeues a run that takes too long, answers where to find it, and the next process completes it', async () => {
    const { cwd, env, input, own, answer } = await startSlow('give-back', 1);
    let next: ServiceProcess | undefined;
    try {
      own.kill('SIGTERM');
      const { status, headers } = await answer;
      expect(status).toBe(202);
      expect(await own.exited).toEqual({ code: 0, signal: null });
      const output = join(cwd, 'data', 'output');
      expect(existsSync(output) ? (await readdir(output)).filter((name) => name.endsWith('.nq')) : []).toEqual([]);
      input.release();
      next = await startService({ cwd, env });
      const path = new URL(headers.get('location') ?? '').pathname;
      const { body } = await poll(next.url + path, ({ body: { state } }) => state === 'completed');
      expect(body.outcome.report.records).toBe(2_000);
      expect((await readdir(output)).filter((name) => name.endsWith('.nq'))).toHaveLength(1);
    } finally {
      own.kill('SIGKILL');
      await next?.stop();
      await input.close();
    }
  });

  soakTest('ends at once at the second signal', async () => {
    const { input, own, answer } = await startSlow('twice', 60);
    try {
      answer.catch(() => undefined);
      own.kill('SIGTERM');
      await own.waitForLog('draining');
      const asked = performance.now();
      own.kill('SIGINT');
      expect((await own.exited).code).toBe(1);
      expect(performance.now() - asked).toBeLessThan(20_000);
    } finally {
      own.kill('SIGKILL');
      await input.close();
    }
  });
});

describe('a process that cannot start reports why', () => {
  soakTest.each<[string, string[], Record<string, string>, number, RegExp]>([
    ['a worker alone on an embedded queue', ['--role', 'worker'], { QUEUE_URL: 'embedded:' }, 2, /QUEUE_URL/],
    ['an API alone without a queue', ['--role', 'api'], {}, 2, /QUEUE_URL/],
    ['another address without tokens', ['--host', '0.0.0.0'], { QUEUE_URL: 'embedded:' }, 2, /API_TOKENS/],
    ['a wrong value in the environment', [], { WORKER_CONCURRENCY: 'many' }, 2, /WORKER_CONCURRENCY/],
    ['an unknown option', ['--prot', '80'], {}, 2, /--port/],
    ['an unknown role', ['--role', 'boss'], {}, 2, /worker/],
    ['a queue that is not there', [], { QUEUE_URL: 'redis://127.0.0.1:1' }, 1, /127\.0\.0\.1:1/],
  ])('%s', async (name, args, env, code, complaint) => {
    const cwd = at(`start-${name.replaceAll(' ', '-')}`);
    await mkdir(cwd);
    const own = spawnService({ cwd, args, env: { PORT: '0', ...env } });
    expect(await own.exited).toEqual({ code, signal: null });
    expect(own.stderr()).toMatch(complaint);
    expect(own.stderr()).not.toMatch(/\n\s+at /);
    await rm(cwd, { recursive: true, force: true });
  });

  test('a port in use', async () => {
    const cwd = at('start-port');
    await mkdir(cwd);
    const own = spawnService({ cwd, args: ['--port', new URL(service.url).port], env: {} });
    expect(await own.exited).toEqual({ code: 1, signal: null });
    expect(own.stderr()).toMatch(/Cannot listen on 127\.0\.0\.1, port \d+: the port is in use by another program/);
  });
});

fastDescribe('a source that the mapping describes', () => {
  let endpoint: Answering;
  let own: ServiceProcess;
  const mapping = (
    address: string,
  ): string => `@prefix rml: <http://w3id.org/rml/> . @prefix sd: <http://www.w3.org/ns/sparql-service-description#> .
<http://example.com/Things> a rml:TriplesMap ; rml:logicalSource [ rml:source <http://example.com/Service> ; rml:iterator "SELECT ?s ?v { ?s ?p ?v }" ;
    rml:referenceFormulation <http://www.w3.org/ns/formats/SPARQL_Results_CSV> ] ;
  rml:subjectMap [ rml:reference "s" ] ; rml:predicateObjectMap [ rml:predicate <http://example.com/v> ; rml:objectMap [ rml:reference "v" ] ] .
<http://example.com/Service> a sd:Service ; sd:endpoint <${address}> .
`;
  const send = (body: unknown): Promise<Answer> => postJson(`${own.url}/semi-structured-transformer/process`, body);
  beforeAll(async () => {
    endpoint = await startAnswering();
    endpoint.answer = ({ headers }, response) =>
      headers['x-api-key'] === 'k3y'
        ? response.writeHead(200, { 'content-type': 'text/csv' }).end('s,v\nhttp://example.com/1,one\n')
        : response.writeHead(401).end();
    const env = { DATA_DIR: at('data-web'), SOURCE_LOGINS: `${endpoint.origin}/allowed X-Api-Key: k3y` };
    own = await startService({ cwd: directory.path, env });
  });
  afterAll(async () => {
    await own?.stop();
    await endpoint.stop();
  });

  test('is asked with the login of the options, at the address of the input', async () => {
    await writeFile(at('endpoint.ttl'), mapping('http://endpoint.invalid/sparql'));
    const inputFileURL = `${endpoint.origin}/allowed/sparql`;
    for (const logicalSource of [undefined, 'http://example.com/Service', 'http://endpoint.invalid/sparql']) {
      const answer = await send({
        inputFileURL,
        ...(logicalSource === undefined ? {} : { logicalSource }),
        mappingURL: at('endpoint.ttl'),
      });
      expect(answer.status).toBe(200);
      expect(await linesOf(answer)).toEqual(['<http://example.com/1> <http://example.com/v> "one" .']);
      expect(JSON.stringify(answer.body)).not.toContain('k3y');
    }
    expect(new URL(endpoint.seen[0]?.path ?? '', endpoint.origin).searchParams.get('query')).toBe('SELECT ?s ?v { ?s ?p ?v }');
  });

  test('that refuses the run is named in the failure message', async () => {
    await writeFile(at('endpoint.ttl'), mapping('http://endpoint.invalid/sparql'));
    const inputFileURL = `${endpoint.origin}/other/sparql`;
    const answer = await send({ inputFileURL, mappingURL: at('endpoint.ttl') });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ entity: inputFileURL, code: 'source/refused', error: expect.stringContaining('answered 401') });
  });

  test('is asked where the mapping says, beside an input for another source', async () => {
    const both = `${mapping(`${endpoint.origin}/allowed/sparql`)}${peopleMapping('csv', 'people.csv')}`;
    await writeFile(at('both.ttl'), both);
    const answer = await send({ inputFileURL: at('people.csv'), logicalSource: 'people.csv', mappingURL: at('both.ttl') });
    expect(answer.status).toBe(200);
    expect(await linesOf(answer)).toEqual(['<http://example.com/1> <http://example.com/v> "one" .', ...PEOPLE_LINES].sort());
  });

  test('has logins that cannot be read', async () => {
    const shown = await ask(`${own.url}/semi-structured-transformer/config?paths=SOURCE_LOGINS`);
    expect(JSON.stringify(shown.body)).toContain('******');
    expect(JSON.stringify(shown.body)).not.toContain('k3y');
  });
});
