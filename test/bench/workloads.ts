/** What the bench runs: folders that `generate.mjs` makes, the mapping in them, and how many statements must come out. */
import { join } from 'node:path';
import { PROJECT_ROOT } from '../support/project-root.ts';
import type { DATABASES } from './databases.ts';

export interface Workload {
  readonly folder: string;
  /** In the folder, or absolute. */
  readonly mapping: string;
  readonly options: readonly string[];
  /** The field of `expected.json`. */
  readonly expected: 'distinct' | 'triples';
  /** A database to load the folder's rows into, so many times; `expected` counts as often. */
  readonly database?: { readonly product: keyof typeof DATABASES; readonly copies: number };
  /** Of the process that maps. */
  readonly heapLimitMb?: number;
}

const distinct = (folder: string, mapping = 'mapping.ttl'): Workload => ({ folder, mapping, options: [], expected: 'distinct' });

/** The rows of flat CSV, in little memory. */
const workbook = (folder: string): Workload => ({ ...distinct(folder), heapLimitMb: 256 });

const sql = (product: keyof typeof DATABASES, copies: number, heapLimitMb?: number): Workload => ({
  ...distinct('flat-1m', join(PROJECT_ROOT, 'test', 'bench', 'sql.ttl')),
  database: { product, copies },
  ...(heapLimitMb === undefined ? {} : { heapLimitMb }),
});

export const WORKLOADS: Readonly<Record<string, Workload>> = {
  'flat-100k': distinct('flat-100k'),
  'flat-1m': distinct('flat-1m'),
  'flat-1m-all': { folder: 'flat-1m', mapping: 'mapping.ttl', options: ['--no-distinct'], expected: 'triples' },
  'xlsx-100k': workbook('xlsx-100k'),
  'xlsx-1m': workbook('xlsx-1m'),
  'ods-100k': workbook('ods-100k'),
  'ods-1m': workbook('ods-1m'),
  'csv-5m': { ...distinct('flat-5m'), heapLimitMb: 256 },
  'parquet-5m': { ...distinct('flat-5m', 'mapping-parquet.ttl'), heapLimitMb: 256 },
  dup: distinct('dup'),
  'join-nm': distinct('join-nm'),
  'gtfs-1': distinct('gtfs-1', 'mapping-csv.ttl'),
  'gtfs-1-json': distinct('gtfs-1', 'mapping-json.ttl'),
  'gtfs-1-xml': distinct('gtfs-1', 'mapping-xml.ttl'),
  'gtfs-10': distinct('gtfs-10', 'mapping-csv.ttl'),
  'json-nested-20mb': distinct('json-nested-20mb'),
  'json-nested': distinct('json-nested'),
  'xml-nested-20mb': distinct('xml-nested-20mb'),
  'xml-nested': distinct('xml-nested'),
  'sql-1m-postgresql': sql('postgresql', 1),
  'sql-1m-mariadb': sql('mariadb', 1),
  'sqlite-1m': sql('sqlite', 1, 256),
  'duckdb-1m': sql('duckdb', 1, 256),
  'sql-5m-postgresql': sql('postgresql', 5, 256),
  'sql-5m-mariadb': sql('mariadb', 5, 256),
};

/** Names for several workloads. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  sheets: ['flat-1m', 'xlsx-1m', 'ods-1m'],
  sql: ['sql-1m-postgresql', 'sql-1m-mariadb', 'sqlite-1m', 'duckdb-1m'],
  'sql-5m': ['sql-5m-postgresql', 'sql-5m-mariadb'],
  writer: ['writer-embedded', 'writer-fuseki', 'writer-neo4j'],
};

/** What runs when no workload is named. */
export const USUAL: readonly string[] = Object.keys(WORKLOADS).filter((name) => !/20mb|-json$|-xml$|sql-5m|(?:xlsx|ods)-/.test(name));
