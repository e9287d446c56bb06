/** What is checked of a file of LMDB before it is opened. */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

/** Of a page and of the record in it that names the newest pages, in bytes. LMDB keeps two of them, in the first two pages. */
const META = { magic: 0xbeefc0de, magicAt: 24, pageBytesAt: 48, rootsAt: [88, 136], transactionAt: 152, bytes: 160 } as const;
const NO_PAGE = 2n ** 64n - 1n;

/**
 * LMDB maps the file into memory and trusts it: a file that is no environment, or ends too early, would end the process by a signal.
 *
 * @throws Error — what is wrong with it; damage further behind is not looked for
 */
export function assertEnvironment(path: string): void {
  if (!existsSync(path)) return;
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size === 0) return;
    const meta = (at: number): Buffer => {
      const bytes = Buffer.alloc(META.bytes);
      readSync(file, bytes, 0, META.bytes, at);
      if (bytes.readUInt32LE(META.magicAt) !== META.magic) throw new Error('data.mdb is damaged');
      return bytes;
    };
    const first = meta(0);
    const pageBytes = first.readUInt32LE(META.pageBytesAt);
    const second = meta(pageBytes);
    const newest = first.readBigUInt64LE(META.transactionAt) > second.readBigUInt64LE(META.transactionAt) ? first : second;
    const roots = META.rootsAt.map((at) => newest.readBigUInt64LE(at)).filter((root) => root !== NO_PAGE);
    if (roots.some((root) => (root + 1n) * BigInt(pageBytes) > size)) throw new Error('data.mdb is cut off');
  } finally {
    closeSync(file);
  }
}
