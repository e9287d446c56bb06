/**
 * JDBC URLs: how users address databases.
 *
 * jdbc:postgresql://host:port/database?name=value   jdbc:postgresql:database   jdbc:postgresql:/
 * jdbc:mysql://user:password@host:port/database?name=value    jdbc:mariadb://host/database
 * jdbc:sqlite:path/to/file?name=value   jdbc:sqlite:file:///path/to/file
 * jdbc:duckdb:path/to/file;name=value
 * jdbc:sqlserver://host\instance:port;name=value   jdbc:oracle:thin:@//host:port/service   (in their own files)
 */
import { resolve } from 'node:path';
import { excerpt, Fault } from '../../core/fault.ts';
import { didYouMean } from '../../core/nearest.ts';
import { Secret } from '../../core/secret.ts';
import { parseNameList } from '../catalogue/identifiers.ts';
import type { DatabaseAddress, Product, TlsOptions } from '../database.ts';
import type { Host } from './connect.ts';
import type { Login, Malformed, OwnLocation } from './location.ts';
import { readOracleUrl } from './oracle-url.ts';
import { checkParameter, type Protocol } from './parameters.ts';
import { readSqlServerUrl } from './sqlserver-url.ts';

export interface JdbcRequest {
  readonly url: string;
  /** Product (`postgresql`, `mysql`, `mariadb`) or JDBC driver class (`org.postgresql.Driver`); undefined: the URL's scheme decides. */
  readonly driver?: string | undefined;
  readonly user?: string | undefined;
  readonly password?: Secret | string | undefined;
  /** Further parameters, as in the URL but not percent-encoded. They override those of the URL. */
  readonly parameters?: readonly (readonly [key: string, value: string])[];
  /** false: it comes from a caller who may not read files of this machine, and parameters that name files are refused. Default: true. */
  readonly trusted?: boolean;
  /** The directory in which a relative path of a file begins. Default: that of the process. */
  readonly directory?: string | undefined;
}

/** How the driver of a product reads its URLs. */
interface ProductRow {
  readonly protocol: Protocol;
  /** The database is a file, whose path follows the scheme; hosts, ports and logins have no meaning. */
  readonly isFile?: true;
  /** What stands before the first parameter, and between two. */
  readonly separators?: readonly [first: string, next: string];
  readonly port: number;
  /** Without a database in the URL, that of the user's name is meant. */
  readonly databaseOfUser: boolean;
  /** The database may stand alone, without `//` and hosts. */
  readonly databaseAlone: boolean;
  /** A plus in a parameter is a space; elsewhere it is kept, for `GMT+1`. */
  readonly plusIsSpace: boolean;
  tls(values: ReadonlyMap<string, string>): TlsOptions;
  readonly example: string;
  /** For URLs of another form: reads what follows the scheme. */
  readonly read?: (text: string, malformed: Malformed) => OwnLocation;
  /** Such a URL again, for messages. */
  readonly nameOf?: (place: string, database: string | undefined) => string;
}

const MYSQL = {
  protocol: 'mysql',
  port: 3306,
  databaseOfUser: false,
  databaseAlone: false,
  plusIsSpace: false,
} as const;

const FILE = {
  isFile: true,
  port: 0,
  databaseOfUser: false,
  databaseAlone: true,
  plusIsSpace: false,
  tls: (): TlsOptions => ({ mode: 'disable', caFile: undefined, certificateFile: undefined, keyFile: undefined }),
} as const;

/** What has no meaning in URLs of another form. */
const OWN = {
  databaseOfUser: false,
  databaseAlone: false,
  plusIsSpace: false,
} as const;

