import { describe, expect, test } from '@jest/globals';
import { formatDiagnostic } from '../../../src/mapping/model/diagnostics.ts';
import { readMapping } from '../../../src/mapping/parse/read.ts';

const HEAD = `@prefix rml: <http://w3id.org/rml/> . @prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix old: <http://semweb.mmlab.be/ns/rml#> . @prefix ql: <http://semweb.mmlab.be/ns/ql#> . @prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> . @prefix e: <http://e/> .
`;

/** Everything that is said of a mapping whose first line is the second of the document. */
async function check(text: string): Promise<readonly string[]> {
  const { diagnostics } = await readMapping([{ name: 'm.ttl', text: HEAD + text }], { baseIri: 'http://b/' });
  return diagnostics.map(formatDiagnostic);
}

const source = (formulation: string, iterator: string): string =>
  `rml:logicalSource [ rml:source [ a rml:FilePath ; rml:path "in" ] ; rml:referenceFormulation rml:${formulation} ; rml:iterator ${JSON.stringify(iterator)} ]`;
const JSON_SOURCE = source('JSONPath', '$.a[*]');
const XML_SOURCE = source('XPath', '/a/b');

/** Where expressions stand, with `X` in their place: everything that a reader of the mapping would call a path. */
const PLACES: readonly (readonly [place: string, json: string])[] = [
  ['a subject template', '<#m> SOURCE ; rml:subjectMap [ rml:template "http://e/{X}" ] .'],
  [
    'a predicate',
    '<#m> SOURCE ; rml:subject e:s ; rml:predicateObjectMap [ rml:predicateMap [ rml:template "http://e/{X}" ] ; rml:object 1 ] .',
  ],
  ['an object', '<#m> SOURCE ; rml:subject e:s ; rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ rml:reference "X" ] ] .'],
  ['a graph', '<#m> SOURCE ; rml:subjectMap [ rml:constant e:s ; rml:graphMap [ rml:reference "X" ] ; rml:class e:C ] .'],
  [
    'a language',
    '<#m> SOURCE ; rml:subject e:s ; rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ rml:constant "x" ; rml:languageMap [ rml:reference "X" ] ] ] .',
  ],
  [
    'a datatype',
    '<#m> SOURCE ; rml:subject e:s ; rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ rml:constant "x" ; rml:datatypeMap [ rml:template "http://e/{X}" ] ] ] .',
  ],
  [
    'a condition',
    '<#m> SOURCE ; rml:subject e:s ; rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ rml:constant "x" ; rml:condition [ rml:reference "X" ] ] ] .',
  ],
  [
    'an argument of a function',
    '<#m> SOURCE ; rml:subject e:s ; rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ rml:functionExecution [ rml:function grel:toUpperCase ; rml:input [ rml:parameter grel:valueParameter ; rml:inputValueMap [ rml:reference "X" ] ] ] ] ] .',
  ],
  [
    'the child of a join',
    '<#m> SOURCE ; rml:subject e:s ; rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ rml:parentTriplesMap <#n> ; rml:joinCondition [ rml:child "X" ; rml:parent "id" ] ] ] . <#n> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:path "n.csv" ] ; rml:referenceFormulation rml:CSV ] ; rml:subject e:n .',
  ],
  [
    'the parent of a join',
    '<#n> SOURCE ; rml:subject e:n . <#m> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:path "n.csv" ] ; rml:referenceFormulation rml:CSV ] ; rml:subject e:s ; rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ rml:parentTriplesMap <#n> ; rml:joinCondition [ rml:child "id" ; rml:parent "X" ] ] ] .',
  ],
  [
    'a field of a view',
    '<#m> rml:logicalSource <#v> ; rml:subjectMap [ rml:template "http://e/{f}" ] . <#v> rml:viewOn [ INNER ] ; rml:field [ rml:fieldName "f" ; rml:reference "X" ] .',
  ],
  [
    'a field that is not read',
    '<#m> rml:logicalSource <#v> ; rml:subject e:s . <#v> rml:viewOn [ INNER ] ; rml:field [ rml:fieldName "f" ; rml:reference "X" ] .',
  ],
  [
    'the iterator of a field',
    '<#m> rml:logicalSource <#v> ; rml:subject e:s . <#v> rml:viewOn [ INNER ] ; rml:field [ a rml:IterableField ; rml:fieldName "f" ; rml:iterator "X" ] .',
  ],
  [
    'a field of items',
    '<#m> rml:logicalSource <#v> ; rml:subject e:s . <#v> rml:viewOn [ INNER ] ; rml:field [ a rml:IterableField ; rml:fieldName "f" ; rml:iterator "GOOD" ; rml:field [ rml:fieldName "g" ; rml:reference "X" ] ] .',
  ],
  [
    'a view that is joined',
    '<#m> rml:logicalSource <#v> ; rml:subject e:s . <#v> rml:viewOn [ INNER ] ; rml:field [ rml:fieldName "f" ; rml:reference "GOOD" ] ; rml:leftJoin [ rml:parentLogicalView <#w> ; rml:joinCondition [ rml:child "f" ; rml:parent "g" ] ; rml:field [ rml:fieldName "h" ; rml:reference "g" ] ] . <#w> rml:viewOn [ INNER ] ; rml:field [ rml:fieldName "g" ; rml:reference "X" ] .',
  ],
];

