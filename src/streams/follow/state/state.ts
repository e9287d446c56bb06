/** What a follower keeps, as data. */
import type { Manifest } from '../../../datasets/manifest.ts';
import type { FeedColumn, FeedPosition } from '../../events.ts';
import type { PackedRow } from './packing.ts';

/** What the rows are, and what was made of them. */
export interface FollowState {
  /** Id of the dataset. */
  readonly dataset: string;
  /** Of the feed: its address, without a login. */
  readonly feed: string;
  /** undefined: nothing was read. */
  readonly position?: FeedPosition | undefined;
  /** Whether the feed was read to an end that it had: then the rows are those of some moment, or later. */
  readonly isWhole: boolean;
  /** Whether the newest version may be of other rows. */
  readonly isDirty: boolean;
  /** Digest of the mapping and options by which the newest version was made. */
  readonly mappedBy?: string | undefined;
  /** The newest version that was made of these rows; 0: none. */
  readonly version: number;
  /** A version whose files are there, and perhaps its manifest. */
  readonly pending?: Manifest | undefined;
  /** How many ids of rows have been given. */
  readonly ids: number;
  /** What `RowIndex` has is of this version. undefined: nothing. */
  readonly index?: IndexState | undefined;
  /** Why there is no index, as a clause. */
  readonly lost?: string | undefined;
}

export interface IndexState {
  readonly version: number;
  /** The run that made the version. */
  readonly runId: string;
  /** Of the hashes. */
  readonly seed: number;
  /** What the statements depend on beside the rows. */
  readonly madeBy: string;
}

export interface KeptTable {
  readonly number: number;
  /** Of rows that events make now. */
  readonly generation: number;
  /** Rows of older generations have gone. */
  readonly least: number;
  /** A truncate: what is not newer comes a second time. */
  readonly floor?: string | undefined;
  /** The newest change of a table without a key. */
  readonly last?: string | undefined;
  readonly isInSnapshot: boolean;
  /** Within a replay: the generation with which it began. */
  readonly replayedFrom?: number | undefined;
  /** The mapping did not read it for a time: nothing is kept, until its first event. */
  readonly isForgotten?: boolean | undefined;
  /** Whether rows of older generations are to be removed. */
  readonly hasOld: boolean;
  /** Every column that a row has had, sorted. */
  readonly names: readonly string[];
  /** The columns of the newest row, sorted: the table may have lost others. undefined: there was none. */
  readonly present?: readonly string[] | undefined;
  /** As a schema says. */
  readonly columns?: readonly FeedColumn[] | undefined;
}

export interface Kept {
  /** Of the row while its key has one: see `packing.ts`. */
  readonly id: number;
  /** Of the row, among those of all tables. */
  readonly key: Buffer;
  readonly layout: readonly string[];
  /** For `readCells`. */
  readonly bytes: Buffer;
  readonly at: number;
  /** How many equal rows there are. */
  readonly count: number;
}

export const isOld = (head: PackedRow, { least }: KeptTable): boolean => head.generation < least;

export function countOf(head: PackedRow, table: KeptTable): number {
  if (isOld(head, table)) return 0;
  if (head.kind !== 'bag') return Number(head.kind === 'row');
  // Those before its generation have gone with theirs.
  return head.count + (table.least < head.generation ? head.older : 0);
}
