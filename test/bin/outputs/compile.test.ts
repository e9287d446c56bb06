/** `quadmill compile`, the page about it, and `quadmill write` of what a job has written. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { type Files, withFiles } from '../faults/trial.ts';
import { quadmillHere } from '../messages/in-process.ts';

const MAPPING = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.com/> .
<#P> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .
`;
const FILES: Files = { 'people.ttl': MAPPING, 'people.csv': 'id,name\n1,Ada\n2,"a ""b"""\n' };

const COMMANDS = [...readFileSync(join(PROJECT_ROOT, 'docs/compile.md'), 'utf8').matchAll(/^npx quadmill (compile .*?) *(?:#.*)?$/gm)].map(
  ([, command]) => (command as string).split(' '),
);

test('does what the page says', async () => {
  expect(COMMANDS).toHaveLength(3);
  for (const command of COMMANDS) {
    const { code, out, written } = await withFiles(FILES, async (directory) => {
      const answer = await quadmillHere(directory, ...command);
      return { ...answer, written: command.includes('--check') ? '' : readFileSync(join(directory, 'job', 'quadmill.sql'), 'utf8') };
    });
    expect(code).toBe(0);
    if (command.includes('--check')) expect(out).toBe('Apache Spark can run the mapping\n');
    else expect(written).toContain('quadmill_iri_part');
  }
});

/** Stands for PySpark, and prints the statements that it is given. */
const PYSPARK = `import json
class Session:
    def __init__(self): self.builder = self.conf = self
    def appName(self, name): return self
    def getOrCreate(self): return self
    def set(self, name, value): print(json.dumps([name, value]))
    def sql(self, statement): print(json.dumps(statement))
    def stop(self): print(json.dumps("stopped"))
SparkSession = Session()
`;

test('gives a script for Python that hands the statements to Spark', async () => {
  await withFiles({ ...FILES, 'pyspark/__init__.py': '', 'pyspark/sql.py': PYSPARK }, async (directory) => {
    const { code } = await quadmillHere(
      directory,
      'compile',
      'people.ttl',
      '--for',
      'spark',
      '-o',
      'job',
      '--source',
      'people.csv=s3a://lake/ü/',
    );
    expect(code).toBe(0);
    const said = execFileSync('python3', ['job/quadmill.py', '--output', 's3a://lake/graph'], {
      cwd: directory,
      encoding: 'utf8',
      env: { ...process.env, PYTHONPATH: directory },
    });
    const lines = said
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    expect(lines[0]).toEqual(['quadmill.output', 's3a://lake/graph']);
    expect(lines.at(-1)).toBe('stopped');
    expect(lines.filter((line) => String(line).includes('s3a://lake/ü/'))).toHaveLength(1);
    expect(lines.at(-2)).toContain('INSERT OVERWRITE DIRECTORY');
  });
});

test.each([
  [['people.ttl'], 'compile needs --for'],
  [['people.ttl', '--for', 'spark'], 'compile needs -o DIRECTORY, or --check'],
  [['people.ttl', '--for', 'spark', '--check', '--source', 'x.csv=y'], "--source names 'x.csv', and the sources are people.csv"],
  [['people.ttl', '--for', 'spark', '--check', '--source', 'people.csv'], 'expected is NAME=PLACE'],
])('refuses %j', async (args, message) => {
  const { code, err } = await withFiles(FILES, (directory) => quadmillHere(directory, 'compile', ...args));
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});

test('writes nothing for a mapping that SQL cannot take, and says why', async () => {
  const other = MAPPING.replace('people.csv', 'people.xml').replace('rml:CSV', 'rml:XPath');
  const { code, err } = await withFiles({ 'people.ttl': other }, (directory) =>
    quadmillHere(directory, 'compile', 'people.ttl', '--for', 'duckdb', '-o', 'job'),
  );
  expect(code).toBe(2);
  expect(err).toContain('people.ttl:2:');
  expect(err).toContain('the XML document "people.xml"');
});

test('write takes the parts of a directory, once the job has ended', async () => {
  const parts = {
    'graph/part-00000.txt': '<http://e/1> <http://e/p> "a" .\n',
    'graph/part-00001.txt': '<http://e/2> <http://e/p> "b" .\n',
    'graph/.x.crc': '',
  };
  const write = (files: Files) =>
    withFiles(files, (directory) => quadmillHere(directory, 'write', 'graph', '--target', './store', '--stats'));
  const early = await write(parts);
  expect([early.code, early.err]).toEqual([1, expect.stringContaining('no file _SUCCESS')]);
  const done = await write({ ...parts, 'graph/_SUCCESS': '' });
  expect([done.code, done.err]).toEqual([0, expect.stringContaining('"statements":2')]);
});
