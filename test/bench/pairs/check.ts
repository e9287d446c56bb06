/**
 * `npm run bench -- --check`: whether the engine has become slower. Each workload runs in turn with a program written for it alone (`bounds`), and the
 * ratio of their user times is compared with the one that is kept in `ratios.json`, by major version of Node. Machines differ, and are busy:
 * a ratio of two processes that run one after the other, over several pairs, differs little.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { table } from '../../conformance/summary.ts';
import { built, PROJECT_ROOT } from '../../support/project-root.ts';
import { type Conditions, examine, generateMissing, node, runArguments, timedNode, withOutput } from '../measure.ts';
import { WORKLOADS, type Workload } from '../workloads.ts';
import { differingLine } from './sorted.ts';
import { median, ratios, spread } from './statistics.ts';

/** Beyond this, the engine has become slower. */
export const TOLERANCE = 1.1;
/** So many times as many pairs more, each time, before it is said so: a busy machine scatters pairs, and the median of many settles. */
const MORE_PAIRS = 3;
const MORE_TRIES = 2;

const KEPT = join(PROJECT_ROOT, 'test', 'bench', 'pairs', 'ratios.json');
type Ratios = Readonly<Record<string, Readonly<Record<string, number>>>>;

export type Verdict = 'ok' | 'slower' | 'not kept';

/** @param kept undefined where no ratio is kept */
export function verdictOf(measured: readonly number[], kept: number | undefined): Verdict {
  if (kept === undefined) return 'not kept';
  return median(measured) <= kept * TOLERANCE ? 'ok' : 'slower';
}

/** Measures and prints; false when something is wrong or slower. With `keep`, the measured ratios become the kept ones. */
export async function check(names: readonly string[], conditions: Conditions, pairs: number, keep: boolean): Promise<boolean> {
  const version = `node ${process.versions.node.split('.')[0]}`;
  const all = JSON.parse(readFileSync(KEPT, 'utf8')) as Ratios;
  const kept = all[version] ?? {};
  const rows: string[][] = [];
  const fresh: Record<string, number> = { ...kept };
  let good = true;
  for (const name of names) {
    const workload = WORKLOADS[name] as Workload;
    const wrong = await wrongOutput(workload, conditions);
    const measured = await measurePairs(workload, conditions, pairs);
    for (let i = 0; i < MORE_TRIES && verdictOf(measured, kept[name]) === 'slower' && !keep; i++) {
      console.error(`${name}: ${spread(measured)} instead of ${kept[name]}; once more`);
      measured.push(...(await measurePairs(workload, conditions, pairs * MORE_PAIRS)));
    }
    const verdict = verdictOf(measured, kept[name]);
    fresh[name] = Number(median(measured).toFixed(2));
    if (wrong !== undefined || (verdict === 'slower' && !keep)) good = false;
    rows.push([name, spread(measured), kept[name]?.toFixed(2) ?? '–', wrong === undefined ? verdict : `WRONG: ${wrong}`]);
  }
  console.log(`\n${table([['workload', 'user time / bound', `kept, ${version}`, 'check'], ...rows])}`);
  if (keep && good) writeFileSync(KEPT, `${JSON.stringify({ ...all, [version]: fresh }, null, 2)}\n`);
  return good;
}

/** Why the output is not what it must be: as many statements as expected, and the oracle's or, where there is none, those of the bound. */
async function wrongOutput(workload: Workload, conditions: Conditions): Promise<string | undefined> {
  const { data, threads } = conditions;
  await generateMissing(workload.folder, data);
  const folder = join(data, workload.folder);
  return withOutput('file', async (ours) => {
    const { quads } = await timedNode('quadmill', runArguments(workload, threads, ours), folder);
    const { wrong } = await examine(workload, data, ours, quads);
    if (wrong !== undefined) return wrong;
    const other = `${ours}.other.nq`;
    if (workload.oracle) await oracle(folder, workload.mapping, other);
    else if (workload.bound?.folder === undefined) await bound(workload, data, other);
    else return undefined;
    return differingLine(ours, other);
  });
}

async function oracle(folder: string, mapping: string, output: string): Promise<void> {
  const program = join(PROJECT_ROOT, 'test', 'bench', 'oracle.mjs');
  const { code, err } = await node([program, folder, mapping.replace(/\.ttl$/, '.legacy.ttl'), '--output', output], folder);
  if (code !== 0) throw new Error(`oracle.mjs ended with code ${code}: ${err}`);
}

function bound({ bound: given, folder }: Workload, data: string, output: string) {
  if (given === undefined) throw new Error(`${folder} has no bound`);
  const program = built(`test/bench/bounds/${given.program}.js`).pathname;
  return timedNode(given.program, [program, join(data, given.folder ?? folder), output], PROJECT_ROOT);
}

/** The ratios of user times, pair by pair. */
async function measurePairs(workload: Workload, { data, output, threads }: Conditions, pairs: number): Promise<number[]> {
  await generateMissing(workload.bound?.folder ?? workload.folder, data);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let i = 0; i < pairs; i++) {
    const args = (path: string): string[] => runArguments(workload, threads, path);
    const one = await withOutput(output, (path) => timedNode('quadmill', args(path), join(data, workload.folder)));
    const other = await withOutput(output, (path) => bound(workload, data, path));
    ours.push(one.userSeconds);
    theirs.push(other.userSeconds);
  }
  return ratios(ours, theirs);
}
