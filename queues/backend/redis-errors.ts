/** Why Redis cannot be reached, and what to do about it. */
import { connect as connectTls } from 'node:tls';
import { Redis } from 'ioredis';
import { explainHandshake, type TlsOptions } from '../tls.ts';
import { firstHostOf, type RedisAddress } from './redis-url.ts';

export const QUEUE_TLS = {
  server: 'Redis servers',
  ca: 'QUEUE_SSL_CA',
  cert: 'QUEUE_SSL_CERT',
  key: 'QUEUE_SSL_KEY',
} as const satisfies TlsOptions;

export interface Explanation {
  readonly why: string;
  readonly hint?: string;
}

const LOGIN = 'Check the user and the password in QUEUE_URL; characters such as @ and / are written as %40 and %2F';
const SENTINEL_LOGIN = 'Check QUEUE_SENTINEL_USERNAME and QUEUE_SENTINEL_PASSWORD; the login in QUEUE_URL is that of the master';

/** @param error the last one of the client; undefined: it had none within `waitMs` */
export async function explainRedis(error: Error | undefined, address: RedisAddress, waitMs: number): Promise<Explanation> {
  const found = address.kind === 'sentinel' ? await askSentinels(address, waitMs) : undefined;
  if (found !== undefined) return found;
  const refusal = await refusedHandshake(address, waitMs);
  if (refusal !== undefined) return explainError(refusal, address);
  return error === undefined ? { why: `no answer within ${waitMs / 1000} s` } : explainError(error, address);
}

/** With a hint: trying again does not help. */
export function explainError(error: Error, address: RedisAddress): Explanation {
  // A client of a cluster wraps what its last node has said.
  const { message } = (error as { lastNodeError?: Error }).lastNodeError ?? error;
  const tls = address.kind === 'socket' ? undefined : address.tls;
  const handshake = explainHandshake(message, tls?.cert !== undefined, QUEUE_TLS);
  if (handshake !== undefined) return { why: message, hint: handshake };
  if (isLogin(message)) return { why: message, hint: LOGIN };
  if (/cluster support disabled/.test(message)) return { why: message, hint: 'It is not a cluster: write QUEUE_URL as redis://host:port' };
  return { why: message };
}

/**
 * With TLS 1.3 a server refuses a certificate after the client has begun to send, and the client may learn only that the connection was reset.
 * So this one sends nothing. Undefined: the handshake is not refused.
 */
async function refusedHandshake(address: RedisAddress, waitMs: number): Promise<Error | undefined> {
  if (address.kind === 'socket' || address.tls === undefined) return undefined;
  const { host, port } = firstHostOf(address);
  const socket = connectTls({ host, port, ...address.tls });
  try {
    return await new Promise((resolve) => {
      socket.once('error', resolve);
      socket.once('close', () => resolve(undefined));
      socket.setTimeout(waitMs, () => resolve(undefined));
    });
  } finally {
    socket.destroy();
  }
}

const isLogin = (message: string): boolean => /^(?:WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/.test(message);

/** What is wrong with the master, by the first sentinel that answers; undefined: nothing, or none answers. */
async function askSentinels(address: RedisAddress & { readonly kind: 'sentinel' }, waitMs: number): Promise<Explanation | undefined> {
  for (const { host, port } of address.hosts) {
    const sentinel = new Redis({
      host,
      port,
      username: address.sentinelUsername,
      password: address.sentinelPassword,
      ...(address.tls === undefined ? {} : { tls: address.tls }),
      connectTimeout: waitMs,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    });
    let refusal = '';
    sentinel.on('error', (error) => {
      refusal = error.message;
    });
    try {
      const masters = (await sentinel.call('SENTINEL', 'MASTERS')) as readonly (readonly string[])[];
      const names = masters.map((fields) => fields[fields.indexOf('name') + 1] ?? '');
      if (names.includes(address.master)) return undefined;
      const known = names.length === 0 ? 'it watches none' : `it knows ${names.join(', ')}`;
      return {
        why: `the sentinel at ${host}:${port} knows no master '${address.master}'; ${known}`,
        hint: 'QUEUE_URL ends with the name of the master: redis+sentinel://host:26379/mymaster',
      };
    } catch (error) {
      const message = refusal || (error as Error).message;
      if (isLogin(message)) return { why: `the sentinel at ${host}:${port} refuses the login: ${message}`, hint: SENTINEL_LOGIN };
      if (/unknown command/i.test(message))
        return { why: `${host}:${port} is not a sentinel`, hint: 'Write QUEUE_URL as redis://host:port' };
    } finally {
      sentinel.disconnect();
    }
  }
  return undefined;
}
