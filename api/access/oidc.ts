/**
 * Bearer tokens of an issuer of OpenID Connect: signed JWTs whose claims say who asks, and with which role.
 *
 * @see https://openid.net/specs/openid-connect-discovery-1_0.html, RFC 9068 and RFC 8725
 */
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import type { Snapshot } from '../../src/config/options/options.ts';
import { withLimit } from '../../src/core/abort.ts';
import { excerpt, Fault } from '../../src/core/fault.ts';
import { isLoopback } from '../../src/core/reach/loopback.ts';
import { RequestFault } from '../problem.ts';
import { ROLES, type Role } from '../route.ts';
import { isRole, type Verdict } from './tokens.ts';

export type OidcOptions = Pick<Snapshot, 'OIDC_ISSUER' | 'OIDC_AUDIENCE' | 'OIDC_ROLE_CLAIM' | 'OIDC_ROLES' | 'OIDC_CLOCK_SECONDS'>;

export interface OidcVerifier {
  /**
   * @throws RequestFault service/unavailable — the issuer does not answer, so that nothing can be said
   */
  verify(token: string): Promise<Verdict>;
}

/** How often the issuer is asked. For tests, others. */
export interface OidcTimes {
  /** Between two requests for keys, also for a key that is not among them. */
  readonly cooldownMs: number;
  /** How long keys are used. */
  readonly keysMs: number;
  /** How long the issuer may take to answer. */
  readonly answerMs: number;
  /** After a failed discovery. */
  readonly retryMs: number;
}

const TIMES: OidcTimes = { cooldownMs: 30_000, keysMs: 600_000, answerMs: 5_000, retryMs: 5_000 };
/** Signatures alone, by private keys of the issuer: neither `none` nor HMAC, for which a public key would be the secret. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
const MAX_TOKEN_CHARACTERS = 16_384;
const DOCUMENT_BYTES = 256 * 1024;

/** @throws Fault config/invalid — options that contradict each other; an issuer without TLS that is not on this machine */
export function oidcVerifier(options: OidcOptions, times: OidcTimes = TIMES): OidcVerifier | undefined {
  const { OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience, OIDC_ROLE_CLAIM: claim, OIDC_CLOCK_SECONDS: clockTolerance } = options;
  if (issuer === undefined) {
    if (audience === undefined) return undefined;
    throw new Fault('config/invalid', 'OIDC_AUDIENCE is set, but OIDC_ISSUER is not', { hint: 'Set OIDC_ISSUER to the URL of the issuer' });
  }
  if (audience === undefined) {
    throw new Fault('config/invalid', 'OIDC_ISSUER is set, but OIDC_AUDIENCE is not: tokens for other services would be taken', {
      hint: 'Set OIDC_AUDIENCE to what `aud` is in tokens for this service',
    });
  }
  assertSafe(issuer, 'OIDC_ISSUER');
  const roles = new Map(options.OIDC_ROLES.map(readRole));
  const keys = keySource(issuer, times);

  return {
    async verify(token) {
      if (token.length > MAX_TOKEN_CHARACTERS || !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token))
        return { invalid: 'this service does not know it' };
      const keySet = await keys();
      try {
        const { payload } = await jwtVerify(token, keySet, {
          issuer,
          audience,
          algorithms: ALGORITHMS,
          clockTolerance,
          requiredClaims: ['exp', 'sub'],
        });
        return { caller: { name: `oidc:${subjectOf(payload)}`, role: roleOf(payload, claim, roles) } };
      } catch (error) {
        const invalid = reasonOf(error);
        if (invalid === undefined) throw away(issuer, error);
        return { invalid };
      }
    },
  };
}

function readRole(entry: string): readonly [value: string, role: Role] {
  const at = entry.lastIndexOf('=');
  const role = entry.slice(at + 1);
  if (at < 1 || !isRole(role)) throw new Fault('config/invalid', `The entry ${excerpt(entry)} of OIDC_ROLES is not value=role`);
  return [entry.slice(0, at), role];
}

