/** `/process` over HTTP with runs in memory: which requests become runs, which are refused, and how outcomes are answered. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { fastest } from '../support/fastest.ts';
import { type FakeApi, failureMessage, startFakeApi, successReport } from '../support/service/fake.ts';

const mappingOf = (...sources: readonly string[]): string => `
@prefix rml: <http://w3id.org/rml/> .
@base <http://example.com/map/> .
${sources
  .map(
    (path, i) => `
<#Map${i}> a rml:TriplesMap ;
  rml:logicalSource <#Source${i}> ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate <http://example.com/name> ; rml:objectMap [ rml:reference "name" ] ] .
<#Source${i}> a rml:LogicalSource ; rml:source [ a rml:RelativePathSource ; rml:path "${path}" ] ; rml:referenceFormulation rml:CSV .
`,
  )
  .join('')}`;

let directory: string;
let api: FakeApi;
const file = (name: string): string => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-api-'));
  await writeFile(file('one.ttl'), mappingOf('people.csv'));
  await writeFile(file('two.ttl'), mappingOf('people.csv', 'towns.csv'));
  await writeFile(file('broken.ttl'), '<a> <b> ;;; ');
  api = await startFakeApi({ DATA_DIR: directory });
});
afterAll(async () => {
  await api.close();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(() => {
  api.runs.breaks(undefined);
  api.runs.ends((id) => ({ state: 'completed', report: successReport(id) }));
});

const base = (): string => `${api.url}/semi-structured-transformer`;
const post = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${base()}/process`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const last = () => api.runs.submitted.at(-1);

describe('a request that becomes a run', () => {
  const one = 'file:///in/people.csv';
  const two = 'file:///in/towns.csv';
  test.each([
    ['one input of a mapping with one source', { inputFileURL: one, mappingURL: 'one.ttl' }, [[undefined, one]]],
    ['one input and its source', { inputFileURL: one, logicalSource: 'people.csv', mappingURL: 'one.ttl' }, [['people.csv', one]]],
    ['arrays of one', { inputFileURL: [one], logicalSource: ['people.csv'], mappingURL: ['one.ttl'] }, [['people.csv', one]]],
    ['plural spellings', { inputFileURLs: [one], logicalSources: 'people.csv', mappingURL: 'one.ttl' }, [['people.csv', one]]],
    [
      'several inputs, paired by position',
      { inputFileURL: [two, one], logicalSource: ['towns.csv', 'people.csv'], mappingURL: 'two.ttl' },
      [
        ['towns.csv', two],
        ['people.csv', one],
      ],
    ],
    [
      'two inputs for one source',
      { inputFileURL: [one, two], logicalSource: ['people.csv', 'people.csv'], mappingURL: 'two.ttl' },
      [
        ['people.csv', one],
        ['people.csv', two],
      ],
    ],
    [
      'a source named by its IRI',
      { inputFileURL: two, logicalSource: 'http://example.com/map/#Source1', mappingURL: 'two.ttl' },
      [['http://example.com/map/#Source1', two]],
    ],
    ['fields that are not ours beside ours', { inputFileURL: one, mappingURL: 'one.ttl', comment: 'x' }, [[undefined, one]]],
    ['a mapping that is not valid, which the run will say', { inputFileURL: one, mappingURL: 'broken.ttl' }, [[undefined, one]]],
    ['a mapping that is not there, which the run will say', { inputFileURL: one, mappingURL: 'absent.ttl' }, [[undefined, one]]],
  ])('%s', async (_, body, inputs) => {
    const mappingURL = Array.isArray(body.mappingURL) ? body.mappingURL.map(file) : file(body.mappingURL as string);
    const response = await post({ ...body, mappingURL });
    expect(await response.json()).toEqual(successReport(last()?.id ?? ''));
    expect(response.status).toBe(200);
    expect(last()?.request.inputs.map(({ name, url }) => [name, url])).toEqual(inputs);
    expect(last()?.request.mappings).toEqual([mappingURL].flat());
  });

  test('by GET, with repeated parameters', async () => {
    const query = new URLSearchParams({ mappingURL: file('two.ttl') });
    for (const url of [one, two]) query.append('inputFileURL', url);
    for (const source of ['people.csv', 'towns.csv']) query.append('logicalSource', source);
    const response = await fetch(`${base()}/process?${query}`);
    expect(response.status).toBe(200);
    expect(last()?.request.inputs).toEqual([
      { name: 'people.csv', url: one },
      { name: 'towns.csv', url: two },
    ]);
  });

  test('a directory as mapping stands for every .ttl in it', async () => {
    const mappings = await mkdtemp(join(directory, 'mappings-'));
    await writeFile(join(mappings, 'b.ttl'), mappingOf('towns.csv').replace('/map/>', '/towns/>'));
    await writeFile(join(mappings, 'a.ttl'), mappingOf('people.csv'));
    await writeFile(join(mappings, 'notes.txt'), 'not a mapping');
    const response = await post({ inputFileURL: one, logicalSource: 'people.csv', mappingURL: mappings });
    expect(response.status).toBe(200);
    expect(last()?.request.mappings).toEqual([join(mappings, 'a.ttl'), join(mappings, 'b.ttl')]);
    expect(last()?.request.run.boundOnly).toBe(true);
    expect((await post({ inputFileURL: two, mappingURL: mappings })).status).toBe(200);
    expect(last()?.request.inputs).toEqual([{ name: 'towns.csv', url: two }]);
    const refused = await post({ inputFileURL: 'file:///in/cars.csv', mappingURL: mappings });
    expect(await refused.json()).toMatchObject({ status: 400, names: ['people.csv', 'towns.csv'] });
  });
});

test('a source named by an IRI that the mapping writes relative to the base of the runs', async () => {
  await writeFile(file('relative.ttl'), mappingOf('people.csv').replace(/@base.*/, ''));
  const own = await startFakeApi({ DATA_DIR: directory, SERVICE: 'semi-structured-transformer', BASE_IRI: 'http://base.example/' });
  try {
    own.runs.ends((id) => ({ state: 'completed', report: successReport(id) }));
    const ask = (source: string) =>
      fetch(
        `${own.url}/process?${new URLSearchParams({ inputFileURL: 'a.csv', logicalSource: source, mappingURL: file('relative.ttl') })}`,
      );
    expect((await ask('http://base.example/#Source0')).status).toBe(200);
    expect((await ask('http://example.com/base/#Source0')).status).toBe(400);
  } finally {
    await own.close();
  }
});

