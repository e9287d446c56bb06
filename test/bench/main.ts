/** `npm run bench`: medians of time and memory over fresh processes, with the number of statements checked. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { didYouMean } from '../../src/core/nearest.ts';
import { table } from '../conformance/summary.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { DATABASES, type LoadedDatabase } from './databases.ts';
import { benchFleet, FLEET_MAPPINGS } from './fleet.ts';
import { benchFunctions, FUNCTIONS_WORKLOAD } from './functions.ts';
import { type Measurement, measure, node } from './measure.ts';
import { benchRuns, RUN_FLEETS } from './runs.ts';
import { GROUPS, USUAL, WORKLOADS, type Workload } from './workloads.ts';
import { benchWriter } from './writer.ts';
import { BENCH_STORES } from './writer-stores.ts';

const USAGE = `usage: npm run bench -- [--data DIR] [--runs N] [--requests N] [WORKLOAD…]
workloads: ${Object.keys(WORKLOADS).join(' ')}
several:   ${Object.entries(GROUPS)
  .map(([name, members]) => `${name} (${members.join(' ')})`)
  .join(', ')}
service:   ${[...Object.keys(FLEET_MAPPINGS), ...Object.keys(RUN_FLEETS)].join(' ')}
writer:    ${Object.keys(BENCH_STORES).join(' ')}
calls:     ${FUNCTIONS_WORKLOAD}`;

async function main(argv: readonly string[]): Promise<number> {
  let parsed: { values: { data?: string; runs?: string; requests?: string }; positionals: string[] };
  try {
    const options = { data: { type: 'string' }, runs: { type: 'string' }, requests: { type: 'string' } } as const;
    parsed = parseArgs({ args: [...argv], options, allowPositionals: true });
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    return 2;
  }
  const { values, positionals } = parsed;
  const runs = Number(values.runs ?? 3);
  const requests = Number(values.requests ?? 10_000);
  const names = positionals.flatMap((name) => (Object.hasOwn(GROUPS, name) ? (GROUPS[name] as readonly string[]) : [name]));
  const fleets = names.filter((name) => Object.hasOwn(FLEET_MAPPINGS, name)) as (keyof typeof FLEET_MAPPINGS)[];
  const tiny = names.filter((name) => Object.hasOwn(RUN_FLEETS, name)) as (keyof typeof RUN_FLEETS)[];
  const stores = names.filter((name) => Object.hasOwn(BENCH_STORES, name));
  const all = [WORKLOADS, FLEET_MAPPINGS, RUN_FLEETS, BENCH_STORES, { [FUNCTIONS_WORKLOAD]: true }];
  const unknown = names.find((name) => !all.some((table) => Object.hasOwn(table, name)));
  if (unknown !== undefined || ![runs, requests].every((count) => Number.isInteger(count) && count > 0)) {
    const hint =
      unknown === undefined
        ? '--runs and --requests take whole numbers'
        : `no workload ${unknown}; ${didYouMean(unknown, [...all, GROUPS].flatMap(Object.keys)) ?? ''}`;
    console.error(`${hint}\n${USAGE}`);
    return 2;
  }
  const data = values.data === undefined ? join(PROJECT_ROOT, 'bench-data') : resolve(values.data);
  console.log(machine());
  const rows: string[][] = [];
  let wrong = 0;
  for (const name of names.length > 0 ? names.filter((one) => Object.hasOwn(WORKLOADS, one)) : USUAL) {
    const workload = WORKLOADS[name] as Workload;
    await generateMissing(workload, data);
    const measurements = await measureRepeatedly(workload, data, runs);
    if ('skip' in measurements) {
      rows.push([name, ...COLUMNS.slice(2).map(() => ''), `skipped: ${measurements.skip}`]);
      continue;
    }
    const faults = measurements.map((measurement) => measurement.wrong).filter((fault) => fault !== undefined);
    if (faults.length > 0) wrong++;
    rows.push(rowOf(name, measurements, faults[0]));
    console.error(`${name}: ${measurements.map(({ wallSeconds }) => wallSeconds.toFixed(2)).join(' ')} s`);
  }
  if (rows.length > 0) console.log(`\n${table([COLUMNS, ...rows])}`);
  if (fleets.length > 0) await generateMissing({ folder: 'flat-1m' }, data);
  for (const name of fleets) if (!(await benchFleet(name, data, runs))) wrong++;
  for (const name of tiny) for (let i = 0; i < runs; i++) if (!(await benchRuns(name, requests))) wrong++;
  if (names.includes(FUNCTIONS_WORKLOAD)) {
    await generateMissing({ folder: 'flat-100k' }, data);
    if (!(await benchFunctions(data))) wrong++;
  }
  if (stores.length > 0 && !(await benchWriter(stores, data, runs))) wrong++;
  return wrong > 0 ? 1 : 0;
}

const COLUMNS = ['workload', 'wall s', 'CPU s', 'peak MB', 'statements', 'M/s', 'output MB', 'check'];

async function measureRepeatedly(workload: Workload, data: string, runs: number): Promise<Measurement[] | { readonly skip: string }> {
  const { database, folder } = workload;
  if (database === undefined) return repeat(runs, () => measure(workload, data, undefined));
  console.error(`starting and loading ${database.product}`);
  const loaded = await DATABASES[database.product](join(data, folder, 'data.csv'), database.copies);
  if ('skip' in loaded) return loaded;
  const end = endingWith(loaded);
  try {
    return await repeat(runs, () => measure(workload, data, loaded.jdbcUrl));
  } finally {
    await end();
  }
}

async function repeat<T>(times: number, act: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let i = 0; i < times; i++) results.push(await act());
  return results;
}

/** Stops the server when the bench is interrupted, and when the answer is called. */
function endingWith({ stop }: LoadedDatabase): () => Promise<void> {
  const interrupt = (): void => void stop().finally(() => process.exit(130));
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, interrupt);
  return () => {
    for (const signal of signals) process.off(signal, interrupt);
    return stop();
  };
}

