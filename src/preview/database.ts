/** The tables of a database, and the first rows of a table or query as a list of fields. */
import { LinkedAbort } from '../core/abort.ts';
import { Fault } from '../core/fault.ts';
import { timeOverFault } from '../core/limits.ts';
import { fromBytes } from '../core/text.ts';
import { TypedValue } from '../core/value.ts';
import { fieldsOf } from '../infer/fields.ts';
import type { Members, Tree } from '../infer/sample.ts';
import type { DatabaseAccess, SqlLimits } from '../run/request.ts';
import type { FieldsAnswer } from '../sampling/fields.ts';
import { defaultSchema, readTable, readTables } from '../sql/catalogue/catalogue.ts';
import { parseTableName, quote } from '../sql/catalogue/identifiers.ts';
import type { Column, Product, SqlSession } from '../sql/database.ts';
import { openSession } from '../sql/drivers/open.ts';
import { parseJdbcUrl } from '../sql/jdbc/jdbc.ts';
import { allOf } from '../sql/select.ts';
import type { TableName } from '../sql/tables.ts';
import type { TimeLimit } from './preview.ts';

/** The database of the options. */
export interface DatabaseReading {
  readonly access: DatabaseAccess;
  readonly sql: SqlLimits;
  /** Base of relative paths of database files. */
  readonly workingDirectory: string;
}

export interface RowsQuestion {
  readonly of: 'table' | 'query';
  /** The table as a mapping writes it: `student`, `"My schema".student`. Or one SELECT. */
  readonly text: string;
  readonly deeper?: boolean | undefined;
  readonly nulls?: readonly string[] | undefined;
}

export interface TablesAnswer {
  /** Without user, password and parameters. */
  readonly database: string;
  readonly tables: readonly TableView[];
  /** There are more tables than are given. */
  readonly cut: boolean;
}

export interface TableView {
  /** As a mapping writes it. */
  readonly name: string;
  readonly kind: 'table' | 'view';
  readonly columns: readonly { readonly name: string; readonly nullable: boolean }[];
  readonly primaryKey?: readonly string[];
  readonly foreignKeys: readonly {
    readonly columns: readonly string[];
    /** As a mapping writes it. */
    readonly parent: string;
    readonly parentColumns: readonly string[];
  }[];
  /** The server's estimate. */
  readonly rows?: number;
}

const MAX_TABLES = 1_000;
const MAX_COLUMNS = 20_000;
const ROWS = 200;
const DEEPER_ROWS = 5_000;
/** Of one value: what is longer is cut, as in the examples of other inputs. */
const MAX_TEXT = 1_000;
const MAX_CHARACTERS = 32 * 2 ** 20;

/** @throws Fault as `OpenSession`; limit/exceeded — the time is over */
export const listTables = (reading: DatabaseReading, limit: TimeLimit): Promise<TablesAnswer> =>
  within(reading, limit, async (session) => {
    const own = await defaultSchema(session);
    const all = await readTables(session);
    const nameOf = (table: TableName): string => written(table, own, session.product);
    const tables: TableView[] = [];
    let columns = 0;
    for (const table of all) {
      columns += table.columns.length;
      if (tables.length === MAX_TABLES || columns > MAX_COLUMNS) break;
      const { kind, primaryKey, estimatedRows } = table;
      tables.push({
        name: nameOf(table),
        kind,
        columns: table.columns.map(({ name, nullable }) => ({ name, nullable })),
        ...(primaryKey === undefined ? {} : { primaryKey }),
        foreignKeys: table.foreignKeys.map((one) => ({
          columns: one.columns,
          parent: nameOf(one.parent),
          parentColumns: one.parentColumns,
        })),
        ...(estimatedRows === undefined ? {} : { rows: estimatedRows }),
      });
    }
    return { database: session.address.name, tables, cut: tables.length < all.length };
  });

