/** Statements of previews as Turtle and as a graph. */
import { expect, test } from '@jest/globals';
import { Parser, type Quad, Writer } from 'n3';
import type { StudioPreviewStatement } from '../../../client/types.ts';
import { prefixesOf, termsOf } from '../../../studio/ui/parts/statements/terms.ts';
import { graphOf, MAX_NODES } from '../../../studio/ui/preview/graph.ts';
import { turtleOf } from '../../../studio/ui/preview/turtle.ts';
import { model } from '../core/support/model.ts';

const document = model([
  { kind: 'prefix', id: 'p', name: 'ex', iri: 'http://e/' },
  { kind: 'prefix', id: 'q', name: 'deep', iri: 'http://e/deep/' },
  { kind: 'prefix', id: 'r', name: 'unused', iri: 'http://u/' },
  { kind: 'prefix', id: 's', name: 'xsd', iri: 'http://www.w3.org/2001/XMLSchema#' },
]);
const XSD = 'http://www.w3.org/2001/XMLSchema#';
const RDF_TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>';

const statements = (...texts: readonly string[]): readonly StudioPreviewStatement[] => texts.map((text) => ({ text, by: [] }));
const textOf = (...texts: readonly string[]): string =>
  turtleOf(statements(...texts), prefixesOf(document))
    .map(({ text }) => text)
    .join('\n');

test('subjects and predicates once, names of prefixes, one statement on a line', () => {
  expect(
    textOf(
      `<http://e/1> ${RDF_TYPE} <http://e/deep/C> .`,
      `<http://e/1> <http://e/n> "12.50"^^<${XSD}decimal> .`,
      '<http://e/2> <http://e/n> "b"@en .',
      '<http://e/1> <http://e/to> <http://e/2> .',
      '<http://e/1> <http://e/n> "a" .',
    ),
  ).toBe(`PREFIX ex: <http://e/>
PREFIX deep: <http://e/deep/>
ex:1
  a deep:C ;
  ex:n 12.50 ,
    "a" ;
  ex:to ex:2 .
ex:2
  ex:n "b"@en .`);
});

test('usual prefixes are used where the model has none, as on the canvas', () => {
  const lines = turtleOf(
    statements(`<http://e/1> ${RDF_TYPE} <http://xmlns.com/foaf/0.1/Person> .`, `<http://e/1> <http://e/on> "2026-01-01"^^<${XSD}date> .`),
    prefixesOf(model([])),
  );
  expect(lines.map(({ text }) => text)).toEqual(
    expect.arrayContaining([`PREFIX xsd: <${XSD}>`, '  a foaf:Person ;', '  <http://e/on> "2026-01-01"^^xsd:date .']),
  );
});

test.each([
  ['IRIs below the base', '<https://example.org/a/b-1> <https://example.org/p> <https://example.org/> .'],
  ['an IRI that is no name', '<http://e/a/b> <http://e/p> <http://e/x%20y> .'],
  ['what a name may not end with', '<http://e/a.> <http://e/p> <http://e/> .'],
  ['rdf:type as an object', `<http://e/a> <http://e/p> ${RDF_TYPE} .`],
  ['blank nodes', '_:b1 <http://e/p> _:b2 .'],
  ['signs within a literal', '<http://e/a> <http://e/p> "<http://e/x> \\"q\\" \\\\ . _:b << >>" .'],
  ['a lexical form that Turtle does not write short', `<http://e/a> <http://e/p> "1."^^<${XSD}decimal> .`],
  [
    'integers, doubles and booleans',
    `<http://e/a> <http://e/p> "-01"^^<${XSD}integer> .`,
    `<http://e/a> <http://e/p> "1e3"^^<${XSD}double> .`,
    `<http://e/a> <http://e/p> "true"^^<${XSD}boolean> .`,
    `<http://e/a> <http://e/p> "1"^^<${XSD}boolean> .`,
  ],
  ['another datatype', `<http://e/a> <http://e/p> "2026-01-01"^^<${XSD}date> .`],
  ['a name within a datatype', '<http://e/a> <http://e/p> "x"^^<http://e/deep/t> .'],
  [
    'named graphs',
    '<http://e/a> <http://e/p> "x" <http://e/g> .',
    '<http://e/a> <http://e/p> "y" .',
    '<http://e/a> <http://e/p> "z" <http://e/g> .',
  ],
  ['quoted triples', '<< <http://e/a> <http://e/p> "x >> y" >> <http://e/q> << << <http://e/a> <http://e/p> "z" >> <http://e/p> _:b >> .'],
])('%s: the text says the same statements', (_, ...texts) => {
  const parsed = (text: string): readonly Quad[] => new Parser({ format: 'TriG-star' }).parse(text);
  // A parser labels reifiers and blank nodes by its own count.
  const labelled = (lines: readonly string[]): readonly string[] => {
    const labels = new Map<string, string>();
    return lines.map((line) =>
      line.replace(/_:\S+/g, (label) => {
        const known = labels.get(label) ?? `_:${labels.size}`;
        labels.set(label, known);
        return known;
      }),
    );
  };
  const canonical = (quads: readonly Quad[]): readonly string[] =>
    [...labelled(quads.map((quad) => new Writer({ format: 'N-Quads' }).quadsToString([quad])))].sort();
  expect(canonical(parsed(textOf(...texts)))).toEqual(
    canonical(parsed(texts.map((text) => text.replace(/^(.*?) (<http:\/\/e\/g>) \.$/, '$2 { $1 }')).join('\n'))),
  );
});

