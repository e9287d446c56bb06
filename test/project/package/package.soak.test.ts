/** The package, installed as a user does: with npm, into an empty folder, with the newest versions that its ranges allow. */
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { VERSION } from '../../../src/config/version.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { installInto, pack, STATEMENTS, tryPackage } from './packed.ts';

const registry = spawnSync('npm', ['ping'], { timeout: 30_000 });
const withRegistry =
  registry.status === 0
    ? test
    : (name: string, ..._: unknown[]) => test.skip(`${name} (not tested: npm reaches no registry)`, () => undefined);

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let archive: Awaited<ReturnType<typeof temporaryDirectory>>;

beforeAll(async () => {
  directory = await temporaryDirectory();
  archive = await temporaryDirectory();
});
afterAll(async () => {
  await directory?.remove();
  await archive?.remove();
});

withRegistry(
  'runs a mapping, a service, and as a library, after npm install',
  async () => {
    await installInto(directory.path, (await pack(archive.path)).archive);
    const tried = await tryPackage(directory.path);
    expect(tried).toMatchObject({ version: VERSION, mapped: STATEMENTS, live: 200, ended: 0, written: STATEMENTS });
    expect(tried.said).toMatch(/^2 records, 2 statements in /);
    const command = spawnSync(`${directory.path}/node_modules/.bin/quadmill`, ['--version'], { encoding: 'utf8' });
    expect(command.stdout.trim()).toBe(VERSION);
  },
  900_000,
);
