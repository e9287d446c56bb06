/** Comments at the ends of lines are kept by conversions, and a `#` that begins no comment is left alone. */
import { describe, expect, test } from '@jest/globals';
import { convertMapping, type Language } from '../../../../src/mapping/convert/convert.ts';

const converted = async (name: string, text: string, to: Language): Promise<string> => {
  const { text: now, diagnostics } = await convertMapping([{ name, text }], to, { baseIri: 'http://b/' });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return now ?? '';
};

/** The comments of a text that has no `#` elsewhere. */
const commentsOf = (text: string): readonly string[] => text.split('\n').flatMap((line) => /(?:^|\s)(#.*)$/.exec(line)?.[1] ?? []);

const TURTLE = `@prefix rml: <http://w3id.org/rml/> . # the vocabulary
@prefix ex: <http://x/> .

# each row
ex:Person a rml:TriplesMap ; # a person
  rml:logicalSource [ # where from
    rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "a.csv" ] ; # the file
    rml:referenceFormulation rml:CSV
  ] ;
  rml:subjectMap [ rml:template "http://x/{id}" ] ; # who
  # names
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] ; # of people
  rml:predicateObjectMap [ rml:predicate ex:age ; rml:objectMap [ rml:reference "age" ] ] . # the end
`;

describe('comments at the ends of lines', () => {
  test('of Turtle stand above what they belong to', async () => {
    expect(await converted('a.ttl', TURTLE, 'rml')).toBe(`# the vocabulary
@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <http://x/> .

# each row
# a person
ex:Person a rml:TriplesMap ;
  # where from
  rml:logicalSource [
    # the file
    rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "a.csv" ] ;
    rml:referenceFormulation rml:CSV
  ] ;
  # who
  rml:subjectMap [ rml:template "http://x/{id}" ] ;
  # names
  # of people
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] ;
  # the end
  rml:predicateObjectMap [ rml:predicate ex:age ; rml:objectMap [ rml:reference "age" ] ] .
`);
  });

  test.each(['rml', 'legacy', 'r2rml', 'yarrrml'] as const)('are all there once in %s', async (to) => {
    const tables = TURTLE.replace(
      /rml:source \[.*\] ; # the file\n\s*rml:referenceFormulation rml:CSV/,
      'rml:iterator "people" ; # the file\n rml:referenceFormulation rml:SQL2008Table',
    );
    const text = await converted('a.ttl', to === 'r2rml' ? tables : TURTLE, to);
    expect([...commentsOf(text)].sort()).toEqual([...commentsOf(TURTLE)].sort());
  });

  test('of YARRRML too', async () => {
    const text = `prefixes: # short names
  ex: http://x/
mappings: # what is made
  person: # a person
    sources: [[a.csv~csv]] # the file
    s: http://x/$(id) # who
    po:
      - [ex:name, $(name)] # of people
      - p: ex:age # years
        o: "$(age)" # a number
`;
    expect(await converted('a.yml', text, 'yarrrml')).toBe(`# short names
# what is made

prefixes:
  ex: http://x/
mappings:
  # a person
  # the file
  # who
  person:
    sources: [[a.csv~csv]]
    s: ex:$(id)
    po:
      # of people
      - [ex:name, $(name)]
      # years
      # a number
      - [ex:age, $(age)]
`);
  });

  test('of lists stand above the list', async () => {
    const text = `@prefix rml: <http://w3id.org/rml/> .
<http://x/a> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "a.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://x/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate <http://x/all> ; rml:objectMap [
    rml:gatherAs <http://www.w3.org/1999/02/22-rdf-syntax-ns#List> ;
    rml:gather (
      [ rml:reference "one" ] # the first
      [ rml:reference "two" ] # the second
    )
  ] ] .
`;
    const now = await converted('a.ttl', text, 'rml');
    expect(now).toMatch(/# the first\n\s*# the second\n\s*rml:gather \( \[ rml:reference "one" \] \[ rml:reference "two" \] \)/);
  });
});

/** Each has one comment, `#!`, at the end of its last line. */
const OBJECTS: readonly (readonly [string, string])[] = [
  ['a string', '"a # b"'],
  ['a string in single quotes', "'a # b'"],
  ['a string with escaped quotes', '"a \\" # b"'],
  ['a string in single quotes with escaped quotes', "'a \\' # b'"],
  ['a string that ends with a backslash', '"a # \\\\"'],
  ['a long string', '"""a # b\n# c"""'],
  ['a long string in single quotes', "'''a # b\n# c'''"],
  ['a long string with quotes', '"""a "# b" ""# c\n# d \\""""'],
  ['a long string in single quotes with quotes', "'''a '# b' ''# c\n# d \\''''"],
  ['an empty string', '""'],
  ['an empty long string', '""""""'],
  ['a string with a language', '"a # b"@en'],
  ['a string with a datatype', '"a # b"^^<http://x/#type>'],
  ['an IRI', '<http://x/#b>'],
  ['an IRI with an escape', '<http://x/\\u0061#b>'],
  ['a name with an escaped character', 'ex:a\\#b'],
  ['a number', '12'],
];

describe('a # that begins no comment', () => {
  test.each(OBJECTS)('in %s', async (_, object) => {
    const map = (value: string, comment: string) => `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://x/> .
ex:a rml:logicalSource [ rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "a.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://x/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:p ; rml:object ${value} ] . ${comment}
`;
    const bare = await converted('a.ttl', map(object, ''), 'rml');
    expect(await converted('a.ttl', map(object, '#!'), 'rml')).toBe(
      bare.replace('  rml:predicateObjectMap', '  #!\n  rml:predicateObjectMap'),
    );
  });

  test.each([
    ['a plain text', 'a#b'],
    ['a text in quotes', '"a # b"'],
    ['a text in single quotes', "'a # ''# b'"],
    ['a text with escaped quotes', '"a \\" # b"'],
    ['a text of several lines', '"a\n          # b"'],
  ])('in %s of YARRRML', async (_, object) => {
    const map = (comment: string) => `mappings:
  m:
    sources: [[a.csv~csv]]
    s: http://x/$(id)
    po:
      - p: http://x/p
        o: ${object} ${comment}
`;
    const bare = await converted('a.yml', map(''), 'yarrrml');
    expect(await converted('a.yml', map('#!'), 'yarrrml')).toBe(bare.replace('      - [', '      #!\n      - ['));
  });

  test('in a block of YARRRML', async () => {
    const text = `mappings:
  m:
    sources: [[a.csv~csv]]
    s: http://x/$(id)
    po:
      - p: http://x/p # the name
        o: | # in lines
          a
          # b
`;
    const now = await converted('a.yml', text, 'yarrrml');
    expect(now).toContain('      # the name\n      # in lines\n      - [http://x/p, "a\\n# b');
  });
});
