/**
 * Turns source messages into runs of a transformer, and success messages into runs of the graph writer. Topic, partition and offset of a
 * message are the idempotency key of its run, so a repeated message gives the same run on any worker. An invalid message is sent to the
 * dead-letter topic with its bytes, and consumption continues.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetFunctions } from '../../queues/custom-functions.ts';
import { SERVICES, type Service, type ServiceRequest } from '../../queues/jobs.ts';
import type { BusState, IncomingMessage, MessageBus } from '../../queues/messaging/bus.ts';
import { deadLetter, sourceMessageHeaders, sourceOf } from '../../queues/messaging/messages.ts';
import type { Outbox } from '../../queues/messaging/outbox.ts';
import { inputsRequest } from '../../queues/requests/inputs.ts';
import { readProcessFields, readWriteFields, writtenOf } from '../../queues/requests/process.ts';
import { sqlRequest } from '../../queues/requests/transform.ts';
import { datasetWriteRequest, hasTarget, writerRequest } from '../../queues/requests/writer.ts';
import type { Runs, SharedSettings, Submitted } from '../../queues/runs/contract.ts';
import { failureMessage } from '../../queues/runs/outcome.ts';
import { runIdOfKey } from '../../queues/runs/runs.ts';
import { sourceTopic } from '../../src/config/effective.ts';
import type { Snapshot } from '../../src/config/options/options.ts';
import type { ConfigStore } from '../../src/config/store.ts';
import { excerpt, Fault } from '../../src/core/fault.ts';
import { redact } from '../../src/core/redact.ts';
import { type Logger, METRICS } from '../../src/core/telemetry/observe.ts';
import { followTopics } from './subscription.ts';

export interface ConsumerSettings {
  readonly bus: MessageBus;
  readonly state: BusState;
  readonly outbox: Outbox;
  readonly runs: Pick<Runs, 'submit' | 'counts'>;
  readonly config: ConfigStore;
  /** Undefined: there are no custom functions. */
  readonly functions?: Pick<FleetFunctions, 'described'> | undefined;
  /** Base of relative paths in messages. */
  readonly workingDirectory: string;
  /** The embedded store, if this process has it. */
  readonly store?: { readonly endpoint: string } | undefined;
  /** Where draining topics are remembered. */
  readonly settings?: SharedSettings;
}

export interface Consumer {
  close(): Promise<void>;
}

/** A topic whose messages become runs of a service. */
interface ConsumedTopic {
  readonly service: Service;
  readonly topic: string;
  readonly group: string;
}

/**
 * The topics that a process consumes. The local bus has no source messages, and a graph writer without a target leaves its messages to a
 * process that has one.
 */
export function consumedTopics(snapshot: Snapshot, kind: MessageBus['kind'], hasTarget: boolean): readonly ConsumedTopic[] {
  const { SERVICE, KAFKA_GROUP_ID, KAFKA_TOPIC_NAME_SUCCESS } = snapshot;
  const isHere = (service: Service): boolean => SERVICE === 'all' || SERVICE === service;
  const all: ConsumedTopic[] = [];
  if (kind === 'kafka' && isHere('semi-structured-transformer')) {
    const service = 'semi-structured-transformer';
    all.push({ service, topic: sourceTopic(service, snapshot) as string, group: KAFKA_GROUP_ID ?? service });
  }
  // One group must not consume two topics.
  const ownGroup = (service: Service): string =>
    KAFKA_GROUP_ID === undefined || SERVICE === service ? (KAFKA_GROUP_ID ?? service) : `${KAFKA_GROUP_ID}-${service}`;
  const trigger = sourceTopic('sql-transformer', snapshot);
  if (kind === 'kafka' && isHere('sql-transformer') && trigger !== undefined) {
    all.push({ service: 'sql-transformer', topic: trigger, group: ownGroup('sql-transformer') });
  }
  if (kind !== 'none' && hasTarget && isHere('graph-writer')) {
    all.push({ service: 'graph-writer', topic: KAFKA_TOPIC_NAME_SUCCESS, group: ownGroup('graph-writer') });
  }
  return all;
}

const KAFKA = { queue: 'kafka' } as const;
const LAG_MS = 5_000;
/** How long a count of the waiting runs stays valid. */
const COUNT_MS = 500;
const FULL_POLL_MS = 1_000;

/** Consumes messages for the services of this process until closed, from the brokers and topics that the options currently name. */
export function startConsumers(settings: ConsumerSettings, logger: Logger): Consumer {
  const all = (Object.keys(SERVICES) as Service[]).map((service) => startConsumer(service, settings, logger));
  return {
    async close() {
      await Promise.all(all.map((one) => one.close()));
    },
  };
}

