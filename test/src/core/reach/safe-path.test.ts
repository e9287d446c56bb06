/** Which paths may be read: a table, and links that change while a file is opened. */
import { execFileSync } from 'node:child_process';
import { existsSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { compiled } from '../../../../src/core/compiled.ts';
import type { Reach } from '../../../../src/core/reach/reach.ts';
import { openSession } from '../../../../src/sql/drivers/open.ts';
import { parseJdbcUrl } from '../../../../src/sql/jdbc/jdbc.ts';
import { listDirectory } from '../../../../src/storage/list.ts';
import { assertWithin, probeInput, readText } from '../../../../src/storage/open.ts';

let root: string;
let socket: ReturnType<typeof createServer>;
const at = (...names: readonly string[]): string => join(root, ...names);
const SECRET = 'a secret';

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'quadmill-reach-'));
  for (const name of ['open/deep', 'open/own', 'open-beside', 'closed/deep', 'other']) await mkdir(at(name), { recursive: true });
  for (const name of ['open/data.csv', 'open/deep/data.csv', 'other/data.csv', 'open/ü %41 #.csv']) await writeFile(at(name), 'data');
  for (const name of ['closed/secret.csv', 'closed/deep/secret.csv', 'open-beside/secret.csv', 'open/own/secrets.key', 'secret.csv'])
    await writeFile(at(name), SECRET);
  await symlink(at('closed/secret.csv'), at('open/link.csv'));
  await symlink('../closed', at('open/link'));
  await symlink('/', at('open/root'));
  await symlink(at('open/data.csv'), at('open/inner.csv'));
  await symlink(at('nowhere'), at('open/dangling.csv'));
  await symlink(at('closed/nowhere'), at('open/dangling-outside.csv'));
  await symlink(at('open/circle'), at('open/circle'));
  await symlink(at('open'), at('closed/back'));
  await symlink(at('open'), at('alias'));
  await symlink('/proc/self/environ', at('open/environ'));
  await symlink('own/secrets.key', at('open/key'));
  await link(at('open/data.csv'), at('open/hard.csv'));
  execFileSync('mkfifo', [at('open/fifo')]);
  socket = createServer();
  await new Promise<void>((done) => socket.listen(at('open/socket'), done));
});
afterAll(async () => {
  socket.close();
  await rm(root, { recursive: true });
});

const reach = (directories: readonly string[] | null = [at('open')]): Reach => ({
  privateAddresses: false,
  hosts: [],
  mappingHosts: [],
  directories,
  withheld: [at('open/own')],
});

const ALLOWED = [
  'open/data.csv',
  'open/deep/data.csv',
  'open/./deep/../data.csv',
  'open//data.csv',
  'closed/../open/data.csv',
  'open/inner.csv',
  'closed/back/data.csv',
  'alias/data.csv',
  'open/hard.csv',
  'file:open/data.csv',
  'file:open/deep/%64ata.csv',
  'file:open/%C3%BC%20%2541%20%23.csv',
];
const FORBIDDEN = [
  'closed/secret.csv',
  'closed/deep/secret.csv',
  'secret.csv',
  'open-beside/secret.csv',
  'open/../closed/secret.csv',
  'open/deep/../../closed/secret.csv',
  'open/deep/../../../../../../../../etc/passwd',
  'open/link.csv',
  'open/link/secret.csv',
  'open/link/deep/secret.csv',
  'open/root/etc/passwd',
  'open/root',
  'open/own/secrets.key',
  'open/own',
  'open/key',
  'alias/own/secrets.key',
  'open/environ',
  'open/dangling-outside.csv',
  'open/circle',
  'open/fifo',
  'open/socket',
  'open/deep/..',
  'closed',
  '..',
  '/',
  '/etc/passwd',
  '/etc/../etc/passwd',
  '//etc/passwd',
  '/dev/zero',
  '/dev/stdin',
  '/dev/fd/0',
  '/proc/self/environ',
  '/proc/self/root/etc/passwd',
  '/proc/self/cwd/package.json',
  '/sys/kernel/hostname',
  'file:closed/secret.csv',
  'file:open/%2e%2e/closed/secret.csv',
  'file:open/..%2fclosed/secret.csv',
  'file:open/link.csv',
  'file:///etc/passwd',
  'FILE:///etc/passwd',
  'file:/etc/passwd',
  'file:///%65tc/passwd',
  'file://localhost/etc/passwd',
  'file://evil.example/etc/passwd',
  'file:///etc/passwd%00.csv',
  'file:////evil.example/share/secret.csv',
  'open/data.csv\0.ttl',
];

