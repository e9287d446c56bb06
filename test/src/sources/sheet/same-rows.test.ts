/** The same rows as CSV, XLSX and ODS: of files that LibreOffice made of the CSV beside them, and of random texts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { fromBytes } from '../../../../src/core/text.ts';
import { openCsv } from '../../../../src/sources/csv/csv.ts';
import { PROJECT_ROOT } from '../../../support/project-root.ts';
import { Random } from '../../../support/random.ts';
import { READING, readSheet } from './reading.ts';
import { ods, odsRows, xlsx, xlsxRows } from './workbooks.ts';

const FOLDER = join(PROJECT_ROOT, 'test', 'src', 'sources', 'sheet', 'libreoffice');

async function readCsv(text: Buffer, columns: readonly string[], dialect: 'rml' | 'legacy' = 'rml'): Promise<(string | null)[][]> {
  const chunks = async function* () {
    yield text;
  };
  const scan = await openCsv(chunks(), [{ iterator: undefined, references: columns, origin: 'm.ttl:1:1' }], { ...READING, dialect });
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
