/**
 * Connect descriptors of Oracle, as in tnsnames.ora: `(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=h)(PORT=1521))(CONNECT_DATA=(SERVICE_NAME=s)))`.
 *
 * A descriptor is parsed whole, and each key has to stand in a table of the place where it stands. The driver gets a descriptor that is written
 * again of what was read, never this text: nothing that is read differently there can name another host.
 *
 * @see https://docs.oracle.com/en/database/oracle/oracle-database/23/netrf/local-naming-parameters-in-tns-ora-file.html
 */
import type { Malformed, WrittenHost } from './location.ts';

/** A word or number as text; *off*: only the value that means no; *switch*: yes or no, without effect on one connection that reads. */
type Key = 'value' | 'off' | 'switch' | 'ignored' | Keys;
interface Keys {
  readonly [key: string]: Key;
}

const ADDRESS: Keys = { PROTOCOL: 'value', HOST: 'value', PORT: 'value' };
const LIST: Keys = { LOAD_BALANCE: 'switch', FAILOVER: 'switch', SOURCE_ROUTE: 'off' };
const DESCRIPTION: Keys = {
  ...LIST,
  ADDRESS,
  ADDRESS_LIST: { ...LIST, ADDRESS },
  CONNECT_DATA: {
    SERVICE_NAME: 'value',
    SID: 'value',
    SERVER: 'value',
    INSTANCE_NAME: 'value',
    UR: 'ignored',
    FAILOVER_MODE: { TYPE: 'ignored', METHOD: 'ignored', RETRIES: 'ignored', DELAY: 'ignored' },
  },
  SECURITY: { SSL_SERVER_DN_MATCH: 'value', SSL_SERVER_CERT_DN: 'value' },
  CONNECT_TIMEOUT: 'value',
  TRANSPORT_CONNECT_TIMEOUT: 'value',
  RETRY_COUNT: 'value',
  RETRY_DELAY: 'value',
  ENABLE: 'ignored',
  EXPIRE_TIME: 'ignored',
  RECV_TIMEOUT: 'ignored',
  SDU: 'ignored',
};
const ROOT: Keys = { DESCRIPTION, DESCRIPTION_LIST: { ...LIST, DESCRIPTION } };

/** May stand several times in one place. */
const REPEATED = new Set(['ADDRESS', 'ADDRESS_LIST', 'DESCRIPTION']);

/** Why a key is not accepted, where there is more to say. */
const REASONS: Readonly<Record<string, string>> = {
  HTTPS_PROXY: 'proxies are not used',
  HTTPS_PROXY_PORT: 'proxies are not used',
  SOURCE_ROUTE: 'connections do not go by way of other addresses',
  IFILE: 'files of this machine are not read',
};

/** Values of `sqlnet.ora` and `tnsnames.ora` for yes and no. */
const SWITCH: Readonly<Record<string, 'true' | 'false'>> = {
  ...{ YES: 'true', ON: 'true', TRUE: 'true' },
  ...{ NO: 'false', OFF: 'false', FALSE: 'false' },
};

interface Node {
  readonly key: string;
  /** A text, or what stands inside. */
  readonly value: string | readonly Node[];
}

