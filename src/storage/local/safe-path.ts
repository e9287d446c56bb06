/** Paths that come from a request and must stay inside a directory. */
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { Fault } from '../../core/fault.ts';

/**
 * The real path of `relative` inside `directory`; it need not exist. Symbolic links are resolved before the check.
 *
 * @throws Fault request/forbidden — the path leads outside
 */
export async function resolveInside(directory: string, relative: string): Promise<string> {
  if (relative.includes('\0')) throw outside(relative);
  const root = await realpath(directory);
  const path = await realTarget(resolve(root, relative));
  if (path !== root && !path.startsWith(root.endsWith(sep) ? root : root + sep)) throw outside(relative);
  return path;
}

const outside = (relative: string): Fault =>
  new Fault('request/forbidden', `The location '${relative.replaceAll('\0', '\\0')}' is outside the directory that is open to requests`);

/** Resolves links as far as the path exists; the rest is appended unchanged. A dangling link counts as leading outside. */
async function realTarget(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const parent = dirname(path);
    if (code === 'ELOOP' || code === 'ENOTDIR' || (await isLink(path))) throw outside(path);
    if (code !== 'ENOENT' || parent === path) throw error;
    return join(await realTarget(parent), basename(path));
  }
}

const isLink = async (path: string): Promise<boolean> => (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false;
