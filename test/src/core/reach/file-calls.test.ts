/** Calls of the file system: handed to Node's threads or made at once, they answer the same. */
import { constants } from 'node:fs';
import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AT_ONCE, type FileCalls, HANDED_OVER } from '../../../../src/core/reach/file-calls.ts';

let directory: string;
const at = (name: string): string => join(directory, name);
const SIZES = { 'empty.txt': 0, 'short.txt': 5, 'edge.txt': 64 * 1024, 'long.txt': 300_000 } as const;
const CONTENT = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, i) => (i * 31 + (i >> 8)) & 255));
const contentOf = (bytes: number): Buffer => CONTENT.subarray(0, bytes);

beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'quadmill-calls-')));
  for (const [name, bytes] of Object.entries(SIZES)) await writeFile(at(name), contentOf(bytes));
  await symlink('short.txt', at('link.txt'));
});
afterAll(() => rm(directory, { recursive: true }));

describe.each<[string, FileCalls]>([
  ['handed over', HANDED_OVER],
  ['at once', AT_ONCE],
])('%s', (_, calls) => {
  const opened = (name: string) => calls.open(at(name), constants.O_RDONLY);

  test('links are resolved, and seen as such', async () => {
    expect(await calls.realpath(at('link.txt'))).toBe(at('short.txt'));
    expect((await calls.lstat(at('link.txt'))).isSymbolicLink()).toBe(true);
    expect((await calls.stat(at('link.txt'))).size).toBe(5);
  });

  test.each(['realpath', 'lstat', 'stat', 'open'] as const)('%s rejects for what is missing', async (name) => {
    const call = (): Promise<unknown> => (name === 'open' ? opened('missing.txt') : calls[name](at('missing.txt')));
    await expect(call()).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test.each(Object.entries(SIZES))('%s is read to its end, and from a position', async (name, bytes) => {
    const file = await opened(name);
    expect((await file.stat()).size).toBe(bytes);
    const parts: Buffer[] = [];
    for (;;) {
      const buffer = Buffer.alloc(100_000);
      const length = await file.read(buffer, null);
      if (length === 0) break;
      parts.push(buffer.subarray(0, length));
    }
    expect(Buffer.concat(parts).equals(contentOf(bytes))).toBe(true);
    const tail = Buffer.alloc(8);
    expect(await file.read(tail, Math.max(0, bytes - 3))).toBe(Math.min(3, bytes));
    await file.close();
    await file.close();
    await expect(file.read(tail, 0)).rejects.toMatchObject({ code: 'EBADF' });
  });

  test('a file that is closed while it is read gives what it has', async () => {
    for (let i = 0; i < 20; i++) {
      const file = await opened('long.txt');
      const buffer = Buffer.allocUnsafe(300_000);
      const reading = file.read(buffer, 0);
      const closing = file.close();
      // Would get the number of a file that was closed too early.
      const other = await opened('short.txt');
      expect(await reading).toBe(300_000);
      expect(buffer.equals(contentOf(300_000))).toBe(true);
      await Promise.all([closing, other.close()]);
    }
  });
});
