/** What options that were changed while the process runs may name, and that they widen nothing. */
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { OPTION_NAMES, type OptionName, type OptionValues, optionRow } from '../../../src/config/options/options.ts';
import { assertPlace } from '../../../src/config/places.ts';
import { reachOf } from '../../../src/config/run-defaults.ts';
import { openConfig, type SharedSettings } from '../../../src/config/store.ts';

let root: string;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'quadmill-places-')));
  for (const name of ['data/mappings', 'open', 'elsewhere']) await mkdir(join(root, name), { recursive: true });
  await symlink(join(root, 'elsewhere'), join(root, 'data/link'));
});
afterAll(() => rm(root, { recursive: true }));

function memorySettings(): SharedSettings {
  const values = new Map<string, string>();
  return {
    get: async (key) => values.get(key),
    async compareAndSet(key, expected, value) {
      if (values.get(key) !== expected) return false;
      values.set(key, value);
      return true;
    },
    watch: () => () => {},
  };
}

const started = async (more: OptionValues = {}) => openConfig({ HOST: '0.0.0.0', DATA_DIR: join(root, 'data'), ...more }, memorySettings());

const CLOSED: OptionValues = {};
const LISTED: OptionValues = { ALLOWED_DIRECTORIES: ['open'], ALLOWED_HOSTS: ['maps.invalid', '10.0.0.7:9000'] };
const ALONE: OptionValues = { HOST: '127.0.0.1' };
const PRIVATE: OptionValues = { ALLOW_PRIVATE_ADDRESSES: true };

