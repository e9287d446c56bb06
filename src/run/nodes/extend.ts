/** The row with further cells. */
import type { Extend as ExtendOperator } from '../../plan/algebra.ts';
import { isTerm } from '../../plan/expressions.ts';
import { compileWhole } from '../../terms/encode.ts';
import { type Accessors, compileValues, type ValuesOf } from '../../terms/evaluate.ts';
import type { Made } from '../compile/program.ts';
import { type Row, Step } from './operator.ts';
import type { Rows } from './rows.ts';

export class Extend extends Step {
  readonly #cells: readonly { readonly slot: number; readonly values: ValuesOf }[];

  /** @param access to the rows, with the checks of their terms */
  constructor({ columns }: ExtendOperator, rows: Rows, access: Accessors) {
    super();
    for (const { column } of columns) rows.add(column);
    this.#cells = columns.map(({ column, value }) => ({
      slot: rows.slotOf(column),
      values: isTerm(value) ? compileWhole(value, access) : compileValues(value, access),
    }));
  }

  push(row: Row, position: number): Made {
    for (const { slot, values } of this.#cells) row[slot] = values(row, position);
    return this.next.push(row, position);
  }
}
