import { describe, expect, test } from '@jest/globals';
import { describeFault, Fault } from '../../../src/core/fault.ts';
import { Secret } from '../../../src/core/secret.ts';
import type { DatabaseAddress } from '../../../src/sql/database.ts';
import { type JdbcRequest, parseJdbcUrl } from '../../../src/sql/jdbc/jdbc.ts';
import { JDBC_PARAMETERS } from '../../../src/sql/jdbc/parameters.ts';

const parse = (url: string, more: Partial<JdbcRequest> = {}): DatabaseAddress => parseJdbcUrl({ url, ...more });

function faultOf(act: () => unknown): Fault {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    return error as Fault;
  }
  throw new Error('no fault');
}

/** `host:port / database`, as short as it can be compared. */
const whereOf = ({ server, database }: DatabaseAddress): string => `${server?.host}:${server?.port} / ${database ?? '-'}`;

describe('a JDBC URL says where', () => {
  test.each([
    ['jdbc:postgresql://db.example.com:5433/shop', 'db.example.com:5433 / shop'],
    ['jdbc:postgresql://db.example.com/shop', 'db.example.com:5432 / shop'],
    ['jdbc:postgresql://db.example.com/', 'db.example.com:5432 / -'],
    ['jdbc:postgresql://db.example.com', 'db.example.com:5432 / -'],
    ['jdbc:postgresql:shop', 'localhost:5432 / shop'],
    ['jdbc:postgresql:/shop', 'localhost:5432 / shop'],
    ['jdbc:postgresql:/', 'localhost:5432 / -'],
    ['jdbc:postgresql:', 'localhost:5432 / -'],
    ['jdbc:postgresql:///shop', 'localhost:5432 / shop'],
    ['jdbc:postgresql://:6000/shop', 'localhost:6000 / shop'],
    ['jdbc:postgresql://[fe80::1%eth0]/shop', 'fe80::1%eth0:5432 / shop'],
    ['jdbc:postgresql://h/my%20shop%2Fold%3F', 'h:5432 / my shop/old?'],
    ['jdbc:postgresql://h/%C3%A9t%C3%A9', 'h:5432 / été'],
    ['jdbc:postgresql://h/c++', 'h:5432 / c++'],
    ['JDBC:PostgreSQL://H.Example.COM/Shop', 'h.example.com:5432 / Shop'],
    [' jdbc:postgresql://h/shop\n', 'h:5432 / shop'],
    ['jdbc:mysql://h/shop', 'h:3306 / shop'],
    ['jdbc:mysql://h', 'h:3306 / -'],
    ['jdbc:mysql:///shop', 'localhost:3306 / shop'],
    ['jdbc:mysql://[2001:db8::1]:3307/shop', '2001:db8::1:3307 / shop'],
    ['jdbc:mariadb://h:3307/shop', 'h:3307 / shop'],
  ])('%p', (url, expected) => {
    expect(whereOf(parse(url))).toBe(expected);
  });

  test.each([
    ['jdbc:postgresql://h:70000/shop', 'the port is not a number from 1 to 65535'],
    ['jdbc:postgresql://h:0/shop', 'the port is not a number from 1 to 65535'],
    ['jdbc:postgresql://h:5432x/shop', 'the port is not a number from 1 to 65535'],
    ['jdbc:postgresql://::1/shop', 'the port is not a number'],
    ['jdbc:postgresql://[::1/shop', 'an IPv6 address is written in brackets'],
    ['jdbc:postgresql://[::1]5432/shop', 'an IPv6 address is written in brackets'],
    ['jdbc:postgresql://[gg::1]/shop', 'the IPv6 address is none'],
    ['jdbc:postgresql://%2Fvar%2Frun/shop', 'the host is not a name or address'],
    ['jdbc:postgresql://h h/shop', 'the host is not a name or address'],
    ['jdbc:postgresql://h/shop/orders', 'the database has a / or @'],
    ['jdbc:postgresql://h/%ff', 'the database is not percent-encoded UTF-8'],
    ['jdbc:postgresql://h/a%00b', 'the database is not percent-encoded UTF-8'],
    ['jdbc:postgresql://h/50%', 'the database is not percent-encoded UTF-8'],
    ['jdbc:mysql:shop', 'there is no // behind jdbc:mysql:'],
    ['jdbc:postgresql://h1:5432,h2:5433/shop', 'it has several hosts, or one in parentheses'],
    ['jdbc:mysql://[h1:1,(host=h2,port=2)]/shop', 'it has several hosts, or one in parentheses'],
    ['jdbc:mysql://(host=h1,port=3307)/shop', 'it has several hosts, or one in parentheses'],
    ['jdbc:mariadb://address=(host=h1)(port=3307)/shop', 'it has several hosts, or one in parentheses'],
    ['jdbc:mysql://u:a@h1,u:b@h2/shop', 'it has several hosts, or one in parentheses'],
    ['jdbc:mysql:aurora://h/shop', 'jdbc:mysql:aurora: is not read here: one host is connected to'],
    ['jdbc:mysql:loadbalance://h/shop', 'jdbc:mysql:loadbalance: is not read here: one host is connected to'],
    ['jdbc:postgresql://h/shop?targetServerType=primary', 'targetServerType is "primary"; expected is one of any, preferPrimary'],
  ])('or what is wrong: %p', (url, words) => {
    const fault = faultOf(() => parse(url));
    expect(fault.code).toBe('request/invalid');
    expect(fault.message).toContain(words);
  });
});

