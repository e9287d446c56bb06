/** Where a document can be cut into slices, of which each is read as a document. */
import { utf8Mark } from './encoding.ts';
import type { IterationRequest, Ranges, ReadOptions } from './source.ts';

/** A document on this machine, or one whose server gives it from any offset on. */
export interface CutDocument extends Pick<Ranges, 'sizeBytes' | 'read'> {
  /** The bytes [from, to), in chunks. @param to undefined: the end */
  bytes(from: number, to?: number): AsyncIterable<Uint8Array>;
}

/** Where one slice ends and the next one begins. Texts have one byte a character. */
export interface Cut {
  /** The end of the slice before it, and the text that is put behind that. */
  readonly to: number;
  readonly behind?: string;
  /** The beginning of the slice behind it, and the text that is put before that. */
  readonly from: number;
  readonly before?: string;
  /** What stands before the slice behind it, where iterations `namesRows`. See `ByteSlice`. */
  readonly counts?: readonly number[];
}

export interface Cuts {
  /** Each slice has so many bytes of the document before its own: a header. */
  readonly head: number;
  /** Ascending. Those within the head or at the end of the document are none. */
  readonly found: AsyncIterable<Cut> | Iterable<Cut>;
}

/**
 * Finds where a document can be cut: the records of all slices are those of the document, each once and in its order.
 *
 * @param targets ascending offsets: for each, the first record at or behind it begins a slice
 * @returns undefined: the document cannot be cut. It is not UTF-8, or what is read of one record depends on others
 * @throws Fault those of the document's reader
 */
export type FindCuts<O = ReadOptions> = (
  document: CutDocument,
  iterations: readonly IterationRequest[],
  options: O,
  targets: readonly number[],
) => Promise<Cuts | undefined>;

/** Where the records of a document end. */
export interface Borders {
  /** Length of the byte order mark. */
  readonly mark: number;
  /** So many bytes, the mark among them, stand before the first record. */
  readonly head: number;
  /** The byte without which every line feed ends a record; -1: there is none. */
  readonly escape: number;
  /**
   * The end of a record, behind its line feed; -1: it is behind the bytes.
   *
   * @param from the beginning of the record
   * @param next where the next `escape` stands, from `from` on; infinite: nowhere
   */
  endOf(bytes: Buffer, from: number, next: number): number;
  /** Whether the records of a part of the document are those that the document has there, if so of all of its parts. Absent: they are. */
  readonly areRecords?: (part: Buffer) => boolean;
}

/**
 * @returns undefined: it is not known where records end. The document is not UTF-8, or what is read of one record depends on others
 * @throws Fault those of the document's reader
 */
export type OpenBorders<O = ReadOptions> = (
  document: CutDocument,
  iterations: readonly IterationRequest[],
  options: O,
) => Promise<Borders | undefined>;

/** What finds cuts in a document that it is given in chunks. */
export interface CutFinder {
  readonly cuts: readonly Cut[];
  /** Whether more of the document may give further cuts. */
  readonly wanted: boolean;
  feed(chunk: Uint8Array): void;
}

/** The cuts of a document from an offset on, as they are found. */
export async function* cutsIn(document: CutDocument, from: number, finder: CutFinder): AsyncGenerator<Cut> {
  let given = 0;
  if (!finder.wanted) return;
  for await (const chunk of document.bytes(from)) {
    finder.feed(chunk);
    while (given < finder.cuts.length) yield finder.cuts[given++] as Cut;
    if (!finder.wanted) return;
  }
}

/** A cut between two bytes. @param counted what stands before it; undefined: it was not counted */
export const cutAt = (offset: number, counted?: number): Cut => ({
  to: offset,
  from: offset,
  ...(counted === undefined ? {} : { counts: [counted] }),
});

/** Whether cuts have `Cut.counts`. */
export const namesRows = (iterations: readonly IterationRequest[]): boolean => iterations.some((iteration) => iteration.namesRows === true);

/** Enough for a byte order mark, an XML declaration, and to recognise UTF-16. */
const HEAD_BYTES = 256;

/**
 * The length of the byte order mark of a document; undefined: it is not UTF-8.
 *
 * @param declaredIn the encoding that the format itself declares in its first bytes
 */
export async function markOf(
  document: CutDocument,
  encoding: string | undefined,
  declaredIn?: (head: Uint8Array) => string | undefined,
): Promise<number | undefined> {
  const head = await document.read(0, HEAD_BYTES);
  return utf8Mark(head, encoding ?? declaredIn?.(head));
}
