/**
 * The table of the texts that cells of an XLSX workbook share. It is as large as the document wants: texts are held as bytes, up to the
 * memory that the run gives, and the rest in a file. Texts are numbered as they first occur, so cells find them in order of the file.
 */
import { readSync } from 'node:fs';
import { Fault } from '../../../core/fault.ts';
import { toBytes } from '../../../core/text.ts';
import { filesOf, ScratchFile, scratchFault } from '../../scratch-file.ts';
import type { WorkbookOptions } from '../../source.ts';
import type { Archive } from '../package/archive.ts';
import { Part } from '../package/part.ts';
import type { TagHandler } from '../package/tokens.ts';
import { NAMESPACES } from './workbook.ts';

/** Texts of a block: its memory is one buffer, its ends are one array. */
const BLOCK_BYTES = 1 << 20;
const BLOCK_TEXTS = 1 << 16;
/** Texts that follow each other are cut from a string of so many bytes, which costs less than to make each from bytes. */
const WINDOW_BYTES = 1 << 12;
/** Blocks of the file that are kept in memory. */
const CACHED_BLOCKS = 8;
/** Texts that were decoded last, by the low bits of their number. */
const RECENT = 1 << 12;

interface Block {
  /** Number of its first text. */
  readonly first: number;
  /** Where each text ends, in the block. */
  readonly ends: Uint32Array;
  readonly sizeBytes: number;
  /** undefined: in the file, from `at` on. */
  readonly bytes: Buffer | undefined;
  readonly at: number;
}

/** Reads some of the texts. */
interface TextReader {
  /** False: all were read. */
  next(): Promise<boolean>;
  close(): Promise<void>;
}

export class SharedStrings {
  readonly #blocks: Block[] = [];
  readonly #recent = new Array<string>(RECENT).fill('');
  readonly #recentNumbers = new Int32Array(RECENT).fill(-1);
  readonly #cache = new Map<Block, Buffer>();
  #file: ScratchFile | undefined;
  #count = 0;
  /** Part of a block as a string; a text behind it, or behind the text that was read last, begins the next one. */
  #window = '';
  #windowBlock: Block | undefined;
  #windowFrom = 0;
  #windowTo = 0;

  /** @param part undefined: the workbook has no such table */
  static async read(archive: Archive, part: string | undefined, options: WorkbookOptions): Promise<SharedStrings> {
    if (part === undefined) return new SharedStrings();
    if (!archive.has(part)) throw archive.missing(part, 'the workbook');
    return SharedStrings.collect((add) => new Part(archive, part, new StringReader(options, add), NAMESPACES, options), options);
  }

  /** @param textsOf gives a reader that calls `add` for each text, in their order. It is read, and closed. */
  static async collect(textsOf: (add: (text: string) => void) => TextReader, options: WorkbookOptions): Promise<SharedStrings> {
    const strings = new SharedStrings();
    try {
      await strings.#read(textsOf, options);
      return strings;
    } catch (error) {
      await strings.close();
      throw error;
    }
  }

  get count(): number {
    return this.#count;
  }

  /** @param index from 0; less than `count` */
  get(index: number): string {
    const slot = index & (RECENT - 1);
    if (this.#recentNumbers[slot] === index) return this.#recent[slot] as string;
    const block = this.#blockOf(index);
    const at = index - block.first;
    const text = this.#cut(block, at === 0 ? 0 : (block.ends[at - 1] as number), block.ends[at] as number);
    this.#recentNumbers[slot] = index;
    this.#recent[slot] = text;
    return text;
  }

  #cut(block: Block, from: number, to: number): string {
    const isSame = block === this.#windowBlock;
    if (isSame && from >= this.#windowFrom && to <= this.#windowTo)
      return this.#window.slice(from - this.#windowFrom, to - this.#windowFrom);
    const bytes = block.bytes ?? this.#fromFile(block);
    const follows = isSame ? from >= this.#windowTo && from < this.#windowTo + WINDOW_BYTES : from === 0;
    if (!follows) {
      this.#windowBlock = block;
      this.#window = '';
      this.#windowFrom = to;
      this.#windowTo = to;
      return bytes.toString('latin1', from, to);
    }
    this.#windowBlock = block;
    this.#windowFrom = from;
    this.#windowTo = Math.max(to, Math.min(bytes.length, from + WINDOW_BYTES));
    this.#window = bytes.toString('latin1', from, this.#windowTo);
    return this.#window.slice(0, to - from);
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  #blockOf(index: number): Block {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#blocks[middle] as Block).first <= index) low = middle;
      else high = middle - 1;
    }
    return this.#blocks[low] as Block;
  }

