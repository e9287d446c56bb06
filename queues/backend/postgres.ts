/** The queue in PostgreSQL, on a server or embedded. All its tables are in one schema. */
import type { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { type PgPool, PostgresConnection, PostgresQueueBackend, quoteSchemaName, runMigrations } from 'bullmq';
import pg from 'pg';
import { Fault } from '../../src/core/fault.ts';
import { redact } from '../../src/core/redact.ts';
import { lockDirectory } from '../../src/storage/local/directory-lock.ts';
import type { Driver } from './driver.ts';
import { Vacuum } from './embedded/vacuum.ts';
import type { FairQueueing, PriorityBand } from './fair-queueing.ts';
import { datasetLinesIn, jobChangesIn } from './jobs/postgres.ts';
import type { RecoverStalledJobs } from './jobs/stalled-jobs.ts';
import { AT_START, queueRefusal } from './refusals.ts';
import { ofOneProcess, type SettingsStore } from './settings.ts';

/** Each worker and listener keeps one connection for notifications; the rest are for queries. */
const POOL_SIZE = 24;
const CONNECT_MS = 2_000;

/** BullMQ accepts a schema only if it creates the pool itself; this pool is shared by the whole process. */
class SchemaConnection extends PostgresConnection {
  override readonly schema: string;

  constructor(pool: PgPool, schema: string) {
    super(pool);
    this.schema = schema;
  }
}

/** @throws Fault service/unavailable — the server cannot be reached */
export async function openPostgres(url: string, schema: string): Promise<Driver> {
  const shown = redact(url);
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_SIZE,
    options: `-c search_path=${quoteSchemaName(schema)}`,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'quadmill',
  });
  pool.setMaxListeners(0);
  const errors = errorsOf(pool);
  // The pool reports errors of idle connections only.
  pool.on('connect', (client) => client.on('error', (error) => errors.tell(error)));
  try {
    await createTables(pool as unknown as PgPool, schema);
  } catch (error) {
    await pool.end();
    const refusal = queueRefusal(error, AT_START);
    const why = refusal?.message ?? (error as Error).message;
    throw new Fault('service/unavailable', `The queue at ${shown} cannot be used: ${why}`, { hint: refusal?.hint, cause: error });
  }
  return makeDriver(pool as unknown as PgPool, schema, {
    kind: 'postgres',
    onError: errors.listen,
    description: `PostgreSQL at ${shown}, schema ${schema}`,
    close: () => pool.end(),
  });
}

/** Opens PGlite in this process, with its files in `directory`. @throws Fault service/unavailable — another process has it open */
export async function openEmbedded(directory: string, schema: string): Promise<Driver> {
  const lock = await lockDirectory(directory);
  try {
    // Tens of megabytes of WebAssembly, loaded only when used.
    const { openDatabase } = await import('./embedded/database.ts');
    const { PglitePool } = await import('./embedded/pglite.ts');
    const database = await openDatabase(join(directory, 'database'));
    const pool = new PglitePool(database);
    const errors = errorsOf(pool);
    await pool.query(`SET search_path TO ${quoteSchemaName(schema)}`);
    await createTables(pool as unknown as PgPool, schema);
    await planRetention(pool as unknown as PgPool, schema);
    const vacuum = new Vacuum(pool, schema);
    return makeDriver(pool as unknown as PgPool, schema, {
      kind: 'embedded',
      onError: errors.listen,
      description: `embedded PostgreSQL (PGlite) in this process, files in ${directory}`,
      async close() {
        await vacuum.close();
        await pool.end();
        await database.close();
        await lock.release();
      },
    });
  } catch (error) {
    await lock.release();
    if (error instanceof Fault) throw error;
    throw new Fault('service/unavailable', `The embedded queue in ${directory} cannot be opened: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/**
 * Listens for errors of a pool from the start, so that a lost connection does not end the process: the next query takes another connection
 * or fails.
 */
function errorsOf(pool: EventEmitter): { tell(error: Error): void; listen(listener: (error: Error) => void): void } {
  const listeners: ((error: Error) => void)[] = [];
  const tell = (error: Error): void => {
    for (const listener of listeners) listener(error);
  };
  pool.on('error', tell);
  return { tell, listen: (listener) => void listeners.push(listener) };
}

/** Creates missing tables; several processes may do so at the same time. */
async function createTables(pool: PgPool, schema: string): Promise<void> {
  const client = await pool.connect();
  try {
    await runMigrations(client, schema);
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`quadmill setting ${schema}`]);
    await client.query(
      `CREATE TABLE IF NOT EXISTS ${quoteSchemaName(schema)}.quadmill_setting (key text PRIMARY KEY, value text NOT NULL)`,
    );
    await client.query(
      `CREATE TABLE IF NOT EXISTS ${quoteSchemaName(schema)}.quadmill_turn
        (lane text, caller text, place double precision NOT NULL, PRIMARY KEY (lane, caller))`,
    );
    await client.query(
      `CREATE TABLE IF NOT EXISTS ${quoteSchemaName(schema)}.quadmill_line (dataset text PRIMARY KEY, runs text[] NOT NULL)`,
    );
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}

/**
 * Has the statements that remove old jobs planned for their values, each time. The index of ended jobs covers only ended states, so a plan for any
 * state reads every job of the queue, whenever a job ends. A server chooses by its statistics; the embedded database has none, since nothing collects them.
 */
async function planRetention(pool: PgPool, schema: string): Promise<void> {
  const name = quoteSchemaName(schema);
  const parameters = `text, text, ${name}.job_state, bigint, boolean, bigint, integer`;
  await pool.query(`ALTER FUNCTION ${name}.apply_retention(${parameters}) SET plan_cache_mode = force_custom_plan`);
}

function makeDriver(pool: PgPool, schema: string, rest: Pick<Driver, 'kind' | 'description' | 'onError' | 'close'>): Driver {
  const factory = (
    name: string,
    options: ConstructorParameters<typeof PostgresQueueBackend>[2] & { name?: string },
    roles: { blocking?: boolean; withBlockingConnection?: boolean } = {},
  ): PostgresQueueBackend => {
    let listener: string | undefined;
    if (roles.withBlockingConnection) listener = options.name === undefined ? name : `${name}:w:${options.name}`;
    else if (roles.blocking) listener = `${name}:qe`;
    return new PostgresQueueBackend(new SchemaConnection(pool, schema), name, options, true, listener);
  };
  return {
    ...rest,
    prefix: schema,
    factory: factory as unknown as Driver['factory'],
    connection: () => pool,
    settings: rest.kind === 'embedded' ? ofOneProcess(settingsTable(pool, schema)) : settingsTable(pool, schema),
    fairQueueing: fairQueueingTable(pool, schema),
    jobChanges: jobChangesIn(pool, schema),
    datasetLines: datasetLinesIn(pool, schema),
    recoverStalled: recoverStalledBy(pool, schema),
    async ping() {
      // A server that is full or read-only answers queries.
      const table = `${quoteSchemaName(schema)}.quadmill_setting`;
      await pool.query(
        `INSERT INTO ${table} (key, value) VALUES ('alive', now()::text) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
      );
    },
  };
}

