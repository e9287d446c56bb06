/** Makes the events of a feed changes of the rows that are kept. */
import type { ChangeEvent, Row } from '../../events.ts';
import { bagKeyOf, keyOf } from './keys.ts';
import type { Layouts } from './layouts.ts';
import { contentOf, headOf, type PackedRow, RowWriter, rowOf } from './packing.ts';
import type { Records } from './records.ts';
import { countOf, isOld, type KeptTable } from './state.ts';

/** Called with a change that cannot be made. @throws what ends the follower: then none of the changes is made */
export type Reject = (place: string, reason: string) => void;

type RowEvent = Extract<ChangeEvent, { readonly kind: 'row' | 'delete' }>;

/** What the changes are made with. In a transaction. */
export interface Changing {
  readonly rows: Records;
  /** A table has so many more records. */
  count(table: KeptTable, by: 1 | -1): void;
  layouts(): Layouts;
  table(name: string): KeptTable;
  saveTable(name: string, table: KeptTable): void;
  /** Raises the least generation of a table. Rows of older ones go. */
  sweep(name: string, before: KeptTable, after: KeptTable): void;
  /** Before another row has a key, or none. @param live the row that it has; undefined: none */
  touch(key: Buffer, live: Buffer | undefined): void;
  /** That no row has had. */
  newId(): number;
}

export class Changes {
  readonly #of: Changing;
  readonly #rows: Records;
  readonly #writer = new RowWriter();
  /** By table: the layout of its newest row that `names` and `present` have. */
  readonly #presentOf = new Map<string, number>();

  constructor(of: Changing) {
    this.#of = of;
    this.#rows = of.rows;
  }

  /** What is known of the newest rows may not be written. */
  forget(): void {
    this.#presentOf.clear();
  }

  /** @returns whether a row has changed, or may have */
  make(event: ChangeEvent, reject: Reject): boolean {
    if (!('table' in event)) return false;
    const { table: name } = event;
    let table = this.#of.table(name);
    if (table.isForgotten === true) {
      table = { ...table, isForgotten: undefined };
      this.#of.saveTable(name, table);
    }
    switch (event.kind) {
      case 'columns':
        if (JSON.stringify(table.columns) === JSON.stringify(event.columns)) return false;
        this.#of.saveTable(name, { ...table, columns: event.columns });
        return true;
      case 'truncate': {
        const { position } = event;
        if (isNotNewer(position, table.floor)) return false;
        const generation = table.generation + 1;
        const last = position ?? table.last;
        this.#of.sweep(name, table, { ...table, generation, least: generation, floor: position, last, hasOld: true });
        return true;
      }
      case 'snapshot': {
        if (event.state === 'begin') {
          // What a snapshot reads counts, whatever was there: the server may have been replaced, and count from lower.
          const more = { isInSnapshot: true, floor: undefined, last: undefined };
          this.#of.saveTable(name, { ...table, ...more, generation: table.generation + 1 });
          return false;
        }
        if (!table.isInSnapshot) return false;
        this.#of.sweep(name, table, { ...table, isInSnapshot: false, least: table.generation, hasOld: true });
        return true;
      }
      case 'replay': {
        if (event.state === 'begin') {
          const generation = table.generation + 1;
          const more = { isInSnapshot: false, floor: undefined, last: undefined };
          this.#of.saveTable(name, { ...table, ...more, generation, replayedFrom: generation });
          return false;
        }
        const { replayedFrom } = table;
        if (replayedFrom === undefined) return false;
        const least = Math.max(table.least, replayedFrom);
        this.#of.sweep(name, table, { ...table, least, replayedFrom: undefined, hasOld: true });
        return true;
      }
      case 'row':
      case 'delete':
        return event.key === undefined ? this.#ofBag(event, table, reject) : this.#ofKey(event, event.key, table, reject);
    }
  }

