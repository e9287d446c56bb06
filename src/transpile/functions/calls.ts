/** Calls of functions → SQL. What is not in the table is refused, by its line. */
import { functionLibrary } from '../../functions/library.ts';
import { isRegex, sourceOf } from '../../functions/regex.ts';
import { type Row, refused, type Value, valueOf } from '../row.ts';
import { areEqual, type Condition, concat, isNull, isOneOf, matches, NULL, not, type Sql, text, when } from '../sql.ts';
import { Arguments, type Call, chosen, type Evaluate, NOTHING, NotInSql } from './arguments.ts';
import { rewritten } from './dates.ts';
import type { FunctionName } from './definitions.ts';
import { type Pattern, patternOf } from './patterns.ts';

type Write = (given: Arguments) => Sql | Value;

/** A function of SQL over the texts of all parameters, which gives null beside a null. */
const all =
  (name: FunctionName): Write =>
  (given) =>
    given.call(name, ...given.texts);

const asText = (condition: Condition): Sql => when(condition, text('true'), text('false'));

/** Over the values of all inputs. Each is looked at: one that is no boolean ends the job. */
const overBooleans =
  (name: 'every' | 'some' | 'odd'): Write =>
  (given) => {
    const booleans = given.values(0).map(({ canonical }) => given.call('boolean', canonical));
    return given.call(name, concat(...booleans.map((one): Sql => ({ kind: 'native', name: 'coalesce', to: [one, text('')] }))));
  };

const first = (values: readonly Value[]): Sql => ({ kind: 'native', name: 'coalesce', to: values.map(({ canonical }) => canonical) });

/** The values that are there with a text between them; null if there is none, or no such text. */
const joined: Write = (given) => {
  const values = given.values(0);
  const to = [given.text(1), ...values.map(({ canonical }) => canonical)];
  return when(isNull(first(values)), NULL, { kind: 'native', name: 'concat_ws', to });
};

const replace: Write = (given) => {
  const [find = ''] = given.constants(1);
  if (isRegex(find)) return replacedBy(given, patternOf(sourceOf(find), undefined), given.constant(2) ?? '');
  return given.call('replace', ...given.texts);
};

const replacedBy = (given: Arguments, { source, groups, mayBeEmpty }: Pattern, replacement: string): Sql => {
  if (mayBeEmpty) throw new NotInSql('a regular expression that matches the empty text');
  for (const [, number = ''] of replacement.matchAll(/\$(\d*)/g))
    if (number.length !== 1 || number === '0' || Number(number) > groups.length) throw new NotInSql(`the replacement ${replacement}`);
  return { kind: 'replaced', value: given.text(0), pattern: source, replacement };
};

const isMatch: Write = (given) => {
  const { source } = patternOf(sourceOf(given.constant(1) ?? ''), given.constant(2));
  return when(isNull(given.text(0)), NULL, asText(matches(given.text(0), source)));
};

const extracted: Write = (given) => {
  const { source, groups } = patternOf(sourceOf(given.constant(1) ?? ''), undefined);
  const group = Number(given.constant(2));
  if (group !== 0 && groups[group - 1] !== true) throw new NotInSql(`the group ${group}, which not every match has`);
  const value = given.text(0);
  return when(matches(value, source), { kind: 'extracted', value, pattern: source, group });
};

const padded =
  (name: 'pad_start' | 'pad_end'): Write =>
  (given) => {
    if (Number(given.constant(1)) > MOST_PADDED) throw new NotInSql(`more than ${MOST_PADDED} characters`);
    return given.call(name, given.text(0), given.integer(1), given.text(2));
  };

/** Beyond it the function fails for every record. */
const MOST_PADDED = 1_000_000;

const escaped: Write = (given) => {
  const mode = given.constant(1)?.toLowerCase();
  if (mode === 'url') return given.call('encode_uri', given.text(0));
  if (mode !== 'html' && mode !== 'xml' && mode !== 'csv') throw new NotInSql(`the mode ${mode}`);
  return given.call(`escape_${mode}`, given.text(0));
};

/** Of equal characters the last one counts. */
const characters: Write = (given) => {
  const [from, to] = [given.constant(1) ?? '', given.constant(2) ?? ''].map((one) => [...one]) as [string[], string[]];
  if (from.length !== to.length) throw new NotInSql(`${from.length} characters with ${to.length} replacements`);
  if ([...from, ...to].some((one) => one.length > 1)) throw new NotInSql('characters beyond U+FFFF');
  const kept = from.flatMap((one, at) => (from.lastIndexOf(one) === at ? at : []));
  const chosenIn = (list: readonly string[]): Sql => text(kept.map((at) => list[at]).join(''));
  return given.call('characters', given.text(0), chosenIn(from), chosenIn(to));
};

