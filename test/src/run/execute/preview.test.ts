/** Previews: the first records of each source, read no further than that, with partners for their joins. */
import { createWriteStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import type { RunReport, RunRequest } from '../../../../src/run/request.ts';
import { executeRun } from '../../../../src/run/run.ts';
import { writeSqlite } from '../../../servers/databases/sqlite.ts';

const CASES = join(import.meta.dirname, '../cases');
const MB = 2 ** 20;
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-preview-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function preview(
  mapping: string,
  options: Partial<RunRequest>,
): Promise<{ readonly lines: readonly string[]; readonly report: RunReport }> {
  let text = '';
  const sink = { write: (lines: string) => void (text += lines), commit: async () => [], abort: async () => {} };
  const paths = { mappings: [mapping], workingDirectory: join(mapping, '..'), spillDirectory: directory };
  const report = await executeRun({ ...RUN_DEFAULTS, runId: 'preview', inputs: [], ...paths, ...options }, sink, {});
  return { lines: text.split('\n').slice(0, -1).sort(), report };
}

/** A mapping of one source with rows of id, name and boss: names, and the boss by a join with the same source. */
const mappingOf = (source: string, [id, name, boss]: readonly [string, string, string]): string => `
@prefix rml: <http://w3id.org/rml/> .
<#P> rml:logicalSource [ ${source} ] ;
  rml:subjectMap [ rml:template "http://e/{${id}}" ] ;
  rml:predicateObjectMap [ rml:predicate <http://e/name> ; rml:objectMap [ rml:reference "${name}" ] ] ;
  rml:predicateObjectMap [ rml:predicate <http://e/boss> ; rml:objectMap [ rml:parentTriplesMap <#P> ; rml:joinCondition [ rml:child "${boss}" ; rml:parent "${id}" ] ] ] .`;

const fileSource = (path: string, formulation: string, iterator?: string): string =>
  `rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${path}" ] ; rml:referenceFormulation rml:${formulation}` +
  (iterator === undefined ? '' : ` ; rml:iterator "${iterator}"`);

function write(name: string, mapping: string): string {
  const path = join(directory, name);
  writeFileSync(path, mapping);
  return path;
}

describe('golden cases', () => {
  const optionsOf = (name: string) => {
    const path = join(CASES, name, 'options.json');
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { onError?: RunRequest['onError'] }) : {};
  };
  const names = readdirSync(CASES).filter((name) => existsSync(join(CASES, name, 'expected.nq')));

  test.each(names)('%s: a bound that nothing exceeds changes nothing', async (name) => {
    const { onError } = optionsOf(name);
    const mapping = join(CASES, name, 'mapping.ttl');
    const all = await preview(mapping, { onError });
    const first = await preview(mapping, { onError, firstRecords: 1_000_000 });
    expect(first.lines).toEqual(all.lines);
    expect(first.report.cut).toEqual([]);
    expect(first.report.warnings).toEqual(all.report.warnings);
  });

  // Heads of lists and containers tell how many members there are, so those of some records are others.
  test.each(names.filter((name) => !/collections|lists/.test(name)))('%s: the first records make some of the statements', async (name) => {
    const { onError } = optionsOf(name);
    const mapping = join(CASES, name, 'mapping.ttl');
    const all = new Set((await preview(mapping, { onError })).lines);
    for (const firstRecords of [1, 2]) {
      const { lines } = await preview(mapping, { onError, firstRecords });
      expect(lines.filter((line) => !all.has(line))).toEqual([]);
    }
  });
});

