/** Logins for servers that inputs are read from: from options, never from a mapping. */
import { Fault } from '../core/fault.ts';

/** A header for all addresses of a server whose path begins with `path`. Plain data, and secret. */
export interface SourceLogin {
  readonly origin: string;
  /** Ends with `/`, unless it is that of a single resource. */
  readonly path: string;
  readonly header: readonly [name: string, value: string];
}

/** How inputs are read over HTTP. */
export interface WebAccess {
  readonly logins: readonly SourceLogin[];
  /** Until an answer begins, and between two parts of it; 0: no limit. */
  readonly answerSeconds: number;
}

/** How an entry is written, for messages. A comma would end it: `%2C` in a password. */
export const LOGIN_FORM = '`https://user:password@host/path` or `https://host/path Header-Name: value`, with `%2C` for a comma';

/** Whether a text is an entry that `readLogins` takes. */
export const isLogin = (entry: string): boolean => parseLogin(entry) !== undefined;

/** @throws Fault config/invalid — an entry that is no login; it is not quoted */
export function readLogins(entries: readonly string[]): readonly SourceLogin[] {
  return entries.map((entry, i) => {
    const login = parseLogin(entry);
    if (login !== undefined) return login;
    throw new Fault('config/invalid', `Entry ${i + 1} of SOURCE_LOGINS is not a login: expected ${LOGIN_FORM}`);
  });
}

const HEADER = /^(\S+)\s+([!#$%&'*+.^_`|~\w-]+)\s*:\s*([\x20-\x7e]+)$/;

function parseLogin(entry: string): SourceLogin | undefined {
  const [, address = entry, name, value] = HEADER.exec(entry.trim()) ?? [];
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return undefined;
  const { origin, pathname, username, password, search, hash } = new URL(address);
  const hasLogin = username !== '' || password !== '';
  if (search !== '' || hash !== '' || hasLogin === (name !== undefined)) return undefined;
  if (name !== undefined) return { origin, path: pathname, header: [name.toLowerCase(), (value as string).trim().replaceAll('%2C', ',')] };
  try {
    return { origin, path: pathname, header: ['authorization', basic(decodeURIComponent(username), decodeURIComponent(password))] };
  } catch {
    return undefined;
  }
}

export const basic = (user: string, password: string): string => `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;

/** The headers for an address: those of the longest path of its server that it lies under, by name. */
export function loginFor({ origin, pathname }: URL, logins: readonly SourceLogin[]): Readonly<Record<string, string>> {
  const fitting = logins.filter((login) => login.origin === origin && liesUnder(pathname, login.path));
  fitting.sort((a, b) => a.path.length - b.path.length);
  return Object.fromEntries(fitting.map(({ header }) => header));
}

const liesUnder = (pathname: string, path: string): boolean =>
  pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
