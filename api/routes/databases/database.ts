/** `/testDBConnection` and `/queryDatabase`: connect to a database chosen by the caller, for one request. */
import { failureMessage } from '../../../queues/runs/outcome.ts';
import { reachOf } from '../../../src/config/run-defaults.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { DatabaseAddress, RowBatch, SqlSession } from '../../../src/sql/database.ts';
import { openSession } from '../../../src/sql/drivers/open.ts';
import { csvResult } from '../../../src/sql/result/csv.ts';
import { jsonResult } from '../../../src/sql/result/json.ts';
import { CHUNK_BYTES, type ResultSummary, writeResult } from '../../../src/sql/result/result.ts';
import type { Api, Call, Reply, Route } from '../../route.ts';
import { CONNECTION_PARAMETERS, type DatabaseQuery, QUERY_PARAMETERS, readAddress } from './database-request.ts';

/** Concurrent database calls of a process; each holds a connection. */
const MAX_CALLS = 16;

const FAILED = {
  description: 'The database cannot be reached or refuses (failure message), or the request is wrong (problem)',
  schema: 'FailureMessage',
} as const;

const QUERY_RESULT = {
  type: 'object',
  properties: {
    columns: {
      type: 'array',
      description: 'Repeated names are numbered: id, id_2; type as the product writes it',
      items: { type: 'object', properties: { name: { type: 'string' }, type: { type: 'string' } }, required: ['name', 'type'] },
    },
    rows: {
      type: 'array',
      description: 'Numbers with all digits of the database, booleans, arrays, null; everything else as text',
      items: { type: 'object' },
    },
    rowCount: { type: 'integer', minimum: 0 },
    truncated: { type: 'boolean', description: 'There were more than QUERY_MAX_ROWS rows' },
  },
  required: ['columns', 'rows', 'rowCount', 'truncated'],
} as const;

const CONNECTION = {
  type: 'object',
  properties: {
    success: { const: true },
    product: { type: 'string', enum: ['postgresql', 'mysql', 'mariadb', 'sqlite', 'duckdb', 'sqlserver', 'oracle'] },
    version: { type: 'string' },
    milliseconds: { type: 'integer', minimum: 0, description: 'How long connecting and logging in took' },
  },
  required: ['success', 'product', 'version', 'milliseconds'],
} as const;

export function databaseRoutes(api: Api): readonly Route[] {
  const lease = makeLeases(api);
  return [
    {
      method: 'GET',
      path: '/testDBConnection',
      role: 'operator',
      summary: 'Tests whether a database can be reached with the given credentials',
      hasSideEffects: true,
      parameters: CONNECTION_PARAMETERS,
      unknownParameters: 'refused',
      replies: { 200: { description: 'The database was reached', schema: CONNECTION }, 400: FAILED },
      handle: (call) =>
        withFailureMessage(api, async () => {
          const started = performance.now();
          const { session, close } = await lease(call, readAddress(call.parameters));
          const milliseconds = Math.round(performance.now() - started);
          await close();
          return { status: 200, body: { success: true, product: session.product, version: session.version, milliseconds } };
        }),
    },
    {
      method: 'GET',
      path: '/queryDatabase',
      role: 'operator',
      summary: 'Runs one read-only query, and streams its rows as JSON or CSV',
      hasSideEffects: true,
      parameters: QUERY_PARAMETERS,
      unknownParameters: 'refused',
      replies: {
        200: {
          description:
            'The rows, at most QUERY_MAX_ROWS; with returnCSV=true as text/csv, where X-Truncated (a header, or a trailer of a long answer) ' +
            'says whether there were more. An answer that fails halfway is cut off.',
          schema: QUERY_RESULT,
          texts: ['text/csv'],
        },
        400: FAILED,
        429: { description: 'Too many database calls at once', type: 'application/problem+json', schema: 'Problem' },
      },
      handle: (call) =>
        withFailureMessage(api, () => {
          const { query: sql, returnCSV: csv } = call.parameters as unknown as DatabaseQuery;
          const address = readAddress(call.parameters);
          const maxRows = api.config.snapshot().QUERY_MAX_ROWS;
          return replyWith(
            rowsOf(() => lease(call, address), sql, csv, maxRows),
            csv,
            maxRows,
          );
        }),
    },
  ];
}

