/** `quadmill run --watch` as an author sees it: files are changed in the ways of editors, and the changes of statements are printed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { quadmillHere } from '../messages/in-process.ts';

const QUADMILL = resolve('bin/quadmill.js');
const WAIT_MS = 30_000;

const MAPPING = `@prefix rml: <http://w3id.org/rml/> .
<#P> rml:logicalSource [ rml:source [ a rml:FilePath ; rml:root rml:MappingDirectory ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://e/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate <http://e/name> ; rml:objectMap [ rml:reference "name" ] ] .
`;
const FRESH = MAPPING.replace('rml:template "http://e/{id}"', 'rml:termType rml:BlankNode');
/** A value of the file `codes.csv` instead of the name. */
const LOOK_UP = MAPPING.replace('@prefix', '@prefix f: <https://w3id.org/imec/idlab/function#> .\n@prefix').replace(
  'rml:reference "name"',
  `rml:functionExecution [ rml:function f:lookup ; ${[
    'f:str ; rml:inputValueMap [ rml:reference "name" ]',
    'f:inputFile ; rml:inputValue "codes.csv"',
    'f:fromColumn ; rml:inputValue 0',
    'f:toColumn ; rml:inputValue 1',
  ]
    .map((one) => `rml:input [ rml:parameter ${one} ]`)
    .join(' ; ')} ]`,
);
const statement = (id: number, name: string): string => `<http://e/${id}> <http://e/name> "${name}" .`;

