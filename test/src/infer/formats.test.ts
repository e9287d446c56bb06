/** Mappings to start from, of each kind of input: the same rows give the same values, and the command that `init` suggests works. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type Files, withFiles } from '../../bin/faults/trial.ts';
import { quadmillHere } from '../../bin/messages/in-process.ts';
import { FAST_SERVERS, type Server, startDatabases } from '../../servers/databases/databases.ts';
import { writeSqlite } from '../../servers/databases/sqlite.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { parquet } from '../sources/parquet/writing.ts';
import { ods, odsRows, xlsx, xlsxRows } from '../sources/sheet/workbooks.ts';

/** Runs `init`, then what it suggests. @returns the mapping, and the statements of the run */
async function started(directory: string, inputs: readonly string[], output = 'm.ttl') {
  const made = await quadmillHere(directory, 'init', ...inputs, '-o', output);
  expect(made).toMatchObject({ code: 0, out: '' });
  const [, suggested = ''] = /; quadmill (run .*) shows statements\n$/.exec(made.err) ?? [];
  expect(suggested).toContain(output);
  expect(
    await quadmillHere(directory, ...suggested.split(' ').map((word) => word.replace(/^'(.*)'$/, '$1')), '-o', 'out.nq'),
  ).toMatchObject({ code: 0 });
  const [mapping, graph] = await Promise.all([output, 'out.nq'].map((name) => readFile(join(directory, name), 'utf8')));
  return { mapping: mapping as string, lines: (graph as string).split('\n').slice(0, -1) };
}

const HEADER = ['id', 'name', 'city'];
const ROWS = [
  ['p1', 'Ada "the first"', 'Zürich'],
  ['p2', 'Bo', ''],
  ['p3', "O'Neil, C.", '日本'],
];
const CSV = [HEADER, ...ROWS].map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(',')).join('\n');
const columns = HEADER.map((name, at) => ({ name, type: 'STRING' as const, nullable: true, data: ROWS.map((row) => row[at] || null) }));
const sheetRows = [HEADER, ...ROWS];

const FILES: Readonly<Record<string, Uint8Array | string>> = {
  'person.csv': CSV,
  'person.json': JSON.stringify(ROWS.map((row) => Object.fromEntries(HEADER.map((name, at) => [name, row[at] || null])))),
  'person.parquet': parquet(columns),
  'person.xlsx': xlsx({ sheets: { person: xlsxRows(sheetRows) } }),
  'person.ods': ods({ sheets: { person: odsRows(sheetRows) } }),
};

