/** A short chaos run over a fleet; `npm run chaos` runs for any time. CHAOS_SEED and CHAOS_SECONDS select another run here. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { missingRedis } from '../servers/queues/redis.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';

const SEED = process.env.CHAOS_SEED ?? '1';
const SECONDS = process.env.CHAOS_SECONDS ?? '30';
/** Time for the faults, for settling and for the verdict; three times what a busy machine needs. */
const LIMIT_MS = (Number(SECONDS) + 300) * 1_000;

(missingRedis === undefined ? describe : describe.skip)(`chaos${missingRedis === undefined ? '' : ` (skipped: ${missingRedis})`}`, () => {
  let child: ChildProcess | undefined;
  // On SIGTERM it ends all processes that it has started.
  afterEach(() => void child?.kill('SIGTERM'));

  const chaos = async (args: readonly string[]): Promise<string> => {
    const main = join(PROJECT_ROOT, 'dist', 'test', 'chaos', 'main.js');
    const started = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    let said = '';
    for (const stream of [started.stdout, started.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    }
    const code = await new Promise((resolve) => started.once('close', resolve));
    if (code !== 0) throw new Error(`chaos ended with exit code ${code}:\n${said}`);
    return said;
  };

  test(
    `every request has one outcome and its output, and nothing else is left, after ${SECONDS} s of every fault (seed ${SEED})`,
    async () => {
      const said = await chaos(['--seed', SEED, '--seconds', SECONDS]);
      const skipped = said.split('\n').filter((line) => /skipped: |not there: /.test(line));
      if (skipped.length > 0) console.warn(`what cannot be had here:\n${skipped.join('\n')}`);
      const isThere = (fault: string): boolean => !skipped.some((line) => line.includes(` ${fault} `));
      for (const fault of ['kill-worker', 'kill-redis', 'kill-kafka', 'kill-database']) {
        if (isThere(fault)) expect(said).toMatch(new RegExp(`^ +\\d+ {2}${fault}`, 'm'));
      }
      const count = (pattern: RegExp): number => Number(pattern.exec(said)?.[1]);
      expect(count(/(\d+) runs were cut into slices/)).toBeGreaterThan(0);
      if (!isThere('kill-kafka')) return;
      expect(count(/(\d+) runs came as messages/)).toBeGreaterThan(0);
      expect(count(/(\d+) messages were none/)).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );

  test(
    '200 files are mapped while one of three workers is killed every 700 ms for 20 s',
    async () => {
      const said = await chaos(['--preset', 'kills', '--seed', SEED]);
      expect(said).toContain('200 runs ended: 200 completed');
      expect(Number(/(\d+) {2}kill-worker/.exec(said)?.[1])).toBeGreaterThan(10);
      expect(said).toMatch(/to the next start of its run or slice: median/);
    },
    LIMIT_MS,
  );
});
