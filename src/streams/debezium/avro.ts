/**
 * Avro in the wire format of Confluent: a zero, four bytes of the schema's id, the value. The registry answers one GET for each id.
 *
 * Values become what JSON messages have: integers with all digits, bytes as base64.
 *
 * @see https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html#wire-format
 */
import avsc from 'avsc';
import { Fault } from '../../core/fault.ts';
import { describeConnectionError, HttpClient } from '../../core/reach/http.ts';
import { shortestSingle } from '../../sql/numbers.ts';
import { type Json, JsonNumber } from './json.ts';
import { avroSchema, type Schema } from './schema.ts';

export const isAvro = (bytes: Uint8Array): boolean => bytes[0] === 0;

/** @returns undefined: the bytes are too few */
export const schemaId = (bytes: Uint8Array): number | undefined => (bytes.length < HEAD ? undefined : Buffer.from(bytes).readUInt32BE(1));

const HEAD = 5;
const ANSWER_MS = 30_000;
/** A schema of a table with thousands of columns has less. */
const MAX_SCHEMA_BYTES = 16 * 2 ** 20;

interface Known {
  readonly schema: Schema;
  readonly type: avsc.Type;
}

/** The schemas of a registry, each read once: the schema of an id never changes. */
export class SchemaRegistry {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #http = new HttpClient({ connectMs: 10_000, answerMs: ANSWER_MS });
  readonly #known = new Map<number, Known>();

  /**
   * @param url a base such as `http://host:8081` or `http://host/apis/ccompat/v7`; a user and a password in it log in
   * @throws Fault config/invalid — it is no URL
   */
  constructor(url: string) {
    if (!URL.canParse(url))
      throw new Fault('config/invalid', 'The address of the schema registry is no URL', { hint: 'Write http://host:8081' });
    const { username, password, origin, pathname } = new URL(url);
    const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
    this.#headers = {
      accept: 'application/vnd.schemaregistry.v1+json, application/json',
      ...(username === '' ? {} : { authorization: `Basic ${login}` }),
    };
    this.#url = `${origin}${pathname.replace(/\/$/, '')}`;
  }

  has(id: number): boolean {
    return this.#known.has(id);
  }

  /**
   * @throws Fault source/unreadable — the registry cannot be reached, or fails
   * @throws Fault source/refused — it refuses the request, or has no such schema
   */
  async load(id: number, signal: AbortSignal): Promise<void> {
    const url = `${this.#url}/schemas/ids/${id}`;
    const input = `the schema registry ${url}`;
    const { status, text } = await this.#get(url, signal);
    if (status !== 200) {
      const code = status >= 500 || status === 429 ? 'source/unreadable' : 'source/refused';
      throw new Fault(code, `The schema registry answers ${status} for schema ${id}`, {
        place: { input },
        hint: 'Check the address of the registry: it is that which the converter of the connector has',
      });
    }
    try {
      const { schema, schemaType = 'AVRO' } = JSON.parse(text) as { schema: string; schemaType?: string };
      if (schemaType !== 'AVRO') throw new SyntaxError(`the schema is of the type ${schemaType}, and only Avro is read`);
      const parsed = JSON.parse(schema);
      this.#known.set(id, { schema: avroSchema(parsed), type: avsc.Type.forSchema(parsed, { typeHook: exactLongs }) });
    } catch (error) {
      throw new Fault('source/refused', `Schema ${id} of the registry cannot be used: ${(error as Error).message}`, {
        place: { input },
        cause: error,
      });
    }
  }

  /** @param bytes of a schema that was loaded. @throws Error — they are no value of it */
  read(bytes: Uint8Array): { readonly value: Json; readonly schema: Schema } {
    const known = this.#known.get(schemaId(bytes) as number);
    if (known === undefined) throw new SyntaxError('it was not read');
    const { type, schema } = known;
    const value = type.fromBuffer(Buffer.from(bytes.buffer, bytes.byteOffset + HEAD, bytes.byteLength - HEAD));
    return { value: jsonOf(value, schema), schema };
  }

  close(): Promise<void> {
    return this.#http.close();
  }

  async #get(url: string, signal: AbortSignal): Promise<{ readonly status: number; readonly text: string }> {
    try {
      const { status, body } = await this.#http.send({ method: 'GET', url, headers: this.#headers }, signal);
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > MAX_SCHEMA_BYTES) throw new Error(`the answer is larger than ${MAX_SCHEMA_BYTES} bytes`);
        chunks.push(chunk);
      }
      return { status, text: Buffer.concat(chunks).toString('utf8') };
    } catch (error) {
      signal.throwIfAborted();
      const { reason } = describeConnectionError(error);
      throw new Fault('source/unreadable', `The schema registry cannot be read: ${reason}`, { place: { input: url }, cause: error });
    }
  }
}

/** 64-bit integers as BigInt. The library refuses those that a number cannot hold. */
const exactLong = avsc.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigInt64LE(value);
    return buffer;
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
});

/** A schema of the registry of types alone would miss those with further properties. */
const exactLongs = (schema: unknown): avsc.Type | undefined => {
  const type = typeof schema === 'string' ? schema : (schema as { type?: unknown }).type;
  return type === 'long' ? (exactLong as unknown as avsc.Type) : undefined;
};

function jsonOf(value: unknown, schema: Schema): Json {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return new JsonNumber(String(value));
  if (typeof value === 'number') return numberOf(value, schema.type === 'float');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map((item) => jsonOf(item, schema.items as Schema));
  const members: { [name: string]: Json } = Object.create(null);
  const object = value as Readonly<Record<string, unknown>>;
  if (schema.type === 'map') for (const [name, member] of Object.entries(object)) members[name] = jsonOf(member, schema.items as Schema);
  else for (const field of schema.fields) members[field.name] = jsonOf(object[field.name], field.schema);
  return members;
}

/** As Java writes them in JSON: what is not finite is a text. */
function numberOf(value: number, isSingle: boolean): Json {
  if (!Number.isFinite(value)) return String(value);
  return new JsonNumber(Object.is(value, -0) ? '-0.0' : isSingle ? shortestSingle(value) : String(value));
}
