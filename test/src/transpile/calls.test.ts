/** Calls of functions and conditions in jobs for DuckDB, against those of runs. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { transpileFiles } from '../../../bin/commands/mappings/compile.ts';
import { FUNCTIONS_IN_SQL } from '../../../src/transpile/functions/calls.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { soakSeeds } from '../../support/random.ts';
import { PARTS, writeCalls } from './calls.ts';
import { writeMapping } from './cases.ts';
import { type Engine, startDuckdb } from './duckdb.ts';
import { BASE, linesOfRun } from './lines.ts';

let engine: Engine;
const directory = mkdtempSync(join(tmpdir(), 'quadmill-calls-'));

beforeAll(async () => {
  engine = await startDuckdb();
});

afterAll(async () => {
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

async function outcome(mapping: string, own: string): Promise<string[] | string> {
  const job = await transpileFiles([mapping], 'duckdb', new Map(), BASE, own);
  expect(job.refusals).toEqual([]);
  return engine.run(job).catch((error: Error) => error.message);
}

test.each(soakSeeds(1, PARTS))('give the lines of a run, seed %i', async (seed) => {
  const own = join(directory, `${seed}`);
  mkdirSync(own);
  for (const { name, directory: place, mapping } of writeCalls(own, seed)) {
    const lines = await linesOfRun(mapping, place);
    expect([...lines].length).toBeGreaterThan(typeof lines === 'string' ? Number.POSITIVE_INFINITY : 100);
    expect([name, await outcome(mapping, place)]).toEqual([name, lines]);
  }
});

const call = (name: string, ...inputs: readonly string[]): string =>
  `rml:functionExecution [ rml:function ${name} ; rml:input ${inputs.map((input) => `[ rml:parameter ${input} ]`).join(' , ')} ]`;
const input = (parameter: string, value: string): string => `${parameter} ; rml:inputValueMap [ ${value} ]`;
const value = input('grel:valueParam', 'rml:reference "v"');

/** A mapping of `v`, in one line of JSON, to a literal. */
const written = (object: string, v: unknown) =>
  writeMapping(directory, 'one', {
    'mapping.ttl': `@prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> . @prefix qm: <http://w3id.org/quadmill/function#> .
<#M> SOURCE(v.jsonl,JSONPath) ; rml:subjectMap [ rml:template "http://e/{id}" ] ; rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ ${object} ] ] .`,
    'v.jsonl': `${JSON.stringify({ id: 1, v })}\n`,
  });

test.each([
  ['a letter whose other case is several letters', call('grel:toUpperCase', value), 'ŉ', 'the upper case of a letter is several letters'],
  ['a capital sigma', call('grel:toLowerCase', value), 'ΟΔΟΣ', 'the lower case of a letter'],
  ['a character beyond U+FFFF that is counted', call('grel:string_length', value), '😀', 'a text with one beyond U+FFFF'],
  [
    'what is no number',
    call('qm:lessThan', value, 'grel:param_dec_n2 ; rml:inputValue "5"').replace('grel:valueParam', 'grel:p_dec_n'),
    'x',
    'a text is not a number',
  ],
  ['what is no boolean', call('grel:boolean_not', input('grel:bool_b', 'rml:reference "v"')), 'x', 'a text is not a boolean'],
])('end the job for %s', async (_, object, v, message) => {
  const { mapping, directory: own } = written(object, v);
  expect(await outcome(mapping, own)).toContain(message);
});

test.each([
  ['a function that is not in SQL', call('grel:string_reverse', value), 'the function grel:string_reverse'],
  [
    'a regular expression',
    call('grel:string_replace', value, 'grel:p_string_find ; rml:inputValue "/a+/"', 'grel:p_string_replace ; rml:inputValue "b"'),
    'the function grel:string_replace with a regular expression',
  ],
  [
    'a list of several values',
    call('grel:array_join', input('grel:p_array_a', 'rml:reference "v[*]"'), 'grel:p_string_sep ; rml:inputValue "-"'),
    'the function grel:array_join with a reference with several values for a',
  ],
])('are refused for %s', async (_, object, reason) => {
  const { mapping, directory: own } = written(object, []);
  const { refusals } = await transpileFiles([mapping], 'duckdb', new Map(), BASE, own);
  expect(refusals.map((one) => one.reason)).toEqual([expect.stringContaining(reason)]);
});

test('are on the page', () => {
  const page = readFileSync(join(PROJECT_ROOT, 'docs/compile.md'), 'utf8');
  expect(FUNCTIONS_IN_SQL.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
