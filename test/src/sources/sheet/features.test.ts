/** What is read of each format of workbooks: the table of docs/sources.md, and a check for each of its places. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { WorkbookFormat } from '../../../../src/core/input/formats.ts';
import type { WorkbookOptions } from '../../../../src/sources/source.ts';
import { PROJECT_ROOT } from '../../../support/project-root.ts';
import { FILES, faultOf, readSheet } from './reading.ts';
import { type Cell, changeXls, compoundFile, number, write, xlsRecord } from './sheet-js.ts';
import { ods, odsRows, u16, u32, wide, xlsb, xlsbColumn, xlsbRecord, xlsbSheet, xlsx, xlsxRows, zip } from './workbooks.ts';

type Check = () => Promise<void>;
/** Without a check: the format has no such thing. */
type Feature = Readonly<Partial<Record<WorkbookFormat, Check>>>;

const FORMATS = ['xlsx', 'ods', 'xls', 'xlsb'] as const;
const LIBREOFFICE = join(PROJECT_ROOT, 'test/src/sources/sheet/libreoffice');
const libreOffice = (name: string): Promise<Buffer> => readFile(join(LIBREOFFICE, name));

const double = (value: number): Buffer => Buffer.from(Float64Array.of(value).buffer);
const xlsbOf = (...cells: readonly Buffer[]): Buffer => xlsb({ sheets: { One: xlsbColumn(cells) } });
const xlsxOf = (cells: string, more: Partial<Parameters<typeof xlsx>[0]> = {}): Buffer =>
  xlsx({ sheets: { One: `${xlsxRows([['a']])}<row>${cells}</row>` }, ...more });
const odsOf = (cells: string, styles = ''): Buffer =>
  ods({ sheets: { One: `${odsRows([['a']])}<table:table-row>${cells}</table:table-row>` }, styles });
/** One column of cells. */
const cellsOf = (format: WorkbookFormat, cells: readonly Cell[], date1904 = false): Buffer =>
  write({ sheets: { One: [['a'], ...cells.map((cell) => [cell])] }, date1904 }, format);

/** The values of the column `a`. */
const gives =
  (
    format: WorkbookFormat,
    bytes: () => Buffer | Promise<Buffer>,
    expected: readonly (string | null)[],
    reading: Partial<WorkbookOptions> = {},
  ) =>
  async (): Promise<void> => {
    const { rows } = await readSheet(await bytes(), ['a'], reading, format);
    expect(rows.map(([value]) => value)).toEqual(expected);
  };

const refuses =
  (format: WorkbookFormat, bytes: () => Buffer, expected: object, reading: Partial<WorkbookOptions> = {}) =>
  async (): Promise<void> => {
    expect(await faultOf(readSheet(bytes(), ['a'], reading, format))).toMatchObject(expected);
  };

const warns = (format: WorkbookFormat, bytes: () => Buffer | Promise<Buffer>, message: string, csv?: object) => async (): Promise<void> => {
  const { warnings } = await readSheet(await bytes(), [], csv === undefined ? {} : { csv }, format);
  expect(warnings).toContainEqual(expect.stringMatching(new RegExp(`^${message} `)));
};

const inAll = (check: (format: WorkbookFormat) => Check): Feature => Object.fromEntries(FORMATS.map((format) => [format, check(format)]));

/** In every format the same sheets of texts; a name that begins with `!` is that of a hidden sheet. */
function textsOf(format: WorkbookFormat, sheets: Readonly<Record<string, readonly (readonly string[])[]>>): Buffer {
  const rows = <T>(make: (rows: readonly (readonly string[])[]) => T): Record<string, T> =>
    Object.fromEntries(Object.entries(sheets).map(([name, texts]) => [name, make(texts)]));
  if (format === 'xlsx') return xlsx({ sheets: rows(xlsxRows) });
  if (format === 'ods') return ods({ sheets: rows(odsRows) });
  return write({ sheets }, format);
}

