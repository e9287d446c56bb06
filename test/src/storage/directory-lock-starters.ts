/** Many processes that want one directory, some of which are killed with it in hand. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { lockDirectory } from '../../../src/storage/local/directory-lock.ts';
import type { closeAfterEach } from '../../support/closing.ts';
import { built } from '../../support/project-root.ts';

const STARTER = fileURLToPath(built('test/src/storage/directory-lock-starter.js'));

/** Claims, and lets go at once. */
export async function take(directory: string): Promise<void> {
  await (await lockDirectory(directory)).release();
}

export function testStarters({ directory: directoryForTest }: ReturnType<typeof closeAfterEach>, count: number): void {
  test(`${count} starters never have the directory two at a time, and one always gets it, whichever process is killed while it holds it`, async () => {
    const root = await directoryForTest();
    const directory = join(root, 'queue');
    const journal = join(root, 'journal');
    const until = Date.now() + 100_000;
    const codes = await Promise.all(
      Array.from({ length: count }, () => {
        const child = spawn(process.execPath, [STARTER, directory, journal, '4', '0.25', String(until)], {
          stdio: ['ignore', 'inherit', 'inherit'],
        });
        return new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
      }),
    );
    expect(codes.filter((code) => code !== 0 && code !== 'SIGKILL')).toEqual([]);
    expect(Date.now()).toBeLessThan(until);
    const lines = (await readFile(journal, 'utf8')).trim().split('\n');
    const claims = new Map<string, number>();
    for (let i = 0; i < lines.length; i += 2) {
      const [[first, pid = ''], [then, same]] = [lines[i]?.split(' ') ?? [], lines[i + 1]?.split(' ') ?? []] as [string[], string[]];
      expect([first, same, `line ${i}`]).toEqual(['enter', pid, `line ${i}`]);
      expect(['leave', 'die']).toContain(then);
      claims.set(pid, then === 'die' ? 4 : (claims.get(pid) ?? 0) + 1);
    }
    expect([...claims.values()]).toEqual(Array(count).fill(4));
    await take(directory);
  }, 120_000);
}
