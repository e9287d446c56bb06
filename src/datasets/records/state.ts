/**
 * The state by record: the chunks of the inputs of a version, and which of them make statements of a subject. It is a directory in the state of the
 * version (`../state.ts`). Files with texts are shared with the states of versions around it, by links.
 */
import { linkSync, rmSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { writeFault } from '../../sinks/descriptor.ts';
import { makeDirectory } from '../../storage/local/directory.ts';
import type { ChunkSizes } from './chunks.ts';
import { SubjectReader, SubjectWriter } from './subjects.ts';
import { ChunkTable, hashChunk, TextReader, TextWriter, textsName } from './texts.ts';

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
/** The texts are packed anew when less than this share of them is of chunks that are left, or when they are in too many files. */
const LEAST_LIVE = 3 / 4;
const MOST_FILES = 32;

/** The state by record of a version. The caller closes it. */
export class RecordState {
  readonly info: RecordsInfo;
  readonly directory: string;
  readonly table: ChunkTable;
  readonly texts: TextReader;
  readonly subjects: SubjectReader;

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
    this.subjects = new SubjectReader(directory);
  }

  close(): void {
    this.texts.close();
    this.subjects.close();
  }
}

/** A state by record that is being written. The caller ends it with `finish` or `abort`. */
export class RecordDraft {
  readonly table = new ChunkTable();
  readonly subjects: SubjectWriter;
  /** Bytes of all chunks, each once. */
  bytes = 0;
  /** Old chunk → its new number; -1: no input has it any more. */
  readonly #numbers: Int32Array | undefined;
  readonly #directory: string;
  readonly #old: RecordState | undefined;
  readonly #texts: TextWriter;
  readonly #file: number;
  readonly #seed: number;
  /** Bits of the digest → number of the chunk. */
  readonly #known = new Map<number, number>();
  readonly #before = new Map<number, number>();
  #textBytes = 0;
  #isOpen = true;

  /** @param old the state of the version before, whose chunks need not be written again @throws Fault sink/failed */
  constructor(directory: string, seed: number, old?: RecordState) {
    makeDirectory(directory, 0o700);
    this.#directory = directory;
    this.#old = old;
    this.#seed = seed;
    this.subjects = new SubjectWriter(directory, seed);
    this.#file = Math.max(-1, ...(old?.info.texts ?? []).map(({ file }) => file)) + 1;
    this.#texts = new TextWriter(directory, this.#file, this.table);
    if (old === undefined) return;
    this.#numbers = new Int32Array(old.table.count).fill(-1);
    for (let chunk = 0; chunk < old.table.count; chunk++) this.#before.set(old.table.key(chunk), chunk);
  }

  /** @returns its number, and whether no input had it */
  add(scan: number, text: Buffer): { readonly chunk: number; readonly isNew: boolean } {
    const key = hashChunk(text, scan, this.#seed);
    const found = this.#known.get(key);
    if (found !== undefined && this.table.isHashed(found)) return { chunk: found, isNew: false };
    const same = this.#before.get(key);
    const before = same !== undefined && this.#old?.table.isHashed(same) ? same : undefined;
    const isNew = before === undefined;
    const chunk = isNew ? this.table.add(scan, text.length) : this.table.copy((this.#old as RecordState).table, before);
    this.#known.set(key, chunk);
    this.bytes += text.length;
    if (!isNew) (this.#numbers as Int32Array)[before] = chunk;
    else {
      this.#texts.add(chunk, text);
      this.#textBytes += text.length;
    }
    return { chunk, isNew };
  }

  isGone(old: number): boolean {
    return (this.#numbers?.[old] ?? -1) < 0;
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

  /** After `finishTexts`, and when all subjects have been added. @throws Fault sink/failed, source/unreadable */
  async finish(heads: readonly Buffer[], sizes: readonly ChunkSizes[]): Promise<RecordsInfo> {
    const old = this.#old;
    await this.subjects.finish(old && { subjects: old.subjects, numbers: this.#numbers as Int32Array });
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
  }
}
