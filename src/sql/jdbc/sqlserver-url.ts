/**
 * JDBC URLs of SQL Server: `jdbc:sqlserver://host\instance:port;name=value;name={a value; with }} in it}`.
 *
 * @see https://learn.microsoft.com/en-us/sql/connect/jdbc/building-the-connection-url
 */
import type { Malformed, OwnLocation } from './location.ts';

const PORT = 1433;

/** Properties that name the place, with the part that each gives. */
const PLACE: Readonly<Record<string, string>> = {
  servername: 'host',
  server: 'host',
  portnumber: 'port',
  port: 'port',
  instancename: 'instance',
  databasename: 'database',
  database: 'database',
};

/** @param text what follows `jdbc:sqlserver:` */
export function readSqlServerUrl(text: string, malformed: Malformed): OwnLocation {
  const [, server = '', rest = ''] = /^\/\/([^;]*)(?:;([^]*))?$/.exec(text) ?? [];
  if (!text.startsWith('//')) throw malformed('there is no // behind jdbc:sqlserver:');
  const [, host = '', instance, port] = /^(\[[^\]]*\]|[^\\:[\]/?@]*)(?:\\([^:/]*))?(?::(\d*))?$/.exec(server) ?? [];
  if (host === '' && server !== '' && instance === undefined && port === undefined)
    throw malformed('the server is not host\\instance:port; its properties follow behind a semicolon, as in ;databaseName=sales');
  const place: Record<string, string | undefined> = { host: host || undefined, instance, port: port || undefined };
  const parameters: (readonly [string, string])[] = [];
  for (const [name, value] of readProperties(rest, malformed)) {
    const part = PLACE[name.toLowerCase()];
    if (part === undefined) parameters.push([name, value]);
    else place[part] ??= value;
  }
  // A port is taken before a name, as the driver of Microsoft does: no service has to be asked then.
  if (place.instance !== undefined && place.instance !== '' && place.port === undefined) parameters.push(['instanceName', place.instance]);
  return { host: { host: place.host ?? '', port: place.port }, usualPort: PORT, database: place.database || undefined, parameters };
}

/** `name=value` with semicolons between. A value in braces may have semicolons, and `}}` is a brace. */
function readProperties(text: string, malformed: Malformed): readonly (readonly [name: string, value: string])[] {
  const property = /\s*(?:;|([^=;{}]+?)\s*=\s*(?:\{((?:[^}]|\}\})*)\}\s*|([^;{}]*))(?:;|$))/y;
  const found: (readonly [string, string])[] = [];
  while (property.lastIndex < text.length) {
    if (text.slice(property.lastIndex).trim() === '') break;
    const read = property.exec(text);
    if (read === null)
      throw malformed('its properties are not name=value with ; between; a value with ; { } stands in braces, with }} for }');
    const [, name, braced, plain = ''] = read;
    if (name !== undefined) found.push([name, braced?.replaceAll('}}', '}') ?? plain.trim()]);
  }
  return found;
}