describe('the scheme and the driver', () => {
  test.each([
    ['jdbc:postgresql://h/d', undefined, 'postgresql'],
    ['jdbc:postgresql://h/d', '', 'postgresql'],
    ['jdbc:postgresql://h/d', 'postgresql', 'postgresql'],
    ['jdbc:postgresql://h/d', 'org.postgresql.Driver', 'postgresql'],
    ['jdbc:mysql://h/d', 'MySQL', 'mysql'],
    ['jdbc:mysql://h/d', 'com.mysql.cj.jdbc.Driver', 'mysql'],
    ['jdbc:mysql://h/d', 'com.mysql.jdbc.Driver', 'mysql'],
    ['jdbc:mysql://h/d', 'org.mariadb.jdbc.Driver', 'mysql'],
    ['jdbc:mariadb://h/d', 'com.mysql.cj.jdbc.Driver', 'mariadb'],
    ['jdbc:mariadb://h/d', 'mariadb', 'mariadb'],
  ])('%p with %p is %p', (url, driver, product) => {
    expect(parse(url, { driver }).product).toBe(product);
  });

  test.each([
    ['jdbc:db2://h:50000/x', undefined, 'database/driver', 'jdbc:db2: is not supported; supported are jdbc:'],
    [
      'jdbc:snowflake://h/x',
      undefined,
      'database/driver',
      'jdbc:postgresql:, jdbc:mysql:, jdbc:mariadb:, jdbc:sqlserver:, jdbc:oracle:, jdbc:sqlite: and jdbc:duckdb:',
    ],
    ['jdbc:h2:mem:x', undefined, 'database/driver', 'jdbc:h2: is not supported; supported are jdbc:'],
    ['jdbc:constructor://h/x', undefined, 'database/driver', 'jdbc:constructor: is not supported; supported are jdbc:'],
    ['jdbc:postgres://h/x', undefined, 'database/driver', 'Did you mean postgresql?'],
    ['jdbc:mysql+srv://h/x', undefined, 'database/driver', 'jdbc:mysql+srv: is not supported; supported are jdbc:'],
    ['jdbc:mysql://h/x', 'org.h2.Driver', 'database/driver', 'org.postgresql.Driver, com.mysql.cj.jdbc.Driver'],
    ['jdbc:mysql://h/x', 'oracle.jdbc.OracleDriver', 'request/invalid', 'does not read jdbc:mysql: URLs'],
    ['jdbc:mysql://h/x', 'com.mysql.cj.jdbc.Drivr', 'database/driver', 'Did you mean com.mysql.cj.jdbc.Driver'],
    ['jdbc:mysql://h/x', 'org.postgresql.Driver', 'request/invalid', 'does not read jdbc:mysql: URLs'],
    ['jdbc:postgresql://h/x', 'mariadb', 'request/invalid', 'does not read jdbc:postgresql: URLs'],
    [
      'postgres://h/x',
      undefined,
      'request/invalid',
      'but by a URL that begins with postgres:. Expected is jdbc:postgresql://host:5432/database',
    ],
    ['mysql://h/x', undefined, 'request/invalid', 'jdbc:mysql://host:3306/database'],
    ['CONNECTIONDSN', undefined, 'request/invalid', 'not named by a JDBC URL'],
    ['jdbc:', undefined, 'request/invalid', 'not named by a JDBC URL'],
    ['', undefined, 'request/invalid', 'The JDBC URL is empty'],
  ])('%p with %p is refused', (url, driver, code, words) => {
    const fault = faultOf(() => parse(url, { driver }));
    expect(fault.code).toBe(code);
    expect(describeFault(fault)).toContain(words);
  });
});

