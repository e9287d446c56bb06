/** Makes a state by record while all records are mapped. */
import type { RunHooks } from '../../run/request.ts';
import type { ChunkSizes } from './chunks.ts';
import { documentOf, type NumberedChunk, type RecordInput } from './inputs.ts';
import { RecordDraft, type RecordsInfo } from './state.ts';

/** The caller ends it with `finish` or `abort`. */
export class Recording {
  /** Of the run that maps all records. */
  readonly hooks: Required<Pick<RunHooks, 'document' | 'subject'>>;
  readonly #inputs: readonly RecordInput[];
  readonly #draft: RecordDraft;
  readonly #sizes: readonly ChunkSizes[];
  /** The chunks of the records that are mapped. */
  #current: readonly number[] = [];

  /** @param sizes undefined: by the sizes of the documents @throws Fault sink/failed */
  constructor(inputs: readonly RecordInput[], directory: string, seed: number, sizes: ChunkSizes | undefined) {
    this.#inputs = inputs;
    this.#sizes = inputs.map((input) => sizes ?? input.sizes);
    this.#draft = new RecordDraft(directory, seed);
    const { subjects } = this.#draft;
    this.hooks = {
      document: (scan) => {
        const take = (chunks: readonly number[]): void => {
          this.#current = chunks;
        };
        return documentOf(inputs[scan] as RecordInput, this.#chunks(scan), take);
      },
      subject: (token) => {
        for (const chunk of this.#current) subjects.add(token, chunk);
      },
    };
  }

  async *#chunks(scan: number): AsyncGenerator<NumberedChunk> {
    const chunks = (this.#inputs[scan] as RecordInput).chunks(this.#sizes[scan] as ChunkSizes);
    for await (const text of chunks) yield [this.#draft.add(scan, text).chunk, text];
  }

  /** @throws Fault sink/failed */
  async finish(): Promise<RecordsInfo> {
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
