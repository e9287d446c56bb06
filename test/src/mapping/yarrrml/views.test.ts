/** What views of YARRRML mean: the normal form of the RML beside them. */
import { expect, test } from '@jest/globals';
import { differences } from '../../../../src/mapping/convert/form.ts';
import { formatDiagnostic } from '../../../../src/mapping/model/diagnostics.ts';
import type { Mapping } from '../../../../src/mapping/model/model.ts';
import { readMapping } from '../../../../src/mapping/parse/read.ts';

async function readAll(documents: Readonly<Record<string, string>>): Promise<Mapping> {
  const given = Object.entries(documents).map(([name, text]) => ({ name, text }));
  const { mapping, diagnostics } = await readMapping(given, { baseIri: 'http://base/' });
  expect(diagnostics.map(formatDiagnostic)).toEqual([]);
  return mapping;
}

const MAPPING = `prefixes: { ex: http://example.org/ }
mappings:
  m:
    sources: v
    s: ex:$(id)
    po: [[ex:p, $(x)]]
`;
const RML = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.org/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
<#m> rml:logicalSource <#v> ; rml:subjectMap [ rml:template "http://example.org/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference "x" ] ] .
<#json> rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "a.json" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" .
<#csv> rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "a.csv" ] ; rml:referenceFormulation rml:CSV .
`;
const JOIN = 'rml:joinCondition [ rml:child "id" ; rml:parent "id" ]';

const MEANINGS: readonly (readonly [name: string, yarrrml: string, rml: string])[] = [
  [
    'values, templates and constants',
    'v: { source: a.csv~csv, fields: { id: $(id), x: "$(a) $(b)", y: yes, z: ex:z~iri } }',
    `<#v> rml:viewOn <#csv> ; rml:field [ rml:fieldName "id" ; rml:reference "id" ] , [ rml:fieldName "x" ; rml:template "{a} {b}" ] ,
      [ rml:fieldName "y" ; rml:constant "yes" ] , [ rml:fieldName "z" ; rml:constant ex:z ] .`,
  ],
  [
    'iterators within each other',
    'v: { source: [a.json~jsonpath, "$[*]"], fields: { a: { iterator: "$.b[*]", fields: { c: { iterator: "$.d[*]", fields: { e: $($.f) } } } }, id: $($.id), x: { value: $($.x) } } }',
    `<#v> rml:viewOn <#json> ; rml:field [ rml:fieldName "a" ; rml:iterator "$.b[*]" ; rml:field [ rml:fieldName "c" ; rml:iterator "$.d[*]" ;
      rml:field [ rml:fieldName "e" ; rml:reference "$.f" ] ] ] , [ rml:fieldName "id" ; rml:reference "$.id" ] , [ rml:fieldName "x" ; rml:reference "$.x" ] .`,
  ],
  [
    'a document within a value, and an iterator that names the format it stands in',
    'v: { source: [a.json~jsonpath, "$[*]"], fields: { id: $($.id), x: { value: $($.x), fields: { y: { referenceFormulation: csv, fields: { z: $(z) } } } }, a: { referenceFormulation: jsonpath, iterator: "$.a[*]" } } }',
    `<#v> rml:viewOn <#json> ; rml:field [ rml:fieldName "id" ; rml:reference "$.id" ] , [ rml:fieldName "x" ; rml:reference "$.x" ;
      rml:field [ rml:fieldName "y" ; rml:referenceFormulation rml:CSV ; rml:field [ rml:fieldName "z" ; rml:reference "z" ] ] ] ,
      [ rml:fieldName "a" ; rml:iterator "$.a[*]" ] .`,
  ],
  [
    'a view on a view, joins of both types, and a named source',
    `w: { source: file, fields: { id: $(id), y: $(y) } }
  v:
    source: w
    fields: { id: $(id) }
    joins:
      - { view: w, type: Left, condition: { function: equal, parameters: [[str1, $(id), s], [str2, $(id), o]] }, fields: { x: $(y) } }
      - view: w
        type: inner
        condition: [{ function: equal, parameters: [[str2, $(id), o], [str1, $(id), s]] }, { function: equal, parameters: [[str1, a, s], [str2, $(y), o]] }]
