/** Messages of a topic → changes of what a follower keeps of it. A change of a row, as Debezium writes it, is read by `debezium/message.ts`. */
import { Fault } from '../../core/fault.ts';
import { isTopicPattern } from '../../core/input/topic-pattern.ts';
import { toBytes } from '../../core/text.ts';
import { openTexts } from '../../sources/formats.ts';
import type { NestedRecords, ReadOptions } from '../../sources/source.ts';
import { isAvro } from '../debezium/avro.ts';
import { isObject, parseJson, printJson } from '../debezium/json.ts';
import type { KafkaMessage } from '../debezium/message.ts';
import type { PayloadReader } from '../debezium/payload.ts';
import { Undecodable } from '../debezium/values.ts';
import type { ChangeEvent, Row } from '../events.ts';
import type { TopicReading } from './readings.ts';

/** Reads the messages of one topic, or of those that match a pattern. */
export interface MessageReader extends Pick<TopicReading, 'table' | 'topic'> {
  /** Whether a message replaces what its key had. Else each one stays. */
  readonly replaces: boolean;
  /**
   * @param payloads which has prepared key and value
   * @returns undefined: the message changes nothing
   * @throws Undecodable — it is not what the mapping says of it
   */
  read(message: KafkaMessage, payloads: PayloadReader): ChangeEvent | undefined;
}

/** @param options with which a run reads the documents within the messages */
export async function openMessageReader(reading: TopicReading, options: ReadOptions): Promise<MessageReader> {
  const { table, topic, source, iterators } = reading;
  const { request, formulation, encoding } = source;
  const isText = request.content === 'text';
  const texts = isText ? undefined : await openTexts(formulation, options);
  const records = texts === undefined ? [] : iterators.map((iterator) => texts.records(iterator));
  const isUpsert = request.changes === 'upsert';
  const textOf = decoderOf(encoding ?? 'utf-8');
  return {
    table,
    topic,
    replaces: isUpsert,
    read(message, payloads) {
      const { key: keyBytes, value: valueBytes, partition, offset, timestamp } = message;
      const key = keyBytes === null ? null : part('key', () => keyTextOf(keyBytes, payloads));
      if (isUpsert && key === null)
        throw new Undecodable(
          'It has no key, and qms:Upsert keeps the newest value of each key',
          'Let the producer give a key, or write qms:changes qms:Append',
        );
      // Several topics may have equal keys, and have equal offsets.
      const of: Row = isTopicPattern(topic) ? { topic: message.topic } : {};
      const place = `${String(partition).padStart(10, '0')}-${offset.padStart(20, '0')}`;
      const keyOf = JSON.stringify([...Object.values(of), isUpsert ? key : place]);
      if (valueBytes === null) return isUpsert ? { kind: 'delete', table, key: keyOf, position: undefined } : undefined;
      const value = part('value', () =>
        formulation === 'json' && !isText ? jsonTextOf(valueBytes, payloads, textOf) : textOf(valueBytes),
      );
      for (const one of records) check(one, value);
      const row: Row = {
        headers: JSON.stringify(headersOf(message)),
        key,
        offset,
        partition: String(partition),
        timestamp: String(timestamp),
        value,
        ...of,
      };
      return { kind: 'row', table, key: keyOf, position: undefined, row };
    },
  };
}

/** @throws Undecodable — the value is not valid in its format, or an iterator cannot be evaluated on it */
function check(records: NestedRecords, value: string): void {
  try {
    records.items(toBytes(value));
  } catch (error) {
    if (!(error instanceof Fault) || (error.code !== 'record/term' && error.code !== 'limit/exceeded')) throw error;
    const { value: excerpt } = error.place;
    throw new Undecodable(`The value cannot be read: ${error.message}${excerpt === undefined ? '' : `: ${excerpt}`}`, error.hint);
  }
}

/** @throws Undecodable */
function part<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Undecodable ? new Undecodable(`The ${name} cannot be read: ${error.message}`, error.hint) : error;
  }
}

type Decode = (bytes: Uint8Array) => string;

function decoderOf(encoding: string): Decode {
  const decoder = new TextDecoder(encoding, { fatal: true });
  return (bytes) => {
    try {
      return decoder.decode(bytes);
    } catch {
      throw new Undecodable(`it is no text in ${encoding.toUpperCase()}`, 'rml:encoding at the source names another encoding');
    }
  };
}

/**
 * The text of a JSON value, without the schema that it may have with it. A value in Avro becomes JSON, with all digits.
 *
 * Claim: a text without both names is not parsed. Proof: the schema and the payload of Kafka Connect's JsonConverter are members of the outermost object,
 * and its serializer writes their names without escapes.
 */
function jsonTextOf(bytes: Uint8Array, payloads: PayloadReader, textOf: Decode): string {
  if (isAvro(bytes)) return printJson(payloads.read(bytes).value);
  const text = textOf(bytes);
  if (!text.includes('"schema"') || !text.includes('"payload"')) return text;
  return withoutSchema(text) ?? text;
}

/** undefined: it is no JSON with a schema. */
function withoutSchema(text: string): string | undefined {
  try {
    const value = parseJson(text);
    if (!isObject(value) || Object.keys(value).length !== 2 || value.payload === undefined) return undefined;
    const { schema } = value;
    const isSchema = schema === null || (isObject(schema) && typeof schema.type === 'string');
    return isSchema ? printJson(value.payload) : undefined;
  } catch {
    // The reader of the document reports what is wrong with it.
    return undefined;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase();

/** The text of a key: JSON without its schema, JSON of Avro, a text as it is, and other bytes as hexadecimal digits. */
function keyTextOf(bytes: Uint8Array, payloads: PayloadReader): string {
  if (payloads.hasSchema(bytes)) return printJson(payloads.read(bytes).value);
  // Numbers of other serializers begin with zeros.
  if (isAvro(bytes)) return hexOf(bytes);
  try {
    const text = utf8.decode(bytes);
    return withoutSchema(text) ?? text;
  } catch {
    return hexOf(bytes);
  }
}

/** In their order; several may have one name. Bytes that are no text are hexadecimal digits. */
function headersOf({ headers }: KafkaMessage): readonly (readonly [name: string, value: string])[] {
  return Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => (value == null ? [] : [[name, headerText(value as Uint8Array | string)] as const])),
  );
}

function headerText(value: Uint8Array | string): string {
  if (typeof value === 'string') return value;
  try {
    return utf8.decode(value);
  } catch {
    return hexOf(value);
  }
}
