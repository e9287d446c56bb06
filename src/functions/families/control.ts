/** Choices and missing values. What is chosen stays as it is: all its values, with their natural datatypes. */
import { fromBytes } from '../../core/text.ts';
import type { Value } from '../../core/value.ts';
import { define } from '../define.ts';
import { DataError, type FunctionDefinition } from '../definition.ts';
import { gives, grel, idlab, lazy, nullable, optional, own, qm, table } from '../names.ts';

const UNTRUE: ReadonlySet<string> = new Set(['', 'false', 'no', 'off', '0']);

const condition = { ...grel.condition, type: 'string', check: () => undefined } as const;
const textOf = (value: Value): string => (typeof value === 'string' ? value : value.text);
const isBlank = (value: Value): boolean => fromBytes(textOf(value)).trim() === '';

const instead = own('instead', 'any');

/** A column of a file → another one, by the cells of the first. Texts are one-byte. */
export type Table = ReadonlyMap<string, string | undefined>;
/** @param file identifies the file: what the plan says in the place of the argument */
export type FindTable = (file: string, from: number, to: number, delimiter: string | undefined) => Table;

/** Functions that look values up in files, which they do not read themselves. */
export const lookUpsIn = (tableOf: FindTable): readonly FunctionDefinition[] => [
  define({
    names: ['idlab-fn:lookup'],
    does: 'The cell in the column `toColumn` of the first row of a CSV file whose cell in `fromColumn` is the text. Columns are numbered from 0. File and columns are constants, and the first row is data like the others.',
    takes: [table.value, table.file, table.from, table.to],
    gives: gives.idlabString,
    on: 'bytes',
    call: (text, file, from, to) => tableOf(file, from, to, undefined).get(text),
    examples: [
      [['2', 'reviews.csv', 0, 1], 'good'],
      [['good', 'reviews.csv', 1, 0], '2'],
      [['7', 'reviews.csv', 0, 1], null],
    ],
  }),
  define({
    names: ['idlab-fn:lookupWithDelimiter'],
    does: 'As `idlab-fn:lookup`, in a file whose cells another character separates, which is a constant, too.',
    takes: [table.value, table.file, table.from, table.to, table.delimiter],
    gives: gives.idlabString,
    on: 'bytes',
    call: (text, file, from, to, delimiter) => tableOf(file, from, to, delimiter).get(text),
    examples: [
      [['2', 'reviews.csv', 0, 1, ';'], 'good'],
      [['7', 'reviews.csv', 0, 1, ';'], null],
    ],
  }),
];

/** The file of the examples. A run has the tables of its mapping. */
function exampleTable(file: string, from: number, to: number): Table {
  if (file !== 'reviews.csv') throw new DataError('The file is read in a run alone');
  const rows = ['0 bad', '1 poor', '2 good', '3 excellent'].map((row) => row.split(' '));
  return new Map(rows.map((row) => [row[from] as string, row[to] as string]));
}

