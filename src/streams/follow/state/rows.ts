/**
 * The rows that a follower keeps, by table and key, with how far the feed was read: an LMDB environment in the state directory of the dataset.
 *
 * A transaction has the changes of some batches and the position behind them. So a process that is killed at any moment finds rows and a position that
 * belong together. Rows are dropped by *generation*: a truncate or the end of a snapshot raises the least generation that counts, and what is below is
 * removed later, in small transactions.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { open, type RootDatabase } from 'lmdb';
import { Fault } from '../../../core/fault.ts';
import { makeDirectory } from '../../../storage/local/directory.ts';
import type { ChangeEvent } from '../../events.ts';
import { Changes, type Reject } from './changes.ts';
import { assertEnvironment } from './environment.ts';
import { numberKey } from './keys.ts';
import { Layouts } from './layouts.ts';
import { headOf } from './packing.ts';
import { damaged, Records } from './records.ts';
import { RowIndex } from './row-index.ts';
import { countOf, type FollowState, isOld, type Kept, type KeptTable } from './state.ts';

const FORMAT = 4;

/** Of rows, at most. */
const CHUNK = 1000;
const CHUNK_BYTES = 4 * 2 ** 20;

export class KeptRows {
  readonly #root: RootDatabase;
  readonly #meta: Records;
  readonly #rows: Records;
  readonly index: RowIndex;
  readonly #directory: string;
  #state: FollowState;
  #ids = 0;
  #tables = new Map<string, KeptTable>();
  /** By their numbers. */
  #byNumber: KeptTable[] = [];
  /** By the numbers of tables: how many records they have. */
  #counts: number[] = [];
  #layouts!: Layouts;
  readonly #changes: Changes;

