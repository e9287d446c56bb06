#!/usr/bin/env node
// Makes the workbooks beside this file with LibreOffice, where it is installed as `soffice`:
//
//   node test/src/sources/sheet/libreoffice/make.mjs [DIRECTORY]
//
// values.csv becomes values.xlsx, .xls and .ods: LibreOffice finds out which of its texts are numbers, dates, times and so on, and gives
// the cells formats. features.fods becomes features.xlsx, .xls and .ods: what has no place in CSV.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? here);
const profile = mkdtempSync(join(tmpdir(), 'quadmill-soffice-'));
// Comma, quotes, UTF-8, from line 1, no formats of columns, English (USA), quoted cells are texts, special numbers are detected.
const CSV = 'CSV:44,34,76,1,,1033,true,true,false';
const FORMATS = { xlsx: 'Calc MS Excel 2007 XML', xls: 'MS Excel 97', ods: 'calc8' };
try {
  for (const [ending, filter] of Object.entries(FORMATS))
    for (const [source, more] of [
      ['values.csv', [`--infilter=${CSV}`]],
      ['features.fods', []],
    ])
      execFileSync(
        'soffice',
        [
          `-env:UserInstallation=file://${profile}`,
          '--headless',
          ...more,
          '--convert-to',
          `${ending}:${filter}`,
          '--outdir',
          target,
          join(here, source),
        ],
        { stdio: 'ignore', timeout: 120_000 },
      );
  if (target !== here) for (const name of ['values.csv', 'features.fods']) copyFileSync(join(here, name), join(target, name));
} finally {
  rmSync(profile, { recursive: true, force: true });
}
