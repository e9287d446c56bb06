/**
 * The outbox: messages of outcomes, stored in the queue until the message queue has accepted them.
 *
 * `announce` adds them before a run counts as announced, under an id that a repeated attempt finds again. Any worker of the service may take
 * the job and sends the messages, and sends all of them again after a crash or while the brokers are away: at-least-once delivery. The
 * messages of one run are one job, so they keep their order.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job, type Queue } from 'bullmq';
import type { Snapshot } from '../../src/config/options/options.ts';
import { atMost } from '../../src/core/abort.ts';
import { type Logger, METRICS } from '../../src/core/telemetry/observe.ts';
import { answerOf, type QueueBackend } from '../backend/backend.ts';
import { ALL_SERVICES, SERVICE_QUEUES, type Service } from '../jobs.ts';
import { type BusState, type MessageBus, MessageTooLarge, type OutgoingMessage } from './bus.ts';
import { type MessageKind, type OutcomeMessages, SOURCE_MESSAGE_HEADERS, withoutSourceMessage } from './messages.ts';

/** Bytes are stored as base64. */
interface StoredMessage extends Omit<OutgoingMessage, 'headers'> {
  readonly headers: Readonly<Record<string, string | { readonly base64: string }>>;
}

interface OutboxPayload {
  readonly kind: MessageKind;
  readonly messages: readonly StoredMessage[];
}

export interface Outbox {
  /**
   * Resolves when the queue has stored them. Adding the same run and kind again before they are sent changes nothing. @throws Fault
   * service/unavailable
   */
  add(service: Service, announcement: OutcomeMessages): Promise<void>;
}

const ADD_MS = 2_000;
/** PostgreSQL stores attempts in 32 bits. */
const UNLIMITED_ATTEMPTS = 2 ** 31 - 1;
const RETRY_MS = 3_000;

const queueOf = (backend: QueueBackend, service: Service): Queue<OutboxPayload> =>
  backend.queue<OutboxPayload>(SERVICE_QUEUES[service].outbox);

export function openOutbox(backend: QueueBackend): Outbox {
  return {
    async add(service, { runId, kind, messages }) {
      if (messages.length === 0) return;
      const adding = queueOf(backend, service).add(
        kind,
        { kind, messages: messages.map(encodeMessage) },
        {
          jobId: `${runId}-${kind}`,
          attempts: UNLIMITED_ATTEMPTS,
          backoff: { type: 'fixed', delay: RETRY_MS },
          removeOnComplete: true,
          removeOnFail: false,
        },
      );
      await answerOf(ADD_MS, adding, 'The messages of the outcome may not have been stored');
    },
  };
}

const encodeMessage = (message: OutgoingMessage): StoredMessage => ({
  ...message,
  headers: Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : { base64: value.toString('base64') },
    ]),
  ),
});

const decodeMessage = (message: StoredMessage): OutgoingMessage => ({
  ...message,
  headers: Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [name, typeof value === 'string' ? value : Buffer.from(value.base64, 'base64')]),
  ),
});

export interface SenderSettings {
  /** Whose messages are sent; default: those of all services. */
  readonly services?: readonly Service[];
  readonly bus: MessageBus;
  /** The bus of a kind of message, where it is another one at present. */
  readonly busOf?: (kind: MessageKind) => MessageBus | undefined;
  readonly state: BusState;
  readonly snapshot: Pick<Snapshot, 'LOCK_SECONDS' | 'STALLED_SECONDS'>;
  /** The current topic of a kind of message; default: the topic at the time it was added. */
  readonly topicOf?: (kind: MessageKind) => string;
}

export interface Sender {
  /** Sends the remaining messages for at most `waitMs`; the rest is left to another process or the next start. */
  close(waitMs: number): Promise<void>;
}

/** Outcomes sent concurrently; concurrent messages share requests. */
const CONCURRENCY = 200;
const KAFKA = { queue: 'kafka' } as const;
const MEASURE_MS = 2_000;
const NO_CONSUMER_RETRY_MS = 60_000;
const FLUSH_POLL_MS = 50;
const CLOSE_MS = 1_000;

