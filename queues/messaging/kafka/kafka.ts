/**
 * The message bus on Apache Kafka. Nothing else knows its client library.
 *
 * What it takes that nothing is lost: a key on every message, an idempotent producer that waits for all replicas, offsets that are committed
 * after the hand-over, and a new client in place of one that gave up. The library's consumer ends for good when it meets an error that it
 * does not expect, and its producer may refuse everything after a failed batch; so both are replaced then.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Admin,
  type EachBatchPayload,
  Kafka,
  type KafkaConfig,
  logLevel,
  Partitioners,
  type Producer,
  type SASLOptions,
} from 'kafkajs';
import type { Snapshot } from '../../../src/config/options/options.ts';
import { LinkedAbort } from '../../../src/core/abort.ts';
import { Fault } from '../../../src/core/fault.ts';
import { type Logger, METRICS } from '../../../src/core/telemetry/observe.ts';
import { atMost } from '../../backend/backend.ts';
import {
  type IncomingMessage,
  type MessageBus,
  type MessageHandler,
  MessageTooLarge,
  type OutgoingMessage,
  type Subscription,
} from '../bus.ts';
import { explainHandshake, kafkaTls } from './tls.ts';

/** Long enough for a broker that is started again; `requestTimeout` stays at 30 s, since a request that is given up too early is done twice. */
const RETRY = { retries: 50, initialRetryTime: 200, maxRetryTime: 2_000 } as const;
/** Of a producer, about half a minute: whoever asks it to send asks again. */
const SEND_RETRIES = 15;
/** Of one request of a producer; a broker takes a megabyte at once by default. */
const BATCH_BYTES = 256 * 1024;
/** A consumer that gives no sign of life for so long has lost its partitions; the second bounds how long a new distribution waits for one. */
const SESSION_MS = 6_000;
const REBALANCE_MS = 15_000;
const HEARTBEAT_MS = 1_000;
/** How long a fetch waits for messages, and with it the end of a consumer. */
const FETCH_WAIT_MS = 200;
/** Before a client is made in place of one that failed, and a message is handed over again. */
const RETRY_MS = 1_000;
/** Messages that are handed over at the same time; a commit follows. */
const HANDLER_CONCURRENCY = 20;
const CLOSE_MS = 2_000;
const LAG_MS = 5_000;
const LAG_RETRIES = 2;

/** A new client, which tries what fails so many times more. */
type Client = (retries?: number) => Kafka;