const within = (text: string, outer: string, good: string, wrong: string): string =>
  text
    .replaceAll('SOURCE', outer)
    .replaceAll('INNER', outer.slice(outer.indexOf('[') + 1, -1))
    .replaceAll('GOOD', good)
    .replaceAll('X"', `${wrong}"`)
    .replaceAll('{X}', `{${wrong}}`);

describe('an expression that is not valid is an error of the mapping', () => {
  test.each(PLACES)('JSONPath: %s', async (_, text) => {
    const wrong = within(text, JSON_SOURCE, '$.b', '$.b[0');
    const found = await check(wrong);
    const column = wrong.indexOf(wrong.includes('{$.b[0}') ? '"http://e/{$.b[0}"' : '"$.b[0"') + 1;
    if (_ === 'the iterator of a field')
      expect(found[0]).toMatch(/^m\.ttl:2:\d+: error: "\$\.b\[0" is not a JSONPath: the "\[" has no "\]"/);
    else expect(found[0]).toBe(`m.ttl:2:${column}: error: "$.b[0" is not a JSONPath: the "[" has no "]", at character 4`);
    expect(found).toHaveLength(1);
    expect(await check(within(text, JSON_SOURCE, '$.b', '$.b[0]'))).toEqual([]);
  });

  test.each(PLACES)('XPath: %s', async (_, text) => {
    const found = await check(within(text, XML_SOURCE, 'b', 'b[1'));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^m\.ttl:2:\d+: error: "b\[1" is not an XPath: it cannot be understood from .* on, at character \d$/);
    expect(await check(within(text, XML_SOURCE, 'b', 'count(b[1])'))).toEqual([]);
  });

  const object = (outer: string, reference: string, old = 'rml'): string =>
    `<#m> ${outer} ; ${old === 'rml' ? 'rml' : 'rr'}:subject e:s ; ${old === 'rml' ? 'rml' : 'rr'}:predicateObjectMap [ ${old === 'rml' ? 'rml' : 'rr'}:predicate e:p ; ${old === 'rml' ? 'rml' : 'rr'}:objectMap [ ${old === 'rml' ? 'rml' : 'old'}:reference ${JSON.stringify(reference)} ] ] .`;
  const OLD_SOURCE = 'old:logicalSource [ old:source "in.json" ; old:referenceFormulation ql:JSONPath ; old:iterator "$.[*]" ]';

  test.each<[name: string, text: string, said: string | undefined]>([
    [
      'an iterator',
      `<#m> ${source('JSONPath', '$.a[*')} ; rml:subject e:s .`,
      '"$.a[*" is not a JSONPath: the "[" has no "]", at character 4',
    ],
    [
      'an iterator of XML',
      `<#m> ${source('XPath', '/a/b[')} ; rml:subject e:s .`,
      '"/a/b[" is not an XPath: it cannot be understood from "[" on, at character 5',
    ],
    ['a plain name is one with $.', object(JSON_SOURCE, 'Country Code'), undefined],
    [
      'a name in current RML is strict after $',
      object(JSON_SOURCE, '$.Country Code'),
      '"$.Country Code" is not a JSONPath: JSONPath does not understand " Code", at character 10\n    A name with such characters is written $[\'Country Code\']',
    ],
    ['a name in legacy RML may have spaces', object(OLD_SOURCE, '$.Country Code', 'old'), undefined],
    ['legacy RML, too, has its limits', object(OLD_SOURCE, '$.a[', 'old'), '"$.a[" is not a JSONPath: the "[" has no "]", at character 4'],
    [
      'an unknown function',
      object(XML_SOURCE, 'absent(b)'),
      '"absent(b)" is not an XPath: there is no function absent with 1 argument, at character 1',
    ],
    ['a variable', object(XML_SOURCE, 'b = $x'), '"b = $x" is not an XPath: there is no variable $x, at character 5'],
    ['a prefix that the document may declare', object(XML_SOURCE, 'count(p:b)'), undefined],
    [
      "a branch that closes the checker's own",
      object(XML_SOURCE, 'b) else (c'),
      '"b) else (c" is not an XPath: it cannot be understood from ") else (c" on, at character 2',
    ],
    ['what would take for ever to evaluate', object(XML_SOURCE, 'count((1 to 999999999) ! (1 to 999999999))'), undefined],
    ['an expression that is an error on an empty document', object(XML_SOURCE, 'xs:integer(b) + 1'), undefined],
  ])('%s', async (_, text, said) => {
    const errors = (await check(text)).filter((line) => line.includes(': error: '));
    expect(errors.map((line) => line.replace(/^m\.ttl:2:\d+: error: /, ''))).toEqual(said === undefined ? [] : [said]);
  });

  test('all of them are reported at once, beside other errors', async () => {
    const text = `<#m> ${JSON_SOURCE} ; rml:subjectMap [ rml:template "http://e/{$.}" ] ;
      rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ rml:reference "$[x]" ] ] ;
      rml:predicateObjectMap [ rml:predicate e:q ; rml:objectMap [ rml:refrence "$.b" ] ] .
    <#n> ${XML_SOURCE} ; rml:subjectMap [ rml:template "http://e/{b[}" ] .`;
    expect((await check(text)).map((line) => /^m\.ttl:(\d+)/.exec(line)?.[1])).toEqual(['2', '3', '4', '5']);
  });

  test('a regular expression that is no I-Regexp is a warning', async () => {
    expect(await check(object(JSON_SOURCE, "$.b[?match(@, '[0-9]\\\\d')]"))).toEqual([
      expect.stringMatching(
        /^m\.ttl:2:\d+: warning: .* has the regular expression "\[0-9\]\\\\d", which is no I-Regexp from its character 6 on: it matches nothing\n {4}I-Regexp/,
      ),
    ]);
    expect(await check(object(JSON_SOURCE, "$.b[?match(@, '[0-9]+')]"))).toEqual([]);
  });
});

