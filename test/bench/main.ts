/** `npm run bench`: medians of time and memory over fresh processes, with the number of statements checked; alone, or beside another program. */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { didYouMean } from '../../src/core/nearest.ts';
import { table } from '../conformance/summary.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { DATABASES, type LoadedDatabase } from './databases.ts';
import { benchFunctions, FUNCTIONS_WORKLOAD } from './functions.ts';
import { type Conditions, generateMissing, type Measurement, measure, OUTPUT_KINDS } from './measure.ts';
import { benchAgainst, PLACEHOLDERS } from './pairs/against.ts';
import { check, TOLERANCE } from './pairs/check.ts';
import { median } from './pairs/statistics.ts';
import { profileWorkload } from './profile/profile.ts';
import { benchFleet, FLEET_WORKLOADS } from './service/fleet.ts';
import { benchRuns, RUN_FLEETS } from './service/runs.ts';
import { benchDatasets, DATASETS } from './versions/datasets.ts';
import { benchFollowing, FOLLOWING } from './versions/follow.ts';
import { benchLag, LAG_STORES } from './versions/lag.ts';
import { CHECKED, GROUPS, USUAL, WORKLOADS, type Workload } from './workloads.ts';
import { BENCH_STORES } from './writer/stores.ts';
import { benchWriter } from './writer/writer.ts';

const USAGE = `usage: npm run bench -- [--data DIR] [--runs N] [--output KIND] [--threads N] [--requests N] [WORKLOAD…]
       npm run bench -- --against COMMAND [--sorted] [--runs PAIRS] […] [WORKLOAD…]
       npm run bench -- --check [--keep] [--runs PAIRS] […] [WORKLOAD…]
       npm run bench -- --flame DIRECTORY [--data DIR] WORKLOAD…
workloads: ${Object.keys(WORKLOADS).join(' ')}
several:   ${Object.entries(GROUPS)
  .map(([name, members]) => `${name} (${members.join(' ')})`)
  .join(', ')}
service:   ${[...Object.keys(FLEET_WORKLOADS), ...Object.keys(RUN_FLEETS)].join(' ')}
datasets:  ${Object.keys(DATASETS).join(' ')}
following: ${[...Object.keys(FOLLOWING), ...Object.keys(LAG_STORES)].join(' ')}
writer:    ${Object.keys(BENCH_STORES).join(' ')}
calls:     ${FUNCTIONS_WORKLOAD}

--output   ${OUTPUT_KINDS.join(', ')}: where statements are written to; default file, in TMPDIR
--threads  of each run, by default 1
--against  runs COMMAND in turn with ours; it may name
${Object.entries(PLACEHOLDERS)
  .map(([name, meaning]) => `             ${`{${name}}`.padEnd(17)} ${meaning}`)
  .join('\n')}
--sorted   also compares the sorted bytes of both outputs
--check    compares user time with programs that are written for one workload each, and fails where the ratio is ${Math.round((TOLERANCE - 1) * 100)} % above the kept one;
           default ${CHECKED.join(' ')}
--keep     keeps the ratios that --check measures
--flame    writes a flame graph of each workload into DIRECTORY, and prints the shares of rooms`;

const OPTIONS = {
  data: { type: 'string' },
  runs: { type: 'string' },
  requests: { type: 'string' },
  output: { type: 'string' },
  threads: { type: 'string' },
  against: { type: 'string' },
  sorted: { type: 'boolean' },
  check: { type: 'boolean' },
  keep: { type: 'boolean' },
  flame: { type: 'string' },
} as const;

const parse = (argv: readonly string[]) => parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });

