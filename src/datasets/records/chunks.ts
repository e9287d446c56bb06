/**
 * Cuts the records of a document into chunks at places that their content chooses, so that a record that comes or goes changes the chunk around it
 * and no other one.
 */
import { Fault } from '../../core/fault.ts';
import type { Borders } from '../../sources/cuts.ts';

/** Sizes in bytes. A chunk ends with a record, so it may be larger. */
export interface ChunkSizes {
  readonly least: number;
  /** About so many follow the least ones. */
  readonly usual: number;
  readonly most: number;
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
 * The records as chunks.
 *
 * @param bytes of the document behind its head
 * @throws Fault limit/exceeded — a record is longer than `maxRecordBytes`
 */
export async function* chunksOf(
  bytes: AsyncIterable<Uint8Array>,
  { escape, endOf }: Borders,
  { least, usual, most }: ChunkSizes,
  maxRecordBytes: number,
): AsyncGenerator<Buffer> {
  let text: Buffer = Buffer.alloc(0);
  for await (const piece of bytes) {
    text = Buffer.concat([text, piece]);
    let start = 0;
    let next = escapeFrom(text, escape, 0);
    for (let at = 0; at < text.length; ) {
      // Without the escape, each line feed is the end of a record: those before the least size need not be found.
      const isSkipped = at === start && next >= start + least;
      const from = isSkipped ? Math.min(text.length, start + least - 1) : at;
      if (next < from) next = escapeFrom(text, escape, from);
      const end = endOf(text, from, next);
      if (end < 0) {
        if (text.length - from > maxRecordBytes) throw tooLong(maxRecordBytes);
        break;
      }
      const length = end - start;
      if (length >= most || (length >= least && (usual === 0 || (!isSkipped && isChosen(text, end, (end - at) / usual))))) {
        yield text.subarray(start, end);
        start = end;
      }
      at = end;
    }
    text = text.subarray(start);
  }
  if (text.length > 0) yield text;
}

function escapeFrom(text: Buffer, escape: number, from: number): number {
  const found = escape < 0 ? -1 : text.indexOf(escape, from);
  return found < 0 ? Number.POSITIVE_INFINITY : found;
}

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