const inRange: Write = (given) => {
  const [low, high] = [given.constant(1), given.constant(2)].map((one) => (one === undefined ? undefined : text(one)));
  const number = given.call('number', given.text(0));
  const is = (name: 'less_than', a: Sql, b: Sql): Condition => areEqual(given.call(name, a, b), text('true'));
  const outside = [
    isNull(number),
    ...(low === undefined ? [] : [is('less_than', given.text(0), low)]),
    ...(high === undefined ? [] : [not(is('less_than', given.text(0), high))]),
  ];
  return when({ kind: 'any', conditions: outside }, text('false'), text('true'));
};

const date =
  (name: 'date' | 'date_time' | 'checked_date' | 'checked_date_time'): Write =>
  (given) =>
    given.call(name, given.text(0), rewritten(given.call('trim', given.text(0)), given.constant(1) ?? ''));

/** @param zone the parameter of the zone @param language that of the language, which fields in digits do not have */
const parsed =
  (name: 'checked_date' | 'checked_date_time', language: number, zone?: number): Write =>
  (given) => {
    given.constants(language);
    if (zone !== undefined && given.constants(zone).length > 0) throw new NotInSql('a zone');
    return date(name)(given);
  };

const kept: Write = (given) => replacedBy(given, patternOf(`[^${given.constant(1)}]`, undefined), '');

const lookedUp: Write = (given) => {
  const [keys, results] = [given.constants(1), given.constants(2)];
  if (keys.length !== results.length) throw new NotInSql(`${keys.length} keys with ${results.length} results`);
  const key = given.text(0);
  return keys.reduceRight(
    (rest, one, at) => chosen(areEqual(key, text(one)), valueOf(text(results[at] as string)), rest),
    chosen(isNull(key), NOTHING, given.value(3)),
  );
};

const UNTRUE = '^(?:|[fF][aA][lL][sS][eE]|[nN][oO]|[oO][fF][fF]|0)\\z';