async function main(argv: readonly string[]): Promise<number> {
  const refuse = (reason: string): number => {
    console.error(`${reason}\n${USAGE}`);
    return 2;
  };
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(argv);
  } catch (error) {
    return refuse((error as Error).message);
  }
  const { values, positionals } = parsed;
  const counts = [values.runs ?? '3', values.requests ?? '10000', values.threads ?? '1'].map(Number);
  const [runs, requests, threads] = counts as [number, number, number];
  if (!counts.every((count) => Number.isInteger(count) && count > 0)) return refuse('--runs, --requests and --threads take whole numbers');
  const output = OUTPUT_KINDS.find((kind) => kind === (values.output ?? 'file'));
  if (output === undefined) return refuse(`--output is one of ${OUTPUT_KINDS.join(', ')}`);
  const names = positionals.flatMap((name) => (Object.hasOwn(GROUPS, name) ? (GROUPS[name] as readonly string[]) : [name]));
  const all = [WORKLOADS, FLEET_WORKLOADS, RUN_FLEETS, BENCH_STORES, DATASETS, FOLLOWING, LAG_STORES, { [FUNCTIONS_WORKLOAD]: true }];
  const unknown = names.find((name) => !all.some((table) => Object.hasOwn(table, name)));
  if (unknown !== undefined) {
    return refuse(`no workload ${unknown}; ${didYouMean(unknown, [...all, GROUPS].flatMap(Object.keys)) ?? ''}`);
  }
  const data = values.data === undefined ? join(PROJECT_ROOT, 'bench-data') : resolve(values.data);
  const conditions: Conditions = { data, output, threads: values.threads === undefined ? undefined : threads };
  const isPlain = (name: string): boolean => Object.hasOwn(WORKLOADS, name) && WORKLOADS[name]?.database === undefined;
  if (values.flame !== undefined) {
    const unfit = names.find((name) => !isPlain(name));
    if (names.length === 0 || unfit !== undefined)
      return refuse(`--flame takes workloads of files${unfit === undefined ? '' : `, not ${unfit}`}`);
    for (const name of names) {
      const workload = WORKLOADS[name] as Workload;
      await generateMissing(workload.folder, data);
      await profileWorkload(name, workload, data, values.flame);
    }
    return 0;
  }
  if (values.check || values.against !== undefined) {
    const chosen = names.length > 0 ? names : values.check ? CHECKED : USUAL.filter(isPlain);
    const unfit = chosen.find((name) => !isPlain(name) || (values.check && WORKLOADS[name]?.bound === undefined));
    if (unfit !== undefined) return refuse(`${unfit} has nothing that it can be compared with`);
    console.log(machine());
    if (values.check) {
      // To nowhere, if nothing is said: a disk adds nothing to user time but noise.
      const where = values.output === undefined ? ({ ...conditions, output: 'null' } as const) : conditions;
      return (await check(chosen, where, runs, values.keep ?? false)) ? 0 : 1;
    }
    let good = true;
    for (const name of chosen) {
      const workload = WORKLOADS[name] as Workload;
      await generateMissing(workload.folder, data);
      const options = { command: values.against as string, pairs: runs, compareSorted: values.sorted ?? false };
      if (!(await benchAgainst(name, workload, conditions, options))) good = false;
    }
    return good ? 0 : 1;
  }
  return benchAlone(names, conditions, runs, requests);
}

/** Workloads in a table, then what has separate tables. */
async function benchAlone(names: readonly string[], conditions: Conditions, runs: number, requests: number): Promise<number> {
  const { data } = conditions;
  const fleets = names.filter((name) => Object.hasOwn(FLEET_WORKLOADS, name));
  const tiny = names.filter((name) => Object.hasOwn(RUN_FLEETS, name)) as (keyof typeof RUN_FLEETS)[];
  const stores = names.filter((name) => Object.hasOwn(BENCH_STORES, name));
  console.log(machine());
  const rows: string[][] = [];
  let wrong = 0;
  for (const name of names.length > 0 ? names.filter((one) => Object.hasOwn(WORKLOADS, one)) : USUAL) {
    const workload = WORKLOADS[name] as Workload;
    await generateMissing(workload.folder, data);
    const measurements = await measureRepeatedly(workload, conditions, runs);
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
  for (const name of fleets) if (!(await benchFleet(name, data, runs))) wrong++;
  for (const name of tiny) for (let i = 0; i < runs; i++) if (!(await benchRuns(name, requests))) wrong++;
  for (const name of names.filter((one): one is keyof typeof DATASETS => Object.hasOwn(DATASETS, one))) {
    await generateMissing(DATASETS[name], data);
    if (!(await benchDatasets(name, data))) wrong++;
  }
  const following = names.filter((name) => Object.hasOwn(FOLLOWING, name));
  if (following.length > 0 && !benchFollowing(following)) wrong++;
  const lagging = names.filter((name) => Object.hasOwn(LAG_STORES, name));
  if (lagging.length > 0 && !benchLag(lagging)) wrong++;
  if (names.includes(FUNCTIONS_WORKLOAD)) {
    await generateMissing('flat-100k', data);
    if (!(await benchFunctions(data))) wrong++;
  }
  if (stores.length > 0 && !(await benchWriter(stores, data, runs))) wrong++;
  return wrong > 0 ? 1 : 0;
}

const COLUMNS = ['workload', 'wall s', 'user s', 'system s', 'peak MB', 'statements', 'M/s', 'output MB', 'check'];

async function measureRepeatedly(
  workload: Workload,
  conditions: Conditions,
  runs: number,
): Promise<Measurement[] | { readonly skip: string }> {
  const { database, folder } = workload;
  if (database === undefined) return repeat(runs, () => measure(workload, conditions));
  console.error(`starting and loading ${database.product}`);
  const loaded = await DATABASES[database.product](join(conditions.data, folder, 'data.csv'), database.copies);
  if ('skip' in loaded) return loaded;
  const end = endingWith(loaded);
  try {
    return await repeat(runs, () => measure(workload, conditions, loaded.jdbcUrl));
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
    median(measurements.map(({ userSeconds }) => userSeconds)).toFixed(2),
    median(measurements.map(({ systemSeconds }) => systemSeconds)).toFixed(2),
    (median(measurements.map(({ peakMemoryBytes }) => peakMemoryBytes)) / 2 ** 20).toFixed(0),
    String(statements),
    (statements / 1e6 / wall).toFixed(2),
    outputBytes === undefined ? '–' : (outputBytes / 1e6).toFixed(0),
    fault === undefined ? 'ok' : `WRONG: ${fault}`,
  ];
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
