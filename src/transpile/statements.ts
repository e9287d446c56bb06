/**
 * Rules of a plan → queries of lines, each line once.
 *
 * **Claim.** The union of the queries of an output has each of its statements once.
 *
 * **Proof.** A rule that overlaps with another one, or whose predicate or graph varies, is in the one union that DISTINCT covers. Any other rule
 * shares no statement with another rule (`plan/overlaps.ts`), so it is enough that it makes none twice. It does not if a key of the source says
 * so (`MapPlan.unique`), or if it pairs the distinct terms of each key of a join that a term determines (`keyedBy`). Of the rest, DISTINCT looks
 * at lines. Where the subject determines the texts of some references (`plan/injectivity.ts`), two rows with an equal line have an equal subject,
 * hence equal texts there: they are in one group of these columns, and DISTINCT of the columns and the line finds them within the group. The
 * columns are a function of the line, so it keeps no line twice. Lines of collections have the node of their record, which no other record has.
 */

import type { Column, Expression, Operator, Term } from '../plan/algebra.ts';
import { expressionsOf, leafKey, leavesOfTerm } from '../plan/expressions.ts';
import { injectiveReferences } from '../plan/injectivity.ts';
import type { MapPlan, ObjectPlan, Plan, RulePlan } from '../plan/plan.ts';
import { writtenTerm } from '../plan/written.ts';
import { collectionQueries } from './collections.ts';
import type { Dialect } from './dialects/dialect.ts';
import { textSql } from './expressions.ts';
import { Records } from './records.ts';
import type { Row } from './row.ts';
import { type Making, type Rows, SqlRow } from './rows.ts';
import { column, concat, printSql, type Sql, text, unionOf, when } from './sql.ts';
import { termSql } from './terms.ts';

/** What queries are made of. */
export interface Context extends Making {
  readonly plan: Plan;
  /** undefined: they cannot be made, which has been refused. */
  rowsOf(operator: Operator): Rows | undefined;
}

/** The queries of an output: `lines` that are distinct among all, and those among which duplicates are to be found. */
export interface Queries {
  readonly distinct: string[];
  readonly overlapping: string[];
}

type JoinObject = Extract<ObjectPlan, { kind: 'join' }>;

/**
 * Adds the queries of a triples map over its rows.
 *
 * @param outputs by output: 0 is that of the run, n the n-th logical target. Statements are distinct within each.
 */
export function addQueries(map: MapPlan, rows: Rows, context: Context, outputs: readonly Queries[]): void {
  const { dialect } = context;
  const print = (sql: Sql): string => printSql(sql, dialect);
  const start = new SqlRow(rows, context);
  const made = termSql(map.subject, start.beside('s'));
  // Where it is more than references in a template, it is made once for all statements.
  const isPlain = map.subject.kind === 'constant' || expressionsOf(map.subject).every(({ kind }) => kind === 'read' || kind === 'template');
  const view = isPlain ? rows.from : `(SELECT *, ${print(made)} AS s FROM ${rows.from}${start.laterals}) q`;
  const ofSubject = isPlain ? start : new SqlRow(rows, context);
  const subject = isPlain ? made : column('s');
  const groups = new Map<string, { readonly row: SqlRow; readonly lines: Sql[]; readonly rule: RulePlan }>();
  for (const rule of map.rules) {
    if (rule.object.kind === 'join') {
      addJoin(map, rule, rule.object, rows, context, outputs[rule.output] as Queries);
      continue;
    }
    const row = ofSubject.copy();
    const line = lineSql(subject, rule, rule.object.term, row);
    const key = `${rule.output} ${rule.distinct} ${row.laterals}`;
    const group = groups.get(key) ?? { row, lines: [], rule };
    groups.set(key, group);
    group.lines.push(line);
  }
  const where = isPlain ? presenceOf(map.subject, ofSubject.beside('s'), dialect) : ` WHERE ${print(subject)} IS NOT NULL`;
  for (const { row, lines, rule } of groups.values()) {
    const queries = outputs[rule.output] as Queries;
    const printed = lines.map(print);
    const from = `${view}${row.laterals}${where}`;
    const isOverlapping = rule.distinct === 'overlapping';
    const keys = isOverlapping || map.unique !== undefined || !dialect.movesRows ? [] : keysOf(map.subject, rows, row, dialect);
    if (isOverlapping) queries.overlapping.push(linesOf(printed, from, [], dialect));
    else if (map.unique !== undefined && row.laterals === '' && start.laterals === '')
      queries.distinct.push(linesOf(printed, from, [], dialect));
    else if (keys.length === 0) queries.distinct.push(`SELECT DISTINCT line FROM (${linesOf(printed, from, [], dialect)})`);
    else {
      const grouped = linesOf(printed, `(SELECT * FROM ${from}${dialect.distribute(keys)})`, keys, dialect);
      queries.distinct.push(`SELECT line FROM (SELECT DISTINCT ${keys.join(', ')}, line FROM (${grouped}) WHERE line IS NOT NULL)`);
    }
  }
  // Terms that must be valid, although no statement has them.
  const checks = [...(groups.size === 0 ? [map.subject] : []), ...map.checks].filter(({ kind }) => kind !== 'constant');
  for (const check of checks) {
    const row = ofSubject.copy();
    const terms = concat(subject, termSql(check, row.beside('o')));
    const nothing = when({ kind: 'is-one-of', value: terms, texts: [''] }, text(''));
    outputs[0]?.distinct.push(linesOf([print(nothing)], `${view}${row.laterals}${where}`, [], dialect));
  }
  for (const { output, isDistinct, query } of collectionQueries(
    map,
    { view, row: ofSubject, where, areSeveral: start.laterals !== '' },
    dialect,
  )) {
    const { distinct, overlapping } = outputs[output] as Queries;
    (isDistinct ? distinct : overlapping).push(query);
  }
}

