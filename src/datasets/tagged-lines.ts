/** Lines with tags, of any number: for each distinct line, what its tags come to. */
import { detach } from '../core/text.ts';
import { drain, LINES, Partitions, type Pass } from '../spill/partitions.ts';
import { SpillSpace } from '../spill/space.ts';

const LEAST_BUDGET_BYTES = 1 << 20;
/** Of an entry of the map, without its text. */
const ENTRY_BYTES = 100;
const SEED = 0x2f6e2b1;
const ZERO = 48;

/** What the tags of a line come to: from 0, by the tags in the order in which they were added. */
export type Fold = (state: number, tag: number) => number;

export type FoldedLine = readonly [line: string, state: number];

export class TaggedLines {
  readonly #space: SpillSpace;
  readonly #budgetBytes: number;
  readonly #lines: Partitions<string>;

  /**
   * @param directory for temporary files; created when needed, used by nothing else, and removed by `remove`
   * @param budgetBytes memory of a partition while it is read
   */
  constructor(directory: string, budgetBytes: number) {
    this.#space = new SpillSpace(directory);
    this.#budgetBytes = Math.max(budgetBytes, LEAST_BUDGET_BYTES);
    this.#lines = new Partitions(this.#space, SEED, LINES, (entry) => entry.slice(1));
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
      this.#lines.add(`${tag}${lines.slice(at, end)}`);
      at = end;
    }
    if (this.#space.due) await this.#space.flush();
  }

  /** Every distinct line with its state, in batches. What was added is gone afterwards. @throws Fault sink/failed */
  drain(fold: Fold): AsyncGenerator<readonly FoldedLine[]> {
    const budgetBytes = this.#budgetBytes;
    const pass: Pass<[Partitions<string>], readonly FoldedLine[]> = async function* (partition, [lines]) {
      const states = new Map<string, number>();
      let bytes = 0;
      const left = lines.next();
      for await (const batch of lines.read(partition)) {
        for (const entry of batch) {
          const tag = entry.charCodeAt(0) - ZERO;
          const line = entry.slice(1);
          const state = states.get(line);
          if (state !== undefined) states.set(line, fold(state, tag));
          else if (bytes < budgetBytes) {
            states.set(detach(line), fold(0, tag));
            bytes += line.length + ENTRY_BYTES;
          }
          // A line that is not in the map goes there each time: its tags stay in order.
          else left.add(entry);
        }
        await lines.flush();
      }
      yield [...states];
      return [left];
    };
    return drain([this.#lines], pass);
  }

  /** Removes the files. */
  async remove(): Promise<void> {
    await this.#space.remove();
  }
}
