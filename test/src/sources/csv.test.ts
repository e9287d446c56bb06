import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import type { CsvDialect } from '../../../src/core/input/csv-dialect.ts';
import { fromBytes } from '../../../src/core/text.ts';
import { openCsv } from '../../../src/sources/csv/csv.ts';
import type { CsvOptions } from '../../../src/sources/source.ts';

const READING: CsvOptions = {
  format: 'csv',
  name: 'people.csv',
  dialect: 'rml',
  nulls: [],
  encoding: undefined,
  maxRecordBytes: 2 ** 20,
};

async function* chunks(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** All rows, the columns named; text decoded. */
async function read(text: string | Buffer, columns: readonly string[], reading: Partial<CsvOptions> = {}, size = 2 ** 16) {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const scan = await openCsv(chunks(bytes, size), [{ iterator: undefined, references: columns, origin: 'm.ttl:1:1' }], {
    ...READING,
    ...reading,
  });
  const readers = columns.map((column) => scan.accessor(0, column));
  const rows: (string | null)[][] = [];
  for await (const batch of scan.batches(new AbortController().signal)) {
    expect(batch.first).toBe(rows.length);
    for (const record of batch.records)
      rows.push(readers.map((reader) => reader(record) as string | null).map((cell) => (cell === null ? null : fromBytes(cell))));
  }
  return rows;
}

const fault = async (reading: Promise<unknown>): Promise<Fault> => {
  try {
    await reading;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('expected a fault');
};

describe('CSV', () => {
  test.each<[name: string, text: string, rows: (string | null)[][]]>([
    [
      'plain rows',
      'a,b\n1,2\n3,4\n',
      [
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    ['no line feed at the end', 'a,b\n1,2', [['1', '2']]],
    ['CRLF', 'a,b\r\n1,2\r\n', [['1', '2']]],
    ['CR alone', 'a,b\r1,2\r', [['1', '2']]],
    ['quoted cells', 'a,b\n"1,x","2\ny"\n', [['1,x', '2\ny']]],
    ['doubled quotes', 'a,b\n"say ""hi""",""\n', [['say "hi"', '']]],
    ['a quote inside an unquoted cell is text', 'a,b\n5" nail,2\n', [['5" nail', '2']]],
    ['empty cells are values', 'a,b\n,\n', [['', '']]],
    ['a short row lacks its last cells', 'a,b\n1\n', [['1', null]]],
    ['a long row keeps what the header names', 'a,b\n1,2,3\n', [['1', '2']]],
    [
      'blank lines are no rows',
      'a,b\n\n1,2\n\n\n3,4\n',
      [
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    ['a byte order mark is no part of the header', '\ufeffa,b\n1,2\n', [['1', '2']]],
    ['letters beyond ASCII', 'a,b\nZoë,東京\n', [['Zoë', '東京']]],
    ['a header alone', 'a,b\n', []],
    ['a quoted header', '"a","b"\n1,2\n', [['1', '2']]],
    ['a delimiter at the end of the file', 'a,b\n1,', [['1', '']]],
  ])('%s', async (_, text, rows) => {
    expect(await read(text, ['a', 'b'])).toEqual(rows);
    // Wherever the bytes are cut, the rows are the same.
    for (let size = 1; size < 9; size++) expect(await read(text, ['a', 'b'], {}, size)).toEqual(rows);
  });

  test.each<[name: string, dialect: CsvDialect, text: string, rows: (string | null)[][]]>([
    ['another delimiter', { delimiter: ';' }, 'a;b\n1,5;2\n', [['1,5', '2']]],
    ['another quote', { quoteChar: "'" }, "a,b\n'1,5',2\n", [['1,5', '2']]],
    ['no quote', { quoteChar: null }, 'a,b\n"1,2"\n', [['"1', '2"']]],
    ['comments', { commentPrefix: '#' }, '# hello\na,b\n#x\n1,2\n', [['1', '2']]],
    ['comments that end with CR', { commentPrefix: '#' }, '# "hello\ra,b\r#x\r1,2\r#y', [['1', '2']]],
    [
      'comments that begin with several characters',
      { commentPrefix: '//' },
      '// x\r\na,b\r\n/1,2\r\n//\r\n3,/\r\n/',
      [
        ['/1', '2'],
        ['3', '/'],
        ['/', null],
      ],
    ],
    ['skipped rows', { skipRows: 1 }, 'title\na,b\n1,2\n', [['1', '2']]],
    [
      'skipped rows that are empty, comments, no CSV',
      { skipRows: 4, commentPrefix: '#' },
      '"x"y, 5"\n\n#\n"1\n2"\na,b\n1,2\n',
      [['1', '2']],
    ],
    ['skipped rows with quoted line feeds', { skipRows: 2 }, 'x,"1\n2"\n5" disk,\na,b\n1,2\n', [['1', '2']]],
    ['trimmed cells', { trim: 'both' }, ' a,b \n 1 ," 2 "\n', [['1', '2']]],
    ['cells trimmed before and behind their quotes', { trim: 'both' }, 'a,b\n "1,5" ,\t"2"\t\n', [['1,5', '2']]],
    ['cells trimmed at the beginning', { trim: 'start' }, 'a,b\n 1 , "2,5"\n', [['1 ', '2,5']]],
    ['cells trimmed at the end', { trim: 'end' }, 'a,b\n 1 ,2\t\r\n', [[' 1', '2']]],
    ['trimmed text whose last byte looks like white space', { trim: 'both' }, 'a,b\ndéjà , à\n', [['déjà', 'à']]],
    ['tabs between cells that are trimmed', { delimiter: '\t', trim: 'both' }, 'a\tb\n \t 2\n', [['', '2']]],
    ['escaped quotes', { doubleQuote: false }, 'a,b\n"say \\"hi\\", \\\\","x\\\ny"\n', [['say "hi", \\', 'x\ny']]],
    ['escapes outside of quotes', { doubleQuote: false }, 'a,b\n1\\,5\\\\,\\"2\\"\n', [['1,5\\', '"2"']]],
    ['a doubled quote where backslashes escape is malformed, an empty cell is not', { doubleQuote: false }, 'a,b\n"",""\n', [['', '']]],
    ['two header rows', { headerRows: 2 }, 'a,\nunit,b\n1,2\n', [['1', '2']]],
    [
      'blank rows that are records',
      { skipBlankRows: false },
      'a,b\r\n\r\n1,2\r\n\r\n',
      [
        ['', null],
        ['1', '2'],
        ['', null],
      ],
    ],
    [
      'rows of empty cells that are none',
      { skipBlankRows: true },
      'a,b\n,\n1,2\n"",""\n\n",",\n,""x\n',
      [
        ['1', '2'],
        [',', ''],
      ],
    ],
    ['white space between commas, trimmed, that is no row', { skipBlankRows: true, trim: 'both' }, 'a,b\n , \n1,2\n', [['1', '2']]],
  ])('dialect: %s', async (_, csv, text, rows) => {
    if (text.endsWith('""x\n')) {
      expect((await fault(read(text, ['a', 'b'], { csv }))).message).toContain('followed by');
      text = text.slice(0, -5);
    }
    expect(await read(text, ['a', 'b'], { csv })).toEqual(rows);
    for (let size = 1; size < 9; size++) expect(await read(text, ['a', 'b'], { csv }, size)).toEqual(rows);
  });

  /** What a writer of a dialect makes of a cell: quoted where it must be, and sometimes where it need not be. */
  function written(cell: string, { delimiter = ',', quoteChar = '"', doubleQuote = true }: CsvDialect, quotes: boolean): string {
    const escaped = doubleQuote ? cell : cell.replace(/\\/g, '\\\\');
    if (quoteChar === null) return doubleQuote ? escaped : escaped.replaceAll(delimiter, `\\${delimiter}`).replace(/[\r\n#/]/g, '\\$&');
    if (!quotes && !/[\r\n#/'"]/.test(escaped) && !escaped.includes(delimiter)) return escaped;
    return quoteChar + escaped.replaceAll(quoteChar, (doubleQuote ? quoteChar : '\\') + quoteChar) + quoteChar;
  }

  test.each(Array.from({ length: 60 }, (_, seed) => [seed]))(
    'gives what a writer of a random dialect has written (seed %i)',
    async (seed) => {
      let state = (seed * 2654435761) >>> 0 || 1;
      const below = (n: number): number => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * n);
      };
      const one = <T>(...values: readonly T[]): T => values[below(values.length)] as T;
      const csv: CsvDialect = {
        delimiter: one(',', ';', '\t', '|', ':', ' '),
        quoteChar: one('"', "'", null),
        doubleQuote: one(true, true, false),
        commentPrefix: one(null, '#', '//'),
        headerRows: one(0, 1, 2),
        skipRows: below(3),
        ...one<CsvDialect>({}, { skipBlankRows: true }, { skipBlankRows: false }),
      };
      const bare = csv.quoteChar === null && csv.doubleQuote === true;
      const texts = bare
        ? ['x', 'ü', '\\', '東京', 'x"y']
        : ['x', 'à', `a${csv.delimiter}b`, '"', "'", "''", '\\', '\\\\"', '#', '//', 'y\r\nz', '\n', '\r', 'x\\'];
      const rows = Array.from({ length: 1 + below(8) }, (_, i) => [`r${i}`, one('', ...texts), one(...texts)]);
      const end = one('\n', '\r\n', '\r');
      const lines = rows.map((row) => row.map((cell) => written(cell, csv, below(3) === 0)).join(csv.delimiter));
      const header = ['a', 'b', 'c'].join(csv.delimiter);
      const skipped = Array.from({ length: csv.skipRows ?? 0 }, () => one('', 'title', `x${csv.delimiter}y`, '# z'));
      const headers = csv.headerRows === 0 ? [] : [header, ...(csv.headerRows === 2 ? [header.replace('a', 'u')] : [])];
      const blank = csv.skipBlankRows === false ? [] : [''];
      const comment = csv.commentPrefix === null ? [] : [`${csv.commentPrefix} "it's`];
      const body = lines.flatMap((line) => [line, ...(below(3) === 0 ? blank : []), ...(below(3) === 0 ? comment : [])]);
      const text = [...skipped, ...(below(2) === 0 ? comment : []), ...headers, ...body].join(end) + one('', end);
      const columns = csv.headerRows === 0 ? ['1', '_col.2', '3'] : ['a', 'b', 'c'];
      for (const size of [1, 2, 3, 5, 1000]) expect(await read(text, columns, { csv }, size)).toEqual(rows);
      for (const [encoding, bytes] of [
        ['utf-16le', Buffer.from(text, 'utf16le')],
        [undefined, Buffer.from(`\ufeff${text}`, 'utf16le')],
        ['utf-8', Buffer.from(`\ufeff${text}`)],
      ] as const) {
        expect(await read(bytes, columns, { csv, encoding }, 7)).toEqual(rows);
      }
    },
  );

  test('columns of a file without a header have CSVW names, too', async () => {
    expect(await read('x,y\n', ['_col.2', '1'], { csv: { headerRows: 0 } })).toEqual([['y', 'x']]);
    expect((await fault(read('x,y\n', ['_col.3'], { csv: { headerRows: 0 } }))).code).toBe('mapping/reference');
    expect((await fault(read('x,y\n1,2\n', ['_col.1']))).code).toBe('mapping/reference');
  });

  test.each<[name: string, dialect: CsvDialect, words: string[]]>([
    ['a delimiter of two characters', { delimiter: ';;' }, ['delimiter', '";;"', 'one ASCII character']],
    ['a delimiter beyond ASCII', { delimiter: '¦' }, ['delimiter', 'one ASCII character']],
    ['a line feed as delimiter', { delimiter: '\n' }, ['delimiter']],
    ['a quote of two characters', { quoteChar: '""' }, ['quote']],
    ['a delimiter that is the quote', { delimiter: "'", quoteChar: "'" }, ['delimiter and the quote']],
    ['comments that begin with the delimiter', { delimiter: '#', commentPrefix: '##' }, ['comments']],
    ['comments that begin with the quote', { commentPrefix: '"' }, ['comments']],
  ])('dialect fault: %s', async (_, csv, words) => {
    const found = await fault(read('a,b\n', ['a'], { csv }));
    expect(found.code).toBe('mapping/invalid');
    for (const word of words) expect(found.message).toContain(word);
  });

  test.each<[name: string, text: string, reference: string, dialect: CsvDialect, words: string[]]>([
    ['semicolons', 'id;name\n1;x\n', 'name', {}, ['one column, "id;name"', `--delimiter ';'`, 'csvw:delimiter ";"']],
    ['semicolons and a comma', 'id;"name";x, y\n1;x;y\n', 'name', {}, [`--delimiter ';'`]],
    ['tabs', 'id\tname\n1\tx\n', 'id', {}, [`--delimiter '\\t'`, 'csvw:delimiter "\\t"']],
    ['bars', 'id|name\n', 'id', {}, [`--delimiter '|'`]],
    ['commas, where another separator is said', 'id,name\n', 'id', { delimiter: ';' }, [`--delimiter ','`]],
    ['other quotes', "'id','name'\n", 'id', {}, [`--quote "'"`, `csvw:quoteChar "'"`]],
    ['a space', 'id name\n', 'id', {}, [`--delimiter ' '`]],
    ['a line for Excel', 'sep=;\nid;name\n1;x\n', 'id', {}, ['"sep=;"', 'speaks to Excel', 'csvw:skipRows 1 ; csvw:delimiter ";"']],
    ['a line for Excel, with the separator that is said', 'sep=,\nid,name\n', 'id', {}, ['"sep="', 'csvw:skipRows 1 ; csvw:delimiter ","']],
    ['a name that has a semicolon by chance', 'id;no,name\n', 'nam', {}, ['"name"']],
  ])('a missing column names what the file has instead: %s', async (_, text, reference, csv, words) => {
    const { hint } = await fault(read(text, [reference], { csv }));
    for (const word of words) expect(hint).toContain(word);
  });

  test('without a header, columns are numbered', async () => {
    expect(await read('x,y\nz,w\n', ['1', '2'], { csv: { headerRows: 0 } })).toEqual([
      ['x', 'y'],
      ['z', 'w'],
    ]);
  });

  test('the legacy dialect takes an empty cell for null, and a quoted empty cell for text', async () => {
    expect(await read('a,b\n,""\n', ['a', 'b'], { dialect: 'legacy' })).toEqual([[null, '']]);
  });

  test('declared nulls', async () => {
    expect(await read('a,b\nNULL,\n', ['a', 'b'], { nulls: ['NULL', ''] })).toEqual([[null, null]]);
  });

  test('UTF-16, by byte order mark and declared', async () => {
    const text = 'a,b\nZoë,2\n';
    expect(await read(Buffer.from(`\ufeff${text}`, 'utf16le'), ['a', 'b'])).toEqual([['Zoë', '2']]);
    expect(await read(Buffer.from(text, 'utf16le'), ['a', 'b'], { encoding: 'utf-16le' })).toEqual([['Zoë', '2']]);
  });

  test('a cell of 16 MB', async () => {
    const cell = 'x,"\n'.repeat(4 * 2 ** 20).slice(0, 16 * 2 ** 20);
    const text = `a,b\n"${cell.replaceAll('"', '""')}",2\n`;
    const rows = await read(text, ['a', 'b'], { maxRecordBytes: 64 * 2 ** 20 });
    expect(rows[0]?.[0] === cell).toBe(true);
  });

  test.each<[name: string, text: string | Buffer, code: string, words: string[], place: object]>([
    ['an empty file', '', 'source/malformed', ['empty', 'header'], { input: 'people.csv' }],
    ['a quote that is never closed', 'a,b\n1,2\n3,"4\n5,6\n', 'source/malformed', ['never closed'], { line: 3, record: 1 }],
    ['text after a closing quote', 'a,b\n1,2\n"3"x,4\n', 'source/malformed', ['followed by'], { line: 3, record: 1, expression: 'a' }],
    ['bytes that are not UTF-8', Buffer.from([0x61, 0x2c, 0x62, 0x0a, 0xff, 0x2c, 0x32, 0x0a]), 'source/encoding', ['UTF-8'], {}],
  ])('fault: %s', async (_, text, code, words, place) => {
    const found = await fault(read(text, ['a', 'b']));
    expect(found.code).toBe(code);
    for (const word of words) expect(found.message).toContain(word);
    expect(found.place).toMatchObject(place);
  });

  test.each([
    ['is never closed', 'a,b\n3,"4\n'],
    ['ends before its cell', 'a,b\n3,"4"x\n'],
    ['makes a row too long', `a,b\n3,"${'x'.repeat(2000)}\n`],
  ])('a quote that %s: the hint says how a file without quotes is read', async (_, text) => {
    const { hint } = await fault(read(text, ['a', 'b'], { maxRecordBytes: 1000 }, 100));
    expect(hint).toContain(`--quote ''`);
    expect(hint).toContain('csvw:dialect [ csvw:quoteChar "" ]');
  });

  describe('between tabs, a quote is a character', () => {
    const TABS: CsvDialect = { delimiter: '\t' };
    const ROWS = 'id\tname\tp\n1\t"Home\ta\n2\tb\tc\n3\tscreen 5"\td\n4\t"all"\t""\n';
    const scanOf = (text: string, csv: CsvDialect) =>
      openCsv(chunks(Buffer.from(text), 7), [{ iterator: undefined, references: ['id'], origin: 'm' }], { ...READING, csv });
    const warnings = async (text: string, csv: CsvDialect): Promise<readonly string[]> => {
      const scan = await scanOf(text, csv);
      for await (const _ of scan.batches(new AbortController().signal));
      return scan.warnings?.() ?? [];
    };

    test('if the dialect declares none', async () => {
      expect(await read(ROWS, ['name', 'p'], { csv: TABS })).toEqual([
        ['"Home', 'a'],
        ['b', 'c'],
        ['screen 5"', 'd'],
        ['"all"', '""'],
      ]);
    });

    test('otherwise as the dialect says', async () => {
      expect(await read(ROWS, ['id', 'name'], { csv: { ...TABS, quoteChar: '"' } })).toEqual([
        ['1', 'Home\ta\n2\tb\tc\n3\tscreen 5'],
        ['4', 'all'],
      ]);
    });

    test('the first cell that begins with one is named, once', async () => {
      expect(await warnings(ROWS, TABS)).toEqual([
        expect.stringMatching(/^Cells begin with a quote.*--quote '"'.*csvw:quoteChar "\\"" \].*\(input people\.csv, line 2, record 0\)$/),
      ]);
      expect(await warnings('id\t"name"\n1\tx\n', TABS)).toEqual([expect.stringMatching(/\(input people\.csv, line 1\)$/)]);
    });

    test.each<[string, string, CsvDialect]>([
      ['no quote begins a cell', 'id\tname\n1\tscreen 5"\n2\ta "b" c\n', TABS],
      ['quotes are declared', 'id\tname\n1\t"a"\n', { ...TABS, quoteChar: '"' }],
      ['none is declared', ROWS, { ...TABS, quoteChar: null }],
      ['commas separate', 'id,name\n1,"a"\n', {}],
    ])('no warning where %s', async (_, text, csv) => expect(await warnings(text, csv)).toEqual([]));
  });

  test('fault: a column that is not there names the near ones', async () => {
    const found = await fault(read('Name,age\nx,1\n', ['Nme']));
    expect(found.code).toBe('mapping/reference');
    expect(found.hint).toContain('"Name"');
    expect(found.place.mapping).toBe('m.ttl:1:1');
  });

  describe('a column in another letter case', () => {
    const scanOf = (header: string, dialect: CsvOptions['dialect']) =>
      openCsv(chunks(Buffer.from(`${header}\nx,1\n`), 7), [{ iterator: undefined, references: ['name'], origin: 'm.ttl:1:1' }], {
        ...READING,
        dialect,
      });

    test.each(['Name', 'NAME', 'nAmE'])('is read in legacy mappings, with a warning: %s', async (name) => {
      const header = `${name},age`;
      expect(await read(`${header}\nx,1\n`, ['name', 'age'], { dialect: 'legacy' })).toEqual([['x', '1']]);
      const scan = await scanOf(header, 'legacy');
      scan.accessor(0, 'name');
      scan.accessor(0, 'name');
      expect(scan.warnings?.()).toEqual([
        `There is no column "name": "${name}" is read, which differs in letter case alone. Write it as the header does (input people.csv, expression name, mapping m.ttl:1:1)`,
      ]);
    });

    test.each<[string, string, CsvOptions['dialect'], string]>([
      ["in today's RML", 'Name,age', 'rml', 'Did you mean "Name"?'],
      ['where two differ in case alone', 'Name,NAME', 'legacy', 'Did you mean "Name" or "NAME"?'],
    ])('is another column %s', async (_, header, dialect, hint) => {
      const scan = await scanOf(header, dialect);
      expect((await fault((async () => scan.accessor(0, 'name'))())).hint).toBe(hint);
    });

    test('does not stand in for one that is there', async () => {
      expect(await read('Name,name\nx,y\n', ['name'], { dialect: 'legacy' })).toEqual([['y']]);
      expect((await scanOf('Name,name', 'legacy')).warnings?.()).toEqual([]);
    });
  });

  test('fault: a column that is there twice', async () => {
    expect((await fault(read('a,a\n1,2\n', ['a']))).message).toContain('twice');
  });

  test('fault: a row beyond the limit', async () => {
    const found = await fault(read(`a,b\n"${'x'.repeat(100_000)}`, ['a', 'b'], { maxRecordBytes: 50_000 }, 1000));
    expect(found.code).toBe('limit/exceeded');
  });

  test('says that rows had more cells than the header names', async () => {
    const scan = await openCsv(
      chunks(Buffer.from('a,b\n1,2,\n1,New York, NY\n1,2\n1,2,"3"\n'), 5),
      [{ iterator: undefined, references: ['a'], origin: 'm' }],
      READING,
    );
    for await (const _ of scan.batches(new AbortController().signal));
    expect(scan.warnings?.()).toEqual([expect.stringMatching(/^2 rows have more cells .*\(input people\.csv, line 3, record 1\)$/)]);
  });

  test('reads the same of chunks that are larger than its window, whatever stands where windows meet', async () => {
    const cells = ['x', '"a, b"', '"two\nlines"', '"a ""quote"""', '', 'é'.repeat(40), `"${'long\r\n'.repeat(20)}"`];
    const lines = Array.from({ length: 6000 }, (_, i) => `${i},${cells[(i * 5) % 7]},${cells[i % 7]}\r\n`);
    // A cell that is larger than two windows, and one that ends with the input.
    const text = `id,a,b\r\n${lines.join('')}6000,"${'"" '.repeat(60_000)}",last`;
    const columns = ['id', 'a', 'b'];
    const whole = await read(text, columns, {}, text.length * 2);
    expect(text.length).toBeGreaterThan(4 * 2 ** 16);
    expect(whole).toHaveLength(6001);
    expect(whole.map(([id]) => id)).toEqual(Array.from({ length: 6001 }, (_, i) => String(i)));
    expect(whole[6000]).toEqual(['6000', '" '.repeat(60_000), 'last']);
    expect(await read(text, columns, {}, 1000)).toEqual(whole);
    expect(await read(text, columns, {}, 2 ** 16 + 1)).toEqual(whole);
  });
});
