/** Lines of jobs for DuckDB against those of runs, and what is refused. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { transpileFiles } from '../../../bin/commands/mappings/compile.ts';
import { lexicalSpace } from '../../../src/core/input/lexical-form.ts';
import { toBytes } from '../../../src/core/text.ts';
import { lexicalPattern, WITH_PATTERN } from '../../../src/transpile/dialects/lexical.ts';
import { Random, seeds } from '../../support/random.ts';
import { logicalSource, writeAwkward, writeMapping } from './cases.ts';
import { type Engine, startDuckdb } from './duckdb.ts';
import { BASE, linesOfRun } from './lines.ts';

let engine: Engine;
const directory = mkdtempSync(join(tmpdir(), 'quadmill-transpile-'));

beforeAll(async () => {
  engine = await startDuckdb();
});

afterAll(async () => {
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

const compiled = (mapping: string, own: string, places: Readonly<Record<string, string>> = {}) =>
  transpileFiles([mapping], 'duckdb', new Map(Object.entries(places)), BASE, own);

/** The lines, or the message of the failure. */
async function outcome(mapping: string, own: string): Promise<string[] | string> {
  const job = await compiled(mapping, own);
  expect(job.refusals).toEqual([]);
  return engine.run(job).catch((error: Error) => error.message);
}

test.each(seeds(1, 1))('gives the lines of a run for awkward data, seed %i', async (seed) => {
  const own = join(directory, `awkward-${seed}`);
  mkdirSync(own);
  for (const { name, directory: place, mapping } of writeAwkward(own, seed))
    expect([name, await outcome(mapping, place)]).toEqual([name, await linesOfRun(mapping, place)]);
});

/** Object map and cell: the job fails, as the run does. */
const INVALID: readonly (readonly [name: string, object: string, value: string, message: string])[] = [
  ['an IRI with a space', 'rml:reference "v" ; rml:termType rml:IRI', 'http://e/a b', 'an IRI holds a character'],
  ['a value outside of the lexical space', 'rml:reference "v" ; rml:datatype xsd:date', '2023-02-29', 'is not in the lexical space'],
  ['a language tag', 'rml:reference "id" ; rml:languageMap [ rml:reference "v" ]', 'not a tag', 'a language tag is not well-formed'],
];

describe('ends the job for', () => {
  test.each(INVALID)('%s', async (_, object, value, message) => {
    const { mapping, directory: own } = writeMapping(directory, 'invalid', {
      'mapping.ttl': `<#M> SOURCE(v.csv,CSV) ; rml:subjectMap [ rml:template "http://e/{id}" ] ; rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ ${object} ] ] .`,
      'v.csv': `id,v\n1,${value}\n`,
    });
    expect(await linesOfRun(mapping, own)).toBe('record/term');
    expect(await outcome(mapping, own)).toContain(message);
  });

  test.each([
    ['an array', '{"id":1,"v":[1]}', 'points at an array'],
    ['an object', '{"id":1,"v":{}}', 'points at an object'],
    ['a word that is no JSON', '{"id":1,"v":nan}', ''],
    ['two values of a member', '{"id":1,"v":1,"v":2}', 'two members with the same name'],
  ])('%s in JSON', async (_, line, message) => {
    const { mapping, directory: own } = writeMapping(directory, 'invalid-json', {
      'mapping.ttl':
        '<#M> SOURCE(v.jsonl,JSONPath) ; rml:subjectMap [ rml:template "http://e/{id}" ] ; rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ rml:reference "v" ] ] .',
      'v.jsonl': `${line}\n`,
    });
    const failure = await outcome(mapping, own);
    expect(typeof failure).toBe('string');
    expect(failure).toContain(message);
  });

  test('a column that the header has in another case', async () => {
    const { mapping, directory: own } = writeMapping(directory, 'case', {
      'mapping.ttl': '<#M> SOURCE(v.csv,CSV) ; rml:subjectMap [ rml:template "http://e/{ID}" ; rml:class e:C ] .',
      'v.csv': 'id\n1\n',
    });
    expect(await outcome(mapping, own)).toContain('the header does not have the column "ID" once');
  });

  test('a row with another number of cells than the header', async () => {
    const { mapping, directory: own } = writeMapping(directory, 'short', {
      'mapping.ttl': '<#M> SOURCE(v.csv,CSV) ; rml:subjectMap [ rml:template "http://e/{id}" ; rml:class e:C ] .',
      'v.csv': 'id,v\n1,2\n3\n',
    });
    expect(await outcome(mapping, own)).toEqual(expect.any(String));
  });
});

