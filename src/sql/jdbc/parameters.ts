/** The accepted parameters of JDBC URLs, one row each. Any other parameter is refused: it could change a result or open a file. */
import { excerpt, Fault } from '../../core/fault.ts';
import { didYouMean } from '../../core/nearest.ts';
import { parseNameList } from '../catalogue/identifiers.ts';

/** MySQL and MariaDB share one list: the same URLs are used for both. */
export type Protocol = 'postgresql' | 'mysql' | 'sqlite' | 'duckdb' | 'sqlserver' | 'oracle';

export type ParameterRow =
  | {
      /**
       * `address`: becomes a field of the address. `session`: passed to the driver in `parameters`. `none`: accepted because it is common
       * in URLs, but without effect on results here.
       */
      readonly effect: 'address' | 'session' | 'none';
      readonly values: Values;
      readonly does: string;
      /** Names a file of this machine: refused in untrusted requests. */
      readonly file?: true;
      /** Why there are no other values: for the message. */
      readonly why?: string;
    }
  | { readonly effect: 'refused'; readonly does: string };

/** A record: the accepted values, ignoring case, and their meanings. */
type Values =
  | 'text'
  | 'word'
  | 'boolean'
  | 'number'
  | 'seconds'
  | 'file'
  | 'zone'
  | 'schemas'
  | 'options'
  | 'variables'
  | 'encoding'
  | Readonly<Record<string, string>>;

type Rows = Readonly<Record<string, ParameterRow>>;

const oneOf = (...values: readonly string[]): Readonly<Record<string, string>> => Object.fromEntries(values.map((value) => [value, value]));

const address = (values: Values, does: string): ParameterRow => ({ effect: 'address', values, does });
const session = (values: Values, does: string): ParameterRow => ({ effect: 'session', values, does });
const file = (does: string): ParameterRow => ({ effect: 'address', values: 'file', does, file: true });
const refused = (does: string): ParameterRow => ({ effect: 'refused', does });
const harmless = (values: Values, ...names: readonly string[]): Rows =>
  Object.fromEntries(names.map((name) => [name, { effect: 'none', values, does: 'nothing here' }]));

/** `allow` would try without TLS first; here it means `prefer`. */
const POSTGRES_SSL_MODES = { ...oneOf('disable', 'prefer', 'require', 'verify-ca', 'verify-full'), allow: 'prefer' };

const MYSQL_SSL_MODES = {
  DISABLED: 'disable',
  PREFERRED: 'prefer',
  REQUIRED: 'require',
  VERIFY_CA: 'verify-ca',
  VERIFY_IDENTITY: 'verify-full',
  disable: 'disable',
  trust: 'require',
  'verify-ca': 'verify-ca',
  'verify-full': 'verify-full',
};

/** A parameter that may stand in a URL as long as it changes nothing. */
const only = (why: string, ...values: readonly string[]): ParameterRow => ({
  effect: 'none',
  values: oneOf(...values),
  does: 'nothing here',
  why,
});

const INTEGRATED = 'Give user and password, or domain, user and password with authenticationScheme=NTLM';

const WALLET = 'wallets of this machine are not opened; name authorities that Node trusts with NODE_EXTRA_CA_CERTS';

const KEY_STORE = 'Java key stores cannot be read here; name a PEM file with serverSslCert';