describe('user and password', () => {
  test.each<[string, Partial<JdbcRequest>, string | undefined, string | undefined]>([
    ['jdbc:postgresql://h/d', {}, undefined, undefined],
    ['jdbc:postgresql://h/d?user=bob&password=s%26c%20r', {}, 'bob', 's&c r'],
    ['jdbc:postgresql://h/d?password=a+b', {}, undefined, 'a b'],
    ['jdbc:mysql://h/d?password=a+b', {}, undefined, 'a+b'],
    ['jdbc:mysql://bob:s%40c@h/d', {}, 'bob', 's@c'],
    ['jdbc:mysql://bob:s@c:x@h/d', {}, 'bob', 's@c:x'],
    ['jdbc:mysql://bob@h/d', {}, 'bob', undefined],
    ['jdbc:mysql://bob:@h/d', {}, 'bob', ''],
    ['jdbc:mysql://bob:(x),@h/d'.replace(',', '%2C'), {}, 'bob', '(x),'],
    ['jdbc:mysql://amy:y@h/d?user=bob&password=x', {}, 'bob', 'x'],
    ['jdbc:mysql://amy:y@h/d?user=bob', { user: 'eve', password: new Secret('') }, 'eve', ''],
    ['jdbc:mysql://amy:y@h/d', { user: '', parameters: [['user', 'b%20b']] }, 'b%20b', 'y'],
    ['jdbc:mysql://h/d?user=a&user=b', { parameters: [['password', 'p+&%']] }, 'b', 'p+&%'],
  ])('of %p with %j', (url, request, user, password) => {
    const address = parse(url, request);
    expect([address.user, address.password?.reveal()]).toEqual([user, password]);
  });

  test.each<[string, Partial<JdbcRequest>, string | undefined]>([
    ['jdbc:postgresql://h', { user: 'bob' }, 'bob'],
    ['jdbc:postgresql:/?user=bob', {}, 'bob'],
    ['jdbc:postgresql://h/d', { user: 'bob' }, 'd'],
    ['jdbc:mysql://h', { user: 'bob' }, undefined],
  ])('PostgreSQL calls the database like the user: %p with %j', (url, request, database) => {
    expect(parse(url, request).database).toBe(database);
  });

  test.each<[string, string, Partial<JdbcRequest>?]>([
    ['jdbc:postgresql://bob:sesame@[::1]:7/my%20d?password=sesame&user=bob&sslmode=require', 'jdbc:postgresql://[::1]:7/my%20d'],
    ['jdbc:mysql://bob:sesame@h', 'jdbc:mysql://h:3306/'],
    ['jdbc:postgresql:d', 'jdbc:postgresql://localhost:5432/d', { user: 'bob', password: new Secret('sesame') }],
  ])('are not in the name of %p', (url, name, request = {}) => {
    expect(parse(url, request).name).toBe(name);
  });

  test.each<[string, Partial<JdbcRequest>?]>([
    ['jdbc:postgresql://bob:ses/ame@h/d'],
    ['jdbc:postgresql://bob:ses?ame@h/d'],
    ['jdbc:postgresql://bob:12?ses@h/d'],
    ['jdbc:postgresql://bob:12/ses@h/d'],
    ['jdbc:postgresql://bob:ses@h h/d'],
    ['jdbc:postgresql://bob:ses%zz@h/d'],
    ['jdbc:postgresql://h/d?password=a&ses=b'],
    ['jdbc:postgresql://h/d?password=a&ses'],
    ['jdbc:postgresql://h/d?password=ses%zz'],
    ['jdbc:postgresql://h/d?pasword=ses'],
    ['jdbc:postgresql://h/d?password=ses%0A'],
    ['jdbc:mysql://address=(host=h)(password=ses)me)/d'],
    ['jdbc:mysql://(host=h,port=x,password=ses)/d'],
    ['jdbc:mysql://bob:ses@h1,bob:ses@h2/d'],
    ['jdbc:mysql://bob:a,ses@h/d'],
    ['postgres://bob:ses@h/d'],
    ['jdbc:oracle:thin:bob/ses@h'],
    ['jdbc:mysql://h/d', { password: new Secret('ses'), driver: 'org.postgresql.Driver' }],
    ['jdbc:postgresql://h/d', { password: new Secret('ses'), parameters: [['sslmode', 'x']] }],
    ['jdbc:postgresql://h/d', { parameters: [['password', 'ses\0']] }],
  ])('are in no message: %p %j', (url, request = {}) => {
    const fault = faultOf(() => parse(url, request));
    expect(JSON.stringify([describeFault(fault), fault.toJSON()])).not.toMatch(/\bses/);
    expect(fault.message.length).toBeGreaterThan(20);
  });
});

