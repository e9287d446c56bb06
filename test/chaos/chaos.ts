/** One chaos run: a load, faults over it, rest, and the verdict. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from './client.ts';
import { FAULTS, type FaultKind, type FaultName } from './faults.ts';
import { type EndState, Ledger } from './ledger.ts';
import { type LoadPlan, planLoad } from './load.ts';
import { Random } from './random.ts';
import { judge } from './verdict.ts';
import { buildWorld, STOP_LIMIT_MS, untilReady, type World } from './world.ts';

export interface Preset {
  readonly summary: string;
  readonly workers: number;
  readonly seconds: number;
  /** Time between two faults, in milliseconds. */
  readonly gapMs: readonly [number, number];
  readonly faults: readonly FaultName[];
  /** A run whose worker dies must have begun again so soon; undefined: other faults may keep it from that. */
  readonly recoveryMs?: number;
  load(seconds: number): LoadPlan;
}

/** `/runs` lists a thousand at most. */
const MOST_RUNS = 900;

export const PRESETS = {
  mixed: {
    summary: 'every fault, over inputs good and bad',
    workers: 3,
    seconds: 60,
    gapMs: [200, 2_000],
    faults: Object.keys(FAULTS) as FaultName[],
    load: (seconds) => ({
      runs: Math.min(MOST_RUNS, Math.round(seconds * 5)),
      overMs: seconds * 950,
      kinds: { small: 55, slow: 25, large: 2, missing: 4, type: 4, malformed: 6 },
      pauseMs: [0, 2_500],
      twice: 0.2,
      cancelled: 0.08,
    }),
  },
  kills: {
    summary: '200 files, a worker killed every 700 ms',
    workers: 3,
    seconds: 20,
    gapMs: [700, 700],
    faults: ['kill-worker'],
    // LOCK_SECONDS and two checks, 4 s; the rest is for machines that take long to start three processes.
    recoveryMs: 30_000,
    load: (seconds) => ({
      runs: 200,
      overMs: seconds * 900,
      kinds: { small: 60, slow: 35, large: 2 },
      pauseMs: [100, 1_000],
      twice: 0,
      cancelled: 0,
    }),
  },
} as const satisfies Readonly<Record<string, Preset>>;
export type PresetName = keyof typeof PRESETS;

export interface ChaosReport {
  readonly violations: readonly string[];
  readonly faults: Readonly<Partial<Record<FaultName, number>>>;
  readonly skipped: Readonly<Partial<Record<FaultName, string>>>;
  readonly runs: Readonly<Record<EndState, number>>;
  /** Requests that clients sent again. */
  readonly repeated: number;
  /** Milliseconds from the death of a worker to the next start of a run that it had. */
  readonly recoveries: readonly number[];
  /** Milliseconds from the return of Redis to a ready API. */
  readonly returns: readonly number[];
  readonly settledMs: number;
}

/** Everything that was started must have ended so long after the last fault; on an idle machine it takes seconds. */
const SETTLE_LIMIT_MS = 120_000;
const SENT_AGAIN = 20;

export async function runChaos(directory: string, preset: Preset, seed: number, seconds: number): Promise<ChaosReport> {
  const random = new Random(seed);
  const runs = planLoad(preset.load(seconds), new Random(random.between(0, 2 ** 31)));
  const ledger = new Ledger(join(directory, 'ledger.ndjson'), runs);
  const world = await buildWorld(directory, runs, preset.workers, ledger);
  const late = new AbortController();
  try {
    const client = new Client(world, ledger, late.signal);
    const driving = Promise.all(runs.map(async (run) => sleep(run.atMs).then(() => client.drive(run))));
    const { faults, skipped } = await injectFaults(world, preset, random, seconds * 1_000, ledger);

    const calm = Date.now();
    const limit = setTimeout(() => late.abort(), SETTLE_LIMIT_MS);
    await driving;
    const settledMs = Date.now() - calm;
    if (!(await untilReady(world.url, 20_000))) ledger.violation(undefined, 'the API is not ready again');
    // Whoever asks once more, long after, hears of the same run and the same outcome.
    for (const run of random.shuffle(runs).slice(0, SENT_AGAIN)) {
      await client.process(run, 'wait', 'again');
      await client.contradict(run);
    }
    for (const run of runs) {
      const id = ledger.idOf(run.key);
      if (id !== undefined) await client.look(run, id, 'last');
    }
    clearTimeout(limit);
    await judge(world, runs, ledger);
    await Promise.all([world.api, ...world.workers].map((one) => one.stop(STOP_LIMIT_MS)));
    for (const complaint of await readComplaints(world)) ledger.violation(undefined, complaint);
    const recoveries = await readRecoveries(world);
    const longest = Math.max(0, ...recoveries);
    if (longest > (preset.recoveryMs ?? Number.POSITIVE_INFINITY)) {
      ledger.violation(undefined, `a run whose worker was killed began again after ${longest} ms`);
    }
    return {
      violations: ledger.violations,
      faults,
      skipped,
      runs: ledger.counts(),
      repeated: ledger.repeated,
      recoveries,
      returns: world.returns,
      settledMs,
    };
  } finally {
    late.abort();
    await world.close();
  }
}

