/** Numbers and booleans as functions read and write them. */
import { excerpt } from '../core/fault.ts';
import { DataError } from './definition.ts';

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

/** @throws DataError */
export function readNumber(text: string): number {
  const trimmed = text.trim();
  if (NUMBER.test(trimmed)) {
    const number = Number(trimmed);
    if (Number.isFinite(number)) return number;
  }
  throw new DataError(`${excerpt(text)} is not a number`, 'Expected digits, with a point before decimals and no separators of thousands.');
}

/** Takes `5.0` as 5. @throws DataError */
export function readInteger(text: string): number {
  const number = readNumber(text);
  if (!Number.isInteger(number)) throw new DataError(`${excerpt(text)} is not an integer`);
  if (!Number.isSafeInteger(number)) throw new DataError(`${excerpt(text)} is too large`, 'Integers go up to 9007199254740991.');
  return number;
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** In any case: `True` is true. @throws DataError */
export function readBoolean(text: string): boolean {
  const boolean = BOOLEANS.get(text.trim().toLowerCase());
  if (boolean !== undefined) return boolean;
  throw new DataError(`${excerpt(text)} is not a boolean`, 'Expected true, false, 1 or 0.');
}

/** Digits without an exponent: a lexical form of `xsd:integer` or `xsd:decimal`. @throws DataError — infinite, or not a number */
export function numberText(number: number): string {
  if (!Number.isFinite(number)) throw new DataError('the result is not a finite number');
  if (number === 0) return '0';
  const text = String(number);
  if (!text.includes('e')) return text;
  const [, sign = '', whole = '', decimals = '', exponent = '0'] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? [];
  const digits = whole + decimals;
  const shift = Number(exponent);
  return shift < 0 ? `${sign}0.${'0'.repeat(-shift - 1)}${digits}` : sign + digits.padEnd(shift + 1, '0');
}

/** Without what binary fractions add: 0.1 + 0.2 is 0.3. Integers stay exact. */
export const tidy = (number: number): number =>
  Number.isSafeInteger(number) || !Number.isFinite(number) ? number : Number(number.toPrecision(15));
