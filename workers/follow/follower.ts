/**
 * The follower of a worker: takes the lease of the dataset that the options name, has a process follow while it has it, and restarts that after a fault.
 * In a fleet the other workers wait for the lease.
 */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Lease, takeLease } from '../../queues/follow/lease.ts';
import { type FollowerState, targetVersionOf } from '../../queues/follow/record.ts';
import type { Transformer, TransformPayload } from '../../queues/jobs.ts';
import { securityOf } from '../../queues/messaging/kafka/client.ts';
import { followRequest } from '../../queues/requests/follow.ts';
import type { SharedSettings } from '../../queues/runs/contract.ts';
import type { ConfigStore } from '../../src/config/store.ts';
import { atMost, LinkedAbort } from '../../src/core/abort.ts';
import { Fault } from '../../src/core/fault.ts';
import { packSecrets } from '../../src/core/secret.ts';
import { forgetFollower, type Logger, METRICS, observeFollower, observeVersion } from '../../src/core/telemetry/observe.ts';
import { placeIn } from '../../src/streams/database/followed.ts';
import { type TaskSettings, taskOf } from '../jobs/task.ts';
import type { DatasetTask } from '../task.ts';
import { announceRejected, announceVersion, type FollowerAnnouncements } from './announce.ts';
import type { FollowerQuestion, FollowTask } from './messages.ts';
import { type FollowerEnd, type FollowerHooks, FollowerProcess } from './process.ts';

export interface FollowerOptions {
  readonly service: Transformer;
  readonly settings: SharedSettings;
  readonly config: ConfigStore;
  readonly workingDirectory: string;
  readonly tasks: TaskSettings;
  /** The version of custom functions and their limits, for new runs; undefined: there are none. */
  readonly functions: () => TransformPayload['functions'];
  /** @throws Fault licence/invalid */
  readonly admit: () => Promise<void>;
  readonly announcements: FollowerAnnouncements | undefined;
  /** Whether a process of the fleet takes runs of the graph writer. */
  readonly hasWriter: () => boolean;
  readonly lockMs: number;
  readonly memoryMb: number;
}

/** `standby`: another worker follows, or this one is about to. */
export interface FollowerHealth {
  readonly state: 'off' | 'standby' | 'up' | 'down';
  /** Why it is down. */
  readonly reason?: string | undefined;
}

export interface Follower {
  health(): FollowerHealth;
  /** Ends it after the epoch, at the latest after `waitMs`, and lets another worker follow. */
  stop(waitMs: number): Promise<void>;
}

/** How soon a change is noticed that no option reports: custom functions, a licence, the place of the mapping. */
const LOOK_MS = 5_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** After a run of that length the first wait holds again. */
const CALM_MS = 120_000;
/** Time for an epoch to end. */
const STOP_MS = 30_000;
const TARGET_MS = 500;

/** What is to be followed. Others with the same key are the same. */
interface Wanted {
  readonly key: string;
  readonly task: FollowTask;
}

export function startFollower(options: FollowerOptions, logger: Logger): Follower {
  const own = new OwnFollower(options, logger);
  const running = own.run().catch((error: unknown) => logger.error({ error }, 'follower ended'));
  return {
    health: () => own.health,
    async stop(waitMs) {
      own.stop();
      if (await atMost(waitMs, running)) return;
      own.kill();
      await running;
    },
  };
}

class OwnFollower {
  readonly #options: FollowerOptions;
  readonly #logger: Logger;
  readonly #worker = randomBytes(6).toString('hex');
  readonly #stop = new AbortController();
  #process: FollowerProcess | undefined;
  health: FollowerHealth = { state: 'off' };

  constructor(options: FollowerOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
  }

  stop(): void {
    this.#stop.abort();
  }

  kill(): void {
    this.#process?.kill();
  }

