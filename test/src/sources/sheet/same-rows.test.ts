/** The same rows as CSV, XLSX and ODS: of files that LibreOffice made of the CSV beside them, and of random texts. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { fromBytes } from '../../../../src/core/text.ts';
import { openCsv } from '../../../../src/sources/csv/csv.ts';
import { PROJECT_ROOT } from '../../../support/project-root.ts';
import { Random } from '../../../support/random.ts';
import { FILES, faultOf, OPENERS, READING, readSheet } from './reading.ts';
import { ods, odsRows, xlsb, xlsbSheet, xlsx, xlsxRows } from './workbooks.ts';

const FOLDER = join(PROJECT_ROOT, 'test', 'src', 'sources', 'sheet', 'libreoffice');

async function readCsv(text: Buffer, columns: readonly string[], dialect: 'rml' | 'legacy' = 'rml'): Promise<(string | null)[][]> {
  const chunks = async function* () {
    yield text;
  };
  const scan = await openCsv(chunks(), [{ iterator: undefined, references: columns, origin: 'm.ttl:1:1' }], {
    ...READING,
    format: 'csv',
    encoding: undefined,
    dialect,
  });
  const readers = columns.map((column) => scan.accessor(0, column));
  const rows: (string | null)[][] = [];
  for await (const { records } of scan.batches(new AbortController().signal))
    for (const record of records)
      rows.push(
        readers.map((read) => {
          const value = read(record) as string | null;
          return value === null ? null : fromBytes(value);
        }),
      );
  return rows;
}

describe('files of LibreOffice read like the CSV that they were made of:', () => {
  const texts = ['id', 'name', 'born', 'at', 'score', 'note'];

  test.each(['xlsx', 'ods'] as const)('%s', async (format) => {
    const bytes = await readFile(join(FOLDER, `people.${format}`));
    const { rows } = await readSheet(bytes, texts, { naturalDatatypes: false }, format);
    expect(rows).toEqual(await readCsv(await readFile(join(FOLDER, 'people.csv')), texts));
    // CSV has no one way to write these.
    const typed = await readSheet(bytes, ['seen', 'took', 'at', 'score', 'id'], {}, format);
    expect(typed.rows.slice(0, 2)).toEqual([
      ['2024-02-29T08:30:00^^dateTime', 'P1DT2H30M^^duration', '08:30:00^^time', '1.5E0^^double', '1^^integer'],
      ['1999-12-31T23:59:59^^dateTime', 'P4DT4H1S^^duration', '23:59:59^^time', '-1.0E-3^^double', '2^^integer'],
    ]);
  });
});

/** Made by libreoffice/make.mjs. */
describe.each(['xlsx', 'xls', 'ods'] as const)('workbooks of LibreOffice, %s', (format) => {
  const file = (name: string): Promise<Buffer> => readFile(join(FOLDER, `${name}.${format}`));

  test('values are those of the CSV', async () => {
    const texts = ['id', 'text', 'whole', 'fraction', 'date', 'moment', 'clock', 'percent', 'money', 'flag'];
    const expected = await readCsv(await readFile(join(FOLDER, 'values.csv')), texts);
    const { rows } = await readSheet(await file('values'), texts, { naturalDatatypes: false }, format);
    expect(rows).toEqual(expected.map((row) => row.map((text, i) => (text === null ? null : asCell(text, texts[i] as string)))));
    const { rows: typed } = await readSheet(await file('values'), texts.slice(2), {}, format);
    expect(typed[0]).toEqual([
      ...['42^^integer', '5.0E-1^^double', '2024-02-29^^date', '2024-02-29T08:30:00^^dateTime', '08:30:00^^time'],
      ...['2.5E-1^^double', '1.25E1^^double', 'true^^boolean'],
    ]);
  });

  test('formulas have their values, a range has a name, and a hidden sheet is found', async () => {
    const bytes = await file('features');
    const { rows, warnings } = await readSheet(bytes, ['id', 'name', 'took', 'state'], { csv: { skipRows: 2 } }, format);
    expect(rows).toEqual([
      ['1^^integer', 'rich text', 'P1DT2H30M^^duration', 'ok'],
      ['2^^integer', 'hidden row', '', 'true^^boolean'],
      ['3^^integer', 'error', '', 'x'],
      ['4^^integer', 'twice', '', ''],
      ['4^^integer', 'twice', '', ''],
    ]);
    expect(warnings).toEqual([expect.stringContaining('A hidden row'), expect.stringContaining('A range of cells is merged')]);
    const sum = await readSheet(bytes, ['sum'], { csv: { skipRows: 2 }, nulls: ['#DIV/0!'] }, format);
    expect(sum.rows.map(([value]) => value)).toEqual(['3^^integer', '4^^integer', null, '', '']);
    const fault = await faultOf(readSheet(bytes, ['sum'], { csv: { skipRows: 2 } }, format));
    expect([fault.code, fault.message]).toEqual(['record/term', 'The cell My sheet!C6 holds the error #DIV/0!']);
    expect((await readSheet(bytes, ['id', 'name'], { sheet: 'People' }, format)).rows).toEqual([['1^^integer', 'rich text']]);
    expect((await readSheet(bytes, ['id'], { sheet: 'Notes' }, format)).rows).toEqual([['99^^integer']]);
    expect((await readSheet(bytes, ['id'], { sheet: '2' }, format)).rows).toEqual([['99^^integer']]);
    const unknown = await faultOf(readSheet(bytes, ['id'], { sheet: 'Nots' }, format));
    expect([unknown.code, unknown.hint]).toEqual(['source/missing', 'Did you mean Notes? Its sheets are My sheet, Notes (hidden)']);
  });
});

