import { describe, expect, test } from '@jest/globals';
import { FILES, faultOf, readSheet } from './reading.ts';
import { xlsx, xlsxParts, xlsxRows, zip } from './workbooks.ts';

/** Columns a, b, …, one row of cells, and what they give. */
const cells = (row: string, extra: Partial<Parameters<typeof xlsx>[0]> = {}): Buffer => {
  const count = row.split('<c').length - 1;
  const names = Array.from({ length: count }, (_, i) => String.fromCharCode(97 + i));
  return xlsx({ sheets: { One: `${xlsxRows([names])}<row>${row}</row>` }, ...extra });
};

describe('cells of XLSX', () => {
  test.each<[name: string, cell: string, value: string, formats?: readonly string[]]>([
    ['an integer', '<c><v>42</v></c>', '42^^integer'],
    ['an integer with an exponent', '<c><v>1.2E3</v></c>', '1200^^integer'],
    ['minus zero', '<c><v>-0</v></c>', '0^^integer'],
    ['a fraction', '<c><v>12.5</v></c>', '1.25E1^^double'],
    ['digits that a double does not hold', '<c><v>0.10000000000000001</v></c>', '1.0E-1^^double'],
    ['a very large number', '<c><v>1E300</v></c>', '1.0E300^^double'],
    ['a boolean', '<c t="b"><v>1</v></c>', 'true^^boolean'],
    ['a shared text', '<c t="s"><v>1</v></c>', 'rich text'],
    ['an inline text with markup', '<c t="inlineStr"><is><r><t>a </t></r><r><t>&lt;b&gt;</t></r></is></c>', 'a <b>'],
    ['phonetic hints', '<c t="inlineStr"><is><t>東京</t><rPh sb="0" eb="2"><t>とうきょう</t></rPh></is></c>', '東京'],
    ['the text of a formula', '<c t="str"><f>A1&amp;"x"</f><v>ax</v></c>', 'ax'],
    ['an escaped character', '<c t="inlineStr"><is><t>a_x000D_b_x005F_x000D_</t></is></c>', 'a\rb_x000D_'],
    ['an extension beside the value', '<c><v>1</v><extLst><ext><v>7</v></ext></extLst></c>', '1^^integer'],
    ['the empty value of a shared text, and of a boolean', '<c t="s"><v></v></c><c t="b"><v/></c><c><v>1</v></c>', ''],
    ['two escapes of one character', '<c t="inlineStr"><is><t>_xD83D__xDE00_!</t></is></c>', '😀!'],
    ['an escape of half a character', '<c t="inlineStr"><is><t>a_xD83D_b_xDE00__xD83D_</t></is></c>', 'a_xD83D_b_xDE00__xD83D_'],
    ['a date', '<c s="1"><v>45351</v></c>', '2024-02-29^^date', ['yyyy-mm-dd']],
    ['a date with time', '<c s="1"><v>45351.354166666664</v></c>', '2024-02-29T08:30:00^^dateTime', ['dd.mm.yyyy hh:mm']],
    ['a time', '<c s="1"><v>0.999988425925926</v></c>', '23:59:59^^time', ['h:mm AM/PM']],
    ['a time with a fraction', '<c s="1"><v>0.5000057870370371</v></c>', '12:00:00.5^^time', ['mm:ss.000']],
    ['a duration', '<c s="1"><v>1.1041666666666667</v></c>', 'P1DT2H30M^^duration', ['[h]:mm:ss']],
    ['the first day', '<c s="1"><v>1</v></c>', '1900-01-01^^date', ['d/m/yy']],
    ['the day before the one that is not there', '<c s="1"><v>59</v></c>', '1900-02-28^^date', ['d/m/yy']],
    ['the day behind it', '<c s="1"><v>61</v></c>', '1900-03-01^^date', ['d/m/yy']],
    ['a day before 1900, as LibreOffice writes it', '<c s="1"><v>-30701</v></c>', '1815-12-10^^date', ['yyyy-mm-dd']],
    ['a number with a letter of dates in quotes', '<c s="1"><v>5</v></c>', '5^^integer', ['0 "days"']],
    ['a number in colour', '<c s="1"><v>5</v></c>', '5^^integer', ['[Red]0.00;[Blue]-0.00']],
    ['scientific notation', '<c s="1"><v>5</v></c>', '5^^integer', ['0.00E+00']],
    ['a time of strict files', '<c t="d" s="1"><v>T10:30:00.500</v></c>', '10:30:00.5^^time', ['h:mm']],
    ['a date of strict files', '<c t="d" s="1"><v>2024-02-29T00:00:00</v></c>', '2024-02-29^^date', ['yyyy-mm-dd']],
  ])('%s', async (_, cell, value, formats = []) => {
    const strings = '<si><t>plain</t></si><si><r><t>rich </t></r><r><rPr><b/></rPr><t>text</t></r></si>';
    expect((await readSheet(cells(cell, { formats, strings }), ['a'])).rows).toEqual([[value]]);
  });

  test('days are counted from 1904 where the workbook says so', async () => {
    const bytes = cells('<c s="1"><v>0</v></c><c s="1"><v>43889</v></c>', { formats: ['yyyy-mm-dd'], date1904: true });
    expect((await readSheet(bytes, ['a', 'b'])).rows).toEqual([['1904-01-01^^date', '2024-02-29^^date']]);
  });

  test('a formula that gives an empty text', async () => {
    expect((await readSheet(cells('<c t="str"><f>""</f><v></v></c><c><v>1</v></c>'), ['a', 'b'])).rows).toEqual([['', '1^^integer']]);
  });

  test('no datatypes where the mapping does not read a workbook', async () => {
    expect((await readSheet(cells('<c><v>12.5</v></c>'), ['a'], { naturalDatatypes: false })).rows).toEqual([['12.5']]);
  });

  test('a described column has the datatype of its description', async () => {
    const csv = { columns: [{ name: 'a', titles: ['a'], datatype: 'http://www.w3.org/2001/XMLSchema#decimal' }] };
    expect((await readSheet(cells('<c><v>12.5</v></c>'), ['a'], { csv })).rows).toEqual([['12.5^^decimal']]);
  });

  test.each<[name: string, cell: string, message: string]>([
    ['an error', '<c t="e"><f>1/0</f><v>#DIV/0!</v></c>', 'The cell One!A2 holds the error #DIV/0!'],
    ['a formula without its value', '<c><f>A1+1</f></c>', 'The cell One!A2 holds a formula whose value is not in the file'],
    ['no number', '<c><v>x</v></c>', 'The cell One!A2 should hold a number, and holds "x"'],
    ['no boolean', '<c t="b"><v>7</v></c>', 'The cell One!A2 should hold a boolean, and holds "7"'],
    ['an unknown type', '<c t="zz"><v>7</v></c>', 'The cell One!A2 has the unknown type "zz"'],
    [
      'a day that is not there',
      '<c s="1"><v>60</v></c>',
      'The cell One!A2 is shown as a date, and its number 60 is no day of the calendar',
    ],
  ])('%s rejects the record', async (_, cell, message) => {
    const fault = await faultOf(readSheet(cells(cell, { formats: ['yyyy-mm-dd'] }), ['a']));
    expect([fault.code, fault.message, fault.place.cell]).toEqual(['record/term', message, 'One!A2']);
  });

  test('an error that means null', async () => {
    expect((await readSheet(cells('<c t="e"><v>#N/A</v></c>'), ['a'], { nulls: ['#N/A'] })).rows).toEqual([[null]]);
  });
});

