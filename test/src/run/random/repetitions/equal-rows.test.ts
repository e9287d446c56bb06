/** Equal rows of CSV: each statement once, and each record that is rejected. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../../src/config/run-defaults.ts';
import type { RunRequest } from '../../../../../src/run/request.ts';
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
  readonly records: number;
  readonly rejections: readonly unknown[];
}

async function runOf(request: RunRequest): Promise<Result> {
  const parts: string[] = [];
  const rejections: unknown[] = [];
  const sink = { write: (lines: string) => void parts.push(lines), commit: async () => [], abort: async () => {} };
  const hooks = { reject: (rejection: unknown) => void rejections.push(rejection) };
  const { records } = await executeRun(request, sink, hooks);
  return { lines: parts.join('').split('\n').slice(0, -1).sort(), records, rejections };
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

test('each statement once, and each record rejected, in memory and spilled', async () => {
  const random = new Random(72);
  let rejected = 0;
  let repeated = 0;
  for (let i = 0; i < 120; i++) {
    const mapping = invent(random);
    writeFileSync(join(directory, 'rows.csv'), rowsOf(random, 'a,b,c,d'));
    writeFileSync(join(directory, 'parents.csv'), rowsOf(random, 'k,v'));
    const request: RunRequest = { ...requestOf(mapping), onError: random.pick(['skip', 'quarantine']) };
    const all = await runOf({ ...request, distinct: false });
    const expected = { mapping, ...all, lines: [...new Set(all.lines)] };
    rejected += all.rejections.length;
    repeated += all.lines.length - expected.lines.length;
    expect({ mapping, ...(await runOf(request)) }).toEqual(expected);
    expect({ mapping, ...(await runOf({ ...request, memoryBudgetBytes: 0 })) }).toEqual(expected);
  }
  expect(rejected).toBeGreaterThan(500);
  expect(repeated).toBeGreaterThan(1_000);
}, 60_000);
