import { describe, expect, test } from '@jest/globals';
import { FILES, faultOf, readSheet } from './reading.ts';
import { ods, odsParts, odsRows, zip } from './workbooks.ts';

const STYLES = [
  '<number:date-style style:name="N1"><number:year/><number:month/><number:day/></number:date-style>',
  '<number:date-style style:name="N2"><number:year/><number:hours/></number:date-style>',
  '<number:time-style style:name="N3"><number:hours/></number:time-style>',
  '<number:time-style style:name="N4" number:truncate-on-overflow="false"><number:hours/></number:time-style>',
  ...[1, 2, 3, 4].map((n) => `<style:style style:name="ce${n}" style:data-style-name="N${n}"/>`),
  '<style:style style:name="child" style:parent-style-name="ce4"/>',
  '<style:style style:name="a" style:parent-style-name="b"/><style:style style:name="b" style:parent-style-name="a"/>',
].join('');

const cells = (row: string, columns = ''): Buffer =>
  ods({ sheets: { One: `${columns}${odsRows([['a', 'b', 'c']])}<table:table-row>${row}</table:table-row>` }, styles: STYLES });

const time = (style: string, value: string): string =>
  `<table:table-cell table:style-name="${style}" office:value-type="time" office:time-value="${value}"><text:p>shown</text:p></table:table-cell>`;
const date = (style: string, value: string): string =>
  `<table:table-cell table:style-name="${style}" office:value-type="date" office:date-value="${value}"><text:p>shown</text:p></table:table-cell>`;

describe('cells of ODS', () => {
  test.each<[name: string, cell: string, value: string]>([
    [
      'a number',
      '<table:table-cell office:value-type="float" office:value="12.5"><text:p>12,50</text:p></table:table-cell>',
      '1.25E1^^double',
    ],
    ['a percentage', '<table:table-cell office:value-type="percentage" office:value="0.5"/>', '5.0E-1^^double'],
    ['a boolean', '<table:table-cell office:value-type="boolean" office:boolean-value="false"/>', 'false^^boolean'],
    ['a date', date('ce1', '2024-02-29T10:00:00'), '2024-02-29^^date'],
    ['a date with time', date('ce2', '2024-02-29'), '2024-02-29T00:00:00^^dateTime'],
    ['a date of a style without format', date('none', '2024-02-29T08:30:00.500'), '2024-02-29T08:30:00.5^^dateTime'],
    ['a time', time('ce3', 'PT08H30M00S'), '08:30:00^^time'],
    ['a duration', time('ce4', 'PT26H30M00S'), 'P1DT2H30M^^duration'],
    ['more than a day, where no format leaves days out', time('none', 'PT26H30M00S'), 'P1DT2H30M^^duration'],
    ['the time of day, where the format is a clock', time('ce3', 'PT26H30M00S'), '02:30:00^^time'],
    ['a leap day', date('none', '2000-02-29'), '2000-02-29^^date'],
    ['the end of a day', date('none', '2024-02-29T24:00:00'), '2024-02-29T24:00:00^^dateTime'],
    [
      'a text without its reading',
      '<table:table-cell office:value-type="string"><text:p><text:ruby><text:ruby-base>東京</text:ruby-base><text:ruby-text>x</text:ruby-text></text:ruby>!</text:p></table:table-cell>',
      '東京!',
    ],
    [
      'nothing, whatever is shown',
      '<table:table-cell office:value-type="void"><text:p>x</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>y</text:p></table:table-cell>',
      '',
    ],
    ['a duration of an inherited style', time('child', 'PT26H00M00S'), 'P1DT2H^^duration'],
    ['styles that inherit from each other', time('a', 'PT01H00M00S'), '01:00:00^^time'],
    [
      'paragraphs',
      '<table:table-cell office:value-type="string"><text:p>a  b\n c</text:p><text:p>d<text:s text:c="2"/><text:span>e</text:span><text:line-break/>f</text:p></table:table-cell>',
      'a b c\nd  e\nf',
    ],
    [
      'a text besides a comment and a picture',
      '<table:table-cell office:value-type="string"><office:annotation><text:p>no</text:p></office:annotation><draw:frame><text:p>no</text:p></draw:frame><text:p>yes<text:note><text:p>no</text:p></text:note>!</text:p></table:table-cell>',
      'yes!',
    ],
    [
      'the value of a text that is not shown',
      '<table:table-cell office:value-type="string" office:string-value="told"><text:p>shown</text:p></table:table-cell>',
      'told',
    ],
  ])('%s', async (_, cell, value) => {
    expect((await readSheet(cells(cell), ['a'], {}, 'ods')).rows).toEqual([[value]]);
  });

  test('columns give styles to cells that have none', async () => {
    const columns = '<table:table-column/><table:table-column table:number-columns-repeated="2" table:default-cell-style-name="ce4"/>';
    const duration = '<table:table-cell office:value-type="time" office:time-value="PT26H00M00S"/>';
    expect((await readSheet(cells(`<table:table-cell/>${duration}${duration}`, columns), ['b', 'c'], {}, 'ods')).rows).toEqual([
      ['P1DT2H^^duration', 'P1DT2H^^duration'],
    ]);
  });

  test.each<[string, string, string]>([
    [
      'an error',
      '<table:table-cell office:value-type="string" office:string-value="" calcext:value-type="error"><text:p>#DIV/0!</text:p></table:table-cell>',
      'The cell One!A2 holds the error #DIV/0!',
    ],
    [
      'a formula without its value',
      '<table:table-cell table:formula="of:=1+1"/>',
      'The cell One!A2 holds a formula whose value is not in the file',
    ],
    ['no month', date('ce1', '2024-13-01'), 'The cell One!A2 should hold a date, and holds "2024-13-01"'],
    ['no day', date('ce1', '1900-02-29'), 'The cell One!A2 should hold a date, and holds "1900-02-29"'],
    ['no hour', date('ce2', '2024-02-29T25:00:00'), 'The cell One!A2 should hold a date, and holds "2024-02-29T25:00:00"'],
    ['no date', date('ce1', 'today'), 'The cell One!A2 should hold a date, and holds "today"'],
  ])('%s rejects the record', async (_, cell, message) => {
    const fault = await faultOf(readSheet(cells(cell), ['a'], {}, 'ods'));
    expect([fault.code, fault.message, fault.place.cell]).toEqual(['record/term', message, 'One!A2']);
  });
});

