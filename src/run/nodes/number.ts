/** The row with its 0-based position among the rows. */
import type { NumberRows } from '../../plan/algebra.ts';
import type { Made } from '../compile/program.ts';
import { type Row, Step } from './operator.ts';
import type { Rows } from './rows.ts';

export class NumberStep extends Step {
  readonly #slot: number;
  #count = 0;

  constructor({ column }: NumberRows, rows: Rows) {
    super();
    this.#slot = rows.add(column);
  }

  push(row: Row, position: number): Made {
    row[this.#slot] = this.#count++;
    return this.next.push(row, position);
  }
}