let directory: string;
let child: ChildProcess | undefined;
let out: string;
let err: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-watch-'));
  [out, err] = ['', ''];
  await put('mapping.ttl', MAPPING);
  await put('people.csv', 'id,name\n1,Ada\n2,Grace\n');
});
afterEach(async () => {
  if (child?.exitCode === null) {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  child = undefined;
  await rm(directory, { recursive: true });
});

const put = (name: string, text: string): Promise<void> => writeFile(join(directory, name), text);

async function start(...options: readonly string[]): Promise<void> {
  child = spawn(process.execPath, [QUADMILL, 'run', 'mapping.ttl', '--watch', ...options], { cwd: directory });
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  await told();
}

/** Waits for the end of the next run that prints this. */
async function told(...parts: readonly string[]): Promise<void> {
  const end = performance.now() + WAIT_MS;
  while (!(parts.every((part) => `${out}${err}`.includes(part)) && err.endsWith('Ctrl-C ends\n'))) {
    if (performance.now() > end || child?.exitCode !== null) throw new Error(`not told: ${parts.join(', ')}\n${out}${err}`);
    await sleep(20);
  }
}

/** Forgets what was printed, changes files, and waits. */
async function upon(change: () => Promise<unknown>, ...parts: readonly string[]): Promise<string> {
  [out, err] = ['', ''];
  await change();
  await told(...parts);
  return out;
}

test('prints the statements of the first run, then what changes of them, and ends with 130', async () => {
  await start();
  expect(out).toBe(`+ ${statement(1, 'Ada')}\n+ ${statement(2, 'Grace')}\n`);
  expect(await upon(() => put('people.csv', 'id,name\n1,Ada\n2,Eve\n3,Zoë\n'), '2 added')).toBe(
    `+ ${statement(2, 'Eve')}\n- ${statement(2, 'Grace')}\n+ ${statement(3, 'Zoë')}\n`,
  );
  expect(err).toContain('3 statements from 3 records: 2 added, 1 removed');
  await upon(() => put('mapping.ttl', `${MAPPING}# a comment\n`), 'nothing changed');
  child?.kill('SIGINT');
  await once(child as ChildProcess, 'close');
  expect([child?.exitCode, out]).toEqual([130, '']);
});

describe('a file', () => {
  test('is replaced by another one', async () => {
    await start();
    const replaced = await upon(async () => {
      await put('people.csv.new', 'id,name\n1,Ada\n');
      await rename(join(directory, 'people.csv.new'), join(directory, 'people.csv'));
    }, '1 removed');
    expect(replaced).toBe(`- ${statement(2, 'Grace')}\n`);
    expect(await upon(() => put('people.csv', 'id,name\n1,Eve\n'), '1 added')).toBe(`- ${statement(1, 'Ada')}\n+ ${statement(1, 'Eve')}\n`);
  });

  test('goes and comes back', async () => {
    await start();
    await upon(() => unlink(join(directory, 'people.csv')), 'people.csv', 'There is no file');
    expect(out).toBe('');
    expect(await upon(() => put('people.csv', 'id,name\n1,Ada\n2,Eve\n'), '1 added')).toBe(
      `+ ${statement(2, 'Eve')}\n- ${statement(2, 'Grace')}\n`,
    );
  });

  test('changes many times in a burst', async () => {
    await start();
    const changed = async (): Promise<void> => {
      for (let i = 0; i < 20; i++) {
        await put('people.csv', `id,name\n1,Ada${i}\n2,Grace\n`);
        await sleep(5);
      }
    };
    await upon(changed, `+ ${statement(1, 'Ada19')}`);
  });

  test('is that of a look-up, and comes later than the mapping', async () => {
    await put('mapping.ttl', LOOK_UP);
    await start();
    expect(err).toContain('There is no file');
    expect(await upon(() => put('codes.csv', 'Ada,Lovelace\n'), '1 statement')).toBe(`+ ${statement(1, 'Lovelace')}\n`);
    expect(await upon(() => put('codes.csv', 'Ada,King\n'), '1 added')).toBe(`+ ${statement(1, 'King')}\n- ${statement(1, 'Lovelace')}\n`);
  });

  test('is another one, since the mapping names it', async () => {
    await start();
    await put('others.csv', 'id,name\n1,Ada\n');
    await upon(() => put('mapping.ttl', MAPPING.replace('people.csv', 'others.csv')), '1 removed');
    expect(await upon(() => put('others.csv', 'id,name\n1,Ada\n7,Kay\n'), '1 added')).toBe(`+ ${statement(7, 'Kay')}\n`);
  });
});

test('a mapping that is broken while its author types gives diagnostics, and the last good state stays', async () => {
  await start();
  await upon(() => put('mapping.ttl', MAPPING.replace('rml:template', 'rml:templat')), 'did you mean rml:template?');
  expect(err).toMatch(/^quadmill: .*\nmapping\.ttl:3:20: error/);
  await upon(() => put('mapping.ttl', MAPPING.replace('rml:subjectMap', '')), 'cannot be parsed');
  expect(out).toBe('');
  expect(await upon(() => put('mapping.ttl', MAPPING.replace('http://e/name', 'http://e/n')), '2 added')).toContain(
    '+ <http://e/1> <http://e/n> "Ada" .\n- <http://e/1> <http://e/name> "Ada" .',
  );
});

test('a record in front does not change the blank nodes behind it', async () => {
  await put('mapping.ttl', FRESH);
  await start();
  const changed = await upon(() => put('people.csv', 'id,name\n0,Eve\n1,Ada\n2,Grace\n'), '1 added');
  expect(changed).toMatch(/^\+ _:[0-9a-f]{12} <http:\/\/e\/name> "Eve" \.\n$/);
});

test('the first records alone, and the first lines of what they changed', async () => {
  await put('people.csv', `id,name\n${Array.from({ length: 1000 }, (_, i) => `${i},n\n`).join('')}`);
  await start('--limit', '60');
  expect(out.split('\n')).toHaveLength(41);
  expect(err).toContain('… and 20 more, which are not shown');
  expect(err).toContain('only the first 60 records of ');
  await upon(
    () => put('people.csv', `id,name\n${Array.from({ length: 1000 }, (_, i) => `${i},${i < 900 ? 'n' : 'm'}\n`).join('')}`),
    'nothing changed',
  );
});

test.each([
  [['-o', 'out.nq'], '--watch writes no file'],
  [['--property-graph', 'neo4j'], '--watch writes no file'],
  [['--on-error', 'quarantine'], '--watch writes no file'],
  [['--stats'], '--stats'],
  [['--format', 'turtle'], '--format'],
])('%j is refused', async (options, message) => {
  const { code, err: refused } = await quadmillHere(directory, 'run', 'mapping.ttl', '--watch', ...options);
  expect([code, refused]).toEqual([2, expect.stringContaining(message)]);
});
