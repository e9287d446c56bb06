/** The files of a directory that a URL names. */
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Fault } from '../core/fault.ts';
import { redact } from '../core/redact.ts';
import { isDirectory, listFiles } from './local/file.ts';
import { USUAL_S3_ACCESS } from './s3-access.ts';
import type { OpenOptions } from './storage.ts';
import { fileNameOf, locate } from './url.ts';

type Access = Pick<OpenOptions, 'workingDirectory' | 'reach' | 's3'>;

/**
 * The files directly in a directory with one of `extensions` (without dot), by name; `file:` or `s3:` URLs if `url` is one, else absolute paths.
 *
 * @throws Fault source/missing, source/refused — not a directory, or a scheme that cannot list; request/forbidden — not within `reach`
 */
export const listDirectory = (url: string, extensions: readonly string[], access: Access): Promise<readonly string[]> =>
  filesOf(url, (name) => extensions.includes(extname(name).slice(1).toLowerCase()), access);

const SUCCESS = '_SUCCESS';

/**
 * The parts that a job of Spark has written to a directory, by name, each as `listDirectory` gives it; undefined: the URL does not name a directory. Of
 * addresses of objects, those that end with `/` do.
 *
 * @throws Fault source/malformed — the job has not ended; those of `listDirectory`
 */
export async function listParts(url: string, access: Access): Promise<readonly string[] | undefined> {
  const location = locate(url, access.workingDirectory);
  const name = redact(url);
  const isOne =
    location.kind === 'file'
      ? await isDirectory(location.path, name, access.reach)
      : location.kind === 's3' && (location.key === '' || location.key.endsWith('/'));
  if (!isOne) return undefined;
  const files = await filesOf(url, (file) => file === SUCCESS || file.startsWith('part-'), access);
  const parts = files.filter((file) => fileNameOf(file) !== SUCCESS);
  if (parts.length < files.length) return parts;
  throw new Fault('source/malformed', `The directory has no file ${SUCCESS}, so the job that writes it has not ended`, {
    place: { input: name },
    hint: 'Wait for the end of the job, or run it again. To write files of other origin, name each of them',
  });
}

async function filesOf(
  url: string,
  isWanted: (name: string) => boolean,
  { workingDirectory, reach, s3 = USUAL_S3_ACCESS }: Access,
): Promise<readonly string[]> {
  const location = locate(url, workingDirectory);
  const name = redact(url);
  if (location.kind === 's3') {
    const keys = await (await import('./s3/read.ts')).listS3(location, name, s3);
    return keys.map((key) => `s3://${location.bucket}/${key}`).filter((object) => isWanted(fileNameOf(object)));
  }
  if (location.kind !== 'file') {
    throw new Fault('source/refused', `${name} cannot be listed as a directory`, {
      hint: 'Name the single files, a directory of this machine, or one of objects (s3:)',
    });
  }
  const paths = await listFiles(location.path, name, isWanted, reach);
  return /^file:/i.test(url) ? paths.map((path) => pathToFileURL(path).href) : paths;
}
