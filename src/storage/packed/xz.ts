/**
 * The content of files in the format xz, with the filter LZMA2: streams with blocks, several in a row.
 *
 * Sizes and checksums are verified, those of the index as sums.
 *
 * @see https://tukaani.org/xz/xz-file-format.txt
 */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Fault } from '../../core/fault.ts';
import { boundOf, INFLATION_FLOOR_BYTES, inflationFault } from '../../core/limits.ts';
import { ByteReader, type Chunks } from './byte-reader.ts';
import { Crc64 } from './crc64.ts';
import { LzmaDecoder, NotLzma } from './lzma-decoder.ts';

export const STREAM_MAGIC = Buffer.from('fd377a585a00', 'hex');
export const FOOTER_MAGIC = Buffer.from('YZ');
export const LZMA2_FILTER = 0x21;

/** What `xz -9` writes needs 64 MiB. */
const MOST_DICTIONARY_BYTES = 128 * 2 ** 20;

interface Check {
  readonly bytes: number;
  update(content: Buffer): void;
  digest(): Buffer;
}

/** By the number of the check; others have a size but are not verified. */
function newCheck(kind: number): Check {
  const bytes = [0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64][kind] as number;
  if (kind === 1) {
    let sum = 0;
    const digest = (): Buffer => {
      const found = Buffer.alloc(4);
      found.writeUInt32LE(sum);
      return found;
    };
    return { bytes, digest, update: (content) => void (sum = crc32(content, sum)) };
  }
  if (kind === 4) {
    const sum = new Crc64();
    return { bytes, digest: () => sum.digest(), update: (content) => sum.update(content) };
  }
  if (kind === 10) {
    const hash = createHash('sha256');
    return { bytes, digest: () => hash.digest(), update: (content) => void hash.update(content) };
  }
  return { bytes, digest: () => Buffer.alloc(0), update: () => undefined };
}

/**
 * @param ratio see `RunLimits.inflationRatio`
 * @throws Fault source/malformed — no xz, damaged or cut off; source/refused — a filter for programs; limit/exceeded — it unpacks to too
 * much, or asks for too much memory
 */
export async function* unxz(chunks: Chunks, name: string, ratio: number): Chunks {
  const file = new XzFile(new ByteReader(chunks), name);
  let bytes = 0;
  try {
    while (await file.beginStream()) {
      while (await file.beginBlock()) {
        for (let content = await file.next(); content !== undefined; content = await file.next()) {
          bytes += content.length;
          if (bytes > INFLATION_FLOOR_BYTES && bytes > file.position * boundOf(ratio)) throw inflationFault(ratio, { input: name });
          yield content;
        }
      }
      await file.endStream();
    }
  } catch (error) {
    throw error instanceof NotLzma ? file.damaged(error.message, error) : error;
  } finally {
    file.close();
  }
}

const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);

class XzFile {
  readonly #reader: ByteReader;
  readonly #input: string;
  #streams = 0;
  #flags: Buffer = Buffer.alloc(2);
  #decoder: LzmaDecoder | undefined;
  #dictionaryBytes = 0;
  #check: Check = newCheck(0);
  #headerBytes = 0;
  #blockAt = 0;
  #wantsDictionary = true;
  #told: { readonly packedBytes: number | undefined; readonly bytes: number | undefined } = { packedBytes: undefined, bytes: undefined };
  #blockBytes = 0;
  #indexSum = 0;
  /** Of the stream: the index must say the same. */
  #blocks = { count: 0, unpadded: 0, bytes: 0 };

  constructor(reader: ByteReader, input: string) {
    this.#reader = reader;
    this.#input = input;
  }

  get position(): number {
    return this.#reader.position;
  }

  close(): void {
    this.#reader.close();
  }

