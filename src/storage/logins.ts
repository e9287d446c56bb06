/** Logins for servers that inputs are read from: from options, never from a mapping. */

import { Fault } from '../core/fault.ts';
import { Secret } from '../core/secret.ts';
import type { S3Access } from './s3-access.ts';

/** What is sent to all addresses of a server whose path begins with `path`. Plain data, and secret. */
export interface SourceLogin {
  readonly origin: string;
  /** Ends with `/`, unless it is that of a single resource. */
  readonly path: string;
  readonly sends: Sends;
}

type Sends =
  | { readonly kind: 'header'; readonly name: string; readonly value: Secret }
  /** A parameter of the query of the address. */
  | { readonly kind: 'parameter'; readonly name: string; readonly value: Secret }
  /** A token, in the header `authorization`. */
  | { readonly kind: 'token'; readonly grant: ClientCredentials };

/** How a token is asked for. @see https://www.rfc-editor.org/rfc/rfc6749#section-4.4 */
export interface ClientCredentials {
  /** The token endpoint, without login and query. */
  readonly endpoint: string;
  readonly id: string;
  readonly secret: Secret;
  /** Whether id and secret stand in the form; otherwise in the header `authorization`, as every server must accept. */
  readonly inForm: boolean;
  /** Further fields of the form: `scope`, `audience`, … */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** How inputs are read from servers. */
export interface WebAccess {
  readonly logins: readonly SourceLogin[];
  /** Until an answer begins, and between two parts of it; 0: no limit. */
  readonly answerSeconds: number;
  /** How often a request is repeated after a transient fault. */
  readonly retries: number;
  /** The longest time that a server may ask to wait before a request is repeated. */
  readonly waitSeconds: number;
  /** Pages of one source; 0: no limit. */
  readonly pages: number;
  /** undefined: answers are not kept. */
  readonly cache?: WebCache | undefined;
  /** Object storage. */
  readonly s3: S3Access;
}

/** Where answers are kept for conditional requests. */
export interface WebCache {
  /** Holds nothing else. Created when it is first needed. */
  readonly directory: string;
  /** Of all answers together. */
  readonly bytes: number;
}

/** How an entry is written, for messages. A comma would end it: `%2C` in a password. */
export const LOGIN_FORM =
  '`https://user:password@host/path`, `https://host/path Header-Name: value`, `https://host/path ?parameter=value` or `https://host/path OAuth2 https://id:secret@host/token?scope=…`, with `%2C` for a comma';

/** Whether a text is an entry that `readLogins` takes. */
export const isLogin = (entry: string): boolean => parseLogin(entry) !== undefined;

/** @throws Fault config/invalid — an entry that is no login; it is not quoted */
export function readLogins(entries: readonly Secret[]): readonly SourceLogin[] {
  return entries.map((entry, i) => {
    const login = parseLogin(entry.reveal());
    if (login !== undefined) return login;
    throw new Fault('config/invalid', `Entry ${i + 1} of SOURCE_LOGINS is not a login: expected ${LOGIN_FORM}`);
  });
}

const HEADER = /^([!#$%&'*+.^_`|~\w-]+)\s*:\s*([\x20-\x7e]+)$/;
const PARAMETER = /^\?([^=&#\s]+)=([^&#\s]+)$/;
const OAUTH = /^OAuth2(-Form)?\s+(\S+)$/i;

function parseLogin(entry: string): SourceLogin | undefined {
  const [, address = '', rest] = /^(\S+)(?:\s+(.*))?$/s.exec(entry.trim()) ?? [];
  const url = webUrl(address);
  if (url === undefined || url.search !== '' || url.hash !== '' || hasLogin(url) === (rest !== undefined)) return undefined;
  const sends = readable(() => (rest === undefined ? basicOf(url) : sendsOf(rest)));
  return sends === undefined ? undefined : { origin: url.origin, path: url.pathname, sends };
}

function sendsOf(text: string): Sends | undefined {
  const [, form, endpoint] = OAUTH.exec(text) ?? [];
  if (endpoint !== undefined) return tokenOf(endpoint, form !== undefined);
  const [, parameter, secret] = PARAMETER.exec(text) ?? [];
  if (parameter !== undefined && secret !== undefined)
    return { kind: 'parameter', name: decodeURIComponent(parameter), value: new Secret(decodeURIComponent(secret)) };
  const [, name, value] = HEADER.exec(text) ?? [];
  if (name === undefined || value === undefined) return undefined;
  return { kind: 'header', name: name.toLowerCase(), value: new Secret(value.trim().replaceAll('%2C', ',')) };
}

function tokenOf(address: string, inForm: boolean): Sends | undefined {
  const url = webUrl(address);
  if (url === undefined || url.hash !== '' || url.username === '' || url.password === '') return undefined;
  const [id, secret] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  const grant = { endpoint: `${url.origin}${url.pathname}`, id, secret: new Secret(secret), inForm, fields: [...url.searchParams] };
  return { kind: 'token', grant };
}

const basicOf = ({ username, password }: URL): Sends => ({
  kind: 'header',
  name: 'authorization',
  value: new Secret(basic(decodeURIComponent(username), decodeURIComponent(password))),
});

const webUrl = (text: string): URL | undefined => (/^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined);

const hasLogin = ({ username, password }: URL): boolean => username !== '' || password !== '';

/** undefined for percent-encodings that are none. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

export const basic = (user: string, password: string): string => `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;

/** Identifies a grant with its secret, in memory. */
export const grantKey = (grant: ClientCredentials): string => JSON.stringify({ ...grant, secret: grant.secret.reveal() });

/** What is sent to an address. */
export interface Login {
  readonly headers: Readonly<Record<string, string>>;
  readonly parameters: readonly (readonly [name: string, value: string])[];
  /** Takes the place of a header `authorization`. */
  readonly grant: ClientCredentials | undefined;
}

/** The login for an address: of the entries that it lies under, the longest path comes first for each header and parameter. */
export function loginFor(address: URL, logins: readonly SourceLogin[]): Login {
  const paths = readingsOf(address);
  const fitting = logins.filter(({ origin, path }) => origin === address.origin && paths.every((one) => liesUnder(one, path)));
  fitting.sort((a, b) => a.path.length - b.path.length);
  const headers = new Map<string, string>();
  const parameters = new Map<string, string>();
  let grant: ClientCredentials | undefined;
  for (const { sends } of fitting) {
    if (sends.kind === 'parameter') parameters.set(sends.name, sends.value.reveal());
    else if (sends.kind === 'header') headers.set(sends.name, sends.value.reveal());
    if (sends.kind === 'token') grant = sends.grant;
    else if (sends.kind === 'header' && sends.name === 'authorization') grant = undefined;
  }
  return { headers: Object.fromEntries(headers), parameters: [...parameters], grant };
}

/** Decoded as often as servers and proxies on the way may do it. */
const MOST_DECODINGS = 3;

/**
 * The path as it is written, and as it is where encoded slashes, backslashes and dots are taken for steps: `/own/..%2Fother` is `/other` for some
 * servers.
 */
function readingsOf({ origin, pathname }: URL): readonly string[] {
  const readings = [pathname];
  for (let path = pathname; readings.length <= MOST_DECODINGS; ) {
    const decoded = path.replace(/%(25|2e|2f|5c)/gi, (escape) => decodeURIComponent(escape));
    if (decoded === path) break;
    path = decoded;
    // Two slashes at the beginning would name a host.
    readings.push(new URL(`${origin}/.${path.replaceAll('\\', '/')}`).pathname);
  }
  return readings;
}

const liesUnder = (pathname: string, path: string): boolean =>
  pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