const ROWS = xlsxRows([
  ['id', 'name'],
  ['1', 'Ada'],
  ['2', 'Zoë'],
]);

describe('sheets and ranges', () => {
  const names = [
    '<definedName name="People">Two!$B$2:$C$3</definedName>',
    '<definedName name="Alias">People</definedName>',
    '<definedName name="A">B</definedName><definedName name="B">A</definedName>',
    '<definedName name="Computed">OFFSET(Two!$A$1,0,0,1,1)</definedName>',
  ].join('');
  const two = xlsxRows([
    ['', '', ''],
    ['x', 'id', 'name'],
    ['', '7', 'Kim'],
    ['', '8', 'Lee'],
  ]);
  const bytes = xlsx({ sheets: { '!Hidden': xlsxRows([['id'], ['0']]), 'Sheet 1': ROWS, Two: two, "It's": ROWS }, names });

  test.each<[string | undefined, readonly string[]]>([
    [undefined, ['1', '2']],
    ['Sheet 1', ['1', '2']],
    ['sheet 1', ['1', '2']],
    ['Hidden', ['0']],
    ['2', ['1', '2']],
    ['Two', ['7', '8']],
    ['Two!B2', ['7', '8']],
    ['Two!B2:C3', ['7']],
    ["'It''s'!A1:B2", ['1']],
    ['A1:B2', ['1']],
    ['Two!B:C', ['7', '8']],
    ['People', ['7']],
    ['Alias', ['7']],
  ])('#%s', async (sheet, ids) => {
    const { rows } = await readSheet(bytes, ['id'], sheet === undefined ? {} : { sheet });
    expect(rows.map(([id]) => id)).toEqual(ids);
  });

  test.each([
    [
      'Sheet1',
      'The workbook has no sheet, range or name "Sheet1". Did you mean Sheet 1? Its sheets are Hidden (hidden), Sheet 1, Two, It\'s',
    ],
    ['9', 'The workbook has no sheet, range or name "9". Its sheets are Hidden (hidden), Sheet 1, Two, It\'s'],
    ['A', 'The names A → B → A of the workbook refer to each other in a circle'],
    [
      'Computed',
      'The name Computed of the workbook is no range: it refers to OFFSET(Two!$A$1,0,0,1,1). Name the range itself, for example file.xlsx#Sheet1!A1:C20',
    ],
  ])('#%s is refused', async (sheet, message) => {
    const fault = await faultOf(readSheet(bytes, ['id'], { sheet }));
    expect(`${fault.message}${fault.hint === undefined ? '' : `. ${fault.hint}`}`).toBe(message);
  });
});

