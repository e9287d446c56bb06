/** The demo as a process. */
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { expect } from '@jest/globals';

/** Returns what it prints; it must end well and leave nothing behind. */
export async function demo(...argv: readonly string[]): Promise<string> {
  const leftovers = async (): Promise<string[]> => (await readdir(tmpdir())).filter((name) => name.startsWith('quadmill-demo-'));
  const before = await leftovers();
  const { code, out, err } = await new Promise<{ code: number | null; out: string; err: string }>((done) => {
    const child = execFile(process.execPath, [resolve('dist/test/demo/demo.js'), ...argv], (_, stdout, stderr) =>
      done({ code: child.exitCode, out: stdout, err: stderr }),
    );
  });
  expect([code, err]).toEqual([0, '']);
  expect((await leftovers()).filter((name) => !before.includes(name))).toEqual([]);
  return out;
}
