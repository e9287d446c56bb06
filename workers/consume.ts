/**
 * Source messages become runs. A message's place in its topic is the idempotency key of its run, so a message that comes again, to whichever
 * worker, is the same run. What can never be a run goes to the dead letters with its bytes, and the topic goes on.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BusSwitch, IncomingMessage, MessageBus, Subscription } from '../queues/bus.ts';
import type { Runs, Submitted } from '../queues/contract.ts';
import { inputsRequest } from '../queues/inputs-request.ts';
import type { Service, TransformRequest } from '../queues/jobs.ts';
import { deadLetter, originalHeaders, sourceOf } from '../queues/messages.ts';
import type { Outbox } from '../queues/outbox.ts';
import { failureMessage } from '../queues/outcome.ts';
import { fieldsOfBody } from '../queues/process-request.ts';
import { runIdOfKey } from '../queues/runs.ts';
import { sqlRequest } from '../queues/transform-request.ts';
import type { Snapshot } from '../src/config/options.ts';
import type { ConfigStore } from '../src/config/store.ts';
import { excerpt, Fault } from '../src/fault.ts';
import { type Logger, METRICS } from '../src/observe.ts';
import { redact } from '../src/redact.ts';

export interface ConsumerSettings {
  readonly bus: MessageBus;
  readonly state: BusSwitch;
  readonly outbox: Outbox;
  readonly runs: Pick<Runs, 'submit' | 'counts'>;
  readonly config: ConfigStore;
  /** What relative paths of messages start from. */
  readonly workingDirectory: string;
}

export interface Consumer {
  close(): Promise<void>;
}

/** Whose source messages a process takes: URLs of files are the semi-structured transformer's where it is there. */
export function consumingService(service: Snapshot['SERVICE']): Extract<Service, `${string}-transformer`> | undefined {
  switch (service) {
    case 'all':
    case 'semi-structured-transformer':
      return 'semi-structured-transformer';
    case 'sql-transformer':
      return 'sql-transformer';
    case 'graph-writer':
      return undefined;
  }
}

const KAFKA = { queue: 'kafka' } as const;
const LAG_MS = 5_000;
/** How long a count of the waiting runs holds. */
const COUNT_MS = 500;
const FULL_LOOK_MS = 1_000;

/** Takes the source messages of the option SERVICE until it is closed, while the switch is on. */
export function startConsumer(settings: ConsumerSettings, logger: Logger): Consumer {
  const { bus, state, config } = settings;
  const { SERVICE, KAFKA_TOPIC_NAME_SOURCE: topic, KAFKA_GROUP_ID } = config.snapshot();
  const service = consumingService(SERVICE);
  if (service === undefined) return { close: async () => undefined };
  const group = KAFKA_GROUP_ID ?? service;
  const takeMessage = taking(service, settings, logger);

  let subscription: Subscription | undefined;
  let switching: Promise<void> = Promise.resolve();
  let closed = false;
  const follow = (): Promise<void> => {
    switching = switching.then(async () => {
      const wanted = state.isOn() && !closed;
      if (wanted && subscription === undefined) {
        subscription = bus.consume(topic, group, takeMessage);
        logger.info({ topic, group, service, broker: bus.describe() }, 'taking messages');
      } else if (!wanted && subscription !== undefined) {
        await subscription.close();
        subscription = undefined;
        METRICS.messageLag.reset();
        METRICS.messageQueueUp.reset();
        logger.info({ topic, group, service }, 'taking no messages');
      }
    });
    return switching;
  };
  const unwatch = state.onChange(() => void follow());
  const timer = setInterval(() => {
    if (subscription === undefined) return;
    bus.lag(topic, group).then(
      (lag) => {
        METRICS.messageQueueUp.set(KAFKA, 1);
        METRICS.messageLag.set({ service }, lag);
      },
      () => METRICS.messageQueueUp.set(KAFKA, 0),
    );
  }, LAG_MS).unref();
  void follow();

  return {
    close() {
      closed = true;
      unwatch();
      clearInterval(timer);
      return follow();
    },
  };
}

