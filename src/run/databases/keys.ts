/** Finds unique keys of tables, for the planner and for slices. */

import type { Column } from '../../sql/database.ts';
import type { Relation } from '../../sql/select.ts';
import type { Table } from '../../sql/tables.ts';

/** Whether the columns include a unique key of a table whose values differ as texts. False for a query. */
export function isKeyOf({ table }: Relation, columns: readonly (Column | undefined)[]): boolean {
  const exact = new Set(columns.flatMap((column) => (column?.exact === true ? [column.name] : [])));
  return table !== undefined && keysOf(table).some((key) => key.every((name) => exact.has(name)));
}

/** The primary key, then the unique keys of which no column is nullable; each as column names. */
export function keysOf({ primaryKey, uniqueKeys, columns }: Table): readonly (readonly string[])[] {
  const nullable = new Set(columns.flatMap((column) => (column.nullable ? [column.name] : [])));
  return [...(primaryKey === undefined ? [] : [primaryKey]), ...uniqueKeys.filter((key) => !key.some((name) => nullable.has(name)))];
}
