/**
 * The parts of a workbook: the files of a zip archive, each found by its name.
 *
 * The directory of an archive stands at its end, so the input is copied to a file first.
 *
 * @see https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { crc32, createInflateRaw, type ZlibOptions } from 'node:zlib';
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import { excerpt, Fault } from '../../../core/fault.ts';
import { boundOf, INFLATION_FLOOR_BYTES, inflationFault, inputBytesFault } from '../../../core/limits.ts';
import { copyToScratch, filesOf, type ScratchFile } from '../../scratch-file.ts';
import type { FileOptions, WorkbookOptions } from '../../source.ts';
import { archiveExtent, type Extent } from './extent.ts';

const LOCAL_HEADER = [0x50, 0x4b, 0x03, 0x04];
const COMPOUND_FILE = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
const STORED = 0;
const DEFLATED = 8;
const READ_BYTES = 256 * 1024;
/** Bytes of a part that a separate thread unpacks ahead. */
const AHEAD_BYTES = 4 * READ_BYTES;
/** Workbooks have some dozens of parts; those with many pictures have thousands. */
const MAX_PARTS = 100_000;

export class Archive {
  /** Bytes of parts that were unpacked so far, and of what parts repeat. */
  bytesRead = 0;
  readonly #packedBytes: number;
  readonly #input: string;
  readonly #files: FileOptions;
  readonly #reader: ExtentReader;
  readonly #file: ScratchFile;
  readonly #zip: ZipFile;
  readonly #parts: ReadonlyMap<string, Entry>;

  private constructor(
    input: string,
    packedBytes: number,
    files: FileOptions,
    reader: ExtentReader,
    file: ScratchFile,
    zip: ZipFile,
    parts: ReadonlyMap<string, Entry>,
  ) {
    this.#input = input;
    this.#packedBytes = packedBytes;
    this.#files = files;
    this.#reader = reader;
    this.#file = file;
    this.#zip = zip;
    this.#parts = parts;
  }

