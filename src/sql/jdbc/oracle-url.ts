/**
 * JDBC URLs of Oracle's thin driver: `jdbc:oracle:thin:@//host:port/service`, `@host:port:sid`, `@tcps://host:port/service?name=value`,
 * `@(DESCRIPTION=…)`, also with `user/password` before the `@`.
 *
 * @see https://docs.oracle.com/en/database/oracle/oracle-database/23/jjdbc/data-sources-and-URLs.html
 */
import type { Malformed, OwnLocation } from './location.ts';

const PORT = 1521;

/** Keys of a description that name files of this machine, or that run something. */
const REFUSED_KEYS = /\(\s*(MY_WALLET_DIRECTORY|WALLET_LOCATION|TOKEN_LOCATION|IFILE|TOKEN_AUTH|PROGRAM)\s*=/i;

/** @param text what follows `jdbc:oracle:` */
export function readOracleUrl(text: string, malformed: Malformed): OwnLocation {
  const kind = /^([a-z0-9]+):/i.exec(text)?.[1]?.toLowerCase();
  if (kind !== 'thin')
    throw malformed(`only jdbc:oracle:thin: can be read here${kind === undefined ? '' : `, not ${kind}, which needs Oracle's client`}`);
  const at = text.startsWith('@', 5) ? 5 : text.indexOf('@', 5);
  if (at === -1) throw malformed('there is no @ before the host');
  const login = at === 5 ? undefined : /^(?:"([^"]+)"|([^"/]+))(?:\/(?:"([^"]*)"|([^"]*)))?$/.exec(text.slice(5, at));
  if (login === null) throw malformed('what stands before the @ is not user/password');
  const named = {
    ...(login === undefined ? {} : { login: { user: login[1] ?? login[2], password: login[3] ?? login[4] } }),
    usualPort: PORT,
  };
  const place = text.slice(at + 1).trim();
  if (place.startsWith('(')) return { ...named, ...readDescription(place, malformed) };
  const [, protocol, address = '', query = ''] = /^(?:(tcps?):)?(?:\/\/)?([^?]*)(?:\?([^]*))?$/i.exec(place) ?? [];
  const [, host, port, slash, service, , sid] =
    /^(\[[^\]]*\]|[^:/@[\]]+)(?::(\d+))?(?:(\/)([^/:@]*)(?::(dedicated|shared|pooled))?|:([\w$#.-]+))?$/i.exec(address) ?? [];
  if (host === undefined)
    throw malformed(
      /^\w+:\/\//.test(place) ? 'directories (ldap:) are not asked; write the host' : 'it is not //host:port/service or host:port:sid',
    );
  if (port === undefined && slash === undefined)
    throw malformed(`${host} is an alias of tnsnames.ora, which is not read; write //host:port/service`);
  const parameters: (readonly [string, string])[] = protocol?.toLowerCase() === 'tcps' ? [['protocol', 'tcps']] : [];
  for (const part of query.split('&').filter((one) => one !== '')) {
    const equals = part.indexOf('=');
    parameters.push(equals === -1 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)]);
  }
  if (sid !== undefined) parameters.push(['sid', sid]);
  return { ...named, host, port, database: (service ?? sid) || undefined, parameters };
}

/** A description as in tnsnames.ora. It goes to the driver as it is; its first address names the database in messages. */
function readDescription(text: string, malformed: Malformed): Omit<OwnLocation, 'login' | 'usualPort'> {
  let depth = 0;
  for (const [i, c] of [...text].entries()) {
    if (c === '(') depth++;
    if (c === ')' && --depth === 0 && i < [...text].length - 1) throw malformed('something follows its description');
  }
  if (depth !== 0 || !/^\(\s*DESCRIPTION/i.test(text)) throw malformed('its parentheses are not those of one (DESCRIPTION=…)');
  const refused = REFUSED_KEYS.exec(text)?.[1];
  if (refused !== undefined) throw malformed(`${refused.toUpperCase()} is not supported in a description`);
  const value = (key: string): string | undefined => new RegExp(`\\(\\s*${key}\\s*=\\s*([^()\\s]+)\\s*\\)`, 'i').exec(text)?.[1];
  const host = value('HOST');
  if (host === undefined) throw malformed('its description has no HOST');
  return { host, port: value('PORT'), database: value('SERVICE_NAME') ?? value('SID'), parameters: [['description', text]] };
}
