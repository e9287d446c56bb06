/** Rows of CSV that are left out since they come again: only where an earlier row has the same cells in all columns that are read. */
import { expect, test } from '@jest/globals';
import type { CsvDialect } from '../../../src/core/input/csv-dialect.ts';
import { openCsv } from '../../../src/sources/csv/csv.ts';
import { REPEATED, type ReadOptions } from '../../../src/sources/source.ts';
import { Random } from '../../support/random.ts';

const HEADER = ['a', 'b', 'c', 'd'];

interface Found {
  readonly records: readonly { readonly cells: string; readonly repeated: boolean }[];
  readonly warnings: readonly string[];
  readonly fault: string;
}

interface Given {
  readonly text: string;
  readonly columns: readonly string[];
  readonly pieceBytes: number;
  readonly csv: CsvDialect;
  readonly dialect: ReadOptions['dialect'];
  /** Whether there is memory for more than a few rows. */
  readonly memory: boolean;
}

async function read({ text, columns, pieceBytes, csv, dialect, memory }: Given, looks: boolean): Promise<Found> {
  const bytes = Buffer.from(text);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  const options: ReadOptions = { name: 'rows.csv', dialect, nulls: [], encoding: 'utf-8', namespaces: {}, csv, maxRecordBytes: 60 };
  const records: { cells: string; repeated: boolean }[] = [];
  let fault = '';
  const scan = await openCsv(pieces(), [{ iterator: undefined, references: columns, origin: 'm:1:1' }], options);
  const accessors = columns.map((column) => scan.accessor(0, column));
  if (looks) scan.leaveOutRepeats?.(7, () => memory)?.look();
  try {
    for await (const batch of scan.batches(new AbortController().signal)) {
      expect(batch.first).toBe(records.length);
      for (const [at, record] of batch.records.entries()) {
        const repeated = record === REPEATED;
        const cells = accessors.map((cell) => cell(repeated ? batch.reread?.(at) : record));
        records.push({ cells: JSON.stringify(cells), repeated });
      }
    }
  } catch (error) {
    fault = String(error);
  }
  return { records, warnings: scan.warnings?.() ?? [], fault };
}

/** Short, so that rows come again; some end a row, a cell, or need quotes. */
const CELLS = ['', '', 'x', 'x', 'y', 'xy', ' x', 'é', '"x"', '"x,y"', '"x\ny"', '"x""y"', 'x"y', '"x"z', '\\,', '#x', 'x'.repeat(70)];
const ENDS = ['\n', '\n', '\n', '\r\n', '\r', '\n\n', ''];

function invent(random: Random): Given {
  const rows = Array.from({ length: random.between(0, 40) }, () => {
    const cells = Array.from({ length: random.chance(0.8) ? HEADER.length : random.between(1, 6) }, () => {
      const rare = random.chance(0.02);
      return random.pick(rare ? CELLS : CELLS.slice(0, random.pick([6, 9, 13])));
    });
    return cells.join(',') + (random.chance(0.9) ? '\n' : random.pick(ENDS));
  });
  const columns = HEADER.filter(() => random.chance(0.6));
  return {
    text: `${HEADER.join(',')}\n${rows.join('')}`,
    columns: columns.length === 0 ? ['b'] : columns,
    pieceBytes: random.pick([1, 3, 7, 50, 100_000]),
    csv: random.pick<CsvDialect>([
      {},
      {},
      {},
      { trim: 'both' },
      { quoteChar: null },
      { commentPrefix: '#' },
      { doubleQuote: false },
      { skipBlankRows: true },
    ]),
    dialect: random.pick(['rml', 'legacy']),
    memory: random.chance(0.5),
  };
}

test('a row is left out where an earlier one has its cells, and nothing else changes', async () => {
  const random = new Random(71);
  let repeated = 0;
  let missed = 0;
  for (let i = 0; i < 1_000; i++) {
    const given = invent(random);
    const [plain, found] = [await read(given, false), await read(given, true)];
    const contents = ({ records, warnings, fault }: Found): unknown => ({
      given,
      cells: records.map(({ cells }) => cells),
      warnings,
      fault,
    });
    expect(contents(found)).toEqual(contents(plain));
    const before = new Set<string>();
    for (const [at, record] of found.records.entries()) {
      const isKnown = before.has(record.cells);
      if (record.repeated) {
        expect({ given, at, isKnown }).toEqual({ given, at, isKnown: true });
        repeated++;
      } else if (isKnown) missed++;
      before.add(record.cells);
    }
  }
  // Otherwise this would try nothing. Rows with quotes, of some dialects, and at the end of the document are not told.
  expect(repeated).toBeGreaterThan(800);
  expect(missed).toBeGreaterThan(300);
});

test('a column that the row does not have is another value than an empty cell', async () => {
  const given = { pieceBytes: 1_000, csv: {}, dialect: 'rml', memory: true } as const;
  const { records } = await read({ ...given, text: 'a,b,c\nx\nx,\ny,\nx\nx,,\n', columns: ['b'] }, true);
  expect(records).toEqual([
    { cells: '[null]', repeated: false },
    { cells: '[""]', repeated: false },
    { cells: '[""]', repeated: true },
    { cells: '[null]', repeated: true },
    { cells: '[""]', repeated: true },
  ]);
});

test('what was forgotten is read again', async () => {
  const rows = (count: number): AsyncIterable<Uint8Array> =>
    (async function* () {
      yield Buffer.from(`a\n${'x\n'.repeat(count)}`);
    })();
  const options: ReadOptions = { name: 'rows.csv', dialect: 'rml', nulls: [], encoding: 'utf-8', namespaces: {}, maxRecordBytes: 60 };
  const scan = await openCsv(rows(1_536), [{ iterator: undefined, references: ['a'], origin: 'm:1:1' }], options);
  scan.accessor(0, 'a');
  const search = scan.leaveOutRepeats?.(7, () => true);
  search?.look();
  const read: number[] = [];
  for await (const { records } of scan.batches(new AbortController().signal)) {
    read.push(records.filter((record) => record !== REPEATED).length);
    if (read.length === 1) search?.forget();
    // For a while nothing is looked for.
    if (read.length === 2) for (let i = 0; i < 100; i++) search?.look();
  }
  expect(read).toEqual([1, 512, 1]);
});
