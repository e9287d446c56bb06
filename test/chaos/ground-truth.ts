/** The ground truth, kept outside of the system: what was asked for, what was answered, and what that contradicts. */
import { appendFileSync } from 'node:fs';
import type { PlannedRun } from './load.ts';

export type EndState = 'completed' | 'failed' | 'cancelled';

/** An outcome as somebody has seen it. */
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
  /** Requests that were sent again after an error. */
  repeated = 0;

  constructor(path: string, runs: readonly PlannedRun[]) {
    this.#path = path;
    for (const run of runs) this.add(run);
  }

  /** A run that nobody knew of before: that of a message, whose place makes its id. */
  add(run: PlannedRun): void {
    this.#entries.set(run.key, { run, lines: [], id: undefined, outcome: undefined, endedAt: undefined });
  }

  note(key: string, event: string, detail: Readonly<Record<string, unknown>> = {}): void {
    const line = JSON.stringify({ time: new Date().toISOString(), key, event, ...detail });
    this.#entry(key).lines.push(line);
    appendFileSync(this.#path, `${line}\n`);
  }

  /** Something is not as it must be. */
  violation(key: string | undefined, what: string): void {
    const lines = key === undefined ? [] : this.#entry(key).lines.slice(-30);
    this.violations.push([`${key ?? 'fleet'}: ${what}`, ...lines.map((line) => `    ${line}`)].join('\n'));
  }

  /** Every answer to one key must name the same run. */
  observeId(key: string, id: string): void {
    const entry = this.#entry(key);
    if (entry.id !== undefined && entry.id !== id) this.violation(key, `the key made two runs, ${entry.id} and ${id}`);
    entry.id ??= id;
  }

  /** Every answer to one key must tell the same outcome. */
  observeOutcome(key: string, how: string, observation: Observation): void {
    const entry = this.#entry(key);
    this.note(key, 'outcome', { how, state: observation.state, code: observation.body.code });
    this.observeId(key, String(observation.body.runId));
    if (entry.outcome === undefined) entry.outcome = observation;
    else if (JSON.stringify(entry.outcome) !== JSON.stringify(observation)) {
      this.violation(key, `two outcomes: ${JSON.stringify(entry.outcome)}\n  and ${JSON.stringify(observation)}`);
    }
  }

  /** When the run ended, in milliseconds since 1970, as it says of itself. */
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

  /** Runs by the state in which they ended. */
  counts(): Readonly<Record<EndState, number>> {
    const counts = { completed: 0, failed: 0, cancelled: 0 };
    for (const { outcome } of this.#entries.values()) if (outcome !== undefined) counts[outcome.state]++;
    return counts;
  }

  #entry(key: string): Entry {
    const entry = this.#entries.get(key);
    if (entry === undefined) throw new Error(`the ledger has no ${key}`);
    return entry;
  }
}
