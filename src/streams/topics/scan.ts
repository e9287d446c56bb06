/** Kept messages as a scan: a value is a document, within which iterators find the records, and references their values. */
import { Fault } from '../../core/fault.ts';
import { type MessagePart, messagePartOf } from '../../core/input/message-reference.ts';
import { fromBytes, toBytes } from '../../core/text.ts';
import { type Accessor, TypedValue, type Value, type Values, XSD } from '../../core/value.ts';
import type { OpenedTopic } from '../../run/request.ts';
import { openTexts } from '../../sources/formats.ts';
import type { Batch, NestedRecords, Scan } from '../../sources/source.ts';

/** A message. Texts are one-byte UTF-8. */
export interface Message {
  readonly topic: string;
  /** The document; null: there is none. */
  readonly value: string | null;
  /** `undefined` where what is kept has no such part. */
  readonly key?: string | null | undefined;
  readonly partition?: string | undefined;
  readonly offset?: string | undefined;
  /** Milliseconds since 1970. */
  readonly timestamp?: string | undefined;
  /** JSON array of pairs. */
  readonly headers?: string | undefined;
}

export interface MessageChunk {
  readonly messages: readonly Message[];
  /** Bytes read so far. */
  readonly bytes: number;
}

interface MessageRecord {
  readonly message: Message;
  /** Of `NestedRecords`; undefined: the message is text. */
  readonly item: unknown;
}

const MOST_RECORDS = 1000;

/**
 * Opens the messages as records, in their order. Memory: one chunk, and the records of one message.
 *
 * @param giving called before each batch with the messages of its records
 * @throws Fault mapping/reference — an expression is not valid
 */
export async function openMessages(
  { source, iterations, options, typed }: OpenedTopic,
  chunks: () => AsyncIterable<MessageChunk>,
  giving: (messages: readonly Message[]) => void = () => {},
): Promise<Scan> {
  const isText = source.request?.kind === 'topic' && source.request.content === 'text';
  const texts = isText ? undefined : await openTexts(source.formulation, options);
  const records = iterations.map(({ iterator }) => texts?.records(iterator));
  // What records will be asked for, before the first text is read.
  for (const [i, { references, nested = [] }] of iterations.entries()) {
    for (const reference of references) if (messagePartOf(reference) === undefined) records[i]?.accessor(reference);
    for (const { iterator } of nested) records[i]?.nested?.(iterator);
  }
  const nulls = new Set(options.nulls.map(toBytes));
  return {
    accessor(iteration, reference) {
      const part = messagePartOf(reference);
      if (part !== undefined) return partReader(part, typed, nulls);
      return withinItem((records[iteration] as NestedRecords).accessor(reference));
    },
    nested(iteration, iterator) {
      const nested = records[iteration]?.nested?.(iterator);
      if (nested === undefined) throw noNested(iterator, options.name);
      return {
        items: (node) => nested.items((node as MessageRecord).item),
        accessor: (reference) => nested.accessor(reference),
        nested: (inner) => nested.nested?.(inner) as NestedRecords,
        unmatched: () => nested.unmatched(),
      };
    },
    async *batches(signal): AsyncGenerator<Batch> {
      const first = iterations.map(() => 0);
      const batchOf = (iteration: number, found: readonly MessageRecord[], bytes: number): Batch => {
        const batch = { iteration, records: found, first: first[iteration] as number, bytes };
        first[iteration] = batch.first + found.length;
        giving(found.map(({ message }) => message));
        return batch;
      };
      for await (const { messages, bytes } of chunks()) {
        for (const iteration of iterations.keys()) {
          let found: MessageRecord[] = [];
          for (const message of messages) {
            if (signal.aborted) throw new Fault('run/cancelled', 'The run was cancelled');
            for (const item of itemsOf(records[iteration], message)) found.push({ message, item });
            if (found.length < MOST_RECORDS) continue;
            yield batchOf(iteration, found, bytes);
            found = [];
          }
          if (found.length > 0) yield batchOf(iteration, found, bytes);
        }
      }
    },
    // A member may come with a later message: no version fails for it.
    unmatched: () => [],
    warnings: () => [
      ...new Set(
        records.flatMap((one) => (one?.unmatched() ?? []).map((reference) => `No message of ${options.name} has anything at ${reference}`)),
      ),
    ],
  };
}

const NO_ITEM: readonly unknown[] = [undefined];

function itemsOf(records: NestedRecords | undefined, { value, partition, offset, topic }: Message): readonly unknown[] {
  if (records === undefined) return NO_ITEM;
  try {
    return records.items(value);
  } catch (error) {
    if (!(error instanceof Fault) || partition === undefined) throw error;
    throw error.with({ place: { value: `${topic}[${partition}]@${offset}` } });
  }
}

function withinItem(accessor: Accessor): Accessor {
  const within: Accessor = (record) => accessor((record as MessageRecord).item);
  const { written } = accessor;
  if (written !== undefined) within.written = (record) => written((record as MessageRecord).item);
  return within;
}

/** @param typed whether values may have natural datatypes */
function partReader(part: MessagePart, typed: boolean, nulls: ReadonlySet<string>): Accessor {
  const read = partOf(part);
  const isValue = (value: string | null | undefined): value is string => value != null && !nulls.has(value);
  if (part.part === 'header')
    return (record) => {
      const { headers } = (record as MessageRecord).message;
      if (headers === undefined) return null;
      const all = JSON.parse(fromBytes(headers)) as readonly (readonly [string, string])[];
      return all.flatMap(([name, value]) => (name === part.name && isValue(toBytes(value)) ? [toBytes(value)] : []));
    };
  const datatype = typed ? DATATYPES[part.part] : undefined;
  return (record): Values => {
    const text = read((record as MessageRecord).message);
    if (!isValue(text)) return null;
    const value: Value = datatype === undefined ? text : new TypedValue(text, XSD + datatype);
    return value;
  };
}

const DATATYPES: Readonly<Partial<Record<MessagePart['part'], string>>> = {
  timestamp: 'dateTime',
  partition: 'integer',
  offset: 'integer',
};

/** The text of a part, in the canonical form of its datatype. */
function partOf({ part }: MessagePart): (message: Message) => string | null | undefined {
  switch (part) {
    case 'timestamp':
      return ({ timestamp }) => (timestamp === undefined ? undefined : timeText(Number(timestamp)));
    case 'topic':
      return ({ topic }) => topic;
    case 'header':
      return ({ headers }) => headers;
    default:
      return (message) => message[part];
  }
}

/** In UTC. undefined: the producer has given none, which brokers write as -1. */
function timeText(ms: number): string | undefined {
  const date = new Date(ms);
  return ms < 0 || Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace(/\.?0*Z$/, 'Z');
}

const noNested = (iterator: string, input: string): Fault =>
  new Fault('mapping/invalid', 'An iterator within a record is for JSON and XML, and this record is a row', {
    place: { expression: iterator, input },
  });
