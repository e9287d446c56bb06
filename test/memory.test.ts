/** Memory does not grow with the input: whole processes, since what other tests left in this one is not to be measured. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const QUADMILL = join(import.meta.dirname, '../bin/quadmill.js');
/** Of the smaller input; the larger one is four times as long. */
const RECORDS = 60_000;
const HEAP_MB = 64;

const FORMATS: readonly (readonly [
  name: string,
  source: string,
  one: (i: number) => string,
  whole: (records: string) => string,
  references: readonly [string, string],
])[] = [
  ['csv', 'rml:CSV', (i) => `${i},"some text, of a record, with delimiters in it"\n`, (records) => `id,text\n${records}`, ['id', 'text']],
  [
    'json',
    'rml:JSONPath ; rml:iterator "$[*].lines[*]"',
    (i) => `${i === 0 ? '' : ',\n'}{"lines":[{"id":${i},"text":"some text"}],"ignored":{"a":[1,2,3]}}`,
    (records) => `[${records}]`,
    ['id', 'text'],
  ],
  [
    'xml',
    'rml:XPath ; rml:iterator "/orders/order/line"',
    (i) => `<order><line id="${i}"><text>some text</text></line><ignored><a/></ignored></order>\n`,
    (records) => `<orders>${records}</orders>`,
    ['@id', 'text'],
  ],
];

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-memory-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Peak memory of a run, in bytes. */
function peak(format: string, distinct: boolean): number {
  const args = [
    `--max-old-space-size=${HEAP_MB}`,
    QUADMILL,
    'run',
    `${format}.ttl`,
    '-o',
    join(directory, 'out.nq'),
    '--stats',
    '--memory-mb',
    '8',
  ];
  const { status, stderr } = spawnSync(process.execPath, distinct ? args : [...args, '--no-distinct'], {
    cwd: directory,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, expect.stringContaining('peakMemoryBytes')]);
  return JSON.parse(stderr.trim()).peakMemoryBytes;
}

test('what the parent holds is not counted', () => {
  writeFileSync(join(directory, 'one.csv'), 'id,text\n1,a\n');
  writeFileSync(
    join(directory, 'one.ttl'),
    '@prefix rml: <http://w3id.org/rml/> . <http://e/M> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "one.csv" ] ; rml:referenceFormulation rml:CSV ] ; rml:subjectMap [ rml:template "http://e/{id}" ; rml:class <http://e/C> ] .',
  );
  const ballast = Buffer.alloc(300 * 2 ** 20, 1);
  expect(peak('one', true)).toBeLessThan(150 * 2 ** 20);
  expect(ballast.length).toBeGreaterThan(0);
});

describe('memory does not grow with the input', () => {
  test.each(FORMATS)('%s', (format, source, one, whole, [id, text]) => {
    writeFileSync(
      join(directory, `${format}.ttl`),
      `@prefix rml: <http://w3id.org/rml/> . @base <http://e/> .
<#M> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "in.${format}" ] ; rml:referenceFormulation ${source} ] ;
  rml:subjectMap [ rml:template "http://e/{${id}}" ] ; rml:predicateObjectMap [ rml:predicate <http://e/p> ; rml:objectMap [ rml:reference "${text}" ] ] .\n`,
    );
    const write = (records: number) =>
      writeFileSync(join(directory, `in.${format}`), whole(Array.from({ length: records }, (_, i) => one(i)).join('')));
    write(RECORDS);
    const small = [true, false].map((distinct) => peak(format, distinct));
    write(RECORDS * 4);
    const large = [true, false].map((distinct) => peak(format, distinct));
    // Young objects and tables may grow to their bounds; the input is four times as long.
    for (const [i, bytes] of large.entries()) expect(bytes).toBeLessThan(1.35 * (small[i] as number) + 16 * 2 ** 20);
    expect(Math.max(...large)).toBeLessThan(220 * 2 ** 20);
  });
});
