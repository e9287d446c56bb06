/**
 * Where an archive begins and ends in a file. Programs put bytes before it (to extract itself) and behind it (padding); its directory is found
 * from its end. What two readers could read in two ways is refused.
 *
 * @see https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT 4.3.6, 4.3.16
 */
import type { FileHandle } from 'node:fs/promises';
import { Fault } from '../../../core/fault.ts';

export interface Extent {
  /** From which the offsets in the archive count. */
  readonly from: number;
  /** Behind the comment of the archive. */
  readonly to: number;
}

const LOCAL_HEADER = Buffer.from('PK\x03\x04');
const DIRECTORY_HEADER = Buffer.from('PK\x01\x02');
const END = Buffer.from('PK\x05\x06');
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
/** Behind the comment. Padding fills up a block of a disk or of a tape. */
const MAX_PADDING_BYTES = 1 << 16;
const STEP_BYTES = 1 << 20;
/** NUL, white space, and the end of a file of CP/M, with which old transfer programs pad. */
const PADDING = new Set([0x00, 0x09, 0x0a, 0x0d, 0x1a, 0x20]);

/** A record at the end of an archive, whose directory is there. */
interface End extends Extent {
  readonly at: number;
}

/**
 * undefined: no archive ends there.
 *
 * @throws Fault source/malformed — other bytes than padding follow the archive, or it is ambiguous what belongs to it
 */
export async function archiveExtent(handle: FileHandle, size: number, input: string): Promise<Extent | undefined> {
  const tailAt = Math.max(0, size - END_BYTES - MAX_COMMENT_BYTES - MAX_PADDING_BYTES);
  const tail = await bytesAt(handle, tailAt, size);
  const ends: End[] = [];
  for (let at = tail.indexOf(END); at >= 0 && at + END_BYTES <= tail.length; at = tail.indexOf(END, at + 1)) {
    const comment = tail.readUInt16LE(at + 20);
    const to = tailAt + at + END_BYTES + comment;
    if (to > size) continue;
    for (const from of await beginnings(handle, tail.subarray(at, at + END_BYTES), tailAt + at)) ends.push({ at: tailAt + at, from, to });
  }
  const last = ends.at(-1);
  if (last === undefined) return undefined;
  // An archive in a part of the archive ends before its directory. Where the comment of another one reaches as far as this, each holds the other.
  const other = ends.find(({ at, from, to }) => (at === last.at ? from !== last.from : to > last.at));
  if (other !== undefined)
    throw ambiguous(
      input,
      other.at === last.at
        ? `the end of the archive, at byte ${last.at}, fits to two directories of parts`
        : `an archive ends at byte ${other.at}, and another one in its comment, at byte ${last.at}`,
    );
  if (last.from > 0) await checkPrefix(handle, last.from, input);
  const behind = tail.subarray(last.to - tailAt);
  const strange = behind.findIndex((byte) => !PADDING.has(byte));
  if (strange >= 0)
    throw ambiguous(
      input,
      `the archive ends at byte ${last.to}, and ${behind.length} bytes follow that are no padding (first at byte ${last.to + strange})`,
    );
  return last;
}

/** Where the archive may begin whose end this is: its directory is at the offset that the end states, or stands before the end. */
async function beginnings(handle: FileHandle, end: Buffer, at: number): Promise<readonly number[]> {
  const count = end.readUInt16LE(10);
  const sizeBytes = end.readUInt32LE(12);
  const offset = end.readUInt32LE(16);
  // The directory of an archive with 64 bits is located by another record, whose offset presumes that nothing precedes the archive.
  if (count === 0 || offset === 0xffffffff || sizeBytes === 0xffffffff || count === 0xffff) return [0];
  const isDirectory = async (from: number): Promise<boolean> =>
    from >= 0 &&
    from + DIRECTORY_HEADER.length <= at &&
    (await bytesAt(handle, from, from + DIRECTORY_HEADER.length)).equals(DIRECTORY_HEADER);
  const found: number[] = [];
  if (await isDirectory(offset)) found.push(0);
  const shift = at - sizeBytes - offset;
  if (shift > 0 && (await isDirectory(offset + shift))) found.push(shift);
  return found;
}

/** What stands before the archive may be a program, or a line of text. Another archive would be skipped. */
async function checkPrefix(handle: FileHandle, to: number, input: string): Promise<void> {
  for (let at = 0; at < to; at += STEP_BYTES) {
    const bytes = await bytesAt(handle, at, Math.min(to, at + STEP_BYTES + LOCAL_HEADER.length - 1));
    for (const mark of [LOCAL_HEADER, END])
      if (bytes.includes(mark))
        throw ambiguous(input, `the archive begins at byte ${to}, and another one before it, at byte ${at + bytes.indexOf(mark)}`);
  }
}

async function bytesAt(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(to - from), 0, to - from, from);
  return buffer.subarray(0, bytesRead);
}

const ambiguous = (input: string, reason: string): Fault =>
  new Fault('source/malformed', `It is unclear what belongs to the workbook: ${reason}`, {
    place: { input },
    hint: 'Open it in a spreadsheet program and save it again, or fetch it again',
  });
