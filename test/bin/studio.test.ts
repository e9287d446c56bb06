/** `quadmill studio`: starts a service whose mapping directory is that of the files. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { closeAfterEach } from '../support/closing.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { ask, spawnService } from '../support/service/process.ts';

const { closes, directory } = closeAfterEach();
const PROGRAM = join(PROJECT_ROOT, 'bin', 'quadmill.js');

async function studio(cwd: string, ...args: string[]): Promise<ReturnType<typeof spawnService>> {
  const started = spawnService({ command: [process.execPath, PROGRAM, 'studio', ...args], cwd, env: {} });
  closes(() => started.stop());
  return started;
}

test('prints the address of the first mapping, which the page can read', async () => {
  const cwd = await directory();
  await mkdir(join(cwd, 'maps'));
  await writeFile(join(cwd, 'maps', 'my shop.ttl'), '# nothing yet\n');
  const started = await studio(cwd, 'maps/my shop.ttl', '--port', '0');
  const deadline = Date.now() + 60_000;
  const address = (): string | undefined => /at (\S+)\n/.exec(started.stderr())?.[1];
  while (address() === undefined && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
  const url = new URL(address() as string);
  expect(url.pathname + url.hash).toBe('/studio/#/files/my%20shop.ttl');
  const { body } = await ask(`${url.origin}/studio/mappings`);
  expect(body.mappings.map(({ name }: { name: string }) => name)).toEqual(['my shop.ttl']);
  expect((await ask(`${url.origin}/studio/`)).body).toContain('<title>Quadmill studio</title>');
});

test('refuses files that are not there, and files of two directories', async () => {
  const cwd = await directory();
  for (const name of ['a', 'b']) {
    await mkdir(join(cwd, name));
    await writeFile(join(cwd, name, 'm.ttl'), '');
  }
  const missing = await studio(cwd, 'none.ttl');
  expect([(await missing.exited).code, missing.stderr()]).toEqual([2, expect.stringContaining('there is no file none.ttl')]);
  const apart = await studio(cwd, 'a/m.ttl', 'b/m.ttl');
  expect([(await apart.exited).code, apart.stderr()]).toEqual([2, expect.stringContaining('several directories')]);
});