/** @throws Fault config/invalid — options that contradict each other, a file of certificates that cannot be read */
export function openKafka(snapshot: Snapshot, logger: Logger): MessageBus {
  const config = clientConfig(snapshot);
  const explain = (error: unknown): string | undefined => explainError(error, snapshot);
  const log = throttledLog(logger, explain);
  /** The library writes into the login that it is given. */
  const client: Client = (retries = RETRY.retries) => {
    const login = config.sasl === undefined ? {} : { sasl: { ...config.sasl } as SASLOptions };
    return new Kafka({ ...config, ...login, retry: { ...RETRY, retries }, logCreator: () => log });
  };
  const producers = openProducers(client, logger);
  let admin: Promise<Admin> | undefined;
  /** Why it went wrong the last time, by what was asked for. */
  const lastErrors = new Map<'send' | 'take', string>();
  const reportConsume = (error: unknown): void => {
    if (error === undefined) lastErrors.delete('take');
    else lastErrors.set('take', explain(error) ?? UNREACHABLE);
  };

  const closeAdmin = async (): Promise<void> => {
    const dropped = admin;
    admin = undefined;
    if (dropped !== undefined)
      await atMost(
        CLOSE_MS,
        dropped.then((one) => one.disconnect()),
      );
  };

  return {
    kind: 'kafka',
    describe: () => `Kafka at ${snapshot.KAFKA_BROKERS.join(', ')}`,
    hasConsumer: () => true,
    lastError: () => lastErrors.get('send') ?? lastErrors.get('take'),

    async produce(messages) {
      try {
        await producers.send(messages);
        lastErrors.delete('send');
      } catch (error) {
        if (error instanceof MessageTooLarge) throw error;
        const explained = explain(error);
        lastErrors.set('send', explained ?? UNREACHABLE);
        throw explained === undefined ? error : new Error(explained, { cause: error });
      }
    },

    consume: (topic, group, handler, additionalTopics = []) =>
      subscribe(client, { topics: [topic, ...additionalTopics], group, handler, report: reportConsume, explain }, logger),

    async lag(topic, group) {
      try {
        admin ??= (async () => {
          // Soon told: whoever asks does so again.
          const made = client(LAG_RETRIES).admin({ retry: { retries: 0 } });
          await made.connect();
          return made;
        })();
        const connected = await admin;
        const asked = Promise.all([connected.fetchTopicOffsets(topic), connected.fetchOffsets({ groupId: group, topics: [topic] })]);
        const late = sleep(LAG_MS, undefined, { ref: false });
        const answer = await Promise.race([asked, late]);
        if (answer === undefined) throw new Fault('service/unavailable', 'The brokers do not answer');
        const [ends, [taken]] = answer;
        reportConsume(undefined);
        const next = new Map(taken?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
        // Nothing committed is -1, and what was deleted by age counts no more.
        return ends.reduce((sum, { partition, high, low }) => sum + Number(high) - Math.max(Number(low), next.get(partition) ?? -1), 0);
      } catch (error) {
        reportConsume(error);
        await closeAdmin();
        throw error;
      }
    },

    async disconnect() {
      await Promise.all([producers.disconnect(), closeAdmin()]);
      lastErrors.clear();
    },
  };
}

const UNREACHABLE = 'The brokers cannot be reached';

/** In words that may be shown to everybody; undefined: nothing is known but that it failed. */
function explainError(error: unknown, options: Snapshot): string | undefined {
  const { name, message, cause } = error as { name?: string; message?: string; cause?: unknown };
  if (name === 'KafkaJSSASLAuthenticationError') return `The brokers refuse the login of KAFKA_USERNAME: ${message}`;
  if (name === 'KafkaJSProtocolError') return message;
  const handshake = explainHandshake(String(message ?? error), options);
  if (handshake !== undefined) return handshake;
  return cause === undefined ? undefined : explainError(cause, options);
}

function clientConfig(snapshot: Snapshot): KafkaConfig {
  const { KAFKA_BROKERS, KAFKA_SASL_MECHANISM: mechanism } = snapshot;
  const { KAFKA_USERNAME: username, KAFKA_PASSWORD: password } = snapshot;
  if (mechanism !== 'none' && (username === undefined || password === undefined)) {
    throw new Fault('config/invalid', `KAFKA_SASL_MECHANISM is ${mechanism}, which needs a user and a password`, {
      hint: 'Set KAFKA_USERNAME and KAFKA_PASSWORD',
    });
  }
  if (mechanism === 'none' && password !== undefined) {
    throw new Fault('config/invalid', 'KAFKA_PASSWORD is set, but nothing says how to log in', {
      hint: 'Set KAFKA_SASL_MECHANISM to plain, scram-sha-256 or scram-sha-512',
    });
  }
  const tls = kafkaTls(snapshot);
  return {
    clientId: 'quadmill',
    brokers: [...KAFKA_BROKERS],
    ...(tls === undefined ? {} : { ssl: tls }),
    ...(mechanism === 'none' ? {} : { sasl: { mechanism, username, password } as SASLOptions }),
    logLevel: logLevel.ERROR,
  };
}

interface ConsumerOptions {
  readonly topics: readonly string[];
  readonly group: string;
  readonly handler: MessageHandler;
  /** Told what went wrong; undefined: messages are taken. */
  readonly report: (error: unknown) => void;
  readonly explain: (error: unknown) => string | undefined;
}

/** One consumer after the other, each until it fails, until it is closed. */
function subscribe(client: Client, { topics, group, handler, report, explain }: ConsumerOptions, logger: Logger): Subscription {
  const stop = new AbortController();
  const { signal } = stop;

  const consumeOnce = async (): Promise<void> => {
    const consumer = client().consumer({
      groupId: group,
      sessionTimeout: SESSION_MS,
      rebalanceTimeout: REBALANCE_MS,
      heartbeatInterval: HEARTBEAT_MS,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      // A consumer that crashed is replaced here, whatever it crashed of.
      retry: { ...RETRY, restartOnFailure: async () => false },
    });
    let closed: Promise<unknown> | undefined;
    const close = (): Promise<unknown> => {
      closed ??= atMost(CLOSE_MS, consumer.disconnect());
      return closed;
    };
    const crashed = new Promise<never>((_, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
    });
    const over = new AbortController();
    const stopped = untilAborted(signal, over.signal);
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      report(undefined);
      const partitions = sum(topics.map((topic) => payload.memberAssignment[topic]?.length ?? 0));
      logger.info({ topics, group, partitions }, 'messages are taken');
    });
    const steps = [
      () => consumer.connect(),
      // A group that is new takes what was there before it.
      () => consumer.subscribe({ topics: [...topics], fromBeginning: true }),
      () => consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: (batch) => processBatch(batch) }),
    ];
    const run = async (): Promise<void> => {
      for (const step of steps) {
        await step();
        // Closed meanwhile: one that joins now holds partitions, and takes nothing.
        if (closed !== undefined) return void (await consumer.disconnect());
      }
    };
    const processBatch = async (payload: EachBatchPayload): Promise<void> => {
      try {
        await handleBatch(payload, handler, signal, async (offset) => {
          const { topic, partition } = payload.batch;
          await consumer.commitOffsets([{ topic, partition, offset: String(BigInt(offset) + 1n) }]);
        });
      } catch (error) {
        // A wrapped error of the group would end the consumer where the one inside makes it join again.
        throw (error as { cause?: unknown }).cause ?? error;
      }
    };
    try {
      await Promise.race([run().then(() => Promise.race([crashed, stopped])), crashed, stopped]);
    } finally {
      over.abort();
      await close();
    }
  };

  const consumeUntilStopped = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await consumeOnce();
      } catch (error) {
        if (signal.aborted) return;
        METRICS.messageErrors.inc({ kind: 'consumer' });
        report(error);
        logger.warn({ topics, group, reason: explain(error), error }, 'messages are not taken; tried again');
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  };
  const ended = consumeUntilStopped();
  return {
    close() {
      stop.abort();
      return ended;
    },
  };
}

