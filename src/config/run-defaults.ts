/** Options in the form in which runs and stores take them. */

import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault } from '../core/fault.ts';
import { NO_LIMITS } from '../core/limits.ts';
import { isLoopback } from '../core/reach/loopback.ts';
import { portOf, type Reach } from '../core/reach/reach.ts';
import { readLogins, type WebAccess } from '../storage/logins.ts';
import type { S3Access } from '../storage/s3-access.ts';
import { directories, mappingsOf } from './directories.ts';
import { DEFAULTS, type Snapshot, startedWith } from './options/options.ts';

/** Time limits of a run's database sessions, in seconds. */
export const sqlLimitsOf = ({
  DB_CONNECT_SECONDS,
  SQL_TIME_LIMIT_SECONDS,
  SQL_LOCK_SECONDS,
}: Pick<Snapshot, 'DB_CONNECT_SECONDS' | 'SQL_TIME_LIMIT_SECONDS' | 'SQL_LOCK_SECONDS'>) => ({
  connectSeconds: DB_CONNECT_SECONDS,
  statementSeconds: SQL_TIME_LIMIT_SECONDS,
  lockSeconds: SQL_LOCK_SECONDS,
});

/** The options of `s3AccessOf`. */
const S3_OPTIONS = [
  'AWS_ACCESS_KEY',
  'AWS_SECRET_KEY',
  'S3_REGION',
  'S3_ENDPOINT',
  'S3_PATH_STYLE',
  'S3_SERVER_SIDE_ENCRYPTION',
  'S3_KMS_KEY_ID',
  'SOURCE_RETRIES',
  'SOURCE_ANSWER_SECONDS',
] as const;

/** How object storage is reached. @throws Fault config/invalid — one key without the other, a KMS key for another encryption */
export function s3AccessOf(options: Pick<Snapshot, (typeof S3_OPTIONS)[number]>): S3Access {
  const { AWS_ACCESS_KEY: access, AWS_SECRET_KEY: secret } = options;
  const [given, missing] = access === undefined ? ['AWS_SECRET_KEY', 'AWS_ACCESS_KEY'] : ['AWS_ACCESS_KEY', 'AWS_SECRET_KEY'];
  if ((access === undefined) !== (secret === undefined))
    throw new Fault('config/invalid', `${given} is set, and ${missing} is not`, {
      hint: 'Set both, or neither: then the AWS SDK looks for credentials itself',
    });
  const { S3_SERVER_SIDE_ENCRYPTION: algorithm, S3_KMS_KEY_ID: kmsKeyId } = options;
  if (kmsKeyId !== undefined && algorithm !== 'aws:kms')
    throw new Fault('config/invalid', 'S3_KMS_KEY_ID is set, and S3_SERVER_SIDE_ENCRYPTION is not aws:kms', {
      hint: 'Set S3_SERVER_SIDE_ENCRYPTION=aws:kms, or leave S3_KMS_KEY_ID out',
    });
  return {
    encryption: algorithm === 'none' ? undefined : { algorithm, kmsKeyId },
    keys: access === undefined || secret === undefined ? undefined : { access, secret },
    region: options.S3_REGION,
    endpoint: options.S3_ENDPOINT,
    pathStyle: options.S3_PATH_STYLE,
    retries: options.SOURCE_RETRIES,
    answerSeconds: options.SOURCE_ANSWER_SECONDS,
  };
}

/** The options of `webAccessOf`. */
export const WEB_OPTIONS = [
  ...S3_OPTIONS,
  'SOURCE_LOGINS',
  'SOURCE_WAIT_SECONDS',
  'SOURCE_PAGES',
  'SOURCE_CACHE_DIRECTORY',
  'SOURCE_CACHE_MB',
] as const;

/** How sources are read from servers. @throws Fault config/invalid */
export const webAccessOf = (options: Pick<Snapshot, (typeof WEB_OPTIONS)[number]>): WebAccess => ({
  logins: readLogins(options.SOURCE_LOGINS),
  answerSeconds: options.SOURCE_ANSWER_SECONDS,
  retries: options.SOURCE_RETRIES,
  waitSeconds: options.SOURCE_WAIT_SECONDS,
  pages: options.SOURCE_PAGES,
  cache:
    options.SOURCE_CACHE_DIRECTORY === undefined
      ? undefined
      : { directory: options.SOURCE_CACHE_DIRECTORY, bytes: options.SOURCE_CACHE_MB * 2 ** 20 },
  s3: s3AccessOf(options),
});

/**
 * What requests, messages and mappings may name (decisions, §9): by itself everything while the process listens on a loopback address only,
 * otherwise hosts with public addresses, and the directories that its options name.
 *
 * Options that are changed after the start widen nothing: otherwise a caller who may change options could reach everything.
 */
