/** The dialects of all products. */
import type { Product } from '../database.ts';
import type { Dialect } from './dialect.ts';
import { DUCKDB } from './duckdb.ts';
import { MYSQL } from './mysql.ts';
import { POSTGRESQL } from './postgresql.ts';
import { SQLITE } from './sqlite.ts';

export const DIALECTS: Readonly<Record<Product, Dialect>> = {
  postgresql: POSTGRESQL,
  mysql: MYSQL,
  mariadb: MYSQL,
  sqlite: SQLITE,
  duckdb: DUCKDB,
};
