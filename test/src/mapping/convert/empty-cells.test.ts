/** An empty cell is no value in the older dialects, and a text in today's RML unless the source says otherwise: conversions keep which it is. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { convertMapping, type Language } from '../../../../src/mapping/convert/convert.ts';
import { linesOf } from '../../run/random/engine.ts';

const YARRRML = (source: string): string => `prefixes: {ex: "http://e.org/"}
mappings:
  p:
    sources: [${source}]
    s: ex:$(id)
    po: [[ex:name, $(name)], [ex:page, $(page)~iri]]
`;

const LEGACY = (source: string): string => `@prefix rml: <http://semweb.mmlab.be/ns/rml#> . @prefix ql: <http://semweb.mmlab.be/ns/ql#> .
@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix csvw: <http://www.w3.org/ns/csvw#> . @prefix ex: <http://e.org/> .
<#p> rml:logicalSource [ rml:source ${source} ; rml:referenceFormulation ql:CSV ] ; rr:subjectMap [ rr:template "http://e.org/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rml:reference "name" ] ] .
`;

const RML = (source: string, formulation = 'CSV', more = ''): string => `@prefix rml: <http://w3id.org/rml/> .
@prefix csvw: <http://www.w3.org/ns/csvw#> . @prefix ex: <http://e.org/> .
<#p> rml:logicalSource [ rml:source [ ${source} ] ; rml:referenceFormulation rml:${formulation} ${more} ] ;
  rml:subjectMap [ rml:template "http://e.org/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .
`;

const FILE = (path: string, more = ''): string => `a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "${path}" ${more}`;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-empty-cells-'));
  writeFileSync(join(directory, 'p.csv'), 'id,name,page\n1,Ann,http://a/\n2,,\n3,NA,\n');
  writeFileSync(join(directory, 'p.tsv'), 'id\tname\tpage\n1\tAnn\thttp://a/\n2\t\t\n');
  writeFileSync(join(directory, 'semicolons.csv'), 'id;name;page\n1;Ann;http://a/\n2;;\n');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function linesFrom(name: string, text: string): Promise<readonly string[]> {
  writeFileSync(join(directory, name), text);
  return [...(await linesOf({ mappings: [join(directory, name)], workingDirectory: directory }))].sort();
}

const fileOf = (text: string): string => (text.startsWith('prefixes') ? 'm.yml' : 'm.ttl');

async function convert(text: string, to: Language) {
  return convertMapping([{ name: fileOf(text), text }], to, { baseIri: 'http://base/' });
}

describe('makes the same statements of empty cells, and says so', () => {
  test.each<[name: string, to: Language, says: string, text: string]>([
    ['a YARRRML source', 'rml', 'rml:path "p.csv" ; rml:null ""', YARRRML('[p.csv~csv]')],
    ['a YARRRML source of tabs', 'rml', 'rml:path "p.tsv" ; rml:null ""', YARRRML('[p.tsv~csv]')],
    [
      'a YARRRML source with a delimiter',
      'rml',
      'csvw:null ""',
      YARRRML('{access: semicolons.csv, referenceFormulation: csv, delimiter: ";"}'),
    ],
    ['a legacy source', 'rml', 'rml:path "p.csv" ; rml:null ""', LEGACY('"p.csv"')],
    ['a legacy table of CSVW', 'rml', 'csvw:null ""', LEGACY('[ a csvw:Table ; csvw:url "p.csv" ]')],
    ['a legacy table with another null', 'rml', 'csvw:null "", "NA"', LEGACY('[ a csvw:Table ; csvw:url "p.csv" ; csvw:null "NA" ]')],
    ['a legacy table that says it', 'yarrrml', 'sources: [[p.csv~csv]]', LEGACY('[ a csvw:Table ; csvw:url "p.csv" ; csvw:null "" ]')],
    ['a file of today’s RML', 'yarrrml', 'sources: [[p.csv~csv]]', RML(FILE('p.csv', '; rml:null ""'))],
    ['a file of today’s RML', 'legacy', 'csvw:url "p.csv" ; csvw:null ""', RML(FILE('p.csv', '; rml:null ""'))],
    ['a file with another null', 'legacy', 'csvw:null "", "NA"', RML(FILE('p.csv', '; rml:null "", "NA"'))],
    ['a table of today’s RML', 'legacy', 'csvw:null ""', RML('a csvw:Table ; csvw:url "p.csv" ; rml:null ""')],
  ])('%s as %s', async (_, to, says, text) => {
    const { text: converted = '', diagnostics } = await convert(text, to);
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(converted).toContain(says);
    const before = await linesFrom(`before-${fileOf(text)}`, text);
    expect(before.length).toBeGreaterThan(0);
    expect(before.join('')).not.toContain('""');
    expect(await linesFrom(to === 'yarrrml' ? 'after.yml' : 'after.ttl', converted)).toEqual(before);
  });
});

describe('what a language says in another way is reported', () => {
  test.each<[name: string, text: string, to: Language, told: readonly string[]]>([
    ['a YARRRML source', YARRRML('[p.csv~csv]'), 'rml', ["read as today's RML, an empty cell in quotes is no value"]],
    ['a workbook has no quotes', YARRRML('[p.xlsx~csv]'), 'rml', []],
    ['texts are not null', RML(FILE('p.csv')), 'yarrrml', ['read as legacy RML, an empty cell without quotes is no value']],
    ['nothing is lost', LEGACY('[ a csvw:Table ; csvw:url "p.csv" ; csvw:null "" ]'), 'rml', []],
    ['NA means null', RML(FILE('p.csv', '; rml:null "NA"')), 'yarrrml', ['YARRRML cannot say texts that mean null']],
    [
      'JSON in YARRRML',
      RML(FILE('p.json', '; rml:null ""'), 'JSONPath', '; rml:iterator "$[*]"'),
      'yarrrml',
      ['YARRRML cannot say texts that mean null'],
    ],
    [
      'JSON in legacy RML',
      RML(FILE('p.json', '; rml:null ""'), 'JSONPath', '; rml:iterator "$[*]"'),
      'legacy',
      ['legacy RML cannot say rml:null of a file'],
    ],
  ])('%s', async (_, text, to, told) => {
    const { diagnostics } = await convert(text, to);
    const messages = diagnostics.map(({ message }) => message.replace(/^mappings.*\]: /, ''));
    expect(messages).toEqual(told);
  });

  test('a view of YARRRML is today’s RML: its empty cells stay texts', async () => {
    const text = `prefixes: {ex: "http://e.org/"}
views:
  v: {source: [p.csv~csv], fields: {id: $(id), name: $(name)}}
mappings:
  p: {sources: v, s: ex:$(id), po: [[ex:name, $(name)]]}
`;
    const { text: converted = '', diagnostics } = await convert(text, 'rml');
    expect(diagnostics).toEqual([]);
    expect(converted).not.toContain('null');
    const before = await linesFrom('before.yml', text);
    expect(before).toContain('<http://e.org/2> <http://e.org/name> "" .');
    expect(await linesFrom('after.ttl', converted)).toEqual(before);
  });
});
