/**
 * Backups of the configuration: JSON at CONFIG_BACKUP, from which a fleet with a new queue takes the changes that were made at run
 * time. Secrets are in it as they are at rest: sealed with SECRETS_KEY.
 */
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault } from '../core/fault.ts';
import { redact } from '../core/redact.ts';
import { readText } from '../storage/open.ts';
import type { S3Access } from '../storage/s3-access.ts';
import { isObjectUrl, locate, objectUrlIn, type S3Location } from '../storage/url.ts';
import { writeText } from '../storage/write.ts';
import type { ConfigDocument } from './document.ts';
import type { Snapshot } from './options/options.ts';
import type { Stored } from './store.ts';
import { VERSION } from './version.ts';

const FORMAT = 'quadmill-configuration';
const FORMAT_VERSION = 1;
const FILE_NAME = 'configuration.json';
/** Far larger than any configuration. */
const MAX_BYTES = 64 * 2 ** 20;

interface Backup {
  readonly format: typeof FORMAT;
  readonly formatVersion: number;
  readonly version: string;
  /** ISO 8601. */
  readonly time: string;
  /** For readers: `/config` of the service that was asked. */
  readonly configuration: ConfigDocument;
  /** What is restored. */
  readonly changes: Stored;
}

/**
 * Where the backup is: CONFIG_BACKUP, with the name of the file if it is a directory; absent, below DATA_DIR. An absolute path, or the address of
 * an object.
 *
 * @throws Fault config/invalid — neither a file nor an object
 */
export async function backupPath({ CONFIG_BACKUP, DATA_DIR }: Snapshot, workingDirectory = process.cwd()): Promise<string> {
  if (CONFIG_BACKUP === undefined) return join(resolve(workingDirectory, DATA_DIR), 'backup', FILE_NAME);
  if (isObjectUrl(CONFIG_BACKUP)) return objectOf(CONFIG_BACKUP);
  const path = pathOf(CONFIG_BACKUP, workingDirectory);
  const isDirectory = CONFIG_BACKUP.endsWith('/') || (await stat(path).catch(() => undefined))?.isDirectory() === true;
  return isDirectory ? join(path, FILE_NAME) : path;
}

function objectOf(url: string): string {
  try {
    const { key } = locate(url, '/') as S3Location;
    return key === '' || key.endsWith('/') ? objectUrlIn(url, FILE_NAME) : url;
  } catch (error) {
    throw Fault.of(error).with({ code: 'config/invalid', hint: 'Set CONFIG_BACKUP to s3://bucket/key' });
  }
}

function pathOf(url: string, workingDirectory: string): string {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(url)) return resolve(workingDirectory, url);
  try {
    if (url.startsWith('file:')) return fileURLToPath(url);
  } catch {
    // A host, or an invalid escape: said below.
  }
  throw new Fault('config/invalid', `A backup cannot be kept at ${redact(url)}`, {
    hint: 'Set CONFIG_BACKUP to a path, or to a URL file:///… or s3://bucket/key',
  });
}

/**
 * Writes a backup, and resolves to its URL. It takes the place of an older backup, and of no other file.
 *
 * @throws Fault config/invalid, sink/failed
 */
export async function writeBackup(path: string, changes: Stored, configuration: ConfigDocument, s3: S3Access): Promise<string> {
  await assertReplaceable(path, s3);
  const backup: Backup = {
    format: FORMAT,
    formatVersion: FORMAT_VERSION,
    version: VERSION,
    time: new Date().toISOString(),
    configuration,
    changes,
  };
  return writeText(path, `${JSON.stringify(backup, null, 2)}\n`, 'application/json', s3);
}

/** @throws Fault config/invalid — there is a file which is not a backup */
async function assertReplaceable(path: string, s3: S3Access): Promise<void> {
  let found: unknown;
  try {
    // A pipe would be waited for.
    if (!isObjectUrl(path) && !(await stat(path)).isFile()) throw new Error('it is not a file');
    found = JSON.parse(await readText(path, MAX_BYTES, { workingDirectory: '/', reach: undefined, s3 }));
  } catch (error) {
    // Nothing is there.
    if (['source/missing', 'ENOENT', 'ENOTDIR'].includes((error as { readonly code?: string }).code ?? '')) return;
  }
  if ((found as Partial<Backup> | null | undefined)?.format === FORMAT) return;
  throw new Fault('config/invalid', `${path} is not a backup of a configuration, and is not overwritten`, {
    hint: 'Move the file away, or set CONFIG_BACKUP to another one',
  });
}

/** The changes of a backup; undefined if there is none. @throws Fault config/invalid — it cannot be read, or is not a backup */
export async function readBackup(path: string, s3: S3Access): Promise<Stored | undefined> {
  const refuse = (why: string, cause?: unknown): Fault =>
    new Fault('config/invalid', `The configuration cannot be restored from ${path}: ${why}`, {
      hint: 'Correct CONFIG_BACKUP, or move the file away',
      cause,
    });
  let text: string;
  try {
    text = await readText(path, MAX_BYTES, { workingDirectory: '/', reach: undefined, s3 });
  } catch (error) {
    if (error instanceof Fault && error.code === 'source/missing') return undefined;
    throw refuse((error as Error).message, error);
  }
  let backup: Partial<Backup> | null;
  try {
    backup = JSON.parse(text) as Partial<Backup> | null;
  } catch (error) {
    throw refuse(`it is not JSON: ${(error as Error).message}`, error);
  }
  if (backup?.format !== FORMAT || !isTexts(backup.changes)) throw refuse('it is not a backup of a configuration');
  if (backup.formatVersion !== FORMAT_VERSION)
    throw refuse(`it has the format version ${backup.formatVersion}, ${FORMAT_VERSION} is known here`);
  return backup.changes;
}

const isTexts = (value: unknown): value is Stored =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every((text) => typeof text === 'string');