export const CONTROL: readonly FunctionDefinition[] = [
  define({
    names: ['grel:controls_if'],
    does: '`any_true` if the condition is true, else `any_false`. A missing condition is false.',
    takes: [nullable(grel.condition), lazy(grel.whenTrue), optional(lazy(grel.whenFalse))],
    gives: gives.grelAny,
    on: 'bytes',
    call: (is, then, otherwise) => (is === true ? then() : otherwise()),
    examples: [
      [['true', 'a', 'b'], 'a'],
      [['false', 'a', 'b'], 'b'],
      [['false', 'a'], null],
      [
        [null, 'a', ['é', 'c']],
        ['é', 'c'],
      ],
      [['x', 'a'], { fails: '"x" is not a boolean' }],
    ],
  }),
  define({
    names: ['morph:controls_if_cast'],
    does: '`any_false` if the text is empty, `false`, `no`, `off` or `0` in any case, or missing; else `any_true`.',
    takes: [nullable(condition), lazy(grel.whenTrue), optional(lazy(grel.whenFalse))],
    gives: gives.grelAny,
    on: 'bytes',
    call: (text, then, otherwise) => (UNTRUE.has((text ?? '').toLowerCase()) ? otherwise() : then()),
    examples: [
      [['yes', 'a', 'b'], 'a'],
      [['No', 'a', 'b'], 'b'],
      [['', 'a'], null],
      [[null, 'a', 'b'], 'b'],
    ],
  }),
  define({
    names: ['idlab-fn:trueCondition'],
    does: '`str` if the condition is the text `true`; else no result.',
    takes: [nullable(idlab.strBoolean), lazy(idlab.any)],
    gives: gives.idlabString,
    on: 'bytes',
    call: (text, values) => (text === 'true' ? values() : null),
    examples: [
      [['true', 'é'], 'é'],
      [['false', 'a'], null],
      [['TRUE', 'a'], null],
      [[null, 'a'], null],
    ],
  }),
  define({
    names: ['idlab-fn:decide'],
    does: '`result` if the text is `expectedStr`; else no result.',
    takes: [idlab.str, idlab.expectedStr, lazy(idlab.result)],
    gives: gives.idlabString,
    on: 'bytes',
    call: (text, expected, result) => (text === expected ? result() : null),
    examples: [
      [['a', 'a', 'é'], 'é'],
      [['a', 'b', 'c'], null],
      [['a', 'a', null], null],
    ],
  }),
  define({
    names: ['grel:other_coalesce'],
    does: 'The first value of all `objects`.',
    takes: [grel.objects],
    gives: gives.grelAny,
    on: 'bytes',
    call: (values) => values[0],
    examples: [
      [[['a', 'b']], 'a'],
      [[''], ''],
    ],
  }),
  define({
    names: ['qm:default'],
    does: 'The values, or `instead` if there are none.',
    takes: [nullable(qm.values), lazy(instead)],
    gives: gives.any,
    on: 'bytes',
    call: (values, other) => (values.length > 0 ? values : other()),
    examples: [
      [['a', 'b'], 'a'],
      [[null, 'é'], 'é'],
      [['', 'b'], ''],
      [['a', null], 'a'],
    ],
  }),
  define({
    names: ['qm:defaultIfBlank'],
    does: 'The values that hold more than white space, or `instead` if there are none.',
    takes: [nullable(qm.values), lazy(instead)],
    gives: gives.any,
    on: 'bytes',
    call: (values, other) => {
      const kept = values.filter((value) => !isBlank(value));
      return kept.length > 0 ? kept : other();
    },
    examples: [
      [[' ', 'b'], 'b'],
      [[['', 'a'], 'b'], 'a'],
      [[null, 'é'], 'é'],
      [[null, null], null],
    ],
  }),
  define({
    names: ['qm:nullIf'],
    does: 'The values whose texts are not among `nulls`.',
    takes: [qm.values, own('nulls', 'list')],
    gives: gives.any,
    on: 'bytes',
    call: (values, nulls) => values.filter((value) => !nulls.includes(textOf(value))),
    examples: [
      [['N/A', ['N/A', '-']], null],
      [[['a', '-'], '-'], 'a'],
    ],
  }),
  define({
    names: ['qm:nullIfBlank'],
    does: 'The values that hold more than white space.',
    takes: [qm.values],
    gives: gives.any,
    on: 'bytes',
    call: (values) => values.filter((value) => !isBlank(value)),
    examples: [
      [[['a', ' ', '']], 'a'],
      [[''], null],
    ],
  }),
  define({
    names: ['qm:lookUp'],
    does: 'The item of `results` at the place where the text stands in `keys`; `instead`, if given, where it does not.',
    takes: [qm.value, own('keys', 'list'), own('results', 'any'), optional(lazy(instead))],
    gives: gives.any,
    on: 'bytes',
    fails: true,
    call: (text, keys, results, other) => {
      if (keys.length !== results.length)
        throw new DataError(`${keys.length} keys have ${results.length} results`, 'Give one result for each key.');
      const at = keys.indexOf(text);
      return at < 0 ? other() : results[at];
    },
    examples: [
      [['m', ['f', 'm'], ['female', 'male']], 'male'],
      [['x', ['f', 'm'], ['female', 'male']], null],
      [['x', 'f', 'female', 'é'], 'é'],
      [['x', ['f', 'm'], 'female'], { fails: '2 keys have 1 results' }],
    ],
  }),
  ...lookUpsIn(exampleTable),
  define({
    names: ['idlab-fn:generateNull', 'grel:generateNull'],
    does: 'Never a value.',
    takes: [],
    gives: { ...gives.idlabString, aliases: [...gives.idlabString.aliases, gives.grelString.iri, ...gives.grelString.aliases] },
    on: 'bytes',
    call: () => null,
    examples: [
      [[], null],
      [[], null, 'stringOut'],
    ],
  }),
  define({
    names: ['grel:other_type'],
    does: 'The local name of the natural datatype: `integer`, `decimal`, `double`, `boolean`, `date`; `string` without one, `array` for several values, `undefined` without a value.',
    takes: [nullable({ ...grel.objects, name: 'e', iri: grel.any.iri, aliases: grel.any.aliases })],
    gives: gives.grelString,
    on: 'bytes',
    call: (values) => {
      const [first] = values;
      if (first === undefined) return 'undefined';
      if (values.length > 1) return 'array';
      return typeof first === 'string' ? 'string' : first.datatype.replace(/^.*[#/]/, '');
    },
    examples: [
      [['5'], 'string'],
      [[5], 'integer'],
      [[['a', 'b']], 'array'],
      [[null], 'undefined'],
    ],
  }),
];
