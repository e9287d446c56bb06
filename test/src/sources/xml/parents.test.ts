/** References to parents: what is read as a stream is what the XPath engine finds in the whole document. */
import { describe, expect } from '@jest/globals';
import { fromBytes } from '../../../../src/core/text.ts';
import type {
  IterationRequest,
  NestedRecords,
  NestedRequest,
  Scan,
  Spill,
  SpilledText,
  XmlOptions,
} from '../../../../src/sources/source.ts';
import { openXml } from '../../../../src/sources/xml/xml.ts';
import { share, sharedTest, soakTest, test } from '../../../support/jest/extent.ts';

const READING: XmlOptions = {
  format: 'xml',
  name: 'in.xml',
  dialect: 'rml',
  nulls: [],
  encoding: undefined,
  namespaces: { p: 'urn:p' },
  maxRecordBytes: 2 ** 20,
};

/** Files in memory. Counts what is written. */
class Files implements Spill {
  characters = 0;
  readonly afterBytes: number;

  constructor(afterBytes: number) {
    this.afterBytes = afterBytes;
  }

  open(): SpilledText {
    let text = '';
    const count = (length: number): void => {
      this.characters += length;
    };
    return {
      add: async (more) => {
        text += more;
        count(more.length);
      },
      async *read() {
        for (let at = 0; at < text.length; at += 1000) yield text.slice(at, at + 1000);
      },
      clear: async () => {
        text = '';
      },
    };
  }
}

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const characters = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(characters) : value === null ? null : fromBytes(String(value));

type Reader = (node: unknown) => unknown[];

function itemReader(records: NestedRecords, request: NestedRequest): Reader {
  const values = request.references.map((reference) => records.accessor(reference));
  const inner = (request.nested ?? []).map((each) => itemReader(records.nested?.(each.iterator) as NestedRecords, each));
  return (node) =>
    records.items(node).map((item) => [...values.map((value) => characters(value(item))), ...inner.map((read) => read(item))]);
}

interface Read {
  /** By iteration and record: the values of the references, then those of the items. */
  readonly values: readonly unknown[][];
  /** By iteration: records that were there before the document had ended. */
  readonly early: readonly number[];
  readonly warnings: readonly string[];
}

/** Records are read as soon as they come. */
async function read(document: string, requests: readonly IterationRequest[], chunk = 7, reading: Partial<XmlOptions> = {}): Promise<Read> {
  const bytes = Buffer.from(document);
  const scan: Scan = await openXml(chunked(bytes, chunk), requests, { ...READING, ...reading });
  const readers = requests.map(({ references, nested = [] }, i): Reader => {
    const accessors = references.map((reference) => scan.accessor(i, reference));
    const items = nested.map((request) => itemReader(scan.nested?.(i, request.iterator) as NestedRecords, request));
    return (record) => [...accessors.map((accessor) => characters(accessor(record))), ...items.map((item) => item(record))];
  });
  const values: unknown[][] = requests.map(() => []);
  const early = requests.map(() => 0);
  for await (const { iteration, records, first, bytes: at } of scan.batches(new AbortController().signal)) {
    expect(first).toBe(values[iteration]?.length);
    for (const record of records) values[iteration]?.push(readers[iteration]?.(record));
    if (at < bytes.length) early[iteration] = (early[iteration] as number) + records.length;
  }
  return { values, early, warnings: scan.warnings?.() ?? [] };
}

const iteration = (iterator: string, references: readonly string[], nested: readonly NestedRequest[] = []): IterationRequest => ({
  iterator,
  references,
  nested,
  origin: 'm.ttl:1:1',
});

const ORDERS = `<shop version="3"><name>S</name>
  <order id="A"><lines><line n="1"><sku>x</sku></line><line n="2"/></lines><customer>Ada<b> L.</b></customer><tag>t1</tag><tag>t2</tag></order>
  <order><customer/><lines><line n="3"/></lines></order>
  <order id="C"><lines/></order>
  <town>T</town>
</shop>`;
const LINES = '/shop/order/lines/line';

