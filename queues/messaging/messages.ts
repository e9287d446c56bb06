/** Builds the messages about an ended run. Pure: options and clock are arguments. */
import type { Snapshot } from '../../src/config/options/options.ts';
import { VERSION } from '../../src/config/version.ts';
import { describeFault, Fault } from '../../src/core/fault.ts';
import { type FailureMessage, type Outcome, type RunSource, SERVICES, type Service, type WriterReport } from '../jobs.ts';
import { failureMessage, localTime } from '../runs/outcome.ts';
import type { IncomingMessage, OutgoingMessage } from './bus.ts';

/** `provenance-dead-letter`: the provenance of a run could not be recorded. */
export type MessageKind = 'success' | 'dead-letter' | 'provenance-dead-letter';

/** The messages of one outcome, in order. */
export interface OutcomeMessages {
  readonly runId: string;
  readonly kind: MessageKind;
  readonly messages: readonly OutgoingMessage[];
}

/** Headers with the original bytes of the source message. */
export const SOURCE_MESSAGE_HEADERS = ['source-key', 'source-value'] as const;
/** Limit in bytes for source messages that a run carries for its dead letter. */
const MAX_CARRIED_BYTES = 16 * 1024;

type Topics = Pick<Snapshot, 'KAFKA_TOPIC_NAME_SUCCESS' | 'KAFKA_TOPIC_NAME_DLQ' | 'PROV_KAFKA_TOPIC_NAME_DLQ'>;
type Options = Topics & Pick<Snapshot, 'KAFKA_SUCCESS_FORMAT'>;

/** The current topic of a kind of message; an outcome is sent there even if the topic has changed since it was computed. */
export function topicOf(kind: MessageKind, options: Topics): string {
  switch (kind) {
    case 'success':
      return options.KAFKA_TOPIC_NAME_SUCCESS;
    case 'dead-letter':
      return options.KAFKA_TOPIC_NAME_DLQ;
    case 'provenance-dead-letter':
      return options.PROV_KAFKA_TOPIC_NAME_DLQ;
  }
}

/**
 * A completed run of a transformer gives a success message, any other outcome a dead letter. A completed run of the graph writer gives a
 * dead letter for each statement that the target rejected.
 */
export function messagesOf(
  { runId, service, source }: { readonly runId: string; readonly service: Service; readonly source?: RunSource | undefined },
  outcome: Outcome,
  options: Options,
  now: Date,
): OutcomeMessages {
  if (outcome.state !== 'completed') return deadLetter(outcome.failure, source === undefined ? {} : sourceHeaders(source), options);
  if (!('outputFileLocations' in outcome.report)) return rejectedStatements(outcome.report, options, now);
  const { outputFileLocations, quads, provenance = '' } = outcome.report;
  // JSON leaves out what is undefined: all of these, without a dataset.
  const { dataset, version, previousVersion, added, removed, removedFileLocations } = outcome.report;
  const change = { dataset, version, previousVersion, added, removed, removedFileLocations };
  const message = { topic: topicOf('success', options), key: runId, headers: { runId } };
  const values =
    options.KAFKA_SUCCESS_FORMAT === 'url'
      ? outputFileLocations
      : [JSON.stringify({ runId, service, outputFileLocations, time: localTime(now), quads, provenance, ...change })];
  return { runId, kind: 'success', messages: values.map((value) => ({ ...message, value })) };
}

/** One for each rejected statement in the report. */
function rejectedStatements({ runId, rejectedStatements }: WriterReport, options: Options, now: Date): OutcomeMessages {
  const messages = rejectedStatements.flatMap(({ input, fault }) => {
    const inputs = [{ name: undefined, url: input }];
    return deadLetter(failureMessage({ runId, service: 'graph-writer', inputs }, Fault.from(fault), now), {}, options).messages;
  });
  return { runId, kind: 'dead-letter', messages };
}

export function deadLetter(failure: FailureMessage, headers: OutgoingMessage['headers'], options: Topics): OutcomeMessages {
  const { runId, code } = failure;
  const message = {
    topic: topicOf('dead-letter', options),
    key: runId,
    value: JSON.stringify(failure),
    headers: { runId, code, ...headers },
  };
  return { runId, kind: 'dead-letter', messages: [message] };
}

/** Says that the provenance of a run could not be recorded. */
export function provenanceDeadLetter(
  { runId, service }: { readonly runId: string; readonly service: Service },
  fault: Fault,
  options: Topics,
  now: Date,
): OutcomeMessages {
  const { name } = SERVICES[service];
  const value = JSON.stringify({
    name,
    time: localTime(now),
    type: name,
    error: `The provenance of the run ${runId} could not be recorded due to: ${describeFault(fault)}`,
    version: VERSION,
    runId,
    code: fault.code,
  });
  const message = { topic: topicOf('provenance-dead-letter', options), key: runId, value, headers: { runId, code: fault.code } };
  return { runId, kind: 'provenance-dead-letter', messages: [message] };
}

/** The source message in the form that a run carries. */
export function sourceOf({ topic, partition, offset, key, value }: IncomingMessage): RunSource {
  const carried = (bytes: Buffer | null): string | undefined =>
    bytes === null || bytes.length > MAX_CARRIED_BYTES ? undefined : bytes.toString('base64');
  return { topic, partition, offset, key: carried(key), value: carried(value) };
}

function sourceHeaders({ topic, partition, offset, key, value }: RunSource): OutgoingMessage['headers'] {
  const bytes = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text, 'base64'));
  return sourceMessageHeaders({ topic, partition, offset, key: bytes(key), value: bytes(value) });
}

/** Headers with the position of a source message and its bytes. */
export function sourceMessageHeaders({
  topic,
  partition,
  offset,
  key,
  value,
}: Omit<IncomingMessage, 'timestamp'>): OutgoingMessage['headers'] {
  return {
    'source-topic': topic,
    'source-partition': String(partition),
    'source-offset': offset,
    ...(key === null ? {} : { 'source-key': key }),
    ...(value === null ? {} : { 'source-value': value }),
  };
}

/** Headers with a message of a feed of changes. Its place is `topic[partition]@offset`, or a place in the log of a database. */
export function feedMessageHeaders({
  place,
  key,
  value,
}: {
  readonly place: string;
  readonly key?: Uint8Array | undefined;
  readonly value?: Uint8Array | undefined;
}): OutgoingMessage['headers'] {
  const [, topic, partition, offset] = /^(.+)\[(\d+)\]@(\d+)$/.exec(place) ?? [];
  if (topic === undefined || offset === undefined) return { 'source-place': place };
  const bytes = (one: Uint8Array | undefined): Buffer | null => (one === undefined ? null : Buffer.from(one));
  return sourceMessageHeaders({ topic, partition: Number(partition), offset, key: bytes(key), value: bytes(value) });
}

/** Removes long bytes of the source message; its position and size remain. */
export function withoutSourceMessage(message: OutgoingMessage): OutgoingMessage {
  const headers: Record<string, string | Buffer> = { ...message.headers };
  for (const name of SOURCE_MESSAGE_HEADERS) {
    const original = headers[name];
    if (original === undefined || original.length <= MAX_CARRIED_BYTES) continue;
    delete headers[name];
    headers[`${name}-bytes`] = String(original.length);
  }
  return { ...message, headers };
}
