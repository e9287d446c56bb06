/**
 * The format xz: one stream with one block, the filter LZMA2 and a checksum CRC-32.
 *
 * @see https://tukaani.org/xz/xz-file-format.txt
 */
import { crc32 } from 'node:zlib';
import { FOOTER_MAGIC, LZMA2_FILTER, STREAM_MAGIC } from '../../storage/packed/xz.ts';
import type { QuadSink } from '../sink.ts';
import { DICTIONARY_CODE, LzmaEncoder, PROPERTIES } from './lzma-encoder.ts';

/** Version 0, checksum CRC-32. */
const FLAGS = Buffer.of(0, 1);
const FIRST_CHUNK = 0xe0;
const FURTHER_CHUNK = 0x80;
/** Small writes are collected to this many bytes. Encoding them takes some 30 ms, in which nothing else happens. */
const WRITE_BYTES = 128 * 1024;

/** @param inner takes the bytes as one-byte text; it is owned */
export function xzCompressed(inner: QuadSink): QuadSink {
  const encoder = new LzmaEncoder();
  let collected = '';
  let [bytes, checksum, blockBytes] = [0, 0, 0];
  let hasBegun = false;

  const pass = async (buffer: Buffer): Promise<void> => {
    blockBytes += buffer.length;
    await inner.write(buffer.toString('latin1'));
  };
  const passChunks = async (isEnd: boolean): Promise<void> => {
    for (let chunk = encoder.next(isEnd); chunk !== undefined; chunk = encoder.next(isEnd)) {
      await pass(chunkHeader(blockBytes <= BLOCK_HEADER.length, chunk.bytes, chunk.coded.length));
      await pass(chunk.coded);
    }
  };
  const encode = async (): Promise<void> => {
    const given = Buffer.from(collected, 'latin1');
    collected = '';
    if (!hasBegun) {
      hasBegun = true;
      await inner.write(STREAM_HEADER.toString('latin1'));
      await pass(BLOCK_HEADER);
    }
    checksum = crc32(given, checksum);
    bytes += given.length;
    for (let at = 0; at < given.length; ) {
      at += encoder.add(given.subarray(at, at + WRITE_BYTES));
      await passChunks(false);
    }
  };
  return {
    write(text) {
      collected += text;
      return collected.length < WRITE_BYTES ? undefined : encode();
    },
    async commit() {
      await encode();
      await passChunks(true);
      await pass(Buffer.of(0));
      await inner.write(ending(blockBytes, bytes, checksum).toString('latin1'));
      return inner.commit();
    },
    abort: () => inner.abort(),
  };
}

const checked = (fields: Buffer): Buffer => {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(crc32(fields));
  return Buffer.concat([fields, checksum]);
};

const STREAM_HEADER = Buffer.concat([STREAM_MAGIC, checked(FLAGS)]);
const BLOCK_HEADER = checked(Buffer.of(2, 0, LZMA2_FILTER, 1, DICTIONARY_CODE, 0, 0, 0));

function chunkHeader(isFirst: boolean, bytes: number, coded: number): Buffer {
  const header = Buffer.alloc(isFirst ? 6 : 5);
  header[0] = (isFirst ? FIRST_CHUNK : FURTHER_CHUNK) | ((bytes - 1) >> 16);
  header.writeUInt16BE((bytes - 1) & 0xffff, 1);
  header.writeUInt16BE(coded - 1, 3);
  if (isFirst) header[5] = PROPERTIES;
  return header;
}

/** Padding and checksum of the block, the index, and the end of the stream. @param blockBytes with the header, without padding */
function ending(blockBytes: number, bytes: number, checksum: number): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(checksum);
  const index = checked(padded(Buffer.concat([Buffer.of(0, 1), number(blockBytes + sum.length), number(bytes)])));
  const back = Buffer.alloc(4);
  back.writeUInt32LE(index.length / 4 - 1);
  const footer = Buffer.concat([back, FLAGS]);
  const footerSum = checked(footer).subarray(footer.length);
  return Buffer.concat([Buffer.alloc((4 - (blockBytes % 4)) % 4), sum, index, footerSum, footer, FOOTER_MAGIC]);
}

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);

/** Seven bits in each byte, the lowest first. */
function number(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}
