/** Makes a state by record while all records are mapped. */
import type { Plan } from '../../../plan/plan.ts';
import type { RunHooks } from '../../../run/request.ts';
import { JoinSides } from '../joins.ts';
import { bitsOfKey, Tracing } from '../tracing.ts';
import { type ChunkSizes, sizesFor } from './chunks.ts';
import type { RecordInput } from './input.ts';
import { hooksOf } from './inputs.ts';
import { RecordDraft, type RecordsInfo } from './state.ts';

/** The caller ends it with `finish` or `abort`. */
export class Recording {
  /** Of the run that maps all records. */
  readonly hooks: Pick<RunHooks, 'document' | 'scan' | 'subject' | 'trace'>;
  readonly #inputs: readonly RecordInput[];
  readonly #draft: RecordDraft;
  readonly #sizes: readonly ChunkSizes[];
  /** Some value cannot be read: what reads it is rejected. Or equal records have blank nodes. */
  #isLossy = false;

  /** @param sizes undefined: by the sizes of the documents @throws Fault sink/failed */
  constructor(plan: Plan, inputs: readonly RecordInput[], directory: string, seed: number, sizes: ChunkSizes | undefined) {
    this.#inputs = inputs;
    this.#sizes = inputs.map((input) => sizes ?? sizesFor(input.sizeBytes ?? 0));
    this.#draft = new RecordDraft(directory, seed);
    const { subjects, keys } = this.#draft;
    const { hooks, took } = new Tracing(new JoinSides(plan), seed, {
      subject: (bits, chunk) => subjects.add(bits, chunk),
      isRoot: () => true,
      repeated: () => {
        this.#isLossy = true;
      },
      key: (key, side, chunk) => keys.add(bitsOfKey(key, side, seed), chunk),
    });
    const replacements = inputs.map((input, scan) => {
      const add = (text: Buffer | undefined): number => {
        this.#isLossy ||= text === undefined;
        return text === undefined ? 0 : this.#draft.add(scan, text).chunk;
      };
      return input.recorded(this.#sizes[scan] as ChunkSizes, add, took);
    });
    this.hooks = { ...hooks, ...hooksOf(replacements) };
  }

  /** @returns undefined: there is none @throws Fault sink/failed */
  async finish(): Promise<RecordsInfo | undefined> {
    if (this.#isLossy) return undefined;
    (await this.#draft.finishTexts()).close();
    return this.#draft.finish(
      this.#inputs.map(({ head }) => head),
      this.#sizes,
    );
  }

  async abort(): Promise<void> {
    await this.#draft.abort();
  }
}