const SHEETS = {
  '!Hidden': [['a'], ['hidden']],
  One: [['a'], ['one']],
  'My sheet': [
    ['', '', ''],
    ['', 'a', 'b'],
    ['', 'seven', 'x'],
    ['', 'eight', 'y'],
  ],
};

const HEAD = [
  ['a', 'b'],
  ['x', ''],
  ['', 'c'],
  ['1', '2'],
];
const HEADERS: readonly (readonly [csv: object, columns: readonly string[], rows: readonly (readonly string[])[]])[] = [
  [{}, ['a', 'b'], HEAD.slice(1)],
  [{ skipRows: 1, headerRows: 2 }, ['x', 'c'], HEAD.slice(3)],
  [{ headerRows: 0 }, ['1', '2'], HEAD],
  [{ skipRows: 3, headerRows: 0 }, ['2', '1'], [['2', '1']]],
];

/** A formula of XLS with the value 0 in the place of the number 0.125. */
const xlsFormula = (value: Buffer, flags = 0, others: readonly Cell[] = []): Buffer =>
  changeXls(cellsOf('xls', [0.125, ...others]), (type, content) =>
    type === 0x0203 && content.readDoubleLE(6) >= 0.125
      ? xlsRecord(
          0x06,
          Buffer.concat([
            content.subarray(0, 6),
            content.readDoubleLE(6) === 0.125 ? value : content.subarray(6, 14),
            u16(content.readDoubleLE(6) === 0.125 ? flags : 0),
            u32(0),
            u16(3),
            Buffer.from([0x1e, 1, 0]),
          ]),
        )
      : undefined,
  );

/** A formula of XLSB with a number. */
const xlsbFormula = (value: number, flags = 0): Buffer => xlsbRecord(9, u32(0, 0), double(value), u16(flags), u32(0, 0));

/** What is said of formulas without a value; undefined: nothing. */
const says =
  (format: WorkbookFormat, bytes: () => Buffer, expected: readonly string[], said: string | undefined): Check =>
  async () => {
    const { rows, warnings } = await readSheet(bytes(), ['a'], {}, format);
    expect(rows.map(([value]) => value)).toEqual(expected);
    expect(warnings).toEqual(said === undefined ? [] : [`${said} (input people.${format}, sheet One)`]);
  };
const FIRST_ZERO =
  'A formula has the value 0, which one that was never calculated has as well (first One!A2): save the file in a spreadsheet program if the values are wrong';
const TWO_ZEROS =
  '2 formulas have the value 0, which those that were never calculated have as well (first One!A2): save the file in a spreadsheet program if the values are wrong';

const bomb = (format: WorkbookFormat): Check => {
  const rows = [['a'], ...Array.from({ length: 90 }, () => ['x'.repeat(900_000)])];
  const bytes = {
    xlsx: () => xlsx({ sheets: { One: xlsxRows(rows) } }),
    ods: () => ods({ sheets: { One: odsRows(rows) } }),
    xlsb: () => xlsb({ sheets: { One: xlsbSheet(rows) } }),
    xls: () => Buffer.alloc(0),
  }[format];
  return refuses(format, bytes, { code: 'limit/exceeded', limit: 'MAX_INFLATION_RATIO' }, { files: FILES, maxRecordBytes: 2 ** 22 });
};

const encrypted = { code: 'source/refused', message: 'The workbook is encrypted' };
const ODS_TYPE = 'application/vnd.oasis.opendocument.spreadsheet';
/** As LibreOffice writes it. */
const ENCRYPTION_DATA =
  '<manifest:encryption-data manifest:checksum-type="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0#sha256-1k" manifest:checksum="x="><manifest:algorithm manifest:algorithm-name="http://www.w3.org/2001/04/xmlenc#aes256-cbc" manifest:initialisation-vector="x"/><manifest:key-derivation manifest:key-derivation-name="PBKDF2" manifest:key-size="32" manifest:iteration-count="100000" manifest:salt="x"/></manifest:encryption-data>';
