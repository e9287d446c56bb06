import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const QUADMILL = resolve('bin/quadmill.js');

const MAPPING = `@prefix rml: <http://w3id.org/rml/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@base <http://example.com/base/> .
<#Person> a rml:TriplesMap ;
  rml:logicalSource [ a rml:LogicalSource ; rml:referenceFormulation rml:CSV ;
    rml:source [ a rml:RelativePathSource ; rml:root rml:CurrentWorkingDirectory ; rml:path "people.csv" ] ] ;
  rml:subjectMap [ rml:template "http://example.com/person/{id}" ; rml:class foaf:Person ] ;
  rml:predicateObjectMap [ rml:predicate foaf:knows ; rml:objectMap [ rml:reference "knows" ; rml:termType rml:IRI ] ] ;
  rml:predicateObjectMap [ rml:predicate foaf:name ; rml:objectMap [ rml:reference "name" ] ] .
`;
const PEOPLE = 'id,name,knows\n1,Ada,http://example.com/person/2\n2,Zoë,http://example.com/person/1\n';
const STATEMENTS = 6;

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-cli-'));
  await writeFile(join(directory, 'mapping.ttl'), MAPPING);
  await writeFile(join(directory, 'people.csv'), PEOPLE);
  await writeFile(join(directory, 'bad.csv'), `${PEOPLE}3,Eve,not an iri\n`);
  await writeFile(join(directory, 'wrong.ttl'), MAPPING.replace('rml:template', 'rml:templat').replace('rml:path', 'rml:pth'));
  await writeFile(join(directory, 'broken.ttl'), `${MAPPING}<a> <b> .\n`);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function quadmill(...args: readonly string[]): Promise<Ended> {
  return new Promise((done) => {
    const child = execFile(process.execPath, [QUADMILL, ...args], { cwd: directory }, (_, out, err) =>
      done({ code: child.exitCode, out, err }),
    );
  });
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

describe('quadmill run', () => {
  test('writes N-Quads to standard output and nothing else when all is well', async () => {
    const { code, out, err } = await quadmill('run', 'mapping.ttl');
    expect([code, err]).toEqual([0, '']);
    expect(linesOf(out)).toHaveLength(STATEMENTS);
    expect(out).toContain('<http://example.com/person/2> <http://xmlns.com/foaf/0.1/name> "Zoë" .\n');
  });

  test('writes a file whose extension tells the format', async () => {
    expect(await quadmill('run', 'mapping.ttl', '-o', 'out/graph.ttl')).toEqual({ code: 0, out: '', err: '' });
    expect(await readdir(join(directory, 'out'))).toEqual(['graph.ttl']);
    expect(await readFile(join(directory, 'out', 'graph.ttl'), 'utf8')).toContain('a foaf:Person');
  });

  test('does not replace a device or the link that the name is', async () => {
    expect((await quadmill('run', 'mapping.ttl', '-o', '/dev/null')).code).toBe(0);
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
    await mkdir(join(directory, 'linked'));
    await writeFile(join(directory, 'linked', 'real.nq'), 'old');
    await symlink('real.nq', join(directory, 'linked', 'link.nq'));
    expect((await quadmill('run', 'mapping.ttl', '-o', 'linked/link.nq')).code).toBe(0);
    expect(linesOf(await readFile(join(directory, 'linked', 'real.nq'), 'utf8'))).toHaveLength(STATEMENTS);
  });

  test('binds inputs by name or, with one source, without', async () => {
    await writeFile(join(directory, 'one=1.csv'), 'id,name,knows\n7,Kim,http://example.com/person/1\n');
    for (const input of ['people.csv=one=1.csv', `people.csv=${join(directory, 'one=1.csv')}`]) {
      expect((await quadmill('run', 'mapping.ttl', '--input', input)).out).toContain('"Kim"');
    }
    expect((await quadmill('run', 'mapping.ttl', '-i', 'bad.csv', '--on-error', 'skip')).out).toContain('"Ada"');
  });

  test('prints one line of statistics when asked', async () => {
    const { err } = await quadmill('run', 'mapping.ttl', '--stats');
    expect(linesOf(err)).toHaveLength(1);
    expect(JSON.parse(err)).toMatchObject({ records: 2, quads: STATEMENTS, rejected: 0, bytesRead: Buffer.byteLength(PEOPLE) });
    expect(JSON.parse(err).peakMemoryBytes).toBeGreaterThan(10e6);
  });

  test('under strict fails with record and value, and leaves no file', async () => {
    const { code, out, err } = await quadmill('run', 'mapping.ttl', '-i', 'people.csv=bad.csv', '-o', 'strict/out.nq');
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^quadmill: .*record 2.*not an iri/);
    expect(await readdir(join(directory, 'strict'))).toEqual([]);
  });

  test('under quarantine keeps the rejected records with their reason', async () => {
    const { code, err } = await quadmill('run', 'mapping.ttl', '-i', 'people.csv=bad.csv', '-o', 'kept/out.nq', '--on-error', 'quarantine');
    expect(code).toBe(0);
    expect(err).toContain('1 record was rejected');
    const rejected = linesOf(await readFile(join(directory, 'kept', 'out.nq.rejected.ndjson'), 'utf8')).map((line) => JSON.parse(line));
    expect(rejected).toHaveLength(1);
    expect(rejected[0]).toMatchObject({ code: 'record/term', place: { record: 2 } });
    expect((await quadmill('run', 'mapping.ttl', '-o', 'kept/out.nq', '--on-error', 'quarantine')).code).toBe(0);
    expect(await readdir(join(directory, 'kept'))).toEqual(['out.nq']);
  });

  test('gives up when more records are rejected than allowed', async () => {
    const { code, err } = await quadmill('run', 'mapping.ttl', '-i', 'people.csv=bad.csv', '--on-error', 'skip', '--max-rejected', '0');
    expect(code).toBe(1);
    expect(err).toContain('not an iri');
  });

  test('says why a triples map gave nothing', async () => {
    await writeFile(join(directory, 'empty.csv'), 'id,name,knows\n');
    const { code, err } = await quadmill('run', 'mapping.ttl', '-i', 'people.csv=empty.csv');
    expect(code).toBe(0);
    expect(err).toContain('mapping.ttl:4:1: Person gave no statement: people.csv has no records');
  });

  test('ends quietly when its reader has seen enough', async () => {
    const rows = Array.from({ length: 100_000 }, (_, i) => `${i},Name ${i},http://example.com/person/${i}\n`).join('');
    await writeFile(join(directory, 'many.csv'), `id,name,knows\n${rows}`);
    const { out, err } = await new Promise<Ended>((done) => {
      const script = '{ "$0" "$1" run mapping.ttl -i people.csv=many.csv; echo "code $?" >&2; } | head -n 1';
      execFile('/bin/sh', ['-c', script, process.execPath, QUADMILL], { cwd: directory }, (_, stdout, stderr) =>
        done({ code: 0, out: stdout, err: stderr }),
      );
    });
    expect(linesOf(out)).toHaveLength(1);
    expect(err).toBe('code 141\n');
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('on %s stops soon and takes its part of a file away', async (signal) => {
    const sent = new Promise<void>((begun) => {
      server.once('request', () => setTimeout(begun, 300));
    });
    const path = join(directory, `stopped-${signal}`);
    const child = spawn(
      process.execPath,
      [QUADMILL, 'run', 'mapping.ttl', '-i', `people.csv=${address}/people.csv`, '-o', join(path, 'out.nq')],
      {
        cwd: directory,
      },
    );
    const ended = endOf(child);
    await sent;
    expect(await readdir(path)).toEqual([expect.stringMatching(/^\.out\.nq\.\d+\.part$/)]);
    child.kill(signal);
    const { code, err } = await ended;
    expect([code, err]).toEqual([130, 'quadmill: interrupted; nothing was written\n']);
    expect(await readdir(path)).toEqual([]);
  });

  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' }).write('id,name,knows\n');
    let i = 0;
    const more = setInterval(() => response.write(`${i},Name,http://example.com/person/${i++}\n`.repeat(100)), 5);
    response.on('close', () => clearInterval(more));
  });
  let address: string;
  beforeAll(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((done) => server.close(done)));
});

