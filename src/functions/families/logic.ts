/** Conditions. Texts are compared as they are, character by character; nothing is equal to a missing value. */
import type { Value } from '../../core/value.ts';
import { define } from '../define.ts';
import type { FunctionDefinition } from '../definition.ts';
import { gives, grel, idlab, lazy, nullable, own, qm } from '../names.ts';
import { readBoolean, readNumber } from '../numbers.ts';

const isNumeric = (text: string): boolean => {
  try {
    readNumber(text);
    return true;
  } catch {
    return false;
  }
};

const booleans = (texts: readonly string[]): readonly boolean[] => texts.map(readBoolean);

const isTrue = (values: readonly Value[]): boolean =>
  values.length > 0 && values.every((value) => readBoolean(typeof value === 'string' ? value : value.text));

const string = { ...grel.any, name: 'value' } as const;

export const LOGIC: readonly FunctionDefinition[] = [
  define({
    names: ['idlab-fn:equal', 'qm:equal'],
    does: 'Whether two texts are equal.',
    takes: [grel.value, grel.value2],
    gives: gives.idlabBoolean,
    on: 'bytes',
    call: (a, b) => a === b,
    examples: [
      [['A', 'A'], 'true'],
      [['é', 'e'], 'false'],
      [['1', '1.0'], 'false'],
      [
        [['A', 'B'], 'A'],
        ['true', 'false'],
      ],
    ],
  }),
  define({
    names: ['idlab-fn:notEqual', 'qm:notEqual'],
    does: 'Whether two texts differ.',
    takes: [grel.value, grel.value2],
    gives: gives.idlabBoolean,
    on: 'bytes',
    call: (a, b) => a !== b,
    examples: [
      [['A', 'B'], 'true'],
      [['é', 'é'], 'false'],
    ],
  }),
  define({
    names: ['qm:equalIgnoringCase'],
    does: 'Whether two texts are equal apart from case.',
    takes: [qm.value, qm.other],
    gives: gives.boolean,
    call: (a, b) => a.toUpperCase().toLowerCase() === b.toUpperCase().toLowerCase(),
    examples: [
      [['Straße', 'STRASSE'], 'true'],
      [['É', 'é'], 'true'],
      [['a', 'b'], 'false'],
    ],
  }),
  define({
    names: ['qm:numbersEqual'],
    does: 'Whether two numbers are equal: 1 and 1.0 are.',
    takes: [qm.number, qm.number2],
    gives: gives.boolean,
    call: (a, b) => a === b,
    examples: [
      [['1', '1.0'], 'true'],
      [['1', '2'], 'false'],
      [['1', 'x'], { fails: '"x" is not a number' }],
    ],
  }),
  define({
    names: ['qm:lessThan'],
    does: 'Whether the first number is less than the second.',
    takes: [qm.number, qm.number2],
    gives: gives.boolean,
    call: (a, b) => a < b,
    examples: [
      [['9', '10'], 'true'],
      [['10', '10'], 'false'],
    ],
  }),
  define({
    names: ['qm:greaterThan'],
    does: 'Whether the first number is greater than the second.',
    takes: [qm.number, qm.number2],
    gives: gives.boolean,
    call: (a, b) => a > b,
    examples: [
      [['10', '9'], 'true'],
      [['-1', '0'], 'false'],
    ],
  }),
  define({
    names: ['qm:textBefore'],
    does: 'Whether the first text stands before the second in the order of code points.',
    takes: [qm.value, qm.other],
    gives: gives.boolean,
    on: 'bytes',
    call: (a, b) => a < b,
    examples: [
      [['a', 'b'], 'true'],
      [['～', '😀'], 'true'],
      [['a', 'B'], 'false'],
    ],
  }),
  define({
    names: ['grel:boolean_and'],
    does: 'Whether all are true. All values of all `b` are taken.',
    takes: [grel.conditions],
    gives: gives.grelBoolean,
    on: 'bytes',
    fails: true,
    call: (texts) => booleans(texts).every((one) => one),
    examples: [
      [[['true', 'true']], 'true'],
      [[['true', 'false']], 'false'],
      [['x'], { fails: '"x" is not a boolean' }],
    ],
  }),
  define({
    names: ['grel:boolean_or'],
    does: 'Whether one is true.',
    takes: [grel.conditions],
    gives: gives.grelBoolean,
    on: 'bytes',
    fails: true,
    call: (texts) => booleans(texts).some((one) => one),
    examples: [
      [[['false', 'true']], 'true'],
      [['0'], 'false'],
    ],
  }),
  define({
    names: ['grel:boolean_xor'],
    does: 'Whether an odd number of them is true.',
    takes: [grel.conditions],
    gives: gives.grelBoolean,
    on: 'bytes',
    fails: true,
    call: (texts) => booleans(texts).filter((one) => one).length % 2 === 1,
    examples: [
      [[['true', 'false']], 'true'],
      [[['true', 'true']], 'false'],
    ],
  }),
  define({
    names: ['qm:and'],
    does: 'Whether both are true. A missing value counts as false; of several values, all must be true.',
    takes: [lazy(own('condition', 'any')), lazy(own('otherCondition', 'any'))],
    gives: gives.boolean,
    on: 'bytes',
    fails: true,
    call: (a, b) => isTrue(a()) && isTrue(b()),
    examples: [
      [['true', '1'], 'true'],
      [['true', null], 'false'],
      [['false', 'x'], 'false'],
      [['yes', 'true'], { fails: '"yes" is not a boolean' }],
    ],
  }),
  define({
    names: ['qm:or'],
    does: 'Whether one of the two is true. A missing value counts as false; of several values, all must be true.',
    takes: [lazy(own('condition', 'any')), lazy(own('otherCondition', 'any'))],
    gives: gives.boolean,
    on: 'bytes',
    fails: true,
    call: (a, b) => isTrue(a()) || isTrue(b()),
    examples: [
      [['false', 'TRUE'], 'true'],
      [[null, null], 'false'],
    ],
  }),
  define({
    names: ['grel:boolean_not'],
    does: 'True for false, false for true.',
    takes: [grel.condition],
    gives: gives.grelBoolean,
    call: (one) => !one,
    examples: [
      [['true'], 'false'],
      [['0'], 'true'],
      [['x'], { fails: 'not a boolean' }],
    ],
  }),
  define({
    names: ['idlab-fn:isNull'],
    does: 'Whether there is no value.',
    takes: [nullable(idlab.any)],
    gives: gives.idlabBoolean,
    on: 'bytes',
    call: (values) => values.length === 0,
    examples: [
      [[null], 'true'],
      [['a'], 'false'],
      [[''], 'false'],
    ],
  }),
  define({
    names: ['idlab-fn:isNotNull'],
    does: 'Whether there is a value.',
    takes: [nullable(idlab.any)],
    gives: gives.idlabBoolean,
    on: 'bytes',
    call: (values) => values.length > 0,
    examples: [
      [[null], 'false'],
      [[['a', 'b']], 'true'],
      [[''], 'true'],
    ],
  }),
  define({
    names: ['grel:controls_isNull'],
    does: 'Whether there is no value.',
    takes: [nullable(string)],
    gives: gives.grelBoolean,
    on: 'bytes',
    call: (text) => text === undefined,
    examples: [
      [[null], 'true'],
      [['é'], 'false'],
    ],
  }),
  define({
    names: ['grel:controls_isNotNull'],
    does: 'Whether there is a value.',
    takes: [nullable(string)],
    gives: gives.grelBoolean,
    on: 'bytes',
    call: (text) => text !== undefined,
    examples: [
      [[null], 'false'],
      [[''], 'true'],
    ],
  }),
  define({
    names: ['grel:controls_isBlank'],
    does: 'Whether there is no value, or nothing but white space.',
    takes: [nullable(string)],
    gives: gives.grelBoolean,
    call: (text) => (text ?? '').trim() === '',
    examples: [
      [[null], 'true'],
      [[' \u00a0'], 'true'],
      [['a'], 'false'],
    ],
  }),
  define({
    names: ['grel:controls_isNonBlank'],
    does: 'Whether there is more than white space.',
    takes: [nullable(string)],
    gives: gives.grelBoolean,
    call: (text) => (text ?? '').trim() !== '',
    examples: [
      [[null], 'false'],
      [[' a'], 'true'],
    ],
  }),
  define({
    names: ['grel:controls_isNumeric', 'qm:isNumber'],
    does: 'Whether the text is a number in digits.',
    takes: [nullable(string)],
    gives: gives.grelBoolean,
    call: (text) => text !== undefined && isNumeric(text),
    examples: [
      [['1.5e3'], 'true'],
      [['1,5'], 'false'],
      [[''], 'false'],
      [[null], 'false'],
    ],
  }),
  define({
    names: ['qm:isOneOf'],
    does: 'Whether the text is one of `values`.',
    takes: [qm.value, qm.values],
    gives: gives.boolean,
    on: 'bytes',
    call: (text, values) => values.some((value) => (typeof value === 'string' ? value : value.text) === text),
    examples: [
      [['b', ['a', 'b']], 'true'],
      [['é', 'e'], 'false'],
    ],
  }),
];