describe('a request that is refused, and makes no run', () => {
  const input = 'file:///in/people.csv';
  test.each<[string, unknown, number, string, RegExp]>([
    ['an empty body', '', 400, 'request/invalid', /body is empty/],
    ['a body that is an array', [input], 400, 'request/invalid', /an array/],
    ['a body that is null', null, 400, 'request/invalid', /null/],
    [
      'broken JSON, with its place',
      '{\n  "inputFileURL": file\n}',
      400,
      'request/malformed',
      /line 2, column 19: expected JSON, in which names and texts are in double quotes/,
    ],
    ['no input', { logicalSource: 'people.csv' }, 400, 'request/invalid', /inputFileURL is missing/],
    ['no input in the array', { inputFileURL: [] }, 400, 'request/invalid', /empty array/],
    ['an input that is a number', { inputFileURL: 7 }, 400, 'request/invalid', /number/],
    ['an input that is empty', { inputFileURL: [input, ' '] }, 400, 'request/invalid', /entry 2/],
    ['a misspelt field', { inputFileUrl: input }, 400, 'request/invalid', /inputFileUrl/],
    ['a field in both spellings', { inputFileURL: input, inputFileURLs: [input] }, 400, 'request/invalid', /two spellings/],
    ['fewer sources than inputs', { inputFileURL: [input, input], logicalSource: ['people.csv'] }, 400, 'request/invalid', /2 and 1/],
    ['several inputs and no source', { inputFileURL: [input, input] }, 400, 'request/invalid', /logicalSource is missing/],
    ['no mapping anywhere', { inputFileURL: input }, 400, 'request/invalid', /no mappingURL/],
  ])('%s', async (_, body, status, code, detail) => {
    const before = api.runs.submitted.length;
    const response = await post(body);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(await response.json()).toMatchObject({ status, code, detail: expect.stringMatching(detail) });
    expect(response.status).toBe(status);
    expect(api.runs.submitted.length).toBe(before);
  });

  test('an unknown source is refused with the names of the existing ones', async () => {
    const before = api.runs.submitted.length;
    const response = await post({ inputFileURL: input, logicalSource: 'peple.csv', mappingURL: file('two.ttl') });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ names: ['people.csv', 'towns.csv'], hint: 'Did you mean people.csv?' });
    expect(api.runs.submitted.length).toBe(before);
  });

  test('no source, where the mapping has several', async () => {
    const response = await post({ inputFileURL: input, mappingURL: file('two.ttl') });
    expect(await response.json()).toMatchObject({ status: 400, names: ['people.csv', 'towns.csv'] });
  });

  test('a body of another media type', async () => {
    const response = await post('inputFileURL=x', { 'content-type': 'application/x-www-form-urlencoded' });
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({ code: 'request/media-type' });
  });

  test.each([
    ['that says its length', false],
    ['that comes in chunks', true],
  ])('a body that is too large, %s', async (_, chunked) => {
    const text = JSON.stringify({ inputFileURL: 'x'.repeat(11 * 2 ** 20) });
    const body = chunked ? new Blob([text]).stream() : text;
    const response = await fetch(`${base()}/process`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      ...(chunked ? { duplex: 'half' } : {}),
    } as RequestInit);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'request/too-large' });
  });
});

