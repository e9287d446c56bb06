import { describe, expect, test } from '@jest/globals';
import { isYarrrml, parseDocuments } from '../../../src/mapping/parse/document.ts';

const parse = (text: string) => parseDocuments([{ name: 'a.ttl', text }], { baseIri: 'http://base/dir/' });

/** `subject property object @line:column` of every statement. */
const statements = (text: string) =>
  [...parse(text).graph.values()].flatMap((node) =>
    node.statements.map(({ property, object, origin }) => `${node.id} ${property} ${object.value} @${origin.line}:${origin.column}`),
  );

describe('a statement stands where its object stands', () => {
  test.each([
    ['an IRI', '<s> <p>\n  <o> .', ['http://base/dir/s http://base/dir/p http://base/dir/o @2:3']],
    ['a text with a language', '<s> <p> "o"@en .', ['http://base/dir/s http://base/dir/p o @1:9']],
    [
      'a text with a datatype',
      '<s> <p> "o"^^<d>, 5 .',
      ['http://base/dir/s http://base/dir/p o @1:9', 'http://base/dir/s http://base/dir/p 5 @1:19'],
    ],
    [
      'a text over lines',
      '<s> <p> """a\nb""", <o> .',
      ['http://base/dir/s http://base/dir/p a\nb @1:9', 'http://base/dir/s http://base/dir/p http://base/dir/o @2:7'],
    ],
    ['a bracket', '<s> <p> [\n <q> 1 ] .', ['http://base/dir/s http://base/dir/p d0b0 @1:9', '_:d0b0 http://base/dir/q 1 @2:6']],
    ['a byte order mark before it', '\ufeff<s> <p> <o> .', ['http://base/dir/s http://base/dir/p http://base/dir/o @1:9']],
    ['Windows line ends', '<s>\r\n<p>\r\n<o> .', ['http://base/dir/s http://base/dir/p http://base/dir/o @3:1']],
    [
      'the empty list: at the property',
      '<s>\n <p> () .',
      ['http://base/dir/s http://base/dir/p http://www.w3.org/1999/02/22-rdf-syntax-ns#nil @2:2'],
    ],
  ])('%s', (_, text, expected) => {
    expect(statements(text).sort()).toEqual([...expected].sort());
  });

  test('also after a comment and a declaration', () => {
    expect(statements('@base <http://other/> . # <x>\n# more\n<s> <p> <o> .')).toEqual([
      'http://other/s http://other/p http://other/o @3:9',
    ]);
  });
});

test('a statement about a triple term is left out, whatever stands beside it is read', () => {
  expect(statements('<< <a> <b> <c> >> <d> <e> . <s> <p> <<( <a> <b> <c> )>>, <o> .')).toEqual([
    expect.stringMatching(/^_:d0b0 http:\/\/base\/dir\/d /),
    'http://base/dir/s http://base/dir/p http://base/dir/o @1:58',
  ]);
});

test('a repeated statement counts once', () => {
  expect(statements('<s> <p> "o", "o" . <s> <p> "o" .')).toHaveLength(1);
});

test('blank nodes of two documents stay apart, nodes with an IRI become one, and labels are the same in every reading', () => {
  const documents = [
    { name: 'a.ttl', text: '_:x <p> <s> . <s> <p> 1 .' },
    { name: 'b.ttl', text: '_:x <p> <s> . <s> <p> 2 .' },
  ];
  const read = () => parseDocuments(documents, { baseIri: 'http://base/' }).graph;
  expect([...read().keys()]).toEqual(['_:d0b0', 'http://base/s', '_:d1b0']);
  expect(
    read()
      .get('http://base/s')
      ?.statements.map(({ object, origin }) => [object.value, origin.document]),
  ).toEqual([
    ['1', 'a.ttl'],
    ['2', 'b.ttl'],
  ]);
});

