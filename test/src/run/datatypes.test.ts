/** Literals whose text is not in the lexical space of their datatype: data errors, warnings, or as they are; and objects that legacy RML leaves out. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { Fault } from '../../../src/core/fault.ts';
import { fromBytes } from '../../../src/core/text.ts';
import { flawWarnings, mergeFlaws } from '../../../src/run/report.ts';
import type { Flaw, RunReport, RunRequest } from '../../../src/run/request.ts';
import { executeRun } from '../../../src/run/run.ts';
import { writeSqlite } from '../../servers/databases/sqlite.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-datatypes-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

interface Ran {
  /** The objects, as they are written, sorted. */
  readonly objects: readonly string[];
  readonly report: RunReport | undefined;
  readonly fault: Fault | undefined;
}

let count = 0;

async function run(
  mapping: string,
  files: Readonly<Record<string, string>>,
  options: Partial<RunRequest> = {},
  extension = 'ttl',
): Promise<Ran> {
  const path = join(directory, `mapping-${count++}.${extension}`);
  writeFileSync(path, mapping);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  let lines = '';
  const sink = { write: (text: string) => void (lines += text), commit: async () => [], abort: async () => undefined };
  const paths = { mappings: [path], workingDirectory: directory, spillDirectory: directory };
  const attempt = executeRun({ ...RUN_DEFAULTS, runId: 'datatypes', inputs: [], ...paths, ...options }, sink, {});
  const outcome = await attempt.then(
    (report) => ({ report, fault: undefined }),
    (error: Fault) => ({ report: undefined, fault: error }),
  );
  if (outcome.fault !== undefined && !(outcome.fault instanceof Fault)) throw outcome.fault;
  return {
    ...outcome,
    objects: fromBytes(lines)
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' ').slice(2, -1).join(' '))
      .sort(),
  };
}

const PREFIXES = `
@prefix rml: <http://w3id.org/rml/> .
@prefix old: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> .
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix ex: <http://e/> .
`;

/** Today's RML over a file, with one object map. */
const today = (file: string, formulation: string, iterator: string, object: string): string => `${PREFIXES}
<#M> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${file}" ] ;
    rml:referenceFormulation rml:${formulation} ${iterator === '' ? '' : `; rml:iterator "${iterator}"`} ] ;
  rml:subject ex:s ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ ${object} ] ] .`;

const legacy = (file: string, formulation: string, iterator: string, rest: string): string => `${PREFIXES}
<#M> old:logicalSource [ old:source "${file}" ; old:referenceFormulation ql:${formulation} ${iterator === '' ? '' : `; old:iterator "${iterator}"`} ] ;
  ${rest} .`;

const typed = (type: string, text: string): string => `${JSON.stringify(text)}^^<http://www.w3.org/2001/XMLSchema#${type}>`;

/** Of each row the first value is in the lexical space, and the second one is not. */
const VALUES: readonly (readonly [type: string, good: string, bad: string])[] = [
  ['decimal', '10.5', '10.0.0.37'],
  ['decimal', '1.5', '1,5'],
  ['date', '2024-02-28', '28/02/2024'],
  ['date', '2024-02-29', '2023-02-29'],
  ['boolean', 'true', 'TRUE'],
  ['integer', '7', '7.0'],
  ['int', '2147483647', '2147483648'],
  ['double', '1E5', 'Infinity'],
  ['dateTime', '2024-02-28T10:00:00', '2024-02-28 10:00:00'],
  ['time', '10:00:00', '10:00'],
  ['gYear', '2024', '24'],
  ['duration', 'P1D', '1 day'],
  ['hexBinary', '0FB7', '0xFB'],
  ['base64Binary', 'D7c=', '0FB'],
  ['language', 'en-GB', 'en_GB'],
  ['token', 'a b', ' a b'],
  ['NCName', 'Zürich', '8001 Zürich'],
];

