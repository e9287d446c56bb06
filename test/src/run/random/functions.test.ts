/**
 * Random calls of functions against a plain evaluator: nested, with several values, with none, in branches and conditions, in every place of a
 * mapping where an expression may stand.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import type { RunRequest } from '../../../../src/run/request.ts';
import { executeRun } from '../../../../src/run/run.ts';
import { share, sharedTest } from '../../../support/jest/extent.ts';
import { Random, seeds } from '../../../support/random.ts';
import { escaped } from './texts.ts';

/** `code` is a word of ASCII, `many` a list; each but `id` may be missing. */
const FIELDS = ['a', 'b', 'many', 'code'] as const;
type Field = (typeof FIELDS)[number] | 'id';
type Item = Readonly<{ id: string } & { [F in (typeof FIELDS)[number]]?: string | readonly string[] | null }>;

type Expression =
  | { readonly kind: 'field'; readonly field: Field }
  | { readonly kind: 'constant'; readonly text: string }
  | { readonly kind: 'template'; readonly left: Field; readonly right: Field }
  | { readonly kind: 'call'; readonly name: Name; readonly inputs: readonly Expression[] }
  | { readonly kind: 'conditional'; readonly value: Expression; readonly condition: Expression };

const GREL = 'grel:';
/** The parameters of each function; `join` takes all inputs but the last as one list. */
const FUNCTIONS = {
  upper: ['toUpperCase', 'valueParam'],
  replace: ['string_replace', 'valueParam', 'param_find', 'param_replace'],
  split: ['string_split', 'valueParam', 'param_string_sep'],
  length: ['string_length', 'valueParam'],
  contains: ['string_contains', 'valueParam', 'string_sub'],
  join: ['array_join', 'param_a', 'param_string_sep'],
  choose: ['controls_if', 'bool_b', 'any_true', 'any_false'],
} as const;
type Name = keyof typeof FUNCTIONS;

interface Case {
  readonly items: readonly Item[];
  /** Of the subject: rows where it is not true make no statement. */
  readonly condition: Expression | undefined;
  readonly objects: readonly Expression[];
  /** Both sides of a join of the items with themselves. */
  readonly keys: readonly [child: Expression, parent: Expression];
  /** Languages, datatypes, predicates and graphs are made of words. */
  readonly word: Expression;
  /** A field of a view. */
  readonly viewed: Expression;
  /** Records of another source, and a call over them that is the object of every item. Calls, fields and constants alone. */
  readonly others: readonly Item[];
  readonly crossed: Call;
}
type Call = Extract<Expression, { kind: 'call' }>;

const TEXTS = ['a', 'b-c', 'B', 'ü-ü', '', 'x y', '"q"', 'A-', 'aa', 'true'];
const CODES = ['DE', 'en', 'Fr'];