const encryptedOds = (part: string, content: Buffer, data: string): Buffer =>
  zip({
    mimetype: ODS_TYPE,
    [part]: content,
    'META-INF/manifest.xml': `<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.3"><manifest:file-entry manifest:full-path="${part}" manifest:media-type="${ODS_TYPE}" manifest:size="3000">${data}</manifest:file-entry></manifest:manifest>`,
  });
const encryptedPackage = (): Buffer => compoundFile('/EncryptedPackage', Buffer.alloc(5000));

const DATES: readonly Cell[] = [
  number(45_351, 'yyyy-mm-dd'),
  number(45_351.354166666664, 'dd.mm.yyyy hh:mm'),
  number(0.75, 'h:mm:ss'),
  number(1.1041666666666667, '[h]:mm:ss'),
];
const MOMENTS = ['2024-02-29^^date', '2024-02-29T08:30:00^^dateTime', '18:00:00^^time', 'P1DT2H30M^^duration'];

/** A column of the workbooks that LibreOffice wrote. */
const ofLibreOffice =
  (format: WorkbookFormat, column: string, expected: readonly (string | null)[], reading: Partial<WorkbookOptions> = {}): Check =>
  async () => {
    const { rows } = await readSheet(await libreOffice(`features.${format}`), [column], { csv: { skipRows: 2 }, ...reading }, format);
    expect(rows.map(([value]) => value)).toEqual(expected);
  };

const sharedOf = (format: 'xlsx' | 'xls' | 'xlsb'): Check =>
  gives(format, () => write({ sheets: { One: [['a'], ['Zoë'], ['Zoë'], ['東京']] }, shared: true }, format), ['Zoë', 'Zoë', '東京']);

const SUMS = ['3^^integer', '4^^integer', null, '', ''];
const STATES = ['ok', 'true^^boolean', 'x', '', ''];
const error =
  '<table:table-cell office:value-type="string" office:string-value="" calcext:value-type="error"><text:p>#REF!</text:p></table:table-cell>';
const isRef = { code: 'record/term', message: 'The cell One!A2 holds the error #REF!' };
const isUncalculated = { code: 'record/term', message: 'The cell One!A2 holds a formula whose value is not in the file' };
const MERGED = 'A range of cells is merged: only the first cell of each has a value';
const HIDDEN_ROW = 'A hidden row was read like the others';
const HIDDEN_COLUMN = 'A hidden column was read like the others';
const tooOften = { code: 'source/malformed', message: expect.stringContaining('is repeated 1048576 times, and a sheet has 1048576 rows') };

/** The columns a, b and c, of which b is hidden, and what is behind them. */
function hiddenColumn(format: WorkbookFormat): Buffer {
  const rows = [
    ['a', 'b', 'c'],
    ['1', '2', '3'],
  ];
  if (format === 'ods')
    return ods({
      sheets: {
        One: `<table:table-column/><table:table-column table:visibility="collapse"/><table:table-column/><table:table-column table:visibility="collapse" table:number-columns-repeated="16381"/>${odsRows(rows)}`,
      },
    });
  const change = (sheet: Record<string, unknown>): void => {
    sheet['!cols'] = [{}, { hidden: true }, {}, { hidden: true }, { hidden: true }];
  };
  return write({ sheets: { One: rows }, change }, format);
}