test('does not look at other terms of a record without a subject', async () => {
  const { mapping, directory: own } = writeMapping(directory, 'absent', {
    'mapping.ttl':
      '<#M> SOURCE(v.jsonl,JSONPath) ; rml:subjectMap [ rml:template "http://e/{id}" ] ; rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ rml:reference "v" ; rml:termType rml:IRI ] ] .',
    'v.jsonl': '{"v":"a b"}\n{"id":1,"v":"c"}\n',
  });
  const lines = await linesOfRun(mapping, own);
  expect(lines).toHaveLength(1);
  expect(await outcome(mapping, own)).toEqual(lines);
});

test('reads a table of the engine in the place of a file', async () => {
  const { mapping, directory: own } = writeMapping(directory, 'table', {
    'mapping.ttl':
      '<#M> SOURCE(v.csv,CSV) ; rml:subjectMap [ rml:template "http://e/{id}" ] ; rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ rml:reference "v" ] ] .',
    'v.csv': 'id,v\n1,"a ""b"""\n2,c\n',
  });
  const rows = (id: string): string => `table:(SELECT * FROM (VALUES (${id}, 'a "b"'), ('2', 'c'), ('3', NULL)) AS t(id, v))`;
  const lines = await linesOfRun(mapping, own);
  const place = async (id: string) => engine.run(await compiled(mapping, own, { 'v.csv': rows(id) }));
  expect(await place("'1'")).toEqual(lines);
  await expect(place('CAST(1 AS INTEGER)')).rejects.toThrow();
});

test('refuses what it cannot, with every reason and its line', async () => {
  const { mapping, directory: own } = writeMapping(directory, 'refused', {
    'mapping.ttl': `<#M> SOURCE(v.json,JSONPath) ;
rml:subjectMap [ rml:termType rml:BlankNode ] ;
rml:predicateObjectMap [ rml:predicate e:p ; rml:objectMap [ rml:reference "$..v" ] ] ;
rml:predicateObjectMap [ rml:predicate e:q ; rml:objectMap [ rml:reference "v" ; rml:datatype xsd:base64Binary ] ] ;
rml:predicateObjectMap [ rml:predicate e:r ; rml:objectMap [ rml:template "http://e/{v}" ; rml:gather ( [ rml:reference "v" ] ) ; rml:gatherAs rdf:List ] ] ;
rml:predicateObjectMap [ rml:predicate e:r ; rml:objectMap [ rml:gather ( [ rml:reference "v" ] [ rml:reference "w" ] ) ; rml:gatherAs rdf:List ; rml:strategy rml:cartesianProduct ] ] ;
rml:predicateObjectMap [ rml:predicate e:r ; rml:objectMap [ rml:gather ( [ rml:template "{v[*]}-{w[*]}" ; rml:termType rml:Literal ] ) ; rml:gatherAs rdf:Bag ] ] ;
rml:predicateObjectMap [ rml:predicate e:r ; rml:objectMap [ rml:gather (
[ rml:parentTriplesMap <#O> ; rml:joinCondition [ rml:child "v" ; rml:parent "v" ] ] ) ; rml:gatherAs rdf:Bag ] ] .
<#O> SOURCE(v.json,JSONPath) ; rml:subjectMap [ rml:template "http://e/{v}" ] .
<#N> SOURCE(v.xml,XPath) ; rml:subjectMap [ rml:template "http://e/{v}" ; rml:class e:C ] .
<#V> rml:viewOn ${logicalSource('v.json', 'rml:referenceFormulation rml:JSONPath')} ; rml:field [ rml:fieldName "f" ; rml:reference "f[*]" ] , [ rml:fieldName "t" ; rml:template "{f[*]}-" ] ,
[ a rml:IterableField ; rml:fieldName "i" ; rml:iterator "$.i" ; rml:field [ rml:fieldName "x" ; rml:reference "x" ] ] .
<#P> rml:logicalSource <#V> ; rml:subjectMap [ rml:template "http://e/{f}/{i.x}" ; rml:class e:C ] .
<#Q> rml:logicalSource <#V> ; rml:subjectMap [ rml:template "http://e/{t}" ; rml:class e:C ] .
<#R> rml:logicalSource <#V> ;
rml:subjectMap [ rml:template "http://e/{f.#}" ; rml:class e:C ] .
<#W> rml:viewOn ${logicalSource('v.json', 'rml:referenceFormulation rml:JSONPath')} ; rml:field [ rml:fieldName "f" ; rml:reference "f[*]" ] .
<#X> rml:logicalSource <#W> ;
rml:subjectMap [ rml:termType rml:BlankNode ; rml:class e:C ] .`,
  });
  const { refusals } = await compiled(mapping, own);
  const first = refusals[0]?.origin.line as number;
  expect(refusals.map(({ origin, reason }) => [origin.line - first, reason.replace(/:.*/, '')])).toEqual([
    [0, 'the reference "$..v"'],
    [1, 'the check of values of http'],
    [2, 'a collection with a name'],
    [3, 'a collection for each combination of its members (rml'],
    [4, 'members of a collection of several references with several values, or of a function or condition over them'],
    [6, 'members of a collection that a join finds'],
    [8, 'the XML document "v.xml"'],
    [9, 'a template or function over a reference with several values in a view'],
    [10, 'an iterable field of a view, unless its iterator is the names of members of JSON and one [*] at its end'],
    [14, 'a position of rows (#)'],
    [17, 'a blank node for each row of a view that has several rows for a record'],
  ]);
});