describe('TLS', () => {
  test.each([
    ['jdbc:postgresql://h/d', 'prefer'],
    ['jdbc:postgresql://h/d?ssl=true', 'verify-full'],
    ['jdbc:postgresql://h/d?ssl', 'verify-full'],
    ['jdbc:postgresql://h/d?ssl=false', 'prefer'],
    ['jdbc:postgresql://h/d?ssl=true&sslmode=require', 'require'],
    ['jdbc:postgresql://h/d?sslmode=disable', 'disable'],
    ['jdbc:postgresql://h/d?sslmode=allow', 'prefer'],
    ['jdbc:postgresql://h/d?sslmode=verify-ca', 'verify-ca'],
    ['jdbc:postgresql://h/d?sslmode=Verify-Full', 'verify-full'],
    ['jdbc:mysql://h/d', 'prefer'],
    ['jdbc:mysql://h/d?useSSL=false', 'disable'],
    ['jdbc:mysql://h/d?useSSL=false&requireSSL=true', 'disable'],
    ['jdbc:mysql://h/d?useSSL=true', 'prefer'],
    ['jdbc:mysql://h/d?useSSL=true&requireSSL=true', 'require'],
    ['jdbc:mysql://h/d?verifyServerCertificate=true', 'verify-ca'],
    ['jdbc:mysql://h/d?useSSL=false&sslMode=VERIFY_IDENTITY', 'verify-full'],
    ['jdbc:mysql://h/d?sslMode=DISABLED', 'disable'],
    ['jdbc:mysql://h/d?sslMode=required', 'require'],
    ['jdbc:mysql://h/d?sslMode=VERIFY_CA', 'verify-ca'],
    ['jdbc:mariadb://h/d?sslMode=trust', 'require'],
    ['jdbc:mariadb://h/d?sslMode=verify-full', 'verify-full'],
    ['jdbc:mariadb://h/d?useSsl=true', 'verify-full'],
    ['jdbc:mariadb://h/d?useSsl=true&trustServerCertificate=true', 'require'],
  ])('%p means %p', (url, mode) => {
    expect(parse(url).tls.mode).toBe(mode);
  });

  test('files are named by their paths', () => {
    const files = 'sslrootcert=/etc/ca.pem&sslcert=%2Fetc%2Fme.pem&sslkey=file:///etc/me.key';
    expect(parse(`jdbc:postgresql://h/d?${files}`).tls).toEqual({
      mode: 'prefer',
      caFile: '/etc/ca.pem',
      certificateFile: '/etc/me.pem',
      keyFile: '/etc/me.key',
    });
    expect(parse('jdbc:mariadb://h/d?serverSslCert=/etc/ca.pem').tls.caFile).toBe('/etc/ca.pem');
  });

  test.each([
    ['jdbc:postgresql://h/d?sslrootcert=/etc/passwd', 'sslrootcert'],
    ['jdbc:postgresql://h/d?SSLKEY=/etc/passwd', 'sslkey'],
    ['jdbc:mysql://h/d?serverSslCert=/etc/passwd', 'serverSslCert'],
  ])('a stranger may not name files: %p', (url, name) => {
    const fault = faultOf(() => parse(url, { trusted: false }));
    expect(fault.code).toBe('request/invalid');
    expect(fault.message).toContain(`${name} names a file`);
    expect(fault.message).not.toContain('/etc');
  });

  test('a stranger may not name files beside the URL either', () => {
    expect(faultOf(() => parse('jdbc:postgresql://h/d', { trusted: false, parameters: [['sslcert', 'x']] })).message).toContain('sslcert');
  });

  test('a certificate needs its key', () => {
    expect(faultOf(() => parse('jdbc:postgresql://h/d?sslcert=/a')).message).toContain('belong together');
  });
});

describe('URLs of SQL Server', () => {
  test.each([
    ['//h', { server: { host: 'h', port: 1433 }, database: undefined, tls: 'verify-full', name: 'jdbc:sqlserver://h:1433' }],
    [
      '//H:1500;databaseName=Sales',
      { server: { host: 'h', port: 1500 }, database: 'Sales', name: 'jdbc:sqlserver://h:1500;databaseName=Sales' },
    ],
    ['//h;database=a b;encrypt=false', { database: 'a b', tls: 'disable' }],
    ['//h;encrypt=true;trustServerCertificate=true;', { tls: 'require' }],
    ['//;serverName=[::1];portNumber=99', { server: { host: '::1', port: 99 } }],
    ['//h\\prod;databaseName=x', { parameters: { instanceName: 'prod' }, name: 'jdbc:sqlserver://h\\prod;databaseName=x' }],
    ['//h\\prod:1444', { server: { host: 'h', port: 1444 }, parameters: {} }],
    ['//h;instanceName=prod', { parameters: { instanceName: 'prod' } }],
    ['//h;user=ann;password={a;b}}c{=};databaseName={x y}', { user: 'ann', password: new Secret('a;b}c{='), database: 'x y' }],
    ['//h;integratedSecurity=false;authentication=SqlPassword;sendTimeAsDatetime=true', { parameters: {} }],
    [
      '//h;queryTimeout=-1;lockTimeout=500;applicationIntent=readonly',
      { parameters: { queryTimeout: '0', lockTimeout: '500', applicationIntent: 'ReadOnly' } },
    ],
    ['//h;domain=CORP;authenticationScheme=NTLM', { parameters: { domain: 'CORP' } }],
  ])('%s', (rest, expected) => {
    const { tls, ...address } = parse(`jdbc:sqlserver:${rest}`);
    expect({ ...address, tls: tls.mode }).toMatchObject(expected);
  });

  test.each([
    ['h;databaseName=x', 'no // behind jdbc:sqlserver:'],
    ['//h/x', 'properties follow behind a semicolon'],
    ['//h;databaseName', 'name=value'],
    ['//h;password={a;databaseName=x', 'a value with ; { } stands in braces'],
    ['//h;integratedSecurity=true', 'integratedSecurity is "true"'],
    ['//h;authentication=ActiveDirectoryPassword', 'Give user and password'],
    ['//h;encrypt=strict', 'encrypt is "strict"'],
    ['//h;columnEncryptionSetting=Enabled', 'encrypted columns cannot be read here'],
    ['//h;trustStore=x.jks', 'name a PEM file with serverCertificate'],
    ['//h;failoverPartner=g', 'failoverPartner is not supported'],
    ['//h;databasName=x', 'databasName is not accepted'],
    ['//h:99999', 'the port is not a number'],
  ])('%s is refused', (rest, words) => {
    const fault = faultOf(() => parse(`jdbc:sqlserver:${rest}`));
    expect(fault.code).toBe('request/invalid');
    expect(describeFault(fault)).toContain(words);
  });

  test('a file of the machine is not named by a request', () => {
    const fault = faultOf(() => parse('jdbc:sqlserver://h;serverCertificate=/etc/x.pem', { trusted: false }));
    expect(fault.message).toContain("a file of the server's machine");
  });
});

