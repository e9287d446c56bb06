/** Random changes of two tables, as a database makes them and as a feed tells them: `one` has a key, `two` has none. */
import type { ChangeEvent, Row } from '../../../../src/streams/events.ts';
import type { Random } from '../../../support/random.ts';
import { type Cells, rowsOf, type Tables } from '../../run/random/formats.ts';

export class RandomTables {
  readonly #random: Random;
  readonly #make: () => Cells;
  readonly #one = new Map<string, Cells>();
  #two: Cells[] = [];
  #position = 0;
  #key = 0;
  #transaction = 0;
  /** Since the last snapshot: what can be told a second time. */
  #told: ChangeEvent[] = [];
  /** Whether events have positions. Without them no event repeats. */
  readonly #hasPositions: boolean;

  constructor(random: Random, hasPositions: boolean, make = (): Cells => rowsOf(random, 1, 1)[0] as Cells) {
    this.#random = random;
    this.#make = make;
    this.#hasPositions = hasPositions;
  }

  get tables(): Tables {
    return { one: [...this.#one.values()], two: this.#two } as unknown as Tables;
  }

  /** The events of a snapshot, and perhaps of a part of one before it. */
  snapshot(): ChangeEvent[] {
    const events: ChangeEvent[] = [];
    if (this.#random.chance(0.3)) events.push(...this.#rowsOfSnapshot('one').slice(0, -1));
    events.push(...this.#rowsOfSnapshot('one'), ...this.#rowsOfSnapshot('two'));
    this.#told = [];
    return events;
  }

  #rowsOfSnapshot(table: 'one' | 'two'): ChangeEvent[] {
    const rows: ChangeEvent[] = (table === 'one' ? [...this.#one] : this.#two.map((row) => [undefined, row] as const)).map(
      ([key, row]) => ({
        kind: 'row',
        table,
        key,
        position: this.#position === 0 ? undefined : this.#place(),
        row: this.#written(row),
        isSnapshot: true,
      }),
    );
    return [{ kind: 'snapshot', table, state: 'begin' }, ...this.#random.shuffle(rows), { kind: 'snapshot', table, state: 'end' }];
  }

  /** Changes, in transactions or without. */
  changes(most: number): ChangeEvent[] {
    const random = this.#random;
    const events: ChangeEvent[] = [];
    const inTransactions = random.chance(0.5);
    for (let left = random.between(1, most); left > 0; ) {
      const size = Math.min(left, random.between(1, 5));
      left -= size;
      const own = Array.from({ length: size }, () => this.#change()).flat();
      const transaction = String(++this.#transaction);
      events.push(...(inTransactions ? [{ kind: 'begin', transaction } as const, ...own, { kind: 'commit', transaction } as const] : own));
    }
    this.#told.push(...events);
    // The server has been replaced, or the slot was lost: rows go without an event, and all are read again.
    if (random.chance(0.15)) {
      for (const key of [...this.#one.keys()]) if (random.chance(0.3)) this.#one.delete(key);
      this.#two = this.#two.filter(() => random.chance(0.7));
      if (random.chance(0.5)) this.#position = random.between(0, this.#position);
      return [...events, ...this.snapshot()];
    }
    // The connector was killed: it tells a part again, and may be killed again in the middle of it.
    if (this.#hasPositions && random.chance(0.4)) {
      const whole = this.#told.filter(({ kind }) => kind !== 'begin' && kind !== 'commit');
      const from = random.between(0, whole.length);
      events.push(...whole.slice(from, random.chance(0.5) ? undefined : random.between(from, whole.length)));
    }
    return events;
  }

  #place = (): string => String(this.#position).padStart(8, '0');
  #next = (): string | undefined => {
    this.#position++;
    return this.#hasPositions ? this.#place() : undefined;
  };

  #change(): ChangeEvent[] {
    const random = this.#random;
    const made = this.#make();
    const keys = [...this.#one.keys()];
    const key = keys.length === 0 ? undefined : random.pick(keys);
    const at = this.#two.length === 0 ? -1 : random.between(0, this.#two.length - 1);
    const kind = random.weighted({ insert: 6, update: 5, same: 1, delete: 3, key: 2, truncate: 0.3, add: 4, replace: 3, remove: 2 });
    const ofOne = (row: Cells, of: string, unavailable: readonly string[] = []): ChangeEvent => ({
      kind: 'row',
      table: 'one',
      key: of,
      position: this.#next(),
      row: Object.fromEntries(Object.entries(this.#written(row)).filter(([name]) => !unavailable.includes(name))),
      ...(unavailable.length === 0 ? {} : { unavailable }),
    });
    switch (kind) {
      case 'update':
      case 'same': {
        if (key === undefined) break;
        const before = this.#one.get(key) as Cells;
        const columns = Object.keys(made);
        const kept = kind === 'same' ? columns : columns.filter(() => random.chance(0.3));
        const row = { ...made, ...Object.fromEntries(kept.map((name) => [name, before[name] as string | null])) };
        this.#one.set(key, row);
        return [
          ofOne(
            row,
            key,
            kept.filter(() => random.chance(0.5)),
          ),
        ];
      }
      case 'delete': {
        if (key === undefined) break;
        this.#one.delete(key);
        return [{ kind: 'delete', table: 'one', key, position: this.#next() }];
      }
      case 'key': {
        if (key === undefined) break;
        const row = this.#one.get(key) as Cells;
        const to = this.#newKey();
        this.#one.delete(key);
        this.#one.set(to, row);
        return [{ kind: 'delete', table: 'one', key, position: this.#next() }, ofOne(row, to)];
      }
      case 'truncate': {
        if (random.chance(0.5)) {
          this.#one.clear();
          return [{ kind: 'truncate', table: 'one', position: this.#next() }];
        }
        this.#two = [];
        return [{ kind: 'truncate', table: 'two', position: this.#next() }];
      }
      case 'add': {
        this.#two.push(made);
        return [{ kind: 'row', table: 'two', key: undefined, position: this.#next(), row: this.#written(made) }];
      }
      case 'replace':
      case 'remove': {
        if (at < 0) break;
        const before = this.#written(this.#two[at] as Cells);
        this.#two = kind === 'replace' ? this.#two.with(at, made) : this.#two.toSpliced(at, 1);
        if (kind === 'remove') return [{ kind: 'delete', table: 'two', key: undefined, position: this.#next(), before }];
        return [{ kind: 'row', table: 'two', key: undefined, position: this.#next(), row: this.#written(made), before }];
      }
    }
    const to = random.chance(0.3) && this.#key > 0 ? `["${random.between(1, this.#key)}"]` : this.#newKey();
    this.#one.set(to, made);
    return [ofOne(made, to)];
  }

  /** Some are longer than a key of the store may be. */
  #newKey = (): string => `["${++this.#key}${this.#random.chance(0.1) ? 'k'.repeat(3000) : ''}"]`;

  /** Columns in any order. */
  #written = (row: Cells): Row => Object.fromEntries(this.#random.shuffle([...Object.entries(row)]));
}

/** Events in batches of any size. */
export function inBatches(random: Random, events: readonly ChangeEvent[]): (readonly ChangeEvent[])[] {
  const batches: (readonly ChangeEvent[])[] = [];
  for (let at = 0; at < events.length; ) {
    const size = random.between(0, 6);
    batches.push(events.slice(at, at + size));
    at += size;
  }
  return batches;
}
