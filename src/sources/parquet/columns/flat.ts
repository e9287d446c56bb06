/** A column with one value a row, or none: also a member of structs. */
import { BrokenParquet } from '../file/thrift.ts';
import type { ChunkPages, DataPage } from '../pages/chunk.ts';

export class FlatColumn<T> {
  /** Rows whose values have been loaded and not yet taken. */
  available = 0;
  readonly #definition: number;
  #pages: ChunkPages<T> | undefined;
  #page: DataPage<T> | undefined;
  #levels = new Uint32Array(0);

  /** @param definition maximum level */
  constructor(definition: number) {
    this.#definition = definition;
  }

  start(pages: ChunkPages<T>): void {
    this.#pages = pages;
    this.#page = undefined;
    this.available = 0;
  }

  /** Loads a page, if no row is available. */
  async load(): Promise<void> {
    if (this.available > 0) return;
    this.#page = undefined;
    this.#page = await this.#pages?.next();
    this.available = this.#page?.count ?? 0;
  }

  /** The next values; null where there is none. */
  take(count: number): unknown[] {
    const { definitions, values } = this.#page as DataPage<T>;
    const taken: unknown[] = new Array(count);
    this.available -= count;
    const max = this.#definition;
    if (definitions === undefined) {
      values.read(taken as T[], count);
      return taken;
    }
    if (count > this.#levels.length) this.#levels = new Uint32Array(count);
    const levels = this.#levels;
    definitions.read(levels, count);
    let present = 0;
    for (let i = 0; i < count; i++)
      if (levels[i] === max) present++;
      else if ((levels[i] as number) > max) throw new BrokenParquet('a page has levels that its column does not have');
    if (present > 0) values.read(taken as T[], present);
    // From the end, so that nothing is overwritten that still has to move.
    if (present < count) for (let i = count - 1, next = present - 1; i >= 0; i--) taken[i] = levels[i] === max ? taken[next--] : null;
    return taken;
  }

  /** @throws BrokenParquet — there are more values than rows */
  async end(): Promise<void> {
    await this.load();
    if (this.available > 0) throw new BrokenParquet('a column has more values than its row group has rows');
  }
}
