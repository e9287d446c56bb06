/** A directory whose syncs are shared by several runs (`src/storage/local/file.ts`). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { syncDirectoryTogether } from '../../../src/storage/local/file.ts';

test('who asks while a directory is being synced waits for the next sync, and no caller is forgotten', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'quadmill-sync-'));
  try {
    const ended: string[] = [];
    const sync = async (name: string): Promise<void> => {
      await syncDirectoryTogether(directory);
      ended.push(name);
    };
    const first = sync('first');
    const during = Array.from({ length: 20 }, (_, i) => sync(`during ${i}`));
    await first;
    // The sync that was under way began before they asked.
    expect(ended).toEqual(['first']);
    await Promise.all([...during, sync('late')]);
    expect(ended).toHaveLength(22);
    expect(ended.at(-1)).toBe('late');
    await sync('again');
    // As for a file system that cannot do it.
    await syncDirectoryTogether(join(directory, 'missing'));
  } finally {
    rmSync(directory, { recursive: true });
  }
});
