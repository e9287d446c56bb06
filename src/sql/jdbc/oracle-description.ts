/**
 * Connect descriptors of Oracle with one address: `(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=h)(PORT=1521))(CONNECT_DATA=(SERVICE_NAME=s)))`.
 *
 * Each key has to be in the table of the place where it is, and is there once. The driver gets a descriptor that is written
 * again of what was read, never this text: nothing that is read differently there can name another host.
 *
 * @see https://docs.oracle.com/en/database/oracle/oracle-database/23/netrf/local-naming-parameters-in-tns-ora-file.html
 */
import type { Malformed, WrittenHost } from './location.ts';

const TIMES = ['CONNECT_TIMEOUT', 'TRANSPORT_CONNECT_TIMEOUT', 'RETRY_COUNT', 'RETRY_DELAY'];
const DATA = ['SID', 'SERVER', 'INSTANCE_NAME'];
const SECURITY = ['SSL_SERVER_DN_MATCH', 'SSL_SERVER_CERT_DN'];

/** The keys of each place; none is in two of them. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  '': ['DESCRIPTION'],
  // The last ones have no effect here.
  DESCRIPTION: ['ADDRESS', 'CONNECT_DATA', 'SECURITY', ...TIMES, 'ENABLE', 'EXPIRE_TIME', 'RECV_TIMEOUT', 'SDU'],
  ADDRESS: ['PROTOCOL', 'HOST', 'PORT'],
  CONNECT_DATA: ['SERVICE_NAME', ...DATA, 'UR'],
  SECURITY,
};

/** Why a key is not accepted, where there is more to say. */
const REASONS: Readonly<Record<string, string>> = {
  HTTPS_PROXY: 'proxies are not used',
  HTTPS_PROXY_PORT: 'proxies are not used',
  SOURCE_ROUTE: 'connections do not go by way of other addresses',
  IFILE: 'files of this machine are not read',
  ...Object.fromEntries(
    ['ADDRESS_LIST', 'DESCRIPTION_LIST', 'LOAD_BALANCE', 'FAILOVER', 'FAILOVER_MODE'].map((key) => [key, 'one address is connected to']),
  ),
};

/** Values of `tnsnames.ora` for yes and no. */
const SWITCH: Readonly<Record<string, string>> = { YES: 'true', ON: 'true', TRUE: 'true', NO: 'false', OFF: 'false', FALSE: 'false' };

export interface Description {
  readonly host: WrittenHost;
  readonly database: string | undefined;
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/** @param text from the first parenthesis on */
export function readDescription(text: string, malformed: Malformed): Description {
  const values = readKeys(text, malformed);
  const host = values.get('HOST') ?? '';
  if (host === '') throw malformed('its description has no ADDRESS with a HOST');
  const protocol = (values.get('PROTOCOL') ?? 'tcp').toLowerCase();
  if (protocol !== 'tcp' && protocol !== 'tcps') throw malformed('only the protocols tcp and tcps are supported');
  const [service, sid] = [values.get('SERVICE_NAME'), values.get('SID')];
  if (service !== undefined && sid !== undefined)
    throw malformed('its description has a SERVICE_NAME and a SID; one of them names the database');
  return {
    host: { host: host.includes(':') && !host.startsWith('[') ? `[${host}]` : host, port: values.get('PORT') },
    database: service ?? sid,
    parameters: [
      ...(protocol === 'tcps' ? [['protocol', protocol] as const] : []),
      ...[...DATA, ...SECURITY, ...TIMES].flatMap((key) => {
        const value = values.get(key);
        return value === undefined ? [] : [[key.toLowerCase(), SWITCH[value.toUpperCase()] ?? value] as const];
      }),
    ],
  };
}

/** The texts of the keys. */
function readKeys(text: string, malformed: Malformed): ReadonlyMap<string, string> {
  const head = /\s*\(\s*([A-Za-z_]\w*)\s*=\s*/y;
  const rest = /(?=\()|(?:"([^"]*)"|'([^']*)'|([^()"'\\#]*))\s*\)\s*/y;
  const close = /\s*\)\s*/y;
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  const seen = new Set<string>();
  const values = new Map<string, string>();
  const places = [''];
  do {
    const place = places.at(-1) as string;
    if (places.length > 1 && take(close) !== null) {
      places.pop();
      continue;
    }
    const key = take(head)?.[1]?.toUpperCase();
    const found = take(rest);
    if (key === undefined || found === null) throw malformed('its parentheses are not those of one (DESCRIPTION=…)');
    if (!KEYS[place]?.includes(key)) {
      const reason = REASONS[key] ?? `accepted in ${place || 'its place'} are ${KEYS[place]?.join(', ')}`;
      throw malformed(`${key} is not supported in a description: ${reason}`);
    }
    if (seen.has(key)) throw malformed(`${key} stands twice in its description`);
    seen.add(key);
    const isGroup = found[0] === '';
    if (isGroup !== key in KEYS) throw malformed(`${key} of its description is not (${key}=${key in KEYS ? '(…=…)' : 'text'})`);
    if (isGroup) places.push(key);
    else values.set(key, found[1] ?? found[2] ?? (found[3] as string).trim());
  } while (places.length > 1);
  if (at < text.length) throw malformed('something follows its description');
  return values;
}
