/** One run over files of a test in a fresh directory, and all its results. */
import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { describeFault, Fault } from '../../../src/core/fault.ts';
import type { Rejection, RunReport, RunRequest } from '../../../src/run/request.ts';
import { executeRun } from '../../../src/run/run.ts';
import { openFileSink } from '../../../src/sinks/file.ts';

/** Name within the directory → content. `mapping.ttl` is the mapping. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Runs `action` in a directory that other users may read, and removes it afterwards. */
export async function withFiles<T>(files: Files, action: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-faults-'));
  try {
    await chmod(directory, 0o755);
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(directory, name)), { recursive: true });
      await writeFile(join(directory, name), content);
    }
    return await action(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export interface Trial {
  readonly report: RunReport | undefined;
  readonly fault: Fault | undefined;
  /** The printed messages, without the directory of the trial. */
  readonly told: string;
  /** The output; undefined: none. */
  readonly output: string | undefined;
  readonly rejections: readonly Rejection[];
  /** Files in the output and the spill directory. */
  readonly left: readonly string[];
}

/** Does what `quadmill run` does, in this process. */
export function attempt(files: Files, changes: Partial<RunRequest> = {}): Promise<Trial> {
  return withFiles(files, async (directory) => {
    const [out, spill] = [join(directory, 'out'), join(directory, 'spill')];
    await mkdir(spill);
    const rejections: Rejection[] = [];
    const sink = await openFileSink({ directory: out, name: 'out.nq', attempt: 1, format: 'nquads', digest: false, durable: false });
    let report: RunReport | undefined;
    let fault: Fault | undefined;
    try {
      const request = { ...RUN_DEFAULTS, runId: 'trial', mappings: ['mapping.ttl'], inputs: [], workingDirectory: directory };
      const hooks = { reject: (rejection: Rejection) => void rejections.push(rejection) };
      report = await executeRun({ ...request, spillDirectory: spill, ...changes }, sink, hooks);
      await sink.commit();
    } catch (error) {
      await sink.abort();
      fault = Fault.of(error);
      if (fault.code === 'internal/error') throw error;
    }
    return {
      report,
      fault,
      told: fault === undefined ? '' : describeFault(fault).replaceAll(`${directory}/`, ''),
      output: report === undefined ? undefined : await readFile(join(out, 'out.nq'), 'utf8'),
      rejections,
      left: [...(await readdir(out)), ...(await readdir(spill))],
    };
  });
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Program {
  readonly pid: number;
  readonly ended: Promise<Ended>;
}

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** `quadmill …` as a process, with `tmp` within `directory` as its temporary directory. */
export function startQuadmill(directory: string, args: readonly string[], user?: User): Program {
  const child = spawn(process.execPath, [resolve('bin/quadmill.js'), ...args], {
    cwd: directory,
    env: { ...process.env, TMPDIR: join(directory, 'tmp') },
    ...user,
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const ended = new Promise<Ended>((done) => child.on('close', (code) => done({ code, out, err })));
  return { pid: child.pid as number, ended };
}
