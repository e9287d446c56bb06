/**
 * Operators of a plan → FROM: the rows of records, and those of logical views.
 *
 * Rows are a set: the plan counts none of those that are taken here (`number`, ordinals and sides that count are refused), so a side of a join may be
 * distinct first.
 */
import { parseJsonPath } from '../paths/json/parse.ts';
import type { Column, Expression, Extend, Join, Operator, Unnest } from '../plan/algebra.ts';
import { isTerm, type Leaf } from '../plan/expressions.ts';
import type { Dialect } from './dialects/dialect.ts';
import { evaluate } from './expressions.ts';
import { checkNames, JsonColumns, stepsOf } from './json-columns.ts';
import type { Refusals } from './refusals.ts';
import type { Definer, Reading, Row, Value } from './row.ts';
import { column, isNull, not, printCondition, printSql, type Sql } from './sql.ts';

/** What may stand in FROM, and what is read of its rows. */
export interface Rows {
  readonly from: string;
  /** undefined: it is nothing of these rows that SQL can give. @param part of the name of an element */
  read(leaf: Leaf, part: string): Reading | undefined;
  /** The column with an object of JSON; undefined: it is none, or not of these rows. */
  object(record: Column): string | undefined;
  /** The column that tells rows apart; undefined: they have none. @param columns of the expression `row` */
  identity(columns: readonly Column[]): string | undefined;
  readonly cells: ReadonlyMap<Column, Value>;
}

/** What rows are made with. */
export interface Making {
  readonly dialect: Dialect;
  readonly refusals: Refusals;
  readonly definitions: Definer;
  readonly labels: string;
  /** The records of a scan; undefined: they cannot be read, which has been refused. */
  recordsOf(record: Column): Rows | undefined;
}

/** A row whose expressions are made. Notes the references with several values that are read of it: each needs a place in FROM. */
export class SqlRow implements Row {
  readonly refusals: Refusals;
  readonly definitions: Definer;
  readonly labels: string;
  readonly joined = undefined;
  readonly #rows: Rows;
  readonly #making: Making;
  readonly #part: string;
  /** The column of the value, and that of the array. */
  readonly #several: Map<string, string>;

  constructor(rows: Rows, making: Making, part = '', several = new Map<string, string>()) {
    this.refusals = making.refusals;
    this.definitions = making.definitions;
    this.labels = making.labels;
    this.#rows = rows;
    this.#making = making;
    this.#part = part;
    this.#several = several;
  }

  read(leaf: Leaf): Value | undefined {
    const reading = this.#rows.read(leaf, this.#part);
    if (reading?.several !== undefined) {
      const { element, array } = reading.several;
      this.#several.set(element, array);
    }
    return reading?.value;
  }

