/** Mappings with random logical views: fields with several values, of templates and functions; joins; views on views. */
import { Random } from '../../support/random.ts';
import { awkwardText, logicalSource, type Written, writeMapping } from './cases.ts';

const GREL = 'http://users.ugent.be/~bjdmeest/function/grel.ttl#';
const om = (predicate: string, object: string): string =>
  `rml:predicateObjectMap [ rml:predicate e:${predicate} ; rml:objectMap [ ${object} ] ] ;`;
const field = (name: string, expression: string): string => `[ a rml:ExpressionField ; rml:fieldName "${name}" ; ${expression} ]`;
const iterable = (name: string, iterator: string, ...fields: readonly string[]): string =>
  `[ a rml:IterableField ; rml:fieldName "${name}" ; rml:iterator "${iterator}" ; rml:field ${fields.join(' , ')} ]`;
const upper = (reference: string): string =>
  `rml:functionExecution [ rml:function <${GREL}toUpperCase> ; rml:input [ rml:parameter <${GREL}valueParam> ; rml:inputValueMap [ rml:reference "${reference}" ] ] ]`;

const COMPLETE = { id: '1', k: 'k1', a: 'a', b: 'b', n: 2, tags: ['t'], deep: { of: [{ x: 'x', in: { y: 'y' }, more: [{ z: ['z'] }] }] } };

export function writeViews(directory: string, seed: number): readonly Written[] {
  const random = new Random(seed);
  const text = (): string => awkwardText(random).replaceAll(/[\u{10000}-\u{10ffff}]|\r/gu, '');
  const texts = [...Array.from({ length: 5 }, text), 'a', 'b', ''];
  const maybe = <T>(value: T): T | null => (random.between(0, 4) === 0 ? null : value);
  const key = (): string => `k${random.between(0, 5)}`;
  const row = (at: number) => ({ id: `${at % 9}`, k: maybe(key()), a: maybe(random.pick(texts)), b: maybe(random.pick(texts)) });
  const inner = () =>
    random.pick<unknown>([
      null,
      {},
      {
        x: maybe(random.pick([1, 1.5, ...texts])),
        in: random.pick([undefined, {}, { y: random.pick(texts) }]),
        more: random.pick([undefined, [], [{ z: [1, 'z', null] }, { z: [] }, null, {}], [{ z: texts.slice(0, 2) }]]),
      },
    ]);
  const items = Array.from({ length: 14 }, (_, at) => ({
    ...row(at),
    n: maybe(random.pick([1, 1.5, true, '1'])),
    tags: random.pick([undefined, null, [], [null], [1, 'a', null, 'a'], texts.slice(0, 3)]),
    deep: random.pick([undefined, null, { of: [] }, { of: null }, { of: Array.from({ length: random.between(1, 3) }, () => inner()) }]),
  }));
  const cell = (value: string | null): string => (value === null ? 'NULL' : `"${value.replaceAll('"', '""')}"`);
  const csv = `id,k,a,b\n${Array.from({ length: 12 }, (_, at) => `${Object.values(row(at)).map(cell).join(',')}\n`).join('')}`;
  const join = (): string =>
    random.pick([
      '',
      ...['leftJoin', 'innerJoin'].map(
        (kind) =>
          `; rml:${kind} [ rml:parentLogicalView <#Rows> ; rml:joinCondition [ rml:parent "k" ; rml:child "k" ] ${random.pick(['', ', [ rml:parent "id" ; rml:child "id" ]'])} ;
  rml:field ${field('ra', 'rml:reference "a"')} , ${field('rt', 'rml:template "{a}/{up}"')} ]`,
      ),
    ]);
  const [first, second] = [join(), join()];
  const joined = (of: string, names: readonly string[]): readonly string[] => (of === '' ? [] : names);
  const objects = ['a', 'b', 'n', 'tag', 'both', 'up', 'i.x', 'i.y', 'i.t', 'i.m.z', ...joined(first, ['ra', 'rt'])];
  const ofObject = (name: string, at: number): string =>
    om(
      `${name.replaceAll('.', '_')}${at}`,
      random.pick([
        `rml:reference "${name}"`,
        `rml:template "{${name}}-{${random.pick(objects)}}" ; rml:termType rml:Literal`,
        `rml:template "http://e/{${name}}"`,
        `rml:reference "${name}" ; rml:datatype e:type`,
        upper(name),
      ]),
    );
  const mapping = `@prefix grel: <${GREL}> .
<#Rows> a rml:LogicalView ; rml:viewOn ${logicalSource('rows.csv', 'rml:referenceFormulation rml:CSV', '; rml:null "NULL"')} ;
  rml:field ${field('id', 'rml:reference "id"')} , ${field('k', 'rml:reference "k"')} , ${field('a', 'rml:reference "a"')} , ${field('up', upper('b'))} .
<#Items> a rml:LogicalView ; rml:viewOn ${logicalSource('items.jsonl', 'rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]"')} ;
  rml:field ${field('id', 'rml:reference "id"')} , ${field('k', 'rml:reference "k"')} , ${field('a', 'rml:reference "a"')} , ${field('b', 'rml:reference "b"')} ,
  ${field('n', 'rml:reference "n"')} , ${field('tag', 'rml:reference "tags[*]"')} , ${field('both', 'rml:template "{a}:{b}"')} , ${field('up', upper('a'))} ,
  ${iterable('i', '$.deep.of[*]', field('x', 'rml:reference "x"'), field('y', 'rml:reference "$.in.y"'), field('t', upper('x')), iterable('m', '$.more[*]', field('z', 'rml:reference "$.z[*]"')))} ${first} .
<#Above> a rml:LogicalView ; rml:viewOn <#Items> ; rml:field ${field('id', 'rml:reference "id"')} , ${field('k', 'rml:reference "k"')} ,
  ${field('x', `rml:reference "${random.pick(['tag', 'n', 'both', 'i.x', 'i.m.z'])}"`)} , ${field('y', upper('tag'))} ${second} .
<#M> rml:logicalSource <#Items> ; rml:subjectMap [ rml:template "http://e/{id}" ] ;
  ${objects.map(ofObject).join('\n  ')}
  ${om('parent', 'rml:parentTriplesMap <#R> ; rml:joinCondition [ rml:child "k" ; rml:parent "k" ]')}
  ${om('tagged', 'rml:parentTriplesMap <#N> ; rml:joinCondition [ rml:child "tag" ; rml:parent "x" ]')} .
<#N> rml:logicalSource <#Above> ; rml:subjectMap [ rml:template "http://e/above/{id}/{x}" ] ;
  ${['x', 'y', ...joined(second, ['ra', 'rt'])].map((name) => om(`above_${name}`, `rml:reference "${name}"`)).join('\n  ')}
  .
<#R> rml:logicalSource <#Rows> ; rml:subjectMap [ rml:template "http://e/row/{id}/{up}" ] ; ${om('a', 'rml:reference "a"')} .`;
  return [
    writeMapping(directory, 'views', {
      'mapping.ttl': mapping,
      'rows.csv': csv,
      // A run asks for a value of each reference somewhere.
      'items.jsonl': [...items, COMPLETE].map((item) => `${JSON.stringify(item)}\n`).join(''),
    }),
  ];
}
