/** What is kept of each table between messages: its columns, the snapshot that is being read, and how its deletes are announced. */
import type { ChangeEvent, FeedColumn } from '../events.ts';
import type { Change, Decoded } from './message.ts';
import type { Schema } from './schema.ts';
import { type Connector, columnOf } from './values.ts';

/** What is kept with the position. */
interface KeptState {
  /** The last snapshot, and whether more of its rows are expected. */
  snapshot?: { readonly id: string; readonly isOpen: boolean };
  /** Whether deletes are tombstones alone; undefined: no message has been seen yet. */
  isBare?: boolean;
}

interface TableState extends KeptState {
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
    for (const [table, state] of Object.entries(tables)) Object.assign(this.#of(table), state);
    this.#servers = servers;
    this.#finished = finished;
  }

  /** As text; undefined: nothing is known of any table. */
  get kept(): string | undefined {
    if (this.#states.size === 0) return undefined;
    const states = [...this.#states].map(([table, { snapshot, isBare }]): [string, KeptState] => [
      table,
      { ...(snapshot === undefined ? {} : { snapshot }), ...(isBare === undefined ? {} : { isBare }) },
    ]);
    return JSON.stringify({ tables: Object.fromEntries(states), servers: this.#servers, finished: this.#finished });
  }

  /** The events of a message. */
  eventsOf(table: string, decoded: Decoded): readonly ChangeEvent[] {
    if (decoded.kind === 'tombstone') return this.#ofTombstone(table, decoded.key);
    if (decoded.kind !== 'change') return [];
    const state = this.#of(table);
    state.isBare = decoded.isBare;
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
   * Claim: a tombstone need not be made an event where deletes have separate messages. Proof: Debezium writes it after such a message,
   * with the same key. Where the form of deletes is not known, no message of the topic has been read, and no row is there.
   */
  #ofTombstone(table: string, key: string | undefined): readonly ChangeEvent[] {
    if (key === undefined || this.#of(table).isBare !== true) return [];
    return [{ kind: 'delete', table, key, position: undefined }];
  }

  #of(table: string): TableState {
    const found = this.#states.get(table);
    if (found !== undefined) return found;
    const state: TableState = { columns: undefined, schema: undefined };
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