function startConsumer(service: Service, settings: ConsumerSettings, logger: Logger): Consumer {
  const { bus, state, config, store } = settings;
  const wanted = (): ConsumedTopic | undefined => {
    const snapshot = config.snapshot();
    if (!state.isOn()) return undefined;
    return consumedTopics(snapshot, bus.kind, hasTarget(snapshot, store)).find((one) => one.service === service);
  };
  const follower = followTopics(wanted, messageHandler(service, settings, logger), { bus, settings: settings.settings }, logger);
  const refresh = (): void => {
    follower.refresh();
    if (follower.consumed() === undefined) METRICS.messageLag.remove({ service });
    if (!state.isOn() || bus.kind !== 'kafka') METRICS.messageQueueUp.reset();
  };
  const unwatch = [state.onChange(refresh), config.onChange(refresh)];
  const timer = setInterval(() => {
    const consumed = follower.consumed();
    if (consumed === undefined || bus.kind !== 'kafka') return;
    Promise.all(consumed.topics.map((topic) => bus.lag(topic, consumed.group))).then(
      (lags) => {
        METRICS.messageQueueUp.set(KAFKA, 1);
        METRICS.messageLag.set(
          { service },
          lags.reduce((sum, lag) => sum + lag, 0),
        );
      },
      () => METRICS.messageQueueUp.set(KAFKA, 0),
    );
  }, LAG_MS).unref();

  return {
    async close() {
      for (const end of unwatch) end();
      clearInterval(timer);
      await follower.close();
      METRICS.messageLag.remove({ service });
    },
  };
}

/** Handles one message. Rejects only if the queue is away. */
export function messageHandler(
  service: Service,
  { outbox, runs, config, functions, workingDirectory }: Omit<ConsumerSettings, 'bus' | 'state' | 'store' | 'settings'>,
  logger: Logger,
): (message: IncomingMessage, signal: AbortSignal) => Promise<void> {
  let counted = { at: Number.NEGATIVE_INFINITY, queued: 0 };

  /** Leaves messages in their topic while too many runs wait. */
  const waitForCapacity = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      if (performance.now() - counted.at > COUNT_MS) {
        // Runs that wait for their dataset are delayed, as those that are retried.
        const { queued = 0, retrying = 0 } = await runs.counts();
        counted = { at: performance.now(), queued: queued + retrying };
      }
      if (counted.queued < config.snapshot().KAFKA_MAX_WAITING_RUNS) return;
      await sleep(FULL_POLL_MS, undefined, { signal });
    }
  };

  const sendDeadLetter = async (message: IncomingMessage, fault: Fault): Promise<void> => {
    const { topic, partition, offset } = message;
    const runId = runIdOfKey(service, keyOf(message));
    const subject = { runId, service, inputs: inputsOfMessage(message) };
    const failure = failureMessage(subject, fault, new Date());
    await outbox.add(service, deadLetter(failure, sourceMessageHeaders(message), config.snapshot()));
    METRICS.messagesTaken.inc({ service, result: 'dead-letter' });
    logger.warn({ topic, partition, offset, run: runId, code: fault.code, reason: fault.message }, 'message is not a valid request');
  };

  return async (message, signal) => {
    await waitForCapacity(signal);
    let submitted: Submitted;
    try {
      const request = await requestOf(message, service, config.snapshot(), workingDirectory, functions);
      submitted = await submit(runs, request, message);
    } catch (error) {
      const fault = Fault.of(error);
      if (fault.retriable) throw fault;
      if (fault.code === 'internal/error') logger.error({ error }, 'message handling failed');
      return sendDeadLetter(message, fault);
    }
    const { id, existing } = submitted;
    METRICS.messagesTaken.inc({ service, result: existing ? 'repeated' : 'run' });
    if (!existing) {
      const { topic, partition, offset } = message;
      logger.info({ run: id, service, topic, partition, offset }, 'run submitted by message');
    }
  };
}

const keyOf = ({ topic, partition, offset }: IncomingMessage): string => `${topic}-${partition}-${offset}`;

/** In a recreated topic another message has the same offset; then the timestamp is added to the key. */
async function submit(runs: Pick<Runs, 'submit'>, request: ServiceRequest, message: IncomingMessage) {
  const key = keyOf(message);
  const digest = createHash('sha256')
    .update(`${message.timestamp}\n`)
    .update(message.value ?? '')
    .digest('hex');
  const source = sourceOf(message);
  try {
    return await runs.submit(request, { idempotencyKey: key, digest, source });
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'request/conflict') throw error;
    return runs.submit(request, { idempotencyKey: `${key}-${message.timestamp}`, digest, source });
  }
}

