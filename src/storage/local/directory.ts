/** Directories, made with those above them. */
import { lstatSync, mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Fault } from '../../core/fault.ts';

/**
 * Makes a directory and what is missing above it; one that is there is left as it is. Steps of microseconds, so it may as well be now.
 *
 * Node's own way (`recursive`) never ends where a system says of a new directory that its parent is missing, although it is there:
 * below `/proc`.
 *
 * @throws Error of Node, its message in words for a person
 */
export function makeDirectory(path: string, mode?: number): void {
  if (isDirectory(path)) return;
  try {
    mkdirSync(path, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const parent = dirname(path);
    // Another process may have made the parent, or the directory, between two steps.
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
 * Makes a directory that only this user may enter; one that is there counts only when this user has made it so. For places where others may
 * make directories, too.
 *
 * @throws Error — somebody else's, open to others, or a link; its message says so
 */
export function makePrivateDirectory(path: string): void {
  makeDirectory(path, 0o700);
  const found = lstatSync(path);
  const own = found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  if (!found.isDirectory() || !own) throw new Error(`${path} is not a directory that this user has made for itself alone`);
}

/**
 * Makes a directory of a name that nobody has, where the system keeps temporary files (TMPDIR).
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

/** The part of a path that stands in the way. */
function fileOn(path: string): string {
  const parent = dirname(path);
  return parent === path || isDirectory(parent) ? path : fileOn(parent);
}
