/** Why records are not divided, streamed or left to a database, as `explain` says it. */
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

async function explained(text: string, facts: CatalogueMetadata): Promise<readonly string[]> {
  const prefixes = `${PREFIXES}@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n`;
  const { mapping, diagnostics } = await readMapping([{ name: 'm.ttl', text: prefixes + text }], { baseIri: 'http://e/' });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return explainPlan(mapping, 'http://e/', facts).split('\n');
}

async function divisions(text: string, facts: CatalogueMetadata = NO_METADATA): Promise<string> {
  const lines = await explained(text, facts);
  // Without the numbers of nodes.
  return lines
    .filter((line) => /^ {2}(threads|workers) |^ {4}\d+ (reads|needs|is made|has no|adds|compares|makes|writes)|^ {4}its scans/.test(line))
    .map((line) => line.trim().replace(/^\d+ /, ''))
    .join('\n');
}

/** What stands below a heading, without the numbers of nodes. */
async function below(heading: RegExp, text: string, facts: CatalogueMetadata = NO_METADATA): Promise<readonly string[]> {
  const lines = await explained(text, facts);
  return lines.flatMap((line, i) => {
    if (!heading.test(line)) return [];
    const end = lines.findIndex((other, at) => at > i && !other.startsWith('    '));
    return lines.slice(i, end).map((one) => one.trim().replace(/^\d+ /, ''));
  });
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
    ['a join with a file that is read before', map('A', parent('P')) + map('P', value), WITH_SIDES],
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
      DIVIDED,
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

describe('records are streamed of', () => {
  const SUBJECTS = 'keeps hashes of subjects and their objects, and compares at the end what does not fit in memory';
  const BUILD = 'keeps all of its rows: others are looked up in them';
  const BUT = 'streams its records, but';

  test.each<[what: string, mapping: string, expected: readonly string[]]>([
    ['a file', map('A', value), [BUT, SUBJECTS]],
    [
      'triples maps that make equal statements',
      map('A', value) + map('A', value).replace('<#A>', '<#B>'),
      [BUT, 'keeps hashes of statements, and compares at the end what does not fit in memory'],
    ],
    ['a join with a file that is read before', map('A', parent('P')) + map('P', value), [BUT, SUBJECTS, BUILD, SUBJECTS]],
    [
      'a join with the same file',
      map('A', parent('A')),
      [BUT, BUILD, 'pairs its rows at the end: its build side is read with them, or behind them', SUBJECTS],
    ],
    ['a list for each row', map('A', list('')), [BUT, SUBJECTS]],
    [
      'a list of all rows',
      map('A', list('; rml:template "http://e/list"')),
      [BUT, SUBJECTS, 'keeps members until the end: any row may append to its collection'],
    ],
    [
      'a promise of a view',
      `${view} ; rml:structuralAnnotation [ a rml:UniqueAnnotation ; rml:onFields ( "id" ) ] .\n<#M> ${overView} ; ${value.replace('"v"', '"id"')} .`,
      [BUT, 'keeps the values of all rows, and compares at the end what does not fit in memory'],
    ],
  ])('%s', async (_, mapping, expected) => {
    expect(await below(/^ {2}streams/, mapping)).toEqual(expected);
  });

  test('a table with a key', async () => {
    const text =
      '@prefix rr: <http://www.w3.org/ns/r2rml#> .\n<#t> rr:logicalTable [ rr:tableName "t" ] ; rr:subjectMap [ rr:template "http://t/{id}" ; rr:class <http://e/T> ] .';
    const facts: CatalogueMetadata = { ...NO_METADATA, isSingle: () => true, isKey: () => true };
    expect(await below(/^ {2}streams/, text, facts)).toEqual(['streams its records']);
  });
});

describe('a database is not asked for', () => {
  const rr = '@prefix rr: <http://www.w3.org/ns/r2rml#> .\n';
  const table = (name: string, rest = '', source = `rr:tableName "${name}"`) =>
    `<#${name}> rr:logicalTable [ ${source} ] ; rr:subjectMap [ rr:template "http://${name}/{${name}}" ] ${rest} .\n`;
  const joined = (conditions: string) =>
    `; rr:predicateObjectMap [ rr:predicate ex:to ; rr:objectMap [ rr:parentTriplesMap <#p> ${conditions} ] ]`;
  const byColumns = '; rr:joinCondition [ rr:child "k" ; rr:parent "k" ]';
  const tables = (child: string, source?: string) => rr + table('c', child, source) + table('p');
  const canJoin: CatalogueMetadata = { ...NO_METADATA, isAlwaysValid: () => true, canJoin: () => true };

  test.each<[what: string, mapping: string, facts: CatalogueMetadata, reason: string | undefined]>([
    ['what it makes', tables(joined(byColumns)), canJoin, undefined],
    [
      'a join by columns that it does not compare as texts',
      tables(joined(byColumns)),
      NO_METADATA,
      'is a join that compares columns of two databases, or of types whose values may be equal where texts differ',
    ],
    ['a join without a condition', tables(joined('')), canJoin, 'is a join that has no condition'],
    ['a join with a file', map('A', parent('p')) + rr + table('p'), canJoin, 'is a join that reads a file on one side'],
    [
      'a filter',
      `${rr}${table('c')}<#c> rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rml:reference "v" ; rml:condition [ rml:functionExecution [
        rml:function <http://users.ugent.be/~bjdmeest/function/grel.ttl#string_contains> ;
        rml:input [ rml:parameter <http://users.ugent.be/~bjdmeest/function/grel.ttl#valueParam> ; rml:inputValueMap [ rml:reference "v" ] ] ,
          [ rml:parameter <http://users.ugent.be/~bjdmeest/function/grel.ttl#string_sub> ; rml:inputValue "b" ] ] ] ] ] .`,
      canJoin,
      'checks a condition of each row',
    ],
    ['a join of files', map('A', parent('P')) + map('P', value), canJoin, undefined],
    [
      'fewer columns of a query',
      tables('', 'rr:sqlQuery "SELECT * FROM c"'),
      canJoin,
      'is a query, which runs as it is written, with all of its columns',
    ],
  ])('%s', async (_, mapping, facts, reason) => {
    const expected = reason === undefined ? [] : ['leaves to no database:', reason];
    expect(await below(/^ {2}leaves to no database/, mapping, facts)).toEqual(expected);
  });
});
