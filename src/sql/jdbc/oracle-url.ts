/**
 * JDBC URLs of Oracle's thin driver: `jdbc:oracle:thin:@//host:port/service`, `@host:port:sid`, `@tcps://host:port/service?name=value`,
 * `@host:port/service:server/instance`, `@(DESCRIPTION=…)`, also with `user/password` before the `@`.
 *
 * @see https://docs.oracle.com/en/database/oracle/oracle-database/23/jjdbc/data-sources-and-URLs.html
 */
import type { Malformed, OwnLocation } from './location.ts';
import { readDescription } from './oracle-description.ts';
import { ORACLE_WORD } from './parameters.ts';

const PORT = 1521;

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
  if (place.startsWith('(')) return checked({ ...named, ...readDescription(place, malformed) }, malformed);
  const [, protocol, address = '', query = ''] = /^(?:(tcps?):)?(?:\/\/)?([^?]*)(?:\?([^]*))?$/i.exec(place) ?? [];
  const slash = address.indexOf('/');
  const [, written = address, sid] = slash === -1 ? (/^(.*?:\d+):([^:]+)$/.exec(address) ?? []) : [undefined, address.slice(0, slash)];
  const [, service, server, instance] = /^([^/:@]*)(?::(\w+))?(?:\/([^/:@]+))?$/.exec(slash === -1 ? '' : address.slice(slash + 1)) ?? [];
  if (/[,;]/.test(written)) throw malformed('it has several hosts, and one is connected to; write //host:port/service');
  const [, host, port] = /^\s*(\[[^\]]*\]|[^:/@[\]\s]+)(?::(\d+))?\s*$/.exec(written) ?? [];
  if (host === undefined || service === undefined)
    throw malformed(
      /^\w+:\/\//.test(place) ? 'directories (ldap:) are not asked; write the host' : 'it is not //host:port/service or host:port:sid',
    );
  if (slash === -1 && port === undefined)
    throw malformed(`${written} is an alias of tnsnames.ora, which is not read; write //host:port/service`);
  const parameters: (readonly [string, string])[] = protocol?.toLowerCase() === 'tcps' ? [['protocol', 'tcps']] : [];
  for (const part of query.split('&').filter((one) => one !== '')) {
    const equals = part.indexOf('=');
    parameters.push(equals === -1 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)]);
  }
  for (const [name, value] of Object.entries({ sid, server, instance_name: instance }))
    if (value !== undefined) parameters.push([name, value]);
  return checked({ ...named, host: { host, port }, database: (service || sid) ?? undefined, parameters }, malformed);
}

/** The name of the database becomes a part of a connect descriptor. */
function checked(location: OwnLocation, malformed: Malformed): OwnLocation {
  const { database } = location;
  if (database === undefined || database === '') return { ...location, database: undefined };
  if (!ORACLE_WORD.test(database)) throw malformed('its service or SID is not a name of letters, digits and _ $ # . -');
  return location;
}