/** The highest role that the values of the claim give. The claim is a list, or text with spaces; its name may be a path, `realm_access.roles`. */
function roleOf(payload: JWTPayload, claim: string, roles: ReadonlyMap<string, Role>): Role | undefined {
  let value: unknown = Object.hasOwn(payload, claim) ? payload[claim] : payload;
  if (value === payload) {
    for (const step of claim.split('.')) {
      const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, step);
      value = isThere ? (value as Readonly<Record<string, unknown>>)[step] : undefined;
    }
  }
  const values = Array.isArray(value) ? value : typeof value === 'string' ? [value, ...value.split(' ')] : [];
  const found = values.flatMap((one) => (typeof one === 'string' ? [roles.get(one)] : []));
  return ROLES.findLast((role) => found.includes(role));
}

/** For logs: printable, and not long. */
const subjectOf = ({ sub = '' }: JWTPayload): string => (/^[\x21-\x7e]{1,128}$/.test(sub) ? sub : excerpt(sub, 128));

/** undefined: it is not about the token. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof errors.JWTExpired) return 'it has expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim, reason } = error;
    if (claim === 'nbf' && reason === 'check_failed') return 'it is not valid yet';
    return `its claim ${claim} is ${reason === 'missing' ? 'missing' : 'not the expected one'}`;
  }
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) return 'the issuer has no such key';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong';
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported) return 'its algorithm is not accepted';
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return 'it is not well-formed';
  return undefined;
}

const away = (issuer: string, cause: unknown): Fault =>
  new RequestFault('service/unavailable', `The token cannot be checked: the issuer ${issuer} does not give its keys`, {
    hint: 'Try again in a moment; tokens of API_TOKENS are not affected',
    cause,
  });

type KeySet = ReturnType<typeof createRemoteJWKSet>;

/** The keys of the issuer, found when the first token comes: an issuer that is away does not keep the service from starting. */
function keySource(issuer: string, { cooldownMs, keysMs, answerMs, retryMs }: OidcTimes): () => Promise<KeySet> {
  let found: Promise<KeySet> | undefined;
  let failed: { readonly at: number; readonly fault: Fault } | undefined;
  const discover = async (): Promise<KeySet> => {
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const { issuer: named, jwks_uri: address } = await withLimit(answerMs, async (signal) => {
      const response = await fetch(url, { signal, headers: { accept: 'application/json' }, redirect: 'error' });
      if (!response.ok) throw new Error(`${url} answered ${response.status}`);
      return JSON.parse(await textOf(response)) as { readonly issuer?: unknown; readonly jwks_uri?: unknown };
    });
    if (named !== issuer) throw new Error(`${url} is of the issuer ${excerpt(String(named))}`);
    if (typeof address !== 'string' || !URL.canParse(address)) throw new Error(`${url} names no keys`);
    assertSafe(address, 'jwks_uri');
    return createRemoteJWKSet(new URL(address), { cooldownDuration: cooldownMs, cacheMaxAge: keysMs, timeoutDuration: answerMs });
  };
  return async () => {
    if (failed !== undefined && performance.now() - failed.at < retryMs) throw failed.fault;
    found ??= discover();
    try {
      return await found;
    } catch (error) {
      found = undefined;
      failed = { at: performance.now(), fault: away(issuer, error) };
      throw failed.fault;
    }
  };
}

async function textOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > DOCUMENT_BYTES) throw new Error('the document of the issuer is too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** @throws Fault config/invalid — keys that come without TLS from another machine could be anybody's */
function assertSafe(address: string, name: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[(.*)\]$/, '$1')))) return;
  throw new Fault('config/invalid', `${name} is no URL with https: ${excerpt(address)}`, {
    hint: 'Only an issuer on this machine may use http',
  });
}