/** @param keys columns that stay beside each line */
function linesOf(lines: readonly string[], from: string, keys: readonly string[], { list, explode }: Dialect): string {
  const columns = keys.map((key) => `${key}, `).join('');
  return `SELECT ${columns}${explode('made')} AS line FROM (SELECT ${columns}${list(lines)} AS made FROM ${from})`;
}

/** Of a row without a subject no other term is made, so none is invalid. @param term of references and templates */
function presenceOf(term: Term, row: Row, dialect: Dialect): string {
  const needed = leavesOfTerm(term).flatMap((leaf) => row.read(leaf)?.written ?? []);
  const conditions = [...new Set(needed.map((sql) => `${printSql(sql, dialect)} IS NOT NULL`))];
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}

/** A statement of N-Quads; null if one of its terms is. The terms of a statement are all combinations of their texts. */
function lineSql(subject: Sql, { predicate, graph }: RulePlan, object: Term, row: Row): Sql {
  const terms = [
    subject,
    termSql(predicate, row.beside('p')),
    termSql(object, row.beside('o')),
    ...(graph === undefined ? [] : [termSql(graph, row.beside('g'))]),
  ];
  return concat(...terms.flatMap((term) => [term, text(' ')]), text('.'));
}

/** The columns whose texts the subject determines. Only records have columns for what is read. */
function keysOf(subject: Term, rows: Rows, row: Row, dialect: Dialect): readonly string[] {
  if (!(rows instanceof Records)) return [];
  const determined = injectiveReferences(writtenTerm(subject));
  const values = leavesOfTerm(subject).flatMap((leaf) => (determined.has(leafKey(leaf)) ? (row.read(leaf) ?? []) : []));
  return [...new Set(values.filter(({ isSeveral }) => !isSeveral).map(({ written }) => printSql(written, dialect)))];
}

/**
 * A rule whose objects a join brings: both sides are distinct first.
 *
 * A key is compared as text. Of a side, what the statement needs is made before the join, so an invalid term ends the job also where no row of the
 * other side matches.
 */
function addJoin(map: MapPlan, rule: RulePlan, object: JoinObject, rows: Rows, context: Context, queries: Queries): void {
  const { dialect } = context;
  const { right, on } = object.operator;
  const [brought] = right.columns;
  const parent = context.rowsOf(right.input);
  if (brought === undefined || parent === undefined) return;
  const print = (sql: Sql): string => printSql(sql, dialect);
  const keyName = (at: number): string => `k${at + 1}`;
  const side = (row: SqlRow, of: Rows, terms: readonly (readonly [string, Term])[], keys: readonly Expression[]): string => {
    const columns = [
      ...terms.map(([name, term]) => [name, termSql(term, row.beside(name))] as const),
      ...keys.map((key, at) => [keyName(at), textSql(key, row.beside(keyName(at)))] as const),
    ];
    const needed = [(terms[0] as readonly [string, Term])[0], ...keys.map((_, at) => keyName(at))];
    const made = `SELECT DISTINCT ${columns.map(([name, sql]) => `${print(sql)} AS ${name}`).join(', ')} FROM ${of.from}${row.laterals}`;
    return `(SELECT * FROM (${made}) WHERE ${needed.map((key) => `${key} IS NOT NULL`).join(' AND ')})`;
  };
  const ends = [['s', map.subject], ['p', rule.predicate], ...(rule.graph === undefined ? [] : [['g', rule.graph] as const])] as const;
  const left = side(
    new SqlRow(rows, context),
    rows,
    ends,
    on.map(({ left: key }) => key),
  );
  const keyOf = (column: Column): Expression => (right.keys.find((one) => one.column === column) as { value: Expression }).value;
  const rightSide = side(
    new SqlRow(parent, context),
    parent,
    [['o', brought.value as Term]],
    on.map(({ right: key }) => keyOf(key)),
  );
  const line = concat(
    column('s'),
    text(' '),
    column('p'),
    text(' '),
    column('o'),
    text(' '),
    ...(rule.graph === undefined ? [] : [column('g'), text(' ')]),
    text('.'),
  );
  const condition = on.length === 0 ? '' : ` ON ${on.map((_, at) => `l.${keyName(at)} = r.${keyName(at)}`).join(' AND ')}`;
  const joined = `SELECT ${print(line)} AS line FROM ${left} l ${on.length === 0 ? 'CROSS JOIN' : 'JOIN'} ${rightSide} r${condition}`;
  if (rule.distinct === 'overlapping') queries.overlapping.push(joined);
  else if (object.keyedBy !== undefined) queries.distinct.push(joined);
  else queries.distinct.push(`SELECT DISTINCT line FROM (${joined})`);
}

/** The one query of all lines. */
export function queryOf({ distinct, overlapping }: Queries): string {
  const union = overlapping.length === 0 ? [] : [`SELECT DISTINCT line FROM (${unionOf(overlapping)})`];
  const all = [...distinct, ...union];
  return all.length === 0 ? `SELECT '' AS line WHERE false` : `SELECT line FROM (\n${unionOf(all)}\n) WHERE line IS NOT NULL`;
}
