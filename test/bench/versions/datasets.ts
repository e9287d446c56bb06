/** What versions of a dataset cost beside a plain run over the same rows: the first one, unchanged inputs, and shares of the rows changed. */
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { table } from '../../conformance/summary.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { runArguments, type Times, timedNode } from '../measure.ts';
import { WORKLOADS, type Workload } from '../workloads.ts';

/** By name: the workload whose rows change. */
export const DATASETS = { 'dataset-flat-1m': 'flat-1m', 'dataset-flat-10m': 'flat-10m' } as const;

const SHARES = [0, 0.0001, 0.001, 0.01, 0.1];
const COLUMNS = ['version', 'wall s', 'cpu s', 'of a plain run', 'peak MB', 'added', 'removed', 'way'];

/** Of a run that reads nothing there are no times but the whole one. */
interface VersionTimes extends Partial<Omit<Times, 'wallSeconds'>>, Pick<Times, 'wallSeconds'> {
  readonly added: number;
  readonly removed: number;
  readonly changesBy?: string;
}

/** @returns whether every version has what was changed */
export async function benchDatasets(name: keyof typeof DATASETS, data: string): Promise<boolean> {
  const workload = WORKLOADS[DATASETS[name]] as Workload;
  const folder = await mkdtemp(join(tmpdir(), 'quadmill-bench-'));
  const input = join(folder, 'data.csv');
  try {
    for (const file of ['data.csv', workload.mapping]) await copyFile(join(data, workload.folder, file), join(folder, file));
    const plain = await timedNode('quadmill', runArguments(workload, undefined, '/dev/null'), folder);
    const rows = [['none: a plain run', ...timesOf(plain, cpuOf(plain)), '', '', '']];
    let isRight = true;
    const version = async (what: string, into: string, changed: number | undefined, ...options: readonly string[]): Promise<void> => {
      const made = await makeVersion(workload, join(folder, into), folder, options);
      rows.push([what, ...timesOf(made, cpuOf(plain)), String(made.added), String(made.removed), made.changesBy ?? 'nothing read']);
      console.error(rows.at(-1)?.join('  '));
      if (changed !== undefined && (made.added !== changed || made.removed !== changed)) isRight = false;
    };
    await version('1', 'kept', undefined);
    const state = (await bytesIn(join(folder, 'kept', 'state'))) / (await stat(input)).size;
    await version('unchanged file', 'kept', 0);
    for (const share of SHARES) await version(`${share * 100} % of the rows`, 'kept', await edit(input, share));
    await version('1, by output', 'compared', undefined, '--changes-by', 'output');
    await version('0.1 %, by output', 'compared', await edit(input, 0.001), '--changes-by', 'output');
    console.log(`\n${name}\n${table([COLUMNS, ...rows])}\nstate by record: ${state.toFixed(2)} of the input`);
    return isRight;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Changes the score of every so-manieth row. @returns how many rows */
async function edit(path: string, share: number): Promise<number> {
  const every = share === 0 ? Number.POSITIVE_INFINITY : Math.round(1 / share);
  let changed = 0;
  async function* edited(): AsyncGenerator<string> {
    let number = 0;
    let text = '';
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
      const isChanged = number > 0 && number % every === 0;
      if (isChanged) changed++;
      number++;
      // A score that no row has yet: the same edit again changes it again.
      text += `${isChanged ? line.replace(/,(\d+)\.(\d\d),/, (_, whole: string, part: string) => `,${Number(whole) + 1000}.${part},`) : line}\n`;
      if (text.length < 1 << 20) continue;
      yield text;
      text = '';
    }
    yield text;
  }
  await pipeline(edited, createWriteStream(`${path}.new`));
  await rename(`${path}.new`, path);
  // Older than what counts as changed just now.
  const past = new Date(Date.now() - 60_000 - changed);
  await utimes(path, past, past);
  return changed;
}

async function makeVersion(workload: Workload, dataset: string, cwd: string, options: readonly string[]): Promise<VersionTimes> {
  const quadmill = join(PROJECT_ROOT, 'bin', 'quadmill.js');
  const args = [quadmill, 'run', workload.mapping, '--threads', '1', '--dataset', dataset, '--stats', ...options];
  return (await timedNode('quadmill', args, cwd)) as unknown as VersionTimes;
}

const cpuOf = ({ userSeconds = Number.NaN, systemSeconds = Number.NaN }: Partial<Omit<Times, 'wallSeconds'>>): number =>
  userSeconds + systemSeconds;

const timesOf = (times: Partial<Omit<Times, 'wallSeconds'>> & Pick<Times, 'wallSeconds'>, plain: number): string[] => [
  times.wallSeconds.toFixed(2),
  ...[cpuOf(times), cpuOf(times) / plain].map((number) => (Number.isNaN(number) ? '–' : number.toFixed(2))),
  times.peakMemoryBytes === undefined ? '–' : (times.peakMemoryBytes / 2 ** 20).toFixed(0),
];

async function bytesIn(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  return bytes;
}
