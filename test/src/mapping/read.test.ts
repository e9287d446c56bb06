import { describe, expect, test } from '@jest/globals';
import { formatDiagnostic } from '../../../src/mapping/model/diagnostics.ts';
import type { Expression, TermMap } from '../../../src/mapping/model/model.ts';
import { readMapping } from '../../../src/mapping/parse/read.ts';
import { processorMs } from '../../support/fastest.ts';

const PREFIXES = `@prefix rml: <http://w3id.org/rml/> . @prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix old: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix ex: <http://e/> .
`;
const SOURCE = 'rml:logicalSource [ rml:source [ rml:path "a.csv" ] ]';

const read = (text: string) => readMapping([{ name: 'm.ttl', text: PREFIXES + text }], { baseIri: 'http://b/' });
type Found = Awaited<ReturnType<typeof read>>;
/** One triples map with an object map of `body`. */
const withObject = (body: string) =>
  read(`<map> ${SOURCE} ; rml:subject ex:s ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [\n${body} ] ] .`);
/** One triples map with a subject map of `body`. */
const withSubject = (body: string) => read(`<map> ${SOURCE} ; rml:subjectMap [\n${body} ] .`);

/** `severity code line:column` of each finding. */
const codes = ({ diagnostics }: Found) =>
  diagnostics.map(({ severity, code, origin }) => `${severity} ${code} ${origin.line}:${origin.column}`);

function firstObject(result: Found): TermMap {
  expect(result.diagnostics).toEqual([]);
  const object = result.mapping.triplesMaps[0]?.predicateObjects[0]?.objects[0];
  if (object?.kind !== 'term') throw new Error('no object map was read');
  return object;
}

const value = (expression: Expression | undefined) =>
  expression?.kind === 'constant' ? expression.term.value : expression?.kind === 'reference' ? expression.reference : expression?.kind;

describe('the term type of an object map', () => {
  test.each([
    ['a reference is a literal', 'rml:reference "a"', 'literal'],
    ['a template is an IRI', 'rml:template "{a}"', 'iri'],
    ['a template with a language is a literal', 'rml:template "{a}" ; rml:language "en"', 'literal'],
    ['a template with a language map is a literal', 'rml:template "{a}" ; rml:languageMap [ rml:reference "l" ]', 'literal'],
    ['a template with a datatype is a literal', 'rml:template "{a}" ; rml:datatype xsd:date', 'literal'],
    ['a constant is what it is: an IRI', 'rml:constant ex:a', 'iri'],
    ['a constant is what it is: a literal', 'rml:constant "a"', 'literal'],
    ['the one that is named', 'rml:reference "a" ; rml:termType rml:UnsafeURI', 'unsafe-uri'],
    ['the one that is named in R2RML', 'rr:column "a" ; rr:termType rr:BlankNode', 'blank'],
    ['a blank node without an expression', 'rml:termType rml:BlankNode', 'blank'],
  ])('%s', async (_, body, expected) => {
    expect(firstObject(await withObject(body)).termType).toBe(expected);
  });

  test('of a constant IRI is its own, whatever is named', async () => {
    const result = await withObject('rml:constant ex:a ;\nrml:termType rml:Literal');
    expect(codes(result)).toEqual(['warning ignored-term-type 5:14']);
    expect(result.mapping.triplesMaps).toHaveLength(1);
  });

  test.each([
    ['rml:constant "http://schema.org/Person" ; rml:termType rml:IRI', [], { kind: 'iri', value: 'http://schema.org/Person' }],
    ['rr:constant "http://schema.org/Person" ; rr:termType rr:IRI', [], { kind: 'iri', value: 'http://schema.org/Person' }],
    ['rml:constant "Person" ; rml:termType rml:URI', ['warning relative-iri 4:14'], { kind: 'iri', value: 'Person' }],
    ['rml:constant "http://schema.org/Person"', [], { kind: 'literal', value: 'http://schema.org/Person' }],
    ['rml:constant "http://e/a b" ; rml:termType rml:UnsafeIRI', [], { kind: 'iri', value: 'http://e/a b' }],
    ...['http://e/$id', 'http://e/%id%/x', 'http://e/[id]', 'http://e/:id', 'urn:x#:id'].map(
      (text) => [`rml:template "${text}"`, ['warning text-for-reference 4:14'], { kind: 'iri', value: text }] as const,
    ),
    ...['http://e/x:id', 'http://e:80/x', 'http://e/%20x%20', 'http://e/$', 'http://e/@me'].map(
      (text) => [`rml:template "${text}"`, [], { kind: 'iri', value: text }] as const,
    ),
    ['rml:template "https://opencorporates.com"', [], { kind: 'iri', value: 'https://opencorporates.com' }],
    ['rml:template "no {{braces" ; rml:termType rml:Literal', ['error malformed-template 4:14'], undefined],
    ['rml:constant "http://e/a b" ; rml:termType rml:IRI', ['error malformed-iri 4:14'], undefined],
    ['rml:template "http://e/a b"', ['error malformed-iri 4:14'], undefined],
    ['rml:template "http://e/{a}|"', ['error malformed-iri 4:14'], undefined],
    ['rml:template "http://e/\\\\{{a}" ; rml:termType rml:URI', ['error malformed-iri 4:14'], undefined],
    ['rml:template "http://e/<{a}>" ; rml:termType rml:BlankNode', [], undefined],
    ['rml:template "http://e/é/{a}" ; rml:termType rml:URI', ['warning malformed-uri 4:14'], undefined],
  ])('of the constant in %s', async (body, findings, term) => {
    const result = await withObject(body);
    expect(codes(result)).toEqual(findings);
    const object = result.mapping.triplesMaps[0]?.predicateObjects[0]?.objects[0];
    if (term !== undefined) expect(object).toMatchObject({ expression: { kind: 'constant', term } });
    else expect(object === undefined).toBe(findings.some((finding) => finding.startsWith('error')));
  });
});

