/** What is kept of each table between messages: its columns, the snapshot that is being read, and the tombstones that are awaited. */
import type { ChangeEvent, FeedColumn } from '../events.ts';
import type { Change, Decoded } from './message.ts';
import type { Schema } from './schema.ts';
import { type Connector, columnOf } from './values.ts';

/** What is kept with the position. */
interface KeptState {
  /** The last snapshot, and whether more of its rows are expected. */
  snapshot?: { readonly id: string; readonly isOpen: boolean };
  /** By partition: the key that its last message has deleted. A tombstone follows. */
  deleted?: Record<number, string>;
}

interface TableState extends KeptState {
  deleted: Record<number, string>;
  columns: string | undefined;
  schema: Schema | undefined;
}

/** Of all tables; messages of one table come in the order of its topic. */
export class TableStates {
  readonly #states = new Map<string, TableState>();
  /** Servers of MySQL, in the order in which they were seen: one takes over from the other. */
  #servers: string[] = [];
  /** The last snapshot whose last row has been read, in whatever table. */
  #finished: string | undefined;

  /** @param kept what `kept` gave, with the position from which messages are read */
  constructor(kept: string | undefined) {
    if (kept === undefined) return;
    const { tables, servers, finished } = JSON.parse(kept) as {
      readonly tables: Readonly<Record<string, KeptState>>;
      readonly servers: string[];
      readonly finished?: string;
    };
    for (const [table, { snapshot, deleted }] of Object.entries(tables)) {
      const state = this.#of(table);
      if (snapshot !== undefined) state.snapshot = snapshot;
      state.deleted = deleted ?? {};
    }
    this.#servers = servers;
    this.#finished = finished;
  }

  /** As text; undefined: nothing is known of any table. */
  get kept(): string | undefined {
    if (this.#states.size === 0) return undefined;
    const states = [...this.#states].map(([table, { snapshot, deleted }]): [string, KeptState] => [
      table,
      { ...(snapshot === undefined ? {} : { snapshot }), ...(Object.keys(deleted).length === 0 ? {} : { deleted }) },
    ]);
    return JSON.stringify({ tables: Object.fromEntries(states), servers: this.#servers, finished: this.#finished });
  }

  /** The events of a message. */
  eventsOf(table: string, decoded: Decoded, partition = 0): readonly ChangeEvent[] {
    if (decoded.kind === 'tombstone') return this.#ofTombstone(table, decoded.key, partition);
    if (decoded.kind !== 'change') return [];
    const state = this.#of(table);
    const { kind, key } = { key: undefined, ...decoded.event };
    if (kind === 'delete' && key !== undefined) state.deleted[partition] = key;
    else delete state.deleted[partition];
    const events: ChangeEvent[] = [];
    if (decoded.snapshot !== undefined && (decoded.snapshot.id !== state.snapshot?.id || isAgain(decoded, state))) {
      state.snapshot = { id: decoded.snapshot.id, isOpen: true };
      events.push({ kind: 'snapshot', table, state: 'begin' });
    }
    // A table with one row may have no last one.
    if (decoded.isStreamed) events.push(...this.#end(table, state));
    events.push(...columnsEvent(table, decoded, state));
    events.push({ ...decoded.event, table, position: this.#position(decoded) });
    if (decoded.snapshot?.isLast === true) events.push(...this.#end(table, state));
    if (decoded.snapshot?.isLastOfAll === true) this.#finished = decoded.snapshot.id;
    return events;
  }

  /** Numbers of a server are compared after the place of the server. Rows of a snapshot have digits alone, so they are older than all. */
  #position({ event: { position }, server }: Change): string | undefined {
    if (position === undefined || server === undefined) return position;
    if (!this.#servers.includes(server)) this.#servers.push(server);
    return `s${String(this.#servers.indexOf(server)).padStart(4, '0')} ${position}`;
  }

  /**
   * The ends of snapshots that no row of their table tells. Called where all messages have been read: a snapshot has ended with its last row, in
   * whatever table.
   */
  ends(): readonly ChangeEvent[] {
    if (this.#finished === undefined) return [];
    return [...this.#states].flatMap(([table, state]) => (state.snapshot?.id === this.#finished ? this.#end(table, state) : []));
  }

  #end(table: string, state: TableState): readonly ChangeEvent[] {
    if (state.snapshot?.isOpen !== true) return [];
    state.snapshot = { ...state.snapshot, isOpen: false };
    return [{ kind: 'snapshot', table, state: 'end' }];
  }

  /**
   * Where deletes have separate messages, Debezium writes a tombstone behind each of them. It says nothing more then, and has no position. Compaction
   * removes the message of the delete and leaves the tombstone for a time: then it is the delete.
   */
  #ofTombstone(table: string, key: string | undefined, partition: number): readonly ChangeEvent[] {
    if (key === undefined || this.#of(table).deleted[partition] === key) return [];
    return [{ kind: 'delete', table, key, position: undefined }];
  }

  /** Their topics are read from the beginning. */
  forget(tables: readonly string[]): void {
    for (const table of tables) this.#states.delete(table);
  }

  #of(table: string): TableState {
    const found = this.#states.get(table);
    if (found !== undefined) return found;
    const state: TableState = { deleted: {}, columns: undefined, schema: undefined };
    this.#states.set(table, state);
    return state;
  }
}

/**
 * Whether a snapshot of a table without a key is sent a second time: the connector was killed before its offsets were kept, and the server made no
 * change meanwhile, so that the snapshot has the place of the one before. The rows of a key replace each other; rows without one would count twice.
 * The only row of the last table has no mark of a first one.
 */
function isAgain({ snapshot, event }: Change, state: TableState): boolean {
  if (event.kind !== 'row' || event.key !== undefined) return false;
  return snapshot?.isFirst === true || (snapshot?.isLastOfAll === true && state.snapshot?.isOpen === false);
}

/** The columns, where they are others than those of the message before. */
function columnsEvent(table: string, { columns }: Change, state: TableState): readonly ChangeEvent[] {
  if (columns === undefined || columns.schema === state.schema) return [];
  state.schema = columns.schema;
  const all = columnsOf(columns.schema, columns.connector);
  const text = JSON.stringify(all);
  if (text === state.columns) return [];
  state.columns = text;
  return [{ kind: 'columns', table, columns: all }];
}

const columnsOf = (schema: Schema, connector: Connector): readonly FeedColumn[] =>
  schema.fields.map((field) => columnOf(field.name, field.schema, connector));
