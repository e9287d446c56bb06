/**
 * The streams of a compound file: a file system within a file, whose sectors are chained by a table. The file is in memory.
 *
 * @see [MS-CFB]
 */
import { Fault } from '../../../core/fault.ts';
import { boundOf, inputBytesFault } from '../../../core/limits.ts';
import { filesOf } from '../../scratch-file.ts';
import type { WorkbookOptions } from '../../source.ts';
import { damaged } from '../package/archive.ts';

/** Of a file. A full sheet of numbers has 235 MB. */
const MAX_BYTES = 512 * 2 ** 20;
const MAGIC = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
const HEADER_BYTES = 512;
const ENTRY_BYTES = 128;
/** Streams below the size that the header states are in mini sectors, which are parts of the stream of the root. */
const MINI_BYTES = 64;
/** Numbers of sectors from here on are reserved: the end of a chain, a free sector. */
const LAST_SECTOR = 0xffff_fffa;
const STREAM = 2;
const ROOT = 5;

interface Entry {
  readonly type: number;
  readonly start: number;
  readonly sizeBytes: number;
}

type SectorOf = (number: number) => Buffer;

export class CompoundFile {
  readonly sizeBytes: number;
  readonly #input: string;
  readonly #bytes: Buffer;
  readonly #sectorBytes: number;
  readonly #next: Uint32Array;
  readonly #miniNext: Uint32Array;
  #root: Buffer = Buffer.alloc(0);
  readonly #entries = new Map<string, Entry>();