/** Resolves when `signal` is aborted; stops listening when `over` is. */
function untilAborted(signal: AbortSignal, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true, signal: over });
  });
}

/**
 * Hands the messages of a batch over, some at a time, and commits after each lot. Gives signs of life while the hand-over is refused, and
 * stops when the partition is another's.
 */
async function handleBatch(
  { batch, resolveOffset, heartbeat, isRunning, isStale }: EachBatchPayload,
  handler: MessageHandler,
  stopped: AbortSignal,
  commit: (offset: string) => Promise<void>,
): Promise<void> {
  const lost = new LinkedAbort([stopped]);
  const { signal } = lost;
  const isAssigned = (): boolean => isRunning() && !isStale() && !signal.aborted;
  try {
    for (let at = 0; at < batch.messages.length && isAssigned(); at += HANDLER_CONCURRENCY) {
      const group = batch.messages.slice(at, at + HANDLER_CONCURRENCY);
      let pending: IncomingMessage[] = group.map(({ offset, timestamp, key, value }) => ({
        topic: batch.topic,
        partition: batch.partition,
        offset,
        timestamp,
        key,
        value,
      }));
      while (pending.length > 0) {
        const all = pending.map((message) => handler(message, signal));
        const handled = Promise.allSettled(all);
        let results: PromiseSettledResult<void>[] | undefined;
        while (results === undefined) {
          const beat = sleep(HEARTBEAT_MS, undefined, { ref: false });
          results = (await Promise.race([handled, beat])) ?? undefined;
          await heartbeat();
        }
        pending = pending.filter((_, i) => results[i]?.status === 'rejected');
        if (pending.length === 0) break;
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
        if (!isAssigned()) return;
        await heartbeat();
      }
      const last = group.at(-1)?.offset as string;
      resolveOffset(last);
      await commit(last);
      await heartbeat();
    }
  } finally {
    lost.abort();
  }
}

interface PendingSend {
  readonly messages: readonly OutgoingMessage[];
  resolve(): void;
  reject(error: unknown): void;
}

interface Sender {
  send(messages: readonly OutgoingMessage[]): Promise<void>;
  disconnect(): Promise<void>;
}

