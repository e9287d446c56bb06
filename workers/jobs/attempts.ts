/**
 * Attempts of jobs in this process, from start to end or requeue, while this process holds their locks.
 *
 * Only the process that holds the lock of a job decides about it; all others only set marks that this process polls.
 */
import { DelayedError, type Job, type Queue, WaitingError } from 'bullmq';
import { type JobChanges, type Lock, lockOf } from '../../queues/backend/jobs/changes.ts';
import { whileAway } from '../../queues/backend/refusals.ts';
import { type RunPayload, type RunProgress, SERVICE_QUEUES, type Service } from '../../queues/jobs.ts';
import { Life, type LifeEvent } from '../../queues/runs/life.ts';
import { cancelledFault, encodeFault, killedFault } from '../../queues/runs/outcome.ts';
import { Fault } from '../../src/core/fault.ts';
import { type Logger, METRICS } from '../../src/core/telemetry/observe.ts';
import { type TracedWork, traceRun } from '../../src/core/telemetry/trace.ts';
import type { DatasetTurns } from './dataset-turns.ts';

/** What an attempt came to. Neither: its end is stored in the job already. */
export interface AttemptEnd<W> {
  readonly result?: W;
  readonly fault?: Fault;
}

interface Happened<W> extends AttemptEnd<W> {
  readonly event: LifeEvent;
}

/** What the jobs of one queue do. `W` is what their work gives, `R` the result of a job. */
export interface JobKind<D extends RunPayload, W, R = W> {
  readonly noun: 'run' | 'slice';
  /** Does the work. @throws Fault, Busy */
  work(job: Job<D, R>, context: AttemptContext): Promise<W>;
  /** Asks the queue whether the job is still needed. Resolves to the fault to end it with; undefined: it is needed. */
  cancellation(job: Job<D, R>): Promise<Fault | undefined>;
  /** Renews the lock, and asks as `cancellation` does. A lock that is lost is a fault, too. */
  confirm(job: Job<D, R>, lock: Lock, lockMs: number): Promise<Fault | undefined>;
  /** Undefined: no job waits for another one. */
  readonly turns?: Pick<DatasetTurns, 'isBusy' | 'putOff'>;
  /** Called when a job becomes active in this process (1), and when its attempt has ended (-1). */
  onActive(change: 1 | -1): void;
  /** Ends a job for good. Resolves to its result. @throws what makes BullMQ fail the job for good or take it again */
  end(job: Job<D, R>, token: string, end: AttemptEnd<W>): Promise<R>;
}

/** The part of a kind that is the same where a job is a run: it is needed until it is cancelled. */
export const wholeRun = <D extends RunPayload, W, R>(
  queue: Pick<Queue<D>, 'getJob'>,
  changes: JobChanges,
): Pick<JobKind<D, W, R>, 'noun' | 'cancellation' | 'confirm'> => ({
  noun: 'run',
  async cancellation({ data }) {
    const now = await queue.getJob(data.runId);
    return now?.data.cancelled === true ? cancelledFault() : undefined;
  },
  async confirm({ id, data }, lock, lockMs) {
    const answer = await changes.confirm(SERVICE_QUEUES[data.service].work, id as string, lock, lockMs);
    return answer === 'held' ? undefined : answer === 'lost' ? LOST : cancelledFault();
  },
});

/** One attempt of a job, passed to `work`. */
export interface AttemptContext {
  readonly signal: AbortSignal;
  progress(now: RunProgress): void;
  /**
   * Call before the work begins: at once with other questions to the options, which are then read once.
   *
   * @throws Fault — the job must not start; Busy — not yet
   */
  admit(): Promise<void>;
  /** Call before output appears. Throws if the job must not continue: the lock is lost, or the job is not needed any more. */
  assertMayCommit(): Promise<void>;
}