  beside(part: string | number): SqlRow {
    return new SqlRow(this.#rows, this.#making, `${this.#part}_${part}`, this.#several);
  }

  /** The same row for other statements: what is read of it from now on has no place in FROM of this one. */
  copy(): SqlRow {
    return new SqlRow(this.#rows, this.#making, this.#part, new Map(this.#several));
  }

  apart(part: string | number): SqlRow {
    return new SqlRow(this.#rows, this.#making, `${this.#part}_${part}`);
  }

  get several(): ReadonlyMap<string, string> {
    return this.#several;
  }

  identity(columns: readonly Column[]): Sql | undefined {
    const name = this.#rows.identity(columns);
    return name === undefined ? undefined : column(name);
  }

  /** Behind the rows, in FROM. */
  get laterals(): string {
    return [...this.#several]
      .map(([element, array]) => this.#making.dialect.lateral(array, element))
      .sort()
      .join('');
  }
}

/** Rows with cells beside what is read of the records. */
class RowsWithCells implements Rows {
  readonly from: string;
  readonly cells: ReadonlyMap<Column, Value>;
  /** undefined: they keep nothing of the records. */
  readonly records: Rows | undefined;

  constructor(from: string, cells: ReadonlyMap<Column, Value>, records: Rows | undefined) {
    this.from = from;
    this.cells = cells;
    this.records = records;
  }

  read(leaf: Leaf, part: string): Reading | undefined {
    if (leaf.kind === 'read') return this.records?.read(leaf, part);
    const value = this.cells.get(leaf.column);
    return value === undefined ? undefined : { value };
  }

  object(record: Column): string | undefined {
    return this.records?.object(record);
  }

  identity(columns: readonly Column[]): string | undefined {
    return this.records?.identity(columns);
  }
}

/** The items of a list within the records of other rows, beside these: a view. */
class Items implements Rows {
  readonly cells: ReadonlyMap<Column, Value>;
  readonly #input: Rows;
  readonly #item: Column;
  readonly #columns: JsonColumns;

  /** The column of the item. */
  readonly #name: string;

  /** @param number among all views of items */
  constructor(input: Rows, item: Column, number: number, refusals: Refusals) {
    this.cells = input.cells;
    this.#input = input;
    this.#item = item;
    this.#name = `i${number}`;
    this.#columns = new JsonColumns(this.#name, refusals);
  }

  get from(): string {
    return `records_${this.#name}`;
  }

  read(leaf: Leaf, part: string): Reading | undefined {
    return leaf.kind === 'read' && leaf.record === this.#item ? this.#columns.read(leaf, part) : this.#input.read(leaf, part);
  }

  object(record: Column): string | undefined {
    return record === this.#item ? this.#name : this.#input.object(record);
  }

  identity(columns: readonly Column[]): string | undefined {
    return this.#input.identity(columns);
  }

  /** Once all references are known. */
  statement(within: string, names: readonly string[], dialect: Dialect): string {
    const items = { rows: this.#input.from, within, names, references: this.#columns.references, item: this.#name };
    return `CREATE OR REPLACE TEMPORARY VIEW ${this.from} AS ${dialect.itemsOf(items)}`;
  }
}

/** Makes rows of operators; of an operator the same ones each time. */
export class RowsMaker {
  readonly #making: Making;
  readonly #made = new Map<Operator, Rows | undefined>();
  readonly #views: (() => string)[] = [];

  constructor(making: Making) {
    this.#making = making;
  }

  /** undefined: they cannot be made, which has been refused. */
  rowsOf(operator: Operator): Rows | undefined {
    if (operator.kind === 'scan') {
      const [record] = operator.records;
      return record === undefined ? undefined : this.#making.recordsOf(record);
    }
    if (!this.#made.has(operator)) this.#made.set(operator, this.#make(operator));
    return this.#made.get(operator);
  }

  /** The statements that make the views of items, once nothing more is read. */
  get statements(): readonly string[] {
    return this.#views.map((statement) => statement());
  }

  #make(operator: Exclude<Operator, { kind: 'scan' }>): Rows | undefined {
    if (operator.kind === 'join') return this.#joined(operator);
    const input = this.rowsOf(operator.input);
    if (input === undefined) return undefined;
    switch (operator.kind) {
      case 'unnest':
        return this.#unnested(operator, input);
      case 'extend':
        return this.#extended(operator, input);
      case 'number':
        this.#making.refusals.add(scanOrigin(operator), 'positions of rows (#)');
        return undefined;
    }
  }

  #unnested({ items, item, origin }: Unnest, input: Rows): Rows | undefined {
    const { dialect, refusals } = this.#making;
    if (items.of === 'records') {
      const within = items.formulation === undefined ? input.object(items.within) : undefined;
      const names = namesBeforeList(items.iterator);
      if (within === undefined || names === undefined) {
        refusals.add(origin, 'an iterable field of a view, unless its iterator is the names of members of JSON and one [*] at its end');
        return undefined;
      }
      checkNames(names, origin, refusals);
      const rows = new Items(input, item, this.#views.length + 1, refusals);
      this.#views.push(() => rows.statement(within, names, dialect));
      return rows;
    }
    const { expression } = items;
    const reading = expression.kind === 'read' ? input.read(expression, `_${item.id}`) : undefined;
    if (reading?.several === undefined) return withCell(input, item, this.#single(expression, input));
    const { element, array } = reading.several;
    const { written, canonical, literal } = reading.value;
    const cells = new Map([...input.cells, [item, { written, canonical, literal, isSeveral: false }] as const]);
    return new RowsWithCells(`${input.from}${dialect.outerLateral(array, element)}`, cells, recordsBelow(input));
  }

  #extended({ columns }: Extend, input: Rows): Rows | undefined {
    let rows = input;
    for (const { column: cell, value } of columns) {
      if (isTerm(value)) {
        this.#making.refusals.add(value.origin, 'terms of several rows: a quoted triple');
        return undefined;
      }
      rows = withCell(rows, cell, this.#single(value, input));
    }
    return rows;
  }

  /** The value of an expression with one value at most. */
  #single(expression: Expression, rows: Rows): Value {
    const row = new SqlRow(rows, this.#making);
    const value = evaluate(expression, row);
    if (row.laterals !== '')
      this.#making.refusals.add(expression.origin, 'a template or function over a reference with several values in a view');
    return value;
  }

  #joined({ left, right, on, columns, type, ordinal, origin }: Join): Rows | undefined {
    const { dialect, refusals } = this.#making;
    if (ordinal !== undefined || right.counts) {
      refusals.add(origin, 'positions of joined rows (#)');
      return undefined;
    }
    const [leftRows, rightRows] = [this.rowsOf(left), this.rowsOf(right.input)];
    if (leftRows === undefined || rightRows === undefined) return undefined;
    const print = (sql: Sql): string => printSql(sql, dialect);
    const keyName = (at: number): string => `k${at + 1}`;
    const lefts = on.map(({ left: key }) => this.#single(key, leftRows).written);
    const rights = on.map(({ right: key }) => {
      const found = right.keys.find((one) => one.column === key) as { readonly value: Expression };
      return this.#single(found.value, rightRows).written;
    });
    const named = new Map<Column, Value>();
    const chosen = (cells: Iterable<readonly [Column, Value]>, keys: readonly Sql[]): string => {
      const made = keys.map((key, at) => `${print(key)} AS ${keyName(at)}`);
      for (const [cell, value] of cells) {
        const forms = columnsOf(cell, value);
        named.set(cell, forms.value);
        made.push(...forms.columns.map(([name, sql]) => `${print(sql)} AS ${name}`));
      }
      return ['1 AS c0', ...made].join(', ');
    };
    const brought: [Column, Value][] = [];
    for (const [at, { value }] of right.columns.entries()) {
      if (isTerm(value)) {
        refusals.add(origin, 'a join that gives rows of quoted triples');
        return undefined;
      }
      brought.push([columns[at] as Column, this.#single(value, rightRows)]);
    }
    const ofLeft = chosen(leftRows.cells, lefts);
    const leftNames = [...named.entries()].flatMap(([cell, value]) => columnsOf(cell, value).columns.map(([name]) => `l.${name}`));
    const ofRight = chosen(brought, rights);
    const rightNames = brought.flatMap(([cell, value]) => columnsOf(cell, value).columns.map(([name]) => `r.${name}`));
    const present = on.map((_, at) => printCondition(not(isNull(column(keyName(at)))), dialect)).join(' AND ');
    const rightSide = `SELECT * FROM (SELECT DISTINCT ${ofRight} FROM ${rightRows.from})${present === '' ? '' : ` WHERE ${present}`}`;
    const condition = on.length === 0 ? 'true' : on.map((_, at) => `l.${keyName(at)} = r.${keyName(at)}`).join(' AND ');
    const name = `j_${columns[0]?.id ?? 0}`;
    const from = `(SELECT ${['1 AS c0', ...leftNames, ...rightNames].join(', ')} FROM (SELECT ${ofLeft} FROM ${leftRows.from}) l ${type === 'left' ? 'LEFT' : 'INNER'} JOIN (${rightSide}) r ON ${condition}) ${name}`;
    return new RowsWithCells(from, named, undefined);
  }
}

const scanOrigin = (operator: Operator): { readonly document: string; readonly line: number; readonly column: number } => {
  switch (operator.kind) {
    case 'scan':
    case 'unnest':
    case 'join':
      return operator.origin;
    default:
      return scanOrigin(operator.input);
  }
};

const recordsBelow = (rows: Rows): Rows | undefined => (rows instanceof RowsWithCells ? rows.records : rows);

/** The members that lead to a list, each item of which an iterator finds; undefined: it is another one. */
function namesBeforeList(iterator: string | undefined): readonly string[] | undefined {
  const steps = iterator === undefined ? undefined : stepsOf(parseJsonPath(iterator, 'short'));
  const names = steps?.slice(0, -1).filter((step) => step !== undefined);
  return steps === undefined || names === undefined || names.length === 0 || steps.at(-1) !== undefined || names.length < steps.length - 1
    ? undefined
    : names;
}

const withCell = (rows: Rows, cell: Column, value: Value): Rows =>
  new RowsWithCells(rows.from, new Map([...rows.cells, [cell, value]]), recordsBelow(rows));

/** The columns that keep a value behind a join, and the value there. */
function columnsOf(
  { id }: Column,
  { written, canonical, literal }: Value,
): { readonly columns: readonly (readonly [string, Sql])[]; readonly value: Value } {
  const name = (form: string): string => `${form}_${id}`;
  const of = (form: string): Sql => column(name(form));
  if (literal === undefined)
    return { columns: [[name('w'), written]], value: { written: of('w'), canonical: of('w'), literal: undefined, isSeveral: false } };
  return {
    columns: [
      [name('w'), written],
      [name('v'), canonical],
      [name('n'), literal],
    ],
    value: { written: of('w'), canonical: of('v'), literal: of('n'), isSeveral: false },
  };
}
