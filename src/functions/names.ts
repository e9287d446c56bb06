/** Namespaces of functions, prefixed names, and the parameters and returns that several functions share. */
import { excerpt } from '../core/fault.ts';
import { delimiterOf } from '../core/input/csv-dialect.ts';
import {
  type ArgumentTypes,
  DataError,
  type Need,
  type Parameter,
  type ParameterType,
  type Return,
  type ReturnType,
} from './definition.ts';
import { checkPattern, checkTextOrPattern } from './regex.ts';

/** Prefix → namespace. `qm` is the project's own. */
export const NAMESPACES: Readonly<Record<string, string>> = {
  grel: 'http://users.ugent.be/~bjdmeest/function/grel.ttl#',
  'idlab-fn': 'https://w3id.org/imec/idlab/function#',
  morph: 'https://github.com/morph-kgc/morph-kgc/function/built-in.ttl#',
  qm: 'http://w3id.org/quadmill/function#',
  fns: 'http://example.com/functions/',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
};

/** Earlier namespaces, by today's: every name is known in both. */
const EARLIER: Readonly<Record<string, string>> = { 'idlab-fn': 'http://example.com/idlab/function/' };

/** `grel:toUpperCase` → its IRI. */
export function expand(name: string): string {
  const colon = name.indexOf(':');
  const namespace = NAMESPACES[name.slice(0, colon)];
  if (namespace === undefined) throw new Error(`No namespace for ${name}`);
  return namespace + name.slice(colon + 1);
}

/** The prefixed name of an IRI, or the IRI in angle brackets. */
export function shortName(iri: string): string {
  for (const [prefix, namespace] of Object.entries(NAMESPACES))
    if (iri.startsWith(namespace)) return `${prefix}:${iri.slice(namespace.length)}`;
  return `<${iri}>`;
}

/** All IRIs of `others`, and those of `name` and `others` in earlier namespaces. */
export function aliasesOf(name: string, others: readonly string[]): readonly string[] {
  const earlier = [name, ...others].flatMap((one) => {
    const colon = one.indexOf(':');
    const namespace = EARLIER[one.slice(0, colon)];
    return namespace === undefined ? [] : [namespace + one.slice(colon + 1)];
  });
  return [...others.map(expand), ...earlier];
}

// ---------------------------------------------------------------- parameters

function parameter<T extends ParameterType>(name: string, type: T, iri: string, ...others: readonly string[]): Parameter<T, 'value'> {
  return { name, iri: expand(iri), aliases: aliasesOf(iri, others), type, needs: 'value', default: undefined };
}

/** A parameter of the project's own functions. */
export const own = <T extends ParameterType>(name: string, type: T, ...others: readonly string[]): Parameter<T, 'value'> =>
  parameter(name, type, `qm:${name}`, ...others);

const needing = <T extends ParameterType, N extends Need>(of: Parameter<T>, needs: N): Parameter<T, N> => ({ ...of, needs });
/** It may be left out. */
export const optional = <T extends ParameterType>(of: Parameter<T>): Parameter<T, 'nothing'> => needing(of, 'nothing');
/** It must be given, but the function is called without a value for it. */
export const nullable = <T extends ParameterType>(of: Parameter<T>): Parameter<T, 'argument'> => needing(of, 'argument');
/** As `any`, but read only when the function asks for it. */
export const lazy = (of: Parameter<'any'>): Parameter<'lazy', 'argument'> => ({
  ...needing(of, 'argument'),
  type: 'lazy',
  check: () => undefined,
});
/** It may be left out, and is `text` then. */
export const withDefault = <T extends ParameterType>(of: Parameter<T>, text: string): Parameter<T, 'default'> => ({
  ...needing(of, 'default'),
  default: text,
});

/** The parameter, with a check of what it takes. The result of `check` does not matter. */
export const checked = <T extends ParameterType, N extends Need>(
  of: Parameter<T, N>,
  check: (value: ArgumentTypes[T]) => unknown,
): Parameter<T, N> => ({ ...of, check: (value) => void check(value) });

/** A regular expression. */
const regExp = <N extends Need>(of: Parameter<'string', N>): Parameter<'string', N> => ({ ...checked(of, checkPattern), isPattern: true });

/** A text, or a regular expression between slashes. */
export const textOrRegExp = <N extends Need>(of: Parameter<'string', N>): Parameter<'string', N> => ({
  ...checked(of, checkTextOrPattern),
  isPattern: true,
});

const GREL_VALUE = ['grel:valueParameter', 'grel:valueParameter1'] as const;

