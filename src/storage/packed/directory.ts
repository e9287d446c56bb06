/**
 * The directory at the end of a zip archive: the names of its files before the first of them is read.
 *
 * @see https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT sections 4.3.12 and 4.3.16
 */
import { isAttributes } from './archive.ts';

const END = 0x06054b50;
const END_BYTES = 22;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;
const IS_UTF8 = 1 << 11;
/** A comment may stand behind the end. */
const MOST_END_BYTES = END_BYTES + 0xffff;
/** More are not read: some thousands of files. */
const MOST_DIRECTORY_BYTES = 1 << 20;

/**
 * The files of an archive, without directories and attributes. undefined: the directory is not found, or is too large; the
 * reader of the archive from its beginning says why.
 *
 * @param read the bytes [from, to)
 */
export async function filesOfZip(
  sizeBytes: number,
  read: (from: number, to: number) => Promise<Buffer>,
): Promise<readonly string[] | undefined> {
  const from = Math.max(0, sizeBytes - MOST_END_BYTES);
  const tail = await read(from, sizeBytes);
  let at = tail.length - END_BYTES;
  while (at >= 0 && !(tail.readUInt32LE(at) === END && at + END_BYTES + tail.readUInt16LE(at + 20) === tail.length)) at--;
  if (at < 0) return undefined;
  const directoryBytes = tail.readUInt32LE(at + 12);
  const begin = tail.readUInt32LE(at + 16);
  // Also an archive of zip64, where both are in another place.
  if (directoryBytes > MOST_DIRECTORY_BYTES || begin + directoryBytes > from + at) return undefined;
  const directory = begin >= from ? tail.subarray(begin - from, begin - from + directoryBytes) : await read(begin, begin + directoryBytes);
  return namesIn(directory);
}

function namesIn(directory: Buffer): readonly string[] | undefined {
  const names: string[] = [];
  for (let at = 0; at < directory.length; ) {
    if (at + ENTRY_BYTES > directory.length || directory.readUInt32LE(at) !== ENTRY) return undefined;
    const nameEnd = at + ENTRY_BYTES + directory.readUInt16LE(at + 28);
    const isUtf8 = (directory.readUInt16LE(at + 8) & IS_UTF8) !== 0;
    const name = directory.toString(isUtf8 ? 'utf8' : 'latin1', at + ENTRY_BYTES, nameEnd);
    if (!name.endsWith('/') && !isAttributes(name)) names.push(name);
    at = nameEnd + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return names;
}
