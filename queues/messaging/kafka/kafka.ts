/**
 * The message bus on Apache Kafka, and the only user of its client library.
 *
 * To lose nothing it uses a key on every message, an idempotent producer that waits for all replicas, and commits offsets after the handler
 * has resolved. The library's consumer stops for good at an unexpected error, and its producer may refuse everything after a failed batch;
 * both are then replaced by new clients.
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
import { atMost, LinkedAbort, within } from '../../../src/core/abort.ts';
import { Fault } from '../../../src/core/fault.ts';
import { type Logger, METRICS } from '../../../src/core/telemetry/observe.ts';
import {
  type IncomingMessage,
  type MessageBus,
  type MessageHandler,
  MessageTooLarge,
  type OutgoingMessage,
  type Subscription,
} from '../bus.ts';
import { explainHandshake, kafkaTls } from './tls.ts';

/** Long enough for a broker to restart. `requestTimeout` stays at 30 s: a request that is given up too early is done twice. */
const RETRY = { retries: 50, initialRetryTime: 200, maxRetryTime: 2_000 } as const;
/** About half a minute per send of a producer; the caller retries after that. */
const SEND_RETRIES = 15;
/** Bytes in one request of a producer; a broker accepts a megabyte by default. */
const BATCH_BYTES = 256 * 1024;
/** A consumer without a heartbeat for `SESSION_MS` loses its partitions; `REBALANCE_MS` bounds how long a rebalance waits for one. */
const SESSION_MS = 6_000;
const REBALANCE_MS = 15_000;
const HEARTBEAT_MS = 1_000;
/** How long a fetch waits for messages; stopping a consumer takes as long. */
const FETCH_WAIT_MS = 200;
/** Delay before a failed client is replaced, and before a message is delivered again. */
const RETRY_MS = 1_000;
/** Messages handled concurrently before each commit. */
const HANDLER_CONCURRENCY = 20;
const CLOSE_MS = 2_000;
const LAG_MS = 5_000;
const LAG_RETRIES = 2;

/** Creates a client that retries failed requests `retries` times. */
type Client = (retries?: number) => Kafka;

/** @throws Fault config/invalid — contradicting options, or an unreadable certificate file */
export function openKafka(snapshot: Snapshot, logger: Logger): MessageBus {
  const config = clientConfig(snapshot);
  const explain = (error: unknown): string | undefined => explainError(error, snapshot);
  const log = throttledLog(logger, explain);
  /** The library modifies the login object that it is given. */
  const client: Client = (retries = RETRY.retries) => {
    const login = config.sasl === undefined ? {} : { sasl: { ...config.sasl } as SASLOptions };
    return new Kafka({ ...config, ...login, retry: { ...RETRY, retries }, logCreator: () => log });
  };
  const producers = openProducers(client, logger);
  let admin: Promise<Admin> | undefined;
  /** Reason of the last failure, by direction. */
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
          // Few retries: the caller asks again.
          const made = client(LAG_RETRIES).admin({ retry: { retries: 0 } });
          await made.connect();
          return made;
        })();
        const connected = await admin;
        const asked = Promise.all([connected.fetchTopicOffsets(topic), connected.fetchOffsets({ groupId: group, topics: [topic] })]);
        const answer = await within(LAG_MS, asked, () => undefined);
        if (answer === undefined) throw new Fault('service/unavailable', 'The brokers do not answer');
        const [ends, [taken]] = answer;
        reportConsume(undefined);
        const next = new Map(taken?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
        // -1 means that nothing was committed; messages deleted by retention do not count.
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

/** A description that is safe to show to everybody; undefined: unknown reason. */
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
    throw new Fault('config/invalid', 'KAFKA_PASSWORD is set, but KAFKA_SASL_MECHANISM is none', {
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
  /** Called with the error; undefined: messages are being consumed. */
  readonly report: (error: unknown) => void;
  readonly explain: (error: unknown) => string | undefined;
}

/** Runs one consumer after another until closed; a failed consumer is replaced. */
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
      // A crashed consumer is replaced here, whatever the reason.
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
      logger.info({ topics, group, partitions }, 'consumer joined its group');
    });
    const steps = [
      () => consumer.connect(),
      // A new group also handles the messages sent before it existed.
      () => consumer.subscribe({ topics: [...topics], fromBeginning: true }),
      () => consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: (batch) => processBatch(batch) }),
    ];
    const run = async (): Promise<void> => {
      for (const step of steps) {
        await step();
        // Closed meanwhile: a consumer that joins now would hold partitions without handling messages.
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
        // The library rejoins the group at some errors, but only if they are not wrapped.
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
        logger.warn({ topics, group, reason: explain(error), error }, 'consumer failed; retrying');
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
 * Passes the messages of a batch to the handler, `HANDLER_CONCURRENCY` at a time, and commits after each group. Sends heartbeats while a
 * handler rejects, and stops when the partition is revoked.
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

/** Uses one producer per topic, so that a missing or refused topic does not block the others. */
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

/** Sends in the order of the calls; calls during a send are put into the next batch. */
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
    logger.info({ topic }, 'producer connected');
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
      // After a failed batch the producer's sequence numbers are uncertain; a new producer starts new ones.
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
        // One refused message must not block the others of its batch.
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

/** Splits `items` into batches of at most `BATCH_BYTES`, but at least one item: brokers limit a request as they limit a message. */
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

/** The library logs every lost connection and every retry; this logs each kind of line once in 30 seconds. */
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
