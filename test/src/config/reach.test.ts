/** What the options allow requests, messages and mappings to name. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { directories } from '../../../src/config/directories.ts';
import { DEFAULTS, type OptionValues } from '../../../src/config/options/options.ts';
import { reachOf } from '../../../src/config/run-defaults.ts';

const reach = (values: OptionValues) => reachOf({ ...DEFAULTS, DATA_DIR: '/d', ...values }, '/w');
const MAPPINGS = ['/d/mappings', '/d/mappings/semi-structured-transformer', '/d/mappings/sql-transformer'];
const BEYOND = { HOST: '0.0.0.0' };

test.each<[OptionValues, readonly string[] | null]>([
  [{}, null],
  [{ HOST: '::1' }, null],
  [{ ALLOWED_DIRECTORIES: ['/a'] }, ['/a', '/d/uploads', ...MAPPINGS]],
  [BEYOND, ['/d', '/d/output', '/d/datasets', '/d/output', ...MAPPINGS]],
  [{ ...BEYOND, OUTPUT_DIR_URL: 's3://out/a', PROV_OUTPUT_DIR_URL: 'file:///p%20q' }, ['/d', '/p q', ...MAPPINGS]],
  [{ ...BEYOND, OUTPUT_DIR_URL: '/o/', DATASETS_DIR_URL: 'sets' }, ['/d', '/o', '/w/sets', '/o', ...MAPPINGS]],
  [{ ...BEYOND, OUTPUT_DIR_URL: 'file:///files/output' }, ['/d', '/files/output', '/files/datasets', '/files/output', ...MAPPINGS]],
  [{ ...BEYOND, ALLOWED_DIRECTORIES: ['/a', 'b', 'file:///c'] }, ['/a', '/w/b', '/c', '/d/uploads', ...MAPPINGS]],
  [{ ...BEYOND, CONFIG_BACKUP: '/b/config.json' }, ['/d', '/d/output', '/d/datasets', '/d/output', '/b', ...MAPPINGS]],
  [{ ...BEYOND, CONFIG_BACKUP: '/b/not-yet/' }, ['/d', '/d/output', '/d/datasets', '/d/output', '/b/not-yet', ...MAPPINGS]],
  [{ ...BEYOND, CONFIG_BACKUP: tmpdir() }, ['/d', '/d/output', '/d/datasets', '/d/output', tmpdir(), ...MAPPINGS]],
  [{ ...BEYOND, CONFIG_BACKUP: 's3://b/config.json' }, ['/d', '/d/output', '/d/datasets', '/d/output', ...MAPPINGS]],
  [{ ...BEYOND, CONFIG_BACKUP: 'file://elsewhere/b' }, ['/d', '/d/output', '/d/datasets', '/d/output', ...MAPPINGS]],
])('directories of %j', (values, expected) => {
  expect(reach(values).directories).toEqual(expected);
});

test.each([
  ['s3://bucket', 's3://bucket/datasets'],
  ['s3://bucket/', 's3://bucket/datasets'],
  ['s3://bucket/a/b/', 's3://bucket/a/datasets'],
  ['/output', '/datasets'],
])('the datasets beside the output %s are in %s', (OUTPUT_DIR_URL, expected) => {
  expect(directories({ ...DEFAULTS, OUTPUT_DIR_URL }).datasets).toBe(expected);
});

test('addresses, hosts, and what is withheld', () => {
  expect([reach({}), reach(BEYOND)].map(({ privateAddresses }) => privateAddresses)).toEqual([true, false]);
  expect(reach({ ALLOW_PRIVATE_ADDRESSES: false }).privateAddresses).toBe(false);
  expect(reach({ ...BEYOND, ALLOW_PRIVATE_ADDRESSES: true }).privateAddresses).toBe(true);
  expect(reach({ ALLOWED_HOSTS: ['A.example:80'] }).hosts).toEqual(['a.example:80']);
  expect(reach({ SERVICE: 'sql-transformer', MAPPINGS_DIR_URL: 'http://[::1]/maps' }).mappingHosts).toContain('[::1]:80');
  const files = { TLS_KEY: '/k/tls.key', KAFKA_SSL_KEY: 'kafka.key', QUEUE_SSL_KEY: '/k/queue.key', SOURCE_CACHE_DIRECTORY: '/cache' };
  expect(reach(files).withheld).toEqual(expect.arrayContaining(['/k/tls.key', '/w/kafka.key', '/k/queue.key', '/cache']));
  for (const name of ['secrets.key', 'queue', 'store', 'spill', 'functions']) expect(reach({}).withheld).toContain(join('/d', name));
});