function settingsTable(pool: PgPool, schema: string): SettingsStore {
  const table = `${quoteSchemaName(schema)}.quadmill_setting`;
  return {
    async read(keys) {
      const { rows } = await pool.query<{ key: string; value: string }>(`SELECT key, value FROM ${table} WHERE key = ANY($1::text[])`, [
        keys,
      ]);
      const values = new Map(rows.map((row) => [row.key, row.value]));
      return keys.map((key) => values.get(key));
    },
    async compareAndSet(key, expected, value) {
      const text =
        expected === undefined
          ? `INSERT INTO ${table} (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING RETURNING key`
          : `UPDATE ${table} SET value = $2 WHERE key = $1 AND value = $3 RETURNING key`;
      const { rows } = await pool.query(text, expected === undefined ? [key, value] : [key, value, expected]);
      return rows.length === 1;
    },
  };
}

/** The current tag of the queue is stored under the empty caller. */
function fairQueueingTable(pool: PgPool, schema: string): FairQueueing {
  const name = quoteSchemaName(schema);
  const table = `${name}.quadmill_turn`;
  // Rows locked by a concurrent submission are skipped: that submission updates them itself.
  const take = `
    WITH head AS (
      SELECT (priority - $2::int)::double precision AS place FROM ${name}.job
      WHERE queue = $1 AND state = 'waiting' AND priority > $2::int AND priority <= $2::int + $3::int
      ORDER BY priority, seq LIMIT 1
    ), present AS (
      SELECT CASE WHEN EXISTS (SELECT FROM head) THEN greatest((SELECT place FROM head), (SELECT place FROM ${table} WHERE lane = $5 AND caller = ''))
        WHEN EXISTS (SELECT FROM ${name}.job WHERE queue = $1 AND state IN ('delayed', 'active'))
        THEN coalesce((SELECT max(place) FROM ${table} WHERE lane = $5), 1) END AS place
      WHERE NOT EXISTS (SELECT FROM ${name}.job WHERE queue = $1 AND id = $8)
    ), forgotten AS (
      DELETE FROM ${table} WHERE EXISTS (SELECT FROM present WHERE place IS NULL) AND (lane, caller) IN (
        SELECT lane, caller FROM ${table} WHERE lane = $5 AND caller <> $6 FOR UPDATE SKIP LOCKED)
    ), clock AS (
      INSERT INTO ${table} AS turn (lane, caller, place) SELECT $5, '', place FROM present
      WHERE $6 <> '' AND place > coalesce((SELECT place FROM ${table} WHERE lane = $5 AND caller = ''), 0)
      ON CONFLICT (lane, caller) DO UPDATE SET place = greatest(turn.place, excluded.place)
    )
    INSERT INTO ${table} AS turn (lane, caller, place) SELECT $5, $6, coalesce(place, 1 + $7::int) FROM present
    ON CONFLICT (lane, caller) DO UPDATE SET place = CASE
      WHEN $6 = '' OR (SELECT place FROM present) IS NULL THEN excluded.place
      ELSE greatest(excluded.place, turn.place + power(2, -turn.place / $4::double precision)) END
    RETURNING place`;
  // In an empty queue a statement that overtakes another would set the caller's last tag back. The row would make them wait anyway.
  const oneByOne = sequences();
  /** @param id null: whatever jobs there are */
  const takeFor = ({ queue, offset, width, halfLife }: PriorityBand, caller: string, pending: number, id: string | null) => {
    const lane = `${queue}:${offset}`;
    return oneByOne(`${lane} ${caller}`, async () => {
      const { rows } = await pool.query<{ place: number }>(take, [queue, offset, width, halfLife, lane, caller, pending, id]);
      return rows[0]?.place;
    });
  };
  return {
    nextStartTag: async (band, caller = '', pending = 0) => Number((await takeFor(band, caller, pending, null)) ?? 1),
    async startTagOf(id, band, caller, pending) {
      const place = await takeFor(band, caller, pending, id);
      return place === undefined ? undefined : Number(place);
    },
  };
}