export interface Description {
  readonly hosts: readonly WrittenHost[];
  readonly database: string | undefined;
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/** @param text from the first parenthesis on */
export function readDescription(text: string, malformed: Malformed): Description {
  const root = parseNode(text, malformed);
  checkKeys([root], ROOT, '', malformed);
  const read = (root.key === 'DESCRIPTION' ? [root] : childrenOf(root, 'DESCRIPTION')).map((node) => readOne(node, malformed));
  const [first] = read;
  if (first === undefined) throw malformed('its DESCRIPTION_LIST has no DESCRIPTION');
  const rest = ({ hosts, ...others }: Description): string => JSON.stringify(others);
  if (read.some((one) => rest(one) !== rest(first)))
    throw malformed('the descriptions of its list differ in more than their addresses; write one of them');
  return { ...first, hosts: read.flatMap(({ hosts }) => hosts) };
}

function readOne(description: Node, malformed: Malformed): Description {
  const lists = [description, ...childrenOf(description, 'ADDRESS_LIST')];
  const addresses = lists.flatMap((list) => childrenOf(list, 'ADDRESS'));
  if (addresses.length === 0) throw malformed('its description has no ADDRESS');
  const hosts = addresses.map((address) => {
    const host = textIn(address, 'HOST');
    if (host === undefined || host === '') throw malformed('an ADDRESS of its description has no HOST');
    return { host: host.includes(':') && !host.startsWith('[') ? `[${host}]` : host, port: textIn(address, 'PORT') };
  });
  const protocols = new Set(addresses.map((address) => (textIn(address, 'PROTOCOL') ?? 'tcp').toLowerCase()));
  const [protocol = ''] = protocols;
  if (protocols.size > 1) throw malformed('its addresses have several protocols');
  if (protocol !== 'tcp' && protocol !== 'tcps') throw malformed('only the protocols tcp and tcps are supported');
  const [data] = childrenOf(description, 'CONNECT_DATA');
  const [security] = childrenOf(description, 'SECURITY');
  const named = (parent: Node | undefined, ...keys: readonly string[]): readonly (readonly [string, string])[] =>
    keys.flatMap((key) => {
      const value = parent === undefined ? undefined : textIn(parent, key);
      return value === undefined ? [] : [[key.toLowerCase(), SWITCH[value.toUpperCase()] ?? value] as const];
    });
  const [service, sid] = [data && textIn(data, 'SERVICE_NAME'), data && textIn(data, 'SID')];
  if (service !== undefined && sid !== undefined)
    throw malformed('its description has a SERVICE_NAME and a SID; one of them names the database');
  return {
    hosts,
    database: service ?? sid,
    parameters: [
      ...(protocol === 'tcps' ? [['protocol', protocol] as const] : []),
      ...named(data, 'SID', 'SERVER', 'INSTANCE_NAME'),
      ...named(security, 'SSL_SERVER_DN_MATCH', 'SSL_SERVER_CERT_DN'),
      ...named(description, 'CONNECT_TIMEOUT', 'TRANSPORT_CONNECT_TIMEOUT', 'RETRY_COUNT', 'RETRY_DELAY'),
    ],
  };
}

const childrenOf = ({ value }: Node, key: string): readonly Node[] =>
  typeof value === 'string' ? [] : value.filter((node) => node.key === key);

const textIn = (parent: Node, key: string): string | undefined => childrenOf(parent, key)[0]?.value as string | undefined;

/** @param place the key that they stand in; empty: none */
function checkKeys(nodes: readonly Node[], keys: Keys, place: string, malformed: Malformed): void {
  const seen = new Set<string>();
  for (const { key, value } of nodes) {
    const expected = keys[key];
    if (expected === undefined || (expected === 'off' && (typeof value !== 'string' || SWITCH[value.toUpperCase()] !== 'false'))) {
      if (place === '') throw malformed('its parentheses are not those of one (DESCRIPTION=…) or (DESCRIPTION_LIST=…)');
      const reason = REASONS[key] ?? `accepted in ${place} are ${Object.keys(keys).join(', ')}`;
      throw malformed(`${key} is not supported in a description: ${reason}`);
    }
    if (seen.has(key) && !REPEATED.has(key)) throw malformed(`${key} stands twice in ${place}`);
    seen.add(key);
    if (typeof expected === 'object') {
      if (typeof value === 'string') throw malformed(`${key} of its description has a text where (…=…) is expected`);
      checkKeys(value, expected, key, malformed);
    } else if (typeof value !== 'string') throw malformed(`${key} of its description has (…) where a text is expected`);
    else if (expected === 'switch' && SWITCH[value.toUpperCase()] === undefined)
      throw malformed(`${key} of its description is not YES or NO`);
  }
}

/** Nodes inside of nodes. Deeper than any key of the table, the text is refused. */
const DEPTH = 6;

function parseNode(text: string, malformed: Malformed): Node {
  const head = /\s*\(\s*([A-Za-z_]\w*)\s*=\s*/y;
  const atom = /(?:"([^"]*)"|'([^']*)'|([^()"'\\#]*))\s*\)\s*/y;
  const close = /\s*\)\s*/y;
  const unbalanced = (): never => {
    throw malformed('its parentheses are not those of one (DESCRIPTION=…)');
  };
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  const node = (depth: number): Node => {
    const key = (take(head)?.[1] ?? unbalanced()).toUpperCase();
    if (text[at] !== '(') {
      const [, double, single, plain = ''] = take(atom) ?? unbalanced();
      return { key, value: double ?? single ?? plain.trim() };
    }
    if (depth === DEPTH) unbalanced();
    const value: Node[] = [];
    while (take(close) === null) value.push(node(depth + 1));
    return { key, value };
  };
  const root = node(1);
  if (at < text.length) throw malformed('something follows its description');
  return root;
}
