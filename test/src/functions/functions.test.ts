/** Every example of the table of functions is run; the table is complete and free of contradictions. */
import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { fromBytes, toBytes } from '../../../src/core/text.ts';
import { TypedValue, type Value, type Values, XSD } from '../../../src/core/value.ts';
import { compileCall, constantProblem, type Read } from '../../../src/functions/compile.ts';
import type { Example, ExampleValue, FunctionDefinition } from '../../../src/functions/definition.ts';
import { expand } from '../../../src/functions/names.ts';
import { FUNCTIONS, findFunction, suggestFunctions } from '../../../src/functions/registry.ts';

/** Numbers have the natural datatype that JSON gives them. */
function valueOf(value: string | number | boolean): Value {
  if (typeof value === 'string') return toBytes(value);
  return new TypedValue(String(value), XSD + (typeof value === 'boolean' ? 'boolean' : 'integer'));
}

function valuesOf(value: ExampleValue): Values {
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? value.map(valueOf) : valueOf(value);
}

const textOf = (value: Value): string => fromBytes(typeof value === 'string' ? value : value.text);
const shown = (values: Values): ExampleValue =>
  values === null ? null : Array.isArray(values) ? (values as readonly Value[]).map(textOf) : textOf(values as Value);

const CONTEXT = { seed: 'examples', startedAt: Date.UTC(2024, 0, 2, 3, 4, 5) };

function compiled(definition: FunctionDefinition, { given, of }: Pick<Example, 'given' | 'of'>): Read {
  const args = new Map<string, Read>();
  definition.parameters.forEach((parameter, i) => {
    const value = given[i];
    if (value !== undefined) args.set(parameter.iri, () => valuesOf(value));
  });
  const returned = of === undefined ? undefined : definition.returns.find(({ name }) => name === of)?.iri;
  if (of !== undefined && returned === undefined) throw new Error(`${definition.name} returns no ${of}`);
  return compileCall(definition, args, returned, CONTEXT);
}

describe('examples', () => {
  test.each(FUNCTIONS.map((definition) => [definition.name, definition] as const))('%s', (_, definition) => {
    for (const example of definition.examples) {
      const run = (): ExampleValue => shown(compiled(definition, example)({}, 0));
      const label = JSON.stringify(example.given);
      if (example.gives !== null && typeof example.gives === 'object' && 'fails' in example.gives) {
        let fault: unknown;
        try {
          fault = run();
        } catch (error) {
          fault = error;
        }
        expect(fault).toBeInstanceOf(Fault);
        const { code, message } = fault as Fault;
        expect([label, code, message]).toEqual([label, 'record/term', expect.stringContaining(example.gives.fails)]);
        expect(message).toContain(definition.name);
      } else expect([label, run()]).toEqual([label, example.gives]);
    }
  });
});

describe('a missing value', () => {
  const needing = FUNCTIONS.filter(({ parameters }) => parameters.some(({ needs }) => needs === 'value'));

  test.each(needing.map((definition) => [definition.name, definition] as const))('%s gives nothing where it needs one', (_, definition) => {
    const { parameters, returns, examples } = definition;
    const found = examples.flatMap(({ given, gives }) => {
      if (gives !== null && typeof gives === 'object' && 'fails' in gives) return [];
      return parameters.flatMap(({ needs }, i) => {
        if (needs !== 'value') return [];
        const without = given.map((value, at) => (at === i ? null : value));
        return returns.map(({ name }) => shown(compiled(definition, { given: without, of: name })({}, 0)));
      });
    });
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter((one) => one !== null)).toEqual([]);
  });
});

