/** A typical client: one idempotency key per request, which it repeats after every transient error. */

import { setTimeout as sleep } from 'node:timers/promises';
import { withLimit } from '../../../src/core/abort.ts';
import { Random } from '../../support/random.ts';
import type { World } from '../fleet/world.ts';
import type { EndState, GroundTruth, Observation } from '../judge/ground-truth.ts';
import { type ClientBehaviour, expectedFailure, type PlannedRun, serviceOf } from './load.ts';
import { bytesOf } from './poison.ts';

type Surroundings = Pick<World, 'url' | 'inputUrl' | 'mappingUrl' | 'kafka'>;

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: reports, messages, views and problems
  readonly body: any;
}

/** Longer than a pause of the API; then the client gives up the answer and asks again. */
const ANSWER_LIMIT_MS = 15_000;
const LOOK_MS = 400;

export class Client {
  readonly #world: Surroundings;
  readonly #ledger: GroundTruth;
  /** Aborted at the limit for outcomes. */
  readonly #late: AbortSignal;
  /** Copies of a message are sent to different partitions. */
  #sent = 0;

  constructor(world: Surroundings, ledger: GroundTruth, late: AbortSignal) {
    this.#world = world;
    this.#ledger = ledger;
    this.#late = late;
  }

  /** Sends the request and waits for the outcome, as planned. Records all answers in the ground truth. Messages have no answer. */
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

  /** One client from request to outcome. */
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

  /** Polls the run until it has ended. */
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
    // All requests of the SQL transformer are equal.
    if (run.kind === 'table') return;
    const body = JSON.stringify({ inputFileURL: '/another.csv', mappingURL: this.#world.mappingUrl });
    const headers = { 'content-type': 'application/json', 'idempotency-key': run.key };
    const answer = await this.#insist(run, 'contradiction', this.#pathOf(run, '/process'), { method: 'POST', headers, body });
    if (answer !== undefined && answer.status !== 409) this.#unexpected(run, 'another request with the same key', answer);
  }

  /** A message that is not a request must not create a run. */
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
    // The input of the SQL transformer comes from its options.
    if (run.kind === 'table') return { method: 'GET' };
    return { method: 'POST', body: JSON.stringify({ inputFileURL: this.#world.inputUrl(run), mappingURL: this.#world.mappingUrl }) };
  }

  /** Repeats the request until the answer is not a transient error; undefined after the limit. */
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

/** Whether the run may end like this. */
export function mayEnd(run: PlannedRun, state: EndState, code: unknown): boolean {
  if (state === 'cancelled') return run.cancelMs !== undefined;
  const fails = expectedFailure(run);
  return fails === undefined ? state === 'completed' : state === 'failed' && code === fails;
}
