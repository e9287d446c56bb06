/** TLS to MariaDB, and the texts of queries that are looked at before the server sees them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import type { Fault } from '../../../src/core/fault.ts';
import type { SqlSession } from '../../../src/sql/database.ts';
import { parseJdbcUrl } from '../../../src/sql/jdbc/jdbc.ts';
import { openMysql } from '../../../src/sql/mysql/mysql.ts';
import { lookAt } from '../../../src/sql/mysql/text.ts';
import { type Mariadb, missingMariadb, startMariadb } from '../../servers/databases/mariadb.ts';

const missing = (await missingMariadb()) ?? (spawnSync('openssl', ['version']).status === 0 ? undefined : 'there is no openssl');
const suite = missing === undefined ? describe : describe.skip;

let server: Mariadb;
let directory: string;
const file = (name: string): string => join(directory, name);

beforeAll(async () => {
  if (missing !== undefined) return;
  directory = mkdtempSync(join(tmpdir(), 'quadmill-tls-'));
  chmodSync(directory, 0o755);
  const openssl = (...words: readonly string[]): unknown => execFileSync('openssl', words, { cwd: directory, stdio: 'pipe' });
  const authority = (name: string): unknown =>
    openssl(
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
    );
  authority('ours');
  authority('another');
  openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-keyout', 'server.key', '-out', 'server.csr');
  openssl(
    'x509',
    '-req',
    '-in',
    'server.csr',
    '-CA',
    'ours.pem',
    '-CAkey',
    'ours.key',
    '-CAcreateserial',
    '-days',
    '2',
    '-out',
    'server.pem',
  );
  chmodSync(file('server.key'), 0o644);
  const started = await startMariadb({ arguments: [`--ssl-cert=${file('server.pem')}`, `--ssl-key=${file('server.key')}`] });
  if ('skip' in started) throw new Error(started.skip);
  server = started;
}, 60_000);

afterAll(async () => {
  await server?.stop();
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
});

const open = (host: string, parameters: string): Promise<SqlSession> =>
  openMysql(parseJdbcUrl({ url: `jdbc:mariadb://${host}:${server.port}/test?user=root${parameters}` }), RUN_DEFAULTS.sql);

suite('TLS', () => {
  test.each([
    ['without a word of it', 'localhost', () => '', true],
    ['sslMode=DISABLED', 'localhost', () => '&sslMode=DISABLED', false],
    ['sslMode=REQUIRED', 'localhost', () => '&sslMode=REQUIRED', true],
    ['sslMode=VERIFY_CA', '127.0.0.1', () => `&sslMode=VERIFY_CA&serverSslCert=${file('ours.pem')}`, true],
    ['sslMode=VERIFY_IDENTITY', 'localhost', () => `&sslMode=VERIFY_IDENTITY&serverSslCert=${file('ours.pem')}`, true],
  ])('%s connects to %s', async (_, host, parameters, encrypted) => {
    const session = await open(host, parameters());
    const [row] = await session.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'");
    expect(row?.Value !== '').toBe(encrypted);
    let bytes = 0;
    for await (const batch of session.rows('SELECT seq FROM seq_1_to_100000', 1)) bytes = batch.bytes;
    expect(bytes).toBeGreaterThan(500_000);
    for await (const _batch of session.rows('SELECT a.seq FROM seq_1_to_1000000 a, seq_1_to_1000000 b', 1)) break;
    expect(await session.query('SELECT 1 AS one')).toEqual([{ one: '1' }]);
    await session.close();
  });

  test.each([
    ['a certificate of another authority', 'localhost', () => `&sslMode=VERIFY_CA&serverSslCert=${file('another.pem')}`, /TLS failed/],
    ['the usual authorities', 'localhost', () => '&sslMode=VERIFY_CA', /TLS failed/],
    [
      'an address in place of a name',
      '127.0.0.1',
      () => `&sslMode=VERIFY_IDENTITY&serverSslCert=${file('ours.pem')}`,
      /against an address/,
    ],
    ['a file that is not there', 'localhost', () => `&sslMode=VERIFY_CA&serverSslCert=${file('none.pem')}`, /none\.pem cannot be read/],
  ])('%s is refused', async (_, host, parameters, message) => {
    const fault = await open(host, parameters()).then(
      () => Promise.reject(new Error('it was not refused')),
      (error: Fault) => error,
    );
    expect(fault.code).toBe('database/unreachable');
    expect(fault.message).toMatch(message);
  });
});

describe('the text of a query', () => {
  test.each([
    ['SELECT 1', true, 'SELECT 1', false],
    ['SELECT 1 ; ;\n', true, 'SELECT 1 ', false],
    ["SELECT ';'", true, "SELECT ';'", false],
    ['SELECT 1; SELECT 2;', true, 'SELECT 1; SELECT 2', false],
    ['SELECT 1 -- ;', true, 'SELECT 1 -- ;', false],
    ['SELECT 1--;', true, 'SELECT 1--', false],
    ["SELECT 'a\\'; FOR UPDATE'", true, "SELECT 'a\\'; FOR UPDATE'", false],
    ["SELECT 'a\\' ; -- '", false, "SELECT 'a\\' ", false],
    ['SELECT `a``;`;', true, 'SELECT `a``;`', false],
    ['SELECT 1 for\tUPDATE', true, 'SELECT 1 for\tUPDATE', true],
    ['SELECT 1 FOR/**/SHARE', true, 'SELECT 1 FOR/**/SHARE', true],
    ['SELECT 1 /*!50000 FOR UPDATE */;', true, 'SELECT 1 /*!50000 FOR UPDATE */', true],
    ['SELECT 1 LOCK IN SHARE MODE', true, 'SELECT 1 LOCK IN SHARE MODE', true],
    ['SELECT 1 AS `FOR`, `UPDATE`', true, 'SELECT 1 AS `FOR`, `UPDATE`', false],
  ])('%j with backslashes %j is %j and locks: %j', (sql, backslashes, text, locks) => {
    expect(lookAt(sql, backslashes)).toEqual({ text, locks });
  });
});
