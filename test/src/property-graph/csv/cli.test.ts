/** `quadmill run --property-graph`: nodes and edges beside the statements. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { peopleMapping } from '../../../support/service/inputs.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-graph-cli-'));
  await writeFile(join(directory, 'mapping.ttl'), peopleMapping('csv', 'people.csv'));
  await writeFile(join(directory, 'people.csv'), 'id,name\n1,"Ann, ""A"""\n2,Bob\n');
});
afterAll(() => rm(directory, { recursive: true }));

function quadmill(
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      [resolve('bin/quadmill.js'), ...args],
      { cwd: directory, env: { ...process.env, ...env } },
      (_, out, err) => done({ code: child.exitCode, out, err }),
    );
  });
}

const text = (name: string): Promise<string> => readFile(join(directory, name), 'utf8');

test('writes nodes and edges beside the statements', async () => {
  const before = await readdir(directory);
  const { code, err } = await quadmill({}, 'run', 'mapping.ttl', '-o', 'graph.nq', '--property-graph', 'neo4j');
  expect([code, err]).toEqual([0, '']);
  expect((await readdir(directory)).filter((file) => !before.includes(file)).sort()).toEqual([
    'graph.edges.csv',
    'graph.nodes.csv',
    'graph.nq',
  ]);
  expect((await text('graph.nodes.csv')).split('\n').sort()).toEqual([
    '',
    'http://example.com/1,Resource,"Ann, ""A"""',
    'http://example.com/2,Resource,Bob',
    'iri:ID,:LABEL,name:string',
  ]);
  expect(await text('graph.edges.csv')).toBe(':START_ID,:END_ID,:TYPE,graph:string\n');
}, 60_000);

test('takes prefixes of names from the environment', async () => {
  const env = { PROPERTY_GRAPH_PREFIXES: 'ex=http://example.com/' };
  expect((await quadmill(env, 'run', 'mapping.ttl', '-o', 'named.nq', '--property-graph', 'default')).code).toBe(0);
  expect((await text('named.nodes.csv')).split('\n')[0]).toBe('iri,labels,ex_name:string');
}, 60_000);

test.each([
  [['--property-graph', 'neo4j'], '--output FILE'],
  [['-o', 'x.ttl', '--property-graph', 'neo4j'], 'expected is nquads or ntriples'],
  [['-o', 'x.nq', '--property-graph', 'neo5j'], 'neo4j'],
])(
  'refuses %j',
  async (args, message) => {
    const { code, err } = await quadmill({}, 'run', 'mapping.ttl', ...args);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect((await readdir(directory)).filter((file) => file.startsWith('x.'))).toEqual([]);
  },
  60_000,
);
