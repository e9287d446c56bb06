/** `npm run chaos`: seeded faults during a load of runs. Exit code 1 if anything was lost, duplicated or left behind. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { missingRedis } from '../servers/queues/redis.ts';
import { type ChaosReport, runChaos } from './chaos.ts';
import { FAULTS, type FaultName } from './faults.ts';
import { enterNamespace } from './fleet/disk.ts';
import type { Recovery } from './judge/recovery.ts';
import { PRESETS, type Preset, type PresetName } from './presets.ts';

const USAGE = `usage: npm run chaos -- [--seed N] [--seconds S] [--preset NAME] [--keep]
presets: ${Object.entries(PRESETS)
  .map(([name, { summary, seconds }]) => `${name} (${summary}; ${seconds} s)`)
  .join(', ')}
--keep leaves logs, ledger and data where they are; so does a run that finds something wrong`;

const SHOWN_VIOLATIONS = 20;
const SHOWN_LOG_LINES = 15;

async function main(): Promise<number> {
  let values: { seed?: string; seconds?: string; preset?: string; keep?: boolean };
  try {
    const text = { type: 'string' } as const;
    ({ values } = parseArgs({ options: { seed: text, seconds: text, preset: text, keep: { type: 'boolean' } } }));
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    return 2;
  }
  const name = values.preset ?? 'mixed';
  const preset: Preset | undefined = Object.hasOwn(PRESETS, name) ? PRESETS[name as PresetName] : undefined;
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  const seconds = Number(values.seconds ?? preset?.seconds);
  if (preset === undefined || !Number.isInteger(seed) || !(seconds >= 1)) {
    console.error(preset === undefined ? `there is no preset ${name}` : '--seed takes a whole number, --seconds at least 1');
    console.error(USAGE);
    return 2;
  }
  if (missingRedis !== undefined) {
    console.error(missingRedis);
    return 2;
  }
  const code = await enterNamespace();
  if (code !== undefined) return code;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(130));

  const again = `npm run chaos -- --preset ${name} --seed ${seed} --seconds ${seconds}`;
  console.log(again);
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-chaos-'));
  const report = await runChaos(directory, preset, seed, seconds);
  console.log(`\n${'brokenOff' in report ? 'The harness broke off; what it had found until then:' : summary(report)}`);
  const wrong = report.violations.length > 0;
  if (wrong) {
    console.error(`\n${report.violations.slice(0, SHOWN_VIOLATIONS).join('\n')}`);
    await showLogs(directory, report.violations.join('\n'));
    console.error(
      `\n${report.violations.length} violations; see ${directory}, and the ledger ${join(directory, 'ledger.ndjson')}; again: ${again}`,
    );
  } else if (values.keep) console.log(`\nkept in ${directory}`);
  if (wrong || values.keep) keepData(directory);
  else await remove(directory);
  return wrong ? 1 : 0;
}

function summary(report: ChaosReport): string {
  const { faults, skipped, missing, runs, shared, messages, totals, repeated, recoveries, waits, returns, settledMs } = report;
  const rows = Object.entries(faults).map(([fault, count]) => line(String(count), fault, FAULTS[fault as FaultName].summary));
  const total = runs.completed + runs.failed + runs.cancelled;
  return [
    line('times', 'fault', ''),
    ...rows,
    ...Object.entries(skipped).map(([fault, reason]) => line('-', fault, `skipped: ${reason}`)),
    '',
    `${total} runs ended: ${runs.completed} completed, ${runs.failed} failed as they must, ${runs.cancelled} cancelled`,
    `${shared} runs were cut into slices`,
    `${messages.runs} runs came as messages, and ${messages.poison} messages were none`,
    ...missing.map((reason) => `not there: ${reason}`),
    `${repeated} requests were sent again by their clients`,
    `${totals.counted} outcomes are in the counters, ${totals.unseen} went with killed workers, ${totals.again} were announced again`,
    `from the death of a worker to the next start of its run or slice: ${spread(recoveries.map(({ span }) => span.to - span.from))}`,
    `  while a worker could see to it: ${spread(recoveries.map(({ clockMs }) => clockMs))}; ${nearest(recoveries)}`,
    `the longest wait of a run for its turn: ${seconds(waits.longestMs)}; with a free place: ${seconds(waits.longestIdleMs)}${waits.idlePlaces}; most starts of one: ${waits.mostStarts}`,
    `from the return of Redis to a ready API: ${spread(returns)}`,
    `from the last fault to the last outcome: ${seconds(settledMs)}`,
  ].join('\n');
}

const line = (times: string, fault: string, says: string): string => `${times.padStart(5)}  ${fault.padEnd(12)}  ${says}`.trimEnd();
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;

function spread(times: readonly number[]): string {
  if (times.length === 0) return 'none was seen';
  const sorted = [...times].sort((a, b) => a - b);
  return `median ${seconds(sorted[sorted.length >> 1] as number)}, longest ${seconds(sorted.at(-1) as number)}, of ${times.length}`;
}

/** How close the worst recovery came to its limit, which depends on the load of the machine. */
function nearest(recoveries: readonly Recovery[]): string {
  const [worst] = [...recoveries].sort((a, b) => b.clockMs - b.limitMs - (a.clockMs - a.limitMs));
  return worst === undefined ? 'no limit' : `nearest to its limit ${seconds(worst.clockMs)} of ${seconds(worst.limitMs)}`;
}

/** Prints log lines of the named runs, else the last lines. */
async function showLogs(directory: string, text: string): Promise<void> {
  const ids = [...new Set(text.match(/\bk[0-9a-f]{40}\b/g) ?? [])].slice(0, 3);
  const logs = join(directory, 'logs');
  const files = await readdir(logs);
  const read = (command: string, args: readonly string[]): string => spawnSync(command, args, { cwd: logs, encoding: 'utf8' }).stdout;
  for (const id of ids) console.error(`\nlog lines of ${id}:\n${read('grep', ['-H', id, ...files])}`);
  if (ids.length === 0) console.error(read('tail', ['-n', String(SHOWN_LOG_LINES), ...files]));
}

/** The disk disappears with this process, so its files are copied. */
const keepData = (directory: string): void => void spawnSync('cp', ['-a', join(directory, 'data'), join(directory, 'data-kept')]);

async function remove(directory: string): Promise<void> {
  spawnSync('umount', [join(directory, 'data')]);
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}

const code = await main().catch((error: unknown) => {
  console.error(error);
  return 1;
});
process.exit(code);