describe.each([
  ['CSV', 'csv', '', 'v', (values: readonly string[]) => `id,v\n${values.map((v, i) => `${i},"${v}"`).join('\n')}\n`],
  ['JSONPath', 'json', '$[*]', '$.v', (values: readonly string[]) => JSON.stringify(values.map((v) => ({ v })))],
  ['XPath', 'xml', '/r/i', 'v', (values: readonly string[]) => `<r>${values.map((v) => `<i><v>${v}</v></i>`).join('')}</r>`],
])('a literal of a column with a datatype, of %s', (formulation, ending, iterator, reference, fileOf) => {
  test.each(VALUES)('xsd:%s: %j is one, and %j is none', async (type, good, bad) => {
    const file = `values.${ending}`;
    const mapping = today(file, formulation, iterator, `rml:reference "${reference}" ; rml:datatype xsd:${type}`);
    const files = { [file]: fileOf([good, bad, good]) };
    const strict = await run(mapping, files);
    expect(strict.fault?.toJSON()).toMatchObject({
      code: 'record/term',
      place: { record: 1, value: JSON.stringify(bad), expression: reference },
    });
    expect(strict.fault?.message).toContain(`no xsd:${type}`);
    const skip = await run(mapping, files, { onError: 'skip' });
    expect(skip).toMatchObject({ objects: [typed(type, good)], report: { rejected: 1, warnings: [] } });
    const warn = await run(mapping, files, { datatypeCheck: 'warn' });
    expect(warn).toMatchObject({ objects: [typed(type, good), typed(type, bad)].sort(), report: { rejected: 0 } });
    expect(warn.report?.warnings).toEqual([expect.stringMatching(new RegExp(`^1 literal is ill-typed .*no xsd:${type}.*record 1, `))]);
    const off = await run(mapping, files, { datatypeCheck: 'off' });
    expect(off).toMatchObject({ objects: warn.objects, report: { warnings: [] } });
  });
});

describe('by the language of the mapping', () => {
  const files = { 'values.json': JSON.stringify([{ v: '10.0.0.37' }, { v: '5' }, { v: ['x', '7'] }]) };
  const written = [typed('decimal', '10.0.0.37'), typed('decimal', '5'), typed('decimal', '7'), typed('decimal', 'x')].sort();
  const good = [typed('decimal', '5'), typed('decimal', '7')];
  const mapping = legacy(
    'values.json',
    'JSONPath',
    '$[*]',
    `rr:subject ex:s ;
    rr:predicateObjectMap [ rr:predicate ex:p, ex:q ; rr:objectMap [ old:reference "v" ; rr:datatype xsd:decimal ] ]`,
  );

  test('legacy RML writes it, counts the values of each term map, and names the first one', async () => {
    const { objects, report } = await run(mapping, files);
    expect(objects).toEqual([...written, ...written].sort());
    expect(report?.warnings).toEqual([expect.stringContaining('2 literals are ill-typed and written all the same; the first: ')]);
    expect(report?.warnings[0]).toMatch(/values\.json, line 1, record 0, expression v, value "10\.0\.0\.37", mapping .*\.ttl:11:/);
  });

  test('legacy RML rejects it where DATATYPE_CHECK says so', async () => {
    expect((await run(mapping, files, { datatypeCheck: 'error', onError: 'strict' })).fault?.code).toBe('record/term');
  });

  test("YARRRML is as today's RML", async () => {
    const yarrrml = `prefixes: {ex: "http://e/"}
mappings:
  m:
    sources: [['values.json~jsonpath', '$[*]']]
    s: ex:s
    po: [[ex:p, $(v), xsd:decimal]]
`;
    expect((await run(yarrrml, files, { onError: 'strict' }, 'yml')).fault?.code).toBe('record/term');
    const { objects, report } = await run(yarrrml, files, { datatypeCheck: 'warn' }, 'yml');
    expect(objects).toEqual(written);
    expect(report?.warnings).toHaveLength(1);
    expect((await run(yarrrml, files, { onError: 'skip' }, 'yml')).objects).toEqual(expect.arrayContaining([good[0]]));
  });

  test('a mapping of both checks each triples map by its own', async () => {
    const both = `${mapping}
<#N> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "values.json" ] ;
    rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ] ;
  rml:subject ex:t ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference "$.v" ; rml:datatype xsd:integer ] ] .`;
    const { fault } = await run(both, { 'values.json': JSON.stringify([{ v: '10.0.0.37' }]) });
    expect(fault?.message).toContain('no xsd:integer');
  });
});

