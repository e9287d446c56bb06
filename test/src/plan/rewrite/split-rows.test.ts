import { expect, test } from '@jest/globals';
import type { ErrorPolicy } from '../../../../src/mapping/model/model.ts';
import { readMapping } from '../../../../src/mapping/parse/read.ts';
import type { MapRules } from '../../../../src/plan/algebra.ts';
import { buildAlgebra } from '../../../../src/plan/build/build.ts';
import { Builder } from '../../../../src/plan/build/operators.ts';
import { NO_METADATA } from '../../../../src/plan/catalogue-metadata.ts';
import { stepsOf, termText } from '../../../../src/plan/expressions.ts';
import { splitRows } from '../../../../src/plan/rewrite/split-rows.ts';

const field = (name: string, reference: string): string => `[ rml:fieldName "${name}" ; rml:reference "${reference}" ]`;
const source = (path: string): string =>
  `rml:source [ a rml:RelativePathSource ; rml:path "${path}" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]"`;
const PREFIXES = `@prefix rml: <http://w3id.org/rml/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix ex: <http://e/> .
@base <http://m/> .
<ages> rml:viewOn [ ${source('ages.json')} ] ; rml:field ${field('id', '$.id')} , ${field('age', '$.age')} .
<view> rml:viewOn [ ${source('p.json')} ] ;
  rml:field ${field('id', '$.id')} , ${field('tag', '$.tags[*]')} ,
    [ rml:fieldName "item" ; rml:iterator "$.items[*]" ; rml:field ${field('t', '$.t')} , ${field('sub', '$.subs[*]')} ] ;
  rml:leftJoin [ rml:parentLogicalView <ages> ; rml:joinCondition [ rml:child "id" ; rml:parent "id" ] ; rml:field ${field('age', 'age')} ] .
<again> rml:viewOn <view> ; rml:field ${field('id', 'id')} , ${field('tag', 'tag')} , ${field('t', 'item.t')} .
`;
const object = (of: string): string => `; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ ${of} ] ]`;
const reads = (name: string): string => object(`rml:reference "${name}"`);
const map = (...objects: string[]): string =>
  `<m> rml:logicalSource <view> ; rml:subjectMap [ rml:template "http://e/{id}" ] ${objects.join(' ')} .\n`;

/** The parts of `<m>`: the names that its steps give, and its objects. */
async function partsOf(text: string, onError?: ErrorPolicy): Promise<readonly string[]> {
  const { mapping, diagnostics } = await readMapping([{ name: 'm.ttl', text: PREFIXES + text }], { baseIri: 'http://e/' });
  expect(diagnostics).toEqual([]);
  const builder = new Builder();
  const { maps } = splitRows(buildAlgebra(mapping, 'http://e/', builder), { builder, catalogue: NO_METADATA, onError });
  return maps.filter((rules) => rules.map.name === 'm').map(describePart);
}

const describePart = ({ rows, emits }: MapRules): string => {
  const steps = stepsOf(rows).map((step) => (step.kind === 'unnest' ? step.item.name : step.kind));
  return `${steps.join(' ') || 'records'}: ${emits.map((emit) => termText(emit.object)).join(' ')}`;
};

test.each<[what: string, objects: readonly string[], parts: readonly string[]]>([
  ['a list, and what is beside it', [reads('id'), reads('item.t'), reads('id')], ['records: "$.id" "$.id"', 'item: "item $.t"']],
  ['two lists', [reads('tag'), reads('item.t')], ['tag: "tag"', 'item: "item $.t"']],
  ['a list within a list', [reads('item.t'), reads('item.sub')], ['item: "item $.t"', 'item item.sub: "item.sub"']],
  [
    'both of two lists, and one of them',
    [object('rml:template "{tag} {item.t}" ; rml:termType rml:Literal'), reads('tag')],
    ['tag item: "{tag} {item $.t}"', 'tag: "tag"'],
  ],
  ['positions of items', [reads('tag.#'), reads('id')], ['tag: "tag.#"', 'records: "$.id"']],
  ['a joined field beside a list', [reads('age'), reads('tag')], ['extend join: "age"', 'tag extend: "tag"']],
])('%s: each statement is multiplied by what it reads', async (_, objects, parts) => {
  expect(await partsOf(map(...objects))).toEqual(parts);
});

const plain = map(reads('id'), reads('tag'));
const quoting = map(reads('tag'), object('rml:quotedTriplesMap <q> ; rml:joinCondition [ rml:child "id" ; rml:parent "id" ]'));
const child = `<child> rml:logicalSource <view> ; rml:subjectMap [ rml:template "http://o/{id}" ]
  ${object('rml:parentTriplesMap <m> ; rml:joinCondition [ rml:child "id" ; rml:parent "id" ]')} .\n`;
const quoted = `<q> a rml:NonAssertedTriplesMap ; rml:logicalSource <ages> ; rml:subjectMap [ rml:template "http://q/{id}" ] ${reads('age')} .\n`;
const subject = (of: string): string => `<m> rml:logicalSource <view> ; rml:subjectMap [ ${of} ] ${reads('id')} ${reads('tag')} .\n`;

test.each<{ readonly what: string; readonly text: string; readonly onError?: ErrorPolicy }>([
  { what: 'an invalid term rejects its record alone', text: plain, onError: 'skip' },
  { what: 'all statements read the same lists', text: map(reads('tag'), object('rml:template "{id} {tag}" ; rml:termType rml:Literal')) },
  { what: 'the subject reads the list', text: subject('rml:template "http://e/{id}/{tag}"') },
  { what: 'no list is read, but a join', text: map(reads('id'), reads('age')) },
  { what: 'each row has a blank node', text: map(object('rml:termType rml:BlankNode'), reads('tag')) },
  {
    what: 'each row adds to a collection',
    text: map(object('rml:gather ( [ rml:reference "id" ] ) ; rml:gatherAs rdf:List'), reads('tag')),
  },
  { what: 'it is a parent', text: plain + child },
])('rows are left as they are where $what', async ({ text, onError }) => {
  expect(await partsOf(text, onError)).toHaveLength(1);
});

test('quoted triples that a join finds are objects like others', async () => {
  expect(await partsOf(quoting + quoted)).toEqual(['tag: "tag"', 'records: triple of q']);
});