  async run(): Promise<void> {
    let waitMs = FIRST_WAIT_MS;
    let logged: string | undefined;
    while (!this.#stop.signal.aborted) {
      let fault: Fault;
      const began = performance.now();
      try {
        const wanted = await this.#wanted();
        METRICS.followWanted.set(wanted === undefined ? 0 : 1);
        if (wanted === undefined) {
          this.health = { state: 'off' };
          await this.#changed(LOOK_MS);
          continue;
        }
        const end = await this.#follow(wanted);
        if (!(end instanceof Fault)) {
          waitMs = FIRST_WAIT_MS;
          continue;
        }
        fault = end;
      } catch (error) {
        fault = Fault.of(error);
      }
      if (performance.now() - began > CALM_MS) waitMs = FIRST_WAIT_MS;
      METRICS.followWanted.set(1);
      this.health = { state: 'down', reason: reasonOf(fault) };
      METRICS.followRestarts.inc();
      const fields = { code: fault.code, reason: fault.message, hint: fault.hint, seconds: waitMs / 1000 };
      // A repeated reason is logged as an error only once.
      this.#logger[logged === fault.message ? 'debug' : 'error'](fields, 'follower failed');
      logged = fault.message;
      waitMs = (await this.#changed(waitMs)) ? FIRST_WAIT_MS : Math.min(LONGEST_WAIT_MS, 2 * waitMs);
    }
  }

  /** @returns undefined: nothing @throws Fault — the options do not fit, or the licence */
  async #wanted(): Promise<Wanted | undefined> {
    const { service, config, workingDirectory, tasks, functions, admit } = this.#options;
    const snapshot = await config.refresh();
    const wanted = await followRequest(service, snapshot, workingDirectory);
    if (wanted === undefined) return undefined;
    await admit();
    const { dataset, transform, changes: address, registry, epochSeconds, epochRecords } = wanted;
    const runId = `follower-${dataset.name}`;
    const payload = { ...transform, functions: functions(), runId, submittedAt: new Date(0).toISOString() };
    const { request, ...rest } = await taskOf(payload, '1', tasks);
    const task: FollowTask = {
      task: { ...rest, request: { ...request, startedAt: undefined }, dataset: rest.dataset as DatasetTask },
      topics: { address, registry, security: securityOf(snapshot), trusted: snapshot.KAFKA_BROKERS },
      epochSeconds,
      epochRecords,
    };
    const key = createHash('sha256')
      .update(JSON.stringify(packSecrets(task)))
      .digest('hex');
    return { key, task };
  }