  private constructor(bytes: Buffer, input: string) {
    checkKind(bytes, input);
    this.sizeBytes = bytes.length;
    this.#input = input;
    this.#bytes = bytes;
    try {
      this.#sectorBytes = 1 << bytes.readUInt16LE(30);
      if (![512, 4096].includes(this.#sectorBytes) || 1 << bytes.readUInt16LE(32) !== MINI_BYTES)
        throw damaged(input, 'its header is broken');
      this.#next = this.#readTable();
      this.#readEntries(this.#chained(bytes.readUInt32LE(48), this.#next, this.#sector));
      const hasMini = bytes.readUInt32LE(64) !== 0;
      this.#miniNext = hasMini ? numbersOf(this.#chained(bytes.readUInt32LE(60), this.#next, this.#sector)) : new Uint32Array(0);
    } catch (error) {
      if (error instanceof RangeError) throw damaged(input, 'it is cut off', error);
      throw error;
    }
  }

  /**
   * Reads the input and its directory.
   *
   * @throws Fault source/malformed — no compound file, damaged or cut off; source/type — an archive; source/refused — an older workbook;
   * limit/exceeded; those of the input
   */
  static async open(chunks: AsyncIterable<Uint8Array>, options: WorkbookOptions, maxBytes = MAX_BYTES): Promise<CompoundFile> {
    const { inputBytes } = filesOf(options);
    const place = { input: options.name };
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of chunks) {
      size += chunk.length;
      if (size > boundOf(inputBytes)) throw inputBytesFault(inputBytes, place);
      if (size > maxBytes)
        throw new Fault('limit/exceeded', `The workbook has more than the ${maxBytes} bytes that a file of XLS may have`, {
          place,
          hint: 'Save it as .xlsx in a spreadsheet program: XLS is read into memory, XLSX row by row',
        });
      // What is unpacked of xz is overwritten by what follows.
      pieces.push(Buffer.from(chunk));
    }
    return new CompoundFile(Buffer.concat(pieces, size), options.name);
  }

  has(stream: string): boolean {
    return this.#entries.get(stream.toLowerCase())?.type === STREAM;
  }

  /** The content of a stream. @throws Fault source/malformed — its chain of sectors is broken, or the file is cut off */
  read(stream: string): Buffer {
    const entry = this.#entries.get(stream.toLowerCase());
    if (entry === undefined) throw damaged(this.#input, `it has no stream ${stream}`);
    const { start, sizeBytes } = entry;
    if (sizeBytes >= this.#bytes.readUInt32LE(56)) return this.#chained(start, this.#next, this.#sector, sizeBytes);
    return this.#chained(start, this.#miniNext, this.#miniSector, sizeBytes);
  }

  #sector: SectorOf = (number) => {
    const sector = this.#bytes.subarray((number + 1) * this.#sectorBytes, (number + 2) * this.#sectorBytes);
    if (sector.length === 0) throw damaged(this.#input, 'it is cut off, or the table of its sectors is broken');
    return sector;
  };

  #miniSector: SectorOf = (number) => this.#root.subarray(number * MINI_BYTES, (number + 1) * MINI_BYTES);

  /** The sectors of a chain. @param sizeBytes undefined: up to the end of the chain */
  #chained(start: number, next: Uint32Array, sectorOf: SectorOf, sizeBytes?: number): Buffer {
    if (sizeBytes !== undefined && sizeBytes > this.#bytes.length) throw damaged(this.#input, 'a stream is larger than the file');
    const whole = sectorOf === this.#miniSector ? MINI_BYTES : this.#sectorBytes;
    const pieces: Buffer[] = [];
    let bytes = 0;
    for (let number = start; sizeBytes === undefined ? number < LAST_SECTOR : bytes < sizeBytes; number = next[number] as number) {
      if (number >= next.length || pieces.length > next.length)
        throw damaged(this.#input, 'a chain of sectors is broken, ends too early, or runs in a circle');
      const sector = sectorOf(number);
      pieces.push(sector);
      bytes += sector.length;
      // The last sector of the file may be shorter where its stream ends.
      if (sector.length < whole && bytes < (sizeBytes ?? Number.POSITIVE_INFINITY)) throw damaged(this.#input, 'it is cut off');
    }
    return Buffer.concat(pieces, Math.min(bytes, sizeBytes ?? bytes));
  }

  /** The table of chains: its sectors are listed in the header, and in separate sectors. */
  #readTable(): Uint32Array {
    const count = this.#bytes.readUInt32LE(44);
    const each = this.#sectorBytes / 4;
    if (count > this.#bytes.length / this.#sectorBytes / each + 1) throw damaged(this.#input, 'it is cut off');
    const list = [...numbersOf(this.#bytes.subarray(76, HEADER_BYTES))];
    for (let number = this.#bytes.readUInt32LE(68); list.length < count; ) {
      const listed = numbersOf(this.#sector(number));
      if (listed.length < each) throw damaged(this.#input, 'it is cut off');
      list.push(...listed.subarray(0, -1));
      number = listed[each - 1] as number;
    }
    return numbersOf(Buffer.concat(list.slice(0, count).map(this.#sector)));
  }

  #readEntries(directory: Buffer): void {
    let root: Entry | undefined;
    for (let at = 0; at + ENTRY_BYTES <= directory.length; at += ENTRY_BYTES) {
      const type = directory[at + 66] as number;
      const name = directory.toString('utf16le', at, at + Math.max(0, Math.min(64, directory.readUInt16LE(at + 64)) - 2)).toLowerCase();
      const entry = { type, start: directory.readUInt32LE(at + 116), sizeBytes: directory.readUInt32LE(at + 120) };
      if (type === ROOT) root = entry;
      // Of streams in folders, those of the first folder come first: an embedded workbook does not take the place of its owner.
      else if (type !== 0 && !this.#entries.has(name)) this.#entries.set(name, entry);
    }
    if (root !== undefined) this.#root = this.#chained(root.start, this.#next, this.#sector, root.sizeBytes);
  }
}

const numbersOf = (bytes: Buffer): Uint32Array =>
  Uint32Array.from({ length: Math.floor(bytes.length / 4) }, (_, i) => bytes.readUInt32LE(4 * i));

function checkKind(bytes: Buffer, input: string): void {
  if (bytes.subarray(0, MAGIC.length).equals(MAGIC)) return;
  const place = { input };
  if (bytes.toString('latin1', 0, 4) === 'PK\x03\x04')
    throw new Fault('source/type', 'The input is an archive, such as XLSX, XLSB or ODS, and its name or the request says that it is XLS', {
      place,
      hint: 'Name it .xlsx, .xlsb or .ods; on the command line, --input-format says what a file is whose name is wrong',
    });
  if (bytes[0] === 9 && [0, 2, 4, 8].includes(bytes[1] as number)) throw olderFault(input);
  if (bytes.length === 0) throw new Fault('source/malformed', 'The input is empty', { place, hint: 'Check what writes the file' });
  throw new Fault('source/malformed', 'The input should be a workbook of Excel 97–2003 (XLS), and is none', {
    place,
    hint: 'Programs name CSV, HTML or XML .xls so that Excel opens it: look into the file, and name it as what it is',
  });
}

export const olderFault = (input: string): Fault =>
  new Fault('source/refused', 'The workbook is of a version before Excel 97, which is not read', {
    place: { input },
    hint: 'Save it as XLSX in a spreadsheet program',
  });