test.each<[OptionValues, OptionName, string, boolean]>([
  [CLOSED, 'MAPPINGS_DIR_URL', '/etc', false],
  [CLOSED, 'MAPPINGS_DIR_URL', 'file:///etc', false],
  [CLOSED, 'MAPPINGS_DIR_URL', 'data/mappings/own', true],
  [CLOSED, 'MAPPINGS_DIR_URL', 'data/link', false],
  [CLOSED, 'MAPPINGS_DIR_URL', 'data/queue', false],
  [CLOSED, 'MAPPINGS_DIR_URL', 'http://127.0.0.1:9/', false],
  [CLOSED, 'MAPPINGS_DIR_URL', 'http://nowhere.invalid/', false],
  [CLOSED, 'MAPPINGS_DIR_URL', 'http://93.184.216.34/', true],
  [CLOSED, 'MAPPINGS_DIR_URL', 's3://maps/own', true],
  [CLOSED, 'MAPPINGS_DIR_URL', '', true],
  [LISTED, 'MAPPINGS_DIR_URL', 'open/maps', true],
  [LISTED, 'MAPPINGS_DIR_URL', 'data/other', false],
  [LISTED, 'MAPPINGS_DIR_URL', 'http://93.184.216.34/', false],
  [ALONE, 'MAPPINGS_DIR_URL', '/etc', true],
  [ALONE, 'MAPPINGS_DIR_URL', '/proc/self', false],
  [ALONE, 'MAPPINGS_DIR_URL', 'http://127.0.0.1:9/', true],
  [CLOSED, 'SQL_TRANSFORMER_MAPPINGS_DIR_URL', '/etc', false],
  [CLOSED, 'SEMI_STRUCTURED_TRANSFORMER_MAPPINGS_DIR_URL', 'http://169.254.169.254/', false],
  [CLOSED, 'CUSTOM_FUNCTION_TTL_URL', 'http://[::1]:9/functions.ttl', false],
  [CLOSED, 'CUSTOM_FUNCTION_TTL_URL', `file:///etc/passwd#sha256=${'0'.repeat(64)}`, false],
  [CLOSED, 'CUSTOM_FUNCTION_JAR_URL', '/opt/words.jar', false],
  [CLOSED, 'CUSTOM_FUNCTION_JAR_URL', 'data/functions/words.jar', false],
  [CLOSED, 'CUSTOM_FUNCTION_JAR_URL', 'data/words.jar', true],
  [{ CUSTOM_FUNCTION_JAR_URL: '/opt/words.jar' }, 'CUSTOM_FUNCTION_JAR_URL', '/opt/words.jar', true],
  [CLOSED, 'OUTPUT_DIR_URL', '/etc', false],
  [CLOSED, 'OUTPUT_DIR_URL', 'data/output/2', true],
  [CLOSED, 'OUTPUT_DIR_URL', 'data/queue', false],
  [LISTED, 'OUTPUT_DIR_URL', 'data/output', true],
  [{ OUTPUT_DIR_URL: '/srv/out' }, 'OUTPUT_DIR_URL', '/srv/out/2026', true],
  [CLOSED, 'DATASETS_DIR_URL', '/etc', false],
  [CLOSED, 'DATASETS_DIR_URL', 'data/datasets/2', true],
  [CLOSED, 'PROV_OUTPUT_DIR_URL', 'elsewhere', false],
  [CLOSED, 'CONFIG_BACKUP', '/etc/configuration.json', false],
  [CLOSED, 'CONFIG_BACKUP', 'data/secrets.key', false],
  [CLOSED, 'CONFIG_BACKUP', 'data/backup/2/', true],
  [CLOSED, 'SOURCE_CACHE_DIRECTORY', 'elsewhere/cache', false],
  [CLOSED, 'TRIPLESTORE_CA', '/etc/shadow', false],
  [CLOSED, 'TRIPLESTORE_CA', '-----BEGIN CERTIFICATE-----', true],
  [CLOSED, 'S3_ENDPOINT', 'http://127.0.0.1:9000', false],
  [PRIVATE, 'S3_ENDPOINT', 'http://127.0.0.1:9000', true],
  [LISTED, 'S3_ENDPOINT', 'http://10.0.0.7:9000', true],
  [LISTED, 'S3_ENDPOINT', 'http://10.0.0.7:9001', false],
  [CLOSED, 'SOURCE_LOGINS', 'https://api.example/ OAuth2 https://id:pw@127.0.0.1/token', false],
  [CLOSED, 'SOURCE_LOGINS', 'https://api.example/ X-Key: abc', true],
  // Servers of the operator, which callers do not name.
  [CLOSED, 'JDBC_URL', 'jdbc:postgresql://10.0.0.8/db', true],
  [CLOSED, 'TRIPLESTORE_ENDPOINT', 'http://10.0.0.8:3030/ds', true],
  [CLOSED, 'FRIENDLY_NAME', '/etc', true],
])('after a start with %j, %s may be set to %s: %s', async (options, name, value, allowed) => {
  const config = await started(options);
  const checked = assertPlace(name, value, config.snapshot(), root);
  if (allowed) await expect(checked).resolves.toBeUndefined();
  else
    await expect(checked).rejects.toMatchObject({
      code: 'request/forbidden',
      message: expect.stringMatching(new RegExp(`^${name} cannot be set to .* while the process runs: `)),
      hint: expect.stringContaining(`Set the environment variable ${name} and restart`),
    });
  await expect(checked.catch(({ message }) => message)).resolves.not.toEqual(expect.stringContaining('pw'));
  config.close();
});

test('what was changed since the start does not widen the reach', async () => {
  const config = await started();
  const before = reachOf(config.snapshot(), root);
  for (const name of ['MAPPINGS_DIR_URL', 'SQL_TRANSFORMER_MAPPINGS_DIR_URL', 'OUTPUT_DIR_URL', 'DATASETS_DIR_URL', 'CONFIG_BACKUP'])
    await config.update(name, '/etc/');
  expect(reachOf(config.snapshot(), root)).toEqual(before);
  await config.update('MAPPINGS_DIR_URL', 'http://10.0.0.8/');
  expect(reachOf(config.snapshot(), root)).toEqual(before);
  // What is withheld may become more.
  await config.update('SOURCE_CACHE_DIRECTORY', '/cache');
  expect(reachOf(config.snapshot(), root).withheld).toEqual([...before.withheld, '/cache']);
  config.close();
});

test('each option that names a place says what it is', () => {
  const iris = ['BASE_IRI', 'SKOLEM_BASE_IRI'];
  const rows = OPTION_NAMES.map((name) => ({ name, ...optionRow(name) })).filter(({ live }) => live === true);
  const named = rows.filter(({ name, type }) => (type === 'url' && !iris.includes(name)) || /DIRECTORY|_CA$|BROKERS|LOGINS/.test(name));
  expect(named.filter(({ place }) => place === undefined).map(({ name }) => name)).toEqual([]);
});
