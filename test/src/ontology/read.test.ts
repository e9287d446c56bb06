/** Ontologies in every syntax, their limits, and what is no RDF. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { Fault } from '../../../src/core/fault.ts';
import { type OntologyAnswer, readOntology } from '../../../src/ontology/read.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => directory.remove());

type Content = string | Uint8Array;

async function read(name: string, content: Content): Promise<OntologyAnswer> {
  await writeFile(join(directory.path, name), content);
  const { limits, web } = RUN_DEFAULTS;
  return readOntology({ location: name }, { workingDirectory: directory.path, reach: undefined, limits, web }, Date.now() + 600_000);
}

async function faultOf(name: string, content: Content): Promise<Fault> {
  const error = await read(name, content).then(
    () => undefined,
    (fault: unknown) => fault,
  );
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
}

const PREFIXES = `@prefix : <http://example.org/shop#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
`;
const NAMESPACES = [
  'xmlns="http://example.org/shop#"',
  'xmlns:owl="http://www.w3.org/2002/07/owl#"',
  'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"',
  'xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"',
].join(' ');
const SHOP = 'http://example.org/shop#';
const TRIPLES = `<${SHOP}Order> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/2002/07/owl#Class> .
<${SHOP}Order> <http://www.w3.org/2000/01/rdf-schema#label> "Bestellung"@de .
`;
const ORDER = {
  iri: `${SHOP}Order`,
  kind: 'class',
  labels: [{ text: 'Bestellung', language: 'de' }],
  domain: [],
  range: [],
  subClassOf: [],
};
const RDF_XML = `<rdf:RDF ${NAMESPACES}>
<owl:Class rdf:about="${SHOP}Order"><rdfs:label xml:lang="de">Bestellung</rdfs:label></owl:Class>
</rdf:RDF>
`;
const JSON_LD = JSON.stringify({
  '@context': { rdfs: 'http://www.w3.org/2000/01/rdf-schema#', owl: 'http://www.w3.org/2002/07/owl#' },
  '@id': `${SHOP}Order`,
  '@type': 'owl:Class',
  'rdfs:label': { '@value': 'Bestellung', '@language': 'de' },
});
const TURTLE = `# Terms of the shop.\n${PREFIXES}:Order a owl:Class ; rdfs:label "Bestellung"@de .\n`;

describe('syntaxes', () => {
  test.each<[string, Content, string]>([
    ['shop.ttl', TURTLE, 'turtle'],
    ['shop.nt', TRIPLES, 'ntriples'],
    ['shop.nq', TRIPLES.replaceAll(' .\n', ' <urn:g> .\n'), 'nquads'],
    ['shop.trig', `${PREFIXES}:g { :Order a owl:Class ; rdfs:label "Bestellung"@de }`, 'trig'],
    ['shop.rdf', RDF_XML, 'rdfxml'],
    ['shop.jsonld', JSON_LD, 'jsonld'],
    ['shop.ttl.gz', gzipSync(TURTLE), 'turtle'],
    ['mark.ttl', `\ufeff${TURTLE}`, 'turtle'],
    ['entities.rdf', `<!DOCTYPE rdf:RDF [<!ENTITY shop "${SHOP}">]>\n${RDF_XML.replace(`${SHOP}Order`, '&shop;Order')}`, 'rdfxml'],
    // The name does not tell, or tells something else.
    ['turtle.owl', TURTLE, 'turtle'],
    ['xml.owl', `<?xml version="1.0"?>\n<!-- Terms -->\n${RDF_XML}`, 'rdfxml'],
    ['xml.ttl', RDF_XML, 'rdfxml'],
    ['shop.json', JSON_LD, 'jsonld'],
    ['shop', TURTLE, 'turtle'],
  ])('%s', async (name, content, format) => {
    expect(await read(name, content)).toMatchObject({ format, terms: [ORDER], statements: 2, cut: [] });
  });
});

test('what is said about terms, in any order', async () => {
  const { terms } = await read(
    'all.ttl',
    `${PREFIXES}@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix schema: <https://schema.org/> .
    :total rdfs:domain [ owl:unionOf ( :Order :Offer ) ] ; rdfs:range <http://www.w3.org/2001/XMLSchema#decimal> .
    :total a owl:FunctionalProperty, owl:DatatypeProperty ; rdfs:label "total", "total", "Summe"@de .
    :Order rdfs:subClassOf :Document, [ a owl:Restriction ; owl:onProperty :total ] ; skos:prefLabel "Order" .
    :Order rdfs:comment "Eine Bestellung"@de, "What a person\n  buys"@en, "Commande"@fr .
    :contains schema:domainIncludes :Order ; schema:rangeIncludes :Line .
    :note a owl:AnnotationProperty ; rdfs:comment "${'long '.repeat(100)}" .
    :lines a owl:TransitiveProperty . :name a rdf:Property . :part rdfs:subPropertyOf :lines . :Line a rdfs:Class .
    :ada a :Person ; rdfs:label "Ada" . [] a owl:Class .`,
  );
  const plain = { labels: [], domain: [], range: [], subClassOf: [] };
  expect(terms).toEqual([
    {
      iri: `${SHOP}total`,
      kind: 'datatype-property',
      labels: [{ text: 'total' }, { text: 'Summe', language: 'de' }],
      domain: [`${SHOP}Order`, `${SHOP}Offer`],
      range: ['http://www.w3.org/2001/XMLSchema#decimal'],
      subClassOf: [],
    },
    {
      ...plain,
      iri: `${SHOP}Order`,
      kind: 'class',
      labels: [{ text: 'Order' }],
      comment: { text: 'What a person buys', language: 'en' },
      subClassOf: [`${SHOP}Document`],
    },
    { ...plain, iri: `${SHOP}contains`, kind: 'property', domain: [`${SHOP}Order`], range: [`${SHOP}Line`] },
    { ...plain, iri: `${SHOP}note`, kind: 'annotation-property', comment: { text: expect.stringMatching(/^long .* long…$/) } },
    { ...plain, iri: `${SHOP}lines`, kind: 'object-property' },
    { ...plain, iri: `${SHOP}name`, kind: 'property' },
    { ...plain, iri: `${SHOP}part`, kind: 'property' },
    { ...plain, iri: `${SHOP}Line`, kind: 'class' },
  ]);
  expect(terms[3]?.comment?.text.length).toBeLessThanOrEqual(300);
});

test('a comment that is cut within a character has no half of it', async () => {
  const { terms } = await read('emoji.ttl', `${PREFIXES}:Order a rdfs:Class ; rdfs:comment "${'x'.repeat(298)}😀😀" .`);
  expect(terms[0]?.comment?.text).toBe(`${'x'.repeat(298)}…`);
});

test('a wrong IRI is left out, and the others are read; a list that leads to itself ends', async () => {
  const { terms } = await read(
    'wrong.ttl',
    `${PREFIXES}<http://example.org/a b> a owl:Class . :p rdfs:domain _:u . _:u owl:unionOf _:l . _:l rdf:first :Order ; rdf:rest _:l .`,
  );
  expect(terms).toMatchObject([{ iri: `${SHOP}p`, domain: [`${SHOP}Order`] }]);
});

test('IRIs that a prefix makes very long are left out', async () => {
  const long = `https://example.org/${'x'.repeat(100_000)}/`;
  const classes = Array.from({ length: 10 }, (_, i) => `long:C${i} a owl:Class . :C${i} a long:Kind .\n`).join('');
  const { terms } = await read('long.ttl', `${PREFIXES}@prefix long: <${long}> .\n${classes}:Order a owl:Class .`);
  expect(terms).toMatchObject([{ iri: `${SHOP}Order` }]);
});

test('IRIs relative to a file name nothing', async () => {
  const { terms, cut } = await read('relative.ttl', `${PREFIXES}<#Order> a owl:Class . :Line a owl:Class .`);
  expect(terms).toMatchObject([{ iri: `${SHOP}Line` }]);
  expect(cut).toEqual([expect.stringContaining('1 classes and properties have IRIs relative to the file')]);
});

describe('what was left out is said', () => {
  const classes = (count: number, more = ''): string =>
    PREFIXES + Array.from({ length: count }, (_, i) => `:C${i} a owl:Class ${more}.\n`).join('');

  test('terms', async () => {
    const { terms, cut } = await read('terms.ttl', classes(20_001));
    expect([terms.length, cut]).toEqual([20_000, ['Only the first 20,000 of 20,001 classes and properties are given.']]);
  });

  test('bytes of the answer', async () => {
    const { terms, cut } = await read('answer.ttl', classes(15_000, `; rdfs:comment "${'x'.repeat(300)}"`));
    expect(Buffer.byteLength(JSON.stringify(terms))).toBeLessThanOrEqual(4 * 2 ** 20 + terms.length + 1);
    expect(cut).toEqual([`Only the first ${terms.length.toLocaleString('en')} of 15,000 classes and properties are given.`]);
  });

  test('statements', async () => {
    const { statements, cut } = await read('statements.ttl', `${classes(1)}${':a :b :c .\n'.repeat(200_000)}`);
    expect([statements, cut]).toEqual([200_000, ['Only the first 200,000 statements were read.']]);
  });

  test.each([
    ['large.ttl', (filler: string) => `${TURTLE}${`<urn:a> <urn:b> "${filler.slice(0, 99_981)}" .\n`.repeat(201)}`],
    ['large.rdf', (filler: string) => RDF_XML.replace('</rdf:RDF>', `<!--${filler}-->`)],
  ])('bytes: %s', async (name, content) => {
    const answer = await read(name, content('x'.repeat(20_000_000)));
    expect(answer).toMatchObject({ terms: [ORDER], bytesRead: 20_000_000, cut: ['Only the first 20 MB were read.'] });
  });
});

const BOMB = `<!DOCTYPE rdf:RDF [<!ENTITY a "${'x'.repeat(100)}">${'bcdefgh'.replace(/./g, (name) => `<!ENTITY ${name} "${`&${String.fromCharCode(name.charCodeAt(0) - 1)};`.repeat(20)}">`)}]>
${RDF_XML.replace('Bestellung', '&h;')}`;

test.each<[string, string, Content, string, RegExp]>([
  ['an error of Turtle', 'a.ttl', `${TURTLE}:x :y\n`, 'source/malformed', /^a\.ttl, line \d, column \d+, is not well-formed Turtle: /],
  ['a prefix that is not declared', 'b.ttl', 'x:a a x:b .', 'source/malformed', /line 1, column 1, .*x: has not been declared/],
  [
    'an error of RDF/XML',
    'c.rdf',
    RDF_XML.replace('</rdfs:label>', '</rdfs:labl>'),
    'source/malformed',
    /^c\.rdf, line 2, is not well-formed RDF\/XML: .*rdfs:labl/,
  ],
  ['other XML', 'd.xml', '<orders date="1"><order/></orders>', 'source/malformed', /d\.xml, line 1, is not well-formed RDF\/XML/],
  [
    'RDF/XML without its end',
    'e.rdf',
    RDF_XML.replace('</rdf:RDF>', ''),
    'source/malformed',
    /e\.rdf ends before its element rdf:RDF is closed/,
  ],
  ['an error of JSON', 'f.jsonld', '{"@id": "urn:a",\n}', 'source/malformed', /f\.jsonld, line 2, column 1, is not well-formed JSON-LD/],
  ['plain JSON', 'g.json', '{"id": 1}', 'source/malformed', /g\.json is no RDF: .*without @context/],
  [
    'a context elsewhere',
    'h.jsonld',
    '{"@context": "https://example.org/c", "@id": "urn:a"}',
    'source/malformed',
    /h\.jsonld is not well-formed JSON-LD/,
  ],
  ['text', 'i.txt', 'Hello, this is no RDF.', 'source/malformed', /i\.txt, line 1, .*Hello/],
  ['nothing', 'j.ttl', ' \n', 'source/malformed', /j\.ttl is no RDF: it is empty/],
  ['no statement', 'k.ttl', PREFIXES, 'source/malformed', /k\.ttl is no RDF: it has no statement/],
  ['HTML', 'l.owl', '<!DOCTYPE html>\n<html lang="en"></html>', 'source/type', /l\.owl is a page in HTML/],
  ['OWL/XML', 'm.owl', '<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#"></Ontology>', 'source/type', /is OWL\/XML/],
  ['the functional syntax', 'n.owl', 'Prefix(:=<urn:a>)\nOntology()', 'source/type', /is the functional syntax of OWL/],
  ['the Manchester syntax', 'o.owl', 'Prefix: a: <urn:a>\nOntology: <urn:o>', 'source/type', /is the Manchester syntax/],
  ['OBO', 'p.owl', 'format-version: 1.2\n', 'source/type', /is OBO/],
  [
    'another encoding of Turtle',
    'q.ttl',
    Buffer.from(`${TURTLE}:x :y "\u00e9" .`, 'latin1'),
    'source/encoding',
    /q\.ttl, line \d, column \d+, is not in UTF-8/,
  ],
  [
    'another encoding of XML',
    'r.rdf',
    `<?xml version="1.0" encoding="ISO-8859-1"?>${RDF_XML}`,
    'source/encoding',
    /r\.rdf, line 1, is not in UTF-8/,
  ],
  ['UTF-16', 's.rdf', Buffer.from(`\ufeff${RDF_XML}`, 'utf16le'), 'source/encoding', /s\.rdf is in UTF-16/],
  ['entities of entities', 't.rdf', BOMB, 'limit/exceeded', /With its entities written out, t\.rdf is longer than 20 MB/],
  [
    'an entity of another file',
    'u.rdf',
    `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>${RDF_XML}`,
    'source/malformed',
    /u\.rdf declares an entity otherwise/,
  ],
  ['too many values', 'v.jsonld', `{"urn:a": [${'1,'.repeat(200_000)}1]}`, 'limit/exceeded', /v\.jsonld has more than 200,000 values/],
  ['too much JSON', 'w.jsonld', `{"urn:a": "${'x'.repeat(20_000_000)}"}`, 'limit/exceeded', /w\.jsonld is larger than 20 MB/],
])('%s is refused', async (_, name, content, code, says) => {
  const fault = await faultOf(name, content);
  expect([fault.code, fault.message, fault.place.input]).toEqual([code, expect.stringMatching(says), name]);
  expect(fault.hint).toMatch(/\w/);
});

describe('prefixes', () => {
  const owl = 'http://www.w3.org/2002/07/owl#';
  test.each<[string, string, string]>([
    [
      'shop.ttl',
      'of Turtle',
      `# @prefix old: <${SHOP}> .\n@prefix : <${SHOP}> . @prefix shop: <${SHOP}> . PREFIX owl: <${owl}>\nshop:Order a owl:Class .`,
    ],
    [
      'shop.rdf',
      'of XML, by an entity',
      `<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [ <!ENTITY s "${SHOP}" > ]>\n<!-- <x xmlns:no="${SHOP}"> -->\n${RDF_XML.replace('xmlns=', 'xmlns:shop="&s;" xmlns=')}`,
    ],
    [
      'shop.jsonld',
      'of JSON-LD',
      JSON.stringify({ '@context': [{ shop: SHOP, term: `${SHOP}term`, owl: { '@id': owl } }], '@id': 'shop:Order', '@type': 'owl:Class' }),
    ],
  ])('%s: those %s that its terms have', async (name, _, text) => {
    const { terms, prefixes } = await read(name, text);
    expect(terms.map(({ iri }) => iri)).toEqual([`${SHOP}Order`]);
    expect(prefixes).toEqual({ shop: SHOP });
  });

  test.each<[string, string]>([
    ['shop.ttl', `@prefix : <${SHOP}> . @prefix owl: <${owl}> .\n:Order a owl:Class .`],
    ['shop.rdf', RDF_XML],
    ['shop.jsonld', JSON.stringify({ '@context': { '@vocab': SHOP }, '@id': `${SHOP}Order`, '@type': `${owl}Class` })],
  ])('%s: the empty one, where its namespace has no other', async (name, text) => {
    expect((await read(name, text)).prefixes).toEqual({ '': SHOP });
  });
});
