/** Checksums of pages: files of `fixtures/arrow/make.py`, with a column that has a dictionary and one that has none. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { isKey } from '../../../../src/sources/parquet/keys.ts';
import { PROJECT_ROOT } from '../../../support/project-root.ts';
import { faultOf, READING, rangesOf, read } from './reading.ts';

const fixture = (name: string): Buffer =>
  readFileSync(join(PROJECT_ROOT, 'test/src/sources/parquet/fixtures/arrow', `checksums-${name}.parquet`));

const ROWS = Array.from({ length: 60 }, (_, i) => [['Gent', 'Brugge', null][i % 3], i % 7 === 6 ? null : `name ${i}`]);
const COLUMNS = ['city', 'name'];

describe('Checksums of pages', () => {
  test.each(['v1-none', 'v2-none', 'v2-snappy'])('%s is read', async (name) => {
    expect(await read(fixture(name), COLUMNS)).toEqual(ROWS);
  });

  test.each<[part: string, name: string, at: (bytes: Buffer) => number, page: string]>([
    ['a dictionary', 'v1-none', (bytes) => bytes.indexOf('Gent'), 'the dictionary of the column "city" in row group 0, at byte 4'],
    ['a first page', 'v1-none', (bytes) => bytes.indexOf('name 1'), 'page 0 of the column "name" in row group 0'],
    ['a later page', 'v1-none', (bytes) => bytes.indexOf('name 22'), 'page 1 of the column "name" in row group 0'],
    ['a page of the second row group', 'v1-none', (bytes) => bytes.indexOf('name 43'), 'page 0 of the column "name" in row group 1'],
    ['a second dictionary', 'v2-none', (bytes) => bytes.lastIndexOf('Gent'), 'the dictionary of the column "city" in row group 1'],
    ['a page of the second version', 'v2-none', (bytes) => bytes.indexOf('name 22'), 'page 1 of the column "name" in row group 0'],
    // The levels stand before the length of the first value.
    ['levels of the second version', 'v2-none', (bytes) => bytes.indexOf('name 0') - 5, 'page 0 of the column "name" in row group 0'],
    ['a packed page', 'v2-snappy', (bytes) => bytes.indexOf('name 1'), 'page 0 of the column "name" in row group 0'],
  ])('%s of %s that is damaged is named', async (_, name, at, page) => {
    const bytes = fixture(name);
    bytes[at(bytes)] = (bytes[at(bytes)] as number) ^ 1;
    const fault = await faultOf(read(bytes, COLUMNS));
    expect([fault.code, fault.place.input, fault.place.expression, fault.hint]).toEqual([
      'source/malformed',
      'people.parquet',
      page.includes('"city"') ? 'city' : 'name',
      'Fetch or write the file again',
    ]);
    expect(fault.message).toMatch(
      /^The Parquet file is damaged: a page has the checksum [0-9a-f]{8}, and its header states [0-9a-f]{8} \(.*, at byte \d+\)$/,
    );
    expect(fault.message).toContain(page);
  });

  test('the search for a key before the run names the page, too', async () => {
    const bytes = fixture('v1-none');
    bytes[bytes.indexOf('name 22')] = 0;
    const options = { ...READING, ranges: rangesOf(bytes) };
    const fault = await faultOf(isKey('name', options, 2 ** 20, new AbortController().signal));
    expect(fault.message).toContain('(page 1 of the column "name" in row group 0, at byte ');
  });

  test.each(['v1-none', 'v2-none', 'v2-snappy'])('no byte of %s changes a value unnoticed', async (name) => {
    const original = fixture(name);
    const footer = original.length - 8 - original.readUInt32LE(original.length - 8);
    let checksums = 0;
    for (let at = 4; at < footer; at++) {
      const bytes = Buffer.from(original);
      bytes[at] = (bytes[at] as number) ^ (1 << (at % 8));
      const outcome = await read(bytes, COLUMNS).catch((error: Error) => error);
      if (outcome instanceof Error) {
        expect([at, outcome.name]).toEqual([at, 'Fault']);
        if (outcome.message.includes('a page has the checksum')) checksums++;
      } else expect([at, outcome]).toEqual([at, ROWS]);
    }
    expect(checksums).toBeGreaterThan((footer - 4) / 2);
  });
});
