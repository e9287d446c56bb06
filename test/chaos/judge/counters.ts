/**
 * Checks that the counters of the processes are consistent.
 *
 * A process counts and logs in the same step, so in every answer of `/metrics` a counter equals the number of its log lines: at least the
 * lines before the request, at most those before the answer. A killed process loses what it counted after the last request and the lines
 * not yet written, so only the first half holds for it.
 *
 * All logs together have one line for each recorded outcome, except for those that ended just before a worker was killed: a line is written
 * when the queue has said that it has the outcome, and a worker that lost its connection asks for that when the queue is back.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TopicContents } from '../fleet/messages.ts';
import { LOCK_SECONDS, type World } from '../fleet/world.ts';
import type { PlannedRun } from '../load/load.ts';
import type { Latencies } from './delays.ts';
import type { EndState, GroundTruth } from './ground-truth.ts';
import type { InstanceLog, LogLine } from './logs.ts';
import { QUEUE_RETURN_MS } from './recovery.ts';
import { coveredMs, minus, spanOf } from './spans.ts';

/** A counter, its labels, and the log lines written when it is incremented. */
const COUNTED: readonly (readonly [metric: string, label: string, lines: readonly string[]])[] = [
  ['rml_runs_total', 'state="completed"', ['run completed']],
  ['rml_runs_total', 'state="failed"', ['run failed']],
  ['rml_runs_total', 'state="cancelled"', ['run cancelled']],
  ['rml_run_attempts_total', '', ['run started']],
  ['rml_run_retries_total', '', ['run retried', 'slice retried']],
  ['rml_run_stalls_total', '', ['run stalled', 'slice stalled']],
  ['rml_messages_taken_total', 'result="run"', ['run submitted by message']],
  ['rml_messages_taken_total', 'result="dead-letter"', ['message is not a valid request']],
];

/** Gauges that must be zero at the end. */
const ZERO = ['rml_active_runs', 'rml_active_slices', 'rml_outbox_messages'] as const;
const ZERO_STATES = ['queued', 'running', 'retrying'] as const;
/** The depth of the outbox is measured every two seconds. */
const GAUGES_LIMIT_MS = 10_000;
const ASK_LIMIT_MS = 5_000;

export interface Totals {
  /** Outcomes counted by the processes, in their last answers. */
  readonly counted: number;
  /** Outcomes announced by killed processes after their last answer. */
  readonly unseen: number;
  /** Outcomes announced more than once. */
  readonly again: number;
}

/** Asks every running process until its gauges show no activity. Records violations. */
export async function judgeGauges({ api, workers }: World, completed: number, ledger: GroundTruth): Promise<void> {
  for (const member of [api, ...workers]) {
    const deadline = Date.now() + GAUGES_LIMIT_MS;
    let wrong: readonly string[];
    do {
      const answered = await member.scrape(ASK_LIMIT_MS);
      const values = member.instances.at(-1)?.scrape?.values ?? new Map();
      const depths = ZERO_STATES.map((state) => `rml_queue_runs{state="${state}"}`);
      const rest = [...ZERO, ...depths].flatMap((name) => (values.get(name) === 0 ? [] : [`${name} is ${values.get(name)}`]));
      const ended = values.get('rml_queue_runs{state="completed"}');
      wrong = !answered ? ['it does not answer'] : ended === completed ? rest : [...rest, `it says that ${ended} runs are completed`];
      if (wrong.length > 0) await sleep(500);
    } while (wrong.length > 0 && Date.now() < deadline);
    for (const what of wrong) ledger.violation(undefined, `metrics of ${member.name}, when all is done: ${what}`);
  }
}

/** Records violations. `seen`: contents of the topics; undefined: no topics. */
export function judgeCounters(
  world: World,
  logs: readonly InstanceLog[],
  runs: readonly PlannedRun[],
  seen: TopicContents | undefined,
  delays: Latencies,
  ledger: GroundTruth,
): Totals {
  const workers = logs.filter(({ process }) => process.role === 'worker');
  let counted = 0;
  let lines = 0;
  for (const log of workers) {
    for (const row of COUNTED) {
      const value = judgeCounter(log, row, ledger);
      if (row[0] !== 'rml_runs_total') continue;
      counted += value;
      lines += linesOf(log, row[2]).length;
    }
  }
  const { again, lost } = judgeAnnouncements(world, workers, runs, delays, ledger);
  if (lines + lost !== runs.length + again) {
    ledger.violation(
      undefined,
      `${lines} outcomes were announced, and ${lost} without a line, for ${runs.length} runs and ${again} repetitions`,
    );
  }
  if (seen !== undefined) judgeSent(workers, seen, ledger);
  return { counted, unseen: runs.length + again - counted, again };
}

