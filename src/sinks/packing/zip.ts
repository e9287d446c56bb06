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

function localHeader(name: Buffer): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(LOCAL_HEADER);
  header.writeUInt16LE(VERSION, 4);
  header.writeUInt16LE(FLAGS, 6);
  header.writeUInt16LE(DEFLATED, 8);
  header.writeUInt16LE(DATE, 12);
  header.writeUInt16LE(name.length, 26);
  return Buffer.concat([header, name]);
}

/** What follows the content: its description, the directory, and the end of that; sizes of 4 GiB and more need the ZIP64 forms. */
function end(name: Buffer, content: Content): Buffer {
  const { checksum, bytes, packedBytes } = content;
  const isLarge = bytes >= MOST || packedBytes >= MOST;
  const descriptor = Buffer.alloc(isLarge ? 24 : 16);
  descriptor.writeUInt32LE(DATA_DESCRIPTOR);
  descriptor.writeUInt32LE(checksum, 4);
  if (isLarge) {
    descriptor.writeBigUInt64LE(BigInt(packedBytes), 8);
    descriptor.writeBigUInt64LE(BigInt(bytes), 16);
  } else {
    descriptor.writeUInt32LE(packedBytes, 8);
    descriptor.writeUInt32LE(bytes, 12);
  }
  const directoryAt = 30 + name.length + packedBytes + descriptor.length;
  const directory = Buffer.concat([directoryHeader(name, content, isLarge), name, isLarge ? largeSizes(content) : Buffer.alloc(0)]);
  const large = directoryAt >= MOST ? zip64End(directoryAt, directory.length) : Buffer.alloc(0);
  const last = Buffer.alloc(22);
  last.writeUInt32LE(END);
  last.writeUInt16LE(1, 8);
  last.writeUInt16LE(1, 10);
  last.writeUInt32LE(directory.length, 12);
  last.writeUInt32LE(Math.min(directoryAt, MOST), 16);
  return Buffer.concat([descriptor, directory, large, last]);
}

function directoryHeader(name: Buffer, { checksum, bytes, packedBytes }: Content, isLarge: boolean): Buffer {
  const header = Buffer.alloc(46);
  header.writeUInt32LE(DIRECTORY_HEADER);
  header.writeUInt16LE(UNIX | (isLarge ? ZIP64_VERSION : VERSION), 4);
  header.writeUInt16LE(isLarge ? ZIP64_VERSION : VERSION, 6);
  header.writeUInt16LE(FLAGS, 8);
  header.writeUInt16LE(DEFLATED, 10);
  header.writeUInt16LE(DATE, 14);
  header.writeUInt32LE(checksum, 16);
  header.writeUInt32LE(isLarge ? MOST : packedBytes, 20);
  header.writeUInt32LE(isLarge ? MOST : bytes, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(isLarge ? 20 : 0, 30);
  header.writeUInt32LE(FILE_MODE * 0x10000, 38);
  return header;
}

function largeSizes({ bytes, packedBytes }: Content): Buffer {
  const extra = Buffer.alloc(20);
  extra.writeUInt16LE(1);
  extra.writeUInt16LE(16, 2);
  extra.writeBigUInt64LE(BigInt(bytes), 4);
  extra.writeBigUInt64LE(BigInt(packedBytes), 12);
  return extra;
}

function zip64End(directoryAt: number, directoryBytes: number): Buffer {
  const last = Buffer.alloc(56 + 20);
  last.writeUInt32LE(ZIP64_END);
  last.writeBigUInt64LE(44n, 4);
  last.writeUInt16LE(UNIX | ZIP64_VERSION, 12);
  last.writeUInt16LE(ZIP64_VERSION, 14);
  last.writeBigUInt64LE(1n, 24);
  last.writeBigUInt64LE(1n, 32);
  last.writeBigUInt64LE(BigInt(directoryBytes), 40);
  last.writeBigUInt64LE(BigInt(directoryAt), 48);
  last.writeUInt32LE(ZIP64_LOCATOR, 56);
  last.writeBigUInt64LE(BigInt(directoryAt + directoryBytes), 64);
  last.writeUInt32LE(1, 72);
  return last;
}
