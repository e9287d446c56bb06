/**
 * A zip archive with one file, written from front to back: sizes and checksum follow the content.
 *
 * Its time is always the same, so that the same statements give the same bytes.
 *
 * @see https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */
import { crc32, createDeflateRaw } from 'node:zlib';
import type { QuadSink } from '../sink.ts';
import { Through } from './through.ts';

const LOCAL_HEADER = 0x04034b50;
const DATA_DESCRIPTOR = 0x08074b50;
const DIRECTORY_HEADER = 0x02014b50;
const ZIP64_END = 0x06064b50;
const ZIP64_LOCATOR = 0x07064b50;
const END = 0x06054b50;
/** Kind of an extra field. */
const ZIP64_SIZES = 1;

const VERSION = 20;
const ZIP64_VERSION = 45;
/** By the upper byte: attributes of files are those of Unix. */
const UNIX = 3 << 8;
const FILE_MODE = 0o100644;
/** The content is described behind it; the name is UTF-8. */
const FLAGS = (1 << 3) | (1 << 11);
const DEFLATED = 8;
/** 1980-01-01, the first day of the format. */
const DATE = (0 << 9) | (1 << 5) | 1;
const MOST = 0xffffffff;

/** @param inner takes the bytes as one-byte text; it is owned @param entry name of the file in the archive */
export function zipped(inner: QuadSink, entry: string): QuadSink {
  const name = Buffer.from(entry);
  let [checksum, bytes, packedBytes] = [0, 0, 0];
  let started = false;
  const through = new Through(createDeflateRaw(), (text) => {
    packedBytes += text.length;
    return inner.write(text);
  });
  const begin = async (): Promise<void> => {
    started = true;
    await inner.write(text(localHeader(name)));
  };
  const add = (given: string): void | Promise<void> => {
    bytes += given.length;
    checksum = crc32(Buffer.from(given, 'latin1'), checksum);
    return through.write(given);
  };
  return {
    write: (given) => (started ? add(given) : begin().then(() => add(given))),
    async commit() {
      if (!started) await begin();
      await through.end();
      await inner.write(text(end(name, { checksum, bytes, packedBytes })));
      return inner.commit();
    },
    async abort() {
      through.destroy();
      await inner.abort();
    },
  };
}

const text = (buffer: Buffer): string => buffer.toString('latin1');

interface Content {
  readonly checksum: number;
  readonly bytes: number;
  readonly packedBytes: number;
}

/** Numbers in a row, each with its lowest byte first. @param widths in bytes */
function record(widths: readonly (2 | 4 | 8)[], ...values: readonly number[]): Buffer {
  return Buffer.concat(
    widths.map((bytes, i) => {
      const field = Buffer.alloc(bytes);
      const value = values[i] as number;
      if (bytes === 8) field.writeBigUInt64LE(BigInt(value));
      else field.writeUIntLE(value, 0, bytes);
      return field;
    }),
  );
}

function localHeader(name: Buffer): Buffer {
  const header = record([4, 2, 2, 2, 2, 2, 4, 4, 4, 2, 2], LOCAL_HEADER, VERSION, FLAGS, DEFLATED, 0, DATE, 0, 0, 0, name.length, 0);
  return Buffer.concat([header, name]);
}

/** What follows the content: its description, the directory, and the end of that; sizes of 4 GiB and more need the ZIP64 forms. */
function end(name: Buffer, { checksum, bytes, packedBytes }: Content): Buffer {
  const isLarge = bytes >= MOST || packedBytes >= MOST;
  const width = isLarge ? 8 : 4;
  const descriptor = record([4, 4, width, width], DATA_DESCRIPTOR, checksum, packedBytes, bytes);
  const version = isLarge ? ZIP64_VERSION : VERSION;
  const sizes = isLarge ? [MOST, MOST] : [packedBytes, bytes];
  const extra = isLarge ? record([2, 2, 8, 8], ZIP64_SIZES, 16, bytes, packedBytes) : Buffer.alloc(0);
  const directory = Buffer.concat([
    record([4, 2, 2, 2, 2, 2, 2, 4], DIRECTORY_HEADER, UNIX | version, version, FLAGS, DEFLATED, 0, DATE, checksum),
    record([4, 4, 2, 2, 2, 2, 2, 4, 4], ...sizes, name.length, extra.length, 0, 0, 0, FILE_MODE * 0x10000, 0),
    name,
    extra,
  ]);
  const directoryAt = 30 + name.length + packedBytes + descriptor.length;
  const large = directoryAt >= MOST ? zip64End(directoryAt, directory.length) : Buffer.alloc(0);
  const last = record([4, 2, 2, 2, 2, 4, 4, 2], END, 0, 0, 1, 1, directory.length, Math.min(directoryAt, MOST), 0);
  return Buffer.concat([descriptor, directory, large, last]);
}

function zip64End(directoryAt: number, directoryBytes: number): Buffer {
  return Buffer.concat([
    record([4, 8, 2, 2, 4, 4], ZIP64_END, 44, UNIX | ZIP64_VERSION, ZIP64_VERSION, 0, 0),
    record([8, 8, 8, 8], 1, 1, directoryBytes, directoryAt),
    record([4, 4, 8, 4], ZIP64_LOCATOR, 0, directoryAt + directoryBytes, 1),
  ]);
}
