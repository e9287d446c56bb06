/** Memory does not grow with the input: whole processes, since what other tests left in this one is not to be measured. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { smallHeap } from '../../../support/node/small-heap.ts';

const QUADMILL = join(import.meta.dirname, '../../../../bin/quadmill.js');
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
const peak = (format: string, distinct: boolean): number =>
  measured(format, ['--memory-mb', '8', ...(distinct ? [] : ['--no-distinct'])]).peakMemoryBytes;

/** What a run with a small heap says of itself. */
function measured(name: string, options: readonly string[], threads = 1): { readonly peakMemoryBytes: number; readonly quads: number } {
  const args = [
    ...smallHeap(HEAP_MB),
    QUADMILL,
    'run',
    `${name}.ttl`,
    '--threads',
    String(threads),
    '-o',
    join(directory, 'out.nq'),
    '--stats',
    ...options,
  ];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8', timeout: 100_000 });
  expect([status, stderr]).toEqual([0, expect.stringContaining('peakMemoryBytes')]);
  // Warnings come before it.
  return JSON.parse(stderr.trim().split('\n').at(-1) as string);
}

export const testBallast = (): void =>
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

/** The larger input has four times as many records. */
export const boundedInputs = (names: readonly string[], fewer: number): void =>
  describe('memory does not grow with the input', () => {
    test.each(FORMATS.filter(([name]) => names.includes(name)))('%s', (format, source, one, whole, [id, text]) => {
      writeFileSync(
        join(directory, `${format}.ttl`),
        `@prefix rml: <http://w3id.org/rml/> . @base <http://e/> .
<#M> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "in.${format}" ] ; rml:referenceFormulation ${source} ] ;
  rml:subjectMap [ rml:template "http://e/{${id}}" ] ; rml:predicateObjectMap [ rml:predicate <http://e/p> ; rml:objectMap [ rml:reference "${text}" ] ] .\n`,
      );
      const write = (records: number) =>
        writeFileSync(join(directory, `in.${format}`), whole(Array.from({ length: records }, (_, i) => one(i)).join('')));
      write(fewer);
      const small = [true, false].map((distinct) => peak(format, distinct));
      write(fewer * 4);
      const large = [true, false].map((distinct) => peak(format, distinct));
      // Young objects and tables may grow to their bounds; the input is four times as long.
      for (const [i, bytes] of large.entries()) expect(bytes).toBeLessThan(1.35 * (small[i] as number) + 16 * 2 ** 20);
      expect(Math.max(...large)).toBeLessThan(220 * 2 ** 20);
    });
  });

/**
 * Two threads, three of JSON, on a document that is large enough to be cut; its subjects are in no order. The larger input has three times as many
 * records.
 */
export const boundedThreads = (fewer: number): void =>
  describe('memory does not grow with the input that threads share', () => {
    test.each(FORMATS)(
      '%s',
      (format, source, one, whole, [id, text]) => {
        writeFileSync(
          join(directory, `${format}.ttl`),
          `@prefix rml: <http://w3id.org/rml/> . @base <http://e/> .
<#M> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "in.${format}" ] ; rml:referenceFormulation ${source} ] ;
  rml:subjectMap [ rml:template "http://e/{${id}}" ] ; rml:predicateObjectMap [ rml:predicate <http://e/p> ; rml:objectMap [ rml:reference "${text}" ] ] .\n`,
        );
        const peakOf = (records: number): number => {
          const output = openSync(join(directory, `in.${format}`), 'w');
          const [before, after] = whole('\0').split('\0') as [string, string];
          writeSync(output, before);
          // The first record alone has no comma before it.
          writeSync(output, one(0));
          for (let from = 1; from < records; from += 1000) {
            const some = Array.from({ length: Math.min(1000, records - from) }, (_, i) => one(1 + (((from + i) * 7919) % records)));
            writeSync(output, some.join(''));
          }
          writeSync(output, after);
          closeSync(output);
          const { quads, peakMemoryBytes } = measured(format, ['--memory-mb', '8'], format === 'json' ? 3 : 2);
          expect(quads).toBe(records);
          return peakMemoryBytes;
        };
        const small = peakOf(fewer);
        const large = peakOf(3 * fewer);
        expect(large).toBeLessThan(1.2 * small + 16 * 2 ** 20);
        expect(large).toBeLessThan(340 * 2 ** 20);
      },
      300_000,
    );
  });

