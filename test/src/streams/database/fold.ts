/** Rows as the events of a feed leave them, for tests: what a follower keeps. */
import { Fault } from '../../../../src/core/fault.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import type { SqlSession } from '../../../../src/sql/database.ts';
import { isBytes } from '../../../../src/streams/database/snapshot.ts';
import type { ChangeBatch, ChangeEvent, ChangeFeed, FeedPosition, Row } from '../../../../src/streams/events.ts';

interface Kept {
  readonly row: Row;
  readonly position: string | undefined;
  readonly generation: number;
}

class Rows {
  /** By key; of a table without a key by the text of the row, with their number. */
  readonly byKey = new Map<string, Kept>();
  readonly bag = new Map<string, number>();
  /** Keys that have gone: an event that comes a second time must not bring them back. */
  readonly gone = new Map<string, string | undefined>();
  generation = 0;
  isRead = false;
  position = '';
}

const textOf = (row: Row): string => JSON.stringify(Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))));

/** Folds events over rows by key, as the contract says. */
export class Fold {
  readonly tables = new Map<string, Rows>();
  position: FeedPosition | undefined;
  events = 0;
  skipped = 0;
  /** Rows that no snapshot has read. */
  logged = 0;
  snapshots = 0;
  #open: string | undefined;

  take({ events, position }: ChangeBatch): void {
    for (const event of events) this.#apply(event);
    this.events += events.length;
    this.position = position;
  }

  /** What was cut off in a transaction begins again with it. */
  forgetTransaction(): void {
    this.#open = undefined;
  }

  get isInTransaction(): boolean {
    return this.#open !== undefined;
  }

  #apply(event: ChangeEvent): void {
    if ('transaction' in event) {
      const isBegin = event.kind === 'begin';
      if (this.#open !== (isBegin ? undefined : event.transaction))
        throw new Error(`${event.kind} of ${event.transaction} while ${this.#open ?? 'none'} is open`);
      this.#open = isBegin ? event.transaction : undefined;
      return;
    }
    let rows = this.tables.get(event.table);
    if (rows === undefined) this.tables.set(event.table, (rows = new Rows()));
    switch (event.kind) {
      case 'columns':
        return;
      case 'truncate':
        if (event.position !== undefined && event.position <= rows.position) {
          this.skipped++;
          return;
        }
        rows.byKey.clear();
        rows.bag.clear();
        rows.position = event.position ?? '';
        return;
      case 'snapshot':
        this.#snapshot(rows, event.state);
        return;
      case 'delete':
      case 'row':
        if (event.kind === 'row' && event.isSnapshot !== true) this.logged++;
        if (event.key === undefined) this.#keyless(rows, event);
        else this.#keyed(rows, event.key, event);
    }
  }

