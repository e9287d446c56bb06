/** What docs/how-to/add-a-source-format.md asks of every reader: each rule, on each format. */
import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { INPUT_FORMATS, type InputFormat, isWorkbook } from '../../../src/core/input/formats.ts';
import { fromBytes } from '../../../src/core/text.ts';
import { TypedValue } from '../../../src/core/value.ts';
import type { Cut, CutDocument } from '../../../src/sources/cuts.ts';
import { openDocument, readerOf } from '../../../src/sources/formats.ts';
import type { ReadOptions, Scan } from '../../../src/sources/source.ts';
import { Random } from '../../support/random.ts';
import { parquet } from './parquet/writing.ts';
import { write } from './sheet/sheet-js.ts';
import { xlsb, xlsbSheet } from './sheet/workbooks.ts';

/** A text of each column; null: the record has none. */
type Row = readonly [id: string, name: string | null];

interface Contracted {
  /** A document with such records. */
  readonly document: (rows: readonly Row[]) => Buffer;
  readonly iterator?: string;
  readonly reference: (name: string) => string;
  /** What is no document of the format, behind two good records; undefined: all bytes must come before the first record. */
  readonly broken?: string;
  /** A document can end at any byte of a cell. */
  readonly endsAnywhere?: true;
  /** What is said where there are no bytes; undefined: there are no records, then. */
  readonly empty?: string;
}

const COLUMNS = ['id', 'name'] as const;
const NULL = 'n/a';
const table = (rows: readonly Row[]): string[][] => [[...COLUMNS], ...rows.map(([id, name]) => [id, name ?? NULL])];
const delimited = (delimiter: string, rows: readonly Row[]): Buffer =>
  Buffer.from(
    table(rows)
      .map((row) => `${row.join(delimiter)}\n`)
      .join(''),
  );
const values = (rows: readonly Row[]): string[] => rows.map(([id, name]) => JSON.stringify(name === null ? { id } : { id, name }));
const column = (name: string): string => name;
const path = (name: string): string => `$.${name}`;

const FORMATS: Readonly<Record<InputFormat, Contracted>> = {
  csv: {
    document: (rows) => delimited(',', rows),
    reference: column,
    broken: 'id,name\n1,a\n2,b\n"3"x,c\n',
    endsAnywhere: true,
    empty: 'There is no header row with the names of the columns in the input: it is empty',
  },
  tsv: {
    document: (rows) => delimited('\t', rows),
    reference: column,
    endsAnywhere: true,
    empty: 'There is no header row with the names of the columns in the input: it is empty',
  },
  json: {
    document: (rows) => Buffer.from(`[${values(rows).join(',\n')}]`),
    iterator: '$[*]',
    reference: path,
    broken: '[{"id":"1"},\n{"id":"2"},\n{"id" "3"}]',
    empty: 'The JSON document is empty',
  },
  jsonl: {
    document: (rows) => Buffer.from(values(rows).join('\n')),
    iterator: '$[*]',
    reference: path,
    broken: '{"id":"1"}\n{"id":"2"}\n{"id" "3"}\n',
  },
  xml: {
    document: (rows) =>
      Buffer.from(`<r>${rows.map(([id, name]) => `<i><id>${id}</id>${name === null ? '' : `<name>${name}</name>`}</i>`).join('\n')}</r>`),
    iterator: '/r/i',
    reference: column,
    broken: '<r><i><id>1</id></i>\n<i><id>2</id></i>\n<i><id>3</i></r>',
    empty: 'in.xml is empty',
  },
  xlsx: { document: (rows) => write({ sheets: { One: table(rows) } }, 'xlsx'), reference: column, empty: 'The input is empty' },
  xlsb: { document: (rows) => xlsb({ sheets: { One: xlsbSheet(table(rows)) } }), reference: column, empty: 'The input is empty' },
  xls: { document: (rows) => write({ sheets: { One: table(rows) } }, 'xls'), reference: column, empty: 'The input is empty' },
  ods: { document: (rows) => write({ sheets: { One: table(rows) } }, 'ods'), reference: column, empty: 'The input is empty' },
  parquet: {
    document: (rows) =>
      parquet(
        COLUMNS.map((name, i) => ({ name, type: 'STRING', data: rows.map((row) => row[i]) })),
        { rowGroupSize: 50 },
      ),
    reference: column,
    empty: 'The input is empty',
  },
};

const ROWS: readonly Row[] = Array.from({ length: 300 }, (_, i) => [String(i), i % 7 === 0 ? null : `Näme ${i % 3 === 0 ? '東' : i}`]);

function optionsOf(format: InputFormat): ReadOptions {
  const common = { name: `in.${format}`, dialect: 'rml', nulls: [NULL], maxRecordBytes: 2 ** 20 } as const;
  if (format === 'parquet' || isWorkbook(format)) return { ...common, format };
  if (format === 'xml') return { ...common, format, encoding: undefined, namespaces: {} };
  if (format === 'tsv') return { ...common, format, encoding: undefined, csv: { delimiter: '\t' } };
  return { ...common, format, encoding: undefined };
}

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const never = new AbortController().signal;
const textOf = (value: unknown): string | null =>
  value === null ? null : fromBytes(value instanceof TypedValue ? value.text : (value as string));