/** Records by their numbers. */
export const boundedRecords = (numbers: readonly number[]): void =>
  describe('a record with many statements', () => {
    const texts = (count: number, distinct: number): readonly string[] => Array.from({ length: count }, (_, i) => `t${i % distinct}`);
    const source = (name: string): string =>
      `rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${name}.json" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$" ]`;
    const prepare = (name: string, record: object, mapping: string): void => {
      writeFileSync(join(directory, `${name}.json`), JSON.stringify(record));
      writeFileSync(join(directory, `${name}.ttl`), `@prefix rml: <http://w3id.org/rml/> . @base <http://e/> .\n${mapping}\n`);
    };

    // Each as name, record, mapping, statements.
    const RECORDS: readonly (readonly [string, object, string, number])[] = [
      [
        // 9 billion, were each repetition made.
        'repeats its values in subject, predicate and object',
        { a: texts(300, 10), b: texts(300, 10), p: texts(50, 6), c: texts(200, 12), d: texts(10, 10) },
        `<#M> ${source('many')} ; rml:subjectMap [ rml:template "http://e/{$.a[*]}-{$.b[*]}" ] ;
  rml:predicateObjectMap [ rml:predicateMap [ rml:template "http://e/p{$.p[*]}" ] ; rml:objectMap [ rml:template "{$.c[*]} {$.d[*]}" ; rml:termType rml:Literal ] ] .`,
        100 * 6 * 120,
      ],
      [
        'has millions of statements',
        { a: texts(100, 100), p: texts(100, 100), c: texts(100, 100), g: texts(3, 3), k: texts(5000, 5000) },
        `<#M> ${source('many')} ; rml:subjectMap [ rml:template "http://e/{$.a[*]}" ] ;
  rml:predicateObjectMap [ rml:predicateMap [ rml:template "http://e/{$.p[*]}" ] ; rml:objectMap [ rml:reference "$.c[*]" ] ; rml:graphMap [ rml:template "http://e/{$.g[*]}" ] ] ;
  rml:predicateObjectMap [ rml:predicate <http://e/q> ; rml:objectMap [ rml:reference "$.k[*]" ] ] .`,
        100 * 100 * 100 * 3 + 100 * 5000,
      ],
      [
        'is joined with itself',
        { a: texts(600, 600), k: texts(600, 2), p: texts(3, 3) },
        `<#M> ${source('many')} ; rml:subjectMap [ rml:template "http://e/{$.a[*]}" ] ;
  rml:predicateObjectMap [ rml:predicateMap [ rml:template "http://e/{$.p[*]}" ] ; rml:objectMap [ rml:parentTriplesMap <#M> ; rml:joinCondition [ rml:child "$.k[*]" ; rml:parent "$.k[*]" ] ] ] .`,
        600 * 3 * 600,
      ],
    ];

    test.each(numbers.map((number) => RECORDS[number] as (typeof RECORDS)[number]))(
      '%s: in bounded memory, each once',
      (_, record, mapping, statements) => {
        prepare('many', record, mapping);
        const { quads, peakMemoryBytes } = measured('many', ['--memory-mb', '1']);
        expect(quads).toBe(statements);
        expect(peakMemoryBytes).toBeLessThan(220 * 2 ** 20);
      },
      120_000,
    );
  });

