/** Look-ups in files: what a call gives, in every place of a mapping, in threads and slices, and what is refused. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { Fault } from '../../../../src/core/fault.ts';
import type { RunHooks, RunReport, RunRequest } from '../../../../src/run/request.ts';
import { executeRun, sliceRun } from '../../../../src/run/run.ts';
import { built } from '../../../support/project-root.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-tables-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function put(name: string, text: string | Uint8Array): string {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const requestOf = (changes: Partial<RunRequest>): RunRequest => ({
  ...RUN_DEFAULTS,
  runId: 'tables',
  mappings: ['m.ttl'],
  inputs: [],
  workingDirectory: directory,
  spillDirectory: join(directory, 'spill'),
  ...changes,
});

type Execute = typeof executeRun;

async function run(
  changes: Partial<RunRequest> = {},
  hooks: RunHooks = {},
  execute: Execute = executeRun,
): Promise<{ lines: string[]; report: RunReport }> {
  const parts: string[] = [];
  const sink = {
    write: (lines: string | Uint8Array) => void parts.push(Buffer.from(lines as string, 'latin1').toString()),
    commit: async () => [],
    abort: async () => {},
  };
  const report = await execute(requestOf(changes), sink, hooks);
  const lines = parts.join('').split('\n').slice(0, -1);
  return { lines: lines.sort(), report };
}

async function faultOf(changes: Partial<RunRequest> = {}): Promise<Fault> {
  const error = await run(changes).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
}

const PREFIXES = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> . @prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> .
@prefix idlab-fn: <https://w3id.org/imec/idlab/function#> .\n`;

interface Call {
  readonly value?: string;
  readonly file?: string;
  readonly from?: number | string;
  readonly to?: number | string;
  readonly delimiter?: string;
}

const input = (parameter: string, map: string): string => `rml:input [ rml:parameter ${parameter} ; rml:inputValueMap [ ${map} ] ]`;

/** The execution as an expression of a term map. */
function lookUp({ value = 'code', file = 'codes.csv', from = 0, to = 1, delimiter }: Call = {}): string {
  const inputs = [
    input('idlab-fn:str', `rml:reference "${value}"`),
    input('idlab-fn:inputFile', `rml:constant "${file}"`),
    input('idlab-fn:fromColumn', `rml:constant ${from}`),
    input('idlab-fn:toColumn', `rml:constant ${to}`),
    ...(delimiter === undefined ? [] : [input('idlab-fn:delimiter', `rml:constant "${delimiter}"`)]),
  ];
  return `rml:functionExecution [ rml:function idlab-fn:lookup${delimiter === undefined ? '' : 'WithDelimiter'} ; ${inputs.join(' ; ')} ]`;
}

const csv = (path: string): string =>
  `rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${path}" ] ; rml:referenceFormulation rml:CSV ]`;
const mapOf = (call: Call = {}, source = csv('in.csv')): string => `${PREFIXES}<http://m/map> ${source} ;
  rml:subjectMap [ rml:template "http://e/{id}" ] ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ ${lookUp(call)} ] ] .`;

const INPUT = 'id,code\n1,a\n2,b\n3,x\n4,\n5,code\n6,é\n';
const CODES = 'code,text\na,first\n"b","second, ""2"""\na,again\nx,\né,été\n';

