/** Powers, logarithms, angles (in radians) and combinations. */

import type { Value } from '../../core/value.ts';
import { define } from '../define.ts';
import { DataError, type FunctionDefinition } from '../definition.ts';
import { gives, grel, qm } from '../names.ts';
import { readInteger, tidy } from '../numbers.ts';

/** One number in, one out. */
function ofNumber(
  name: string,
  does: string,
  call: (number: number) => number,
  given: number | string,
  result: string,
): FunctionDefinition {
  return define({
    names: [`grel:math_${name}`],
    does,
    takes: [grel.number],
    gives: gives.grelDecimal,
    call: (number) => tidy(call(number)),
    examples: [
      [[given], result],
      [['x'], { fails: 'not a number' }],
    ],
  });
}

/** GREL's even and odd: away from zero, to the next such integer. */
function away(number: number, odd: boolean): number {
  const whole = Math.ceil(Math.abs(number));
  const fits = (whole % 2 === 1) === odd;
  return (number < 0 ? -1 : 1) * (fits ? whole : whole + 1);
}

/** The product from 1 in steps. */
function factorial(number: number, step: number): number {
  if (number < 0 || step < 1) throw new DataError('a factorial takes an integer from 0 on, and a step from 1 on');
  if (number / step > 1000) throw new DataError(`the factorial of ${number} is too large`);
  let product = 1;
  for (let factor = number; factor > 1; factor -= step) product *= factor;
  return product;
}

function divisor(a: number, b: number): number {
  return b === 0 ? Math.abs(a) : divisor(b, a % b);
}

const textOf = (value: Value): string => (typeof value === 'string' ? value : value.text);