describe('wherever the text comes from', () => {
  const csv = { 'values.csv': 'y,m,d,v,t\n2024,2,28,a,date\n2024,02,28,2024-01-01,date\n' };
  const object = async (map: string): Promise<Ran> => run(today('values.csv', 'CSV', '', map), csv, { onError: 'skip' });

  test('a template is checked as a whole', async () => {
    expect(await object('rml:template "{y}-{m}-{d}" ; rml:termType rml:Literal ; rml:datatype xsd:date')).toMatchObject({
      objects: [typed('date', '2024-02-28')],
      report: { rejected: 1 },
    });
  });

  test('a datatype of the record is looked up for each', async () => {
    const map = 'rml:reference "v" ; rml:datatypeMap [ rml:template "http://www.w3.org/2001/XMLSchema#{t}" ]';
    expect(await object(map)).toMatchObject({ objects: [typed('date', '2024-01-01')], report: { rejected: 1 } });
  });

  test('the result of a function is checked', async () => {
    const map = `rml:datatype xsd:date ; rml:functionExecution [ rml:function <http://users.ugent.be/~bjdmeest/function/grel.ttl#toUpperCase> ;
      rml:input [ rml:parameter <http://users.ugent.be/~bjdmeest/function/grel.ttl#valueParameter> ; rml:inputValueMap [ rml:reference "v" ] ] ]`;
    expect(await object(map)).toMatchObject({ objects: [typed('date', '2024-01-01')], report: { rejected: 1 } });
  });

  test('a member of a list is checked', async () => {
    const map = 'rml:gather ( [ rml:reference "v" ; rml:datatype xsd:date ] ) ; rml:gatherAs rdf:List';
    const prefixed = `@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n${today('values.csv', 'CSV', '', map)}`;
    expect((await run(prefixed, csv)).fault?.message).toContain('no xsd:date');
  });

  test('a datatype that RDF does not know, and xsd:string, take every text', async () => {
    expect((await object('rml:reference "v" ; rml:datatype ex:date')).report?.rejected).toBe(0);
    expect((await object('rml:reference "v" ; rml:datatype xsd:string')).report?.rejected).toBe(0);
    expect((await object('rml:reference "v" ; rml:datatype xsd:anyURI')).report?.rejected).toBe(0);
  });

  test('a number of JSON is checked as it is written', async () => {
    const mapping = today('values.json', 'JSONPath', '$[*]', 'rml:reference "$.v" ; rml:datatype xsd:integer');
    const { objects, report } = await run(mapping, { 'values.json': '[{"v":5},{"v":5.5},{"v":1E3},{"v":true}]' }, { onError: 'skip' });
    expect({ objects, rejected: report?.rejected }).toEqual({ objects: [typed('integer', '5')], rejected: 3 });
  });
});

describe('a column of a database (R2RML, datatype-override RDF literal)', () => {
  beforeAll(async () => {
    await writeSqlite(
      join(directory, 'shop.sqlite'),
      `CREATE TABLE t (id INTEGER PRIMARY KEY, at TIMESTAMP, day DATE, price TEXT, bytes BLOB, weight DOUBLE);
       INSERT INTO t VALUES (1, '2024-02-28 10:00:00', '2024-02-28', '$1,234.50', x'DEADBEEF', 2.5), (2, NULL, NULL, '7.5', NULL, 9e999);`,
    );
  });

  const attempt = (column: string, type: string): Promise<Ran> => {
    const mapping = `${PREFIXES}
<#M> rr:logicalTable [ rr:tableName "t" ] ; rr:subjectMap [ rr:template "http://e/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rr:column "${column}" ; rr:datatype xsd:${type} ] ] .`;
    const database = { jdbcUrl: `jdbc:sqlite:${join(directory, 'shop.sqlite')}`, user: undefined, password: undefined };
    return run(mapping, {}, { database, onError: 'skip' });
  };

  test.each<[column: string, type: string, objects: readonly string[], rejected: number]>([
    ['at', 'dateTime', [typed('dateTime', '2024-02-28T10:00:00')], 0],
    ['at', 'date', [], 1],
    ['day', 'date', [typed('date', '2024-02-28')], 0],
    ['day', 'dateTime', [], 1],
    ['price', 'decimal', [typed('decimal', '7.5')], 1],
    ['bytes', 'hexBinary', [typed('hexBinary', 'DEADBEEF')], 0],
    ['bytes', 'base64Binary', [], 1],
    ['id', 'decimal', [typed('decimal', '1'), typed('decimal', '2')], 0],
    ['id', 'date', [], 2],
    // Infinity is written as the datatype of the column has it.
    ['weight', 'double', [typed('double', '2.5'), typed('double', 'INF')], 0],
    ['weight', 'decimal', [typed('decimal', '2.5')], 1],
  ])('%s as xsd:%s', async (column, type, objects, rejected) => {
    const { objects: found, report, fault } = await attempt(column, type);
    expect(fault).toBeUndefined();
    expect({ found, rejected: report?.rejected }).toEqual({ found: [...objects].sort(), rejected });
  });
});