/** By prefixed name. The results are those of `src/functions/families`. */
const CALLS: Readonly<Record<string, Write>> = {
  'fns:helloworld': () => text('Hello World!'),
  'fns:schema': (given) => concat(text('https://schema.org/'), given.text(0)),
  'idlab-fn:generateNull': () => NULL,
  'grel:toUpperCase': all('upper'),
  'grel:toLowerCase': all('lower'),
  'qm:capitalize': all('capitalize'),
  'idlab-fn:toUpperCaseURL': all('upper_url'),
  'grel:string_trim': all('trim'),
  'qm:normalizeSpace': all('normalize_space'),
  'grel:string_toString': (given) => given.text(0),
  'grel:string_length': all('length'),
  'grel:string_indexOf': all('index_of'),
  'grel:string_substring': (given) => given.call('substring', given.text(0), given.integer(1), given.integer(2)),
  'grel:string_chomp': all('chomp'),
  'qm:removePrefix': all('remove_prefix'),
  'qm:before': all('before'),
  'qm:after': all('after'),
  'qm:padStart': padded('pad_start'),
  'qm:padEnd': padded('pad_end'),
  'grel:string_replace': replace,
  'grel:escape': escaped,
  'idlab-fn:concat': (given) => concat(given.text(0), given.text(2), given.text(1)),
  'grel:concat': (given) => concat(given.text(0), given.text(2), given.text(1)),
  'idlab-fn:concatSequence': joined,
  'grel:array_join': joined,
  'qm:replacePattern': (given) =>
    replacedBy(given, patternOf(sourceOf(given.constant(1) ?? ''), given.constant(3)), given.constant(2) ?? ''),
  'qm:extract': extracted,
  'qm:keepCharacters': kept,
  'grel:string_replaceChars': characters,
  'qm:encodeUri': all('encode_uri'),
  'qm:localName': all('local_name'),
  'grel:string_toNumber': all('number_text'),
  'grel:math_round': all('round'),
  'grel:math_floor': all('floor'),
  'grel:math_ceil': all('ceil'),
  'qm:truncate': all('truncate'),
  'grel:math_abs': all('absolute'),
  'grel:math_min': all('least'),
  'grel:math_max': all('greatest'),
  'idlab-fn:normalizeDate': date('date'),
  'idlab-fn:normalizeDateTime': date('date_time'),
  'grel:date_toDate': date('checked_date'),
  'qm:parseDate': parsed('checked_date', 2),
  'qm:parseDateTime': parsed('checked_date_time', 3, 2),
  'grel:string_contains': all('contains'),
  'grel:string_startsWith': all('starts_with'),
  'grel:string_endsWith': all('ends_with'),
  'idlab-fn:equal': all('equal'),
  'idlab-fn:notEqual': all('not_equal'),
  'qm:textBefore': all('text_before'),
  'qm:equalIgnoringCase': all('equal_ignoring_case'),
  'qm:isUuid': all('is_uuid'),
  'qm:matches': isMatch,
  'idlab-fn:inRange': inRange,
  'qm:numbersEqual': all('numbers_equal'),
  'qm:lessThan': all('less_than'),
  'qm:greaterThan': all('greater_than'),
  'grel:boolean_not': all('not'),
  'grel:boolean_and': overBooleans('every'),
  'grel:boolean_or': overBooleans('some'),
  'grel:boolean_xor': overBooleans('odd'),
  'qm:and': (given) => when(given.isTrue(given.value(0).canonical), asText(given.isTrue(given.value(1).canonical)), text('false')),
  'qm:or': (given) => when(given.isTrue(given.value(0).canonical), text('true'), asText(given.isTrue(given.value(1).canonical))),
  'idlab-fn:isNull': (given) => asText(isNull(first(given.values(0)))),
  'idlab-fn:isNotNull': (given) => asText(not(isNull(first(given.values(0))))),
  'grel:controls_isNull': (given) => asText(isNull(given.text(0))),
  'grel:controls_isNotNull': (given) => asText(not(isNull(given.text(0)))),
  'grel:controls_isBlank': (given) => when(isNull(given.text(0)), text('true'), asText(given.isBlank(given.text(0)))),
  'grel:controls_isNonBlank': (given) => when(isNull(given.text(0)), text('false'), asText(not(given.isBlank(given.text(0))))),
  'grel:controls_isNumeric': (given) => when(isNull(given.text(0)), text('false'), given.call('is_number', given.text(0))),
  'qm:isOneOf': (given) => when(isOneOf(given.text(0), given.constants(1)), text('true'), when(isNull(given.text(0)), NULL, text('false'))),
  'grel:controls_if': (given) => chosen(given.isTrue(given.text(0)), given.value(1), given.value(2)),
  'morph:controls_if_cast': (given) =>
    chosen(
      { kind: 'any', conditions: [isNull(given.text(0)), { kind: 'matches', value: given.text(0), pattern: UNTRUE }] },
      given.value(2),
      given.value(1),
    ),
  'idlab-fn:trueCondition': (given) => chosen(areEqual(given.text(0), text('true')), given.value(1), NOTHING),
  'idlab-fn:decide': (given) => chosen(areEqual(given.text(0), given.text(1)), given.value(2), NOTHING),
  'grel:other_coalesce': (given) => given.values(0).reduceRight((rest, value) => chosen(isNull(value.canonical), rest, value), NOTHING),
  'qm:default': (given) => chosen(isNull(given.value(0).canonical), given.value(1), given.value(0)),
  'qm:defaultIfBlank': (given) => {
    const value = given.value(0);
    return chosen({ kind: 'any', conditions: [isNull(value.canonical), given.isBlank(value.canonical)] }, given.value(1), value);
  },
  'qm:nullIf': (given) => chosen(isOneOf(given.value(0).canonical, given.constants(1)), NOTHING, given.value(0)),
  'qm:nullIfBlank': (given) => chosen(given.isBlank(given.value(0).canonical), NOTHING, given.value(0)),
  'qm:lookUp': lookedUp,
  'grel:string_md5': all('md5'),
  'grel:string_sha1': all('sha1'),
  'morph:hash': all('sha256'),
  'morph:hash_iri': (given) => concat(text('http://example.com/ns#'), given.call('sha256', given.text(0))),
};

/** For the documentation. */
export const FUNCTIONS_IN_SQL: readonly string[] = Object.keys(CALLS);

/** The value of a call; null, and a refusal, if no SQL gives it. */
export function callSql(call: Call, row: Row, evaluate: Evaluate): Value {
  const { execution, origin } = call;
  const definition = functionLibrary().findFunction(execution.function);
  const write = definition === undefined ? undefined : CALLS[definition.name];
  if (definition === undefined || write === undefined)
    return valueOf(refused(row, origin, `the function ${functionLibrary().shortName(execution.function)}`));
  try {
    const given = new Arguments(definition, call, row, evaluate);
    const made = write(given);
    return 'kind' in made ? valueOf(made, given.isSeveral) : { ...made, isSeveral: given.isSeveral };
  } catch (error) {
    if (!(error instanceof NotInSql)) throw error;
    return valueOf(refused(row, origin, `the function ${definition.name} with ${error.message}`));
  }
}
