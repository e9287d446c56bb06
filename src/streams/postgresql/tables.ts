/** The wanted tables as the replication log shows them: columns, key, and what stands in the way. */
import { quote } from '../../sql/catalogue/identifiers.ts';
import type { DatabaseAddress } from '../../sql/database.ts';
import { queryFault } from '../../sql/faults.ts';
import type { TableName } from '../../sql/tables.ts';
import { shapeOf } from '../database/followed.ts';
import { nameOf } from '../database/options.ts';
import type { RelationColumn } from './pgoutput.ts';

type Row = Readonly<Record<string, string | null>>;

export interface LogTable {
  readonly table: TableName;
  readonly isPartitioned: boolean;
  /** Without generated columns, which the log does not have. */
  readonly columns: readonly RelationColumn[];
  readonly generated: readonly string[];
  /** Columns by which a deleted row is known; undefined: by all of them, and equal rows cannot be told apart. */
  readonly key: readonly string[] | undefined;
  /** See `Followed`. */
  readonly shape: string;
  /** Another one, where all rows were removed or written again. */
  readonly file: string;
  /** Why updates cannot be followed, with the statement that mends it. */
  readonly obstacle: { readonly message: string; readonly hint: string } | undefined;
}

/**
 * A deferrable key is none: two rows may have it for a while. `$1`, `$2`: schemas and names. `ancestry`: tables that inherit from it, but for partitions. `leaves`: partitions with rows, with their files: a partition
 * that is attached, detached or emptied makes no entry in the log.
 */
const TABLES_SQL = `
SELECT w.position::text, c.relkind::text AS kind, c.relreplident::text AS identity, c.relpersistence::text AS persistence,
  c.relfilenode::text AS file,
  (SELECT pg_catalog.json_agg(pg_catalog.json_build_array(a.attnum, a.attname, a.atttypid::int8, a.atttypmod, a.attgenerated) ORDER BY a.attnum)
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)::text AS columns,
  (SELECT pg_catalog.json_agg(a.attname ORDER BY k.position) FROM pg_catalog.pg_index i, pg_catalog.unnest(i.indkey) WITH ORDINALITY AS k(number, position),
      pg_catalog.pg_attribute a
    WHERE i.indrelid = c.oid AND i.indisprimary AND i.indimmediate AND a.attrelid = c.oid AND a.attnum = k.number AND k.position <= i.indnkeyatts)::text AS primary_key,
  (SELECT pg_catalog.json_agg(a.attname ORDER BY k.position) FROM pg_catalog.pg_index i, pg_catalog.unnest(i.indkey) WITH ORDINALITY AS k(number, position),
      pg_catalog.pg_attribute a
    WHERE i.indrelid = c.oid AND i.indisreplident AND a.attrelid = c.oid AND a.attnum = k.number AND k.position <= i.indnkeyatts)::text AS identity_key,
  (SELECT pg_catalog.count(*) FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid AND c.relkind <> 'p')::text AS heirs,
  CASE WHEN c.relkind = 'p' THEN (SELECT pg_catalog.json_agg(pg_catalog.json_build_array(l.oid::int8, l.relreplident, l.relfilenode::int8) ORDER BY l.oid)
    FROM pg_catalog.pg_partition_tree(c.oid) t JOIN pg_catalog.pg_class l ON l.oid = t.relid WHERE t.isleaf)::text END AS leaves
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) WITH ORDINALITY AS w(schema, name, position)
JOIN pg_catalog.pg_namespace n ON n.nspname = w.schema JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = w.name`;

