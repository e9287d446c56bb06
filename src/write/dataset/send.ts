/**
 * Sends the changes of a version: removed statements before added ones, and the position last.
 *
 * The last batch has the position, so that a version of one batch is one request. Batches with removed statements are sent one after the other: a
 * store may take a removed statement and an added one for the same, so their order counts.
 */
import { Fault } from '../../core/fault.ts';
import type { Statement } from '../../nquads/statement.ts';
import type { DatasetKey, DatasetPosition, NO_POSITION, VersionBatch, VersionTarget } from '../../targets/target.ts';
import { type Batch, openBatcher } from '../batch/batches.ts';
import { type Delivery, openDelivery } from '../batch/bisect.ts';
import { refusedStatement, type WriteRun } from '../run.ts';
import { batchOf, KEPT, REMOVED, subjectTooLarge } from './statements.ts';

export interface Sending {
  readonly run: WriteRun;
  readonly versions: VersionTarget;
  readonly dataset: DatasetKey;
  readonly isShared: boolean;
}

export type StoredBefore = DatasetPosition | typeof NO_POSITION;

export interface SentVersion {
  /** In the order of their tags: see `VersionStatements`. */
  readonly statements: AsyncIterable<readonly Statement[]>;
  /** Whether subjects are sent as a whole, with what stays of them. */
  readonly whole: boolean;
  /** As in `VersionBatch`. */
  readonly within?: VersionBatch['within'];
  /** What the store has before it. */
  readonly from: StoredBefore;
  /** Stored before the first of several batches; undefined: none. */
  readonly opening: DatasetPosition | undefined;
  readonly position: DatasetPosition;
  /** So many statements of it are in the store from an earlier attempt. */
  readonly done: number;
}

/** @throws Fault whatever ends the run */
export async function sendVersion(sending: Sending, version: SentVersion): Promise<void> {
  await new VersionSending(sending, version).send();
}

class VersionSending {
  readonly #run: WriteRun;
  readonly #versions: VersionTarget;
  readonly #dataset: DatasetKey;
  readonly #isShared: boolean;
  readonly #version: SentVersion;
  /** One each, since a delivery may send again what was taken before: a removed statement never behind added ones. */
  readonly #removing: Delivery;
  readonly #adding: Delivery;
  #isOpen: boolean;
  #from: StoredBefore;

  constructor({ run, versions, dataset, isShared }: Sending, version: SentVersion) {
    this.#run = run;
    this.#isShared = isShared;
    this.#versions = versions;
    this.#dataset = dataset;
    this.#version = version;
    this.#removing = this.#delivery();
    this.#adding = this.#delivery();
    this.#isOpen = version.opening === undefined;
    this.#from = version.from;
  }

  async send(): Promise<void> {
    const { statements, whole, position, done } = this.#version;
    const { sizer, batchBytes, counts, request } = this.#run;
    const batcher = openBatcher(sizer, whole, batchBytes);
    let passed = 0;
    for await (const all of statements) {
      const skipped = Math.max(0, Math.min(all.length, done - passed));
      passed += all.length;
      const left = skipped === 0 ? all : all.slice(skipped);
      for (const { line } of left) if (line !== KEPT) counts.statements++;
      batcher.add(left);
      if (!whole) batcher.checkpoint({ input: position.version, done: passed, line: 0, rejected: 0 });
      for (let batch = batcher.next(); batch !== undefined; batch = batcher.next()) await this.#start(batch);
      if (batcher.bytes > request.memoryBudgetBytes / 2) throw subjectTooLarge();
      await this.#run.yieldToEventLoop();
    }
    await this.#run.drain();
    const rest = batcher.rest() ?? { statements: [], checkpoints: [] };
    await this.#tracked(rest, (last) => this.#deliver(last, position));
  }

  async #start(batch: Batch): Promise<void> {
    const { opening } = this.#version;
    if (!this.#isOpen && opening !== undefined) {
      await this.#store(opening);
      this.#from = opening;
    }
    this.#isOpen = true;
    const deliver = (statements: readonly Statement[]): Promise<readonly number[]> => this.#deliver(statements, undefined);
    if (this.#version.whole || batch.statements[0]?.line !== REMOVED) {
      await this.#run.start(() => this.#tracked(batch, deliver));
      return;
    }
    await this.#run.drain();
    await this.#tracked(batch, deliver);
  }

  async #tracked(batch: Batch, deliver: (statements: readonly Statement[]) => Promise<readonly number[]>): Promise<void> {
    // Kept statements count as none of those that are sent.
    const entry = this.#run.checkpoints.begin(batch.statements.length, batch.checkpoints);
    entry.end(await deliver(batch.statements), 1);
  }

  /** @returns the places of those that the store refuses */
  async #deliver(statements: readonly Statement[], position: DatasetPosition | undefined): Promise<readonly number[]> {
    const { whole } = this.#version;
    const border = whole ? 0 : statements.findLastIndex(({ line }) => line === REMOVED) + 1;
    const isMixed = border > 0 && border < statements.length;
    if (isMixed || position !== undefined) {
      if (await this.#takesAtOnce(statements, position)) return [];
    }
    const refused = border > 0 ? [...(await this.#removing.deliver(statements.slice(0, border)))] : [];
    if (border < statements.length) for (const at of await this.#adding.deliver(statements.slice(border))) refused.push(border + at);
    if (position !== undefined) await this.#store(position);
    return refused;
  }

  async #takesAtOnce(statements: readonly Statement[], position: DatasetPosition | undefined): Promise<boolean> {
    const { retryPolicy, sizer } = this.#run;
    const taken = async (signal: AbortSignal): Promise<true> => {
      await this.#change(statements, position, signal);
      return true;
    };
    try {
      const isTaken = await retryPolicy.attempt(taken, ({ code }) => {
        if (code === 'target/busy') sizer.busy(statements.length);
        return statements.length > sizer.size;
      });
      return isTaken === true;
    } catch (error) {
      // Without statements it is the position that is refused.
      if (error instanceof Fault && error.code === 'target/refused' && statements.length > 0) return false;
      throw error;
    }
  }

  async #store(position: DatasetPosition | undefined): Promise<void> {
    await this.#run.retryPolicy.attempt((signal) => this.#change([], position, signal));
  }

  #change(statements: readonly Statement[], position: DatasetPosition | undefined, signal: AbortSignal): Promise<void> {
    const { whole, within } = this.#version;
    const batch = batchOf(statements, whole, { isShared: this.#isShared, from: this.#from, ...(within && { within }) });
    return this.#versions.change(batch, position, this.#dataset, signal);
  }

  #delivery(): Delivery {
    const { retryPolicy, sizer, reject } = this.#run;
    const name = `dataset ${this.#dataset.name}`;
    return openDelivery({
      send: (statements, signal) => this.#change(statements, undefined, signal),
      whole: this.#version.whole,
      retryPolicy,
      sizer,
      refuse: (statement, reason) => reject(refusedStatement(statement, name, 0, reason)),
    });
  }
}
