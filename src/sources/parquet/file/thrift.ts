/**
 * Reads the compact protocol of Thrift, in which Parquet writes its metadata. Unknown fields are skipped. Nothing is allocated for a count
 * that the bytes only claim.
 *
 * @see https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
 */

/** Why a file is not valid Parquet. The caller, which knows file, column and row, makes a fault of it. */
export class BrokenParquet extends Error {}

/** The bytes end before the structure does. */
export class CutOff extends BrokenParquet {
  constructor() {
    super('its metadata is cut off');
  }
}

const STOP = 0;
const TRUE = 1;
const FALSE = 2;
const BYTE = 3;
const I16 = 4;
const I64 = 6;
const DOUBLE = 7;
const BINARY = 8;
const LIST = 9;
const SET = 10;
const MAP = 11;
const STRUCT = 12;
const UUID = 13;

/** The metadata of Parquet has eight levels. */
const MAX_DEPTH = 64;

export class ThriftReader {
  at: number;
  readonly #bytes: Buffer;
  readonly #end: number;
  #depth = 0;
  /** Of the field that is being read. */
  #type = STOP;

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.at = at;
    this.#end = end;
  }

  /** Calls `read` for each field. What it does not read is skipped. */
  struct(read: (field: number) => void): void {
    if (++this.#depth > MAX_DEPTH) throw new BrokenParquet('its metadata is nested too deep');
    let field = 0;
    for (;;) {
      const head = this.#byte();
      const type = head & 15;
      if (type === STOP) break;
      field = head >> 4 === 0 ? this.#zigzag() : field + (head >> 4);
      this.#type = type;
      const before = this.at;
      read(field);
      if (this.at === before && type !== TRUE && type !== FALSE) this.#skip(type);
    }
    this.#depth--;
  }

  /** Calls `read` for each element of a list, with its position. */
  list(read: (position: number) => void): void {
    this.#expect(LIST, SET);
    const head = this.#byte();
    const size = head >> 4 === 15 ? this.#varint() : head >> 4;
    const type = head & 15;
    for (let i = 0; i < size; i++) {
      this.#type = type;
      const before = this.at;
      read(i);
      if (this.at === before) this.#skip(type === TRUE ? BYTE : type);
    }
  }

  boolean(): boolean {
    this.#expect(TRUE, FALSE);
    return this.#type === TRUE;
  }

  /** An integer of any width. */
  integer(): number {
    if (this.#type === BYTE) return (this.#byte() << 24) >> 24;
    this.#expect(I16, 5, I64);
    return this.#zigzag();
  }

  /** An integer that counts something. */
  count(): number {
    const value = this.integer();
    if (value < 0) throw new BrokenParquet(`its metadata has the number ${value} where a size is expected`);
    return value;
  }

  binary(): Buffer {
    this.#expect(BINARY);
    const size = this.#varint();
    if (size > this.#end - this.at) throw new CutOff();
    this.at += size;
    return this.#bytes.subarray(this.at - size, this.at);
  }

  #expect(...types: readonly number[]): void {
    if (!types.includes(this.#type))
      throw new BrokenParquet(`its metadata has a field of type ${this.#type} where ${types[0]} is expected`);
  }

  #byte(): number {
    if (this.at >= this.#end) throw new CutOff();
    return this.#bytes[this.at++] as number;
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1, i = 0; i < 10; i++, scale *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) {
        // Sizes, offsets and numbers of rows: none has 53 bits.
        if (value > Number.MAX_SAFE_INTEGER) throw new BrokenParquet('its metadata has a number beyond all sizes');
        return value;
      }
    }
    throw new BrokenParquet('its metadata has a number that does not end');
  }

  #zigzag(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  #skip(type: number): void {
    switch (type) {
      case TRUE:
      case FALSE:
        return;
      case BYTE:
        this.#byte();
        return;
      case I16:
      case 5:
      case I64:
        // Statistics may have all 64 bits.
        for (let i = 0; this.#byte() >= 128; i++) if (i === 9) throw new BrokenParquet('its metadata has a number that does not end');
        return;
      case DOUBLE:
        this.#forward(8);
        return;
      case BINARY:
        this.#forward(this.#varint());
        return;
      case LIST:
      case SET:
        this.#type = type;
        this.#deeper(() => this.list(() => {}));
        return;
      case MAP: {
        const size = this.#varint();
        const types = size === 0 ? 0 : this.#byte();
        this.#deeper(() => {
          for (let i = 0; i < size; i++) {
            this.#skip(types >> 4 === TRUE ? BYTE : types >> 4);
            this.#skip((types & 15) === TRUE ? BYTE : types & 15);
          }
        });
        return;
      }
      case STRUCT:
        this.struct(() => {});
        return;
      case UUID:
        this.#forward(16);
        return;
      default:
        throw new BrokenParquet(`its metadata has a field of the unknown type ${type}`);
    }
  }

  #deeper(read: () => void): void {
    if (++this.#depth > MAX_DEPTH) throw new BrokenParquet('its metadata is nested too deep');
    read();
    this.#depth--;
  }

  #forward(bytes: number): void {
    if (bytes > this.#end - this.at) throw new CutOff();
    this.at += bytes;
  }
}
