/**
 * One message of a topic → what it says. Whole envelopes, and rows that ExtractNewRecordState has flattened. Nothing here depends on the messages
 * before: `tables.ts` adds that.
 */
import type { Row, RowValue } from '../events.ts';
import { define, isObject, type Json, type JsonObject, printJson } from './json.ts';
import type { Payload, PayloadReader } from './payload.ts';
import { fieldOf, type Schema } from './schema.ts';
import {
  type Boundary,
  boundaryOf,
  positionOf,
  type RowTransaction,
  rowTransaction,
  type SnapshotRow,
  scalar,
  serverOf,
  snapshotOf,
} from './source.ts';
import { type Connector, mayBeUnavailable, plainText, textOf, Undecodable, untypedValue } from './values.ts';

/** A message as a consumer has it. */
export interface KafkaMessage {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: Readonly<Record<string, unknown>>;
}

export type Decoded =
  /** No change of a row: a heartbeat, a logical message, a change of a schema. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'boundary'; readonly boundary: Boundary }
  /** The value is null: the last message of a key that was deleted. */
  | { readonly kind: 'tombstone'; readonly key: string | undefined }
  | { readonly kind: 'rejected'; readonly reason: string; readonly transaction: RowTransaction | undefined }
  | Change;

export interface Change {
  readonly kind: 'change';
  /** The text of the transaction's collection: `schema.table`, or `database.table`. undefined: it is not told. */
  readonly collection: string | undefined;
  readonly transaction: RowTransaction | undefined;
  /** Whose numbers the position has: GTIDs of MySQL begin again with another server. undefined: positions of all servers can be compared. */
  readonly server: string | undefined;
  /** Milliseconds since 1970. */
  readonly changedAt: number;
  /** A row of a snapshot of its whole table. */
  readonly snapshot: SnapshotRow | undefined;
  /** A change that was made while the connector followed the database, which is after a snapshot. */
  readonly isStreamed: boolean;
  /** A row without its envelope: such a topic has no truncates, and no ends of snapshots. */
  readonly isFlat: boolean;
  readonly connector: Connector;
  /** The schema of the rows, with its connector. */
  readonly columns: { readonly schema: Schema; readonly connector: Connector } | undefined;
  readonly event: RowEvent | { readonly kind: 'truncate'; readonly position: string | undefined };
}

/** As in `ChangeEvent`, without the table. */
export type RowEvent = { readonly key: string | undefined; readonly position: string | undefined } & (
  | {
      readonly kind: 'row';
      readonly row: Row;
      readonly unavailable?: readonly string[];
      readonly isSnapshot?: true;
      readonly before?: Row;
      readonly oldKey?: string;
    }
  | { readonly kind: 'delete'; readonly before?: Row; readonly newKey?: string }
);

const NOTHING: Decoded = { kind: 'nothing' };

/** @param reader which has prepared key and value. Never throws for the content of a message */
export function decodeMessage(message: KafkaMessage, reader: PayloadReader): Decoded {
  let transaction: RowTransaction | undefined;
  try {
    const key = message.key === null ? undefined : part('key', () => reader.read(message.key as Uint8Array));
    if (message.value === null) return { kind: 'tombstone', key: key && keyText(key, connectorOf(message, undefined)) };
    const payload = part('value', () => reader.read(message.value as Uint8Array));
    if (!isObject(payload.value)) throw new Undecodable('the value is no JSON object');
    const { value } = payload;
    const boundary = boundaryOf(value);
    if (boundary !== undefined && 'event_count' in value) return { kind: 'boundary', boundary };
    if (typeof value.op !== 'string' || !isObject(value.source)) return withoutEnvelope(message, reader, value, payload.schema, key);
    transaction = isObject(value.transaction) ? rowTransaction(value.transaction, value.source) : undefined;
    return readEnvelope(message, reader, value, value.source, payload.schema, key, transaction);
  } catch (error) {
    // Other errors are those of values that Debezium does not write.
    return { kind: 'rejected', reason: reasonOf(error as Error), transaction };
  }
}

export const reasonOf = ({ message, hint }: Error & { readonly hint?: string | undefined }): string =>
  hint === undefined ? message : `${message}. ${hint}`;

function part<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Undecodable ? new Undecodable(`The ${name} cannot be read: ${error.message}`, error.hint) : error;
  }
}

/** JSON array of the texts of its columns. A key that is no object is one column. */
function keyText({ value, schema }: Payload, connector: Connector): string | undefined {
  if (value === null) return undefined;
  if (!isObject(value)) return JSON.stringify([schema ? textOf(value, schema, connector) : plainText(untypedValue(value, connector))]);
  const texts = Object.entries(value).map(([name, member]) => {
    const field = fieldOf(schema, name);
    return field === undefined ? plainText(untypedValue(member, connector)) : column(name, () => textOf(member, field, connector));
  });
  return JSON.stringify(texts);
}