function invent(seed: number): Case {
  const random = new Random(seed);
  const below = (n: number): number => random.between(0, n - 1);
  const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
  const some = <T>(make: () => T): T | null | undefined => [undefined, null][below(10)] ?? (below(6) === 0 ? undefined : make());
  const text = (): string => random.pick(TEXTS);
  const call = (name: Name, ...inputs: readonly Expression[]): Call => ({ kind: 'call', name, inputs });
  const constant = (of: string): Expression => ({ kind: 'constant', text: of });
  const leaf = (): Expression =>
    random.pick<() => Expression>([
      () => ({ kind: 'field', field: random.pick(['a', 'b', 'many', 'code', 'id']) }),
      () => ({ kind: 'field', field: random.pick(['a', 'b', 'many']) }),
      () => ({ kind: 'template', left: random.pick(FIELDS), right: random.pick(FIELDS) }),
      () => constant(text()),
    ])();
  const boolean = (depth: number): Expression =>
    random.pick<() => Expression>([
      () => call('contains', expression(depth - 1), constant(random.pick(['a', 'ü', '-']))),
      () => call('contains', expression(depth - 1), leaf()),
      () => call('choose', boolean(Math.max(0, depth - 1)), constant('true'), constant('false')),
    ])();
  const expression = (depth: number): Expression => {
    if (depth <= 0) return leaf();
    const inner = (): Expression => expression(depth - 1 - below(2));
    return random.pick<() => Expression>([
      leaf,
      () => call('upper', inner()),
      () => call('replace', inner(), constant(random.pick(['a', 'ü', '-'])), random.pick([constant('$&z'), leaf()])),
      () => call('split', inner(), constant('-')),
      () => call('length', inner()),
      () => call('join', ...times(1 + below(3), inner), constant(random.pick(['', '+']))),
      () => call('choose', boolean(depth - 1), inner(), inner()),
      // A node has one condition.
      () => ({ kind: 'conditional', value: random.pick([leaf, () => call('upper', inner())])(), condition: boolean(depth - 1) }),
    ])();
  };
  const items = (): readonly Item[] =>
    times(1 + below(12), (i) => ({
      id: `i${below(8) === 0 ? 0 : i}`,
      a: some(text),
      b: some(text),
      many: some(() => times(below(4), text)),
      code: some(() => random.pick(CODES)),
    }));
  const field = (): Expression => ({ kind: 'field', field: random.pick(['a', 'b', 'many', 'id']) });
  return {
    items: items(),
    condition: below(2) === 0 ? undefined : boolean(2),
    // The first twice: equal calls of a record are made once.
    objects: twice(times(3, () => expression(3))),
    keys: [expression(2), expression(2)],
    word: random.pick<() => Expression>([
      () => ({ kind: 'field', field: 'code' }),
      () => call('upper', { kind: 'field', field: 'code' }),
      () => call('choose', boolean(1), { kind: 'field', field: 'code' }, constant('it')),
      () => ({ kind: 'conditional', value: { kind: 'field', field: 'code' }, condition: boolean(1) }),
    ])(),
    viewed: expression(2),
    others: items(),
    crossed: random.pick<() => Call>([
      () => call('upper', field()),
      () => call('split', call('upper', field()), constant('-')),
      () => call('replace', field(), constant('a'), field()),
    ])(),
  };
}

const twice = <T>(list: readonly T[]): readonly T[] => [...list, ...list.slice(0, 1)];

// ---------------------------------------------------------------- the mapping

const referenceTo = (field: Field): string => (field === 'many' ? '$.many[*]' : `$.${field}`);
const literal = (text: string): string => `"${escaped(text)}"`;

/** The properties of an expression map. */
function turtle(expression: Expression): string {
  switch (expression.kind) {
    case 'field':
      return `rml:reference "${referenceTo(expression.field)}"`;
    case 'constant':
      return `rml:constant ${literal(expression.text)}`;
    case 'template':
      return `rml:template "{${referenceTo(expression.left)}}~{${referenceTo(expression.right)}}"`;
    case 'conditional':
      return `${turtle(expression.value)} ; rml:condition [ ${turtle(expression.condition)} ]`;
    case 'call': {
      const [name, ...parameters] = FUNCTIONS[expression.name];
      const inputs = expression.inputs.map((input, i) => {
        const isListed = expression.name === 'join' && i < expression.inputs.length - 1;
        const parameter = isListed ? parameters[0] : expression.name === 'join' ? parameters[1] : parameters[i];
        const value = input.kind === 'constant' ? `rml:inputValue ${literal(input.text)}` : `rml:inputValueMap [ ${turtle(input)} ]`;
        return `[ rml:parameter ${GREL}${parameter} ; ${value} ]`;
      });
      return `rml:functionExecution [ rml:function ${GREL}${name} ; rml:input ${inputs.join(' , ')} ]`;
    }
  }
}

/** The text with what the word gives, if it gives anything, behind it. */
const after = (text: string, word: Expression): Expression => ({
  kind: 'call',
  name: 'join',
  inputs: [{ kind: 'constant', text }, word, { kind: 'constant', text: '' }],
});

/** The same call in the older FNML. */
function olderCall({ name, inputs }: Call, source = ''): string {
  const [iri, ...parameters] = FUNCTIONS[name];
  const argument = (input: Expression): string =>
    input.kind === 'call'
      ? olderCall(input)
      : turtle(input)
          .replace(/^rml:reference/, 'old:reference')
          .replace(/^rml:/, 'rr:');
  const given = inputs.map((input, i) => `[ rr:predicate ${GREL}${parameters[i]} ; rr:objectMap [ ${argument(input)} ] ]`);
  const executes = `[ rr:predicate fno:executes ; rr:object ${GREL}${iri} ]`;
  return `fnml:functionValue [ ${source} rr:predicateObjectMap ${[executes, ...given].join(' , ')} ]`;
}

