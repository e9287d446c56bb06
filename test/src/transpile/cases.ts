/** Mappings over awkward data, which every dialect must give the lines of a run for. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../support/random.ts';

/** A mapping in a separate directory. */
export interface Written {
  readonly name: string;
  readonly directory: string;
  readonly mapping: string;
}

const PREFIXES = `@prefix rml: <http://w3id.org/rml/> .
@prefix e: <http://e/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@base <http://example.com/base/> .
`;

export const CHARACTERS = [
  ...'aZ09-._~ !"#$%&\'()*+,/:;<=>?@[\\]^`{|}\t',
  ...[
    '\n',
    '\r',
    '\r\n',
    '$x',
    '$' + '{x}',
    '\u0001',
    '\u007f',
    '\u0080',
    '\u009f',
    '\u00a0',
    'é',
    '\u0301',
    '\ue000',
    '\uf8ff',
    '\ufdd0',
    '\uffef',
    '\ufffd',
    '😀',
    '\u{1fffe}',
    '\u{e0001}',
  ],
];

/** A carriage return at the end of a cell is refused where it may be the end of the line. */
export const awkwardText = (random: Random): string =>
  Array.from({ length: random.between(0, 5) }, () => random.pick(CHARACTERS))
    .join('')
    .replace(/\r$/, '');

