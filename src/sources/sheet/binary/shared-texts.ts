/**
 * Texts of XLS, which go on in other records where one is not large enough: those that cells share, and those of formulas.
 *
 * @see [MS-XLS] 2.5.293, 2.4.265 and 2.4.58
 */
import { Fault } from '../../../core/fault.ts';
import { toBytes } from '../../../core/text.ts';
import { damaged } from '../package/archive.ts';
import { characters } from './records.ts';

/** Usage: `add` or `addText` for the first record, `add` for those that continue it, `end`. */
export class SharedTexts {
  readonly #add: (text: string) => void;
  readonly #input: string;
  readonly #maxBytes: number;
  /** Texts that have not begun. */
  #left = 0;
  #isOpen = false;
  /** Characters of the current text that are missing, and what it has so far. */
  #missing = 0;
  #wide = false;
  #text = '';
  /** Bytes behind the text that are passed over: its formats and phonetic hints. */
  #skip = 0;

  /** @param add is given each text as one-byte UTF-8 */
  constructor(add: (text: string) => void, input: string, maxBytes: number) {
    this.#add = add;
    this.#input = input;
    this.#maxBytes = maxBytes;
  }

  /** @param continued whether the record continues the one before */
  add(bytes: Buffer, continued: boolean): void {
    let at = 0;
    if (!continued) {
      this.#left = bytes.readUInt32LE(4);
      at = 8;
    } else if (this.#isOpen && this.#missing > 0) {
      // Characters may be stored in another width from here on.
      this.#wide = (bytes.readUInt8(0) & 1) === 1;
      at = 1;
    }
    this.#read(bytes, at);
  }

  /** One text, whose characters are counted in 16 bits. */
  addText(bytes: Buffer): void {
    this.#left = 1;
    this.#read(bytes, 0);
  }

  /** @throws Fault source/malformed — texts are missing */
  end(): void {
    if (this.#isOpen || this.#left > 0) throw damaged(this.#input, 'texts are missing');
  }

  #read(bytes: Buffer, from: number): void {
    let at = from;
    while (at < bytes.length && (this.#isOpen || this.#left > 0)) {
      if (!this.#isOpen) at = this.#begin(bytes, at);
      const width = this.#wide ? 2 : 1;
      const count = Math.min(this.#missing, Math.floor((bytes.length - at) / width));
      if (count > 0) {
        const piece = characters(bytes, at, count, this.#wide);
        this.#text = this.#text === '' ? piece : this.#text + piece;
        this.#missing -= count;
        at += count * width;
        if (this.#text.length > this.#maxBytes)
          throw new Fault('limit/exceeded', `A text of the workbook is longer than the ${this.#maxBytes} bytes that are allowed`, {
            place: { input: this.#input },
            limit: 'MAX_RECORD_BYTES',
            hint: 'Raise MAX_RECORD_BYTES (--max-record-mb)',
          });
      }
      if (this.#missing > 0) return;
      const skipped = Math.min(this.#skip, bytes.length - at);
      this.#skip -= skipped;
      at += skipped;
      if (this.#skip > 0) return;
      this.#isOpen = false;
      this.#add(toBytes(this.#text));
    }
  }

  #begin(bytes: Buffer, from: number): number {
    const flags = bytes.readUInt8(from + 2);
    let at = from + 3;
    this.#left--;
    this.#isOpen = true;
    this.#missing = bytes.readUInt16LE(from);
    this.#wide = (flags & 1) === 1;
    this.#text = '';
    this.#skip = 0;
    if ((flags & 8) !== 0) {
      this.#skip += 4 * bytes.readUInt16LE(at);
      at += 2;
    }
    if ((flags & 4) !== 0) {
      this.#skip += bytes.readUInt32LE(at);
      at += 4;
    }
    return at;
  }
}
