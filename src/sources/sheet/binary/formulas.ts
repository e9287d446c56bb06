/**
 * Formulas whose values may not be in the file. XLS and XLSB have no cell without a value: libraries that write formulas and calculate none
 * store the number 0. It is read as it is, since a sum may well be 0, and said.
 *
 * A 0 counts as calculated where another formula of the sheet has another value and the file does not say that this one is due: then some
 * program has calculated the sheet.
 */

export class FormulaValues {
  readonly #nameOf: (row: number, column: number) => string;
  /** Whether a formula has a value that only a calculation gives. */
  #calculated = false;
  #zeros = 0;
  #due = 0;
  /** The first cell of each. */
  #firstZero = NOWHERE;
  #firstDue = NOWHERE;

  /** @param nameOf the name of a cell with its sheet */
  constructor(nameOf: (row: number, column: number) => string) {
    this.#nameOf = nameOf;
  }

  /** A formula with a number. @param isDue the file says that it is to be calculated when the workbook is opened */
  number(value: number, isDue: boolean, row: number, column: number): void {
    if (value !== 0) {
      this.#calculated = true;
      return;
    }
    if (this.#zeros++ === 0) this.#firstZero = { row, column };
    if (isDue && this.#due++ === 0) this.#firstDue = { row, column };
  }

  /** A formula with a text, a boolean or an error. */
  other(): void {
    this.#calculated = true;
  }

  warnings(): readonly string[] {
    const count = this.#calculated ? this.#due : this.#zeros;
    if (count === 0) return [];
    const { row, column } = this.#calculated ? this.#firstDue : this.#firstZero;
    const what = count === 1 ? 'A formula has' : `${count} formulas have`;
    const those = count === 1 ? 'one that was never calculated has' : 'those that were never calculated have';
    return [
      `${what} the value 0, which ${those} as well (first ${this.#nameOf(row, column)}): save the file in a spreadsheet program if the values are wrong`,
    ];
  }
}

const NOWHERE = { row: -1, column: -1 };