const FEATURES: Readonly<Record<string, Feature>> = {
  'shared texts': { xlsx: sharedOf('xlsx'), xls: sharedOf('xls'), xlsb: sharedOf('xlsb') },
  'texts within cells': {
    ...inAll((format) => gives(format, () => cellsOf(format, ['Zoë', '東京 😀']), ['Zoë', '東京 😀'])),
    xlsx: gives('xlsx', () => xlsxOf('<c t="inlineStr"><is><t>Zoë</t></is></c>'), ['Zoë']),
  },
  'rich text': {
    xlsx: gives(
      'xlsx',
      () => xlsxOf('<c t="s"><v>0</v></c>', { strings: '<si><r><t>rich </t></r><r><rPr><b/></rPr><t>text</t></r></si>' }),
      ['rich text'],
    ),
    ods: gives(
      'ods',
      () => odsOf('<table:table-cell office:value-type="string"><text:p>rich <text:span>text</text:span></text:p></table:table-cell>'),
      ['rich text'],
    ),
    xls: ofLibreOffice('xls', 'name', ['rich text', 'hidden row', 'error', 'twice', 'twice']),
    xlsb: gives('xlsb', () => xlsbOf(xlsbRecord(62, u32(0, 0), Buffer.from([1]), wide('rich text'), u32(1), u16(5, 1))), ['rich text']),
  },
  'dates, times and durations': {
    ...inAll((format) => gives(format, () => cellsOf(format, DATES), MOMENTS)),
    ods: async () => {
      const { rows } = await readSheet(await libreOffice('values.ods'), ['date', 'moment', 'clock'], {}, 'ods');
      expect(rows[0]).toEqual(['2024-02-29^^date', '2024-02-29T08:30:00^^dateTime', '08:30:00^^time']);
      await ofLibreOffice('ods', 'took', ['P1DT2H30M^^duration', '', '', '', ''])();
    },
  },
  'days counted from 1904': {
    xlsx: gives('xlsx', () => cellsOf('xlsx', [number(43_889, 'yyyy-mm-dd')], true), ['2024-02-29^^date']),
    xls: gives('xls', () => cellsOf('xls', [number(43_889, 'yyyy-mm-dd')], true), ['2024-02-29^^date']),
    xlsb: gives('xlsb', () => cellsOf('xlsb', [number(43_889, 'yyyy-mm-dd')], true), ['2024-02-29^^date']),
  },
  booleans: inAll((format) => gives(format, () => cellsOf(format, [true, false]), ['true^^boolean', 'false^^boolean'])),
  'error cells': {
    ...inAll((format) => refuses(format, () => cellsOf(format, [{ t: 'e', v: 0x17 }]), isRef)),
    ods: refuses('ods', () => odsOf(error), isRef),
  },
  'an error as null, by `rml:null`': {
    ...inAll((format) => gives(format, () => cellsOf(format, [{ t: 'e', v: 0x17 }]), [null], { nulls: ['#REF!'] })),
    ods: gives('ods', () => odsOf(error), [null], { nulls: ['#REF!'] }),
  },
  'merged cells': {
    ...inAll((format) => warns(format, () => libreOffice(`features.${format}`), MERGED, { skipRows: 2 })),
    xlsb: warns(
      'xlsb',
      () =>
        write(
          {
            sheets: { One: [['a'], ['1'], [null]] },
            change: (sheet) => void (sheet['!merges'] = [{ s: { r: 1, c: 0 }, e: { r: 2, c: 0 } }]),
          },
          'xlsb',
        ),
      MERGED,
    ),
  },
  'repeated rows and columns': {
    ods: async () => {
      const row = (often: number, text: string): string =>
        `<table:table-row table:number-rows-repeated="${often}"><table:table-cell table:number-columns-repeated="2" office:value-type="string"><text:p>${text}</text:p></table:table-cell></table:table-row>`;
      const head = odsRows([['a', 'b']]);
      const { rows } = await readSheet(ods({ sheets: { One: head + row(3, 'x') } }), ['a', 'b'], {}, 'ods');
      expect(rows).toEqual([
        ['x', 'x'],
        ['x', 'x'],
        ['x', 'x'],
      ]);
      await refuses('ods', () => ods({ sheets: { One: head + row(1_048_576, 'x') } }), tooOften)();
    },
  },
  'sheets by name and by number': inAll((format) => async () => {
    const bytes = (): Buffer => textsOf(format, SHEETS);
    for (const sheet of ['My sheet', '3']) {
      const { rows } = await readSheet(bytes(), ['2', '3'], { sheet, csv: { headerRows: 0 } }, format);
      expect(rows.at(-1)).toEqual(['eight', 'y']);
    }
    await refuses(format, bytes, { code: 'source/missing', hint: expect.stringContaining('Did you mean One?') }, { sheet: 'Ones' })();
  }),
  'ranges of cells': inAll((format) => gives(format, () => textsOf(format, SHEETS), ['seven'], { sheet: "'My sheet'!B2:C3" })),
  'named ranges': {
    ...inAll((format) => ofLibreOffice(format, 'name', ['rich text'], { csv: {}, sheet: 'People' })),
    xlsb: gives(
      'xlsb',
      () => xlsb({ sheets: { One: xlsbSheet(SHEETS['My sheet']) }, names: { People: { top: 1, bottom: 2, left: 1, right: 2 } } }),
      ['seven'],
      { sheet: 'People' },
    ),
  },
  'choice of the header rows': inAll((format) => async () => {
    for (const [csv, columns, expected] of HEADERS)
      expect((await readSheet(textsOf(format, { One: HEAD }), columns, { csv }, format)).rows).toEqual(expected);
  }),
  'hidden sheets': inAll((format) => async () => {
    await gives(format, () => textsOf(format, SHEETS), ['one'])();
    await gives(format, () => textsOf(format, SHEETS), ['hidden'], { sheet: 'Hidden' })();
  }),
  'hidden rows': {
    ...inAll((format) => warns(format, () => libreOffice(`features.${format}`), HIDDEN_ROW, { skipRows: 2 })),
    xlsb: warns(
      'xlsb',
      () => write({ sheets: { One: [['a'], ['1']] }, change: (sheet) => void (sheet['!rows'] = [{}, { hidden: true }]) }, 'xlsb'),
      HIDDEN_ROW,
    ),
  },
  'hidden columns': inAll((format) => async () => {
    const { rows, warnings } = await readSheet(hiddenColumn(format), ['a', 'b', 'c'], {}, format);
    expect(rows).toEqual([['1', '2', '3']]);
    expect(warnings).toEqual([`${HIDDEN_COLUMN} (input people.${format}, sheet One)`]);
  }),
  'values of formulas': {
    ...inAll((format) => async () => {
      await ofLibreOffice(format, 'sum', SUMS, { nulls: ['#DIV/0!'] })();
      await ofLibreOffice(format, 'state', STATES)();
    }),
    xlsb: gives(
      'xlsb',
      () =>
        xlsbOf(
          xlsbRecord(9, u32(0, 0), double(3), u16(0), u32(0, 0)),
          xlsbRecord(8, u32(0, 0), wide('ok'), u16(0), u32(0, 0)),
          xlsbRecord(10, u32(0, 0), Buffer.from([1]), u16(0), u32(0, 0)),
          xlsbRecord(11, u32(0, 0), Buffer.from([7]), u16(0), u32(0, 0)),
        ),
      ['3^^integer', 'ok', 'true^^boolean', null],
      { nulls: ['#DIV/0!'] },
    ),
  },
  'a formula without a value': {
    xlsx: refuses('xlsx', () => xlsxOf('<c><f>1+1</f></c>'), isUncalculated),
    ods: refuses('ods', () => odsOf('<table:table-cell table:formula="of:=1+1"/>'), isUncalculated),
    xls: async () => {
      const due = (flags: number) => () => xlsFormula(double(0), flags, [2.5]);
      await says('xls', () => xlsFormula(double(0)), ['0^^integer'], FIRST_ZERO)();
      // Where another formula has a value, the sheet was calculated, and a formula is marked as due or has the value 0.
      await says('xls', due(0), ['0^^integer', '2.5E0^^double'], undefined)();
      await says('xls', due(2), ['0^^integer', '2.5E0^^double'], FIRST_ZERO)();
      await says('xls', due(1), ['0^^integer', '2.5E0^^double'], FIRST_ZERO)();
      await says('xls', () => xlsFormula(double(1)), ['1^^integer'], undefined)();
      await says('xls', () => cellsOf('xls', [0]), ['0^^integer'], undefined)();
    },
    xlsb: async () => {
      await says('xlsb', () => xlsbOf(xlsbFormula(0), xlsbFormula(0)), ['0^^integer', '0^^integer'], TWO_ZEROS)();
      await says('xlsb', () => xlsbOf(xlsbFormula(0), xlsbFormula(7)), ['0^^integer', '7^^integer'], undefined)();
      await says('xlsb', () => xlsbOf(xlsbFormula(0, 2), xlsbFormula(7)), ['0^^integer', '7^^integer'], FIRST_ZERO)();
      const text = xlsbRecord(8, u32(0, 0), wide('ok'), u16(0), u32(0, 0));
      await says('xlsb', () => xlsbOf(xlsbFormula(0), text), ['0^^integer', 'ok'], undefined)();
      await says('xlsb', () => cellsOf('xlsb', [0]), ['0^^integer'], undefined)();
    },
  },
  'encrypted workbooks': {
    xlsx: refuses('xlsx', encryptedPackage, encrypted),
    ods: async () => {
      const unreadable = Buffer.from('\x90\xfe encrypted', 'latin1');
      const data = ENCRYPTION_DATA;
      await refuses('ods', () => encryptedOds('content.xml', unreadable, data), encrypted)();
      await refuses('ods', () => encryptedOds('encrypted-package', unreadable, data), encrypted)();
      // By a key of OpenPGP, or without a word in the manifest.
      await refuses('ods', () => encryptedOds('encrypted-package', unreadable, ''), encrypted)();
      await refuses('ods', () => zip({ mimetype: ODS_TYPE, 'encrypted-package': unreadable }), encrypted)();
      await refuses('ods', () => zip({ mimetype: ODS_TYPE, other: unreadable }), {
        code: 'source/malformed',
        message: expect.stringContaining('no part "content.xml"'),
      })();
    },
    xls: async () => {
      await refuses('xls', encryptedPackage, encrypted)();
      let isFirst = true;
      const locked = changeXls(cellsOf('xls', [1]), (type, content) => {
        if (!isFirst) return undefined;
        isFirst = false;
        return Buffer.concat([xlsRecord(type, content), xlsRecord(0x2f, Buffer.alloc(54, 1))]);
      });
      await refuses('xls', () => locked, encrypted)();
    },
    xlsb: refuses('xlsb', encryptedPackage, encrypted),
  },
  'archives that unpack to too much': { xlsx: bomb('xlsx'), ods: bomb('ods'), xlsb: bomb('xlsb') },
};

describe.each(Object.entries(FEATURES))('%s', (_, feature) => {
  test.each(FORMATS.flatMap((format) => (feature[format] === undefined ? [] : [[format, feature[format]] as const])))(
    '%s',
    (_format, check) => check(),
  );
});

test('docs/sources.md says the same of each feature and format', async () => {
  const page = await readFile(join(PROJECT_ROOT, 'docs/sources.md'), 'utf8');
  const [, rows = ''] = /\n\| feature \| XLSX \| ODS \| XLS \| XLSB \|.*\n\| ---.*\n((?:\|.*\n)+)/.exec(page) ?? [];
  const said = rows
    .trim()
    .split('\n')
    .map((row) =>
      row
        .split(' | ')
        .slice(0, 5)
        .map((cell) => cell.replace(/^\| /, '')),
    );
  expect(said).toEqual(
    Object.entries(FEATURES).map(([name, feature]) => [name, ...FORMATS.map((format) => (feature[format] === undefined ? '–' : 'yes'))]),
  );
});