/** Injects until the time is over; resolves when the last fault is undone. */
async function injectFaults(
  world: World,
  { faults, gapMs }: Preset,
  random: Random,
  overMs: number,
  ledger: Ledger,
): Promise<Pick<ChaosReport, 'faults' | 'skipped'>> {
  const rows: Readonly<Record<FaultName, FaultKind>> = FAULTS;
  const counts: Partial<Record<FaultName, number>> = {};
  const skipped: Partial<Record<FaultName, string>> = {};
  const weights: Partial<Record<FaultName, number>> = {};
  for (const name of faults) {
    const reason = rows[name].missing?.(world);
    if (reason === undefined) weights[name] = rows[name].weight;
    else skipped[name] = reason;
  }
  // Each comes once before any comes again.
  const first = random.shuffle(Object.keys(weights) as FaultName[]);
  const underWay: Promise<void>[] = [];
  const deadline = Date.now() + overMs;
  for (;;) {
    await sleep(random.between(...gapMs));
    if (Date.now() > deadline) break;
    const name = first.shift() ?? random.weighted(weights);
    const own = new Random(random.between(0, 2 ** 31));
    underWay.push(
      rows[name].inject(world, own).then(
        (done) => {
          if (done) counts[name] = (counts[name] ?? 0) + 1;
        },
        (error: Error) => ledger.violation(undefined, `${name}: ${error.message}`),
      ),
    );
  }
  await Promise.all(underWay);
  return { faults: counts, skipped };
}

/** What processes that had been ready wrote beside their log: warnings of Node, rejections that nobody handled. */
async function readComplaints({ api, workers }: World): Promise<readonly string[]> {
  const complaints: string[] = [];
  for (const { log } of [api, ...workers].flatMap(({ lives }) => lives)) {
    const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '');
    if (!lines.some((line) => line.includes('"msg":"listening"') || line.includes('"msg":"workers started"'))) continue;
    for (const line of lines) if (!line.startsWith('{')) complaints.push(`${log}: ${line}`);
  }
  return complaints;
}

/** From the logs: whose worker was killed, and when another one began the run again. */
async function readRecoveries({ workers }: World): Promise<readonly number[]> {
  const starts = new Map<string, { readonly at: number; killedAt: number | undefined }[]>();
  for (const { log, killedAt } of workers.flatMap(({ lives }) => lives)) {
    for (const line of (await readFile(log, 'utf8')).split('\n')) {
      if (!/"msg":"run (started|retried|lost|went back to the queue)"/.test(line) || !line.endsWith('}')) continue;
      const { run, time, msg } = JSON.parse(line) as { readonly run: string; readonly time: string; readonly msg: string };
      const all = starts.get(run) ?? [];
      const last = all.at(-1);
      if (msg === 'run started') all.push({ at: Date.parse(time), killedAt });
      // That start ended before its worker did; the run waits for its next attempt.
      else if (last !== undefined) last.killedAt = undefined;
      starts.set(run, all);
    }
  }
  return [...starts.values()].flatMap((all) => {
    all.sort((a, b) => a.at - b.at);
    return all.flatMap(({ killedAt }, i) => {
      const next = all[i + 1];
      return killedAt === undefined || next === undefined || next.at < killedAt ? [] : [next.at - killedAt];
    });
  });
}