/** A session and its slot among the concurrent calls. */
interface SessionLease {
  readonly session: SqlSession;
  /**
   * Runs work on the session, in total as long as a query may take plus a grace period. The server has the same limit and normally applies
   * it first, but parameters or SQL of the caller can disable it there.
   *
   * @throws Fault database/time-limit
   */
  within<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const GRACE_MS = 1_000;

/** Opens sessions that end with the client's connection or with the process. */
function makeLeases(api: Api): (call: Call, address: DatabaseAddress) => Promise<SessionLease> {
  let calls = 0;
  return async ({ request: { socket } }, address) => {
    if (calls >= MAX_CALLS) {
      throw new Fault('request/too-many', `${MAX_CALLS} database calls are active, the most that this process makes at once`, {
        hint: 'Try again in a moment',
      });
    }
    calls++;
    const over = new AbortController();
    const end = (): void => over.abort();
    const release = (): void => {
      calls--;
      socket.off('close', end);
      api.ending.removeEventListener('abort', end);
    };
    socket.on('close', end);
    api.ending.addEventListener('abort', end);
    if (socket.destroyed || api.ending.aborted) end();
    const snapshot = api.config.snapshot();
    const { DB_CONNECT_SECONDS, QUERY_TIMEOUT_SECONDS, SQL_LOCK_SECONDS } = snapshot;
    try {
      const session = await openSession(address, {
        signal: over.signal,
        reach: reachOf(snapshot, api.workingDirectory),
        connectSeconds: DB_CONNECT_SECONDS,
        statementSeconds: QUERY_TIMEOUT_SECONDS,
        lockSeconds: SQL_LOCK_SECONDS,
      });
      const within = timeLimit(QUERY_TIMEOUT_SECONDS, end);
      return { session, within, close: () => session.close().finally(release) };
    } catch (error) {
      release();
      throw error;
    }
  };
}

function timeLimit(seconds: number, end: () => void): SessionLease['within'] {
  let leftMs = seconds * 1_000 + GRACE_MS;
  return async (work) => {
    const started = performance.now();
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      end();
    }, leftMs);
    try {
      return await work();
    } catch (error) {
      throw timedOut
        ? new Fault('database/time-limit', `The query takes longer than ${seconds} seconds`, { hint: LONGER, cause: error })
        : error;
    } finally {
      clearTimeout(timer);
      leftMs = Math.max(0, leftMs - (performance.now() - started));
    }
  };
}

const LONGER = 'Ask for less, or raise QUERY_TIMEOUT_SECONDS';

async function* rowsOf(
  open: () => Promise<SessionLease>,
  sql: string,
  csv: boolean,
  maxRows: number,
): AsyncGenerator<Buffer, ResultSummary> {
  const { session, within, close } = await open();
  try {
    const { columns, batches } = await within(() => session.select(sql, maxRows));
    return yield* writeResult(csv ? csvResult(columns) : jsonResult(columns), limitedBatches(batches, within), maxRows);
  } finally {
    await close();
  }
}

/** Time that the reader of the answer takes does not count. */
async function* limitedBatches(batches: AsyncIterable<RowBatch>, within: SessionLease['within']): AsyncGenerator<RowBatch> {
  const iterator = batches[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await within(() => iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** Waits for the first chunk, so that an error before it can be answered with a message; a short answer is sent whole. */
async function replyWith(chunks: AsyncGenerator<Buffer, ResultSummary>, csv: boolean, maxRows: number): Promise<Reply> {
  const type = csv ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8';
  const limit: Readonly<Record<string, string>> = csv ? { 'X-Row-Limit': String(maxRows) } : {};
  const first = (await chunks.next()).value as Buffer;
  if (first.length < CHUNK_BYTES) {
    const { truncated } = (await chunks.next()).value as ResultSummary;
    return { status: 200, type, headers: { ...limit, ...(csv ? { 'X-Truncated': String(truncated) } : {}) }, body: first };
  }
  let summary: ResultSummary | undefined;
  const stream = async function* (): AsyncGenerator<Buffer> {
    try {
      yield first;
      summary = yield* chunks;
    } finally {
      await chunks.return({ rowCount: 0, truncated: false });
    }
  };
  if (!csv) return { status: 200, type, stream: stream() };
  return {
    status: 200,
    type,
    headers: { ...limit, Trailer: 'X-Truncated' },
    stream: stream(),
    trailers: () => ({ 'X-Truncated': String(summary?.truncated) }),
  };
}

/** A database error is answered with the failure message of the service; a wrong request stays a problem answer. */
async function withFailureMessage(api: Api, answer: () => Promise<Reply>): Promise<Reply> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.code.startsWith('database/')) {
      const failure = failureMessage({ runId: '', service: 'sql-transformer', inputs: [] }, error, new Date());
      return { status: error.status, body: { ...failure, runId: undefined } };
    }
    if (error.code === 'run/cancelled' && api.ending.aborted) {
      throw new Fault('service/unavailable', 'This process is shutting down and has cancelled the database call', { cause: error });
    }
    throw error;
  }
}
