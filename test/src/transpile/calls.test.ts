/** Calls of functions and conditions in jobs for DuckDB, against those of runs. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { transpileFiles } from '../../../bin/commands/mappings/compile.ts';
import { expand } from '../../../src/functions/names.ts';
import { findFunction } from '../../../src/functions/registry.ts';
import { duckdb } from '../../../src/transpile/dialects/duckdb.ts';
import { FUNCTIONS_IN_SQL } from '../../../src/transpile/functions/calls.ts';
import { column, printSql } from '../../../src/transpile/sql.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { soakSeeds } from '../../support/random.ts';
import { PARTS, writeCalls } from './calls.ts';
import { writeMapping } from './cases.ts';
import { type Engine, startDuckdb } from './duckdb.ts';
import { BASE, linesOfRun } from './lines.ts';
import { randomReplacing } from './patterns.ts';

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
  `rml:functionExecution [ rml:function <${expand(name)}> ; rml:input ${inputs.map((input) => `[ rml:parameter ${input} ]`).join(' , ')} ]`;
const input = (parameter: string, value: string): string => `${parameter} ; rml:inputValueMap [ ${value} ]`;
const value = input('grel:valueParam', 'rml:reference "v"');

/** A mapping of `v`, in one line of JSON, to a literal. */
const written = (object: string, v: unknown) =>
  writeMapping(directory, 'one', {
    'mapping.ttl': `@prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> . @prefix qm: <http://w3id.org/quadmill/function#> .
<#M> SOURCE(v.jsonl,JSONPath) ; rml:subjectMap [ rml:template "http://e/{id}" ] ; rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ ${object} ] ] .`,
    'v.jsonl': `${JSON.stringify({ id: 1, v })}\n`,
  });

/** A call of a function of a date, by its first two parameters. */
function dateCall(name: string, pattern: string): string {
  const [first, second] = findFunction(expand(name))?.parameters ?? [];
  return call(name, input(`<${first?.iri}>`, 'rml:reference "v"'), `<${second?.iri}> ; rml:inputValue "${pattern}"`);
}

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
  [
    'more digits than are exact',
    call('grel:string_toNumber', input('grel:param_any_e', 'rml:reference "v"')),
    '1.234567890123456',
    'a number has more than 15',
  ],
  [
    'what is too large for an integer',
    call('grel:math_floor', input('grel:p_dec_n', 'rml:reference "v"')),
    '9007199254740992',
    'too large for an exact',
  ],
  ['a year of five digits', dateCall('idlab-fn:normalizeDate', 'yyyy-M-d'), '12024-1-1', 'a year is not four digits'],
  ['what is no date', dateCall('grel:date_toDate', 'd/M/yyyy'), '30/2/2024', 'a text is no date of the pattern'],
  ['what is no boolean', call('grel:boolean_not', input('grel:bool_b', 'rml:reference "v"')), 'x', 'a text is not a boolean'],
])('end the job for %s', async (_, object, v, message) => {
  const { mapping, directory: own } = written(object, v);
  expect(await outcome(mapping, own)).toContain(message);
});

test.each([
  ['a function that is not in SQL', call('grel:string_reverse', value), 'the function grel:string_reverse'],
  [
    'names in a pattern of dates',
    dateCall('idlab-fn:normalizeDate', 'd MMM yyyy'),
    'the function idlab-fn:normalizeDate with the field MMM of a pattern of dates',
  ],
  [
    'optional parts of a pattern',
    dateCall('idlab-fn:normalizeDate', 'yyyy[-MM]'),
    'the function idlab-fn:normalizeDate with an optional part',
  ],
  [
    'a zone',
    `rml:functionExecution [ rml:function qm:parseDateTime ; rml:input ${[
      ['qm:value', 'rml:inputValueMap [ rml:reference "v" ]'],
      ['qm:pattern', 'rml:inputValue "yyyy"'],
      ['qm:zone', 'rml:inputValue "+02:00"'],
    ]
      .map(([name, value]) => `[ rml:parameter ${name} ; ${value} ]`)
      .join(' , ')} ]`,
    'the function qm:parseDateTime with a zone',
  ],
  [
    'a regular expression',
    call('grel:string_replace', value, 'grel:p_string_find ; rml:inputValue "/a(?=b)/"', 'grel:p_string_replace ; rml:inputValue "b"'),
    'the function grel:string_replace with a look-around in a regular expression',
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

/** Of `grel:string_replace`. */
const replaceCall = (find: string, replacement: string): string =>
  call(
    'grel:string_replace',
    value,
    `grel:p_string_find ; rml:inputValue ${JSON.stringify(find)}`,
    `grel:p_string_replace ; rml:inputValue ${JSON.stringify(replacement)}`,
  );

test.each([
  ['/(\\d+)-(\\d+)/', '$2/$1', '2022-01, 1-2-3'],
  ['/(a)|(b)/', '<$1$2>', 'abc'],
  ['/.{2}?/', '\\', 'a\nbc😀é'],
  ['/(?:a|bc)+/', '', 'xabcax'],
])('take the regular expression %s', async (find, replacement, v) => {
  const { mapping, directory: own } = written(replaceCall(find, replacement), v);
  const bounded = find.replace('+/', '{1,9}/');
  const lines = await linesOfRun(mapping, own);
  expect(lines).toHaveLength(1);
  const other = written(replaceCall(bounded, replacement), v);
  expect(await outcome(other.mapping, own)).toEqual(lines);
});

test.each(soakSeeds(1, 3))('replace what ECMAScript replaces, seed %i', async (seed) => {
  const all = randomReplacing(seed, 100);
  expect(all.filter(({ text, replaced }) => text !== replaced).length).toBeGreaterThan(20);
  for (const { source, pattern, text, replacement, replaced } of all) {
    const made = printSql({ kind: 'replaced', value: column('x'), pattern: pattern.source, replacement }, duckdb);
    expect([source, text, await engine.value(`SELECT ${made} FROM (SELECT ${duckdb.text(text)} AS x)`)]).toEqual([source, text, replaced]);
  }
});

test.each([
  ['/a*/', 'b', 'a regular expression that matches the empty text'],
  ['/(a)+/', 'b', 'a group that repeats'],
  ['/(?:a?)+/', 'b', 'a repetition of what may be empty'],
  ['/(?:ab)+/', 'b', 'more than 32 repetitions of several characters'],
  ['/\\bb/', 'b', 'a boundary of a word'],
  ['/(a)\\1/', 'b', 'a reference to a group'],
  ['/\\p{L}/', 'b', 'a property of Unicode'],
  ['/a{2000}/', 'b', 'more than 1000 repetitions'],
  ['/a/', '$1', 'the replacement $1'],
  ['/(a)/', '$&', 'the replacement $&'],
])('refuse the regular expression %s in the place of %s', async (find, replacement, reason) => {
  const { mapping, directory: own } = written(replaceCall(find, replacement), 'a');
  const { refusals } = await transpileFiles([mapping], 'duckdb', new Map(), BASE, own);
  expect(refusals.map((one) => one.reason)).toEqual([expect.stringContaining(reason)]);
});

test('are on the page', () => {
  const page = readFileSync(join(PROJECT_ROOT, 'docs/compile.md'), 'utf8');
  expect(FUNCTIONS_IN_SQL.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
