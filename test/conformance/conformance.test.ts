import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { missingMariadb } from '../servers/databases/mariadb.ts';
import { missingPostgres } from '../servers/databases/postgres.ts';
import { difference } from './compare.ts';
import { CaseDatabases } from './databases.ts';
import type { Case } from './manifest.ts';
import { runCase } from './run-case.ts';
import { CaseServers } from './servers.ts';
import { skipReasons, summaryTable } from './summary.ts';

const XSD = 'http://www.w3.org/2001/XMLSchema#';
const document = (text: string, mediaType = 'application/n-quads') => ({ text, mediaType, baseIri: 'http://e/' });

describe('two documents are the same', () => {
  test.each([
    [
      'whatever the order and the repeats',
      '<a:s> <a:p> "1" .\n<a:s> <a:p> "2" .\n<a:s> <a:p> "1" .\n',
      '<a:s> <a:p> "2" .\n<a:s> <a:p> "1" .\n',
    ],
    ['whatever blank nodes are called', '_:x <a:p> _:y .\n_:y <a:p> "1" .\n', '_:y <a:p> _:x .\n_:x <a:p> "1" .\n'],
    [
      'with one blank node in two graphs',
      '_:x <a:p> "1" <a:g> .\n_:x <a:p> "1" <a:h> .\n',
      '_:z <a:p> "1" <a:h> .\n_:z <a:p> "1" <a:g> .\n',
    ],
    ['with blank nodes as graphs', '<a:s> <a:p> "1" _:g .\n', '<a:s> <a:p> "1" _:other .\n'],
    ['with doubles of the same value', `<a:s> <a:p> "30.0"^^<${XSD}double> .\n`, `<a:s> <a:p> "3.0E1"^^<${XSD}double> .\n`],
    ['with language tags in another case', '<a:s> <a:p> "x"@EN-gb .\n', '<a:s> <a:p> "x"@en-GB .\n'],
    ['with IRIs that no parser takes', '<a:s b> <a:p> "1" .\n<a:s> <a:p> "2".\n', '<a:s> <a:p> "2" .\n\n# note\n<a:s b> <a:p> "1" .\n'],
    ['when both are empty', '', '\n'],
  ])('%s', (_, actual, expected) => {
    expect(difference(document(actual), document(expected))).toBeUndefined();
  });

  test('across formats', () => {
    const turtle = '@prefix a: <a:> . a:s a:p 1, [ a:q "x" ] .';
    const quads = `<a:s> <a:p> "1"^^<${XSD}integer> .\n<a:s> <a:p> _:b .\n_:b <a:q> "x" .\n`;
    expect(difference(document(quads), document(turtle, 'text/turtle'))).toBeUndefined();
  });
});

describe('two documents differ, and the difference is named,', () => {
  test.each([
    ['by a statement', '<a:s> <a:p> "1" .\n', '', '1 unexpected, for example <a:s> <a:p> "1"'],
    ['by a missing statement', '', '<a:s> <a:p> "1" .\n', '1 missing'],
    ['by graph', '<a:s> <a:p> "1" <a:g> .\n', '<a:s> <a:p> "1" .\n', '1 missing'],
    ['by datatype', `<a:s> <a:p> "1"^^<${XSD}integer> .\n`, '<a:s> <a:p> "1" .\n', '1 missing'],
    ['by lexical form', `<a:s> <a:p> "01"^^<${XSD}integer> .\n`, `<a:s> <a:p> "1"^^<${XSD}integer> .\n`, '1 missing'],
    ['by double', `<a:s> <a:p> "30"^^<${XSD}double> .\n`, `<a:s> <a:p> "31"^^<${XSD}double> .\n`, '1 missing'],
    ['by language', '<a:s> <a:p> "x"@en .\n', '<a:s> <a:p> "x"@de .\n', '1 missing'],
    ['by IRI instead of literal', '<a:s> <a:p> <a:o> .\n', '<a:s> <a:p> "a:o" .\n', '1 missing'],
    [
      'by the number of blank nodes',
      '_:x <a:p> "1" .\n_:y <a:p> "2" .\n',
      '_:x <a:p> "1" .\n_:x <a:p> "2" .\n',
      'connected in another way',
    ],
    [
      'by one blank node for two graphs',
      '_:x <a:p> "1" <a:g> .\n_:x <a:p> "1" <a:h> .\n',
      '_:x <a:p> "1" <a:g> .\n_:y <a:p> "1" <a:h> .\n',
      'connected',
    ],
    ['by an output that is no N-Quads', '<a:s b> <a:p> "1" .\n', '<a:s> <a:p> "1" .\n', 'the output is not application/n-quads'],
    ['by a line that no parser takes', '<a:s c> <a:p> "1" .\n', '<a:s b> <a:p> "1" .\n', '1 missing, for example <a:s b> <a:p> "1"'],
  ])('%s', (_, actual, expected, reason) => {
    expect(difference(document(actual), document(expected))).toContain(reason);
  });
});