describe('a large document', () => {
  const RECORDS = 100_000;
  const AT_ONCE = 1000;
  const PAD = 'x'.repeat(60);
  function* rows(head: string, row: (i: number) => string, end: string): Generator<string> {
    yield head;
    for (let from = 0; from < RECORDS; from += AT_ONCE) yield Array.from({ length: AT_ONCE }, (_, i) => row(from + i)).join('');
    yield end;
  }
  const csv = () => rows('id,name,boss,pad\n', (i) => `${i},n${i},${i + 100},${PAD}\n`, '');
  const CSV = ['id', 'name', 'boss'] as const;
  const json = (i: number): string => JSON.stringify({ id: i, name: `n${i}`, boss: i + 100, pad: PAD });
  const JSONPATH = ['$.id', '$.name', '$.boss'] as const;

  test.each([
    ['big.csv', csv(), 'CSV', undefined, CSV],
    ['big.csv.gz', csv(), 'CSV', undefined, CSV],
    ['big.json', rows('[', (i) => `${i === 0 ? '' : ','}${json(i)}`, ']'), 'JSONPath', '$[*]', JSONPATH],
    ['big.jsonl', rows('', (i) => `${json(i)}\n`, ''), 'JSONPath', '$[*]', JSONPATH],
    [
      'big.xml',
      rows('<r>', (i) => `<p id="${i}"><name>n${i}</name><boss>${i + 100}</boss><pad>${PAD}</pad></p>`, '</r>'),
      'XPath',
      '/r/p',
      ['@id', 'name', 'boss'] as const,
    ],
  ] as const)('%s is read from its beginning alone', async (name, content, formulation, iterator, references) => {
    const packing = name.endsWith('.gz') ? [createGzip({ level: 1 })] : [];
    await pipeline([Readable.from(content), ...packing, createWriteStream(join(directory, name))]);
    const mapping = write(`${name}.ttl`, mappingOf(fileSource(name, formulation, iterator), references));
    const { lines, report } = await preview(mapping, { firstRecords: 3 });
    // The bosses stand behind the first records: as parents, more are read.
    expect(lines).toEqual(
      [0, 1, 2].flatMap((i) => [`<http://e/${i}> <http://e/boss> <http://e/${i + 100}> .`, `<http://e/${i}> <http://e/name> "n${i}" .`]),
    );
    expect(report.cut).toEqual([join(directory, name)]);
    expect(report.bytesRead).toBeLessThan(3 * MB);
    expect(report.triplesMaps.map(({ records }) => records)).toEqual([3]);
  });

  test('a table is asked for no more rows than are read', async () => {
    const path = join(directory, 'big.db');
    const series = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT i, 'n' || i, i + 100 FROM n`;
    await writeSqlite(path, `CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, boss INTEGER); INSERT INTO person ${series};`);
    const database = { jdbcUrl: `jdbc:sqlite:${path}`, user: undefined, password: undefined };
    const r2rml = (source: string) => `
@prefix rr: <http://www.w3.org/ns/r2rml#> .
<#P> rr:logicalTable [ ${source} ] ; rr:subjectMap [ rr:template "http://e/{\\"id\\"}" ] ;
  rr:predicateObjectMap [ rr:predicate <http://e/name> ; rr:objectMap [ rr:column "\\"name\\"" ] ] .`;
    for (const source of ['rr:tableName "person"', 'rr:sqlQuery "SELECT * FROM person"']) {
      const { lines, report } = await preview(write('table.ttl', r2rml(source)), { firstRecords: 2, database });
      expect(lines).toEqual(['<http://e/0> <http://e/name> "n0" .', '<http://e/1> <http://e/name> "n1" .']);
      expect(report.cut).toHaveLength(1);
      expect(report.bytesRead).toBeLessThan(MB / 4);
    }
  });
});

test.each([
  ['counterparts', '[ a rml:InclusionAnnotation ; rml:onFields ( "b" ) ; rml:targetView <#b> ; rml:targetFields ( "id" ) ]'],
  ['fields of a left join', '[ a rml:NotNullAnnotation ; rml:onFields ( "name" ) ]'],
])('what views promise of %s is not told by the first records', async (_, annotation) => {
  writeFileSync(join(directory, 'a.csv'), 'id,b\n1,30000\n2,2\n');
  writeFileSync(join(directory, 'b.csv'), `id,name\n${Array.from({ length: 30_001 }, (_, i) => `${i},n${i}\n`).join('')}`);
  const view = (name: string, more: string, fields: readonly string[]) =>
    `<#${name}> rml:viewOn [ ${fileSource(`${name}.csv`, 'CSV')} ] ; ${fields.map((field) => `rml:field [ rml:fieldName "${field}" ; rml:reference "${field}" ] ;`).join('')} ${more} .`;
  const joined =
    'rml:leftJoin [ rml:parentLogicalView <#b> ; rml:joinCondition [ rml:child "b" ; rml:parent "id" ] ; rml:field [ rml:fieldName "name" ; rml:reference "name" ] ]';
  const mapping = write(
    'promise.ttl',
    `@prefix rml: <http://w3id.org/rml/> .
${view('b', 'a rml:LogicalView', ['id', 'name'])}
${view('a', `a rml:LogicalView ; rml:structuralAnnotation ${annotation} ; ${joined}`, ['id', 'b'])}
<#A> rml:logicalSource <#a> ; rml:subjectMap [ rml:template "http://e/{id}" ; rml:class <http://e/A> ] .`,
  );
  expect((await preview(mapping, {})).lines).toHaveLength(2);
  expect((await preview(mapping, { firstRecords: 1 })).lines).toEqual([
    '<http://e/1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/A> .',
  ]);
});

test('a reference that the first records lack is a warning, also under the policy strict', async () => {
  writeFileSync(join(directory, 'late.jsonl'), '{"id":1}\n{"id":2,"name":"two"}\n');
  const mapping = write('late.ttl', mappingOf(fileSource('late.jsonl', 'JSONPath', '$[*]'), ['$.id', '$.name', '$.id']));
  const { report } = await preview(mapping, { firstRecords: 1, onError: 'strict' });
  expect(report.warnings.join()).toContain('The first record does not have anything at $.name');
});
