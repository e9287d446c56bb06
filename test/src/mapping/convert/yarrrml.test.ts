/** What mappings look like in YARRRML, and what YARRRML cannot say. */
import { describe, expect, test } from '@jest/globals';
import { convertMapping } from '../../../../src/mapping/convert/convert.ts';
import { readMapping } from '../../../../src/mapping/parse/read.ts';

const OPTIONS = { baseIri: 'http://base/' };

const converted = (name: string, text: string) => convertMapping([{ name, text }], 'yarrrml', OPTIONS);

/** The normal form without places and blank nodes. */
async function formOf(text: string): Promise<string> {
  const { mapping, diagnostics } = await readMapping([{ name: 'a.yml', text }], OPTIONS);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return JSON.stringify(mapping, (key, value) => (/^(?:origin|iteratorOrigin|ids)$/.test(key) || /^_:/.test(value) ? undefined : value));
}

/** Each mapping as YARRRML is written, with what stands in front of `mappings`. */
const WRITTEN: Readonly<Record<string, string>> = {
  'short forms': `prefixes:
  ex: http://example.org/
mappings:
  person:
    sources: [[people.csv~csv]]
    s: ex:$(id)
    po:
      - [a, [foaf:Person, ex:$(kind)]]
      - [foaf:name, [Bob, $(name)], en~lang]
      - [foaf:age, $(age), xsd:integer]
      - [ex:any, $(value), ex:$(type)]
      - [ex:any, $(value), $(language)~lang]
      - [[ex:p, ex:q], [$(page)~iri, http://x/$(id)~iri]]
`,
  'texts that could be something else': `prefixes:
  ex: http://example.org/
mappings:
  t:
    sources: [[t.csv~csv]]
    s: ex:$(a \\(b\\))
    po:
      - [ex:p, ["null", "1.0", "true", "", "- x", "# c", "{x}", "[", time\\:12, ex\\:x, "a: b"]]
      - [ex:p, [$\\(x), a\\\\(b, a\\b, a\\\\, "\\n", $$(x)]]
      - [ex:p, foo\\:1~iri]
      - p: ex:p
        o: {value: x~iri~iri, type: literal}
`,
  'types, graphs, languages': `prefixes:
  grel: http://users.ugent.be/~bjdmeest/function/grel.ttl#
  ex: http://example.org/
mappings:
  t:
    sources: [[data.json~jsonpath, "$.people[*]"]]
    s: {value: b$(id), type: blank}
    graphs: [ex:g, $(g)]
    po:
      - p: a
        o: {value: $(kind), type: literal}
      - p: ex:p
        o: {value: b$(id), type: blank}
        graphs: ex:h
      - p: ex:p
        o: {type: blank}
      - p: ex:p
        o: [$(x), [$(y), xsd:date]]
      - p: ex:p
        o:
          value: $(x)
          language: {function: grel:toLowerCase, parameters: [[grel:valueParameter, $(l)]]}
`,
  'functions, conditions and joins': `prefixes:
  grel: http://users.ugent.be/~bjdmeest/function/grel.ttl#
  ex: http://example.org/
mappings:
  person:
    sources: [[people.csv~csv]]
    s: ex:$(id)
    condition: {function: equal, parameters: [[str1, $(town)], [str2, Ghent]]}
    po:
      - p: ex:p
        o:
          function: grel:toUpperCase
          parameters:
            - - grel:valueParameter
              - {function: grel:toLowerCase, parameters: [[grel:valueParameter, $(x)]]}
          type: iri
          condition: {function: grel:boolean_not, parameters: [[grel:bool_b, $(x)]]}
      - p: ex:p
        o:
          mapping: other
          condition:
            - {function: equal, parameters: [[str1, $(boss), s], [str2, $(id), o]]}
            - {function: equal, parameters: [[str1, x$(a), s], [str2, "1", o]]}
      - p: ex:p
        o: {mapping: person}

  other:
    sources: [[other.csv~csv]]
    po:
      - [ex:p, $(id)]
`,
  'sources and targets': `base: http://maps.example/
prefixes:
  ex: http://example.org/
sources:
  people:
    access: data/people.csv
    referenceFormulation: csv
    delimiter: ;
    encoding: windows-1252
targets:
  dump:
    access: dump.ttl
    type: localfile
    serialization: turtle
    compression: gzip
mappings:
  a:
    sources: [people]
    s: {value: ex:$(id), targets: dump}
    po:
      - p: [{value: ex:p, targets: dump}]
        o: x

  b:
    sources: [people]
    s: {value: b$(id), type: blank}

  database:
    sources:
      - type: mysql
        access: jdbc:mysql://localhost/example
        credentials: {username: root, password: "1.0"}
        queryFormulation: sql2008
        query: |-
          SELECT a,
            b FROM c
        referenceFormulation: csv
    s: ex:$(a)

  table:
    sources: [{table: '"People"'}]
    s: ex:$("Id")

  query:
    sources: [{query: SELECT 1 AS "Id"}]
    s: ex:$("Id")

  endpoint:
    sources:
      - type: sparql
        access: http://localhost/sparql
        queryFormulation: sparql11
        query: SELECT ?s { ?s ?p ?o }
        referenceFormulation: jsonpath
        iterator: $.results.bindings[*]
    s: $(s.value)

  thing:
    sources:
      - type: wot
        access: http://localhost/x
        contentType: application/json
        referenceFormulation: jsonpath
        iterator: $
    s: ex:$(id)
`,
  views: `prefixes:
  grel: http://users.ugent.be/~bjdmeest/function/grel.ttl#
  ex: http://example.org/
sources:
  people:
    access: data/people.csv
    referenceFormulation: csv
    delimiter: ;
views:
  # orders with their lines
  orders:
    source: [orders.json~jsonpath, "$[*]"]
    fields:
      id: $($.id)
      label: $\\(a) $($.id)
      kind: ex:Order~iri
      line: {iterator: "$.lines[*]", fields: {sku: $($.sku), n: $($.n)}}
      notes:
        value: $($.notes)
        fields: {note: {referenceFormulation: xpath, iterator: /notes/note, fields: {text: $(.)}}}
    annotations: [{type: [irisafe, notnull], fields: [id]}, {type: primarykey, fields: [id, line.n]}]

  people2:
    source: people
    fields:
      id: $(id)
      name: {function: grel:toUpperCase, parameters: [[grel:valueParameter, $(name)]]}

  bought:
    source: orders
    fields: {id: $(id), sku: $(line.sku), place: $(line.#)}
    joins:
      - view: people2
        type: left
        condition:
          - {function: equal, parameters: [[str1, $(id), s], [str2, $(id), o]]}
          - {function: equal, parameters: [[str1, x$(sku), s], [str2, x$(name), o]]}
        fields: {name: $(name)}
      - view: orders
        type: inner
        condition: {function: equal, parameters: [[str1, $(id), s], [str2, $(id), o]]}
    annotations: [{type: foreignkey, fields: [id, place], targetView: orders, targetFields: [id, line.n]}]
mappings:
  line:
    sources: [bought]
    s: ex:$(id)/$(sku)
    po:
      - [ex:place, $(place)]
      - [ex:by, $(name)]

  person:
    sources: [people]
    s: ex:$(id)
`,
  comments: `# people of the town
#
# by us

mappings:
  # one for each row
  # of the table
  person:
    sources: [[people.csv~csv]]
    s: http://example.org/$(id)

  # a second
  "#2: x":
    sources: [[people.csv~csv]]
    s: http://example.org/$(id)
`,
};

