/** The fields of inputs, read by a worker of the built service. */
import { mkdir, open, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { StudioField, StudioItems, StudioSample, StudioSampleRequest } from '../../../client/types.ts';
import { xlsx, xlsxRows } from '../../src/sources/sheet/workbooks.ts';
import { fastest } from '../../support/fastest.ts';
import { soakTest, test } from '../../support/jest/extent.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { type Answer, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
/** Answers with the beginning of a file, and no more. */
let endless: Server;
const closed: Promise<void>[] = [];

beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await startService({ cwd: directory.path, env: { DATA_DIR: join(directory.path, 'data'), MAX_BODY_BYTES: '4096' } });
  endless = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' }).write('id,name\n1,Ann\n');
    closed.push(new Promise((resolve) => response.once('close', resolve)));
  });
  await new Promise<void>((done) => endless.listen(0, '127.0.0.1', done));
});
afterAll(async () => {
  endless?.closeAllConnections();
  endless?.close();
  await service?.stop();
  await directory.remove();
});

const ask = (question: unknown, from = service): Promise<Answer> => postJson(`${from.url}/studio/samples`, question);
const sampleOf = async (name: string, content: string | Uint8Array, more: object = {}): Promise<StudioSample> => {
  await writeFile(join(directory.path, name), content);
  const { status, body } = await ask({ location: name, ...more });
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as unknown as StudioSample;
};
const textOf = ({ path }: StudioField): string =>
  path
    .map((step) => ('name' in step ? `.${step.name}` : 'attribute' in step ? `@${step.attribute}` : 'each' in step ? '[*]' : 'text()'))
    .join('');
const shapeOf = ({ fields }: StudioSample): readonly string[] =>
  fields.map((field) => `${textOf(field)} ${field.holds}${field.values === undefined ? '' : ` ${field.values.kind}`}`);

const ROWS = ['.id value integer', '.name value text'];

test.each<[string, string | Uint8Array]>([
  ['people.csv', 'id,name\n1,Ann\n2,\n'],
  ['semicolons.csv', 'id;name\n1;Ann\n2;\n'],
  ['people.tsv', 'id\tname\n1\tAnn\n2\t\n'],
  ['people.csv.gz', gzipSync('id,name\n1,Ann\n2,\n')],
  ['people.jsonl', '{"id":1,"name":"Ann"}\n{"id":2,"name":null}\n'],
  [
    'people.xlsx',
    xlsx({
      sheets: {
        Staff: xlsxRows([
          ['id', 'name'],
          ['1', 'Ann'],
          ['2', ''],
        ]),
      },
    }),
  ],
])('rows: %s', async (name, content) => {
  const sample = await sampleOf(name, content);
  expect(sample).toMatchObject({ records: 2, complete: true, warnings: [] });
  expect(shapeOf(sample)).toEqual(ROWS);
  expect(sample.fields[1]?.values).toMatchObject({ objects: 2, examples: ['Ann'], distinct: 1 });
});

test.each<[string, string, Partial<StudioSampleRequest>, string | undefined]>([
  ['a header in quotes declares them', '"id"\t"name"\n1\t"A\tnn"\n2\t\n', {}, '"'],
  ['they are declared by the request', 'id\tname\n1\t"A\tnn"\n2\t\n', { quote: '"' }, '"'],
  ['there are none', 'id\tname\n1\t"A\n2\tnn"\n', {}, undefined],
])('quotes of tab-separated text: %s', async (_, content, more, quote) => {
  const sample = await sampleOf('quotes.tsv', content, more);
  expect(sample).toMatchObject({ records: 2, warnings: [] });
  expect(sample.quote).toBe(quote);
  expect(sample.fields[1]?.values?.examples).toEqual(quote === undefined ? ['"A', 'nn"'] : ['A\tnn']);
});

test.each<[name: string, more: object, content: string, values: number, nulls: number]>([
  ['rows, unless it is said', {}, 'id,name\n1,Ann\n2,\n3,""\n', 1, 2],
  ['texts that mean no value', { nulls: ['', 'NA'] }, 'id,name\n1,NA\n2,\n3,Bo\n', 1, 2],
  ['empty texts that are values', { nulls: [] }, 'id,name\n1,Ann\n2,\n3,""\n', 3, 0],
  ['cells in quotes of legacy RML', { nulls: [], legacy: true }, 'id,name\n1,Ann\n2,\n3,""\n', 2, 1],
  ['JSON', { nulls: [''], format: 'jsonl' }, '{"id":1,"name":""}\n{"id":2,"name":"x"}\n{"id":3,"name":null}\n', 1, 2],
])('what is no value: %s', async (name, more, content, values, nulls) => {
  const sample = await sampleOf(`${name.replace(/\W/g, '-')}.csv`, content, more);
  expect(sample.fields.at(-1)?.values).toMatchObject({ objects: 3, values, nulls, absent: 0 });
});

