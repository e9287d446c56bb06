/**
 * Lines with tags, of any number: for each distinct line, what its tags come to.
 *
 * Lines go to files by their hash. A partition is read into memory; the lines for which there is no room are partitioned again, by other bits
 * of the hash.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { partitionOf } from '../core/hash.ts';
import { detach } from '../core/text.ts';
import { PartitionedFile } from '../storage/local/partitioned-file.ts';

const PARTITIONS = 32;
const BUFFER_CHARACTERS = 1 << 14;
const LEAST_BUDGET_BYTES = 1 << 20;
/** Of an entry of the map, without its text. */
const ENTRY_BYTES = 100;
const SEED = 0x2f6e2b1;

/** What the tags of a line come to: from 0, by the tags in the order in which they were added. */
export type Fold = (state: number, tag: number) => number;

export type FoldedLine = readonly [line: string, state: number];

export class TaggedLines {
  readonly #directory: string;
  readonly #budgetBytes: number;
  readonly #depth: number;
  readonly #file: PartitionedFile;

  /**
   * @param directory for temporary files; created when needed, used by nothing else, and removed by `remove`
   * @param budgetBytes memory of a partition while it is read
   */
  constructor(directory: string, budgetBytes: number, depth = 0) {
    this.#directory = directory;
    this.#budgetBytes = Math.max(budgetBytes, LEAST_BUDGET_BYTES);
    this.#depth = depth;
    this.#file = new PartitionedFile(join(directory, String(depth)), PARTITIONS, () => undefined, BUFFER_CHARACTERS);
  }

  /**
   * Adds complete lines.
   *
   * @param tag from 0 to 9
   * @throws Fault sink/failed
   */
  async add(lines: string, tag: number): Promise<void> {
    for (let at = 0; at < lines.length; ) {
      const end = lines.indexOf('\n', at) + 1;
      this.#put(lines.slice(at, end), tag);
      at = end;
    }
    await this.flush();
  }

  /** Writes full buffers. @throws Fault sink/failed */
  async flush(): Promise<void> {
    if (this.#file.full) await this.#file.flush();
  }

  #put(line: string, tag: number): void {
    const partition = partitionOf(line, SEED + Math.imul(this.#depth, 0x9e3779b1), PARTITIONS);
    this.#file.add(partition, detach(`${tag}${line}`));
  }

  /** Every distinct line with its state, in batches. What was added is gone afterwards. @throws Fault sink/failed */
  async *drain(fold: Fold): AsyncGenerator<readonly FoldedLine[]> {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      if (this.#file.isEmpty(partition)) continue;
      const states = new Map<string, number>();
      let bytes = 0;
      let overflow: TaggedLines | undefined;
      let rest = '';
      for await (const piece of this.#file.read(partition)) {
        const text = rest + piece;
        let at = 0;
        for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
          const tag = text.charCodeAt(at) - ZERO;
          const line = text.slice(at + 1, end + 1);
          const state = states.get(line);
          if (state !== undefined) states.set(line, fold(state, tag));
          else if (bytes < this.#budgetBytes) {
            states.set(detach(line), fold(0, tag));
            bytes += line.length + ENTRY_BYTES;
          } else {
            // A line that is not in the map goes there each time: its tags stay in order.
            overflow ??= new TaggedLines(this.#directory, this.#budgetBytes, this.#depth + 1);
            overflow.#put(line, tag);
          }
          at = end + 1;
        }
        rest = text.slice(at);
        await overflow?.flush();
      }
      await this.#file.drop(partition);
      yield [...states];
      states.clear();
      if (overflow === undefined) continue;
      yield* overflow.drain(fold);
      await overflow.#file.remove();
    }
  }

  /** Removes the files. */
  async remove(): Promise<void> {
    await this.#file.remove();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

const ZERO = 48;
