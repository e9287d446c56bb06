/**
 * The one file of a zip archive, read from front to back.
 *
 * Entries are found by their local headers, since an input may be a stream without an end to begin at. Directories are skipped.
 *
 * @see https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */
import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib';
import { excerpt, Fault } from '../../core/fault.ts';
import { boundOf, INFLATION_FLOOR_BYTES, inflationFault } from '../../core/limits.ts';
import {
  type ArchiveName,
  assertNotPacked,
  CUT_OFF,
  damagedFault,
  emptyFault,
  isAttributes,
  noArchiveFault,
  refusedEntryFault,
  severalFault,
} from './archive.ts';
import { ByteReader, type Chunks } from './byte-reader.ts';

const LOCAL_HEADER = 0x04034b50;
const DATA_DESCRIPTOR = 0x08074b50;
/** What follows the last entry: the directory, its end, or what stands between entries and directory. */
const AFTER_ENTRIES: ReadonlySet<number> = new Set([0x02014b50, 0x06054b50, 0x06064b50, 0x08064b50]);

const STORED = 0;
const DEFLATED = 8;
const IS_ENCRYPTED = 1 << 0;
const HAS_DESCRIPTOR = 1 << 3;
const IS_UTF8 = 1 << 11;
const IN_ZIP64 = 0xffffffff;
const ZIP64_EXTRA = 1;

interface Entry {
  /** For messages. */
  readonly shown: string;
  readonly name: string;
  readonly method: number;
  readonly encrypted: boolean;
  /** Sizes and checksum follow the content. */
  readonly described: boolean;
  readonly checksum: number;
  readonly packedBytes: number;
  readonly bytes: number;
}

/**
 * @param ratio see `RunLimits.inflationRatio`
 * @throws Fault source/malformed — no zip archive, damaged or cut off; source/refused — more than one file (found after the first has been
 * passed on), or one that is encrypted or packed by another method than deflate; limit/exceeded — it unpacks to too much
 */
export async function* unzip(chunks: Chunks, input: string, ratio: number): Chunks {
  const archive: ArchiveName = { kind: 'zip', input };
  const reader = new ByteReader(chunks);
  try {
    let found: Entry | undefined;
    for (;;) {
      const signature = await reader.read(4);
      if (signature.length < 4 && reader.position > 4) throw damagedFault(archive, reader.position, CUT_OFF);
      const kind = signature.length < 4 ? 0 : signature.readUInt32LE();
      if (AFTER_ENTRIES.has(kind)) break;
      if (kind !== LOCAL_HEADER) {
        throw reader.position === 4 || signature.length < 4
          ? noArchiveFault(archive)
          : damagedFault(archive, reader.position - 4, 'something else follows an entry');
      }
      const entry = await readHeader(reader, archive);
      const skipped = entry.name.endsWith('/') || isAttributes(entry.name);
      if (found !== undefined && !skipped) throw severalFault(archive, [found.shown, entry.shown]);
      if (!skipped) {
        assertNotPacked(archive, entry.name, entry.shown);
        found = entry;
      }
      for await (const chunk of contentOf(entry, reader, archive, ratio)) if (!skipped) yield chunk;
    }
    if (found === undefined) throw emptyFault(archive);
  } finally {
    reader.close();
  }
}

async function readHeader(reader: ByteReader, archive: ArchiveName): Promise<Entry> {
  const fixed = await take(reader, 26, archive);
  const flags = fixed.readUInt16LE(2);
  const nameBytes = await take(reader, fixed.readUInt16LE(22), archive);
  const extra = await take(reader, fixed.readUInt16LE(24), archive);
  const name = nameBytes.toString((flags & IS_UTF8) === 0 ? 'latin1' : 'utf8');
  const bytes = fixed.readUInt32LE(18);
  const packedBytes = fixed.readUInt32LE(14);
  const large = bytes === IN_ZIP64 || packedBytes === IN_ZIP64 ? zip64Sizes(extra) : undefined;
  return {
    name,
    shown: excerpt(name),
    method: fixed.readUInt16LE(4),
    encrypted: (flags & IS_ENCRYPTED) !== 0,
    described: (flags & HAS_DESCRIPTOR) !== 0,
    checksum: fixed.readUInt32LE(10),
    packedBytes: large?.packedBytes ?? packedBytes,
    bytes: large?.bytes ?? bytes,
  };
}

/** A local header always has both sizes in its field. */
function zip64Sizes(extra: Buffer): { readonly bytes: number; readonly packedBytes: number } | undefined {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== ZIP64_EXTRA || at + 20 > extra.length) continue;
    return { bytes: Number(extra.readBigUInt64LE(at + 4)), packedBytes: Number(extra.readBigUInt64LE(at + 12)) };
  }
  return undefined;
}