  /** @returns undefined: something else is wanted, or nothing, or another worker follows */
  async #follow({ key, task }: Wanted): Promise<FollowerEnd | undefined> {
    const { settings, service, lockMs, memoryMb } = this.#options;
    const { name, url } = task.task.dataset;
    this.health = { state: 'standby' };
    const unwanted = this.#watch(key);
    let end: FollowerEnd | undefined;
    try {
      const lease = await takeLease({ settings, url, worker: this.#worker, lockMs }, { service, phase: 'starting' }, unwanted.signal);
      if (lease === undefined) return undefined;
      METRICS.followActive.set(1);
      this.#logger.info({ dataset: name }, 'following');
      const followed = new Followed(this.#options, task, lease, unwanted.signal, this.#logger, (health) => {
        this.health = health;
      });
      const child = new FollowerProcess(task, memoryMb, followed);
      this.#process = child;
      lease.renewed = () => child.renewed(lockMs);
      child.renewed(lockMs);
      const kill = (): void => child.kill();
      let late: NodeJS.Timeout | undefined;
      const stop = (): void => {
        child.stop();
        late = setTimeout(kill, STOP_MS);
      };
      if (lease.lost.aborted) kill();
      else lease.lost.addEventListener('abort', kill, { once: true });
      if (unwanted.signal.aborted) stop();
      else unwanted.signal.addEventListener('abort', stop, { once: true });
      end = await child.ended;
      clearTimeout(late);
      lease.lost.removeEventListener('abort', kill);
      unwanted.signal.removeEventListener('abort', stop);
      if (lease.lost.aborted) {
        this.#logger.warn({ dataset: name }, 'follower ended: its lease is lost');
        return undefined;
      }
      if (unwanted.signal.aborted) end = 'stopped';
      await lease.release(await this.#stateAfter(followed, end, url)).catch(() => undefined);
      if (!(end instanceof Fault)) this.#logger.info({ dataset: name, reason: end }, 'follower ended');
      return end;
    } finally {
      this.#process = undefined;
      METRICS.followActive.set(0);
      forgetFollower(name);
      unwanted.end();
    }
  }

  async #stateAfter({ state }: Followed, end: FollowerEnd, url: string): Promise<FollowerState> {
    if (end instanceof Fault) return { ...state, phase: 'failed', reason: reasonOf(end) };
    // Another worker goes on, or this one does.
    if (this.#stop.signal.aborted) return { ...state, phase: 'starting' };
    const wanted = await this.#wanted().catch(() => undefined);
    return { ...state, phase: wanted?.task.task.dataset.url === url ? 'starting' : 'off' };
  }

  /** Aborted when the worker stops, or what is wanted has changed. */
  #watch(key: string): { readonly signal: AbortSignal; end(): void } {
    const unwanted = new AbortController();
    const look = async (): Promise<void> => {
      const now = await this.#wanted().catch((error) => (Fault.of(error).retriable ? { key } : undefined));
      if (now?.key !== key) unwanted.abort();
    };
    const abort = (): void => unwanted.abort();
    const timer = setInterval(() => void look(), LOOK_MS);
    const unwatch = this.#options.config.onChange(() => void look());
    this.#stop.signal.addEventListener('abort', abort);
    if (this.#stop.signal.aborted) abort();
    return {
      signal: unwanted.signal,
      end: () => {
        clearInterval(timer);
        unwatch();
        this.#stop.signal.removeEventListener('abort', abort);
      },
    };
  }

  /** Until an option changes, the worker stops, or the time is over. @returns whether an option has changed */
  async #changed(ms: number): Promise<boolean> {
    const over = new LinkedAbort([this.#stop.signal], ms);
    const unwatch = this.#options.config.onChange(() => over.abort());
    await new Promise<void>((resolve) => {
      if (over.signal.aborted) resolve();
      else over.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    unwatch();
    return !over.timedOut;
  }
}

const reasonOf = ({ message, hint }: Fault): string => (hint === undefined ? message : `${message}. ${hint}`);

/** What the process asks for and tells, while this worker has the lease. */
class Followed implements FollowerHooks {
  readonly #options: FollowerOptions;
  readonly #task: FollowTask;
  readonly #lease: Lease;
  readonly #unwanted: AbortSignal;
  readonly #logger: Logger;
  readonly #tellHealth: (health: FollowerHealth) => void;
  state: FollowerState;
  #epochs = 0;

  constructor(
    options: FollowerOptions,
    task: FollowTask,
    lease: Lease,
    unwanted: AbortSignal,
    logger: Logger,
    tellHealth: (health: FollowerHealth) => void,
  ) {
    this.#options = options;
    this.#task = task;
    this.#lease = lease;
    this.#unwanted = unwanted;
    this.#logger = logger;
    this.#tellHealth = tellHealth;
    this.state = { service: options.service, phase: 'starting' };
    this.#change({});
  }

  async answer(question: FollowerQuestion): Promise<void> {
    const { announcements, service } = this.#options;
    const { name } = this.#task.task.dataset;
    switch (question.kind) {
      case 'confirm':
        return this.#lease.confirm();
      case 'rejected':
        METRICS.followRejected.inc({ dataset: name });
        this.#logger.warn({ dataset: name, place: question.message.place, reason: question.message.reason }, 'message rejected');
        if (announcements !== undefined) await announceRejected(announcements, service, name, question.message, this.#lease.lost);
        return;
      case 'version': {
        const { runId, result, isNew } = question;
        const { version = 0, previousVersion = 0, added = 0, removed = 0 } = result.dataset ?? {};
        observeVersion(name, version, isNew ? { added, removed } : undefined);
        if (isNew) {
          const { records, rejected, quads, warnings } = result.report;
          const fields = { dataset: name, version, previousVersion, added, removed, records, quads, rejected };
          this.#logger.info(warnings.length === 0 ? fields : { ...fields, warnings }, 'version made');
        }
        this.#change({ version });
        const isAwaited = announcements !== undefined && (await announceVersion(announcements, service, runId, result, this.#lease.lost));
        if (isAwaited) await this.#waitForTarget(version);
        return;
      }
    }
  }

  tell(message: Parameters<FollowerHooks['tell']>[0]): void {
    const { name } = this.#task.task.dataset;
    switch (message.kind) {
      case 'progress': {
        const { feed, position, epochs, lag } = message.progress;
        if (epochs > this.#epochs) METRICS.followEpochs.inc({ dataset: name }, epochs - this.#epochs);
        const isBack = this.state.phase === 'starting' || (this.state.phase === 'failed' && epochs > this.#epochs);
        this.#epochs = epochs;
        observeFollower(name, lag);
        this.#change({
          feed,
          position: position && placeIn(position),
          lag,
          ...(isBack ? { phase: 'following', reason: undefined } : {}),
        });
        return;
      }
      case 'retry': {
        const fault = Fault.from(message.fault);
        this.#logger.warn(
          { dataset: name, code: fault.code, reason: fault.message, seconds: message.waitMs / 1000 },
          'feed of changes lost',
        );
        METRICS.followRestarts.inc();
        this.#change({ phase: 'failed', reason: reasonOf(fault) });
        return;
      }
      case 'warning':
        this.#logger.warn({ dataset: name, reason: message.text }, 'warning of the follower');
        return;
    }
  }

  /** The follower waits, and reads no change meanwhile, while the target lacks too many versions. */
  async #waitForTarget(version: number): Promise<void> {
    const { settings, config, hasWriter } = this.#options;
    const { name, url } = this.#task.task.dataset;
    while (!this.#unwanted.aborted && !this.#lease.lost.aborted) {
      const most = config.snapshot().FOLLOW_MAX_BEHIND;
      // A queue that is away is asked again.
      const target = await targetVersionOf(settings, url).catch(() => Number.NaN);
      const behind = target === undefined || Number.isNaN(target) ? undefined : Math.max(0, version - target);
      if (target === undefined || (behind !== undefined && (most === 0 || behind <= most || !hasWriter()))) {
        this.#change({ behind, ...(this.state.phase === 'waiting' ? { phase: 'following' } : {}) });
        return;
      }
      if (this.state.phase !== 'waiting') this.#logger.warn({ dataset: name, version, behind }, 'follower waits for the target');
      this.#change({ behind, phase: 'waiting' });
      await sleep(TARGET_MS);
    }
  }

  #change(part: Partial<FollowerState>): void {
    this.state = { ...this.state, ...part };
    this.#lease.tell(this.state);
    const { phase, reason } = this.state;
    this.#tellHealth(phase === 'failed' ? { state: 'down', reason } : { state: 'up' });
  }
}