export const JDBC_PARAMETERS: Readonly<Record<Protocol, Rows>> = {
  postgresql: {
    user: address('text', 'the user'),
    password: address('text', 'the password'),
    ssl: address('boolean', 'true means sslmode=verify-full, where there is no sslmode'),
    sslmode: address(POSTGRES_SSL_MODES, 'whether TLS is wanted and what is checked'),
    sslrootcert: file('PEM file of the authorities whose certificates are trusted; without it the usual ones are'),
    sslcert: file('PEM file of the client certificate'),
    sslkey: file('PEM file of the key of the client certificate'),
    currentSchema: address('schemas', 'the search path'),
    ApplicationName: session('text', 'what pg_stat_activity calls the connection'),
    connectTimeout: session('number', 'seconds to wait for a host, 0: no separate limit'),
    loginTimeout: session('number', 'seconds to wait for a host and the login, 0: no separate limit'),
    socketTimeout: session('number', 'seconds without an answer after which the connection is given up, 0: none'),
    tcpKeepAlive: session('boolean', 'whether the system checks that an idle connection lives'),
    targetServerType: only('A URL names one host', 'any', 'preferPrimary', 'preferSecondary', 'preferSlave'),
    options: session('options', 'settings of the session, `-c name=value`'),
    sslpassword: refused('keys with a password cannot be read here; name a PEM file without one with sslkey'),
    sslfactory: refused('Java classes cannot be loaded here; sslmode=require is TLS without a look at the certificate'),
    ...harmless('boolean', 'readOnly', 'reWriteBatchedInserts', 'binaryTransfer', 'cleanupSavepoints', 'loadBalanceHosts', 'tcpNoDelay'),
    ...harmless('boolean', 'logUnclosedConnections', 'logServerErrorDetail', 'quoteReturningIdentifiers', 'hideUnprivilegedObjects'),
    ...harmless('number', 'defaultRowFetchSize', 'prepareThreshold', 'preparedStatementCacheQueries', 'preparedStatementCacheSizeMiB'),
    ...harmless('number', 'databaseMetadataCacheFields', 'databaseMetadataCacheFieldsMiB', 'hostRecheckSeconds', 'cancelSignalTimeout'),
    ...harmless('number', 'sendBufferSize', 'receiveBufferSize'),
    ...harmless('text', 'binaryTransferEnable', 'binaryTransferDisable', 'assumeMinServerVersion', 'readOnlyMode', 'autosave'),
    ...harmless('text', 'stringtype', 'preferQueryMode', 'escapeSyntaxCallMode', 'maxResultBuffer', 'adaptiveFetch'),
    ...harmless(oneOf('disable', 'allow', 'prefer'), 'gssEncMode', 'channelBinding'),
  },
  mysql: {
    user: address('text', 'the user'),
    password: address('text', 'the password'),
    sslMode: address(MYSQL_SSL_MODES, 'whether TLS is wanted and what is checked'),
    useSSL: address('boolean', 'where there is no sslMode: TLS as the three parameters of Connector/J 5 say it'),
    requireSSL: address('boolean', 'where there is no sslMode: TLS or nothing'),
    verifyServerCertificate: address('boolean', 'where there is no sslMode: whether the certificate is checked'),
    trustServerCertificate: address('boolean', 'where there is no sslMode: TLS without a look at the certificate'),
    serverSslCert: file('PEM file of the authorities whose certificates are trusted; without it the usual ones are'),
    connectTimeout: session('number', 'milliseconds to wait for a host, 0: no separate limit'),
    socketTimeout: session('number', 'milliseconds without an answer after which the connection is given up, 0: none'),
    tcpKeepAlive: session('boolean', 'whether the system checks that an idle connection lives'),
    tinyInt1isBit: session('boolean', 'whether TINYINT(1) is a boolean'),
    zeroDateTimeBehavior: session(
      { convertToNull: 'convertToNull', CONVERT_TO_NULL: 'convertToNull', exception: 'exception' },
      'what 0000-00-00 is: null, or a value that is no date',
    ),
    connectionTimeZone: session('zone', 'the time zone of the session'),
    serverTimezone: session('zone', 'the time zone of the session'),
    sessionVariables: session('variables', 'settings of the session, `name=value`'),
    characterEncoding: { effect: 'none', values: 'encoding', does: 'nothing: text is always UTF-8' },
    useUnicode: { effect: 'none', values: oneOf('true'), does: 'nothing: text is always UTF-8' },
    trustCertificateKeyStoreUrl: refused(KEY_STORE),
    clientCertificateKeyStoreUrl: refused('client certificates in Java key stores cannot be read here'),
    trustStore: refused(KEY_STORE),
    keyStore: refused('client certificates in Java key stores cannot be read here'),
    ...harmless(
      oneOf('TLSv1.2', 'TLSv1.3', 'TLSv1.2,TLSv1.3', 'TLSv1.3,TLSv1.2'),
      'enabledTLSProtocols',
      'tlsVersions',
      'enabledSslProtocolSuites',
    ),
    ...harmless(
      'boolean',
      'allowPublicKeyRetrieval',
      'useCursorFetch',
      'rewriteBatchedStatements',
      'autoReconnect',
      'autoReconnectForPools',
    ),
    ...harmless('boolean', 'failOverReadOnly', 'useServerPrepStmts', 'cachePrepStmts', 'cacheCallableStmts', 'cacheResultSetMetadata'),
    ...harmless('boolean', 'cacheServerConfiguration', 'elideSetAutoCommits', 'maintainTimeStats', 'useLocalSessionState'),
    ...harmless('boolean', 'useLocalTransactionState', 'useInformationSchema', 'useCompression', 'tcpNoDelay', 'useLegacyDatetimeCode'),
    ...harmless('boolean', 'useJDBCCompliantTimezoneShift', 'nullCatalogMeansCurrent', 'nullDatabaseMeansCurrent', 'paranoid'),
    ...harmless('boolean', 'noAccessToProcedureBodies', 'jdbcCompliantTruncation', 'dumpQueriesOnException', 'sendFractionalSeconds'),
    ...harmless('boolean', 'permitMysqlScheme', 'usePipelineAuth', 'useBulkStmts', 'transformedBitIsBoolean', 'nullNamePatternMatchesAll'),
    ...harmless('number', 'defaultFetchSize', 'prepStmtCacheSize', 'prepStmtCacheSqlLimit', 'maxReconnects', 'initialTimeout'),
  },
  sqlserver: {
    user: address('text', 'the user'),
    userName: refused('write it user'),
    password: address('text', 'the password'),
    encrypt: address(
      { true: 'true', mandatory: 'true', false: 'false', optional: 'false', no: 'false', yes: 'true' },
      'whether TLS is wanted; default: true',
    ),
    trustServerCertificate: address('boolean', 'TLS without a look at the certificate'),
    serverCertificate: file('PEM file of the authorities whose certificates are trusted; without it the usual ones are'),
    hostNameInCertificate: session('text', 'the name in the certificate, where it is not that of the host'),
    instanceName: session('text', 'the instance, whose port the SQL Server Browser reports'),
    domain: session('text', 'the domain of a login by NTLM'),
    authenticationScheme: only(INTEGRATED, 'NTLM', 'nativeAuthentication'),
    integratedSecurity: only(INTEGRATED, 'false'),
    authentication: only(INTEGRATED, 'NotSpecified', 'SqlPassword'),
    applicationName: session('text', 'what the server calls the connection'),
    applicationIntent: session(oneOf('ReadOnly', 'ReadWrite'), 'ReadOnly: an availability group may answer from a secondary replica'),
    multiSubnetFailover: session('boolean', 'whether all addresses of the host are tried at once'),
    loginTimeout: session('number', 'seconds to wait for a host and the login, 0: no separate limit'),
    queryTimeout: session('seconds', 'seconds that a statement may take, 0 or -1: no separate limit'),
    lockTimeout: session('seconds', 'milliseconds to wait for a lock, 0 or -1: no separate limit'),
    packetSize: session('number', 'bytes of a network packet'),
    sslProtocol: only('Node decides: TLS 1.2 or later', 'TLS', 'TLSv1.2', 'TLSv1.3'),
    columnEncryptionSetting: only('encrypted columns cannot be read here', 'Disabled'),
    ignoreOffsetOnDateTimeOffsetConversion: only('offsets are always written', 'false'),
    socketFactoryClass: refused('Java classes cannot be loaded here'),
    trustManagerClass: refused('Java classes cannot be loaded here; trustServerCertificate=true is TLS without a look at the certificate'),
    trustStore: refused('Java key stores cannot be read here; name a PEM file with serverCertificate'),
    clientCertificate: refused('logins by certificate are not supported; give user and password'),
    accessToken: refused('logins by token are not supported; give user and password'),
    realm: refused('logins by Kerberos are not supported; give user and password'),
    failoverPartner: refused('mirrored databases are not followed; name the present host, or the listener of an availability group'),
    ...harmless(
      'boolean',
      'sendStringParametersAsUnicode',
      'sendTimeAsDatetime',
      'lastUpdateCount',
      'disableStatementPooling',
      'xopenStates',
    ),
    ...harmless('boolean', 'transparentNetworkIPResolution', 'serverNameAsACE', 'useFmtOnly', 'delayLoadingLobs'),
    ...harmless(
      'boolean',
      'useBulkCopyForBatchInsert',
      'enablePrepareOnFirstPreparedStatementCall',
      'quotedIdentifier',
      'concatNullYieldsNull',
    ),
    ...harmless('number', 'socketTimeout', 'statementPoolingCacheSize', 'serverPreparedStatementDiscardThreshold', 'connectRetryCount'),
    ...harmless('number', 'connectRetryInterval', 'cancelQueryTimeout', 'maxResultBuffer'),
    ...harmless('text', 'workstationID', 'selectMethod', 'responseBuffering', 'datetimeParameterType', 'prepareMethod', 'language'),
  },
  oracle: {
    user: address('text', 'the user'),
    password: address('text', 'the password'),
    protocol: address(oneOf('tcps'), 'TLS'),
    sid: session('word', 'the database by its system identifier'),
    server: session(oneOf('dedicated', 'shared', 'pooled'), 'the kind of server process'),
    instance_name: session('word', 'the instance of the database'),
    ssl_server_dn_match: address('boolean', 'whether the certificate has to name the host; default: true'),
    ssl_server_cert_dn: session('text', 'the distinguished name that the certificate has to have'),
    connect_timeout: session('number', 'seconds to wait for a host and the login'),
    transport_connect_timeout: session('number', 'seconds to wait for a host'),
    retry_count: session('number', 'how often connecting is tried again'),
    retry_delay: session('number', 'seconds between two such attempts'),
    load_balance: refused('one host is connected to'),
    failover: refused('one host is connected to'),
    source_route: only('Connections do not go by way of other addresses', 'off', 'no', 'false'),
    https_proxy: refused('proxies are not used'),
    https_proxy_port: refused('proxies are not used'),
    wallet_location: refused(WALLET),
    my_wallet_directory: refused(WALLET),
    'oracle.net.wallet_location': refused(WALLET),
    'oracle.net.tns_admin': refused('tnsnames.ora is not read; write //host:port/service'),
    TNS_ADMIN: refused('tnsnames.ora is not read; write //host:port/service'),
    'oracle.jdbc.timezoneAsRegion': { effect: 'none', values: 'boolean', does: 'nothing: the session is in UTC' },
    ...harmless('boolean', 'oracle.jdbc.J2EE13Compliant', 'includeSynonyms', 'remarksReporting', 'oracle.net.disableOob'),
    ...harmless(
      'number',
      'defaultRowPrefetch',
      'oracle.jdbc.ReadTimeout',
      'oracle.net.CONNECT_TIMEOUT',
      'expire_time',
      'sdu',
      'recv_timeout',
    ),
  },
  sqlite: {
    // Logins of other databases may stand beside the URL; a file has none.
    ...harmless('text', 'user', 'password'),
    busy_timeout: session('number', 'milliseconds to wait for a lock of another process, 0: no separate limit'),
    mode: { effect: 'none', values: oneOf('ro', 'rw'), does: 'nothing: files are always opened read-only' },
    ...harmless('boolean', 'open_mode', 'foreign_keys', 'read_uncommitted', 'shared_cache'),
    ...harmless('text', 'journal_mode', 'synchronous', 'temp_store', 'transaction_mode', 'cache_size', 'cache', 'encoding'),
    ...harmless('text', 'date_string_format', 'date_precision'),
    date_class: refused("dates are texts; seconds since 1970 become dates by date(x, 'unixepoch') in a query"),
    key: refused('encrypted databases cannot be read here'),
    cipher: refused('encrypted databases cannot be read here'),
    enable_load_extension: refused('extensions are not loaded'),
    immutable: refused('a database that changes meanwhile would be read wrongly'),
    vfs: refused('other file systems are not loaded'),
  },
  duckdb: {
    ...harmless('text', 'user', 'password'),
    busy_timeout: session('number', 'milliseconds to wait for a writer that has the file open, 0: no separate limit'),
    memory_limit: refused('it is that of the run for joins and de-duplication'),
    threads: { effect: 'none', values: 'number', does: 'nothing: a query has one thread, as the run has others' },
    access_mode: {
      effect: 'none',
      values: oneOf('read_only', 'READ_ONLY', 'automatic', 'AUTOMATIC'),
      does: 'nothing: files are always opened read-only',
    },
    'duckdb.read_only': { effect: 'none', values: oneOf('true', 'false'), does: 'nothing: files are always opened read-only' },
    jdbc_stream_results: { effect: 'none', values: oneOf('true', 'false'), does: 'nothing: rows are always streamed' },
    encryption_key: refused('encrypted databases cannot be read here'),
    temp_directory: refused('it is that of the run'),
    enable_external_access: refused('queries read the database file alone'),
    allow_unsigned_extensions: refused('extensions are not loaded'),
    session_init_sql_file: refused('statements are not run before those of the mapping'),
  },
};

