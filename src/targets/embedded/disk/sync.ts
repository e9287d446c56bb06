/** What is done with names in a directory survives a power cut. */
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

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
