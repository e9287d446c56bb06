/** One process at a time in a directory: many starters, killed owners, containers and other machines. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from '@jest/globals';
import { lockDirectory } from '../../../src/storage/local/directory-lock.ts';
import { closeAfterEach } from '../../support/closing.ts';
import { soakTest, test } from '../../support/jest/extent.ts';
import { built } from '../../support/project-root.ts';
import { take, testStarters } from './directory-lock-starters.ts';

const CLAIM = built('src/storage/local/directory-lock.js').href;

const close = closeAfterEach();
const { closes, directory: directoryForTest } = close;

interface Holder {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly errors: string }>;
}

/** A process that claims `directory` and keeps it. Resolves when it has; `command` is what it is started by. */
async function holder(directory: string, command: readonly string[] = []): Promise<Holder> {
  const script = `
    const { lockDirectory } = await import(${JSON.stringify(CLAIM)});
    await lockDirectory(${JSON.stringify(directory)});
    console.log('claimed');
    setInterval(() => undefined, 1000);`;
  const [program = '', ...rest] = [...command, process.execPath, '--input-type=module', '-e', script];
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const ended = new Promise<{ code: number | null; errors: string }>((resolve) => child.once('exit', (code) => resolve({ code, errors })));
  closes(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await Promise.race([
    new Promise((resolve) => child.stdout.once('data', resolve)),
    ended.then(({ errors }) => Promise.reject(new Error(`the process did not get the directory: ${errors}`))),
  ]);
  return { child, ended };
}

const record = (directory: string): Promise<Record<string, unknown>> =>
  readFile(join(directory, 'owner.json'), 'utf8').then((text) => JSON.parse(text));

testStarters(close, 10);

describe('a directory whose owner', () => {
  test('was killed is the next one’s at once, and nothing is left of the dead', async () => {
    const directory = await directoryForTest();
    const { child, ended } = await holder(directory);
    await expect(lockDirectory(directory)).rejects.toMatchObject({
      code: 'service/unavailable',
      message: expect.stringContaining(`is in use by process ${child.pid}`),
    });
    child.kill('SIGKILL');
    await ended;
    await take(directory);
    expect(await readdir(directory)).toEqual([]);
  });

  test('is stopped, not dead, stays its own', async () => {
    const directory = await directoryForTest();
    const { child } = await holder(directory);
    child.kill('SIGSTOP');
    await utimes(join(directory, 'owner.json'), 0, 0);
    await expect(lockDirectory(directory)).rejects.toMatchObject({ message: expect.stringContaining(`process ${child.pid}`) });
    child.kill('SIGCONT');
  });

  test('has a long path is found alive and dead', async () => {
    const directory = join(await directoryForTest(), 'd'.repeat(120), 'e'.repeat(120));
    const { child, ended } = await holder(directory);
    await expect(lockDirectory(directory)).rejects.toMatchObject({ code: 'service/unavailable' });
    child.kill('SIGKILL');
    await ended;
    await take(directory);
  });

  soakTest(
    'lost it by hand ends, since another process writes there now',
    async () => {
      const directory = await directoryForTest();
      const { ended } = await holder(directory);
      await rm(join(directory, 'owner.json'));
      await holder(directory);
      const { code, errors } = await ended;
      expect(code).not.toBe(0);
      expect(errors).toContain('was taken from this process by process');
    },
    60_000,
  );

  const unshared = ['unshare', '--pid', '--fork', '--mount-proc', '--uts', '--kill-child'];
  const missing =
    spawnSync(unshared[0] as string, [...unshared.slice(1), 'true']).status === 0 ? undefined : 'no rights to make containers';
  const withContainers =
    missing === undefined ? test : (name: string, ..._: unknown[]) => test.skip(`${name} (not tested: ${missing})`, () => undefined);

  withContainers('is process 1 of another container is distinguished from this process, alive and dead', async () => {
    const directory = await directoryForTest();
    const named = (name: string): string[] => [...unshared, 'sh', '-c', `hostname ${name}; exec "$@"`, 'sh'];
    const { child, ended } = await holder(directory, named('first'));
    expect(await record(directory)).toMatchObject({ pid: 1, host: 'first' });
    await expect(holder(directory, named('second'))).rejects.toThrow(/is in use by process 1 of first/);
    await expect(holder(directory, named('first'))).rejects.toThrow(/is in use by process 1/);
    await expect(lockDirectory(directory)).rejects.toMatchObject({ message: expect.stringContaining('is in use by process 1 of first') });
    child.kill('SIGKILL');
    await ended;
    for (let i = 0; existsSync(join(directory, 'owner.json')) && i < 50; i++) {
      await sleep(100);
      if (
        await holder(directory, named('second')).then(
          () => true,
          () => false,
        )
      )
        break;
    }
    expect(await record(directory)).toMatchObject({ pid: 1, host: 'second' });
  });
});

describe('a record', () => {
  const OTHER_BOOT = '00000000-0000-0000-0000-000000000000';
  const dead = spawnSync('true').pid;
  const rows: readonly [name: string, text: string, ageSeconds: number, expected?: RegExp, hint?: RegExp][] = [
    ['that is cut off has no owner', '{"pid":1', 0],
    ['that is empty has no owner', '', 0],
    ['without the machine, of a dead process, has no owner', JSON.stringify({ pid: dead, born: '1' }), 0],
    ['without the machine, of a living process, counts', JSON.stringify({ pid: process.pid }), 999, /is in use by process \d+$/],
    [
      'of this machine before it was started again has no owner',
      JSON.stringify({ token: 'a', pid: 1, host: hostname(), boot: OTHER_BOOT, namespace: 'pid:[1]', socket: 'owner-a.sock' }),
      120,
    ],
    [
      'of a machine of the same name that was touched a moment ago has to be waited for',
      JSON.stringify({ token: 'a', pid: 1, host: hostname(), boot: OTHER_BOOT, namespace: 'pid:[1]', socket: 'owner-a.sock' }),
      20,
      /was in use by process 1 a moment ago/,
      /Start again in (39|40) s/,
    ],
    [
      'of another machine that was touched a moment ago is in use',
      JSON.stringify({ token: 'a', pid: 1, host: 'elsewhere', boot: OTHER_BOOT, namespace: 'pid:[1]', socket: 'owner-a.sock' }),
      20,
      /is in use by process 1 of elsewhere/,
      /DATA_DIR/,
    ],
    [
      'of another machine that is silent is left to a person, who learns what to remove',
      JSON.stringify({ token: 'a', pid: 1, host: 'elsewhere', boot: OTHER_BOOT, namespace: 'pid:[1]', socket: 'owner-a.sock' }),
      9_999,
      /belongs to process 1 of elsewhere; from here it cannot be checked/,
      /remove \/.*\/owner\.json/,
    ],
  ];
  test.each(rows.map((row) => [row[0], row] as const))('%s', async (_, [, text, ageSeconds, expected, hint]) => {
    const directory = await directoryForTest();
    await mkdir(directory, { recursive: true });
    const path = join(directory, 'owner.json');
    await writeFile(path, text);
    const time = Date.now() / 1000 - ageSeconds;
    await utimes(path, time, time);
    if (expected === undefined) {
      await take(directory);
      expect(existsSync(path)).toBe(false);
      return;
    }
    await expect(lockDirectory(directory)).rejects.toMatchObject({
      code: 'service/unavailable',
      message: expect.stringMatching(expected),
      ...(hint === undefined ? {} : { hint: expect.stringMatching(hint) }),
    });
    expect(await readFile(path, 'utf8')).toBe(text);
    expect((await stat(path)).mtimeMs / 1000).toBeCloseTo(time, 0);
  });

  test('of another machine is waited for where a queue orders the runs, and has no owner once it is silent', async () => {
    const directory = await directoryForTest();
    await mkdir(directory, { recursive: true });
    const path = join(directory, 'owner.json');
    const queued = { what: 'state', hint: 'wait', isQueued: true };
    await writeFile(path, JSON.stringify({ token: 'a', pid: 1, host: 'elsewhere', boot: OTHER_BOOT, namespace: 'pid:[1]' }));
    await utimes(path, Date.now() / 1000 - 50, Date.now() / 1000 - 50);
    await expect(lockDirectory(directory, queued)).rejects.toMatchObject({
      message: expect.stringMatching(/is in use by process 1 of elsewhere/),
    });
    await utimes(path, Date.now() / 1000 - 70, Date.now() / 1000 - 70);
    await (await lockDirectory(directory, queued)).release();
  });
});