describe('references to parents of XML records', () => {
  test.each<[name: string, iterator: string, reference: string, expected: unknown[]]>([
    ['an attribute', LINES, '../../@id', ['A', 'A', null]],
    ['an element behind the records', LINES, '../../customer', ['Ada L.', 'Ada L.', '']],
    ['several elements', LINES, '../../tag', [['t1', 't2'], ['t1', 't2'], null]],
    ['one of several', LINES, '../../tag[2]', ['t2', 't2', null]],
    ['text alone', LINES, '../../customer/text()', ['Ada', 'Ada', null]],
    ['of the root', LINES, '../../../name', ['S', 'S', 'S']],
    ['behind everything', LINES, '../../../town', ['T', 'T', 'T']],
    ['siblings', LINES, '../line/@n', [['1', '2'], ['1', '2'], '3']],
    ['children of siblings', LINES, '../line/sku', ['x', 'x', null]],
    ['descendants', LINES, '../..//sku', ['x', 'x', null]],
    ['the parent', LINES, '..', ['x', 'x', '']],
    [
      'another order',
      LINES,
      '../../../order/@id',
      [
        ['A', 'C'],
        ['A', 'C'],
        ['A', 'C'],
      ],
    ],
    ['above the document', LINES, '../../../../../x', [null, null, null]],
    ['the root by name', LINES, '../../../../shop/name', ['S', 'S', 'S']],
    ['an attribute of the root, absolutely', LINES, '/shop/@version', ['3', '3', '3']],
    ['of the root, absolutely', LINES, '/shop/town', ['T', 'T', 'T']],
    ['absolutely, at any depth', LINES, '//sku', ['x', 'x', 'x']],
    ['absolutely, with another root', LINES, '/shops/town', [null, null, null]],
    ['at any depth', '//order//line', '../../customer', ['Ada L.', 'Ada L.', '']],
    ['at any depth, next to the record', '//lines/line', '../line/@n', [['1', '2'], ['1', '2'], '3']],
  ])('%s', async (_, iterator, reference, expected) => {
    for (const chunk of [1, 7, 1000]) {
      expect((await read(ORDERS, [iteration(iterator, [reference])], chunk)).values).toEqual([expected.map((value) => [value])]);
    }
    expect((await read(ORDERS, [iteration(`${iterator}[true()]`, [reference])])).values).toEqual([expected.map((value) => [value])]);
  });
});

describe('records that wait in a temporary file', () => {
  const orders = (from: number, count: number): string =>
    Array.from(
      { length: count },
      (_, i) =>
        `<order id="${from + i}" p:k="x"><lines><line n="1">a<b/>é<!--c--><?i d?>b<sku>${i}</sku></line>${i % 3 === 0 ? '' : '<line n="2"/>'}</lines><customer>C${i}</customer></order>`,
    ).join('\n');
  const parts = `<shop xmlns:p="urn:p"><part n="1"><head>H</head>${orders(0, 150)}<name>N</name></part><part n="2"><chapter t="c">${orders(300, 100)}</chapter>${orders(500, 30)}</part><part><name>M</name>${orders(600, 20)}</part><town>T</town></shop>`;

  test.each<[name: string, iterator: string, references: readonly string[], packed: boolean]>([
    ['of one level', '/shop/part/order', ['@id', '../name', '../head', '../@n'], true],
    ['of the root', '/shop/part/order', ['@id', '@p:k', '../../town', '../@n'], true],
    [
      'of several levels',
      '/shop/part/order/lines/line',
      ['.', 'text()', '@n', '../../customer', '../../../name', '../../../../town'],
      true,
    ],
    ['for XPath', '/shop/part/order/lines/line', ['count(comment()) + 2 * count(processing-instruction())', '../../../../town'], true],
    ['unless they are part of what is named', '/shop/part/order', ['@id', '../order/lines/line/@n'], false],
    ['unless they may be', '/shop/part//order', ['@id', '../name'], false],
  ])('%s', async (_, iterator, references, packed) => {
    const request = iteration(iterator, references, [{ iterator: '*', references: ['.', 'name()', '@n'], origin: '' }]);
    const other = iteration('/shop/part/order/customer', ['.']);
    const whole = await read(parts, [iteration(`${iterator}[true()]`, references, request.nested)], 1000);
    for (const afterBytes of [0, 5000, 1e9]) {
      const spill = new Files(afterBytes);
      const { values } = await read(parts, [request, other], 700, { spill });
      expect(values[0]).toEqual(whole.values[0]);
      expect(values[1]?.length).toBe(200);
      expect([afterBytes, spill.characters > 10_000]).toEqual([afterBytes, packed && afterBytes < 1e9]);
    }
  });
});

// ---- random documents

/** Numbers from 0 below a limit. */
function dice(seed: number): (below: number) => number {
  let state = seed * 7919 + 1;
  return (below) => {
    state = (state * 16_807) % 2_147_483_647;
    return state % below;
  };
}