describe('a subject map', () => {
  test.each([
    ['a reference makes an IRI', 'rml:reference "a"', 'iri'],
    ['a template makes a blank node if it says so', 'rml:template "{a}" ; rml:termType rml:BlankNode', 'blank'],
    ['without an expression makes a blank node for each record', 'rml:termType rml:BlankNode', 'blank'],
  ])('%s', async (_, body, expected) => {
    const { mapping, diagnostics } = await withSubject(body);
    expect([mapping.triplesMaps[0]?.subject, diagnostics]).toMatchObject([{ termType: expected }, []]);
  });

  test.each([
    ['without an expression', '', 'error missing-expression 3:78'],
    ['that makes literals', 'rml:reference "a" ; rml:termType rml:Literal', 'error wrong-term-type 4:34'],
    ['with a constant literal', 'rml:constant "School"', 'error wrong-value 4:14'],
    ['with a datatype', 'rml:template "{a}" ; rml:datatype xsd:date', 'error misplaced-term 4:22'],
    ['with a text that no IRI may be', 'rml:constant "http://e/Tom & <Jerry>" ; rml:termType rml:IRI', 'error malformed-iri 4:14'],
    ['with a class in quotes', 'rml:template "{a}" ; rml:class "Person"', 'error wrong-value 4:32'],
    [
      'with a literal graph map',
      'rml:template "{a}" ; rml:graphMap [ rml:reference "g" ; rml:termType rml:Literal ]',
      'error wrong-term-type 4:70',
    ],
    ['with two templates', 'rml:template "{a}", "{b}"', 'error too-many 4:21'],
  ])('%s is refused', async (_, body, expected) => {
    const result = await withSubject(body);
    expect(codes(result)).toEqual([expected]);
    expect(result.mapping.triplesMaps).toEqual([]);
  });
});

