/** The pages of one column in one row group, in their order. */
import { crc32 } from 'node:zlib';
import { type ChunkPlace, type PageHeader, readPageHeader } from '../file/metadata.ts';
import type { RandomAccess } from '../file/random-access.ts';
import { BrokenParquet, CutOff } from '../file/thrift.ts';
import { loadCodec, unpackPage } from './compression.ts';
import { HybridReader } from './hybrid.ts';
import { ReusedBytes } from './reused.ts';
import { Dictionary, type LeafType, type LeafValues, type ValueReader, valueReader } from './values.ts';

/** A page, whatever it unpacks to, is held in memory. Writers make pages of a megabyte, or of a row group of some hundred thousand rows. */
const MAX_PAGE_BYTES = 128 * 2 ** 20;
/** Statistics in a header may hold long texts. */
const MAX_HEADER_BYTES = 16 * 2 ** 20;
const FIRST_HEADER_BYTES = 1 << 12;

const RLE = 3;
const PLAIN_DICTIONARY = 2;

export class LargePage extends Error {}

/** What is wrong with a page, its cause, and which one it is. */
export class PageError extends Error {
  override readonly cause: BrokenParquet | LargePage;

  constructor(page: string, cause: BrokenParquet | LargePage) {
    super(page);
    this.cause = cause;
  }
}

export interface DataPage<T> {
  /** Values, with nulls and empty lists. */
  readonly count: number;
  readonly repetitions: HybridReader | undefined;
  readonly definitions: HybridReader | undefined;
  readonly values: ValueReader<T>;
}

export interface ChunkLevels {
  readonly repetition: number;
  readonly definition: number;
}

export class ChunkPages<T> {
  readonly #file: RandomAccess;
  readonly #place: ChunkPlace;
  readonly #type: LeafType;
  readonly #values: LeafValues<T>;
  readonly #levels: ChunkLevels;
  #at: number;
  /** Bytes of the file from `#at` on. */
  readonly #window = new ReusedBytes();
  /** The page that was given last. */
  readonly #page = new ReusedBytes();
  #given = 0;
  /** Data pages that have been read. */
  #pages = 0;
  #dictionary: Dictionary<T> | undefined;

  constructor(file: RandomAccess, place: ChunkPlace, type: LeafType, levels: ChunkLevels, values: LeafValues<T>) {
    if (place.offset < 4 || place.offset > file.dataBytes) throw new BrokenParquet('a column begins outside of its data');
    this.#file = file;
    this.#place = place;
    this.#type = type;
    this.#levels = levels;
    this.#values = values;
    this.#at = place.offset;
  }

