/** The files of the embedded store: which of them count, and what is left over. */
import { copyFile, open, readdir, rename, rm, stat, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface Generation {
  /** Of the last snapshot; 0 before the first. */
  readonly generation: number;
  readonly snapshot: string | undefined;
  readonly snapshotBytes: number;
  readonly journal: string | undefined;
}

const NAME = /^(snapshot|journal)-(\d+)\.(nq|log)$/;

/** Whether nothing was ever written to the directory. */
export const isEmpty = async (directory: string): Promise<boolean> =>
  (await readdir(directory)).every((name) => generationOf(name) === 0 && !NAME.test(name));

/** Finds the newest snapshot and its journal, and removes what an interruption left behind. */
export async function openGeneration(directory: string): Promise<Generation> {
  const names = await readdir(directory);
  const generation = Math.max(0, ...names.filter((name) => name.startsWith('snapshot-')).map(generationOf));
  const path = (name: string): string | undefined => (names.includes(name) ? join(directory, name) : undefined);
  const [snapshot, journal] = [path(`snapshot-${generation}.nq`), path(`journal-${generation}.log`)];
  await removeOthers(directory, generation);
  return { generation, snapshot, snapshotBytes: snapshot === undefined ? 0 : (await stat(snapshot)).size, journal };
}

/** 0: not a file of the store. */
const generationOf = (name: string): number => Number(NAME.exec(name)?.[2] ?? 0);

/** Removes snapshots and journals of earlier generations, and unfinished snapshots. */
export async function removeOthers(directory: string, generation: number): Promise<void> {
  for (const name of await readdir(directory)) {
    const old = NAME.test(name) && generationOf(name) < generation;
    if (old || /^snapshot-\d+\.nq\.tmp$/.test(name)) await rm(join(directory, name), { force: true });
  }
}

/** Renames a file that is synced; afterwards its name is synced too. */
export async function moveIntoPlace(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncDirectory(dirname(to));
}

/** Makes creations, renames and removals in a directory survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Cuts a journal off after its last whole record; keeps a copy of the file as it was where there is room. Returns a message for the log. */
export async function cutTail(path: string, bytes: number): Promise<string> {
  const copy = `${path}.torn`;
  const kept = await copyFile(path, copy).then(
    () => `The original file is kept as ${copy}`,
    async (error: Error) => {
      await rm(copy, { force: true });
      return `The original file could not be kept: ${error.message}`;
    },
  );
  await truncate(path, bytes);
  return `The last record of ${path} is incomplete and was cut off, as happens when a process is killed while it writes; no acknowledged write is missing. ${kept}`;
}
