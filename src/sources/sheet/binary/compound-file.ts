/**
 * The streams of a compound file: a file system within a file, whose sectors are chained by a table. Memory: the table, four bytes for each
 * sector.
 *
 * @see [MS-CFB]
 */
import { Fault } from '../../../core/fault.ts';
import { boundOf, inputBytesFault } from '../../../core/limits.ts';
import { copyToScratch, filesOf, type ScratchFile } from '../../scratch-file.ts';
import type { WorkbookOptions } from '../../source.ts';
import { damaged } from '../package/archive.ts';

const MAGIC = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
const HEADER_BYTES = 512;
const ENTRY_BYTES = 128;
/** Numbers of sectors from here on have a meaning of their own: the end of a chain, a free sector. */
const LAST_SECTOR = 0xffff_fffa;
const STREAM = 2;
const ROOT = 5;
const READ_BYTES = 256 * 1024;
/** Sectors of the table that are listed in the header. */
const LISTED = 109;

interface Entry {
  readonly type: number;
  readonly start: number;
  readonly sizeBytes: number;
}

export class CompoundFile {
  readonly sizeBytes: number;
  readonly #input: string;
  readonly #file: ScratchFile;
  #sectorBytes = 512;
  #miniBytes = 64;
  /** Streams below this size are in mini sectors, which are parts of the stream of the root. */
  #miniCutoff = 4096;
  #next = new Uint32Array(0);
  #miniNext = new Uint32Array(0);
  #root: Uint32Array = new Uint32Array(0);
  readonly #entries = new Map<string, Entry>();

  private constructor(input: string, file: ScratchFile, sizeBytes: number) {
    this.#input = input;
    this.#file = file;
    this.sizeBytes = sizeBytes;
  }

  /**
   * Copies the input and reads its directory. The caller closes both.
   *
   * @throws Fault source/malformed — no compound file, damaged or cut off; source/type — an archive or an older workbook; limit/exceeded
   */
  static async open(bytes: AsyncIterable<Uint8Array>, options: WorkbookOptions): Promise<CompoundFile> {
    const files = filesOf(options);
    const { file, sizeBytes: size } = await copyToScratch(bytes, files);
    try {
      if (size > boundOf(files.inputBytes)) throw inputBytesFault(files.inputBytes, { input: options.name });
      const compound = new CompoundFile(options.name, file, size);
      await compound.#readDirectory();
      return compound;
    } catch (error) {
      await file.close();
      if (error instanceof RangeError) throw damaged(options.name, 'its directory is broken', error);
      throw error;
    }
  }

  has(stream: string): boolean {
    return this.#entries.get(stream.toLowerCase())?.type === STREAM;
  }

