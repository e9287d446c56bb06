/** Golden mappings: each folder's documents → `model.json` and `diagnostics.txt`. `UPDATE_GOLDEN=1` rewrites both. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { formatDiagnostic } from '../../../src/mapping/model/diagnostics.ts';
import { formatOrigin, type Origin } from '../../../src/mapping/model/model.ts';
import { readMapping } from '../../../src/mapping/parse/read.ts';

const ROOT = join(import.meta.dirname, 'cases');

/** Origins as `document:line:column`, so that a model reads well and a moved line is a small difference. */
const compactOrigins = (key: string, value: unknown): unknown =>
  /^(origin|iteratorOrigin)$/.test(key) && typeof value === 'object' && value !== null ? formatOrigin(value as Origin) : value;

function check(file: string, actual: string): void {
  if (process.env.UPDATE_GOLDEN === '1') {
    if (actual === '') rmSync(file, { force: true });
    else writeFileSync(file, actual);
  }
  expect(actual).toBe(existsSync(file) ? readFileSync(file, 'utf8') : '');
}

describe('golden mappings', () => {
  test.each(readdirSync(ROOT))('%s', async (name) => {
    const folder = join(ROOT, name);
    const documents = readdirSync(folder)
      .filter((file) => /\.(ttl|ya?ml)$/.test(file))
      .sort()
      .map((file) => ({ name: file, text: readFileSync(join(folder, file), 'utf8') }));
    const { mapping, diagnostics } = await readMapping(documents, { baseIri: 'http://example.org/base/' });
    check(join(folder, 'diagnostics.txt'), diagnostics.map((diagnostic) => `${formatDiagnostic(diagnostic)}\n`).join(''));
    check(join(folder, 'model.json'), mapping.triplesMaps.length === 0 ? '' : `${JSON.stringify(mapping, compactOrigins, 2)}\n`);
  });
});
