/** The public files of a dataset: below a directory of this machine, or a prefix of object storage. */
import { readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Fault } from '../core/fault.ts';
import { redact } from '../core/redact.ts';
import { writeFault } from '../sinks/descriptor.ts';
import { makeDirectory } from '../storage/local/directory.ts';
import { syncDirectory, writeAtomically } from '../storage/local/file.ts';
import { openInput, readText } from '../storage/open.ts';
import { type S3Access, USUAL_S3_ACCESS } from '../storage/s3-access.ts';
import { locate, objectUrlIn, type S3Location } from '../storage/url.ts';

/** Names are relative, with `/` between their parts. */
export interface DatasetFiles {
  /** For messages and reports; without a login. */
  readonly url: string;
  /** Absolute path; undefined: the files are objects. */
  readonly directory: string | undefined;
  /** Address of a file. */
  urlOf(name: string): string;
  /** undefined: there is no such file. @throws Fault source/unreadable and those of `readText` */
  read(name: string): Promise<string | undefined>;
  /** The bytes of a file, unpacked if its name ends with `.gz`. @throws those of `openInput` */
  open(name: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Names in a directory. None if it is missing. */
  list(directory: string): Promise<readonly string[]>;
  /**
   * Writes a small file; readers see the old text or the new one.
   *
   * @throws Fault sink/failed; run/lost — `isNew`, and another process has written it
   */
  write(name: string, text: string, isNew?: boolean): Promise<void>;
  /** Moves a complete file of this machine to a name. @throws Fault sink/failed */
  publish(name: string, path: string): Promise<void>;
  /** Removes files; missing ones are no error. @throws Fault sink/failed */
  remove(names: readonly string[]): Promise<void>;
}

const MAX_TEXT_BYTES = 64 * 2 ** 20;

/** @throws Fault source/refused — the address is neither a path, a `file:` nor an `s3:` URL */
export function openFiles(url: string, workingDirectory: string, s3: S3Access = USUAL_S3_ACCESS): DatasetFiles {
  const at = locate(url, workingDirectory);
  if (at.kind === 'http') throw notKept(url);
  return at.kind === 's3' ? objectFiles(at, url, s3) : localFiles(at.path);
}

/** The names of the directories in a directory, sorted; a missing one has none. @throws those of `openFiles`; Fault source/unreadable */
export async function directoryNames(url: string, workingDirectory: string, s3: S3Access): Promise<readonly string[]> {
  const at = locate(url, workingDirectory);
  if (at.kind === 's3') {
    const { listS3 } = await import('../storage/s3/read.ts');
    const prefixes = await listS3(at, url, s3, 'directories').catch(noneIfMissing);
    return prefixes.map((prefix) => prefix.slice(0, -1).replace(/^.*\//s, '')).sort();
  }
  if (at.kind === 'http') throw notKept(url);
  const entries = await readdir(at.path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw unreadable(at.path, error);
  });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}

function noneIfMissing(error: unknown): readonly string[] {
  if (error instanceof Fault && error.code === 'source/missing') return [];
  throw error;
}

const notKept = (url: string): Fault =>
  new Fault('source/refused', `A dataset is kept in a directory of this machine or in object storage: ${redact(url)}`, {
    hint: 'Give a path, a file: URL or an s3: URL',
  });

const unreadable = (path: string, error: Error): Fault =>
  new Fault('source/unreadable', `${path} cannot be read: ${error.message}`, { cause: error });

const reading = (s3: S3Access | undefined) => ({ workingDirectory: '/', reach: undefined, ...(s3 === undefined ? {} : { s3 }) });

async function readOrNothing(url: string, s3: S3Access | undefined): Promise<string | undefined> {
  try {
    return await readText(url, MAX_TEXT_BYTES, reading(s3));
  } catch (error) {
    if (error instanceof Fault && error.code === 'source/missing') return undefined;
    throw error;
  }
}

function localFiles(directory: string): DatasetFiles {
  const pathOf = (name: string): string => join(directory, name);
  return {
    url: directory,
    directory,
    urlOf: pathOf,
    read: (name) => readOrNothing(pathOf(name), undefined),
    open: async (name, signal) => (await openInput(pathOf(name), { ...reading(undefined), ...(signal && { signal }) })).bytes,
    list: (name) =>
      readdir(pathOf(name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw unreadable(pathOf(name), error);
      }),
    write: (name, text) => writeAtomically(pathOf(name), text),
    async publish(name, path) {
      const to = pathOf(name);
      try {
        makeDirectory(dirname(to));
        await rename(path, to);
        await syncDirectory(dirname(to));
      } catch (error) {
        throw writeFault(to, error);
      }
    },
    async remove(names) {
      for (const name of names) {
        await rm(pathOf(name), { force: true }).catch((error) => {
          throw writeFault(pathOf(name), error);
        });
      }
    },
  };
}

function objectFiles(at: S3Location, url: string, s3: S3Access): DatasetFiles {
  const prefix = at.key === '' || at.key.endsWith('/') ? at.key : `${at.key}/`;
  const objectOf = (name: string): S3Location => ({ ...at, key: prefix + name });
  const urlOf = (name: string): string => objectUrlIn(url, name);
  const writing = () => import('../storage/s3/write.ts');
  return {
    url: redact(url),
    directory: undefined,
    urlOf,
    read: (name) => readOrNothing(urlOf(name), s3),
    open: async (name, signal) => (await openInput(urlOf(name), { ...reading(s3), ...(signal && { signal }) })).bytes,
    async list(name) {
      const { listS3 } = await import('../storage/s3/read.ts');
      const keys = await listS3(objectOf(`${name}/`), urlOf(name), s3).catch(noneIfMissing);
      return keys.map((key) => key.slice(prefix.length + name.length + 1));
    },
    async write(name, text, isNew = false) {
      await (await writing()).putText(objectOf(name), s3, text, 'application/json', isNew);
    },
    async publish(name, path) {
      const upload = await (await writing()).uploadFile(objectOf(name), s3, path);
      await upload.complete();
      await rm(path, { force: true });
    },
    async remove(names) {
      const { deleteObjects } = await writing();
      for (const name of names) await deleteObjects(objectOf(name), s3, (key) => key === prefix + name);
    },
  };
}
