/** What the name of an output says: its format and its compression. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { type Ended, type Files, startQuadmill, withFiles } from '../faults/trial.ts';

const MAPPING = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.com/> .
<#P> rml:logicalSource [ rml:source [ rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .
`;
const FILES: Files = { 'mapping.ttl': MAPPING, 'people.csv': 'id,name\n1,Zoë\n' };
const LINE = '<http://example.com/1> <http://example.com/name> "Zoë" .\n';

interface Ran extends Ended {
  readonly bytes: (name: string) => Buffer;
  readonly names: readonly string[];
}

const quadmill = (files: Files, ...args: string[]): Promise<Ran> =>
  withFiles(files, async (directory) => {
    const ended = await startQuadmill(directory, args).ended;
    const names = readdirSync(directory);
    const read = new Map(
      names.filter((name) => !(name in files) && name !== 'tmp').map((name) => [name, contentOf(join(directory, name))]),
    );
    return { ...ended, names, bytes: (name) => read.get(name) ?? Buffer.alloc(0) };
  });
const contentOf = (path: string): Buffer => readFileSync(path);

const run = (output: string, ...more: string[]): Promise<Ran> => quadmill(FILES, 'run', 'mapping.ttl', '-o', output, ...more);

describe('the ending of an output', () => {
  test.each([
    ['graph.nq', /^<http/],
    ['GRAPH.NT', /^<http/],
    ['graph.ttl', /^@prefix/],
    ['graph.trig', /^@prefix/],
    ['graph.n3', /^@prefix/],
    ['graph.jsonld', /^\[/],
    ['graph.rdf', /^<\?xml/],
    ['graph.rj', /^\{/],
    ['graph', /^<http/],
  ])('names the format: %s', async (name, begins) => {
    const { code, bytes } = await run(name);
    expect(code).toBe(0);
    expect(bytes(name).toString()).toMatch(begins);
    expect(bytes(name).toString()).toContain('Zo');
  });

  test.each([
    ['graph.nq.gz', []],
    ['GRAPH.NQ.GZ', []],
    ['graph.gz', []],
    ['graph.gz', ['-f', 'nquads']],
    ['graph.csv.gz', ['-f', 'nquads']],
  ])('compresses: %s %j', async (name, more) => {
    const { code, bytes } = await run(name, ...more);
    expect(code).toBe(0);
    expect(gunzipSync(bytes(name)).toString()).toBe(LINE);
  });

  test('compresses Turtle, and an archive holds a file without that ending', async () => {
    expect(gunzipSync((await run('graph.ttl.gz')).bytes('graph.ttl.gz')).toString()).toMatch(/^@prefix/);
    const zip = (await run('graph.nq.zip')).bytes('graph.nq.zip');
    expect(zip.readUInt32LE(0)).toBe(0x04034b50);
    expect(zip.toString('latin1', 30, 38)).toBe('graph.nq');
    expect(gunzipSync((await run('graph.nt.tar.gz')).bytes('graph.nt.tar.gz')).toString('utf8', 0, 8)).toBe('graph.nt');
  });

  test('compresses what several threads write, and what nodes and edges are made of', async () => {
    const rows = Array.from({ length: 60_000 }, (_, i) => `${i},Name ${i}\n`).join('');
    const files = { ...FILES, 'people.csv': `id,name\n${rows}`, 'tmp/for-nodes': '' };
    const options = ['-o', 'graph.nt.gz', '--threads', '3', '--property-graph', 'neo4j'];
    const { code, err, bytes, names } = await quadmill(files, 'run', 'mapping.ttl', ...options);
    expect([code, err]).toEqual([0, '']);
    expect(new Set(gunzipSync(bytes('graph.nt.gz')).toString().split('\n')).size).toBe(60_001);
    expect(names).toEqual(expect.arrayContaining(['graph.nodes.csv', 'graph.edges.csv']));
  });

  test.each([
    ['graph.json', [], '.json names no format', '.jsonld (jsonld)'],
    ['graph.xml', [], '.xml names no format', '.rdf (rdfxml)'],
    ['graph.csv', [], '.csv names no format', '--format'],
    ['graph.txt.gz', [], '.txt names no format', '--format'],
    ['graph.nq.zst', [], '.zst is not written', '.gz, .zip'],
    ['graph.nq.bz2', ['-f', 'nquads'], '.bz2 is not written', '.gz, .zip'],
    ['graph.nq.XZ', ['-f', 'nquads'], '.XZ is not written', '.tar.xz'],
    ['s3://bucket/graph.nq', [], 'not a local file', 'OUTPUT_DIR_URL'],
    ['https://example.com/graph.nq', [], 'not a local file', 'OUTPUT_DIR_URL'],
  ])('is refused: %s %j', async (name, more, ...words) => {
    const { code, err, names } = await run(name, ...more);
    expect(code).toBe(2);
    for (const word of words) expect(err).toContain(word);
    expect(names.toSorted()).toEqual(['mapping.ttl', 'people.csv']);
  });

  test('counts for nothing where the format is asked for', async () => {
    expect((await run('graph.json', '-f', 'jsonld')).bytes('graph.json').toString()).toMatch(/^\[/);
    expect((await run('graph.nq', '-f', 'turtle')).bytes('graph.nq').toString()).toMatch(/^@prefix/);
  });

  test('is that of a file: URL, too; standard output and devices get N-Quads', async () => {
    await withFiles(FILES, async (directory) => {
      expect((await startQuadmill(directory, ['run', 'mapping.ttl', '-o', `file://${directory}/graph%201.nq.gz`]).ended).code).toBe(0);
      expect(gunzipSync(contentOf(join(directory, 'graph 1.nq.gz'))).toString()).toBe(LINE);
    });
    expect((await run('-')).out).toBe(LINE);
    expect(await run('/dev/null')).toMatchObject({ code: 0, err: '' });
  });
});

describe('the ending of a mapping that is written', () => {
  test.each([
    [['convert', 'mapping.ttl', '--to', 'rml', '-o', 'other.ttl.gz'], 'written in Turtle: end the name with .ttl'],
    [['convert', 'mapping.ttl', '--to', 'legacy', '-o', 'other.yml'], 'written in Turtle'],
    [['convert', 'mapping.ttl', '--to', 'yarrrml', '-o', 'other.ttl'], 'written in YARRRML: end the name with .yml'],
    [['init', 'people.csv', '-o', 'other.json'], 'written in Turtle'],
    [['init', 'people.csv', '-o', 'other.rdf'], 'written in Turtle'],
    [['init', 'people.csv', '--to', 'rml', '-o', 'other.yaml'], 'written in Turtle'],
  ])('is refused where it names something else: %j', async (args, words) => {
    const { code, err, names } = await quadmill(FILES, ...args);
    expect(code).toBe(2);
    expect(err).toContain(words);
    expect(names.toSorted()).toEqual(['mapping.ttl', 'people.csv']);
  });

  test.each([
    ['init', 'people.csv', '-o', 'other.rml'],
    ['convert', 'mapping.ttl', '--to', 'rml', '-o', 'other.ttl'],
    ['init', 'people.csv', '--to', 'yarrrml', '-o', 'other.yarrrml'],
    ['init', 'people.csv', '-o', 'other'],
  ])('is taken otherwise: %s %s', async (...args) => expect((await quadmill(FILES, ...args)).code).toBe(0));
});