describe('a look-up', () => {
  test.each([
    ['commas, quotes, the first of two rows, an empty cell, the first row, characters', 'codes.csv', CODES, {}],
    ['a delimiter', 'codes.csv', CODES.replaceAll(',', ';').replace('second;', 'second,'), { delimiter: ';' }],
    ['the tabs of a .tsv', 'codes.tsv', 'code\ttext\na\tfirst\nb\tsecond, "2"\nx\t\né\tété\n', { file: 'codes.tsv' }],
    ['tabs that the call names', 'codes.csv', 'code\ttext\na\tfirst\nb\tsecond, "2"\nx\t\né\tété\n', { delimiter: '\\t' }],
    ['other columns', 'codes.csv', 'text,,code\nfirst,0,a\n"second, ""2""",,b\nété,,é\n', { from: 2, to: 0 }],
    ['a compressed file', 'codes.csv.gz', gzipSync(CODES), { file: 'codes.csv.gz' }],
    ['a byte order mark and CRLF', 'codes.csv', `\ufeff${CODES.replaceAll('\n', '\r\n')}`, {}],
  ])('reads %s', async (_, name, text, call) => {
    put('in.csv', INPUT);
    put(name, text);
    put('m.ttl', mapOf(call));
    const { lines, report } = await run();
    expect(lines).toEqual([
      '<http://e/1> <http://e/p> "first" .',
      '<http://e/2> <http://e/p> "second, \\"2\\"" .',
      '<http://e/5> <http://e/p> "text" .',
      '<http://e/6> <http://e/p> "été" .',
    ]);
    expect(report.warnings).toEqual([]);
  });

  test('looks no empty text up, and finds a cell that is empty between quotes', async () => {
    put('in.csv', 'id,code\n1,a\n2,""\n3,\n');
    put('codes.csv', 'a,""\n,none\n');
    put('m.ttl', mapOf());
    expect((await run()).lines).toEqual(['<http://e/1> <http://e/p> "" .']);
  });

  test('of several values finds each', async () => {
    put('in.json', '[{"id":1,"code":["b","a"]}]');
    put('codes.csv', CODES);
    const source = csv('in.json').replace('rml:CSV', 'rml:JSONPath ; rml:iterator "$[*]"');
    put('m.ttl', mapOf({ value: '$.code[*]' }, source).replace('{id}', '{$.id}'));
    expect((await run()).lines).toEqual(['<http://e/1> <http://e/p> "first" .', '<http://e/1> <http://e/p> "second, \\"2\\"" .']);
  });

  test('stands wherever an expression may', async () => {
    put('in.csv', 'id,code\n1,a\n');
    put('codes.csv', 'a,en\n');
    put('parents.csv', 'lang,n\nen,7\n');
    put(
      'm.ttl',
      `${PREFIXES}
<#Table> rml:logicalSource <#View> ; rml:subjectMap [ ${lookUp()} ; rml:termType rml:IRI ; rml:graphMap [ ${lookUp()} ] ; rml:class ex:C ] ;
  rml:predicateObjectMap [ rml:predicateMap [ ${lookUp()} ] ; rml:objectMap [ rml:reference "found" ; rml:languageMap [ ${lookUp()} ] ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:typed ; rml:objectMap [ rml:reference "found" ; rml:datatypeMap [ ${lookUp()} ] ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:nested ; rml:objectMap [ rml:functionExecution [ rml:function grel:toUpperCase ;
    rml:input [ rml:parameter grel:valueParam ; rml:inputValueMap [ ${lookUp()} ] ] ] ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:joined ; rml:objectMap [ rml:parentTriplesMap <#Parent> ;
    rml:joinCondition [ rml:childMap [ ${lookUp()} ] ; rml:parent "lang" ] ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:gathered ; rml:objectMap [ rml:gather ( [ ${lookUp()} ] ) ; rml:gatherAs rdf:List ] ] .
<#View> a rml:LogicalView ; rml:viewOn [ ${csv('in.csv').replace('rml:logicalSource [', '').slice(0, -1)} ] ;
  rml:field [ rml:fieldName "code" ; rml:reference "code" ], [ rml:fieldName "found" ; ${lookUp()} ] .
<#Parent> ${csv('parents.csv')} ; rml:subjectMap [ rml:template "http://e/parent/{n}" ] .
`.replace('@prefix rml', '@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix rml'),
    );
    const { lines } = await run();
    const base = 'http://example.com/base/en';
    const texts = lines.filter((line) => !line.includes('_:'));
    expect(texts).toEqual([
      `<${base}> <http://e/joined> <http://e/parent/7> <${base}> .`,
      `<${base}> <http://e/nested> "EN" <${base}> .`,
      `<${base}> <http://e/typed> "en"^^<${base}> <${base}> .`,
      `<${base}> <${base}> "en"@en <${base}> .`,
      `<${base}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/C> <${base}> .`,
    ]);
    expect(lines.filter((line) => line.includes('"en" '))).toHaveLength(1);
  });

  test('in documents of two directories reads two files, and one file once', async () => {
    put('a/in.csv', 'id,code\n1,k\n');
    put('b/in.csv', 'id,code\n2,k\n');
    put('a/codes.csv', 'k,of a,more of a\n');
    put('b/codes.csv', 'k,of b\n');
    put('a/m.ttl', mapOf().replace('<http://m/map>', '<http://m/a>'));
    put('a/n.ttl', mapOf({ to: 2 }).replace('<http://m/map>', '<http://m/n>'));
    put('b/m.ttl', mapOf().replace('<http://m/map>', '<http://m/b>'));
    const located: string[][] = [];
    const hooks = { located: (urls: readonly string[]) => void located.push([...urls]) };
    const { lines } = await run({ mappings: ['a/m.ttl', 'a/n.ttl', 'b/m.ttl'] }, hooks);
    expect(lines).toEqual([
      '<http://e/1> <http://e/p> "more of a" .',
      '<http://e/1> <http://e/p> "of a" .',
      '<http://e/2> <http://e/p> "of b" .',
    ]);
    expect(located).toHaveLength(1);
    expect(new Set(located[0])).toEqual(
      new Set(['a/in.csv', 'b/in.csv', 'a/codes.csv', 'b/codes.csv'].map((name) => join(directory, name))),
    );
  });

  test('in a function value of legacy RML, with the parameter of GREL', async () => {
    put('in.csv', 'id,code\n1,a\n');
    put('codes.csv', 'a,first\n');
    const pair = (parameter: string, object: string): string => `rr:predicateObjectMap [ rr:predicate ${parameter} ; ${object} ]`;
    put(
      'm.ttl',
      `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> . @prefix ql: <http://semweb.mmlab.be/ns/ql#> .
@prefix fnml: <http://semweb.mmlab.be/ns/fnml#> . @prefix fno: <https://w3id.org/function/ontology#> . ${PREFIXES.slice(PREFIXES.indexOf('@prefix ex'))}
<#M> rml:logicalSource [ rml:source "in.csv" ; rml:referenceFormulation ql:CSV ] ; rr:subjectMap [ rr:template "http://e/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ fnml:functionValue [ ${[
    pair('fno:executes', 'rr:object idlab-fn:lookup'),
    pair('grel:valueParam', 'rr:objectMap [ rml:reference "code" ]'),
    pair('idlab-fn:inputFile', 'rr:object "codes.csv"'),
    pair('idlab-fn:fromColumn', 'rr:object "0"'),
    pair('idlab-fn:toColumn', 'rr:object "1"'),
  ].join(' ; ')} ] ] ] .`,
    );
    expect((await run()).lines).toEqual(['<http://e/1> <http://e/p> "first" .']);
  });
});

