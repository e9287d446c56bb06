/** Golden runs: a folder holds `mapping.ttl`, its inputs, and `expected.nq` (compared as a graph) or `fault.json`. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { RunReport, RunRequest } from '../../../src/run/request.ts';
import { executeRun } from '../../../src/run/run.ts';
import { difference } from '../../conformance/compare.ts';
import { plainLabels } from '../../support/read-rdf.ts';

const CASES = join(import.meta.dirname, 'cases');

interface Result {
  readonly text: string;
  readonly report: RunReport | undefined;
  readonly error: unknown;
}

/** What `options.json` of a case says of its run. */
function optionsOf(directory: string): { readonly onError?: RunRequest['onError']; readonly rejected?: number } {
  const path = join(directory, 'options.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}

async function run(directory: string, options: Partial<RunRequest> = {}): Promise<Result> {
  const parts: Buffer[] = [];
  const sink = { write: (lines: string) => void parts.push(Buffer.from(lines, 'latin1')), commit: async () => [], abort: async () => {} };
  const spillDirectory = mkdtempSync(join(tmpdir(), 'quadmill-golden-'));
  const request = {
    ...RUN_DEFAULTS,
    runId: 'golden',
    mappings: [join(directory, 'mapping.ttl')],
    inputs: [],
    workingDirectory: directory,
    spillDirectory,
    onError: optionsOf(directory).onError,
    ...options,
  };
  try {
    const report = await executeRun(request, sink, {});
    expect(readdirSync(spillDirectory)).toEqual([]);
    return { text: plainLabels(Buffer.concat(parts).toString()), report, error: undefined };
  } catch (error) {
    return { text: Buffer.concat(parts).toString(), report: undefined, error };
  } finally {
    rmSync(spillDirectory, { recursive: true });
  }
}

const nquads = (text: string) => ({ text, mediaType: 'application/n-quads', baseIri: 'http://example.com/' });

describe('golden runs', () => {
  const names = readdirSync(CASES);
  const good = names.filter((name) => !existsSync(join(CASES, name, 'fault.json')));
  const bad = names.filter((name) => !good.includes(name));

  test.each(good)('%s', async (name) => {
    const directory = join(CASES, name);
    const { text, report, error } = await run(directory);
    expect(error).toBeUndefined();
    const file = join(directory, 'expected.nq');
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, text);
    expect(difference(nquads(text), nquads(readFileSync(file, 'utf8')))).toBeUndefined();
    const lines = text.split('\n').slice(0, -1);
    expect(new Set(lines).size).toBe(lines.length);
    expect(report?.quads).toBe(lines.length);
    expect(report?.rejected).toBe(optionsOf(directory).rejected ?? 0);
  });

  test.each(good)('%s, when nothing fits in memory', async (name) => {
    const directory = join(CASES, name);
    const { text, error } = await run(directory, { memoryBudgetBytes: 0 });
    expect(error).toBeUndefined();
    const lines = text.split('\n').slice(0, -1);
    expect(new Set(lines).size).toBe(lines.length);
    expect(difference(nquads(text), nquads(readFileSync(join(directory, 'expected.nq'), 'utf8')))).toBeUndefined();
  });

  test.each(good)('%s, duplicates allowed, is the same graph', async (name) => {
    const { text } = await run(join(CASES, name), { distinct: false });
    expect(difference(nquads(text), nquads(readFileSync(join(CASES, name, 'expected.nq'), 'utf8')))).toBeUndefined();
  });

  test.each(bad)('%s', async (name) => {
    const { error } = await run(join(CASES, name));
    const expected = JSON.parse(readFileSync(join(CASES, name, 'fault.json'), 'utf8'));
    expect(error).toBeInstanceOf(Fault);
    const fault = error as Fault;
    expect(fault.code).toBe(expected.code);
    for (const word of expected.words) expect(fault.message).toContain(word);
    if (expected.hint !== undefined) expect(fault.hint).toContain(expected.hint);
    for (const [key, value] of Object.entries(expected.place))
      expect(String(fault.place[key as keyof Fault['place']])).toContain(String(value));
  });
});

describe('a run', () => {
  const JOIN = join(CASES, 'join-two-conditions');

  test('binds a source by its name to another file', async () => {
    const { text } = await run(JOIN, { inputs: [{ name: 'orders.csv', url: join(CASES, 'rows/none.csv') }] });
    expect(text).toBe('');
    const { report } = await run(JOIN, { inputs: [{ name: 'orders.csv', url: join(JOIN, 'orders.csv') }] });
    expect(report?.quads).toBe(3);
  });

  test.each<[name: string, inputs: RunRequest['inputs'], code: string, words: string]>([
    ['a name that the mapping has not', [{ name: 'order.csv', url: 'x.csv' }], 'request/invalid', 'order.csv'],
    ['no name and two sources', [{ name: undefined, url: 'x.csv' }], 'request/invalid', '2 file sources'],
    ['an extension of no format', [{ name: 'orders.csv', url: 'x.pdf' }], 'source/type', 'pdf'],
    ['a format that the mapping does not read', [{ name: 'orders.csv', url: 'x.json' }], 'source/type', 'JSON'],
  ])('refuses %s', async (_, inputs, code, words) => {
    const { error } = await run(JOIN, { inputs });
    expect(error).toBeInstanceOf(Fault);
    expect((error as Fault).code).toBe(code);
    expect((error as Fault).message).toContain(words);
  });

  test('does not ask why a triples map gave nothing that is only a parent', async () => {
    const { report } = await run(JOIN);
    expect(report?.triplesMaps.find(({ name }) => name === 'Stock')).toMatchObject({ quads: 0, empty: undefined });
  });

  test('ends when more records are rejected than allowed', async () => {
    const { error } = await run(join(CASES, 'legacy-skips-a-bad-record'), { maxRejected: 0 });
    expect((error as Fault).code).toBe('record/limit');
  });

  test.each([
    ['JSON', 'people.json', 'ql:JSONPath', '"$"', '{"id": 1, "name": "Ann"}'],
    ['XML', 'people.xml', 'ql:XPath', '"/person"', '<person><id>1</id><name>Ann</name></person>'],
  ])(
    'maps a message of %s without an optional member, and says so; with the policy strict it fails',
    async (_, file, formulation, iterator, message) => {
      const directory = mkdtempSync(join(tmpdir(), 'quadmill-message-'));
      try {
        writeFileSync(join(directory, file), message);
        writeFileSync(
          join(directory, 'mapping.ttl'),
          `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> . @prefix ql: <http://semweb.mmlab.be/ns/ql#> .
<#Person> rml:logicalSource [ rml:source "${file}" ; rml:referenceFormulation ${formulation} ; rml:iterator ${iterator} ] ;
  rr:subjectMap [ rr:template "http://e/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate <http://e/name> ; rr:objectMap [ rml:reference "name" ] ] ;
  rr:predicateObjectMap [ rr:predicate <http://e/mail> ; rr:objectMap [ rml:reference "mail" ] ] .`,
        );
        for (const onError of [undefined, 'skip', 'quarantine'] as const) {
          const { text, report } = await run(directory, { onError });
          expect(text).toBe('<http://e/1> <http://e/name> "Ann" .\n');
          expect(report?.warnings).toEqual([expect.stringContaining('No record has anything at mail')]);
        }
        expect((await run(directory, { onError: 'strict' })).error).toMatchObject({
          code: 'mapping/reference',
          place: { expression: 'mail' },
        });
      } finally {
        rmSync(directory, { recursive: true });
      }
    },
  );

  test('pairs all records of two sources without a join condition, in little memory, and says how many', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'quadmill-pairs-'));
    try {
      const rows = (name: string) => Array.from({ length: 300 }, (_, i) => `${name}${i % 200}`);
      for (const name of ['a', 'b']) writeFileSync(join(directory, `${name}.csv`), `id\n${rows(name).join('\n')}\n`);
      const map = (
        name: string,
        object: string,
      ) => `<#${name}> rml:logicalSource [ rml:source "${name}.csv" ; rml:referenceFormulation ql:CSV ] ;
  rr:subjectMap [ rr:template "http://e/{id}" ] ; rr:predicateObjectMap [ rr:predicate <http://e/p> ; rr:objectMap [ ${object} ] ] .`;
      writeFileSync(
        join(directory, 'mapping.ttl'),
        `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> . @prefix ql: <http://semweb.mmlab.be/ns/ql#> .
${map('a', 'rr:parentTriplesMap <#b>')}\n${map('b', 'rml:reference "id"')}`,
      );
      for (const memoryBudgetBytes of [RUN_DEFAULTS.memoryBudgetBytes, 0]) {
        const { text, report } = await run(directory, { memoryBudgetBytes });
        const pairs = text.split('\n').filter((line) => line.startsWith('<http://e/a'));
        expect([pairs.length, new Set(pairs).size]).toEqual([40_000, 40_000]);
        expect(report?.warnings).toContainEqual(expect.stringContaining('each record of one is paired with each of the other'));
        expect(report?.warnings).toContainEqual(
          expect.stringContaining('a refers to all records of b, since no join condition says which: 300 × 300 = 90000 pairs'),
        );
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test('the policy of the request goes before that of the dialect', async () => {
    expect(((await run(join(CASES, 'legacy-skips-a-bad-record'), { onError: 'strict' })).error as Fault).code).toBe('record/term');
    expect((await run(join(CASES, 'strict-ends-at-a-bad-record'), { onError: 'skip' })).report?.rejected).toBe(1);
  });
});
