/** Events that are read and not written yet, and where an epoch may end among them: never inside a transaction. */
import type { ChangeBatch, ChangeEvent, FeedPosition } from '../events.ts';

/** What is held at most before it is written, also within an epoch. */
const MOST_EVENTS = 10_000;
const MOST_BYTES = 16 * 2 ** 20;

export class HeldEvents {
  /** Behind the events; undefined: no batch has come since they were taken. */
  position: FeedPosition | undefined;
  /** When the first event, or position, came; in milliseconds of `performance.now()`. */
  since: number | undefined;
  /** Of the last change. */
  changedAt: number | undefined;
  #events: ChangeEvent[] = [];
  #bytes = 0;
  #transaction: string | undefined;
  /** How many of the events are outside of a transaction that is open; undefined: a part of it was taken already. */
  #cleanAt: number | undefined = 0;
  /** Behind the last batch that has ended outside of a transaction; undefined: none has, since events were taken. */
  #cleanPosition: FeedPosition | undefined;

  add({ events, position, bytes, changedAt }: ChangeBatch): void {
    for (const event of events) {
      this.#events.push(event);
      if (event.kind === 'begin') this.#transaction = event.transaction;
      else if (event.kind === 'commit') this.#transaction = undefined;
      if (event.kind === 'begin' && this.#cleanAt === this.#events.length - 1) continue;
      if (this.#transaction === undefined) this.#cleanAt = this.#events.length;
    }
    this.position = position;
    if (this.#transaction === undefined) this.#cleanPosition = position;
    this.since ??= performance.now();
    this.#bytes += bytes;
    this.changedAt = changedAt ?? this.changedAt;
  }

  get isFull(): boolean {
    return this.#events.length >= MOST_EVENTS || this.#bytes >= MOST_BYTES;
  }

  /** The transaction that is open behind the events. */
  get transaction(): string | undefined {
    return this.#transaction;
  }

  /** Whether an epoch may end. */
  get isClean(): boolean {
    return this.#cleanAt !== undefined;
  }

  /** All events, with the position behind them. */
  takeAll(): Taken {
    const [events, position] = [this.#events, this.position];
    this.#events = [];
    this.#bytes = 0;
    this.position = undefined;
    this.#cleanPosition = undefined;
    this.since = undefined;
    this.#cleanAt = this.#transaction === undefined ? 0 : undefined;
    return { events, position };
  }

  /**
   * The events up to the transaction that is open, with the position behind the last batch that ended before it. What follows that batch comes a second
   * time if the process ends before the others are taken, and is recognised by its own positions. A snapshot is never among it: its rows would count again.
   */
  takeClean(): Taken {
    if (this.#transaction === undefined) return this.takeAll();
    const at = this.#cleanAt ?? 0;
    const [events, position] = [this.#events.slice(0, at), this.#cleanPosition];
    this.#events = this.#events.slice(at);
    this.#cleanAt = this.#cleanAt === undefined ? undefined : 0;
    this.#cleanPosition = undefined;
    this.since = performance.now();
    return { events, position };
  }

  /** Forgets everything: the feed is read again from the position that was written. */
  clear(): void {
    this.#transaction = undefined;
    this.takeAll();
  }
}

export interface Taken {
  readonly events: readonly ChangeEvent[];
  readonly position: FeedPosition | undefined;
}
