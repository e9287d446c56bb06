/** Connections over Bolt: addresses, TLS, login, sessions with a time limit. */

import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import neo4j, { type Config, type Driver, type QueryResult, type Record as Row, type Transaction } from 'neo4j-driver';
import { atMost } from '../../core/abort.ts';
import { Fault } from '../../core/fault.ts';
import { redact } from '../../core/redact.ts';
import { type TargetAddress, TargetBusy } from '../target.ts';
import { faultOfBolt, isLost } from './faults.ts';

export type Parameters = Readonly<Record<string, unknown>>;

/** Executes statements in a transaction. Each call is one statement; its rows are returned together. */
export interface Work {
  run(cypher: string, parameters?: Parameters): Promise<QueryResult>;
}

export interface BoltConnection {
  /** Name of the server in messages. */
  readonly name: string;
  /**
   * Runs `work` in one transaction, which is committed when it resolves and rolled back when it throws. The request limit applies to the
   * whole transaction, or with `long` to each statement.
   *
   * @throws Fault those of `GraphTarget`; the reason of `signal`
   */
  transaction<T>(work: (transaction: Work) => Promise<T>, signal: AbortSignal, length?: 'long'): Promise<T>;
  /**
   * The rows of a query, some at a time, as the server finds them. The request limit applies to each of the pieces.
   *
   * @throws Fault as `transaction`
   */
  rows(cypher: string, parameters: Parameters, signal: AbortSignal): AsyncIterable<readonly Row[]>;
  /** Runs a statement and rolls it back, to check that it is allowed. */
  tryOut(cypher: string, signal: AbortSignal): Promise<void>;
  /** Runs a schema statement, which must be alone in its transaction. */
  schema(cypher: string, signal: AbortSignal): Promise<void>;
  /** Server agent: `Neo4j/5.26.30`. */
  agent(signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

/** The server ends a transaction that exceeds the limit; if it does not respond, the client gives up this much later. */
const GRACE_MS = 1_000;
const CLOSE_LIMIT_MS = 2_000;
const PIECE_ROWS = 1_000;

/** @throws Fault config/invalid — not a Bolt endpoint, or an unreadable certificate */
export async function connectBolt(address: TargetAddress): Promise<BoltConnection> {
  const name = redact(address.endpoint);
  const authorities = await authoritiesOf(address);
  const driver = openDriver(address, authorities.file);
  const session = () => driver.session(address.database === undefined ? {} : { database: address.database });
  const limitMs = address.requestSeconds * 1000;
  const timeout = limitMs > 0 ? { timeout: limitMs } : {};
  const guard = <T>(work: (clock: Clock) => Promise<T>, signal: AbortSignal): Promise<T> =>
    withinLimits(work, name, limitMs, signal).catch((error) => {
      throw faultOfBolt(error, name, address);
    });
  const within = <T>(work: (transaction: Transaction, clock: Clock) => Promise<T>, signal: AbortSignal, length?: 'long'): Promise<T> =>
    guard(async (clock) => {
      const own = session();
      try {
        return await work(await own.beginTransaction(length === 'long' ? { timeout: 0 } : timeout), clock);
      } finally {
        // Rolls back what was not committed.
        await own.close().catch(unlessLost);
      }
    }, signal);
  return {
    name,
    transaction: (work, signal, length) =>
      within(
        async (transaction, clock) => {
          const next = (): void => {
            clock.check();
            if (length === 'long') clock.renew();
          };
          const run: Work['run'] = async (cypher, parameters) => {
            next();
            return transaction.run(cypher, parameters);
          };
          const result = await work({ run });
          next();
          await transaction.commit();
          return result;
        },
        signal,
        length,
      ),
    async *rows(cypher, parameters, signal) {
      const own = session();
      const results = guard(
        async () => (await own.beginTransaction({ timeout: 0 })).run(cypher, parameters)[Symbol.asyncIterator](),
        signal,
      );
      try {
        const rows = await results;
        for (let isDone = false; !isDone; ) {
          const piece: Row[] = [];
          isDone = await guard(async () => {
            while (piece.length < PIECE_ROWS) {
              const next = await rows.next();
              if (next.done) return true;
              piece.push(next.value);
            }
            return false;
          }, signal);
          yield piece;
        }
      } finally {
        // The server is still sending where the caller has stopped.
        const ended = results.then((rows) => rows.return?.()).catch(() => undefined);
        await atMost(
          CLOSE_LIMIT_MS,
          ended.then(() => own.close().catch(unlessLost)),
        );
      }
    },
    tryOut: (cypher, signal) =>
      within(async (transaction) => {
        await transaction.run(cypher);
        await transaction.rollback();
      }, signal),
    schema: (cypher, signal) =>
      guard(async () => {
        const own = session();
        try {
          await own.run(cypher, {}, timeout);
        } finally {
          await own.close().catch(unlessLost);
        }
      }, signal),
    agent: (signal) =>
      guard(async () => {
        const { agent } = await driver.getServerInfo(address.database === undefined ? {} : { database: address.database });
        return agent ?? '';
      }, signal),
    async close() {
      const closed = driver.close().catch(unlessLost);
      // An error of another kind is reported; a server that does not answer is left behind.
      if (await atMost(CLOSE_LIMIT_MS, closed)) await closed;
      await authorities.remove();
    },
  };
}

/** Errors when closing a session are ignored: the cause has been reported before. */
function unlessLost(error: unknown): void {
  if (!isLost(error)) throw error;
}

interface Clock {
  /** Starts nothing more when the caller has gone. @throws TargetBusy */
  check(): void;
  /** Restarts the time limit. */
  renew(): void;
}

/** Stops waiting when `signal` or the limit says so, even if the server does not respond; the work then stops at its next step. */
function withinLimits<T>(work: (clock: Clock) => Promise<T>, name: string, limitMs: number, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let isOver = false;
    const end = (reason: unknown): void => {
      isOver = true;
      reject(reason);
    };
    const abort = (): void => end(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    const onTimeout = () => end(new TargetBusy(`${name} did not answer within ${limitMs / 1000} s`));
    const timer = limitMs > 0 ? setTimeout(onTimeout, limitMs + GRACE_MS) : undefined;
    const check = (): void => {
      if (isOver) throw new TargetBusy('The transaction was given up');
    };
    work({ check, renew: () => timer?.refresh() })
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      });
  });
}

