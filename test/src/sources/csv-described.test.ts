/** Columns that CSVW describes: names, titles, nulls, defaults, datatypes, and columns that are skipped. */
import { describe, expect, test } from '@jest/globals';
import { describeFault, Fault } from '../../../src/core/fault.ts';
import type { CsvDialect } from '../../../src/core/input/csv-dialect.ts';
import { TypedValue, XSD } from '../../../src/core/value.ts';
import { openCsv } from '../../../src/sources/csv/csv.ts';

/** Each value as `text`, or as `text^^type` with ` < written` where that differs; the first row. */
async function read(text: string, references: readonly string[], csv: CsvDialect, nulls: readonly string[] = []) {
  const bytes = (async function* () {
    yield Buffer.from(text);
  })();
  const options = { format: 'csv', name: 'a.csv', dialect: 'rml', nulls, encoding: undefined, maxRecordBytes: 2 ** 20, csv } as const;
  const scan = await openCsv(bytes, [{ iterator: undefined, references, origin: 'm.ttl:1:1' }], options);
  const readers = references.map((reference) => scan.accessor(0, reference));
  for await (const { records } of scan.batches(new AbortController().signal)) {
    return readers.map((reader) => {
      const value = reader(records[0]);
      if (!(value instanceof TypedValue)) return value;
      const shown = `${value.text}^^${value.datatype.replace(XSD, '')}`;
      return value.written === value.text ? shown : `${shown} < ${value.written}`;
    });
  }
  return [];
}

const faultOf = (reading: Promise<unknown>): Promise<Fault> =>
  reading.then(
    () => Promise.reject(new Error('a fault was expected')),
    (error) => (error instanceof Fault ? error : Promise.reject(error)),
  );

describe('a described column', () => {
  test.each<[string, string, readonly string[], CsvDialect, readonly (string | null)[]]>([
    [
      'is found by its title, which stands in the header',
      'Nr,x\n1,2\n',
      ['id', 'Nr', 'x'],
      { columns: [{ name: 'id', titles: ['Number', 'Nr', 'id'] }] },
      ['1', '1', '2'],
    ],
    ['is found by another title than that of the header', 'Nr\n1\n', ['Number'], { columns: [{ titles: ['Number', 'Nr'] }] }, ['1']],
    ['gives way to the text of the header', 'b,a\n1,2\n', ['a'], { columns: [{ name: 'a', titles: ['b', 'a'] }] }, ['2']],
    [
      'is found by its position in a file without a header',
      '1,2\n',
      ['b', '2', '_col.1'],
      {
        headerRows: 0,
        columns: [
          { name: 'a', titles: ['a'] },
          { name: 'b', titles: ['b'] },
        ],
      },
      ['2', '2', '1'],
    ],
    ['comes after those that are skipped', 'a,a,b\n1,2,3\n', ['a', 'b'], { skipColumns: 1 }, ['2', '3']],
    [
      'comes after those that are skipped, without a header',
      '1,2,3\n',
      ['1', '_col.2', 'z'],
      {
        headerRows: 0,
        skipColumns: 1,
        columns: [
          { name: 'y', titles: [] },
          { name: 'z', titles: [] },
        ],
      },
      ['2', '3', '3'],
    ],
    [
      'has nulls that replace the others',
      'a,b,c\n-,n/a,-\n',
      ['a', 'b', 'c'],
      {
        columns: [
          { titles: ['a'], nulls: ['n/a'] },
          { titles: ['b'], nulls: ['n/a'] },
        ],
      },
      ['-', null, null],
    ],
    [
      'has a default for empty cells',
      'a,b\n,1\n',
      ['a'],
      { columns: [{ titles: ['a'], default: '7', datatype: `${XSD}integer` }] },
      ['7^^integer'],
    ],
  ])('%s', async (_, text, references, csv, expected) => {
    expect(await read(text, references, csv, ['-'])).toEqual(expected);
  });

  test.each([
    ['integer', '+007', '7^^integer < +007'],
    ['unsignedByte', ' 9 ', '9^^unsignedByte'],
    ['decimal', '1.500', '1.5^^decimal < 1.500'],
    ['double', '80.25', '8.025E1^^double < 80.25'],
    ['double', '-INF', '-INF^^double'],
    ['float', '1e3', '1.0E3^^float < 1e3'],
    ['boolean', '1', 'true^^boolean < 1'],
    ['boolean', 'false', 'false^^boolean'],
    ['date', '2024-02-29', '2024-02-29^^date'],
    ['time', '12:00:00.5Z', '12:00:00.5Z^^time'],
    ['dateTime', '2024-02-29T12:00:00+01:00', '2024-02-29T12:00:00+01:00^^dateTime'],
    ['gYear', '2024', '2024^^gYear'],
    ['anyURI', 'a b', 'a b^^anyURI'],
  ])('of xsd:%s reads %j as %s', async (type, cell, expected) => {
    expect(await read(`a,b\n"${cell}",1\n`, ['a'], { columns: [{ titles: ['a'], datatype: XSD + type }] })).toEqual([expected]);
  });

  test.each([
    ['integer', '1.0'],
    ['decimal', '1e3'],
    ['double', 'much'],
    ['boolean', 'yes'],
    ['date', '29.2.2024'],
    ['dateTime', '2024-02-29'],
  ])('of xsd:%s refuses %j', async (type, cell) => {
    const fault = await faultOf(read(`a,b\n${cell},1\n`, ['a'], { columns: [{ titles: ['a'], datatype: XSD + type }] }));
    expect(fault.code).toBe('record/term');
    expect(describeFault(fault)).toContain(
      `A cell is no xsd:${type}, as which csvw:datatype describes its column (input a.csv, expression a, value "${cell}"`,
    );
  });

  test('of a number says what to do with empty cells', async () => {
    const fault = await faultOf(read('a,b\n,1\n', ['a'], { columns: [{ titles: ['a'], datatype: `${XSD}integer` }] }));
    expect(fault.hint).toContain('csvw:null ""');
    expect(await read('a,b\n,1\n', ['a'], { columns: [{ titles: ['a'], datatype: `${XSD}integer`, nulls: [''] }] })).toEqual([null]);
  });
});
