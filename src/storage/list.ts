/** The files of a directory that a URL names. */
import { pathToFileURL } from 'node:url';
import { Fault } from '../core/fault.ts';
import { redact } from '../core/redact.ts';
import { listFiles } from './local/file.ts';
import { locate } from './url.ts';

/**
 * The files directly in a directory with one of `extensions` (without dot), by name; `file:` URLs if `url` is one, else absolute paths.
 *
 * @throws Fault source/missing, source/refused — not a directory, or a scheme that cannot list
 */
export async function listDirectory(url: string, extensions: readonly string[], workingDirectory: string): Promise<readonly string[]> {
  const location = locate(url, workingDirectory);
  const name = redact(url);
  if (location.kind !== 'file') {
    throw new Fault('source/refused', `${name} cannot be listed as a directory`, {
      hint: 'Name the single files, or a directory of this machine',
    });
  }
  const paths = await listFiles(location.path, name, extensions);
  return /^file:/i.test(url) ? paths.map((path) => pathToFileURL(path).href) : paths;
}
