/** The wanted tables as the catalogue has them now. */
import { Fault } from '../../core/fault.ts';
import type { DatabaseAddress } from '../../sql/database.ts';
import { queryFault } from '../../sql/faults.ts';
import type { TableName } from '../../sql/tables.ts';
import { shapeOf } from '../database/followed.ts';
import { nameOf } from '../database/options.ts';
import type { LogColumn } from './stream.ts';
import { type CatalogueColumn, charsetDecoder, type DecodeOptions, type Decoder, decoderOf } from './values.ts';

export type Query = (sql: string, parameters?: readonly string[]) => Promise<readonly Readonly<Record<string, string | null>>[]>;

export interface LogTable {
  readonly table: TableName;
  /** In their order, as the log has them: with invisible and virtual ones. */
  readonly columns: readonly (CatalogueColumn & { readonly isShown: boolean })[];
  readonly key: readonly string[] | undefined;
  /** See `Followed`. */
  readonly shape: string;
  /** InnoDB has transactions. */
  readonly engine: string;
}

/** @throws Fault database/query — a table is missing, is a view, or has texts of an unknown character set */
export async function readTables(
  query: Query,
  wanted: ReadonlyMap<string, TableName>,
  address: DatabaseAddress,
): Promise<ReadonlyMap<string, LogTable>> {
  const tables = new Map<string, LogTable>();
  for (const [name, table] of wanted) tables.set(name, await readTable(query, table, address));
  return tables;
}

async function readTable(query: Query, { schema, name }: TableName, address: DatabaseAddress): Promise<LogTable> {
  const parameters = [schema, name];
  const where = 'WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?';
  const [found] = await query(`SELECT TABLE_TYPE AS kind, ENGINE AS engine FROM information_schema.TABLES ${where}`, parameters);
  const shown = nameOf({ schema, name });
  if (found === undefined) throw queryFault(`The database has no table ${shown}`, address, 'The user may lack SELECT on it');
  if (found.kind !== 'BASE TABLE')
    throw queryFault(
      `${shown} is a ${(found.kind ?? '').toLowerCase()}, whose rows are not in the binlog as they are read`,
      address,
      'Map the tables that it reads',
    );
  const rows = await query(
    `SELECT COLUMN_NAME AS name, COLUMN_TYPE AS type, CHARACTER_SET_NAME AS charset, EXTRA AS extra FROM information_schema.COLUMNS ${where} ORDER BY ORDINAL_POSITION`,
    parameters,
  );
  const keys = await query(
    `SELECT COLUMN_NAME AS name FROM information_schema.STATISTICS ${where} AND INDEX_NAME = 'PRIMARY' ORDER BY SEQ_IN_INDEX`,
    parameters,
  );
  const key = keys.length === 0 ? undefined : keys.map((row) => row.name as string);
  const columns = rows.map((row) => {
    const column = { name: row.name as string, type: (row.type ?? '').replace(/\/\*.*?\*\//g, '').trim(), charset: row.charset ?? null };
    if (column.charset !== null && charsetDecoder(column.charset) === undefined)
      throw new Fault(
        'source/encoding',
        `Column ${column.name} of ${shown} has the character set ${column.charset}, which cannot be read from the binlog`,
        {
          place: { input: address.name },
          hint: 'Convert it to utf8mb4',
        },
      );
    // The columns of an invisible key are part of the rows, because they identify them.
    return { ...column, isShown: !/\bINVISIBLE\b/i.test(row.extra ?? '') || key?.includes(column.name) === true };
  });
  return { table: { schema, name }, columns, key, shape: shapeOf([columns, key ?? null]), engine: found.engine ?? '' };
}

/** undefined: the log describes another table than the catalogue. */
export function decodersOf(logged: readonly LogColumn[], { columns }: LogTable, options: DecodeOptions): readonly Decoder[] | undefined {
  if (logged.length !== columns.length) return undefined;
  const decoders = logged.flatMap(({ code, metadata, name }, i) => {
    const column = columns[i] as CatalogueColumn;
    return name !== undefined && name !== column.name ? [] : (decoderOf(code, metadata, column, options) ?? []);
  });
  return decoders.length === columns.length ? decoders : undefined;
}

/** Foreign keys whose actions change rows of the wanted tables without an event: `table.constraint ON DELETE CASCADE`. */
export async function silentActions(query: Query, tables: ReadonlyMap<string, TableName>): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { schema, name } of tables.values()) {
    const rows = await query(
      `SELECT CONSTRAINT_NAME AS name, DELETE_RULE AS deleted, UPDATE_RULE AS updated FROM information_schema.REFERENTIAL_CONSTRAINTS
      WHERE CONSTRAINT_SCHEMA = ? AND TABLE_NAME = ? ORDER BY CONSTRAINT_NAME`,
      [schema, name],
    );
    const isSilent = (rule: string | null | undefined): boolean => rule === 'CASCADE' || rule === 'SET NULL';
    for (const row of rows)
      for (const [event, rule] of [
        ['DELETE', row.deleted],
        ['UPDATE', row.updated],
      ] as const)
        if (isSilent(rule)) found.push(`${nameOf({ schema, name })}.${row.name} ON ${event} ${rule}`);
  }
  return found;
}