describe('URLs of Oracle', () => {
  const DATA = '(CONNECT_DATA=(SERVICE_NAME=sales))';
  const address = (host: string, port = 1521, protocol = 'TCP'): string => `(ADDRESS=(PROTOCOL=${protocol})(HOST=${host})(PORT=${port}))`;
  const H = { host: 'h', port: 1521 };

  test.each([
    ['@//h:1600/sales', { server: { host: 'h', port: 1600 }, database: 'sales', tls: 'disable', name: 'jdbc:oracle:thin:@//h:1600/sales' }],
    ['@h/sales', { server: H, database: 'sales' }],
    ['@h:1521/sales.example.com', { database: 'sales.example.com' }],
    ['@h:1521:XE', { database: 'XE', parameters: { sid: 'XE' } }],
    ['@[::1]:1521/sales', { server: { host: '::1', port: 1521 } }],
    ['@tcps://h:2484/sales?ssl_server_dn_match=false', { tls: 'verify-ca', database: 'sales' }],
    ['@tcps://h:2484/sales?connect_timeout=9', { tls: 'verify-full', parameters: { connect_timeout: '9' } }],
    ['scott/tiger@//h/sales', { user: 'scott', password: new Secret('tiger') }],
    ['"Scott"/"t@/g"@//h/sales', { user: 'Scott' }],
    ['@//h/sales:pooled/inst1', { database: 'sales', parameters: { server: 'pooled', instance_name: 'inst1' } }],
    [
      `@(DESCRIPTION=${address('db.example', 1522)}${DATA})`,
      { server: { host: 'db.example', port: 1522 }, database: 'sales', parameters: {} },
    ],
    [`@ ( description = ${address("'h'")} (connect_data=(sid="XE")) ) `, { server: H, database: 'XE', parameters: { sid: 'XE' } }],
    [`@(DESCRIPTION=(ADDRESS=(HOST=h))${DATA})`, { server: H, tls: 'disable' }],
    [
      `@(DESCRIPTION=(RETRY_COUNT=2)(SDU=8192)${address('h')}${DATA.replace('))', ')(SERVER=DEDICATED))')})`,
      { server: H, database: 'sales', parameters: { retry_count: '2', server: 'dedicated' } },
    ],
    [
      `@(DESCRIPTION=${address('::1', 2484, 'TCPS')}${DATA}(SECURITY=(SSL_SERVER_DN_MATCH=off)(SSL_SERVER_CERT_DN="CN=h,O=(x)")))`,
      { server: { host: '::1', port: 2484 }, tls: 'verify-ca', parameters: { ssl_server_cert_dn: 'CN=h,O=(x)' } },
    ],
  ])('%s', (rest, expected) => {
    if (rest.startsWith('"'))
      return expect(() => parse(`jdbc:oracle:thin:${rest}`)).toThrow('what stands before the @ is not user/password');
    const { tls, ...found } = parse(`jdbc:oracle:thin:${rest}`);
    expect({ ...found, tls: tls.mode }).toMatchObject(expected);
    expect(found.parameters).toEqual('parameters' in expected ? expected.parameters : expect.anything());
  });

  test.each([
    ['oci:@//h/x', "needs Oracle's client"],
    ['thin:h:1521/x', 'there is no @ before the host'],
    ['thin:@sales', 'sales is an alias of tnsnames.ora'],
    ['thin:@sales?TNS_ADMIN=/etc', 'sales is an alias of tnsnames.ora'],
    ['thin:@ldap://h/x', 'directories (ldap:) are not asked'],
    ['thin:@config-file://etc/x', 'it is not //host:port/service'],
    ['thin:@//h,127.0.0.1:1521:XE', 'it has several hosts'],
    [
      'thin:@//h:1521/x))(ADDRESS=(PROTOCOL=TCP)(HOST=127.0.0.1)(PORT=1521))(CONNECT_DATA=(SERVICE_NAME=x',
      'its service or SID is not a name',
    ],
    ['thin:@//h:1521/x?sid=X))(ADDRESS=(HOST=127.0.0.1)', 'sid is "X))(ADDRESS=(HOST=127.0.0.1)"; expected is a name of letters'],
    ['thin:@//h:1521/x?description=(DESCRIPTION=(ADDRESS=(HOST=127.0.0.1)))', 'description is not accepted'],
    ['thin:@//h:1521/x?https_proxy=127.0.0.1', 'https_proxy is not supported: proxies are not used'],
    ['thin:@//h,g:1521/x', 'it has several hosts, and one is connected to'],
    ['thin:@//h:1521;g/x', 'it has several hosts, and one is connected to'],
    ['thin:@//h/x?load_balance=on', 'load_balance is not supported: one host is connected to'],
    ['thin:@//h:1521/x?source_route=on', 'source_route is "on"; expected is one of off, no, false'],
    ['thin:@(DESCRIPTION=(ADDRESS=(HOST=h))', 'parentheses are not those of one (DESCRIPTION=…)'],
    [`thin:@(DESCRIPTION=${address('h')}${DATA})(ADDRESS=(HOST=g))`, 'something follows its description'],
    ['thin:@(DESCRIPTION=(ADDRESS=(HOST=h))(SECURITY=(MY_WALLET_DIRECTORY=/w)))', 'MY_WALLET_DIRECTORY is not supported'],
    ['thin:@(DESCRIPTION=(IFILE=/etc/passwd))', 'IFILE is not supported in a description: files of this machine are not read'],
    [
      `thin:@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCPS)(HOST=h)(HTTPS_PROXY=127.0.0.1))${DATA})`,
      'HTTPS_PROXY is not supported in a description: proxies',
    ],
    [`thin:@(DESCRIPTION=(SOURCE_ROUTE=YES)${address('h')}${DATA})`, 'connections do not go by way of other addresses'],
    [`thin:@(DESCRIPTION=(ADDRESS_LIST=${address('h')})${DATA})`, 'ADDRESS_LIST is not supported in a description: one address'],
    [`thin:@(DESCRIPTION=(LOAD_BALANCE=ON)${address('h')}${DATA})`, 'LOAD_BALANCE is not supported in a description: one address'],
    [`thin:@(DESCRIPTION=${address('h')}${address('g')}${DATA})`, 'ADDRESS stands twice in its description'],
    [
      `thin:@(DESCRIPTION=(CONNECT_DATA=(SERVICE_NAME=x)(HOST=public))(ADDRESS=(HOST=h)))`,
      'HOST is not supported in a description: accepted in CONNECT_DATA',
    ],
    [`thin:@(DESCRIPTION=${DATA}${DATA}${address('h')})`, 'CONNECT_DATA stands twice in its description'],
    ['thin:@(DESCRIPTION=(ADDRESS=(HOST=public)(HOST=127.0.0.1)))', 'HOST stands twice in its description'],
    ['thin:@(DESCRIPTION=(ADDRESS=(HOST=public)(ADDRESS=(HOST=127.0.0.1))))', 'ADDRESS is not supported in a description'],
    ['thin:@(DESCRIPTION=(ADDRESS=(HOST=(HOST=127.0.0.1))))', 'HOST of its description is not (HOST=text)'],
    ['thin:@(DESCRIPTION=(ADDRESS=h))', 'ADDRESS of its description is not (ADDRESS=(…=…))'],
    ['thin:@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(PORT=1521)))', 'its description has no ADDRESS with a HOST'],
    [`thin:@(DESCRIPTION=${DATA})`, 'its description has no ADDRESS with a HOST'],
    ['thin:@(DESCRIPTION=(ADDRESS=(PROTOCOL=IPC)(HOST=h)))', 'only the protocols tcp and tcps are supported'],
    ['thin:@(DESCRIPTION=(ADDRESS=(PROTOCOL=IPC)(KEY=x)))', 'KEY is not supported in a description'],
    [`thin:@(DESCRIPTION_LIST=(DESCRIPTION=${address('h')}${DATA}))`, 'DESCRIPTION_LIST is not supported in a description: one address'],
    ['thin:@(ADDRESS=(HOST=127.0.0.1))', 'ADDRESS is not supported in a description'],
    [`thin:@(DESCRIPTION=${address('h"')}${DATA})`, 'parentheses are not those of one (DESCRIPTION=…)'],
    [`thin:@(DESCRIPTION=${address('h\\(x\\)')}${DATA})`, 'parentheses are not those of one (DESCRIPTION=…)'],
    [`thin:@(DESCRIPTION=${address('h # x')}${DATA})`, 'parentheses are not those of one (DESCRIPTION=…)'],
    [`thin:@(DESCRIPTION=${address("'h)(PORT=1'")}${DATA})`, 'the host is not a name or address'],
    [`thin:@${'(DESCRIPTION='.repeat(5000)}`, 'DESCRIPTION is not supported in a description: accepted in DESCRIPTION'],
    ['thin:@tcps://h/x?wallet_location=/w', 'wallet_location is not supported'],
    ['thin:@//h/x?foo=1', 'foo is not accepted'],
  ])('%s is refused', (rest, words) => {
    const fault = faultOf(() => parse(`jdbc:oracle:${rest}`));
    expect(fault.code).toBe('request/invalid');
    expect(describeFault(fault)).toContain(words);
  });
});