/** XML records that wait for an ancestor: one of few records, and the root element, whose name stands behind all of them. */
export const boundedParents = (orders: number): void =>
  describe('memory does not grow with the records that wait for an ancestor', () => {
    const file = (): string => join(directory, 'parents.xml');
    const line = (i: number): string => `<line n="${i}"><sku>sku ${i % 5000}</sku><text>some text</text></line>`;

    test.each([
      ['an ancestor of a few records', '../../customer', (i: number) => `customer ${i % 1000}`],
      ['the root element', '../../../name', () => 'The shop'],
    ])(
      '%s',
      (_, reference, value) => {
        const output = openSync(file(), 'w');
        writeSync(output, '<shop>\n');
        for (let from = 0; from < orders; from += 1000) {
          const some = Array.from({ length: 1000 }, (_each, k) => {
            const i = from + k;
            return `<order id="${i}"><lines>${line(2 * i)}${line(2 * i + 1)}</lines><customer>customer ${i % 1000}</customer></order>\n`;
          });
          writeSync(output, some.join(''));
        }
        writeSync(output, '<name>The shop</name></shop>\n');
        closeSync(output);
        writeFileSync(
          join(directory, 'parents.ttl'),
          `@prefix rml: <http://w3id.org/rml/> . @base <http://e/> .
<#M> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "parents.xml" ] ;
    rml:referenceFormulation rml:XPath ; rml:iterator "/shop/order/lines/line" ] ;
  rml:subjectMap [ rml:template "http://e/{../../@id}/{@n}" ] ;
  rml:predicateObjectMap [ rml:predicate <http://e/p> ; rml:objectMap [ rml:reference "${reference}" ] ] .\n`,
        );
        const { quads, peakMemoryBytes } = measured('parents', ['--memory-mb', '8']);
        expect(quads).toBe(2 * orders);
        expect(peakMemoryBytes).toBeLessThan(220 * 2 ** 20);
        const statements = readFileSync(join(directory, 'out.nq'), 'latin1');
        for (const i of [0, orders >> 1, orders - 1]) {
          expect(statements).toContain(`<http://e/${i}/${2 * i + 1}> <http://e/p> "${value(i)}" .\n`);
        }
      },
      180_000,
    );

    test('what a reference names of the ancestor must fit', () => {
      const mapping = readFileSync(join(directory, 'parents.ttl'), 'utf8').replaceAll('"../../../name"', '"../../../order/lines"');
      writeFileSync(join(directory, 'siblings.ttl'), mapping);
      const args = [...smallHeap(HEAP_MB), QUADMILL, 'run', 'siblings.ttl', '--threads', '1', '-o', join(directory, 'out.nq')];
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8', timeout: 100_000 });
      expect(status).toBe(1);
      expect(stderr).toMatch(/The reference \.\.\/\.\.\/\.\.\/order\/lines of the iterator .* keeps more than \d+ bytes in memory/);
    }, 180_000);
  });

/** A view that iterates within records, and one that is joined with another of the same size. */
export const boundedViews = (records: number): void =>
  describe('memory does not grow with the rows of views', () => {
    const source = (path: string, formulation: string): string =>
      `rml:viewOn [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${path}" ] ; rml:referenceFormulation ${formulation} ]`;
    const field = (name: string, reference = name): string => `[ rml:fieldName "${name}" ; rml:reference "${reference}" ]`;
    const prepare = (name: string, subject: string, object: string, views: string): void =>
      writeFileSync(
        join(directory, `${name}.ttl`),
        `@prefix rml: <http://w3id.org/rml/> . @base <http://e/> .
<M> rml:logicalSource <view> ; rml:subjectMap [ rml:template "http://e/${subject}" ] ;
  rml:predicateObjectMap [ rml:predicate <http://e/p> ; rml:objectMap [ rml:template "${object}" ; rml:termType rml:Literal ] ] .
${views}
`,
      );
    const write = (name: string, lines: (i: number) => string): void =>
      writeFileSync(join(directory, name), Array.from({ length: records }, (_, i) => lines(i)).join(''));

    test('iterators within records', () => {
      write('nested.jsonl', (i) => `{"id":${i},"items":[{"t":"sword","w":${i % 7}},{"t":"shield ${i % 100}"}],"ignored":[1,2,3]}\n`);
      prepare(
        'nested',
        '{id}/{item.#}',
        '{item.t}',
        `<view> ${source('nested.jsonl', 'rml:JSONPath ; rml:iterator "$[*]"')} ; rml:field ${field('id', '$.id')} ,
  [ rml:fieldName "item" ; rml:iterator "$.items[*]" ; rml:field ${field('t', '$.t')} ] .`,
      );
      const { quads, peakMemoryBytes } = measured('nested', ['--memory-mb', '8']);
      expect(quads).toBe(2 * records);
      expect(peakMemoryBytes).toBeLessThan(220 * 2 ** 20);
    }, 180_000);

    test('a left join', () => {
      write('left.csv', (i) => `${i === 0 ? 'id,k\n' : ''}${i},k${(i * 7919) % records}\n`);
      write('right.csv', (i) => `${i === 0 ? 'k,v\n' : ''}k${i % 3 === 0 ? -i - 1 : i},value ${i}\n`);
      prepare(
        'joined',
        '{id}',
        '{k} {v}',
        `<view> ${source('left.csv', 'rml:CSV')} ; rml:field ${field('id')} , ${field('k')} ;
  rml:leftJoin [ rml:parentLogicalView <right> ; rml:joinCondition [ rml:child "k" ; rml:parent "k" ] ; rml:field ${field('v')} ] .
<right> ${source('right.csv', 'rml:CSV')} ; rml:field ${field('k')} , ${field('v')} .`,
      );
      const { quads, peakMemoryBytes } = measured('joined', ['--memory-mb', '8']);
      expect(quads).toBe(records - Math.ceil(records / 3));
      expect(peakMemoryBytes).toBeLessThan(220 * 2 ** 20);
    }, 180_000);
  });
