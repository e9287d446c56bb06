/** The dialects of all products. */
import type { Product } from '../database.ts';
import type { Dialect } from './dialect.ts';
import { DUCKDB } from './duckdb.ts';
import { MYSQL } from './mysql.ts';
import { ORACLE } from './oracle.ts';
import { POSTGRESQL } from './postgresql.ts';
import { SQLITE } from './sqlite.ts';
import { SQLSERVER } from './sqlserver.ts';

export const DIALECTS: Readonly<Record<Product, Dialect>> = {
  postgresql: POSTGRESQL,
  mysql: MYSQL,
  mariadb: MYSQL,
  sqlite: SQLITE,
  duckdb: DUCKDB,
  sqlserver: SQLSERVER,
  oracle: ORACLE,
};
