import { expect, test } from '@jest/globals';
import { XSD } from '../../../src/core/value.ts';
import { isLexicalForm } from '../../../src/mapping/vocabulary/lexical-form.ts';

const ROWS: readonly (readonly [type: string, values: readonly string[], others: readonly string[]])[] = [
  ['boolean', ['true', 'false', '1', '0', ' true\n'], ['TRUE', 'yes', '']],
  ['integer', ['0', '-5', '+007', '12345678901234567890'], ['1.0', '1e2', 'abc', '', '1 2']],
  ['byte', ['127', '-128', '+1'], ['128', '-129']],
  ['unsignedByte', ['0', '255'], ['-1', '256']],
  ['long', ['9223372036854775807', '-9223372036854775808'], ['9223372036854775808']],
  ['positiveInteger', ['1'], ['0', '-1']],
  ['nonPositiveInteger', ['0', '-1'], ['1']],
  ['negativeInteger', ['-1'], ['0']],
  ['nonNegativeInteger', ['0'], ['-1']],
  ['decimal', ['1', '-1.50', '.5', '5.'], ['1e2', '.', 'INF', '1,5']],
  ['double', ['1', '1.5E-3', '-INF', '+INF', 'NaN', '.5e1'], ['-NaN', '1e', 'inf']],
  [
    'date',
    ['2024-02-29', '2000-02-29Z', '-0001-01-01', '12024-01-01+14:00'],
    ['2023-02-29', '1900-02-29', '2024-13-01', '2024-04-31', '24-01-01', '2024-1-1', '2024-01-01+15:00'],
  ],
  [
    'dateTime',
    ['2024-01-01T00:00:00', '2024-01-01T24:00:00Z', '2024-01-01T23:59:59.123-05:30'],
    ['2024-01-01 00:00:00', '2024-01-01T24:00:01', '2024-02-30T00:00:00', '2024-01-01'],
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
  ['base64Binary', ['', 'YQ==', 'YWI=', 'Y WI j'], ['YQ', 'Y===']],
  ['string', ['', 'abc'], []],
  ['anyURI', ['a b'], []],
];

test.each(ROWS)('values of xsd:%s', (type, values, others) => {
  expect(values.filter((text) => !isLexicalForm(text, XSD + type))).toEqual([]);
  expect(others.filter((text) => isLexicalForm(text, XSD + type))).toEqual([]);
});

test('every text is a value of a datatype that is not of XML Schema', () => {
  expect(isLexicalForm('abc', 'http://example.com/integer')).toBe(true);
  expect(isLexicalForm('abc', `${XSD}constructor`)).toBe(true);
});
