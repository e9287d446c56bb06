/** XLS and XLSB that SheetJS writes, read here, beside XLSX of the same cells; and what is wrong with files. */
import { describe, expect, test } from '@jest/globals';
import type * as sheetJs from 'xlsx';
import { CompoundFile } from '../../../../src/sources/sheet/binary/compound-file.ts';
import { Random } from '../../../support/random.ts';
import { FILES, faultOf, READING, readSheet } from './reading.ts';
import { type Book, type Cell, changeXls, number, write, xlsRecord } from './sheet-js.ts';
import { u16, u32, xlsb, xlsbSheet } from './workbooks.ts';

const FORMATS = ['xls', 'xlsb'] as const;

describe.each(FORMATS)('cells of %s', (format) => {
  test.each<[name: string, cell: Cell, value: string]>([
    ['an integer', 42, '42^^integer'],
    ['a negative integer', -7, '-7^^integer'],
    ['an integer beyond 30 bits', 2 ** 40, '1099511627776^^integer'],
    ['a fraction of two digits', 12.34, '1.234E1^^double'],
    ['a fraction', 1 / 3, '3.333333333333333E-1^^double'],
    ['a very large number', 1e300, '1.0E300^^double'],
    ['a boolean', true, 'true^^boolean'],
    ['false', false, 'false^^boolean'],
    ['a text', 'Zoë', 'Zoë'],
    ['a text beyond Latin-1', '東京 😀', '東京 😀'],
    ['a text with lines', 'a\nb\t "c"', 'a\nb\t "c"'],
    ['a date', number(45_351, 'yyyy-mm-dd'), '2024-02-29^^date'],
    ['a date of a format with its own number', number(45_351, 'm/d/yy'), '2024-02-29^^date'],
    ['a date with time', number(45_351.354166666664, 'dd.mm.yyyy hh:mm'), '2024-02-29T08:30:00^^dateTime'],
    ['a time', number(0.75, 'h:mm:ss'), '18:00:00^^time'],
    ['a duration', number(1.1041666666666667, '[h]:mm:ss'), 'P1DT2H30M^^duration'],
    ['a percentage', number(0.25, '0%'), '2.5E-1^^double'],
  ])('%s', async (_, cell, value) => {
    const bytes = write(
      {
        sheets: {
          One: [
            ['a', 'b'],
            [cell, 'end'],
          ],
        },
      },
      format,
    );
    expect((await readSheet(bytes, ['a', 'b'], {}, format)).rows).toEqual([[value, 'end']]);
  });

  test('days are counted from 1904 where the workbook says so', async () => {
    const bytes = write({ sheets: { One: [['a'], [number(43_889, 'yyyy-mm-dd')]] }, date1904: true }, format);
    expect((await readSheet(bytes, ['a'], {}, format)).rows).toEqual([['2024-02-29^^date']]);
  });

  test('an error rejects the record, and names its cell', async () => {
    const bytes = write(
      {
        sheets: {
          One: [
            ['a', 'b'],
            [1, { t: 'e', v: 0x17 }],
          ],
        },
      },
      format,
    );
    const fault = await faultOf(readSheet(bytes, ['b'], {}, format));
    expect([fault.code, fault.message, fault.place.cell]).toEqual(['record/term', 'The cell One!B2 holds the error #REF!', 'One!B2']);
    expect((await readSheet(bytes, ['b'], { nulls: ['#REF!'] }, format)).rows).toEqual([[null]]);
  });

  test('empty cells and rows', async () => {
    const bytes = write({ sheets: { One: [['a', '', 'c'], [null, null, 'x'], [], ['y']] } }, format);
    expect((await readSheet(bytes, ['a', 'c'], {}, format)).rows).toEqual([
      ['', 'x'],
      ['y', ''],
    ]);
  });

  test('merged ranges and hidden rows are said', async () => {
    const change = (sheet: sheetJs.WorkSheet): void => {
      sheet['!merges'] = [{ s: { r: 1, c: 0 }, e: { r: 1, c: 1 } }];
      sheet['!rows'] = [{}, {}, { hidden: true }];
    };
    const { warnings } = await readSheet(
      write(
        {
          sheets: {
            One: [
              ['a', 'b'],
              ['1', null],
              ['2', '3'],
            ],
          },
          change,
        },
        format,
      ),
      ['a'],
      {},
      format,
    );
    expect(warnings).toContain(
      `A range of cells is merged: only the first cell of each has a value (first A2:B2) (input people.${format}, sheet One)`,
    );
    // SheetJS writes no rows of XLS.
    const hidden = `A hidden row was read like the others (input people.${format}, sheet One)`;
    expect(warnings.includes(hidden)).toBe(format === 'xlsb');
  });
});

