/** The ground truth, kept outside of the system under test: all requests, all answers, and all contradictions between them. */
import { appendFileSync } from 'node:fs';
import type { PlannedRun } from '../load/load.ts';

export type EndState = 'completed' | 'failed' | 'cancelled';

/** An outcome as seen by a client. */
export interface Observation {
  readonly state: EndState;
  /** Report or failure message. */
  readonly body: Readonly<Record<string, unknown>>;
}

interface Entry {
  readonly run: PlannedRun;
  readonly lines: string[];
  id: string | undefined;
  outcome: Observation | undefined;
  endedAt: number | undefined;
}

export class GroundTruth {
  readonly #path: string;
  readonly #entries = new Map<string, Entry>();
  readonly violations: string[] = [];
  /** Requests repeated after an error. */
  repeated = 0;

  constructor(path: string, runs: readonly PlannedRun[]) {
    this.#path = path;
    for (const run of runs) this.add(run);
  }

  /** Adds the run of a message, whose id is derived from its offset. */
  add(run: PlannedRun): void {
    this.#entries.set(run.key, { run, lines: [], id: undefined, outcome: undefined, endedAt: undefined });
  }

  note(key: string, event: string, detail: Readonly<Record<string, unknown>> = {}): void {
    const line = JSON.stringify({ time: new Date().toISOString(), key, event, ...detail });
    this.#entry(key).lines.push(line);
    appendFileSync(this.#path, `${line}\n`);
  }

  /** Records a violation. */
  violation(key: string | undefined, what: string): void {
    const lines = key === undefined ? [] : this.#entry(key).lines.slice(-30);
    this.violations.push([`${key ?? 'fleet'}: ${what}`, ...lines.map((line) => `    ${line}`)].join('\n'));
  }

  /** All answers to one key must name the same run. */
  observeId(key: string, id: string): void {
    const entry = this.#entry(key);
    if (entry.id !== undefined && entry.id !== id) this.violation(key, `the key made two runs, ${entry.id} and ${id}`);
    entry.id ??= id;
  }

  /** All answers to one key must report the same outcome. */
  observeOutcome(key: string, how: string, observation: Observation): void {
    const entry = this.#entry(key);
    this.note(key, 'outcome', { how, state: observation.state, code: observation.body.code });
    this.observeId(key, String(observation.body.runId));
    if (entry.outcome === undefined) entry.outcome = observation;
    else if (JSON.stringify(entry.outcome) !== JSON.stringify(observation)) {
      this.violation(key, `two outcomes: ${JSON.stringify(entry.outcome)}\n  and ${JSON.stringify(observation)}`);
    }
  }

  /** When the run ended according to its view, in milliseconds since 1970. */
  observeEnd(key: string, at: number): void {
    this.#entry(key).endedAt = at;
  }

  endOf(key: string): number | undefined {
    return this.#entry(key).endedAt;
  }

  idOf(key: string): string | undefined {
    return this.#entry(key).id;
  }

  outcomeOf(key: string): Observation | undefined {
    return this.#entry(key).outcome;
  }

  /** Number of runs by final state. */
  counts(): Readonly<Record<EndState, number>> {
    const counts = { completed: 0, failed: 0, cancelled: 0 };
    for (const { outcome } of this.#entries.values()) if (outcome !== undefined) counts[outcome.state]++;
    return counts;
  }

  #entry(key: string): Entry {
    const entry = this.#entries.get(key);
    if (entry === undefined) throw new Error(`the ground truth has no ${key}`);
    return entry;
  }
}
