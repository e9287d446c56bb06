/** Authorization: bearer tokens with one of three roles; without tokens, only requests from this machine. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Fault } from '../src/core/fault.ts';
import { RequestFault } from './problem.ts';

/** Each role includes the permissions of the previous ones. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export interface Token {
  /** Shown in the log. */
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the secret: all have the same length, so comparing them reveals nothing. */
  readonly digest: Buffer;
}

export interface Guard {
  /**
   * Authorizes a request with these headers for `role`; returns the name of its token.
   *
   * @throws Fault request/unauthorized — no valid token; request/forbidden — the role of the token is insufficient, or the request comes
   *   from a page of another site
   */
  authorize(headers: RequestHeaders, role: Role): string;
}

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Parses entries `name:role:token` (or `role:token`, named after the role and its position).
 *
 * @throws Fault config/invalid — an entry of another form, a duplicate name; the message never contains the token
 */
export function parseTokens(entries: readonly string[]): readonly Token[] {
  const tokens = entries.map((entry, i) => {
    const parts = entry.split(':');
    const named = parts.length >= 3 && isRole(parts[1]);
    const role = named ? parts[1] : parts[0];
    const secret = parts.slice(named ? 2 : 1).join(':');
    const name = named ? (parts[0] ?? '') : `${role}-${i + 1}`;
    if (!isRole(role) || secret === '' || name === '') {
      throw new Fault('config/invalid', `Entry ${i + 1} of API_TOKENS is not name:role:token with a role of ${ROLES.join(', ')}`);
    }
    return { name, role, digest: digestOf(secret) };
  });
  const twice = tokens.find((token, i) => tokens.findIndex((other) => other.name === token.name) !== i);
  if (twice !== undefined) throw new Fault('config/invalid', `API_TOKENS has the name ${twice.name} twice`);
  return tokens;
}

/**
 * The guard of a server that listens on `host`.
 *
 * Without tokens, only requests from this machine are served, and not those of web pages of other sites, which are recognized by
 * `Sec-Fetch-Site` and by a `Host` that is not this machine's (DNS rebinding).
 *
 * @throws Fault config/invalid — not a loopback address, without tokens and without ALLOW_ANONYMOUS
 */
export function makeGuard(tokens: readonly Token[], host: string, allowAnonymous: boolean): Guard {
  if (tokens.length > 0) return { authorize: (headers, role) => authorizeToken(tokens, headers, role) };
  if (allowAnonymous) return { authorize: () => 'anonymous' };
  if (!isLoopback(host)) {
    throw new Fault(
      'config/invalid',
      `Quadmill does not listen on ${host} without tokens: everybody who reaches it could read and write files`,
      {
        hint: 'Set API_TOKENS=name:role:token,… or, where something else guards it, ALLOW_ANONYMOUS=true',
      },
    );
  }
  return {
    authorize: (headers) => {
      refuseCrossSiteRequests(headers);
      return 'anonymous';
    },
  };
}

function authorizeToken(tokens: readonly Token[], headers: RequestHeaders, role: Role): string {
  const given = /^Bearer +(\S+) *$/i.exec(String(headers.authorization ?? ''))?.[1];
  const digest = digestOf(given ?? '');
  let found: Token | undefined;
  for (const token of tokens) if (timingSafeEqual(token.digest, digest)) found = token;
  if (found === undefined || given === undefined) {
    throw new RequestFault(
      'request/unauthorized',
      given === undefined ? 'The request has no bearer token' : 'The bearer token is not one of those that this service knows',
      {
        hint: 'Send the header Authorization: Bearer TOKEN with a token of API_TOKENS',
        headers: { 'WWW-Authenticate': given === undefined ? 'Bearer realm="quadmill"' : 'Bearer realm="quadmill", error="invalid_token"' },
      },
    );
  }
  if (ROLES.indexOf(found.role) < ROLES.indexOf(role)) {
    throw new RequestFault('request/forbidden', `This needs the role ${role}; the token ${found.name} has the role ${found.role}`);
  }
  return found.name;
}

function refuseCrossSiteRequests(headers: RequestHeaders): void {
  const name = hostName(String(headers.host ?? ''));
  const hint = 'Set API_TOKENS, and send one, to use the service from elsewhere';
  if (name !== '' && !isLoopback(name)) {
    throw new RequestFault('request/forbidden', `Without tokens the service answers as localhost only, not as ${name}`, { hint });
  }
  const site = headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site') {
    throw new RequestFault('request/forbidden', 'Without tokens the service does not answer to the pages of other sites', { hint });
  }
}

const hostName = (host: string): string => host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');

/** `localhost` and names below it, 127.0.0.0/8, ::1. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^::ffff:/, '');
  return name === 'localhost' || name.endsWith('.localhost') || /^127(\.\d{1,3}){3}$/.test(name) || name === '::1';
}

const isRole = (text: string | undefined): text is Role => (ROLES as readonly (string | undefined)[]).includes(text);

const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
