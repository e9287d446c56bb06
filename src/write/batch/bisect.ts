/**
 * Sends batches to a store, and finds the statements that it refuses while the others are written.
 *
 * A batch that is refused is halved again and again: about 2 · log₂ n requests for each offender. Where subjects are replaced as a whole, halves
 * are whole subjects; inside of a subject a set of accepted statements grows, and each try sends all of it, so that the last success has
 * replaced the subject by exactly what the store takes of it. Until then the store holds a part of it, as it would after a kill; when it takes none
 * of its statements, the subject stays as it was.
 */
import { Fault } from '../../core/fault.ts';
import { detach } from '../../core/text.ts';
import type { Statement } from '../../nquads/statement.ts';
import type { BatchSizer } from '../batch-size.ts';
import type { RetryPolicy } from '../retry.ts';

export type Send = (statements: readonly Statement[], signal: AbortSignal) => Promise<void>;

export interface Delivery {
  /**
   * Resolves when all statements are in the store but for those that it refuses: their places, in no order.
   *
   * @throws Fault what `refuse` throws; target/refused — the store refuses whatever it is sent; every other fault of the target
   */
  deliver(statements: readonly Statement[]): Promise<readonly number[]>;
}

export interface DeliveryOptions {
  readonly send: Send;
  /** Subjects, which stand together, are sent as a whole. */
  readonly whole: boolean;
  readonly retryPolicy: RetryPolicy;
  readonly sizer: BatchSizer;
  /** Gets each statement that is refused; may throw to end the run. */
  readonly refuse: (statement: Statement, reason: Fault) => void;
}

/** Statements that are tried alone when nothing was ever accepted. */
const SAMPLES = 12;

export function openDelivery(options: DeliveryOptions): Delivery {
  const known: KnownGood = { statements: undefined };
  return {
    async deliver(statements) {
      const refused: number[] = [];
      await new Delivering(options, statements, known, refused).settle(0, statements.length, 0);
      return refused;
    },
  };
}

/** Something small that the store has taken. Sending it again changes nothing, and tells whether the store takes anything at all. */
interface KnownGood {
  statements: readonly Statement[] | undefined;
}

/** One batch on its way. */
class Delivering {
  readonly #options: DeliveryOptions;
  readonly #batch: readonly Statement[];
  readonly #known: KnownGood;
  readonly #refused: number[];
  #isStoreSound = false;

  constructor(options: DeliveryOptions, batch: readonly Statement[], known: KnownGood, refused: number[]) {
    this.#options = options;
    this.#batch = batch;
    this.#known = known;
    this.#refused = refused;
  }

  /** Sends `[from, to)`, whole subjects where that matters. */
  async settle(from: number, to: number, depth: number): Promise<void> {
    const middle = this.#middle(from, to);
    const verdict = await this.#offer(this.#batch.slice(from, to), middle !== undefined, depth === 0);
    if (verdict === 'taken') {
      this.#known.statements ??= this.#batch.slice(from, this.#unitEnd(from, to)).map(copyOf);
      return;
    }
    if (verdict instanceof Fault) {
      if (to - from === 1) return this.#refuse(from, verdict);
      await this.#checkStore(from, to, verdict);
    }
    if (middle !== undefined) {
      await this.settle(from, middle, depth + 1);
      await this.settle(middle, to, depth + 1);
      return;
    }
    const inside = (from + to) >> 1;
    const admitted: Statement[] = [];
    await this.#admit(from, inside, admitted);
    await this.#admit(inside, to, admitted);
  }

  /** Adds to `admitted`, which the store has, what it takes of `[from, to)`. */
  async #admit(from: number, to: number, admitted: Statement[]): Promise<void> {
    const candidates = this.#batch.slice(from, to);
    const verdict = await this.#offer([...admitted, ...candidates], false, false);
    if (verdict === 'taken') {
      admitted.push(...candidates);
      return;
    }
    if (!(verdict instanceof Fault)) throw new Fault('internal/error', 'A subject was cut although it is sent as a whole');
    if (to - from === 1) return this.#refuse(from, verdict);
    const middle = (from + to) >> 1;
    await this.#admit(from, middle, admitted);
    await this.#admit(middle, to, admitted);
  }

  #refuse(at: number, reason: Fault): void {
    this.#refused.push(at);
    this.#options.refuse(this.#batch[at] as Statement, reason);
  }

  /** @param divisible smaller requests would do as well: `too-large` says to make some */
  async #offer(statements: readonly Statement[], divisible: boolean, measured: boolean): Promise<'taken' | 'too-large' | Fault> {
    const { send, retryPolicy, sizer } = this.#options;
    let started = performance.now();
    try {
      const taken = await retryPolicy.attempt(
        async (signal) => {
          started = performance.now();
          await send(statements, signal);
          return true;
        },
        ({ code }) => {
          if (code === 'target/busy') sizer.busy(statements.length);
          return divisible && statements.length > sizer.size;
        },
      );
      if (taken !== true) return 'too-large';
      if (measured) sizer.took(statements.length, performance.now() - started);
      return 'taken';
    } catch (error) {
      if (error instanceof Fault && error.code === 'target/refused') return error;
      throw error;
    }
  }

  /** @throws Fault target/refused — `reason` is not about these statements: the store takes nothing */
  async #checkStore(from: number, to: number, reason: Fault): Promise<void> {
    if (this.#isStoreSound) return;
    this.#isStoreSound = true;
    if (this.#known.statements !== undefined) {
      const again = await this.#offer(this.#known.statements, false, false);
      if (again instanceof Fault) throw refusesEverything(again, 'also what it had taken before');
      return;
    }
    if (to - from < SAMPLES) return;
    for (let i = 0; i < SAMPLES; i++) {
      const at = from + Math.floor(((to - from) * i) / SAMPLES);
      const sample = this.#batch.slice(at, at + 1);
      if ((await this.#offer(sample, false, false)) !== 'taken') continue;
      // One statement of a subject is not what the subject is to be: it will be sent with the others, and never again alone.
      if (!this.#options.whole) this.#known.statements = sample.map(copyOf);
      return;
    }
    throw refusesEverything(reason, `each of ${SAMPLES} statements that were tried alone`);
  }

  /** Where `[from, to)` is cut in two; undefined: it is one statement, or one subject that stays whole. */
  #middle(from: number, to: number): number | undefined {
    const middle = (from + to) >> 1;
    if (!this.#options.whole) return to - from > 1 ? middle : undefined;
    for (let away = 0; middle - away > from || middle + away < to; away++) {
      if (middle - away > from && this.#isBoundary(middle - away)) return middle - away;
      if (middle + away < to && middle + away > from && this.#isBoundary(middle + away)) return middle + away;
    }
    return undefined;
  }

  #unitEnd(from: number, to: number): number {
    let end = from + 1;
    if (this.#options.whole) while (end < to && !this.#isBoundary(end)) end++;
    return end;
  }

  #isBoundary(at: number): boolean {
    return this.#batch[at]?.subject !== this.#batch[at - 1]?.subject;
  }
}

/** Its text would keep the block of the input that it was cut from. */
const copyOf = (statement: Statement): Statement => ({
  // A row of a file of nodes or edges has more than its texts (write/elements.ts).
  ...statement,
  subject: detach(statement.subject),
  predicate: detach(statement.predicate),
  object: detach(statement.object),
  graph: detach(statement.graph),
});

const refusesEverything = (reason: Fault, what: string): Fault =>
  reason.with({
    code: 'target/refused',
    hint: `The store refuses ${what}, so it is not about single statements${reason.hint === undefined ? '' : `. ${reason.hint}`}`,
  });