describe('rows of XLSX', () => {
  test.each<[name: string, rows: string, csv: object, expected: readonly (string | null)[][]]>([
    [
      'empty cells and missing ones',
      '<row r="1"><c r="A1" t="str"><v>a</v></c><c r="C1" t="str"><v>c</v></c></row><row r="5"><c r="C5" t="str"><v>3</v></c></row>',
      {},
      [['', '3']],
    ],
    ['empty rows', `${xlsxRows([['a', 'c']])}<row/><row><c/><c/></row>${xlsxRows([['1', '']])}`, {}, [['1', '']]],
    [
      'empty rows that stay',
      `${xlsxRows([['a', 'c']])}<row r="4"><c t="str"><v>1</v></c></row>`,
      { skipBlankRows: false },
      [
        ['', ''],
        ['', ''],
        ['1', ''],
      ],
    ],
    ['a title above the header', xlsxRows([['Report of 2024'], [], ['a', 'c'], ['1', '2']]), { skipRows: 2 }, [['1', '2']]],
    [
      'two header rows',
      xlsxRows([
        ['a', ''],
        ['', 'c'],
        ['1', '2'],
      ]),
      { headerRows: 2 },
      [['1', '2']],
    ],
  ])('%s', async (_, rows, csv, expected) => {
    expect((await readSheet(xlsx({ sheets: { One: rows } }), ['a', 'c'], { csv })).rows).toEqual(expected);
  });

  test.each<[name: string, header: string, row: string]>([
    ['the cells of a row', 'ABC', 'CAB'],
    ['the cells of the header', 'BCA', 'ABC'],
    ['all cells, from the last to the first', 'CBA', 'CBA'],
  ])('%s come in another order', async (_, header, row) => {
    const cells = (columns: string, number: number): string =>
      [...columns]
        .map((column) => `<c r="${column}${number}" t="str"><v>${column.toLowerCase()}${number === 1 ? '' : number}</v></c>`)
        .join('');
    const rows = `<row r="1">${cells(header, 1)}</row><row r="2">${cells(row, 2)}</row><row r="7">${cells('ABCD', 7)}</row>`;
    const { rows: read, warnings } = await readSheet(xlsx({ sheets: { One: rows } }), ['c', 'a', 'b']);
    expect(read).toEqual([
      ['c2', 'a2', 'b2'],
      ['c7', 'a7', 'b7'],
    ]);
    expect(warnings).toEqual([expect.stringContaining('beyond the 3 columns that the header names')]);
  });

  test('no header: columns have numbers', async () => {
    const bytes = xlsx({
      sheets: {
        One: xlsxRows([
          ['1', 'Ada'],
          ['2', 'Zoë'],
        ]),
      },
    });
    expect((await readSheet(bytes, ['2'], { csv: { headerRows: 0 } })).rows).toEqual([['Ada'], ['Zoë']]);
  });

  test('a column in another letter case is read in legacy mappings, with a warning', async () => {
    const { rows, warnings } = await readSheet(xlsx({ sheets: { One: xlsxRows([['Name'], ['Ada']]) } }), ['name'], { dialect: 'legacy' });
    expect(rows).toEqual([['Ada']]);
    expect(warnings).toEqual([expect.stringContaining('There is no column "name": "Name" is read')]);
  });

  test('prefixes of another document', async () => {
    const sheet = `<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData><x:row><x:c t="str"><x:v>a</x:v></x:c></x:row><x:row><x:c><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>`;
    const bytes = xlsx({ sheets: { One: '' }, parts: { 'xl/worksheets/sheet1.xml': sheet } });
    expect((await readSheet(bytes, ['a'])).rows).toEqual([['1^^integer']]);
  });

  describe('prefixes that the Open XML SDK and others write', () => {
    const RICH = {
      sheets: {
        One: '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row r="2"><c r="A2" s="1"><v>45292</v></c><c r="C2" t="inlineStr"><is><t>Zoë</t></is></c></row><row r="3" hidden="1"><c r="C3" t="b"><v>1</v></c></row>',
        '!Two': '<row><c t="str"><v>x</v></c></row>',
      },
      strings: '<si><t>day</t></si><si><r><t>na</t></r><r><t>me</t></r></si>',
      formats: ['yyyy-mm-dd'],
      names: '<definedName name="People">One!$A$1:$C$3</definedName>',
    };
    const withPrefix = (xml: string): string =>
      xml
        .replace(/<(\/?)(?=[A-Za-z])/g, '<$1x:')
        .replace('xmlns=', 'xmlns:x=')
        .replaceAll(' r:', ' rel:')
        .replace('xmlns:r=', 'xmlns:rel=');
    const changed = (change: (xml: string) => string, only: RegExp): Buffer =>
      zip(
        Object.fromEntries(Object.entries(xlsxParts(RICH)).map(([name, text]) => [name, only.test(name) ? change(text as string) : text])),
      );
    const COLUMNS = ['day', 'name'];
    const read = (bytes: Buffer, sheet?: string) => readSheet(bytes, COLUMNS, sheet === undefined ? {} : { sheet });

    test.each<[string, (xml: string) => string, RegExp]>([
      ['all parts', withPrefix, /./],
      ['a sheet alone', withPrefix, /sheet1/],
      ['shared texts alone', withPrefix, /sharedStrings/],
      ['styles alone', withPrefix, /styles/],
      ['the workbook alone', withPrefix, /workbook\.xml$/],
      ['relationships alone', withPrefix, /\.rels$/],
      ['beside the namespace without prefix', (xml) => xml.replace(/ xmlns="([^"]*)"/, ' xmlns="$1" xmlns:x="$1"'), /./],
      [
        'with another namespace without prefix',
        (xml) => withPrefix(xml).replace(/ xmlns:x=/, ' xmlns="http://example.com/other" xmlns:x='),
        /./,
      ],
      [
        'declared where they are used',
        (xml) =>
          withPrefix(xml)
            .replace(/ xmlns:x="[^"]*"/, '')
            .replace(/<x:(\w+)/g, '<x:$1 xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'),
        /sheet1|sharedStrings/,
      ],
    ])('%s', async (_, change, only) => {
      const expected = await read(xlsx(RICH));
      expect(expected.rows).toEqual([
        ['2024-01-01^^date', 'Zoë'],
        ['', 'true^^boolean'],
      ]);
      expect(await read(changed(change, only))).toEqual(expected);
      expect(await read(changed(change, only), 'People')).toEqual(await read(xlsx(RICH), 'People'));
    });

    test('an element of another namespace is no row', async () => {
      const other = '<row><c t="str"><v>x</v></c></row>';
      const change = (xml: string): string =>
        withPrefix(xml)
          .replace(/ xmlns:x=/, ' xmlns="http://example.com/other" xmlns:x=')
          .replace('</x:sheetData>', `${other}</x:sheetData>`);
      expect((await read(changed(change, /sheet1/))).rows).toHaveLength(2);
    });
  });

  test('what is hidden, merged or beyond the header is said', async () => {
    const rows = `${xlsxRows([['a']])}<row hidden="1"><c><v>1</v></c></row><row><c><v>2</v></c><c><v>3</v></c></row>`;
    const { warnings } = await readSheet(xlsx({ sheets: { One: rows }, behind: '<mergeCells><mergeCell ref="A2:A3"/></mergeCells>' }), [
      'a',
    ]);
    expect(warnings).toEqual([
      'A row has cells beyond the 1 columns that the header names; these were not read (first row 3) (input people.xlsx, sheet One)',
      'A hidden row was read like the others (input people.xlsx, sheet One)',
      'A range of cells is merged: only the first cell of each has a value (first A2:A3) (input people.xlsx, sheet One)',
    ]);
  });

  test('shared texts beyond the memory are read from a file', async () => {
    const count = 70_000;
    const text = (i: number): string => `text number ${i} ${'x'.repeat(i % 50)}`;
    const strings = Array.from({ length: count }, (_, i) => `<si><t>${text(i)}</t></si>`).join('');
    const order = Array.from({ length: count }, (_, i) => (i * 7919) % count);
    const rows = order.map((i) => `<row><c t="s"><v>${i}</v></c></row>`).join('');
    const bytes = xlsx({ sheets: { One: `${xlsxRows([['a']])}${rows}` }, strings });
    const { rows: read } = await readSheet(bytes, ['a'], { files: { ...FILES, memoryBytes: 2 ** 19 } });
    expect(read.map(([one]) => one)).toEqual(order.map(text));
  });
});