describe('constants', () => {
  test.each(FUNCTIONS.map((definition) => [definition.name, definition] as const))('%s takes those of its examples', (_, definition) => {
    for (const { given, gives } of definition.examples) {
      if (gives !== null && typeof gives === 'object' && 'fails' in gives) continue;
      definition.parameters.forEach(({ iri }, i) => {
        for (const value of [given[i] ?? []].flat())
          expect([iri, value, constantProblem(definition, iri, String(value))]).toEqual([iri, value, undefined]);
      });
    }
    for (const { iri, default: text } of definition.parameters)
      if (text !== undefined) expect([iri, constantProblem(definition, iri, text)]).toEqual([iri, undefined]);
  });

  test.each([
    ['grel:math_abs', 'grel:param_dec_n', 'abc', '"abc" is not a number'],
    ['qm:formatNumber', 'qm:digits', '99', '99 decimals are not possible'],
    ['qm:toBase', 'qm:base', '2.5', '"2.5" is not an integer'],
    ['qm:toBase', 'qm:base', '37', '37 is no base'],
    ['grel:controls_if', 'grel:bool_b', 'maybe', '"maybe" is not a boolean'],
    ['grel:string_replace', 'grel:param_find', '/[/', '"[" is not a regular expression'],
    ['grel:string_match', 'grel:param_regex', 'a(', '"a(" is not a regular expression'],
    ['grel:string_split', 'grel:p_string_sep', '/(/', '"(" is not a regular expression'],
    ['qm:matches', 'qm:pattern', '(?=(a+)+$)b', 'could take hours'],
    ['qm:matches', 'qm:flags', 'gx', '"gx" are no flags'],
    ['qm:keepCharacters', 'qm:class', 'z-a', 'is not a regular expression'],
    ['idlab-fn:normalizeDate', 'idlab-fn:_pattern', 'dd/bb', 'the letter b'],
    ['grel:date_toDate', 'grel:param_string_pattern', '%Q', 'has %Q'],
    ['qm:parseDate', 'qm:pattern', 'yyyy[', 'not well-formed'],
    ['qm:formatDate', 'qm:pattern', 'bb', 'the letter b'],
    ['qm:parseDateTime', 'qm:zone', 'Mars/Olympus', 'is not a time zone'],
    ['idlab-fn:normalizeDateWithLang', 'idlab-fn:_lang', '?', 'is not a language'],
    ['grel:date_inc', 'grel:param_string_unit', 'eon', 'is not a unit of time'],
    ['grel:date_datePart', 'grel:param_string_unit', 'eon', 'is not a part of a date'],
    ['grel:date_diff', 'grel:param_datetime_d', '2020', 'is not a date'],
    ['qm:uuid5', 'qm:namespace', 'x', 'is not a namespace of UUIDs'],
    ['grel:escape', 'grel:modeParam', 'sgml', 'is not a mode of escaping'],
    ['qm:normalizeUnicode', 'qm:form', 'NFX', 'is not a normal form'],
  ])('%s refuses %s %j', (name, parameter, text, message) => {
    const definition = findFunction(expand(name)) as FunctionDefinition;
    expect(constantProblem(definition, expand(parameter), text)?.message).toContain(message);
  });
});