test('a table without rows has its columns', async () => {
  const sample = await sampleOf('head.csv', 'id,name\n');
  expect(sample).toMatchObject({ records: 0, complete: true });
  expect(shapeOf(sample)).toEqual(['.id value text', '.name value text']);
});

test('the sheets of a workbook are named, and one is chosen behind #', async () => {
  const row = (...cells: readonly string[]): string => xlsxRows([cells, cells.map((cell) => `${cell} 1`)]);
  const content = xlsx({ sheets: { Staff: row('id', 'name'), 'Pay 2026': row('month', 'sum') } });
  const first = await sampleOf('sheets.xlsx', content);
  expect(first).toMatchObject({ sheets: ['Staff', 'Pay 2026'] });
  expect(shapeOf(first)).toEqual(['.id value text', '.name value text']);
  const { status, body } = await ask({ location: 'sheets.xlsx#Pay 2026' });
  expect({ status, fields: shapeOf(body as unknown as StudioSample) }).toEqual({
    status: 200,
    fields: ['.month value text', '.sum value text'],
  });
});

test('levels of JSON', async () => {
  const orders = [
    { id: 1, customer: { name: 'Ann' }, lines: [{ sku: 'A7', qty: 2 }] },
    { id: 2, customer: null, lines: [] },
  ];
  const sample = await sampleOf('orders.json', JSON.stringify({ orders }));
  expect(shapeOf(sample)).toEqual([
    '.orders list',
    '.orders[*] object',
    '.orders[*].id value integer',
    '.orders[*].customer object',
    '.orders[*].customer.name value text',
    '.orders[*].lines list',
    '.orders[*].lines[*] object',
    '.orders[*].lines[*].sku value text',
    '.orders[*].lines[*].qty value integer',
  ]);
  expect(sample).toMatchObject({ format: 'json', records: 2, complete: true, bytesRead: sample.ofBytes });
});

test('levels of XML, with the prefixes of its names', async () => {
  const sample = await sampleOf(
    'o.xml',
    '<o:orders xmlns:o="urn:o"><o:order id="1"><o:sku>A7</o:sku></o:order><o:order id="2"/></o:orders>',
  );
  expect(sample).toMatchObject({ format: 'xml', namespaces: { o: 'urn:o' }, records: 2 });
  expect(shapeOf(sample)).toEqual([
    '.o:orders object',
    '.o:orders.o:order list',
    '.o:orders.o:order[*] object',
    '.o:orders.o:order[*]@id value integer',
    '.o:orders.o:order[*].o:sku value text',
  ]);
});

test('a relative path of the mapping directory', async () => {
  const directoryOfMappings = join(directory.path, 'data', 'mappings', 'semi-structured-transformer');
  await mkdir(directoryOfMappings, { recursive: true });
  await writeFile(join(directoryOfMappings, 'beside.csv'), 'id,name\n1,Ann\n');
  const { status, body } = await ask({ location: 'beside.csv', mappings: 'semi-structured-transformer' });
  expect([status, body]).toMatchObject([200, { records: 1 }]);
  expect((await ask({ location: 'beside.csv' })).status).toBe(400);
});

test.each<[string, string | Uint8Array, readonly string[], number, object]>([
  ['middle.json', '[{"id":1},\n{"id":oops}]', ['[*] object', '[*].id value integer'], 1, { line: 2, column: 7 }],
  ['middle.jsonl', '{"id":1}\n{"id":2\n{"id":3}\n', ['.id value integer'], 1, { line: 3, column: 1 }],
  [
    'middle.xml',
    '<a>\n<b id="1"/><b id="2"/>\n<b></a>',
    ['.a object', '.a.b list', '.a.b[*] object', '.a.b[*]@id value integer'],
    2,
    { line: 3 },
  ],
  ['middle.csv', 'id,name\n1,Ann\n2,"Bob"x\n', ['.id value text', '.name value text'], 0, { line: 3 }],
])('what stands before a fault has fields: %s', async (name, content, fields, records, place) => {
  const sample = await sampleOf(name, content);
  expect(shapeOf(sample)).toEqual(fields);
  expect(sample).toMatchObject({ records, complete: false, fault: { code: 'source/malformed', place: { input: name, ...place } } });
});

test('only the beginning is read, and more of it if asked', async () => {
  const rows = Array.from({ length: 6_000 }, (_, i) => `${i},${'x'.repeat(20)}${i}`).join('\n');
  const first = await sampleOf('long.csv', `id,name\n${rows}\n`);
  expect(first).toMatchObject({ records: 200, complete: false });
  expect(await sampleOf('long.csv', `id,name\n${rows}\n`, { deeper: true })).toMatchObject({ records: 5_000, complete: false });
});

