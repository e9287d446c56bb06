/**
 * Topics that are read a second time from their beginning, so that keys which they do not have go.
 *
 * A replay is one transaction of the feed: no version is made of a part of it. Transactions within it are not told.
 */
import type { ChangeEvent, FeedPosition } from '../events.ts';
import type { Offsets } from './brokers.ts';
import type { PartitionQueue } from './partition.ts';

/** In positions, until the replay has ended: JSON array of the tables that are replayed. */
const REPLAY = ':replay';
const TRANSACTION = 'replay';

export class Replay {
  readonly tables: readonly string[];
  readonly #topics: ReadonlySet<string>;
  #ends: readonly Offsets[] = [];
  #isBegun = false;

  private constructor(tables: readonly string[], topics: Iterable<string>) {
    this.tables = tables;
    this.#topics = new Set(topics);
  }

  /** The replay that a position has not ended. undefined: there is none. @param tablesOf those in which messages of a topic replace what their keys had */
  static in(
    position: FeedPosition | undefined,
    topics: readonly string[],
    tablesOf: (topic: string) => readonly string[],
  ): Replay | undefined {
    const kept = position?.[REPLAY];
    if (kept === undefined) return undefined;
    const tables = JSON.parse(kept) as readonly string[];
    return new Replay(
      tables,
      topics.filter((topic) => tablesOf(topic).some((table) => tables.includes(table))),
    );
  }

  /** A position whose next reading replays the tables of a topic, and those that share topics with them. */
  static of(
    topic: string,
    position: FeedPosition | undefined,
    topics: readonly string[],
    tablesOf: (topic: string) => readonly string[],
  ): FeedPosition {
    const tables = new Set(tablesOf(topic));
    const shared = topics.map(tablesOf);
    for (let size = 0; size < tables.size; ) {
      size = tables.size;
      for (const own of shared) if (own.some((table) => tables.has(table))) for (const table of own) tables.add(table);
    }
    return { ...position, [REPLAY]: JSON.stringify([...tables]) };
  }

  /** Whether a position is within a replay. */
  static isIn(position: FeedPosition): boolean {
    return position[REPLAY] !== undefined;
  }

  /** A position without the topics, which are read from their beginning. */
  begun(position: FeedPosition): FeedPosition {
    return Object.fromEntries(Object.entries(position).filter(([name]) => !this.has(name.slice(0, name.lastIndexOf('-')))));
  }

  has(topic: string): boolean {
    return this.#topics.has(topic);
  }

  /** @param ends up to which the topics are replayed */
  until(ends: readonly Offsets[]): void {
    this.#ends = ends.filter(({ topic }) => this.has(topic));
  }

  get kept(): FeedPosition {
    return { [REPLAY]: JSON.stringify(this.tables) };
  }

  /** Events in front of the first message. Once. */
  begin(): readonly ChangeEvent[] {
    if (this.#isBegun) return [];
    this.#isBegun = true;
    return [
      { kind: 'begin', transaction: TRANSACTION },
      ...this.tables.map((table) => ({ kind: 'replay', table, state: 'begin' }) as const),
    ];
  }

  isOver(queueOf: (topic: string, partition: number) => PartitionQueue | undefined): boolean {
    return this.#ends.every(({ topic, partition, high }) => BigInt(queueOf(topic, partition)?.position ?? -1n) >= high);
  }

  end(): readonly ChangeEvent[] {
    return [
      ...this.tables.map((table) => ({ kind: 'replay', table, state: 'end' }) as const),
      { kind: 'commit', transaction: TRANSACTION },
    ];
  }
}