  #fromFile(block: Block): Buffer {
    const known = this.#cache.get(block);
    if (known !== undefined) return known;
    const bytes = Buffer.allocUnsafeSlow(block.sizeBytes);
    for (let read = 0; read < bytes.length; ) {
      const more = readSync((this.#file as ScratchFile).handle.fd, bytes, read, bytes.length - read, block.at + read);
      if (more === 0) throw scratchFault(new Error('it is shorter than what was written'));
      read += more;
    }
    // The block that was read first goes first.
    if (this.#cache.size >= CACHED_BLOCKS) this.#cache.delete(this.#cache.keys().next().value as Block);
    this.#cache.set(block, bytes);
    return bytes;
  }

  async #read(textsOf: (add: (text: string) => void) => TextReader, options: WorkbookOptions): Promise<void> {
    const files = filesOf(options);
    const full: { bytes: Buffer; ends: Uint32Array; first: number }[] = [];
    let pieces: string[] = [];
    let ends = new Uint32Array(BLOCK_TEXTS);
    let texts = 0;
    let size = 0;
    const endBlock = (): void => {
      if (texts === 0) return;
      full.push({ bytes: Buffer.from(pieces.join(''), 'latin1'), ends: ends.slice(0, texts), first: this.#count - texts });
      pieces = [];
      texts = 0;
      size = 0;
      ends = new Uint32Array(BLOCK_TEXTS);
    };
    const whole = textsOf((text) => {
      if (text !== '') pieces.push(text);
      size += text.length;
      ends[texts++] = size;
      this.#count++;
      if (texts === BLOCK_TEXTS || size >= BLOCK_BYTES) endBlock();
    });
    let held = 0;
    let at = 0;
    try {
      for (let more = true; more; ) {
        more = await whole.next();
        if (!more) endBlock();
        for (const { bytes, ends, first } of full.splice(0)) {
          const inMemory = held + bytes.length + ends.byteLength <= files.memoryBytes;
          if (inMemory) held += bytes.length + ends.byteLength;
          else {
            this.#file ??= await ScratchFile.open(files);
            await this.#file.handle.write(bytes, 0, bytes.length, at).catch((cause: unknown) => {
              throw scratchFault(cause);
            });
          }
          this.#blocks.push({ first, ends, sizeBytes: bytes.length, bytes: inMemory ? bytes : undefined, at });
          if (!inMemory) at += bytes.length;
        }
      }
    } finally {
      await whole.close();
    }
  }
}

/** Texts of `si`, `is` and their like: of all runs, without phonetic hints. */
class StringReader implements TagHandler {
  wantsText = false;
  readonly #options: WorkbookOptions;
  readonly #add: (text: string) => void;
  #text = '';
  #inHint = false;

  constructor(options: WorkbookOptions, add: (text: string) => void) {
    this.#options = options;
    this.#add = add;
  }

  open(name: string): void {
    if (name === 't') this.wantsText = !this.#inHint;
    else if (name === 'rPh') this.#inHint = true;
    else if (name === 'si') this.#text = '';
  }

  text(text: string): void {
    this.#text = this.#text === '' ? text : this.#text + text;
    const { maxRecordBytes, name } = this.#options;
    if (this.#text.length > maxRecordBytes)
      throw new Fault('limit/exceeded', `A text of the workbook is longer than the ${maxRecordBytes} bytes that are allowed`, {
        place: { input: name },
        limit: 'MAX_RECORD_BYTES',
        hint: 'Raise MAX_RECORD_BYTES (--max-record-mb)',
      });
  }

  close(name: string): void {
    if (name === 't') this.wantsText = false;
    else if (name === 'rPh') this.#inHint = false;
    else if (name === 'si') this.#add(unescaped(this.#text));
  }
}

const ESCAPES = /(?:_x[0-9A-Fa-f]{4}_)+/g;

/** `_x000D_` stands for a character that XML cannot hold, and `_x005F_` for an underscore before such a text. @see ECMA-376 part 1, 22.9.2.19 */
export function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(ESCAPES, (run) => {
    const units = run.replace(/_x(....)_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
    // Two escapes may be one character. Half of one is none, and stays as it is written.
    return toBytes(units.replace(/\p{Surrogate}/gu, (half) => `_x${half.charCodeAt(0).toString(16).toUpperCase()}_`));
  });
}
