/** Who may ask what: tokens and roles, limits of requests, and without tokens only requests from this machine. */
import type { IncomingMessage } from 'node:http';
import type { Snapshot } from '../../src/config/options/options.ts';
import { Fault } from '../../src/core/fault.ts';
import { isLoopback } from '../../src/core/reach/loopback.ts';
import { METRICS } from '../../src/core/telemetry/observe.ts';
import { RequestFault } from '../problem.ts';
import { ROLES, type Role } from '../route.ts';
import { type RequestHeaders, refuseCrossSite } from './cross-site.ts';
import { addressReader, Buckets } from './limits.ts';
import { type OidcOptions, oidcVerifier } from './oidc.ts';
import { type Caller, findToken, parseTokens, type Verdict } from './tokens.ts';

export interface Guard {
  /**
   * Finds out who asks, and counts the request.
   *
   * @param request its header `authorization` may be replaced by `authorization`
   * @throws Fault request/too-many — of the caller, or of wrong tokens from its address; request/forbidden — a page of another site, or
   *   without tokens another name than localhost; service/unavailable — the issuer of the token is away
   */
  admit(
    request: Pick<IncomingMessage, 'headers' | 'socket'>,
    asked: { readonly changes: boolean; readonly works?: boolean; readonly authorization?: string },
  ): Promise<Access>;
}

export interface Access {
  /**
   * The name of the caller, if it has the role.
   *
   * @throws Fault request/unauthorized — no valid token; request/forbidden — the role of the caller is insufficient
   */
  require(role: Role): string;
}

type GuardOptions = OidcOptions & Pick<Snapshot, 'API_TOKENS' | 'HOST' | 'ALLOW_ANONYMOUS' | 'TRUSTED_PROXIES'>;
type Limits = Pick<Snapshot, 'REQUESTS_PER_MINUTE' | 'WRONG_TOKENS_PER_MINUTE'>;

const ANONYMOUS: Access = { require: () => 'anonymous' };
/** Callers whose tokens were right, with their addresses, that are remembered. */
const MOST_KNOWN = 10_000;

/**
 * The guard of a server with these options. `limits` gives the present ones.
 *
 * Without tokens, only requests from this machine are served, and not those under a `Host` that is not this machine's (DNS rebinding). With
 * ALLOW_ANONYMOUS everybody is served.
 *
 * @throws Fault config/invalid — not a loopback address, without tokens and without ALLOW_ANONYMOUS; wrong entries of lists
 */
export function makeGuard(options: GuardOptions, limits: () => Limits): Guard {
  const tokens = parseTokens(options.API_TOKENS);
  const issuer = oidcVerifier(options);
  const addressOf = addressReader(options.TRUSTED_PROXIES);
  const requests = new Buckets();
  const failures = new Buckets();
  const known = new Set<string>();

  const countRequest = (key: string): void => {
    const seconds = requests.take(key, limits().REQUESTS_PER_MINUTE);
    if (seconds > 0) throw tooMany('rate', 'You send more requests than REQUESTS_PER_MINUTE allows', seconds);
  };
  const hasTokens = tokens.length > 0 || issuer !== undefined;
  if (!hasTokens && !options.ALLOW_ANONYMOUS && !isLoopback(options.HOST)) throw noTokens(options.HOST);

  if (!hasTokens) {
    return {
      async admit({ headers, socket }, { changes, works = changes }) {
        if (!options.ALLOW_ANONYMOUS) refuseOtherNames(headers);
        refuseCrossSite(headers, { changes, works, tokens: false });
        // Programs of this machine are not each other's enemies.
        if (!isLoopback(options.HOST)) countRequest(addressOf(socket.remoteAddress, forwardedFor(headers)));
        return ANONYMOUS;
      },
    };
  }

  const verify = async (given: string): Promise<Verdict> => {
    const token = findToken(tokens, given);
    if (token !== undefined) return { caller: token };
    return issuer === undefined ? { invalid: 'this service does not know it' } : issuer.verify(given);
  };

  return {
    async admit({ headers, socket }, { changes, authorization = headers.authorization }) {
      refuseCrossSite(headers, { changes, tokens: true });
      const address = addressOf(socket.remoteAddress, forwardedFor(headers));
      const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
      if (given === undefined) {
        countRequest(address);
        return refused('The request has no bearer token', 'Bearer realm="quadmill"');
      }
      const { WRONG_TOKENS_PER_MINUTE } = limits();
      const verdict = await verify(given);
      const caller = 'caller' in verdict ? verdict.caller : undefined;
      const seconds = failures.wait(address, WRONG_TOKENS_PER_MINUTE);
      // Callers that have shown their token before are not slowed down by one that guesses tokens behind the same address.
      if (seconds > 0 && (caller === undefined || !known.has(`${address} ${caller.name}`))) {
        throw tooMany('locked', 'Too many wrong tokens came from your address (WRONG_TOKENS_PER_MINUTE)', seconds);
      }
      if ('invalid' in verdict) {
        failures.take(address, WRONG_TOKENS_PER_MINUTE);
        METRICS.requestsRefused.inc({ reason: 'token' });
        countRequest(address);
        return refused(`The bearer token is not valid: ${verdict.invalid}`, 'Bearer realm="quadmill", error="invalid_token"');
      }
      const { name } = verdict.caller;
      remember(known, `${address} ${name}`);
      countRequest(`token ${name}`);
      return accessOf(verdict.caller);
    },
  };
}

function remember(known: Set<string>, key: string): void {
  known.delete(key);
  known.add(key);
  if (known.size > MOST_KNOWN) known.delete(known.values().next().value as string);
}

const forwardedFor = (headers: RequestHeaders): string | undefined => headers['x-forwarded-for']?.toString();

const accessOf = ({ name, role: has }: Caller): Access => ({
  require(role) {
    if (has === undefined) {
      throw new RequestFault('request/forbidden', `This needs the role ${role}; the token of ${name} has none`, {
        hint: 'OIDC_ROLE_CLAIM names the claim, and OIDC_ROLES the values of it that give a role',
      });
    }
    if (ROLES.indexOf(has) >= ROLES.indexOf(role)) return name;
    throw new RequestFault('request/forbidden', `This needs the role ${role}; the token ${name} has the role ${has}`);
  },
});

const refused = (message: string, challenge: string): Access => ({
  require() {
    throw new RequestFault('request/unauthorized', message, {
      hint: 'Send the header Authorization: Bearer TOKEN with a token of API_TOKENS, or of OIDC_ISSUER where that is set',
      headers: { 'WWW-Authenticate': challenge },
    });
  },
});

function tooMany(reason: 'rate' | 'locked', message: string, seconds: number): Fault {
  METRICS.requestsRefused.inc({ reason });
  return new RequestFault('request/too-many', message, {
    hint: `Wait for ${seconds} s, as the header Retry-After says`,
    headers: { 'Retry-After': String(seconds) },
  });
}

const noTokens = (host: string): Fault =>
  new Fault('config/invalid', `Quadmill does not listen on ${host} without tokens: everybody who reaches it could read and write files`, {
    hint: 'Set API_TOKENS=name:role:token,… or OIDC_ISSUER, or, where something else guards it, ALLOW_ANONYMOUS=true',
  });

function refuseOtherNames(headers: RequestHeaders): void {
  const name = hostName(String(headers.host ?? ''));
  if (name === '' || isLoopback(name)) return;
  throw new RequestFault('request/forbidden', `Without tokens the service answers as localhost only, not as ${name}`, {
    hint: 'Set API_TOKENS, and send one, to use the service from elsewhere',
  });
}

const hostName = (host: string): string => host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
