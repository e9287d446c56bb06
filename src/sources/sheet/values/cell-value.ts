/** The value of a cell: a text, a value with a natural datatype, or the reason why there is none. */
import { TypedValue, XSD } from '../../../core/value.ts';
import { canonicalDouble } from '../../../sql/numbers.ts';

/** A cell without a usable value: the record that reads it is rejected, unless its text is one that stands for null. */
export class CellProblem {
  /** What the cell shows, as one-byte UTF-8. Empty for a formula that was never calculated. */
  readonly text: string;
  /** Ends a sentence that begins with the name of the cell. */
  readonly message: string;
  readonly hint: string;

  constructor(text: string, message: string, hint: string) {
    this.text = text;
    this.message = message;
    this.hint = hint;
  }
}

/** A text is one-byte UTF-8; empty for an empty cell. Numbers, booleans, dates and times have their natural datatype. */
export type CellValue = string | TypedValue | CellProblem;

/** What a cell shows, as a text. */
export const textOf = (value: CellValue): string =>
  typeof value === 'string' ? value : value instanceof TypedValue ? value.written : value.text;

const typed =
  (name: string) =>
  (text: string): TypedValue =>
    new TypedValue(text, XSD + name);

export const integer = typed('integer');
export const date = typed('date');
export const dateTime = typed('dateTime');
export const time = typed('time');
export const duration = typed('duration');
export const double = (written: string): TypedValue => new TypedValue(canonicalDouble(written) as string, DOUBLE, written);

const DOUBLE = `${XSD}double`;
const TRUE = new TypedValue('true', `${XSD}boolean`);
const FALSE = new TypedValue('false', `${XSD}boolean`);

/** @param text as files write it */
export function booleanCell(text: string): CellValue {
  if (text === '1' || text === 'true') return TRUE;
  return text === '0' || text === 'false' ? FALSE : wrongCell(text, `should hold a boolean, and holds ${JSON.stringify(text)}`);
}

export const errorCell = (text: string): CellProblem =>
  new CellProblem(text, `holds the error ${text}`, `Correct its formula, or say that it means no value: rml:null ${JSON.stringify(text)}`);

export const UNCALCULATED = new CellProblem(
  '',
  'holds a formula whose value is not in the file',
  'Open the file in a spreadsheet program and save it, so that its formulas are calculated',
);

export const wrongCell = (text: string, message: string): CellProblem =>
  new CellProblem(text, message, 'Correct the cell, or its number format');