sources: { file: [a.csv~csv] }`,
    `<#w> rml:viewOn <#csv> ; rml:field [ rml:fieldName "id" ; rml:reference "id" ] , [ rml:fieldName "y" ; rml:reference "y" ] .
    <#v> rml:viewOn <#w> ; rml:field [ rml:fieldName "id" ; rml:reference "id" ] ;
      rml:leftJoin [ rml:parentLogicalView <#w> ; ${JOIN} ; rml:field [ rml:fieldName "x" ; rml:reference "y" ] ] ;
      rml:innerJoin [ rml:parentLogicalView <#w> ; ${JOIN} , [ rml:childMap [ rml:constant "a" ] ; rml:parentMap [ rml:reference "y" ] ] ] .`,
  ],
  [
    'annotations',
    `v:
    sources: [[a.csv~csv]]
    fields: { id: $(id), x: $(x) }
    annotations:
      - { type: [irisafe, notnull], fields: [id, x] }
      - { type: PrimaryKey, fields: id }
      - { type: foreignkey, fields: [x], targetView: v, targetFields: [id] }`,
    `<#v> rml:viewOn <#csv> ; rml:field [ rml:fieldName "id" ; rml:reference "id" ] , [ rml:fieldName "x" ; rml:reference "x" ] ;
      rml:structuralAnnotation [ a rml:IriSafeAnnotation , rml:NotNullAnnotation ; rml:onFields ( "id" "x" ) ] ,
        [ a rml:PrimaryKeyAnnotation ; rml:onFields ( "id" ) ] ,
        [ a rml:ForeignKeyAnnotation ; rml:onFields ( "x" ) ; rml:targetView <#v> ; rml:targetFields ( "id" ) ] .`,
  ],
  [
    'a database',
    'v: { source: { access: "jdbc:mysql://h/d", query: SELECT 1 }, fields: { id: $(id), x: $(x) } }',
    `@prefix d2rq: <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#> .
    <#v> rml:viewOn [ rml:source [ a d2rq:Database ; d2rq:jdbcDSN "jdbc:mysql://h/d" ] ; rml:referenceFormulation rml:SQL2008Query ; rml:iterator "SELECT 1" ] ;
      rml:field [ rml:fieldName "id" ; rml:reference "id" ] , [ rml:fieldName "x" ; rml:reference "x" ] .`,
  ],
  [
    'a table of the database of the run',
    'v: { source: { table: people }, fields: { id: $(id), x: $(x) } }',
    `<#v> rml:viewOn [ rml:referenceFormulation rml:SQL2008Table ; rml:iterator "people" ] ;
      rml:field [ rml:fieldName "id" ; rml:reference "id" ] , [ rml:fieldName "x" ; rml:reference "x" ] .`,
  ],
];

test.each(MEANINGS)('%s', async (_, views, rml) => {
  const fields = rml.includes('fieldName "x"') ? RML : RML.replace('"x"', '"id"');
  const said = await readAll({ 'a.yml': `views:\n  ${views}\n${MAPPING}` });
  expect(differences(said, await readAll({ 'a.ttl': fields + rml }), { withoutConnections: false })).toEqual([]);
});

test('a view of another document is found, unless the own document has a source of that name', async () => {
  const views = 'views:\n  v: { source: a.csv~csv, fields: { id: $(id), x: $(y) } }\nmappings: {}\n';
  const [map] = (await readAll({ 'a.yml': MAPPING, 'b.yml': views })).triplesMaps;
  expect([map?.source.kind, map?.dialect]).toEqual(['view', 'rml']);
  const [own] = (await readAll({ 'a.yml': `sources: { v: b.csv~csv }\n${MAPPING}`, 'b.yml': views })).triplesMaps;
  expect([own?.source.kind, own?.dialect]).toEqual(['file', 'legacy']);
});

test('mappings beside a view stay legacy RML', async () => {
  const both = `views:\n  v: { source: a.csv~csv, fields: { id: $(id), x: $(y) } }\n${MAPPING}  n: { sources: [[a.csv~csv]], s: ex:$(id) }\n`;
  expect((await readAll({ 'a.yml': both })).triplesMaps.map(({ dialect }) => dialect)).toEqual(['rml', 'legacy']);
});