describe('threads and slices', () => {
  const ROWS = 2000;
  const rows = Array.from({ length: ROWS }, (_, i) => `${i},k${i % 7}`);
  const codes = Array.from({ length: 7 }, (_, i) => `k${i},value ${i}`).join('\n');

  test('give what one thread gives', async () => {
    put('in.csv', `id,code\n${rows.join('\n')}\n`);
    put('codes.csv', `${codes}\n`);
    put('m.ttl', mapOf());
    const whole = (await run()).lines;
    expect(whole).toHaveLength(ROWS);
    const { executeRun: execute } = (await import(built('src/run/run.js').href)) as { executeRun: Execute };
    expect((await run({ threads: 3, threadBytes: 1000 }, {}, execute)).lines).toEqual(whole);
    const cut = await sliceRun(requestOf({}), { rows: 0, bytes: 5000 }, new AbortController().signal);
    // Only files that the request names are cut.
    expect(cut).toBeUndefined();
    const inputs = [{ name: undefined, url: 'in.csv' }];
    const { slices = [], release } = (await sliceRun(requestOf({ inputs }), { rows: 0, bytes: 5000 }, new AbortController().signal)) ?? {};
    expect(slices.length).toBeGreaterThan(2);
    const lines: string[] = [];
    for (const slice of slices) lines.push(...(await run({ inputs, slice })).lines);
    expect(lines.sort()).toEqual(whole);
    put('codes.csv', `${codes}\nk8,another\n`);
    expect(await faultOf({ inputs, slice: slices[0] })).toMatchObject({ code: 'run/lost' });
    await release?.();
  });

  test('as many threads as have memory for their tables', async () => {
    put('in.csv', `id,code\n${rows.join('\n')}\n`);
    put('codes.csv', `${codes}\n`);
    put('m.ttl', mapOf());
    const { executeRun: execute } = (await import(built('src/run/run.js').href)) as { executeRun: Execute };
    // A quarter of the memory holds the table once.
    expect((await run({ threads: 3, threadBytes: 1000, memoryBudgetBytes: 4 * 1000 }, {}, execute)).lines).toHaveLength(ROWS);
  });
});

/** Every directory, and public addresses. */
const REACH = { privateAddresses: false, hosts: [], mappingHosts: [], directories: null, withheld: [] };