/** Sends until closed, while the switch is on. */
export async function startSender(
  backend: QueueBackend,
  { services = ALL_SERVICES, bus: usual, busOf, state, snapshot, topicOf }: SenderSettings,
  logger: Logger,
): Promise<Sender> {
  const queues = services.map((service) => queueOf(backend, service));
  const health = watchSendHealth(usual, logger);
  const postpone = makePostpone(usual, logger);
  const sendJob = async (job: Job<OutboxPayload>, token: string | undefined): Promise<void> => {
    const { kind, messages } = job.data;
    if (!state.isOn()) throw new Error('The message queue is switched off');
    const bus = busOf?.(kind) ?? usual;
    const outgoing = messages.map(decodeMessage).map((message) => ({ ...message, topic: topicOf?.(kind) ?? message.topic }));
    const unconsumed = outgoing.find(({ topic }) => !bus.hasConsumer(topic));
    if (unconsumed !== undefined) {
      await postpone(job, token, unconsumed.topic);
      throw new DelayedError();
    }
    try {
      await send(bus, outgoing);
      if (bus === usual) health.report(undefined);
    } catch (error) {
      if (bus === usual) health.report(error);
      else logger.warn({ error, broker: bus.describe() }, 'messages cannot be sent; they are kept and sent later');
      throw error;
    }
    METRICS.messagesSent.inc({ kind }, messages.length);
  };
  const workers = services.map((service) =>
    backend.worker<OutboxPayload, void>(SERVICE_QUEUES[service].outbox, sendJob, {
      concurrency: CONCURRENCY,
      lockDuration: snapshot.LOCK_SECONDS * 1_000,
      stalledInterval: snapshot.STALLED_SECONDS * 1_000,
      drainDelay: 5,
      runRetryDelay: 1_000,
    }),
  );
  let closed = false;
  const applySwitch = (on: boolean): void => {
    if (closed) return;
    const switching = on
      ? Promise.all(workers.map((worker) => worker.resume()))
      : Promise.all(workers.map((worker) => worker.pause(true))).then(() => usual.disconnect());
    switching.catch((error: unknown) => logger.warn({ error }, 'message sender not switched'));
  };
  const unwatch = state.onChange(applySwitch);
  const timer = setInterval(() => {
    measure(queues).catch(() => METRICS.queueErrors.inc({ kind: 'outbox' }));
  }, MEASURE_MS).unref();
  await Promise.all(workers.map((worker) => worker.waitUntilReady()));
  applySwitch(state.isOn());

  return {
    async close(waitMs) {
      closed = true;
      unwatch();
      clearInterval(timer);
      const flush = async (): Promise<void> => {
        const left = async (): Promise<readonly number[]> =>
          Promise.all(queues.map((queue) => queue.getJobCountByTypes('waiting', 'active')));
        while (state.isOn() && (await left()).some((count) => count > 0)) await sleep(FLUSH_POLL_MS);
      };
      if (!health.isFailing() && !workers.some((worker) => worker.isPaused())) await atMost(waitMs, flush());
      await atMost(CLOSE_MS, Promise.all(workers.map((worker) => worker.close())));
    },
  };
}

/** Delays messages whose topic has no consumer any more, so that they do not block others. Logged once per topic. */
function makePostpone(bus: MessageBus, logger: Logger): (job: Job, token: string | undefined, topic: string) => Promise<void> {
  const logged = new Set<string>();
  return async (job, token, topic) => {
    if (!logged.has(topic)) logger.warn({ topic, broker: bus.describe() }, 'messages are kept: their topic has no consumer here');
    logged.add(topic);
    await job.moveToDelayed(Date.now() + NO_CONSUMER_RETRY_MS, token);
  };
}

/** A dead letter that is too large for the brokers is sent without the source message, which can be found by its headers. */
async function send(bus: MessageBus, messages: readonly OutgoingMessage[]): Promise<void> {
  try {
    await bus.produce(messages);
  } catch (error) {
    const hasOriginal = messages.some(({ headers }) => SOURCE_MESSAGE_HEADERS.some((name) => headers[name] !== undefined));
    if (!hasOriginal || !(error instanceof MessageTooLarge)) throw error;
    await bus.produce(messages.map(withoutSourceMessage));
  }
}

/** Logs when sending starts to fail, and when it works again. */
function watchSendHealth({ kind }: MessageBus, logger: Logger): { report(error: unknown): void; isFailing(): boolean } {
  let failing: string | undefined;
  return {
    isFailing: () => failing !== undefined,
    report(error) {
      if (kind === 'kafka') METRICS.messageQueueUp.set(KAFKA, error === undefined ? 1 : 0);
      const reason = error === undefined ? undefined : String((error as Error).message);
      if (reason === failing) return;
      failing = reason;
      if (reason === undefined) logger.info('messages are sent again');
      else logger.warn({ reason, error }, 'messages cannot be sent; they are kept and sent later');
    },
  };
}

async function measure(queues: readonly Queue<OutboxPayload>[]): Promise<void> {
  const counts = await Promise.all(queues.map((queue) => queue.getJobCounts('waiting', 'active', 'delayed', 'failed')));
  METRICS.outboxDepth.set(counts.flatMap((one) => Object.values(one)).reduce((sum, count) => sum + count, 0));
  const states = ['waiting', 'active', 'delayed'] as const;
  const oldest = await Promise.all(queues.flatMap((queue) => states.map((state) => queue.getJobs(state, 0, 0, true))));
  const times = oldest.flat().flatMap((job) => (job?.timestamp === undefined ? [] : [job.timestamp]));
  METRICS.outboxAge.set(times.length === 0 ? 0 : (Date.now() - Math.min(...times)) / 1_000);
}