test.each<[string, string | undefined, object, number, RegExp]>([
  ['missing.csv', undefined, {}, 400, /missing\.csv/],
  ['broken.json', '{"a" 1, "b": 2}', {}, 400, /"column":6/],
  ['several.json', '{"a": 1}\n{"a": 2}', {}, 400, /"line":2.*JSON Lines/],
  ['broken.xml', '<a', {}, 400, /broken\.xml/],
  ['notes.txt', 'hello', {}, 400, /notes\.txt/],
  ['people.csv', 'id\n1\n', { encoding: 'EBCDIC-9' }, 400, /EBCDIC-9/],
  ['people.csv', 'id\n1\n', { format: 'docx' }, 400, /format/],
])('%s that cannot be read: %s %j', async (name, content, more, expected, says) => {
  if (content !== undefined) await writeFile(join(directory.path, name), content);
  const { status, body } = await ask({ location: name, ...more });
  expect([status, JSON.stringify(body)]).toEqual([expected, expect.stringMatching(says)]);
});

test('a caller that leaves withdraws its question', async () => {
  const location = `http://127.0.0.1:${(endless.address() as AddressInfo).port}/slow.csv`;
  const leaving = new AbortController();
  const gone = fetch(`${service.url}/studio/samples`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ location }),
    signal: leaving.signal,
  });
  while (closed.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  leaving.abort();
  await expect(gone).rejects.toThrow();
  await closed[0];
  expect(service.log.filter(({ msg }) => msg === 'preview thread ended')).toEqual([]);
  expect(shapeOf(await sampleOf('people.csv', 'id,name\n1,Ann\n'))).toEqual(ROWS);
});

soakTest('an input that gives no more ends with its limit, and the next question is answered', async () => {
  const location = `http://127.0.0.1:${(endless.address() as AddressInfo).port}/slow.csv`;
  const { status, body } = await ask({ location });
  expect([status, body]).toMatchObject([400, { detail: `Nothing of ${location} came in time`, place: { input: location } }]);
  expect(shapeOf(await sampleOf('people.csv', 'id,name\n1,Ann\n'))).toEqual(ROWS);
});

soakTest('of 1 GB of JSON the fields are there within two seconds', async () => {
  const path = join(directory.path, 'large.json');
  const file = await open(path, 'w');
  await file.write('[{"id":0}');
  const chunk = Array.from({ length: 100_000 }, (_, i) => `,{"id":${i},"name":"${'x'.repeat(80)}","lines":[{"sku":"A${i}"}]}`).join('');
  while ((await file.stat()).size < 2 ** 30) await file.write(chunk);
  await file.write(']');
  await file.close();
  await ask({ location: 'large.json' });
  const answer = async (): Promise<number> => {
    const began = performance.now();
    const { status, body } = await ask({ location: 'large.json' });
    const ended = performance.now();
    expect([status, body]).toMatchObject([200, { records: 200, complete: false }]);
    return ended - began;
  };
  expect(await fastest(2_000, answer)).toBeLessThan(2_000);
});

