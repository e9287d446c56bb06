/** Files of nodes and edges in bounded memory: whole processes, since what other tests left in this one is not to be measured. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { smallHeap } from '../../../support/node/small-heap.ts';

const QUADMILL = join(import.meta.dirname, '../../../../bin/quadmill.js');
/** Of the smaller input; the larger one is four times as long. */
const RECORDS = 25_000;
const HEAP_MB = 64;

const MAPPING = `@prefix rml: <http://w3id.org/rml/> . @base <http://e/> .
<#M> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "in.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://e/{id}" ; rml:class <http://e/Thing> ] ;
  rml:predicateObjectMap [ rml:predicate <http://e/text> ; rml:objectMap [ rml:reference "text" ] ] ;
  rml:predicateObjectMap [ rml:predicate <http://e/next> ; rml:objectMap [ rml:template "http://e/{next}" ] ] .
`;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-graph-memory-'));
  writeFileSync(join(directory, 'mapping.ttl'), MAPPING);
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Peak memory in bytes, of a run that writes nodes and edges. */
function peak(records: number): number {
  const row = (i: number): string => `${i},"text; number ${i}, of a record",${(i * 7919) % records}\n`;
  writeFileSync(join(directory, 'in.csv'), `id,text,next\n${Array.from({ length: records }, (_, i) => row(i)).join('')}`);
  const args = [
    ...smallHeap(HEAP_MB),
    QUADMILL,
    'run',
    'mapping.ttl',
    '-o',
    'out.nq',
    '--stats',
    '--memory-mb',
    '8',
    '--property-graph',
    'neo4j',
  ];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, expect.stringContaining('peakMemoryBytes')]);
  const lines = (name: string): number => readFileSync(join(directory, name), 'utf8').split('\n').length - 2;
  expect([lines('out.nodes.csv'), lines('out.edges.csv')]).toEqual([records, records]);
  return JSON.parse(stderr.trim().split('\n').at(-1) as string).peakMemoryBytes;
}

test('memory does not grow with the statements', () => {
  const [small, large] = [peak(RECORDS), peak(RECORDS * 4)];
  // Young objects and tables may grow to their bounds; the input is four times as long.
  expect(large).toBeLessThan(1.35 * small + 16 * 2 ** 20);
  expect(large).toBeLessThan(220 * 2 ** 20);
}, 120_000);
