/** HTTP authentication of the writer. */

import { createHash, randomBytes } from 'node:crypto';
import type { Secret } from '../../core/secret.ts';

export interface Login {
  /** The header `Authorization` of a request; undefined: none. */
  header(method: string, path: string): string | undefined;
  /** Whether a header can be created only after a challenge of the store. */
  wantsChallenge(): boolean;
  /** Processes `WWW-Authenticate`. True: retry the request with a new header. */
  challenged(challenge: string | undefined): boolean;
}

export interface Credentials {
  readonly username: string;
  readonly password: Secret;
}

const ANONYMOUS: Login = { header: () => undefined, wantsChallenge: () => false, challenged: () => false };

export function login(kind: 'basic' | 'digest' | 'none', credentials: Credentials | undefined): Login {
  if (credentials === undefined || kind === 'none') return ANONYMOUS;
  return kind === 'basic' ? basic(credentials) : digest(credentials);
}

/** Sent preemptively: a store that answers 401 has already read the body in vain. @see RFC 7617 */
function basic({ username, password }: Credentials): Login {
  const header = `Basic ${Buffer.from(`${username}:${password.reveal()}`, 'utf8').toString('base64')}`;
  return { header: () => header, wantsChallenge: () => false, challenged: () => false };
}

interface Challenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly algorithm: 'MD5' | 'SHA-256';
  readonly named: boolean;
  readonly qop: boolean;
}

/** @see RFC 7616; no product in the table needs `auth-int` or sessions */
function digest({ username, password }: Credentials): Login {
  let challenge: Challenge | undefined;
  let count = 0;
  return {
    header(method, path) {
      if (challenge === undefined) return undefined;
      const { realm, nonce, opaque, algorithm, named, qop } = challenge;
      const hash = (text: string): string =>
        createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
          .update(text)
          .digest('hex');
      count++;
      const nc = count.toString(16).padStart(8, '0');
      const cnonce = randomBytes(12).toString('hex');
      const [who, what] = [hash(`${username}:${realm}:${password.reveal()}`), hash(`${method}:${path}`)];
      const response = hash(qop ? `${who}:${nonce}:${nc}:${cnonce}:auth:${what}` : `${who}:${nonce}:${what}`);
      const quoted = { username, realm, nonce, uri: path, response, ...(opaque === undefined ? {} : { opaque }) };
      const words = Object.entries(quoted).map(([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`);
      if (named) words.push(`algorithm=${algorithm}`);
      if (qop) words.push('qop=auth', `nc=${nc}`, `cnonce="${cnonce}"`);
      return `Digest ${words.join(', ')}`;
    },
    wantsChallenge: () => challenge === undefined,
    challenged(text) {
      const next = readChallenge(text);
      // The same challenge again, unless it is stale, means that the login is wrong.
      const repeated = challenge !== undefined && !/\bstale\s*=\s*"?true/i.test(text ?? '') && next?.nonce === challenge.nonce;
      if (next === undefined || repeated) return false;
      challenge = next;
      count = 0;
      return true;
    },
  };
}

function readChallenge(text: string | undefined): Challenge | undefined {
  const words = /\bdigest\s+(.*)/is.exec(text ?? '')?.[1];
  if (words === undefined) return undefined;
  const word = (name: string): string | undefined => {
    const found = new RegExp(`\\b${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s,]+))`, 'i').exec(words);
    return found === null ? undefined : (found[1]?.replace(/\\(.)/g, '$1') ?? found[2]);
  };
  const [realm, nonce, algorithm] = [word('realm'), word('nonce'), word('algorithm')?.toUpperCase()];
  if (realm === undefined || nonce === undefined) return undefined;
  if (algorithm !== undefined && algorithm !== 'MD5' && algorithm !== 'SHA-256') return undefined;
  const qop = word('qop')
    ?.toLowerCase()
    .split(/\s*,\s*/);
  if (qop !== undefined && !qop.includes('auth')) return undefined;
  return { realm, nonce, opaque: word('opaque'), algorithm: algorithm ?? 'MD5', named: algorithm !== undefined, qop: qop !== undefined };
}