const olderSource = (path: string): string =>
  `old:logicalSource [ old:source "${path}" ; old:referenceFormulation ql:JSONPath ; old:iterator "$[*]" ] ;`;

function mappingOf({ condition, objects, keys: [child, parent], word, viewed, crossed }: Case): string {
  const rule = (predicate: string, object: string, more = ''): string =>
    `rml:predicateObjectMap [ ${predicate} ; rml:objectMap [ ${object} ] ${more} ]`;
  const subject = `rml:template "http://e/{$.id}" ${condition === undefined ? '' : `; rml:condition [ ${turtle(condition)} ]`}`;
  return `@prefix rml: <http://w3id.org/rml/> . @prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> . @base <http://m/> .
@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix old: <http://semweb.mmlab.be/ns/rml#> . @prefix ql: <http://semweb.mmlab.be/ns/ql#> .
@prefix fnml: <http://semweb.mmlab.be/ns/fnml#> . @prefix fno: <https://w3id.org/function/ontology#> .
<older> ${olderSource('items.json')} rr:subjectMap [ rr:template "http://e/{$.id}" ] ;
  rr:predicateObjectMap [ rr:predicate <http://e/c> ; rr:objectMap [ ${olderCall(crossed, olderSource('others.json'))} ] ] .
<items> rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "items.json" ] ; rml:referenceFormulation rml:JSONPath ;
  rml:iterator "$[*]" .
<map> rml:logicalSource <items> ; rml:subjectMap [ ${subject} ] ;
  ${objects.map((object, i) => rule(`rml:predicate <http://e/o${i}>`, `${turtle(object)} ; rml:termType rml:Literal`)).join(' ;\n  ')} ;
  ${rule('rml:predicate <http://e/l>', `rml:reference "$.b" ; rml:languageMap [ ${turtle(word)} ]`)} ;
  ${rule(
    `rml:predicateMap [ ${turtle(after('http://e/p', word))} ]`,
    `rml:reference "$.a" ; rml:datatypeMap [ ${turtle(after('http://e/t', word))} ]`,
    `; rml:graphMap [ ${turtle(after('http://e/g', word))} ]`,
  )} ;
  ${rule(
    'rml:predicate <http://e/j>',
    `rml:parentTriplesMap <map> ; rml:joinCondition [ rml:childMap [ ${turtle(child)} ] ; rml:parentMap [ ${turtle(parent)} ] ]`,
  )} .
<view> rml:viewOn <items> ; rml:field [ rml:fieldName "id" ; rml:reference "$.id" ] , [ rml:fieldName "f" ; ${turtle(viewed)} ] .
<viewed> rml:logicalSource <view> ; rml:subjectMap [ rml:template "http://e/{id}" ] ;
  ${rule('rml:predicate <http://e/v>', 'rml:reference "f"')} .
`;
}

// ---------------------------------------------------------------- the evaluator

const listOf = (item: Item, field: Field): readonly string[] => {
  const value = item[field];
  return value === undefined || value === null ? [] : typeof value === 'string' ? [value] : value;
};

/** All combinations, the last list varying fastest. */
const product = (lists: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  lists.reduce<readonly (readonly string[])[]>((made, list) => made.flatMap((row) => list.map((one) => [...row, one])), [[]]);

function valuesOf(expression: Expression, item: Item): readonly string[] {
  switch (expression.kind) {
    case 'field':
      return listOf(item, expression.field);
    case 'constant':
      return [expression.text];
    case 'template': {
      const [left, right] = [expression.left, expression.right].map((field) => [...new Set(listOf(item, field))]) as [string[], string[]];
      return expression.left === expression.right
        ? left.map((one) => `${one}~${one}`)
        : product([left, right]).map((pair) => pair.join('~'));
    }
    case 'conditional':
      return valuesOf(expression.condition, item).includes('true') ? valuesOf(expression.value, item) : [];
    case 'call':
      return resultsOf(expression.name, expression.inputs, item);
  }
}

function resultsOf(name: Name, inputs: readonly Expression[], item: Item): readonly string[] {
  const given = inputs.map((input) => valuesOf(input, item));
  const each = (of: (...args: string[]) => string | readonly string[]): readonly string[] => product(given).flatMap((args) => of(...args));
  switch (name) {
    case 'upper':
      return each((value) => (value as string).toUpperCase());
    case 'replace':
      return each((value, find, by) => (value as string).split(find as string).join(by));
    case 'split':
      return each((value) => {
        const parts = (value as string).split('-');
        while (parts.length > 1 && parts.at(-1) === '') parts.pop();
        return parts;
      });
    case 'length':
      return each((value) => String((value as string).length));
    case 'contains':
      return each((value, part) => String((value as string).includes(part as string)));
    case 'join': {
      const all = given.slice(0, -1).flat();
      return all.length === 0 ? [] : (given.at(-1) ?? []).map((separator) => all.join(separator));
    }
    case 'choose': {
      const [conditions = [], then = [], otherwise = []] = given;
      // Without a condition: not true.
      return (conditions.length === 0 ? ['false'] : conditions).flatMap((condition) => (condition === 'true' ? then : otherwise));
    }
  }
}

function evaluate({ items, condition, objects, keys: [child, parent], word, viewed, others, crossed }: Case): Set<string> {
  const lines = new Set<string>();
  const isMapped = (item: Item): boolean => condition === undefined || valuesOf(condition, item).includes('true');
  for (const item of items) {
    const subject = `<http://e/${item.id}>`;
    for (const value of others.flatMap((other) => valuesOf(crossed, other))) lines.add(`${subject} <http://e/c> ${literal(value)} .`);
    for (const value of valuesOf(viewed, item)) lines.add(`${subject} <http://e/v> ${literal(value)} .`);
    if (!isMapped(item)) continue;
    for (const [i, object] of objects.entries())
      for (const value of valuesOf(object, item)) lines.add(`${subject} <http://e/o${i}> ${literal(value)} .`);
    for (const value of listOf(item, 'b'))
      for (const language of valuesOf(word, item)) lines.add(`${subject} <http://e/l> ${literal(value)}@${language} .`);
    const [predicates, datatypes, graphs] = ['p', 't', 'g'].map((name) => valuesOf(after(`http://e/${name}`, word), item));
    for (const value of listOf(item, 'a'))
      for (const predicate of predicates ?? [])
        for (const datatype of datatypes ?? [])
          for (const graph of graphs ?? []) lines.add(`${subject} <${predicate}> ${literal(value)}^^<${datatype}> <${graph}> .`);
    const key = valuesOf(child, item);
    for (const other of items.filter(isMapped))
      if (valuesOf(parent, other).some((value) => key.includes(value))) lines.add(`${subject} <http://e/j> <http://e/${other.id}> .`);
  }
  return lines;
}