describe('refused', () => {
  const missing = (name: string, hint: string): object => ({
    code: 'source/missing',
    message: expect.stringContaining(name),
    hint: expect.stringContaining(hint),
  });

  test('a file that is not there, and one that is empty', async () => {
    put('in.csv', INPUT);
    put('m.ttl', mapOf());
    const fault = await faultOf();
    expect(fault).toMatchObject(missing('codes.csv', 'begins at the directory of the mapping'));
    expect(fault.place.mapping).toMatch(/^m\.ttl:\d+:\d+$/);
    const inputOptions = { format: undefined, csv: {}, encoding: undefined, sourceRoot: join(directory, 'other') };
    expect(await faultOf({ inputOptions })).toMatchObject(missing(join('other', 'codes.csv'), 'begins at --source-root'));
    put('codes.csv', '');
    expect(await faultOf()).toMatchObject({ code: 'source/malformed', message: expect.stringContaining('There is no row in the input') });
  });

  test('a column that the file does not have', async () => {
    put('in.csv', INPUT);
    put('codes.csv', CODES);
    put('m.ttl', mapOf({ to: 2 }));
    expect(await faultOf()).toMatchObject({
      code: 'mapping/reference',
      message: expect.stringContaining('looks values up in column 2, and the file has 2 columns, 0 to 1'),
    });
    put('m.ttl', mapOf({ delimiter: ';' }));
    expect(await faultOf()).toMatchObject({
      message: expect.stringContaining('the file has one column, 0'),
      hint: expect.stringContaining('";" separates'),
    });
  });

  test('tables that are too large', async () => {
    put('in.csv', INPUT);
    put('codes.csv', Array.from({ length: 1000 }, (_, i) => `${i},${i}`).join('\n'));
    put('m.ttl', mapOf());
    expect(await faultOf({ memoryBudgetBytes: 2 ** 18 })).toMatchObject({ code: 'limit/exceeded', limit: 'MEMORY_BUDGET_MB' });
    expect((await run({ memoryBudgetBytes: 2 ** 20 })).lines).toEqual([]);
  });

  test('a file beyond the limit of inputs', async () => {
    put('in.csv', INPUT);
    put('codes.csv', `a,${'x'.repeat(5000)}\n`);
    put('m.ttl', mapOf());
    expect(await faultOf({ limits: { ...RUN_DEFAULTS.limits, inputBytes: 1000 } })).toMatchObject({
      code: 'limit/exceeded',
      limit: 'MAX_INPUT_BYTES',
    });
  });

  test.each([
    [
      'a file that depends on the record',
      mapOf().replace('rml:constant "codes.csv"', 'rml:template "{code}.csv"'),
      'takes idlab-fn:inputFile as a constant',
    ],
    [
      'a column that depends on the record',
      mapOf().replace('rml:constant 1', 'rml:reference "id"'),
      'takes idlab-fn:toColumn as a constant',
    ],
    [
      'a delimiter that depends on the record',
      mapOf({ delimiter: ';' }).replace('rml:constant ";"', 'rml:reference "id"'),
      'takes idlab-fn:delimiter as a constant',
    ],
    ['a column that is none', mapOf({ from: '"code"' }), '"code" is not a number'],
    ['a column before the first', mapOf({ from: -1 }), '-1 is no column'],
    ['a delimiter of two characters', mapOf({ delimiter: '||' }), '"||" is no delimiter'],
    ['no file', mapOf({ file: ' ' }), 'it is empty'],
    [
      'a delimiter of the function that takes none',
      mapOf({ delimiter: ';' }).replace('lookupWithDelimiter', 'lookup'),
      'has no parameter idlab-fn:delimiter',
    ],
  ])('%s', async (_, mapping, message) => {
    put('in.csv', INPUT);
    put('codes.csv', CODES);
    put('m.ttl', mapping);
    expect(await faultOf()).toMatchObject({ code: 'mapping/invalid', message: expect.stringContaining(message) });
  });

  test('what is not within reach', async () => {
    put('in.csv', INPUT);
    put('inside/codes.csv', CODES);
    put('codes.csv', CODES);
    const reach = { ...REACH, directories: [join(directory, 'inside')] };
    put('inside/in.csv', INPUT);
    put('inside/m.ttl', mapOf());
    expect((await run({ mappings: ['inside/m.ttl'], reach })).lines).toHaveLength(4);
    put('inside/m.ttl', mapOf({ file: '../codes.csv' }));
    expect(await faultOf({ mappings: ['inside/m.ttl'], reach })).toMatchObject({ code: 'request/forbidden' });
  });
});

describe('on the web', () => {
  let server: Server;
  let asked = 0;
  beforeEach(async () => {
    asked = 0;
    server = createServer((_, answer) => {
      asked++;
      answer.setHeader('content-type', 'text/csv').end(CODES);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  });
  afterEach(() => new Promise((closed) => server.close(closed)));

  test('a file is read once a run, within reach', async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/codes.csv`;
    put('in.csv', INPUT);
    put('m.ttl', mapOf({ file: url }));
    expect((await run()).lines).toHaveLength(4);
    expect(asked).toBe(1);
    expect(await faultOf({ reach: REACH })).toMatchObject({ code: 'request/forbidden' });
    expect(asked).toBe(1);
  });
});
