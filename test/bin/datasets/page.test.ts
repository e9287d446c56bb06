/** The files and commands of docs/datasets.md, in their order, and what they print. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeSqlite } from '../../servers/databases/sqlite.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { blocksOf } from './blocks.ts';

const COMMAND = join(PROJECT_ROOT, 'bin', 'quadmill.js');

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-page-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

const blocks = blocksOf('datasets.md');

test('the commands of the page print what it says', async () => {
  let printed = '';
  for (const { language, name, text } of blocks) {
    if (name !== undefined && language === 'sql') await writeSqlite(join(directory, name), text);
    else if (name !== undefined) writeFileSync(join(directory, name), text);
    else if (language === 'sh') {
      printed = '';
      for (const line of text.trim().split('\n')) {
        const [npx, quadmill, ...args] = line.split(' ');
        expect([npx, quadmill]).toEqual(['npx', 'quadmill']);
        const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], { cwd: directory, encoding: 'utf8' });
        expect([line, status, stderr]).toEqual([line, 0, stderr]);
        printed += stdout + stderr;
      }
    } else for (const line of text.trim().split('\n')) expect(printed.split('\n')).toContain(line);
  }
  expect(blocks.filter(({ language }) => language === 'sh').length).toBeGreaterThan(3);
  // What the export has packed is the graph of the newest version.
  const now = execFileSync('gzip', ['-dc', join(directory, 'now.nq.gz')], { encoding: 'utf8' });
  expect(now.split('\n').toSorted()).toEqual(readFileSync(join(directory, 'graph.nq'), 'utf8').split('\n').toSorted());
}, 60_000);
