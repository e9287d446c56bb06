/**
 * A replication connection: what the server sends of the log, and up to where it may forget the log.
 *
 * @see https://www.postgresql.org/docs/current/protocol-replication.html
 */
import { atMost } from '../../core/abort.ts';
import type { DatabaseAddress } from '../../sql/database.ts';
import { cancelledFault } from '../../sql/faults.ts';
import { type Connected, connect } from '../../sql/postgresql/connect.ts';
import { faultOf, type PostgresError } from '../../sql/postgresql/faults.ts';
import { settingsOf } from '../../sql/postgresql/settings.ts';
import type { Wire } from '../../sql/postgresql/statement.ts';
import { Backlog } from '../database/backlog.ts';
import type { DatabaseFeedOptions } from '../database/options.ts';
import { lsnText } from './lsn.ts';
import { type LogMessage, Pgoutput } from './pgoutput.ts';

/** Members of pg connections in replication that its types lack. */
interface ReplicationWire extends Wire {
  query(text: string): void;
  sendCopyFromChunk(bytes: Buffer): void;
  end(): void;
}

export interface Received {
  /** undefined: the server has no more for now. */
  readonly message: LogMessage | undefined;
  /** Where the message stands, or up to where the server has read the log. */
  readonly lsn: bigint;
  readonly bytes: number;
}

export interface StreamServer {
  readonly version: number;
  readonly isAscii: boolean;
}

/** Between two reports to the server, which ends a connection that is silent for `wal_sender_timeout`. */
const REPORT_MS = 1_000;
/** The server answers a report that asks. So a connection without data for so long is lost. */
const SILENCE_MS = 60_000;
const CLOSE_LIMIT_MS = 1_000;

const WAL_DATA = 119; // w
const KEEPALIVE = 107; // k
const REPORT = 114; // r

/** By SQLSTATE: what another call may mend. The slot is active, or what it needs of the log is removed, which the next call finds, or the server could not decode it. */
const AGAIN: Readonly<Record<string, 'database/busy' | 'database/lost'>> = {
  '55006': 'database/busy',
  '55000': 'database/lost',
  '58P01': 'database/lost',
  XX000: 'database/lost',
};

export class ReplicationStream {
  readonly #wire: ReplicationWire;
  readonly #address: DatabaseAddress;
  readonly #backlog: Backlog<Received>;
  readonly #plugin: Pgoutput;
  readonly #confirmed: () => bigint;
  readonly #timer: NodeJS.Timeout;
  #started = false;
  #heardAt = performance.now();

  /**
   * Begins behind `from`.
   *
   * @param confirmed up to where the server may forget the log; 0: nowhere
   * @throws Fault those of `OpenSession`; database/query — the slot cannot be read
   */
  static async open(
    options: DatabaseFeedOptions,
    server: StreamServer,
    from: bigint,
    confirmed: () => bigint,
    signal: AbortSignal,
  ): Promise<ReplicationStream> {
    const { address, connectSeconds, reach } = options;
    const connected = await connect(address, { signal, connectSeconds, reach, mode: 'replication' });
    try {
      const settings = settingsOf(address, server.version, server.isAscii, 0).filter(([name]) => name !== 'lock_timeout');
      const calls = settings.map(([name, value]) => `pg_catalog.set_config(${literal(name)}, ${literal(value)}, false)`);
      await connected.client.query(`SELECT ${calls.join(', ')}`);
    } catch (error) {
      connected.wire.stream.destroy();
      throw faultOf(error, { address, statementSeconds: 0 });
    }
    return new ReplicationStream(options, connected, server, from, confirmed);
  }