// ---------------------------------------------------------------- the engine

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-functions-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function run(options: Partial<RunRequest>): Promise<string[]> {
  const parts: Buffer[] = [];
  const sink = { write: (lines: string) => void parts.push(Buffer.from(lines, 'latin1')), commit: async () => [], abort: async () => {} };
  const spillDirectory = mkdtempSync(join(tmpdir(), 'quadmill-functions-spill-'));
  try {
    const mappings = [join(directory, 'mapping.ttl')];
    const files = { mappings, inputs: [], workingDirectory: directory, spillDirectory };
    await executeRun({ ...RUN_DEFAULTS, runId: 'functions', ...files, ...options }, sink, {});
    expect(readdirSync(spillDirectory)).toEqual([]);
    return Buffer.concat(parts).toString().split('\n').slice(0, -1);
  } finally {
    rmSync(spillDirectory, { recursive: true });
  }
}

describe('calls of functions give what a plain evaluator gives', () => {
  sharedTest.each(share(20, seeds(1, 80)))('seed %d', async (seed) => {
    const one = invent(seed);
    writeFileSync(join(directory, 'items.json'), JSON.stringify(one.items));
    writeFileSync(join(directory, 'others.json'), JSON.stringify(one.others));
    writeFileSync(join(directory, 'mapping.ttl'), mappingOf(one));
    const expected = [...evaluate(one)].sort();
    for (const memoryBudgetBytes of [RUN_DEFAULTS.memoryBudgetBytes, 0])
      expect((await run({ memoryBudgetBytes })).sort()).toEqual(expected);
    expect([...new Set(await run({ distinct: false }))].sort()).toEqual(expected);
  });
});