const MAPPING = `@prefix rml: <http://w3id.org/rml/> .
<http://e/M> a rml:TriplesMap ;
  rml:logicalSource [ a rml:LogicalSource ; rml:referenceFormulation rml:CSV ;
    rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "in.csv" ] ] ;
  rml:subjectMap [ rml:template "http://e/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate <http://e/p> ; rml:objectMap [ rml:reference "name" ] ] .
`;
const BASE: Case = {
  suite: 'own',
  id: 'one',
  dir: 'one',
  format: 'CSV',
  mappingLanguage: 'RML',
  mapping: 'mapping.ttl',
  inputs: [],
  databaseScript: null,
  expectsError: false,
  expectedOutputs: [{ file: 'output.nq', role: 'default', mediaType: 'application/n-quads' }],
  baseIRI: 'http://e/',
};

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-conformance-'));
  const files: Record<string, string> = {
    'mapping.ttl': MAPPING,
    'in.csv': 'id,name\n1,Ä\n',
    'other.csv': 'id,name\n1,B\n',
    'output.nq': '<http://e/1> <http://e/p> "Ä" .\n',
    'wrong.nq': '<http://e/1> <http://e/p> "A" .\n',
    'other.nq': '<http://e/1> <http://e/p> "B" .\n',
    'bad.ttl': MAPPING.replace('rml:template', 'rml:tamplate'),
    'later.ttl': MAPPING.replace(/rml:source \[[^\]]*\]/, 'rml:source [ a <http://www.w3.org/ns/hydra/core#ApiDocumentation> ]'),
    'absent.ttl': MAPPING.replace('in.csv', 'absent.csv'),
    'reference.ttl': MAPPING.replace('"name"', '"nmae"'),
  };
  await mkdir(join(directory, 'one'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, 'one', name), text);
  const cases = [
    BASE,
    { ...BASE, id: 'two', mapping: 'bad.ttl' },
    { ...BASE, id: 'three', format: 'SPARQL' },
    { ...BASE, id: 'four', expectsError: true },
  ];
  await writeFile(
    join(directory, 'manifest.json'),
    JSON.stringify({ cases: [...cases, { ...BASE, id: 'five', expectsError: true, contested: ['?'] }] }),
  );
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const expecting = (file: string): Partial<Case> => ({ expectedOutputs: [{ file, role: 'default', mediaType: 'application/n-quads' }] });