  private constructor(options: DatabaseFeedOptions, connected: Connected, server: StreamServer, from: bigint, confirmed: () => bigint) {
    const { address, slot, publication } = options;
    this.#address = address;
    this.#wire = connected.wire as ReplicationWire;
    this.#backlog = new Backlog(this.#wire.stream);
    this.#plugin = new Pgoutput(address.name, server.isAscii);
    this.#confirmed = confirmed;
    // Commands of replication know no escapes but doubled quotes.
    const publications = `'"${publication.replaceAll('"', '""').replaceAll("'", "''")}"'`;
    const text = `START_REPLICATION SLOT "${slot.replaceAll('"', '""')}" LOGICAL ${lsnText(from)} (proto_version '1', publication_names ${publications})`;
    connected.client.on('error', (error) => this.#backlog.end(error));
    connected.client.on('end', () => this.#backlog.end(new Error('the server has closed it')));
    connected.client.query(this.#command(text) as unknown as { submit(): void });
    this.#timer = setInterval(() => this.#tick(), REPORT_MS);
  }

  /** What pg's client calls of a query. */
  #command(text: string): unknown {
    const ended = (): void => this.#backlog.end(new Error('the server has ended the replication'));
    return {
      submit: (wire: ReplicationWire) => wire.query(text),
      handleCopyData: ({ chunk }: { readonly chunk: Buffer }) => this.#receive(chunk),
      handleError: (error: unknown) => this.#backlog.end(error),
      handleCommandComplete: ended,
      handleReadyForQuery: ended,
      handleRowDescription: () => {},
      handleDataRow: () => {},
      handleEmptyQuery: () => {},
      handlePortalSuspended: () => {},
      handleCopyInResponse: () => {},
    };
  }

  #receive(chunk: Buffer): void {
    this.#started = true;
    this.#heardAt = performance.now();
    try {
      if (chunk[0] === WAL_DATA) {
        const message = this.#plugin.read(chunk.subarray(25));
        if (message !== undefined) this.#backlog.add({ message, lsn: chunk.readBigUInt64BE(1), bytes: chunk.length }, chunk.length);
      } else if (chunk[0] === KEEPALIVE) {
        this.#backlog.add({ message: undefined, lsn: chunk.readBigUInt64BE(1), bytes: 0 }, 0);
        if (chunk[17] === 1) this.report(false);
      }
    } catch (error) {
      this.#backlog.end(error);
    }
  }

  #tick(): void {
    const silentMs = performance.now() - this.#heardAt;
    // While it is paused, what the server says is not read.
    if (this.#backlog.isPaused) this.#heardAt = performance.now();
    else if (silentMs > SILENCE_MS) this.#backlog.end(new Error(`the server said nothing for ${SILENCE_MS / 1000} s`));
    this.report(silentMs >= REPORT_MS);
  }

  /** Tells the server what is confirmed. @param asks whether it is to say up to where it has read the log */
  report(asks: boolean): void {
    if (!this.#started || this.#backlog.error !== undefined) return;
    const report = Buffer.alloc(34);
    report[0] = REPORT;
    // Written, flushed, applied: what is received and not yet kept counts for nothing.
    for (const at of [1, 9, 17]) report.writeBigUInt64BE(this.#confirmed(), at);
    report.writeBigInt64BE(BigInt(Date.now() - 946_684_800_000) * 1000n, 25);
    report[33] = asks ? 1 : 0;
    this.#wire.sendCopyFromChunk(report);
  }

  /** What has arrived; nothing after `waitMs`. @throws Fault database/lost, or the server's answer */
  async take(waitMs: number, signal: AbortSignal): Promise<readonly Received[]> {
    // It may have been aborted before `abort` could be called.
    if (signal.aborted) throw cancelledFault(this.#address);
    try {
      return await this.#backlog.take(waitMs);
    } catch (error) {
      if (signal.aborted) throw cancelledFault(this.#address);
      const fault = faultOf(error, { address: this.#address, statementSeconds: 0 });
      const code = AGAIN[(error as PostgresError).code ?? ''];
      throw code === undefined ? fault : fault.with({ code });
    }
  }

  /** Ends a `take` that waits. */
  abort(): void {
    this.#backlog.end(new Error('cancelled'));
  }

  /** Never throws. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const { stream } = this.#wire;
    if (!stream.destroyed && this.#backlog.error === undefined) {
      this.report(false);
      const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()));
      this.#backlog.end(new Error('the feed is closed'));
      stream.resume();
      this.#wire.end();
      await atMost(CLOSE_LIMIT_MS, closed);
    }
    stream.destroy();
  }
}

/** A text as SQL, whatever the settings of the session. */
const literal = (text: string): string => `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