export const MATHEMATICS: readonly FunctionDefinition[] = [
  ofNumber('sin', 'The sine.', Math.sin, 0, '0'),
  ofNumber('cos', 'The cosine.', Math.cos, 0, '1'),
  ofNumber('tan', 'The tangent.', Math.tan, '0.5', '0.54630248984379'),
  ofNumber('asin', 'The angle of a sine.', Math.asin, 1, '1.5707963267949'),
  ofNumber('acos', 'The angle of a cosine.', Math.acos, 1, '0'),
  ofNumber('atan', 'The angle of a tangent.', Math.atan, 1, '0.785398163397448'),
  ofNumber('sinh', 'The hyperbolic sine.', Math.sinh, 0, '0'),
  ofNumber('cosh', 'The hyperbolic cosine.', Math.cosh, 0, '1'),
  ofNumber('tanh', 'The hyperbolic tangent.', Math.tanh, 0, '0'),
  ofNumber('degrees', 'Radians as degrees.', (number) => (number * 180) / Math.PI, '0.5', '28.6478897565412'),
  ofNumber('radians', 'Degrees as radians.', (number) => (number * Math.PI) / 180, 180, '3.14159265358979'),
  define({
    names: ['grel:math_pow'],
    does: 'A power.',
    takes: [grel.number, grel.exponent],
    gives: gives.grelDecimal,
    call: (base, exponent) => tidy(base ** exponent),
    examples: [
      [[2, 10], '1024'],
      [[9, '0.5'], '3'],
      [[-1, '0.5'], { fails: 'not a finite number' }],
    ],
  }),
  define({
    names: ['grel:math_exp'],
    does: 'A power of e.',
    takes: [grel.number],
    gives: gives.grelDecimal,
    call: (number) => tidy(Math.exp(number)),
    examples: [
      [[0], '1'],
      [[1], '2.71828182845905'],
      [[9999], { fails: 'not a finite number' }],
    ],
  }),
  define({
    names: ['grel:math_ln'],
    does: 'The natural logarithm.',
    takes: [grel.number],
    gives: gives.grelDecimal,
    call: (number) => tidy(Math.log(number)),
    examples: [
      [[1], '0'],
      [[10], '2.30258509299405'],
      [[0], { fails: 'not a finite number' }],
    ],
  }),
  define({
    names: ['grel:math_log'],
    does: 'The logarithm to base 10.',
    takes: [grel.number],
    gives: gives.grelDecimal,
    call: (number) => tidy(Math.log10(number)),
    examples: [
      [[1000], '3'],
      [[-1], { fails: 'not a finite number' }],
    ],
  }),
  define({
    names: ['qm:squareRoot'],
    does: 'The square root.',
    takes: [qm.number],
    gives: gives.number,
    call: (number) => tidy(Math.sqrt(number)),
    examples: [
      [[9], '3'],
      [[-1], { fails: 'not a finite number' }],
    ],
  }),
  define({
    names: ['grel:math_even'],
    does: 'The next even integer, away from zero.',
    takes: [grel.number],
    gives: gives.grelDecimal,
    call: (number) => away(number, false),
    examples: [
      [[5], '6'],
      [['-1.5'], '-2'],
      [[0], '0'],
    ],
  }),
  define({
    names: ['grel:math_odd'],
    does: 'The next odd integer, away from zero.',
    takes: [grel.number],
    gives: gives.grelDecimal,
    call: (number) => away(number, true),
    examples: [
      [[4], '5'],
      [[-2], '-3'],
      [[3], '3'],
    ],
  }),
  define({
    names: ['grel:math_atan2'],
    does: 'The angle of the point with ordinate `n` and abscissa `n2`.',
    takes: [grel.number, grel.number2],
    gives: gives.grelDecimal,
    call: (y, x) => tidy(Math.atan2(y, x)),
    examples: [[[1, 1], '0.785398163397448']],
  }),
  define({
    names: ['grel:math_fact'],
    does: 'The factorial.',
    takes: [grel.integer],
    gives: gives.grelNumber,
    call: (number) => factorial(number, 1),
    examples: [
      [[5], '120'],
      [[0], '1'],
      [[-1], { fails: 'from 0 on' }],
    ],
  }),
  define({
    names: ['grel:math_factn'],
    does: 'The factorial in steps of `i2`.',
    takes: [grel.integer, grel.integer2],
    gives: gives.grelNumber,
    call: factorial,
    examples: [
      [[7, 2], '105'],
      [[10, 3], '280'],
      [[5, 0], { fails: 'a step from 1 on' }],
    ],
  }),
  define({
    names: ['grel:math_combin'],
    does: 'The number of combinations of `i2` out of `i`.',
    takes: [grel.integer, grel.integer2],
    gives: gives.grelNumber,
    call: (n, k) => {
      if (k < 0 || k > n || Math.min(k, n - k) > 10_000) throw new DataError(`there are no combinations of ${k} out of ${n}`);
      let count = 1;
      for (let i = 1; i <= Math.min(k, n - k); i++) count = (count * (n - i + 1)) / i;
      return Math.round(count);
    },
    examples: [
      [[5, 2], '10'],
      [[5, 0], '1'],
      [[2, 3], { fails: 'no combinations' }],
    ],
  }),
  define({
    names: ['grel:math_multinomial'],
    does: 'The multinomial coefficient of the integers.',
    takes: [grel.array],
    gives: gives.grelNumber,
    on: 'bytes',
    fails: true,
    call: (values) => {
      const integers = values.map((value) => readInteger(textOf(value)));
      const sum = integers.reduce((a, b) => a + b, 0);
      return Math.round(integers.reduce((product, integer) => product / factorial(integer, 1), factorial(sum, 1)));
    },
    examples: [
      [[['2', '3']], '10'],
      [[['-1']], { fails: 'from 0 on' }],
    ],
  }),
  define({
    names: ['grel:math_gcd'],
    does: 'The greatest common divisor.',
    takes: [grel.integer, grel.integer2],
    gives: gives.grelNumber,
    call: divisor,
    examples: [
      [[12, 18], '6'],
      [[0, 5], '5'],
      [[-12, 18], '6'],
    ],
  }),
  define({
    names: ['grel:math_lcm'],
    does: 'The least common multiple.',
    takes: [grel.integer, grel.integer2],
    gives: gives.grelNumber,
    call: (a, b) => (a === 0 || b === 0 ? 0 : Math.abs(a * b) / divisor(a, b)),
    examples: [
      [[4, 6], '12'],
      [[0, 6], '0'],
    ],
  }),
  define({
    names: ['grel:math_randomNumber'],
    does: 'A random integer from `i` to `i2`, both included. A repeated attempt of a run gives the same.',
    takes: [grel.integer, grel.integer2],
    gives: gives.grelNumber,
    random: true,
    call: (low, high, chance) => {
      if (high < low) throw new DataError(`there is no integer from ${low} to ${high}`);
      return low + Math.floor(((chance.word() * 2 ** 21 + (chance.word() >>> 11)) / 2 ** 53) * (high - low + 1));
    },
    examples: [
      [[7, 7], '7'],
      [[2, 1], { fails: 'no integer from 2 to 1' }],
    ],
  }),
];
