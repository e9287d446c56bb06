import { expect, test } from '@jest/globals';
import { isLexicalForm, isWithin, lexicalSpace } from '../../../../src/core/input/lexical-form.ts';
import { XSD } from '../../../../src/core/value.ts';
import { Random } from '../../../support/random.ts';
import { isXsdForm, XSD_PATTERNS } from '../../../support/xsd.ts';

const ROWS: readonly (readonly [type: string, values: readonly string[], others: readonly string[]])[] = [
  ['boolean', ['true', 'false', '1', '0'], ['TRUE', 'yes', '', ' true', 'true\n']],
  ['integer', ['0', '-5', '+007', '12345678901234567890'], ['1.0', '1e2', 'abc', '', '1 2', ' 1', '1\n', '+', '١']],
  ['byte', ['127', '-128', '+1'], ['128', '-129']],
  ['short', ['32767', '-32768'], ['32768']],
  ['int', ['2147483647', '-2147483648', '00000000000000000001'], ['2147483648', '-2147483649']],
  ['unsignedByte', ['0', '255', '-0'], ['-1', '256']],
  ['unsignedShort', ['65535'], ['65536']],
  ['unsignedInt', ['4294967295'], ['4294967296']],
  ['unsignedLong', ['18446744073709551615'], ['18446744073709551616', '-1']],
  ['long', ['9223372036854775807', '-9223372036854775808'], ['9223372036854775808', '-9223372036854775809']],
  ['positiveInteger', ['1'], ['0', '-1']],
  ['nonPositiveInteger', ['0', '-1'], ['1']],
  ['negativeInteger', ['-1'], ['0']],
  ['nonNegativeInteger', ['0'], ['-1']],
  ['decimal', ['1', '-1.50', '.5', '5.', '+0.0'], ['1e2', '.', '-.', '', 'INF', '1,5', '10.0.0.37', '$1.00', '1 000']],
  ['double', ['1', '1.5E-3', '-INF', '+INF', 'NaN', '.5e1', '5.e+2'], ['-NaN', '1e', 'inf', 'Infinity', '1e2.5', '']],
  ['float', ['1', 'INF'], ['e1', 'nan']],
  [
    'date',
    ['2024-02-29', '2000-02-29Z', '-0001-01-01', '12024-01-01+14:00'],
    [
      '2023-02-29',
      '1900-02-29',
      '2024-13-01',
      '2024-04-31',
      '24-01-01',
      '2024-1-1',
      '2024-01-01+15:00',
      '28/02/2024',
      '2024-02-28T00:00:00',
      '2024-02-28 ',
      '',
    ],
  ],
  [
    'dateTime',
    ['2024-01-01T00:00:00', '2024-01-01T24:00:00Z', '2024-01-01T23:59:59.123-05:30'],
    [
      '2024-01-01 00:00:00',
      '2024-01-01T24:00:01',
      '2024-02-30T00:00:00',
      '2024-01-01',
      '2024-01-01T25:00:00',
      '2024-01-01T12:60:00',
      '2024-01-01T12:00',
    ],
  ],
  ['dateTimeStamp', ['2024-01-01T00:00:00Z'], ['2024-01-01T00:00:00']],
  ['time', ['23:59:59', '24:00:00'], ['24:00:01', '7:00:00', '12:60:00']],
  ['gYear', ['2024', '-0044', '12024'], ['24', '02024']],
  ['gYearMonth', ['2024-12'], ['2024-13', '2024']],
  ['gMonth', ['--12'], ['12', '--13']],
  ['gMonthDay', ['--02-29', '--12-31'], ['--02-30', '--04-31']],
  ['gDay', ['---31'], ['---32', '31']],
  ['duration', ['P1Y2M3DT4H5M6.7S', '-P1D', 'PT0S'], ['P', 'P1', 'PT', 'P1DT', '1D']],
  ['yearMonthDuration', ['P1Y', 'P3M'], ['P1D']],
  ['dayTimeDuration', ['P1D', 'PT1H'], ['P1Y']],
  ['hexBinary', ['', '0aF0'], ['0', 'xy']],
  [
    'base64Binary',
    ['', 'YQ==', 'YWI=', 'YWJj', 'Y W J j', 'YWJjYQ= ='],
    ['YQ', 'Y===', '====', '==', 'YW=J', 'YR==', 'YWJ=', 'Y  WJj', ' YWJj', 'YWJj\nYWJj', '0FB7A9'],
  ],
  ['string', ['', 'abc'], []],
  ['anyURI', ['a b', ''], []],
  ['normalizedString', ['', ' a  b '], ['a\tb', 'a\nb', 'a\r']],
  ['token', ['', 'a b', 'Zürich'], [' a', 'a ', 'a  b', 'a\nb']],
  ['language', ['en', 'de-CH-1996'], ['', 'en_US', 'abcdefghi', 'en-']],
  ['NMTOKEN', ['1a', '-', 'a:b', 'Zürich', '名'], ['', 'a b', 'a/b', '÷']],
  ['Name', ['a1', ':a', '_', 'Zürich', '名前'], ['', '1a', '-a', 'a b', '×']],
  ['NCName', ['a1', '_', 'Zürich', '𐐀'], ['', '1a', 'a:b', 'a b']],
];

