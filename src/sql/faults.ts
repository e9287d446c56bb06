/** Faults of databases that all products make in the same way. */
import { Fault } from '../core/fault.ts';
import type { DatabaseAddress } from './database.ts';

/** The session and the statement in which an error occurred. */
export interface FaultContext {
  readonly address: DatabaseAddress;
  /** The statement as its author wrote it; undefined: an internal statement. */
  readonly sql?: string | undefined;
  /** The limit that the statement has; 0: none. */
  readonly statementSeconds: number;
}

/** Messages of `busyFault`. */
export const BUSY = {
  lock: 'A lock was waited for longer than the limit: another connection holds it',
  deadlock: 'The server ended the statement to resolve a deadlock',
} as const;

/** The specification's words, without place and hint. */
export const credentialsFault = (): Fault => new Fault('database/credentials', 'Invalid Database Credentials');

/** @param message undefined: the server accepts no more connections or work, for the reason in its own `text` */
export const busyFault = (message: string | undefined, text: string, { address }: FaultContext, cause: unknown): Fault =>
  new Fault('database/busy', message ?? `The server has no place: ${text}`, { place: { input: address.name }, cause });

export const timeLimitFault = ({ address, statementSeconds }: FaultContext, cause: unknown): Fault =>
  new Fault('database/time-limit', `The query takes longer than its limit${statementSeconds > 0 ? ` of ${statementSeconds} s` : ''}`, {
    place: { input: address.name },
    hint: 'A shorter query, or a higher limit for statements, may help',
    cause,
  });

/** @param text what the server or the driver says, without a full stop */
export const lostFault = (text: string, { address }: FaultContext, cause: unknown): Fault =>
  new Fault('database/lost', `The connection to the database broke: ${text}`, { place: { input: address.name }, cause });

/** The server's answer to a statement, or our reason not to send it. */
export const queryFault = (message: string, { name }: DatabaseAddress, hint?: string, cause?: unknown): Fault =>
  new Fault('database/query', message, { place: { input: name }, ...(hint === undefined ? {} : { hint }), cause });

/** A driver, loaded when it is first wanted. @throws Fault database/driver — its package is not installed */
export async function loadPackage<Driver>(product: string, name: string, load: () => Promise<unknown>): Promise<Driver> {
  try {
    const loaded = (await load()) as Driver & { readonly default?: Driver };
    return loaded.default ?? loaded;
  } catch (cause) {
    throw new Fault('database/driver', `${product} is read with the package ${name}, which is not installed`, {
      hint: `Run npm install ${name} beside Quadmill`,
      cause,
    });
  }
}

export const cancelledFault = ({ name }: DatabaseAddress): Fault =>
  new Fault('run/cancelled', 'The run was cancelled', { place: { input: name } });