export interface AttemptSettings {
  readonly maxStarts: number;
  readonly lockMs: number;
  /** Called when a run starts for the first time. @throws Fault — the run must not start */
  readonly admit: () => Promise<void>;
  /** Called when an attempt has failed, whatever becomes of the job. */
  readonly onFault?: (service: Service, fault: Fault) => void;
}

/** How often a job polls its marks and stores its progress. */
export const POLL_MS = 500;

/** Reasons to stop an attempt that say nothing about its job. */
const REQUEUE = new Fault('run/lost', 'The worker is stopping; the run goes back to the queue');
export const LOST = new Fault('run/lost', 'This worker lost the lock of the run');

export class Attempts<D extends RunPayload, W, R = W> {
  private readonly kind: JobKind<D, W, R>;
  private readonly settings: AttemptSettings;
  private readonly logger: Logger;
  /** The jobs of the attempts in this process: two of one job, where it was taken again after its lock was lost. */
  private readonly active = new Map<AbortController, string>();
  private draining = false;

  constructor(kind: JobKind<D, W, R>, settings: AttemptSettings, logger: Logger) {
    this.kind = kind;
    this.settings = settings;
    this.logger = logger;
  }

  get count(): number {
    return this.active.size;
  }

  /** From now on, jobs that are still handed out are requeued at once. */
  stopAccepting(): void {
    this.draining = true;
  }

  /** Aborts all jobs and requeues them. */
  requeueAll(): void {
    for (const stop of this.active.keys()) stop.abort(REQUEUE);
  }

  /** The lock is lost, so another worker may have the job: this attempt must stop and write nothing more about it. */
  lockLost(ids: readonly string[]): void {
    for (const id of ids) {
      this.stopAttempts(id);
      this.logger.warn({ [this.kind.noun]: id }, `${this.kind.noun} lost`);
    }
  }

  private stopAttempts(job: string): void {
    for (const [stop, id] of this.active) if (id === job) stop.abort(LOST);
  }

  /** BullMQ's processor. @throws what makes BullMQ fail the job for good, retry it or requeue it */
  async process(job: Job<D, R>, token: string): Promise<R> {
    const stop = new AbortController();
    const id = job.id as string;
    traceRun(fieldsOf(job));
    // An earlier attempt that has not noticed yet: the queue gives a job out only once its lock has expired.
    this.stopAttempts(id);
    this.active.set(stop, id);
    this.kind.onActive(1);
    try {
      const life = new Life();
      let happened = this.taken(job);
      for (;;) {
        const effect = life.on(happened.event);
        if (effect === 'announce') return await this.kind.end(job, token, happened);
        if (effect === 'give back') return await this.giveBack(job, token);
        if (effect === 'put off') return await this.putOff(job, token);
        if (effect === 'fail attempt') throw this.failed(job, happened.fault as Fault);
        happened = await this.attempt(job, token, stop, life);
      }
    } finally {
      this.active.delete(stop);
      this.kind.onActive(-1);
    }
  }

  private taken({ data, stalledCounter }: Job<D, R>): Happened<W> {
    if (this.draining) return { event: 'requeue' };
    if (data.ended !== undefined) return { event: 'resume' };
    if (data.cancelled === true) return { event: 'cancel', fault: cancelledFault() };
    if (stalledCounter >= this.settings.maxStarts) return { event: 'killed', fault: killedFault(stalledCounter) };
    return { event: 'take' };
  }

  private async attempt(job: Job<D, R>, token: string, stop: AbortController, life: Life): Promise<Happened<W>> {
    const watcher = this.watch(job, stop);
    try {
      const result = await this.kind.work(job, {
        signal: stop.signal,
        progress: watcher.progress,
        admit: async () => {
          if (this.kind.noun === 'slice') await this.confirm(job, token, stop);
          else if (job.attemptsStarted === 1) await this.settings.admit();
          const { turns } = this.kind;
          if (turns !== undefined && (await this.answer(stop, () => turns.isBusy(job)))) throw new Busy();
          life.on('prepared');
        },
        assertMayCommit: async () => {
          if (life.on('mapped') === 'confirm') await this.confirm(job, token, stop);
        },
      });
      return { event: 'published', result };
    } catch (error) {
      if (stop.signal.reason === REQUEUE) return { event: 'requeue' };
      if (error instanceof Busy) return { event: 'busy' };
      const fault = Fault.of(error);
      this.settings.onFault?.(job.data.service, fault);
      return { event: this.eventOf(job, fault, stop.signal), fault };
    } finally {
      await watcher.end();
    }
  }