describe('languages and datatypes', () => {
  test('stay with a map that depends on the record', async () => {
    const object = firstObject(await withObject('rml:reference "a" ; rml:languageMap [ rml:template "{l}" ]'));
    expect([value(object.language), object.datatype]).toEqual(['template', undefined]);
    const typed = firstObject(await withObject('rml:reference "a" ; rml:datatypeMap [ rml:reference "t" ]'));
    expect([typed.datatype?.termType, value(typed.datatype?.expression)]).toEqual(['iri', 't']);
  });

  test('go into a constant', async () => {
    const tagged = firstObject(await withObject('rml:constant "a" ; rml:language "en"'));
    expect(tagged).toMatchObject({ expression: { term: { value: 'a', language: 'en' } }, language: undefined });
    const typed = firstObject(await withObject('rml:constant "1" ; rml:datatype xsd:byte'));
    expect(typed).toMatchObject({ expression: { term: { datatype: 'http://www.w3.org/2001/XMLSchema#byte' } }, datatype: undefined });
    const same = firstObject(await withObject('rml:constant 1 ; rml:datatype xsd:integer'));
    expect(same).toMatchObject({ expression: { term: { datatype: 'http://www.w3.org/2001/XMLSchema#integer' } }, datatype: undefined });
  });

  test.each([
    ['both at once', 'rml:reference "a" ; rml:language "en" ;\nrml:datatype xsd:date', 'error contradiction 5:14'],
    ['a language on an IRI', 'rml:template "{a}" ; rml:termType rml:IRI ;\nrml:language "en"', 'error contradiction 5:14'],
    ['a datatype on a constant IRI', 'rml:constant ex:a ;\nrml:datatype xsd:date', 'error contradiction 5:14'],
    ['a second datatype of a constant', 'rml:constant 1 ;\nrml:datatype xsd:date', 'error contradiction 5:14'],
    ['a language that is not well-formed', 'rml:reference "a" ;\nrml:language "a-english"', 'error malformed-language 5:14'],
    [
      'a constant language map that is not well-formed',
      'rml:reference "a" ; rml:languageMap [\nrml:constant "e" ]',
      'error malformed-language 5:14',
    ],
    ['a language as an IRI', 'rml:reference "a" ;\nrml:language ex:en', 'error malformed-language 5:14'],
    ['a language that R2RML does not know', 'rr:column "a" ;\nrr:language "english"', 'error malformed-language 5:13'],
    ['an unregistered language is worth a warning', 'rml:reference "a" ;\nrml:language "english"', 'warning unknown-language 5:14'],
    ['a datatype in quotes', 'rml:reference "a" ;\nrml:datatype "date"', 'error wrong-value 5:14'],
  ])('%s', async (_, body, expected) => {
    expect(codes(await withObject(body))).toEqual([expected]);
  });
});

describe('dialects', () => {
  const LEGACY = 'old:logicalSource [ old:source "a.csv" ; old:referenceFormulation ql:CSV ] ; rr:subject ex:s';
  test('the same mapping in either vocabulary is the same model, but for dialect and root', async () => {
    const today = await read(`<m>\n${SOURCE} ;\nrml:subjectMap [ rml:template "{a}" ; rml:class ex:C ] ;
      rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference "b" ] ] .`);
    const legacy = await read(`<m>\nold:logicalSource [ old:source "a.csv" ] ;\nrr:subjectMap [ rr:template "{a}" ; rr:class ex:C ] ;
      rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rr:column "b" ] ] .`);
    const plain = (result: Found) =>
      JSON.parse(JSON.stringify(result.mapping.triplesMaps[0], (key, part) => (/rigin$|^source$|^dialect$/.test(key) ? undefined : part)));
    expect([today.diagnostics, legacy.diagnostics]).toEqual([[], []]);
    expect(plain(legacy)).toEqual(plain(today));
    expect(today.mapping.triplesMaps[0]).toMatchObject({ dialect: 'rml', source: { path: 'a.csv', root: { kind: 'working-directory' } } });
    expect(legacy.mapping.triplesMaps[0]).toMatchObject({ dialect: 'legacy', source: { path: 'a.csv', root: { kind: 'mapping' } } });
  });

  test.each([
    [
      'a term of the other namespace',
      `<m> ${LEGACY} ; old:template "{a}" .`,
      'there is no property rml:template',
      'did you mean rr:template?',
    ],
    ['a misspelt term', `<m> ${LEGACY} ; rr:tmplate "{a}" .`, 'there is no property rr:tmplate', 'did you mean rr:template?'],
    [
      'a value of another case',
      `<m> ${LEGACY.replace('ql:CSV', 'ql:Csv')} .`,
      'there is no reference formulation ql:Csv',
      'did you mean ql:CSV?',
    ],
    [
      'an R2RML triples map without a table',
      '<m> rr:subject ex:s .',
      'the triples map m has no logical source',
      'add rml:logicalSource [ rml:source […] ; rml:referenceFormulation … ], or rr:logicalTable [ rr:tableName "…" ]',
    ],
  ])('%s gives one finding', async (_, text, message, hint) => {
    expect((await read(text)).diagnostics).toEqual([expect.objectContaining({ severity: 'error', message, hint })]);
  });
});