/** Debezium names the connector in a header, too; flattened rows have no other place for it. */
function connectorOf({ headers }: KafkaMessage, source: JsonObject | undefined): Connector {
  const header = headers['__debezium.context.connectorName'];
  return (
    scalar(source, 'connector') ??
    (header == null
      ? 'postgresql'
      : Buffer.from(header as Uint8Array)
          .toString()
          .replace(/^"|"$/g, ''))
  );
}

function readEnvelope(
  message: KafkaMessage,
  reader: PayloadReader,
  value: JsonObject,
  source: JsonObject,
  schema: Schema | undefined,
  keyPayload: Payload | undefined,
  transaction: RowTransaction | undefined,
): Decoded {
  const { op } = value;
  const connector = connectorOf(message, source);
  const rows = fieldOf(schema, 'after') ?? fieldOf(schema, 'before');
  const common = {
    kind: 'change',
    collection: collectionOf(source),
    transaction,
    server: serverOf(source),
    changedAt: Number(scalar(source, 'ts_ms') ?? message.timestamp),
    snapshot: snapshotOf(source),
    isStreamed: op !== 'r',
    isFlat: false,
    connector,
    columns: rows === undefined ? undefined : { schema: rows, connector },
  } as const;
  // A logical message, or a change of the table's schema.
  if (op === 'm') return NOTHING;
  if (op === 't') return { ...common, event: { kind: 'truncate', position: positionOf(source, false) } };
  const key = keyPayload && keyText(keyPayload, connector);
  const position = positionOf(source, key !== undefined);
  const before = isObject(value.before) ? value.before : undefined;
  const keyless = (): { readonly before?: Row } => {
    if (key !== undefined) return {};
    if (before === undefined)
      throw new Undecodable(
        'The table has no key, and the message does not have the row as it was',
        'Give it a key, set message.key.columns at the connector, or ALTER TABLE … REPLICA IDENTITY FULL',
      );
    return { before: rowOf(before, rows, connector) };
  };
  const moved = movedKeys(message, keyPayload, reader, connector);
  if (op === 'd') return { ...common, event: { kind: 'delete', key, position, ...keyless(), ...moved.to } };
  if (op !== 'c' && op !== 'u' && op !== 'r') throw new Undecodable(`The operation ${printJson(op)} is not known`);
  if (!isObject(value.after)) throw new Undecodable(`A message with the operation ${op} has no row in "after"`);
  const isWhole = op === 'r' || (op === 'c' && moved.from.oldKey === undefined);
  const unavailable = unavailableOf(value.after, rows, connector, before, isWhole);
  return {
    ...common,
    event: {
      kind: 'row',
      key,
      position,
      row: rowOf(value.after, rows, connector, unavailable),
      ...(unavailable.length > 0 ? { unavailable } : {}),
      ...(op === 'r' ? { isSnapshot: true } : {}),
      ...(op === 'u' ? keyless() : {}),
      ...moved.from,
    },
  };
}

/** A change of a key is a delete and an insert. Headers say which other key the row has, as JSON of the key without its schema. */
function movedKeys(message: KafkaMessage, key: Payload | undefined, reader: PayloadReader, connector: Connector): MovedKeys {
  const read = (name: string): string | undefined => {
    const bytes = message.headers[name];
    if (key === undefined || !(bytes instanceof Uint8Array)) return undefined;
    const { value, schema } = part(`header ${name}`, () => reader.read(bytes));
    return keyText({ value, schema: schema ?? key.schema }, connector);
  };
  const oldKey = read('__debezium.oldkey');
  const newKey = read('__debezium.newkey');
  return { from: oldKey === undefined ? {} : { oldKey }, to: newKey === undefined ? {} : { newKey } };
}

interface MovedKeys {
  readonly from: { readonly oldKey?: string };
  readonly to: { readonly newKey?: string };
}

function collectionOf(source: JsonObject): string | undefined {
  const table = scalar(source, 'table');
  const outer = scalar(source, 'schema') ?? scalar(source, 'db');
  return table === undefined || outer === undefined ? undefined : `${outer}.${table}`;
}

/**
 * Columns whose value in the message stands for one that has not changed.
 *
 * Claim: where a column holds the marker's text by itself, the text is taken for a value in an insert, in a row of a snapshot, and in an update whose
 * row before has it as well; MySQL and MariaDB have no marker at all. Proof: PostgreSQL leaves values out of updates only (an insert that is the
 * second half of a change of a key is an update, and has a header that says so), and a row before that is not null is either whole (REPLICA IDENTITY
 * FULL) or has an invented value, which is never the marker. What remains is an update that sets a column to this very text: it counts as not
 * changed, since the message cannot be told apart from one that has not touched the column.
 */
