/**
 * Rows with joins that bring parts of terms: quoted triples of other sources, and subjects of parents within quoted triples.
 *
 * Joined rows keep only cells. So everything that is made of the row itself is made before the first join: terms as encoded text, keys as
 * values. A record with an invalid term has no rows.
 */
import type { Origin } from '../../mapping/model/model.ts';
import type { Column, EncodedTerm, Expression, Extend, Join, Operator, Project, RowTerm, Term } from '../algebra.ts';
import { expressionKey, expressionText, isInCell, replaceInQuoted, termKey, termsIn, termText } from '../expressions.ts';
import type { Builder } from './operators.ts';

/** A join that is still to be made: its right side has one column, of terms. */
export interface JoinedTerm {
  readonly origin: Origin;
  readonly right: Project;
  /** What the column is called in the joined rows. */
  readonly column: Column;
  /** Over the rows that are joined, in the order of the keys of `right`. */
  readonly keys: readonly Expression[];
}

export interface JoinedRows {
  readonly rows: Operator;
  /** A term over the joined rows. */
  term(of: Term): Term;
  /** A key over the joined rows. */
  key(of: Expression): Expression;
}

/**
 * @param terms all terms of the joined rows, and terms that must be valid all the same
 * @param keys further expressions over the joined rows
 */
export function joinedRows(
  rows: Operator,
  joins: readonly JoinedTerm[],
  terms: readonly Term[],
  keys: readonly Expression[],
  builder: Builder,
): JoinedRows {
  const cells = new Map<string, Extend['columns'][number]>();
  const keep = (key: string, name: string, value: Expression | RowTerm): void => {
    if (!cells.has(key)) cells.set(key, { column: builder.column(name), value });
  };
  for (const term of terms.flatMap(ownTermsOf)) if (term.kind !== 'constant') keep(`term ${termKey(term)}`, termText(term), term);
  for (const key of [...keys, ...joins.flatMap((join) => join.keys)]) keep(`key ${expressionKey(key)}`, expressionText(key), key);
  const columnOf = (key: string): Column | undefined => cells.get(key)?.column;

  const term = (of: Term): Term => {
    if (of.kind === 'encoded' || of.kind === 'constant') return of;
    const column = columnOf(`term ${termKey(of)}`);
    if (column !== undefined) return { kind: 'encoded', origin: of.origin, column };
    if (of.kind === 'quoted') return replaceInQuoted(of, term);
    throw new Error('a term of joined rows was not made before the join');
  };
  const key = (of: Expression): Expression => {
    const column = columnOf(`key ${expressionKey(of)}`);
    if (column === undefined) throw new Error('a key of joined rows was not made before the join');
    return { kind: 'cell', origin: of.origin, column };
  };
  const extended: Operator = { kind: 'extend', input: rows, columns: [...cells.values()] };
  return { rows: joins.reduce<Operator>((left, join) => joinOf({ ...join, keys: join.keys.map(key) }, left), extended), term, key };
}

export const joinOf = ({ origin, right, column, keys }: JoinedTerm, left: Operator): Join => ({
  kind: 'join',
  origin,
  type: 'inner',
  left,
  right,
  columns: [column],
  on: keys.map((key, i) => ({ left: key, right: (right.keys[i] as Project['keys'][number]).column })),
  ordinal: undefined,
});

/** The term that a join brings. */
export const broughtBy = ({ origin, column }: JoinedTerm): EncodedTerm => ({ kind: 'encoded', origin, column });

/** What is made of the row itself: whole terms, and parts of terms of which a join brings the rest. */
export function ownTermsOf(term: Term): readonly RowTerm[] {
  if (term.kind === 'encoded') return [];
  return term.kind === 'quoted' && isInCell(term) ? termsIn(term).flatMap(ownTermsOf) : [term];
}
