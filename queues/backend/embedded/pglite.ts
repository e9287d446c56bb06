/**
 * PGlite (PostgreSQL compiled to WebAssembly, in this process) with the interface of a `pg` pool.
 *
 * There is one session. A client that sends BEGIN keeps it until COMMIT or ROLLBACK; all other queries wait. Notifications are emitted to
 * every listening client as `notification` events.
 */
import { EventEmitter } from 'node:events';
import type { PGlite, Results } from '@electric-sql/pglite';
import { PreparedStatements } from './statements.ts';

interface QueryResult {
  readonly rows: unknown[];
  readonly rowCount: number;
}

/** Grants the session to one caller at a time, in the order of the calls. */
class SessionLock {
  private last: Promise<void> = Promise.resolve();

  /** Resolves to the function that releases the lock. */
  async acquire(): Promise<() => void> {
    let release: () => void = () => undefined;
    const previous = this.last;
    this.last = new Promise((resolve) => {
      release = resolve;
    });
    await previous;
    return release;
  }
}

/** A checked-out client. `release` rolls back an open transaction. */
class Client extends EventEmitter {
  private readonly pool: PglitePool;
  private releaseSession: (() => void) | undefined;

  constructor(pool: PglitePool) {
    super();
    this.setMaxListeners(0);
    this.pool = pool;
  }

  async query(text: string, parameters?: readonly unknown[]): Promise<QueryResult> {
    const release = this.releaseSession ?? (await this.pool.sessionLock.acquire());
    let keeps = this.releaseSession !== undefined || /^\s*BEGIN\b/i.test(text);
    try {
      const result = await this.pool.run(text, parameters);
      if (/^\s*(COMMIT|ROLLBACK)\s*;?\s*$/i.test(text)) keeps = false;
      return result;
    } catch (error) {
      if (this.releaseSession === undefined || /^\s*(COMMIT|ROLLBACK)\b/i.test(text)) keeps = false;
      throw error;
    } finally {
      this.releaseSession = keeps ? release : undefined;
      if (!keeps) release();
    }
  }

  release(): void {
    this.pool.clients.delete(this);
    if (this.releaseSession === undefined) return;
    void this.query('ROLLBACK').catch((error: unknown) => this.pool.emit('error', error));
  }
}

/** The part of `pg.Pool` that BullMQ uses. `end` leaves the database open: the code that opened it closes it. */
export class PglitePool extends EventEmitter {
  readonly sessionLock = new SessionLock();
  readonly clients = new Set<Client>();
  /** There is no socket that could break unnoticed, so workers may wait for notifications without limit. */
  readonly options = { keepAlive: true };
  private readonly database: PGlite;
  private readonly statements: PreparedStatements;
  private readonly unlisten: () => void;
  private readonly pendingNotifications = new Map<string, { readonly channel: string; readonly payload: string }>();

  constructor(database: PGlite) {
    super();
    this.setMaxListeners(0);
    this.database = database;
    this.statements = new PreparedStatements(database);
    this.unlisten = database.onNotification((channel, payload) => this.notify(channel, payload));
  }

  /**
   * Emits notifications in the next iteration of the event loop, equal ones once. The database answers within the current iteration: a
   * client that has just found no job and is about to listen would miss a notification emitted now.
   */
  private notify(channel: string, payload: string): void {
    if (this.pendingNotifications.size === 0) {
      setImmediate(() => {
        const all = [...this.pendingNotifications.values()];
        this.pendingNotifications.clear();
        for (const one of all) for (const client of this.clients) client.emit('notification', one);
      });
    }
    this.pendingNotifications.set(`${channel} ${payload}`, { channel, payload });
  }

  async connect(): Promise<Client> {
    const client = new Client(this);
    this.clients.add(client);
    return client;
  }

  async query(text: string, parameters?: readonly unknown[]): Promise<QueryResult> {
    const release = await this.sessionLock.acquire();
    try {
      return await this.run(text, parameters);
    } finally {
      release();
    }
  }

  /** Only for the holder of the lock. Text without parameters may be several statements; returns the result of the last one. */
  async run(text: string, parameters?: readonly unknown[]): Promise<QueryResult> {
    let result: Results | undefined;
    if (parameters === undefined || parameters.length === 0) result = (await this.database.exec(text)).at(-1);
    else result = await this.statements.run(text, parameters);
    const rows = (result?.rows ?? []) as unknown[];
    return { rows, rowCount: rows.length > 0 ? rows.length : (result?.affectedRows ?? 0) };
  }

  async end(): Promise<void> {
    this.unlisten();
    this.clients.clear();
  }
}
