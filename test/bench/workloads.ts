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
  /** The program of `bounds` that maps the same data, or other data whose time this one is compared with. */
  readonly bound?: { readonly program: 'flat' | 'join' | 'json' | 'xml'; readonly folder?: string };
  /** Whether `oracle.mjs` knows its result. */
  readonly oracle?: true;
}

const distinct = (folder: string, mapping = 'mapping.ttl'): Workload => ({ folder, mapping, options: [], expected: 'distinct' });

/** The rows of flat CSV, in little memory. */
const workbook = (folder: string): Workload => ({ ...distinct(folder), heapLimitMb: 256 });

const sql = (product: keyof typeof DATABASES, copies: number, heapLimitMb?: number): Workload => ({
  ...distinct('flat-1m', join(PROJECT_ROOT, 'test', 'bench', 'sql.ttl')),
  database: { product, copies },
  ...(heapLimitMb === undefined ? {} : { heapLimitMb }),
});

const bound = (program: NonNullable<Workload['bound']>['program'], folder?: string): Pick<Workload, 'bound'> => ({
  bound: folder === undefined ? { program } : { program, folder },
});

/** Five kilobytes of program for each of a dozen files would be too much: GTFS is compared with rows of the same number of columns. */
const gtfs = (folder: string, format: 'csv' | 'json' | 'xml', scale: 'flat-100k' | 'flat-1m'): Workload => ({
  ...distinct(folder, `mapping-${format}.ttl`),
  ...bound('flat', scale),
});

export const WORKLOADS: Readonly<Record<string, Workload>> = {
  'flat-1k': { ...distinct('flat-1k'), ...bound('flat'), oracle: true },
  'flat-100k': { ...distinct('flat-100k'), ...bound('flat'), oracle: true },
  'flat-1m': { ...distinct('flat-1m'), ...bound('flat') },
  'flat-10m': { ...distinct('flat-10m'), heapLimitMb: 256 },
  'flat-1m-all': { folder: 'flat-1m', mapping: 'mapping.ttl', options: ['--no-distinct'], expected: 'triples' },
  'xlsx-100k': workbook('xlsx-100k'),
  'xlsx-1m': workbook('xlsx-1m'),
  'ods-100k': workbook('ods-100k'),
  'ods-1m': workbook('ods-1m'),
  'csv-5m': { ...distinct('flat-5m'), heapLimitMb: 256 },
  'parquet-5m': { ...distinct('flat-5m', 'mapping-parquet.ttl'), heapLimitMb: 256 },
  dup: { ...distinct('dup'), ...bound('flat') },
  'dup-400k': { ...distinct('dup-400k'), ...bound('flat'), oracle: true },
  'join-nm': { ...distinct('join-nm'), ...bound('join'), oracle: true },
  'gtfs-1': { ...gtfs('gtfs-1', 'csv', 'flat-100k'), oracle: true },
  'gtfs-1-json': gtfs('gtfs-1', 'json', 'flat-100k'),
  'gtfs-1-xml': gtfs('gtfs-1', 'xml', 'flat-100k'),
  'gtfs-10': gtfs('gtfs-10', 'csv', 'flat-1m'),
  'gtfs-10-json': gtfs('gtfs-10', 'json', 'flat-1m'),
  'gtfs-10-xml': gtfs('gtfs-10', 'xml', 'flat-1m'),
  'json-nested-20mb': { ...distinct('json-nested-20mb'), ...bound('json') },
  'json-nested': { ...distinct('json-nested'), ...bound('json') },
  'xml-nested-20mb': { ...distinct('xml-nested-20mb'), ...bound('xml') },
  'xml-nested': { ...distinct('xml-nested'), ...bound('xml') },
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
  gtfs: ['gtfs-10', 'gtfs-10-json', 'gtfs-10-xml'],
  writer: ['writer-embedded', 'writer-fuseki', 'writer-neo4j'],
};

/** What runs when no workload is named. */
export const USUAL: readonly string[] = Object.keys(WORKLOADS).filter(
  (name) => !/-1k$|-10m$|400k|20mb|-json$|-xml$|sql-5m|(?:xlsx|ods)-/.test(name),
);

/** What `--check` compares when no workload is named: small enough for two minutes together, large enough for optimised code. */
export const CHECKED: readonly string[] = ['flat-100k', 'dup-400k', 'join-nm', 'gtfs-1', 'json-nested-20mb', 'xml-nested-20mb'];
