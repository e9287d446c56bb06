/**
 * What does not fit in memory: lines, partitioned by hash into files, de-duplicated one partition at a time at the end.
 *
 * A partition that does not fit either is partitioned again, by other bits. Files are private to the run and removed with it.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../fault.ts';
import { HashSet, type MemoryBudget, NEW, partitionOf, UNDECIDED } from './distinct.ts';

const PARTITIONS = 32;
const BUFFER_CHARACTERS = 1 << 16;

export class LineSpill {
  lines = 0;
  bytes = 0;
  readonly #directory: string;
  readonly #seed: number;
  readonly #buffers: string[] = new Array(PARTITIONS).fill('');
  readonly #files: (FileHandle | undefined)[] = new Array(PARTITIONS).fill(undefined);
  #full: number[] = [];

  constructor(directory: string, seed: number) {
    this.#directory = directory;
    this.#seed = seed;
  }

  /** Takes a line (with its line feed) into a buffer; `flush` must follow before much more comes. */
  add(line: string): void {
    const partition = partitionOf(line, this.#seed, PARTITIONS);
    const buffer = (this.#buffers[partition] as string) + line;
    this.#buffers[partition] = buffer;
    if (buffer.length - line.length < BUFFER_CHARACTERS && buffer.length >= BUFFER_CHARACTERS) this.#full.push(partition);
    this.lines++;
    this.bytes += line.length;
  }

  /** Writes the buffers that are full. Once a batch. @throws Fault sink/failed */
  async flush(): Promise<void> {
    const full = this.#full;
    if (full.length === 0) return;
    this.#full = [];
    for (const partition of full) await this.#write(partition);
  }

  /** Every distinct line, a batch of lines at a time. The memory of a partition's table comes from `budget`. */
  async *drain(budget: MemoryBudget): AsyncIterable<string> {
    if (this.lines === 0) return;
    for (let partition = 0; partition < PARTITIONS; partition++) {
      if (this.#buffers[partition] !== '') await this.#write(partition);
      const file = this.#files[partition];
      if (file === undefined) continue;
      await file.close();
      this.#files[partition] = undefined;
      const seen = new HashSet(budget, this.#seed ^ 0x5bd1e995);
      const overflow = new LineSpill(join(this.#directory, `${partition}.d`), (this.#seed * 31 + 7) | 0);
      for await (const lines of readLines(this.#path(partition))) {
        let fresh = '';
        for (const line of lines) {
          const verdict = seen.add(line);
          if (verdict === NEW) fresh += line;
          else if (verdict === UNDECIDED) overflow.add(line);
        }
        await overflow.flush();
        if (fresh !== '') yield fresh;
      }
      seen.drop();
      await rm(this.#path(partition), { force: true });
      yield* overflow.drain(budget);
    }
  }

  /** Closes and removes every file. */
  async remove(): Promise<void> {
    for (const file of this.#files) await file?.close();
    this.#files.fill(undefined);
    await rm(this.#directory, { recursive: true, force: true });
  }

  #path(partition: number): string {
    return join(this.#directory, String(partition));
  }

  async #write(partition: number): Promise<void> {
    try {
      let file = this.#files[partition];
      if (file === undefined) {
        await mkdir(this.#directory, { recursive: true });
        file = await open(this.#path(partition), 'w', 0o600);
        this.#files[partition] = file;
      }
      await file.appendFile(this.#buffers[partition] as string, 'latin1');
      this.#buffers[partition] = '';
    } catch (cause) {
      throw new Fault('sink/failed', `The spill directory ${this.#directory} cannot be written: ${(cause as Error).message}`, {
        cause,
        hint: 'Free some disk space, or give the run more memory.',
      });
    }
  }
}

/** The lines of a file, each with its line feed, in batches. */
async function* readLines(path: string): AsyncIterable<readonly string[]> {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'latin1', highWaterMark: 1 << 18 })) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() as string;
    yield lines.map((line) => `${line}\n`);
  }
}
