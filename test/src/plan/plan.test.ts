import { describe, expect } from '@jest/globals';
import { readMapping } from '../../../src/mapping/parse/read.ts';
import { explainPlan } from '../../../src/plan/explain.ts';
import { mapsOf, type Plan } from '../../../src/plan/plan.ts';
import { planMapping } from '../../../src/plan/planning.ts';
import { processorMs } from '../../support/fastest.ts';
import { share, sharedTest, test } from '../../support/jest/extent.ts';

const PREFIXES = '@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.com/ns#> . @base <http://example.com/mapping/> .\n';
const source = (path: string) =>
  `rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "${path}" ] ; rml:referenceFormulation rml:CSV ]`;
const map = (name: string, path: string, subject: string, ...objects: string[]) =>
  `<#${name}> ${source(path)} ; rml:subjectMap [ ${subject} ] ${objects.map((object) => `; rml:predicateObjectMap [ ${object} ]`).join('')} .\n`;
const join = (parent: string, key: string) =>
  `rml:predicate ex:to${parent} ; rml:objectMap [ rml:parentTriplesMap <#${parent}> ; rml:joinCondition [ rml:child "${key}" ; rml:parent "${key}" ] ]`;

async function plan(...maps: string[]): Promise<Plan> {
  const { mapping, diagnostics } = await readMapping([{ name: 'm.ttl', text: PREFIXES + maps.join('') }], {
    baseIri: 'http://example.com/base/',
  });
  expect(diagnostics).toEqual([]);
  return planMapping(mapping, 'http://example.com/base/');
}

const distinctOf = (of: Plan) =>
  of.scans.flatMap((scan) => scan.iterations.flatMap((it) => mapsOf(it).flatMap(({ rules }) => rules.map((rule) => rule.distinct))));

describe('scans', () => {
  test('triples maps over one file share its scan and its records', async () => {
    const { scans } = await plan(map('A', 'x.csv', 'rml:template "http://a/{id}"'), map('B', 'x.csv', 'rml:template "http://b/{no}"'));
    expect(scans).toHaveLength(1);
    expect(scans[0]?.iterations).toHaveLength(1);
    expect(scans[0]?.iterations[0]?.references.toSorted()).toEqual(['id', 'no']);
  });

  test('a parent is read before its children', async () => {
    const { scans } = await plan(
      map('Child', 'c.csv', 'rml:template "http://c/{id}"', join('Parent', 'k')),
      map('Parent', 'p.csv', 'rml:template "http://p/{id}"'),
    );
    expect(scans.map(({ source }) => source)).toMatchObject([{ path: 'p.csv' }, { path: 'c.csv' }]);
    expect(scans[1]?.iterations[0]?.pipelines[0]?.maps[0]?.rules[0]?.object).toMatchObject({ kind: 'join', deferred: false });
  });

  test('in a circle, one join waits for the end', async () => {
    const { scans } = await plan(
      map('A', 'a.csv', 'rml:template "http://a/{id}"', join('B', 'k')),
      map('B', 'b.csv', 'rml:template "http://b/{id}"', join('A', 'k')),
    );
    const deferred = scans.flatMap((scan) =>
      scan.iterations.flatMap((it) =>
        mapsOf(it).flatMap(({ rules }) => rules.map(({ object }) => object.kind === 'join' && object.deferred)),
      ),
    );
    expect(deferred.toSorted()).toEqual([false, true]);
  });

  test('a join with itself waits for the end', async () => {
    const { scans, joins } = await plan(map('A', 'a.csv', 'rml:template "http://a/{id}"', join('A', 'k')));
    expect(joins).toHaveLength(1);
    expect(scans[0]?.iterations[0]?.pipelines[0]?.maps[0]?.rules[0]?.object).toMatchObject({ deferred: true });
  });

  test.each([
    ['the child, where its subject gives the key', 'c/{k}', 'p/{id}', 'child'],
    ['the child, where both subjects do', 'c/{k}', 'p/{k}', 'child'],
    ['the parent, where only its subject gives the key', 'c/{id}', 'p/{k}/{id}', 'parent'],
    ['none, where the key may run into another value', 'c/{k}-{id}', 'p/{id}{k}', undefined],
    ['none, where other values make the subjects', 'c/{id}', 'p/{id}', undefined],
  ] as const)('the side that determines the key of a join is %s', async (_, child, parent, expected) => {
    const { scans } = await plan(
      map('C', 'c.csv', `rml:template "http://${child}"`, join('P', 'k')),
      map('P', 'p.csv', `rml:template "http://${parent}"`),
    );
    expect(scans[1]?.iterations[0]?.pipelines[0]?.maps[0]?.rules[0]?.object).toMatchObject({ kind: 'join', keyedBy: expected });
  });

  test('joins with the same parent and keys share an index', async () => {
    const { joins } = await plan(
      map('A', 'a.csv', 'rml:template "http://a/{id}"', join('P', 'k')),
      map('B', 'b.csv', 'rml:template "http://b/{id}"', join('P', 'k')),
      map('P', 'p.csv', 'rml:template "http://p/{id}"'),
    );
    expect(joins).toHaveLength(1);
  });

  test('unrelated triples maps are in separate groups', async () => {
    const { groups } = await plan(
      map('A', 'a.csv', 'rml:template "http://a/{id}" ; rml:class ex:A', join('P', 'k')),
      map('P', 'p.csv', 'rml:template "http://p/{id}"'),
      map('C', 'c.csv', 'rml:template "http://c/{id}" ; rml:class ex:C'),
      map('D', 'd.csv', 'rml:template "http://c/{id}" ; rml:class ex:C'),
      map('E', 'e.csv', 'rml:template "http://e/{id}" ; rml:class ex:C'),
    );
    expect(groups.map((group) => group.length).toSorted()).toEqual([1, 2, 2]);
  });
});