const PRODUCTS: Readonly<Record<Product, ProductRow>> = {
  postgresql: {
    protocol: 'postgresql',
    port: 5432,
    databaseOfUser: true,
    databaseAlone: true,
    plusIsSpace: true,
    tls: postgresTls,
    example: 'jdbc:postgresql://host:5432/database',
  },
  mysql: { ...MYSQL, tls: (values) => mysqlTls(values, false), example: 'jdbc:mysql://host:3306/database' },
  mariadb: { ...MYSQL, tls: (values) => mysqlTls(values, true), example: 'jdbc:mariadb://host:3306/database' },
  sqlserver: {
    ...OWN,
    protocol: 'sqlserver',
    port: 1433,
    read: readSqlServerUrl,
    nameOf: (place, database) => `jdbc:sqlserver://${place}${database === undefined ? '' : `;databaseName=${database}`}`,
    tls: sqlServerTls,
    example: 'jdbc:sqlserver://host:1433;databaseName=database',
  },
  oracle: {
    ...OWN,
    protocol: 'oracle',
    port: 1521,
    read: readOracleUrl,
    nameOf: (place, database) => `jdbc:oracle:thin:@//${place}/${database ?? ''}`,
    tls: (values) =>
      tlsOf(values.get('protocol') !== 'tcps' ? 'disable' : values.get('ssl_server_dn_match') === 'false' ? 'verify-ca' : 'verify-full'),
    example: 'jdbc:oracle:thin:@//host:1521/service',
  },
  sqlite: { ...FILE, protocol: 'sqlite', example: 'jdbc:sqlite:/path/to/file.db' },
  duckdb: { ...FILE, protocol: 'duckdb', separators: [';', ';'], example: 'jdbc:duckdb:/path/to/file.duckdb' },
};

/** Names of products and driver classes in requests. */
const DRIVERS: Readonly<Record<string, Protocol>> = {
  postgresql: 'postgresql',
  mysql: 'mysql',
  mariadb: 'mysql',
  'org.postgresql.Driver': 'postgresql',
  'com.mysql.cj.jdbc.Driver': 'mysql',
  'com.mysql.jdbc.Driver': 'mysql',
  'org.mariadb.jdbc.Driver': 'mysql',
  sqlserver: 'sqlserver',
  'com.microsoft.sqlserver.jdbc.SQLServerDriver': 'sqlserver',
  oracle: 'oracle',
  'oracle.jdbc.OracleDriver': 'oracle',
  'oracle.jdbc.driver.OracleDriver': 'oracle',
  sqlite: 'sqlite',
  'org.sqlite.JDBC': 'sqlite',
  duckdb: 'duckdb',
  'org.duckdb.DuckDBDriver': 'duckdb',
};

const EXPECTED = `Expected is ${Object.values(PRODUCTS)
  .map(({ example }) => example)
  .join(' or ')}`;

/** The address if the URL has no host. */
const LOCAL = 'localhost';

interface Location {
  readonly server: DatabaseAddress['server'];
  readonly database: string | undefined;
  readonly login: Login;
}

/**
 * Parses a JDBC URL. User and password of the request override those of the URL.
 *
 * PostgreSQL's default database is the user's name. Messages never show what may be a password.
 *
 * @throws Fault database/driver — an unsupported scheme or driver class, with a list of the supported ones; request/invalid — not a JDBC
 * URL, a URL, user or password that is no text, a driver that contradicts the scheme, an unknown parameter (with similar ones) or one with an invalid value
 */
export function parseJdbcUrl(request: JdbcRequest): DatabaseAddress {
  checkTexts(request);
  const { product, rest } = readScheme(request.url.trim());
  const { databaseOfUser, tls, read, separators: [first, next] = ['?', '&'] } = PRODUCTS[product];
  checkDriver(request.driver, product);
  if (read !== undefined) return ownAddress(request, product, read, rest);
  const mark = rest.indexOf(first);
  const before = mark === -1 ? rest : rest.slice(0, mark);
  const { isFile } = PRODUCTS[product];
  const location = isFile ? readFileLocation(before, product, request.directory) : readLocation(before, product, rest);
  const { values, session } = readParameters(mark === -1 ? [] : rest.slice(mark + 1).split(next), product, request);
  const user = request.user || values.get('user') || location.login.user;
  const password = Secret.of(request.password ?? values.get('password') ?? location.login.password);
  const database = location.database ?? (databaseOfUser ? user : undefined);
  return {
    product,
    server: location.server,
    database,
    user,
    password,
    schemas: parseNameList(values.get('currentSchema') ?? '', product) ?? [],
    tls: tls(values),
    parameters: session,
    name: isFile ? `jdbc:${product}:${database}` : nameOf(product, location.server, database),
  };
}

/** A program that calls the library may pass anything. @throws Fault request/invalid */
function checkTexts({ url, user, password }: JdbcRequest): void {
  for (const [name, value] of Object.entries({ 'JDBC URL': url, user, password })) {
    if (value == null || typeof value === 'string' || (name === 'password' && value instanceof Secret)) continue;
    throw new Fault('request/invalid', `The ${name} of the database is ${typeof value === 'object' ? 'an object' : `a ${typeof value}`}`, {
      hint: `Give it as a text${name === 'password' ? ', or as a Secret' : ''}`,
    });
  }
}

