/** Mappings with random calls of functions and conditions, in every place where an expression may stand. */

import { expand } from '../../../src/functions/names.ts';
import { findFunction } from '../../../src/functions/registry.ts';
import { FUNCTIONS_IN_SQL } from '../../../src/transpile/functions/calls.ts';
import { Random } from '../../support/random.ts';
import { awkwardText, sourceOf, type Written, writeMapping } from './cases.ts';

type Kind = 'text' | 'boolean' | 'number' | 'decimal' | 'commas' | 'date' | 'day';
/** What an input is: another expression of a kind, or one of some constants. */
type Input = Kind | 'flag' | 'texts' | readonly string[];

const PATTERNS = ['dd/MM/yyyy', 'd/M/yyyy', 'yyyy-MM-dd', 'd.M.yy', 'yyyyMMdd', "yyyy-MM-dd'T'HH:mm:ss", 'd/M/yyyy H:m', 'MM yyyy'];

const REGEXPS = String.raw`[a-c]+ \s+ (a|ab|é)(b|-)? \W ^[^a-z]{1,2} .$ [^\d]{2,3}? (?:ab|http):? [\[\]&~-] \x5c|\u00a0`.split(' ');

/** Inputs by the order of parameters. */
const INPUTS: Readonly<Record<string, readonly Input[]>> = {
  'fns:helloworld': [],
  'fns:schema': ['text'],
  'idlab-fn:generateNull': [],
  'grel:toUpperCase': ['text'],
  'grel:toLowerCase': ['text'],
  'qm:capitalize': ['text'],
  'idlab-fn:toUpperCaseURL': ['text'],
  'grel:string_trim': ['text'],
  'qm:normalizeSpace': ['text'],
  'grel:string_toString': ['text'],
  'grel:string_length': ['text'],
  'grel:string_indexOf': ['text', 'text'],
  'grel:string_substring': ['text', ['0', '1', '3', '-1', '-2', '99'], ['0', '2', '4', '-1', '-3']],
  'grel:string_chomp': ['text', 'text'],
  'qm:removePrefix': ['text', 'text'],
  'qm:before': ['text', 'text'],
  'qm:after': ['text', 'text'],
  'qm:padStart': ['text', ['0', '4', '9'], ['-', '', 'ab']],
  'qm:padEnd': ['text', ['0', '4', '9'], ['-', '', 'ab']],
  'grel:string_replace': ['text', ['a', ' ', '', '$', '\\', "'"], 'text'],
  'grel:escape': ['text', ['html', 'xml', 'csv', 'url']],
  'grel:string_replaceChars': ['text', ['ab$', 'a-a', "é'\\"], ['x$\\', "'éA"]],
  'qm:replacePattern': ['text', REGEXPS, ['', '-', '\\'], ['', 's']],
  'qm:extract': ['text', [...REGEXPS, '^.*$', 'x?'], ['0']],
  'qm:matches': ['text', [...REGEXPS, '^$', '.*\\d'], ['', 's']],
  'qm:keepCharacters': ['text', ['0-9', '\\w é', '^\\s-', '.$']],
  'qm:encodeUri': ['text'],
  'qm:localName': ['text'],
  'grel:string_toNumber': ['decimal'],
  'grel:math_round': ['commas'],
  'grel:math_floor': ['decimal'],
  'grel:math_ceil': ['decimal'],
  'qm:truncate': ['decimal'],
  'grel:math_abs': ['decimal'],
  'grel:math_min': ['decimal', 'decimal'],
  'grel:math_max': ['decimal', 'decimal'],
  'idlab-fn:normalizeDate': ['date', PATTERNS],
  'idlab-fn:normalizeDateTime': ['date', PATTERNS],
  'grel:date_toDate': ['day', ['d/M/yyyy', '%d/%m/%Y']],
  'qm:parseDate': ['day', ['d/M/uuuu'], ['en', 'fr']],
  'qm:parseDateTime': ['day', ['d/M/yyyy'], [], ['en', 'fr']],
  'idlab-fn:concat': ['text', 'text', ['-', '']],
  'grel:concat': ['text', 'text', 'text'],
  'idlab-fn:concatSequence': ['texts', ['-', '']],
  'grel:array_join': ['texts', 'text'],
  'grel:string_contains': ['text', 'text'],
  'grel:string_startsWith': ['text', 'text'],
  'grel:string_endsWith': ['text', 'text'],
  'idlab-fn:equal': ['text', 'text'],
  'idlab-fn:notEqual': ['text', 'text'],
  'qm:textBefore': ['text', 'text'],
  'qm:equalIgnoringCase': ['text', 'text'],
  'qm:isUuid': ['text'],
  'idlab-fn:inRange': ['decimal', ['0', '-2.5'], ['1', '1e3']],
  'qm:numbersEqual': ['number', 'number'],
  'qm:lessThan': ['number', 'number'],
  'qm:greaterThan': ['number', 'number'],
  'grel:boolean_not': ['boolean'],
  'grel:boolean_and': ['flag'],
  'grel:boolean_or': ['flag'],
  'grel:boolean_xor': ['flag'],
  'qm:and': ['boolean', 'boolean'],
  'qm:or': ['boolean', 'boolean'],
  'idlab-fn:isNull': ['text'],
  'idlab-fn:isNotNull': ['text'],
  'grel:controls_isNull': ['text'],
  'grel:controls_isNotNull': ['text'],
  'grel:controls_isBlank': ['text'],
  'grel:controls_isNonBlank': ['text'],
  'grel:controls_isNumeric': ['text'],
  'qm:isOneOf': ['text', ['a', 'b', '']],
  'grel:controls_if': ['boolean', 'text', 'text'],
  'morph:controls_if_cast': ['text', 'text', 'text'],
  'idlab-fn:trueCondition': ['boolean', 'text'],
  'idlab-fn:decide': ['text', 'text', 'text'],
  'grel:other_coalesce': ['texts'],
  'qm:default': ['text', 'text'],
  'qm:defaultIfBlank': ['text', 'text'],
  'qm:nullIf': ['text', ['a', '', '-']],
  'qm:nullIfBlank': ['text'],
  'qm:lookUp': ['text', ['a'], ['found "it"'], 'text'],
  'grel:string_md5': ['text'],
  'grel:string_sha1': ['text'],
  'morph:hash': ['text'],
  'morph:hash_iri': ['text'],
};

