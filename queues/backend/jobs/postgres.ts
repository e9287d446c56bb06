/** Changes of single jobs, and lines of runs, in PostgreSQL. Jobs are in BullMQ's table. Times are those of the server. A job keeps the token of a lock that has expired. */
import { type PgPool, quoteSchemaName } from 'bullmq';
import type { JobChanges } from './changes.ts';
import type { DatasetLines } from './lines.ts';

export function jobChangesIn(pool: PgPool, schema: string): JobChanges {
  const table = `${quoteSchemaName(schema)}.job`;
  const until = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint + $4::bigint';
  const amend = `UPDATE ${table} SET data = data || $3::jsonb WHERE queue = $1 AND id = $2 AND ($4::text IS NULL OR lock_token = $4) RETURNING id`;
  const take = `
    UPDATE ${table} SET state = 'active', lock_token = $3, locked_until_ms = ${until}, process_at_ms = NULL
    WHERE queue = $1 AND id = $2 AND state IN ('waiting', 'delayed') RETURNING id`;
  const confirm = `
    UPDATE ${table} SET locked_until_ms = ${until}, stalled_marked = false
    WHERE queue = $1 AND id = $2 AND state = 'active' AND lock_token = $3
    RETURNING coalesce((data ->> 'cancelled')::boolean, false) AS cancelled`;
  return {
    async amend(queue, id, fields, lock) {
      const { rows } = await pool.query(amend, [queue, id, JSON.stringify(fields), lock?.token ?? null]);
      return rows.length === 1;
    },
    async take(queue, id, token, lockMs) {
      const { rows } = await pool.query(take, [queue, id, token, lockMs]);
      return rows.length === 1;
    },
    async confirm(queue, id, { token }, lockMs) {
      const { rows } = await pool.query<{ cancelled: boolean }>(confirm, [queue, id, token, lockMs]);
      const [row] = rows;
      return row === undefined ? 'lost' : row.cancelled ? 'cancelled' : 'held';
    },
  };
}

/** One row for each dataset: its lock makes one order of all changes. Rows stay, as datasets do. */
export function datasetLinesIn(pool: PgPool, schema: string): DatasetLines {
  const table = `${quoteSchemaName(schema)}.quadmill_line`;
  const join = `
    INSERT INTO ${table} AS line (dataset, runs) VALUES ($1, ARRAY[$2::text])
    ON CONFLICT (dataset) DO UPDATE SET runs = CASE WHEN $2 = ANY (line.runs) THEN line.runs ELSE array_append(line.runs, $2) END
    RETURNING runs[1] AS head, array_position(runs, $2) - 1 AS before`;
  const leave = `UPDATE ${table} SET runs = array_remove(runs, $2) WHERE dataset = $1 RETURNING runs[1] AS head`;
  return {
    async join(dataset, run) {
      const { rows } = await pool.query<{ head: string; before: number }>(join, [dataset, run]);
      return rows[0] as { head: string; before: number };
    },
    async leave(dataset, run) {
      const { rows } = await pool.query<{ head: string | null }>(leave, [dataset, run]);
      return rows[0]?.head ?? undefined;
    },
  };
}
