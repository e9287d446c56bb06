/** `run --dataset`, `dataset` and `diff` with wrong inputs, and after interruptions. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { PROJECT_ROOT } from '../../support/project-root.ts';

const COMMAND = join(PROJECT_ROOT, 'bin', 'quadmill.js');
const MAPPING = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> .
<#P> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "p.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://e/p/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .`;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-datasets-'));
  writeFileSync(join(directory, 'm.ttl'), MAPPING);
  write('id,name\n1,a\n2,b\n');
});
afterEach(() => rmSync(directory, { recursive: true }));

const write = (text: string): void => writeFileSync(join(directory, 'p.csv'), text);

function quadmill(...args: readonly string[]): { readonly status: number | null; readonly out: string; readonly err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], { cwd: directory, encoding: 'utf8' });
  return { status, out: stdout, err: stderr };
}

describe('a wrong input is reported', () => {
  test.each([
    [['run', 'm.ttl', '--dataset', 'd', '--limit', '1'], 2, 'leave out --limit'],
    [['run', 'm.ttl', '--dataset', 'd', '--watch'], 2, 'leave out --dataset'],
    [['run', 'm.ttl', '--dataset', 'd', '--no-distinct'], 2, 'leave out --no-distinct'],
    [['run', 'm.ttl', '--dataset', '.'], 2, 'is not empty and is no dataset'],
    [['run', 'm.ttl', '--dataset', 'http://e/d'], 1, 'Give a path, a file: URL or an s3: URL'],
    [['dataset'], 2, 'dataset needs one of log, changes, export, verify, remove-versions'],
    [['dataset', 'lgo', 'd'], 2, "dataset has no 'lgo'"],
    [['dataset', 'log', 'nothing'], 1, 'There is no dataset in'],
    [['dataset', 'changes', 'd'], 2, 'dataset changes needs --since N'],
    [['dataset', 'log', 'd', '--keep', '3'], 2, 'dataset log has no option --keep'],
    [['diff', 'm.ttl', 'm.ttl'], 1, 'A line is not N-Quads'],
    [['diff', 'one.nq'], 2, 'diff needs two files'],
  ])('%j', (args, status, message) => {
    const { status: found, err } = quadmill(...args);
    expect([found, err]).toEqual([status, expect.stringContaining(message)]);
    expect(existsSync(join(directory, 'd', 'dataset.json'))).toBe(false);
  });

  test('versions and targets that are not there', () => {
    quadmill('run', 'm.ttl', '--dataset', 'd');
    expect(quadmill('dataset', 'changes', 'd', '--since', '5')).toMatchObject({
      status: 2,
      err: expect.stringContaining('has no version 5: the newest one is 1'),
    });
    expect(quadmill('dataset', 'export', 'd', '--target', 'x.nq')).toMatchObject({
      status: 2,
      err: expect.stringContaining('has no logical target x.nq'),
    });
    expect(quadmill('dataset', 'changes', 'd', '--since', '1')).toEqual({ status: 0, out: '', err: '' });
  });

  test('a damaged manifest is named', () => {
    quadmill('run', 'm.ttl', '--dataset', 'd');
    writeFileSync(join(directory, 'd', 'versions', '000001.json'), '{"version": 1');
    expect(quadmill('dataset', 'log', 'd')).toMatchObject({ status: 1, err: expect.stringContaining('000001.json is damaged') });
    expect(quadmill('run', 'm.ttl', '--dataset', 'd')).toMatchObject({ status: 1, err: expect.stringContaining('000001.json is damaged') });
  });

  test('a first run that fails leaves nothing, and a directory that was there is left', () => {
    write('id,name\n1,"a\n');
    expect(quadmill('run', 'm.ttl', '--dataset', 'd').status).toBe(1);
    expect(existsSync(join(directory, 'd'))).toBe(false);
    mkdirSync(join(directory, 'there'));
    expect(quadmill('run', 'none.ttl', '--dataset', 'there').status).toBe(2);
    expect(readdirSync(join(directory, 'there')).filter((name) => name !== 'state')).toEqual([]);
    write('id,name\n1,a\n');
    expect(quadmill('run', 'm.ttl', '--dataset', 'there').err).toContain('dataset there: version 1, 1 statements added');
  });

  test('a failed run makes no version', () => {
    quadmill('run', 'm.ttl', '--dataset', 'd');
    write('id,name\n1,"a\n');
    expect(quadmill('run', 'm.ttl', '--dataset', 'd').status).toBe(1);
    expect(readdirSync(join(directory, 'd', 'versions'))).toEqual(['000001.added.nq.gz', '000001.json']);
    expect(readdirSync(join(directory, 'd', 'state')).length).toBe(1);
  });
});

test('a first run without statements makes version 1', () => {
  write('id,name\n');
  quadmill('run', 'm.ttl', '--dataset', 'd');
  expect(JSON.parse(readFileSync(join(directory, 'd', 'versions', '000001.json'), 'utf8'))).toMatchObject({
    version: 1,
    added: 0,
    removed: 0,
    files: [],
  });
  expect(quadmill('dataset', 'export', 'd')).toEqual({ status: 0, out: '', err: '' });
  write('id,name\n1,a\n');
  expect(quadmill('run', 'm.ttl', '--dataset', 'd').err).toContain('version 2, 1 statements added, 0 removed');
});

test('a state that is lost or of another version is rebuilt', () => {
  quadmill('run', 'm.ttl', '--dataset', 'd');
  write('id,name\n1,a\n2,c\n3,d\n');
  rmSync(join(directory, 'd', 'state'), { recursive: true });
  expect(quadmill('run', 'm.ttl', '--dataset', 'd').err).toContain('version 2, 2 statements added, 1 removed');
  expect(quadmill('dataset', 'verify', 'd').status).toBe(0);
});

test('a second run at the same time is refused, and a lock of a killed one is no hindrance', async () => {
  mkdirSync(join(directory, 'd'));
  write(`id,name\n${Array.from({ length: 200_000 }, (_, i) => `${i},${i}`).join('\n')}\n`);
  const first = spawn(process.execPath, [COMMAND, 'run', 'm.ttl', '--dataset', 'd'], { cwd: directory, stdio: 'ignore' });
  while (!existsSync(join(directory, 'd', 'state', 'temporary'))) await sleep(5);
  expect(quadmill('run', 'm.ttl', '--dataset', 'd')).toMatchObject({
    status: 1,
    err: expect.stringContaining('Another run writes the dataset'),
  });
  first.kill('SIGKILL');
  await new Promise((resolve) => first.once('exit', resolve));
  expect(existsSync(join(directory, 'd', 'versions'))).toBe(false);
  expect(quadmill('run', 'm.ttl', '--dataset', 'd')).toMatchObject({
    status: 0,
    err: expect.stringContaining('version 1, 200,000 statements added'),
  });
}, 60_000);
