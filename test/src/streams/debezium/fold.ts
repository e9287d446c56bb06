/** Rows by key, as a follower keeps them: what events make of tables. */
import type { ChangeEvent, Row } from '../../../../src/streams/events.ts';

interface Kept {
  readonly position: string | undefined;
  /** undefined: the row has gone. */
  readonly row: Row | undefined;
  readonly seen: boolean;
  /** Whether it was told before the replay that is open. */
  readonly isOld?: true;
}

export class FoldedTables {
  readonly #rows = new Map<string, Map<string, Kept>>();
  readonly #bags = new Map<string, { position: string | undefined; rows: Row[] }>();
  /** Rows whose key changes, by table and old key. */
  readonly #moved = new Map<string, Row>();
  /** Unavailable values without a row before them. */
  readonly unknown: string[] = [];

  rows(table: string): readonly Row[] {
    const keyed = [...this.#of(table).values()].flatMap(({ row }) => (row === undefined ? [] : [row]));
    return [...keyed, ...(this.#bags.get(table)?.rows ?? [])];
  }

  take(event: ChangeEvent): void {
    switch (event.kind) {
      case 'begin':
      case 'commit':
      case 'columns':
        return;
      case 'truncate':
        this.#of(event.table).clear();
        this.#bags.delete(event.table);
        return;
      case 'snapshot': {
        const rows = this.#of(event.table);
        if (event.state === 'begin') for (const [key, kept] of rows) rows.set(key, { ...kept, seen: false });
        else for (const [key, kept] of rows) if (!kept.seen) rows.delete(key);
        if (event.state === 'begin') this.#bags.delete(event.table);
        return;
      }
      case 'replay': {
        const rows = this.#of(event.table);
        if (event.state === 'begin') for (const [key, kept] of rows) rows.set(key, { ...kept, position: undefined, isOld: true });
        else for (const [key, kept] of rows) if (kept.isOld === true) rows.delete(key);
        return;
      }
      default:
        if (event.key === undefined) this.#keyless(event);
        else this.#keyed(event, event.key);
    }
  }

  #keyed(event: ChangeEvent & { kind: 'row' | 'delete' }, key: string): void {
    const rows = this.#of(event.table);
    const old = rows.get(key);
    const isOld = old?.position !== undefined && event.position !== undefined && event.position <= old.position;
    if (isOld && !(event.kind === 'row' && event.isSnapshot === true)) return;
    if (event.kind === 'delete') {
      if (event.newKey !== undefined && old?.row !== undefined) this.#moved.set(`${event.table} ${key}`, old.row);
      rows.set(key, { position: event.position, row: undefined, seen: true });
      return;
    }
    const row = { ...event.row };
    for (const name of event.unavailable ?? []) {
      const before = event.oldKey === undefined ? old?.row : this.#moved.get(`${event.table} ${event.oldKey}`);
      const kept = before?.[name];
      if (kept === undefined) this.unknown.push(`${event.table}.${name}`);
      else row[name] = kept;
    }
    rows.set(key, { position: event.position, row, seen: true });
  }

  #keyless(event: ChangeEvent & { kind: 'row' | 'delete' }): void {
    const bag = this.#bags.get(event.table) ?? { position: undefined, rows: [] };
    this.#bags.set(event.table, bag);
    const isSnapshot = event.kind === 'row' && event.isSnapshot === true;
    if (!isSnapshot && bag.position !== undefined && event.position !== undefined && event.position <= bag.position) return;
    bag.position = event.position;
    if (event.before !== undefined) {
      const text = JSON.stringify(event.before);
      const at = bag.rows.findIndex((row) => JSON.stringify(row) === text);
      if (at < 0) throw new Error(`${event.table} has no row ${text}`);
      bag.rows.splice(at, 1);
    }
    if (event.kind === 'row') bag.rows.push(event.row);
  }

  #of(table: string): Map<string, Kept> {
    const found = this.#rows.get(table) ?? new Map<string, Kept>();
    this.#rows.set(table, found);
    return found;
  }
}
