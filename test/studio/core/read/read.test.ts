/** Text → document: what is drawn, what stays text and why, and texts with errors. */
import { describe, expect } from '@jest/globals';
import { findingsIn } from '../../../../studio/core/commands/invariants.ts';
import type { Edge, Entity } from '../../../../studio/core/document.ts';
import { recordOf, recordsOf } from '../../../../studio/core/elements/records.ts';
import { print } from '../../../../studio/core/print/print.ts';
import { read } from '../../../../studio/core/read/read.ts';
import { share, sharedTest, test } from '../../../support/jest/extent.ts';
import { Random, soakSeeds } from '../../../support/random.ts';
import { reads, ref } from '../support/model.ts';
import { randomDocument } from '../support/random-document.ts';

const RML = `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <http://example.org/> .

# an order
<#Order> rml:logicalSource <#orders> ;
  rml:subjectMap [ rml:template "http://example.org/order/{$.id}" ; rml:class ex:Order ] ;
  rml:predicateObjectMap [ rml:predicate ex:total ; rml:objectMap [ rml:reference "$.total" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:line ; rml:objectMap [ rml:template "http://example.org/line/{$.lines[*].sku}" ] ] ;
  rml:predicateObjectMap [ rml:predicateMap [ rml:reference "$.kind" ] ; rml:object "x" ] ;
  rml:predicateObjectMap [ rml:predicate ex:pair ; rml:objectMap [ rml:template "{$.lines[*].sku}-{$.lines[*].qty}" ] ] .

<#orders> rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "orders.json" ] ;
  rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" .

<#More> rml:logicalSource <#orders> ;
  rml:subjectMap [ rml:template "http://example.org/order/{$['id']}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:last ; rml:objectMap [ rml:reference "$.lines[-1].sku" ] ] .

<#Line> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "orders.json" ] ;
    rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*].lines[*]" ] ;
  rml:subjectMap [ rml:template "http://example.org/line/{$.sku}" ] .
`;

