/** Bytes before and behind the archive of a workbook, and archives that can be read in two ways. */
import { describe, expect, test } from '@jest/globals';
import type { WorkbookFormat } from '../../../../src/core/input/formats.ts';
import { FILES, faultOf, readSheet } from './reading.ts';
import { ods, odsRows, xlsb, xlsbSheet, xlsx, xlsxParts, xlsxRows, zip } from './workbooks.ts';

const TEXTS = [['id'], ['1'], ['2']];
const OTHER = [['id'], ['7']];
const XLSX = xlsx({ sheets: { One: xlsxRows(TEXTS) } });
const OTHER_XLSX = xlsx({ sheets: { One: xlsxRows(OTHER) } });
const ARCHIVES: Readonly<Record<'xlsx' | 'ods' | 'xlsb', Buffer>> = {
  xlsx: XLSX,
  ods: ods({ sheets: { One: odsRows(TEXTS) } }),
  xlsb: xlsb({ sheets: { One: xlsbSheet(TEXTS) } }),
};

const endOf = (archive: Buffer): number => archive.lastIndexOf('PK\x05\x06');

/** The archive with a comment, and whatever else behind it. */
function commented(archive: Buffer, comment: Uint8Array, behind = ''): Buffer {
  const bytes = Buffer.concat([archive, comment, Buffer.from(behind, 'latin1')]);
  bytes.writeUInt16LE(comment.length, endOf(archive) + 20);
  return bytes;
}

/** Offsets of an archive that count from so many bytes before it, as programs write that know what stands there. */
function shifted(archive: Buffer, by: number): Buffer {
  const bytes = Buffer.from(archive);
  const end = endOf(archive);
  bytes.writeUInt32LE(bytes.readUInt32LE(end + 16) + by, end + 16);
  for (let at = bytes.indexOf('PK\x01\x02'); at >= 0; at = bytes.indexOf('PK\x01\x02', at + 1))
    bytes.writeUInt32LE(bytes.readUInt32LE(at + 42) + by, at + 42);
  return bytes;
}

const PROGRAM = Buffer.from(`MZ\0\0 a program that unpacks itself PK ${'x'.repeat(3000)}\n`, 'latin1');

describe('bytes around the archive', () => {
  test.each<[name: string, change: (archive: Buffer) => Buffer]>([
    ['a comment', (archive) => commented(archive, Buffer.from('made by hand'))],
    ['a newline', (archive) => Buffer.concat([archive, Buffer.from('\r\n')])],
    ['a block of zeros', (archive) => Buffer.concat([archive, Buffer.alloc(60_000)])],
    ['a comment, the end of a file of CP/M and zeros', (archive) => commented(archive, Buffer.from('made by hand'), '\x1a\0\0\0')],
    ['a program before it', (archive) => Buffer.concat([PROGRAM, archive])],
    ['a program before it, which its offsets know', (archive) => Buffer.concat([PROGRAM, shifted(archive, PROGRAM.length)])],
    ['a newline before it, and one behind it', (archive) => Buffer.concat([Buffer.from('\n'), archive, Buffer.from('\n')])],
  ])('%s does not matter', async (_, change) => {
    for (const [format, archive] of Object.entries(ARCHIVES)) {
      const { rows } = await readSheet(change(archive), ['id'], {}, format as WorkbookFormat);
      expect([format, rows]).toEqual([format, [['1'], ['2']]]);
    }
  });

  test('a workbook within a workbook is a part like others', async () => {
    const parts = { ...xlsxParts({ sheets: { One: xlsxRows(TEXTS) } }), 'xl/embeddings/other.xlsx': OTHER_XLSX };
    expect((await readSheet(zip(parts, { method: 0 }), ['id'])).rows).toEqual([['1'], ['2']]);
  });

  test('what an archive unpacks to is bounded behind a prefix, too', async () => {
    const rows = [['id'], ...Array.from({ length: 90 }, () => ['x'.repeat(900_000)])];
    const bytes = Buffer.concat([PROGRAM, xlsx({ sheets: { One: xlsxRows(rows) } }), Buffer.from('\n')]);
    const fault = await faultOf(readSheet(bytes, ['id'], { files: FILES, maxRecordBytes: 2 ** 22 }));
    expect([fault.code, fault.limit]).toEqual(['limit/exceeded', 'MAX_INFLATION_RATIO']);
  });
});

/** An archive whose end fits to its directory by offset, and to that of another workbook by size. */
function twoDirectories(): Buffer {
  const other = OTHER_XLSX.subarray(0, endOf(OTHER_XLSX));
  const end = Buffer.from(XLSX.subarray(endOf(XLSX)));
  end.writeUInt32LE(OTHER_XLSX.readUInt32LE(endOf(OTHER_XLSX) + 12), 12);
  return Buffer.concat([XLSX.subarray(0, endOf(XLSX)), other, end]);
}

describe('an archive that can be read in two ways is refused', () => {
  test.each<[name: string, bytes: Buffer, reason: RegExp]>([
    ['two archives', Buffer.concat([XLSX, OTHER_XLSX]), /the archive begins at byte \d+, and another one before it, at byte 0$/],
    ['two archives behind a program', Buffer.concat([PROGRAM, XLSX, OTHER_XLSX]), /and another one before it, at byte 3039$/],
    [
      'an archive that is cut off, and a whole one',
      Buffer.concat([XLSX.subarray(0, 500), OTHER_XLSX]),
      /another one before it, at byte 0$/,
    ],
    ['an archive, and one that is cut off', Buffer.concat([XLSX, OTHER_XLSX.subarray(0, 500)]), /and 500 bytes follow that are no padding/],
    ['an archive in the comment of another', commented(XLSX, OTHER_XLSX), /an archive ends at byte \d+, and another one in its comment/],
    [
      'an archive in the comment of another, which its offsets know',
      commented(XLSX, shifted(OTHER_XLSX, XLSX.length)),
      /an archive ends at byte \d+, and another one in its comment/,
    ],
    [
      'the end of an empty archive in a comment',
      commented(XLSX, Buffer.from(`PK\x05\x06${'\0'.repeat(18)}`)),
      /another one in its comment/,
    ],
    ['an end with two directories', twoDirectories(), /fits to two directories of parts$/],
    [
      'a form behind the archive',
      Buffer.concat([XLSX, Buffer.from('\r\n--boundary--\r\n')]),
      /16 bytes follow that are no padding \(first at byte \d+\)$/,
    ],
  ])('%s', async (_, bytes, reason) => {
    const fault = await faultOf(readSheet(bytes, ['id']));
    expect([fault.code, fault.place, fault.hint]).toEqual([
      'source/malformed',
      { input: 'people.xlsx' },
      'Open it in a spreadsheet program and save it again, or fetch it again',
    ]);
    expect(fault.message).toMatch(/^It is unclear what belongs to the workbook: /);
    expect(fault.message).toMatch(reason);
  });

  test('more padding than a block has is refused', async () => {
    const fault = await faultOf(readSheet(Buffer.concat([XLSX, Buffer.alloc(200_000)]), ['id']));
    expect([fault.code, fault.message]).toEqual(['source/malformed', expect.stringContaining('The workbook is damaged')]);
  });
});
