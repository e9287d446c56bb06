/** The engine is not slower than it was: `npm run bench -- --check`. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { built, PROJECT_ROOT } from '../../support/project-root.ts';

let data: string;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'quadmill-check-'));
});
afterAll(() => rm(data, { recursive: true, force: true }));

test('workloads take as long beside programs that are written for them as they did, and their statements are right', () => {
  const { stdout, stderr, status } = spawnSync(process.execPath, [built('test/bench/main.js').pathname, '--check', '--data', data], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
  });
  expect(`${stdout}${status === 0 ? '' : stderr}`).not.toMatch(/slower|WRONG/);
  expect(stdout.match(/ (ok|not kept)$/gm)).toHaveLength(6);
  expect(status).toBe(0);
});
