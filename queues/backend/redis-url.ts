/** Redis as `QUEUE_URL` names it: one server, a master that sentinels watch, or a cluster. */
import { Fault } from '../../src/core/fault.ts';
import type { TlsTexts } from '../tls.ts';

export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

interface Login {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** Where the servers are, and the login there. */
export type RedisServers =
  | { readonly kind: 'server'; readonly secure: boolean; readonly url: string }
  | (Login & { readonly kind: 'cluster'; readonly secure: boolean; readonly hosts: readonly RedisHost[] })
  | (Login & {
      readonly kind: 'sentinel';
      readonly secure: boolean;
      /** The sentinels; the login is that of the master. */
      readonly hosts: readonly RedisHost[];
      readonly master: string;
      readonly database: number;
    });

/** What URLs do not say of the servers. */
export interface RedisSecurity {
  /** Where the URL says TLS. */
  readonly tls?: TlsTexts;
  /** The login at the sentinels. */
  readonly sentinelUsername?: string | undefined;
  readonly sentinelPassword?: string | undefined;
}

/** Address of servers, or a local socket. */
export type RedisAddress = (RedisServers & RedisSecurity) | { readonly kind: 'socket'; readonly socket: string };

export const isRedisUrl = (url: string): boolean => /^rediss?(?:\+(?:sentinel|cluster))?:/.test(url);

/** The first server that the URL names. */
export function firstHostOf(servers: RedisServers): RedisHost {
  if (servers.kind !== 'server') return servers.hosts[0] as RedisHost;
  const { hostname, port } = new URL(servers.url);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1') || 'localhost', port: Number(port || PORT) };
}

const PORT = 6_379;
const SENTINEL_PORT = 26_379;
/** What follows `redis+sentinel://` or `redis+cluster://`. */
const PARTS = /^(rediss?)\+(sentinel|cluster):\/\/(?:([^@/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(.*)$/s;
const HOST = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i;

/**
 * `redis://` and `rediss://` URLs of one server are left to the client library. Beside them:
 * `redis+sentinel://[user:password@]host[:26379],…/master[/database]` and `redis+cluster://[user:password@]host[:6379],…`; with `rediss+` by TLS.
 *
 * @throws Fault config/invalid — without the login
 */
export function parseRedisUrl(url: string): RedisServers {
  if (hasTornLogin(url))
    throw new Fault('config/invalid', 'QUEUE_URL has a login with characters that end it too early', {
      hint: 'Write it as redis://user:password@host, and in the password / as %2F, ? as %3F, # as %23 and @ as %40',
    });
  const parts = PARTS.exec(url);
  if (parts === null) return { kind: 'server', secure: url.startsWith('rediss:'), url };
  const [, scheme, kind, login, hosts = '', path = '', rest] = parts;
  const example = kind === 'sentinel' ? `${scheme}+sentinel://host:26379,other:26379/mymaster` : `${scheme}+cluster://host:6379,other:6379`;
  const refuse = (why: string): never => {
    throw new Fault('config/invalid', `QUEUE_URL ${why}`, { hint: `Write it as ${example}` });
  };
  if (rest !== '') refuse(`has '${rest}' at its end, which ${scheme}+${kind} URLs do not know`);
  const common = {
    secure: scheme === 'rediss',
    hosts: hosts.split(',').map((text) => hostOf(text, kind === 'sentinel' ? SENTINEL_PORT : PORT) ?? refuse(`names the host '${text}'`)),
    ...loginOf(login, refuse),
  };
  if (kind === 'cluster') {
    if (path !== '' && path !== '0') refuse(`names the database '${path}', and a cluster has the database 0 alone`);
    return { kind, ...common };
  }
  const [name = '', database = '0', ...more] = path.split('/');
  const master = decoded(name) ?? refuse('has a % in the name of the master that stands for no character');
  if (master === '') refuse('does not name the master that the sentinels watch');
  if (more.length > 0 || !/^\d{1,5}$/.test(database)) refuse(`names the database '${[database, ...more].join('/')}', which is no number`);
  return { kind: 'sentinel', ...common, master, database: Number(database) };
}

/**
 * Whether a part of a password may stand where a host, a database or a name is expected, and so be shown: there is an `@` that does not end
 * the login.
 */
function hasTornLogin(url: string): boolean {
  const [, authority = '', path = '', query = '', fragment = ''] = /^[^:]*:\/\/([^/?#]*)([^?#]*)(\?[^#]*)?(.*)$/s.exec(url) ?? [];
  // A parameter may have one in its value.
  return authority.split('@').length > 2 || `${path}${fragment}${/^\?[\w-]+=/.test(query) ? '' : query}`.includes('@');
}

function hostOf(text: string, defaultPort: number): RedisHost | undefined {
  const [, v6, name, port] = HOST.exec(text.trim()) ?? [];
  const host = v6 ?? name;
  const number = port === undefined ? defaultPort : Number(port);
  return host === undefined || number < 1 || number > 65_535 ? undefined : { host, port: number };
}

function loginOf(text: string | undefined, refuse: (why: string) => never): Login {
  if (text === undefined || text === '') return {};
  const at = text.indexOf(':');
  const part = (given: string): string | undefined =>
    given === '' ? undefined : (decoded(given) ?? refuse('has a % in its login that stands for no character; write %25'));
  return { username: part(at < 0 ? text : text.slice(0, at)), password: at < 0 ? undefined : part(text.slice(at + 1)) };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
