/** Lists: all values of an argument. Items keep their natural datatypes unless a new text is made of them. */
import { fromBytes } from '../../core/text.ts';
import { type Value, XSD } from '../../core/value.ts';
import { define } from '../define.ts';
import { DataError, type FunctionDefinition } from '../definition.ts';
import { gives, grel, idlab, nullable, optional, own, qm, withDefault } from '../names.ts';
import { readNumber, tidy } from '../numbers.ts';

const textOf = (value: Value): string => (typeof value === 'string' ? value : value.text);

const NUMERIC: ReadonlySet<string> = new Set(['integer', 'decimal', 'double', 'float', 'long', 'int', 'short'].map((name) => XSD + name));

/** Numbers by value before texts by code point; a number is a value whose natural datatype is numeric. */
function compare(a: Value, b: Value): number {
  const isNumber = typeof a !== 'string' && NUMERIC.has(a.datatype);
  const isOther = typeof b !== 'string' && NUMERIC.has(b.datatype);
  if (isNumber && isOther) return Number(a.text) - Number(b.text);
  if (isNumber !== isOther) return isNumber ? -1 : 1;
  // The order of UTF-8 bytes is that of code points.
  const [first, second] = [textOf(a), textOf(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function unique(values: readonly Value[]): readonly Value[] {
  const seen = new Set<string>();
  return values.filter((value) => {
    const text = textOf(value);
    return seen.has(text) ? false : seen.add(text) !== undefined;
  });
}

const numberOf = (value: Value): number => readNumber(fromBytes(textOf(value)));
const numbers = (values: readonly Value[]): readonly number[] => values.map(numberOf);
const textsOf = (values: readonly Value[]): ReadonlySet<string> => new Set(values.map(textOf));

const from0 = (at: number, length: number): number => (at < 0 ? length + at : at);

export const LIST: readonly FunctionDefinition[] = [
  define({
    names: ['grel:array_join'],
    does: 'The texts with `sep` between them.',
    takes: [grel.array, grel.separator],
    gives: gives.grelString,
    on: 'bytes',
    call: (values, separator) => values.map(textOf).join(separator),
    examples: [
      [[['foo', 'bar', 'baz'], ';'], 'foo;bar;baz'],
      [['é', ';'], 'é'],
      [[[1, 2], '–'], '1–2'],
    ],
  }),
  define({
    names: ['grel:array_get'],
    does: 'The item at position `from`, from 0 on; with `to`, the items up to, not including, `to`. Negative positions count from the end. No result where there is no such item.',
    takes: [grel.array, grel.from, optional(grel.to)],
    gives: gives.grelArray,
    on: 'bytes',
    call: (values, from, to) => (to === undefined ? values.at(from) : values.slice(from, to)),
    examples: [
      [[['a', 'b', 'c'], 0], 'a'],
      [
        [['a', 'b', 'c'], 0, 2],
        ['a', 'b'],
      ],
      [[['a', 'b'], -1], 'b'],
      [[['a'], 5], null],
    ],
  }),
  define({
    names: ['grel:array_slice'],
    does: 'The items from position `from` up to, not including, `to`; to the end without `to`.',
    takes: [grel.array, grel.from, optional(grel.to)],
    gives: gives.grelArray,
    on: 'bytes',
    call: (values, from, to) => values.slice(from, to),
    examples: [
      [
        [['a', 'b', 'c', 'd'], 1, 3],
        ['b', 'c'],
      ],
      [
        [['a', 'b', 'c'], 1],
        ['b', 'c'],
      ],
      [[['a'], 1], null],
    ],
  }),
  define({
    names: ['grel:array_length'],
    does: 'The number of items; 0 without a value.',
    takes: [nullable(grel.array)],
    gives: gives.grelNumber,
    on: 'bytes',
    call: (values) => values.length,
    examples: [
      [[['a', 'b']], '2'],
      [['a'], '1'],
      [[null], '0'],
    ],
  }),
  define({
    names: ['grel:array_reverse'],
    does: 'The items in reverse order.',
    takes: [grel.array],
    gives: gives.grelArray,
    on: 'bytes',
    call: (values) => values.toReversed(),
    examples: [
      [[['a', 'b', 'c']], ['c', 'b', 'a']],
      [['a'], 'a'],
    ],
  }),
  define({
    names: ['grel:array_sort'],
    does: 'The items in order: values with a numeric natural datatype by number, then texts by code point.',
    takes: [grel.array],
    gives: gives.grelArray,
    on: 'bytes',
    call: (values) => values.toSorted(compare),
    examples: [
      [[['b', 'a', 'C']], ['C', 'a', 'b']],
      [[['é', 'z', '😀', '～']], ['z', 'é', '～', '😀']],
      [[[10, 9]], ['9', '10']],
    ],
  }),
  define({
    names: ['qm:sortNumbers'],
    does: 'The numbers in ascending order.',
    takes: [qm.values],
    gives: gives.list,
    on: 'bytes',
    fails: true,
    call: (values) => values.toSorted((a, b) => numberOf(a) - numberOf(b)),
    examples: [
      [[['10', '9', '-1']], ['-1', '9', '10']],
      [[['a', 'b']], { fails: 'is not a number' }],
    ],
  }),
  define({
    names: ['grel:array_sum', 'grel:math_sum'],
    does: 'The sum of the numbers.',
    takes: [grel.array],
    gives: gives.grelNumber,
    fails: true,
    on: 'bytes',
    call: (values) => tidy(numbers(values).reduce((sum, number) => sum + number, 0)),
    examples: [
      [[['1', '2', '3']], '6'],
      [[['0.1', '0.2']], '0.3'],
      [['x'], { fails: '"x" is not a number' }],
    ],
  }),
  define({
    names: ['grel:array_uniques'],
    does: 'Each text once, where it stands first.',
    takes: [grel.array],
    gives: gives.grelArray,
    on: 'bytes',
    call: unique,
    examples: [
      [[['b', 'a', 'b']], ['b', 'a']],
      [['a'], 'a'],
    ],
  }),
  define({
    names: ['idlab-fn:listContainsElement'],
    does: 'Whether the text is in the list; false without a list.',
    takes: [nullable(idlab.list), idlab.str],
    gives: gives.idlabBoolean,
    on: 'bytes',
    call: (texts, text) => texts.includes(text),
    examples: [
      [[['Mars', 'Jupiter'], 'Jupiter'], 'true'],
      [['é', 'e'], 'false'],
      [[null, 'a'], 'false'],
    ],
  }),
  define({
    names: ['idlab-fn:stringContainsOtherString'],
    does: 'Whether `otherStr` is one of the parts of `str` between delimiters.',
    takes: [idlab.str, idlab.otherStr, idlab.delimiter],
    gives: gives.idlabBoolean,
    on: 'bytes',
    call: (text, other, delimiter) => (delimiter === '' ? text === other : text.split(delimiter).includes(other)),
    examples: [
      [['a,b,c', 'b', ','], 'true'],
      [['a,bc', 'b', ','], 'false'],
      [['é', 'é', ''], 'true'],
    ],
  }),
  define({
    names: ['qm:first'],
    does: 'The first value.',
    takes: [qm.values],
    gives: gives.any,
    on: 'bytes',
    call: (values) => values[0],
    examples: [
      [[['a', 'b']], 'a'],
      [['a'], 'a'],
    ],
  }),
  define({
    names: ['qm:last'],
    does: 'The last value.',
    takes: [qm.values],
    gives: gives.any,
    on: 'bytes',
    call: (values) => values.at(-1),
    examples: [
      [[['a', 'b']], 'b'],
      [['a'], 'a'],
    ],
  }),
  define({
    names: ['qm:concatLists'],
    does: 'The values of both lists, one after the other.',
    takes: [nullable(qm.values), nullable(qm.otherValues)],
    gives: gives.list,
    on: 'bytes',
    call: (a, b) => [...a, ...b],
    examples: [
      [
        [['a', 'b'], 'c'],
        ['a', 'b', 'c'],
      ],
      [['a', null], 'a'],
      [[null, null], null],
    ],
  }),
  define({
    names: ['qm:union'],
    does: 'The values of both lists, each text once.',
    takes: [nullable(qm.values), nullable(qm.otherValues)],
    gives: gives.list,
    on: 'bytes',
    call: (a, b) => unique([...a, ...b]),
    examples: [
      [
        [
          ['a', 'b'],
          ['b', 'c'],
        ],
        ['a', 'b', 'c'],
      ],
      [[null, 'a'], 'a'],
      [[null, null], null],
    ],
  }),
  define({
    names: ['qm:intersection'],
    does: 'The values of the first list whose texts are in the second.',
    takes: [qm.values, qm.otherValues],
    gives: gives.list,
    on: 'bytes',
    call: (a, b) => {
      const others = textsOf(b);
      return a.filter((value) => others.has(textOf(value)));
    },
    examples: [
      [
        [
          ['a', 'b', 'é'],
          ['é', 'b'],
        ],
        ['b', 'é'],
      ],
      [['a', 'b'], null],
    ],
  }),
  define({
    names: ['qm:difference'],
    does: 'The values of the first list whose texts are not in the second.',
    takes: [qm.values, nullable(qm.otherValues)],
    gives: gives.list,
    on: 'bytes',
    call: (a, b) => {
      const others = textsOf(b);
      return a.filter((value) => !others.has(textOf(value)));
    },
    examples: [
      [[['a', 'b'], 'b'], 'a'],
      [['a', 'a'], null],
      [['a', null], 'a'],
    ],
  }),
  define({
    names: ['qm:indexOf'],
    does: 'The position of the first value with this text, from 0 on; -1 if there is none.',
    takes: [qm.values, qm.value],
    gives: gives.integer,
    on: 'bytes',
    call: (values, text) => values.findIndex((value) => textOf(value) === text),
    examples: [
      [[['a', 'é'], 'é'], '1'],
      [['a', 'b'], '-1'],
    ],
  }),
  define({
    names: ['qm:minimum'],
    does: 'The smallest of the numbers.',
    takes: [qm.values],
    gives: gives.number,
    on: 'bytes',
    fails: true,
    call: (values) => numbers(values).reduce((a, b) => Math.min(a, b)),
    examples: [
      [[['3', '-1', '2.5']], '-1'],
      [[['a']], { fails: '"a" is not a number' }],
    ],
  }),
  define({
    names: ['qm:maximum'],
    does: 'The largest of the numbers.',
    takes: [qm.values],
    gives: gives.number,
    on: 'bytes',
    fails: true,
    call: (values) => numbers(values).reduce((a, b) => Math.max(a, b)),
    examples: [
      [[['3', '-1', '12']], '12'],
      [['5'], '5'],
    ],
  }),
  define({
    names: ['qm:average'],
    does: 'The mean of the numbers.',
    takes: [qm.values],
    gives: gives.number,
    on: 'bytes',
    fails: true,
    call: (values) => tidy(numbers(values).reduce((sum, number) => sum + number, 0) / values.length),
    examples: [
      [[['1', '2']], '1.5'],
      [['4'], '4'],
    ],
  }),
  define({
    names: ['qm:range'],
    does: 'The integers from `start` to `end`, both included, in steps of `step` (1 if left out). At most 100000.',
    takes: [own('start', 'integer'), own('end', 'integer'), withDefault(own('step', 'integer'), '1')],
    gives: gives.list,
    call: (start, end, step) => {
      const count = Math.floor((end - start) / step) + 1;
      if (step === 0 || count > 100_000) throw new DataError(`from ${start} to ${end} by ${step} is too long`, 'At most 100000 integers.');
      return Array.from({ length: Math.max(0, count) }, (_, i) => start + i * step);
    },
    examples: [
      [
        [1, 3],
        ['1', '2', '3'],
      ],
      [
        [5, 1, -2],
        ['5', '3', '1'],
      ],
      [[2, 1], null],
      [[1, 2, 0], { fails: 'too long' }],
    ],
  }),
  define({
    names: ['qm:removeAt'],
    does: 'The values without the one at `index`, from 0 on; negative positions count from the end.',
    takes: [qm.values, own('index', 'integer')],
    gives: gives.list,
    on: 'bytes',
    call: (values, index) => values.filter((_, i) => i !== from0(index, values.length)),
    examples: [
      [
        [['a', 'b', 'c'], 1],
        ['a', 'c'],
      ],
      [[['a', 'b'], -1], 'a'],
      [['a', 0], null],
    ],
  }),
];