  #snapshot(rows: Rows, state: 'begin' | 'end'): void {
    if (state === 'begin') {
      rows.generation++;
      rows.isRead = true;
      rows.bag.clear();
      // As the follower does (`Changes`): a snapshot without rows has no position.
      rows.position = '';
      this.snapshots++;
      return;
    }
    for (const [key, { generation }] of rows.byKey) if (generation < rows.generation) rows.byKey.delete(key);
    rows.isRead = false;
  }

  #keyed(rows: Rows, key: string, event: ChangeEvent & { kind: 'row' | 'delete' }): void {
    const kept = rows.byKey.get(key);
    const isSnapshot = event.kind === 'row' && event.isSnapshot === true;
    const newest = kept?.position ?? rows.gone.get(key);
    if (!isSnapshot && newest !== undefined && event.position !== undefined && event.position <= newest) {
      this.skipped++;
      return;
    }
    // A truncate is newer than the rows that it removes.
    if (!isSnapshot && event.position !== undefined && event.position <= rows.position) {
      this.skipped++;
      return;
    }
    if (event.kind === 'delete') {
      rows.byKey.delete(key);
      rows.gone.set(key, event.position);
      return;
    }
    const row: Record<string, Row[string]> = { ...event.row };
    for (const name of event.unavailable ?? []) {
      if (kept === undefined || !(name in kept.row)) throw new Error(`${event.table} ${key}: no value of ${name} is kept`);
      row[name] = kept.row[name] as Row[string];
    }
    rows.byKey.set(key, { row, position: event.position, generation: rows.generation });
  }

  #keyless(rows: Rows, event: ChangeEvent & { kind: 'row' | 'delete' }): void {
    const isSnapshot = event.kind === 'row' && event.isSnapshot === true;
    if (!isSnapshot) {
      if (event.position === undefined) throw new Error(`${event.table}: an event without a position`);
      if (event.position <= rows.position) {
        this.skipped++;
        return;
      }
      rows.position = event.position;
    } else rows.position = event.position ?? '';
    if (event.before !== undefined) {
      const before = textOf(event.before);
      const count = rows.bag.get(before) ?? 0;
      if (count === 0) throw new Error(`${event.table}: no row ${before}`);
      if (count === 1) rows.bag.delete(before);
      else rows.bag.set(before, count - 1);
    }
    if (event.kind === 'row') rows.bag.set(textOf(event.row), (rows.bag.get(textOf(event.row)) ?? 0) + 1);
  }

  /** The rows of a table as texts, in order. */
  texts(table: string): readonly string[] {
    const rows = this.tables.get(table);
    if (rows === undefined) return [];
    const bag = [...rows.bag].flatMap(([text, count]) => new Array<string>(count).fill(text));
    return [...[...rows.byKey.values()].map(({ row }) => textOf(row)), ...bag].sort();
  }
}

/** The rows of a table as the project's own session reads them, in the same form. @param select the list of columns */
export async function selected(session: SqlSession, from: string, columns = '*'): Promise<readonly string[]> {
  const sql = `SELECT ${columns} FROM ${from}`;
  const described = await session.describe(sql);
  const all: string[] = [];
  for await (const { rows } of session.rows(sql, described.length))
    for (const values of rows) {
      const texts = described.map((column, i) => {
        const value = values[i] ?? null;
        return [column.name, value === null || isBytes(column, session.product) ? value : fromBytes(value)] as const;
      });
      all.push(textOf(Object.fromEntries(texts)));
    }
  return all.sort();
}

/** What two lists of rows do not share: rows that only one has, `+` or `-`, shortened to the columns in which neighbours differ. */
export function differences(found: readonly string[], expected: readonly string[]): readonly string[] {
  const [more, less] = [found.filter((row) => !expected.includes(row)), expected.filter((row) => !found.includes(row))];
  const idOf = (row: string): unknown => (JSON.parse(row) as { id?: unknown }).id;
  const shown = more.map((row) => {
    const other = less.find((each) => idOf(each) === idOf(row));
    const columns = Object.entries(JSON.parse(row) as Row);
    const wanted = other === undefined ? {} : (JSON.parse(other) as Row);
    return `+ ${JSON.stringify(columns.filter(([name, value]) => wanted[name] !== value).map((pair) => [...pair, wanted[pair[0]]]))}`.slice(
      0,
      500,
    );
  });
  const counts = found.length === expected.length ? [] : [`${found.length} rows instead of ${expected.length}`];
  return [...counts, ...shown, ...less.map((row) => `- ${row}`.slice(0, 200))].slice(0, 20);
}

/** Reads a feed until it has reached the end that it has now. */
export async function readToEnd(feed: ChangeFeed, fold: Fold, onBatch?: (batch: ChangeBatch) => Promise<unknown>): Promise<void> {
  const abort = new AbortController();
  const isAtEnd = await feed.end(fold.position);
  for await (const batch of feed.batches(fold.position, abort.signal)) {
    fold.take(batch);
    await onBatch?.(batch);
    if (isAtEnd(batch.position) && !fold.isInTransaction) return;
  }
}

export async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.then(
    () => new Error('nothing was refused'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Fault)) throw error;
  return error;
}