export function reachOf(present: Snapshot, workingDirectory: string): Reach {
  const snapshot = startedWith(present);
  const data = resolve(workingDirectory, snapshot.DATA_DIR);
  const isAlone = isLoopback(snapshot.HOST);
  const { queue, store, spill, functions, uploads } = directories(snapshot, workingDirectory);
  const ofMappings = mappingPlaces(snapshot, workingDirectory);
  const local = (places: readonly string[]): readonly string[] => localPaths(places, workingDirectory);
  const named = local(snapshot.ALLOWED_DIRECTORIES);
  const own = writtenDirectories(snapshot, workingDirectory);
  return {
    privateAddresses: snapshot.ALLOW_PRIVATE_ADDRESSES ?? isAlone,
    hosts: snapshot.ALLOWED_HOSTS.map((entry) => entry.toLowerCase()),
    mappingHosts: ofMappings
      .filter((place) => /^https?:/i.test(place))
      .map((place) => `${new URL(place).hostname}:${portOf(new URL(place))}`),
    directories: named.length > 0 ? [...named, uploads, ...local(ofMappings)] : isAlone ? null : [...own, ...local(ofMappings)],
    withheld: [join(data, 'secrets.key'), queue, store, spill, functions, ...local([snapshot, present].flatMap(privateFiles))],
  };
}

/** DATA_DIR, and the directories of this machine in which the options have output, datasets, provenance and backup. */
export function writtenDirectories(snapshot: Snapshot, workingDirectory: string): readonly string[] {
  const { output, datasets, provenance } = directories(snapshot, workingDirectory);
  const data = resolve(workingDirectory, snapshot.DATA_DIR);
  return [data, ...localPaths([output, datasets, provenance], workingDirectory), ...backupDirectory(snapshot, workingDirectory)];
}

/** Paths or URLs of the directories in which the options have mappings. */
export const mappingPlaces = (snapshot: Snapshot, workingDirectory: string): readonly string[] => [
  directories(snapshot, workingDirectory).mappings,
  mappingsOf('semi-structured-transformer', snapshot, workingDirectory),
  mappingsOf('sql-transformer', snapshot, workingDirectory),
];

/** Keys of this service, and answers that others may have been given with a login. */
const privateFiles = ({ TLS_KEY, KAFKA_SSL_KEY, QUEUE_SSL_KEY, SOURCE_CACHE_DIRECTORY }: Snapshot): readonly string[] =>
  [TLS_KEY, KAFKA_SSL_KEY, QUEUE_SSL_KEY, SOURCE_CACHE_DIRECTORY].filter((path) => path !== undefined);

/** Of the backup, which CONFIG_BACKUP names by a file, or by its directory. */
function backupDirectory({ CONFIG_BACKUP: given }: Snapshot, workingDirectory: string): readonly string[] {
  const [path] = given === undefined ? [] : localPaths([given], workingDirectory);
  if (given === undefined || path === undefined) return [];
  const isDirectory = given.endsWith('/') || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return [isDirectory ? path : dirname(path)];
}

/** The absolute paths among paths and URLs. A `file:` URL of another machine names none. */
const localPaths = (places: readonly string[], workingDirectory: string): readonly string[] =>
  places.flatMap((place) => {
    if (!/^[a-z][a-z0-9+.-]+:/i.test(place)) return [resolve(workingDirectory, place)];
    try {
      return /^file:/i.test(place) ? [fileURLToPath(place)] : [];
    } catch {
      return [];
    }
  });

/** Time limits of requests to the embedded store, in seconds. */
export const storeLimitsOf = ({ EMBEDDED_QUERY_SECONDS }: Pick<Snapshot, 'EMBEDDED_QUERY_SECONDS'>) => ({
  querySeconds: EMBEDDED_QUERY_SECONDS,
  updateSeconds: 5 * EMBEDDED_QUERY_SECONDS,
});

/** Defaults for every field of a run request that has one: those of the options, but no limit of size, counts or time. */
export const RUN_DEFAULTS = {
  base: undefined,
  onError: undefined,
  datatypeCheck: undefined,
  maxRejected: Number.POSITIVE_INFINITY,
  distinct: DEFAULTS.DISTINCT,
  rdf: DEFAULTS.RDF_VERSION,
  threads: 1,
  memoryBudgetBytes: DEFAULTS.MEMORY_BUDGET_MB * 2 ** 20,
  maxRecordBytes: DEFAULTS.MAX_RECORD_BYTES,
  xmlDefaultNamespace: DEFAULTS.XML_DEFAULT_NAMESPACE,
  limits: NO_LIMITS,
  database: undefined,
  reach: undefined,
  sql: sqlLimitsOf(DEFAULTS),
  web: webAccessOf(DEFAULTS),
  rowsPerPart: undefined,
  slice: undefined,
} as const;