function rowOf(name: string, measurements: readonly Measurement[], fault: string | undefined): string[] {
  const wall = median(measurements.map(({ wallSeconds }) => wallSeconds));
  const { statements, outputBytes } = measurements[0] as Measurement;
  return [
    name,
    wall.toFixed(2),
    median(measurements.map(({ cpuSeconds }) => cpuSeconds)).toFixed(2),
    (median(measurements.map(({ peakMemoryBytes }) => peakMemoryBytes)) / 2 ** 20).toFixed(0),
    String(statements),
    (statements / 1e6 / wall).toFixed(2),
    (outputBytes / 1e6).toFixed(0),
    fault === undefined ? 'ok' : `WRONG: ${fault}`,
  ];
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

async function generateMissing({ folder }: Pick<Workload, 'folder'>, data: string): Promise<void> {
  if (existsSync(join(data, folder, 'expected.json'))) return;
  console.error(`making ${join(data, folder)}`);
  const { code, err } = await node([join(PROJECT_ROOT, 'test', 'bench', 'generate.mjs'), data, folder], PROJECT_ROOT);
  if (code !== 0) throw new Error(`generate.mjs ended with code ${code}: ${err}`);
}

function machine(): string {
  const [first] = cpus();
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown processor'}, Node ${process.version}, commit ${commit()}`;
}

function commit(): string {
  try {
    const git = (...args: string[]): string =>
      execFileSync('git', args, { cwd: PROJECT_ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return `${git('rev-parse', '--short', 'HEAD').trim()}${git('status', '--porcelain', '--untracked-files=no') === '' ? '' : ' with changes'}`;
  } catch {
    return 'unknown';
  }
}

process.exitCode = await main(process.argv.slice(2));
