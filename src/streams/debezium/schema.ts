/** Schemas of Kafka Connect: what a message with a schema says of its values. */
import { isObject, type Json, JsonNumber, type JsonObject } from './json.ts';

/** @see https://kafka.apache.org/documentation/#connect_developing and the sources of `org.apache.kafka.connect.data.Schema` */
export interface Schema {
  readonly type: ConnectType;
  /** The semantic type: `io.debezium.time.Date`. */
  readonly name: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  /** Of a struct, in order. */
  readonly fields: readonly Field[];
  /** Of an array its elements, of a map its values. */
  readonly items: Schema | undefined;
}

export interface Field {
  readonly name: string;
  readonly schema: Schema;
}

const CONNECT_TYPES = [
  'int8',
  'int16',
  'int32',
  'int64',
  'float',
  'double',
  'boolean',
  'string',
  'bytes',
  'array',
  'map',
  'struct',
] as const;

export type ConnectType = (typeof CONNECT_TYPES)[number];

/** The member `schema` of a JSON message. @throws SyntaxError — it is no schema of Connect */
export function jsonSchema(schema: Json | undefined): Schema {
  if (!isObject(schema)) throw new SyntaxError('the schema is no JSON object');
  const { type, name, parameters, fields, items, values } = schema;
  const known = CONNECT_TYPES.find((one) => one === type);
  if (known === undefined) throw new SyntaxError(`the schema has the type ${JSON.stringify(type)}, which Kafka Connect does not have`);
  const inside = items ?? values;
  return {
    type: known,
    name: typeof name === 'string' ? name : undefined,
    parameters: isObject(parameters) ? textsOf(parameters) : {},
    fields: Array.isArray(fields) ? fields.map((field: JsonObject) => ({ name: String(field.field), schema: jsonSchema(field) })) : [],
    items: inside === undefined ? undefined : jsonSchema(inside),
  };
}

export const fieldOf = (schema: Schema | undefined, name: string): Schema | undefined =>
  schema?.fields.find((field) => field.name === name)?.schema;

const textsOf = (members: JsonObject): Record<string, string> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, value instanceof JsonNumber ? value.text : String(value)]));

type AvroNode = string | readonly AvroNode[] | AvroObject;
interface AvroObject {
  readonly type: AvroNode;
  readonly name?: string;
  readonly namespace?: string;
  readonly fields?: readonly { readonly name: string; readonly type: AvroNode }[];
  readonly items?: AvroNode;
  readonly values?: AvroNode;
  readonly [property: string]: unknown;
}

const AVRO_TYPES: Readonly<Record<string, ConnectType>> = {
  int: 'int32',
  long: 'int64',
  float: 'float',
  double: 'double',
  boolean: 'boolean',
  string: 'string',
  enum: 'string',
  bytes: 'bytes',
  fixed: 'bytes',
};

/**
 * An Avro schema as converters of Connect write it: semantic types are in `connect.name`, not in `logicalType`.
 *
 * @throws SyntaxError — a type that no converter of Connect writes
 */
export function avroSchema(root: unknown): Schema {
  const named = new Map<string, Schema>();
  const read = (node: AvroNode, namespace: string | undefined): Schema => {
    if (Array.isArray(node)) {
      const branches = node.filter((branch) => branch !== 'null');
      if (branches.length !== 1) throw new SyntaxError('the Avro schema has a union of several types');
      return read(branches[0] as AvroNode, namespace);
    }
    if (typeof node === 'string') {
      const found = named.get(node) ?? named.get(`${namespace}.${node}`);
      if (found !== undefined) return found;
      return read({ type: node }, namespace);
    }
    const object = node as AvroObject;
    const { type } = object;
    if (typeof type !== 'string') return read(type, namespace);
    const full = object.name?.includes('.') ? object.name : `${object.namespace ?? namespace}.${object.name}`;
    const own = object.name === undefined ? namespace : full.slice(0, full.lastIndexOf('.'));
    const connect = object['connect.parameters'] as Record<string, string> | undefined;
    const semantic = object['connect.name'] as string | undefined;
    const common = { name: semantic, parameters: connect ?? {}, fields: [], items: undefined };
    if (type === 'record') {
      const fields: Field[] = [];
      const schema: Schema = { ...common, type: 'struct', fields };
      named.set(full, schema);
      for (const field of object.fields ?? []) fields.push({ name: field.name, schema: read(field.type, own) });
      return schema;
    }
    if (type === 'array') return { ...common, type, items: read(object.items as AvroNode, own) };
    if (type === 'map') return { ...common, type, items: read(object.values as AvroNode, own) };
    const narrow = CONNECT_TYPES.find((one) => one === object['connect.type']);
    const plain = AVRO_TYPES[type] ?? named.get(type)?.type;
    if (plain === undefined)
      throw new SyntaxError(`the Avro schema has the type ${JSON.stringify(type)}, which Kafka Connect does not write`);
    const schema = { ...common, type: narrow ?? plain };
    if (object.name !== undefined) named.set(full, schema);
    return schema;
  };
  return read(root as AvroNode, undefined);
}