/** A text array as PostgreSQL reads it. */
const arrayOf = (texts: readonly string[]): string => `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;

/** Those that exist, by the follower's names. */
export async function readTables(
  query: (sql: string, values: readonly string[]) => Promise<readonly Row[]>,
  wanted: ReadonlyMap<string, TableName>,
): Promise<ReadonlyMap<string, LogTable>> {
  const all = [...wanted];
  const rows = await query(TABLES_SQL, [arrayOf(all.map(([, { schema }]) => schema)), arrayOf(all.map(([, { name }]) => name))]);
  const byPosition = new Map(rows.map((row) => [Number(row.position), row]));
  return new Map(all.map(([name, table], i) => [name, tableOf(table, byPosition.get(i + 1))]));
}

type Attribute = readonly [number: number, name: string, type: number, modifier: number, generated: string];

function tableOf({ schema, name }: TableName, row: Row | undefined): LogTable {
  const list = <T>(text: string | null | undefined): readonly T[] | undefined => (text == null ? undefined : (JSON.parse(text) as T[]));
  const attributes = list<Attribute>(row?.columns) ?? [];
  const primaryKey = list<string>(row?.primary_key);
  const leaves = list<readonly [number, string, number]>(row?.leaves) ?? [];
  const key = row?.identity === 'i' && row.kind !== 'p' ? list<string>(row.identity_key) : primaryKey;
  const table = { schema, name };
  return {
    table,
    isPartitioned: row?.kind === 'p',
    columns: attributes.filter(([, , , , generated]) => generated === '').map(([, name, type, modifier]) => ({ name, type, modifier })),
    generated: attributes.filter(([, , , , generated]) => generated !== '').map(([, name]) => name),
    key,
    shape: shapeOf([attributes, key ?? null, leaves]),
    file: row?.file ?? '',
    obstacle: obstacleOf(
      table,
      row,
      primaryKey !== undefined,
      leaves.map(([, identity]) => identity),
    ),
  };
}

function obstacleOf(table: TableName, row: Row | undefined, hasKey: boolean, leaves: readonly string[]): LogTable['obstacle'] {
  const sql = `${quote(table.schema, 'postgresql')}.${quote(table.name, 'postgresql')}`;
  const shown = nameOf(table);
  if (row === undefined) return { message: `The database has no table ${shown}`, hint: 'The user may lack USAGE on its schema' };
  if (row.kind !== 'r' && row.kind !== 'p')
    return {
      message: `${shown} is a view or a foreign table, whose rows are not in the replication log`,
      hint: 'Map the tables that it reads',
    };
  if (row.persistence !== 'p')
    return { message: `${shown} is unlogged, so its rows are not in the replication log`, hint: `Run ALTER TABLE ${sql} SET LOGGED` };
  if (row.heirs !== '0')
    return {
      message: `Other tables inherit from ${shown}, whose rows it shows without having their changes`,
      hint: 'Map each of the tables, or make them partitions',
    };
  // A partition must show the key of the whole table.
  const isKnown = (identity: string): boolean => identity === 'f' || (identity === 'i' && row.kind !== 'p') || (identity === 'd' && hasKey);
  const identities = row.kind === 'p' ? leaves : [row.identity ?? ''];
  if (identities.every(isKnown)) return undefined;
  const what = row.kind === 'p' ? `Partitions of ${shown} have` : `${shown} has`;
  return {
    message: `${what} no replica identity, so the log would not say which row is updated or deleted`,
    hint: `Run ALTER TABLE ${sql} REPLICA IDENTITY FULL${row.kind === 'p' ? ', for each partition' : ''}${hasKey ? ', or DEFAULT' : ', or give it a primary key'}`,
  };
}

/** @throws Fault database/query — the changes of a table cannot be followed */
export function checkTable({ obstacle }: LogTable, address: DatabaseAddress): void {
  if (obstacle !== undefined) throw queryFault(obstacle.message, address, obstacle.hint);
}

/** Whether the log shows the columns that the table has. */
export const hasColumns = (columns: readonly RelationColumn[], { columns: own }: LogTable): boolean =>
  columns.length === own.length &&
  columns.every(({ name, type, modifier }, i) => own[i]?.name === name && own[i]?.type === type && own[i]?.modifier === modifier);