  /** undefined: all values have been given. @throws PageError, LargeValue; those of the file */
  async next(): Promise<DataPage<T> | undefined> {
    await loadCodec(this.#place.codec);
    while (this.#given < this.#place.values) {
      const from = this.#at;
      let name = `page ${this.#pages}`;
      try {
        // Writers that count too few bytes leave out the header of the dictionary: no data page is as short.
        if (from >= this.#place.offset + this.#place.sizeBytes)
          throw new BrokenParquet('the pages of a column have fewer values than the column');
        const header = await this.#header();
        if (header.kind === 'dictionary') name = 'the dictionary';
        const page = await this.#read(header);
        if (page !== undefined) return page;
      } catch (error) {
        if (!(error instanceof BrokenParquet || error instanceof LargePage)) throw error;
        const { path, rowGroup } = this.#place;
        throw new PageError(`${name} of the column ${JSON.stringify(path)} in row group ${rowGroup}, at byte ${from}`, error);
      }
    }
    return undefined;
  }

  /** undefined: it has no values of the column. */
  async #read(header: PageHeader): Promise<DataPage<T> | undefined> {
    if (header.packedBytes > MAX_PAGE_BYTES || header.sizeBytes > MAX_PAGE_BYTES)
      throw new LargePage(
        `A page of ${Math.max(header.packedBytes, header.sizeBytes)} bytes is larger than the ${MAX_PAGE_BYTES} that are read`,
      );
    if (header.kind === 'other') {
      this.#pass(header.packedBytes);
      return undefined;
    }
    const packed = await this.#take(header.packedBytes);
    if (header.checksum !== undefined) compareChecksum(packed, header.checksum);
    this.#file.charge(header.sizeBytes);
    if (header.kind === 'dictionary') {
      if (this.#dictionary !== undefined) throw new BrokenParquet('a column has two dictionaries');
      if (header.encoding !== 0 && header.encoding !== PLAIN_DICTIONARY)
        throw new BrokenParquet(`a dictionary has the encoding ${header.encoding}, which is not read`);
      // The dictionary keeps it.
      const bytes = Buffer.from(unpackPage(packed, this.#place.codec, header.sizeBytes));
      this.#dictionary = new Dictionary(bytes, header.values, this.#type, this.#values);
      return undefined;
    }
    this.#given += header.values;
    if (this.#given > this.#place.values) throw new BrokenParquet('the pages of a column have more values than the column');
    const page =
      header.values === 0 ? undefined : header.kind === 'data' ? this.#dataPage(header, packed) : this.#secondDataPage(header, packed);
    this.#pages++;
    return page;
  }

  #dataPage(header: PageHeader, packed: Buffer): DataPage<T> {
    const bytes = this.#page.replace(unpackPage(packed, this.#place.codec, header.sizeBytes));
    let at = 0;
    const levels = (max: number, encoding: number): HybridReader | undefined => {
      if (max === 0) return undefined;
      if (encoding !== RLE) throw new BrokenParquet(`the levels of a page have the encoding ${encoding}, which is not read`);
      const size = at + 4 > bytes.length ? Number.POSITIVE_INFINITY : bytes.readUInt32LE(at);
      if (at + 4 + size > bytes.length) throw new BrokenParquet('a page ends within its levels');
      at += 4 + size;
      return new HybridReader(bytes, at - size, at, widthOf(max));
    };
    const repetitions = levels(this.#levels.repetition, header.levels[0]);
    const definitions = levels(this.#levels.definition, header.levels[1]);
    return { count: header.values, repetitions, definitions, values: this.#valuesOf(bytes, at, header.encoding) };
  }

  /** Levels stand before the values, and are never compressed. */
  #secondDataPage(header: PageHeader, packed: Buffer): DataPage<T> {
    const [repetitionBytes, definitionBytes] = header.levelBytes;
    const from = repetitionBytes + definitionBytes;
    if (from > packed.length || from > header.sizeBytes) throw new BrokenParquet('a page ends within its levels');
    const { repetition, definition } = this.#levels;
    const codec = header.packed ? this.#place.codec : 0;
    const bytes = this.#page.replace(packed.subarray(0, from), unpackPage(packed.subarray(from), codec, header.sizeBytes - from));
    return {
      count: header.values,
      repetitions: repetition === 0 ? undefined : new HybridReader(bytes, 0, repetitionBytes, widthOf(repetition)),
      definitions: definition === 0 ? undefined : new HybridReader(bytes, repetitionBytes, from, widthOf(definition)),
      values: this.#valuesOf(bytes, from, header.encoding),
    };
  }

  #valuesOf(bytes: Buffer, from: number, encoding: number): ValueReader<T> {
    // A page of nulls alone may have no bytes of values.
    if (from === bytes.length) return { read: (_, count) => void (count > 0 && emptyPage(this.#type)) };
    return valueReader(bytes, from, encoding, this.#type, this.#values, this.#dictionary);
  }

  async #header(): Promise<PageHeader> {
    for (let bytes = FIRST_HEADER_BYTES; ; bytes *= 8) {
      await this.#fill(bytes);
      try {
        const header = readPageHeader(this.#window.bytes);
        this.#pass(header.headerBytes);
        return header;
      } catch (error) {
        if (!(error instanceof CutOff) || bytes >= MAX_HEADER_BYTES || this.#at + this.#window.length >= this.#file.dataBytes) throw error;
      }
    }
  }

  /** The next bytes, until more are read. */
  async #take(bytes: number): Promise<Buffer> {
    await this.#fill(bytes);
    if (this.#window.length < bytes) throw new BrokenParquet('a page goes on behind the end of the data');
    const taken = this.#window.bytes.subarray(0, bytes);
    this.#pass(bytes);
    return taken;
  }

  #pass(bytes: number): void {
    this.#at += bytes;
    this.#window.drop(bytes);
  }

  /** At least so many bytes, unless the data end before. */
  async #fill(bytes: number): Promise<void> {
    if (this.#window.length >= bytes) return;
    const from = this.#at + this.#window.length;
    // As many as the column still has, and a little more: some writers count too few.
    const rest = this.#place.offset + this.#place.sizeBytes + FIRST_HEADER_BYTES - from;
    const wanted = Math.max(bytes - this.#window.length, Math.min(this.#file.windowBytes, rest));
    const to = Math.min(this.#file.dataBytes, from + wanted);
    if (to <= from) return;
    this.#window.add(await this.#file.read(from, to));
  }
}

/**
 * The checksum is that of the bytes behind the header as they stand in the file, in the second version with the levels.
 *
 * @see https://github.com/apache/parquet-format/blob/master/README.md#checksumming
 */
function compareChecksum(packed: Buffer, told: number): void {
  const found = crc32(packed);
  if (found !== told) throw new BrokenParquet(`a page has the checksum ${hex(found)}, and its header states ${hex(told)}`);
}

const hex = (checksum: number): string => checksum.toString(16).padStart(8, '0');

function emptyPage(type: LeafType): never {
  throw new BrokenParquet(`a page of ${type.physical} ends within its values`);
}

/** Bits of levels up to `max`. */
const widthOf = (max: number): number => 32 - Math.clz32(max);