  /** The content of a stream from `from` on. @throws Fault source/malformed — its chain of sectors is broken, or the file is cut off */
  async *read(stream: string, from = 0): AsyncGenerator<Uint8Array, void, undefined> {
    const entry = this.#entries.get(stream.toLowerCase());
    if (entry === undefined) throw damaged(this.#input, `it has no stream ${stream}`);
    const isMini = entry.sizeBytes < this.#miniCutoff;
    const size = isMini ? this.#miniBytes : this.#sectorBytes;
    const chain = this.#chain(entry.start, entry.sizeBytes, isMini ? this.#miniNext : this.#next, size);
    let at = from;
    while (at < entry.sizeBytes) {
      let k = Math.floor(at / size);
      const begin = this.#position(chain, k, isMini) + (at % size);
      let bytes = Math.min(size - (at % size), entry.sizeBytes - at);
      // Sectors that lie behind each other are read at once.
      for (; bytes < READ_BYTES && at + bytes < entry.sizeBytes; k++) {
        if (this.#position(chain, k + 1, isMini) !== this.#position(chain, k, isMini) + size) break;
        bytes += Math.min(size, entry.sizeBytes - at - bytes);
      }
      yield await this.#bytes(begin, bytes);
      at += bytes;
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #position(chain: Uint32Array, k: number, isMini: boolean): number {
    const sector = chain[k] as number;
    if (!isMini) return (sector + 1) * this.#sectorBytes;
    const at = sector * this.#miniBytes;
    const owner = this.#root[Math.floor(at / this.#sectorBytes)];
    if (owner === undefined) throw damaged(this.#input, 'its table of small sectors is broken');
    return (owner + 1) * this.#sectorBytes + (at % this.#sectorBytes);
  }

  async #bytes(at: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafeSlow(length);
    for (let read = 0; read < length; ) {
      const { bytesRead } = await this.#file.handle.read(buffer, read, length - read, at + read);
      if (bytesRead === 0) throw damaged(this.#input, 'it is cut off');
      read += bytesRead;
    }
    return buffer;
  }

  /** The sectors of a stream, as many as its size needs. */
  #chain(start: number, sizeBytes: number, next: Uint32Array, sectorBytes: number): Uint32Array {
    const count = Math.ceil(sizeBytes / sectorBytes);
    if (count > next.length) throw damaged(this.#input, 'a stream is larger than the file');
    const chain = new Uint32Array(count);
    let sector = start;
    for (let i = 0; i < count; i++) {
      if (sector >= next.length) throw damaged(this.#input, 'a chain of sectors ends too early');
      chain[i] = sector;
      sector = next[sector] as number;
    }
    return chain;
  }

  async #readDirectory(): Promise<void> {
    const head = Buffer.alloc(HEADER_BYTES);
    await this.#file.handle.read(head, 0, HEADER_BYTES, 0);
    this.#checkKind(head);
    if (this.sizeBytes < HEADER_BYTES) throw damaged(this.#input, 'it is cut off');
    this.#sectorBytes = 1 << head.readUInt16LE(30);
    this.#miniBytes = 1 << head.readUInt16LE(32);
    if (![512, 4096].includes(this.#sectorBytes) || this.#miniBytes !== 64) throw damaged(this.#input, 'its header is broken');
    this.#miniCutoff = head.readUInt32LE(56);
    await this.#readTable(head);
    const entries = await this.#whole(head.readUInt32LE(48));
    for (let at = 0; at + ENTRY_BYTES <= entries.length; at += ENTRY_BYTES) {
      const type = entries[at + 66] as number;
      const name = entries.toString('utf16le', at, at + Math.max(0, Math.min(64, entries.readUInt16LE(at + 64)) - 2));
      const entry = { type, start: entries.readUInt32LE(at + 116), sizeBytes: entries.readUInt32LE(at + 120) };
      if (type === ROOT) this.#root = this.#chain(entry.start, entry.sizeBytes, this.#next, this.#sectorBytes);
      // Of streams in folders, those of the first folder come first: an embedded workbook does not take the place of its owner.
      else if (type !== 0 && !this.#entries.has(name.toLowerCase())) this.#entries.set(name.toLowerCase(), entry);
    }
    const mini = head.readUInt32LE(64) === 0 ? Buffer.alloc(0) : await this.#whole(head.readUInt32LE(60));
    this.#miniNext = new Uint32Array(mini.length / 4).map((_, i) => mini.readUInt32LE(4 * i));
  }

  /** The table of chains: its sectors are listed in the header, and in sectors of their own. */
  async #readTable(head: Buffer): Promise<void> {
    const sectors = Math.ceil((this.sizeBytes - this.#sectorBytes) / this.#sectorBytes);
    const each = this.#sectorBytes / 4;
    const count = head.readUInt32LE(44);
    if (count > Math.ceil(sectors / each) + 1) throw damaged(this.#input, 'it is cut off');
    const list: number[] = [];
    const add = (bytes: Buffer, from: number, to: number): void => {
      for (let at = from; at < to && list.length < count; at += 4) list.push(bytes.readUInt32LE(at));
    };
    add(head, 76, 76 + 4 * LISTED);
    for (let sector = head.readUInt32LE(68); list.length < count; ) {
      if (sector >= sectors) throw damaged(this.#input, 'the table of its sectors is broken');
      const bytes = await this.#bytes((sector + 1) * this.#sectorBytes, this.#sectorBytes);
      add(bytes, 0, this.#sectorBytes - 4);
      sector = bytes.readUInt32LE(this.#sectorBytes - 4);
    }
    this.#next = new Uint32Array(Math.min(sectors, count * each));
    for (const [i, sector] of list.entries()) {
      if (sector >= sectors) throw damaged(this.#input, 'the table of its sectors is broken');
      const bytes = await this.#bytes((sector + 1) * this.#sectorBytes, this.#sectorBytes);
      for (let k = 0; k < each && i * each + k < this.#next.length; k++) this.#next[i * each + k] = bytes.readUInt32LE(4 * k);
    }
  }

  /** All sectors of a chain whose size is told nowhere. */
  async #whole(start: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let sector = start; sector < LAST_SECTOR; sector = this.#next[sector] as number) {
      if (sector >= this.#next.length || pieces.length > this.#next.length)
        throw damaged(this.#input, 'a chain of sectors is broken, or runs in a circle');
      pieces.push(await this.#bytes((sector + 1) * this.#sectorBytes, this.#sectorBytes));
    }
    return Buffer.concat(pieces);
  }

  #checkKind(head: Buffer): void {
    if (head.subarray(0, MAGIC.length).equals(MAGIC)) return;
    const place = { input: this.#input };
    if (head.toString('latin1', 0, 4) === 'PK\x03\x04')
      throw new Fault(
        'source/type',
        'The input is an archive, such as XLSX, XLSB or ODS, and its name or the request says that it is XLS',
        {
          place,
          hint: 'Name it .xlsx, .xlsb or .ods; on the command line, --input-format says what a file is whose name is wrong',
        },
      );
    if (head[0] === 9 && [0, 2, 4, 8].includes(head[1] as number)) throw olderFault(this.#input);
    throw new Fault(
      'source/malformed',
      this.sizeBytes === 0 ? 'The input is empty' : 'The input should be a workbook of Excel 97–2003 (XLS), and is none',
      {
        place,
        hint:
          this.sizeBytes === 0
            ? 'Check what writes the file'
            : 'Programs name CSV, HTML or XML .xls so that Excel opens it: look into the file, and name it as what it is',
      },
    );
  }
}

export const olderFault = (input: string): Fault =>
  new Fault('source/refused', 'The workbook is of a version before Excel 97, which is not read', {
    place: { input },
    hint: 'Save it as XLSX in a spreadsheet program',
  });