describe('rules that could make the same statement', () => {
  test.each<[name: string, a: string, b: string, expected: 'subject' | 'overlapping']>([
    ['templates with other beginnings', 'rml:template "http://a/{id}"', 'rml:template "http://b/{id}"', 'subject'],
    ['templates with other ends', 'rml:template "http://a/{id}/x"', 'rml:template "http://a/{id}/y"', 'subject'],
    ['an encoded value holds no slash', 'rml:template "http://a/{id}"', 'rml:template "http://a/{id}/x"', 'subject'],
    ['the same template', 'rml:template "http://a/{id}"', 'rml:template "http://a/{no}"', 'overlapping'],
    ['a template that may complete another', 'rml:template "http://a/{id}"', 'rml:template "http://a/b-{no}"', 'overlapping'],
    ['an IRI from data may be anything', 'rml:template "http://a/{id}"', 'rml:reference "iri"', 'overlapping'],
    ['a blank node is no IRI', 'rml:template "http://a/{id}"', 'rml:template "http://a/{id}" ; rml:termType rml:BlankNode', 'subject'],
    ['a relative template has the base in front', 'rml:template "http://example.com/base/{id}"', 'rml:template "{id}"', 'overlapping'],
    ['a template without references is a constant', 'rml:template "http://a/x"', 'rml:constant <http://a/x>', 'overlapping'],
    ['a value that may be a scheme makes an absolute IRI', 'rml:template "{p}:{id}"', 'rml:template "urn:{id}"', 'overlapping'],
    [
      'a value that may be no scheme has the base in front',
      'rml:template "{p}:{id}"',
      'rml:template "http://example.com/base/1:{id}"',
      'overlapping',
    ],
    ['a value before a slash is no scheme', 'rml:template "{p}/x:{id}"', 'rml:template "urn:{id}"', 'subject'],
    [
      'an unsafe IRI may hold a slash',
      'rml:template "http://a/{id}" ; rml:termType rml:UnsafeIRI',
      'rml:template "http://a/{id}/x"',
      'overlapping',
    ],
    ['other graphs', 'rml:template "http://a/{id}" ; rml:graph ex:g', 'rml:template "http://a/{id}"', 'subject'],
    [
      'a graph from data',
      'rml:template "http://a/{id}" ; rml:graphMap [ rml:template "http://g/{g}" ]',
      'rml:template "http://b/{id}"',
      'overlapping',
    ],
  ])('%s', async (_, a, b, expected) => {
    const [first] = distinctOf(await plan(map('A', 'a.csv', `${a} ; rml:class ex:C`), map('B', 'b.csv', `${b} ; rml:class ex:C`)));
    expect(first).toBe(expected);
  });

  test('other predicates or classes are apart', async () => {
    expect(distinctOf(await plan(map('A', 'a.csv', 'rml:template "http://a/{id}" ; rml:class ex:C, ex:D')))).toEqual([
      'subject',
      'subject',
    ]);
  });

  test('two objects of one predicate may be the same', async () => {
    const both = 'rml:predicate ex:p ; rml:objectMap [ rml:reference "a" ] , [ rml:reference "b" ]';
    expect(distinctOf(await plan(map('A', 'a.csv', 'rml:template "http://a/{id}"', both)))).toEqual(['overlapping', 'overlapping']);
  });

  test('literals of other types are apart', async () => {
    const both = 'rml:predicate ex:p ; rml:objectMap [ rml:reference "a" ; rml:language "en" ] , [ rml:reference "a" ; rml:language "de" ]';
    expect(distinctOf(await plan(map('A', 'a.csv', 'rml:template "http://a/{id}"', both)))).toEqual(['subject', 'subject']);
  });
});

