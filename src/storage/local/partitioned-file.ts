/** Text that does not fit in memory, in one file per partition. */

import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { makeDirectory } from './directory.ts';

const BUFFER_CHARACTERS = 1 << 16;
const READ_BYTES = 1 << 18;

/** Appends one-byte text to one of several partitions, and reads each back. A partition that never fills a buffer never becomes a file. */
export class PartitionedFile {
  full = false;
  readonly #directory: string;
  readonly #count: (bytes: number) => void;
  readonly #bufferCharacters: number;
  /** As bytes: text would be copied twice more, and the slices of larger texts that it consists of keep these alive. */
  readonly #buffers: Buffer[];
  /** Bytes in the buffers. */
  readonly #buffered: number[];
  /** What was added since the last flush. */
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
    this.#buffers = new Array(partitions).fill(EMPTY);
    this.#buffered = new Array(partitions).fill(0);
    this.#added = new Array(partitions).fill('');
    this.#files = new Array(partitions).fill(undefined);
  }

  add(partition: number, text: string): void {
    const added = (this.#added[partition] as string) + text;
    this.#added[partition] = added;
    this.#isFlushed = false;
    if ((this.#buffered[partition] as number) + added.length >= this.#bufferCharacters) this.full = true;
  }

  /** Writes the full buffers; to be called once for each batch. @throws Fault sink/failed */
  async flush(): Promise<void> {
    if (this.#isFlushed) return;
    this.full = false;
    this.#isFlushed = true;
    for (let partition = 0; partition < this.#buffers.length; partition++) {
      if (this.#buffer(partition) >= this.#bufferCharacters) await this.#write(partition);
    }
  }

  /** Everything that was added to a partition, in pieces of any size. @throws Fault sink/failed */
  async *read(partition: number): AsyncIterable<string> {
    const buffered = this.#buffer(partition);
    const file = this.#files[partition];
    if (file === undefined) {
      if (buffered > 0) yield (this.#buffers[partition] as Buffer).toString('latin1', 0, buffered);
      return;
    }
    if (buffered > 0) await this.#write(partition);
    const bytes = Buffer.allocUnsafe(READ_BYTES);
    for (let at = 0; ; ) {
      const length = await this.#readInto(bytes, file, at);
      if (length === 0) return;
      at += length;
      yield bytes.toString('latin1', 0, length);
    }
  }

  /** Removes the content of a partition; call it after the last read. */
  async drop(partition: number): Promise<void> {
    this.#buffers[partition] = EMPTY;
    this.#buffered[partition] = 0;
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

  /** Moves to the buffer of a partition what was added. Returns the bytes in it. */
  #buffer(partition: number): number {
    const added = this.#added[partition] as string;
    const before = this.#buffered[partition] as number;
    const length = before + added.length;
    if (added === '') return length;
    this.#added[partition] = '';
    let buffer = this.#buffers[partition] as Buffer;
    if (buffer.length < length) {
      // Small where little is added, and then what one flush more may take.
      buffer = Buffer.allocUnsafeSlow(buffer === EMPTY ? length : length + this.#bufferCharacters);
      (this.#buffers[partition] as Buffer).copy(buffer, 0, 0, before);
      this.#buffers[partition] = buffer;
    }
    buffer.write(added, before, 'latin1');
    this.#buffered[partition] = length;
    return length;
  }

  #path(partition: number): string {
    return join(this.#directory, String(partition));
  }

  async #readInto(bytes: Buffer, file: FileHandle, at: number): Promise<number> {
    try {
      return (await file.read(bytes, 0, bytes.length, at)).bytesRead;
    } catch (cause) {
      throw new Fault('sink/failed', `The spill directory ${this.#directory} cannot be read: ${(cause as Error).message}`, { cause });
    }
  }

  async #write(partition: number): Promise<void> {
    const buffer = this.#buffers[partition] as Buffer;
    const length = this.#buffered[partition] as number;
    try {
      let file = this.#files[partition];
      if (file === undefined) {
        makeDirectory(this.#directory, 0o700);
        file = await open(this.#path(partition), 'w+', 0o600);
        this.#files[partition] = file;
      }
      await file.appendFile(buffer.subarray(0, length));
    } catch (cause) {
      throw new Fault('sink/failed', `The spill directory ${this.#directory} cannot be written: ${(cause as Error).message}`, {
        cause,
        hint: 'Free some disk space, or give the run more memory.',
      });
    }
    this.#buffered[partition] = 0;
    // One for a large text is not kept.
    if (buffer.length > 4 * this.#bufferCharacters) this.#buffers[partition] = EMPTY;
    this.#count(length);
  }
}

const EMPTY = Buffer.alloc(0);
