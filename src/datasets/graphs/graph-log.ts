/**
 * A graph on disk: the text of its statements as a run makes them, and an index by which two graphs are compared.
 *
 * The file `log` has N-Quads lines in *blocks*: lines with one subject that follow one another. The file `index` has an entry for each block: a hash
 * of the subject, a hash of the block's text, and where the block stands. Entries are grouped in partitions by the subject's hash. So all
 * statements of a subject are in one partition, and a graph is compared without reading the text of what is equal.
 *
 * A block may be there several times, and a statement in several blocks.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { h1, h2, h3, h4, hashBytes } from '../../core/hash.ts';
import { subjectAt } from '../../nquads/terms.ts';
import { DescriptorWriter, writeFault } from '../../sinks/descriptor.ts';
import type { MemoryBudget } from '../../spill/budget.ts';
import { HashSet, KNOWN } from '../../spill/key-table.ts';
import { makeDirectory } from '../../storage/local/directory.ts';

export const PARTITIONS = 64;
/** Words of 32 bits: two of the subject's hash, three of the block's, two of its position in the log, one of its length. */
export const ENTRY_WORDS = 8;
export const ENTRY_BYTES = ENTRY_WORDS * 4;
/** Entries of a partition that are written together. */
const BUFFER_ENTRIES = 512;
/** A longer run of lines with one subject is several blocks. */
const MAX_BLOCK_CHARACTERS = 1 << 20;
const FIRST_BYTES = 1 << 20;
const HEADER_BYTES = PARTITIONS * 8;
const WORD = 2 ** 32;
const READ_ENTRIES = 1 << 13;
/** A shorter log is read at once. */
const SHORT_BYTES = 1 << 24;
const GRAPH_UNIT = 1 << 24;

const LOG = 'log';
const INDEX = 'index';

/** Writes a graph into a directory. The caller ends it with `finish` or `abort`. */
export class GraphLogWriter {
  readonly #directory: string;
  readonly #seed: number;
  /** Blocks that are in the log, as far as memory goes: the others are there again. */
  readonly #known: HashSet;
  readonly #descriptor: number;
  readonly #log: DescriptorWriter;
  readonly #isDurable: boolean;
  readonly #buffers: Uint32Array[] = [];
  /** Number of entries in each of them. */
  readonly #entries: number[] = new Array(PARTITIONS).fill(0);
  readonly #counts: number[] = new Array(PARTITIONS).fill(0);
  /** Of a partition that did not fit into its buffer. */
  readonly #files: (number | undefined)[] = new Array(PARTITIONS).fill(undefined);
  #position = 0;
  /** Text that is not in the log yet. */
  #bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #used = 0;

  /**
   * @param directory created if missing
   * @param seed of the hashes: that of the dataset, so that its graphs can be compared
   * @param budget of the set of known blocks
   * @param isDurable whether `finish` syncs the files to disk. A temporary graph needs no sync
   * @throws Fault sink/failed
   */
  constructor(directory: string, seed: number, budget: MemoryBudget, isDurable = true) {
    this.#directory = directory;
    this.#isDurable = isDurable;
    this.#seed = seed;
    this.#known = new HashSet(budget, seed);
    const path = join(directory, LOG);
    try {
      makeDirectory(directory, 0o700);
      this.#descriptor = openSync(path, 'w', 0o600);
    } catch (error) {
      throw writeFault(path, error);
    }
    this.#log = new DescriptorWriter(this.#descriptor, path, { digest: false });
  }

  /** Adds complete lines of N-Quads, as a one-byte string. */
  write(lines: string): void | Promise<void> {
    if (this.#used + lines.length <= this.#bytes.length) return this.#take(lines);
    return this.#send().then(() => {
      if (lines.length > this.#bytes.length) this.#grow(lines.length);
      this.#take(lines);
    });
  }

  /** The same for buffers of lines. */
  async writeBytes(buffers: readonly Uint8Array[]): Promise<void> {
    for (const bytes of buffers) await this.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'));
  }