describe('two documents that use the same names', () => {
  const RR = '@prefix rr: <http://www.w3.org/ns/r2rml#> .';
  /** As tools number the nodes of a mapping. */
  const numbered = (table: string): string =>
    `${RR} <#Map> rr:logicalTable [ rr:tableName "${table}" ] ; rr:subjectMap <#s_0> ; rr:predicateObjectMap <#pom_0> .
     <#s_0> rr:template "http://e/${table}/{id}" ; rr:class <#Map> . <#pom_0> rr:predicate <#pom_0> ; rr:objectMap <#om_0> . <#om_0> rr:parentTriplesMap <#Map> .`;
  const parse = (...texts: readonly string[]) =>
    parseDocuments(
      texts.map((text, i) => ({ name: `${i}.ttl`, text })),
      { baseIri: 'http://e/', separate: true },
    ).graph;
  const ids = (graph: ReturnType<typeof parse>): string[] => [...graph.keys()].filter((id) => !id.startsWith('_:')).sort();

  test('for different things are two mappings, and each refers to its own', () => {
    const graph = parse(numbered('a'), numbered('b'));
    expect(ids(graph)).toEqual(['Map', 'om_0', 'pom_0', 's_0'].flatMap((name) => [`http://e/#${name}~1`, `http://e/#${name}~2`]));
    for (const n of [1, 2]) {
      const objects = (name: string) => graph.get(`http://e/#${name}~${n}`)?.statements.map(({ object }) => object.value);
      expect(objects('Map')?.slice(1)).toEqual([`http://e/#s_0~${n}`, `http://e/#pom_0~${n}`]);
      // Terms of the data are not names of nodes.
      expect(objects('s_0')?.[1]).toBe('http://e/#Map');
      expect(objects('pom_0')).toEqual(['http://e/#pom_0', `http://e/#om_0~${n}`]);
      expect(objects('om_0')).toEqual([`http://e/#Map~${n}`]);
    }
  });

  test('and complete each other are one mapping', () => {
    const more = `${RR} <#Map> rr:predicateObjectMap [ rr:predicate <http://e/p> ; rr:object 1 ] . <#s_0> rr:class <http://e/C> .`;
    expect(ids(parse(numbered('a'), more))).toEqual(['Map', 'om_0', 'pom_0', 's_0'].map((name) => `http://e/#${name}`));
  });

  const map = (predicate: string): string =>
    `${RR} <#Map> rr:logicalTable [ rr:tableName "a" ] ; rr:predicateObjectMap [ rr:predicate <http://e/${predicate}> ] .`;
  const sourcesOf = (graph: ReturnType<typeof parse>) =>
    graph.get('http://e/#Map')?.statements.filter(({ property }) => property.endsWith('logicalTable')).length;

  test('and describe a source alike are one mapping, which has the source once', () => {
    const graph = parse(map('p'), map('q'));
    expect(ids(graph)).toEqual(['http://e/#Map']);
    expect(sourcesOf(graph)).toBe(1);
  });

  test('for sources of two folders, whose relative paths differ, have both', () => {
    const documents = ['a/map.ttl', 'b/map.ttl'].map((name) => ({ name, text: map('p') }));
    expect(sourcesOf(parseDocuments(documents, { baseIri: 'http://e/' }).graph)).toBe(2);
    expect(ids(parseDocuments(documents, { baseIri: 'http://e/', separate: true }).graph)).toEqual(['http://e/#Map~1', 'http://e/#Map~2']);
  });

  test('for a source that is described by a circle keep it', () => {
    const circle = `${RR} <#Map> rr:logicalTable _:t . _:t rr:tableName "a" ; <http://e/next> _:t .`;
    expect(
      sourcesOf(
        parseDocuments(
          [0, 1].map((i) => ({ name: `${i}.ttl`, text: circle })),
          { baseIri: 'http://e/' },
        ).graph,
      ),
    ).toBe(2);
  });
});

const CODES =
  'four hexadecimal digits follow \\u, eight follow \\U, and halves of surrogate pairs are no characters; write a backslash itself as \\\\';

describe('a document that is not Turtle says where, what was found and what was expected', () => {
  test.each([
    ['<x> <p> "a"\n  <q> "b" .', '2:3 found `<q>`, expected `;`, `,`, `.` or `]`', 'the statement before it may lack its `;`'],
    ['<x> rml:p 1 .', '1:5 the prefix rml: is not declared', 'add @prefix rml: <http://w3id.org/rml/> .'],
    ['@prefix rml: <http://r/> .\n<x> rm:p 1 .', '2:5 the prefix rm: is not declared', 'did you mean rml:?'],
    ['<x> constructor:p 1 .', '1:5 the prefix constructor: is not declared', undefined],
    ['<x> <p> "a\\q" .', '1:9 a text holds \\q, which is no escape of Turtle', 'write a backslash itself as \\\\'],
    ['<x> <p> "\\\\q\\ud83d" .', '1:9 a text holds \\ud83d, which is no escape of Turtle', CODES],
    ['<x> <p> "\\U0000DC00" .', '1:9 a text holds \\U0000DC00, which is no escape of Turtle', CODES],
    ['<x> <p> "\\u12" .', '1:9 a text holds \\u12, which is no escape of Turtle', CODES],
    ['<x> <p> "a .\n<y> <p> 1 .', '1:9 a text does not end on its line', 'close it with ", or use """ for several lines'],
    ['<x> <p> [\n <q> 1 .', '2:8 found `.`, expected `;`, `,`, `.` or `]`', 'the `[` of line 1 is not closed'],
    ['<x> <p> [\n <q> "]" # ]', '2:13 found the end of the document, expected `;`, `,`, `.` or `]`', 'the `[` of line 1 is not closed'],
    ['<x> <p> 1', '1:10 found the end of the document, expected `;`, `,`, `.` or `]`', 'the last statement lacks its `.`'],
    ['<x> <p> # why\n <a b> .', '2:2 found "<a", which is not an IRI', 'an IRI has no spaces and ends with >'],
    ['<x> <p> .', '1:9 found `.`, expected an IRI, a prefixed name or a blank node', undefined],
    ['@prefix e: <http://e/>\n<x> e:p 1 .', '2:1 found `<x>`, expected `.` after the declaration', undefined],
    ['{"json": true}', '1:1 found `{`, expected a statement; Turtle has no graphs in braces', undefined],
    ['hello', '1:1 found "hello", which is not Turtle', undefined],
  ])('%p', (text, expected, hint) => {
    const { graph, findings } = parse(text);
    expect(findings.map(({ origin, message }) => `${origin.line}:${origin.column} ${message}`)).toEqual([expected]);
    expect(findings[0]?.hint).toBe(hint);
    expect(graph.size).toBe(0);
  });

  test('and the other documents are still read', () => {
    const { graph, findings } = parseDocuments(
      [
        { name: 'bad.ttl', text: '<x' },
        { name: 'good.ttl', text: '<x> <p> 1 .' },
      ],
      { baseIri: 'http://base/' },
    );
    expect([findings.map(({ origin }) => origin.document), graph.size]).toEqual([['bad.ttl'], 1]);
  });
});

test.each([
  ['people.yml', true],
  ['people.YAML', true],
  ['https://example.org/people.yml?version=2', true],
  ['people.yml.ttl', false],
  ['people.ttl', false],
])('the name %s shows whether it is YARRRML: %s', (name, expected) => {
  expect(isYarrrml({ name })).toBe(expected);
});
