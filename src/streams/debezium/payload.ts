/** The bytes of a key or a value → JSON, with the schema that the message or the registry has. */
import { isAvro, type SchemaRegistry, schemaId } from './avro.ts';
import { isObject, type Json, JsonText, parseJson } from './json.ts';
import { jsonSchema, type Schema } from './schema.ts';
import { Undecodable } from './values.ts';

export interface Payload {
  readonly value: Json;
  /** undefined: the message has none. */
  readonly schema: Schema | undefined;
}

interface Beginning {
  /** `{"schema":{…},` */
  readonly head: Buffer;
  readonly schema: Schema;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Schemas that JSON messages have with them. A topic has one, and another one after a change of its table. */
const MOST_SCHEMAS = 2_000;
const RECENT_SCHEMAS = 16;

export class PayloadReader {
  readonly #registry: SchemaRegistry | undefined;
  readonly #schemas = new Map<string, Schema>();
  /** Beginnings of messages up to the payload, with their schemas: those of keys and values of a few topics. */
  #recent: readonly Beginning[] = [];

  constructor(registry: SchemaRegistry | undefined) {
    this.#registry = registry;
  }

  /** Reads the schema that the bytes name, if it is not known. undefined: nothing has to be read. @throws Fault — as `SchemaRegistry.load` */
  prepare(bytes: Uint8Array | null, signal: AbortSignal): Promise<void> | undefined {
    if (bytes === null || this.#registry === undefined || !isAvro(bytes)) return undefined;
    const id = schemaId(bytes);
    // Ids begin with 1: other serializers write zeros as well.
    return id === undefined || id === 0 || this.#registry.has(id) ? undefined : this.#registry.load(id, signal);
  }

  /** Whether they are Avro with a schema that was read. */
  hasSchema(bytes: Uint8Array): boolean {
    const id = isAvro(bytes) ? schemaId(bytes) : undefined;
    return id !== undefined && this.#registry?.has(id) === true;
  }

  /**
   * @param bytes for which `prepare` was called
   * @throws Undecodable — they are neither JSON nor Avro with a schema of the registry
   */
  read(bytes: Uint8Array): Payload {
    if (isAvro(bytes)) return this.#readAvro(bytes);
    try {
      return this.#ofRecent(bytes) ?? this.#readJson(bytes);
    } catch (error) {
      throw new Undecodable(
        `it is no JSON: ${(error as Error).message}`,
        'Set key.converter and value.converter to the JsonConverter, or to Avro with a registry',
      );
    }
  }

  /** A schema is several times as long as its payload. Where it has the bytes of one that is known, it is not even decoded. */
  #ofRecent(bytes: Uint8Array): Payload | undefined {
    const found = this.#recent.find(({ head }) => bytes.length > head.length && head.equals(bytes.subarray(0, head.length)));
    if (found === undefined) return undefined;
    const value = parseJson(`{${decoder.decode(bytes.subarray(found.head.length))}`);
    if (!isObject(value) || value.payload === undefined || Object.keys(value).length !== 1) return undefined;
    return { value: value.payload, schema: found.schema };
  }

  #readJson(bytes: Uint8Array): Payload {
    const text = decoder.decode(bytes);
    const value = parseJson(text, 'schema');
    if (!isObject(value) || !(value.schema instanceof JsonText)) return { value, schema: undefined };
    if (value.payload === undefined || Object.keys(value).length !== 2) return { value: parseJson(text), schema: undefined };
    if (value.schema.text === 'null') return { value: value.payload, schema: undefined };
    const schema = this.#schemaOf(value.schema.text);
    const head = Buffer.from(`{"schema":${value.schema.text},`);
    if (head.equals(bytes.subarray(0, head.length))) this.#recent = [{ head, schema }, ...this.#recent.slice(0, RECENT_SCHEMAS - 1)];
    return { value: value.payload, schema };
  }

  #readAvro(bytes: Uint8Array): Payload {
    if (this.#registry === undefined)
      throw new Undecodable('it is Avro, and no schema registry is given', 'Give the address of the registry');
    if (schemaId(bytes) === undefined) throw new Undecodable('it has fewer bytes than the id of a schema');
    try {
      return this.#registry.read(bytes);
    } catch (error) {
      throw new Undecodable(`it does not fit its Avro schema ${schemaId(bytes)}: ${(error as Error).message}`);
    }
  }

  #schemaOf(text: string): Schema {
    const known = this.#schemas.get(text);
    if (known !== undefined) return known;
    const schema = jsonSchema(parseJson(text));
    if (this.#schemas.size === MOST_SCHEMAS) this.#schemas.clear();
    this.#schemas.set(text, schema);
    return schema;
  }
}