const cell = (text: string): string => (/[",\r\n]/.test(text) || text === '' ? `"${text.replaceAll('"', '""')}"` : text);

export const logicalSource = (path: string, rest: string, nulls = ''): string =>
  `[ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${path}" ${nulls} ] ; ${rest} ]`;

export const sourceOf = (...given: Parameters<typeof logicalSource>): string => `rml:logicalSource ${logicalSource(...given)}`;

/** Writes files; in `mapping.ttl`, which gets prefixes, `SOURCE(people.csv,CSV)` is a logical source. */
export function writeMapping(directory: string, name: string, files: Readonly<Record<string, string>>): Written {
  const own = join(directory, name);
  mkdirSync(own, { recursive: true });
  for (const [file, text] of Object.entries(files)) {
    const whole = text.replaceAll(/SOURCE\((.*?),(.*?)\)/g, (_, path, formulation) =>
      sourceOf(path, `rml:referenceFormulation rml:${formulation}`),
    );
    writeFileSync(join(own, file), file === 'mapping.ttl' ? PREFIXES + whole : text);
  }
  return { name, directory: own, mapping: join(own, 'mapping.ttl') };
}

const CSV = 'rml:referenceFormulation rml:CSV';
const json = (iterator: string): string => `rml:referenceFormulation rml:JSONPath ; rml:iterator "${iterator}"`;

const om = (predicate: string, object: string): string =>
  `rml:predicateObjectMap [ rml:predicate e:${predicate} ; rml:objectMap [ ${object} ] ] ;`;

/** Terms of every kind over `a` and `b`. */
const TERMS = `rml:subjectMap [ rml:template "http://e/{a}/{id}" ; rml:class e:C ] ;
  ${om('text', 'rml:reference "a"')}
  ${om('other', 'rml:reference "b"')}
  ${om('both', 'rml:template "it\'s \\"{a}\\" $' + '{b} {b}\\\\\\\\" ; rml:termType rml:Literal')}
  ${om('tagged', 'rml:reference "a" ; rml:language "de-CH"')}
  ${om('typed', 'rml:reference "b" ; rml:datatype e:type')}
  ${om('iri', 'rml:template "relative/{a}{b}"')}
  ${om('uri', 'rml:template "http://e/{b}" ; rml:termType rml:URI')}
  ${om('unsafe', 'rml:template "http://e/{b}" ; rml:termType rml:UnsafeIRI')}
  ${om('blank', 'rml:template "{a}:{b}" ; rml:termType rml:BlankNode')}
  rml:predicateObjectMap [ rml:predicateMap [ rml:template "http://e/p/{b}" ] ; rml:objectMap [ rml:constant "a \\n\\"b\\"" ] ; rml:graphMap [ rml:template "http://e/g/{a}" ] ] ;
  rml:predicateObjectMap [ rml:predicate e:constant ; rml:object "é"@fr , 1 , <x> ] .`;

/** Rows that repeat each other, and characters of every kind. */
export function writeAwkward(directory: string, seed: number): readonly Written[] {
  const random = new Random(seed);
  const texts = Array.from({ length: 30 }, () => awkwardText(random));
  const rows = Array.from({ length: 60 }, () => ({ id: String(random.between(0, 9)), a: random.pick(texts), b: random.pick(texts) }));
  const write = (name: string, mapping: string, files: Readonly<Record<string, string>>): Written =>
    writeMapping(directory, name, { 'mapping.ttl': mapping, ...files });
  const table = (quotes: boolean, separator: string): string =>
    [['id', 'a', 'b'], ...rows.map(({ id, a, b }) => (quotes ? [id, cell(a), cell(b)] : [id, plain(a), plain(b)]))]
      .map((row) => `${row.join(separator)}\n`)
      .join('');
  const objects = rows.map(({ id, a, b }, at) => ({
    id: Number(id),
    a: a.replaceAll('\r\n', ' '),
    ...(at % 7 === 0 ? {} : { b: at % 5 === 0 ? null : b }),
    n: [at, at / 4, -at * 1e6, at % 2 === 0, `${at}`][at % 5],
    deep: at % 3 === 0 ? undefined : { er: { x: `x${at % 4}` } },
    tags: [a, at % 4, b, null].slice(0, at % 5),
    items: [{ k: `k${at % 6}`, v: at }, {}, { k: null }].slice(0, at % 4),
  }));
  const record = `rml:subjectMap [ rml:template "http://e/{id}" ] ;
  ${om('a', 'rml:reference "a"')}
  ${om('n', 'rml:reference "n"')}
  ${om('m', 'rml:reference "n" ; rml:datatype xsd:string')}
  ${om('x', 'rml:reference "deep.er.x"')}
  ${om('tag', 'rml:reference "tags[*]"')}
  ${om('tagged', 'rml:template "{tags[*]}/{a}" ; rml:termType rml:Literal')}
  ${om('k', 'rml:template "http://e/{items[*].k}"')}
  ${om('v', 'rml:reference "$.items[*][\'v\']"')} .`;
  const items = `rml:subjectMap [ rml:template "http://e/item/{k}" ] ; ${om('v', 'rml:reference "v"')} .`;
  const people = `id,name,city,boss\n${rows
    .slice(0, 40)
    .map(({ a }, at) => `${at % 17},${cell(a)},c${at % 5},${at % 4}\n`)
    .join('')}`;
  const joins = `<#Person> ${sourceOf('people.csv', CSV)} ; rml:subjectMap [ rml:template "http://e/p/{id}" ] ;
  ${om('name', 'rml:reference "name"')}
  ${om('city', 'rml:parentTriplesMap <#City> ; rml:joinCondition [ rml:child "city" ; rml:parent "code" ]')}
  ${om('knows', 'rml:parentTriplesMap <#Person> ; rml:joinCondition [ rml:child "boss" ; rml:parent "id" ] , [ rml:child "city" ; rml:parent "city" ]')}
  ${om('same', 'rml:parentTriplesMap <#Named>')} .
<#Named> ${sourceOf('people.csv', CSV)} ; rml:subjectMap [ rml:template "http://e/n/{name}" ; rml:class e:Named ] .
<#City> ${sourceOf('cities.csv', CSV)} ; rml:subjectMap [ rml:template "http://e/c/{name}" ] ; ${om('code', 'rml:reference "code"')} .`;
  // Each term, and each argument of a call, takes any of the values.
  const grel = (name: string): string => `<http://users.ugent.be/~bjdmeest/function/grel.ttl#${name}>`;
  const argument = (name: string): string => `[ rml:parameter ${grel(name)} ; rml:inputValueMap [ rml:reference "tags[*]" ] ]`;
  const pairs = (name: string): string =>
    `rml:functionExecution [ rml:function ${grel(name)} ; rml:input ${argument('valueParam')} , ${argument(name === 'concat' ? 'valueParam2' : 'string_sub')} ]`;
  const combinations = `<#M> ${sourceOf('t.jsonl', json('$[*]'))} ; rml:subjectMap [ rml:template "http://e/{tags[*]}" ] ;
  ${om('tag', 'rml:reference "tags[*]"')}
  ${om('twice', 'rml:template "{tags[*]}/{tags[*]}/{items[*].k}" ; rml:termType rml:Literal')}
  ${om('pair', pairs('concat'))}
  ${om('starting', `rml:reference "tags[*]" ; rml:condition [ ${pairs('string_startsWith')} ]`)}
  rml:predicateObjectMap [ rml:predicateMap [ rml:template "http://e/p/{tags[*]}" ] ; rml:objectMap [ rml:reference "items[*].v" ] ] ;
  ${om('joined', 'rml:parentTriplesMap <#M> ; rml:joinCondition [ rml:child "tags[*]" ; rml:parent "items[*].k" ]')} .`;
  return [
    write('csv', `<#M> ${sourceOf('t.csv', CSV)} ; ${TERMS}`, { 't.csv': table(true, ',') }),
    write('tsv', `<#M> ${sourceOf('t.tsv', CSV, '; rml:null "a" , ""')} ; ${TERMS}`, { 't.tsv': table(false, '\t') }),
    write('lines', `<#M> ${sourceOf('t.jsonl', json('$[*]'))} ; ${record}`, {
      't.jsonl': objects.map((one) => `${JSON.stringify(one)}\n`).join('\n'),
    }),
    write(
      'document',
      `<#M> ${sourceOf('t.json', json('$.all.of[*]'))} ; ${record} <#I> ${sourceOf('t.json', json('$.all.of[*].items[*]'))} ; ${items}`,
      {
        't.json': JSON.stringify({ all: { of: objects } }, null, 1),
      },
    ),
    write('combinations', combinations, { 't.jsonl': objects.map((one) => `${JSON.stringify(one)}\n`).join('') }),
    write('joins', joins, { 'people.csv': people, 'cities.csv': 'code,name\nc0,A\nc1,B b\nc1,C\nc2,A\nc2,A\n' }),
    write(
      'overlaps',
      `<#A> ${sourceOf('t.csv', CSV)} ; rml:subjectMap [ rml:template "http://e/{id}" ] ; ${om('p', 'rml:reference "id"')} .
<#B> ${sourceOf('t.csv', CSV)} ; rml:subjectMap [ rml:template "http://{id}/{id}" ] ; ${om('p', 'rml:template "{id}" ; rml:termType rml:Literal')} .
<#C> ${sourceOf('t.csv', CSV)} ; rml:subjectMap [ rml:template "http://e/{id}{a}" ] ; ${om('q', 'rml:reference "b"')} .`,
      { 't.csv': table(true, ',') },
    ),
  ];
}

/** A text that no quote is needed for. */
const plain = (text: string): string => text.replaceAll(/[\t\r\n]/g, ' ');
