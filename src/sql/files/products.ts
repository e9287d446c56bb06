/** The drivers of the products that are files. */
import type { OpenSession } from '../database.ts';
import { duckdbCatalogue } from './duckdb/catalogue.ts';
import { columnOf as duckdbColumn } from './duckdb/columns.ts';
import { openFiles } from './session.ts';
import { sqliteCatalogue } from './sqlite/catalogue.ts';
import { columnOf as sqliteColumn } from './sqlite/columns.ts';

export const openSqliteFile: OpenSession = openFiles({
  product: 'sqlite',
  label: 'SQLite',
  columnOf: sqliteColumn,
  catalogue: sqliteCatalogue,
});
export const openDuckdbFile: OpenSession = openFiles({
  product: 'duckdb',
  label: 'DuckDB',
  columnOf: duckdbColumn,
  catalogue: duckdbCatalogue,
});