/** Hands one message over. Rejects only where the queue is away. */
export function taking(
  service: 'semi-structured-transformer' | 'sql-transformer',
  { outbox, runs, config, workingDirectory }: Omit<ConsumerSettings, 'bus' | 'state'>,
  logger: Logger,
): (message: IncomingMessage, signal: AbortSignal) => Promise<void> {
  let counted = { at: Number.NEGATIVE_INFINITY, queued: 0 };

  /** Leaves messages in their topic while the queue is full of runs. */
  const untilThereIsRoom = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      if (performance.now() - counted.at > COUNT_MS) {
        const { queued = 0 } = await runs.counts();
        counted = { at: performance.now(), queued };
      }
      if (counted.queued < config.snapshot().KAFKA_MAX_WAITING_RUNS) return;
      await sleep(FULL_LOOK_MS, undefined, { signal });
    }
  };

  const bury = async (message: IncomingMessage, fault: Fault): Promise<void> => {
    const { topic, partition, offset } = message;
    const runId = runIdOfKey(service, keyOf(message));
    const subject = { runId, service, inputs: namedInput(message) };
    const failure = failureMessage(subject, fault, new Date());
    await outbox.add(deadLetter(failure, originalHeaders(message), config.snapshot()));
    METRICS.messagesTaken.inc({ service, result: 'dead-letter' });
    logger.warn({ topic, partition, offset, run: runId, code: fault.code, reason: fault.message }, 'message is no request');
  };

  return async (message, signal) => {
    await untilThereIsRoom(signal);
    let submitted: Submitted;
    try {
      submitted = await submit(runs, await requestOf(message, service, config.snapshot(), workingDirectory), message);
    } catch (error) {
      const fault = Fault.of(error);
      if (fault.retriable) throw fault;
      if (fault.code === 'internal/error') logger.error({ error }, 'message not understood');
      return bury(message, fault);
    }
    const { id, existing } = submitted;
    METRICS.messagesTaken.inc({ service, result: existing ? 'repeated' : 'run' });
    if (!existing) {
      const { topic, partition, offset } = message;
      logger.info({ run: id, service, topic, partition, offset }, 'run of a message');
    }
  };
}

const keyOf = ({ topic, partition, offset }: IncomingMessage): string => `${topic}-${partition}-${offset}`;

/** Where a topic was made anew, another message stands in the same place: then its time belongs to the key. */
async function submit(runs: Pick<Runs, 'submit'>, request: TransformRequest, message: IncomingMessage) {
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
  service: 'semi-structured-transformer' | 'sql-transformer',
  snapshot: Snapshot,
  workingDirectory: string,
): Promise<TransformRequest> {
  if (service === 'sql-transformer') return sqlRequest(snapshot, workingDirectory);
  return inputsRequest(fieldsOfMessage(value), snapshot, workingDirectory);
}

const EXPECTED = 'Expected is the URL of an input file, or a JSON object as the body of POST /process';
/** URLs are shorter; what is longer is something else. */
const LONGEST_URL = 8 * 1024;

/** @throws Fault request/invalid, request/malformed — neither a URL nor a JSON object */
function fieldsOfMessage(value: Buffer | null): ReadonlyMap<string, unknown> {
  const text = textOf(value).trim();
  if (text === '') throw new Fault('request/invalid', 'The message is empty', { hint: EXPECTED });
  if (text.startsWith('{')) return fieldsOfBody(parseJson(text));
  if (!isUrl(text)) throw new Fault('request/invalid', `The message is ${excerpt(redact(text))}`, { hint: EXPECTED });
  return new Map([['inputFileURL', text]]);
}

/** @throws Fault request/malformed */
function textOf(value: Buffer | null): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(value ?? new Uint8Array());
  } catch (cause) {
    throw new Fault('request/malformed', `The message has ${value?.length} bytes that are no UTF-8`, { hint: EXPECTED, cause });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Fault('request/malformed', `The message begins as JSON does, but is none: ${(error as Error).message}`, {
      hint: EXPECTED,
      cause: error,
    });
  }
}

/** A URL with its scheme, or a path: something that has a slash or an extension, in one line. */
function isUrl(text: string): boolean {
  return text.length <= LONGEST_URL && /^[^\p{Cc}[\]"<>]*$/u.test(text) && /[/\\.]/.test(text);
}

/** What the failure message names as its input: the message, where it is a text that can be shown. */
function namedInput({ value }: IncomingMessage): readonly { readonly name: undefined; readonly url: string }[] {
  try {
    const text = textOf(value).trim();
    return isUrl(text) ? [{ name: undefined, url: text }] : [];
  } catch {
    return [];
  }
}
