/** Text that does not fit in memory, in one file per partition. */

import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { detach } from '../../core/text.ts';
import { makeDirectory } from './directory.ts';

const BUFFER_CHARACTERS = 1 << 16;

/** Appends one-byte text to one of several partitions, and reads each back. A partition that never fills a buffer never becomes a file. */
export class PartitionedFile {
  full = false;
  readonly #directory: string;
  readonly #count: (bytes: number) => void;
  readonly #bufferCharacters: number;
  readonly #buffers: string[];
  /** What was added since the last flush. It may consist of slices of larger texts, and is copied so that it does not keep these alive. */
  readonly #added: string[];
  #isFlushed = true;
  readonly #files: (FileHandle | undefined)[];

  /**
   * @param directory created with the first file; used by nothing else
   * @param count called with the number of bytes written
   * @param bufferCharacters buffer size per partition
   */
  constructor(directory: string, partitions: number, count: (bytes: number) => void, bufferCharacters = BUFFER_CHARACTERS) {
    this.#directory = directory;
    this.#count = count;
    this.#bufferCharacters = bufferCharacters;
    this.#buffers = new Array(partitions).fill('');
    this.#added = new Array(partitions).fill('');
    this.#files = new Array(partitions).fill(undefined);
  }

  add(partition: number, text: string): void {
    const added = (this.#added[partition] as string) + text;
    this.#added[partition] = added;
    this.#isFlushed = false;
    if ((this.#buffers[partition] as string).length + added.length >= this.#bufferCharacters) this.full = true;
  }

  /** Writes the full buffers; to be called once for each batch. @throws Fault sink/failed */
  async flush(): Promise<void> {
    if (this.#isFlushed) return;
    this.full = false;
    this.#isFlushed = true;
    for (let partition = 0; partition < this.#buffers.length; partition++) {
      if (this.#bufferOf(partition).length >= this.#bufferCharacters) await this.#write(partition);
    }
  }

  /** Everything that was added to a partition, in pieces of any size. @throws Fault sink/failed */
  async *read(partition: number): AsyncIterable<string> {
    const buffer = this.#bufferOf(partition);
    if (this.#files[partition] === undefined) {
      if (buffer !== '') yield buffer;
      return;
    }
    if (buffer !== '') await this.#write(partition);
    try {
      yield* createReadStream(this.#path(partition), { encoding: 'latin1', highWaterMark: 1 << 18 });
    } catch (cause) {
      throw new Fault('sink/failed', `The spill directory ${this.#directory} cannot be read: ${(cause as Error).message}`, { cause });
    }
  }

  /** Removes the content of a partition; call it after the last read. */
  async drop(partition: number): Promise<void> {
    this.#buffers[partition] = '';
    this.#added[partition] = '';
    const file = this.#files[partition];
    if (file === undefined) return;
    this.#files[partition] = undefined;
    await file.close();
    await rm(this.#path(partition), { force: true });
  }

  async close(): Promise<void> {
    for (const file of this.#files) await file?.close();
    this.#files.fill(undefined);
  }

  /** Closes the files and removes them with their directory. */
  async remove(): Promise<void> {
    await this.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** The whole buffer of a partition. */
  #bufferOf(partition: number): string {
    const added = this.#added[partition] as string;
    if (added === '') return this.#buffers[partition] as string;
    this.#added[partition] = '';
    this.#buffers[partition] += detach(added);
    return this.#buffers[partition] as string;
  }

  #path(partition: number): string {
    return join(this.#directory, String(partition));
  }

  async #write(partition: number): Promise<void> {
    const text = this.#buffers[partition] as string;
    try {
      let file = this.#files[partition];
      if (file === undefined) {
        makeDirectory(this.#directory, 0o700);
        file = await open(this.#path(partition), 'w', 0o600);
        this.#files[partition] = file;
      }
      await file.appendFile(text, 'latin1');
    } catch (cause) {
      throw new Fault('sink/failed', `The spill directory ${this.#directory} cannot be written: ${(cause as Error).message}`, {
        cause,
        hint: 'Free some disk space, or give the run more memory.',
      });
    }
    this.#buffers[partition] = '';
    this.#count(text.length);
  }
}