/** Of an input that begins so, and never ends. */
async function expectInTime(format: string, begun: string, records: number): Promise<void> {
  const slow = createServer((_, response) => void response.write(begun));
  await new Promise<void>((done) => slow.listen(0, '127.0.0.1', done));
  try {
    const location = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/slow.${format}`;
    expect(await ask({ location })).toMatchObject({ status: 200, body: { records, complete: false } });
  } finally {
    slow.closeAllConnections();
    slow.close();
  }
}

test('of CSV that never ends there is what came in time', () => expectInTime('csv', `id,name\n${'1,Ann\n'.repeat(150)}`, 150));

soakTest.each([
  ['json', `[${'{"id":1,"name":"Ann"},'.repeat(500)}`],
  ['xml', `<people>${'<person><id>1</id></person>'.repeat(500)}`],
])('of %s that never ends there is what came in time', (format, begun) => expectInTime(format, begun, 200));

describe('single items', () => {
  const itemsOf = (question: object): Promise<Answer> => postJson(`${service.url}/studio/items`, question);
  const numbers = ({ body }: Answer): readonly [number, unknown][] =>
    (body as unknown as StudioItems).items.map(({ position, values }) => [position, values]);

  test('of JSON are given from a position on, and no more is read', async () => {
    // What stands behind the items that are wanted is no JSON.
    const items = Array.from(
      { length: 5_000 },
      (_, i) => `{"id":${i + 1},"note":${i === 56 ? '{"a":1}' : '"n"'},"lines":[{"sku":"A${i}"}]}`,
    );
    await writeFile(join(directory.path, 'many.json'), `[${items.join(',\n')},\n{broken`);
    const question = { location: 'many.json', format: 'json', iterator: '$[*]', references: ['$.id', '$.note'] };
    const page = await itemsOf({ ...question, from: 56 });
    expect(numbers(page).slice(0, 2)).toEqual([
      [56, ['57', null]],
      [57, ['58', 'n']],
    ]);
    expect(page.body).toMatchObject({ next: 76, complete: false, cut: false });
    expect(numbers(page)).toHaveLength(20);
    await writeFile(join(directory.path, 'many-lines.json'), `[${items.join(',')}]`);
    const lines = { location: 'many-lines.json', format: 'json', iterator: '$[56].lines[*]', references: ['$.sku'] };
    expect(numbers(await itemsOf(lines))).toEqual([[0, ['A56']]]);
  });

  test('are found by their values, in any case, and the list may end', async () => {
    const items = Array.from({ length: 3_000 }, (_, i) => ({ id: i, town: i === 2_999 ? 'Zürich' : 'Bern' }));
    await writeFile(join(directory.path, 'towns.json'), JSON.stringify({ towns: items }));
    const question = { location: 'towns.json', format: 'json', iterator: '$.towns[*]', references: ['$.town'] };
    const found = await itemsOf({ ...question, find: 'zÜR' });
    expect(found.body).toEqual({ items: [{ position: 2_999, values: ['Zürich'] }], next: 3_000, complete: true, cut: false });
    expect((await itemsOf({ ...question, find: 'Genf' })).body).toEqual({ items: [], next: 3_000, complete: true, cut: false });
  });

  test('of an input that never ends are answered in time', async () => {
    const slow = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('[{"id":1},{"id":2},');
    });
    await new Promise<void>((done) => slow.listen(0, '127.0.0.1', done));
    try {
      const location = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/slow.json`;
      const found = await itemsOf({ location, format: 'json', iterator: '$[*]', references: ['$.id'] });
      expect(found.body).toMatchObject({ complete: false, cut: true });
    } finally {
      slow.closeAllConnections();
      slow.close();
    }
  });

  test.each([
    ['lines', '{"id":0}\n{"id":1}\n\n{"id":2,"l":[7,8]}\n'],
    ['values one after the other', '{"id":0}{"id":1} {"id":\n2,"l":[7,8]}'],
    ['a text sequence', '\x1e{"id":0}\n\x1e{"id":1}\n\x1e{"id":2,"l":[7,8]}\n'],
  ])('of JSON Lines: %s', async (_, content) => {
    await writeFile(join(directory.path, 'few.jsonl'), content);
    const question = { location: 'few.jsonl', format: 'jsonl', iterator: '$[*]', references: ['$.id'] };
    const found = await itemsOf({ ...question, from: 1 });
    expect(numbers(found)).toEqual([
      [1, ['1']],
      [2, ['2']],
    ]);
    expect(found.body).toMatchObject({ next: 3, complete: true });
    expect(numbers(await itemsOf({ ...question, iterator: '$[2].l[*]', references: ['$'], find: '8' }))).toEqual([[1, ['8']]]);
    const sample = await sampleOf('few.jsonl', content, { items: true });
    expect(sample.fields.map(({ values }) => values?.items)).toEqual([
      [0, 1, 2].map((at) => ({ at: [at], value: `${at}` })),
      undefined,
      [7, 8].map((value, at) => ({ at: [2, at], value: `${value}` })),
    ]);
  });

  test('of JSON Lines that never end are given as soon as they are there', async () => {
    const slow = createServer((_, response) => void response.write(`${'{"id":1}\n'.repeat(30)}`));
    await new Promise<void>((done) => slow.listen(0, '127.0.0.1', done));
    try {
      const location = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/slow.jsonl`;
      const found = await itemsOf({ location, format: 'jsonl', iterator: '$[*]', references: ['$.id'], from: 5 });
      expect(numbers(found)).toHaveLength(20);
      expect(found.body).toMatchObject({ next: 25, complete: false, cut: false });
    } finally {
      slow.closeAllConnections();
      slow.close();
    }
  });

  test('of XML have its namespaces', async () => {
    const entries = Array.from({ length: 60 }, (_, i) => `<e n="${i}"><t>${i}</t></e>`);
    await writeFile(join(directory.path, 'feed.xml'), `<feed xmlns="http://f.example/">${entries.join('')}</feed>`);
    const question = { location: 'feed.xml', format: 'xml', namespaces: { d: 'http://f.example/' }, references: ['@n', 'd:t'] };
    expect(numbers(await itemsOf({ ...question, iterator: '/d:feed/d:e', from: 58 }))).toEqual([
      [58, ['58', '58']],
      [59, ['59', '59']],
    ]);
    expect((await itemsOf({ ...question, iterator: '/d:feed/d:e[', from: 58 })).status).toBe(400);
  });
});