/** Rows are written relative to the directory of the test. */
const urlOf = (row: string): string => {
  if (row.startsWith('/') || row === '..') return row === '..' ? at('..') : row;
  if (/^file:(?!\/)/i.test(row)) return `${pathToFileURL(root).href}/${row.slice(5)}`;
  return /^file:/i.test(row) ? row : `${root}/${row}`;
};
const options = { workingDirectory: '/' };

test.each(ALLOWED)('%s is read', async (row) => {
  const url = urlOf(row);
  await assertWithin(url, { ...options, reach: reach() });
  expect(await readText(url, 1000, { ...options, reach: reach() })).toBe('data');
  expect(await probeInput(url, { ...options, reach: reach() })).toMatchObject({ sizeBytes: 4 });
});

test.each(FORBIDDEN)('%s is not read', async (row) => {
  const url = urlOf(row);
  const within = { workingDirectory: '/', reach: reach() };
  const answer = await readText(url, 1000, within).catch((error) => error);
  // A directory that is allowed is no secret, and an address that means no path is refused as such.
  expect(answer).toMatchObject({ code: expect.stringMatching(/^(?:request\/forbidden|source\/refused)$/) });
  if (answer.code === 'request/forbidden')
    expect(`${answer.message} ${answer.hint}`).toMatch(/ALLOWED_DIRECTORIES|regular file|never read|NUL/);
  const probed = await probeInput(url, within).catch((error) => error);
  expect(probed === undefined || probed.code !== undefined).toBe(true);
});

test('a thread, which asks the disk at once, reads the same', async () => {
  const urls = [...ALLOWED, ...FORBIDDEN].map(urlOf);
  const script = `const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.storage).then(async ({ readText }) => {
      const answers = [];
      for (const url of workerData.urls)
        answers.push(await readText(url, 1000, { workingDirectory: '/', reach: workerData.reach }).catch((error) => error.code));
      parentPort.postMessage(answers);
    });`;
  const storage = compiled('src/storage/open.js').href;
  const thread = new Worker(script, { eval: true, workerData: { storage, urls, reach: reach() } });
  const answers = await new Promise<readonly string[]>((resolve, reject) => thread.once('message', resolve).once('error', reject));
  await thread.terminate();
  answers.forEach((answer, i) => {
    if (i < ALLOWED.length) expect([urls[i], answer]).toEqual([urls[i], 'data']);
    else expect([urls[i], answer]).toEqual([urls[i], expect.stringMatching(/^(?:request\/forbidden|source\/refused)$/)]);
  });
});

test('a directory of the options that is moved is followed within a second', async () => {
  await symlink(at('open'), at('moving'));
  const within = { workingDirectory: '/', reach: reach([at('moving')]) };
  const read = (): Promise<string> => readText(at('other/data.csv'), 1000, within);
  expect(await readText(at('open/data.csv'), 1000, within)).toBe('data');
  await expect(read()).rejects.toMatchObject({ code: 'request/forbidden' });
  rmSync(at('moving'));
  symlinkSync(at('other'), at('moving'));
  const deadline = performance.now() + 10_000;
  while (!(await read().then(Boolean, () => false)) && performance.now() < deadline) await new Promise((done) => setTimeout(done, 20));
  expect(await read()).toBe('data');
  await expect(readText(at('open/data.csv'), 1000, within)).rejects.toMatchObject({ code: 'request/forbidden' });
});

