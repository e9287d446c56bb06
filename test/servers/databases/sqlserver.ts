/** A database behind the protocol of SQL Server whose queries and tables are those of a test, and which answers nothing else. */
import { startTds, type TdsAnswer, type TdsOptions, type TdsServer, type TdsValue } from './tds.ts';

export interface TestQuery {
  /** As the server is asked for it. */
  readonly sql: string;
  /** Names and types of its columns. */
  readonly columns: readonly (readonly [name: string, type: string])[];
  /** Values as the server sends them in the types that it is asked for. */
  readonly rows: Iterable<readonly TdsValue[]>;
  /** Instead of rows. */
  readonly answers?: TdsAnswer;
}

export interface TestTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly nullable?: true }[];
  readonly primaryKey?: readonly string[];
  readonly references?: readonly {
    readonly column: string;
    readonly parent: string;
    readonly parentColumn: string;
    readonly exact: boolean;
  }[];
}

export interface TestDatabase extends Partial<TdsOptions> {
  readonly queries?: readonly TestQuery[];
  readonly tables?: readonly TestTable[];
  /** Whether the database allows snapshots. Default: true. */
  readonly snapshots?: boolean;
}

const UNKNOWN = { number: 208, message: "Invalid object name 'unknown'.", line: 2 };
const text = (literal: string): string => literal.slice(2, -1).replaceAll("''", "'");
const LITERAL = "N'(?:[^']|'')*'";

export const startSqlServer = (database: TestDatabase): Promise<TdsServer> =>
  startTds({ ...database, answer: (sql) => database.answer?.(sql) ?? answerOf(database, sql) });

function answerOf(database: TestDatabase, sql: string): TdsAnswer {
  const described = new RegExp(`dm_exec_describe_first_result_set\\((${LITERAL}),`).exec(sql)?.[1];
  if (described !== undefined) return describe(database, text(described));
  const [, inner, sets] = new RegExp(`^EXEC \\((${LITERAL})\\) WITH RESULT SETS \\(\\((.*)\\)\\)$`, 's').exec(sql) ?? [];
  if (inner !== undefined && sets !== undefined) {
    const query = database.queries?.find((one) => one.sql === text(inner));
    if (query === undefined) return { error: UNKNOWN };
    if (query.answers !== undefined) return query.answers;
    const types = [...sets.matchAll(/(c\d+) (\w+(?:\([^)]*\))?) NULL/g)];
    return { columns: types.map(([, name, type]) => ({ name: name as string, type: type as string })), rows: query.rows };
  }
  if (sql.includes('ProductVersion')) return rowsOf({ version: '16.0.4135.4', state: database.snapshots === false ? 0 : 1 });
  if (/^(?:SET |BEGIN )/.test(sql)) return 'done';
  if (sql.includes('SCHEMA_NAME() AS name')) return rowsOf({ name: 'dbo' });
  return catalogue(database.tables ?? [], sql);
}

/** A query in parentheses has the columns of the query. */
function describe({ queries = [] }: TestDatabase, sql: string): TdsAnswer {
  const query =
    queries.find((one) => one.sql === sql) ??
    queries.find((one) => sql.startsWith(`SELECT * FROM (${one.sql}`) && /\) AS q \([^)]*\)$/.test(sql));
  const none = { name: null, system_type_name: null, user_type_schema: null, user_type_name: null, hidden: 0 };
  if (query === undefined) return rowsOf({ ...none, error_number: UNKNOWN.number, error_message: UNKNOWN.message });
  return rowsOf(
    ...query.columns.map(([name, type]) => ({
      ...none,
      name,
      ...(/^(?:geography|hierarchyid)$/.test(type) ? { user_type_schema: 'sys', user_type_name: type } : { system_type_name: type }),
      error_number: null,
      error_message: null,
    })),
  );
}

function catalogue(tables: readonly TestTable[], sql: string): TdsAnswer {
  const id = Number(/(?:object_id|parent_object_id) = (\d+)/.exec(sql)?.[1] ?? 0);
  const table = tables[id - 1];
  if (sql.includes('FROM sys.tables')) return rowsOf(...tables.map((_, i) => ({ id: i + 1 })));
  const asked = /OBJECT_ID\(N'\[(?:dbo\]\.\[)?([^'\]]+)\]'\)\) AS id/.exec(sql)?.[1];
  if (asked !== undefined) {
    const position = tables.findIndex(({ name }) => name.toLowerCase() === asked.toLowerCase());
    return rowsOf({ id: position === -1 ? null : position + 1 });
  }
  if (table === undefined) return sql.includes('AS id') ? rowsOf({ id: null }) : { error: UNKNOWN };
  if (sql.includes('AS kind')) return rowsOf({ schema: 'dbo', name: table.name, kind: 'U ', rows: '2' });
  if (sql.includes('sys.foreign_keys'))
    return rowsOf(
      ...(table.references ?? []).map(({ column, parent, parentColumn, exact }, i) => ({
        idx: String(i),
        col: column,
        parent_schema: 'dbo',
        parent,
        parent_col: parentColumn,
        exact: exact ? 1 : 0,
      })),
    );
  if (sql.includes('sys.indexes')) return rowsOf(...(table.primaryKey ?? []).map((col) => ({ idx: '1', pk: 1, col })));
  return rowsOf(...table.columns.map(({ name, nullable }) => ({ name, nullable: nullable === true ? 1 : 0 })));
}

/** Numbers as int, everything else as text. */
function rowsOf(...rows: readonly Readonly<Record<string, string | number | null>>[]): TdsAnswer {
  const [first = { none: null }] = rows;
  const columns = Object.keys(first).map((name) => ({
    name,
    type: rows.some((row) => typeof row[name] === 'number') ? 'int' : 'nvarchar(4000)',
  }));
  return { columns, rows: rows.map((row) => Object.values(row)) };
}
