/** Bearer tokens of API_TOKENS, each with one of three roles. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Fault } from '../../src/core/fault.ts';
import type { Secret } from '../../src/core/secret.ts';
import { ROLES, type Role } from '../route.ts';

/** Who has sent a request. */
export interface Caller {
  /** Shown in the log. */
  readonly name: string;
  /** undefined: none, as the claims of a token may say. */
  readonly role: Role | undefined;
}

/** Whose token it is, or why it is not valid, in words without the token. */
export type Verdict = { readonly caller: Caller } | { readonly invalid: string };

export interface Token extends Caller {
  /** SHA-256 of the secret: all have the same length, so comparing them reveals nothing. */
  readonly digest: Buffer;
}

/**
 * Parses entries `name:role:token` (or `role:token`, named after the role and its position).
 *
 * @throws Fault config/invalid — an entry of another form, a duplicate name; the message never contains the token
 */
export function parseTokens(entries: readonly Secret[]): readonly Token[] {
  const tokens = entries.map((entry, i) => {
    const parts = entry.reveal().split(':');
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

/** The token with this secret. All are compared, in constant time. */
export function findToken(tokens: readonly Token[], secret: string): Token | undefined {
  const digest = digestOf(secret);
  let found: Token | undefined;
  for (const token of tokens) if (timingSafeEqual(token.digest, digest)) found = token;
  return found;
}

export const isRole = (text: string | undefined): text is Role => (ROLES as readonly (string | undefined)[]).includes(text);

const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
