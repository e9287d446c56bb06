/** Logical targets on the command line: files at the places that the mapping names, all of them or none. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';

const QUADMILL = resolve('bin/quadmill.js');
const roots: string[] = [];
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-targets-'));
  roots.push(directory);
  await mkdir(join(directory, 'maps'));
  await writeFile(join(directory, 'people.csv'), 'id,name,friend\n1,Ada,2\n2,Zoë,1\n2,Zoë,1\n');
});
afterAll(async () => {
  for (const root of roots) await rm(root, { recursive: true, force: true });
});

/** @param targets of the subject map, of the name and of the friend, by the local names of `descriptions` */
const write = (
  targets: readonly [string, string, string],
  descriptions: string,
  changes: readonly [string, string] = ['', ''],
): Promise<void> => {
  const on = (name: string): string => (name === '' ? '' : `; rml:logicalTarget ${name}`);
  const text = `@prefix rml: <http://w3id.org/rml/> .
@prefix formats: <http://www.w3.org/ns/formats/> .
@prefix ex: <http://example.com/> .
@base <http://example.com/map/> .
<#People> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ${on(targets[0])} ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ${on(targets[1])} ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:friend ; rml:objectMap [ rml:parentTriplesMap <#People> ; rml:joinCondition [ rml:child "friend" ; rml:parent "id" ] ] ;
    rml:graphMap [ rml:constant ex:graph ${on(targets[2])} ] ] .
${descriptions}`;
  return writeFile(join(directory, 'maps/mapping.ttl'), text.replace(...changes));
};

const quadmill = (...args: readonly string[]): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> =>
  new Promise((done) => {
    const child = execFile(process.execPath, [QUADMILL, 'run', 'maps/mapping.ttl', ...args], { cwd: directory }, (_, out, err) =>
      done({ code: child.exitCode, out, err }),
    );
  });

const read = (name: string): Promise<string> => readFile(join(directory, name), 'utf8');
const sorted = (text: string): string[] => text.split('\n').slice(0, -1).sort();
const files = async (): Promise<string[]> => (await readdir(directory, { recursive: true })).sort();

const NAMES = ['<http://example.com/1> <http://example.com/name> "Ada" .', '<http://example.com/2> <http://example.com/name> "Zoë" .'];
const FRIENDS = [
  '<http://example.com/1> <http://example.com/friend> <http://example.com/2> <http://example.com/graph> .',
  '<http://example.com/2> <http://example.com/friend> <http://example.com/1> <http://example.com/graph> .',
];
const FILE = (path: string, more = ''): string => `rml:target [ a rml:Target, rml:FilePath ; rml:path "${path}" ] ${more} .\n`;

