/** Rows of CSV that come again, left out or read: the same statements, each once, and the same report. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../../src/config/run-defaults.ts';
import { MapProgram } from '../../../../../src/run/compile/program.ts';
import { mayLeaveOutRepeats } from '../../../../../src/run/distinct/repeated-records.ts';
import { prepareRun } from '../../../../../src/run/prepare/prepare.ts';
import type { RunReport, RunRequest } from '../../../../../src/run/request.ts';
import { executeRun } from '../../../../../src/run/run.ts';
import { Random } from '../../../../support/random.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-repeats-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

const PREFIXES = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.com/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> . @base <http://example.com/map/> .
`;
const source = (file: string): string =>
  `rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:CurrentWorkingDirectory ; rml:path "${file}" ; rml:null "-" ] ; rml:referenceFormulation rml:CSV ]`;
const SUBJECTS = [
  'rml:template "http://example.com/{a}"',
  'rml:template "http://example.com/{b}-{c}"',
  'rml:reference "a" ; rml:termType rml:BlankNode',
];
const OBJECTS = [
  'rml:reference "b"',
  'rml:reference "c" ; rml:datatype xsd:token',
  'rml:template "{a} {c}" ; rml:termType rml:Literal',
  'rml:template "http://example.com/x/{b}"',
  'rml:reference "d" ; rml:languageMap [ rml:constant "en" ]',
  // Only some values are languages, and only some are IRIs.
  'rml:reference "b" ; rml:languageMap [ rml:reference "d" ]',
  'rml:reference "c" ; rml:termType rml:IRI',
  'rml:parentTriplesMap <parent> ; rml:joinCondition [ rml:child "b" ; rml:parent "k" ]',
  'rml:parentTriplesMap <0> ; rml:joinCondition [ rml:child "c" ; rml:parent "b" ]',
];
const PARENT = `<parent> ${source('parents.csv')} ; rml:subjectMap [ rml:template "http://example.com/parent/{v}" ] .
`;

function invent(random: Random): string {
  const maps = Array.from({ length: random.between(1, 2) }, (_, i) => {
    const objects = Array.from({ length: random.between(1, 4) }, () => random.pick(OBJECTS));
    const rules = objects.map(
      (object, at) => `rml:predicateObjectMap [ rml:predicate ex:p${random.chance(0.8) ? `${i}${at}` : ''} ; rml:objectMap [ ${object} ] ]`,
    );
    return `<${i}> ${source('rows.csv')} ; rml:subjectMap [ ${random.pick(SUBJECTS)} ] ; ${rules.join(' ; ')} .\n`;
  });
  return PREFIXES + PARENT + maps.join('');
}

const rowsOf = (random: Random, header: string): string => {
  const cells = ['x', 'y', 'a b', '1', '-', ''].slice(0, random.between(2, 6));
  const row = (): string => Array.from(header.split(','), () => random.pick(cells)).join(',');
  return `${header}\n${Array.from({ length: random.between(1, random.chance(0.1) ? 1_500 : 60) }, () => `${row()}\n`).join('')}`;
};

interface Result {
  readonly lines: readonly string[];
  readonly report: Partial<RunReport>;
  readonly rejections: readonly unknown[];
}

async function runOf(request: RunRequest): Promise<Result> {
  const parts: string[] = [];
  const rejections: unknown[] = [];
  const sink = { write: (lines: string) => void parts.push(lines), commit: async () => [], abort: async () => {} };
  const hooks = { reject: (rejection: unknown) => void rejections.push(rejection) };
  const { seconds: _, bytesWritten: __, bytesSpilled: ___, ...report } = await executeRun(request, sink, hooks);
  return { lines: parts.join('').split('\n').slice(0, -1).sort(), report, rejections };
}

const requestOf = (mapping: string): RunRequest => {
  writeFileSync(join(directory, 'mapping.ttl'), mapping);
  return {
    ...RUN_DEFAULTS,
    runId: 'repeats',
    mappings: [join(directory, 'mapping.ttl')],
    inputs: [],
    workingDirectory: directory,
    spillDirectory: join(directory, 'spill'),
  };
};

test('the same statements and reports', async () => {
  const random = new Random(72);
  let rejected = 0;
  const left = jest.spyOn(MapProgram.prototype, 'repeat');
  for (let i = 0; i < 120; i++) {
    const mapping = invent(random);
    writeFileSync(join(directory, 'rows.csv'), rowsOf(random, 'a,b,c,d'));
    writeFileSync(join(directory, 'parents.csv'), rowsOf(random, 'k,v'));
    const memoryBudgetBytes = random.pick([0, RUN_DEFAULTS.memoryBudgetBytes]);
    const request: RunRequest = { ...requestOf(mapping), memoryBudgetBytes, onError: random.pick(['skip', 'quarantine']) };
    const expected = await runOf(request);
    rejected += expected.rejections.length;
    expect(new Set(expected.lines).size).toBe(expected.lines.length);
    const found = await runOf({ ...request, looksForRepeats: true });
    expect({ mapping, ...found }).toEqual({ mapping, ...expected });
  }
  expect(left.mock.calls.length).toBeGreaterThan(1_000);
  expect(rejected).toBeGreaterThan(500);
  left.mockRestore();
}, 60_000);

test('a subject without a value is told where its rows come again', async () => {
  writeFileSync(join(directory, 'rows.csv'), `a,b,c,d\n${'-,x,y,z\n'.repeat(9)}`);
  const mapping = `${PREFIXES}<0> ${source('rows.csv')} ; rml:subjectMap [ rml:template "http://example.com/{a}" ; rml:class ex:C ] .`;
  const { report } = await runOf({ ...requestOf(mapping), looksForRepeats: true });
  expect(report.records).toBe(9);
  expect(report.triplesMaps?.map(({ records, empty }) => ({ records, empty }))).toEqual([
    { records: 9, empty: 'the subject http://example.com/{a} had no value in any of 9 records' },
  ]);
});

test('they are found from where many records make no statement', async () => {
  const row = (i: number): string => `${i % 50},name ${i % 50},x,y\n`;
  writeFileSync(join(directory, 'rows.csv'), `a,b,c,d\n${Array.from({ length: 5_000 }, (_, i) => row(i)).join('')}`);
  const mapping = `${PREFIXES}<0> ${source('rows.csv')} ; rml:subjectMap [ rml:template "http://example.com/{a}" ] ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference "b" ] ] .`;
  const left = jest.spyOn(MapProgram.prototype, 'repeat');
  const { lines, report } = await runOf(requestOf(mapping));
  expect(lines).toHaveLength(50);
  expect(report.records).toBe(5_000);
  expect(left.mock.calls.length).toBeGreaterThan(4_000);
  left.mockRestore();
});

describe('what must be read again', () => {
  const subject = 'rml:subjectMap [ rml:template "http://example.com/{a}" ]';
  const object = (map: string): string => `rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ ${map} ] ]`;
  const plain = `<0> ${source('rows.csv')} ; ${subject} ; ${object('rml:reference "b"')} .`;
  const LEGACY = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix old: <http://semweb.mmlab.be/ns/rml#> . @prefix ql: <http://semweb.mmlab.be/ns/ql#> .
<0> old:logicalSource [ old:source "rows.csv" ; old:referenceFormulation ql:CSV ] ; rr:subjectMap [ rr:template "http://example.com/{a}" ; rr:class ex:C ] .`;
  test.each<[string, string, Partial<RunRequest>, boolean]>([
    ['nothing', plain, {}, true],
    ['nothing in the older vocabulary, under the policy skip', LEGACY, {}, true],
    ['statements that are not distinct', plain, { distinct: false }, false],
    ['the first records', plain, { firstRecords: 5 }, false],
    [
      'a blank node for each record',
      `<0> ${source('rows.csv')} ; rml:subjectMap [ rml:termType rml:BlankNode ] ; ${object('rml:reference "b"')} .`,
      {},
      false,
    ],
    [
      'a member of a collection',
      `<0> ${source('rows.csv')} ; ${subject} ; ${object('rml:template "http://example.com/list/{a}" ; rml:gather ( [ rml:reference "b" ] ) ; rml:gatherAs rdf:List')} .`,
      {},
      false,
    ],
    [
      'a random number',
      `<0> ${source('rows.csv')} ; ${subject} ; ${object('rml:functionExecution [ rml:function grel:random ] ')} .`,
      {},
      false,
    ],
    [
      'nothing for a function of cells',
      `<0> ${source('rows.csv')} ; ${subject} ; ${object('rml:functionExecution [ rml:function grel:toUpperCase ; rml:input [ rml:parameter grel:valueParam ; rml:inputValueMap [ rml:reference "b" ] ] ]')} .`,
      {},
      true,
    ],
  ])('%s', async (_, mapping, change, allowed) => {
    writeFileSync(join(directory, 'rows.csv'), 'a,b,c,d\n');
    const request = { ...requestOf(`@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . ${PREFIXES}${mapping}`), ...change };
    const prepared = await prepareRun(request, new AbortController().signal);
    try {
      const [scan] = prepared.plan.scans;
      if (scan === undefined) throw new Error('the plan reads nothing');
      expect(mayLeaveOutRepeats(scan, prepared.plan, request, {})).toBe(allowed);
    } finally {
      await prepared.close();
    }
  });

  test('what somebody looks at row by row', async () => {
    const request = requestOf(PREFIXES + plain);
    const prepared = await prepareRun(request, new AbortController().signal);
    const [scan] = prepared.plan.scans;
    expect(mayLeaveOutRepeats(scan as NonNullable<typeof scan>, prepared.plan, request, { row: () => undefined })).toBe(false);
    await prepared.close();
  });
});