  #ofKey(event: RowEvent, keyText: string, table: KeptTable, reject: Reject): boolean {
    const { position } = event;
    const key = keyOf(table, keyText);
    const bytes = this.#rows.get(key);
    const found = bytes === undefined ? undefined : headOf(bytes);
    const known = found === undefined || found.kind === 'bag' || isOld(found, table) ? undefined : found;
    const isSnapshot = event.kind === 'row' && event.isSnapshot === true;
    // What the key had before a replay is not compared.
    const told = known !== undefined && known.generation >= (table.replayedFrom ?? 0) ? known.position : undefined;
    if (!isSnapshot && (isNotNewer(position, told) || isNotNewer(position, table.floor))) return false;
    const live = known?.kind === 'row' ? bytes : undefined;
    const before = live && contentOf(live, known as PackedRow);
    if (event.kind === 'delete') {
      if (live !== undefined) this.#of.touch(key, live);
      if (event.newKey !== undefined && before !== undefined) {
        // The row that follows may have values that its event does not tell.
        this.#writer.row('moved', table.generation, 0, position, before);
        this.#put(table, key, bytes === undefined);
      } else if (position === undefined) {
        // A row that has gone at a position stays so.
        if (bytes !== undefined && (live !== undefined || known === undefined)) this.#remove(table, key);
      } else {
        // What is deleted stays so when an older event comes a second time.
        this.#writer.row('deleted', table.generation, 0, position);
        this.#put(table, key, bytes === undefined);
      }
      return before !== undefined;
    }
    let { row } = event;
    if (event.unavailable !== undefined && event.unavailable.length > 0) {
      const from = event.oldKey === undefined ? key : keyOf(table, event.oldKey);
      const kept = this.#valuesOf(from, table, event.oldKey !== undefined) ?? {};
      const missing = event.unavailable.filter((column) => !Object.hasOwn(kept, column));
      if (missing.length > 0) {
        const columns = missing.length === 1 ? `column ${missing[0]} is` : `columns ${missing.join(', ')} are`;
        reject(placeOf(event, keyText), `the ${columns} not in the event, and no row is kept that has the value`);
        return false;
      }
      row = { ...row, ...Object.fromEntries(event.unavailable.map((column) => [column, kept[column] as Row[string]])) };
    }
    const content = this.#contentOf(event.table, row);
    const isSame = before?.equals(content) === true;
    if (!isSame) this.#of.touch(key, live);
    this.#writer.row('row', table.generation, live === undefined ? this.#of.newId() : (known as PackedRow).id, position, content);
    this.#put(table, key, bytes === undefined);
    return !isSame;
  }

  /** The values of a row that is there, or with `isMoved` has gone on under another key. */
  #valuesOf(key: Buffer, table: KeptTable, isMoved: boolean): Row | undefined {
    const bytes = this.#rows.get(key);
    const found = bytes === undefined ? undefined : headOf(bytes);
    if (found === undefined || isOld(found, table) || (found.kind !== 'row' && !(isMoved && found.kind === 'moved'))) return undefined;
    return rowOf(bytes as Buffer, found.at, this.#of.layouts().names(found.layout));
  }

  #ofBag(event: RowEvent, table: KeptTable, reject: Reject): boolean {
    const { position, before } = event;
    const isSnapshot = event.kind === 'row' && event.isSnapshot === true;
    if (!isSnapshot && (isNotNewer(position, table.last) || isNotNewer(position, table.floor))) return false;
    if (!isSnapshot && position !== undefined) this.#of.saveTable(event.table, { ...table, last: position });
    if (event.kind === 'delete' && before === undefined) {
      reject(placeOf(event), 'the table has no key, and the event does not say which row has gone');
      return false;
    }
    if (before !== undefined && !this.#count(event.table, table, before, -1)) {
      reject(placeOf(event), 'the table has no key, and no row is kept that is equal to the one that has gone');
      return false;
    }
    if (event.kind === 'row') this.#count(event.table, table, event.row, 1);
    return true;
  }

  /** @returns whether there was such a row, or one was added */
  #count(name: string, table: KeptTable, row: Row, by: 1 | -1): boolean {
    const key = bagKeyOf(table, row);
    const bytes = this.#rows.get(key);
    const found = bytes === undefined ? undefined : headOf(bytes);
    const total = found === undefined ? 0 : countOf(found, table);
    // In a snapshot, rows of it are counted apart.
    let count = found?.kind === 'bag' && found.generation === table.generation ? Math.min(found.count, total) : 0;
    let older = total - count;
    if (by === 1) count++;
    else if (count > 0) count--;
    else if (older > 0) older--;
    else return false;
    // Equal rows make what one of them makes.
    if (total === 0 || older + count === 0) this.#of.touch(key, total === 0 ? undefined : bytes);
    if (older + count === 0) {
      this.#remove(table, key);
      return true;
    }
    const content = this.#contentOf(name, row);
    this.#writer.bag(table.generation, total === 0 ? this.#of.newId() : (found as PackedRow).id, older, count, content);
    this.#put(table, key, bytes === undefined);
    return true;
  }

  /** What the writer has. */
  #put(table: KeptTable, key: Buffer, isNew: boolean): void {
    this.#rows.put(key, this.#writer.take());
    if (isNew) this.#of.count(table, 1);
  }

  /** A key that is there. */
  #remove(table: KeptTable, key: Buffer): void {
    this.#rows.remove(key);
    this.#of.count(table, -1);
  }

  #contentOf(table: string, row: Row): Buffer {
    const { layout, names } = this.#of.layouts().of(table, row);
    if (this.#presentOf.get(table) !== layout) {
      this.#presentOf.set(table, layout);
      const kept = this.#of.table(table);
      this.#of.saveTable(table, { ...kept, names: [...new Set([...kept.names, ...names])].sort(), present: names });
    }
    this.#writer.content(layout);
    for (const name of names) this.#writer.cell(row[name] as Row[string]);
    return this.#writer.take();
  }

  /** Gives a row another id, as if it had gone and another one had come. */
  renew(key: Buffer): void {
    const bytes = this.#rows.get(key) as Buffer;
    const head = headOf(bytes);
    this.#of.touch(key, bytes);
    const [id, content] = [this.#of.newId(), contentOf(bytes, head)];
    if (head.kind === 'bag') this.#writer.bag(head.generation, id, head.older, head.count, content);
    else this.#writer.row('row', head.generation, id, head.position, content);
    this.#rows.put(key, this.#writer.take());
  }
}

const isNotNewer = (position: string | undefined, than: string | undefined): boolean =>
  position !== undefined && than !== undefined && position <= than;

const placeOf = ({ table, position }: RowEvent, key?: string): string =>
  `${table}${key === undefined ? '' : ` ${key}`}${position === undefined ? '' : `, position ${position}`}`;