  /**
   * Copies the input and reads its directory. The caller closes both.
   *
   * @throws Fault source/malformed — no archive, damaged or cut off; source/refused — an encrypted workbook; source/type — a workbook of
   * the older binary format; those of the input
   */
  static async open(bytes: AsyncIterable<Uint8Array>, options: WorkbookOptions): Promise<Archive> {
    const { name } = options;
    const files = filesOf(options);
    const { file, sizeBytes: size } = await copyToScratch(bytes, files);
    try {
      const { from, to } = await findArchive(file.handle, size, name);
      const reader = new ExtentReader(file.handle, from);
      const zip = await fromRandomAccessReaderPromise(reader, to - from, { lazyEntries: true, autoClose: false }).catch(
        (cause: unknown) => {
          throw damaged(name, (cause as Error).message, cause);
        },
      );
      return new Archive(name, size, files, reader, file, zip, await directoryOf(zip, name));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  has(part: string): boolean {
    return this.#parts.has(keyOf(part));
  }

  /** Counts bytes that the input becomes. @throws Fault limit/exceeded — more than the limits of the run */
  charge(bytes: number): void {
    const { inflationRatio, inputBytes } = this.#files;
    this.bytesRead += bytes;
    if (this.bytesRead > INFLATION_FLOOR_BYTES && this.bytesRead > this.#packedBytes * boundOf(inflationRatio))
      throw inflationFault(inflationRatio, { input: this.#input });
    if (this.bytesRead > boundOf(inputBytes)) throw inputBytesFault(inputBytes, { input: this.#input });
  }

  /**
   * The content of a part.
   *
   * @throws Fault source/malformed — there is no such part, or it is damaged; source/refused — encrypted, or packed by another method than
   * deflate; limit/exceeded — it unpacks to too much
   */
  async *read(part: string): AsyncGenerator<Uint8Array, void, undefined> {
    const entry = this.#parts.get(keyOf(part));
    if (entry === undefined) throw this.missing(part);
    const { compressionMethod: method } = entry;
    if (entry.isEncrypted()) throw encryptedFault(this.#input);
    if (method !== STORED && method !== DEFLATED)
      throw new Fault('source/refused', `The part ${part} of the workbook is packed by method ${method}, which is not read`, {
        place: { input: this.#input },
        hint: 'Save the workbook again in a spreadsheet program',
      });
    const { fileDataStart } = await this.#zip.readLocalFileHeaderPromise(entry, { minimal: true }).catch((cause: unknown) => {
      throw damaged(this.#input, (cause as Error).message, cause);
    });
    let bytes = 0;
    let checksum = 0;
    const packed = this.#packed(part, fileDataStart, entry.compressedSize);
    for await (const chunk of method === STORED ? packed : this.#inflated(part, packed)) {
      bytes += chunk.length;
      this.charge(chunk.length);
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
    if (checksum !== entry.crc32 || bytes !== entry.uncompressedSize)
      throw damaged(this.#input, `the part ${part} does not have the checksum or the size that it should have`);
  }

  /** The fault for a part that should be there. @param from who refers to it */
  missing(part: string, from?: string): Fault {
    const known = [...this.#parts.values()].slice(0, 5).map(({ fileName }) => excerpt(fileName));
    const message = `The workbook has no part ${excerpt(part)}${from === undefined ? '' : `, to which ${from} refers`}`;
    return new Fault('source/malformed', message, {
      place: { input: this.#input },
      hint: `The archive has ${known.join(', ') || 'no files'}. Save the workbook again in a spreadsheet program`,
    });
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async *#packed(part: string, start: number, length: number): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = start; at < start + length; ) {
      const wanted = Math.min(READ_BYTES, start + length - at);
      const { bytesRead, buffer } = await this.#reader.bytesAt(Buffer.allocUnsafeSlow(wanted), at);
      if (bytesRead === 0) throw damaged(this.#input, `the part ${part} ends too early`);
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  async *#inflated(part: string, packed: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    const inflate = createInflateRaw({ chunkSize: READ_BYTES, readableHighWaterMark: AHEAD_BYTES } as ZlibOptions);
    const input = Readable.from(packed, { objectMode: false, highWaterMark: READ_BYTES });
    input.on('error', (error) => inflate.destroy(error));
    try {
      for await (const chunk of input.pipe(inflate)) yield chunk as Uint8Array;
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw damaged(this.#input, `the part ${part} cannot be unpacked (${(error as Error).message})`, error);
    } finally {
      input.destroy();
      inflate.destroy();
    }
  }
}

/** Names of parts are compared without regard to case. @see ECMA-376 part 2, 6.2.2.3 */
const keyOf = (part: string): string => part.replace(/^\/+/, '').toLowerCase();

/** Reads an archive that begins somewhere in a file. */
class ExtentReader extends RandomAccessReader {
  readonly #handle: FileHandle;
  readonly #from: number;

  constructor(handle: FileHandle, from: number) {
    super();
    this.#handle = handle;
    this.#from = from;
  }

  /** Fills the buffer, as far as the file goes. @param position in the archive */
  bytesAt(buffer: Buffer, position: number): Promise<{ bytesRead: number; buffer: Buffer }> {
    return this.#handle.read(buffer, 0, buffer.length, this.#from + position);
  }

  override read(buffer: Buffer, offset: number, length: number, position: number, callback: (error: Error | null) => void): void {
    this.bytesAt(buffer.subarray(offset, offset + length), position).then(
      ({ bytesRead }) => callback(bytesRead < length ? new Error('it ends too early') : null),
      callback,
    );
  }
}

async function findArchive(handle: FileHandle, size: number, input: string): Promise<Extent> {
  const { buffer: head } = await handle.read(Buffer.alloc(8), 0, 8, 0);
  const begins = (mark: readonly number[]): boolean => mark.every((byte, i) => head[i] === byte);
  if (begins(COMPOUND_FILE)) throw (await isEncryptedPackage(handle, size)) ? encryptedFault(input) : binaryFault(input);
  const extent = await archiveExtent(handle, size, input);
  if (extent !== undefined) return extent;
  // One that is cut off: the directory says what is missing.
  if (begins(LOCAL_HEADER)) return { from: 0, to: size };
  throw new Fault('source/malformed', size === 0 ? 'The input is empty' : 'The input should be a workbook (a zip archive), and is none', {
    place: { input },
    hint: size === 0 ? 'Check what writes the file' : 'Compare the ending of the file name with the file; a CSV file must be named .csv',
  });
}

/** An encrypted workbook is a compound file with a stream of this name. @see [MS-OFFCRYPTO] 2.3.4.4 */
async function isEncryptedPackage(handle: FileHandle, size: number): Promise<boolean> {
  const mark = Buffer.from('EncryptedPackage', 'utf16le');
  const step = 1 << 20;
  for (let at = 0; at < size; at += step) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(step + mark.length), 0, step + mark.length, at);
    if (buffer.subarray(0, bytesRead).includes(mark)) return true;
  }
  return false;
}

export const encryptedFault = (input: string): Fault =>
  new Fault('source/refused', 'The workbook is encrypted', {
    place: { input },
    hint: 'Open it in a spreadsheet program with its password, and save it without one',
  });

const binaryFault = (input: string): Fault =>
  new Fault('source/type', 'The input is a workbook of Excel 97–2003 (XLS), and its name or the request says otherwise', {
    place: { input },
    hint: 'Name it .xls; on the command line, --input-format xls says what a file is whose name is wrong',
  });

async function directoryOf(zip: ZipFile, input: string): Promise<ReadonlyMap<string, Entry>> {
  const parts = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) {
      const key = keyOf(entry.fileName);
      if (parts.has(key)) throw damaged(input, `it has the part ${excerpt(entry.fileName)} twice`);
      parts.set(key, entry);
      if (parts.size > MAX_PARTS)
        throw new Fault('limit/exceeded', `The archive has more than the ${MAX_PARTS} files that a workbook may have`, {
          place: { input },
        });
    }
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw damaged(input, (error as Error).message, error);
  }
  return parts;
}

/** The fault for a file whose parts do not fit together. @param reason begins in lower case */
export const damaged = (input: string, reason: string, cause?: unknown): Fault =>
  new Fault('source/malformed', `The workbook is damaged: ${reason.replace(/\.$/, '')}`, {
    place: { input },
    hint: 'Fetch or write the file again',
    cause,
  });
