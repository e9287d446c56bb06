/**
 * A command with all that it starts, timed from outside by GNU time: the kernel adds up the time of processes that were waited for, and keeps the
 * memory of the largest one. A process that outlives the command is not counted.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Times } from '../measure.ts';

export type Ended = Times & { readonly code: number | null; readonly err: string };

const KB = 1024;

/** @throws Error — GNU time is not installed */
export async function timed(command: string, cwd: string): Promise<Ended> {
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-time-'));
  const report = join(directory, 'report');
  try {
    // `time` stands between: a process that is started by Node itself begins with the peak of Node's memory.
    const started = performance.now();
    const { code, err } = await run(['-q', '-f', '%U %S %M', '-o', report, 'sh', '-c', command], cwd);
    const wallSeconds = (performance.now() - started) / 1000;
    const [user, system, peak] = (await readFile(report, 'utf8').catch(() => '')).trim().split(' ').map(Number);
    if (peak === undefined) throw new Error(`GNU time says nothing about ${command}: ${err}`);
    return { wallSeconds, userSeconds: user as number, systemSeconds: system as number, peakMemoryBytes: peak * KB, code, err };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function run(args: readonly string[], cwd: string): Promise<{ code: number | null; err: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('time', args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    let err = '';
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? new Error('a command is timed by GNU time: install the package `time`') : error),
    );
    child.on('close', (code) => resolve({ code, err }));
  });
}

/** As one word of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