  private constructor(directory: string, root: RootDatabase, begun: Pick<FollowState, 'dataset' | 'feed'>) {
    this.#directory = directory;
    this.#root = root;
    this.#meta = new Records(root, 'state', directory);
    this.#rows = new Records(root, 'rows', directory);
    this.index = new RowIndex(root, directory);
    this.#state = { ...begun, isWhole: false, isDirty: true, version: 0, ids: 0 };
    this.#changes = new Changes({
      rows: this.#rows,
      count: ({ number }, by) => this.#count(number, by),
      layouts: () => this.#layouts,
      table: (name) => this.#tables.get(name) ?? this.#newTable(name),
      saveTable: (name, table) => this.#saveTable(name, table),
      sweep: (name, before, after) => this.#sweep(name, before, after),
      touch: (key, live) => this.#touch(key, live),
      newId: () => ++this.#ids,
    });
    this.#load();
  }

  /**
   * Opens the rows, or makes empty ones: where there are none, or those of another dataset or feed. The caller has locked the directory above, and closes
   * them.
   *
   * @param begun undefined: those that are there, whatever they are of
   * @param isWhole see `assertEnvironment`
   * @throws Fault sink/failed — they cannot be opened; source/missing — `begun` is undefined, and there are none
   */
  static async open(directory: string, begun: Pick<FollowState, 'dataset' | 'feed'> | undefined, isWhole = true): Promise<KeptRows> {
    const opened = openIn(directory, begun ?? { dataset: '', feed: '' }, isWhole);
    const { dataset, feed } = opened.state;
    if (begun === undefined) {
      if (dataset !== '' && opened.isKept) return opened;
      await opened.close();
      await rm(directory, { recursive: true, force: true });
      throw new Fault('source/missing', `The rows that a follower keeps are not in ${directory}`, {
        hint: 'Start the follower: it reads the feed from the beginning',
      });
    }
    if (dataset === begun.dataset && feed === begun.feed && opened.isKept) return opened;
    await opened.close();
    await rm(directory, { recursive: true, force: true });
    const fresh = openIn(directory, begun, isWhole);
    fresh.save({});
    return fresh;
  }

  static inDirectory(directory: string, root: RootDatabase, begun: Pick<FollowState, 'dataset' | 'feed'>): KeptRows {
    return new KeptRows(directory, root, begun);
  }

  get state(): FollowState {
    return this.#state;
  }

  /** Whether the state has been written, in the form of this version. */
  get isKept(): boolean {
    return this.#written('format') === FORMAT;
  }

  /** undefined: no event has named the table. */
  table(name: string): KeptTable | undefined {
    return this.#tables.get(name);
  }

  get tables(): Iterable<string> {
    return this.#tables.keys();
  }

  /** Whether what is kept of a table is all that its feed has told. */
  hasTable(name: string): boolean {
    const table = this.#tables.get(name);
    return table !== undefined && table.isForgotten !== true;
  }

  /** The rows of these tables have gone. @throws Fault sink/failed */
  forget(names: readonly string[]): void {
    const known = names.filter((name) => this.hasTable(name));
    if (known.length === 0) return;
    this.#transaction(() => {
      for (const name of known) {
        const table = this.#tables.get(name) as KeptTable;
        const generation = table.generation + 1;
        const gone = { floor: undefined, last: undefined, isInSnapshot: false, columns: undefined, names: [], present: undefined };
        this.#sweep(name, table, { ...table, ...gone, generation, least: generation, hasOld: true, isForgotten: true });
      }
      this.#changes.forget();
    });
  }

  /** Writes a part of the state, or what `act` returns together with what it writes. @throws Fault sink/failed */
  save(act: Partial<FollowState> | (() => Partial<FollowState>)): void {
    this.#transaction(() => this.#saveState(typeof act === 'function' ? act() : act));
  }

  /** The row that has a key. undefined: there is none. */
  find(key: Buffer): Kept | undefined {
    const bytes = this.#rows.get(key);
    return bytes && this.#keptOf(key, bytes);
  }

  /** The row that a key had in the version of the index, of a key that has another one now. undefined: it had none. */
  findOld(key: Buffer): Kept | undefined {
    const bytes = this.index.before(key);
    if (bytes === undefined) return undefined;
    const head = headOf(bytes);
    return { id: head.id, key, layout: this.#layouts.names(head.layout), bytes, at: head.at, count: 1 };
  }

  /**
   * Makes changes, all of them or none.
   *
   * @param part of the state that is written with them: the position behind them
   * @param reject called with the place of a change, and why it cannot be made
   * @returns how many of them have changed a row, or may have
   * @throws Fault sink/failed; what `reject` throws
   */
  apply(events: readonly ChangeEvent[], part: Partial<FollowState>, reject: Reject): number {
    return this.#transaction(() => {
      let changed = 0;
      for (const event of events) if (this.#changes.make(event, reject)) changed++;
      this.#saveState(changed > 0 ? { ...part, isDirty: true } : part);
      return changed;
    });
  }

  /** The rows of a table, in any order. None must be written meanwhile. Memory: one chunk. */
  async *read(name: string): AsyncGenerator<readonly Kept[]> {
    const table = this.#tables.get(name);
    if (table === undefined) return;
    for (const chunk of this.#chunks(table)) {
      const kept: Kept[] = [];
      for (const { key, value } of chunk) {
        const found = this.#keptOf(key, value, table);
        if (found !== undefined) kept.push(found);
      }
      yield kept;
    }
  }

  #keptOf(key: Buffer, bytes: Buffer, table = this.#byNumber[key.readUInt32BE()] as KeptTable): Kept | undefined {
    const head = headOf(bytes);
    const count = countOf(head, table);
    if (count === 0) return undefined;
    return { id: head.id, key, layout: this.#layouts.names(head.layout), bytes, at: head.at, count };
  }

  /** Removes rows that have gone with their generation. Can be interrupted at any moment. @throws Fault sink/failed */
  async removeOld(): Promise<void> {
    for (const [name, table] of this.#tables) {
      if (!table.hasOld) continue;
      for (const chunk of this.#chunks(table)) {
        const old = chunk.filter(({ value }) => isOld(headOf(value), table));
        if (old.length > 0)
          this.#transaction(() => {
            for (const { key } of old) this.#rows.remove(key);
            this.#count(table.number, -old.length);
          });
        // Others have their turn.
        await new Promise(setImmediate);
      }
      this.#transaction(() => this.#saveTable(name, { ...table, hasOld: false }));
    }
  }

  async close(): Promise<void> {
    await this.#root.close();
  }

  /** Gives a row another id, as if it had gone and another one had come. In a transaction. */
  renew(key: Buffer): void {
    this.#changes.renew(key);
  }

  /** Before another row has a key, or none. @param live the row that has it; undefined: none */
  #touch(key: Buffer, live: Buffer | undefined): void {
    if (this.#state.index === undefined || this.index.touch(key, live)) return;
    this.#lose('more rows have changed than can be compared');
  }

  /** @param lost why, as a clause */
  #lose(lost: string): void {
    this.index.forgetBefore();
    this.#state = { ...this.#state, index: undefined, lost };
  }

  /** Raises the least generation of a table. Rows of older ones go. */
  #sweep(name: string, before: KeptTable, after: KeptTable): void {
    for (const chunk of this.#state.index === undefined ? [] : this.#chunks(before)) {
      for (const { key, value } of chunk) {
        const head = headOf(value);
        if (countOf(head, before) > 0 && countOf(head, after) === 0) this.#touch(key, value);
      }
      if (this.#state.index === undefined) break;
    }
    this.#saveTable(name, after);
  }

  #newTable(name: string): KeptTable {
    const table: KeptTable = { number: this.#tables.size, generation: 1, least: 0, isInSnapshot: false, hasOld: false, names: [] };
    this.#saveTable(name, table);
    return table;
  }

  #count(number: number, by: number): void {
    this.#counts[number] = (this.#counts[number] ?? 0) + by;
  }

  /** @throws Fault source/refused — they are damaged: also where the pages of LMDB leave some of them out */
  *#chunks({ number }: KeptTable): Generator<readonly { readonly key: Buffer; readonly value: Buffer }[]> {
    const end = numberKey(number + 1);
    const expected = this.#counts[number] ?? 0;
    let found = 0;
    for (let start = numberKey(number); ; ) {
      const chunk: { readonly key: Buffer; readonly value: Buffer }[] = [];
      let bytes = 0;
      for (const { key, value } of this.#rows.entries({ start, end, limit: CHUNK })) {
        chunk.push({ key, value });
        bytes += value.length;
        if (bytes >= CHUNK_BYTES) break;
      }
      found += chunk.length;
      const isLast = chunk.length < CHUNK && bytes < CHUNK_BYTES;
      if (isLast && found !== expected) throw damaged(this.#directory, `a table has ${found} records, and ${expected} were written`);
      if (chunk.length > 0) yield chunk;
      if (isLast) return;
      start = Buffer.concat([(chunk.at(-1) as { readonly key: Buffer }).key, Buffer.of(0)]);
    }
  }

  #saveState(part: Partial<FollowState>): void {
    this.#state = { ...this.#state, ...part, ids: this.#ids };
    this.#writePart('format', FORMAT);
    this.#writePart('state', this.#state);
  }

  /** A part of the state. undefined: it is not written. */
  #written<T>(name: string): T | undefined {
    const bytes = this.#meta.get(Buffer.from(name));
    return bytes && (JSON.parse(bytes.toString()) as T);
  }

  #writePart(name: string, value: unknown): void {
    this.#meta.put(Buffer.from(name), Buffer.from(JSON.stringify(value)));
  }

  #saveTable(name: string, table: KeptTable): void {
    this.#tables.set(name, table);
    this.#byNumber[table.number] = table;
    this.#unsaved.add(name);
  }

  /** Tables that the transaction has changed. */
  readonly #unsaved = new Set<string>();

  #transaction<T>(act: () => T): T {
    try {
      const result = this.#root.transactionSync(() => {
        const done = act();
        for (const name of this.#unsaved) this.#writePart(tableKey(name), { name, ...this.#tables.get(name) });
        this.#writePart('counts', this.#counts);
        this.#writePart('sizes', this.#sizes);
        return done;
      });
      this.#unsaved.clear();
      return result;
    } catch (error) {
      // As it was before.
      this.#unsaved.clear();
      this.#changes.forget();
      this.#load();
      if (error instanceof Fault) throw error;
      throw new Fault('sink/failed', `The rows in ${this.#directory} cannot be written: ${(error as Error).message}`, {
        hint: 'Check the space of the disk',
        cause: error,
      });
    }
  }

  /** What is written with each transaction: where a root or a part of the state is damaged, there may be less, or nothing. */
  get #sizes(): readonly number[] {
    const { size, entries, touched } = this.index;
    return [this.#rows.size, size, entries, touched, this.#tables.size, this.#layouts.size];
  }

  /** @throws Fault source/refused — what is read is not what was written */
  #load(): void {
    const state = this.#written<FollowState>('state');
    this.#state = state ?? this.#state;
    this.#ids = this.#state.ids;
    this.index.load();
    const layouts = this.#written<readonly (readonly string[])[]>('layouts') ?? [];
    this.#layouts = new Layouts(layouts, (all) => this.#writePart('layouts', all));
    this.#tables = new Map();
    this.#byNumber = [];
    for (const { value } of this.#meta.entries({ start: Buffer.from(TABLE), end: Buffer.from(`${TABLE}\uffff`) })) {
      const { name, ...table } = JSON.parse(value.toString()) as KeptTable & { readonly name: string };
      this.#tables.set(name, table);
      this.#byNumber[table.number] = table;
    }
    this.#counts = [...(this.#written<readonly number[]>('counts') ?? [])];
    if (!this.isKept) return;
    const isCounted = this.#counts.reduce((sum, count) => sum + count, 0) === this.#rows.size;
    const isWhole = state !== undefined && isCounted && String(this.#written('sizes')) === String(this.#sizes);
    if (!isWhole) throw damaged(this.#directory, 'there are not as many records as were written');
  }
}

const TABLE = 'table ';
/** LMDB bounds the length of keys. */
const tableKey = (name: string): string => TABLE + createHash('sha256').update(name).digest('hex');

function openIn(directory: string, begun: Pick<FollowState, 'dataset' | 'feed'>, isWhole: boolean): KeptRows {
  try {
    makeDirectory(directory, 0o700);
    assertEnvironment(directory, isWhole);
    // A transaction is on the disk when it returns.
    return KeptRows.inDirectory(directory, open({ path: directory, maxDbs: 6, overlappingSync: false, noSubdir: false }), begun);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault('sink/failed', `The rows in ${directory} cannot be opened: ${(error as Error).message}`, {
      hint: 'Remove that directory: the follower reads the feed from the beginning then',
      cause: error,
    });
  }
}
