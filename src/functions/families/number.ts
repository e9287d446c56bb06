/** Numbers: binary floating point with 15 significant digits; integers up to 9007199254740991 are exact. */
import { excerpt } from '../../core/fault.ts';
import { define } from '../define.ts';
import { DataError, type FunctionDefinition } from '../definition.ts';
import { checked, gives, grel, idlab, nullable, optional, own, qm, withDefault } from '../names.ts';
import { readNumber, tidy } from '../numbers.ts';

/** Rounds half towards positive infinity; decimals are shifted as text, so that 1.005 is what it reads as. */
function round(number: number, digits: number): number {
  if (Math.abs(digits) > 300 || !Number.isFinite(number)) return number;
  const [mantissa = '', exponent = '0'] = String(number).split('e');
  const shifted = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`));
  const [whole = '', power = '0'] = String(shifted).split('e');
  return Number(`${whole}e${Number(power) - digits}`);
}

/** A number with separators of thousands, or a decimal comma: `1,926.82` is 1926.82, and `9,25` is 9.25. */
function readWithCommas(text: string): number {
  return readNumber(text.includes('.') ? text.replaceAll(',', '') : text.replace(',', '.'));
}

function divided(a: number, b: number): number {
  if (b === 0) throw new DataError('a number cannot be divided by 0');
  return a / b;
}

const grelNumber = { ...grel.number, type: 'string' } as const;

function checkDigits(digits: number): void {
  if (digits < 0 || digits > 20) throw new DataError(`${digits} decimals are not possible`, 'From 0 to 20.');
}

function checkBase(base: number): void {
  if (base < 2 || base > 36) throw new DataError(`${base} is no base`, 'From 2 to 36.');
}

const base = checked(own('base', 'integer'), checkBase);

export const NUMBER: readonly FunctionDefinition[] = [
  define({
    names: ['grel:string_toNumber', 'grel:toNumber'],
    does: 'The number in plain digits: without exponent, leading zeros and plus sign.',
    takes: [grel.any],
    gives: gives.grelNumber,
    fails: true,
    call: readNumber,
    examples: [
      [['007'], '7'],
      [['+1.50'], '1.5'],
      [['1e3'], '1000'],
      [['1e-7'], '0.0000001'],
      [['x'], { fails: '"x" is not a number' }],
    ],
  }),
  define({
    names: ['qm:parseNumber'],
    does: 'A number as people write it: `decimal` is the separator of decimals (`.` if left out), `group` that of thousands (`,` if left out).',
    takes: [qm.value, withDefault(own('decimal', 'string'), '.'), withDefault(own('group', 'string'), ',')],
    gives: gives.number,
    fails: true,
    call: (value, decimal, group) => {
      const plain = group === '' ? value : value.split(group).join('');
      return readNumber((decimal === '.' ? plain : plain.split(decimal).join('.')).replace(/[\s\u00a0\u202f]/g, ''));
    },
    examples: [
      [['1,926.82'], '1926.82'],
      [['1.926,82', ',', '.'], '1926.82'],
      [['1 926,5', ',', ' '], '1926.5'],
      [['a'], { fails: 'not a number' }],
    ],
  }),
  define({
    names: ['qm:formatNumber'],
    does: 'The number with `digits` decimals (2 if left out), the separator `decimal` before them (`.`) and `group` between thousands (none).',
    takes: [
      qm.number,
      checked(withDefault(own('digits', 'integer'), '2'), checkDigits),
      withDefault(own('decimal', 'string'), '.'),
      withDefault(own('group', 'string'), ''),
    ],
    gives: gives.string,
    call: (number, digits, decimal, group) => {
      checkDigits(digits);
      const [whole = '', decimals] = round(number, digits).toFixed(digits).split('.');
      const grouped = whole.replace(/\B(?=(\d{3})+$)/g, () => group);
      return decimals === undefined ? grouped : grouped + decimal + decimals;
    },
    examples: [
      [['1926.825'], '1926.83'],
      [['1234567.5', 1, ',', '.'], '1.234.567,5'],
      [['-0.5', 0], '0'],
      [['1', 99], { fails: '99 decimals' }],
    ],
  }),
  define({
    names: ['grel:math_round'],
    does: 'The nearest integer; halves go up. Takes separators of thousands before a decimal point, and a decimal comma.',
    takes: [grelNumber],
    gives: gives.grelNumber,
    fails: true,
    call: (text) => Math.round(readWithCommas(text)),
    examples: [
      [['6284.5982'], '6285'],
      [['1,926.82'], '1927'],
      [['9,25'], '9'],
      [['-2.5'], '-2'],
      [['x'], { fails: 'not a number' }],
    ],
  }),
  define({
    names: ['qm:round'],
    does: 'Rounded to `digits` decimals (0 if left out); halves go up. Negative `digits` round tens, hundreds, and so on.',
    takes: [qm.number, withDefault(own('digits', 'integer'), '0')],
    gives: gives.number,
    call: round,
    examples: [
      [['1.005', 2], '1.01'],
      [['1926', -2], '1900'],
      [['2.5'], '3'],
    ],
  }),
  define({
    names: ['grel:math_floor'],
    does: 'The largest integer that is not greater.',
    takes: [grel.number],
    gives: gives.grelNumber,
    call: Math.floor,
    examples: [
      [['3.7'], '3'],
      [['-3.2'], '-4'],
      [['a'], { fails: 'not a number' }],
    ],
  }),
  define({
    names: ['grel:math_ceil'],
    does: 'The smallest integer that is not less.',
    takes: [grel.number],
    gives: gives.grelNumber,
    call: Math.ceil,
    examples: [
      [['3.2'], '4'],
      [['-3.7'], '-3'],
      [['-0.5'], '0'],
    ],
  }),
  define({
    names: ['qm:truncate'],
    does: 'Without decimals.',
    takes: [qm.number],
    gives: gives.integer,
    call: Math.trunc,
    examples: [
      [['-3.7'], '-3'],
      [['3'], '3'],
    ],
  }),
  define({
    names: ['grel:math_abs'],
    does: 'Without the sign.',
    takes: [grel.number],
    gives: gives.grelDecimal,
    call: Math.abs,
    examples: [
      [['-3.5'], '3.5'],
      [['0'], '0'],
    ],
  }),
  define({
    names: ['grel:math_min'],
    does: 'The smaller of two numbers.',
    takes: [grel.number, grel.number2],
    gives: gives.grelDecimal,
    call: (a, b) => Math.min(a, b),
    examples: [
      [['3', '-1.5'], '-1.5'],
      [['10', '9'], '9'],
    ],
  }),
  define({
    names: ['grel:math_max'],
    does: 'The larger of two numbers.',
    takes: [grel.number, grel.number2],
    gives: gives.grelDecimal,
    call: (a, b) => Math.max(a, b),
    examples: [
      [['3', '-1.5'], '3'],
      [['10', '9'], '10'],
    ],
  }),
  define({
    names: ['grel:math_mod'],
    does: 'The remainder of a division of integers; it has the sign of the first.',
    takes: [grel.integer, grel.integer2],
    gives: gives.grelNumber,
    call: (a, b) => {
      divided(a, b);
      return a % b;
    },
    examples: [
      [[7, 3], '1'],
      [[-7, 3], '-1'],
      [[7, 0], { fails: 'divided by 0' }],
    ],
  }),
  define({
    names: ['grel:math_quotient'],
    does: 'The integer part of a division.',
    takes: [grel.number, grel.number2],
    gives: gives.grelDecimal,
    call: (a, b) => Math.trunc(divided(a, b)),
    examples: [
      [[9, 2], '4'],
      [[-9, 2], '-4'],
      [[1, 0], { fails: 'divided by 0' }],
    ],
  }),
  define({
    names: ['qm:add'],
    does: 'The sum of two numbers.',
    takes: [qm.number, qm.number2],
    gives: gives.number,
    call: (a, b) => tidy(a + b),
    examples: [
      [['0.1', '0.2'], '0.3'],
      [['9007199254740990', '1'], '9007199254740991'],
    ],
  }),
  define({
    names: ['qm:subtract'],
    does: 'The first number less the second.',
    takes: [qm.number, qm.number2],
    gives: gives.number,
    call: (a, b) => tidy(a - b),
    examples: [
      [['0.3', '0.1'], '0.2'],
      [[1, 2], '-1'],
    ],
  }),
  define({
    names: ['qm:multiply'],
    does: 'The product of two numbers.',
    takes: [qm.number, qm.number2],
    gives: gives.number,
    call: (a, b) => tidy(a * b),
    examples: [
      [['1.1', '1.1'], '1.21'],
      [[-2, 3], '-6'],
      [
        [
          [1, 2],
          [10, 20],
        ],
        ['10', '20', '20', '40'],
      ],
    ],
  }),
  define({
    names: ['qm:divide'],
    does: 'The first number divided by the second.',
    takes: [qm.number, qm.number2],
    gives: gives.number,
    call: (a, b) => tidy(divided(a, b)),
    examples: [
      [[1, 4], '0.25'],
      [[1, 0], { fails: 'divided by 0' }],
    ],
  }),
  define({
    names: ['qm:clamp'],
    does: 'The number, but at least `low` and at most `high`, where given.',
    takes: [qm.number, optional(own('low', 'number')), optional(own('high', 'number'))],
    gives: gives.number,
    call: (number, low = Number.NEGATIVE_INFINITY, high = Number.POSITIVE_INFINITY) => Math.min(Math.max(number, low), high),
    examples: [
      [[15, 0, 10], '10'],
      [[-5, 0], '0'],
      [[5, null, 3], '3'],
    ],
  }),
  define({
    names: ['idlab-fn:inRange'],
    does: 'Whether the number is at least `from` and less than `to`, where given; false without a number.',
    takes: [nullable(idlab.test), optional(idlab.from), optional(idlab.to)],
    gives: gives.idlabBoolean,
    call: (test, from, to) => test !== undefined && (from === undefined || test >= from) && (to === undefined || test < to),
    examples: [
      [[2, 2], 'true'],
      [[1, 2], 'false'],
      [[3, 1, 3], 'false'],
      [[5], 'true'],
      [[null, 1], 'false'],
      [['x', 1], { fails: 'not a number' }],
    ],
  }),
  define({
    names: ['qm:toBase'],
    does: 'An integer in another base, from 2 to 36.',
    takes: [own('integer', 'integer'), base],
    gives: gives.string,
    call: (integer, base) => {
      checkBase(base);
      return integer.toString(base);
    },
    examples: [
      [[255, 16], 'ff'],
      [[-5, 2], '-101'],
      [[1, 1], { fails: '1 is no base' }],
    ],
  }),
  define({
    names: ['qm:fromBase'],
    does: 'The integer that the digits mean in another base, from 2 to 36.',
    takes: [qm.value, base],
    gives: gives.integer,
    call: (value, base) => {
      const digits = value.trim().toLowerCase();
      const number = base < 2 || base > 36 ? Number.NaN : Number.parseInt(digits, base);
      if (!Number.isSafeInteger(number) || number.toString(base) !== digits.replace(/^(-?)\+?0+(?=.)/, '$1'))
        throw new DataError(`${excerpt(value)} is no integer of base ${base}`);
      return number;
    },
    examples: [
      [['FF', 16], '255'],
      [['0101', 2], '5'],
      [['12', 2], { fails: 'no integer of base 2' }],
    ],
  }),
];
