/** What a scan reads, in chunks: the interface of inputs. */
import type { DocumentBytes } from '../../../run/request.ts';
import type { OpenedScan } from '../../../sources/source.ts';
import type { ChunkSizes, Expected } from './chunks.ts';

export type NumberedChunk = readonly [chunk: number, text: Buffer];

/** Called with the chunks of the records that are mapped next; there may be more. */
export type Took = (chunks: readonly number[]) => void;

/** What a run reads in place of an input: see `RunHooks`. */
export interface Replacement {
  readonly document?: DocumentBytes;
  readonly scan?: (opened: OpenedScan) => OpenedScan;
}

/** What a scan reads, in chunks. */
export interface RecordInput {
  readonly name: string;
  /** What holds of all records: only with the same one, those of another version can be compared. */
  readonly head: Buffer;
  /** undefined: it is not known. */
  readonly sizeBytes: number | undefined;
  /** All chunks but those that are taken as expected. @throws NotByRecord; Fault those of the reader */
  chunks(sizes: ChunkSizes, expected: Expected): AsyncIterable<Buffer>;
  /** The records of a chunk, or of any part of one that has whole records. */
  recordsOf(text: Buffer): readonly Buffer[];
  /** Lets a run read chunks. */
  replayed(chunks: Iterable<NumberedChunk>, took: Took): Replacement;
  /** Lets a run read the input in chunks. @param add gives the number of a chunk; undefined: its records cannot be compared */
  recorded(sizes: ChunkSizes, add: (text: Buffer | undefined) => number, took: Took): Replacement;
}
