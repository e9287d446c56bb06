/** Writes a small text to a place that a user names, a file or an object, and removes it. */
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Fault } from '../core/fault.ts';
import { syncDirectory, writeAtomically } from './local/file.ts';
import type { S3Access } from './s3-access.ts';
import { isObjectUrl, locate } from './url.ts';

/**
 * Readers see the old text or the new one. Resolves to the URL.
 *
 * @param address absolute path, or `s3:` URL
 * @throws Fault sink/failed, config/invalid — the storage refuses it
 */
export async function writeText(address: string, text: string, mediaType: string, s3: S3Access): Promise<string> {
  const at = isObjectUrl(address) ? locate(address, '/') : undefined;
  if (at?.kind === 's3') {
    await (await import('./s3/write.ts')).putText(at, s3, text, mediaType);
    return address;
  }
  await writeAtomically(address, text);
  return pathToFileURL(address).href;
}

/**
 * Resolves when the file is gone, or was missing.
 *
 * @param address absolute path, or `s3:` URL
 * @throws Fault sink/failed, config/invalid — the storage refuses it
 */
export async function removeText(address: string, s3: S3Access): Promise<void> {
  const at = isObjectUrl(address) ? locate(address, '/') : undefined;
  if (at?.kind === 's3') return (await import('./s3/write.ts')).deleteObjects(at, s3, (key) => key === at.key);
  try {
    await rm(address, { force: true });
    await syncDirectory(dirname(address));
  } catch (error) {
    throw new Fault('sink/failed', `${address} cannot be removed: ${(error as Error).message}`, { cause: error });
  }
}
