/**
 * Spilling: data that does not fit in memory goes to files, partitioned by hash, and is processed one partition at a time.
 *
 * All files of a run are in one private directory that is removed with the run. Adding is synchronous and buffered; `SpillSpace.flush`
 * writes full buffers and is called once per batch.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PartitionedFile } from '../storage/local/partitioned-file.ts';

/** Buffer size per partition; smaller once there are many files. */
const BUFFER_CHARACTERS = 1 << 16;
const LEAST_BUFFER_CHARACTERS = 1 << 11;
/** For all files of a run: the most that is added without a flush. */
const DUE_CHARACTERS = 1 << 22;

/** The name of a directory of spill files: those of one run begin alike. */
export const spillName = (runId: string, part: string): string => `quadmill-${runId}-${part}`;

/** Text in a temporary file. */
interface TextFile {
  add(text: string): Promise<void>;
  read(): AsyncIterable<string>;
  clear(): Promise<void>;
}

/** The spill files of one run. */
export class SpillSpace {
  readonly #directory: string;
  readonly #bufferCharacters: number;
  readonly #files = new Set<PartitionedFile>();
  #opened = 0;
  #waitingCharacters = 0;
  #moves: (() => Promise<void>)[] = [];
  bytes = 0;

  /** @param directory created when needed; used by nothing else */
  constructor(directory: string, bufferCharacters: number = BUFFER_CHARACTERS) {
    this.#directory = directory;
    this.#bufferCharacters = bufferCharacters;
  }

  partitioned(partitions: number): PartitionedFile {
    const buffer = Math.max(LEAST_BUFFER_CHARACTERS, this.#bufferCharacters >> (this.#files.size >> 3));
    const count = (bytes: number): void => {
      this.bytes += bytes;
    };
    const file = new PartitionedFile(join(this.#directory, String(this.#opened++)), partitions, count, buffer);
    this.#files.add(file);
    return file;
  }

  /** A single text, which a source writes and reads. */
  text(): TextFile {
    const file = this.partitioned(1);
    return {
      add: async (text) => {
        file.add(0, text);
        if (file.full) await file.flush();
      },
      read: () => file.read(0),
      clear: () => file.drop(0),
    };
  }

  /** Adds text to a partition of one of the files. */
  add(file: PartitionedFile, partition: number, text: string): void {
    file.add(partition, text);
    this.#waitingCharacters += text.length;
  }

  /** Whether enough is buffered that it should be flushed before more is added. */
  get due(): boolean {
    return this.#waitingCharacters >= DUE_CHARACTERS || this.#moves.length > 0;
  }

  /** Registers `move`, which moves data to files during the next flush and flushes on the way. */
  moveLater(move: () => Promise<void>): void {
    this.#moves.push(move);
  }

  /** Writes the full buffers. @throws Fault sink/failed */
  async flush(): Promise<void> {
    const moves = this.#moves;
    this.#moves = [];
    for (const move of moves) await move();
    this.#waitingCharacters = 0;
    for (const file of this.#files) await file.flush();
  }

  /** Removes a file of the space, which must not be used afterwards. */
  async release(file: PartitionedFile): Promise<void> {
    this.#files.delete(file);
    await file.remove();
  }

  async remove(): Promise<void> {
    for (const file of this.#files) await file.close();
    // Most runs spill nothing, and looking for what is to be removed takes several turns of the event loop.
    if (existsSync(this.#directory)) await rm(this.#directory, { recursive: true, force: true });
  }
}
