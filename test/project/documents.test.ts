/** Documents agree with the code that they speak of. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { PAGES } from './pages.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('pages that are made of tables', () => {
  test.each(Object.entries(PAGES))('%s is what `npm run docs` writes', (path, text) => {
    expect(readFileSync(join(ROOT, path), 'utf8')).toBe(text());
  });
});