describe.each(['xlsx', 'xlsb', 'xls', 'ods'] as const)('a run over %s that is cancelled', (format) => {
  const rows = [['a'], ...Array.from({ length: 5000 }, (_, i) => [`text ${i}`])];
  const bytes = {
    xlsx: () => xlsx({ sheets: { One: xlsxRows(rows) } }),
    xlsb: () => xlsb({ sheets: { One: xlsbSheet(rows) } }),
    xls: () => readFile(join(FOLDER, 'values.xls')),
    ods: () => ods({ sheets: { One: odsRows(rows) } }),
  };

  test('stops within a batch, and leaves no file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'quadmill-cancelled-'));
    try {
      const options = { ...READING, name: `people.${format}`, files: { ...FILES, directory, memoryBytes: 0 } };
      const document = await bytes[format]();
      const chunks = async function* () {
        yield document;
      };
      const scan = await OPENERS[format](chunks(), [{ iterator: undefined, references: [], origin: 'm.ttl:1:1' }], options);
      const controller = new AbortController();
      let batches = 0;
      const read = async (): Promise<void> => {
        for await (const _ of scan.batches(controller.signal)) {
          batches++;
          controller.abort();
        }
      };
      expect([(await faultOf(read())).code, batches]).toEqual(['run/cancelled', 1]);
      expect(await readdir(directory)).toEqual([]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

test.each(['xlsx', 'xlsb', 'ods'] as const)('an archive of %s that unpacks to too much', async (format) => {
  const text = 'x'.repeat(900_000);
  const rows = [['a'], ...Array.from({ length: 90 }, () => [text])];
  const bytes = {
    xlsx: () => xlsx({ sheets: { One: xlsxRows(rows) } }),
    xlsb: () => xlsb({ sheets: { One: xlsbSheet(rows) } }),
    ods: () => ods({ sheets: { One: odsRows(rows) } }),
  }[format]();
  const limited = async (files: Partial<typeof FILES>): Promise<[string, string | undefined]> => {
    const { code, limit } = await faultOf(readSheet(bytes, ['a'], { files: { ...FILES, ...files }, maxRecordBytes: 2 ** 22 }, format));
    return [code, limit];
  };
  expect(await limited({ inflationRatio: 100 })).toEqual(['limit/exceeded', 'MAX_INFLATION_RATIO']);
  expect(await limited({ inflationRatio: 0, inputBytes: 1_000_000 })).toEqual(['limit/exceeded', 'MAX_INPUT_BYTES']);
});

/** The text of a cell that LibreOffice made of a text of the CSV. */
function asCell(text: string, column: string): string {
  if (column === 'percent' && text !== '') return String(Number(text.replace('%', '')) / 100);
  // A quoted text stays a text.
  if (column === 'money' && !text.includes(',')) return text === '' ? '' : String(Number(text.replace('$', '')));
  if (column === 'fraction' && text.includes('E')) return String(Number(text));
  if (column === 'flag') return text.toLowerCase();
  return column === 'moment' ? text.replace(' ', 'T') : text;
}

describe('random rows give the same records in each format', () => {
  const PIECES = [
    'a',
    ' ',
    '  ',
    '\n',
    '\t',
    '"',
    ',',
    '<',
    '&',
    '&amp;',
    ']]>',
    'é',
    '東',
    '😀',
    '_x',
    '0',
    '1.50',
    'TRUE',
    "'",
    '#',
    '!',
  ];

  test.each(Array.from({ length: 40 }, (_, seed) => seed))('seed %i', async (seed) => {
    const random = new Random(seed);
    const below = (most: number): number => Math.floor(random.next() * most);
    const width = 1 + below(6);
    const header = Array.from({ length: width }, (_, i) => `c${i}`);
    const text = (): string => Array.from({ length: below(5) }, () => PIECES[below(PIECES.length)] as string).join('');
    // A row without any text is no record of a sheet.
    const rows = Array.from({ length: below(700) }, () => ['k', ...Array.from({ length: width - 1 }, text)]);
    const all = [header, ...rows];
    const quoted = all.map((row) => row.map((cell) => (cell === '' ? '' : `"${cell.replaceAll('"', '""')}"`)).join(',')).join('\n');
    const dialect = seed % 2 === 0 ? 'rml' : 'legacy';
    const expected = await readCsv(Buffer.from(quoted), header, dialect);
    expect((await readSheet(xlsx({ sheets: { One: xlsxRows(all) } }), header, { dialect })).rows).toEqual(expected);
    expect((await readSheet(ods({ sheets: { One: odsRows(all) } }), header, { dialect }, 'ods')).rows).toEqual(expected);
  });
});