describe('the outcome', () => {
  const body = () => ({ inputFileURL: 'people.csv', mappingURL: file('one.ttl') });

  test('of a failed run is 400 and exactly its failure message', async () => {
    api.runs.ends((id) => ({ state: 'failed', failure: failureMessage(id) }));
    const response = await post(body());
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await response.json()).toEqual(failureMessage(last()?.id ?? ''));
  });

  test.each([
    ['respond-async', { prefer: 'respond-async' }],
    ['a wait that is over', { prefer: 'wait=1' }],
    ['both', { prefer: 'respond-async, wait=1' }],
  ])('is not waited for with %s: 202 says where it will be', async (_, headers) => {
    api.runs.ends(undefined);
    const response = await post(body(), headers);
    expect(response.status).toBe(202);
    expect(response.headers.get('preference-applied')).toBe(headers.prefer);
    const location = response.headers.get('location');
    expect(location).toBe(`${base()}/runs/${last()?.id}`);
    expect(await response.json()).toMatchObject({ id: last()?.id, state: 'running' });
    api.runs.end(last()?.id ?? '', { state: 'completed', report: successReport('r') });
    expect(await (await fetch(location ?? '')).json()).toMatchObject({ state: 'completed', outcome: { state: 'completed' } });
  });

  test('is found by 202 when the process ends first', async () => {
    const other = await startFakeApi({ DATA_DIR: directory, SERVICE: 'semi-structured-transformer' });
    try {
      const answer = fetch(`${other.url}/process`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body()),
      });
      while (other.runs.submitted.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
      other.end();
      const response = await answer;
      expect(response.status).toBe(202);
      expect(response.headers.get('location')).toBe(`${other.url}/runs/run-1`);
    } finally {
      await other.close();
    }
  });

  test('is still that of the run when the client that waited has gone', async () => {
    api.runs.ends(undefined);
    const gone = new AbortController();
    const before = api.runs.submitted.length;
    const answer = fetch(`${base()}/process`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body()),
      signal: gone.signal,
    });
    while (api.runs.submitted.length === before) await new Promise((resolve) => setTimeout(resolve, 10));
    gone.abort();
    await expect(answer).rejects.toThrow();
    const id = last()?.id ?? '';
    api.runs.end(id, { state: 'completed', report: successReport(id) });
    expect(await (await fetch(`${base()}/runs/${id}`)).json()).toMatchObject({ state: 'completed' });
  });

  test('of the same idempotency key and request is that of the same run; of another request it is a conflict', async () => {
    const headers = { 'idempotency-key': 'key-1' };
    const [first, second] = [await (await post(body(), headers)).json(), await (await post(body(), headers)).json()];
    expect((second as { runId: string }).runId).toBe((first as { runId: string }).runId);
    const other = await post({ ...body(), inputFileURL: 'other.csv' }, headers);
    expect(other.status).toBe(409);
    expect(await other.json()).toMatchObject({ code: 'request/conflict' });
  });

  test('HEAD does not start a run', async () => {
    const before = api.runs.submitted.length;
    const response = await fetch(`${base()}/process?inputFileURL=a.csv&mappingURL=${encodeURIComponent(file('one.ttl'))}`, {
      method: 'HEAD',
    });
    expect(response.status).toBe(405);
    expect(api.runs.submitted.length).toBe(before);
  });

  test.each(['refuses', 'hangs'] as const)('is 503 with Retry-After within two seconds when the queue %s', async (how) => {
    api.runs.breaks(how);
    const refusal = async (): Promise<number> => {
      const started = performance.now();
      const response = await post(body());
      const ended = performance.now();
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(await response.json()).toMatchObject({ code: 'service/unavailable' });
      return ended - started;
    };
    expect(await fastest(2_000, refusal)).toBeLessThan(2_000);
  });

  test('of an unexpected error is 500 and keeps what is inside', async () => {
    api.runs.breaks('internal');
    const response = await post(body(), { 'x-request-id': 'my-request' });
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).not.toContain('secret inner workings');
    expect(JSON.parse(text)).toMatchObject({ code: 'internal/error', requestId: 'my-request' });
  });
});
