/** The offsets of a session's time zone from UTC, as the server has them. */
import type { Query } from './tables.ts';

/** Offsets change at quarters of an hour. */
const BLOCK_SECONDS = 900;
const MOST_BLOCKS = 100_000;
/** In one query. */
const MOST_ASKED = 200;

export class ZoneOffsets {
  readonly #query: Query;
  readonly #blocks = new Map<number, number>();
  /** Of a zone that is an offset, in seconds. */
  #fixed: number | undefined;

  constructor(query: Query) {
    this.#query = query;
  }

  /** @param zone as the session has it: `+02:00`, `SYSTEM`, `Europe/Berlin` */
  set(zone: string): void {
    const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(zone) ?? [];
    this.#fixed = sign === undefined ? undefined : (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60);
    this.#blocks.clear();
  }

  get isFixed(): boolean {
    return this.#fixed !== undefined;
  }

  /** Asks the server for the offsets at instants, in seconds since 1970, that are not known yet. */
  async load(instants: Iterable<number>): Promise<void> {
    if (this.isFixed) return;
    if (this.#blocks.size > MOST_BLOCKS) this.#blocks.clear();
    const missing = [...new Set([...instants].map((seconds) => Math.floor(seconds / BLOCK_SECONDS)))].filter(
      (block) => !this.#blocks.has(block),
    );
    for (let i = 0; i < missing.length; i += MOST_ASKED) {
      const asked = missing.slice(i, i + MOST_ASKED);
      const terms = asked.map((block) => {
        const seconds = Math.max(1, block * BLOCK_SECONDS);
        return `TIMESTAMPDIFF(SECOND, '1970-01-01 00:00:00', FROM_UNIXTIME(${seconds})) - ${seconds} AS b${block}`;
      });
      const [row] = await this.#query(`SELECT ${terms.join(', ')}`);
      for (const block of asked) this.#blocks.set(block, Number(row?.[`b${block}`] ?? 0));
    }
  }

  readonly at = (seconds: number): number => this.#fixed ?? this.#blocks.get(Math.floor(seconds / BLOCK_SECONDS)) ?? 0;
}
