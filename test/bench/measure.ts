/** One workload, once: a fresh process, timed from outside, its output counted. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../support/project-root.ts';
import type { Workload } from './workloads.ts';

export interface Measurement {
  /** Start of the process to its end. */
  readonly wallSeconds: number;
  /** User and system. */
  readonly cpuSeconds: number;
  readonly peakMemoryBytes: number;
  readonly statements: number;
  readonly outputBytes: number;
  /** Why the output is wrong; undefined when it is right. */
  readonly wrong: string | undefined;
}

const QUADMILL = join(PROJECT_ROOT, 'bin', 'quadmill.js');
/** Up to here distinct statements are counted as well as lines; above, lines must do. */
const SMALL_STATEMENTS = 2_000_000;

/** @param jdbcUrl the loaded database, for a workload that has one */
export async function measure(workload: Workload, dataDirectory: string, jdbcUrl: string | undefined): Promise<Measurement> {
  const folder = join(dataDirectory, workload.folder);
  const output = join(folder, 'out.nq');
  const started = performance.now();
  const heap = workload.heapLimitMb === undefined ? [] : [`--max-old-space-size=${workload.heapLimitMb}`];
  const from = jdbcUrl === undefined ? [] : ['--jdbc-url', jdbcUrl];
  const run = ['run', workload.mapping, ...workload.options, ...from, '--stats', '-o', 'out.nq'];
  const { code, err } = await node([...heap, QUADMILL, ...run], folder);
  const wallSeconds = (performance.now() - started) / 1000;
  if (code !== 0) throw new Error(`quadmill ended with code ${code}: ${err}`);
  const stats = JSON.parse(err.trim().split('\n').at(-1) as string) as { quads: number; cpuSeconds: number; peakMemoryBytes: number };
  const counts = JSON.parse(await readFile(join(folder, 'expected.json'), 'utf8')) as Record<string, number>;
  const expected = (counts[workload.expected] as number) * (workload.database?.copies ?? 1);
  const lines = await countLines(output, workload.expected === 'distinct' && expected <= SMALL_STATEMENTS);
  const { size } = await stat(output);
  await rm(output);
  return {
    wallSeconds,
    cpuSeconds: stats.cpuSeconds,
    peakMemoryBytes: stats.peakMemoryBytes,
    statements: lines.all,
    outputBytes: size,
    wrong: verdict(expected, stats.quads, lines),
  };
}

function verdict(expected: number, reported: number, lines: Lines): string | undefined {
  if (lines.all !== expected) return `${lines.all} statements, ${expected} expected`;
  if (lines.distinct !== undefined && lines.distinct !== expected) return `${lines.distinct} distinct statements, ${expected} expected`;
  return reported === expected ? undefined : `${reported} statements reported, ${expected} written`;
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
