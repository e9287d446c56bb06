/** A client as one would write it: one idempotency key for a request, sent again after every error that may pass. */

import { setTimeout as sleep } from 'node:timers/promises';
import { withLimit } from '../../src/core/abort.ts';
import type { EndState, GroundTruth, Observation } from './ground-truth.ts';
import { type ClientBehaviour, expectedFailure, type PlannedRun, serviceOf } from './load.ts';
import { bytesOf } from './poison.ts';
import { Random } from './random.ts';
import type { World } from './world.ts';

type Surroundings = Pick<World, 'url' | 'inputUrl' | 'mappingUrl' | 'kafka'>;

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: reports, messages, views and problems
  readonly body: any;
}

/** Longer than a pause of the API; then a client gives the answer up, and asks again. */
const ANSWER_LIMIT_MS = 15_000;
const LOOK_MS = 400;

export class Client {
  readonly #world: Surroundings;
  readonly #ledger: GroundTruth;
  /** Aborted when it is too late for an outcome. */
  readonly #late: AbortSignal;
  /** Copies of a message go to partitions of their own. */
  #sent = 0;

  constructor(world: Surroundings, ledger: GroundTruth, late: AbortSignal) {
    this.#world = world;
    this.#ledger = ledger;
    this.#late = late;
  }