const iterationsOf = (format: InputFormat, references: readonly string[] = COLUMNS) => [
  { iterator: FORMATS[format].iterator, references: references.map(FORMATS[format].reference), origin: 'm.ttl:1:1' },
];

const open = (format: InputFormat, bytes: AsyncIterable<Uint8Array>, reading: object = {}): Promise<Scan> =>
  openDocument(bytes, iterationsOf(format), { ...optionsOf(format), ...reading });

/** The rows before the document ends, or before the fault. */
async function read(
  format: InputFormat,
  bytes: AsyncIterable<Uint8Array>,
  reading: object = {},
): Promise<{ readonly rows: readonly Row[]; readonly fault?: Fault }> {
  const rows: Row[] = [];
  let from: number | undefined;
  let scan: Scan | undefined;
  try {
    scan = await open(format, bytes, reading);
    const readers = COLUMNS.map((name) => (scan as Scan).accessor(0, FORMATS[format].reference(name)));
    for await (const { records, first, iteration } of scan.batches(never)) {
      from ??= first;
      expect([iteration, first]).toEqual([0, from + rows.length]);
      for (const record of records) rows.push(readers.map((reader) => textOf(reader(record))) as unknown as Row);
    }
    return { rows };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { rows, fault: error };
  } finally {
    await scan?.close?.();
    await scan?.close?.();
  }
}

