/** Rows as JSON and CSV: values by type, names that come twice, limits, chunks. */
import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { toBytes } from '../../../src/core/text.ts';
import type { Column, RowBatch } from '../../../src/sql/database.ts';
import { csvResult } from '../../../src/sql/result/csv.ts';
import { jsonResult } from '../../../src/sql/result/json.ts';
import { CHUNK_BYTES, distinctLabels, type ResultSummary, type ResultWriter, writeResult } from '../../../src/sql/result/result.ts';

const XSD = 'http://www.w3.org/2001/XMLSchema#';
const column = (name: string, datatype?: string, more: Partial<Column> = {}): Column => ({
  name,
  type: datatype ?? 'text',
  family: 'other',
  datatype: datatype === undefined ? undefined : XSD + datatype,
  canonical: undefined,
  partial: false,
  elements: undefined,
  exact: true,
  ...more,
});

async function* batchesOf(rows: RowBatch['rows'], size = 3): AsyncGenerator<RowBatch> {
  for (let i = 0; i < rows.length; i += size) yield { rows: rows.slice(i, i + size), bytes: 0 };
}

async function written(writer: ResultWriter, rows: RowBatch['rows'], maxRows = 100): Promise<{ text: string } & ResultSummary> {
  const chunks = writeResult(writer, batchesOf(rows), maxRows);
  const parts: Buffer[] = [];
  for (;;) {
    const next = await chunks.next();
    if (next.done === true) return { text: Buffer.concat(parts).toString('utf8'), ...next.value };
    parts.push(next.value);
  }
}

const outside = (text: string): string => {
  if (text === 'infinity') throw new Fault('record/term', 'xsd:dateTime has no infinity');
  return text.replace(' ', 'T');
};
const elements = (text: string): readonly string[] => text.slice(1, -1).split(',');

describe('a value in JSON', () => {
  test.each([
    ['an integer beyond 64-bit floats keeps its digits', column('v', 'integer'), '9007199254740993', '9007199254740993'],
    ['a decimal keeps its zeros', column('v', 'decimal'), '-0.10', '-0.10'],
    ['a double in canonical form', column('v', 'double'), '1.0E-7', '1.0E-7'],
    ['NaN, which JSON does not have', column('v', 'double'), 'NaN', '"NaN"'],
    ['an infinite number', column('v', 'double'), '-INF', '"-INF"'],
    ['a number with leading zeros', column('v', 'integer'), '007', '"007"'],
    ['a boolean', column('v', 'boolean'), 'true', 'true'],
    ['text that looks like a number', column('v'), '12', '"12"'],
    ['text that looks like null', column('v'), 'null', '"null"'],
    ['NULL', column('v', 'integer'), null, 'null'],
    ['an empty text', column('v'), '', '""'],
    ['quotes, backslashes and controls', column('v'), 'a"b\\c\n\u0001', '"a\\"b\\\\c\\n\\u0001"'],
    ['characters of two to four bytes', column('v'), toBytes('é€😀'), '"é€😀"'],
    ['bytes that are no UTF-8', column('v'), 'a\xffb', '"a\ufffdb"'],
    ['a canonical form', column('v', 'dateTime', { canonical: outside }), '2026-01-02 03:04:05', '"2026-01-02T03:04:05"'],
    ['a value that the datatype does not have', column('v', 'dateTime', { canonical: outside }), 'infinity', '"infinity"'],
    ['an array of numbers', column('v', 'integer', { elements }), '{1,2}', '[1,2]'],
    ['an array of texts', column('v', undefined, { elements }), '{a,b"}', '["a","b\\""]'],
  ])('%s', async (_, one, text, expected) => {
    const { text: document } = await written(jsonResult([one]), [[text]]);
    expect(document).toContain(`\n{"v":${expected}}\n`);
    expect(() => JSON.parse(document)).not.toThrow();
  });
});

test('JSON names columns, counts rows and tells them apart by name', async () => {
  const columns = [column('id', 'integer'), column('id'), column('größe "x"', 'decimal')];
  const rows = [
    ['1', 'a', '1.5'],
    ['2', null, null],
  ];
  expect(JSON.parse((await written(jsonResult(columns), rows)).text)).toEqual({
    columns: [
      { name: 'id', type: 'integer' },
      { name: 'id_2', type: 'text' },
      { name: 'größe "x"', type: 'decimal' },
    ],
    rows: [
      { id: 1, id_2: 'a', 'größe "x"': 1.5 },
      { id: 2, id_2: null, 'größe "x"': null },
    ],
    rowCount: 2,
    truncated: false,
  });
});

test.each([
  ['no rows', [], { rows: [], rowCount: 0, truncated: false }],
  ['as many rows as there may be', [['1'], ['2']], { rows: [{ n: 1 }, { n: 2 }], rowCount: 2, truncated: false }],
  ['one row more', [['1'], ['2'], ['3']], { rows: [{ n: 1 }, { n: 2 }], rowCount: 2, truncated: true }],
])('with %s, the limit is reported', async (_, rows, expected) => {
  const { text, rowCount, truncated } = await written(jsonResult([column('n', 'integer')]), rows, 2);
  expect(JSON.parse(text)).toMatchObject(expected);
  expect({ rowCount, truncated }).toEqual({ rowCount: expected.rowCount, truncated: expected.truncated });
});

test('CSV tells NULL from an empty text, and quotes what needs it', async () => {
  const columns = [column('id', 'integer'), column('na,me'), column('id'), column('list', 'integer', { elements })];
  const rows = [
    ['1', '', null, '{1,2}'],
    [null, 'a"b', 'x\r\ny', null],
    ['2', toBytes('é'), ' ', null],
  ];
  expect((await written(csvResult(columns), rows)).text).toBe('id,"na,me",id_2,list\r\n1,"",,"{1,2}"\r\n,"a""b","x\r\ny",\r\n2,é, ,\r\n');
});

test.each([
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  [
    ['a', 'a', 'a'],
    ['a', 'a_2', 'a_3'],
  ],
  [
    ['a', 'a', 'a_2'],
    ['a', 'a_3', 'a_2'],
  ],
  [
    ['a', 'A', '', ''],
    ['a', 'A', '', '_2'],
  ],
])('columns %j are labelled %j', (names, labels) => {
  expect(distinctLabels(names.map((name) => ({ name })))).toEqual(labels);
});

test('a long result comes in chunks, no batch is read before it is wanted, and the rest is given up', async () => {
  let read = 0;
  let closed = false;
  async function* endless(): AsyncGenerator<RowBatch> {
    try {
      for (;;) {
        read++;
        yield { rows: Array.from({ length: 100 }, () => ['x'.repeat(100)]), bytes: 0 };
      }
    } finally {
      closed = true;
    }
  }
  const chunks = writeResult(jsonResult([column('v')]), endless(), 1_000_000);
  const first = await chunks.next();
  expect((first.value as Buffer).length).toBeGreaterThanOrEqual(CHUNK_BYTES);
  expect(read).toBeLessThan(10);
  await chunks.return({ rowCount: 0, truncated: false });
  expect(closed).toBe(true);
});