  /** Sends the request and hears the outcome, with what else the plan says. Leaves what it heard in the ledger. Of a message nothing is heard. */
  async drive(run: PlannedRun): Promise<void> {
    if (run.message) {
      await Promise.all([this.#send(run), ...(run.againMs === undefined ? [] : [sleep(run.againMs).then(() => this.#send(run))])]);
      return;
    }
    const second = run.againMs === undefined ? undefined : sleep(run.againMs).then(() => this.process(run, 'look', 'second'));
    const manner = run.cancelMs === undefined ? run.manner : 'look';
    const first = this.process(run, manner, 'first');
    const cancelling = run.cancelMs === undefined ? undefined : this.#cancel(run, run.cancelMs);
    await Promise.all([first, second, cancelling]);
  }

  /** One client's way from request to outcome. */
  async process(run: PlannedRun, manner: ClientBehaviour, who: string): Promise<void> {
    const prefer = { wait: undefined, 'wait-a-second': 'wait=1', look: 'respond-async' }[manner];
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': run.key,
      ...(prefer === undefined ? {} : { prefer }),
    };
    const answer = await this.#insist(run, `${who}: request`, this.#pathOf(run, '/process'), { headers, ...this.#askFor(run) });
    if (answer === undefined) return;
    if (answer.status === 200 || (answer.status === 400 && typeof answer.body.error === 'string')) {
      this.#ledger.observeOutcome(run.key, who, observationOf(answer));
    } else if (answer.status === 202) {
      this.#ledger.observeId(run.key, answer.body.id);
      await this.look(run, answer.body.id, who);
    } else this.#unexpected(run, `${who}: request`, answer);
  }

  /** Looks at the run until it has ended. */
  async look(run: PlannedRun, id: string, who: string): Promise<void> {
    for (;;) {
      const answer = await this.#insist(run, `${who}: GET`, this.#pathOf(run, `/runs/${id}`));
      if (answer === undefined) return;
      if (answer.status !== 200) return this.#unexpected(run, `${who}: GET`, answer);
      const { state, outcome, endedAt } = answer.body;
      if (outcome !== undefined) {
        if (state !== outcome.state) this.#ledger.violation(run.key, `the run is ${state}, and its outcome ${outcome.state}`);
        this.#ledger.observeEnd(run.key, Date.parse(endedAt));
        return this.#ledger.observeOutcome(run.key, who, { state: outcome.state, body: outcome.report ?? outcome.failure });
      }
      await sleep(LOOK_MS);
    }
  }

  /** The key with another request must be refused. */
  async contradict(run: PlannedRun): Promise<void> {
    // There is nothing that requests of the SQL transformer could differ in.
    if (run.kind === 'table') return;
    const body = JSON.stringify({ inputFileURL: '/another.csv', mappingURL: this.#world.mappingUrl });
    const headers = { 'content-type': 'application/json', 'idempotency-key': run.key };
    const answer = await this.#insist(run, 'contradiction', this.#pathOf(run, '/process'), { method: 'POST', headers, body });
    if (answer !== undefined && answer.status !== 409) this.#unexpected(run, 'another request with the same key', answer);
  }

  /** What was no request made no run. */
  async denied(plan: PlannedRun, id: string): Promise<void> {
    const answer = await this.#insist(plan, 'GET of poison', this.#pathOf(plan, `/runs/${id}`));
    if (answer !== undefined && answer.status !== 404) this.#unexpected(plan, 'poison made a run; GET', answer);
  }

  async #cancel(run: PlannedRun, afterMs: number): Promise<void> {
    while (this.#ledger.idOf(run.key) === undefined && !this.#late.aborted) await sleep(50);
    await sleep(afterMs);
    const id = this.#ledger.idOf(run.key);
    if (id === undefined) return;
    const answer = await this.#insist(run, 'DELETE', this.#pathOf(run, `/runs/${id}`), { method: 'DELETE' });
    if (answer === undefined) return;
    this.#ledger.note(run.key, 'cancel', { status: answer.status, state: answer.body.state });
    if (answer.status === 200) {
      this.#ledger.observeOutcome(run.key, 'cancel', { state: 'cancelled', body: answer.body.outcome?.failure ?? {} });
    } else if (answer.status !== 202 && answer.status !== 409) this.#unexpected(run, 'DELETE', answer);
  }

  async #send(run: PlannedRun): Promise<void> {
    const { kafka } = this.#world;
    if (typeof kafka === 'string') throw new Error(`there are no messages here: ${kafka}`);
    const random = new Random(run.seed + this.#sent++);
    const sending = kafka.send(run.key, bytesOf(run, this.#world), random.between(0, 2 ** 20), this.#late);
    await sending.then(
      () => this.#ledger.note(run.key, 'sent'),
      (error: Error) => this.#ledger.violation(run.key, `a message could not be sent: ${error.message}`),
    );
  }

  #pathOf(run: PlannedRun, path: string): string {
    return `/${serviceOf(run)}${path}`;
  }

  #askFor(run: PlannedRun): Pick<RequestInit, 'method' | 'body'> {
    // What the SQL transformer maps stands in its options.
    if (run.kind === 'table') return { method: 'GET' };
    return { method: 'POST', body: JSON.stringify({ inputFileURL: this.#world.inputUrl(run), mappingURL: this.#world.mappingUrl }) };
  }

  /** Asks until there is an answer that is not a passing trouble; undefined when it is too late. */
  async #insist(run: PlannedRun, what: string, path: string, init: RequestInit = {}): Promise<Answer | undefined> {
    for (let waitMs = 100; !this.#late.aborted; waitMs = Math.min(waitMs * 2, 1_000)) {
      const asking = (signal: AbortSignal): Promise<Answer> => ask(`${this.#world.url}${path}`, { ...init, signal });
      const answer = await withLimit(ANSWER_LIMIT_MS, asking, this.#late).catch((error: Error) => error);
      if (!(answer instanceof Error)) {
        if (init.method !== undefined) this.#ledger.note(run.key, what, { status: answer.status, id: answer.body.runId ?? answer.body.id });
        if (answer.status !== 503) return answer;
        if (answer.retryAfter === null) this.#ledger.violation(run.key, `${what}: 503 without Retry-After`);
      } else this.#ledger.note(run.key, what, { error: `${answer.message} ${(answer.cause as Error | undefined)?.message ?? ''}`.trim() });
      this.#ledger.repeated++;
      await sleep(waitMs);
    }
    return undefined;
  }

  #unexpected(run: PlannedRun, what: string, { status, body }: Answer): void {
    this.#ledger.violation(run.key, `${what} was answered with ${status}: ${JSON.stringify(body)}`);
  }
}

async function ask(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body: JSON.parse(text) };
}

function observationOf({ status, body }: Answer): Observation {
  if (status === 200) return { state: 'completed', body };
  return { state: body.code === 'run/cancelled' ? 'cancelled' : 'failed', body };
}

/** Whether the run may end so. */
export function mayEnd(run: PlannedRun, state: EndState, code: unknown): boolean {
  if (state === 'cancelled') return run.cancelMs !== undefined;
  const fails = expectedFailure(run);
  return fails === undefined ? state === 'completed' : state === 'failed' && code === fails;
}