const FORMATS = [
  ['PostgreSQL', await missingPostgres()],
  ['MySQL', await missingMariadb()],
] as const;
describe('a case', () => {
  const databases = new CaseDatabases();
  const servers = new CaseServers();
  afterAll(() => Promise.all([databases.close(), servers.close()]));

  test.each<[string, Partial<Case>, string, string]>([
    ['with the right output', {}, 'passed', ''],
    ['with another output', expecting('wrong.nq'), 'failed', '1 missing'],
    ['whose source is another file', { ...expecting('other.nq'), sourceOverrides: { 'in.csv': 'other.csv' } }, 'passed', ''],
    ['that should fail and does', { expectsError: true, mapping: 'reference.ttl' }, 'passed', 'mapping/reference'],
    ['that should fail and does not', { expectsError: true }, 'failed', 'an error was expected'],
    ['that should not fail and does', { mapping: 'absent.ttl' }, 'failed', 'source/missing'],
    ['with a wrong mapping', { mapping: 'bad.ttl' }, 'failed', 'mapping/invalid'],
    ['that needs what is not offered', { mapping: 'later.ttl' }, 'skipped', 'Hydra'],
    ['that needs it and expects an error', { mapping: 'later.ttl', expectsError: true }, 'skipped', 'Hydra'],
    [
      'with an unknown output format',
      { expectedOutputs: [{ file: 'x', role: 'target', mediaType: 'text/x-unknown' }] },
      'failed',
      'the harness does not read text/x-unknown',
    ],
    [
      'whose target was not written',
      { expectedOutputs: [{ file: 'output.nq', role: 'target', mediaType: 'application/n-quads' }] },
      'failed',
      'There is no file',
    ],
  ])('%s is judged', async (_, changes, status, reason) => {
    const verdict = await runCase({ ...BASE, ...changes }, directory, databases, servers);
    expect(verdict).toEqual({ status, reason: expect.stringContaining(reason) });
  });

  test.each(['legacy', 'yarrrml', 'rml'] as const)('that is converted to %s gives the same', async (via) => {
    const other = { ...BASE, expectedOutputs: [] };
    expect(await runCase(other, directory, databases, servers, via)).toEqual({ status: 'passed', reason: '' });
  });

  test('that says what R2RML cannot is skipped', async () => {
    const verdict = await runCase(BASE, directory, databases, servers, 'r2rml');
    expect(verdict).toEqual({ status: 'skipped', reason: expect.stringContaining('R2RML cannot say') });
  });

  const R2RML =
    '@prefix rr: <http://www.w3.org/ns/r2rml#> . <http://e/M> rr:logicalTable [ rr:tableName "t" ] ; rr:subjectMap [ rr:template "http://e/{id}" ] ; rr:predicateObjectMap [ rr:predicate <http://e/p> ; rr:objectMap [ rr:column "name" ] ] .';
  const SQL = "CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR(9)); INSERT INTO t VALUES (1, 'a');";
  const MADE = `<http://e/t/id=1> a <http://e/t> ; <http://e/t#id> 1 ; <http://e/t#name> "a" .`;
  for (const [format, missing] of FORMATS) {
    const name = `over ${format} is judged, by its mapping and by the Direct Mapping${missing === undefined ? '' : ` (not tested: ${missing})`}`;
    (missing === undefined ? test : test.skip)(name, async () => {
      await writeFile(join(directory, 'one', 'r2rml.ttl'), R2RML);
      await writeFile(join(directory, 'one', 'create.sql'), SQL);
      await writeFile(join(directory, 'one', 'broken.sql'), 'CREATE TABLE');
      await writeFile(join(directory, 'one', 'direct.ttl'), MADE);
      await writeFile(join(directory, 'one', 'mapped.nq'), '<http://e/1> <http://e/p> "a" .\n');
      const expected = (file: string, mediaType: string) => [{ file, role: 'default', mediaType }] as const;
      const common = { ...BASE, format, baseIRI: 'http://e/', mappingLanguage: 'R2RML', databaseScript: 'create.sql' } as const;
      const mapped: Case = { ...common, mapping: 'r2rml.ttl', expectedOutputs: expected('mapped.nq', 'application/n-quads') };
      const direct: Case = { ...common, mapping: null, expectedOutputs: expected('direct.ttl', 'text/turtle') };
      for (const [given, status] of [
        [mapped, 'passed'],
        [direct, 'passed'],
        [{ ...mapped, expectsError: true }, 'failed'],
        [{ ...mapped, databaseScript: 'broken.sql' }, 'failed'],
      ] as const) {
        expect(await runCase(given, directory, databases, servers)).toMatchObject({ status });
      }
    });
  }
});

test('the summary counts contested cases by themselves', () => {
  const results = [
    { test: BASE, verdict: { status: 'passed', reason: '' } },
    { test: { ...BASE, contested: ['?'] }, verdict: { status: 'failed', reason: 'x' } },
    { test: BASE, verdict: { status: 'skipped', reason: 'later' } },
    { test: BASE, verdict: { status: 'skipped', reason: 'later' } },
  ] as const;
  expect(summaryTable(results).split('\n')[1]?.split(/\s+/)).toEqual(['own', '1', '0', '2', '0', '1']);
  expect(skipReasons(results)).toBe('    2  later');
});

describe('npm run conformance', () => {
  const run = (...args: string[]): Promise<{ code: number | null; out: string; err: string }> =>
    new Promise((done) => {
      const child = execFile(process.execPath, [resolve('dist/test/conformance/main.js'), ...args], (_, out, err) =>
        done({ code: child.exitCode, out, err }),
      );
    });

  test('says in one line how to name the folder when it is not there', async () => {
    const { code, err } = await run('--cases', join(directory, 'nowhere'));
    expect([code, err.trim().split('\n').length]).toEqual([2, 1]);
    expect(err).toContain('--cases DIR');
  });

  test('fails with an uncontested failure and lists it', async () => {
    const { code, out } = await run('--cases', directory);
    expect(code).toBe(1);
    expect(out).toMatch(/failed:\n {2}own two: mapping\/invalid/);
    expect(out).toMatch(/\nown +1 +2 +1 +0 +1\n/);
  });

  test('passes over one good case and writes its verdict', async () => {
    const file = join(directory, 'verdicts.json');
    expect((await run('--cases', directory, '--suite', 'own', '--case', 'one', '--json', file)).code).toBe(0);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual([{ suite: 'own', id: 'one', status: 'passed', reason: '', contested: false }]);
    expect((await run('--cases', directory, '--case', 'five')).code).toBe(0);
    expect((await run('--cases', directory, '--case', 'six')).code).toBe(2);
  });
});