test('a plan can be read', async () => {
  const { mapping } = await readMapping(
    [
      {
        name: 'm.ttl',
        text:
          PREFIXES +
          map('Child', 'c.csv', 'rml:template "http://c/{id}"', join('Parent', 'k')) +
          map('Parent', 'p.csv', 'rml:template "http://p/{id}" ; rml:class ex:P'),
      },
    ],
    { baseIri: 'http://example.com/base/' },
  );
  expect(explainPlan(mapping)).toBe(`scan 1: p.csv (csv, rml dialect), read once
  each record gives id, k
    fills join 1 (subjects of Parent by k)
    Parent (m.ttl:3:1): subject <http://p/{id}>
      <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.com/ns#P>  [repeats only with its subject]
scan 2: c.csv (csv, rml dialect), read once
  each record gives id, k
    Child (m.ttl:2:1): subject <http://c/{id}>
      <http://example.com/ns#toParent> looked up in join 1 (subjects of Parent by k) by k  [repeats only with its subject]
group 1
  1 scan p.csv: provides: divisible, in order, each with its position
  2 encode Parent ← 1: provides: divisible, in order
  3 distinct by subject ← 2: provides: divisible, in any order, no two equal; requires: equal subjects in one place (2); keeps: texts by a hash; asks: is id a key?
  4 scan c.csv: provides: divisible, in order, each with its position
  5 project subjects of Parent ← 1: provides: divisible, in order, no two equal; keeps: texts by a key
  6 join objects, inner ← 4, 5: provides: divisible, in order; requires: all rows first (5)
  7 encode Child ← 6: provides: divisible, in order
  8 distinct by subject ← 7: provides: divisible, in any order, no two equal; requires: equal subjects in one place (7); keeps: texts by a hash
  threads divide the records, if each can read the build sides of the joins
  workers divide the records, if each can read the build sides of the joins
  streams its records, but
    3 keeps hashes of subjects and their objects, and compares at the end what does not fit in memory
    5 keeps all of its rows: others are looked up in them
    8 keeps hashes of subjects and their objects, and compares at the end what does not fit in memory
9 output of the run ← 3, 8
`);
});

test('an explained plan shows the query of an endpoint on one line', async () => {
  const text = `${PREFIXES}@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .
<#M> rml:logicalSource [ rml:source [ a sd:Service ; sd:endpoint <http://h/sparql> ] ; rml:iterator """SELECT ?s
  WHERE { ?s ?p ?o }""" ] ; rml:subjectMap [ rml:reference "s" ; rml:class ex:C ] .`;
  const { mapping } = await readMapping([{ name: 'm.ttl', text }], { baseIri: 'http://example.com/base/' });
  expect(explainPlan(mapping)).toContain(
    'scan 1: http://h/sparql (SPARQL results as json of SELECT ?s WHERE { ?s ?p ?o }, rml dialect), read once',
  );
});