/** The settings allowed in PostgreSQL's `options`: nothing that changes how values are written. */
const POSTGRES_SETTINGS: readonly string[] = ['search_path', 'statement_timeout', 'lock_timeout', 'TimeZone', 'role', 'work_mem'];

/** The variables allowed in `sessionVariables`: nothing that changes the encoding. */
const MYSQL_SETTINGS: readonly string[] = [
  'sql_mode',
  'time_zone',
  'max_statement_time',
  'max_execution_time',
  'group_concat_max_len',
  'lock_wait_timeout',
  'innodb_lock_wait_timeout',
  'net_read_timeout',
  'net_write_timeout',
  'wait_timeout',
  'collation_connection',
];

/** A name of a service, an instance or a database of Oracle. */
export const ORACLE_WORD = /^[\w$#.-]+$/;

/** An accepted parameter, with name and value in the table's spelling. */
export interface CheckedParameter {
  readonly name: string;
  readonly value: string;
  readonly effect: 'address' | 'session' | 'none';
}

/**
 * Checks a parameter against the table; the case of its name is ignored, as in MariaDB's driver.
 *
 * @param trusted false: it comes from a caller who may not read files of this machine
 * @param afterPassword it follows the password in the URL: an unknown one may be the rest of a password with an `&`, and is not shown
 * @throws Fault request/invalid — not in the table, or with an invalid value
 */
export function checkParameter(
  protocol: Protocol,
  name: string,
  value: string,
  { trusted, afterPassword }: { readonly trusted: boolean; readonly afterPassword: boolean },
): CheckedParameter {
  const rows = JDBC_PARAMETERS[protocol];
  const lower = name.toLowerCase();
  const [known, row] = Object.entries(rows).find(([candidate]) => candidate.toLowerCase() === lower) ?? [];
  if (known === undefined || row === undefined) throw unknown(rows, name, afterPassword);
  if (row.effect === 'refused') throw new Fault('request/invalid', `The JDBC parameter ${known} is not supported: ${row.does}`);
  if (row.file === true && !trusted)
    throw new Fault('request/invalid', `The JDBC parameter ${known} names a file of the server's machine, which a request may not do`, {
      hint: 'Set it in the option JDBC_URL, or in the mapping',
    });
  const checked = checkValue(row.values, value);
  if ('expected' in checked) {
    const shown = known === 'password' ? 'a text that is not shown here' : excerpt(value);
    const hint = row.why === undefined ? {} : { hint: row.why };
    throw new Fault('request/invalid', `The JDBC parameter ${known} is ${shown}; expected is ${checked.expected}`, hint);
  }
  return { name: known, value: checked.value, effect: row.effect };
}

function unknown(rows: Rows, name: string, afterPassword: boolean): Fault {
  const accepted = Object.keys(rows).filter((key) => rows[key]?.effect === 'address' || rows[key]?.effect === 'session');
  const list = `Accepted are ${accepted.join(', ')}, and some that have no effect`;
  if (afterPassword || !/^[\w.-]{1,80}$/.test(name))
    return new Fault(
      'request/invalid',
      `The JDBC URL has a parameter that is not accepted${afterPassword ? ', behind the password' : ''}`,
      {
        hint: `An & inside of a value is written %26. ${list}`,
      },
    );
  return new Fault('request/invalid', `The JDBC parameter ${name} is not accepted`, {
    hint: `${didYouMean(name, Object.keys(rows))?.replace(/^d/, 'D').concat(' ') ?? ''}${list}`,
  });
}

type Checked = { readonly value: string } | { readonly expected: string };

function checkValue(values: Values, value: string): Checked {
  if (/[\0-\x1f\x7f]/.test(value)) return { expected: 'text without control characters' };
  if (typeof values !== 'string') {
    const lower = value.toLowerCase();
    const [, meant] = Object.entries(values).find(([candidate]) => candidate.toLowerCase() === lower) ?? [];
    return meant === undefined ? { expected: `one of ${Object.keys(values).join(', ')}` } : { value: meant };
  }
  switch (values) {
    case 'text':
      return { value };
    case 'word': // It becomes a part of a connect descriptor.
      return ORACLE_WORD.test(value) ? { value } : { expected: 'a name of letters, digits and _ $ # . -' };
    case 'boolean': // `?ssl` alone means true
      return /^(true|false|)$/i.test(value) ? { value: value.toLowerCase() || 'true' } : { expected: 'true or false' };
    case 'seconds':
      return value === '-1' ? { value: '0' } : checkValue('number', value);
    case 'number':
      return /^\d{1,9}$/.test(value) ? { value: String(Number(value)) } : { expected: 'a whole number up to 999999999' };
    case 'file':
      return checkFile(value);
    case 'zone':
      return checkZone(value);
    case 'encoding':
      return /^utf-?8(mb[34])?$/i.test(value) ? { value: 'UTF-8' } : { expected: 'UTF-8: text is always read as UTF-8' };
    case 'schemas':
      return parseNameList(value, 'postgresql') === undefined ? { expected: 'names of schemas, with commas between' } : { value };
    case 'options':
      return checkOptions(value);
    case 'variables':
      return checkVariables(value);
  }
}

/** `GMT+8`, the Java form, is `+08:00` for the servers. */
function checkZone(value: string): Checked {
  const [, sign, hours, minutes] = /^(?:GMT|UTC|)([+-])(\d{1,2})(?::?(\d{2}))?$/i.exec(value) ?? [];
  if (hours !== undefined) return { value: `${sign}${hours.padStart(2, '0')}:${minutes ?? '00'}` };
  return /^[A-Za-z]\w*(?:\/[\w+-]+)*$/.test(value) ? { value } : { expected: 'a time zone such as UTC, +02:00 or Europe/Madrid' };
}

function checkFile(value: string): Checked {
  const expected = 'the path of a PEM file';
  if (!value.startsWith('file:')) return value === '' || /^(?:\w{2,}:|-----BEGIN)/.test(value) ? { expected } : { value };
  const path = /^file:(?:\/\/(?:localhost)?)?(\/.*)$/.exec(value)?.[1];
  return path === undefined ? { expected } : { value: path };
}

/** `-c name=value`, `-cname=value` or `--name=value`, separated by white space; within a value white space is escaped by a backslash. */
function checkOptions(value: string): Checked {
  const expected = (more: string): Checked => ({ expected: `-c name=value with a name of ${POSTGRES_SETTINGS.join(', ')}${more}` });
  const words = value.match(/(?:[^\s\\]|\\.)+/g) ?? [];
  const settings: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = (words[i] === '-c' ? `-c${words[++i] ?? ''}` : words[i]) as string;
    const [, name, set] = /^(?:-c|--)([\w-]+)=(.*)$/.exec(word) ?? [];
    if (name === undefined || set === undefined) return expected('');
    const known = POSTGRES_SETTINGS.find((setting) => setting.toLowerCase() === name.toLowerCase().replaceAll('-', '_'));
    if (known === undefined) return expected(`; ${name} is not one`);
    settings.push(`-c ${known}=${set}`);
  }
  return /\\$/.test(value.replace(/\\\\/g, '')) ? expected('; it ends with a backslash') : { value: settings.join(' ') };
}

/** `name=value` separated by commas or semicolons; returned as SQL that can follow SET. */
function checkVariables(value: string): Checked {
  const expected = (more: string): Checked => ({
    expected: `name=value with commas between, a value being a number, a word or text in single quotes, and a name of ${MYSQL_SETTINGS.join(', ')}${more}`,
  });
  const assignments: string[] = [];
  const assignment = /\s*(\w+)\s*=\s*(?:'([^'"\\`]*)'|"([^'"\\`]*)"|([\w+\-:/.]+))\s*(?:[,;]|$)/y;
  while (assignment.lastIndex < value.length) {
    const found = assignment.exec(value);
    if (found === null) return expected('');
    const name = (found[1] as string).toLowerCase();
    if (!MYSQL_SETTINGS.includes(name)) return expected(`; ${found[1]} is not one`);
    const word = found[2] ?? found[3] ?? (found[4] as string);
    assignments.push(`${name}=${/^\d{1,15}(\.\d{1,9})?$/.test(word) ? word : `'${word}'`}`);
  }
  return { value: assignments.join(', ') };
}