const endOf = (child: ChildProcess): Promise<Ended> =>
  new Promise((done) => {
    let err = '';
    child.stderr?.on('data', (chunk) => {
      err += chunk;
    });
    child.on('close', (code) => done({ code, out: '', err }));
  });

test.each([
  ['an unknown command', ['rnu'], "there is no command 'rnu'; did you mean run?"],
  ['an unknown option', ['run', 'mapping.ttl', '--fromat', 'turtle'], 'no option --fromat; did you mean --format?'],
  ['a wrong choice', ['run', 'mapping.ttl', '--format', 'turtel'], 'did you mean turtle?'],
  ['a missing value', ['run', 'mapping.ttl', '--base'], '--base'],
  ['a base that is no IRI', ['run', 'mapping.ttl', '--base', 'here'], "--base is 'here'"],
  ['a number that is none', ['run', 'mapping.ttl', '--threads', '0'], '--threads'],
  ['an option given twice', ['run', 'mapping.ttl', '-o', 'a', '-o', 'b'], '--output is given 2 times'],
  ['no mapping', ['run'], 'at least one mapping'],
  ['a mapping that is not there', ['run', 'maping.ttl'], 'mapping.ttl'],
  ['a mapping that is not Turtle', ['run', 'broken.ttl'], 'broken.ttl:10:'],
  ['a mapping with mistakes', ['run', 'wrong.ttl'], 'wrong.ttl:6:'],
  ['an input that the mapping does not have', ['run', 'mapping.ttl', '-i', 'peopel.csv=people.csv'], 'people.csv'],
  ['nothing to write', ['write', '--target', 'store'], 'at least one file'],
  ['a write without a target', ['write', 'graph.nq'], '--target URL'],
  ['a write with a number that is none', ['write', 'graph.nq', '--target', 'store', '--max-rejected', 'few'], "--max-rejected is 'few'"],
  ['a target of a type that is not known', ['write', 'graph.nq', '--target', 'store', '--type', 'fuseky'], 'did you mean fuseki?'],
  ['a target that is no place', ['write', 'graph.nq', '--target', 'ftp://host/ds'], 'give --type, or another URL'],
  ['a graph that Turtle cannot have', ['run', 'graphs.ttl', '-f', 'turtle'], 'Ask for the format nquads, trig or jsonld'],
])('%s ends with code 2 and says what to do', async (_, args, words) => {
  await writeFile(join(directory, 'graphs.ttl'), MAPPING.replace('rml:class', 'rml:graph <http://e/g> ; rml:class'));
  const { code, out, err } = await quadmill(...args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(/^quadmill: /);
  expect(err).toContain(words);
});

test('an input that is not there ends with code 1', async () => {
  const { code, err } = await quadmill('run', 'mapping.ttl', '-i', 'people.csv=peple.csv');
  expect(code).toBe(1);
  expect(err).toContain('people.csv');
});

/** Where nothing can be written, ever. */
const below = (path: string): string => join(directory, path);
test.each([
  ['a file', () => below('people.csv'), /people\.csv is no directory/],
  ['below a file', () => below('people.csv/data/more'), /people\.csv is no directory/],
  ['below /proc, where Node by itself would try for ever', () => '/proc/quadmill/data', /no directory can be made in \/proc/],
])('serve with a data directory that is %s ends with a sentence', async (_, path, words) => {
  const { code, out, err } = await quadmill('serve', '--port', '0', '--data-dir', path());
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(/^quadmill: The data directory /);
  expect(err).toMatch(words);
  expect(err).toContain('--data-dir');
  expect(err).not.toMatch(/\n\s+at /);
});

test('an output below /proc ends with a sentence', async () => {
  const { code, err } = await quadmill('run', 'mapping.ttl', '-o', '/proc/quadmill/out/graph.nq');
  expect(code).toBe(1);
  expect(err).toBe('quadmill: /proc/quadmill/out/graph.nq cannot be written: there is no such directory\n');
});

test('quadmill write says that it waits for a store that is not there, and ends with code 1', async () => {
  await writeFile(join(directory, 'graph.nq'), '<http://e/s> <http://e/p> "o" .\n');
  const { code, err } = await quadmill('write', 'graph.nq', '--target', 'http://127.0.0.1:1/ds', '--patience-seconds', '3');
  expect(code).toBe(1);
  const [waits, ends, ...more] = err.trimEnd().split('\n');
  expect(waits).toMatch(/^quadmill: .* at http:\/\/127\.0\.0\.1:1\/ds cannot be reached: connection refused\. It is tried again for 3 s$/);
  expect(ends).toMatch(/^quadmill: .*cannot be reached: connection refused.*The run waits 3 s for the store/);
  expect(more).toEqual([]);
});

describe('quadmill check', () => {
  test('finds nothing wrong with a good mapping', async () => {
    expect(await quadmill('check', 'mapping.ttl')).toEqual({ code: 0, out: '1 triples map, nothing wrong\n', err: '' });
  });

  test('prints every mistake with its place, and how many', async () => {
    const { code, out } = await quadmill('check', 'wrong.ttl');
    expect(code).toBe(2);
    expect(linesOf(out).filter((line) => line.startsWith('wrong.ttl:')).length).toBeGreaterThanOrEqual(2);
    expect(out).toContain('rml:template');
    expect(out).toMatch(/\n\d+ errors, /);
  });
});

test('quadmill explain shows sources and statements', async () => {
  const { code, out } = await quadmill('explain', 'mapping.ttl');
  expect(code).toBe(0);
  expect(out).toContain('people.csv');
  expect(out).toContain('http://xmlns.com/foaf/0.1/name');
});

test.each([
  [['--help'], 'usage: quadmill COMMAND'],
  [['run', '--help'], 'usage: quadmill run MAPPING'],
  [['check', '-h'], 'usage: quadmill check'],
  [['--version'], JSON.parse(await readFile('package.json', 'utf8')).version],
])('quadmill %j answers on standard output', async (args, words) => {
  const { code, out, err } = await quadmill(...args);
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain(words);
});

test('without a build the program says how to make one', async () => {
  await mkdir(join(directory, 'fresh', 'bin'), { recursive: true });
  await writeFile(join(directory, 'fresh', 'package.json'), '{"type":"module"}');
  await copyFile(QUADMILL, join(directory, 'fresh', 'bin', 'quadmill.js'));
  const { code, err } = await new Promise<Ended>((done) => {
    const child = execFile(process.execPath, [join(directory, 'fresh', 'bin', 'quadmill.js'), 'run'], (_, out, stderr) =>
      done({ code: child.exitCode, out, err: stderr }),
    );
  });
  expect(code).toBe(1);
  expect(err).toContain('npm run build');
});