/** GREL. The second name is the `fno:predicate`. */
export const grel = {
  value: parameter('value', 'string', 'grel:valueParam', ...GREL_VALUE),
  value2: parameter('value2', 'string', 'grel:valueParam2', 'grel:valueParameter2'),
  any: parameter('e', 'string', 'grel:param_any_e', 'grel:p_any_e', ...GREL_VALUE, 'grel:valueParam'),
  objects: parameter('objects', 'any', 'grel:param_any_rep_e', 'grel:p_any_rep_e'),
  array: parameter('a', 'any', 'grel:param_a', 'grel:p_array_a', 'grel:p_any_e', 'grel:param_any_e'),
  separator: parameter('sep', 'string', 'grel:param_string_sep', 'grel:p_string_sep'),
  optionalSeparator: parameter('sep', 'string', 'grel:param_opt_sep', 'grel:p_opt_sep', 'grel:p_string_sep'),
  from: parameter('from', 'integer', 'grel:p_int_i_from', 'grel:param_int_i_from', 'grel:p_any_e2', 'grel:param_any_e2'),
  to: parameter('to', 'integer', 'grel:p_int_i_opt_to', 'grel:param_int_i_opt_to'),
  sub: parameter('sub', 'string', 'grel:param_string_sub', 'grel:string_sub'),
  find: textOrRegExp(parameter('find', 'string', 'grel:param_find', 'grel:p_string_find')),
  replace: parameter('replace', 'string', 'grel:param_replace', 'grel:p_string_replace'),
  regex: regExp(parameter('pattern', 'string', 'grel:param_regex', 'grel:p_string_regex')),
  fragment: textOrRegExp(parameter('fragment', 'string', 'grel:param_fragment', 'grel:p_fragment')),
  omit: parameter('omit', 'boolean', 'grel:param_bool_opt_b', 'grel:p_bool_opt_b'),
  mode: parameter('mode', 'string', 'grel:modeParam', 'grel:modeParameter'),
  condition: parameter('b', 'boolean', 'grel:param_b', 'grel:bool_b'),
  conditions: parameter('b', 'list', 'grel:bool_array_b', 'grel:param_rep_b'),
  whenTrue: parameter('eTrue', 'any', 'grel:param_true', 'grel:any_true'),
  whenFalse: parameter('eFalse', 'any', 'grel:param_false', 'grel:any_false'),
  number: parameter('n', 'number', 'grel:param_dec_n', 'grel:p_dec_n'),
  number2: parameter('n2', 'number', 'grel:param_dec_n2', 'grel:param_n2', 'grel:p_dec_n2'),
  exponent: parameter('e', 'number', 'grel:param_dec_n_exp', 'grel:p_any_exp'),
  integer: parameter('i', 'integer', 'grel:param_int_i', 'grel:p_int_i'),
  integer2: parameter('i2', 'integer', 'grel:param_int_i2', 'grel:p_int_i2'),
  integers: parameter('i3', 'list', 'grel:param_int_rep_i', 'grel:p_rep_i'),
  pattern: parameter('pattern', 'string', 'grel:param_string_pattern', 'grel:p_string_pattern'),
  dateTime: parameter('d', 'string', 'grel:param_datetime_d', 'grel:p_datetime_d'),
  dateTime2: parameter('d2', 'string', 'grel:param_datetime_d2', 'grel:p_datetime_d2'),
  timeUnit: parameter('timeUnit', 'string', 'grel:param_string_timeunit', 'grel:p_string_timeunit'),
  date: parameter('d', 'string', 'grel:param_date_d', 'grel:p_date_d'),
  unit: parameter('unit', 'string', 'grel:param_string_unit', 'grel:p_string_unit'),
} as const;

/** IDLab. */
export const idlab = {
  str: parameter('str', 'string', 'idlab-fn:_str', 'idlab-fn:str'),
  any: parameter('str', 'any', 'idlab-fn:_str', 'idlab-fn:str'),
  otherStr: parameter('otherStr', 'string', 'idlab-fn:_otherStr', 'idlab-fn:otherStr'),
  expectedStr: parameter('expectedStr', 'string', 'idlab-fn:_expectedStr', 'idlab-fn:expectedStr'),
  result: parameter('result', 'any', 'idlab-fn:_result', 'idlab-fn:result'),
  strBoolean: parameter('strBoolean', 'string', 'idlab-fn:_strBoolean', 'idlab-fn:strBoolean'),
  delimiter: parameter('delimiter', 'string', 'idlab-fn:_delimiter', 'idlab-fn:delimiter'),
  list: parameter('list', 'list', 'idlab-fn:_list', 'idlab-fn:list'),
  /** Executions give its texts as `rdf:_1`, `rdf:_2`, and so on. */
  sequence: parameter('seq', 'list', 'idlab-fn:_seq', 'idlab-fn:seq', 'rdf:_nnn'),
  test: parameter('test', 'number', 'idlab-fn:_test', 'idlab-fn:p_test'),
  from: parameter('from', 'number', 'idlab-fn:_from', 'idlab-fn:p_from'),
  to: parameter('to', 'number', 'idlab-fn:_to', 'idlab-fn:p_to'),
  strDate: parameter('strDate', 'string', 'idlab-fn:_strDate', 'idlab-fn:strDate'),
  pattern: parameter('pattern', 'string', 'idlab-fn:_pattern', 'idlab-fn:pattern'),
  lang: parameter('lang', 'string', 'idlab-fn:_lang', 'idlab-fn:lang'),
} as const;

const ofTable = <P extends Parameter>(part: NonNullable<Parameter['ofTable']>, of: P): P => ({ ...of, ofTable: part });