describe('a parent', () => {
  const child = (parent: string, join = '') =>
    `<child> ${SOURCE} ; rml:subject ex:s ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:parentTriplesMap ${parent} ${join} ] ] .`;
  const JOIN = '; rml:joinCondition [ rml:child "a" ; rml:parent "b" ]';

  test('that has errors takes its children with it, and theirs, without a word more', async () => {
    const grandchild = child('<child>', JOIN).replace('<child>', '<grandchild>');
    const result = await read(`${child('<parent>', JOIN)}\n${grandchild}\n<parent> ${SOURCE} .\n<alone> ${SOURCE} ; rml:subject ex:s .`);
    expect(codes(result)).toEqual(['error missing-subject-map 5:1']);
    expect(result.mapping.triplesMaps.map(({ name }) => name)).toEqual(['alone']);
  });

  test('that is not described is named with its neighbours', async () => {
    const { diagnostics } = await read(`${child('<parents>', JOIN)}\n<parent> ${SOURCE} ; rml:subject ex:s .`);
    expect(diagnostics).toEqual([expect.objectContaining({ code: 'unknown-parent', hint: 'did you mean <http://b/parent>?' })]);
  });

  test('of other records needs a join condition, one of the same records does not', async () => {
    const same = await read(`${child('<parent>')}\n<parent> ${SOURCE} ; rml:subject ex:s .`);
    expect([same.diagnostics, same.mapping.triplesMaps.length]).toEqual([[], 2]);
    const other = await read(`${child('<parent>')}\n<parent> ${SOURCE.replace('a.csv', 'b.csv')} ; rml:subject ex:s .`);
    expect(codes(other)).toEqual(['error missing-join-condition 3:167']);
    expect(other.mapping.triplesMaps.map(({ name }) => name)).toEqual(['parent']);
  });

  test('may be the child itself', async () => {
    const result = await read(child('<child>', JOIN));
    expect([result.diagnostics, result.mapping.triplesMaps.length]).toEqual([[], 1]);
  });
});

