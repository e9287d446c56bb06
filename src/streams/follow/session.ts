/** Kept rows as a database: what the engine reads in place of that from which they come. */
import { Fault } from '../../core/fault.ts';
import { fromBytes } from '../../core/text.ts';
import type { Column, DatabaseAddress, Product, RowBatch, SqlSession, TableScan } from '../../sql/database.ts';
import { allOf } from '../../sql/select.ts';
import type { Catalogue, Table } from '../../sql/tables.ts';
import { TEXT, TOKEN } from './columns.ts';
import type { RowSource } from './reading.ts';
import { readCells } from './state/packing.ts';
import type { Kept } from './state/state.ts';

/** A table as a follower has it. */
export interface FollowedTable {
  /** By which the feed names it. */
  readonly name: string;
  readonly table: Table;
  /** Their family is `other`. */
  readonly columns: readonly Column[];
  /** Names of the columns without a schema: those of `untypedColumn`. */
  readonly untyped: ReadonlySet<string>;
  /** Names of the columns whose texts have a character for each byte, in the feed as in the database. */
  readonly raw: ReadonlySet<string>;
}

/** A cell, from one-byte UTF-8. */
type Convert = (text: string, isToken: boolean) => string;
const plainCell: Convert = (text) => text;
const markedCell: Convert = (text, isToken) => (isToken ? TOKEN : TEXT) + text;
const rawCell: Convert = fromBytes;

const MOST_ROWS = 1000;

export class FollowedSession implements SqlSession {
  readonly product: Product;
  readonly version = '';
  readonly address: DatabaseAddress;
  readonly catalogue: Catalogue;
  readonly warning: string | undefined;
  readonly #rows: RowSource;
  readonly #tables: readonly FollowedTable[];
  readonly #find: (parts: readonly string[]) => FollowedTable | undefined;

  /**
   * @param name of the feed, for messages
   * @param find the table that a name of the mapping means, by its parts
   */
  constructor(
    product: Product,
    name: string,
    rows: RowSource,
    tables: readonly FollowedTable[],
    find: (parts: readonly string[]) => FollowedTable | undefined,
    warning?: string,
  ) {
    this.product = product;
    this.address = {
      product,
      server: undefined,
      database: undefined,
      user: undefined,
      password: undefined,
      schemas: [],
      tls: { mode: 'disable', caFile: undefined, certificateFile: undefined, keyFile: undefined },
      parameters: {},
      name,
    };
    this.#rows = rows;
    this.#tables = tables;
    this.#find = find;
    this.warning = warning;
    this.catalogue = {
      tables: async () => tables.map(({ table }) => table),
      table: async (parts) => this.#find(parts)?.table,
      defaultSchema: async () => undefined,
    };
  }

  async describe(sql: string): Promise<readonly Column[]> {
    const found = this.#tables.find(({ table }) => allOf(table, this.product) === sql);
    if (found === undefined) throw this.#noQueries();
    return found.columns;
  }

  async *rows(_sql: string, _columns: number, scan?: TableScan): AsyncGenerator<RowBatch> {
    const found = this.#tables.find(({ table }) => table.schema === scan?.schema && table.name === scan.name);
    if (scan === undefined || found === undefined) throw this.#noQueries();
    const converts = scan.columns.map((name) => (found.untyped.has(name) ? markedCell : found.raw.has(name) ? rawCell : plainCell));
    const width = Math.max(1, scan.columns.length);
    /** By layout: for each of its columns, where it stands in the result, or -1. */
    const places = new Map<readonly string[], readonly number[]>();
    let bytes = 0;
    for await (const chunk of this.#rows.read(found.name)) {
      let rows: (string | null)[][] = [];
      let of: Kept[] = [];
      for (const kept of chunk) {
        let place = places.get(kept.layout);
        if (place === undefined) places.set(kept.layout, (place = kept.layout.map((name) => scan.columns.indexOf(name))));
        const row = new Array<string | null>(width).fill(null);
        readCells(kept.bytes, kept.at, kept.layout.length, (index, text, isToken) => {
          const at = (place as readonly number[])[index] as number;
          if (at >= 0) row[at] = text === null ? null : (converts[at] as Convert)(text, isToken);
        });
        bytes += kept.bytes.length;
        for (let n = 0; n < kept.count; n++) {
          rows.push(row);
          of.push(kept);
          if (rows.length < MOST_ROWS) continue;
          this.#rows.giving?.(of);
          yield { rows, bytes };
          rows = [];
          of = [];
        }
      }
      if (rows.length === 0) continue;
      this.#rows.giving?.(of);
      yield { rows, bytes };
    }
  }

  async select(): Promise<never> {
    throw this.#noQueries();
  }

  async query(): Promise<never> {
    throw this.#noQueries();
  }

  async exportSnapshot(): Promise<undefined> {}

  /** The rows stay open. */
  async close(): Promise<void> {}

  #noQueries(): Fault {
    return new Fault('database/query', 'The rows that a follower keeps can be read, and not queried', {
      place: { input: this.address.name },
    });
  }
}
