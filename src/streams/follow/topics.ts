/** Opens what a follower keeps of a topic, for a run: messages, or rows of Debezium. */
import { toBytes } from '../../core/text.ts';
import { formatOrigin } from '../../mapping/model/model.ts';
import type { OpenedTopic, RunHooks } from '../../run/request.ts';
import type { OpenedScan } from '../../sources/source.ts';
import { openSql } from '../../sources/sql/sql.ts';
import type { Product } from '../../sql/database.ts';
import { allOf } from '../../sql/select.ts';
import type { Table } from '../../sql/tables.ts';
import { type ColumnKind, type FeedColumn, UNREADABLE } from '../events.ts';
import { type TopicSource, tableOf } from '../topics/readings.ts';
import { type Message, type MessageChunk, openMessages } from '../topics/scan.ts';
import { typedColumn, unreadable, untypedColumn } from './columns.ts';
import type { RowSource } from './reading.ts';
import { FollowedSession } from './session.ts';
import { readCells } from './state/packing.ts';
import type { Kept } from './state/state.ts';

/** For the hooks of a run. The rows stay open. */
export const topicsOf =
  (rows: RowSource): NonNullable<RunHooks['openTopic']> =>
  async (opened) => {
    const source = opened.source as TopicSource;
    const { formulation, request } = source;
    if (request.changes === 'debezium' && formulation === 'csv') return openColumns(rows, source, opened);
    const giving = (messages: readonly Message[]): void => rows.giving?.(messages.map((message) => (message as KeptMessage).of));
    const scan = await openMessages(opened, () => chunksOf(rows, source), giving);
    return { scan, name: opened.options.name, typed: opened.typed, close: async () => undefined };
  };

interface KeptMessage extends Message {
  readonly of: Kept;
}

/** The messages, or the rows as JSON. */
async function* chunksOf(rows: RowSource, source: TopicSource): AsyncGenerator<MessageChunk> {
  const table = tableOf(source);
  const { topic, changes } = source.request;
  const columns = new Map(rows.table(table)?.columns?.map((column) => [column.name, column]));
  const name = toBytes(topic);
  let bytes = 0;
  for await (const chunk of rows.read(table)) {
    const messages: KeptMessage[] = [];
    for (const kept of chunk) {
      bytes += kept.bytes.length;
      const message = { ...(changes === 'debezium' ? { topic: name, value: jsonOf(kept, columns) } : messageOf(kept, name)), of: kept };
      for (let n = 0; n < kept.count; n++) messages.push(message);
    }
    yield { messages, bytes };
  }
}

function messageOf({ layout, bytes, at }: Kept, topic: string): Message {
  const message: Record<string, string | null> = { topic };
  readCells(bytes, at, layout.length, (index, text) => void (message[layout[index] as string] = text));
  return message as unknown as Message;
}

/**
 * The row as an object of JSON, one-byte UTF-8. Values whose column has such a type in its schema are numbers and booleans.
 *
 * @throws Fault record/term — a message did not have a value
 */
function jsonOf({ layout, bytes, at }: Kept, columns: ReadonlyMap<string, FeedColumn>): string {
  const members: string[] = [];
  readCells(bytes, at, layout.length, (index, text, isToken) => {
    const name = layout[index] as string;
    members.push(`${toBytes(JSON.stringify(name))}:${isToken ? text : jsonValue(text, columns.get(name))}`);
  });
  return `{${members.join(',')}}`;
}

const MAY_BE_UNREADABLE: ReadonlySet<ColumnKind> = new Set(['date', 'timestamp', 'interval']);
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function jsonValue(text: string | null, column: FeedColumn | undefined): string {
  if (text === null) return 'null';
  if (column !== undefined && column.isArray !== true) {
    if (text[0] === UNREADABLE && MAY_BE_UNREADABLE.has(column.kind)) throw unreadable(text);
    if (column.kind === 'boolean') return typedColumn(column).canonical?.(text) ?? text;
    const isNumeric = column.kind === 'integer' || column.kind === 'decimal' || column.kind === 'double' || column.kind === 'year';
    if (isNumeric && NUMBER.test(text)) return text;
  }
  // Characters from 128 on are bytes of UTF-8, and stay.
  return JSON.stringify(text);
}

/** By whose rules names are read: they are taken as they are. */
const ANY_PRODUCT: Product = 'sqlite';

/** References are names of columns, and values have the datatypes of the columns, as those of a table have. */
function openColumns(rows: RowSource, source: TopicSource, { iterations, options }: OpenedTopic): OpenedScan {
  const name = tableOf(source);
  const kept = rows.table(name);
  const schema = new Map(kept?.columns?.map((column) => [column.name, column]));
  const references = iterations.flatMap((iteration) => iteration.references);
  const had = [...new Set([...schema.keys(), ...(kept?.names ?? [])])];
  const names = [...new Set([...had, ...references])];
  const columns = names.map((one) => {
    const known = schema.get(one);
    return known === undefined ? untypedColumn(one, undefined, true) : typedColumn(known);
  });
  const table: Table = {
    schema: '-',
    name,
    kind: 'table',
    columns: names.map((one) => ({ name: one, nullable: true })),
    primaryKey: undefined,
    uniqueKeys: [],
    foreignKeys: [],
    estimatedRows: undefined,
  };
  const untyped = new Set(names.filter((one) => !schema.has(one)));
  const followed = { name, table, columns, untyped, raw: new Set<string>() };
  const scan = openSql({
    session: new FollowedSession(ANY_PRODUCT, options.name, rows, [followed], () => followed),
    sql: allOf(table, ANY_PRODUCT),
    columns,
    table: { schema: '-', name, columns: names },
    position: (reference) => names.indexOf(reference),
    nulls: source.nulls,
    origin: formatOrigin(source.origin),
  });
  const missing = had.length === 0 ? [] : references.filter((reference) => !had.includes(reference));
  const warnings = [...new Set(missing)].map((reference) => `No row of ${options.name} has had a column ${reference}`);
  return { scan: { ...scan, warnings: () => warnings }, name: options.name, typed: true, close: async () => undefined };
}
