/** What stops `npm start`: npm starts a shell, and the shell starts the service. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from '@jest/globals';
import { share, sharedTest } from '../support/jest/extent.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { type ServiceProcess, startService } from '../support/service/process.ts';

let directory: string;
let npm: ServiceProcess;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-npm-'));
  const env = { DATA_DIR: directory, QUEUE_URL: 'embedded:', npm_config_update_notifier: 'false' };
  npm = await startService({ command: ['npm', 'start', '--prefix', PROJECT_ROOT], env, cwd: directory });
}, 120_000);

afterEach(async () => {
  try {
    signalGroup('SIGKILL');
  } catch {
    // All have ended.
  }
  await rm(directory, { recursive: true, force: true });
});

const signalGroup = (signal: NodeJS.Signals): void => void process.kill(-npm.pid, signal);

sharedTest.each(
  share<[string, () => unknown]>(1, [
    ['SIGTERM to npm, as from `kill`', () => npm.kill('SIGTERM')],
    ['SIGINT to all its processes, as from Ctrl-C', () => signalGroup('SIGINT')],
  ]),
)('%s', async (_, stop) => {
  stop();
  // Standard output is open until the service has ended, not npm alone.
  expect((await npm.exited).code).toBe(0);
  expect(npm.log.map(({ msg }) => msg)).toContain('stopped');
  expect(npm.log.filter(({ msg }) => msg === 'draining')).toHaveLength(1);
});
