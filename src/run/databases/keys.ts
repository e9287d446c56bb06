/** Unique keys of tables. */
import type { Table } from '../../sql/catalogue/catalogue.ts';
import type { Column } from '../../sql/database.ts';
import type { Relation } from '../../sql/select.ts';

/** Whether columns hold a unique key whose texts tell its values apart. */
export function isKeyOf({ table }: Relation, columns: readonly (Column | undefined)[]): boolean {
  const exact = new Set(columns.flatMap((column) => (column?.exact === true ? [column.name] : [])));
  return table !== undefined && keysOf(table).some((key) => key.every((name) => exact.has(name)));
}

/** Unique keys of columns that are never null. */
export function keysOf({ primaryKey, uniqueKeys, columns }: Table): readonly (readonly string[])[] {
  const nullable = new Set(columns.flatMap((column) => (column.nullable ? [column.name] : [])));
  return [...(primaryKey === undefined ? [] : [primaryKey]), ...uniqueKeys.filter((key) => !key.some((name) => nullable.has(name)))];
}
