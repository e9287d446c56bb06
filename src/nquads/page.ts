/** Statements in pages, for people who look at them. */
import { fromBytes, toBytes } from '../core/text.ts';
import { subjectAt } from './terms.ts';

export interface PageRequest {
  /** How many statements are passed over: of those that are meant. */
  readonly offset: number;
  /** How many statements at most. */
  readonly limit: number;
  /** Only statements whose subject, as N-Quads, has this text. */
  readonly subject: string | undefined;
}

export interface StatementPage {
  /** N-Quads without the ends of the lines, in the order of the file. */
  readonly statements: readonly string[];
  /** `offset` of the next page; undefined: there are no more. */
  readonly next: number | undefined;
}

/** A page with so much text ends, whatever its limit. */
const PAGE_CHARACTERS = 2 ** 20;

/**
 * Reads from the beginning up to the first statement behind the page. Memory: the page, and a piece of the file.
 *
 * @param pieces complete lines in one-byte text
 * @throws the reason of the signal
 */
export async function pageOf(
  pieces: AsyncIterable<string>,
  { offset, limit, subject }: PageRequest,
  signal?: AbortSignal,
): Promise<StatementPage> {
  const wanted = subject === undefined ? undefined : toBytes(subject);
  const statements: string[] = [];
  let characters = 0;
  let passed = 0;
  for await (const lines of pieces) {
    signal?.throwIfAborted();
    for (let at = 0; at < lines.length; ) {
      const end = lines.indexOf('\n', at);
      const from = at;
      at = end + 1;
      if (wanted !== undefined && !subjectAt(lines, from).includes(wanted)) continue;
      if (passed++ < offset) continue;
      if (statements.length >= limit || characters >= PAGE_CHARACTERS) return { statements, next: offset + statements.length };
      statements.push(fromBytes(lines.slice(from, end)));
      characters += end - from;
    }
  }
  return { statements, next: undefined };
}
