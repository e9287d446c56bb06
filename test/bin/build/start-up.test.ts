import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { load } from '../../../bin/build/engine-loader.ts';
import { built, PROJECT_ROOT } from '../../support/project-root.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-start-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const caches = async (at: string): Promise<string[]> => (await readdir(at)).filter((name) => name.includes('.cache'));

describe('the script of the engine', () => {
  const SCRIPT = `(function (exports, require, module, engineUrl, importLater) {
    module.exports = { sum: (a, b) => a + b, base: require('node:path').basename(engineUrl), later: () => importLater('./later.js') };
  })`;
  const open = (digest = 'digest') => load(pathToFileURL(join(directory, 'engine.js')).href, digest, async (path) => `imported ${path}`);

  beforeEach(() => writeFile(join(directory, 'engine-script.js'), SCRIPT));

  test('runs, and imports by the function that it is given', async () => {
    const { exported, isKept } = open();
    const { sum, base, later } = exported as { sum: (a: number, b: number) => number; base: string; later: () => Promise<string> };
    expect({ isKept, sum: sum(1, 2), base, later: await later() }).toEqual({
      isKept: false,
      sum: 3,
      base: 'engine.js',
      later: 'imported ./later.js',
    });
    expect(await caches(directory)).toEqual([]);
  });

  test('is compiled once, when it has been kept', async () => {
    open().keep();
    expect(await caches(directory)).toEqual([`engine-digest-${process.version}-${process.arch}.cache`]);
    const second = open();
    expect(second.isKept).toBe(true);
    expect((second.exported as { sum: (a: number, b: number) => number }).sum(1, 2)).toBe(3);
  });

  test('is not kept twice', async () => {
    open().keep();
    const [name] = (await caches(directory)) as [string];
    const before = await readFile(join(directory, name));
    open().keep();
    expect((await readFile(join(directory, name))).equals(before)).toBe(true);
    expect(await caches(directory)).toEqual([name]);
  });

  test('is compiled again when its digest is another one', () => {
    open().keep();
    expect(open('another').isKept).toBe(false);
  });

  test.each([
    ['another program', Buffer.from('not what V8 wrote')],
    ['nothing', Buffer.alloc(0)],
  ])('is compiled again when what was kept is of %s', async (_, content) => {
    await writeFile(join(directory, `engine-digest-${process.version}-${process.arch}.cache`), content);
    const { isKept, exported } = open();
    expect(isKept).toBe(false);
    expect((exported as { sum: (a: number, b: number) => number }).sum(2, 2)).toBe(4);
  });

  test('runs where nothing can be kept', async () => {
    const engine = open();
    await rm(directory, { recursive: true });
    expect(() => engine.keep()).not.toThrow();
  });
});

describe('quadmill', () => {
  const MAPPING = (formulation: string, file: string, iterator = '') => `
    @prefix rml: <http://w3id.org/rml/> .
    <#P> a rml:TriplesMap ;
      rml:logicalSource [ a rml:LogicalSource ; rml:source [ a rml:RelativePathSource ; rml:path "${file}" ] ; rml:referenceFormulation rml:${formulation} ${iterator} ] ;
      rml:subjectMap [ rml:template "http://e/{id}" ] ;
      rml:predicateObjectMap [ rml:predicate <http://e/name> ; rml:objectMap [ rml:reference "name" ] ] .`;

  /** A copy whose files may be written. */
  async function copy(): Promise<{
    run: (...args: string[]) => { stdout: string; stderr: string; status: number | null };
    bundle: string;
  }> {
    await mkdir(join(directory, 'bin'));
    await cp(join(PROJECT_ROOT, 'bin', 'quadmill.js'), join(directory, 'bin', 'quadmill.js'));
    await cp(join(PROJECT_ROOT, 'package.json'), join(directory, 'package.json'));
    await symlink(join(PROJECT_ROOT, 'node_modules'), join(directory, 'node_modules'));
    const bundle = join(directory, 'dist', 'bin', 'bundle');
    await cp(built('bin/bundle/').pathname, bundle, { recursive: true, filter: (path) => !path.includes('.cache') });
    await writeFile(join(directory, 'people.csv'), 'id,name\n1,Ada\n');
    await writeFile(join(directory, 'people.json'), '[{"id":1,"name":"Ada"}]');
    await writeFile(join(directory, 'csv.ttl'), MAPPING('CSV', 'people.csv'));
    await writeFile(join(directory, 'json.ttl'), MAPPING('JSONPath', 'people.json', '; rml:iterator "$[*]"'));
    const run = (...args: string[]) =>
      spawnSync(
        process.execPath,
        [
          ...args.filter((arg) => arg.startsWith('--max')),
          join(directory, 'bin', 'quadmill.js'),
          ...args.filter((arg) => !arg.startsWith('--max')),
        ],
        {
          cwd: directory,
          encoding: 'utf8',
        },
      );
    return { run, bundle };
  }

  test('keeps what the first run compiled, and the next ones give the same, with modules that are imported later and with other flags', async () => {
    const { run, bundle } = await copy();
    const statement = '<http://e/1> <http://e/name> "Ada" .\n';
    expect(run('--version').status).toBe(0);
    expect(run('run', 'missing.ttl').status).not.toBe(0);
    expect(await caches(bundle)).toEqual([]);
    expect(run('run', 'csv.ttl')).toMatchObject({ stdout: statement, status: 0 });
    const kept = await caches(bundle);
    expect(kept).toEqual([expect.stringMatching(/^engine-[0-9a-f]{16}-v.*\.cache$/)]);
    expect(run('run', 'csv.ttl')).toMatchObject({ stdout: statement, status: 0 });
    expect(run('run', 'json.ttl')).toMatchObject({ stdout: statement, status: 0 });
    expect(run('run', 'csv.ttl', '--max-old-space-size=256')).toMatchObject({ stdout: statement, status: 0 });
    expect(run('check', 'csv.ttl')).toMatchObject({ status: 0 });
    expect(run('run', 'csv.ttl', '--limt', '3')).toMatchObject({ status: 2, stderr: expect.stringContaining('did you mean --limit') });
    expect(await caches(bundle)).toEqual(kept);
  });

  test('is built with what this version of Node compiled', async () => {
    expect(await caches(built('bin/bundle/').pathname)).toContainEqual(
      expect.stringContaining(`-${process.version}-${process.arch}.cache`),
    );
  });
});
