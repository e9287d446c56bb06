/**
 * The state by record: the chunks of the inputs of a version, which of them make statements of a subject, and which have a join key. It is a directory in the state of the
 * version (`../../versions/state.ts`). Files with texts are shared with the states of versions around it, by links.
 */
import { linkSync, rmSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../../core/fault.ts';
import { writeFault } from '../../../sinks/descriptor.ts';
import { makeDirectory } from '../../../storage/local/directory.ts';
import { IndexReader, IndexWriter } from '../unit-index.ts';
import type { ChunkSizes, Expected } from './chunks.ts';
import { ChunkTable, DigestIndex, hashChunk, hashPart, TextReader, TextWriter, textsName, viewOf } from './texts.ts';

/** What the record of a state says of its chunks. */
export interface RecordsInfo {
  /** By scan: base64 of what stands before the records. */
  readonly heads: readonly string[];
  /** By scan. */
  readonly sizes: readonly ChunkSizes[];
  /** SHA-256, hexadecimal. */
  readonly table: string;
  readonly texts: readonly TextsInfo[];
}

interface TextsInfo {
  readonly file: number;
  /** Of the file, and of its texts unpacked: of all that were written there. */
  readonly bytes: number;
  readonly textBytes: number;
}

const TABLE = 'chunks';
const SUBJECTS = 'subjects';
const KEYS = 'keys';
/** The texts are packed again when less than this share of them is of chunks that are left, or when they are in too many files. */
const LEAST_LIVE = 3 / 4;
const MOST_FILES = 32;
/** Most versions have so few chunks more than those before. */
const SPARE_CHUNKS = 1 << 14;

/** The state by record of a version. The caller closes it. */
export class RecordState {
  readonly info: RecordsInfo;
  readonly directory: string;
  readonly table: ChunkTable;
  readonly texts: TextReader;
  readonly subjects: IndexReader;
  /** Of joins. */
  readonly keys: IndexReader;

  /** @throws Fault source/unreadable — something of it is missing or damaged */
  constructor(directory: string, info: RecordsInfo, seed: number) {
    this.directory = directory;
    this.info = info;
    this.table = ChunkTable.load(join(directory, TABLE), info.table);
    for (const { file, bytes } of info.texts) {
      const size = statSync(join(directory, textsName(file)), { throwIfNoEntry: false })?.size;
      if (size !== bytes) throw new Fault('source/unreadable', `${join(directory, textsName(file))} is missing, or has another size`);
    }
    this.texts = new TextReader(directory, this.table, seed);
    this.subjects = new IndexReader(directory, SUBJECTS);
    try {
      this.keys = new IndexReader(directory, KEYS);
    } catch (error) {
      this.subjects.close();
      throw error;
    }
  }

  close(): void {
    this.texts.close();
    this.subjects.close();
    this.keys.close();
  }
}

/** A state by record that is being written. The caller ends it with `finish` or `abort`. */
export class RecordDraft {
  readonly table: ChunkTable;
  readonly subjects: IndexWriter;
  readonly keys: IndexWriter;
  /** Bytes of all chunks, each once. */
  bytes = 0;
  /** The old chunk of the scan that was added last; -1: none. */
  lastKept = -1;
  /** Whether some chunk of the scan was added more than once. */
  hasRepeated = false;
  /** Old chunk → its new number; -1: no input has it any more. */
  readonly #numbers: Int32Array | undefined;
  readonly #directory: string;
  readonly #old: RecordState | undefined;
  readonly #texts: TextWriter;
  readonly #file: number;
  readonly #seed: number;
  /** Old chunks whose records are in a new one, as far as they stay, each before that one. */
  readonly #moved: number[] = [];
  /** The chunks that are new. */
  readonly #fresh: DigestIndex;
  /** Those of the version before; undefined: they have not been needed. */
  #before: DigestIndex | undefined;
  /** The old chunk that is expected next. */
  #next = 0;
  #textBytes = 0;
  #isOpen = true;

  /** @param old the state of the version before, whose chunks need not be written again @throws Fault sink/failed */
  constructor(directory: string, seed: number, old?: RecordState) {
    makeDirectory(directory, 0o700);
    this.#directory = directory;
    this.#old = old;
    this.#seed = seed;
    this.table = old === undefined ? new ChunkTable() : new ChunkTable(SPARE_CHUNKS, old.table);
    this.subjects = new IndexWriter(directory, SUBJECTS);
    this.keys = new IndexWriter(directory, KEYS);
    this.#fresh = new DigestIndex(this.table);
    this.#file = Math.max(-1, ...(old?.info.texts ?? []).map(({ file }) => file)) + 1;
    this.#texts = new TextWriter(directory, this.#file, this.table);
    if (old === undefined) return;
    this.#numbers = new Int32Array(old.table.count).fill(-1);
  }

  /**
   * The chunks of a scan in the version before, in their order, but for the last one. After each that is added, the one behind it is expected. To be called when all
   * chunks of the scans before it have been added.
   */
  expected(scan: number): Expected {
    const { table } = this.#old as RecordState;
    this.lastKept = -1;
    this.hasRepeated = false;
    let last = table.count - 1;
    while (last >= 0 && table.scan(last) !== scan) last--;
    let viewed: Buffer | undefined;
    let view: DataView | undefined;
    for (this.#next = 0; this.#next < last && table.scan(this.#next) !== scan; ) this.#next++;
    return {
      length: () => (this.#next < last && table.scan(this.#next) === scan ? table.length(this.#next) : 0),
      take: (text, from) => {
        if (text !== viewed) [viewed, view] = [text, viewOf(text)];
        hashPart(view as DataView, from, from + table.length(this.#next), scan, this.#seed);
        if (!table.isHashed(this.#next)) return false;
        this.#keep(this.#next);
        return true;
      },
    };
  }

  /** Takes over a chunk of the version before. @returns its new number */
  #keep(before: number): number {
    this.#next = before + 1;
    this.lastKept = before;
    const numbers = this.#numbers as Int32Array;
    if ((numbers[before] as number) >= 0) this.hasRepeated = true;
    else {
      const { table } = this.#old as RecordState;
      numbers[before] = this.table.keep(before);
      this.bytes += table.length(before);
    }
    return numbers[before] as number;
  }

  /** @returns its number, and whether no input had it */
  add(scan: number, text: Buffer): { readonly chunk: number; readonly isNew: boolean } {
    hashChunk(text, scan, this.#seed);
    const before = this.#indexBefore()?.find();
    if (before !== undefined) return { chunk: this.#keep(before), isNew: false };
    // What was expected has most likely become this one.
    this.#next++;
    const known = this.#fresh.find();
    if (known !== undefined) {
      this.hasRepeated = true;
      return { chunk: known, isNew: false };
    }
    const chunk = this.table.add(scan, text.length);
    this.#fresh.add(chunk);
    this.bytes += text.length;
    this.#texts.add(chunk, text);
    this.#textBytes += text.length;
    return { chunk, isNew: true };
  }

  #indexBefore(): DigestIndex | undefined {
    if (this.#before !== undefined || this.#old === undefined) return this.#before;
    const { table } = this.#old;
    this.#before = new DigestIndex(table, table.count);
    for (let chunk = 0; chunk < table.count; chunk++) this.#before.add(chunk);
    return this.#before;
  }

  isGone(old: number): boolean {
    return this.numberOf(old) < 0;
  }

  /** A chunk that is gone has left some of its records to another one: what the indexes say of it holds of that as well. */
  move(old: number, chunk: number): void {
    this.#moved.push(old, chunk);
  }

  /** The number of an old chunk; -1: no input has it any more. */
  numberOf(old: number): number {
    return this.#numbers?.[old] ?? -1;
  }

  /** Completes the texts: they can be read. @throws Fault sink/failed */
  async finishTexts(): Promise<TextReader> {
    this.#texts.finish();
    this.#isOpen = false;
    for (const { file } of this.#old?.info.texts ?? []) await this.#link(file);
    return new TextReader(this.#directory, this.table, this.#seed);
  }

  async #link(file: number): Promise<void> {
    const [from, to] = [join((this.#old as RecordState).directory, textsName(file)), join(this.#directory, textsName(file))];
    try {
      linkSync(from, to);
    } catch {
      // A file system without links.
      await copyFile(from, to).catch((error) => {
        throw writeFault(to, error);
      });
    }
  }

  /** After `finishTexts`, and when all subjects and keys have been added. @throws Fault sink/failed, source/unreadable */
  async finish(heads: readonly Buffer[], sizes: readonly ChunkSizes[]): Promise<RecordsInfo> {
    const old = this.#old;
    const numbers = (this.#numbers ?? new Int32Array()).slice();
    for (let i = 0; i < this.#moved.length; i += 2) numbers[this.#moved[i] as number] = this.#moved[i + 1] as number;
    await this.subjects.finish(old && { index: old.subjects, numbers });
    await this.keys.finish(old && { index: old.keys, numbers });
    const written: TextsInfo = { file: this.#file, bytes: this.#texts.bytes, textBytes: this.#textBytes };
    const texts = this.#packed([...(old?.info.texts ?? []), written]);
    return { heads: heads.map((head) => head.toString('base64')), sizes, table: this.table.save(join(this.#directory, TABLE)), texts };
  }

  /** The files of the texts: those that are there, or one with all texts that are left. */
  #packed(files: readonly TextsInfo[]): readonly TextsInfo[] {
    const all = files.reduce((sum, { textBytes }) => sum + textBytes, 0);
    if (this.bytes >= all * LEAST_LIVE && files.length <= MOST_FILES) return files;
    const reader = new TextReader(this.#directory, this.table, this.#seed);
    const writer = new TextWriter(this.#directory, this.#file + 1, this.table);
    try {
      // A chunk has its new place when it has been read.
      for (let chunk = 0; chunk < this.table.count; chunk++) writer.add(chunk, reader.read(chunk));
      writer.finish();
    } finally {
      reader.close();
    }
    for (const { file } of files) rmSync(join(this.#directory, textsName(file)), { force: true });
    return [{ file: this.#file + 1, bytes: writer.bytes, textBytes: this.bytes }];
  }

  async abort(): Promise<void> {
    if (this.#isOpen) this.#texts.close();
    this.#isOpen = false;
    await this.subjects.abort();
    await this.keys.abort();
  }
}
