/**
 * Cuts the records of a document into chunks at places that their content chooses, so that a record that comes or goes changes the chunk around it
 * and no other one.
 */
import { Fault } from '../../../core/fault.ts';
import type { Borders } from '../../../sources/cuts.ts';

/** Sizes in bytes. A chunk ends with a record, so it may be larger. */
export interface ChunkSizes {
  readonly least: number;
  /** About so many follow the least ones. */
  readonly usual: number;
  readonly most: number;
}

/** What may come next: the chunks of the version before, in their order. */
export interface Expected {
  /** Bytes of the next one; 0: none is expected. */
  length(): number;
  /** Whether the bytes from `from` on are the next one. Then it is taken, and another one is expected. */
  take(text: Buffer, from: number): boolean;
}

/** Of about this many chunks a list fits in little memory. */
const MANY_CHUNKS = 2 ** 20;
const LEAST_BYTES = 512;
const MOST_BYTES = 2 ** 16;
/** A border is chosen by so many bytes before it. */
const WINDOW = 48;

/** @param bytes of the document */
export function sizesFor(bytes: number): ChunkSizes {
  const least = Math.min(MOST_BYTES / 2, Math.max(LEAST_BYTES, 2 ** Math.ceil(Math.log2(bytes / MANY_CHUNKS / 2 + 1))));
  return { least, usual: least, most: least * 8 };
}

/**
 * The records as chunks, but for those that are taken as expected.
 *
 * **Claim.** What is taken consists of records. **Proof.** The bytes from the beginning of a record on decide where it ends, and where the next one begins. A
 * chunk begins with a record, here as in the version before; it had the same bytes there, and ended with a record. The last chunk of a
 * document, which may end within a record, is not expected (`RecordDraft.expected`).
 *
 * @param bytes of the document behind its head
 * @throws Fault limit/exceeded — a record is longer than `maxRecordBytes`
 */
export async function* chunksOf(
  bytes: AsyncIterable<Uint8Array>,
  { escape, endOf }: Borders,
  sizes: ChunkSizes,
  maxRecordBytes: number,
  expected?: Expected,
): AsyncGenerator<Buffer> {
  const { least } = sizes;
  let text: Buffer = Buffer.alloc(0);
  for await (const piece of ended(bytes)) {
    if (piece !== undefined) text = Buffer.concat([text, piece]);
    let start = 0;
    let next = -1;
    for (let at = 0; at < text.length; ) {
      if (at === start && expected !== undefined && piece !== undefined) {
        const length = expected.length();
        if (length > text.length - at) break;
        if (length > 0 && expected.take(text, at)) {
          at += length;
          start = at;
          continue;
        }
      }
      if (next < at) next = escapeFrom(text, escape, at);
      // Without the escape, each line feed is the end of a record: those before the least size need not be found.
      const isSkipped = at === start && next >= start + least;
      const from = isSkipped ? Math.min(text.length, start + least - 1) : at;
      const end = endOf(text, from, next);
      if (end < 0) {
        if (text.length - from > maxRecordBytes) throw tooLong(maxRecordBytes);
        break;
      }
      if (isBorder(text, end, end - start, isSkipped ? 0 : end - at, sizes)) {
        yield text.subarray(start, end);
        start = end;
      }
      at = end;
    }
    text = text.subarray(start);
  }
  if (text.length > 0) yield text;
}

/** Pieces, and undefined behind the last one. */
async function* ended<T>(pieces: AsyncIterable<T>): AsyncGenerator<T | undefined> {
  yield* pieces;
  yield undefined;
}

function escapeFrom(text: Buffer, escape: number, from: number): number {
  const found = escape < 0 ? -1 : text.indexOf(escape, from);
  return found < 0 ? Number.POSITIVE_INFINITY : found;
}

/**
 * Whether a chunk ends with a record.
 *
 * @param end of the record in `text`
 * @param length of the chunk with it
 * @param own bytes of the record, by which borders are frequent
 */
export const isBorder = (text: Buffer, end: number, length: number, own: number, { least, usual, most }: ChunkSizes): boolean =>
  length >= most || (length >= least && (usual === 0 || isChosen(text, end, own / usual)));

/** Whether a hash of the bytes before `end` is in a share of all hashes. */
function isChosen(text: Buffer, end: number, share: number): boolean {
  let hash = 0x811c9dc5;
  for (let at = Math.max(0, end - WINDOW); at < end; at++) hash = Math.imul(hash ^ (text[at] as number), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0 < share * 2 ** 32;
}

const tooLong = (bytes: number): Fault =>
  new Fault('limit/exceeded', `A record is longer than the ${bytes} bytes that are allowed`, {
    limit: 'MAX_RECORD_BYTES',
    hint: 'Look for a quote that is not closed, or raise MAX_RECORD_BYTES (--max-record-mb)',
  });