const linesOf = ({ lines }: InstanceLog, says: readonly string[]): readonly LogLine[] => lines.filter(({ msg }) => says.includes(msg));

function sumOf({ instance }: InstanceLog, metric: string, label: string): number {
  const rows = [...(instance.scrape?.values ?? [])].filter(([name]) => name.replace(/\{.*/, '') === metric && name.includes(label));
  return rows.reduce((sum, [, value]) => sum + value, 0);
}

/** Value of the counter, between the lines before and after. */
function judgeCounter(log: InstanceLog, [metric, label, says]: (typeof COUNTED)[number], ledger: GroundTruth): number {
  const { scrape } = log.instance;
  if (scrape === undefined) return 0;
  const value = sumOf(log, metric, label);
  const all = linesOf(log, says);
  const least = all.filter(({ at }) => at < scrape.askedAt).length;
  const most = all.filter(({ at }) => at <= scrape.answeredAt).length;
  if (value < least || (value > most && log.instance.killedAt === undefined)) {
    ledger.violation(
      undefined,
      `${metric} ${label} is ${value}, and the log has ${least} to ${most} lines ${says.join(' or ')} (${log.instance.log})`,
    );
  }
  return value;
}

/** A log line older than this is written, even if its process is killed. */
const UNDER_WAY_MS = 1_000;

/**
 * Every run was announced with its recorded outcome, and repeated only after a fault. Returns the numbers of announcements and of lost
 * lines.
 */
function judgeAnnouncements(
  { redis }: World,
  logs: readonly InstanceLog[],
  runs: readonly PlannedRun[],
  delays: Latencies,
  ledger: GroundTruth,
): { readonly again: number; readonly lost: number } {
  const states: readonly EndState[] = ['completed', 'failed', 'cancelled'];
  const said = new Map<string, { readonly at: number; readonly state: EndState; readonly log: InstanceLog }[]>();
  for (const log of logs) {
    for (const state of states) {
      for (const { at, run } of linesOf(log, [`run ${state}`]))
        said.set(String(run), [...(said.get(String(run)) ?? []), { at, state, log }]);
    }
  }
  let again = 0;
  let lost = 0;
  const kills = logs.flatMap(({ instance: { killedAt } }) => (killedAt === undefined ? [] : [killedAt]));
  for (const { key } of runs) {
    const id = String(ledger.idOf(key));
    const all = (said.get(id) ?? []).sort((a, b) => a.at - b.at);
    said.delete(id);
    if (all.length === 0) {
      const endedAt = ledger.endOf(key) ?? 0;
      const late = UNDER_WAY_MS + delays.longest(spanOf(endedAt, endedAt + UNDER_WAY_MS));
      // The queue may have taken the outcome without having said so: its worker asks when the queue is back.
      const away = redis.away.filter(({ from, to }) => from <= endedAt + late && to >= endedAt - UNDER_WAY_MS);
      const asked = Math.max(endedAt, ...away.map(({ to }) => to + QUEUE_RETURN_MS)) + late;
      if (kills.some((killedAt) => killedAt >= endedAt && killedAt <= asked)) lost++;
      else ledger.violation(key, 'no log says how the run ended');
    }
    for (const [i, { at, state, log }] of all.entries()) {
      if (state !== ledger.outcomeOf(key)?.state) ledger.violation(key, `a log says that the run has ${state} (${log.instance.log})`);
      const next = all[i + 1];
      if (next === undefined) continue;
      again++;
      // A suspended process announces its job after it has resumed, without its lock.
      const span = spanOf(at - LOCK_SECONDS * 1_000, next.at);
      const wasDown = coveredMs(span, minus([span], log.process.up)) > 0;
      const lostItsLock = delays.longest(span) > LOCK_SECONDS * 500;
      if (!wasDown && !lostItsLock && coveredMs(span, redis.away) === 0) {
        ledger.violation(key, `the outcome was announced twice, and no fault explains it (${log.instance.log}, ${next.log.instance.log})`);
      }
    }
  }
  for (const id of said.keys()) ledger.violation(undefined, `the logs speak of a run that was not asked for: ${id}`);
  return { again, lost };
}

/** Messages are counted after the brokers have stored them, so the topics have at least as many. */
function judgeSent(logs: readonly InstanceLog[], seen: TopicContents, ledger: GroundTruth): void {
  for (const [kind, topic] of [
    ['success', seen.success],
    ['dead-letter', seen.dead],
  ] as const) {
    const sent = logs.reduce((sum, log) => sum + sumOf(log, 'rml_messages_sent_total', `kind="${kind}"`), 0);
    if (sent > topic.length) ledger.violation(undefined, `${sent} ${kind} messages were counted as sent, and ${topic.length} are there`);
  }
}
