/** One chaos run: a load, faults during it, settling, and the verdict. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withLimit } from '../../src/core/abort.ts';
import { Random } from '../support/random.ts';
import { FAULTS, type FaultKind, type FaultName } from './faults.ts';
import type { TopicContents } from './fleet/messages.ts';
import { buildWorld, STOP_LIMIT_MS, startServers, untilReady, type World } from './fleet/world.ts';
import { judgeCounters, judgeGauges, type Totals } from './judge/counters.ts';
import { Latencies } from './judge/delays.ts';
import { type EndState, GroundTruth } from './judge/ground-truth.ts';
import { readLogs } from './judge/logs.ts';
import { type Arrival, arrivalsOf, judgeMessages } from './judge/messages.ts';
import { judgeReach } from './judge/reach.ts';
import { LOAD_SERVICES, type Recovery, readRecords } from './judge/recovery.ts';
import { judge, waitUntilIdle } from './judge/verdict.ts';
import { judgeWaits, type Waits } from './judge/waits.ts';
import { Client } from './load/client.ts';
import { type PlannedRun, planLoad } from './load/load.ts';
import type { Preset } from './presets.ts';

export interface ChaosReport {
  readonly violations: readonly string[];
  readonly faults: Readonly<Partial<Record<FaultName, number>>>;
  readonly skipped: Readonly<Partial<Record<FaultName, string>>>;
  /** Why Kafka or the database is missing, if the preset needs it. */
  readonly missing: readonly string[];
  readonly runs: Readonly<Record<EndState, number>>;
  /** Runs that were cut into slices. */
  readonly shared: number;
  /** Source messages: requests, and poison messages. */
  readonly messages: { readonly runs: number; readonly poison: number };
  readonly totals: Totals;
  /** Requests that clients repeated. */
  readonly repeated: number;
  readonly recoveries: readonly Recovery[];
  readonly waits: Waits;
  /** Milliseconds from the return of Redis to a ready API. */
  readonly returns: readonly number[];
  readonly settledMs: number;
}

/** All runs must have ended this long after the last fault; on an idle machine it takes seconds. */
const SETTLE_LIMIT_MS = 200_000;
const SENT_AGAIN = 20;
const READ_LIMIT_MS = 60_000;
/** How often workers are asked for their metrics. */
const ASK_MS = 1_000;

/** The result when the harness itself fails: the remaining checks were not made. */
export interface HarnessFailure {
  readonly violations: readonly string[];
  readonly brokenOff: true;
}

/** @throws when the servers cannot be started */
export async function runChaos(directory: string, preset: Preset, seed: number, seconds: number): Promise<ChaosReport | HarnessFailure> {
  const random = new Random(seed);
  const servers = await startServers(directory, preset);
  try {
    const has = { kafka: typeof servers.kafka !== 'string', database: typeof servers.database !== 'string' };
    const planned = planLoad(preset.load(seconds), new Random(random.between(0, 2 ** 31)), has);
    const ledger = new GroundTruth(join(directory, 'ledger.ndjson'), planned);
    const world = await buildWorld(directory, servers, planned, preset.workers, ledger);
    const delays = new Latencies(world);
    try {
      const ended = await breakWorld(world, preset, planned, random, seconds, ledger);
      const wanted = [...(preset.kafka ? [servers.kafka] : []), ...(preset.database ? [servers.database] : [])];
      return { ...(await judgeWorld(world, ended, delays, ledger)), missing: wanted.filter((one) => typeof one === 'string') };
    } catch (error) {
      ledger.violation(undefined, `the harness broke off: ${error instanceof Error ? error.stack : error}`);
      return { violations: ledger.violations, brokenOff: true };
    } finally {
      delays.close();
      await world.close();
    }
  } finally {
    await servers.close();
  }
}

/** The input of the verdict, after the clients have received all outcomes. */
interface Ended extends Pick<ChaosReport, 'faults' | 'skipped' | 'settledMs'> {
  /** All runs: those requested by clients, and those of messages. */
  readonly runs: readonly PlannedRun[];
  readonly arrivals: readonly Arrival[];
  /** Undefined: no topics. */
  readonly seen: TopicContents | undefined;
}

