/**
 * What a user reads about a wrong mapping, input or value, word by word. `UPDATE_GOLDEN=1` rewrites the files of cases; read the difference
 * as a user who has to act on it: is there a place, the value, and what to do?
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { withFiles } from '../faults/trial.ts';
import { type Case, casesIn, withTold } from './case-file.ts';
import { quadmillHere } from './in-process.ts';

const ROOT = join(import.meta.dirname, 'cases');

async function toldBy({ files, args }: Case): Promise<string> {
  return withFiles(files, async (directory) => {
    const { code, out, err } = await quadmillHere(directory, ...args);
    return `${out}${err}exit ${code}`.replaceAll(`${directory}/`, '').replaceAll(directory, 'DIRECTORY');
  });
}

describe.each(readdirSync(ROOT))('%s', (name) => {
  const file = join(ROOT, name);
  const text = readFileSync(file, 'utf8');
  const cases = casesIn(text);
  const told: string[] = [];

  test.each(cases)('$name', async (one) => {
    const now = await toldBy(one);
    told.push(now);
    if (process.env.UPDATE_GOLDEN !== '1') expect(now).toBe(one.told);
  });

  afterAll(() => {
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, withTold(text, told));
  });
});

test('at least eighty cases', () => {
  expect(readdirSync(ROOT).flatMap((name) => casesIn(readFileSync(join(ROOT, name), 'utf8'))).length).toBeGreaterThanOrEqual(80);
});