describe('legacy RML under skip', () => {
  const rows = {
    'rows.json': JSON.stringify([
      { id: 1, name: 'a', pages: ['http://ok/1', 'not ok', 'http://ok/2'], lang: 'en' },
      { id: 2, name: 'b', pages: 'not ok', lang: 'en_US' },
      { id: 3, name: { no: 'text' }, pages: 'http://ok/3' },
    ]),
  };
  const name = 'rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ old:reference "name" ] ]';
  const pages = 'rr:predicateObjectMap [ rr:predicate ex:page ; rr:objectMap [ old:reference "pages" ; rr:termType rr:IRI ] ]';
  const mappingOf = (...rest: readonly string[]): string => legacy('rows.json', 'JSONPath', '$[*]', rest.join(' ; '));
  const subject = 'rr:subjectMap [ rr:template "http://e/{id}" ]';

  test('an invalid object is left out with its statement; the rest of the record is written, and the report says so', async () => {
    const { objects, report } = await run(mappingOf(subject, name, pages), rows);
    expect(objects).toEqual(['"a"', '"b"', '<http://ok/1>', '<http://ok/2>', '<http://ok/3>']);
    expect(report?.rejected).toBe(0);
    expect([...(report?.warnings ?? [])].sort()).toEqual([
      expect.stringMatching(/^1 invalid object was left out with its statement; the first: .*record 2, expression name/),
      expect.stringMatching(/^2 invalid objects were left out with their statements; the first: .*record 0, expression pages/),
    ]);
  });

  test('a language tag and a predicate that are invalid leave out their statement alone', async () => {
    const language =
      'rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ old:reference "name" ; old:languageMap [ old:reference "lang" ] ] ]';
    const predicate = 'rr:predicateObjectMap [ rr:predicateMap [ old:reference "pages" ] ; rr:object ex:o ]';
    const files = { 'rows.json': rows['rows.json'].replace('{"no":"text"}', '"c"') };
    const { objects, report } = await run(mappingOf(subject, language, predicate), files);
    expect(objects).toEqual(['"a"@en', '<http://e/o>', '<http://e/o>', '<http://e/o>']);
    expect(report).toMatchObject({
      rejected: 0,
      warnings: [expect.stringContaining('language tag'), expect.stringContaining('2 invalid')],
    });
  });

  test.each<[string, string]>([
    ['subject', 'rr:subjectMap [ old:reference "pages" ; rr:termType rr:IRI ]'],
    ['graph', `${subject.slice(0, -1)} ; rr:graphMap [ old:reference "pages" ; rr:termType rr:IRI ] ]`],
  ])('an invalid %s rejects the record', async (_, map) => {
    const { objects, report } = await run(
      mappingOf(map, 'rr:predicateObjectMap [ rr:predicate ex:id ; rr:objectMap [ old:reference "id" ] ]'),
      rows,
    );
    expect({ ids: objects.map((text) => text.slice(0, 3)), rejected: report?.rejected, warnings: report?.warnings }).toEqual({
      ids: ['"3"'],
      rejected: 2,
      warnings: [],
    });
  });

  test('an invalid key of a join rejects the record', async () => {
    const join =
      'rr:predicateObjectMap [ rr:predicate ex:of ; rr:objectMap [ rr:parentTriplesMap <#M> ; rr:joinCondition [ rr:child "name" ; rr:parent "id" ] ] ]';
    const { report } = await run(mappingOf(subject, pages, join), rows);
    expect(report).toMatchObject({ rejected: 1, quads: 2 });
  });

  test('quarantine rejects the whole record, and MAX_REJECTED counts records that lose statements', async () => {
    expect((await run(mappingOf(subject, name, pages), rows, { onError: 'quarantine' })).report).toMatchObject({ quads: 0, rejected: 3 });
    expect((await run(mappingOf(subject, name, pages), rows, { maxRejected: 3 })).fault).toBeUndefined();
    expect((await run(mappingOf(subject, name, pages), rows, { maxRejected: 2 })).fault).toMatchObject({ code: 'record/limit' });
  });

  test('what a predicate and an object lose is counted for each of them, also where a value cannot be read', async () => {
    const both =
      'rr:predicateObjectMap [ rr:predicateMap [ old:reference "pages" ] ; rr:objectMap [ old:reference "name" ] ] ; rr:predicateObjectMap [ rr:predicate ex:label ; rr:objectMap [ old:reference "name" ] ]';
    const mapping = mappingOf(subject, both);
    const { report } = await run(mapping, rows);
    const lineOf = (text: string): number => mapping.slice(0, mapping.indexOf(text)).split('\n').length;
    expect(report?.flaws?.map(({ count, first }) => [count, first.place.expression, first.place.record])).toEqual([
      [2, 'pages', 0],
      [1, 'name', 2],
      [1, 'name', 2],
    ]);
    expect(new Set(report?.flaws?.map(({ first }) => first.place.mapping)).size).toBe(3);
    expect(report?.flaws?.every(({ first }) => first.place.mapping?.includes(`:${lineOf('rr:predicateMap')}:`))).toBe(true);
  });

  test('a triples map whose objects are all invalid says so', async () => {
    const { report } = await run(mappingOf(subject, pages), { 'rows.json': '[{"id":1,"pages":"not ok"}]' });
    expect(report?.triplesMaps[0]?.empty).toContain('every object that has a value is invalid');
  });

  test("today's RML rejects the whole record", async () => {
    const mapping = today('rows.json', 'JSONPath', '$[*]', 'rml:reference "$.pages[*]" ; rml:termType rml:IRI');
    expect((await run(mapping, { 'rows.json': '[{"pages":["http://ok/1","not ok"]}]' }, { onError: 'skip' })).report).toMatchObject({
      quads: 0,
      rejected: 1,
    });
  });

  test('equal rows are counted each', async () => {
    const csv = `id,page\n${'1,not ok\n'.repeat(5000)}`;
    const mapping = legacy(
      'many.csv',
      'CSV',
      '',
      `${subject} ; rr:predicateObjectMap [ rr:predicate ex:page ; rr:objectMap [ old:reference "page" ; rr:termType rr:IRI ] ]`,
    );
    const { report } = await run(mapping, { 'many.csv': csv });
    expect(report).toMatchObject({ records: 5000, quads: 0, warnings: [expect.stringMatching(/^5000 invalid objects/)] });
  });
});

