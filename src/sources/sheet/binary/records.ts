/**
 * The records of a binary workbook, in one pass: BIFF8 of XLS (type and size in 16 bits each) and BIFF12 of XLSB (both of variable length).
 *
 * @see [MS-XLS] 2.1.4 and [MS-XLSB] 2.1.4
 */
import { Fault } from '../../../core/fault.ts';
import { damaged } from '../package/archive.ts';

export interface RecordHandler {
  /** True: what follows is not read. */
  readonly ended: boolean;
  /** The source may end here. */
  readonly mayEnd?: boolean;
  /**
   * @param bytes the content of the record; they belong to the handler until it returns
   * @returns false: the record was not taken; it is repeated after a pause
   */
  record(type: number, bytes: Buffer): boolean;
}

export type RecordFormat = 'biff8' | 'biff12';

/** Bytes that are taken from the source before records are handed over. */
const WINDOW_BYTES = 2 ** 16;

export class Records {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #format: RecordFormat;
  readonly #handler: RecordHandler;
  readonly #input: string;
  readonly #maxBytes: number;
  #bytes = Buffer.alloc(0);
  #at = 0;
  #more = false;
  #ended = false;

  /** @param maxBytes of one record */
  constructor(chunks: AsyncIterable<Uint8Array>, format: RecordFormat, handler: RecordHandler, input: string, maxBytes: number) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#format = format;
    this.#handler = handler;
    this.#input = input;
    this.#maxBytes = maxBytes;
  }

  /** Reads on, up to where the handler does not take a record or more bytes are needed. False: the records have ended. */
  async next(): Promise<boolean> {
    if (this.#handler.ended) return false;
    if (!this.#more) {
      if (this.#ended) {
        if (this.#handler.mayEnd === true) return false;
        // BrtEnd… and EOF records mark the end, so that a file that was cut off is noticed.
        throw damaged(this.#input, 'it ends before its last record');
      }
      await this.#push();
    }
    this.#more = this.#scan();
    return true;
  }

  /** @throws Fault source/malformed, limit/exceeded */
  async read(): Promise<void> {
    try {
      while (await this.next());
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #push(): Promise<void> {
    const pieces: Uint8Array[] = [this.#bytes.subarray(this.#at)];
    let size = 0;
    const wanted = Math.max(WINDOW_BYTES, this.#bytes.length - this.#at);
    while (size < wanted) {
      const next = await this.#chunks.next();
      if (next.done === true) {
        this.#ended = true;
        break;
      }
      pieces.push(next.value);
      size += next.value.length;
    }
    this.#bytes = Buffer.concat(pieces);
    this.#at = 0;
  }

  /** True: paused. False: more bytes are needed, or the handler has ended. */
  #scan(): boolean {
    const bytes = this.#bytes;
    const handler = this.#handler;
    while (!handler.ended) {
      let at = this.#at;
      let type: number;
      let size: number;
      if (this.#format === 'biff8') {
        if (at + 4 > bytes.length) return false;
        type = bytes.readUInt16LE(at);
        size = bytes.readUInt16LE(at + 2);
        at += 4;
      } else {
        if (at + 6 > bytes.length && !this.#ended) return false;
        if (at + 2 > bytes.length) return false;
        type = bytes[at++] as number;
        if (type & 0x80) type = (type & 0x7f) | (((bytes[at++] ?? 0) & 0x7f) << 7);
        size = 0;
        for (let shift = 0; shift < 28; shift += 7) {
          const byte = bytes[at++] ?? 0;
          size |= (byte & 0x7f) << shift;
          if ((byte & 0x80) === 0) break;
        }
        if (size > this.#maxBytes) throw tooLong(this.#input, this.#maxBytes);
      }
      if (at + size > bytes.length) return false;
      try {
        if (!handler.record(type, bytes.subarray(at, at + size))) return true;
      } catch (error) {
        // A number that would begin behind the end of its record.
        if (error instanceof RangeError) throw damaged(this.#input, `a record of type ${type} is shorter than it should be`, error);
        throw error;
      }
      this.#at = at + size;
    }
    return false;
  }
}

export const tooLong = (input: string, maxBytes: number): Fault =>
  new Fault('limit/exceeded', `A text of the workbook is longer than the ${maxBytes} bytes that are allowed`, {
    place: { input },
    limit: 'MAX_RECORD_BYTES',
    hint: 'Raise MAX_RECORD_BYTES (--max-record-mb)',
  });

/** `count` characters from `at` on: of two bytes each, or of one byte, which is then the low one. @throws RangeError */
export function characters(bytes: Buffer, at: number, count: number, wide: boolean): string {
  const end = at + (wide ? 2 * count : count);
  if (end > bytes.length) throw new RangeError('a text is longer than its record');
  return bytes.toString(wide ? 'utf16le' : 'latin1', at, end);
}

/** A text of XLSB: the number of its characters in 32 bits, and UTF-16. @returns where it ends, too */
export function wideText(bytes: Buffer, at: number): readonly [text: string, end: number] {
  const count = bytes.readUInt32LE(at);
  // The text of no value.
  if (count === 0xffff_ffff) return ['', at + 4];
  return [characters(bytes, at + 4, count, true), at + 4 + 2 * count];
}

/** A number in 32 bits: an integer or the upper half of a double, either of them a hundredth if it says so. @see [MS-XLS] 2.5.218 */
export function rkNumber(rk: number): number {
  let number: number;
  if (rk & 2) number = rk >> 2;
  else {
    SCRATCH.writeUInt32LE(0, 0);
    SCRATCH.writeInt32LE(rk & ~3, 4);
    number = SCRATCH.readDoubleLE(0);
  }
  return rk & 1 ? number / 100 : number;
}

const SCRATCH = Buffer.alloc(8);