/** The last step of the predicate, and the value: the IRIs that formats give differ. */
const values = (lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) => /^\S+ <[^>]*[#/]([^>#/]+)> (".*) \.$/.exec(line)?.slice(1).join(' ') ?? []).sort();

const EXPECTED = ROWS.flatMap((row) => row.flatMap((text, at) => (text === '' ? [] : `${HEADER[at]} ${JSON.stringify(text)}`))).sort();

describe('the same rows', () => {
  test.each(Object.keys(FILES))('as %s', async (name) => {
    await withFiles({ [name]: FILES[name] } as Files, async (directory) => {
      for (const output of ['m.ttl', 'm.yml']) {
        if (output === 'm.yml' && name === 'person.csv') continue;
        expect(values((await started(directory, [name], output)).lines)).toEqual(EXPECTED);
      }
    });
  });

  const script = [
    'CREATE TABLE "person" ("id" VARCHAR(9) PRIMARY KEY, "name" VARCHAR(90), "city" VARCHAR(90))',
    ...ROWS.map(
      (row) => `INSERT INTO "person" VALUES (${row.map((text) => (text === '' ? 'NULL' : `'${text.replaceAll("'", "''")}'`)).join()})`,
    ),
  ].join(';\n');
  const called = (lines: readonly string[]): readonly string[] => values(lines.map((line) => line.replace(/person#/, '')));

  test('as a file of SQLite, by its ending', async () => {
    await withFiles({}, async (directory) => {
      await writeSqlite(join(directory, 'shop.sqlite'), script);
      expect(called((await started(directory, ['shop.sqlite'])).lines)).toEqual(EXPECTED);
    });
  });

  for (const [product, missing] of FAST_SERVERS as readonly Server[]) {
    if (missing !== undefined) test.skip(`as a database of ${product} (not tested: ${missing})`, () => undefined);
    else
      test(`as a database of ${product}`, async () => {
        const database = await startDatabases(product);
        try {
          await database.load(script);
          await withFiles({}, async (directory) => {
            expect(called((await started(directory, [database.jdbcUrl])).lines)).toEqual(EXPECTED);
          });
        } finally {
          await database.stop();
        }
      });
  }
});

test('nested columns of Parquet are separate triples maps, joined with their row', async () => {
  const nested = await readFile(join(PROJECT_ROOT, 'test/src/sources/parquet/fixtures/nested.parquet'));
  await withFiles({ 'nested.parquet': nested }, async (directory) => {
    const { mapping, lines } = await started(directory, ['nested.parquet']);
    expect([...mapping.matchAll(/^<#(\w+)>/gm)].map(([, name]) => name)).toEqual(['Nested', 'Address', 'Zip', 'Attribute', 'Item']);
    const ns = 'http://example.com/ns#';
    expect(lines).toEqual(
      expect.arrayContaining([
        `<http://example.com/nested/1> <${ns}address> <http://example.com/nested/1/address> .`,
        `<http://example.com/nested/1> <${ns}tags> "a" .`,
        `<http://example.com/nested/1> <${ns}matrix> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .`,
      ]),
    );
    expect(lines.filter((line) => line.includes(`<${ns}items> _:`))).toHaveLength(2);
  });
});

test('a file of Parquet that is encrypted is refused with what to do', async () => {
  const encrypted = await readFile(join(PROJECT_ROOT, 'test/src/sources/parquet/fixtures/encrypted.parquet'));
  await withFiles({ 'secret.parquet': encrypted }, async (directory) => {
    const { code, err } = await quadmillHere(directory, 'init', 'secret.parquet');
    expect([code, err]).toEqual([1, expect.stringMatching(/^quadmill: The Parquet file is encrypted \(input secret\.parquet\)\. .+\n$/)]);
  });
});

test.each([
  ['person.csv', 'id,name\np1,Zoë\n'],
  ['person.tsv', 'id\tname\np1\tZoë\n'],
  ['person.json', '[{"id":"p1","name":"Zoë"}]'],
  ['person.jsonl', '{"id":"p1","name":"Zoë"}\n'],
  ['person.xml', '<people><person id="p1"><name>Zoë</name></person></people>'],
])('--encoding of %s stands in the mapping', async (name, text) => {
  for (const output of ['m.ttl', 'm.yml'])
    await withFiles({ [name]: Buffer.from(text, 'latin1') }, async (directory) => {
      expect(await quadmillHere(directory, 'init', name, '-o', output, '--encoding', 'latin1')).toMatchObject({ code: 0 });
      expect(await quadmillHere(directory, 'run', output, '-o', 'out.nq')).toMatchObject({ code: 0, err: '' });
      expect(await readFile(join(directory, 'out.nq'), 'utf8')).toContain('"Zoë"');
    });
});

test('--encoding of a workbook is refused', async () => {
  await withFiles({ 'person.xlsx': xlsx({ sheets: { person: xlsxRows(sheetRows) } }) }, async (directory) => {
    const { code, err } = await quadmillHere(directory, 'init', 'person.xlsx', '--encoding', 'latin1');
    expect([code, err]).toEqual([2, expect.stringContaining('An encoding is for text, and person.xlsx is XLSX')]);
  });
});

test.each<[string, string, RegExp | undefined]>([
  ['one title', 'Report of June\nid,name\n1,Ada\n2,Bo\n', /looks like a title: .*csvw:skipRows 1 ; csvw:delimiter ","/],
  [
    'a title, a blank line, a date',
    'Report\n\nJune 2026\nid;name\n1;Ada\n2;Bo\n',
    /first 3 rows look like titles: .*csvw:skipRows 3 ; csvw:delimiter ";"/,
  ],
  ['one column', 'id\n1\n2\n3\n', undefined],
  ['a header with as many cells', 'id,name\n1,Ada\n2,Bo\n', undefined],
])('rows above the header are named, with what skips them: %s', async (_, text, expected) => {
  await withFiles({ 'person.csv': text }, async (directory) => {
    const { code, out } = await quadmillHere(directory, 'init', 'person.csv');
    expect(code).toBe(0);
    if (expected === undefined) return expect(out).not.toContain('skipRows');
    expect(out).toMatch(expected);
    const [, dialect] = /(csvw:dialect \[.*?\])/.exec(out) as RegExpExecArray;
    const mapping = `@prefix rml: <http://w3id.org/rml/> . @prefix csvw: <http://www.w3.org/ns/csvw#> .
      <#P> rml:logicalSource [ rml:source [ a csvw:Table ; csvw:url "person.csv" ; ${dialect} ] ; rml:referenceFormulation rml:CSV ] ;
        rml:subjectMap [ rml:template "http://example.com/{id}" ] ; rml:predicateObjectMap [ rml:predicate <#name> ; rml:objectMap [ rml:reference "name" ] ] .`;
    await writeFile(join(directory, 'm.ttl'), mapping);
    expect(await quadmillHere(directory, 'run', 'm.ttl', '-o', 'out.nq')).toMatchObject({ code: 0, err: '' });
    expect((await readFile(join(directory, 'out.nq'), 'utf8')).match(/"\w+"/g)).toEqual(['"Ada"', '"Bo"']);
  });
});

test.each(['people.dat', 'people'])('an ending that tells no format: %s', async (name) => {
  await withFiles({ [name]: 'id,name\n1,Ada\n' }, async (directory) => {
    const { code, err } = await quadmillHere(directory, 'init', name);
    expect([code, err]).toEqual([1, expect.stringContaining('--input-format says what it is, one of csv, tsv, json')]);
    expect(await quadmillHere(directory, 'init', name, '--input-format', 'csv')).toMatchObject({ code: 0 });
  });
});

test.each([
  ['a default namespace', '<r xmlns="http://n.org/"><x id="1"><name>Ada</name></x><x id="2"><name>Bo</name></x></r>'],
  ['a prefix', '<n:r xmlns:n="http://n.org/"><n:x n:id="1"><n:name>Ada</n:name></n:x><n:x n:id="2"><n:name>Bo</n:name></n:x></n:r>'],
])('names of XML in YARRRML have any namespace: %s', async (_, text) => {
  await withFiles({ 'people.xml': text }, async (directory) => {
    const { mapping, lines } = await started(directory, ['people.xml'], 'm.yml');
    expect(mapping).toContain('/*:r/*:x');
    expect(mapping).toContain('$(*:name)');
    expect(lines).toEqual(expect.arrayContaining(['<http://example.com/x/2> <http://example.com/ns#name> "Bo" .']));
  });
});