describe.each(FORMATS)('sheets and ranges of %s', (format) => {
  const book: Book = {
    sheets: {
      '!Hidden': [['id'], [0]],
      'Sheet 1': [
        ['id', 'name'],
        [1, 'Ada'],
        [2, 'Zoë'],
      ],
      "It's": [[null], [null, 'id', 'x'], [null, 7, 8], [null, 9, 10]],
    },
  };
  const bytes = write(book, format);

  test.each<[string | undefined, readonly string[]]>([
    [undefined, ['1', '2']],
    ['sheet 1', ['1', '2']],
    ['Hidden', ['0']],
    ['3', ['7', '9']],
    ["'It''s'!B2:C3", ['7']],
    ["'It''s'!B2", ['7', '9']],
    ["It's!B2:C3", ['7']],
  ])('#%s', async (sheet, ids) => {
    const { rows } = await readSheet(bytes, ['id'], { naturalDatatypes: false, ...(sheet === undefined ? {} : { sheet }) }, format);
    expect(rows.map(([id]) => id)).toEqual(ids);
  });
});

test('a named range of xlsb', async () => {
  const rows = [
    ['', '', ''],
    ['', 'id', 'name'],
    ['', '7', 'Kim'],
    ['', '8', 'Lee'],
  ];
  const bytes = xlsb({ sheets: { "It's": xlsbSheet(rows) }, names: { People: { top: 1, bottom: 2, left: 1, right: 2 } } });
  expect((await readSheet(bytes, ['id', 'name'], { sheet: 'people' }, 'xlsb')).rows).toEqual([['7', 'Kim']]);
});

test('a named range of xlsb that is written as two cells and an operator', async () => {
  const sheets = {
    One: [['a'], [1]],
    "It's": [
      ['', '', ''],
      ['', 'id', 'name'],
      ['', '7', 'Kim'],
      ['', '8', 'Lee'],
    ],
  };
  const bytes = write({ sheets, names: { People: "'It''s'!$B$2:$C$3" } }, 'xlsb');
  expect((await readSheet(bytes, ['id', 'name'], { sheet: 'People' }, 'xlsb')).rows).toEqual([['7', 'Kim']]);
});

test('a text of XLS that goes on in other records, in another width', async () => {
  const long = `${'a'.repeat(9000)}${'東'.repeat(9000)}`;
  const head = (count: number, wide: number): Buffer => Buffer.concat([u16(count), Buffer.from([wide])]);
  const pieces = [
    Buffer.concat([u32(2, 2), head(2, 0), Buffer.from('id'), head(18_000, 0), Buffer.from('a'.repeat(4000))]),
    Buffer.concat([Buffer.from([0]), Buffer.from('a'.repeat(5000))]),
    Buffer.concat([Buffer.from([1]), Buffer.from('東'.repeat(4000), 'utf16le')]),
    Buffer.concat([Buffer.from([1]), Buffer.from('東'.repeat(5000), 'utf16le')]),
  ];
  const texts = Buffer.concat(pieces.map((piece, i) => xlsRecord(i === 0 ? 0xfc : 0x3c, piece)));
  const short = write({ sheets: { One: [['id'], ['x']] }, shared: true }, 'xls');
  let added = texts.length;
  changeXls(short, (type, content) => {
    if (type === 0xfc) added -= 4 + content.length;
    return undefined;
  });
  const bytes = changeXls(short, (type, content) => {
    // Where the sheet begins.
    if (type === 0x85) return xlsRecord(type, Buffer.concat([u32(content.readUInt32LE(0) + added), content.subarray(4)]));
    return type === 0xfc ? texts : undefined;
  });
  expect((await readSheet(bytes, ['id'], {}, 'xls')).rows).toEqual([[long]]);
  const fault = await faultOf(readSheet(bytes, ['id'], { maxRecordBytes: 10_000 }, 'xls'));
  expect([fault.code, fault.limit]).toEqual(['limit/exceeded', 'MAX_RECORD_BYTES']);
});

test('a file of XLS that is too large for memory', async () => {
  const chunks = async function* () {
    for (;;) yield Buffer.alloc(1000);
  };
  const fault = await faultOf(CompoundFile.open(chunks(), { ...READING, name: 'people.xls' }, 10_000));
  expect(fault).toMatchObject({
    code: 'limit/exceeded',
    message: 'The workbook has more than the 10000 bytes that a file of XLS may have',
    place: { input: 'people.xls' },
    hint: expect.stringContaining('Save it as .xlsx'),
  });
});

test('a chain of sectors that runs in a circle', async () => {
  const bytes = write({ sheets: { One: [['id'], ...Array.from({ length: 500 }, (_, i) => [`text ${i}`])] } }, 'xls');
  const [table, directory] = [76, 48].map((at) => (bytes.readUInt32LE(at) + 1) * 512) as [number, number];
  const entry = [0, 1, 2, 3].map((i) => directory + 128 * i).find((at) => bytes.toString('utf16le', at, at + 16) === 'Workbook') as number;
  const start = bytes.readUInt32LE(entry + 116);
  bytes.writeUInt32LE(start + 3, table + 4 * (start + 8));
  bytes.writeUInt32LE(start + 5, entry + 116);
  expect((await faultOf(readSheet(bytes, ['id'], {}, 'xls'))).code).toBe('source/malformed');
});