/** Sends to each topic by a producer of its own, so that one whose topic is missing or refused keeps no other back. */
function openProducers(client: Client, logger: Logger): Sender {
  const senders = new Map<string, Sender>();
  const senderOf = (topic: string): Sender => {
    const found = senders.get(topic) ?? openProducer(client, topic, logger);
    senders.set(topic, found);
    return found;
  };
  return {
    async send(messages) {
      const topics = [...new Set(messages.map(({ topic }) => topic))];
      try {
        await Promise.all(topics.map((topic) => senderOf(topic).send(messages.filter((one) => one.topic === topic))));
      } catch (error) {
        throw isTooLarge(error) ? new MessageTooLarge((error as Error).message, { cause: error }) : error;
      }
    },
    async disconnect() {
      await Promise.all([...senders.values()].map((one) => one.disconnect()));
    },
  };
}

/** Sends in the order of the calls; what is asked for while a lot is under way waits for the next one. */
function openProducer(client: Client, topic: string, logger: Logger): Sender {
  let producer: Promise<Producer> | undefined;
  let busy = false;
  const waiting: PendingSend[] = [];

  const connect = async (): Promise<Producer> => {
    const made = client(SEND_RETRIES).producer({
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await made.connect();
    logger.info({ topic }, 'messages can be sent');
    return made;
  };
  const disconnect = async (): Promise<void> => {
    const dropped = producer;
    producer = undefined;
    if (dropped !== undefined)
      await atMost(
        CLOSE_MS,
        dropped.then((one) => one.disconnect()),
      );
  };

  const sendNow = async (messages: readonly OutgoingMessage[]): Promise<void> => {
    try {
      for (const batch of batches(messages, sizeOf)) {
        producer ??= connect();
        const connected = await producer;
        await connected.send({ topic, acks: -1, messages: batch.map(({ key, value, headers }) => ({ key, value, headers })) });
      }
    } catch (error) {
      // After a failed lot its sequence numbers are in doubt, and a new producer has new ones.
      await disconnect();
      throw error;
    }
  };

  const sendAll = async (): Promise<void> => {
    busy = true;
    while (waiting.length > 0) {
      const batch = batches(waiting, ({ messages }) => sum(messages.map(sizeOf))).next().value as readonly PendingSend[];
      waiting.splice(0, batch.length);
      try {
        await sendNow(batch.flatMap(({ messages }) => messages));
        for (const one of batch) one.resolve();
      } catch (error) {
        METRICS.messageErrors.inc({ kind: 'producer' });
        // One message that is refused must not keep its neighbours back.
        if (batch.length > 1 && (error as Error).name === 'KafkaJSProtocolError') {
          for (const one of batch) await sendNow(one.messages).then(one.resolve, one.reject);
        } else {
          for (const one of batch) one.reject(error);
        }
      }
    }
    busy = false;
  };

  return {
    disconnect,
    send: (messages) =>
      new Promise((resolve, reject) => {
        waiting.push({ messages, resolve, reject });
        if (!busy) void sendAll();
      }),
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const sizeOf = ({ key, value, headers }: OutgoingMessage): number =>
  sum([key, value, ...Object.entries(headers).flat()].map((text) => Buffer.byteLength(text)));

/** Cuts `items` into lots of at most `LOT_BYTES`, but at least one item: brokers bound what is sent at once as they bound one message. */
function* batches<T>(items: readonly T[], size: (item: T) => number): Generator<readonly T[], undefined> {
  let batch: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const more = size(item);
    if (batch.length > 0 && bytes + more > BATCH_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += more;
  }
  if (batch.length > 0) yield batch;
}

function isTooLarge(error: unknown): boolean {
  const { type, cause } = error as { type?: string; cause?: unknown };
  return type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE' || (cause !== undefined && isTooLarge(cause));
}

const REPEAT_MS = 30_000;

/** The library says every lost connection and every retry; one line of a kind in half a minute tells the same. */
function throttledLog(logger: Logger, explain: (error: unknown) => string | undefined) {
  const last = new Map<string, number>();
  return ({ log, namespace }: { log: { message: string; [field: string]: unknown }; namespace: string }): void => {
    const said = typeof log.error === 'string' ? log.error : log.message;
    const reason = explain(new Error(said)) ?? said;
    const key = `${namespace} ${reason.replace(/\d+/g, '')}`;
    METRICS.messageErrors.inc({ kind: 'connection' });
    const now = Date.now();
    if (now - (last.get(key) ?? 0) < REPEAT_MS) return;
    if (last.size > 100) last.clear();
    last.set(key, now);
    logger.warn({ broker: log.broker, reason, what: namespace }, 'message queue error');
  };
}
