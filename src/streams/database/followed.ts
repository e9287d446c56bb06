/** What a position of a replication log says of each table: whether its snapshot is complete, and of which columns. */
import { createHash } from 'node:crypto';
import type { FeedPosition } from '../events.ts';

export interface Followed {
  /** Digest of what a change of which needs a new snapshot: the columns, their types and the key. */
  readonly shape: string;
  /** Transactions that the snapshot has already, as the product says it; undefined: none that follow. */
  readonly seen?: string;
}

const PREFIX = 'table ';

/** The tables that a position has. */
export function followedIn(position: FeedPosition): Map<string, Followed> {
  const tables = Object.entries(position).filter(([name]) => name.startsWith(PREFIX));
  return new Map(tables.map(([name, text]) => [name.slice(PREFIX.length), JSON.parse(text) as Followed]));
}

export function positionOf(place: FeedPosition, followed: ReadonlyMap<string, Followed>): FeedPosition {
  return { ...place, ...Object.fromEntries([...followed].map(([name, table]) => [PREFIX + name, JSON.stringify(table)])) };
}

export const shapeOf = (parts: unknown): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);

/** Where a log has been read up to, without what a position says of the tables: for people. */
export const placeIn = (position: FeedPosition): FeedPosition =>
  Object.fromEntries(Object.entries(position).filter(([name]) => !name.startsWith(PREFIX)));
