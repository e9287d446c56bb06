/** The files of a directory that a URL names. */
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Fault } from '../core/fault.ts';
import { redact } from '../core/redact.ts';
import { listFiles } from './local/file.ts';
import { USUAL_S3_ACCESS } from './s3-access.ts';
import type { OpenOptions } from './storage.ts';
import { locate } from './url.ts';

/**
 * The files directly in a directory with one of `extensions` (without dot), by name; `file:` or `s3:` URLs if `url` is one, else absolute paths.
 *
 * @throws Fault source/missing, source/refused — not a directory, or a scheme that cannot list; request/forbidden — not within `reach`
 */
export async function listDirectory(
  url: string,
  extensions: readonly string[],
  { workingDirectory, reach, s3 = USUAL_S3_ACCESS }: Pick<OpenOptions, 'workingDirectory' | 'reach' | 's3'>,
): Promise<readonly string[]> {
  const location = locate(url, workingDirectory);
  const name = redact(url);
  if (location.kind === 's3') {
    const keys = await (await import('./s3/read.ts')).listS3(location, name, s3);
    return keys.filter((key) => extensions.includes(extname(key).slice(1).toLowerCase())).map((key) => `s3://${location.bucket}/${key}`);
  }
  if (location.kind !== 'file') {
    throw new Fault('source/refused', `${name} cannot be listed as a directory`, {
      hint: 'Name the single files, a directory of this machine, or one of objects (s3:)',
    });
  }
  const paths = await listFiles(location.path, name, extensions, reach);
  return /^file:/i.test(url) ? paths.map((path) => pathToFileURL(path).href) : paths;
}