/** Texts near the borders of lexical spaces. */
const FORMS = [
  ...[
    '',
    '0',
    '-0',
    '+0',
    '007',
    '1',
    '-1',
    '+1',
    '1.',
    '.5',
    '.',
    '-',
    '1e5',
    '1E+5',
    'e5',
    'INF',
    '+INF',
    '-INF',
    'NaN',
    'nan',
    'true',
    'TRUE',
    '1 ',
    ' 1',
    '1\n',
  ],
  ...[
    '127',
    '128',
    '-128',
    '-129',
    '255',
    '256',
    '32767',
    '32768',
    '-32768',
    '-32769',
    '65535',
    '65536',
    '2147483647',
    '2147483648',
    '-2147483648',
    '4294967295',
  ],
  ...[
    '9223372036854775807',
    '9223372036854775808',
    '-9223372036854775808',
    '18446744073709551615',
    '18446744073709551616',
    '00255',
    '+00256',
  ],
  ...[
    '2024-02-29',
    '2023-02-29',
    '1900-02-29',
    '2000-02-29',
    '0000-02-29',
    '-0004-02-29',
    '12000-02-29',
    '12100-02-29',
    '2024-04-31',
    '2024-12-31',
    '2024-13-01',
    '02024-01-01',
    '2024-02-28Z',
  ],
  ...[
    '2024-02-28T24:00:00',
    '2024-02-28T24:00:01',
    '2024-02-28T23:59:60',
    '2024-02-28T23:59:59.5+14:00',
    '2024-02-28T00:00:00-14:01',
    '13:30:00',
    '24:00:00.0',
  ],
  ...[
    '2024',
    '2024-02',
    '-2024Z',
    '024',
    'P1Y',
    'P',
    'PT',
    'P1DT',
    'P1Y2M3DT4H5M6.7S',
    '-PT5M',
    'P1M1Y',
    'PT1.S',
    'P1DT1M1H',
    'P1S',
    'en',
    'de-CH-1996',
    'a\tb',
    '0f',
    '0F1',
    'x',
  ],
];

test('has the lexical spaces of the datatypes', () => {
  const random = new Random(7);
  const made = Array.from({ length: 300 }, () =>
    Array.from({ length: random.between(1, 9) }, () => random.pick([...'0123456789-+.:TZPYMDHSE'])).join(''),
  );
  const years = Array.from({ length: 210 }, (_, year) => `${String(1800 + year)}-02-29`);
  for (const datatype of WITH_PATTERN) {
    const { has } = lexicalSpace(datatype) as { readonly has: (text: string) => boolean };
    const pattern = new RegExp((lexicalPattern(datatype) as string).replace('\\z', '$'));
    for (const form of [...FORMS, ...made, ...years])
      expect([datatype, form, pattern.test(form)]).toEqual([datatype, form, has(toBytes(form))]);
  }
});

test('writes no line for a mapping without rules', async () => {
  writeFileSync(join(directory, 'v.csv'), 'id\n1\n');
  const { mapping, directory: own } = writeMapping(directory, 'empty', {
    'mapping.ttl': '<#M> SOURCE(v.csv,CSV) ; rml:subjectMap [ rml:template "http://e/{id}" ] .',
    'v.csv': 'id\n1\n',
  });
  expect(await outcome(mapping, own)).toEqual([]);
});