function ownAddress(
  request: JdbcRequest,
  product: Product,
  read: (text: string, malformed: Malformed) => OwnLocation,
  rest: string,
): DatabaseAddress {
  const { tls, nameOf, example } = PRODUCTS[product];
  // What stands before an @, or in a property, may be a password.
  const malformed: Malformed = (what) =>
    new Fault('request/invalid', `The JDBC URL is not well-formed: ${what}`, { hint: `Expected is ${example}` });
  if (/[\0-\x1f\x7f]/.test(rest)) throw malformed('it has control characters');
  const location = read(rest, malformed);
  const { values, session } = checkParameters(location.parameters, product, request);
  const server = {
    host: readHost(location.host.host, malformed),
    port: readPort(location.host.port, location.usualPort, malformed),
  };
  const { database } = location;
  const instance = session.instanceName;
  const shown = instance === undefined ? placeOf(server) : `${bracketed(server.host)}\\${instance}`;
  return {
    product,
    server,
    database,
    user: request.user || values.get('user') || location.login?.user,
    password: Secret.of(request.password ?? values.get('password') ?? location.login?.password),
    schemas: [],
    tls: tls(values),
    parameters: session,
    name: nameOf?.(shown, database) ?? '',
  };
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);
const placeOf = ({ host, port }: Host): string => `${bracketed(host)}:${port}`;

function readScheme(url: string): { readonly product: Product; readonly rest: string } {
  const found = /^jdbc:([a-z0-9+.-]+):/i.exec(url);
  if (found === null) {
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1];
    const what =
      url === ''
        ? 'The JDBC URL is empty'
        : `The database is not named by a JDBC URL${scheme ? `, but by a URL that begins with ${scheme}:` : ''}`;
    throw new Fault('request/invalid', what, { hint: EXPECTED });
  }
  const scheme = (found[1] as string).toLowerCase();
  if (!isProduct(scheme)) {
    const near = didYouMean(scheme, Object.keys(PRODUCTS));
    const works = Object.keys(PRODUCTS).map((product) => `jdbc:${product}:`);
    throw new Fault('database/driver', `jdbc:${scheme}: is not supported; supported are ${inWords(works)}`, {
      ...(near === undefined ? {} : { hint: `D${near.slice(1)}` }),
    });
  }
  const rest = url.slice(found[0].length);
  const kind = /^([a-z-]+):(?=\/\/)/i.exec(rest)?.[1];
  if (kind === undefined || PRODUCTS[scheme].isFile) return { product: scheme, rest };
  throw new Fault('request/invalid', `jdbc:${scheme}:${kind}: is not read here: one host is connected to`, { hint: EXPECTED });
}

function isProduct(scheme: string): scheme is Product {
  return Object.hasOwn(PRODUCTS, scheme);
}

/** The MySQL and MariaDB drivers are interchangeable: they use one protocol. */
function checkDriver(driver: string | undefined, product: Product): void {
  const wanted = driver?.trim();
  if (wanted === undefined || wanted === '') return;
  const name = Object.keys(DRIVERS).find((known) => known.toLowerCase() === wanted.toLowerCase());
  if (name === undefined) {
    const near = didYouMean(wanted, Object.keys(DRIVERS));
    throw new Fault('database/driver', `The driver ${excerpt(wanted)} is not supported; supported are ${inWords(Object.keys(DRIVERS))}`, {
      ...(near === undefined ? {} : { hint: `D${near.slice(1)}` }),
    });
  }
  if (DRIVERS[name] !== PRODUCTS[product].protocol) {
    throw new Fault('request/invalid', `The driver ${name} does not read jdbc:${product}: URLs`, {
      hint: 'Leave the driver out: the scheme of the URL determines it',
    });
  }
}

/**
 * `//host/database`, or without `//` the database alone, as PostgreSQL's driver allows.
 *
 * @param url with the parameters, to check whether it may contain a password
 */