function unavailableOf(
  after: JsonObject,
  rows: Schema | undefined,
  connector: Connector,
  before: JsonObject | undefined,
  isWhole: boolean,
): readonly string[] {
  if (connector === 'mysql' || connector === 'mariadb' || (isWhole && connector === 'postgresql')) return [];
  return Object.entries(after)
    .filter(
      ([name, value]) => mayBeUnavailable(value, fieldOf(rows, name)) && !(before && mayBeUnavailable(before[name], fieldOf(rows, name))),
    )
    .map(([name]) => name);
}

function rowOf(members: JsonObject, schema: Schema | undefined, connector: Connector, without: readonly string[] = []): Row {
  const row: Record<string, RowValue> = {};
  const set = (name: string, value: RowValue): void => {
    if (name === '__proto__') define(row, name, value);
    else row[name] = value;
  };
  if (schema === undefined) {
    for (const name in members) if (!without.includes(name)) set(name, untypedValue(members[name], connector));
    return row;
  }
  for (const field of schema.fields) {
    if (without.includes(field.name)) continue;
    const member = Object.hasOwn(members, field.name) ? members[field.name] : null;
    set(
      field.name,
      column(field.name, () => textOf(member, field.schema, connector)),
    );
  }
  return row;
}

function column<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Undecodable ? new Undecodable(`Column ${name}: ${error.message}`, error.hint) : error;
  }
}

/** What ExtractNewRecordState adds to a row, with its default prefix. */
const ADDED = /^__(?:source_)?/;

const bareSchemas = new WeakMap<Schema, Schema>();

/** The same object for the same schema. */
function withoutAdded(schema: Schema): Schema {
  const bare = bareSchemas.get(schema) ?? { ...schema, fields: schema.fields.filter(({ name }) => !name.startsWith('__')) };
  bareSchemas.set(schema, bare);
  return bare;
}

function withoutEnvelope(
  message: KafkaMessage,
  reader: PayloadReader,
  value: JsonObject,
  schema: Schema | undefined,
  keyPayload: Payload | undefined,
): Decoded {
  const isHeartbeat = isObject(keyPayload?.value) && 'serverName' in keyPayload.value && 'ts_ms' in value;
  const isSchemaChange = 'ddl' in value && ('source' in value || 'tableChanges' in value);
  if (isHeartbeat || isSchemaChange) return NOTHING;
  const added: { [name: string]: Json | undefined } = Object.create(null);
  const members: { [name: string]: Json | undefined } = Object.create(null);
  for (const [name, member] of Object.entries(value)) {
    if (!name.startsWith('__')) members[name] = member;
    else added[name.replace(ADDED, '')] = member;
  }
  const connector = connectorOf(message, added);
  const key = keyPayload && keyText(keyPayload, connector);
  const rows = schema && withoutAdded(schema);
  const op = scalar(added, 'op');
  const isDeleted = added.deleted === 'true' || added.deleted === true || op === 'd';
  const common = {
    kind: 'change',
    collection: undefined,
    transaction: undefined,
    server: serverOf(added),
    changedAt: Number(scalar(added, 'ts_ms') ?? message.timestamp),
    // Its markers are not in a flattened row, or `source.snapshot` is.
    snapshot: added.snapshot === undefined ? undefined : snapshotOf(added),
    isStreamed: op !== undefined && op !== 'r',
    isFlat: true,
    connector,
    columns: rows === undefined ? undefined : { schema: rows, connector },
  } as const;
  const position = positionOf(added, key !== undefined);
  const moved = movedKeys(message, keyPayload, reader, connector);
  if (isDeleted) {
    const before = key === undefined ? { before: rowOf(members, rows, connector) } : {};
    return { ...common, event: { kind: 'delete', key, position, ...before, ...moved.to } };
  }
  if (key === undefined && op !== 'c' && op !== 'r')
    throw new Undecodable(
      'The table has no key, and a flattened update does not say which row it replaces',
      'Keep the whole envelope, or set message.key.columns at the connector',
    );
  const isWhole = op === 'r' || (op === 'c' && moved.from.oldKey === undefined);
  const unavailable = unavailableOf(members as JsonObject, rows, connector, undefined, isWhole);
  return {
    ...common,
    event: {
      kind: 'row',
      key,
      position,
      row: rowOf(members as JsonObject, rows, connector, unavailable),
      ...(unavailable.length > 0 ? { unavailable } : {}),
      ...(op === 'r' ? { isSnapshot: true } : {}),
      ...moved.from,
    },
  };
}
