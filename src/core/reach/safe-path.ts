/** Paths that come from a request, a message or a mapping, and must stay inside directories. */
import { constants } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { Fault } from '../fault.ts';
import { fileCalls, type OpenFile } from './file-calls.ts';
import type { Reach } from './reach.ts';

const { realpath, lstat, stat, open } = fileCalls;

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

/** Of every system: what stands there are no data, and reading it may tell the environment of processes, or never end. */
const OF_THE_SYSTEM = ['/proc', '/sys'];

const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);

/** As it is on this machine; the last parts of the path need not exist. */
const realOf = (path: string): Promise<string> => realTarget(path).catch(() => path);

/**
 * Places of the options, which only an operator moves: they are looked at again after a second, not for every file. There are several, and most
 * do not exist, which takes longest to find out. What is read itself is looked at each time.
 */
const places = new Map<string, { readonly real: Promise<string>; readonly until: number }>();
const PLACE_MS = 1_000;
const MOST_PLACES = 256;

function realPlace(path: string): Promise<string> {
  const now = performance.now();
  const known = places.get(path);
  if (known !== undefined && now < known.until) return known.real;
  const real = realOf(path);
  if (places.size >= MOST_PLACES) places.clear();
  places.set(path, { real, until: now + PLACE_MS });
  return real;
}

/**
 * The real path of what a request, a message or a mapping names, which need not exist. To be called before anything else tells whether it
 * does.
 *
 * @param name for messages
 * @throws Fault request/forbidden — not below a directory that is allowed, or withheld
 */
export async function resolveWithin(reach: Reach, path: string, name: string): Promise<string> {
  const forbidden = (why: string, hint?: string): Fault =>
    new Fault('request/forbidden', `${name} may not be read: ${why}`, { place: { input: name }, ...(hint === undefined ? {} : { hint }) });
  const notListed = (): Fault =>
    forbidden(
      'it is outside the directories that are open to requests',
      'An operator of the service can add its directory to ALLOWED_DIRECTORIES',
    );
  if (path.includes('\0')) throw forbidden('a path has no NUL character');
  const real = await realTarget(resolve(path)).catch(() => {
    // A link that leads nowhere, a circle of links, a directory that may not be entered.
    if (reach.directories === null) return resolve(path);
    throw notListed();
  });
  const withheld = await Promise.all([...OF_THE_SYSTEM, ...reach.withheld].map(realPlace));
  if (withheld.some((one) => isWithin(real, one))) throw forbidden('files of the system and of the service itself are never read as data');
  if (reach.directories === null) return real;
  const allowed = await Promise.all(reach.directories.map(realPlace));
  if (!allowed.some((one) => isWithin(real, one))) throw notListed();
  return real;
}

/**
 * Opens a regular file for reading, within `reach`. What was opened is compared with what the real path leads to afterwards, so a link that is
 * changed meanwhile leads to a fault, not to another file.
 *
 * @throws Fault request/forbidden — outside, or no regular file; errors of `open`
 */
export async function openWithin(reach: Reach, path: string, name: string): Promise<OpenFile> {
  const real = await resolveWithin(reach, path, name);
  // Opening a device can act on it, and opening a pipe waits for its writer.
  const before = await stat(real);
  if (!before.isFile() && !before.isDirectory()) throw notRegular(name);
  const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const [opened, again] = [await handle.stat(), await resolveWithin(reach, real, name)];
    const there = await stat(again);
    if (opened.dev !== there.dev || opened.ino !== there.ino) throw replaced(name);
    if (!opened.isFile() && !opened.isDirectory()) throw notRegular(name);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const notRegular = (name: string): Fault =>
  new Fault('request/forbidden', `${name} may not be read: it is no regular file`, {
    place: { input: name },
    hint: 'Write what a device or a pipe gives to a file, and name that',
  });

const replaced = (name: string): Fault =>
  new Fault('request/forbidden', `${name} may not be read: another file took its place while it was opened`, { place: { input: name } });