async function requestOf(
  { value }: IncomingMessage,
  service: Service,
  snapshot: Snapshot,
  workingDirectory: string,
  functions: Pick<FleetFunctions, 'described'> | undefined,
): Promise<ServiceRequest> {
  switch (service) {
    case 'sql-transformer':
      return sqlRequest(snapshot, workingDirectory);
    case 'semi-structured-transformer':
      return inputsRequest(readProcessFields(fieldsOfMessage(value, EXPECTED)), snapshot, workingDirectory, await functions?.described());
    case 'graph-writer': {
      const written = writtenOfMessage(value);
      return 'dataset' in written
        ? datasetWriteRequest(written, snapshot, workingDirectory)
        : writerRequest(written, snapshot, workingDirectory);
    }
  }
}

const EXPECTED = 'Expected is the URL of an input file, or a JSON object as the body of POST /process';
const EXPECTED_FILES = "Expected is the URL of a file of N-Quads, a JSON array of such URLs, or a transformer's success message";
/** Longer texts are not URLs. */
const MAX_URL_LENGTH = 8 * 1024;

/** @throws Fault request/invalid, request/malformed — neither a URL nor a JSON object */
function fieldsOfMessage(value: Buffer | null, expected: string): Readonly<Record<string, unknown>> {
  const text = textOf(value, expected).trim();
  if (text === '') throw new Fault('request/invalid', 'The message is empty', { hint: expected });
  if (text.startsWith('{')) return parseJson(text, expected) as Readonly<Record<string, unknown>>;
  if (!isUrl(text)) throw new Fault('request/invalid', `The message is ${excerpt(redact(text))}`, { hint: expected });
  return { inputFileURL: text };
}

/**
 * What a message names: a transformer's success message (the dataset of which it made a version, else its files), a body of `/process`, a JSON array or
 * string, or a plain URL.
 *
 * @throws Fault request/invalid, request/malformed
 */
function writtenOfMessage(value: Buffer | null): ReturnType<typeof writtenOf> {
  const text = textOf(value, EXPECTED_FILES).trim();
  const written = (fields: object): ReturnType<typeof writtenOf> => writtenOf(readWriteFields(fields));
  if (/^["[]/.test(text)) return written({ inputFileURL: parseJson(text, EXPECTED_FILES) });
  const fields = fieldsOfMessage(value, EXPECTED_FILES);
  const { outputFileLocations, dataset } = fields;
  if (outputFileLocations === undefined) return written(fields);
  return written(typeof dataset === 'string' ? { dataset } : { inputFileURL: outputFileLocations });
}

/** @throws Fault request/malformed */
function textOf(value: Buffer | null, expected: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(value ?? new Uint8Array());
  } catch (cause) {
    throw new Fault('request/malformed', `The message has ${value?.length} bytes that are not UTF-8`, { hint: expected, cause });
  }
}

function parseJson(text: string, expected: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Fault('request/malformed', `The message looks like JSON, but is not valid: ${(error as Error).message}`, {
      hint: expected,
      cause: error,
    });
  }
}

/** A URL or a path: one line with a slash or an extension. */
function isUrl(text: string): boolean {
  return text.length <= MAX_URL_LENGTH && /^[^\p{Cc}[\]"<>]*$/u.test(text) && /[/\\.]/.test(text);
}

/** Fields of requests and success messages that name inputs. */
const INPUT_FIELDS = ['inputFileURL', 'inputFileURLs', 'inputRdfURL', 'inputRdfURLs', 'outputFileLocations'] as const;

/** The inputs named by the failure message: the URLs in the message, if readable; else the message itself, if it could be a URL. */
function inputsOfMessage({ value }: IncomingMessage): readonly { readonly name: undefined; readonly url: string }[] {
  let text = '';
  try {
    text = textOf(value, EXPECTED).trim();
    const read: unknown = JSON.parse(text);
    const named =
      typeof read === 'object' && read !== null && !Array.isArray(read) ? INPUT_FIELDS.map((name) => Reflect.get(read, name)) : [read];
    return named.flat().flatMap((url) => (typeof url === 'string' && url !== '' ? [{ name: undefined, url }] : []));
  } catch {
    return isUrl(text) ? [{ name: undefined, url: text }] : [];
  }
}