  #take(lines: string): void {
    const bytes = this.#bytes;
    bytes.write(lines, this.#used, 'latin1');
    // Behind blocks that are known, the others move to the front.
    let known = 0;
    for (let at = 0; at < lines.length; ) {
      const subject = subjectAt(lines, at);
      const before = `${subject} `;
      let end = lines.indexOf('\n', at) + 1;
      while (end < lines.length && end - at < MAX_BLOCK_CHARACTERS && lines.startsWith(before, end)) end = lines.indexOf('\n', end) + 1;
      const from = this.#used + known;
      if (!this.#add(from, subject.length, end - at)) known += end - at;
      else {
        if (known > 0) bytes.copyWithin(this.#used, from, from + end - at);
        this.#used += end - at;
      }
      at = end;
    }
  }

  async #send(): Promise<void> {
    const written = this.#bytes.subarray(0, this.#used);
    this.#used = 0;
    await this.#log.writeBytes([written]);
  }

  #grow(length: number): void {
    this.#bytes = Buffer.allocUnsafeSlow(length);
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** Whether the block at `from` of the buffer was not known. */
  #add(from: number, subjectLength: number, length: number): boolean {
    hashBytes(this.#view, from, from + subjectLength, this.#seed);
    const [subject1, subject2] = [h1, h2];
    hashBytes(this.#view, from, from + length, this.#seed);
    if (this.#known.addWords(h1, h2, h3, h4) === KNOWN) return false;
    const partition = subject1 & (PARTITIONS - 1);
    this.#buffers[partition] ??= new Uint32Array(BUFFER_ENTRIES * ENTRY_WORDS);
    const buffer = this.#buffers[partition] as Uint32Array;
    const used = this.#entries[partition] as number;
    const at = used * ENTRY_WORDS;
    buffer[at] = subject1;
    buffer[at + 1] = subject2;
    buffer[at + 2] = h1;
    buffer[at + 3] = h2;
    buffer[at + 4] = h3;
    buffer[at + 5] = this.#position % WORD;
    buffer[at + 6] = Math.floor(this.#position / WORD);
    buffer[at + 7] = length;
    this.#entries[partition] = used + 1;
    this.#position += length;
    if (used + 1 === BUFFER_ENTRIES) this.#flush(partition);
    return true;
  }

  #flush(partition: number): void {
    const path = join(this.#directory, `${INDEX}-${partition}`);
    try {
      this.#files[partition] ??= openSync(path, 'w+', 0o600);
      writeWhole(this.#files[partition] as number, this.#entriesIn(partition));
    } catch (error) {
      throw writeFault(path, error);
    }
    this.#counts[partition] = (this.#counts[partition] as number) + (this.#entries[partition] as number);
    this.#entries[partition] = 0;
  }

  #entriesIn(partition: number): Uint8Array {
    const buffer = this.#buffers[partition];
    return buffer === undefined ? new Uint8Array(0) : new Uint8Array(buffer.buffer, 0, (this.#entries[partition] as number) * ENTRY_BYTES);
  }

  /** Completes both files. @throws Fault sink/failed */
  async finish(): Promise<void> {
    this.#known.drop();
    const path = join(this.#directory, INDEX);
    try {
      await this.#send();
      await this.#log.finish();
      if (this.#isDurable) fsyncSync(this.#descriptor);
      const index = openSync(path, 'w', 0o600);
      try {
        const header = Float64Array.from(this.#counts, (count, partition) => count + (this.#entries[partition] as number));
        writeWhole(index, new Uint8Array(header.buffer));
        const chunk = new Uint8Array(READ_ENTRIES * ENTRY_BYTES);
        for (let partition = 0; partition < PARTITIONS; partition++) {
          const file = this.#files[partition];
          for (let at = 0, read = 1; file !== undefined && read > 0; at += read) {
            read = readSync(file, chunk, 0, chunk.length, at);
            writeWhole(index, chunk.subarray(0, read));
          }
          writeWhole(index, this.#entriesIn(partition));
        }
        if (this.#isDurable) fsyncSync(index);
      } finally {
        closeSync(index);
      }
    } catch (error) {
      throw error instanceof Fault ? error : writeFault(path, error);
    }
    await this.#close();
  }

  /** Removes what was written. */
  async abort(): Promise<void> {
    this.#known.drop();
    await this.#log.drop();
    await this.#close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #close(): Promise<void> {
    closeSync(this.#descriptor);
    for (const [partition, file] of this.#files.entries()) {
      if (file === undefined) continue;
      closeSync(file);
      await rm(join(this.#directory, `${INDEX}-${partition}`), { force: true });
    }
  }
}

function writeWhole(descriptor: number, bytes: Uint8Array): void {
  for (let from = 0; from < bytes.length; ) from += writeSync(descriptor, bytes, from);
}

/** A graph as it is compared. */
export type Graph = Pick<GraphLogReader, 'count' | 'entries' | 'block' | 'text'>;

/** Reads a graph that `GraphLogWriter` has written. The caller closes it. */
export class GraphLogReader {
  readonly #directory: string;
  readonly #log: number;
  readonly #index: number;
  readonly #counts: Float64Array;
  /** Number of entries before each partition. */
  readonly #starts: readonly number[];
  #buffer = Buffer.allocUnsafe(1 << 16);
  /** The log, if it is short. undefined: it is not read yet. */
  #short: Buffer | undefined;
  readonly #isShort: boolean;

  /** @throws Fault source/unreadable — a file is missing or cut off */
  constructor(directory: string) {
    this.#directory = directory;
    this.#log = this.#tried(() => openSync(join(directory, LOG), 'r'));
    this.#index = this.#tried(() => openSync(join(directory, INDEX), 'r'));
    this.#isShort = this.#tried(() => fstatSync(this.#log).size) <= SHORT_BYTES;
    const header = new Uint8Array(HEADER_BYTES);
    this.#read(this.#index, header, HEADER_BYTES, 0);
    this.#counts = new Float64Array(header.buffer);
    const starts: number[] = [];
    let sum = 0;
    for (const count of this.#counts) {
      starts.push(sum);
      sum += count;
    }
    this.#starts = starts;
  }

  /** Number of entries of a partition. */
  count(partition: number): number {
    return this.#counts[partition] as number;
  }

  /** The entries of a partition in pieces, `ENTRY_WORDS` words each. A piece is valid until the next one is asked for. */
  *entries(partition: number): Generator<Uint32Array> {
    const piece = new Uint32Array(Math.min(READ_ENTRIES, this.count(partition)) * ENTRY_WORDS);
    const from = HEADER_BYTES + (this.#starts[partition] as number) * ENTRY_BYTES;
    for (let at = 0; at < this.count(partition); at += READ_ENTRIES) {
      const entries = Math.min(READ_ENTRIES, this.count(partition) - at);
      this.#read(this.#index, new Uint8Array(piece.buffer), entries * ENTRY_BYTES, from + at * ENTRY_BYTES);
      yield piece.subarray(0, entries * ENTRY_WORDS);
    }
  }

  /** The text of the block whose entry begins at `at` of `entries`. */
  block(entries: Uint32Array, at: number): string {
    const length = entries[at + 7] as number;
    const from = (entries[at + 5] as number) + (entries[at + 6] as number) * WORD;
    if (this.#isShort) {
      this.#short ??= this.#tried(() => readFileSync(join(this.#directory, LOG)));
      if (this.#short.length < from + length) throw this.#unreadable('a file is cut off');
      return this.#short.toString('latin1', from, from + length);
    }
    if (this.#buffer.length < length) this.#buffer = Buffer.allocUnsafe(length);
    this.#read(this.#log, this.#buffer, length, from);
    return this.#buffer.toString('latin1', 0, length);
  }

  /** The text of all blocks, in pieces of complete lines. A statement may come several times. */
  *text(): Generator<string> {
    const chunk = Buffer.allocUnsafe(1 << 20);
    let rest = '';
    for (let at = 0; ; ) {
      const bytes = this.#tried(() => readSync(this.#log, chunk, 0, chunk.length, at));
      if (bytes === 0) return;
      at += bytes;
      const text = rest + chunk.toString('latin1', 0, bytes);
      const end = text.lastIndexOf('\n') + 1;
      rest = text.slice(end);
      if (end > 0) yield text.slice(0, end);
    }
  }

  close(): void {
    closeSync(this.#log);
    closeSync(this.#index);
  }

  #read(descriptor: number, to: Uint8Array, length: number, position: number): void {
    for (let read = 0; read < length; ) {
      const bytes = this.#tried(() => readSync(descriptor, to, read, length - read, position + read));
      if (bytes === 0) throw this.#unreadable('a file is cut off');
      read += bytes;
    }
  }

  #tried<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw this.#unreadable((error as Error).message, error);
    }
  }

  #unreadable(reason: string, cause?: unknown): Fault {
    return new Fault('source/unreadable', `The kept graph in ${this.#directory} cannot be read: ${reason}`, { cause });
  }
}

/** Several graphs as one. The caller closes them. */
export class GraphUnion implements Graph {
  readonly #graphs: readonly GraphLogReader[];

  constructor(graphs: readonly GraphLogReader[]) {
    this.#graphs = graphs;
  }

  count(partition: number): number {
    return this.#graphs.reduce((sum, graph) => sum + graph.count(partition), 0);
  }

  /** The high bits of a position, which no file reaches, have the number of the graph. */
  *entries(partition: number): Generator<Uint32Array> {
    for (const [number, graph] of this.#graphs.entries()) {
      for (const piece of graph.entries(partition)) {
        for (let at = 6; at < piece.length; at += ENTRY_WORDS) piece[at] = (piece[at] as number) + number * GRAPH_UNIT;
        yield piece;
      }
    }
  }

  block(entries: Uint32Array, at: number): string {
    const entry = entries.slice(at, at + ENTRY_WORDS);
    const number = Math.floor((entry[6] as number) / GRAPH_UNIT);
    entry[6] = (entry[6] as number) % GRAPH_UNIT;
    return (this.#graphs[number] as GraphLogReader).block(entry, 0);
  }

  *text(): Generator<string> {
    for (const graph of this.#graphs) yield* graph.text();
  }
}