async function* contentOf(entry: Entry, reader: ByteReader, archive: ArchiveName, ratio: number): Chunks {
  const { method, described, shown } = entry;
  if (entry.encrypted) throw refusedEntryFault(archive, shown, 'it is encrypted');
  if (method !== STORED && method !== DEFLATED) throw refusedEntryFault(archive, shown, `it is packed by method ${method}`);
  if (method === STORED && described) throw refusedEntryFault(archive, shown, 'it is not packed, and its size is not given in advance');
  const start = reader.position;
  let checksum = 0;
  let bytes = 0;
  const content = method === STORED ? stored(entry.packedBytes, reader, archive) : inflated(reader, archive);
  for await (const chunk of content) {
    bytes += chunk.length;
    checksum = crc32(chunk, checksum);
    if (bytes > INFLATION_FLOOR_BYTES && bytes > (reader.position - start) * boundOf(ratio)) {
      throw inflationFault(ratio, { input: archive.input });
    }
    yield chunk;
  }
  const packedBytes = reader.position - start;
  const told = described ? await readDescriptor(reader, packedBytes, bytes, archive) : entry;
  if (told.checksum !== checksum || told.bytes !== bytes || told.packedBytes !== packedBytes) {
    throw damagedFault(archive, reader.position, `the content of ${shown} does not have the checksum or the size that it should have`);
  }
}

async function* stored(length: number, reader: ByteReader, archive: ArchiveName): Chunks {
  for (let left = length; left > 0; ) {
    const chunk = await reader.chunk(left);
    if (chunk === undefined) throw damagedFault(archive, reader.position, CUT_OFF);
    left -= chunk.length;
    yield chunk;
  }
}

/** Ends where the deflated data end; what the last chunk has behind them goes back to the reader. */
async function* inflated(reader: ByteReader, archive: ArchiveName): Chunks {
  const inflate = createInflateRaw({ chunkSize: 256 * 1024 });
  let ended = false;
  const end = new Promise<void>((done) => {
    const settle = (): void => {
      ended = true;
      done();
    };
    inflate.once('end', settle).once('error', settle).once('close', settle);
  });
  const feeding = feed(inflate, reader, end, () => ended);
  try {
    for await (const chunk of inflate) yield chunk as Uint8Array;
    await feeding;
  } catch (error) {
    if (error instanceof Fault) throw error;
    const cut = (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR';
    throw damagedFault(archive, reader.position, cut ? CUT_OFF : (error as Error).message, error);
  } finally {
    inflate.destroy();
  }
}

async function feed(inflate: InflateRaw, reader: ByteReader, end: Promise<void>, hasEnded: () => boolean): Promise<void> {
  let fed = 0;
  while (!hasEnded()) {
    const chunk = await reader.chunk().catch((error: Error) => {
      inflate.destroy(error);
      return undefined;
    });
    if (chunk === undefined) {
      inflate.end();
      return;
    }
    // Without the callback of a write, the data have ended within its chunk.
    const taken = new Promise<void>((done) => inflate.write(chunk, () => done()));
    await Promise.race([taken, end]);
    const used = Math.min(inflate.bytesWritten - fed, chunk.length);
    fed += chunk.length;
    if (used < chunk.length) {
      reader.unread(chunk.subarray(used));
      return;
    }
  }
}

/** Its sizes have four bytes or eight; only the sizes themselves show which. */
async function readDescriptor(
  reader: ByteReader,
  packedBytes: number,
  bytes: number,
  archive: ArchiveName,
): Promise<Pick<Entry, 'checksum' | 'packedBytes' | 'bytes'>> {
  const seen = await take(reader, 24, archive);
  const at = seen.readUInt32LE() === DATA_DESCRIPTOR ? 4 : 0;
  const short = { packedBytes: seen.readUInt32LE(at + 4), bytes: seen.readUInt32LE(at + 8) };
  const isShort = short.packedBytes === packedBytes && short.bytes === bytes;
  const long = { packedBytes: Number(seen.readBigUInt64LE(at + 4)), bytes: Number(seen.readBigUInt64LE(at + 12)) };
  reader.unread(seen.subarray(at + (isShort ? 12 : 20)));
  return { checksum: seen.readUInt32LE(at), ...(isShort ? short : long) };
}

async function take(reader: ByteReader, length: number, archive: ArchiveName): Promise<Buffer> {
  const bytes = await reader.read(length);
  if (bytes.length < length) throw damagedFault(archive, reader.position, CUT_OFF);
  return bytes;
}