describe('a mapping of today', () => {
  test('is drawn: parts of one entity, an edge down, written paths', async () => {
    const { document, diagnostics } = await read(RML, undefined);
    expect(diagnostics).toEqual([]);
    expect(document.language).toBe('rml');
    expect(findingsIn(document)).toEqual([]);
    expect(recordsOf(document, 'input').map(({ name, format }) => [name, format])).toEqual([['orders.json', 'json']]);
    const [orders] = recordsOf(document, 'input');
    const entities = recordsOf(document, 'entity');
    expect(entities.map(({ name, parts }) => [name, parts])).toEqual([
      ['Order', ['#Order', '#More']],
      ['Line', ['#Line']],
    ]);
    const [order, line] = entities as [Entity, Entity];
    expect(order.classes).toEqual(['http://example.org/Order']);
    const of = `${orders?.id}:`;
    expect(order.identifier).toEqual({ kind: 'template', parts: ['http://example.org/order/', ref(`${of}[*].id`)] });
    const edges = recordsOf(document, 'edge');
    expect(edges.map(({ predicates, form, part }) => [predicates, form, part])).toEqual([
      [['http://example.org/total'], 'same', '#Order'],
      [['http://example.org/line'], 'down', '#Order'],
      [['http://example.org/last'], 'same', '#More'],
    ]);
    const [total, toLine, last] = edges as [Edge, Edge, Edge];
    expect(recordOf(document, 'attribute', total.to)?.value).toEqual(reads(`${of}[*].total`));
    expect(toLine.to).toBe(line.id);
    expect(recordOf(document, 'attribute', last.to)?.value).toEqual({ kind: 'written', text: '$.lines[-1].sku' });
  });

  test('is drawn with CSV without quotes, and printed so', async () => {
    const text = RML.replace(
      /<#orders> rml:source \[.*?\] ;\n.*?\./s,
      '<#orders> rml:source [ a csvw:Table ; csvw:url "orders.csv" ; csvw:dialect [ csvw:quoteChar "" ] ] ; rml:referenceFormulation rml:CSV .',
    )
      .replaceAll('$.', '')
      .replace('# an order', '@prefix csvw: <http://www.w3.org/ns/csvw#> .')
      .replace(/<#Line>.*/s, '');
    const { document } = await read(text, undefined);
    expect(recordsOf(document, 'input').map(({ format, dialect }) => [format, dialect])).toEqual([['csv', { quote: '' }]]);
    expect((await print(document, 'rml')).text).toContain('csvw:quoteChar ""');
  });

  test('keeps what is not drawn as text, at the block that it belongs to', async () => {
    const { document } = await read(RML, 'rml');
    const [order] = recordsOf(document, 'entity');
    expect(recordsOf(document, 'text').map(({ of, reason, anchor }) => [of, reason, RML.slice(anchor.from, anchor.to)])).toEqual([
      [order?.id, 'Kept as text: a predicate that is not constant', '[ rml:predicateMap [ rml:reference "$.kind" ] ; rml:object "x" ]'],
      [
        order?.id,
        'Kept as text: several paths through lists, of which every combination is meant',
        '[ rml:predicate ex:pair ; rml:objectMap [ rml:template "{$.lines[*].sku}-{$.lines[*].qty}" ] ]',
      ],
    ]);
  });

  test('gives each element its range', async () => {
    const { document } = await read(RML, 'rml');
    const [order] = recordsOf(document, 'entity');
    const [total] = recordsOf(document, 'edge');
    const textOf = (id = ''): readonly string[] => (document.text.anchors.get(id) ?? []).map(({ from, to }) => RML.slice(from, to));
    expect(textOf(order?.id)[0]).toMatch(/^<#Order> rml:logicalSource[^]*\] \.$/);
    expect(textOf(total?.id)).toEqual(['[ rml:predicate ex:total ; rml:objectMap [ rml:reference "$.total" ] ]']);
    expect(textOf(total?.to)).toEqual(['[ rml:reference "$.total" ]']);
  });
});

test('YARRRML is found, and gives ranges', async () => {
  const text = `prefixes:
  ex: http://example.org/
mappings:
  person:
    sources: [['people.csv~csv']]
    s: ex:$(id)
    po:
      - [a, ex:Person]
      - [ex:name, $(name), en~lang]
`;
  const { document, diagnostics } = await read(text, undefined);
  expect(diagnostics).toEqual([]);
  expect(document.language).toBe('yarrrml');
  const [person] = recordsOf(document, 'entity');
  expect(person).toMatchObject({ name: 'person', parts: ['person'], classes: ['http://example.org/Person'] });
  const [name] = recordsOf(document, 'attribute');
  expect(name).toMatchObject({ language: 'en', termType: 'literal' });
  const [edge] = recordsOf(document, 'edge');
  expect((document.text.anchors.get(edge?.id ?? '') ?? []).map(({ from, to }) => text.slice(from, to))).toEqual([
    '[ex:name, $(name), en~lang]',
  ]);
});

describe('a text in which a person types (P11)', () => {
  sharedTest.each(share(10, soakSeeds(1, 200)))('gives diagnostics or a sound document, and no error is thrown: seed %i', async (seed) => {
    const random = new Random(seed);
    const language = random.pick(['rml', 'legacy', 'r2rml', 'yarrrml'] as const);
    const { text = '' } = await print(randomDocument(random, language), language);
    for (let i = 0; i < 12; i++) {
      const from = random.between(0, text.length);
      const to = Math.min(text.length, from + random.between(0, 12));
      const typed = random.chance(0.4)
        ? text.slice(0, from)
        : text.slice(0, from) + random.pick(['', '[', '"', '{', ']', ' ;', '<', ':', '\n']) + text.slice(to);
      const { document, diagnostics } = await read(typed, random.chance(0.5) ? language : undefined);
      expect(document.text.text).toBe(typed);
      expect(findingsIn(document).filter(({ severity }) => severity === 'error')).toEqual([]);
      for (const { origin } of diagnostics) expect(origin.line).toBeGreaterThan(0);
    }
  });
});