test('whether a file outside exists cannot be told', async () => {
  const told = async (name: string): Promise<string> =>
    (
      (await readText(at('closed', name), 1000, { workingDirectory: '/', reach: reach() }).catch((error) => error)) as Error
    ).message.replace(name, 'NAME');
  expect(await told('secret.csv')).toBe(await told('nothing.csv'));
  expect(await told('deep/secret.csv')).toBe(await told('nowhere/nothing.csv'));
});

test('a file that is missing inside is said to be missing', async () => {
  for (const name of ['open/missing.csv', 'open/nowhere/missing.csv'])
    await expect(readText(at(name), 1000, { workingDirectory: '/', reach: reach() })).rejects.toMatchObject({ code: 'source/missing' });
});

test('directories are listed inside alone', async () => {
  const within = { workingDirectory: root, reach: reach() };
  expect((await listDirectory('open', ['csv'], within)).length).toBeGreaterThan(2);
  for (const directory of ['closed', 'open/link', 'open/own', 'open/..', '/etc'])
    await expect(listDirectory(directory, ['csv'], within)).rejects.toMatchObject({ code: 'request/forbidden' });
});

test('where every directory is allowed, still no device, no pipe, no file of the system or of the service', async () => {
  const everywhere = { workingDirectory: root, reach: reach(null) };
  expect(await readText(at('closed/secret.csv'), 1000, everywhere)).toBe(SECRET);
  expect(await readText('/etc/hostname', 1000, everywhere).catch(() => 'none')).toBeDefined();
  for (const path of ['/dev/zero', at('open/fifo'), at('open/environ'), '/proc/self/environ', at('open/own/secrets.key'), at('open/key')])
    await expect(readText(path, 1000, everywhere)).rejects.toMatchObject({ code: 'request/forbidden' });
});

test.each(['sqlite', 'duckdb'])('a database file of %s is a path as any other', async (product) => {
  for (const row of ['closed/secret.csv', 'open/link.csv', 'open/../closed/secret.csv', 'open/own/secrets.key']) {
    const address = parseJdbcUrl({ url: `jdbc:${product}:${root}/${row}`, trusted: false });
    await expect(openSession(address, { connectSeconds: 2, statementSeconds: 2, lockSeconds: 2, reach: reach() })).rejects.toMatchObject({
      code: 'request/forbidden',
    });
  }
});

describe('a link that changes all the time', () => {
  test.each(['file', 'directory'])('of a %s never leads outside', async (kind) => {
    const name = kind === 'file' ? at('open', 'racing.csv') : at('open', 'racing');
    const targets = kind === 'file' ? [at('open/data.csv'), at('closed/secret.csv')] : [at('open/deep'), at('closed')];
    const url = kind === 'file' ? name : join(name, 'data.csv');
    if (kind === 'directory' && !existsSync(at('closed/data.csv'))) await writeFile(at('closed/data.csv'), SECRET);
    const read = new Set<string>();
    const counts = { read: 0, refused: 0 };
    let swaps = 0;
    const swap = (): void => {
      rmSync(`${name}.new`, { force: true });
      symlinkSync(targets[swaps++ % 2] as string, `${name}.new`);
      renameSync(`${name}.new`, name);
    };
    swap();
    for (let i = 0; i < 100; i++) {
      // Several turns of the event loop lie between the steps of one opening.
      const swapping = setInterval(swap, 0);
      const answer = readText(url, 1000, { workingDirectory: '/', reach: reach() }).then(
        (text) => {
          read.add(text);
          counts.read++;
        },
        () => void counts.refused++,
      );
      for (let turn = 0; turn < 6; turn++) {
        swap();
        await new Promise((done) => setImmediate(done));
      }
      await answer;
      clearInterval(swapping);
    }
    expect([...read]).toEqual(['data']);
    expect(counts.refused).toBeGreaterThan(0);
  });
});
