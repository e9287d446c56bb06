/**
 * What YARRRML means: each document has the normal form of the RML beside it. The RML is what the reference implementation
 * (@rmlio/yarrrml-parser 1.12.2) makes of the document, checked by hand and shortened; where it differs from the specification or makes
 * mappings that are not valid, the row says so.
 */
import { describe, expect, test } from '@jest/globals';
import { formatDiagnostic } from '../../../../src/mapping/model/diagnostics.ts';
import type { Mapping } from '../../../../src/mapping/model/model.ts';
import { readMapping } from '../../../../src/mapping/parse/read.ts';

const RML = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> . @prefix ql: <http://semweb.mmlab.be/ns/ql#> .
@prefix new: <http://w3id.org/rml/> . @prefix fnml: <http://semweb.mmlab.be/ns/fnml#> . @prefix fno: <https://w3id.org/function/ontology#> .
@prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> . @prefix idlab: <https://w3id.org/imec/idlab/function#> .
@prefix d2rq: <http://www.wiwiss.fu-berlin.de/suhl/bizer/D2RQ/0.1#> . @prefix csvw: <http://www.w3.org/ns/csvw#> .
@prefix rmlt: <http://semweb.mmlab.be/ns/rml-target#> . @prefix comp: <http://semweb.mmlab.be/ns/rml-compression#> . @prefix formats: <http://www.w3.org/ns/formats/> .
@prefix td: <https://www.w3.org/2019/wot/td#> . @prefix hctl: <https://www.w3.org/2019/wot/hypermedia#> .
@prefix sd: <http://www.w3.org/ns/sparql-service-description#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix ex: <http://example.org/> . @prefix : <http://mapping.example.com/> .
`;
const YARRRML = `prefixes:
  ex: http://example.org/
  grel: http://users.ugent.be/~bjdmeest/function/grel.ttl#
  idlab: https://w3id.org/imec/idlab/function#
