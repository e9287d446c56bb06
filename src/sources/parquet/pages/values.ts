/**
 * The values of a page, by its encoding. A reader hands out the next values on demand, already in the form that the column gives them
 * (`LeafValues`): so of a dictionary each value is made once.
 *
 * @see https://parquet.apache.org/docs/file-format/data-pages/encodings/
 */
import { Buffer as Bytes, isAscii } from 'node:buffer';
import type { Physical } from '../file/metadata.ts';
import { BrokenParquet } from '../file/thrift.ts';
import { DeltaReader } from './delta.ts';
import { HybridReader } from './hybrid.ts';

/** What raw values become. Each throws what is wrong with a value. */
export interface LeafValues<T> {
  ofBoolean(value: boolean): T;
  /** An integer that a double holds; all of 32 bits. */
  ofInteger(value: number): T;
  /** An integer that a double does not hold, as 64 bits with sign. */
  ofLong(value: bigint): T;
  /** @param bits of the format from which the value comes */
  ofFloat(value: number, bits: 32 | 64): T;
  /** Twelve bytes of an INT96. */
  ofInt96(bytes: Buffer, at: number): T;
  /** Bytes of text: one-byte strings. `ascii`: all characters are ASCII. undefined: the column has no text, but bytes. */
  readonly ofText: ((text: string, ascii: boolean) => T) | undefined;
  ofBytes(bytes: Buffer): T;
}

export interface ValueReader<T> {
  /** The next values, into the beginning of `into`. @throws BrokenParquet — the page has fewer */
  read(into: T[], count: number): void;
}

export interface LeafType {
  readonly physical: Physical;
  /** Bytes of a fixed length. */
  readonly length: number;
  /** Maximum size in bytes of a value. */
  readonly maxBytes: number;
}

/** A value that is larger than the limit. */
export class LargeValue extends Error {
  readonly sizeBytes: number;

  constructor(sizeBytes: number) {
    super('a value is too large');
    this.sizeBytes = sizeBytes;
  }
}

const CUT_OFF = 'a page ends within its values';

// ---------------------------------------------------------------- plain

const WIDTHS: Readonly<Partial<Record<Physical, number>>> = { INT32: 4, INT64: 8, INT96: 12, FLOAT: 4, DOUBLE: 8 };

/** Bytes of a value, if all values have the same number. */
const widthOf = ({ physical, length }: LeafType): number | undefined => (physical === 'FIXED_LEN_BYTE_ARRAY' ? length : WIDTHS[physical]);

/** Text is cut from a window of so many bytes that is a string. */
const WINDOW_BYTES = 1 << 14;

export function plainReader<T>(bytes: Buffer, from: number, type: LeafType, values: LeafValues<T>): ValueReader<T> {
  const width = widthOf(type);
  if (type.physical === 'BOOLEAN') return new Bits(bytes, from, values);
  if (width === undefined)
    return values.ofText === undefined ? new Slices(bytes, from, type, values) : new Texts(bytes, from, type, values.ofText);
  return new Fixed(bytes, from, width, fixedValue(bytes, type, values));
}

/** The value of a fixed number of bytes at an offset. */
function fixedValue<T>(bytes: Buffer, { physical, length }: LeafType, values: LeafValues<T>): (at: number) => T {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  switch (physical) {
    case 'INT32':
      return (at) => values.ofInteger(view.getInt32(at, true));
    case 'INT64':
      return (at) => {
        const value = view.getInt32(at + 4, true) * 0x100000000 + view.getUint32(at, true);
        return Number.isSafeInteger(value) ? values.ofInteger(value) : values.ofLong(view.getBigInt64(at, true));
      };
    case 'FLOAT':
      return (at) => values.ofFloat(view.getFloat32(at, true), 32);
    case 'DOUBLE':
      return (at) => values.ofFloat(view.getFloat64(at, true), 64);
    case 'INT96':
      return (at) => values.ofInt96(bytes, at);
    default: {
      const { ofText } = values;
      if (ofText === undefined) return (at) => values.ofBytes(bytes.subarray(at, at + length));
      return (at) => ofText(bytes.toString('latin1', at, at + length), isAscii(bytes.subarray(at, at + length)));
    }
  }
}

class Fixed<T> implements ValueReader<T> {
  #at: number;
  readonly #end: number;
  readonly #width: number;
  readonly #value: (at: number) => T;

  constructor(bytes: Buffer, from: number, width: number, value: (at: number) => T) {
    this.#at = from;
    this.#end = bytes.length;
    this.#width = width;
    this.#value = value;
  }