describe('counts', () => {
  const flaw = (record: number, more: Partial<Flaw> = {}): Flaw => ({
    kind: 'ill-typed',
    count: 2,
    first: {
      code: 'record/term',
      message: 'A value is no xsd:date',
      place: { mapping: 'm.ttl:1:1', input: 'a.csv', record },
    } as Flaw['first'],
    ...more,
  });

  test('of threads and slices are added, and the first record is named', () => {
    const other = flaw(1, { kind: 'left-out' });
    expect(mergeFlaws([flaw(7), flaw(3), other])).toEqual([flaw(3, { count: 4 }), other]);
    expect(flawWarnings([flaw(7), flaw(3), other])).toEqual([
      expect.stringMatching(/^4 literals are ill-typed and written all the same; the first: .*record 3/),
      expect.stringMatching(/^2 invalid objects were left out with their statements; the first: .*record 1/),
    ]);
  });

  test('of slices, the first record is that of the first byte', () => {
    const at = (recordsFrom: number, record: number): Flaw => {
      const { first, ...rest } = flaw(record);
      return { ...rest, first: { ...first, place: { ...first.place, recordsFrom } } };
    };
    expect(mergeFlaws([at(900, 0), at(0, 7), at(400, 2)])).toEqual([{ ...at(0, 7), count: 6 }]);
  });

  test('count each of equal rows', async () => {
    const rows = `v\n${'1.5x\n'.repeat(5000)}`;
    const mapping = today('many.csv', 'CSV', '', 'rml:reference "v" ; rml:datatype xsd:decimal');
    const { report } = await run(mapping, { 'many.csv': rows }, { datatypeCheck: 'warn' });
    expect(report).toMatchObject({ records: 5000, quads: 1, warnings: [expect.stringMatching(/^5000 literals are ill-typed/)] });
  });
});
