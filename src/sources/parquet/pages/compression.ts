/** Undoes the compression of a page. Every result has the size that the header of the page states. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { decompress as decompressZstd, init as loadZstd } from '@bokuweb/zstd-wasm';
import { compressors, decompressLz4, decompressLz4Raw } from 'hyparquet-compressors';
import { BrokenParquet } from '../file/thrift.ts';

/** By the number of the codec in the file. undefined: pages are not compressed. */
const CODECS: readonly ({ readonly name: string; readonly unpack?: (packed: Buffer, sizeBytes: number) => Uint8Array } | undefined)[] = [
  undefined,
  { name: 'Snappy', unpack: snappy },
  { name: 'gzip', unpack: (packed, sizeBytes) => gunzipSync(packed, { maxOutputLength: Math.max(1, sizeBytes) }) },
  { name: 'LZO' },
  { name: 'Brotli', unpack: (packed, sizeBytes) => brotliDecompressSync(packed, { maxOutputLength: Math.max(1, sizeBytes) }) },
  { name: 'LZ4', unpack: decompressLz4 },
  { name: 'Zstandard', unpack: zstd },
  { name: 'LZ4', unpack: decompressLz4Raw },
];

const ZSTD = 6;
let zstdLoaded: Promise<void> | undefined;

/** Before the first page of a codec is unpacked. */
export async function loadCodec(codec: number): Promise<void> {
  if (codec !== ZSTD) return;
  zstdLoaded ??= loadZstd();
  await zstdLoaded;
}

/**
 * By libzstd: decoders in JavaScript may never end on damaged bytes. Its memory is as large as the frame states, so that is compared first.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1
 */
function zstd(packed: Buffer, sizeBytes: number): Uint8Array {
  const told = frameContentBytes(packed);
  if (told !== undefined && told !== sizeBytes) throw new Error(`it tells ${told} bytes, and the header of the page ${sizeBytes}`);
  return decompressZstd(packed, { defaultHeapSize: sizeBytes });
}

/** undefined: the frame does not tell, or is none. */
function frameContentBytes(packed: Buffer): number | undefined {
  if (packed.length < 14) return undefined;
  const descriptor = packed[4] as number;
  const isSingle = (descriptor & 32) !== 0;
  const at = 5 + (isSingle ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] as number);
  switch (descriptor >> 6) {
    case 0:
      return isSingle ? packed[at] : undefined;
    case 1:
      return packed.readUInt16LE(at) + 256;
    case 2:
      return packed.readUInt32LE(at);
    default:
      return at + 8 <= packed.length ? Number(packed.readBigUInt64LE(at)) : undefined;
  }
}

/** Its decoder does not compare the length that the bytes begin with. */
function snappy(packed: Buffer, sizeBytes: number): Uint8Array {
  let length = 0;
  let at = 0;
  for (let scale = 1; at < 5; scale *= 128) {
    const byte = packed[at++] ?? 0;
    length += (byte & 127) * scale;
    if (byte < 128) break;
  }
  if (length !== sizeBytes) throw new Error(`it states ${length} bytes, and the header of the page ${sizeBytes}`);
  return (compressors.SNAPPY as (packed: Uint8Array, sizeBytes: number) => Uint8Array)(packed, sizeBytes);
}

/** A codec that is not read. */
export class OtherCodec extends BrokenParquet {}

/** @throws BrokenParquet */
export function unpackPage(packed: Buffer, codec: number, sizeBytes: number): Buffer {
  if (codec === 0) {
    if (packed.length !== sizeBytes) throw new BrokenParquet(`a page has ${packed.length} bytes, and its header states ${sizeBytes}`);
    return packed;
  }
  const { name = `number ${codec}`, unpack } = CODECS[codec] ?? {};
  if (unpack === undefined) throw new OtherCodec(`its pages are compressed by ${name}, which is not read`);
  if (sizeBytes === 0) return Buffer.alloc(0);
  let bytes: Uint8Array;
  try {
    bytes = unpack(packed, sizeBytes);
  } catch (cause) {
    throw new BrokenParquet(`a page cannot be unpacked (${name}: ${(cause as Error).message})`, { cause });
  }
  if (bytes.length !== sizeBytes) throw new BrokenParquet(`a page unpacks to ${bytes.length} bytes, and its header states ${sizeBytes}`);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
