/** Looks at the first bytes of a document before they are read. */
import { TimeOver } from './beginning.ts';

/** Enough for some rows. */
const HEAD_BYTES = 16 * 1024;
const CANDIDATES = [',', ';', '\t', '|'] as const;
const LINES = 10;

/** Bytes of which the beginning is looked at first. */
export class PeekedBytes {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #seen: Uint8Array[] = [];
  #isOver: TimeOver | undefined;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#chunks = bytes[Symbol.asyncIterator]();
  }

  /** The first bytes, as one-byte text. */
  async head(): Promise<string> {
    let bytes = this.#seen.reduce((sum, chunk) => sum + chunk.length, 0);
    while (bytes < HEAD_BYTES) {
      const next = await this.#chunks.next().catch((error: unknown) => {
        if (!(error instanceof TimeOver) || bytes === 0) throw error;
        // It is thrown where the bytes that have come are read to their end.
        this.#isOver = error;
      });
      if (next === undefined || next.done === true) break;
      this.#seen.push(next.value);
      bytes += next.value.length;
    }
    return Buffer.concat(this.#seen).subarray(0, HEAD_BYTES).toString('latin1');
  }

  async *all(): AsyncGenerator<Uint8Array> {
    try {
      while (this.#seen.length > 0) yield this.#seen.shift() as Uint8Array;
      if (this.#isOver !== undefined) throw this.#isOver;
      for (let next = await this.#chunks.next(); next.done !== true; next = await this.#chunks.next()) yield next.value;
    } finally {
      await this.#chunks.return?.();
    }
  }
}

/** The delimiter of which the first rows have equal numbers, more than none; of several, that with most. A comma, if none has. */
export function delimiterOfHead(head: string): string {
  const rows = rowsOf(head.replace(/\0/g, '')).slice(0, LINES);
  const scores = CANDIDATES.map((delimiter) => {
    const counts = rows.map((row) => row.split(delimiter).length - 1);
    const [first = 0] = counts;
    return first > 0 && counts.every((count) => count === first) ? first : 0;
  });
  const best = scores.indexOf(Math.max(...scores));
  if ((scores[best] as number) > 0) return CANDIDATES[best] as string;
  const header = rows[0] ?? '';
  return CANDIDATES.find((delimiter) => header.includes(delimiter)) ?? ',';
}

/**
 * Rows above the header, such as a title: they have one cell, and at least two rows behind them have equal numbers of cells, more than one.
 * undefined: there are none.
 */
export function titleOfHead(head: string): { readonly rows: number; readonly delimiter: string } | undefined {
  const rows = linesOf(head.replace(/\0/g, ''))
    .flatMap((text, line) => (text === '' ? [] : [{ text, line }]))
    .slice(0, LINES);
  for (const delimiter of CANDIDATES) {
    const counts = rows.map(({ text }) => text.split(delimiter).length - 1);
    const first = counts.findIndex((count) => count > 0);
    if (first > 0 && first < counts.length - 1 && counts.every((count, at) => count === (at < first ? 0 : counts[first])))
      return { rows: rows[first]?.line ?? 0, delimiter };
  }
  return undefined;
}

const QUOTED_CELL = '"[^"]*(?:""[^"]*)*"';
const HEADER_IN_QUOTES = new RegExp(`^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\r\n]*(?:${QUOTED_CELL}\t)*${QUOTED_CELL}(?:[\r\n]|$)`);

/** The quote of tab-separated text whose header stands in quotes; undefined: not all of it does. */
export const quoteOfTabbed = (head: string): string | undefined => (HEADER_IN_QUOTES.test(head.replace(/\0/g, '')) ? '"' : undefined);

/** Complete rows, without what is in quotes. */
const rowsOf = (head: string): readonly string[] => linesOf(head).filter((row) => row !== '');

/** The same with blank ones, which `csvw:skipRows` counts. */
function linesOf(head: string): readonly string[] {
  const plain = head.replace(/"(?:[^"]|"")*(?:"|$)/g, '');
  const rows = plain.split(/\r\n|\r|\n/);
  return rows.length > 1 ? rows.slice(0, -1) : rows;
}
