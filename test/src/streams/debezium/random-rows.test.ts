/** Random tables and values of every kind, in envelopes of both connectors: as JSON with schemas, and as Avro with a registry. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import avsc from 'avsc';
import { SchemaRegistry } from '../../../../src/streams/debezium/avro.ts';
import { decodeMessage } from '../../../../src/streams/debezium/message.ts';
import { PayloadReader } from '../../../../src/streams/debezium/payload.ts';
import { TableStates } from '../../../../src/streams/debezium/tables.ts';
import { Random, soakSeeds } from '../../../support/random.ts';
import { type EncodedColumn, MARIADB, POSTGRESQL } from './encode.ts';

interface Connect {
  readonly type: string;
  readonly name?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly items?: Connect;
  readonly fields?: readonly (Connect & { readonly field: string })[];
}

const AVRO: Readonly<Record<string, string>> = {
  int32: 'int',
  int64: 'long',
  string: 'string',
  bytes: 'bytes',
  boolean: 'boolean',
  float: 'float',
  double: 'double',
};

/** As the Avro converter writes a schema of Kafka Connect. */
function avroOf({ type, name, parameters, items, fields }: Connect): unknown {
  const more = {
    ...(name === undefined ? {} : { 'connect.name': name }),
    ...(parameters === undefined ? {} : { 'connect.parameters': parameters }),
  };
  if (type === 'array') return { type, items: ['null', avroOf(items as Connect)], ...more };
  if (type === 'struct') {
    const short = name?.slice(name.lastIndexOf('.') + 1) ?? 'Struct';
    const namespace = name?.slice(0, name.lastIndexOf('.')) ?? 'test';
    return { type: 'record', name: short, namespace, fields: fields?.map((one) => ({ name: one.field, type: avroOf(one) })), ...more };
  }
  if (type === 'int16') return { type: 'int', 'connect.type': 'int16', ...more };
  return Object.keys(more).length === 0 ? AVRO[type] : { type: AVRO[type], ...more };
}

const bigLong = avsc.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigInt64LE(value);
    return buffer;
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: () => 0,
});

/** A value of the JSON converter as Avro has it. */
function avroValue(value: unknown, { type, items, fields }: Connect): unknown {
  if (value === null) return null;
  if (type === 'int64') return BigInt(value as string);
  if (type === 'bytes') return Buffer.from(value as string, 'base64');
  if (type === 'array') return (value as unknown[]).map((one) => avroValue(one, items as Connect));
  if (type === 'struct')
    return Object.fromEntries((fields ?? []).map((one) => [one.field, avroValue((value as Record<string, unknown>)[one.field], one)]));
  return value;
}

/** `JSON.parse` rounds: 64-bit integers stay text. */
const parsed = (json: string, { type }: Connect): unknown => (type === 'int64' ? json : JSON.parse(json));

interface Cell {
  readonly name: string;
  readonly column: EncodedColumn;
  readonly value: { readonly text: string; readonly json: string } | undefined;
}

describe.each([
  ['postgresql', POSTGRESQL],
  ['mariadb', MARIADB],
] as const)('random rows of %s', (connector, columns) => {
  /** By id, from 1. */
  const schemas: unknown[] = [undefined];
  let server: Server;
  let registry: SchemaRegistry;

  beforeAll(async () => {
    server = createServer((request, response) => {
      response.end(JSON.stringify({ schema: JSON.stringify(schemas[Number(/\d+$/.exec(`${request.url}`)?.[0])]) }));
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    registry = new SchemaRegistry(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  });

  afterAll(async () => {
    await registry.close();
    server.close();
  });

  const source = `{"connector":"${connector}","db":"shop","schema":"shop","table":"t","snapshot":"false","ts_ms":1795832742019}`;

  /** JSON with schemas. */
  function withSchema(cells: readonly Cell[]): Buffer {
    const fields = cells.map(({ name, column }) => ({ ...column.schema, optional: true, field: name }));
    const row = { type: 'struct', fields, optional: true, name: 'p.shop.t.Value' };
    const schema = {
      type: 'struct',
      fields: [
        { ...row, field: 'before' },
        { ...row, field: 'after' },
      ],
      name: 'p.shop.t.Envelope',
    };
    const after = cells.map(({ name, value }) => `${JSON.stringify(name)}:${value?.json ?? 'null'}`).join(',');
    return Buffer.from(`{"schema":${JSON.stringify(schema)},"payload":{"before":null,"after":{${after}},"source":${source},"op":"c"}}`);
  }

  function asAvro(cells: readonly Cell[]): Buffer {
    const row = {
      type: 'record',
      name: 'Value',
      namespace: 'p.shop.t',
      // A struct of one name is defined once.
      fields: cells.map(({ name, column }) => ({ name, type: ['null', avroOf(column.schema as Connect)] })),
    };
    const part = (name: string): unknown => ({ name, type: 'string' });
    const schema = {
      type: 'record',
      name: 'Envelope',
      namespace: 'p.shop.t',
      fields: [
        { name: 'before', type: ['null', row] },
        { name: 'after', type: ['null', 'Value'] },
        { name: 'source', type: { type: 'record', name: 'Source', fields: ['connector', 'db', 'schema', 'table', 'snapshot'].map(part) } },
        { name: 'op', type: 'string' },
      ],
    };
    const typeHook = (one: unknown): avsc.Type | undefined =>
      (typeof one === 'string' ? one : (one as { type?: unknown }).type) === 'long' ? (bigLong as unknown as avsc.Type) : undefined;
    const type = avsc.Type.forSchema(JSON.parse(JSON.stringify(schema)), { typeHook });
    const after = Object.fromEntries(
      cells.map(({ name, column, value }) => [
        name,
        value === undefined ? null : avroValue(parsed(value.json, column.schema as Connect), column.schema as Connect),
      ]),
    );
    schemas.push(schema);
    const head = Buffer.alloc(5);
    head.writeUInt32BE(schemas.length - 1, 1);
    return Buffer.concat([head, type.toBuffer({ before: null, after, source: JSON.parse(source), op: 'c' })]);
  }

  test.each(soakSeeds(1, 60))('seed %i', async (seed) => {
    const random = new Random(seed);
    const names = random.shuffle(Object.keys(columns)).slice(0, random.between(1, 12));
    const cells = names.map((name): Cell => {
      const column = columns[name] as EncodedColumn;
      return { name, column, value: random.chance(0.15) ? undefined : column.value(random) };
    });
    const reader = new PayloadReader(registry);
    for (const value of [withSchema(cells), asAvro(cells)]) {
      await reader.prepare(value, new AbortController().signal);
      const key = Buffer.from(`{"id":${seed}}`);
      const decoded = decodeMessage({ topic: 't', partition: 0, offset: '0', timestamp: 0, key, value, headers: {} }, reader);
      const [described, event] = new TableStates(undefined).eventsOf('t', decoded);
      expect(described).toEqual({
        kind: 'columns',
        table: 't',
        columns: cells.map(({ name, column: { kind, isArray } }) => ({ name, kind, ...(isArray === undefined ? {} : { isArray }) })),
      });
      const row = Object.fromEntries(cells.map((cell) => [cell.name, cell.value?.text ?? null]));
      expect(event).toEqual({ kind: 'row', table: 't', key: `["${seed}"]`, position: undefined, row });
    }
  });
});
