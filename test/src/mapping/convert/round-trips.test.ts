/**
 * A mapping that is converted to another language and back has the same normal form, so it makes the same statements. What a language cannot say
 * is an error, and what a conversion changes is a warning.
 *
 * The mappings of public suites are converted where `CONFORMANCE_CASES` names their folder.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { convertMapping, LANGUAGES, type Language } from '../../../../src/mapping/convert/convert.ts';
import { differences } from '../../../../src/mapping/convert/form.ts';
import { formatDiagnostic } from '../../../../src/mapping/model/diagnostics.ts';
import type { Diagnostic, Mapping } from '../../../../src/mapping/model/model.ts';
import { readMapping } from '../../../../src/mapping/parse/read.ts';
import { readManifest } from '../../../conformance/manifest.ts';

const fileOf = (language: Language): string => (language === 'yarrrml' ? 'a.yml' : 'a.ttl');

/** Why nothing was written: the language cannot say something. A text that would mean something else is a fault of the conversion. */
function reasonOf(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  expect(errors.length).toBeGreaterThan(0);
  for (const error of errors) if (error.code !== 'not-supported') throw new Error(formatDiagnostic(error));
  return 'refused';
}

/** `same`, or `refused` there, or `refused back`. */
async function roundTrip(mapping: Mapping, text: string, baseIri: string, to: Language): Promise<string> {
  const [first] = mapping.triplesMaps;
  if (first === undefined) return 'empty';
  const there = await convertMapping([{ name: 'a.ttl', text }], to, { baseIri });
  if (there.text === undefined) return reasonOf(there.diagnostics);
  const given = { name: fileOf(to), text: there.text };
  const middle = await readMapping([given], { baseIri });
  expect(middle.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const back = await convertMapping([given], first.dialect, { baseIri });
  if (back.text === undefined) return `${reasonOf(back.diagnostics)} back`;
  const again = await readMapping([{ name: 'a.ttl', text: back.text }], { baseIri });
  // R2RML names no database, and unquoted columns are in the letters of the database: a warning tells each.
  const told = (conversion: typeof there, message: RegExp): boolean => conversion.diagnostics.some((one) => message.test(one.message));
  const withoutConnections = told(there, /names no database/) || told(back, /names no database/);
  expect(differences(mapping, middle.mapping, { withoutConnections })).toEqual([]);
  // The older dialects have no value for an empty cell, so that it has none when it is back.
  const withoutEmptyCells = told(there, /an empty cell/);
  expect(differences(mapping, again.mapping, { withoutConnections, withoutEmptyCells })).toEqual([]);
  const isUnquoted = mapping.triplesMaps.some(
    ({ source, subject }) =>
      source.kind === 'sql' &&
      source.references === 'identifiers' &&
      /"(?:reference|child)":"[A-Za-z]/.test(JSON.stringify([subject, mapping.triplesMaps])),
  );
  if (isUnquoted && (to === 'rml' || to === 'legacy')) expect(told(there, /is not quoted/)).toBe(true);
  return 'same';
}

const folder = process.env.CONFORMANCE_CASES;
const cases = folder === undefined ? undefined : readManifest(folder);
const suites = cases === undefined ? test.skip : test;

/** How many of the 859 valid mappings each language says at least, the one that they are written in among them. */
const LEAST: Readonly<Record<Language, number>> = { rml: 850, legacy: 700, r2rml: 400, yarrrml: 780 };

describe('the mappings of public suites (skipped where CONFORMANCE_CASES names no folder)', () => {
  suites.each(LANGUAGES)('are the same after they were %s', async (to) => {
    const counts = new Map<string, number>();
    const files = new Map(
      (cases ?? []).flatMap((one) => (one.mapping === null ? [] : [[join(one.dir, one.mapping), one.baseIRI] as const])),
    );
    for (const [file, baseIri] of files) {
      // Cases with a database leave its address to the test.
      const text = readFileSync(join(folder as string, file), 'utf8').replaceAll('CONNECTIONDSN', 'jdbc:mysql://localhost/test');
      const { mapping, diagnostics } = await readMapping([{ name: 'a.ttl', text }], { baseIri });
      if (diagnostics.some(({ severity }) => severity === 'error')) continue;
      try {
        const outcome = await roundTrip(mapping, text, baseIri, to);
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      } catch (error) {
        throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
      }
    }
    expect(counts.get('same')).toBeGreaterThanOrEqual(LEAST[to]);
    expect(counts.get('refused back')).toBeUndefined();
  });
});

const YARRRML = `# people of the town
prefixes:
  ex: http://example.org/
  grel: http://users.ugent.be/~bjdmeest/function/grel.ttl#
mappings:
  # one for each row
  person:
    sources: [[people.csv~csv]]
    s: ex:$(id)
    po:
      - [foaf:name, $(name), en~lang]
      - p: ex:upper
        o: { function: grel:toUpperCase, parameters: [[grel:valueParameter, $(name)]] }
        condition: { function: equal, parameters: [[str1, $(town)], [str2, Ghent]] }
      - p: foaf:knows
        o: { mapping: person, condition: { function: equal, parameters: [[str1, $(boss), s], [str2, $(id), o]] } }
`;

describe('YARRRML', () => {
  test('becomes legacy RML with the same meaning, its prefixes and its comments', async () => {
    const options = { baseIri: 'http://base/' };
    const { text = '' } = await convertMapping([{ name: 'a.yml', text: YARRRML }], 'legacy', options);
    expect(text.startsWith('# people of the town\n')).toBe(true);
    expect(text).toMatch(/# one for each row\n<http:\/\/mapping.example.com\/person>/);
    expect(text).toContain('@prefix ex: <http://example.org/> .');
    const yarrrml = await readMapping([{ name: 'a.yml', text: YARRRML }], options);
    const { mapping, diagnostics } = await readMapping([{ name: 'a.ttl', text }], options);
    expect(diagnostics).toEqual([]);
    expect(differences(yarrrml.mapping, mapping, { withoutConnections: false })).toEqual([]);
    expect(differences(yarrrml.mapping, { ...mapping, triplesMaps: [] }, { withoutConnections: false })).toHaveLength(1);
  });

  test.each(['legacy', 'r2rml'] as const)('with views is refused as %s, with one message for each view', async (to) => {
    const text = `views:
  v: { source: a.csv~csv, fields: { id: $(id) }, annotations: [{ type: unique, fields: id }] }
  w:
    source: v
    fields: { id: $(id) }
    joins: [{ view: v, type: left, condition: { function: equal, parameters: [[str1, $(id), s], [str2, $(id), o]] }, fields: { other: $(id) } }]
mappings:
  m: { sources: w, s: http://x/$(id) }
`;
    const { text: converted, diagnostics } = await convertMapping([{ name: 'a.yml', text }], to, { baseIri: 'http://base/' });
    expect(converted).toBeUndefined();
    const name = to === 'legacy' ? 'legacy RML' : 'R2RML';
    expect(diagnostics.map(({ origin, message }) => `${origin.line} ${message}`)).toEqual([
      `2 ${name} cannot say a logical view`,
      `3 ${name} cannot say a logical view`,
    ]);
  });

  test('with functions is refused as R2RML, at their places', async () => {
    const text = YARRRML.replace('[[people.csv~csv]]', '[{table: people}]');
    const { text: converted, diagnostics } = await convertMapping([{ name: 'a.yml', text }], 'r2rml', { baseIri: 'http://base/' });
    expect(converted).toBeUndefined();
    expect(diagnostics.map(({ origin, message }) => `${origin.line} ${message}`)).toEqual([
      '14 R2RML cannot say a condition',
      '14 R2RML cannot say a function',
    ]);
  });
});

const TURTLE = `# People
# of the town

@prefix rml: <http://w3id.org/rml/> .
@prefix f: <http://xmlns.com/foaf/0.1/> .
@prefix grel: <http://example.com/my-own#> .
@base <http://example.com/maps> .

# each row
<#Person> a rml:TriplesMap ;
  # where from
  rml:logicalSource [
    rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "a.csv" ] ;
    rml:referenceFormulation rml:CSV
  ] ;
  rml:subjectMap [ rml:template "http://x/{id}" ; rml:class grel:Person ] ;
  # names
  rml:predicateObjectMap [ rml:predicate f:name ; rml:objectMap [ rml:reference "name" ] ] ;
  # ages
  # in years
  rml:predicateObjectMap [
    rml:predicate f:age ;
    # a number
    rml:objectMap [ rml:reference "age" ; rml:datatype <http://www.w3.org/2001/XMLSchema#integer> ]
  ] ;
  rml:predicateObjectMap [
    rml:predicate grel:query ;
    rml:object """a ;
      b"""
  ] .
`;

describe("today's RML", () => {
  const converted = async (text: string, to: Language) =>
    (await convertMapping([{ name: 'a.ttl', text }], to, { baseIri: 'http://b/' })).text;

  test("is written as people write it, with the author's prefixes, base and comments", async () => {
    const long = TURTLE.replace('rml:predicate f:name', 'rml:predicateMap [ a rml:PredicateMap ; rml:constant f:name ]')
      .replace('rml:datatype <', 'rml:datatypeMap [ rml:constant <')
      .replace('#integer>', '#integer> ]')
      .replace('rml:object """a ;\n      b"""', 'rml:objectMap [ rml:constant """a ;\n      b""" ]');
    expect(long).not.toBe(TURTLE);
    const text = await converted(long, 'rml');
    // The prefixes come in another order, and one is declared that the author did without.
    const body = (of: string | undefined): string | undefined => of?.slice(of.indexOf('# each row'));
    expect(body(text)).toBe(body(TURTLE.replace('<http://www.w3.org/2001/XMLSchema#integer>', 'xsd:integer')));
    expect(text?.startsWith('# People\n# of the town\n@prefix rml:')).toBe(true);
    for (const line of [
      '@prefix f: <http://xmlns.com/foaf/0.1/> .',
      '@prefix grel: <http://example.com/my-own#> .',
      '@base <http://example.com/maps> .',
    ])
      expect(text).toContain(`${line}\n`);
  });

  test("becomes YARRRML with the author's prefixes and comments", async () => {
    expect(await converted(TURTLE, 'yarrrml')).toBe(`# People
# of the town

base: http://example.com/maps#
prefixes:
  grel: http://example.com/my-own#
  f: http://xmlns.com/foaf/0.1/
mappings:
  # each row
  Person:
    sources: [[a.csv~csv]]
    s: http://x/$(id)
    po:
      - [a, grel:Person]
      # names
      - [f:name, $(name)]
      # ages
      # in years
      - [f:age, $(age), xsd:integer]
      - [grel:query, "a ;\\n      b"]

# where from
# a number
`);
  });
});

/** Every text and every constant of the normal form, with what leads to it. */
function* leavesOf(part: unknown, keys: readonly string[]): Generator<readonly string[]> {
  if (typeof part === 'string' || typeof part === 'boolean') yield keys;
  else if (typeof part === 'object' && part !== null)
    for (const [key, value] of Object.entries(part)) yield* leavesOf(value, [...keys, key]);
}

test('no part of a mapping is lost without being noticed', async () => {
  const { mapping } = await readMapping([{ name: 'a.yml', text: YARRRML }], { baseIri: 'http://base/' });
  const names = /^(?:id|ids|name|origin|iteratorOrigin|dialect|deterministic)$/;
  const leaves = [...leavesOf(mapping, [])].filter((keys) => !keys.some((key) => names.test(key)));
  expect(leaves.length).toBeGreaterThan(50);
  for (const keys of leaves) {
    const changed = structuredClone(mapping);
    const last = keys.at(-1) as string;
    // biome-ignore lint/suspicious/noExplicitAny: any part
    const owner = keys.slice(0, -1).reduce((part: any, key) => part[key], changed);
    // Kinds decide which other parts there are.
    if (last === 'kind') continue;
    owner[last] = typeof owner[last] === 'string' ? `${owner[last]}x` : !owner[last];
    // A parent that is not there cannot be compared.
    if (last === 'parent') continue;
    // An argument is a text, whatever its datatype.
    const isArgument = keys.includes('inputs') && (last === 'datatype' || last === 'language');
    expect([keys, differences(mapping, changed, { withoutConnections: false }).length]).toEqual([keys, isArgument ? 0 : 1]);
  }
});

test('a template with a condition is refused as legacy RML, unless it makes literals', async () => {
  const condition = 'condition: { function: equal, parameters: [[str1, $(town)], [str2, Ghent]] }';
  const findings = async (text: string): Promise<readonly string[]> => {
    const { diagnostics } = await convertMapping([{ name: 'a.yml', text }], 'legacy', { baseIri: 'http://base/' });
    return diagnostics.map(({ origin, message }) => `${origin.line} ${message}`);
  };
  const refused = '9 legacy RML cannot say a condition of a template that encodes its values';
  expect(await findings(YARRRML.replace('    po:', `    ${condition}\n    po:`))).toEqual([refused]);
  const call = 'o: { function: grel:toUpperCase, parameters: [[grel:valueParameter, $(name)]] }';
  expect(YARRRML).toContain(call);
  expect(await findings(YARRRML.replace(call, 'o: "$(name)!"'))).toEqual([]);
});

describe('what random mappings have found is converted, and means the same', () => {
  const condition = `rml:condition [ rml:functionExecution [ rml:function idlab-fn:equal ; rml:input [ rml:parameter grel:valueParameter ; rml:inputValueMap [ rml:reference "a" ] ] ; rml:input [ rml:parameter grel:valueParameter2 ; rml:inputValue "b" ] ] ]`;

  test.each<[name: string, objects: string]>([
    ['a constant behind a term map', 'rml:objectMap [ rml:reference "a" ] ; rml:object <http://x/y>'],
    ['a constant twice', 'rml:objectMap [ rml:constant <http://x/y> ] ; rml:object <http://x/y>'],
    ['two blank nodes', 'rml:objectMap [ rml:termType rml:BlankNode ] , [ rml:termType rml:BlankNode ]'],
    ['a constant with a language under a condition', `rml:objectMap [ rml:constant "x"@en ; ${condition} ]`],
    ['a constant with a datatype under a condition', `rml:objectMap [ rml:constant 5 ; ${condition} ]`],
    ['a datatype that ends like a language', 'rml:objectMap [ rml:reference "a" ; rml:datatype <http://x/en~lang> ]'],
    [
      'a template for a datatype that ends like a language',
      'rml:objectMap [ rml:reference "a" ; rml:datatypeMap [ rml:template "http://x/{a}~en~lang" ] ]',
    ],
  ])('%s', async (name, objects) => {
    const text = `@prefix rml: <http://w3id.org/rml/> .
@prefix grel: <http://users.ugent.be/~bjdmeest/function/grel.ttl#> .
@prefix idlab-fn: <https://w3id.org/imec/idlab/function#> .
<http://x/m> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "a.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://x/{a}" ] ; rml:predicateObjectMap [ rml:predicate <http://x/p> ; ${objects} ] .
`;
    const { mapping, diagnostics } = await readMapping([{ name: 'a.ttl', text }], { baseIri: 'http://base/' });
    expect(diagnostics).toEqual([]);
    for (const to of ['rml', 'legacy', 'yarrrml'] as const)
      expect([to, await roundTrip(mapping, text, 'http://base/', to)]).toEqual([
        to,
        to === 'legacy' && name.startsWith('a template') ? 'refused' : 'same',
      ]);
  });

  test('two blank nodes are not one', async () => {
    const one = `@prefix rml: <http://w3id.org/rml/> .
<http://x/m> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "a.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subject <http://x/s> ; rml:predicateObjectMap [ rml:predicate <http://x/p> ; rml:objectMap [ rml:termType rml:BlankNode ] ] .
`;
    const two = one.replace(/(\[ rml:termType rml:BlankNode \])/, '$1 , $1');
    const [before, after] = await Promise.all(
      [two, one].map(async (text) => (await readMapping([{ name: 'a.ttl', text }], { baseIri: 'http://base/' })).mapping),
    );
    expect(differences(before as Mapping, after as Mapping, { withoutConnections: false })).toHaveLength(1);
  });
});