test.each(FORMATS)('a name of a sheet of %s that is percent-encoded in a path is reported as it stands', async (format) => {
  const bytes = write({ sheets: { One: [['a']], '50% off #1': [['id']] } }, format);
  expect(await faultOf(readSheet(bytes, ['id'], { sheet: '50%25%20off%20%231' }, format))).toMatchObject({
    code: 'source/missing',
    hint: 'In a path, the name of a sheet stands as it is: #50% off #1. It is percent-encoded in a URL alone',
  });
});

describe('random cells read like those of XLSX:', () => {
  const PIECES = ['a', ' ', 'é', '東', '😀', '\n', '"', '0', 'x'.repeat(60), '東'.repeat(40)];
  // SheetJS cuts texts of XLS at 255 characters.
  const LONGEST = 255;
  const VALUES = ['General', 'yyyy-mm-dd', 'hh:mm:ss', '[h]:mm', '0.00', 'd/m/yy h:mm'];

  test.each(Array.from({ length: 12 }, (_, seed) => seed))('seed %i', async (seed) => {
    const random = new Random(seed);
    const text = (): string =>
      Array.from({ length: random.between(1, 4) }, () => random.pick(PIECES))
        .join('')
        .slice(0, LONGEST);
    const value = (): Cell =>
      random.pick<() => Cell>([
        text,
        () => null,
        () => random.chance(0.5),
        () => random.between(-1e6, 1e6),
        () => random.between(-1e6, 1e6) / 100,
        () => random.next() * 10 ** random.between(-5, 5),
        () => number(random.between(100_000, 5_000_000) / 100, random.pick(VALUES)),
      ])();
    const width = random.between(1, 8);
    const header = Array.from({ length: width }, (_, i) => `c${i}`);
    const rows = Array.from({ length: random.between(1, 120) }, () => ['k', ...Array.from({ length: width - 1 }, value)]);
    const book = { sheets: { One: [header, ...rows] } };
    const expected = (await readSheet(write(book, 'xlsx'), header)).rows;
    expect(expected).toHaveLength(rows.length);
    for (const format of FORMATS) expect((await readSheet(write(book, format), header, {}, format)).rows).toEqual(expected);
  });
});

describe.each(FORMATS)('%s with little memory', (format) => {
  test('shared texts are read from a file', async () => {
    const texts = Array.from({ length: 900 }, (_, i) => `text ${i} ${'é'.repeat(i % 40)}`);
    const bytes = write({ sheets: { One: [['a'], ...texts.map((text) => [text])] } }, format);
    const { rows } = await readSheet(bytes, ['a'], { files: { ...FILES, memoryBytes: 2 ** 10 } }, format);
    expect(rows.map(([text]) => text)).toEqual(texts);
  });
});

describe('damaged files give faults, and nothing else', () => {
  const rows = [['a', 'b'], ...Array.from({ length: 400 }, (_, i) => [`text ${i}`, i / 7])];
  const books = { xls: write({ sheets: { One: rows } }, 'xls'), xlsb: write({ sheets: { One: rows } }, 'xlsb') };

  test.each(Array.from({ length: 60 }, (_, seed) => seed))('seed %i', async (seed) => {
    const random = new Random(seed);
    const format = random.pick(FORMATS);
    const damaged = Buffer.from(books[format]);
    for (let i = random.between(1, 8); i > 0; i--) damaged[random.between(0, damaged.length - 1)] = random.between(0, 255);
    const cut = random.chance(0.3) ? damaged.subarray(0, random.between(1, damaged.length)) : damaged;
    // A fault, or rows: no other error, and no end without answer.
    await readSheet(cut, ['a'], {}, format).catch((error: { name?: string; code?: string }) => {
      expect(error.code).toMatch(/^(source|record|limit|mapping)\//);
    });
  });

  test.each(['zeros', 'any bytes'])(
    'where %s stand in XLS instead of what was written, no row is left out without a fault',
    async (damage) => {
      const random = new Random(1904);
      const { xls } = books;
      let faults = 0;
      for (let at = 512; at < xls.length; at += 150) {
        const damaged = Buffer.from(xls);
        const end = Math.min(xls.length, at + random.between(100, 600));
        for (let i = at; i < end; i++) damaged[i] = damage === 'zeros' ? 0 : random.between(0, 255);
        const found = await readSheet(damaged, ['a'], {}, 'xls').catch((error: { code?: string; name?: string }) =>
          // Those of Node are of another realm than those of Jest, and are not known as what they are.
          error.name === 'RangeError' ? 'source/malformed' : error.code,
        );
        if (typeof found === 'object') expect(found.rows).toHaveLength(400);
        else {
          expect(found).toMatch(/^source\/|^mapping\/reference$/);
          faults++;
        }
      }
      expect(faults).toBeGreaterThan(0.5 * Math.floor((xls.length - 512) / 150));
    },
  );

  test.each([0.1, 0.5, 0.9])('XLS that is cut off after %d of its bytes', async (share) => {
    const { xls } = books;
    const fault = await faultOf(readSheet(xls.subarray(0, Math.floor(share * xls.length)), ['a'], {}, 'xls'));
    expect(fault.code).toBe('source/malformed');
  });
});