function readLocation(text: string, product: Product, url: string): Location {
  const { example, databaseAlone } = PRODUCTS[product];
  const malformed = (what: string): Fault =>
    // An @ or ( may belong to a password, even one with characters that should be encoded: then no part of the URL is shown.
    /[@(]/.test(url)
      ? new Fault('request/invalid', `The JDBC URL is not well-formed: ${what}`, {
          hint: 'In user names, passwords and databases the characters @ : / ? # % are written %40 %3A %2F %3F %23 %25',
        })
      : new Fault('request/invalid', `The JDBC URL jdbc:${product}:${text} is not well-formed: ${what}`, {
          hint: `Expected is ${example}`,
        });
  if (!text.startsWith('//')) {
    if (!databaseAlone) throw malformed(`there is no // behind jdbc:${product}:`);
    const server = { host: LOCAL, port: PRODUCTS[product].port };
    return { server, database: readDatabase(text.replace(/^\//, ''), malformed), login: { user: undefined, password: undefined } };
  }
  const slash = text.indexOf('/', 2);
  const authority = slash === -1 ? text.slice(2) : text.slice(2, slash);
  const database = readDatabase(slash === -1 ? '' : text.slice(slash + 1), malformed);
  return { ...readPlace(authority, product, malformed), database };
}

/** A path, absolute or relative, or a `file:` URL. */
function readFileLocation(text: string, product: Product, directory: string | undefined): Location {
  const malformed = (what: string): Fault =>
    new Fault('request/invalid', `The JDBC URL jdbc:${product}:${text} is not well-formed: ${what}`, {
      hint: `Expected is ${PRODUCTS[product].example}`,
    });
  if (text === '' || text === ':memory:' || text === 'file::memory:')
    throw malformed('it names no file, and a database in memory would be empty');
  if (/^(?::resource:|\w{2,}:)/.test(text) && !text.startsWith('file:')) throw malformed('only the path of a file may follow');
  let path = text;
  if (text.startsWith('file:')) {
    const found = /^file:(?:\/\/(?:localhost)?(?=\/))?(.*)$/.exec(text)?.[1];
    path = (found === undefined ? undefined : decode(found)) ?? fail(malformed('the file: URL is not a path, percent-encoded in UTF-8'));
  }
  if (/[\0-\x1f\x7f]/.test(path)) throw malformed('the path has control characters');
  return { server: undefined, database: resolve(directory ?? '.', path), login: { user: undefined, password: undefined } };
}

function readDatabase(text: string, malformed: Malformed): string | undefined {
  if (text === '') return undefined;
  if (/[/@]/.test(text)) throw malformed('the database has a / or @ that is not percent-encoded');
  return decode(text) ?? fail(malformed('the database is not percent-encoded UTF-8'));
}

/** `user:password@host:port`. */
function readPlace(text: string, product: Product, malformed: Malformed): Pick<Location, 'server' | 'login'> {
  // A comma of a password is refused, too: what is behind it may be another host.
  if (/,|\([^()]*=/.test(text))
    throw malformed('it has several hosts, or one in parentheses, and one host:port is connected to; a comma in a password is written %2C');
  const at = text.lastIndexOf('@');
  const [, host, port] =
    /^(\[[^\]]*\]|[^:[\]]*)(?::(.*))?$/s.exec(text.slice(at + 1)) ?? fail(malformed('an IPv6 address is written in brackets, [::1]'));
  return {
    server: { host: readHost(host as string, malformed), port: readPort(port, PRODUCTS[product].port, malformed) },
    login: readLogin(at === -1 ? undefined : text.slice(0, at), malformed),
  };
}

function readLogin(text: string | undefined, malformed: Malformed): Login {
  if (text === undefined) return { user: undefined, password: undefined };
  const colon = text.indexOf(':');
  const part = (encoded: string): string => decode(encoded) ?? fail(malformed('user and password are not percent-encoded UTF-8'));
  return { user: part(colon === -1 ? text : text.slice(0, colon)), password: colon === -1 ? undefined : part(text.slice(colon + 1)) };
}

function readHost(text: string, malformed: Malformed): string {
  if (text === '') return LOCAL;
  if (text.startsWith('['))
    return /^\[([0-9a-f:.]+(?:%\w+)?)\]$/i.exec(text)?.[1]?.toLowerCase() ?? fail(malformed('the IPv6 address is none'));
  if (!/^[\p{L}\p{N}._-]{1,253}$/u.test(text)) throw malformed('the host is not a name or address');
  return text.toLowerCase();
}

function readPort(text: string | undefined, usual: number, malformed: Malformed): number {
  if (text === undefined || text === '') return usual;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port > 0 && port < 65536 ? port : fail(malformed('the port is not a number from 1 to 65535'));
}

/** Parameters that become fields of the address, and those for the driver. */
interface Parameters {
  readonly values: ReadonlyMap<string, string>;
  readonly session: Readonly<Record<string, string>>;
}

function readParameters(parts: readonly string[], product: Product, request: JdbcRequest): Parameters {
  const { plusIsSpace } = PRODUCTS[product];
  const pairs = parts
    .filter((text) => text !== '')
    .map((part) => {
      const equals = part.indexOf('=');
      const plain = plusIsSpace ? part.replaceAll('+', ' ') : part;
      const [name, value] = (equals === -1 ? [plain, ''] : [plain.slice(0, equals), plain.slice(equals + 1)]).map(decode);
      if (name === undefined || value === undefined)
        throw new Fault('request/invalid', 'A parameter of the JDBC URL is not percent-encoded UTF-8');
      return [name, value] as const;
    });
  return checkParameters(pairs, product, request);
}

/** @param pairs those of the URL */
function checkParameters(pairs: readonly (readonly [string, string])[], product: Product, request: JdbcRequest): Parameters {
  const { protocol } = PRODUCTS[product];
  const values = new Map<string, string>();
  const session: Record<string, string> = {};
  const trusted = request.trusted ?? true;
  const take = (name: string, value: string, afterPassword: boolean): string => {
    const checked = checkParameter(protocol, name, value, { trusted, afterPassword });
    if (checked.effect === 'address') values.set(checked.name, checked.value);
    if (checked.effect === 'session') session[checked.name] = checked.value;
    return checked.name;
  };
  let before: string | undefined;
  for (const [name, value] of pairs) before = take(name, value, before === 'password');
  for (const [name, value] of request.parameters ?? []) take(name, value, false);
  return { values, session };
}

function postgresTls(values: ReadonlyMap<string, string>): TlsOptions {
  const mode = (values.get('sslmode') ?? (values.get('ssl') === 'true' ? 'verify-full' : 'prefer')) as TlsOptions['mode'];
  const [certificateFile, keyFile] = [values.get('sslcert'), values.get('sslkey')];
  if ((certificateFile === undefined) !== (keyFile === undefined))
    throw new Fault('request/invalid', 'The JDBC parameters sslcert and sslkey belong together; one of them is missing');
  return { mode, caFile: values.get('sslrootcert'), certificateFile, keyFile };
}

/**
 * Without sslMode, the meaning of the older parameters: MariaDB's driver checks certificates by default, MySQL's does not.
 *
 * @param checks whether the driver checks certificates by default
 */
function mysqlTls(values: ReadonlyMap<string, string>, checks: boolean): TlsOptions {
  const is = (name: string): boolean => values.get(name) === 'true';
  const older = (): TlsOptions['mode'] => {
    if (values.get('useSSL') === 'false') return 'disable';
    if (is('verifyServerCertificate')) return 'verify-ca';
    if (checks && is('useSSL')) return is('trustServerCertificate') ? 'require' : 'verify-full';
    return is('requireSSL') ? 'require' : 'prefer';
  };
  const mode = (values.get('sslMode') as TlsOptions['mode'] | undefined) ?? older();
  return { mode, caFile: values.get('serverSslCert'), certificateFile: undefined, keyFile: undefined };
}

/** Encrypted unless it says otherwise, as the driver of Microsoft is since its version 10. */
function sqlServerTls(values: ReadonlyMap<string, string>): TlsOptions {
  const encrypt = values.get('encrypt') ?? 'true';
  const mode = encrypt === 'false' ? 'disable' : values.get('trustServerCertificate') === 'true' ? 'require' : 'verify-full';
  return tlsOf(mode, values.get('serverCertificate'));
}

const tlsOf = (mode: TlsOptions['mode'], caFile?: string): TlsOptions => ({
  mode,
  caFile,
  certificateFile: undefined,
  keyFile: undefined,
});

const nameOf = (product: Product, server: DatabaseAddress['server'], database = ''): string =>
  `jdbc:${product}://${server === undefined ? '' : placeOf(server)}/${encodeURIComponent(database.replace(/\p{Surrogate}/gu, '\ufffd'))}`;

/** undefined: not percent-encoded UTF-8, or with a control character. */
function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text);
    return /[\0-\x1f\x7f]/.test(decoded) ? undefined : decoded;
  } catch {
    return undefined;
  }
}

function inWords(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function fail(fault: Fault): never {
  throw fault;
}