  /** False at the end of the file. Between streams there may be groups of four zeros. */
  async beginStream(): Promise<boolean> {
    let header = await this.#reader.read(4);
    while (this.#streams > 0 && header.length === 4 && header.readUInt32LE() === 0) header = await this.#reader.read(4);
    if (header.length === 0 && this.#streams > 0) return false;
    if (!STREAM_MAGIC.subarray(0, header.length).equals(header) || header.length === 0) throw this.#noXz();
    const rest = await this.#take(8);
    if (!STREAM_MAGIC.subarray(4).equals(rest.subarray(0, 2))) throw this.#noXz();
    this.#flags = rest.subarray(2, 4);
    if (rest.readUInt32LE(4) !== crc32(this.#flags)) throw this.damaged('the header of a stream has a wrong checksum');
    if (this.#flags[0] !== 0 || (this.#flags[1] as number) > 15) throw this.#refused('it has flags of a later version');
    this.#streams++;
    this.#blocks = { count: 0, unpadded: 0, bytes: 0 };
    return true;
  }

  /** False where the index begins. */
  async beginBlock(): Promise<boolean> {
    this.#blockAt = this.#reader.position;
    const size = (await this.#take(1))[0] as number;
    if (size === 0) return false;
    const header = await this.#take(size * 4 + 3);
    const whole = Buffer.concat([Buffer.of(size), header]);
    this.#headerBytes = whole.length;
    const fields = whole.subarray(0, -4);
    if (whole.readUInt32LE(whole.length - 4) !== crc32(fields)) throw this.damaged('the header of a block has a wrong checksum');
    const flags = fields[1] as number;
    const at = { at: 2 };
    const packedBytes = (flags & 0x40) === 0 ? undefined : this.#number(fields, at);
    const bytes = (flags & 0x80) === 0 ? undefined : this.#number(fields, at);
    this.#told = { packedBytes, bytes };
    if ((flags & 0x3f) !== 0 || this.#number(fields, at) !== LZMA2_FILTER || this.#number(fields, at) !== 1) {
      throw this.#refused('it uses a filter for programs');
    }
    this.#useDictionary(fields[at.at] as number);
    this.#check = newCheck(this.#flags[1] as number);
    this.#blockBytes = 0;
    this.#wantsDictionary = true;
    return true;
  }

  #useDictionary(code: number): void {
    const bytes = code > 39 ? 2 ** 32 - 1 : (2 | (code & 1)) * 2 ** ((code >> 1) + 11);
    if (code > 40) throw this.damaged('a block has no dictionary size');
    if (bytes > MOST_DICTIONARY_BYTES) {
      throw new Fault('limit/exceeded', `The xz input asks for ${bytes} bytes of memory, more than ${MOST_DICTIONARY_BYTES}`, {
        place: { input: this.#input },
        hint: 'Compress it with xz -9 or less, or give it unpacked',
      });
    }
    if (this.#decoder !== undefined && this.#dictionaryBytes === bytes) return;
    this.#dictionaryBytes = bytes;
    this.#decoder = new LzmaDecoder(bytes);
  }

  /** What the next chunk holds, as a copy; undefined at the end of the block, which was checked. */
  async next(): Promise<Buffer | undefined> {
    const decoder = this.#decoder as LzmaDecoder;
    const control = (await this.#take(1))[0] as number;
    if (control === 0) {
      await this.#endBlock();
      return undefined;
    }
    if (control > 2 && control < 0x80) throw this.damaged('a chunk is of an unknown kind');
    const resetsDictionary = control === 1 || control >= 0xe0;
    if (this.#wantsDictionary && !resetsDictionary) throw this.damaged('a block does not begin with an empty dictionary');
    this.#wantsDictionary = false;
    if (resetsDictionary) decoder.resetDictionary();
    const sizes = await this.#take(control < 0x80 ? 2 : 4);
    let content: Buffer;
    if (control < 0x80) content = decoder.copy(await this.#take(sizes.readUInt16BE() + 1));
    else {
      const bytes = (control & 0x1f) * 0x10000 + sizes.readUInt16BE() + 1;
      if (control >= 0xc0) decoder.resetState((await this.#take(1))[0]);
      else if (control >= 0xa0) decoder.resetState(undefined);
      content = decoder.decode(await this.#take(sizes.readUInt16BE(2) + 1), bytes);
    }
    this.#check.update(content);
    this.#blockBytes += content.length;
    return Buffer.from(content);
  }

  async #endBlock(): Promise<void> {
    const { packedBytes, bytes } = this.#told;
    const unpadded = this.#reader.position - this.#blockAt;
    if (
      (packedBytes ?? unpadded - this.#headerBytes) !== unpadded - this.#headerBytes ||
      (bytes ?? this.#blockBytes) !== this.#blockBytes
    ) {
      throw this.damaged('a block does not have the size that it should have');
    }
    if (!isZero(await this.#take((4 - (unpadded % 4)) % 4))) throw this.damaged('a block does not end as it should');
    const { count, unpadded: before, bytes: content } = this.#blocks;
    this.#blocks = { count: count + 1, unpadded: before + unpadded + this.#check.bytes, bytes: content + this.#blockBytes };
    const told = await this.#take(this.#check.bytes);
    const found = this.#check.digest();
    if (found.length > 0 && !found.equals(told)) throw this.damaged('the content does not have the checksum that it should have');
  }

  async endStream(): Promise<void> {
    const start = this.#reader.position - 1;
    const read = async (length: number): Promise<Buffer> => {
      const bytes = await this.#take(length);
      this.#indexSum = crc32(bytes, this.#indexSum);
      return bytes;
    };
    this.#indexSum = crc32(Buffer.of(0));
    const records = await this.#readNumber(read);
    const sums = { unpadded: 0, bytes: 0 };
    for (let i = 0; i < records; i++) {
      sums.unpadded += await this.#readNumber(read);
      sums.bytes += await this.#readNumber(read);
    }
    const padding = await read((4 - ((this.#reader.position - start) % 4)) % 4);
    const sum = (await this.#take(4)).readUInt32LE();
    const blocks = this.#blocks;
    const isWhole = records === blocks.count && sums.unpadded === blocks.unpadded && sums.bytes === blocks.bytes;
    if (sum !== this.#indexSum || !isWhole || !isZero(padding)) throw this.damaged('the index does not fit the blocks');
    const indexBytes = this.#reader.position - start;
    const footer = await this.#take(12);
    const isRight =
      footer.readUInt32LE() === crc32(footer.subarray(4, 10)) &&
      (footer.readUInt32LE(4) + 1) * 4 === indexBytes &&
      footer.subarray(8, 10).equals(this.#flags) &&
      footer.subarray(10).equals(FOOTER_MAGIC);
    if (!isRight) throw this.damaged('a stream does not end as it should');
  }

  damaged(reason: string, cause?: unknown): Fault {
    return new Fault('source/malformed', `The xz input is damaged: ${reason}`, {
      place: { input: this.#input, byte: this.#reader.position },
      hint: 'Fetch or write the file again; xz -t tests it',
      cause,
    });
  }

  #noXz(): Fault {
    if (this.#streams > 0) return this.damaged('something else follows a stream');
    return new Fault('source/malformed', 'The input should be compressed with xz, and is not', {
      place: { input: this.#input },
      hint: 'Compare the rml:compression of the mapping, or the ending of the file name, with the file',
    });
  }

  #refused(reason: string): Fault {
    return new Fault('source/refused', `The xz input cannot be read: ${reason}`, { place: { input: this.#input }, hint: 'Unpack it' });
  }

  async #take(length: number): Promise<Buffer> {
    const bytes = await this.#reader.read(length);
    if (bytes.length < length) throw this.damaged('it ends too early');
    return bytes;
  }

  #number(bytes: Buffer, place: { at: number }): number {
    let value = 0;
    for (let i = 0; i < 9; i++) {
      const byte = bytes[place.at++] ?? 0;
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return value;
    }
    throw this.damaged('a number is too long');
  }

  async #readNumber(read: (length: number) => Promise<Buffer>): Promise<number> {
    const bytes: number[] = [];
    do bytes.push((await read(1))[0] as number);
    while ((bytes.at(-1) as number) >= 0x80 && bytes.length < 9);
    return this.#number(Buffer.from(bytes), { at: 0 });
  }
}