describe('references to parents', () => {
  const map = (iterator: string, reference: string): string =>
    `<#m> ${source('JSONPath', iterator)} ; rml:subjectMap [ rml:template ${JSON.stringify(`http://e/{${reference}}`)} ] .`;

  test.each<[iterator: string, reference: string, said: string | undefined]>([
    ['$.a[*]', '$^^.b', undefined],
    ['$.a[*].b[*]', '$^^^^.c[?@.d].e', undefined],
    ['$..a', '$^^^^^^.b', undefined],
    ['$.a[*]', '$^[0].b', undefined],
    ['$.a.*.b', '$^.c', undefined],
    ['$.a[*]', '$^^^.b', 'error: "$^^^.b" is not a JSONPath: the document ends 2 levels above the record, at character 4'],
    ['$', '$^.b', 'error: "$^.b" is not a JSONPath: the document ends with the record itself, at character 2'],
    ['$.a[*]', '$^^.b[', 'error: "$^^.b[" is not a JSONPath: the "[" has no "]", at character 6'],
    ['$.a[*]', '$^^b', 'error: "$^^b" is not a JSONPath: JSONPath does not understand "b", at character 4'],
    [
      '$.a[*]',
      '$^.b',
      'warning: "$^.b" asks for a member of what [*] or a position was taken of, which is an array as a rule and has none',
    ],
    [
      '$.a[*].b[0]',
      '$^^^.c',
      'warning: "$^^^.c" asks for a member of what [*] or a position was taken of, which is an array as a rule and has none',
    ],
    ['$^.a', '$.b', 'error: "$^.a" is not a JSONPath: JSONPath does not understand "^.a", at character 2'],
  ])('%s with %s', async (iterator, reference, said) => {
    const found = await check(map(iterator, reference));
    expect(found.map((line) => line.replace(/^m\.ttl:2:\d+: /, '').split('\n')[0])).toEqual(said === undefined ? [] : [said]);
  });

  test('fields of a view may lead to parents of its records, fields of items may not', async () => {
    const view = (field: string, item: string): string =>
      `<#m> rml:logicalSource <#v> ; rml:subject e:s . <#v> rml:viewOn [ ${source('JSONPath', '$.a[*]').slice('rml:logicalSource ['.length, -1)} ] ;
        rml:field [ rml:fieldName "f" ; rml:reference "${field}" ] ; rml:field [ a rml:IterableField ; rml:fieldName "i" ; rml:iterator "$.b[*]" ; rml:field [ rml:fieldName "g" ; rml:reference "${item}" ] ] .`;
    expect(await check(view('$^^.c', '$.d'))).toEqual([]);
    expect((await check(view('$^^.c', '$^.d')))[0]).toMatch(
      /"\$\^\.d" is not a JSONPath: .*\n {4}References of records may lead to parents, iterators and fields of items may not/,
    );
  });
});