describe.each(INPUT_FORMATS)('%s', (format) => {
  const { document, reference, broken, endsAnywhere = false, empty } = FORMATS[format];
  const bytes = document(ROWS);
  const options = optionsOf(format);
  const isText = 'encoding' in options;
  const { cuts, readsRanges = false } = readerOf(format);

  test.each([1, 7, 1000, 2 ** 20])('gives all records, in order, of pieces of %i bytes', async (size) => {
    expect(await read(format, inPieces(bytes, size))).toEqual({ rows: ROWS });
  });

  test('a document without records, and one with a single record', async () => {
    expect(await read(format, inPieces(document([]), 100))).toEqual({ rows: [] });
    expect(await read(format, inPieces(document([['1', 'a']]), 100))).toEqual({ rows: [['1', 'a']] });
  });

  test('a text that means null is none, as is a value that is not there', async () => {
    expect(
      (
        await read(
          format,
          inPieces(
            document([
              ['1', NULL],
              [NULL, null],
            ]),
            100,
          ),
        )
      ).rows,
    ).toEqual([
      ['1', null],
      [null, null],
    ]);
  });

  test('no bytes', async () => {
    const { rows, fault } = await read(format, inPieces(Buffer.alloc(0), 1));
    expect(rows).toEqual([]);
    expect(fault?.message).toBe(empty);
    if (fault !== undefined) expect([fault.code, fault.place.input]).toEqual(['source/malformed', `in.${format}`]);
  });

  test('a document that ends too early is a fault with its place, or has records that end too early', async () => {
    for (let end = 1; end < bytes.length - 1; end += 1 + Math.floor(bytes.length / 40)) {
      const { rows, fault } = await read(format, inPieces(bytes.subarray(0, end), 500));
      const whole = endsAnywhere ? rows.slice(0, -1) : rows;
      expect(whole).toEqual(ROWS.slice(0, whole.length));
      if (fault === undefined) {
        // Nothing of a line tells that another one follows.
        expect([end, rows.length]).toEqual([end, endsAnywhere || format === 'jsonl' ? rows.length : ROWS.length]);
        continue;
      }
      // A header of which only a part is there names other columns.
      if (endsAnywhere && fault.code === 'mapping/reference') continue;
      expect(fault.code).toMatch(/^source.(malformed|encoding)$/);
      expect(fault.place.input).toBe(`in.${format}`);
      if (isText) expect(fault.place.byte ?? fault.place.line).toBeGreaterThanOrEqual(1);
    }
  });

  test('any byte that is wrong gives records or a fault that names the input', async () => {
    const random = new Random(1);
    const small = document(ROWS.slice(0, 20));
    for (let i = 0; i < 100; i++) {
      const wrong = Buffer.from(small);
      wrong[Math.floor(random.next() * wrong.length)] = Math.floor(random.next() * 256);
      const { fault } = await read(format, inPieces(wrong, 500));
      if (fault !== undefined) expect([fault.status < 500, fault.place.input]).toEqual([true, `in.${format}`]);
    }
  });

  test('ends within a batch of its signal', async () => {
    const many = document(Array.from({ length: 2000 }, (_, i) => [String(i), 'a']));
    const scan = await open(format, inPieces(many, 2 ** 14));
    const controller = new AbortController();
    let batches = 0;
    const reading = (async () => {
      for await (const { records } of scan.batches(controller.signal)) {
        if (records.length > 0) batches++;
        controller.abort();
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: 'run/cancelled' });
    await scan.close?.();
    expect(batches).toBe(1);
  });

  test('a batch has a few hundred records', async () => {
    const many = document(Array.from({ length: 2000 }, (_, i) => [String(i), 'a']));
    const scan = await open(format, inPieces(many, 2 ** 20));
    for await (const { records } of scan.batches(never)) expect(records.length).toBeLessThanOrEqual(1024);
    await scan.close?.();
  });

  test('names a reference that is like one that is not there', async () => {
    let scan: Scan | undefined;
    const hintOf = async (): Promise<string | undefined> => {
      scan = await openDocument(inPieces(bytes, 2 ** 16), iterationsOf(format, ['nam']), options);
      try {
        scan.accessor(0, reference('nam'));
      } catch (error) {
        expect(error).toMatchObject({ code: 'mapping/reference', place: { input: `in.${format}`, mapping: 'm.ttl:1:1' } });
        return (error as Fault).hint;
      }
      const accessor = scan.accessor(0, reference('nam'));
      for await (const { records } of scan.batches(never)) for (const record of records) expect(accessor(record)).toBe(null);
      expect(scan.unmatched(0)).toEqual([reference('nam')]);
      return scan.hint?.(0, reference('nam'));
    };
    expect(await hintOf()).toMatch(/\bname\b/);
    await scan?.close?.();
  });

  if (broken !== undefined)
    test('a fault has its line and its record, behind batches of records before', async () => {
      const { rows, fault } = await read(format, inPieces(Buffer.from(broken), 10));
      expect(['1', '2'].slice(0, rows.length)).toEqual(rows.map(([id]) => id));
      expect(fault?.code).toBe('source/malformed');
      expect(fault?.place).toMatchObject({ input: `in.${format}`, line: format === 'csv' ? 4 : 3, record: 2 });
    });

  if (isText) {
    test('a byte that is no UTF-8 is a fault with its place', async () => {
      const wrong = Buffer.from(
        document([
          ['1', 'a'],
          ['2', '@'],
        ]),
      );
      const at = wrong.lastIndexOf('@');
      wrong[at] = 0xff;
      const { fault } = await read(format, inPieces(wrong, 10));
      expect([fault?.code, fault?.place.input, fault?.place.byte]).toEqual(['source/encoding', `in.${format}`, at]);
    });

    test('takes bytes only as batches are asked for', async () => {
      const piece = document(Array.from({ length: 1000 }, (_, i) => [String(i), 'a']));
      const many = document(Array.from({ length: 200_000 }, (_, i) => [String(i), 'a']));
      let given = 0;
      const counted = async function* (): AsyncGenerator<Uint8Array> {
        for await (const chunk of inPieces(many, 2 ** 14)) {
          given += chunk.length;
          yield chunk;
        }
      };
      const scan = await open(format, counted());
      const reading = scan.batches(never)[Symbol.asyncIterator]();
      for (let batch = 0; batch < 10; batch++) {
        await reading.next();
        expect(given).toBeLessThan((batch + 2) * piece.length + 2 ** 17);
      }
      await reading.return?.();
      await scan.close?.();
    });
  }

  if (cuts !== undefined)
    test('slices have all records, each once, wherever the document is cut', async () => {
      const whole = document(ROWS.slice(0, 120));
      const cutDocument: CutDocument = {
        sizeBytes: whole.length,
        read: async (from, to) => whole.subarray(from, to),
        bytes: (from) => inPieces(whole.subarray(from), 33),
      };
      const find = await cuts.find();
      const ranges = readsRanges ? { ranges: { ...cutDocument } } : {};
      let found = 0;
      for (let target = 1; target < whole.length; target += 1 + Math.floor(whole.length / 150)) {
        const targets = [target, target + 500].filter((at) => at < whole.length);
        const places = await find(cutDocument, iterationsOf(format), { ...options, ...ranges } as ReadOptions, targets);
        if (places === undefined) throw new Error('the document cannot be cut');
        const rows: Row[] = [];
        let begin: Cut = { to: 0, from: places.head };
        const slice = async (end: Cut): Promise<void> => {
          const { from, before = '' } = begin;
          const text = whole.subarray(from, end.to);
          const head = before === '' ? whole.subarray(0, places.head) : Buffer.from(before, 'latin1');
          const part = Buffer.concat([head, text, Buffer.from(end.behind ?? '', 'latin1')]);
          const one = readsRanges
            ? await read(format, inPieces(whole, 500), { ...ranges, slice: { from, to: end.to } })
            : await read(format, inPieces(part, 50));
          expect(one.fault).toBe(undefined);
          rows.push(...one.rows);
          begin = end;
        };
        for await (const cut of places.found) {
          expect(cut.from).toBeGreaterThanOrEqual(target);
          if (cut.from >= whole.length) continue;
          found++;
          await slice(cut);
        }
        await slice({ to: whole.length, from: whole.length });
        expect(rows).toEqual(ROWS.slice(0, 120));
      }
      expect(found).toBeGreaterThan(10);
    });
});