const text = (value: string, repeated = ''): string =>
  `<table:table-cell office:value-type="string"${repeated}><text:p>${value}</text:p></table:table-cell>`;

describe('rows of ODS', () => {
  test('repeated rows and columns are read as often as they are repeated', async () => {
    const rows = `${odsRows([['a', 'b', 'c']])}<table:table-row table:number-rows-repeated="1000">${text('x', ' table:number-columns-repeated="3"')}</table:table-row><table:table-row>${text('last')}</table:table-row>`;
    const { rows: read } = await readSheet(ods({ sheets: { One: rows } }), ['a', 'c'], {}, 'ods');
    expect(read).toEqual([...Array.from({ length: 1000 }, () => ['x', 'x']), ['last', '']]);
  });

  test('a repeated header is a header and records', async () => {
    const rows = `<table:table-row table:number-rows-repeated="3">${text('a')}</table:table-row>`;
    expect((await readSheet(ods({ sheets: { One: rows } }), ['a'], {}, 'ods')).rows).toEqual([['a'], ['a']]);
  });

  test('the empty rest of a sheet is no rows', async () => {
    const rest =
      '<table:table-row table:number-rows-repeated="1048574"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>';
    expect((await readSheet(ods({ sheets: { One: odsRows([['a'], ['1']]) + rest } }), ['a'], {}, 'ods')).rows).toEqual([['1']]);
  });

  test.each([
    [
      'more rows than a sheet has',
      `<table:table-row table:number-rows-repeated="9999999">${text('a')}</table:table-row>`,
      'source/malformed',
    ],
    [
      'more columns than a sheet has',
      `<table:table-row>${text('a', ' table:number-columns-repeated="99999"')}</table:table-row>`,
      'source/malformed',
    ],
    [
      'a repetition that is no number',
      `<table:table-row table:number-rows-repeated="1e9">${text('a')}</table:table-row>`,
      'source/malformed',
    ],
    [
      'a bomb of rows',
      `<table:table-row table:number-rows-repeated="1048576">${text('x'.repeat(1000))}</table:table-row>`,
      'limit/exceeded',
    ],
  ])('%s', async (_, rows, code) => {
    const fault = await faultOf(readSheet(ods({ sheets: { One: rows } }), [], { files: FILES }, 'ods'));
    expect(fault.code).toBe(code);
  });

  const sheets = {
    '!Hidden': odsRows([['a'], ['0']]),
    One: odsRows([['a'], ['1'], ['2']]),
    'My sheet': odsRows([
      ['', ''],
      ['', 'a'],
      ['', '7'],
      ['', '8'],
    ]),
  };
  const behind = `<table:named-expressions><table:named-range table:name="Area" table:cell-range-address="$'My sheet'.$B$2:.$B$3"/><table:named-expression table:name="Sum" table:expression="of:=SUM([.A1])"/></table:named-expressions>`;

  test.each<[string | undefined, readonly string[]]>([
    [undefined, ['1', '2']],
    ['Hidden', ['0']],
    ['My sheet', ['7', '8']],
    ["'My sheet'.B2:B3", ['7']],
    ['Area', ['7']],
    ['3', ['7', '8']],
  ])('#%s', async (sheet, values) => {
    const { rows } = await readSheet(ods({ sheets, behind }), ['a'], sheet === undefined ? {} : { sheet }, 'ods');
    expect(rows.map(([value]) => value)).toEqual(values);
  });

  test('a name that is no range is refused', async () => {
    const fault = await faultOf(readSheet(ods({ sheets, behind }), ['a'], { sheet: 'Sum' }, 'ods'));
    expect([fault.code, fault.message]).toEqual([
      'source/missing',
      'The name Sum of the workbook is no range: it refers to of:=SUM([.A1])',
    ]);
  });

  test('prefixes of another document, and two for one namespace', async () => {
    const rows = odsRows([
      ['id', 'name'],
      ['1', 'Zoë'],
    ]);
    const parts = odsParts({ sheets: { One: rows }, styles: '' });
    const renamed = (xml: string): string =>
      xml
        .replace(/(?<=[</ ])(table|office|text):/g, 'my-$1:')
        .replace(/xmlns:(table|office|text)=("[^"]*")/g, 'xmlns:my-$1=$2 xmlns:other-$1=$2');
    const bytes = zip({ ...parts, 'content.xml': renamed(parts['content.xml'] as string) });
    expect((await readSheet(bytes, ['id', 'name'], {}, 'ods')).rows).toEqual([['1', 'Zoë']]);
  });
});