describe('documents', () => {
  test('all findings come in the order of the documents, then by position', async () => {
    const text = `${PREFIXES}<map> ${SOURCE} .\n<b> a rml:TripleMap .`;
    const { diagnostics } = await readMapping(
      [
        { name: 'z.ttl', text },
        { name: 'a.ttl', text: text.replace('<map>', '<other>').replace('<b>', '<c>') },
      ],
      { baseIri: 'http://b/' },
    );
    expect(diagnostics.map(({ origin }) => `${origin.document}:${origin.line}`)).toEqual(['z.ttl:3', 'z.ttl:4', 'a.ttl:3', 'a.ttl:4']);
  });

  test('a node that several maps share is complained about once', async () => {
    const { diagnostics } = await read(`<a> ${SOURCE} ; rml:subjectMap <s> .\n<b> ${SOURCE} ; rml:subjectMap <s> .\n<s> rml:tmplate "x" .`);
    expect(diagnostics).toHaveLength(1);
  });

  test('a shared node makes every map that uses it unusable', async () => {
    const { mapping } = await read(`<a> ${SOURCE} ; rml:subjectMap <s> .\n<b> ${SOURCE} ; rml:subjectMap <s> .\n<s> rml:template "{" .`);
    expect(mapping.triplesMaps).toEqual([]);
  });

  test('a clash between two documents names the other one', async () => {
    const { diagnostics } = await readMapping(
      [
        { name: 'a.ttl', text: `${PREFIXES}<map> ${SOURCE} ; rml:subject ex:s .` },
        { name: 'b.ttl', text: `${PREFIXES}<map> rml:subject ex:t .` },
      ],
      { baseIri: 'http://b/' },
    );
    expect(diagnostics).toEqual([
      expect.objectContaining({ code: 'too-many', origin: { document: 'b.ttl', line: 3, column: 19 }, hint: 'the other is a.ttl:3:75' }),
    ]);
  });

  test('a function whose parameter two documents give in the same words has it once, with a warning', async () => {
    const text = `${PREFIXES}@prefix fno: <https://w3id.org/function/ontology#> . @prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> .
@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix old: <http://semweb.mmlab.be/ns/rml#> . @prefix fnml: <http://semweb.mmlab.be/ns/fnml#> . @prefix ql: <http://semweb.mmlab.be/ns/ql#> .
ex:M old:logicalSource ex:source ; rr:subject ex:s ; rr:predicateObjectMap ex:po .
ex:source old:source "people.csv" ; old:referenceFormulation ql:CSV .
ex:po rr:predicate ex:p ; rr:objectMap ex:o .
ex:o fnml:functionValue ex:call .
ex:call rr:predicateObjectMap [ rr:predicate fno:executes ; rr:objectMap [ rr:constant grel:toUpperCase ] ] ;
  rr:predicateObjectMap [ rr:predicate grel:valueParameter ; rr:objectMap [ old:reference "name" ] ] .`;
    const read = (second: string) =>
      readMapping(
        [
          { name: 'a.ttl', text },
          { name: 'b.ttl', text: second },
        ],
        { baseIri: 'http://b/' },
      );
    const same = await read(text);
    expect(same.diagnostics).toEqual([
      expect.objectContaining({ severity: 'warning', message: expect.stringContaining('described as in a.ttl') }),
    ]);
    expect(same.mapping.triplesMaps).toHaveLength(1);
    const other = await read(text.replace('"name"', '"id"'));
    expect(other.diagnostics).toContainEqual(
      expect.objectContaining({ severity: 'error', message: expect.stringContaining('is given twice') }),
    );
  });

  test.each([
    ['idlab-fn:multipleLookup', 'join it by rr:parentTriplesMap with several conditions'],
    ['idlab-fn:readFile', 'make the file a logical source'],
    ['idlab-fn:dbpediaSpotlight', 'calls a server'],
    ['idlab-fn:toUperCaseURL', 'did you mean idlab-fn:toUpperCaseURL'],
  ])('the function %s, which there is not, has a hint that helps', async (name, hint) => {
    const { diagnostics } = await readMapping(
      [
        {
          name: 'a.ttl',
          text: `${PREFIXES}@prefix idlab-fn: <https://w3id.org/imec/idlab/function#> .
<map> ${SOURCE} ; rml:subject ex:s ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:functionExecution [ rml:function ${name} ] ] ] .`,
        },
      ],
      { baseIri: 'http://b/' },
    );
    expect(diagnostics).toEqual([expect.objectContaining({ code: 'unknown-function', hint: expect.stringContaining(hint) })]);
  });

  test('a document that is not Turtle is all that is reported', async () => {
    const { diagnostics } = await readMapping(
      [
        { name: 'a.ttl', text: `${PREFIXES}<map> rml:logicalSource <elsewhere> .` },
        { name: 'b.ttl', text: '<elsewhere>' },
      ],
      { baseIri: 'http://b/' },
    );
    expect(diagnostics.map(formatDiagnostic)).toEqual([
      'b.ttl:1:12: error: found the end of the document, expected an IRI, a prefixed name or a blank node\n    the last statement lacks its `.`',
    ]);
  });

  test.each([
    ['nothing', '', 'no triples map is described', 'a triples map has rml:logicalSource and rml:subjectMap'],
    [
      'a namespace that is misspelt',
      '@prefix rml: <http://w3id.org/rnl/> . <m> rml:subject <s> .',
      'no triples map is described: <http://w3id.org/rnl/> is not a vocabulary of RML',
      'did you mean <http://w3id.org/rml/>?',
    ],
  ])('a document with %s', async (_, text, message, hint) => {
    expect((await readMapping([{ name: 'm.ttl', text }], { baseIri: 'http://b/' })).diagnostics).toEqual([
      { severity: 'error', code: 'no-triples-map', origin: { document: 'm.ttl', line: 1, column: 1 }, message, hint },
    ]);
  });

  test('terms of other vocabularies are ignored', async () => {
    const { diagnostics } = await read(
      `<map> a ex:Thing ; ex:label "a map" ; ${SOURCE} ; rml:subjectMap [ rml:template "{a}" ; ex:note 1 ] . ex:x ex:y ex:z .`,
    );
    expect(diagnostics).toEqual([]);
  });

  test('the model is frozen', async () => {
    const { mapping } = await read(`<map> ${SOURCE} ; rml:subject ex:s .`);
    expect([mapping, mapping.triplesMaps, mapping.triplesMaps[0]?.source].every(Object.isFrozen)).toBe(true);
  });

  test('ten thousand triples maps are read in seconds', async () => {
    const text = Array.from({ length: 10_000 }, (_, i) => `<m${i}> ${SOURCE} ; rml:subjectMap [ rml:template "{a}" ] .\n`).join('');
    const took = await processorMs(async () => expect((await read(text)).mapping.triplesMaps).toHaveLength(10_000));
    expect(took).toBeLessThan(10_000);
  });
});

test('a diagnostic is one line, with the hint below it', async () => {
  const [diagnostic] = (await withSubject('rml:tmplate "{a}"')).diagnostics;
  expect(diagnostic && formatDiagnostic(diagnostic)).toBe(
    'm.ttl:4:1: error: there is no property rml:tmplate\n    did you mean rml:template?',
  );
});