describe('YARRRML', () => {
  test.each(Object.entries(WRITTEN))('has %s, and reads as it did', async (_, text) => {
    const { text: now = '', diagnostics } = await converted('a.yml', text);
    expect(diagnostics).toEqual([]);
    expect(now).toBe(text);
    expect(await formOf(now)).toBe(await formOf(text));
  });

  test('has the values of external references, and the one mapping of each source and subject', async () => {
    const text = `external: { town: Ghent }
mappings:
  m:
    sources: [[a.csv~csv], [b.csv~csv]]
    s: "http://x/$(_town)/$(_other)"
`;
    const { text: now } = await converted('a.yml', text);
    expect(now).toBe(`mappings:
  m:
    sources: [[a.csv~csv]]
    s: http://x/Ghent/$(_other)

  m,2:
    sources: [[b.csv~csv]]
    s: http://x/Ghent/$(_other)
`);
  });

  test("quotes the columns of today's RML where the database is that of the run", async () => {
    const text = `@prefix rml: <http://w3id.org/rml/> .
<#a> a rml:TriplesMap ;
  rml:logicalSource [ rml:referenceFormulation rml:SQL2008Table ; rml:iterator "people" ] ;
  rml:subjectMap [ rml:template "http://x/{Id}/{a\\"b}" ; rml:class <http://x/A> ] .
`;
    const { text: now } = await converted('a.ttl', text);
    expect(now).toContain(`s: http://x/$("Id")/$("a""b")`);
    expect(now).toContain('- [a, http://x/A]');
  });
});

