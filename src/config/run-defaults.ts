/** Options in the form in which runs and stores take them. */
import { NO_LIMITS } from '../core/limits.ts';
import { readLogins, type WebAccess } from '../storage/logins.ts';
import { DEFAULTS, type Snapshot } from './options/options.ts';

/** Time limits of a run's database sessions, in seconds. */
export const sqlLimitsOf = ({
  DB_CONNECT_SECONDS,
  SQL_TIME_LIMIT_SECONDS,
  SQL_LOCK_SECONDS,
}: Pick<Snapshot, 'DB_CONNECT_SECONDS' | 'SQL_TIME_LIMIT_SECONDS' | 'SQL_LOCK_SECONDS'>) => ({
  connectSeconds: DB_CONNECT_SECONDS,
  statementSeconds: SQL_TIME_LIMIT_SECONDS,
  lockSeconds: SQL_LOCK_SECONDS,
});

/** The options of `webAccessOf`. */
export const WEB_OPTIONS = [
  'SOURCE_LOGINS',
  'SOURCE_ANSWER_SECONDS',
  'SOURCE_RETRIES',
  'SOURCE_WAIT_SECONDS',
  'SOURCE_PAGES',
  'SOURCE_CACHE_DIRECTORY',
  'SOURCE_CACHE_MB',
] as const;

/** How sources are read over HTTP. @throws Fault config/invalid */
export const webAccessOf = (options: Pick<Snapshot, (typeof WEB_OPTIONS)[number]>): WebAccess => ({
  logins: readLogins(options.SOURCE_LOGINS),
  answerSeconds: options.SOURCE_ANSWER_SECONDS,
  retries: options.SOURCE_RETRIES,
  waitSeconds: options.SOURCE_WAIT_SECONDS,
  pages: options.SOURCE_PAGES,
  cache:
    options.SOURCE_CACHE_DIRECTORY === undefined
      ? undefined
      : { directory: options.SOURCE_CACHE_DIRECTORY, bytes: options.SOURCE_CACHE_MB * 2 ** 20 },
});

/** Time limits of requests to the embedded store, in seconds. */
export const storeLimitsOf = ({ EMBEDDED_QUERY_SECONDS }: Pick<Snapshot, 'EMBEDDED_QUERY_SECONDS'>) => ({
  querySeconds: EMBEDDED_QUERY_SECONDS,
  updateSeconds: 5 * EMBEDDED_QUERY_SECONDS,
});

/** Defaults for every field of a run request that has one: those of the options, but no limit of size, counts or time. */
export const RUN_DEFAULTS = {
  base: undefined,
  onError: undefined,
  maxRejected: Number.POSITIVE_INFINITY,
  distinct: DEFAULTS.DISTINCT,
  rdf: DEFAULTS.RDF_VERSION,
  threads: 1,
  memoryBudgetBytes: DEFAULTS.MEMORY_BUDGET_MB * 2 ** 20,
  maxRecordBytes: DEFAULTS.MAX_RECORD_BYTES,
  xmlDefaultNamespace: DEFAULTS.XML_DEFAULT_NAMESPACE,
  limits: NO_LIMITS,
  database: undefined,
  sql: sqlLimitsOf(DEFAULTS),
  web: webAccessOf(DEFAULTS),
  rowsPerPart: undefined,
  slice: undefined,
} as const;
