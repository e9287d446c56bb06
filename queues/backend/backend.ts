/**
 * Opens the queue that the options name and creates BullMQ's objects on it. Nothing outside `queues/backend` knows which kind of queue is
 * in use or touches its client library.
 */

import { join } from 'node:path';
import { type Job, type Processor, Queue, type QueueEvents, type Worker, type WorkerOptions } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import type { Snapshot } from '../../src/config/options/options.ts';
import type { SharedSettings } from '../../src/config/store.ts';
import { atMost, within } from '../../src/core/abort.ts';
import { Fault } from '../../src/core/fault.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';
import { isTraced, TRACER } from '../../src/core/telemetry/trace.ts';
import { nextTick } from '../cron.ts';
import { anySet, readTls } from '../tls.ts';
import type { BackendKind, Driver } from './driver.ts';
import type { FairQueueing } from './fair-queueing.ts';
import type { JobChanges } from './jobs/changes.ts';
import { GatheredEvents } from './jobs/events.ts';
import type { DatasetLines } from './jobs/lines.ts';
import { NO_BACKOFF, RenewingWorker, type StalledBackoff, watchStalledJobs } from './jobs/stalled-jobs.ts';
import { type QueueErrors, watchErrors } from './outages.ts';
import { openEmbedded, openPostgres } from './postgres.ts';
import { describeRedis, openRedis } from './redis.ts';
import { QUEUE_TLS } from './redis-errors.ts';
import { findRedisServer, startRedisServer } from './redis-server.ts';
import { isRedisUrl, parseRedisUrl, type RedisSecurity, type RedisServers } from './redis-url.ts';
import { AT_START, queueRefusal } from './refusals.ts';
import { watchSettings } from './settings.ts';

export type { BackendKind } from './driver.ts';

export interface BackendOptions {
  /** `redis://…`, `postgres://…` or `embedded:`; undefined: a private redis-server if one is installed, else embedded. */
  readonly url: string | undefined;
  /** Absolute path; the files of a private or embedded queue are stored here. */
  readonly directory: string;
  readonly prefix: string;
  /** For Redis by TLS, and for sentinels. */
  readonly security?: QueueSecurity;
}

export type QueueSecurity = Partial<
  Pick<Snapshot, 'QUEUE_SSL_CA' | 'QUEUE_SSL_CERT' | 'QUEUE_SSL_KEY' | 'QUEUE_SENTINEL_USERNAME' | 'QUEUE_SENTINEL_PASSWORD'>
>;

export interface WorkerSettings<D = unknown, R = unknown>
  extends Partial<Omit<WorkerOptions, 'connection' | 'prefix' | 'maxStalledCount' | 'skipStalledCheck'>> {
  /** Backoff of its jobs after their worker was lost; undefined: none. A job does not fail because of this, however often it happens. */
  readonly stalledBackoff?: StalledBackoff;
  /** Called after each attempt, also where the queue has not said whether it has the end of the job. */
  afterwards?(job: Job<D, R>): void;
}