  read(into: T[], count: number): void {
    const width = this.#width;
    const value = this.#value;
    let at = this.#at;
    if (at + count * width > this.#end) throw new BrokenParquet(CUT_OFF);
    for (let i = 0; i < count; i++, at += width) into[i] = value(at);
    this.#at = at;
  }
}

class Bits<T> implements ValueReader<T> {
  readonly #bytes: Buffer;
  readonly #values: LeafValues<T>;
  #bit: number;

  constructor(bytes: Buffer, from: number, values: LeafValues<T>) {
    this.#bytes = bytes;
    this.#bit = from * 8;
    this.#values = values;
  }

  read(into: T[], count: number): void {
    if (this.#bit + count > this.#bytes.length * 8) throw new BrokenParquet(CUT_OFF);
    for (let i = 0; i < count; i++, this.#bit++)
      into[i] = this.#values.ofBoolean((((this.#bytes[Math.floor(this.#bit / 8)] as number) >> (this.#bit % 8)) & 1) === 1);
  }
}

/** Byte arrays, each behind its length. */
class Slices<T> implements ValueReader<T> {
  readonly #bytes: Buffer;
  readonly #values: LeafValues<T>;
  readonly #maxBytes: number;
  #at: number;

  constructor(bytes: Buffer, from: number, { maxBytes }: LeafType, values: LeafValues<T>) {
    this.#bytes = bytes;
    this.#at = from;
    this.#maxBytes = maxBytes;
    this.#values = values;
  }

  read(into: T[], count: number): void {
    for (let i = 0; i < count; i++) {
      const from = this.#at + 4;
      this.#at = from + lengthAt(this.#bytes, this.#at, this.#maxBytes);
      into[i] = this.#values.ofBytes(this.#bytes.subarray(from, this.#at));
    }
  }
}

function lengthAt(bytes: Buffer, at: number, maxBytes: number): number {
  if (at + 4 > bytes.length) throw new BrokenParquet(CUT_OFF);
  const length = bytes.readUInt32LE(at);
  if (at + 4 + length > bytes.length) throw new BrokenParquet(CUT_OFF);
  if (length > maxBytes) throw new LargeValue(length);
  return length;
}

/** As `Slices`, of text: values are cut from a string, which costs less than to make each from bytes. */
class Texts<T> implements ValueReader<T> {
  readonly #bytes: Buffer;
  readonly #value: (text: string, ascii: boolean) => T;
  readonly #maxBytes: number;
  #at: number;
  #window = '';
  #windowAt = 0;
  #windowEnd = 0;
  #ascii = true;

  constructor(bytes: Buffer, from: number, { maxBytes }: LeafType, value: (text: string, ascii: boolean) => T) {
    this.#bytes = bytes;
    this.#at = from;
    this.#windowAt = from;
    this.#windowEnd = from;
    this.#maxBytes = maxBytes;
    this.#value = value;
  }

  read(into: T[], count: number): void {
    const bytes = this.#bytes;
    const size = bytes.length;
    let at = this.#at;
    for (let i = 0; i < count; i++) {
      if (at + 4 > size) throw new BrokenParquet(CUT_OFF);
      const length =
        ((bytes[at] as number) |
          ((bytes[at + 1] as number) << 8) |
          ((bytes[at + 2] as number) << 16) |
          ((bytes[at + 3] as number) << 24)) >>>
        0;
      const from = at + 4;
      at = from + length;
      if (at > size) throw new BrokenParquet(CUT_OFF);
      if (length > this.#maxBytes) throw new LargeValue(length);
      if (at > this.#windowEnd) this.#slide(from, at);
      into[i] = this.#value(this.#window.slice(from - this.#windowAt, at - this.#windowAt), this.#ascii);
    }
    this.#at = at;
  }

  #slide(from: number, to: number): void {
    this.#windowAt = from;
    this.#windowEnd = Math.min(this.#bytes.length, Math.max(to, from + WINDOW_BYTES));
    this.#window = this.#bytes.toString('latin1', from, this.#windowEnd);
    this.#ascii = isAscii(this.#bytes.subarray(from, this.#windowEnd));
  }
}

// ---------------------------------------------------------------- dictionary

/** Larger dictionaries are not held as values, but as the bytes of their page. */
const HELD_VALUES = 1 << 18;

/** The values of a dictionary page by their position. */
export class Dictionary<T> {
  readonly size: number;
  readonly #held: readonly T[] | undefined;
  readonly #offsets: Uint32Array | undefined;
  readonly #bytes: Buffer;
  readonly #type: LeafType;
  readonly #values: LeafValues<T>;
  readonly #one: T[] = [];

  constructor(bytes: Buffer, size: number, type: LeafType, values: LeafValues<T>) {
    this.size = size;
    this.#bytes = bytes;
    this.#type = type;
    this.#values = values;
    const width = widthOf(type) ?? 4;
    if (type.physical === 'BOOLEAN' || size * width > bytes.length)
      throw new BrokenParquet('its dictionary has fewer values than it states');
    if (size <= HELD_VALUES) {
      const held: T[] = [];
      plainReader(bytes, 0, type, values).read(held, size);
      this.#held = held;
    } else if (widthOf(type) === undefined) {
      this.#offsets = new Uint32Array(size);
      for (let i = 0, at = 0; i < size; i++) {
        this.#offsets[i] = at;
        at += 4 + lengthAt(bytes, at, type.maxBytes);
      }
    }
  }

  /** For `read` of indexes. undefined: values are not held. */
  get held(): readonly T[] | undefined {
    return this.#held;
  }

  at(index: number): T {
    if (index >= this.size) throw outside(index, this.size);
    const at = this.#offsets === undefined ? index * (widthOf(this.#type) as number) : (this.#offsets[index] as number);
    // A reader of the one value: its window would otherwise be of many.
    const end = this.#offsets === undefined ? at + (widthOf(this.#type) as number) : (this.#offsets[index + 1] ?? this.#bytes.length);
    plainReader(this.#bytes.subarray(at, end), 0, this.#type, this.#values).read(this.#one, 1);
    return this.#one[0] as T;
  }
}

const outside = (index: number, size: number): BrokenParquet =>
  new BrokenParquet(`a page names the value ${index} of a dictionary that has ${size}`);

class Indexes<T> implements ValueReader<T> {
  readonly #dictionary: Dictionary<T>;
  readonly #indexes: HybridReader;
  #buffer = new Uint32Array(512);

  constructor(bytes: Buffer, from: number, dictionary: Dictionary<T>) {
    this.#dictionary = dictionary;
    // A page of nulls alone may have no width.
    this.#indexes = new HybridReader(bytes, from + 1, bytes.length, from < bytes.length ? (bytes[from] as number) : 0);
  }

  read(into: T[], count: number): void {
    if (count > this.#buffer.length) this.#buffer = new Uint32Array(count);
    const indexes = this.#buffer;
    this.#indexes.read(indexes, count);
    const { held, size } = this.#dictionary;
    for (let i = 0; i < count; i++) {
      const index = indexes[i] as number;
      if (held === undefined) into[i] = this.#dictionary.at(index);
      else if (index < size) into[i] = held[index] as T;
      else throw outside(index, size);
    }
  }
}

// ---------------------------------------------------------------- others

class RunBooleans<T> implements ValueReader<T> {
  readonly #runs: HybridReader;
  readonly #values: LeafValues<T>;
  #buffer = new Uint32Array(512);

  constructor(bytes: Buffer, from: number, values: LeafValues<T>) {
    const length = from + 4 > bytes.length ? Number.POSITIVE_INFINITY : bytes.readUInt32LE(from);
    if (from + 4 + length > bytes.length) throw new BrokenParquet(CUT_OFF);
    this.#runs = new HybridReader(bytes, from + 4, from + 4 + length, 1);
    this.#values = values;
  }

  read(into: T[], count: number): void {
    if (count > this.#buffer.length) this.#buffer = new Uint32Array(count);
    this.#runs.read(this.#buffer, count);
    for (let i = 0; i < count; i++) into[i] = this.#values.ofBoolean(this.#buffer[i] === 1);
  }
}

class Differences<T> implements ValueReader<T> {
  readonly #differences: DeltaReader;
  readonly #values: LeafValues<T>;

  constructor(bytes: Buffer, from: number, bits: 32 | 64, values: LeafValues<T>) {
    this.#differences = new DeltaReader(bytes, from, bytes.length, bits);
    this.#values = values;
  }

  read(into: T[], count: number): void {
    for (let i = 0; i < count; i++) {
      const value = this.#differences.next();
      into[i] = typeof value === 'number' ? this.#values.ofInteger(value) : this.#values.ofLong(value);
    }
  }
}

/** Lengths first, then all bytes; with `prefixes`, each value begins with so many bytes of the one before. */
class DeltaBytes<T> implements ValueReader<T> {
  readonly #bytes: Buffer;
  readonly #prefixes: DeltaReader | undefined;
  readonly #lengths: DeltaReader;
  readonly #values: LeafValues<T>;
  readonly #type: LeafType;
  #at: number;
  #last: Buffer = Bytes.alloc(0);

  constructor(bytes: Buffer, from: number, prefixed: boolean, type: LeafType, values: LeafValues<T>) {
    this.#bytes = bytes;
    this.#values = values;
    this.#type = type;
    let at = from;
    if (prefixed) {
      this.#prefixes = new DeltaReader(bytes, at, bytes.length, 32);
      at = new DeltaReader(bytes, at, bytes.length, 32).endOffset();
    }
    this.#lengths = new DeltaReader(bytes, at, bytes.length, 32);
    this.#at = new DeltaReader(bytes, at, bytes.length, 32).endOffset();
  }

  read(into: T[], count: number): void {
    const { ofText } = this.#values;
    for (let i = 0; i < count; i++) {
      const bytes = this.#next();
      into[i] = ofText === undefined ? this.#values.ofBytes(bytes) : ofText(bytes.toString('latin1'), isAscii(bytes));
    }
  }

  #next(): Buffer {
    const prefix = Number(this.#prefixes?.next() ?? 0);
    const length = Number(this.#lengths.next());
    const end = this.#at + length;
    if (length < 0 || end > this.#bytes.length || prefix < 0 || prefix > this.#last.length) throw new BrokenParquet(CUT_OFF);
    if (prefix + length > this.#type.maxBytes) throw new LargeValue(prefix + length);
    const suffix = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    const value = prefix === 0 ? suffix : Bytes.concat([this.#last.subarray(0, prefix), suffix]);
    if (this.#type.physical === 'FIXED_LEN_BYTE_ARRAY' && value.length !== this.#type.length)
      throw new BrokenParquet(`a value has ${value.length} bytes where all have ${this.#type.length}`);
    if (this.#prefixes !== undefined) this.#last = value;
    return value;
  }
}

/** The first bytes of all values, then their second bytes, and so on: made plain again. */
function joinedStreams(bytes: Buffer, from: number, type: LeafType): Buffer {
  const width = widthOf(type);
  if (width === undefined || width === 0) throw new BrokenParquet(`a page of ${type.physical} has its bytes in streams`);
  const count = Math.floor((bytes.length - from) / width);
  const plain = Bytes.allocUnsafe(count * width);
  for (let stream = 0; stream < width; stream++)
    for (let i = 0, at = from + stream * count; i < count; i++, at++) plain[i * width + stream] = bytes[at] as number;
  return plain;
}

const PLAIN = 0;
const PLAIN_DICTIONARY = 2;
const RLE = 3;
const DELTA_BINARY_PACKED = 5;
const DELTA_LENGTH_BYTE_ARRAY = 6;
const DELTA_BYTE_ARRAY = 7;
const RLE_DICTIONARY = 8;
const BYTE_STREAM_SPLIT = 9;

/** The values of a data page, which begin at `from`. @throws BrokenParquet */
export function valueReader<T>(
  bytes: Buffer,
  from: number,
  encoding: number,
  type: LeafType,
  values: LeafValues<T>,
  dictionary: Dictionary<T> | undefined,
): ValueReader<T> {
  const { physical } = type;
  const isInteger = physical === 'INT32' || physical === 'INT64';
  const isBytes = physical === 'BYTE_ARRAY' || physical === 'FIXED_LEN_BYTE_ARRAY';
  if (encoding === PLAIN) return plainReader(bytes, from, type, values);
  if (encoding === PLAIN_DICTIONARY || encoding === RLE_DICTIONARY) {
    if (dictionary === undefined) throw new BrokenParquet('a page refers to a dictionary, and there is none');
    return new Indexes(bytes, from, dictionary);
  }
  if (encoding === RLE && physical === 'BOOLEAN') return new RunBooleans(bytes, from, values);
  if (encoding === DELTA_BINARY_PACKED && isInteger) return new Differences(bytes, from, physical === 'INT32' ? 32 : 64, values);
  if (encoding === DELTA_LENGTH_BYTE_ARRAY && physical === 'BYTE_ARRAY') return new DeltaBytes(bytes, from, false, type, values);
  if (encoding === DELTA_BYTE_ARRAY && isBytes) return new DeltaBytes(bytes, from, true, type, values);
  if (encoding === BYTE_STREAM_SPLIT) return plainReader(joinedStreams(bytes, from, type), 0, type, values);
  throw new BrokenParquet(`a page of ${physical} has the encoding ${encoding}, which is not read`);
}