/** @throws Fault request/invalid — no such table; limit/exceeded — the time was over before the first rows came; as `SqlSession.select` and `OpenSession` */
export const sampleRows = (
  { of, text, deeper = false, nulls }: RowsQuestion,
  reading: DatabaseReading,
  limit: TimeLimit,
): Promise<FieldsAnswer> =>
  within(reading, limit, async (session, isOver) => {
    const sql = of === 'query' ? text : allOf(await tableNamed(text, session), session.product);
    const most = deeper ? DEEPER_ROWS : ROWS;
    const { columns, batches } = await session.select(sql, most);
    const notes = new Set<string>();
    const root: Members[] = [];
    let bytesRead = 0;
    let characters = 0;
    let complete = true;
    try {
      for await (const { rows, bytes } of batches) {
        bytesRead = bytes;
        for (const row of rows) {
          if (root.length === most || characters > MAX_CHARACTERS) complete = false;
          else {
            for (const value of row) characters += value?.length ?? 0;
            root.push({ members: new Map(columns.map((column, i) => [column.name, treeOf(row[i] ?? null, column, notes)])) });
          }
        }
        if (!complete) break;
      }
    } catch (error) {
      if (!isOver() || root.length === 0) throw error;
      complete = false;
    }
    // Without rows the columns are known all the same.
    const isEmpty = root.length === 0;
    if (isEmpty) root.push({ members: new Map(columns.map(({ name }) => [name, null])) });
    const found = fieldsOf(root, { hasRecords: true, isXml: false, nulls });
    return {
      format: 'sql',
      namespaces: {},
      fields: found.fields,
      records: isEmpty ? 0 : found.records,
      bytesRead,
      complete,
      warnings: [...notes, ...found.notes],
    };
  });

async function within<T>(
  { access, sql, workingDirectory }: DatabaseReading,
  { until, step }: TimeLimit,
  read: (session: SqlSession, isOver: () => boolean) => Promise<T>,
): Promise<T> {
  const { jdbcUrl: url, user, password } = access;
  const began = Date.now();
  const over = new LinkedAbort([], Math.max(0, until - began));
  const address = parseJdbcUrl({ url, user, password, directory: workingDirectory });
  let doing = `connecting to ${address.name}`;
  step?.(doing);
  let session: SqlSession | undefined;
  try {
    session = await openSession(address, { ...sql, signal: over.signal });
    doing = `asking ${address.name}`;
    step?.(doing);
    return await read(session, () => over.timedOut);
  } catch (error) {
    throw over.timedOut ? timeOverFault(doing, until - began, error) : error;
  } finally {
    over.release();
    await session?.close();
  }
}

async function tableNamed(name: string, session: SqlSession): Promise<TableName> {
  const found = await readTable(session, parseTableName(name, session.product));
  if (found !== undefined) return found;
  throw new Fault('request/invalid', `${session.address.name} has no table or view '${name}' that this user can see`, {
    hint: 'A name with capital letters, or in another schema, is written with quotes or with its schema: "My schema"."Order"',
  });
}

/** The shortest text that means the table in a mapping. */
function written({ schema, name }: TableName, own: string | undefined, product: Product): string {
  const parts = schema === own ? [name] : [schema, name];
  const plain = parts.join('.');
  return isPlain(plain, parts, product) ? plain : parts.map((part) => quote(part, product)).join('.');
}

function isPlain(text: string, parts: readonly string[], product: Product): boolean {
  try {
    return JSON.stringify(parseTableName(text, product)) === JSON.stringify(parts);
  } catch (error) {
    if (error instanceof Fault && error.code === 'mapping/invalid') return false;
    throw error;
  }
}

function treeOf(text: string | null, column: Column, notes: Set<string>): Tree {
  if (text === null) return null;
  return column.elements?.(text)?.map((one) => leafOf(one, column, notes)) ?? leafOf(text, column, notes);
}

function leafOf(text: string, { name, datatype, canonical, value }: Column, notes: Set<string>): Tree {
  try {
    const found = value?.(text) ?? canonical?.(text) ?? text;
    if (found === null) return null;
    if (found instanceof TypedValue) return { text: fromBytes(found.written).slice(0, MAX_TEXT), datatype: found.datatype };
    const plain = fromBytes(found).slice(0, MAX_TEXT);
    return datatype === undefined ? plain : { text: plain, datatype };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'record/term') throw error;
    notes.add(`${JSON.stringify(name)} has values that its datatype does not have: a run rejects their rows`);
    return null;
  }
}
