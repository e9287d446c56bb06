/**
 * Disk space of the embedded queue. A server has processes that make the space of deleted rows free for others, and remove what its log has no use for
 * any more. PostgreSQL within this process has none, so its files would grow with each job.
 */
import type { EventEmitter } from 'node:events';

/** One table at a time: 40,000 deleted rows take some 20 ms, in which this process does nothing else. */
const PAUSE_MS = 60_000;

interface Session {
  query(text: string, parameters?: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** The log since the last checkpoint. It is kept until the next one, and read when the database is opened after a crash. */
const MOST_LOG_BYTES = 32 * 2 ** 20;
const LOG_BYTES = 'SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 AS bytes FROM pg_control_checkpoint()';

/** Makes space in the tables of a schema, one after the other and again. */
export class Vacuum {
  readonly #session: Session;
  readonly #schema: string;
  readonly #timer: NodeJS.Timeout;
  #tables: string[] = [];
  #working: Promise<void> = Promise.resolve();

  /** @param session emits `error` for what fails, which is tried again in its turn */
  constructor(session: Session & EventEmitter, schema: string, pauseMs = PAUSE_MS) {
    this.#session = session;
    this.#schema = schema;
    this.#timer = setInterval(() => {
      this.#working = this.next().catch((error: unknown) => void session.emit('error', error));
    }, pauseMs).unref();
  }

  /** Of the next table, and of the log. */
  async next(): Promise<void> {
    if (this.#tables.length === 0) {
      const { rows } = await this.#session.query('SELECT format($2, schemaname, tablename) AS name FROM pg_tables WHERE schemaname = $1', [
        this.#schema,
        '%I.%I',
      ]);
      this.#tables = (rows as readonly { readonly name: string }[]).map(({ name }) => name);
    }
    const table = this.#tables.pop();
    if (table !== undefined) await this.#session.query(`VACUUM ${table}`);
    const [log] = (await this.#session.query(LOG_BYTES)).rows as readonly { readonly bytes: number }[];
    if (log !== undefined && log.bytes > MOST_LOG_BYTES) await this.#session.query('CHECKPOINT');
  }

  /** Resolves when nothing of it is under way. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#working;
  }
}
