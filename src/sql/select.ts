/** The SQL of scans: a projection of a table, or the matching pairs of rows of two tables or queries. Pure text. */
import { type ColumnNaming, quote } from './catalogue/identifiers.ts';
import type { Column, Product, SqlSession, TableScan } from './database.ts';
import type { Dialect } from './dialects/dialect.ts';
import { DIALECTS } from './dialects/dialects.ts';
import type { Table, TableName } from './tables.ts';

/** A table or a query of a session. */
export interface Relation {
  readonly session: SqlSession;
  /** For messages: `The table student`. */
  readonly label: string;
  /** One SELECT; undefined: the relation is the table itself. */
  readonly query: string | undefined;
  readonly table: Table | undefined;
  /** How references name its columns. */
  readonly naming: ColumnNaming;
  /** The columns of the query's result or the table, in order. */
  readonly columns: readonly Column[];
}

/** One side of a join: column indexes. */
export interface Side {
  readonly relation: Relation;
  /** Ascending and distinct: the columns of this side in the result. */
  readonly read: readonly number[];
  /** The columns to compare, in the order of the join's conditions. */
  readonly keys: readonly number[];
  /** The columns contain a unique key: rows are distinct without DISTINCT. */
  readonly distinct: boolean;
}

/** `from` ≤ column < `to`, texts as the server writes them; undefined: no bound. */
export interface Range {
  readonly column: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

export interface Query {
  readonly sql: string;
  /** The columns of its result, in order; their names may differ from those in the SQL. */
  readonly columns: readonly Column[];
  /** The table whose rows these are, if they are all of them as they are. */
  readonly table?: TableScan | undefined;
}

export const tableName = ({ schema, name }: TableName, product: Product): string => `${quote(schema, product)}.${quote(name, product)}`;

export const allOf = (table: TableName, product: Product): string => `SELECT * FROM ${tableName(table, product)}`;

/**
 * The query as its author wrote it, or the columns `read` of the table. A query is not wrapped, so that error positions are kept and
 * nothing is materialised.
 *
 * @param rows the most rows of the table; a query has all of its rows
 */
export function selectQuery(
  { session, query, table, columns }: Relation,
  read: readonly number[],
  range: Range | undefined,
  rows?: number,
): Query {
  if (query !== undefined) return { sql: query, columns };
  const { product } = session;
  const names = read.map((column) => quote((columns[column] as Column).name, product));
  const where = range === undefined ? '' : rangeCondition(range, columns, product);
  const { before, behind } = limit(rows, product);
  const isWhole = range === undefined && rows === undefined;
  return {
    // A row without columns is still a row.
    sql: `SELECT ${before}${names.join(', ') || '1'} FROM ${tableName(table as Table, product)}${where === '' ? '' : ` WHERE ${where}`}${behind}`,
    columns: names.length === 0 ? [MARK] : read.map((column) => columns[column] as Column),
    table: isWhole
      ? { schema: (table as Table).schema, name: (table as Table).name, columns: read.map((column) => (columns[column] as Column).name) }
      : undefined,
  };
}

const limit = (rows: number | undefined, product: Product): ReturnType<Dialect['limit']> =>
  rows === undefined ? { before: '', behind: '' } : DIALECTS[product].limit(rows);

const MARK: Column = {
  name: '1',
  type: 'integer',
  family: 'number',
  datatype: undefined,
  canonical: undefined,
  partial: false,
  elements: undefined,
  exact: false,
};

/** Every `rows`-th value of a key in key order, without the first: answered from an index alone. */
export function boundsQuery(table: TableName, column: string, rows: number, product: Product): string {
  const key = quote(column, product);
  const numbered = `SELECT ${key} AS k, ROW_NUMBER() OVER (ORDER BY ${key}) AS n FROM ${tableName(table, product)}`;
  const { alias, isMultiple } = DIALECTS[product];
  return `SELECT k FROM (${numbered})${alias}numbered WHERE n > 1 AND ${isMultiple('(n - 1)', String(rows))} ORDER BY k`;
}

/**
 * The matching pairs of rows: the child's columns, then the parent's. Each pair comes once if DISTINCT supports all columns
 * (`canBeDistinct`). Each side is reduced to the needed columns and distinct rows before the join: thousands of equal rows are joined as
 * one.
 *
 * @param rows the most pairs
 */
export function joinQuery(child: Side, parent: Side, range: Range | undefined, rows?: number): Query {
  const { sql: left, names: leftNames } = sideQuery(child, 'c', range);
  const { sql: right, names: rightNames } = sideQuery(parent, 'p', undefined);
  const conditions = child.keys.map((_, i) => `c.${keyName('c', i)} = p.${keyName('p', i)}`);
  const names = [...leftNames.map((name) => `c.${name}`), ...rightNames.map((name) => `p.${name}`)];
  const distinct = !(child.distinct && parent.distinct) && [child, parent].every(canBeDistinct);
  const { before, behind } = limit(rows, child.relation.session.product);
  return {
    sql: `SELECT ${distinct ? 'DISTINCT ' : ''}${before}${names.join(', ') || '1'} FROM ${left} JOIN ${right} ON ${conditions.join(' AND ')}${behind}`,
    columns:
      names.length === 0
        ? [MARK]
        : [child, parent].flatMap(({ relation, read }) => read.map((column) => relation.columns[column] as Column)),
  };
}

const keyName = (side: string, index: number): string => `${side}_k${index}`;

function sideQuery(side: Side, name: 'c' | 'p', range: Range | undefined): { readonly sql: string; readonly names: readonly string[] } {
  const { relation, read, keys } = side;
  const { product } = relation.session;
  const names = read.map((_, i) => `${name}_${i}`);
  const shown = read.map((column, i) => `${exactText(relation.columns[column] as Column, product)} AS ${names[i]}`);
  const compared = keys.map((column, i) => `${comparedText(relation.columns[column] as Column, product)} AS ${keyName(name, i)}`);
  const { alias, derived } = DIALECTS[product];
  const query = relation.query === undefined ? undefined : (derived(relation.query) ?? relation.query);
  const from = query === undefined ? tableName(relation.table as Table, product) : `(${query}\n)${alias}q`;
  const where = range === undefined ? '' : ` WHERE ${rangeCondition(range, relation.columns, product)}`;
  const distinct = side.distinct || !canBeDistinct(side) ? '' : 'DISTINCT ';
  return { sql: `(SELECT ${distinct}${[...shown, ...compared].join(', ')} FROM ${from}${where})${alias}${name}`, names };
}

/** Whether SQL's DISTINCT keeps all rows with different texts: it does not support every type. */
export const canBeDistinct = ({ relation, read }: Pick<Side, 'relation' | 'read'>): boolean =>
  read.every((column) => (relation.columns[column] as Column).family !== 'other');

/** A column for which DISTINCT compares texts, not collation keys: `a` and `A` are different. */
function exactText(column: Column, product: Product): string {
  const name = quote(column.name, product);
  return column.family === 'text' ? DIALECTS[product].exactText(name) : name;
}

/** A key: its values are equal if their texts are. */
function comparedText(column: Column, product: Product): string {
  const name = quote(column.name, product);
  return column.family === 'text' ? DIALECTS[product].comparedText(name) : name;
}

function rangeCondition({ column, from, to }: Range, columns: readonly Column[], product: Product): string {
  const name = quote(column, product);
  const { literal } = DIALECTS[product];
  const isNumber = columns.find((one) => one.name === column)?.family === 'number';
  const bounds = [
    from === undefined ? '' : `${name} >= ${literal(from, isNumber)}`,
    to === undefined ? '' : `${name} < ${literal(to, isNumber)}`,
  ];
  return bounds.filter((bound) => bound !== '').join(' AND ') || '1 = 1';
}