`;

/** The normal form without places, names and ids. */
function formOf({ triplesMaps }: Mapping): unknown {
  const index = new Map(triplesMaps.map(({ id }, i) => [id, i]));
  return JSON.parse(
    JSON.stringify(triplesMaps, (key, value) => {
      if (['origin', 'iteratorOrigin', 'ids', 'id', 'name', 'driver'].includes(key)) return undefined;
      return key === 'parent' && typeof value === 'string' ? index.get(value) : value;
    }),
  );
}

async function formIn(name: string, text: string): Promise<unknown> {
  const { mapping, diagnostics } = await readMapping([{ name, text }], { baseIri: 'http://base/' });
  expect(diagnostics.filter(({ severity }) => severity === 'error').map(formatDiagnostic)).toEqual([]);
  return formOf(mapping);
}

const same = async (yarrrml: string, rml: string): Promise<void> =>
  expect(await formIn('m.yml', YARRRML + yarrrml)).toEqual(await formIn('m.ttl', RML + rml));

const CSV = 'rml:logicalSource [ rml:source "a.csv" ; rml:referenceFormulation ql:CSV ]';
/** A mapping over a.csv with the subject ex:{id}, and further keys. */
const over = (keys: string): string => `mappings:\n  a:\n    sources: [[a.csv~csv]]\n    s: ex:$(id)\n${keys.replace(/^/gm, '    ')}`;
const map = (properties: string): string =>
  `:a ${CSV} ; rr:subjectMap [ rr:template "http://example.org/{id}" ] ; ${properties === '' ? '' : `${properties} `}.`;
const pom = (predicate: string, object: string): string =>
  `rr:predicateObjectMap [ rr:predicate ${predicate} ; rr:objectMap [ ${object} ] ]`;

describe('sources', () => {
  const subject = 'rr:subjectMap [ rr:template "http://example.org/{id}" ]';
  const from = (source: string): string => `mappings:\n  a:\n    s: ex:$(id)\n    sources:\n      ${source.replaceAll('\n', '\n      ')}\n`;
  const JSON_SOURCE = 'rml:source "a.json" ; rml:referenceFormulation ql:JSONPath ; rml:iterator "$.a[*]"';
  test.each([
    ['a list of short forms', from('- [a.json~jsonpath, "$.a[*]"]'), JSON_SOURCE],
    ['one short form', from('[a.json~jsonpath, "$.a[*]"]'), JSON_SOURCE],
    ['a text', from('a.csv~csv'), 'rml:source "a.csv" ; rml:referenceFormulation ql:CSV'],
    ['a map', from('access: a.json\nreferenceFormulation: jsonpath\niterator: $.a[*]'), JSON_SOURCE],
    ['a name', `sources:\n  x: [a.json~jsonpath, "$.a[*]"]\n${from('x')}`, JSON_SOURCE],
    [
      'a delimiter',
      from('- {access: a.csv, referenceFormulation: csv, delimiter: ";"}'),
      'rml:source [ a csvw:Table ; csvw:url "a.csv" ; csvw:dialect [ csvw:delimiter ";" ] ] ; rml:referenceFormulation ql:CSV',
    ],
    [
      'an encoding',
      from('{access: a.csv, referenceFormulation: csv, encoding: latin1}'),
      'rml:source [ new:path "a.csv" ; new:root new:MappingDirectory ; new:encoding "latin1" ] ; rml:referenceFormulation ql:CSV',
    ],
    [
      'a database, whose address the reference implementation leaves as it is',
      from(
        'access: http://localhost/example\ntype: mysql\ncredentials: {username: root, password: x}\nqueryFormulation: sql2008\nquery: SELECT 1',
      ),
      'rml:source [ a d2rq:Database ; d2rq:jdbcDSN "jdbc:mysql://localhost/example" ; d2rq:username "root" ; d2rq:password "x" ] ; rml:query "SELECT 1"',
    ],
    [
      'a SPARQL endpoint',
      from(
        'access: http://localhost/sparql\ntype: sparql\nquery: SELECT * { ?s ?p ?o }\nreferenceFormulation: xpath\niterator: /sparql/results/result',
      ),
      `rml:source [ a sd:Service ; sd:endpoint <http://localhost/sparql> ] ; rml:query "SELECT * { ?s ?p ?o }" ;
       rml:referenceFormulation ql:XPath ; rml:iterator "/sparql/results/result"`,
    ],
    [
      'a thing',
      from(
        '{access: "http://localhost/things", type: wot, contentType: application/json, operationType: read, security: none, referenceFormulation: jsonpath, iterator: $}',
      ),
      `rml:source [ a td:Thing ; td:hasPropertyAffordance [ td:hasForm [ hctl:hasTarget "http://localhost/things" ; hctl:forContentType "application/json" ] ] ] ;
       rml:referenceFormulation ql:JSONPath ; rml:iterator "$"`,
    ],
  ])('%s', (_, yarrrml, source) => same(yarrrml, `:a rml:logicalSource [ ${source} ] ; ${subject} .`));

  test('a table of the run’s database', () =>
    same(from('- {table: people, queryFormulation: sql2008}'), `:a rr:logicalTable [ rr:tableName "people" ] ; ${subject} .`));

  test('a triples map for each source and subject, where the reference implementation gives one of them two subject maps', () =>
    same(
      'mappings:\n  a:\n    sources: [[a.csv~csv], [b.csv~csv]]\n    s: [ex:$(id), ex:x/$(id)]',
      ['a', 'b']
        .flatMap((file) =>
          ['', 'x/'].map(
            (path) =>
              `[] rml:logicalSource [ rml:source "${file}.csv" ; rml:referenceFormulation ql:CSV ] ; rr:subjectMap [ rr:template "http://example.org/${path}{id}" ] .`,
          ),
        )
        .join('\n'),
    ));
});

describe('subjects', () => {
  const subjects = (yarrrml: string): string => `mappings:\n  a:\n    sources: [[a.csv~csv]]\n${yarrrml}`;
  test.each([
    ['none is a blank node', '', 'rr:termType rr:BlankNode'],
    ['nothing is a blank node', '    s: null', 'rr:termType rr:BlankNode'],
    ['a reference', '    subject: $(id)', 'rml:reference "id"'],
    ['a constant', '    s: ex:it', 'rr:constant ex:it'],
    ['a blank node with a value', '    s: {value: b-$(id), type: blank}', 'rr:template "b-{id}" ; rr:termType rr:BlankNode'],
    ['a graph', '    s: ex:$(id)\n    graphs: ex:g', 'rr:template "http://example.org/{id}" ; rr:graph ex:g'],
    [
      'graphs',
      '    s: ex:$(id)\n    graphs: [ex:g, {value: "ex:$(g)"}]',
      'rr:template "http://example.org/{id}" ; rr:graphMap [ rr:constant ex:g ], [ rr:template "http://example.org/{g}" ]',
    ],
    [
      'a function',
      '    s:\n      function: grel:toUpperCase\n      parameters: [[grel:valueParameter, $(id)]]',
      'new:functionExecution [ new:function grel:toUpperCase ; new:input [ new:parameter grel:valueParameter ; new:inputValueMap [ rml:reference "id" ] ] ]',
    ],
    [
      'a condition',
      '    s: ex:$(id)\n    condition: {function: idlab:isTrue, parameters: []}'.replace(
        'idlab:isTrue, parameters: []',
        'grel:string_contains, parameters: [[grel:valueParameter, $(id)], [grel:string_sub, a]]',
      ),
      `rr:template "http://example.org/{id}" ; new:condition [ new:functionExecution [ new:function grel:string_contains ;
        new:input [ new:parameter grel:valueParameter ; new:inputValueMap [ rml:reference "id" ] ],
                  [ new:parameter grel:string_sub ; new:inputValue "a" ] ] ]`,
    ],
  ])('%s', (_, yarrrml, subject) => same(subjects(yarrrml), `:a ${CSV} ; rr:subjectMap [ ${subject} ] .`));
});

describe('predicates and objects', () => {
  test.each([
    ['a pair', 'po: [[ex:p, $(x)]]', pom('ex:p', 'rml:reference "x"')],
    ['one pair without a list around it', 'po: [ex:p, $(x)]', pom('ex:p', 'rml:reference "x"')],
    ['a datatype', 'po: [[ex:p, $(x), xsd:date]]', pom('ex:p', 'rml:reference "x" ; rr:datatype xsd:date')],
    ['a language', 'po: [[ex:p, $(x), en~lang]]', pom('ex:p', 'rml:reference "x" ; rr:language "en"')],
    [
      'a language from the data',
      'po: [{p: ex:p, o: {v: $(x), language: $(l)}}]',
      pom('ex:p', 'rml:reference "x" ; rml:languageMap [ rml:reference "l" ]'),
    ],
    ['an IRI', 'po: [[ex:p, $(x)~iri]]', pom('ex:p', 'rml:reference "x" ; rr:termType rr:IRI')],
    [
      'an IRI by its type',
      'po: [{p: ex:p, o: {value: "ex:$(x)", type: iri}}]',
      pom('ex:p', 'rr:template "http://example.org/{x}" ; rr:termType rr:IRI'),
    ],
    ['a blank node', 'po: [{p: ex:p, o: {value: $(x), type: blank}}]', pom('ex:p', 'rml:reference "x" ; rr:termType rr:BlankNode')],
    ['a class', 'po: [[a, foaf:Person]]', pom('rdf:type', 'rr:constant foaf:Person')],
    [
      'a class by the full predicate, which the reference implementation makes a text',
      'po: [[rdf:type, foaf:Person]]',
      pom('rdf:type', 'rr:constant foaf:Person'),
    ],
    ['a text that begins like a prefix', 'po: [[ex:p, "10:30"]]', pom('ex:p', 'rr:constant "10:30"')],
    ['a text with an escaped colon', 'po: [[ex:p, ex\\:a]]', pom('ex:p', 'rr:constant "ex:a"')],
    ['a text with a prefix', 'po: [[ex:p, ex:a]]', pom('ex:p', 'rr:constant "http://example.org/a"')],
    ['a number', 'po: [[ex:p, 1.0]]', pom('ex:p', 'rr:constant "1.0"')],
    ['escaped brackets', 'po: [[ex:p, a\\(b\\)$(x\\)y)]]', pom('ex:p', 'rr:template "a(b){x)y}" ; rr:termType rr:Literal')],
    ['braces', 'po: [[ex:p, "{a}$(x)"]]', pom('ex:p', 'rr:template "\\\\{a\\\\}{x}" ; rr:termType rr:Literal')],
    [
      'several',
      'po: [[[ex:p, ex:q], [$(x), $(y)]]]',
      'rr:predicateObjectMap [ rr:predicate ex:p, ex:q ; rr:objectMap [ rml:reference "x" ], [ rml:reference "y" ] ]',
    ],
    [
      'several with datatypes',
      'po: [{p: ex:p, o: [[$(x), xsd:date], [$(y), en~lang]]}]',
      'rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rml:reference "x" ; rr:datatype xsd:date ], [ rml:reference "y" ; rr:language "en" ] ]',
    ],
    [
      'a graph',
      'po: [{p: ex:p, o: $(x), g: ex:g}]',
      'rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rml:reference "x" ] ; rr:graph ex:g ]',
    ],
    [
      'a predicate from the data',
      'po: [["ex:$(p)", $(x)]]',
      'rr:predicateObjectMap [ rr:predicateMap [ rr:template "http://example.org/{p}" ] ; rr:objectMap [ rml:reference "x" ] ]',
    ],
  ])('%s', (_, yarrrml, rml) => same(over(yarrrml), map(rml)));
});

describe('external references', () => {
  test.each([
    ['a value', 'po: [[ex:p, $(_city)]]', pom('ex:p', 'rr:constant "Ghent"')],
    ['within a text', 'po: [[ex:p, $(_city)-$(x)]]', pom('ex:p', 'rr:template "Ghent-{x}" ; rr:termType rr:Literal')],
    ['of no value', 'po: [[ex:p, $(_town)]]', pom('ex:p', 'rml:reference "_town"')],
    ['escaped', 'po: [[ex:p, $(\\_city)]]', pom('ex:p', 'rml:reference "_city"')],
  ])('%s', (_, yarrrml, rml) => same(`external: {city: Ghent}\n${over(yarrrml)}`, map(rml)));
});

describe('functions', () => {
  const upper = `fnml:functionValue [ rr:predicateObjectMap [ rr:predicate fno:executes ; rr:objectMap [ rr:constant grel:toUpperCase ] ],
    [ rr:predicate grel:valueParameter ; rr:objectMap [ rml:reference "x" ] ] ]`;
  const call = (more = ''): string => pom('ex:p', `${upper}${more}`);
  test.each([
    ['a list of parameters', 'po: [{p: ex:p, o: {function: grel:toUpperCase, parameters: [[grel:valueParameter, $(x)]]}}]', call()],
    ['a parameter as a map', 'po: [{p: ex:p, o: {f: grel:toUpperCase, pms: [{pm: grel:valueParameter, v: $(x)}]}}]', call()],
    ['in one line', 'po: [{p: ex:p, o: {function: "grel:toUpperCase(grel:valueParameter = $(x))"}}]', call()],
    ['in one line without prefix', 'po: [{p: ex:p, o: {function: "grel:toUpperCase(valueParameter = $(x))"}}]', call()],
    [
      'with a datatype',
      'po: [{p: ex:p, o: {function: "grel:toUpperCase(valueParameter=$(x))", datatype: xsd:token}}]',
      call(' ; rr:datatype xsd:token'),
    ],
    [
      'that gives IRIs',
      'po: [{p: ex:p, o: {function: "grel:toUpperCase(valueParameter=$(x))", type: iri}}]',
      call(' ; rr:termType rr:IRI'),
    ],
    [
      'of a function',
      'po: [{p: ex:p, o: {function: grel:toLowerCase, parameters: [{parameter: grel:valueParameter, value: {function: grel:toUpperCase, parameters: [[grel:valueParameter, $(x)]]}}]}}]',
      pom(
        'ex:p',
        `fnml:functionValue [ rr:predicateObjectMap [ rr:predicate fno:executes ; rr:objectMap [ rr:constant grel:toLowerCase ] ],
        [ rr:predicate grel:valueParameter ; rr:objectMap [ ${upper} ] ] ]`,
      ),
    ],
    [
      'in one line with quotes and commas',
      'po: [{p: ex:p, o: {function: \'grel:string_replace(valueParameter = $(x), param_find = "a,b", param_replace = "=")\'}}]',
      pom(
        'ex:p',
        `new:functionExecution [ new:function grel:string_replace ; new:input [ new:parameter grel:valueParameter ; new:inputValueMap [ rml:reference "x" ] ],
        [ new:parameter grel:param_find ; new:inputValue "a,b" ], [ new:parameter grel:param_replace ; new:inputValue "=" ] ]`,
      ),
    ],
    [
      'as a condition of an object',
      'po: [{p: ex:p, o: {value: $(x), condition: {function: equal, parameters: [[str1, $(y)], [str2, a]]}}}]',
      pom(
        'ex:p',
        `rml:reference "x" ; new:condition [ new:functionExecution [ new:function idlab:equal ;
        new:input [ new:parameter grel:valueParameter ; new:inputValueMap [ rml:reference "y" ] ], [ new:parameter grel:valueParameter2 ; new:inputValue "a" ] ] ]`,
      ),
    ],
    [
      'as a condition of a predicate object',
      'po: [{p: ex:p, o: [[$(x), xsd:date]], condition: {function: equal, parameters: [[str1, $(y)], [str2, a]]}}]',
      pom(
        'ex:p',
        `rml:reference "x" ; rr:datatype xsd:date ; new:condition [ new:functionExecution [ new:function idlab:equal ;
        new:input [ new:parameter grel:valueParameter ; new:inputValueMap [ rml:reference "y" ] ], [ new:parameter grel:valueParameter2 ; new:inputValue "a" ] ] ]`,
      ),
    ],
  ])('%s', (_, yarrrml, rml) => same(over(yarrrml), map(rml)));
});

describe('other mappings', () => {
  const b = '\n  b:\n    sources: [[b.csv~csv]]\n    s: ex:b/$(key)';
  const B =
    '\n:b rml:logicalSource [ rml:source "b.csv" ; rml:referenceFormulation ql:CSV ] ; rr:subjectMap [ rr:template "http://example.org/b/{key}" ] .';
  const to = (conditions: string): string =>
    map(`rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rr:parentTriplesMap :b ${conditions} ] ]`) + B;
  test.each([
    ['without a condition', 'po: [{p: ex:p, o: {mapping: b}}]', ''],
    [
      'with a condition',
      'po: [{p: ex:p, o: {mapping: b, condition: {function: equal, parameters: [[str1, $(x)], [str2, $(key)]]}}}]',
      '; rr:joinCondition [ rr:child "x" ; rr:parent "key" ]',
    ],
    [
      'with two conditions, and sides in another order',
      'po: [{p: ex:p, o: {mapping: b, conditions: [{function: equal, parameters: [[str1, $(key), o], [str2, $(x), s]]}, {function: equal, parameters: [[str1, $(y)], [str2, $(z)]]}]}}]',
      '; rr:joinCondition [ rr:child "x" ; rr:parent "key" ], [ rr:child "y" ; rr:parent "z" ]',
    ],
    [
      'with a template and a function',
      `po: [{p: ex:p, o: {mapping: b, condition: {function: idlab:equal, parameters: [[grel:valueParameter, "$(x)-$(y)", s],
        {parameter: grel:valueParameter2, value: {function: grel:toUpperCase, parameters: [[grel:valueParameter, $(key), o]]}}]}}}]`,
      `; rr:joinCondition [ new:childMap [ rr:template "{x}-{y}" ] ; new:parentMap [ new:functionExecution [ new:function grel:toUpperCase ;
         new:input [ new:parameter grel:valueParameter ; new:inputValueMap [ rml:reference "key" ] ] ] ] ]`,
    ],
  ])('%s', (_, yarrrml, conditions) => same(over(yarrrml) + b, to(conditions)));

  test('of two sources are two parents', () =>
    same(
      over('po: [{p: ex:p, o: {mapping: b, condition: {function: equal, parameters: [[str1, $(x)], [str2, $(key)]]}}}]') +
        b.replace('[[b.csv~csv]]', '[[b.csv~csv], [c.csv~csv]]'),
      map(`rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rr:parentTriplesMap :b ; rr:joinCondition [ rr:child "x" ; rr:parent "key" ] ],
        [ rr:parentTriplesMap :c ; rr:joinCondition [ rr:child "x" ; rr:parent "key" ] ] ]`) +
        B +
        B.replace(':b ', ':c ').replace('b.csv', 'c.csv'),
    ));

  test('of another document', async () => {
    const documents = [
      { name: 'a.yml', text: YARRRML + over('po: [{p: ex:p, o: {mapping: b}}]') },
      { name: 'b.yml', text: `${YARRRML}mappings:${b}` },
    ];
    const { mapping, diagnostics } = await readMapping(documents, { baseIri: 'http://base/' });
    expect(diagnostics.map(({ code }) => code)).toEqual(['missing-join-condition']);
    expect(formOf(mapping)).toEqual(await formIn('m.ttl', RML + to('')));
  });
});

describe('targets', () => {
  const TARGET =
    'rml:logicalTarget [ rmlt:target [ new:path "dump.ttl.gz" ] ; rmlt:serialization formats:Turtle ; rmlt:compression comp:gzip ]';
  const described = 'access: dump.ttl.gz, type: void, serialization: turtle, compression: gzip';
  const at = (targets: string): string =>
    `mappings:\n  a:\n    sources: [[a.csv~csv]]\n    s:\n      value: ex:$(id)\n      targets: ${targets}`;
  const rml = `:a ${CSV} ; rr:subjectMap [ rr:template "http://example.org/{id}" ; ${TARGET} ] .`;
  test.each([
    ['a map', at(`{${described}}`)],
    ['a short form', at('[dump.ttl.gz~void, turtle, gzip]')],
    ['a list of short forms', at('[[dump.ttl.gz~void, turtle, gzip]]')],
    ['a name', `targets:\n  t: {${described}}\n${at('t')}`],
    ['names', `targets:\n  t: [dump.ttl.gz~void, turtle, gzip]\n${at('[t, t]')}`],
    ['of the mapping', `targets:\n  t: {${described}}\nmappings:\n  a: {sources: [[a.csv~csv]], s: "ex:$(id)", targets: t}`],
  ])('%s', (_, yarrrml) => same(yarrrml, rml));

  test('of an object and its language', () =>
    same(
      over('po: [{p: ex:p, o: {value: $(x), targets: [a.nq~void], language: {value: en, targets: [b.nq~void]}}}]'),
      map(
        pom(
          'ex:p',
          `rml:reference "x" ; rml:logicalTarget [ rmlt:target [ new:path "a.nq" ] ] ;
        rml:languageMap [ rr:constant "en" ; rml:logicalTarget [ rmlt:target [ new:path "b.nq" ] ] ]`,
        ),
      ),
    ));
});

test('inverse predicates, of which the reference implementation makes nothing', () =>
  same(
    over('po: [{p: ex:made, i: ex:madeBy, o: "ex:$(x)~iri"}]'),
    `${map(pom('ex:made', 'rr:template "http://example.org/{x}" ; rr:termType rr:IRI'))}
     [] ${CSV} ; rr:subjectMap [ rr:template "http://example.org/{x}" ] ; ${pom('ex:madeBy', 'rr:template "http://example.org/{id}"')} .`,
  ));