/** Runs what has the same key one after another, in the order of the calls. */
function sequences(): <T>(key: string, act: () => Promise<T>) => Promise<T> {
  const latest = new Map<string, Promise<unknown>>();
  return async (key, act) => {
    const turn = (latest.get(key) ?? Promise.resolve()).then(act, act);
    latest.set(key, turn);
    try {
      return await turn;
    } finally {
      if (latest.get(key) === turn) latest.delete(key);
    }
  };
}

/**
 * One statement. A concurrent check waits for the row of the last check and then finds that it was just done. Uses the clock of the server:
 * a process that was suspended or waited for the queue would send an old time.
 */
function recoverStalledBy(pool: PgPool, schema: string): RecoverStalledJobs {
  const name = quoteSchemaName(schema);
  const publishEvent = (event: string, data: string): string =>
    `${name}.publish_event($1, '${event}', jsonb_build_object('jobId', id, ${data}))`;
  const now = '(SELECT now FROM clock)';
  const text = `
    WITH clock AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now), look AS (
      INSERT INTO ${name}.meta AS last (queue, field, value) VALUES ($1, 'stalled-check', ${now}::text)
      ON CONFLICT (queue, field) DO UPDATE SET value = excluded.value WHERE last.value::bigint + $2::bigint <= ${now}
      RETURNING value
    ), lost AS (
      SELECT id, least($4::float8, $3::float8 * power(2, stalled_count))::bigint AS pause FROM ${name}.job
      WHERE queue = $1 AND state = 'active' AND stalled_marked AND locked_until_ms < ${now} AND NOT $5::boolean AND EXISTS (SELECT FROM look)
      FOR UPDATE SKIP LOCKED
    ), back AS (
      UPDATE ${name}.job AS job SET state = (CASE WHEN pause > 0 THEN 'delayed' ELSE 'waiting' END)::${name}.job_state,
        delay_ms = pause, process_at_ms = ${now} + pause, lock_token = NULL, locked_until_ms = NULL,
        stalled_marked = false, stalled_count = stalled_count + 1
      FROM lost WHERE job.queue = $1 AND job.id = lost.id
      RETURNING job.id, pause
    ), marked AS (
      UPDATE ${name}.job SET stalled_marked = true
      WHERE queue = $1 AND state = 'active' AND NOT stalled_marked AND EXISTS (SELECT FROM look)
    ), due AS (
      UPDATE ${name}.job SET state = 'waiting', delay_ms = 0
      WHERE queue = $1 AND state = 'delayed' AND process_at_ms <= ${now} AND EXISTS (SELECT FROM look)
      RETURNING id
    )
    SELECT id, true AS lost, ${publishEvent('stalled', "'prev', 'active'")}, pg_notify('bullmq_jobs', $1)::text,
      CASE WHEN pause > 0 THEN ${publishEvent('delayed', `'delay', ${now} + pause`)} ELSE ${publishEvent('waiting', "'prev', 'active'")} END
    FROM back
    UNION ALL
    SELECT id, false, ${publishEvent('waiting', "'prev', 'delayed'")}, pg_notify('bullmq_jobs', $1)::text, 0 FROM due`;
  return async (queue, intervalMs, { initialMs, maxMs }, isBack) => {
    const { rows } = await pool.query<{ id: string; lost: boolean }>(text, [queue, intervalMs, initialMs, maxMs, isBack]);
    return rows.filter(({ lost }) => lost).map(({ id }) => id);
  };
}
