/** Creates directories, including missing parents. */
import { lstatSync, mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Fault } from '../../core/fault.ts';

/**
 * Creates a directory and its missing parents; existing ones are left unchanged. It takes microseconds, so it is synchronous.
 *
 * Node's `recursive` option never returns if the system reports a missing parent for a new directory although the parent exists, as below
 * `/proc`.
 *
 * @throws Error of Node, with a message for a person
 */
export function makeDirectory(path: string, mode?: number): void {
  if (isDirectory(path)) return;
  try {
    mkdirSync(path, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const parent = dirname(path);
    // Another process may have created the parent, or the directory, in between.
    if (code === 'EEXIST' && isDirectory(path)) return;
    if (code !== 'ENOENT' || parent === path) throw told(error as NodeJS.ErrnoException, path);
    makeDirectory(parent, mode);
    try {
      mkdirSync(path, mode);
    } catch (again) {
      if (!isDirectory(path)) throw told(again as NodeJS.ErrnoException, path);
    }
  }
}

/**
 * Creates a directory that only this user may enter; an existing one is accepted only if this user created it so. For places in which
 * others may create directories as well.
 *
 * @throws Error — owned by another user, accessible to others, or a link; the message says so
 */
export function makePrivateDirectory(path: string): void {
  makeDirectory(path, 0o700);
  const found = lstatSync(path);
  const own = found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  if (!found.isDirectory() || !own) throw new Error(`${path} is not a directory that this user has made for itself alone`);
}

/**
 * Creates a directory with an unused name in the system's temporary directory (TMPDIR).
 *
 * @throws Fault config/invalid
 */
export function makeTemporaryDirectory(prefix: string): string {
  const parent = tmpdir();
  try {
    return mkdtempSync(join(parent, prefix));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = reasonOf(code, join(parent, prefix)) ?? message;
    throw new Fault('config/invalid', `No temporary directory can be made: ${reason}`, {
      hint: 'Set TMPDIR to a directory in which this user may write',
      cause: error,
    });
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function told(error: NodeJS.ErrnoException, path: string): NodeJS.ErrnoException {
  const { code, message } = error;
  return Object.assign(new Error(reasonOf(code, resolve(path)) ?? message, { cause: error }), { code });
}

function reasonOf(code: string | undefined, path: string): string | undefined {
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return `${fileOn(path)} is no directory`;
    case 'ENOENT':
      return `no directory can be made in ${dirname(path)}`;
    case 'EACCES':
    case 'EPERM':
      return `no permission to make a directory in ${dirname(path)}`;
    case 'EROFS':
      return `${dirname(path)} is on a read-only disk`;
    default:
      return undefined;
  }
}

/** The part of a path that is the problem. */
function fileOn(path: string): string {
  const parent = dirname(path);
  return parent === path || isDirectory(parent) ? path : fileOn(parent);
}