test.each(ROWS)('values of xsd:%s', (type, values, others) => {
  expect(values.filter((text) => !isLexicalForm(text, XSD + type))).toEqual([]);
  expect(others.filter((text) => isLexicalForm(text, XSD + type))).toEqual([]);
});

test.each(Object.keys(XSD_PATTERNS))('xsd:%s has the texts that the patterns of the specification match', (type) => {
  const random = new Random(Object.keys(XSD_PATTERNS).indexOf(type) + 1);
  const known = ROWS.flatMap(([, values, others]) => [...values, ...others]);
  const own = ROWS.flatMap(([of, values]) => (of === type ? values : []));
  const changed = (text: string): string => {
    const at = random.between(0, text.length);
    const put = random.pick([
      '',
      '0',
      '1',
      '9',
      '29',
      '31',
      '-',
      '+',
      '.',
      ':',
      'T',
      'Z',
      'E',
      'P',
      'D',
      '=',
      'A',
      ' ',
      '\n',
      'é',
      random.pick(known),
    ]);
    return text.slice(0, at) + put + text.slice(at + random.between(0, 2));
  };
  const texts = Array.from({ length: 3000 }, (_, i) => {
    let text = random.pick(random.chance(0.5) ? own : known);
    for (let change = 0; change < i % 4; change++) text = changed(text);
    return text;
  });
  const wrong = texts.filter((text) => isLexicalForm(text, XSD + type) !== isXsdForm(text, XSD + type));
  expect([...new Set(wrong)]).toEqual([]);
  expect(texts.filter((text) => isXsdForm(text, XSD + type)).length).toBeGreaterThan(100);
});

test('every text is a value of a datatype that is not of XML Schema', () => {
  expect(isLexicalForm('abc', 'http://example.com/integer')).toBe(true);
  expect(isLexicalForm('abc', `${XSD}constructor`)).toBe(true);
});

test('a plain space has no text that needs an escape', () => {
  for (const [type, values] of ROWS)
    if (lexicalSpace(XSD + type)?.isPlain) expect(values.filter((text) => /[^ -~]|["\\]/.test(text))).toEqual([]);
});

test.each([
  ['integer', 'integer', true],
  ['integer', 'decimal', true],
  ['integer', 'double', true],
  ['decimal', 'float', true],
  ['integer', 'int', false],
  ['double', 'decimal', false],
  ['dateTime', 'date', false],
  ['hexBinary', 'base64Binary', false],
])('canonical forms of xsd:%s are in the lexical space of xsd:%s: %s', (type, other, expected) => {
  expect(isWithin(XSD + type, XSD + other)).toBe(expected);
});
