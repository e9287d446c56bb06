import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
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

const quadmill = (...args: readonly string[]): Promise<Ended> => quadmillIn(directory, undefined, ...args);

const quadmillIn = (cwd: string, input: string | Buffer | undefined, ...args: readonly string[]): Promise<Ended> =>
  quadmillWith({}, cwd, input, ...args);

/** @param input standard input, which is then closed; undefined: it stays open and empty */
function quadmillWith(
  variables: Readonly<Record<string, string>>,
  cwd: string,
  input: string | Buffer | undefined,
  ...args: readonly string[]
): Promise<Ended> {
  const env = { ...process.env, ...variables };
  return new Promise((done) => {
    const child = execFile(process.execPath, [QUADMILL, ...args], { cwd, env }, (_, out, err) => done({ code: child.exitCode, out, err }));
    // A program that ends at once does not read its input.
    child.stdin?.on('error', () => undefined);
    if (input !== undefined) child.stdin?.end(input);
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

  test('writes a file in the format of its extension', async () => {
    expect(await quadmill('run', 'mapping.ttl', '-o', 'out/graph.ttl')).toEqual({ code: 0, out: '', err: '' });
    expect(await readdir(join(directory, 'out'))).toEqual(['graph.ttl']);
    expect(await readFile(join(directory, 'out', 'graph.ttl'), 'utf8')).toContain('a foaf:Person');
  });

  test('reads many mappings without a warning of Node', async () => {
    const many = Array.from({ length: 12 }, (_, i) => `many-${i}.ttl`);
    await Promise.all(
      many.map((name) =>
        writeFile(join(directory, name), MAPPING.replaceAll('#Person', `#${name}`).replace('person/{id}', `${name}/{id}`)),
      ),
    );
    expect(await quadmill('run', ...many, '-o', 'many.nq')).toEqual({ code: 0, out: '', err: '' });
    expect(linesOf(await readFile(join(directory, 'many.nq'), 'utf8'))).toHaveLength(many.length * STATEMENTS);
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

  test.each(['SIGINT', 'SIGTERM'] as const)('on %s stops soon and removes its incomplete file', async (signal) => {
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

describe('the variables of options of the service', () => {
  const typed = MAPPING.replace('rml:reference "name"', 'rml:reference "name" ; rml:datatype <http://www.w3.org/2001/XMLSchema#integer>');
  const attempt = async (variables: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ended> => {
    await writeFile(join(directory, 'typed.ttl'), typed);
    return quadmillWith(variables, directory, undefined, 'run', 'typed.ttl', ...args);
  };

  test.each<[variables: Readonly<Record<string, string>>, args: readonly string[], code: number, lines: number, words: string]>([
    [{}, [], 1, 0, 'no xsd:integer'],
    [{ DATATYPE_CHECK: 'warn' }, [], 0, STATEMENTS, '2 literals are ill-typed'],
    [{ DATATYPE_CHECK: 'off' }, [], 0, STATEMENTS, ''],
    [{ DATATYPE_CHECK: 'off' }, ['--datatype-check', 'error'], 1, 0, 'no xsd:integer'],
    [{ DATATYPE_CHECK: 'auto' }, [], 1, 0, 'no xsd:integer'],
    [{ ON_ERROR: 'skip' }, [], 0, 0, '2 records were rejected'],
    [{ ON_ERROR: 'skip', MAX_REJECTED: '1' }, [], 1, 0, 'More than 1 record was rejected'],
    [{ ON_ERROR: 'skip', MAX_REJECTED: '1' }, ['--max-rejected', '2'], 0, 0, '2 records were rejected'],
    [{ MAX_RECORD_BYTES: 'few' }, [], 2, 0, 'The option MAX_RECORD_BYTES does not take the value "few"'],
    // Of a program that has nothing to do with a run.
    [{ DATATYPE_CHECK: 'off', PORT: 'http', LOG_LEVEL: 'all' }, [], 0, STATEMENTS, ''],
  ])('%j hold for a run with %j', async (variables, args, code, lines, words) => {
    const ended = await attempt(variables, ...args);
    expect([ended.code, linesOf(ended.out).length, ended.err]).toEqual([code, lines, expect.stringContaining(words)]);
    if (words === '') expect(ended.err).toBe('');
  });

  test('a base, and the policy for which --watch has no file', async () => {
    const relative = MAPPING.replace('http://example.com/person/{id}', 'person/{id}');
    await writeFile(join(directory, 'relative.ttl'), relative.replace('@base <http://example.com/base/> .', '@base <http://m/> .'));
    const { out } = await quadmillWith({ BASE_IRI: 'http://b/' }, directory, undefined, 'run', 'relative.ttl');
    expect(out).toContain('<http://b/person/2> ');
    const { code, err } = await quadmillWith({ ON_ERROR: 'quarantine' }, directory, undefined, 'run', 'mapping.ttl', '--watch');
    expect([code, err]).toEqual([2, expect.stringContaining('use --on-error skip')]);
  });
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
  ['an input where a mapping is expected', ['run', 'mapping.ttl', 'people.csv'], 'write quadmill run mapping.ttl --input people.csv'],
  ['an input alone', ['run', 'people.csv'], 'people.csv is an input by its name'],
  ['a mapping that is not there', ['run', 'maping.ttl'], 'mapping.ttl'],
  ['a mapping that is not Turtle', ['run', 'broken.ttl'], 'broken.ttl:10:'],
  ['a mapping with mistakes', ['run', 'wrong.ttl'], 'wrong.ttl:6:'],
  ['an input that the mapping does not have', ['run', 'mapping.ttl', '-i', 'peopel.csv=people.csv'], 'people.csv'],
  ['an output in the place of its mapping', ['run', 'mapping.ttl', '-f', 'turtle', '-o', './mapping.ttl'], 'would replace mapping.ttl'],
  [
    'an output in the place of an input',
    ['run', 'mapping.ttl', '-i', 'people.csv=people.csv', '-f', 'nquads', '-o', 'people.csv'],
    'would replace people.csv',
  ],
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

describe('what inputs are, and where', () => {
  const SEMICOLONS = "id;name;knows\n1;'Ada; Countess';http://example.com/person/2\n2;Zoë;http://example.com/person/1\n";
  const ROWS = ['--delimiter', ';', '--quote', "'"];
  const piped = (input: string | Buffer, ...args: readonly string[]) => quadmillIn(directory, input, 'run', 'mapping.ttl', ...args);
  let names: string;

  beforeAll(async () => {
    names = (await piped(SEMICOLONS, '-i', '-', ...ROWS)).out;
    await writeFile(join(directory, 'export.txt'), SEMICOLONS);
    await writeFile(join(directory, 'export'), SEMICOLONS);
    await writeFile(join(directory, 'wrong-name.json'), SEMICOLONS);
    await writeFile(join(directory, 'export.dat'), Buffer.from(SEMICOLONS, 'latin1'));
    await writeFile(join(directory, 'tabs.dat'), SEMICOLONS.replaceAll(';', '\t'));
    await writeFile(join(directory, 'people.jsonl.txt'), '{"id":1,"name":"Ada"}\n{"id":2,"name":"Zoë"}\n');
    const json = MAPPING.replace('rml:CSV', 'rml:JSONPath ; rml:iterator "$[*]"').replace(/rml:predicateObjectMap.*knows.*;\n/, '');
    await writeFile(join(directory, 'json.ttl'), json);
    await mkdir(join(directory, 'apart'));
    await writeFile(join(directory, 'apart', 'mapping.ttl'), MAPPING.replace('CurrentWorkingDirectory', 'MappingDirectory'));
    await writeFile(join(directory, 'apart', 'working.ttl'), MAPPING);
    const twice = `${MAPPING}<#Again> rml:logicalSource [ rml:referenceFormulation rml:CSV ; rml:source [ rml:path "people.csv" ; rml:null "-" ] ] ;
      rml:subjectMap [ rml:template "http://example.com/{id}" ; rml:class foaf:Agent ] .`;
    await writeFile(join(directory, 'twice.ttl'), twice);
  });

  test('standard input', async () => {
    expect(names).toContain('"Ada; Countess"');
    expect(linesOf(names)).toHaveLength(STATEMENTS);
    for (const input of ['-', 'people.csv=-']) expect((await piped(SEMICOLONS, '-i', input, ...ROWS)).out).toBe(names);
    expect((await piped(SEMICOLONS, '-i', '-', ...ROWS, '--threads', '4')).out).toBe(names);
    expect((await piped(gzipSync(SEMICOLONS), '-i', '-', ...ROWS)).out).toBe(names);
    const large = `id,name,knows\n${Array.from({ length: 200_000 }, (_, i) => `${i},Name,http://example.com/person/1\n`).join('')}`;
    expect((await piped(large, '-i', '-', '-o', '/dev/null', '--stats')).err).toContain('"records":200000,');
  });

  test.each([
    ['semicolons', ['-i', 'export.txt', ...ROWS]],
    ['a name without extension', ['-i', 'export', ...ROWS]],
    ['an extension that says something else', ['-i', 'wrong-name.json', '--input-format', 'csv', ...ROWS]],
    ['another encoding', ['-i', 'people.csv=export.dat', '--encoding', 'Latin1', ...ROWS]],
    ['tabs, by the format', ['-i', 'tabs.dat', '--input-format', 'tsv', '--quote', "'"]],
    ['tabs, by the delimiter', ['-i', 'tabs.dat', '--delimiter', '\\t', '--quote', "'"]],
  ])('%s', async (_, args) => {
    const { code, out, err } = await quadmill('run', 'mapping.ttl', ...args);
    expect([code, err]).toEqual([0, '']);
    expect(out.replace('Ada\t Countess', 'Ada; Countess')).toBe(names);
  });

  test('lines of JSON, and CSV without quotes', async () => {
    const { out } = await quadmill('run', 'json.ttl', '-i', 'people.jsonl.txt', '--input-format', 'jsonl');
    expect(out).toContain('"Zoë"');
    const unquoted = await piped('id,name,knows\n1,"Ada,http://example.com/\n', '-i', '-', '--quote', '');
    expect(unquoted.out).toContain('"\\"Ada"');
  });

  test.each<[what: string, args: readonly string[], code: number, ...words: string[]]>([
    ['semicolons that are not declared', ['-i', 'export.txt'], 2, 'one column, "id;name;knows"', `--delimiter ';'`, 'csvw:dialect'],
    ['a delimiter of two characters', ['--delimiter', ';;'], 2, '--delimiter is ";;", expected is one ASCII character', '\\t for a tab'],
    ['an empty delimiter', ['--delimiter', ''], 2, '--delimiter is ""'],
    ['a quote of two characters', ['--quote', '""'], 2, '--quote is', 'no quotes'],
    ['a delimiter that is the quote', ['--delimiter', "'", '--quote', "'"], 2, 'delimiter and the quote'],
    ['a delimiter that is the usual quote', ['--delimiter', '"'], 2, 'delimiter and the quote'],
    ['an unknown encoding', ['--encoding', 'klingon'], 2, '--encoding is "klingon"', 'windows-1250'],
    ['an encoding that the file has not', ['-i', 'export.dat', ...ROWS], 1, 'not valid UTF-8', '--encoding'],
    ['an unknown format', ['--input-format', 'cvs'], 2, 'did you mean csv?'],
    [
      'a format that the mapping does not read',
      ['-i', 'export.txt', '--input-format', 'xml'],
      1,
      'The input is XML',
      'as CSV',
      '--input-format',
    ],
    ['a name that says another format', ['-i', 'wrong-name.json'], 1, 'The input is JSON', '--input-format'],
    ['a source root that is not there', ['--source-root', 'nowhere'], 2, "--source-root is 'nowhere', which is not a directory"],
    ['standard input for two sources', ['-i', 'a=-', '-i', 'b=-'], 2, '--input - is given 2 times'],
    ['an empty input', ['-i', ''], 2, '--input is empty'],
  ])('wrong: %s', async (_, args, code, ...words) => {
    const ended = await piped('', ...args);
    expect([ended.code, ended.out]).toEqual([code, '']);
    for (const word of words) expect(ended.err).toContain(word);
    expect(linesOf(ended.err)).toHaveLength(1);
  });

  test('wrong: standard input that is empty, or would have to be read twice', async () => {
    expect((await piped('', '-i', '-')).err).toMatch(/header row.*it is empty.*input standard input/);
    const { code, err } = await quadmillIn(directory, SEMICOLONS, 'run', 'twice.ttl', '-i', '-');
    expect(code).toBe(2);
    expect(err).toMatch(/Standard input can be read once, and the mapping reads it 2 times: people\.csv \(twice\.ttl:/);
    expect((await quadmillIn(directory, '', 'run', 'json.ttl', '--delimiter', ';')).err).toMatch(/reads no CSV.*JSON/);
  });

  test('standard input that sends nothing does not keep an interrupted run', async () => {
    const child = spawn(process.execPath, [QUADMILL, 'run', 'mapping.ttl', '-i', '-'], { cwd: directory });
    const ended = endOf(child);
    // More than a pipe holds: once all of it is written, the run reads.
    const rows = `id,name,knows\n${'1,Ada,http://example.com/\n'.repeat(20_000)}`;
    await new Promise<void>((written) => child.stdin.write(rows, () => written()));
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 130, err: expect.stringContaining('interrupted') });
  });

  const hasPython = spawnSync('python3', ['--version']).status === 0;
  (hasPython ? test : test.skip)('wrong: standard input that is a terminal', async () => {
    const script = `import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)`;
    const { out } = await new Promise<Ended>((done) => {
      const args = ['-c', script, process.execPath, QUADMILL, 'run', 'mapping.ttl', '-i', '-'];
      execFile('python3', args, { cwd: directory }, (_, stdout, stderr) => done({ code: 0, out: stdout, err: stderr })).stdin?.end();
    });
    expect(out).toContain('which is a terminal here');
  });

  test('a source that is in the working directory, and not beside the mapping', async () => {
    const { code, err } = await quadmill('run', 'apart/mapping.ttl');
    expect(code).toBe(1);
    expect(err).toContain(`There is one in the working directory: ${join(directory, 'people.csv')}`);
    expect(err).toContain('looked for beside the mapping; --source-root . looks there instead');
    const found = await quadmill('run', 'apart/mapping.ttl', '--source-root', '.');
    expect([found.code, linesOf(found.out).length]).toEqual([0, STATEMENTS]);
    const other = await quadmill('run', 'apart/mapping.ttl', '--source-root', 'apart');
    expect(other.err).toContain('looked for in --source-root');
  });

  test('a source that is beside the mapping, and not in the working directory', async () => {
    const away = join(directory, 'away');
    await mkdir(away);
    const { err } = await quadmillIn(away, '', 'run', '../mapping.ttl');
    expect(err).toContain(`There is one in the directory of the mapping: ${join(directory, 'people.csv')}`);
    expect(err).toContain('--source-root .. looks there instead');
    expect((await quadmillIn(away, '', 'run', '../mapping.ttl', '--source-root', '..')).code).toBe(0);
    const nowhere = await quadmillIn(away, '', 'run', '../apart/working.ttl');
    expect(nowhere.err).toContain('--input people.csv=FILE');
  });
});

/** A device that cannot be written. */
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

test('a place for temporary files that is none ends with a sentence', async () => {
  await writeFile(join(directory, 'graph.nq'), '<http://e/s> <http://e/p> "o" .\n');
  const args = [QUADMILL, 'write', 'graph.nq', '--target', join(directory, 'store')];
  const { code, err } = await new Promise<Ended>((done) => {
    const env = { ...process.env, TMPDIR: '/proc/quadmill' };
    const child = execFile(process.execPath, args, { cwd: directory, env }, (_, out, stderr) =>
      done({ code: child.exitCode, out, err: stderr }),
    );
  });
  expect(code).toBe(2);
  expect(err).toMatch(/^quadmill: No temporary directory can be made: no directory can be made in \/proc\/quadmill\. Set TMPDIR[^\n]*\n$/);
});

test('an output below /proc ends with a sentence', async () => {
  const { code, err } = await quadmill('run', 'mapping.ttl', '-o', '/proc/quadmill/out/graph.nq');
  expect(code).toBe(1);
  expect(err).toBe('quadmill: /proc/quadmill/out/graph.nq cannot be written: there is no such directory\n');
});

test('quadmill write takes what quadmill run makes on standard input, Turtle too', async () => {
  const store = join(directory, 'piped');
  const nquads = await quadmill('run', 'mapping.ttl');
  const piped = await quadmillIn(directory, nquads.out, 'write', '-', '--target', store);
  expect([piped.code, piped.err]).toEqual([0, '']);
  expect(piped.out).toMatch(new RegExp(`^${STATEMENTS} statements written`));
  const turtle = await quadmill('run', 'mapping.ttl', '--format', 'turtle');
  const again = await quadmillIn(directory, gzipSync(turtle.out), 'write', '-', '--input-format', 'turtle', '--target', store);
  expect([again.code, again.err]).toEqual([0, '']);
  const unnamed = await quadmillIn(directory, turtle.out, 'write', '-', '--rejected', 'turtle.ndjson', '--target', store);
  expect(unnamed.err).toContain('It is a declaration of Turtle or TriG: --input-format turtle or trig says so');
  const twice = await quadmillIn(directory, '', 'write', '-', '-', '--target', store);
  expect([twice.code, twice.err]).toEqual([2, expect.stringContaining('standard input can be read once')]);
});

test('quadmill write rejects bad lines, names the first ones, and keeps what an earlier write rejected', async () => {
  const good = '<http://e/s> <http://e/p> "1" .\n';
  await writeFile(join(directory, 'tag.nq'), `${good}<http://e/s> <http://e/p> "x"@en_US .\n`);
  await writeFile(join(directory, 'stop.nt'), `${good}<http://e/s> <http://e/p> "x"\n${good}`);
  const args = ['--target', join(directory, 'rejecting'), '--rejected', 'kept.ndjson'];
  const tag = await quadmill('write', 'tag.nq', ...args);
  expect([tag.code, tag.err]).toEqual([0, expect.stringContaining('"en_US" is not a language tag')]);
  const stop = await quadmill('write', 'stop.nt', ...args);
  expect([stop.code, stop.err]).toEqual([0, expect.stringContaining('a graph or a full stop was expected')]);
  const kept = linesOf(await readFile(join(directory, 'kept.ndjson'), 'utf8')).map((line) => JSON.parse(line));
  expect(kept).toMatchObject([
    { time: expect.any(String), input: 'tag.nq', line: 2, fault: { code: 'record/term' } },
    { time: expect.any(String), input: 'stop.nt', line: 2, fault: { code: 'source/malformed' } },
  ]);
  const none = await quadmill('write', 'mapping.json', ...args);
  expect([none.code, none.err]).toEqual([1, expect.stringContaining('expected is one of nq, nt, ttl, trig')]);
});

test('quadmill write reports that it waits for an unreachable store, and exits with code 1', async () => {
  await writeFile(join(directory, 'graph.nq'), '<http://e/s> <http://e/p> "o" .\n');
  const { code, err } = await quadmill('write', 'graph.nq', '--target', 'http://127.0.0.1:1/ds', '--patience-seconds', '3');
  expect(code).toBe(1);
  const [waits, ends, ...more] = err.trimEnd().split('\n');
  expect(waits).toMatch(/^quadmill: .* at http:\/\/127\.0\.0\.1:1\/ds cannot be reached: connection refused\. Retrying for 3 s$/);
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

describe('quadmill functions', () => {
  test('lists functions, and describes those that are named', async () => {
    const all = await quadmill('functions');
    expect([all.code, all.err]).toEqual([0, '']);
    expect(all.out).toContain('Text\n  fns:helloworld: The text `Hello World!`.\n  grel:toUpperCase: The text in upper case.\n');
    const one = await quadmill('functions', 'http://users.ugent.be/~bjdmeest/function/grel.ttl#toUppercase', 'qm:slug', '--turtle');
    expect(one.out.match(/a fno:Function/g)).toHaveLength(2);
  });

  test('says which function was meant', async () => {
    const { code, err } = await quadmill('functions', 'grel:toUperCase');
    expect(code).toBe(2);
    expect(err).toContain("there is no function 'grel:toUperCase'; did you mean grel:toUpperCase");
  });
});

test('quadmill explain shows sources and statements', async () => {
  const { code, out } = await quadmill('explain', 'mapping.ttl');
  expect(code).toBe(0);
  expect(out).toContain('people.csv');
  expect(out).toContain('http://xmlns.com/foaf/0.1/name');
});

test('quadmill explain shows how a CSV file is written', async () => {
  const { out } = await quadmill('explain', resolve('test/src/run/cases/csvw-dialects/mapping.ttl'));
  expect(out).toContain(`objects.csv (csv, rml dialect, delimiter ";", quoteChar "'", commentPrefix "#", skipRows 1), read once`);
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

test('without a build the program reports how to build it', async () => {
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
