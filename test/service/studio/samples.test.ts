/** The fields of inputs, read by a worker of the built service. */
import { mkdir, open, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { StudioField, StudioSample } from '../../../client/types.ts';
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

test('only the beginning is read, and more of it if asked', async () => {
  const rows = Array.from({ length: 6_000 }, (_, i) => `${i},${'x'.repeat(20)}${i}`).join('\n');
  const first = await sampleOf('long.csv', `id,name\n${rows}\n`);
  expect(first).toMatchObject({ records: 200, complete: false });
  expect(await sampleOf('long.csv', `id,name\n${rows}\n`, { deeper: true })).toMatchObject({ records: 5_000, complete: false });
});

test.each<[string, string | undefined, object, number, RegExp]>([
  ['missing.csv', undefined, {}, 400, /missing\.csv/],
  ['broken.json', '{"a": [1, 2}', {}, 400, /line 1.*column 12|"column":12/],
  ['broken.xml', '<a><b></a>', {}, 400, /broken\.xml/],
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
  const { status, body } = await ask({ location: `http://127.0.0.1:${(endless.address() as AddressInfo).port}/slow.csv` });
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('within 10 s')]);
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