const SCHEMES = /^(bolt|neo4j)(\+s|\+ssc)?:\/\//;

function openDriver(address: TargetAddress, authorities: string | undefined): Driver {
  const { endpoint, username, password, connectSeconds } = address;
  const [, scheme, security] = SCHEMES.exec(endpoint) ?? [];
  if (scheme === undefined)
    throw new Fault('config/invalid', `The endpoint ${redact(endpoint)} is none of Bolt`, {
      hint: 'TRIPLESTORE_ENDPOINT of a property graph begins with bolt://, bolt+s://, neo4j:// or neo4j+s://',
    });
  const ownTrust = authorities !== undefined && security === '+s';
  const config: Config = {
    useBigInt: true,
    telemetryDisabled: true,
    userAgent: 'quadmill',
    ...(connectSeconds > 0 ? { connectionTimeout: connectSeconds * 1000, connectionAcquisitionTimeout: connectSeconds * 2000 } : {}),
    ...(ownTrust ? { encrypted: 'ENCRYPTION_ON', trust: 'TRUST_CUSTOM_CA_SIGNED_CERTIFICATES', trustedCertificates: [authorities] } : {}),
  };
  const login = username === undefined ? undefined : neo4j.auth.basic(username, password?.reveal() ?? '');
  try {
    // The driver accepts certificates only with schemes that do not determine encryption.
    return neo4j.driver(ownTrust ? endpoint.replace('+s://', '://') : endpoint, login, config);
  } catch (cause) {
    throw new Fault('config/invalid', `The endpoint ${redact(endpoint)} cannot be used: ${redact((cause as Error).message)}`, { cause });
  }
}

/** The driver reads certificates from a file. */
async function authoritiesOf({ ca }: TargetAddress): Promise<{ readonly file: string | undefined; remove(): Promise<void> }> {
  if (ca === undefined || !ca.includes('-----BEGIN')) {
    if (ca !== undefined) await access(ca).catch((cause) => Promise.reject(unreadable(ca, cause)));
    return { file: ca, remove: async () => {} };
  }
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-ca-'));
  const file = join(directory, 'ca.pem');
  await writeFile(file, ca);
  return { file, remove: () => rm(directory, { recursive: true, force: true }) };
}

const unreadable = (path: string, cause: unknown): Fault =>
  new Fault('config/invalid', `The certificates ${path} cannot be read`, { hint: 'TRIPLESTORE_CA is PEM text or a file of it', cause });