/** `close` closes everything created here, in the order: workers, listeners, producers, connections, private server. */
export interface QueueBackend {
  readonly kind: BackendKind;
  /** Human-readable, without passwords. */
  describe(): string;
  /** Returns the same object for the same name. */
  queue<D = unknown, R = unknown>(name: string): Queue<D, R>;
  /** Starts by itself only if `settings.autorun` is set. */
  worker<D = unknown, R = unknown>(name: string, process: Processor<D, R>, settings: WorkerSettings<D, R>): Worker<D, R>;
  /** Delivers events from now on, without the gap that BullMQ leaves before the first one. */
  queueEvents(name: string): Promise<QueueEvents>;
  readonly settings: SharedSettings;
  readonly fairQueueing: FairQueueing;
  readonly jobChanges: JobChanges;
  readonly datasetLines: DatasetLines;
  /** Writes to it. @throws Fault service/unavailable — no answer within `waitMs`, or it takes no writes */
  ping(waitMs?: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * @throws Fault service/unavailable — it cannot be reached, takes no writes, or another process has it; config/invalid — a URL of an unknown kind or with
 *   mistakes, options that contradict it, a PEM file
 */
export async function openBackend(options: BackendOptions, logger: Logger): Promise<QueueBackend> {
  const driver = await openDriver(options, logger);
  try {
    await answerOf(START_MS, driver.ping(), `The queue (${driver.description}) does not answer`, AT_START);
  } catch (error) {
    await driver.close();
    throw error;
  }
  return makeBackend(driver, logger);
}

/** A server that has just been started may be slow. */
const START_MS = 10_000;

async function openDriver({ url, directory, prefix, security = {} }: BackendOptions, logger: Logger): Promise<Driver> {
  const servers = url !== undefined && isRedisUrl(url) ? parseRedisUrl(url) : undefined;
  const address = securedBy(security, servers);
  if (url === undefined) {
    const version = await findRedisServer();
    if (version === undefined) return openEmbedded(join(directory, 'embedded'), prefix);
    const server = await startRedisServer(join(directory, 'redis'), version);
    if (server.replaced) logger.warn({ pid: server.pid }, 'ended the redis-server of an earlier process');
    const description = `private redis-server ${version}, files in ${join(directory, 'redis')}`;
    try {
      return await openRedis({ kind: 'socket', socket: server.socket }, prefix, description, () => server.stop());
    } catch (error) {
      await server.stop();
      throw error;
    }
  }
  if (address !== undefined) return openRedis(address, prefix, describeRedis(url));
  if (/^postgres(ql)?:/.test(url)) return openPostgres(url, prefix);
  if (url === 'embedded:') return openEmbedded(join(directory, 'embedded'), prefix);
  throw new Fault('config/invalid', 'QUEUE_URL has an unknown scheme', {
    hint: 'Use redis://…, rediss://…, redis+sentinel://…, redis+cluster://…, postgres://… or embedded:',
  });
}

/** The servers with what the options say of them. @throws Fault config/invalid — an option without effect; a PEM file */
function securedBy(security: QueueSecurity, servers: RedisServers | undefined): (RedisServers & RedisSecurity) | undefined {
  const { QUEUE_SENTINEL_USERNAME: user, QUEUE_SENTINEL_PASSWORD: password } = security;
  const paths = { ca: security.QUEUE_SSL_CA, cert: security.QUEUE_SSL_CERT, key: security.QUEUE_SSL_KEY };
  const file = anySet(paths, QUEUE_TLS);
  if (file !== undefined && servers?.secure !== true) {
    throw new Fault('config/invalid', `${file} is set, but QUEUE_URL does not say TLS`, {
      hint: 'Write QUEUE_URL as rediss://…, rediss+sentinel://… or rediss+cluster://…',
    });
  }
  if ((user ?? password) !== undefined && servers?.kind !== 'sentinel') {
    const option = user === undefined ? 'QUEUE_SENTINEL_PASSWORD' : 'QUEUE_SENTINEL_USERNAME';
    throw new Fault('config/invalid', `${option} is set, but QUEUE_URL names no sentinels`, {
      hint: 'Write QUEUE_URL as redis+sentinel://host:26379/mymaster',
    });
  }
  if (servers === undefined) return undefined;
  const tls = servers.secure ? { tls: readTls(paths, QUEUE_TLS) } : {};
  return { ...servers, ...tls, sentinelUsername: user, sentinelPassword: password?.reveal() };
}

/** BullMQ's default. */
const STALLED_MS = 30_000;

interface Closable {
  /** `force` applies to workers only: close without an answer of the queue. */
  close(force?: boolean): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

function makeBackend(driver: Driver, logger: Logger): QueueBackend {
  const settings = watchSettings(driver.settings);
  const queues = new Map<string, Queue>();
  const opened: { workers: Closable[]; listeners: Closable[]; producers: Closable[] } = { workers: [], listeners: [], producers: [] };
  const ping = (waitMs = 2_000): Promise<void> => answerOf(waitMs, driver.ping(), `The queue (${driver.description}) does not answer`);
  const errors: QueueErrors = watchErrors(ping, logger);
  driver.onError((error) => errors.report(error, 'connection'));
  let closing: Promise<void> | undefined;

  const track = <T extends Closable>(list: Closable[], made: T, what: string): T => {
    made.on('error', (error) => errors.report(error, what));
    list.push(made);
    return made;
  };
  // Only if traces are read: the trace context would be stored with every job.
  const telemetry = isTraced() ? { telemetry: new BullMQOtel({ tracerName: TRACER }) } : {};
  // BullMQ's types tie each class to its Redis backend; the factory replaces the backend. `nextTick` replaces BullMQ's cron parser, which
  // refuses Quartz's seventh field.
  const common = (role: 'producer' | 'consumer') => ({
    connection: driver.connection(role) as never,
    prefix: driver.prefix,
    settings: { repeatStrategy: nextTick },
    ...telemetry,
  });
  const factory = driver.factory as undefined;

  return {
    kind: driver.kind,
    describe: () => driver.description,

    queue<D, R>(name: string): Queue<D, R> {
      let queue = queues.get(name);
      if (queue === undefined) {
        queue = track(opened.producers, new Queue(name, common('producer'), factory), `queue ${name}`) as Queue;
        queues.set(name, queue);
      }
      return queue as unknown as Queue<D, R>;
    },

    worker<D, R>(name: string, process: Processor<D, R>, settings: WorkerSettings<D, R>): Worker<D, R> {
      const { stalledBackoff = NO_BACKOFF, stalledInterval = STALLED_MS, afterwards, ...rest } = settings;
      const options = { autorun: false, ...rest, skipStalledCheck: true, ...common('consumer') };
      const worker = track(
        opened.workers,
        new RenewingWorker<D, R>(driver.jobChanges.confirm, afterwards, name, process, options, factory),
        `worker ${name}`,
      );
      // A check is skipped if the previous one was less than an interval ago. Checking twice per interval guarantees one check in every
      // interval.
      watchStalledJobs(worker as unknown as Worker, driver.recoverStalled, stalledInterval / 2, stalledBackoff);
      return worker;
    },

    async queueEvents(name) {
      const opening = await this.queue(name).getBackend().publishEvent({ event: 'listener' }, 10_000);
      return track(
        opened.listeners,
        new GatheredEvents(name, { ...common('consumer'), lastEventId: opening }, factory),
        `events of ${name}`,
      );
    },

    settings,
    fairQueueing: driver.fairQueueing,
    jobChanges: driver.jobChanges,
    datasetLines: driver.datasetLines,

    ping,

    close() {
      closing ??= (async () => {
        settings.close();
        errors.close();
        const force = !(await responds(driver));
        for (const list of [opened.workers, opened.listeners, opened.producers]) {
          await atMost(CLOSE_MS, Promise.allSettled(list.map((one) => one.close(force))));
        }
        await driver.close();
      })();
      return closing;
    },
  };
}

/**
 * Waits at most `waitMs` for an answer of the queue.
 *
 * @param afterwards see `queueRefusal`
 * @throws Fault service/unavailable — it took longer or failed; the message is `message` and the reason
 */
export async function answerOf<T>(waitMs: number, answer: Promise<T>, message: string, afterwards?: string): Promise<T> {
  const onTimeout = (): never => {
    throw new Fault('service/unavailable', `${message}: no answer within ${waitMs / 1000} s`);
  };
  try {
    return await within(waitMs, answer, onTimeout);
  } catch (error) {
    if (error instanceof Fault) throw error;
    const refusal = queueRefusal(error, afterwards);
    if (refusal !== undefined) throw refusal;
    throw new Fault('service/unavailable', `${message}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

async function responds(driver: Driver): Promise<boolean> {
  let answered = false;
  await atMost(
    1_000,
    driver.ping().then(() => {
      answered = true;
    }),
  );
  return answered;
}

/** BullMQ asks the queue before it closes, and waits without limit for a queue that is away. */
const CLOSE_MS = 2_000;
