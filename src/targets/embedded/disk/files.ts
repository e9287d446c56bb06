/** The files of the embedded store: which of them count, and what is left over. */
import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '../messages.ts';
import { MANIFEST, readManifest } from './manifest.ts';
import { syncDirectory } from './sync.ts';

export interface Generation {
  readonly generation: number;
  readonly snapshotBytes: number;
  readonly manifest: Manifest | undefined;
  /** Whether there is a manifest, but not as it was written. */
  readonly isDamaged: boolean;
}

const NAME = /^(snapshot|journal)-(\d+)\.(nq|log)$/;
const TEMPORARY = /^(snapshot-\d+\.nq|store\.json|unreadable\.ndjson)\.tmp$/;

export const snapshotPath = (directory: string, generation: number): string => join(directory, `snapshot-${generation}.nq`);
export const journalPath = (directory: string, generation: number): string => join(directory, `journal-${generation}.log`);
export const listPath = (directory: string): string => join(directory, 'unreadable.ndjson.tmp');

/** Whether nothing was ever written to the directory. */
export const isEmpty = async (directory: string): Promise<boolean> =>
  (await readdir(directory)).every((name) => name !== MANIFEST && !NAME.test(name));

/** Finds the files that hold the state: those that the manifest names, or without one the newest. @throws Error as `readManifest` */
export async function findGeneration(directory: string): Promise<Generation> {
  const manifest = readManifest(directory);
  const isFound = typeof manifest === 'object';
  const generation = isFound ? manifest.generation : await newestGeneration(directory);
  const snapshotBytes = await stat(snapshotPath(directory, generation)).then(
    ({ size }) => size,
    () => 0,
  );
  return { generation, snapshotBytes, manifest: isFound ? manifest : undefined, isDamaged: manifest === 'damaged' };
}

/** Of the last snapshot, or of the last journal where there is none. */
async function newestGeneration(directory: string): Promise<number> {
  const names = await readdir(directory);
  const newest = (kind: string): number =>
    Math.max(0, ...names.flatMap((name) => (name.startsWith(kind) ? [Number(NAME.exec(name)?.[2] ?? 0)] : [])));
  // Before version 2 a journal that is newer than the last snapshot did not exist, and a snapshot without its journal did.
  return Math.max(newest('snapshot-'), newest('journal-'));
}

/** Removes snapshots and journals of other generations, and unfinished files. */
export async function removeOthers(directory: string, generation: number): Promise<void> {
  for (const name of await readdir(directory)) {
    const [, , number] = NAME.exec(name) ?? [];
    if ((number !== undefined && Number(number) !== generation) || TEMPORARY.test(name)) await rm(join(directory, name), { force: true });
  }
}

/**
 * Keeps the files of the store, as they are, in a directory beside them, with the list of what cannot be read. Resolves to that directory.
 */
export async function keepDamaged(directory: string): Promise<string> {
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const kept = join(directory, `damaged-${time}`);
  await mkdir(kept, { mode: 0o700 });
  for (const name of await readdir(directory)) {
    const [from, to] = [join(directory, name), join(kept, name)];
    if (from === listPath(directory)) await rename(from, join(kept, 'unreadable.ndjson'));
    // The manifest is written in place, so it needs another file.
    else if (name === MANIFEST) await copyFile(from, to);
    else if (NAME.test(name)) await link(from, to).catch(() => copyFile(from, to, constants.COPYFILE_FICLONE));
  }
  await syncDirectory(kept);
  await syncDirectory(directory);
  return kept;
}

/** Keeps a copy of a journal of version 1 that ends within a record. Returns a message for the log. */
export async function keepTorn(path: string): Promise<string> {
  const copy = `${path}.torn`;
  const kept = await copyFile(path, copy).then(
    () => `The original file is kept as ${copy}`,
    async (error: Error) => {
      await rm(copy, { force: true });
      return `The original file could not be kept: ${error.message}`;
    },
  );
  return `The last record of ${path} is incomplete and was cut off, as happens when a process is killed while it writes. ${kept}`;
}
