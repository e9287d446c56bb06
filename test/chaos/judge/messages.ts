/** Checks the topics against the ground truth: the outcome of every run, the bytes of every poison message, and nothing else. */
import { runIdOfKey } from '../../../queues/runs/runs.ts';
import { TOPICS, type TopicContents, type TopicMessage } from '../fleet/messages.ts';
import type { World } from '../fleet/world.ts';
import { type PlannedRun, serviceOf } from '../load/load.ts';
import { bytesOf } from '../load/poison.ts';
import type { GroundTruth, Observation } from './ground-truth.ts';

/** A message in the source topic. Each is a separate input, even if it equals another. */
export interface Arrival {
  /** Its request, under its own key; undefined: it is not a request. */
  readonly run: PlannedRun | undefined;
  /** The planned message that it is a copy of. */
  readonly plan: PlannedRun;
  readonly message: TopicMessage;
  readonly runId: string;
}

/** The messages of the source topic; records a violation for each sent message that is missing. */
export function arrivalsOf(source: readonly TopicMessage[], runs: readonly PlannedRun[], ledger: GroundTruth): readonly Arrival[] {
  const plans = new Map(runs.filter(({ message }) => message).map((run) => [run.key, run]));
  const counts = new Map<string, number>();
  const arrivals = source.flatMap((message): readonly Arrival[] => {
    const plan = plans.get(message.key);
    if (plan === undefined) {
      ledger.violation(undefined, `a source message that was not sent: ${message.key}`);
      return [];
    }
    counts.set(plan.key, (counts.get(plan.key) ?? 0) + 1);
    const place = `${message.partition}-${message.offset}`;
    const run = plan.kind === 'poison' ? undefined : { ...plan, key: `${plan.key}@${place}` };
    return [{ run, plan, message, runId: runIdOfKey('semi-structured-transformer', `${TOPICS.source}-${place}`) }];
  });
  for (const { key, againMs } of plans.values()) {
    const sent = againMs === undefined ? 1 : 2;
    if ((counts.get(key) ?? 0) < sent) ledger.violation(key, `${sent} messages were acknowledged, ${counts.get(key) ?? 0} are there`);
  }
  return arrivals;
}

/** Records violations. `runs` have a recorded outcome and include those of messages. */
export function judgeMessages(
  seen: TopicContents,
  arrivals: readonly Arrival[],
  runs: readonly PlannedRun[],
  world: Pick<World, 'inputUrl' | 'mappingUrl'>,
  ledger: GroundTruth,
): void {
  const byRun = new Map(arrivals.map((arrival) => [arrival.runId, arrival]));
  const dead = groupByKey(seen.dead);
  const success = groupByKey(seen.success);
  for (const run of runs) {
    const id = String(ledger.idOf(run.key));
    const outcome = ledger.outcomeOf(run.key);
    if (outcome === undefined) continue;
    const [said, other] = outcome.state === 'completed' ? [success, dead] : [dead, success];
    const letters = said.get(id) ?? [];
    if (letters.length === 0) ledger.violation(run.key, `nothing was said of the run, which is ${outcome.state}`);
    if (other.has(id)) ledger.violation(run.key, `the run is ${outcome.state}, and the other topic has a message of it`);
    for (const letter of letters) {
      const wrong = outcome.state === 'completed' ? wrongSuccess(letter, run, outcome.body) : wrongLetter(letter, outcome.body.code);
      const place = wrong ?? (outcome.state === 'completed' ? undefined : wrongPlace(letter, byRun.get(id), world));
      if (place !== undefined) ledger.violation(run.key, `${place}: ${shown(letter)}`);
    }
  }
  const known = new Set([...runs.map(({ key }) => String(ledger.idOf(key))), ...byRun.keys()]);
  for (const key of [...success.keys(), ...dead.keys()]) if (!known.has(key)) ledger.violation(undefined, `a message of no run: ${key}`);
  for (const arrival of arrivals) if (arrival.run === undefined) judgePoison(arrival, success, dead, world, ledger);
}

function judgePoison(
  arrival: Arrival,
  success: ReadonlyMap<string, readonly TopicMessage[]>,
  dead: ReadonlyMap<string, readonly TopicMessage[]>,
  world: Pick<World, 'inputUrl' | 'mappingUrl'>,
  ledger: GroundTruth,
): void {
  const { plan, runId } = arrival;
  const letters = dead.get(runId) ?? [];
  if (letters.length === 0) ledger.violation(plan.key, `poison at ${place(arrival.message)} has no dead letter`);
  if (success.has(runId)) ledger.violation(plan.key, `poison at ${place(arrival.message)} was a success`);
  for (const letter of letters) {
    const code = String(letter.headers.code);
    const wrong = /^request\/(invalid|malformed)$/.test(code) ? wrongLetter(letter, code) : `poison has the code ${code}`;
    const what = wrong ?? wrongPlace(letter, arrival, world);
    if (what !== undefined) ledger.violation(plan.key, `${what}: ${shown(letter)}`);
  }
}

/** Messages of one run differ at most in their time. */
function wrongSuccess({ key, value, headers }: TopicMessage, run: PlannedRun, report: Observation['body']): string | undefined {
  const { runId, outputFileLocations, quads } = report;
  const expected = { runId, service: serviceOf(run), outputFileLocations, quads, provenance: '' };
  const { time, ...rest } = JSON.parse(String(value));
  if (JSON.stringify(Object.entries(rest).sort()) !== JSON.stringify(Object.entries(expected).sort())) {
    return `the success message is not ${JSON.stringify(expected)}`;
  }
  if (typeof time !== 'string' || key !== runId || String(headers.runId) !== key) return 'key, header and time of a success message';
  return undefined;
}

function wrongLetter({ key, value, headers }: TopicMessage, code: unknown): string | undefined {
  const message = JSON.parse(String(value));
  const right = message.runId === key && message.code === code && String(headers.code) === code && String(headers.runId) === key;
  return right ? undefined : `the dead letter does not say ${code}`;
}

/** The dead letter of a message has its offset and its bytes, any other dead letter has neither. */
function wrongPlace(
  { headers }: TopicMessage,
  arrival: Arrival | undefined,
  world: Pick<World, 'inputUrl' | 'mappingUrl'>,
): string | undefined {
  if (arrival === undefined) return headers['source-topic'] === undefined ? undefined : 'a dead letter of no message names one';
  const { message, plan } = arrival;
  const bytes = bytesOf(plan, world);
  const found = headers['source-value'];
  const same = bytes === null ? found === undefined : found !== undefined && bytes.equals(found);
  const from = `${headers['source-topic']}-${headers['source-partition']}-${headers['source-offset']}`;
  if (same && from === `${TOPICS.source}-${place(message)}` && String(headers['source-key']) === plan.key) return undefined;
  return `the dead letter does not carry the message at ${place(message)} with its ${bytes?.length ?? 'missing'} bytes`;
}

const place = ({ partition, offset }: TopicMessage): string => `${partition}-${offset}`;

function shown({ value, headers }: TopicMessage): string {
  const texts = Object.entries(headers).map(([name, bytes]) => `${name}=${bytes.toString('latin1').slice(0, 80)}`);
  return `${texts.join(' ')} ${String(value).slice(0, 300)}`;
}

function groupByKey(messages: readonly TopicMessage[]): ReadonlyMap<string, readonly TopicMessage[]> {
  const groups = new Map<string, TopicMessage[]>();
  for (const message of messages) {
    const group = groups.get(message.key) ?? [];
    group.push(message);
    groups.set(message.key, group);
  }
  return groups;
}
