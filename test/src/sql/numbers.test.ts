import { expect, test } from '@jest/globals';
import { canonicalDouble as canonicalOfNumber } from '../../../src/sources/json/references.ts';
import { canonicalDecimal, canonicalDouble } from '../../../src/sql/numbers.ts';
import { Random } from '../../support/random.ts';
import { isCanonicalDouble } from '../sources/double-oracle.ts';

test.each([
  ['12', '12'],
  ['-12.500', '-12.5'],
  ['+007', '7'],
  ['3.00', '3'],
  ['3.', '3'],
  ['.5', '0.5'],
  ['-.50', '-0.5'],
  ['-.0', '0'],
  ['-0', '0'],
  ['-0.000', '0'],
  ['0.0001', '0.0001'],
  ['100', '100'],
  ['12345678901234567890.12345678901234567890', '12345678901234567890.1234567890123456789'],
])('a decimal of a server, %s, is %s', (text, canonical) => {
  expect(canonicalDecimal(text)).toBe(canonical);
});

test.each([
  ['1e+21', '1.0E21'],
  ['1E-07', '1.0E-7'],
  ['80.25', '8.025E1'],
  ['-0', '-0.0E0'],
  ['0e5', '0.0E0'],
  ['000.5', '5.0E-1'],
  ['.05', '5.0E-2'],
  ['5.', '5.0E0'],
  ['1.7976931348623157e308', '1.7976931348623157E308'],
  ['', undefined],
  ['.', undefined],
  ['e5', undefined],
  ['NaN', undefined],
])('a double of a server, %j, is %j', (text, canonical) => {
  expect(canonicalDouble(text)).toBe(canonical);
});

test('a double of a server has the same canonical form as the same number in JSON', () => {
  const random = new Random(1);
  for (let i = 0; i < 4000; i++) {
    const number = (random.next() - 0.5) * 10 ** random.between(-315, 308);
    const texts = [String(number), number.toExponential(), number.toExponential(16)];
    const [canonical, ...others] = texts.map(canonicalDouble);
    expect([number, canonical, isCanonicalDouble(canonical as string, String(number))]).toEqual([number, canonicalOfNumber(number), true]);
    expect(others[0]).toBe(canonical);
    expect(Number(others[1])).toBe(number);
  }
});