/** @param size elements in the root, at least */
function randomDocument(below: (n: number) => number, size: number): string {
  const names = ['a', 'b', 'g', 'p:a', 'ä', 'z'];
  const texts = ['t', 'é', '&lt;', '<![CDATA[<]]>', '<!--c-->', ' ', '<?i x?>'];
  const element = (depth: number): string => {
    const name = names[below(names.length)];
    const attributes = `${below(2) === 0 ? '' : ` k="${below(3)}"`}${below(4) === 0 ? ` p:k="${below(3)}"` : ''}`;
    const content = Array.from({ length: depth > 3 ? below(2) : below(5) }, () =>
      depth > 3 || below(3) === 0 ? texts[below(texts.length)] : element(depth + 1),
    );
    return `<${name}${attributes}>${content.join('')}</${name}>`;
  };
  return `<r xmlns:p="urn:p" k="0">${Array.from({ length: size + below(5) }, () => element(0)).join(below(2) === 0 ? '' : 'x')}</r>`;
}

const ITERATORS = `
  /r/a /r/* /r/*/a /r/*/*/b /r/g/*/a //a //g/a /r//b /r/*//a //a//b //*/*/p:a /r/*[@k='1']/b /r/*[2]/a
  //g[@k]/* /r/*/*:a/*
`
  .trim()
  .split(/\s+/);
const REFERENCES = `
  . @k a ../@k ../../@p:k ../a ../p:a ../* .. ../text() ../b/@k ../../a ../../b/text() ../.. ../../../g
  ..//a ../..//b/@k ../a[2] ../*[@k='1'] ../g/a[1]/text() ../../@k ../../../*/a .//b
  /r/@k /r/b/@k /r/*/a //g/a[1] //ä /r/*[2]/text() /r /s/a /*/a /r/..
`
  .trim()
  .split(/\s+/);

/** None of them names records of the iterators, unless these have `*`. */
const OTHERS = '. @k a ../@k ../z ../../z ../z/@k ../z[2] ../text() /r/z /r/g/z'.split(' ');

/** @returns records, those of them that were there before the document had ended, and characters that were written meanwhile */
async function compare(
  seed: number,
  size: number,
  of: readonly string[],
  mostChosen: number,
): Promise<{ records: number; early: number; spilled: number }> {
  const below = dice(seed);
  const document = randomDocument(below, size);
  const some = (all: readonly string[], nth: number): string[] => all.filter(() => below(nth) === 0).slice(0, mostChosen);
  const nested = (depth: number): NestedRequest => ({
    iterator: ['*', 'a', './/b', '*/a', 'b[2]', '.'][below(6)] as string,
    references: some(of, 8),
    origin: '',
    nested: depth > 0 && below(2) === 0 ? [nested(depth - 1)] : [],
  });
  const requests = Array.from({ length: 1 + below(3) }, () =>
    iteration(ITERATORS[below(ITERATORS.length)] as string, some(of, 6), below(2) === 0 ? [nested(1)] : []),
  );
  const chunk = (1 + below(40)) * (size > 9 ? 10 : 1);
  const { values, early } = await read(document, requests, chunk);
  // The same if few records may wait in memory.
  const spill = new Files(below(3) * 100);
  expect([seed, (await read(document, requests, chunk, { spill })).values]).toEqual([seed, values]);
  for (const [i, request] of requests.entries()) {
    const whole = await read(document, [{ ...request, iterator: `(${request.iterator})[true()]` }], 1000);
    const input = size > 9 ? '' : document;
    expect([seed, input, request, values[i]]).toEqual([seed, input, request, whole.values[0]]);
  }
  const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);
  return { records: sum(values.map((records) => records.length)), early: sum(early), spilled: spill.characters };
}

describe('random documents: several iterations at once, in pieces, as each alone from the whole document', () => {
  sharedTest.each(share(1, [0, 50, 100, 150]))('small ones, from seed %d', async (first) => {
    let found = 0;
    for (let seed = first; seed < first + 50; seed++) found += (await compare(seed, 1, REFERENCES, 9)).records;
    expect(found).toBeGreaterThan(150);
  });

  soakTest('ones with more records than a batch', async () => {
    let [found, before, written] = [0, 0, 0];
    for (let seed = 1000; seed < 1015; seed++) {
      const { records, early, spilled } = await compare(seed, 300, seed % 3 === 0 ? REFERENCES : OTHERS, 3);
      written += Number(spilled > 0);
      found += records;
      before += early;
    }
    expect(before).toBeGreaterThan(0.05 * found);
    expect(before).toBeLessThan(0.9 * found);
    expect(written).toBeGreaterThan(2);
  });
});