describe('2,000 rules plan within seconds', () => {
  const many = Array.from({ length: 2000 }, (_, i) => i);
  const rule = (predicate: string, object: string) => `rml:predicate ${predicate} ; ${object}`;
  const maps = (subject: (i: number) => string, object: (i: number) => string, file = (i: number) => `${i}.csv`) =>
    many.map((i) => map(`M${i}`, file(i), subject(i), object(i)));

  const cases: readonly [name: string, maps: readonly string[], shared: number, groups: number][] = [
    [
      'of one triples map',
      [map('M', 'm.csv', 'rml:template "http://a/{id}"', ...many.map((i) => rule(`ex:p${i}`, 'rml:objectMap [ rml:reference "x" ]')))],
      0,
      1,
    ],
    [
      'over one file',
      maps(
        (i) => `rml:template "http://a/${i}/{id}"`,
        () => rule('ex:p', 'rml:objectMap [ rml:reference "x" ]'),
        () => 'm.csv',
      ),
      0,
      1,
    ],
    [
      'with other ends',
      maps(
        (i) => `rml:template "http://a/{id}/${i}"`,
        () => rule('ex:p', 'rml:objectMap [ rml:reference "x" ]'),
      ),
      0,
      2000,
    ],
    [
      'with other middles and predicates from data',
      maps(
        (i) => `rml:template "http://a/{id}/${i}/{no}"`,
        () => 'rml:predicateMap [ rml:template "http://p/{p}" ] ; rml:objectMap [ rml:reference "x" ]',
      ),
      2000,
      2000,
    ],
    [
      'with other classes',
      maps(
        () => 'rml:template "http://a/{id}"',
        (i) => rule('ex:p', `rml:object ex:C${i}`),
      ),
      0,
      2000,
    ],
    [
      'that all may meet',
      maps(
        () => 'rml:template "http://a/{id}"',
        () => rule('ex:p', 'rml:objectMap [ rml:reference "x" ]'),
      ),
      2000,
      1,
    ],
  ];
  sharedTest.each(share(2, cases))('%s', async (_, texts, shared, groups) => {
    const { mapping } = await readMapping([{ name: 'm.ttl', text: PREFIXES + texts.join('') }], { baseIri: 'http://example.com/base/' });
    let found = {} as ReturnType<typeof planMapping>;
    const took = await processorMs(() => {
      found = planMapping(mapping, 'http://example.com/base/');
    });
    expect(took).toBeLessThan(3000);
    expect(distinctOf(found).filter((distinct) => distinct === 'overlapping')).toHaveLength(shared);
    expect(found.groups).toHaveLength(groups);
  });
});

test('a triples map over a view has the rows that it needs: what it does not read neither multiplies them nor is joined', async () => {
  const object = (reference: string): string =>
    `; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference "${reference}" ] ]`;
  const of = (name: string, subject: string, ...objects: string[]): string =>
    `<#${name}> rml:logicalSource <#view> ; rml:subjectMap [ rml:template "http://e/{${subject}}" ] ${objects.map(object).join(' ')} .\n`;
  const { scans } = await plan(
    `<#view> rml:viewOn <#source> ; rml:field [ rml:fieldName "id" ; rml:reference "$.id" ] , [ rml:fieldName "tag" ; rml:reference "$.tags[*]" ] ,
  [ rml:fieldName "item" ; rml:iterator "$.items[*]" ; rml:field [ rml:fieldName "t" ; rml:reference "$.t" ] ] ;
  rml:leftJoin [ rml:parentLogicalView <#other> ; rml:joinCondition [ rml:child "id" ; rml:parent "id" ] ; rml:field [ rml:fieldName "v" ; rml:reference "id" ] ] .
<#other> rml:viewOn <#source> ; rml:field [ rml:fieldName "id" ; rml:reference "$.id" ] .
<#source> rml:source [ a rml:RelativePathSource ; rml:path "p.json" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" .\n`,
    of('Plain', 'id', 'id'),
    of('Tagged', 'id', 'tag'),
    of('Item', 'id', 'item.t'),
    of('Joined', 'id', 'v'),
  );
  const pipelines = scans.flatMap(({ iterations }) => iterations.flatMap((iteration) => iteration.pipelines));
  const steps = pipelines.flatMap((pipeline) => pipeline.maps.map((one) => [one.map.name, ...pipeline.steps.map(({ kind }) => kind)]));
  expect(steps.toSorted()).toEqual([['Item', 'unnest'], ['Joined', 'extend', 'join'], ['Plain'], ['Tagged', 'unnest']]);
});