/** Runs load and faults, and waits until everything has settled. */
async function breakWorld(
  world: World,
  preset: Preset,
  planned: readonly PlannedRun[],
  random: Random,
  seconds: number,
  ledger: GroundTruth,
): Promise<Ended> {
  const late = new AbortController();
  const client = new Client(world, ledger, late.signal);
  const driving = Promise.all(planned.map(async (run) => sleep(run.atMs).then(() => client.drive(run))));
  // A killed process can barely be asked beforehand.
  const asking = setInterval(() => {
    for (const worker of world.workers) if (worker.isUp) void worker.scrape(ASK_MS);
  }, ASK_MS);
  const injected = await injectFaults(world, preset, random, seconds * 1_000, ledger).finally(() => clearInterval(asking));
  const calm = Date.now();
  const limit = setTimeout(() => late.abort(), SETTLE_LIMIT_MS);
  try {
    await driving;
    const settled = await settle(world, planned, client, ledger, late.signal);
    const settledMs = Date.now() - calm;
    await askAgain(settled.runs, client, random, ledger);
    return { ...injected, ...settled, settledMs };
  } finally {
    clearTimeout(limit);
    late.abort();
  }
}

/** Checks all invariants; violations are recorded in the ground truth. Stops the fleet. */
async function judgeWorld(world: World, ended: Ended, delays: Latencies, ledger: GroundTruth): Promise<Omit<ChaosReport, 'missing'>> {
  const { runs, arrivals, seen, faults, skipped, settledMs } = ended;
  const fleet = [world.api, ...world.workers];
  await judge(world, runs, ledger);
  if (seen !== undefined) judgeMessages(seen, arrivals, runs, world, ledger);
  await judgeGauges(world, ledger.counts().completed, ledger);
  delays.close();
  await Promise.all(fleet.map((one) => one.stop(STOP_LIMIT_MS)));
  const logs = await readLogs(fleet);
  for (const complaint of logs.flatMap((log) => log.errors)) ledger.violation(undefined, complaint);
  const totals = judgeCounters(world, logs, runs, seen, delays, ledger);
  const { events, recoveries, free } = await readRecords(world, logs, delays);
  judgeReach(world, logs, LOAD_SERVICES, ledger);
  const waits = judgeWaits(events, free, delays, ledger);
  for (const { job, span, clockMs, limitMs } of recoveries) {
    if (clockMs <= limitMs) continue;
    const at = new Date(span.from).toISOString();
    ledger.violation(
      undefined,
      `${job}, whose worker was killed at ${at}, waited ${Math.round(clockMs)} ms for another one; ${Math.round(limitMs)} are allowed`,
    );
  }
  const poison = arrivals.filter(({ run }) => run === undefined).length;
  return {
    violations: ledger.violations,
    faults,
    skipped,
    runs: ledger.counts(),
    shared: new Set(logs.flatMap(({ lines }) => lines.flatMap(({ msg, run }) => (msg === 'run sliced' ? [run] : [])))).size,
    messages: { runs: arrivals.length - poison, poison },
    totals,
    repeated: ledger.repeated,
    recoveries,
    waits,
    returns: world.returns,
    settledMs,
  };
}

/** Waits until all messages are handled and nothing is active any more; then asks for the outcome of every message's run. */
async function settle(
  world: World,
  planned: readonly PlannedRun[],
  client: Client,
  ledger: GroundTruth,
  late: AbortSignal,
): Promise<Pick<Ended, 'runs' | 'arrivals' | 'seen'>> {
  const asked = planned.filter(({ message }) => !message);
  const { kafka } = world;
  if (typeof kafka !== 'string' && !(await kafka.untilTaken(late))) ledger.violation(undefined, 'not all source messages were taken');
  for (const what of await waitUntilIdle(world)) ledger.violation(undefined, what);
  if (!(await untilReady(world.url, 20_000))) ledger.violation(undefined, 'the API is not ready again');
  if (typeof kafka === 'string') return { runs: asked, arrivals: [], seen: undefined };
  // Also after the limit: the contents of the topics explain why.
  const seen = await withLimit(READ_LIMIT_MS, (signal) => kafka.read(signal));
  const arrivals = arrivalsOf(seen.source, planned, ledger);
  const runs = [...asked];
  for (const { run, plan, runId } of arrivals) {
    if (run === undefined) {
      await client.denied(plan, runId);
      continue;
    }
    runs.push(run);
    ledger.add(run);
    await client.look(run, runId, 'message');
  }
  return { runs, arrivals, seen };
}

/** A request repeated long after must give the same run and the same outcome. */
async function askAgain(runs: readonly PlannedRun[], client: Client, random: Random, ledger: GroundTruth): Promise<void> {
  const asked = runs.filter(({ message }) => !message);
  for (const run of random.shuffle(asked).slice(0, SENT_AGAIN)) {
    await client.process(run, 'wait', 'again');
    await client.contradict(run);
  }
  for (const run of asked) {
    const id = ledger.idOf(run.key);
    if (id !== undefined) await client.look(run, id, 'last');
  }
}

/** Injects faults until the time is over; resolves when the last fault is undone. */
async function injectFaults(
  world: World,
  { faults, gapMs }: Preset,
  random: Random,
  overMs: number,
  ledger: GroundTruth,
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
  // Every fault once before any is repeated.
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
