/** Why records are not divided, as `explain` says it. */
import { describe, expect, test } from '@jest/globals';
import { readMapping } from '../../../../src/mapping/parse/read.ts';
import { type CatalogueMetadata, NO_METADATA } from '../../../../src/plan/catalogue-metadata.ts';
import { explainPlan } from '../../../../src/plan/explain.ts';

const PREFIXES = '@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.com/ns#> . @base <http://example.com/mapping/> .\n';
const file = (path: string) => `rml:source [ a rml:RelativePathSource ; rml:path "${path}" ] ; rml:referenceFormulation rml:CSV`;
const source = (path: string) => `rml:logicalSource [ ${file(path)} ]`;
const view = `<#V> a rml:LogicalView ; rml:viewOn [ ${file('a.csv')} ] ; rml:field [ rml:fieldName "id" ; rml:reference "id" ]`;
const overView = 'rml:logicalSource <#V> ; rml:subjectMap [ rml:template "http://e/{id}" ]';
const map = (name: string, rest: string) =>
  `<#${name}> ${source(`${name.toLowerCase()}.csv`)} ; rml:subjectMap [ rml:template "http://${name}/{id}" ] ; ${rest} .\n`;
const parent = (name: string) =>
  `rml:predicateObjectMap [ rml:predicate ex:to ; rml:objectMap [ rml:parentTriplesMap <#${name}> ; rml:joinCondition [ rml:child "k" ; rml:parent "k" ] ] ]`;
const value = 'rml:predicateObjectMap [ rml:predicate ex:v ; rml:objectMap [ rml:reference "v" ] ]';
const list = (head: string) =>
  `rml:predicateObjectMap [ rml:predicate ex:l ; rml:objectMap [ rml:gather ( [ rml:reference "v" ] ) ; rml:gatherAs rdf:List ${head} ] ]`;

async function divisions(text: string, facts: CatalogueMetadata = NO_METADATA): Promise<string> {
  const prefixes = `${PREFIXES}@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n`;
  const { mapping, diagnostics } = await readMapping([{ name: 'm.ttl', text: prefixes + text }], { baseIri: 'http://e/' });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const lines = explainPlan(mapping, 'http://e/', facts).split('\n');
  // Without the numbers of nodes.
  return lines
    .filter((line) => /^ {2}(threads|workers) |^ {4}\d+ (reads|needs|is made|has no|adds|compares|makes|writes)|^ {4}its scans/.test(line))
    .map((line) => line.trim().replace(/^\d+ /, ''))
    .join('\n');
}

const DIVIDED = ['threads divide the records', 'workers divide the records'];
const WITH_SIDES = DIVIDED.map((text) => `${text}, if each can read the build sides of the joins`);
const whole = (parts: string, ...reasons: string[]) => [`${parts} do not divide the records:`, ...reasons];
const PAIRS = 'makes pairs of rows, which the database gives once for a query, and not for several';

describe('records of', () => {
  test.each<[what: string, mapping: string, expected: readonly string[]]>([
    ['a file', map('A', value), DIVIDED],
    ['a list for each row', map('A', list('')), DIVIDED],
    [
      'a list of all rows',
      map('A', list('; rml:template "http://e/list"')),
      [
        ...whole('threads', 'adds rows to one collection, in their order'),
        ...whole('workers', 'adds rows to one collection, in their order'),
      ],
    ],
    [
      'a join with a file that is read before',
      map('A', parent('P')) + map('P', value),
      WITH_SIDES,
    ],
    ['a join with the same file', map('A', parent('A')), WITH_SIDES],
    [
      'a view that joins another one',
      `${view} ; rml:leftJoin [ rml:parentLogicalView <#W> ; rml:joinCondition [ rml:child "id" ; rml:parent "id" ] ; rml:field [ rml:fieldName "v" ; rml:reference "v" ] ] .
       <#W> a rml:LogicalView ; rml:viewOn [ ${file('b.csv')} ] ; rml:field [ rml:fieldName "id" ; rml:reference "id" ] , [ rml:fieldName "v" ; rml:reference "v" ] .
       <#M> ${overView} ; ${value} .`,
      WITH_SIDES,
    ],
    [
      'a promise of a view',
      `${view} ; rml:structuralAnnotation [ a rml:UniqueAnnotation ; rml:onFields ( "id" ) ] .\n<#M> ${overView} ; ${value.replace('"v"', '"id"')} .`,
      ['threads', 'workers'].flatMap((parts) =>
        whole(parts, 'reads the position of its record, which a part of the document does not know', 'needs all rows in one place'),
      ),
    ],
    [
      'a view whose positions are values',
      `${view} .\n<#M> ${overView} ; ${value.replace('"v"', '"#"')} .`,
      ['threads', 'workers'].flatMap((parts) =>
        whole(parts, 'reads the position of its record, which a part of the document does not know'),
      ),
    ],
    [
      'a triples map with a target',
      map(
        'A',
        `${value} ; rml:predicateObjectMap [ rml:predicate ex:w ; rml:objectMap [ rml:reference "w" ; rml:logicalTarget [ rml:target [ a rml:FilePath ; rml:path "t.nq" ] ] ] ]`,
      ),
      ['threads divide the records', ...whole('workers', 'writes a logical target, which is one file')],
    ],
  ])('%s', async (_, mapping, expected) => {
    expect((await divisions(mapping)).split('\n')).toEqual(expected);
  });

  test.each([
    ['pairs that a database makes, if no key names the child', false, ['threads', 'workers'].flatMap((parts) => whole(parts, PAIRS))],
    ['pairs that a database makes of children with a key', true, DIVIDED],
  ])('%s', async (_, identifiesRow, expected) => {
    const facts: CatalogueMetadata = {
      ...NO_METADATA,
      isSingle: () => true,
      isAlwaysValid: () => true,
      canJoin: () => true,
      areDistinct: () => true,
      identifiesRow: () => identifiesRow,
    };
    const table = (name: string, rest: string) =>
      `<#${name}> rr:logicalTable [ rr:tableName "${name}" ] ; rr:subjectMap [ rr:template "http://${name}/{${name}}" ] ${rest} .\n`;
    const join =
      '; rr:predicateObjectMap [ rr:predicate ex:to ; rr:objectMap [ rr:parentTriplesMap <#p> ; rr:joinCondition [ rr:child "k" ; rr:parent "k" ] ] ]';
    const text = `@prefix rr: <http://www.w3.org/ns/r2rml#> .\n${table('c', join)}${table('p', '')}`;
    // The parents have nothing to state.
    expect((await divisions(text, facts)).split('\n')).toEqual([...expected, ...DIVIDED]);
  });
});