describe('a run with logical targets', () => {
  test('writes what no target takes to its own output, and each statement once to each of its targets', async () => {
    await write(['', '<a>', '<b>, <a>'], `<a> ${FILE('a.nq')} <b> ${FILE('sub/b.nq')}`);
    const { code, out, err } = await quadmill();
    expect([code, out, err]).toEqual([0, '', '']);
    expect(sorted(await read('a.nq'))).toEqual([...FRIENDS, ...NAMES].sort());
    expect(sorted(await read('sub/b.nq'))).toEqual(FRIENDS);
    expect(await files()).toEqual(['a.nq', 'maps', 'maps/mapping.ttl', 'people.csv', 'sub', 'sub/b.nq']);
  });

  test('counts a statement for each of its outputs', async () => {
    await write(['<a>, <b>', '', ''], `<a> ${FILE('a.nq')} <b> ${FILE('b.nq')}`);
    const { code, err } = await quadmill('--stats', '-o', 'own.nq');
    expect([code, JSON.parse(err).quads]).toEqual([0, 8]);
    expect(await read('own.nq')).toBe('');
    expect(await read('a.nq')).toBe(await read('b.nq'));
  });

  test('serialises, encodes and packs as the target says, beside the mapping if it says so', async () => {
    await write(
      ['', '<a>', '<b>'],
      `<a> rml:target [ a rml:Target, rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "names.ttl.gz" ] ; rml:serialization formats:Turtle ; rml:compression rml:gzip .
       <b> ${FILE('friends.trig', '; rml:serialization formats:TriG ; rml:encoding rml:UTF-16')}`,
    );
    const { code, out, err } = await quadmill('--stats', '-o', 'own.nq');
    expect([code, out]).toEqual([0, '']);
    const packed = await readFile(join(directory, 'maps/names.ttl.gz'));
    const own = await readFile(join(directory, 'own.nq'));
    const friends = await readFile(join(directory, 'friends.trig'));
    expect(JSON.parse(err).bytesWritten).toBe(packed.length + own.length + friends.length);
    const names = gunzipSync(packed).toString();
    expect(names).toContain('@prefix ex: <http://example.com/> .');
    expect(names).toContain('ex:1 ex:name "Ada"');
    expect(friends.toString('utf16le')).toContain('ex:graph {');
  });

  test.each<[string, readonly string[]]>([
    ['in one thread', []],
    ['in two threads', ['--threads', '2']],
    ['with little memory', ['--memory-mb', '1']],
    ['with repetitions', ['--no-distinct']],
  ])('%s', async (_, args) => {
    await writeFile(join(directory, 'cities.csv'), 'id,name\nx,Graz\n');
    const cities = `<#Cities> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:path "cities.csv" ] ; rml:referenceFormulation rml:CSV ] ;
      rml:subjectMap [ rml:template "http://example.com/city/{id}" ; rml:logicalTarget <b> ] ;
      rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .`;
    await write(['', '<a>', '<b>'], `<a> ${FILE('a.nq')} <b> ${FILE('b.nq')} ${cities}`);
    expect(await quadmill(...args)).toEqual({ code: 0, out: '', err: '' });
    expect([...new Set(sorted(await read('a.nq')))]).toEqual(NAMES);
    const city = '<http://example.com/city/x> <http://example.com/name> "Graz" .';
    expect([...new Set(sorted(await read('b.nq')))]).toEqual([...FRIENDS, city]);
  });

  test('replaces a file, and the file that a link names', async () => {
    await writeFile(join(directory, 'a.nq'), 'old');
    await symlink('a.nq', join(directory, 'link.nq'));
    await write(['', '<a>', ''], `<a> ${FILE('link.nq')}`);
    expect((await quadmill('-o', 'own.nq')).code).toBe(0);
    expect(sorted(await read('a.nq'))).toEqual(NAMES);
  });

  test.each<[string, string, string, readonly string[], string]>([
    ['a format without graphs', `<a> ${FILE('a.nt', '; rml:serialization formats:N-Triples')}`, '<a>', [], 'N-Triples'],
    ['a directory', `<a> ${FILE('maps')}`, '<a>', [], 'there is a directory of that name'],
    ['its own output', `<a> ${FILE('own.nq')}`, '<a>', ['-o', 'own.nq'], 'The logical target own.nq and -o are one file'],
    ['an input', `<a> ${FILE('people.csv')}`, '<a>', ['-i', 'people.csv'], 'would replace people.csv, which the run reads'],
    ['the mapping', `<a> ${FILE('maps/mapping.ttl')}`, '<a>', [], 'would replace maps/mapping.ttl, which the run reads'],
    ['one file twice', `<a> ${FILE('a.nq')} <b> ${FILE('maps/../a.nq')}`, '<a>, <b>', [], 'and a.nq are one file'],
    ['another machine', `<a> rml:target "http://example.com/a.nq" .`, '<a>', [], 'is not a local file'],
    ['a broken input', `<a> ${FILE('a.nq')}`, '<a>', ['-i', 'people.csv=broken.csv'], 'broken.csv'],
  ])('leaves nothing where a target is %s', async (_, descriptions, names, args, reason) => {
    await writeFile(join(directory, 'broken.csv'), 'id,name,friend\n1,Ada,2\n2,"Zo\n');
    await write(['', '', names], descriptions);
    const before = await files();
    const { code, out, err } = await quadmill(...args);
    expect([code === 0, out]).toEqual([false, '']);
    expect(err).toContain(reason);
    expect(await files()).toEqual(before);
  });
});
