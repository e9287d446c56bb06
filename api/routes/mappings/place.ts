/** Where the mapping files of a transformer are, and which locations of requests are among them. */
import { realpath, stat } from 'node:fs/promises';
import type { Transformer } from '../../../queues/jobs.ts';
import { mappingsOf } from '../../../src/config/directories.ts';
import { Fault } from '../../../src/core/fault.ts';
import { resolveInside } from '../../../src/core/reach/safe-path.ts';
import { makeDirectory } from '../../../src/storage/local/directory.ts';
import { isObjectUrl, locate, objectUrlIn } from '../../../src/storage/url.ts';
import type { Api } from '../../route.ts';

/** An absolute path, or the address of a directory of objects. @throws Fault request/conflict — the mappings are on the web */
export function mappingDirectory(api: Api, service: Transformer): string {
  const url = mappingsOf(service, api.config.snapshot(), api.workingDirectory);
  const location = locate(url, api.workingDirectory);
  if (location.kind === 'file') return location.path;
  if (location.kind === 's3') return url;
  throw notWritableFault();
}

export const notWritableFault = (): Fault =>
  new Fault('request/conflict', 'MAPPINGS_DIR_URL is a directory on the web, so its files cannot be listed or written');

/** Less than file systems take (255 and 4096): a file that is written has a longer name at first, and the directory stands before it. */
const MAX_NAME_BYTES = 200;
const MAX_PATH_BYTES = 2_000;

/**
 * The real path of `fileName` inside the mapping directory, or the address of the object; it may be missing.
 *
 * @throws Fault request/forbidden — outside; request/not-found — there is no mapping directory; request/invalid — too long
 */
export async function insideMappings(directory: string, fileName: string): Promise<string> {
  const names = fileName.split('/');
  if (Buffer.byteLength(fileName) > MAX_PATH_BYTES || names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) {
    throw new Fault(
      'request/invalid',
      `The parameter fileName is too long: a name may have ${MAX_NAME_BYTES} bytes, a path ${MAX_PATH_BYTES}`,
    );
  }
  if (isObjectUrl(directory)) return objectInside(directory, fileName);
  await realpath(directory).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT'
      ? new Fault('request/not-found', `There is no mapping ${fileName}: the mapping directory is still empty`)
      : error;
  });
  return resolveInside(directory, pathOf(fileName));
}

/** A name below the directory, or an address in it. */
function objectInside(directory: string, fileName: string): string {
  const start = objectUrlIn(directory, '');
  const url = isObjectUrl(fileName) ? fileName : `${start}${fileName}`;
  const steps = url.slice(start.length).split('/');
  const isInside = url.startsWith(start) && !/^[a-z][a-z0-9+.-]+:|^\//i.test(url.slice(start.length));
  if (!isInside || steps.some((step) => step === '.' || step === '..')) throw outsideFault(fileName);
  return url;
}

const outsideFault = (fileName: string): Fault =>
  new Fault('request/forbidden', `The location ${fileName} is outside the mapping directory`);

function pathOf(fileName: string): string {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(fileName)) return fileName;
  try {
    const location = locate(fileName, '/');
    if (location.kind === 'file') return location.path;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
  throw outsideFault(fileName);
}

export async function refuseDirectory(path: string, fileName: string): Promise<void> {
  const isDirectory = isObjectUrl(path) ? path.endsWith('/') : (await stat(path).catch(() => undefined))?.isDirectory();
  if (isDirectory) throw new Fault('request/invalid', `${fileName} is a directory, the location of a file was expected`);
}

/** @throws Fault sink/failed */
export function makeMappingDirectory(directory: string): void {
  if (isObjectUrl(directory)) return;
  try {
    makeDirectory(directory);
  } catch (error) {
    throw new Fault('sink/failed', `The mapping directory ${directory} cannot be made: ${(error as Error).message}`, { cause: error });
  }
}
