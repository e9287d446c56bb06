/** What a connection has received and the reader of a feed has not taken yet. */
import { atMost } from '../../core/abort.ts';

/** Then the socket is paused, and the server waits. */
const HELD_BYTES = 2 ** 20;

export class Backlog<T> {
  readonly #socket: { pause(): void; resume(): void };
  #items: T[] = [];
  #bytes = 0;
  #paused = false;
  #ended: { readonly error: unknown } | undefined;
  #wake: () => void = () => {};

  constructor(socket: { pause(): void; resume(): void }) {
    this.#socket = socket;
  }

  get isPaused(): boolean {
    return this.#paused;
  }

  get error(): unknown {
    return this.#ended?.error;
  }

  /** @param bytes that the item holds */
  add(item: T, bytes: number): void {
    this.#items.push(item);
    this.#bytes += bytes;
    this.#wake();
    if (this.#bytes < HELD_BYTES || this.#paused) return;
    this.#paused = true;
    this.#socket.pause();
  }

  /** No item follows. Those that are there can be taken, then `take` throws the error. */
  end(error: unknown): void {
    this.#ended ??= { error };
    this.#wake();
  }

  /** The items, in order; none: there was none within `waitMs`. Throws the error of `end`. */
  async take(waitMs: number): Promise<readonly T[]> {
    if (this.#items.length === 0 && this.#ended === undefined) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      if (this.#paused) this.#socket.resume();
      this.#paused = false;
      await atMost(waitMs, woken);
    }
    if (this.#items.length === 0 && this.#ended !== undefined) throw this.#ended.error;
    const items = this.#items;
    this.#items = [];
    this.#bytes = 0;
    return items;
  }
}