describe('the table', () => {
  test.each(FUNCTIONS.map((definition) => [definition.name, definition] as const))('%s is complete', (_, definition) => {
    const { does, examples, parameters, returns } = definition;
    expect(does).toMatch(/^[A-Z`].*[.]$/s);
    expect(examples.length).toBeGreaterThan(0);
    for (const { given } of examples) expect(given.length).toBeLessThanOrEqual(parameters.length);
    expect(returns.length).toBeGreaterThan(0);
    // What happens without a value, where that is not the rule of all functions.
    if (parameters.some(({ needs }) => needs === 'argument')) {
      expect(examples.some(({ given }) => given.includes(null))).toBe(true);
    }
    // Values that stay as they are cannot be told from characters.
    if (parameters.some(({ type }) => type === 'any' || type === 'lazy')) expect(definition.on).toBe('bytes');
  });

  test('an IRI means one function', () => {
    const seen = new Map<string, string>();
    for (const { name, iri, aliases } of FUNCTIONS) {
      for (const one of [iri, ...aliases]) {
        expect([one, seen.get(one)]).toEqual([one, undefined]);
        seen.set(one, name);
      }
    }
  });

  test('an IRI means one parameter of a function, and one return', () => {
    for (const { parameters, returns } of FUNCTIONS) {
      for (const named of [parameters, returns]) {
        expect(new Set(named.map(({ iri }) => iri)).size).toBe(named.length);
      }
    }
  });

  /** They are about bytes: digests, and encodings of UTF-8. */
  const ABOUT_BYTES = /^(grel:string_(md5|sha1)|morph:hash.*|qm:(sha\d+|crc32|key|uuid\d|encode\w+))$/;

  test('functions on bytes give what they would give on characters', () => {
    const compared = FUNCTIONS.filter(
      ({ name, on, parameters }) =>
        on === 'bytes' && !ABOUT_BYTES.test(name) && !parameters.some(({ type }) => type === 'any' || type === 'lazy'),
    );
    expect(compared.length).toBeGreaterThan(20);
    const different: unknown[] = [];
    for (const definition of compared) {
      for (const given of combinations(definition, 400)) {
        const [bytes, characters] = (['bytes', 'characters'] as const).map((on) => outcome({ ...definition, on }, given));
        if (JSON.stringify(bytes) !== JSON.stringify(characters)) different.push([definition.name, given, bytes, characters]);
      }
    }
    expect(different).toEqual([]);
  });

  test('functions that are total never throw', () => {
    const total = FUNCTIONS.filter((definition) => definition.total);
    expect(total.length).toBeGreaterThan(50);
    const thrown: unknown[] = [];
    for (const definition of total) {
      for (const given of combinations(definition, 200)) {
        const result = outcome(definition, given);
        if (typeof result === 'object' && result !== null && 'fails' in result) thrown.push([definition.name, given, result]);
      }
    }
    expect(thrown).toEqual([]);
  });
});

const ODD = [
  '',
  ' ',
  'a',
  'A',
  '\u0000',
  '\u00a0',
  'é',
  'É',
  'à',
  'ß',
  '😀',
  '～',
  'e\u0301',
  '\\',
  '/(/',
  '/[/',
  '%',
  '%zz',
  '$1',
  '-1',
  '1e400',
  '9'.repeat(30),
  '<&>',
  '"',
  "'",
  'éa,b',
  ',',
  '2024-13-45',
];

/** Texts for each parameter, another combination each time: now and then that of the first again, nothing, the empty text, or a list. */
function combinations({ parameters }: FunctionDefinition, count: number): readonly (readonly ExampleValue[])[] {
  const odd = (k: number): string => ODD[k % ODD.length] as string;
  return Array.from({ length: count }, (_, i) => {
    const given: ExampleValue[] = [];
    for (let at = 0; at < parameters.length; at++) {
      const k = Math.imul(i * 31 + at * 17 + 1, 2654435761) >>> 7;
      const kind = (k >>> 9) % 8;
      if (kind < 2 && at > 0) given.push(given[0]);
      else if (kind === 2) given.push('');
      else given.push(kind === 3 ? null : kind === 4 ? [odd(k), odd(k + 5)] : odd(k));
    }
    return given;
  });
}

function outcome(definition: FunctionDefinition, given: readonly ExampleValue[]): ExampleValue | { readonly fails: string } {
  try {
    return shown(compiled(definition, { given })({}, 0));
  } catch (error) {
    return { fails: (error as Error).message };
  }
}

const GREL = 'http://users.ugent.be/~bjdmeest/function/grel.ttl#';
const IDLAB = 'https://w3id.org/imec/idlab/function#';

describe('the registry', () => {
  test.each([
    [`${GREL}toUpperCase`, 'grel:toUpperCase'],
    [`${GREL}toTitleCase`, 'grel:string_toTitlecase'],
    [`${IDLAB}slugify`, 'idlab-fn:slugify'],
    ['http://example.com/idlab/function/slugify', 'idlab-fn:slugify'],
    ['https://github.com/morph-kgc/morph-kgc/function/built-in.ttl#concat', 'grel:concat'],
    ['http://w3id.org/quadmill/function#sha256', 'morph:hash'],
  ])('%s is %s', (iri, name) => expect(findFunction(iri)?.name).toBe(name));

  test('an unknown function is not found, and near ones are named', () => {
    expect(findFunction(`${GREL}toUperCase`)).toBeUndefined();
    expect(suggestFunctions(`${GREL}toUperCase`)[0]).toBe('grel:toUpperCase');
    expect(suggestFunctions(`${IDLAB}normaliseDate`)).toContain('idlab-fn:normalizeDate');
    expect(suggestFunctions('http://example.org/nothing-like-it')).toEqual([]);
  });

  test('no function of the default set reads files or calls the network', () => {
    for (const name of ['readFile', 'multipleLookup', 'dbpediaSpotlight']) expect(findFunction(IDLAB + name)).toBeUndefined();
  });
});
