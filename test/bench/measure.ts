/** One workload, once: a fresh process, its output counted. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../support/project-root.ts';
import type { Workload } from './workloads.ts';

/** What a process took. */
export interface Times {
  /** Start of the process to its end. */
  readonly wallSeconds: number;
  readonly userSeconds: number;
  readonly systemSeconds: number;
  readonly peakMemoryBytes: number;
}

export interface Measurement extends Times {
  readonly statements: number;
  /** Undefined when nothing is kept of the output. */
  readonly outputBytes: number | undefined;
  /** Why the output is wrong; undefined when it is right. */
  readonly wrong: string | undefined;
}

/** How the bench runs a workload. */
export interface Conditions {
  /** Where the folders of the workloads are. */
  readonly data: string;
  readonly output: OutputKind;
  /** Of the run; undefined: one, which the bounds have. */
  readonly threads: number | undefined;
}

/** `file`: in the directory for temporary files (`TMPDIR`). `memory`: in a file system in memory. `null`: nowhere, so only numbers of statements that are reported can be checked. */
export const OUTPUT_KINDS = ['file', 'memory', 'null'] as const;
export type OutputKind = (typeof OUTPUT_KINDS)[number];

const MEMORY_DIRECTORY = '/dev/shm';

/** Calls `act` with a path for the output, whose directory is empty and removed in the end. */
export async function withOutput<T>(kind: OutputKind, act: (path: string) => Promise<T>): Promise<T> {
  if (kind === 'null') return act('/dev/null');
  const directory = await mkdtemp(join(kind === 'memory' ? MEMORY_DIRECTORY : tmpdir(), 'quadmill-bench-'));
  try {
    return await act(join(directory, 'out.nq'));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const QUADMILL = join(PROJECT_ROOT, 'bin', 'quadmill.js');
/** Up to here distinct statements are counted as well as lines; above, lines must do. */
const SMALL_STATEMENTS = 2_000_000;

/** The arguments of Node for a run, in the folder of the workload. */
export function runArguments(workload: Workload, threads: number | undefined, output: string, jdbcUrl?: string): string[] {
  const heap = workload.heapLimitMb === undefined ? [] : [`--max-old-space-size=${workload.heapLimitMb}`];
  const parallel = ['--threads', String(threads ?? 1)];
  const from = jdbcUrl === undefined ? [] : ['--jdbc-url', jdbcUrl];
  return [...heap, QUADMILL, 'run', workload.mapping, ...workload.options, ...parallel, ...from, '--stats', '-o', output];
}

/** @param jdbcUrl the loaded database, for a workload that has one */
export async function measure(workload: Workload, conditions: Conditions, jdbcUrl?: string): Promise<Measurement> {
  return withOutput(conditions.output, async (path) => {
    const args = runArguments(workload, conditions.threads, path, jdbcUrl);
    const { quads, ...times } = await timedNode('quadmill', args, join(conditions.data, workload.folder));
    return { ...times, ...(await examine(workload, conditions.data, path, quads)) };
  });
}

/**
 * Runs a program of this project that ends with a line of JSON on standard error: statements, times and memory.
 *
 * @throws Error — the program failed, with what it said
 */
export async function timedNode(name: string, args: readonly string[], cwd: string): Promise<Times & { readonly quads: number }> {
  const started = performance.now();
  const { code, err } = await node(args, cwd);
  const wallSeconds = (performance.now() - started) / 1000;
  if (code !== 0) throw new Error(`${name} ended with code ${code}: ${err}`);
  return { ...JSON.parse(err.trim().split('\n').at(-1) as string), wallSeconds };
}

/**
 * Counts the statements of an output and compares the number with what must come out.
 *
 * @param reported by the program itself; undefined where it reports nothing
 */
export async function examine(
  workload: Workload,
  data: string,
  path: string,
  reported: number | undefined,
): Promise<Pick<Measurement, 'statements' | 'outputBytes' | 'wrong'>> {
  const expected = await expectedStatements(workload, data);
  const written = await stat(path).catch(() => undefined);
  if (written !== undefined && !written.isFile()) {
    const wrong = reported === undefined || reported === expected ? undefined : `${reported} statements reported, ${expected} expected`;
    return { statements: reported ?? expected, outputBytes: undefined, wrong };
  }
  if (written === undefined) return { statements: 0, outputBytes: 0, wrong: `it did not write ${path}` };
  const lines = await countLines(path, workload.expected === 'distinct' && expected <= SMALL_STATEMENTS);
  return { statements: lines.all, outputBytes: written.size, wrong: verdict(expected, reported, lines) };
}

async function expectedStatements(workload: Workload, data: string): Promise<number> {
  const counts = JSON.parse(await readFile(join(data, workload.folder, 'expected.json'), 'utf8')) as Record<string, number>;
  return (counts[workload.expected] as number) * (workload.database?.copies ?? 1);
}

function verdict(expected: number, reported: number | undefined, lines: Lines): string | undefined {
  if (lines.all !== expected) return `${lines.all} statements, ${expected} expected`;
  if (lines.distinct !== undefined && lines.distinct !== expected) return `${lines.distinct} distinct statements, ${expected} expected`;
  return reported === undefined || reported === expected ? undefined : `${reported} statements reported, ${expected} written`;
}

interface Lines {
  readonly all: number;
  readonly distinct: number | undefined;
}

async function countLines(path: string, distinct: boolean): Promise<Lines> {
  const seen = new Set<string>();
  let all = 0;
  let rest = '';
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, encoding: 'latin1' })) {
    const text: string = rest + chunk;
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      if (distinct) seen.add(createHash('md5').update(text.slice(from, end), 'latin1').digest('binary'));
      all++;
      from = end + 1;
    }
    rest = text.slice(from);
  }
  return { all, distinct: distinct ? seen.size : undefined };
}

/** Makes the data of a folder that is not there. */
export async function generateMissing(folder: string, data: string): Promise<void> {
  if (existsSync(join(data, folder, 'expected.json'))) return;
  console.error(`making ${join(data, folder)}`);
  const { code, err } = await node([join(PROJECT_ROOT, 'test', 'bench', 'generate.mjs'), data, folder], PROJECT_ROOT);
  if (code !== 0) throw new Error(`generate.mjs ended with code ${code}: ${err}`);
}

export function node(args: readonly string[], cwd: string): Promise<{ code: number | null; err: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    let err = '';
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    child.on('error', reject).on('close', (code) => resolve({ code, err }));
  });
}