  private eventOf({ attemptsMade, opts }: Job<D, R>, fault: Fault, { reason }: AbortSignal): LifeEvent {
    if (fault.code === 'run/cancelled') return 'cancel';
    if (!fault.retriable || attemptsMade + 1 >= (opts.attempts ?? 1)) return 'fault';
    return reason === LOST ? 'lost' : 'retry';
  }

  /** Keeps an obsolete attempt from going on. @throws Fault */
  private async confirm(job: Job<D, R>, token: string, stop: AbortController): Promise<void> {
    const fault = await this.answer(stop, () => this.kind.confirm(job, lockOf(job, token), this.settings.lockMs));
    if (fault === LOST) stop.abort(LOST);
    if (fault !== undefined) throw fault;
  }

  /** What the queue answers. One that is away is waited for. @throws Fault */
  private async answer<T>(stop: AbortController, ask: () => Promise<T>): Promise<T> {
    try {
      return await whileAway(stop.signal, ask);
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw new Fault('run/lost', `The queue did not confirm that the run may continue: ${(error as Error).message}`, { cause: error });
    }
  }

  /** Stores progress and polls marks while the job runs. */
  private watch(job: Job<D, R>, stop: AbortController): { progress(now: RunProgress): void; end(): Promise<void> } {
    let latest: RunProgress | undefined;
    let polling: Promise<void> | undefined;
    const poll = async (): Promise<void> => {
      try {
        const fault = await this.kind.cancellation(job);
        if (fault !== undefined) stop.abort(fault);
        const progress = latest;
        latest = undefined;
        if (progress !== undefined) await job.updateProgress(progress);
      } catch {
        // The queue is away and its connection reports that; the next poll asks again.
      }
    };
    const timer = setInterval(() => {
      polling ??= poll().finally(() => {
        polling = undefined;
      });
    }, POLL_MS);
    return {
      progress: (now) => {
        latest = now;
      },
      async end() {
        clearInterval(timer);
        await polling;
      },
    };
  }

  private failed(job: Job<D, R>, fault: Fault): Error {
    METRICS.retries.inc({ code: fault.code });
    this.logger.warn({ ...fieldsOf(job), code: fault.code, reason: fault.message }, `${this.kind.noun} retried`);
    return new Error(encodeFault(fault));
  }

  private async putOff(job: Job<D, R>, token: string): Promise<never> {
    try {
      await this.kind.turns?.putOff(job, token);
      this.logger.debug(fieldsOf(job), `${this.kind.noun} waits for its dataset`);
    } catch {
      // The queue is away, or the job has another holder. Left alone, its lock expires, and it is taken again.
    }
    throw new DelayedError();
  }

  private async giveBack(job: Job<D, R>, token: string): Promise<never> {
    await job.moveToWait(token);
    this.logger.info(fieldsOf(job), `${this.kind.noun} requeued`);
    throw new WaitingError();
  }
}

/** The dataset of the run is not free: an earlier run has not ended, or another process writes it. */
export class Busy extends Error {}

/** Fields of every log line about a job. */
export function fieldsOf(job: Job<RunPayload>): TracedWork {
  const { runId, slice } = job.data as RunPayload & { readonly slice?: { readonly index: number } };
  return { run: runId, ...(slice === undefined ? {} : { slice: slice.index }), attempt: job.attemptsStarted };
}