const BOOLEAN = FUNCTIONS_IN_SQL.filter((name) => findFunction(expand(name))?.returns[0]?.type === 'boolean');
const TEXT = FUNCTIONS_IN_SQL.filter((name) => !BOOLEAN.includes(name));

const literal = (text: string): string => JSON.stringify(text);

export const PARTS = 5;

class Calls {
  readonly #random: Random;
  /** References by the kind of their values. */
  readonly #references: Readonly<Record<Kind, readonly string[]>>;

  constructor(random: Random, references: Readonly<Record<Kind, readonly string[]>>) {
    this.#random = random;
    this.#references = references;
  }

  /** The properties of an expression map. */
  expression(kind: Kind, depth: number): string {
    const random = this.#random;
    if (depth <= 0 || (kind !== 'text' && kind !== 'boolean') || random.between(0, 9) === 0) {
      const reference = random.pick(this.#references[kind]);
      return kind === 'text' && random.between(0, 5) === 0
        ? `rml:template "{${reference}}-{${random.pick(this.#references.text)}}"`
        : `rml:reference "${reference}"`;
    }
    return this.call(random.pick(kind === 'boolean' ? BOOLEAN : TEXT), depth);
  }

  call(name: string, depth: number): string {
    const random = this.#random;
    const parameters = findFunction(expand(name))?.parameters ?? [];
    const inputs = (INPUTS[name] as readonly Input[]).flatMap((input, at) => {
      const { iri, needs } = parameters[at] as (typeof parameters)[number];
      if ((needs === 'nothing' || needs === 'default') && random.between(0, 2) === 0) return [];
      const given = (value: string): string => `[ rml:parameter <${iri}> ; ${value} ]`;
      const other = (kind: Kind): string =>
        random.between(0, 4) === 0 && kind === 'text'
          ? given(`rml:inputValue ${literal(random.pick(['a', '', 'http://', 'é']))}`)
          : given(`rml:inputValueMap [ ${this.expression(kind, depth - 1)} ]`);
      if (typeof input !== 'string' && input.length === 0) return [];
      if (typeof input !== 'string') return [given(`rml:inputValue ${literal(random.pick(input))}`)];
      if (input === 'texts' || input === 'flag')
        return Array.from({ length: random.between(1, 3) }, () => other(input === 'flag' ? 'boolean' : 'text'));
      return [other(input)];
    });
    return `rml:functionExecution [ rml:function <${expand(name)}> ${inputs.length === 0 ? '' : `; rml:input ${inputs.join(' , ')}`} ]`;
  }

  /** A condition that holds wherever `a` has a value, and elsewhere perhaps. */
  mostly(depth: number): string {
    const there = `rml:functionExecution [ rml:function <${expand('idlab-fn:isNotNull')}> ; rml:input [ rml:parameter <${expand('idlab-fn:_str')}> ; rml:inputValueMap [ rml:reference "a" ] ] ]`;
    const input = (name: string, value: string): string => `[ rml:parameter <${expand(name)}> ; rml:inputValueMap [ ${value} ] ]`;
    const inputs = `${input('qm:condition', there)} , ${input('qm:otherCondition', this.expression('boolean', depth))}`;
    return `rml:functionExecution [ rml:function <${expand('qm:or')}> ; rml:input ${inputs} ]`;
  }

  /** An expression, perhaps under a condition. */
  conditional(depth: number): string {
    const condition = this.#random.between(0, 1) === 0 ? '' : ` ; rml:condition [ ${this.expression('boolean', depth)} ]`;
    return `${this.expression('text', depth)}${condition}`;
  }
}

/** What no engine may stumble over: no characters beyond U+FFFF and no letters with several others, which end a job. */
const textOf = (random: Random): string =>
  random.pick([
    () => awkwardText(random).replaceAll(/[\u{10000}-\u{10ffff}]/gu, ''),
    () => random.pick(['a', 'b', 'ab-a', ' \u00a0x\t', 'http://e/ß', 'ÉöÇ', 'Δδ Ж', '12', '-1.50', '1e400', 'No', 'false', '', '&<>"']),
  ])();

/** Around the edges of rounding, with 15 digits at most. */
const decimalOf = (random: Random): string =>
  random.pick([
    () =>
      random.pick([
        '0',
        '-0',
        '-0.0',
        '007',
        ' +.5',
        '5.',
        '-.5',
        '-0.5',
        '2.5',
        '-2.5',
        '1e-7',
        '0.1e2',
        '1E3',
        '-1.50',
        '999999999999999',
      ]),
    () =>
      `${random.pick(['', '-'])}${random.between(0, 99999)}.${random.pick(['', '5', '49999', '0', '123'])}${random.pick(['', 'e1', 'E-3'])}`,
  ])();

const dateOf = (random: Random): string => {
  const two = (most: number): string => {
    const number = String(random.between(0, most));
    return random.between(0, 1) === 0 ? number.padStart(2, '0') : number;
  };
  const year = random.pick(['2024', '2023', '1900', '2000', '0000', '24']);
  const [day, month] = [random.pick([two(32), '29', '30']), random.pick([two(13), '02', '2'])];
  return random.pick([
    () => `${day}/${month}/${year}`,
    () => ` ${day}.${month}.${year}\u00a0`,
    () => `${year}-${month}-${day}`,
    () => `${year}${month}${day}`,
    () => `${year}-${month}-${day}${random.pick(['T', 't', ' '])}${two(24)}:${two(60)}:${two(60)}`,
    () => `${day}/${month}/${year} ${two(24)}:${two(60)}`,
    () => `${month} ${year}`,
    () => random.pick(['', 'x', '29/02/2024x']),
  ])();
};

function mappingOf(source: string, names: readonly string[], calls: Calls): string {
  const om = (predicate: string, object: string): string =>
    `rml:predicateObjectMap [ rml:predicate e:${predicate} ; rml:objectMap [ ${object} ] ] ;`;
  const literals = names.map((name) => om(name.replace(':', '_'), `${calls.call(name, 1)} ; rml:termType rml:Literal`));
  const nested = Array.from({ length: 6 }, (_, at) => om(`nested${at}`, `${calls.conditional(2)} ; rml:termType rml:Literal`));
  return `<#M> ${source} ; rml:subjectMap [ rml:template "http://e/{id}" ; rml:condition [ ${calls.mostly(2)} ] ] ;
  ${literals.join('\n  ')}
  ${nested.join('\n  ')}
  ${om('iri', `rml:template "http://e/{a}" ; rml:condition [ ${calls.expression('boolean', 2)} ]`)}
  ${om('relative', `rml:template "{a}/x" ; rml:condition [ ${calls.expression('boolean', 1)} ]`)}
  ${om('constant', `rml:constant 5 ; rml:condition [ ${calls.expression('boolean', 2)} ]`)}
  ${om('blank', `${calls.conditional(1)} ; rml:termType rml:BlankNode`)}
  ${om('typed', `${calls.conditional(2)} ; rml:datatype e:type`)}
  ${om('unsafe', `${calls.conditional(1)} ; rml:termType rml:UnsafeIRI`)}
  rml:predicateObjectMap [ rml:predicateMap [ rml:template "http://e/p/{b}" ; rml:condition [ ${calls.expression('boolean', 1)} ] ] ; rml:object "x" ;
    rml:graphMap [ rml:template "http://e/g/{a}" ; rml:condition [ ${calls.expression('boolean', 1)} ] ] ] ;
  ${om('joined', `rml:parentTriplesMap <#M> ; rml:joinCondition [ rml:childMap [ ${calls.expression('text', 1)} ] ; rml:parentMap [ ${calls.expression('text', 1)} ] ]`)}
  .`;
}

/** Seeds one after the other have all functions among them: each has a part, for a job of all of them takes long to plan. */
export function writeCalls(directory: string, seed: number): readonly Written[] {
  const random = new Random(seed);
  const maybe = <T>(make: () => T): T | null => (random.between(0, 4) === 0 ? null : make());
  const rows = Array.from({ length: 25 }, (_, at) => ({
    id: `${at % 20}`,
    a: maybe(() => textOf(random)),
    b: maybe(() => textOf(random)),
    t: maybe(() => random.pick(['true', 'FALSE', ' 1 ', '0'])),
    n: maybe(() => random.pick(['1', '1.0', ' +.5', '5.', '-1e3', '0', '12345678901234567890'])),
    m: maybe(() => decimalOf(random)),
    c: maybe(() => random.pick(['1,926.82', '9,25', '-2.5', '0.49999999999999994', '12,345,678.5', decimalOf(random)])),
    d: maybe(() => dateOf(random)),
    g: maybe(() => `${random.between(1, 28)}/${random.pick(['', '0'])}${random.between(1, 9)}/${random.pick(['2024', '1899', '0000'])}`),
  }));
  const cell = (text: string | null): string => (text === null ? 'NULL' : `"${text.replaceAll('"', '""')}"`);
  const csv = `id,a,b,t,n,m,c,d,g\n${rows.map((row) => `${Object.values(row).map(cell).join(',')}\n`).join('')}`;
  const lines = rows.map((row, at) => ({
    ...row,
    a: row.a?.replaceAll('\r\n', ' '),
    b: at % 3 === 0 ? [1, 1.5, true, -0, 1e21][at % 5] : row.b?.replaceAll('\r\n', ' '),
    t: row.t === 'true' ? true : row.t,
    n: row.n === '1' ? 1.0 : row.n,
    m: row.m === '-2.5' ? -2.5 : row.m === '1e20' ? 1e20 : row.m,
  }));
  const names = FUNCTIONS_IN_SQL.filter((_, at) => at % PARTS === seed % PARTS);
  const calls = new Calls(random, {
    text: ['a', 'b'],
    boolean: ['t'],
    number: ['n'],
    decimal: ['m'],
    commas: ['c'],
    date: ['d'],
    day: ['g'],
  });
  return [
    writeMapping(directory, 'calls', {
      'mapping.ttl': mappingOf(sourceOf('v.csv', 'rml:referenceFormulation rml:CSV', '; rml:null "NULL"'), names, calls),
      'v.csv': csv,
    }),
    writeMapping(directory, 'calls-json', {
      'mapping.ttl': mappingOf('SOURCE(v.jsonl,JSONPath)', names, calls),
      'v.jsonl': lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    }),
  ];
}
