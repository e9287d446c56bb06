import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { PROJECT_ROOT } from '../../../support/project-root.ts';
import { Random } from '../../../support/random.ts';
import { faultOf, read } from './reading.ts';
import { type Column, parquet } from './writing.ts';

const fixture = (name: string): Buffer => readFileSync(join(PROJECT_ROOT, 'test/src/sources/parquet/fixtures', `${name}.parquet`));

/** The rows of `fixtures/make.mjs`. */
const PEOPLE = Array.from({ length: 300 }, (_, i) => [
  `${i}^^integer`,
  `name ${(i * 7919) % 1000}`,
  `${i * i}^^integer`,
  expect.stringContaining(i % 8 === 0 || i === 0 ? `=${i / 8}` : `${i / 8}`),
  i % 3 === 0 ? null : `Gent ü${i % 5}`,
]);
const COLUMNS = ['id', 'name', 'square', 'eighth', 'city'];

describe('Parquet', () => {
  test.each(['uncompressed', 'snappy', 'gzip', 'zstd', 'brotli', 'lz4_raw', 'v2'])('reads people-%s', async (codec) => {
    expect(await read(fixture(`people-${codec}`), COLUMNS)).toEqual(PEOPLE);
  });

  test('reads files with row groups that have no rows', async () => {
    expect(await read(fixture('arrow/empty-row-groups'), ['id', 'tags[*]'])).toEqual([
      ['1^^integer', 'a'],
      ['2^^integer', null],
    ]);
    expect(await read(fixture('arrow/no-rows'), ['id', 'tags[*]'])).toEqual([]);
  });

  test.each<[column: string, value: string]>([
    ['yes', 'true^^boolean'],
    ['tiny', '-5^^integer'],
    ['utiny', '200^^integer'],
    ['uint', '4000000000^^integer'],
    ['ubig', '18446744073709551615^^integer'],
    ['least', '-9223372036854775808^^integer'],
    ['single', '1.0E-1^^double=0.1'],
    ['whole', '3.0E1^^double=30'],
    ['infinite', 'INF^^double'],
    ['price', '12.5^^decimal=12.50'],
    ['half', '-0.5^^decimal=-0.500'],
    ['large', '123456789012345678901234567890.12^^decimal'],
    ['day', '2024-02-29^^date'],
    ['ides', '-0043-03-15^^date'],
    ['clock', '13:05:07.25^^time'],
    ['moment', '2024-02-29T13:05:07.000001^^dateTime'],
    ['instant', '2024-02-29T13:05:07Z^^dateTime'],
    ['nanos', '2262-01-01T00:00:00.123456789^^dateTime'],
    ['millis', '1969-12-31T23:59:59.5^^dateTime'],
    ['uuid', '9f1c1e9e-6b1a-4b6e-9e0a-0123456789ab'],
    ['bytes', '00FF^^hexBinary'],
    ['span', 'P14M3DT2.5S^^duration'],
    ['json', '{"a": 1}'],
    ['choice', 'b'],
  ])('the natural datatype of %s', async (column, value) => {
    expect(await read(fixture('types'), [column])).toEqual([[value]]);
  });

  test.each<[name: string, column: Column, values: readonly (string | null)[]]>([
    ['a half', { name: 'c', type: 'FLOAT16', data: [1.5, -2, null] }, ['1.5E0^^double=1.5', '-2.0E0^^double=-2', null]],
    [
      'a byte stream split',
      { name: 'c', type: 'DOUBLE', encoding: 'BYTE_STREAM_SPLIT', data: [1.5, 0, -1e300] },
      ['1.5E0^^double=1.5', '0.0E0^^double=0', '-1.0E300^^double=-1e+300'],
    ],
    [
      'differences',
      { name: 'c', type: 'INT64', encoding: 'DELTA_BINARY_PACKED', data: [7n, 5n, 3n, 2n ** 62n, -(2n ** 62n)] },
      ['7', '5', '3', `${2n ** 62n}`, `${-(2n ** 62n)}`].map((one) => `${one}^^integer`),
    ],
    [
      'front coding',
      { name: 'c', type: 'STRING', encoding: 'DELTA_BYTE_ARRAY', data: ['axis', 'axle', null, 'babble', 'babbling ü'] },
      ['axis', 'axle', null, 'babble', 'babbling ü'],
    ],
    ['lengths apart', { name: 'c', type: 'STRING', encoding: 'DELTA_LENGTH_BYTE_ARRAY', data: ['', 'b', 'ü'] }, ['', 'b', 'ü']],
    ['nulls alone', { name: 'c', type: 'STRING', data: [null, null] }, [null, null]],
  ])('reads %s', async (_, column, values) => {
    expect(await read(parquet([column]), ['c'])).toEqual(values.map((value) => [value]));
  });

  test.each(['UNCOMPRESSED', 'SNAPPY'] as const)('reads pages of many windows, %s', async (codec) => {
    const rows = Array.from({ length: 40_000 }, (_, i) => [`${i}`, `${i} is a text of some length`, `one of a few, ${i % 700}`]);
    const columns = ['id', 'long', 'few'].map((name, at) => ({ name, type: 'STRING' as const, data: rows.map((row) => row[at]) }));
    expect(await read(parquet(columns, { codec, pageSize: 50_000, rowGroupSize: 15_000 }), ['id', 'long', 'few'])).toEqual(rows);
  });

  test('reads timestamps of 96 bits', async () => {
    const schema = [
      { name: 'root', num_children: 1 },
      { name: 'c', type: 'FIXED_LEN_BYTE_ARRAY' as const, type_length: 12, repetition_type: 'REQUIRED' as const },
    ];
    const value = Buffer.alloc(12);
    value.writeBigInt64LE(45_296_000_000_001n, 0);
    value.writeUInt32LE(2_440_588 + 19_782, 8);
    const bytes = parquet([{ name: 'c', data: [new Uint8Array(value)] }], { schema, statistics: false });
    // The physical type is what tells them apart from twelve bytes: in the schema and in the description of the chunk.
    const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
    for (let at = footer; at < bytes.length; at++) if (bytes[at] === 0x15 && bytes[at + 1] === 14) bytes[at + 1] = 6;
    expect(await read(bytes, ['c'])).toEqual([['2024-02-29T12:34:56.000000001^^dateTime']]);
  });

  test('reads only the columns and the row groups that are asked for', async () => {
    const bytes = parquet(
      [
        { name: 'id', type: 'INT32', data: Array.from({ length: 100 }, (_, i) => i) },
        { name: 'long', type: 'STRING', data: Array.from({ length: 100 }, (_, i) => `${i} `.repeat(1000)) },
      ],
      { rowGroupSize: 10 },
    );
    const asked: [number, number][] = [];
    const ranges = {
      sizeBytes: bytes.length,
      read: async (from: number, to: number) => {
        asked.push([from, to]);
        return Buffer.from(bytes.subarray(from, to));
      },
    };
    expect((await read(bytes, ['id'], { options: { ranges } })).length).toBe(100);
    expect(asked.slice(2).reduce((sum, [from, to]) => sum + to - from, 0)).toBeLessThan(bytes.length / 2);
  });

  test.each<[name: string, references: readonly string[], iterator: string | undefined, rows: unknown[][]]>([
    [
      'members of structs',
      ['id', 'address.city', '$.address.zip.code'],
      undefined,
      [
        ['1^^integer', 'Gent', '9000^^integer'],
        ['2^^integer', null, null],
        ['3^^integer', null, null],
      ],
    ],
    [
      'elements of lists',
      ['tags[*]', 'tags[-1]', 'matrix[*][*]'],
      undefined,
      [
        [['a', 'c'], 'c', ['1^^integer', '2^^integer', '3^^integer']],
        [null, null, null],
        [null, null, null],
      ],
    ],
    [
      'entries of maps',
      ['attributes[*].key', "attributes[?@.key == 'y'].value"],
      undefined,
      [
        [['x', 'y'], '2^^integer'],
        [null, null],
        [null, null],
      ],
    ],
    [
      'items of an iterator',
      ['n', 'day'],
      '$[*].items[*]',
      [
        ['1^^integer', '2024-01-01^^date'],
        ['2^^integer', null],
      ],
    ],
    [
      'parents of items',
      ['n', '$^^.id', '$^^.address.city'],
      '$[*].items[*]',
      [
        ['1^^integer', '1^^integer', 'Gent'],
        ['2^^integer', '1^^integer', 'Gent'],
      ],
    ],
    [
      'objects of the rows that have one',
      ['city', '$^.id'],
      '$[?@.address != null].address',
      [
        ['Gent', '1^^integer'],
        [null, '3^^integer'],
      ],
    ],
    ['items of rows that a filter keeps', ['n', '$^^.id'], '$[?@.id > 1 || length(@.tags) == 3].items[1]', [['2^^integer', '1^^integer']]],
    [
      'rows that a filter keeps',
      ['id', 'address.city'],
      '$[?@.id > 1]',
      [
        ['2^^integer', null],
        ['3^^integer', null],
      ],
    ],
    ['a filter on a date', ["items[?@.day < '2024-06-01'].n"], undefined, [['1^^integer'], [null], [null]]],
  ])('finds %s', async (_, references, iterator, rows) => {
    expect(await read(fixture('nested'), references, iterator === undefined ? {} : { iterator })).toEqual(rows);
  });

  test('random nested values are what was written', async () => {
    for (let seed = 1; seed <= 15; seed++) {
      const random = new Random(seed);
      const text = (): string | null => (random.chance(0.2) ? null : random.pick(['', 'a', 'ü', 'long '.repeat(random.between(1, 40))]));
      const list = (): (string | null)[] | null => (random.chance(0.2) ? null : Array.from({ length: random.between(0, 4) }, text));
      const rows = random.between(1, 2000);
      const data = Array.from({ length: rows }, list);
      const bytes = parquet([{ name: 'c', data }], {
        schema: [
          { name: 'root', num_children: 1 },
          { name: 'c', repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
          { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
          { name: 'element', repetition_type: 'OPTIONAL', type: 'BYTE_ARRAY', converted_type: 'UTF8' },
        ],
        rowGroupSize: random.between(1, 1000),
        pageSize: random.pick([100, 10_000]),
        codec: random.pick(['SNAPPY', 'UNCOMPRESSED'] as const),
      });
      const found = (await read(bytes, ['c[*]'])).map(([values]) => (Array.isArray(values) ? values : values === null ? [] : [values]));
      expect([seed, found]).toEqual([seed, data.map((values) => (values ?? []).filter((value) => value !== null))]);
    }
  }, 60_000);

  test('a table of CSV reads columns, and members of structs, as texts', async () => {
    expect(await read(fixture('types'), ['price', 'whole', 'yes'], { options: { csv: {} } })).toEqual([['12.50', '30', 'true']]);
    expect((await read(fixture('nested'), ['address.city'], { options: { csv: {} } }))[0]).toEqual(['Gent']);
    const fault = await faultOf(read(fixture('nested'), ['tags'], { options: { csv: {} } }));
    expect([fault.code, fault.message, fault.hint]).toEqual([
      'mapping/reference',
      'The column "tags" is nested, and rml:CSV reads tables',
      expect.stringContaining('qms:Parquet'),
    ]);
  });

  test.each<[name: string, reference: string, iterator: string | undefined, words: RegExp]>([
    ['a column that is not there', 'adress', undefined, /no column "adress".*Did you mean "address"/],
    ['a path that begins with no column', '$[*]', undefined, /does not begin with the name of a column/],
    ['an iterator that does not begin with the rows', 'n', '$.items[*]', /\$\[\*\]\.name\[\*\]/],
    ['an iterator that takes every second row', 'n', '$[::2].items[*]', /\$\[\*\]\.name\[\*\]/],
    ['an iterator into a column that is not there', 'n', '$[*].things[*]', /no column "things"/],
    ['a filter on the whole file', 'tags[?@ == $.id]', undefined, /A filter refers to \$/],
  ])('names %s', async (_, reference, iterator, words) => {
    const fault = await faultOf(read(fixture('nested'), [reference], iterator === undefined ? {} : { iterator }));
    expect(fault.code).toBe('mapping/reference');
    expect(`${fault.message}. ${fault.hint}`).toMatch(words);
  });

  test('a value larger than the limit is named with its row and column', async () => {
    const bytes = parquet([{ name: 'note', type: 'STRING', data: [...Array.from({ length: 20 }, () => 'x'), 'y'.repeat(5000)] }]);
    const fault = await faultOf(read(bytes, ['note'], { options: { maxRecordBytes: 1000 } }));
    expect([fault.code, fault.limit, fault.place]).toEqual([
      'limit/exceeded',
      'MAX_RECORD_BYTES',
      { input: 'people.parquet', record: 0, expression: 'note' },
    ]);
  });

  test('text that is not UTF-8 rejects its record alone', async () => {
    const bytes = parquet([{ name: 'c', type: 'STRING', data: ['abcd', 'wxyz'] }], { statistics: false });
    bytes[bytes.indexOf('wxyz') + 1] = 0xff;
    const fault = await faultOf(read(bytes, ['c']));
    expect([fault.code, fault.message]).toEqual(['record/term', 'The text is not valid UTF-8']);
  });
});

describe('a damaged file', () => {
  const FILES: readonly [name: string, columns: readonly string[]][] = [
    ['people-uncompressed', COLUMNS],
    ['people-snappy', COLUMNS],
    ['people-zstd', COLUMNS],
    ['people-v2', COLUMNS],
    ['nested', ['id', 'address.city', 'tags[*]', 'matrix[*][*]', 'attributes[*].key', 'items[*].day']],
    ['types', ['ubig', 'large', 'nanos', 'uuid', 'span', 'json']],
  ];

  test.each(FILES)('%s gives a fault wherever it is cut off', async (name, columns) => {
    const bytes = fixture(name);
    const random = new Random(7);
    for (let i = 0; i < 30; i++) {
      const size = random.between(0, bytes.length - 1);
      const fault = await faultOf(read(bytes.subarray(0, size), columns));
      expect([size, fault.code]).toEqual([size, 'source/malformed']);
      expect(fault.place.input).toBe('people.parquet');
    }
  });

  test.each(FILES)('%s with other bytes gives a fault or rows, never another error', async (name, columns) => {
    const random = new Random(11);
    let faults = 0;
    for (let i = 0; i < 60; i++) {
      const bytes = Buffer.from(fixture(name));
      for (let flips = random.between(1, 3); flips > 0; flips--) bytes[random.between(0, bytes.length - 1)] = random.between(0, 255);
      try {
        expect((await read(bytes, columns)).length).toBeLessThan(100_000);
      } catch (error) {
        expect((error as Error).name).toBe('Fault');
        faults++;
      }
    }
    expect(faults).toBeGreaterThan(5);
  });
});