const MAP = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://x/> .
<#a> rml:logicalSource <#source> ; rml:subjectMap <#subject> ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap <#object> ] .
`;
const PARTS: Readonly<Record<string, string>> = {
  source: '<#source> rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "a.csv" ] ; rml:referenceFormulation rml:CSV .',
  subject: '<#subject> rml:template "http://x/{id}" .',
  object: '<#object> rml:reference "name" .',
};

/** What stands in place of a part → what YARRRML cannot say of it. */
const REFUSED: readonly (readonly [part: keyof typeof PARTS, text: string, what: string])[] = [
  [
    'source',
    '<#source> rml:source [ a rml:FilePath ; rml:path "a.csv" ] ; rml:referenceFormulation rml:CSV .',
    'a path relative to another directory than that of the mapping',
  ],
  [
    'source',
    '<#source> rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "a.csv" ; rml:null "-" ] ; rml:referenceFormulation rml:CSV .',
    'texts that mean null',
  ],
  [
    'source',
    '<#source> rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "a.csv" ; rml:compression rml:gzip ] ; rml:referenceFormulation rml:CSV .',
    'the compression gzip of a source',
  ],
  [
    'source',
    '<#source> a rml:LogicalView ; rml:viewOn [ rml:source [ a rml:FilePath ; rml:path "a.csv" ] ; rml:referenceFormulation rml:CSV ] ; rml:field [ rml:fieldName "id" ; rml:reference "id" ] , [ rml:fieldName "name" ; rml:reference "name" ] .',
    'a path relative to another directory than that of the mapping',
  ],
  [
    'source',
    '<#source> a rml:LogicalView ; rml:viewOn [ rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "a.csv" ] ; rml:referenceFormulation rml:CSV ] ; rml:field [ rml:fieldName "id" ; rml:constant 1 ] , [ rml:fieldName "name" ; rml:reference "name" ] .',
    'a field with a datatype or a language',
  ],
  ['subject', '<#subject> rml:template "{id}" .', 'a template of one reference alone'],
  ['subject', '<#subject> rml:reference "id" ; rml:termType rml:UnsafeIRI .', 'the term type unsafe-iri'],
  [
    'object',
    '<#object> rml:gather ( [ rml:reference "name" ] ) ; rml:gatherAs <http://www.w3.org/1999/02/22-rdf-syntax-ns#List> .',
    'a collection (rml:gather)',
  ],
  [
    'object',
    '<#object> rml:reference "name" ; rml:logicalTarget [ rml:target [ a rml:FilePath ; rml:path "a.nq" ; rml:encoding rml:UTF-16 ] ] .',
    'the encoding utf-16 of a target',
  ],
];

test.each(REFUSED)('YARRRML cannot say %s %s', async (part, instead, what) => {
  const text =
    MAP +
    Object.entries({ ...PARTS, [part]: instead })
      .map(([, one]) => one)
      .join('\n');
  expect((await converted('a.ttl', MAP + Object.values(PARTS).join('\n'))).text).toBeDefined();
  const { text: now, diagnostics } = await converted('a.ttl', text);
  expect(now).toBeUndefined();
  expect(diagnostics.map(({ message }) => message)).toEqual([`YARRRML cannot say ${what}`]);
  expect(diagnostics[0]?.origin.line).toBe(3 + Object.keys(PARTS).indexOf(part));
});
