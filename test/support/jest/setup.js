/**
 * What all files of a run have together: a directory for temporary files, and the hub of the servers that they share. Both are gone when the
 * run has ended, also when it was interrupted or killed.
 */
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const COMPILED = new URL('../../../dist/test/servers/', import.meta.url);

export default async function setUp() {
  if (!existsSync(COMPILED)) throw new Error('the tests start compiled scripts: run "npm run build" first');
  const [{ guard }, { openHub }] = await Promise.all(
    ['process/guard.js', 'shared/hub.js'].map((name) => import(new URL(name, COMPILED).href)),
  );
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-tests-'));
  // Servers that do not run as root have separate directories in it.
  await chmod(directory, 0o711);
  const release = guard(undefined, directory);
  const hub = await openHub();
  // Workers of Jest inherit both.
  process.env.TMPDIR = directory;
  process.env.QUADMILL_TEST_HUB = hub.url;
  globalThis.endTestRun = async () => {
    await hub.stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    release();
  };
}
