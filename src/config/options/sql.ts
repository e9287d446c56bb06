/** Options of databases and of the SQL transformer. */
import { noNumber, none, type OptionRow } from './row.ts';

function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }) !== undefined;
  } catch {
    return false;
  }
}

export const SQL_OPTIONS = {
  JDBC_URL: {
    path: 'sql.jdbcUrl',
    type: 'url',
    default: none,
    live: true,
    place: 'trusted',
    scope: 'transformer',
    summary: 'The database, where the mapping names none.',
  },
  DB_USER: { path: 'sql.user', type: 'string', default: none, live: true, scope: 'transformer', summary: 'User of the database.' },
  DB_PASSWORD: {
    path: 'sql.password',
    type: 'string',
    default: none,
    secret: true,
    live: true,
    scope: 'transformer',
    summary: 'Password of the database user.',
  },
  SQL_ITERATION_ROWS: {
    path: 'sql.iterationRows',
    type: 'integer',
    default: noNumber,
    minimum: 1,
    live: true,
    scope: 'transformer',
    summary: 'Rows of a query that go into one output file. Absent: all into one.',
  },
  SQL_SLICE_ROWS: {
    path: 'sql.sliceRows',
    type: 'integer',
    default: 1_000_000,
    minimum: 0,
    live: true,
    scope: 'transformer',
    summary: 'A table of more rows than this, with a usable key, is cut into slices that all workers of the fleet share; 0: never.',
  },
  DB_CONNECT_SECONDS: {
    path: 'sql.connectSeconds',
    type: 'integer',
    default: 10,
    minimum: 1,
    maximum: 600,
    live: true,
    scope: 'transformer',
    summary: 'How long each host of a database may take to answer and log in.',
  },
  SQL_TIME_LIMIT_SECONDS: {
    path: 'sql.timeLimitSeconds',
    type: 'integer',
    default: 0,
    minimum: 0,
    live: true,
    scope: 'transformer',
    summary: 'A statement of a run that takes longer ends the run; 0: no limit.',
  },
  SQL_LOCK_SECONDS: {
    path: 'sql.lockSeconds',
    type: 'integer',
    default: 60,
    minimum: 0,
    live: true,
    scope: 'transformer',
    summary: 'How long a statement of a run waits for a lock before it ends with a transient error; 0: no limit.',
  },
  CRON: {
    path: 'sql.cron',
    type: 'string',
    default: none,
    instead: 'Send PUT /updateCron: a schedule that a request has set comes before the environment variable',
    scope: 'transformer',
    summary:
      'Schedule of the SQL transformer until `PUT /updateCron` sets another one, Quartz (6 or 7 fields) or Unix (5 fields). Absent: none.',
    start: 'a schedule is kept in the queue beside the options',
  },
  CRON_TIMEZONE: {
    path: 'sql.cronTimezone',
    type: 'string',
    default: none,
    pattern: { test: { test: isTimeZone }, says: 'an IANA time zone, such as `Europe/Zurich`' },
    live: true,
    scope: 'transformer',
    summary: 'IANA time zone of the schedule, such as `Europe/Zurich`. Absent: that of the process.',
  },
  QUERY_MAX_ROWS: {
    path: 'sql.queryMaxRows',
    type: 'integer',
    default: 10_000,
    minimum: 1,
    live: true,
    scope: 'transformer',
    summary: 'Rows that `/queryDatabase` answers at most.',
  },
  QUERY_TIMEOUT_SECONDS: {
    path: 'sql.queryTimeoutSeconds',
    type: 'integer',
    default: 30,
    minimum: 1,
    live: true,
    scope: 'transformer',
    summary: 'Time that a query of `/queryDatabase` may take.',
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
