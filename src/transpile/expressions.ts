/** Expressions of a plan → SQL over a row: the texts that they have, or null. */

import { toBytes } from '../core/text.ts';
import { digest } from '../functions/digest.ts';
import type { Expression } from '../plan/algebra.ts';
import type { Leaf } from '../plan/expressions.ts';
import { callSql } from './functions/calls.ts';
import { type Row, refused, type Value, valueOf } from './row.ts';
import { areEqual, concat, type Sql, text, when } from './sql.ts';

/** The value of an expression, unless it is encoded on the way. */
export function evaluate(expression: Expression, row: Row): Value {
  switch (expression.kind) {
    case 'read':
    case 'cell':
      return readOf(expression, row);
    case 'call':
      return callSql(expression, row, evaluate);
    case 'conditional':
      return onlyIf(expression.condition, evaluate(expression.value, row), row);
    default: {
      const several = expression.kind === 'template' && expression.parts.some((part) => typeof part !== 'string' && isSeveral(part, row));
      return valueOf(textSql(expression, row), several);
    }
  }
}

const isSeveral = (leaf: Leaf, row: Row): boolean => row.read(leaf)?.isSeveral === true;

const readOf = (leaf: Leaf, row: Row): Value => row.read(leaf) ?? valueOf(refused(row, leaf.origin, 'a position of rows (#)'));

/**
 * The value where a value of the condition is true. Of several values of a condition each makes a row: a statement of two of them is one that
 * is made twice, which DISTINCT finds.
 */
function onlyIf(condition: Expression, value: Value, row: Row): Value {
  const { canonical, isSeveral: ofCondition } = evaluate(condition, row.beside('c'));
  const then = (sql: Sql): Sql => when(areEqual(canonical, text('true')), sql);
  return {
    written: then(value.written),
    canonical: then(value.canonical),
    literal: value.literal === undefined ? undefined : then(value.literal),
    isSeveral: value.isSeveral || ofCondition,
  };
}

/** The text of an expression; values pass through `encode`, constant parts through `constants`. */
export function textSql(
  expression: Expression,
  row: Row,
  encode: (value: Sql) => Sql = (value) => value,
  constants: (text: string) => string = (value) => value,
): Sql {
  switch (expression.kind) {
    case 'constant':
      return text(constants(expression.text));
    case 'read':
    case 'cell':
    case 'call':
      return encode(evaluate(expression, row).written);
    case 'conditional':
      return onlyIf(expression.condition, valueOf(textSql(expression.value, row, encode, constants)), row).written;
    case 'template':
      return concat(
        ...expression.parts.map((part) => (typeof part === 'string' ? text(constants(part)) : encode(readOf(part, row).written))),
      );
    case 'row': {
      const identity = row.identity(expression.columns);
      if (identity === undefined)
        return refused(row, expression.origin, 'a blank node for each row of a view that has several rows for a record');
      return concat(text(`${row.labels}h${digest('md5', toBytes(expression.map)).slice(0, 16)}_`), identity);
    }
  }
}