function checkColumn(column: number): void {
  if (column < 0) throw new DataError(`${column} is no column`, 'Columns are numbered from 0.');
}

function checkDelimiter(text: string): void {
  if (delimiterOf(text) === undefined) throw new DataError(`${excerpt(text)} is no delimiter`, 'Give one ASCII character.');
}

function checkFile(path: string): void {
  if (path.trim() === '') throw new DataError('it is empty', 'Give the path or URL of a CSV file.');
}

/** Of look-ups in a file. */
export const table = {
  value: parameter('str', 'string', 'idlab-fn:_str', 'idlab-fn:str', ...GREL_VALUE, 'grel:valueParam'),
  file: ofTable('file', checked(parameter('inputFile', 'string', 'idlab-fn:_inputFile', 'idlab-fn:inputFile'), checkFile)),
  from: ofTable('from', checked(parameter('fromColumn', 'integer', 'idlab-fn:_fromColumn', 'idlab-fn:fromColumn'), checkColumn)),
  to: ofTable('to', checked(parameter('toColumn', 'integer', 'idlab-fn:_toColumn', 'idlab-fn:toColumn'), checkColumn)),
  delimiter: ofTable('delimiter', checked(idlab.delimiter, checkDelimiter)),
} as const;

/** The project's own. They take GREL's names for the same things too. */
export const qm = {
  value: own('value', 'string', 'grel:valueParam', 'grel:valueParameter'),
  other: own('other', 'string', 'grel:valueParam2', 'grel:valueParameter2'),
  values: own('values', 'any', 'grel:param_a', 'grel:p_array_a'),
  otherValues: own('otherValues', 'any'),
  texts: own('texts', 'list'),
  separator: own('separator', 'string', 'grel:param_string_sep', 'grel:p_string_sep'),
  pattern: regExp(own('pattern', 'string', 'grel:param_regex', 'grel:p_string_regex')),
  replacement: own('replacement', 'string', 'grel:param_replace', 'grel:p_string_replace'),
  number: own('number', 'number', 'grel:param_dec_n', 'grel:p_dec_n'),
  number2: own('number2', 'number', 'grel:param_dec_n2', 'grel:param_n2'),
  length: own('length', 'integer'),
  zone: own('zone', 'string'),
  language: own('language', 'string'),
} as const;

/** Those that the test cases of RML-FNML describe. */
export const fns = { text: parameter('text', 'string', 'fns:stringParameter', 'fns:hasStringParameter') } as const;

// ---------------------------------------------------------------- returns

function returned(name: string, type: ReturnType, iri: string, ...others: readonly string[]): Return {
  return { name, iri: expand(iri), aliases: aliasesOf(iri, others), type };
}

export const gives = {
  grelString: returned('string', 'string', 'grel:stringOut', 'grel:stringOutput'),
  grelNumber: returned('number', 'integer', 'grel:output_number', 'grel:o_number'),
  grelDecimal: returned('decimal', 'number', 'grel:output_decimal', 'grel:o_decimal'),
  grelBoolean: returned('bool', 'boolean', 'grel:output_bool', 'grel:o_bool'),
  grelArray: returned('array', 'list', 'grel:output_array', 'grel:o_array'),
  grelAny: returned('any', 'any', 'grel:output_any', 'grel:o_any'),
  grelDate: returned('date', 'date', 'grel:output_date', 'grel:o_date'),
  grelDateTime: returned('datetime', 'dateTime', 'grel:output_datetime', 'grel:o_datetime'),
  idlabString: returned('stringOut', 'string', 'idlab-fn:_stringOut', 'idlab-fn:stringOut'),
  idlabBoolean: returned('boolOut', 'boolean', 'idlab-fn:_boolOut', 'idlab-fn:o_boolOut'),
  string: returned('text', 'string', 'qm:textOut', 'grel:stringOut', 'grel:stringOutput'),
  integer: returned('integer', 'integer', 'qm:integerOut', 'grel:output_number', 'grel:o_number'),
  number: returned('number', 'number', 'qm:numberOut', 'grel:output_decimal', 'grel:o_decimal'),
  boolean: returned('boolean', 'boolean', 'qm:booleanOut', 'grel:output_bool', 'grel:o_bool'),
  list: returned('list', 'list', 'qm:listOut', 'grel:output_array', 'grel:o_array'),
  any: returned('any', 'any', 'qm:anyOut', 'grel:output_any', 'grel:o_any'),
  date: returned('date', 'date', 'qm:dateOut', 'grel:output_date', 'grel:o_date'),
  dateTime: returned('dateTime', 'dateTime', 'qm:dateTimeOut', 'grel:output_datetime', 'grel:o_datetime'),
  fnsText: returned('text', 'string', 'fns:stringOutput', 'fns:hasStringOutput'),
  fnsProtocol: returned('protocol', 'string', 'fns:protocolOutput', 'fns:hasProtocolOutput'),
  fnsDomain: returned('domain', 'string', 'fns:domainOutput', 'fns:hasDomainOutput'),
  /** One of several returns of a function of the project's own. */
  named: (name: string): Return => returned(name, 'string', `qm:${name}Out`),
} as const;