describe('parameters for the driver', () => {
  test.each<[string, Record<string, string>]>([
    [
      'jdbc:postgresql://h/d?ApplicationName=my+app&connectTimeout=05&socketTimeout=0',
      { ApplicationName: 'my app', connectTimeout: '5', socketTimeout: '0' },
    ],
    ['jdbc:postgresql://h/d?applicationname=x&tcpKeepAlive=TRUE', { ApplicationName: 'x', tcpKeepAlive: 'true' }],
    ['jdbc:postgresql://h/d?targetServerType=preferSlave&loginTimeout=3', { loginTimeout: '3' }],
    [
      'jdbc:postgresql://h/d?options=-c%20search_path=test,public%20--statement-timeout=90s%20-ctimezone=UTC',
      { options: '-c search_path=test,public -c statement_timeout=90s -c TimeZone=UTC' },
    ],
    ['jdbc:postgresql://h/d?options=-c%20search_path=a,%5C%20b', { options: '-c search_path=a,\\ b' }],
    ['jdbc:postgresql://h/d?readOnly=true&defaultRowFetchSize=1000&prepareThreshold=5&stringtype=unspecified&', {}],
    [
      'jdbc:mysql://h/d?tinyInt1isBit=false&zeroDateTimeBehavior=CONVERT_TO_NULL',
      { tinyInt1isBit: 'false', zeroDateTimeBehavior: 'convertToNull' },
    ],
    [
      'jdbc:mysql://h/d?serverTimezone=GMT+8&connectionTimeZone=Europe/Madrid',
      { serverTimezone: '+08:00', connectionTimeZone: 'Europe/Madrid' },
    ],
    ['jdbc:mysql://h/d?serverTimezone=GMT%2B8', { serverTimezone: '+08:00' }],
    [
      'jdbc:mysql://h/d?serverTimezone=-03:30&connectionTimeZone=Etc/GMT%2B3',
      { serverTimezone: '-03:30', connectionTimeZone: 'Etc/GMT+3' },
    ],
    ['jdbc:mysql://h/d?serverTimezone=UTC&connectionTimeZone=SERVER', { serverTimezone: 'UTC', connectionTimeZone: 'SERVER' }],
    ['jdbc:mysql://h/d?useUnicode=true&characterEncoding=utf8&autoReconnect=true&allowPublicKeyRetrieval=true&useCursorFetch=true', {}],
    ['jdbc:mysql://h/d?rewriteBatchedStatements=true&useServerPrepStmts=true&cachePrepStmts=true&defaultFetchSize=50', {}],
    [
      'jdbc:mysql://h/d?sessionVariables=sql_mode=\'ANSI_QUOTES,PAD_CHAR_TO_FULL_LENGTH\',max_execution_time=500;time_zone="%2B00:00"',
      { sessionVariables: "sql_mode='ANSI_QUOTES,PAD_CHAR_TO_FULL_LENGTH', max_execution_time=500, time_zone='+00:00'" },
    ],
  ])('%p gives %j', (url, expected) => {
    expect(parse(url).parameters).toEqual(expected);
  });

  test.each([
    ['public', ['public']],
    ['"My Schema", Sales,$user', ['My Schema', 'sales', '$user']],
    ['', undefined],
    ['a.b', undefined],
    ['a,', undefined],
    ['a b', undefined],
    ['"a', undefined],
  ])('currentSchema=%p', (text, expected) => {
    const act = (): readonly string[] => parse('jdbc:postgresql://h/d', { parameters: [['currentSchema', text]] }).schemas;
    if (expected === undefined) expect(faultOf(act).message).toContain('names of schemas');
    else expect(act()).toEqual(expected);
  });

  test('those of the request win over those of the URL', () => {
    const parameters: [string, string][] = [
      ['ApplicationName', 'a%20b'],
      ['ssl', 'true'],
    ];
    const address = parse('jdbc:postgresql://h/d?ApplicationName=x&ssl=false', { parameters });
    expect([address.parameters.ApplicationName, address.tls.mode]).toEqual(['a%20b', 'verify-full']);
  });

  test.each([
    ['jdbc:mysql://h/d?allowLoadLocalInfile=true', 'allowLoadLocalInfile is not accepted'],
    ['jdbc:mysql://h/d?allowUrlInLocalInfile=true', 'is not accepted'],
    ['jdbc:mysql://h/d?allowMultiQueries=true', 'is not accepted'],
    ['jdbc:mysql://h/d?autoDeserialize=true', 'is not accepted'],
    ['jdbc:mysql://h/d?queryInterceptors=com.mysql.cj.jdbc.interceptors.ServerStatusDiffInterceptor', 'is not accepted'],
    ['jdbc:mysql://h/d?socketFactory=x', 'is not accepted'],
    ['jdbc:mysql://h/d?createDatabaseIfNotExist=true', 'is not accepted'],
    ['jdbc:mysql://h/d?__proto__=x', 'is not accepted'],
    ['jdbc:mysql://h/d?constructor=x', 'is not accepted'],
    ['jdbc:postgresql://h/d?socketFactory=org.springframework.context.support.FileSystemXmlApplicationContext', 'is not accepted'],
    ['jdbc:postgresql://h/d?loggerFile=/tmp/x', 'is not accepted'],
    ['jdbc:postgresql://h/d?sslfactory=org.postgresql.ssl.NonValidatingFactory', 'sslmode=require'],
    ['jdbc:postgresql://h/d?sslpassword=x', 'a PEM file without one'],
    ['jdbc:mysql://h/d?trustCertificateKeyStoreUrl=file:/x', 'name a PEM file with serverSslCert'],
    ['jdbc:mysql://h/d?zeroDateTimeBehavior=round', 'expected is one of convertToNull'],
    ['jdbc:mysql://h/d?characterEncoding=latin1', 'text is always read as UTF-8'],
    ['jdbc:mysql://h/d?useUnicode=false', 'expected is one of true'],
    ['jdbc:mysql://h/d?serverTimezone=UTC;drop', 'a time zone such as UTC'],
    ['jdbc:mysql://h/d?connectTimeout=5s', 'a whole number'],
    ['jdbc:mysql://h/d?connectTimeout=-1', 'a whole number'],
    ['jdbc:mysql://h/d?tinyInt1isBit=1', 'true or false'],
    ['jdbc:mysql://h/d?serverSslCert=classpath:ca.pem', 'the path of a PEM file'],
    ['jdbc:mysql://h/d?serverSslCert=https://x/ca.pem', 'the path of a PEM file'],
    ['jdbc:mysql://h/d?sessionVariables=local_infile=1', 'local_infile is not one'],
    ['jdbc:mysql://h/d?sessionVariables=global sql_mode=1', 'name=value'],
    ['jdbc:mysql://h/d?sessionVariables=sql_mode=(select 1)', 'name=value'],
    ["jdbc:mysql://h/d?sessionVariables=sql_mode='a\\'", 'name=value'],
    ["jdbc:mysql://h/d?sessionVariables=sql_mode='a", 'name=value'],
    ['jdbc:mysql://h/d?sessionVariables=sql_mode=1 set global x=1', 'name=value'],
    ['jdbc:postgresql://h/d?sslmode=maybe', 'one of disable, prefer, require'],
    ['jdbc:postgresql://h/d?options=-c%20session_preload_libraries=x', 'session_preload_libraries is not one'],
    ['jdbc:postgresql://h/d?options=-c%20bytea_output=escape', 'bytea_output is not one'],
    ['jdbc:postgresql://h/d?options=-c%20search_path=x%20-f%20/etc/passwd', '-c name=value'],
    ['jdbc:postgresql://h/d?options=-c', '-c name=value'],
    ['jdbc:postgresql://h/d?options=-c%20search_path=x%5C', 'ends with a backslash'],
    ['jdbc:postgresql://h/d?ApplicationName=a%00b', 'not percent-encoded UTF-8'],
    ['jdbc:postgresql://h/d?ApplicationName=%ff', 'not percent-encoded UTF-8'],
  ])('%p is refused', (url, words) => {
    const fault = faultOf(() => parse(url));
    expect(fault.code).toBe('request/invalid');
    expect(describeFault(fault)).toContain(words);
  });

  test.each<[given: Readonly<Record<string, unknown>>, message: string, hint: string]>([
    [{ password: 12345 }, 'The password of the database is a number', 'as a text, or as a Secret'],
    [{ password: { text: 'x' } }, 'The password of the database is an object', 'as a text, or as a Secret'],
    [{ password: Buffer.from('x') }, 'The password of the database is an object', 'as a text, or as a Secret'],
    [{ user: true }, 'The user of the database is a boolean', 'Give it as a text'],
    [{ url: 5 }, 'The JDBC URL of the database is a number', 'Give it as a text'],
  ])('%j is no text', (given, message, hint) => {
    const fault = faultOf(() => parse('jdbc:postgresql://h/d', given as Partial<JdbcRequest>));
    expect([fault.code, fault.message, fault.hint]).toEqual(['request/invalid', message, expect.stringContaining(hint)]);
  });

  test('a mistyped name gets the near ones', () => {
    const fault = faultOf(() => parse('jdbc:postgresql://h/d?curentSchema=x'));
    expect(fault.hint).toMatch(/^Did you mean currentSchema\? Accepted are user, password, ssl,/);
  });

  test('no row without effect can be written in two cases, and none names a Java class or another file', () => {
    for (const rows of Object.values(JDBC_PARAMETERS)) {
      const names = Object.keys(rows);
      expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
      const dangerous = /factory|interceptor|plugin|infile|multiquer|deserial|logger|socket$|^service$|passfile/i;
      expect(names.filter((name) => dangerous.test(name) && rows[name]?.effect !== 'refused')).toEqual([]);
    }
  });
});