test('IRIs below the base of the model are relative where no prefix fits', () => {
  expect(
    textOf(
      '<https://example.org/order/1> <https://example.org/contains> <https://example.org/line/A%201> .',
      '<https://example.org/order/1> <http://e/n> <https://example.org/../x> .',
    ),
  ).toBe(`BASE <https://example.org/>
PREFIX ex: <http://e/>
<order/1>
  <contains> <https://example.org/line/A%201> ;
  ex:n <https://example.org/../x> .`);
});

test('each line of a statement leads to it', () => {
  const all = statements('<http://e/1> <http://e/p> "a" .', '<http://e/1> <http://e/p> "b" <http://e/g> .');
  const lines = turtleOf(all, prefixesOf(document));
  expect(lines.flatMap(({ statement }) => statement ?? [])).toEqual(all);
});

test('the terms of a quoted triple are one term', () => {
  expect(termsOf('<< <a:s> <a:p> "x" >> <a:q> <<( <a:s> <a:p> <<( _:b <a:p> "y"@en )>> )>> <a:g> .')).toEqual({
    subject: '<< <a:s> <a:p> "x" >>',
    predicate: '<a:q>',
    object: '<<( <a:s> <a:p> <<( _:b <a:p> "y"@en )>> )>>',
    graph: '<a:g>',
  });
});

test('a graph has classes and literals within its nodes', () => {
  const all = statements(
    `<http://e/1> ${RDF_TYPE} <http://e/C> .`,
    ...['a', 'b', 'c', 'd'].map((value) => `<http://e/1> <http://e/n> "${value}" .`),
    '<http://e/1> <http://e/to> _:b .',
    '<http://e/1> <http://e/to> <http://e/1> .',
  );
  const { nodes, links, more } = graphOf(all, prefixesOf(document).compact);
  expect(nodes).toEqual([
    { id: '<http://e/1>', label: 'ex:1', classes: ['ex:C'], values: ['ex:n "a"', 'ex:n "b"', 'ex:n "c"'], moreValues: 1, statements: all },
    { id: '_:b', label: '_:b', classes: [], values: [], moreValues: 0, statements: [all[5]] },
  ]);
  expect(links.map(({ from, to, label }) => [from, to, label])).toEqual([
    ['<http://e/1>', '_:b', 'ex:to'],
    ['<http://e/1>', '<http://e/1>', 'ex:to'],
  ]);
  expect(more).toBe(0);
});

test('what is beyond the nodes that are drawn is counted', () => {
  const all = statements(...Array.from({ length: MAX_NODES + 5 }, (_, i) => `<http://e/${i}> <http://e/next> <http://e/${i + 1}> .`));
  const { nodes, links, more } = graphOf(all, prefixesOf(document).compact);
  expect([nodes.length, links.length, more]).toEqual([MAX_NODES, MAX_NODES - 1, 6]);
});
