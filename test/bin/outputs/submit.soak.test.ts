/** `quadmill run --engine spark` on a server of Spark Connect: lines of a run, errors, an interruption, a connection and a server that go away. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Spark, startSpark } from '../../servers/lake/spark.ts';
import { linesOfRun, outputsOfRun } from '../../src/transpile/lines.ts';
import { linesOfDirectory } from '../../src/transpile/spark.ts';
import { writeViews } from '../../src/transpile/views.ts';
import { type Ended, startQuadmill } from '../faults/trial.ts';

const PREFIXES = '@prefix rml: <http://w3id.org/rml/> . @prefix e: <http://e/> . @base <http://example.com/base/> .\n';
const source = (path: string): string =>
  `rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "${path}" ] ; rml:referenceFormulation rml:CSV ]`;
const TARGET =
  'rml:logicalTarget [ a rml:LogicalTarget ; rml:target [ a rml:RelativePathSource ; rml:path "homes.nq" ] ; rml:serialization <http://www.w3.org/ns/formats/N-Quads> ]';
const FLAT = `${PREFIXES}<#P> ${source('people.csv')} ; rml:subjectMap [ rml:template "http://e/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate e:name ; rml:objectMap [ rml:reference "name" ] ] ;
  rml:predicateObjectMap [ rml:predicate e:home ; rml:objectMap [ rml:reference "home" ; rml:termType rml:IRI ; ${TARGET} ] ] .
`;
const joinOn = (child: string): string => `${PREFIXES}<#P> ${source('people.csv')} ; rml:subjectMap [ rml:template "http://e/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate e:near ; rml:objectMap [ rml:parentTriplesMap <#Q> ; rml:joinCondition [ rml:child "${child}" ; rml:parent "town" ] ] ] .
<#Q> ${source('places.csv')} ; rml:subjectMap [ rml:template "http://e/{town}/{id}" ] .
`;
const JOIN = joinOn('home');
const PEOPLE = 'id,name,home\n1,Ada,http://e/a\n2,"a ""b"" ü",http://e/b\n3,,http://e/a\n';
const PLACES = 'id,town\n1,http://e/a\n2,http://e/a\n3,http://e/c\n';
/** Of each side of a product that takes hours. */
const MANY = 100_000;
const PATIENCE_MS = 120_000;

const directory = mkdtempSync(join(tmpdir(), 'quadmill-submit-'));
let spark: Spark | { readonly skip: string };

beforeAll(async () => {
  spark = await startSpark();
});

afterAll(async () => {
  if ('stop' in spark) await spark.stop();
  rmSync(directory, { recursive: true, force: true });
});

const sparkTest = (name: string, act: (spark: Spark) => Promise<void>): void =>
  test(name, async () => {
    if ('skip' in spark) console.warn(`skipped: ${spark.skip}`);
    else await act(spark);
  });

/** A directory of a case with `mapping.ttl`. */
function files(name: string, contents: Readonly<Record<string, string>>): string {
  const own = join(directory, name);
  mkdirSync(join(own, 'tmp'), { recursive: true });
  for (const [file, content] of Object.entries(contents)) writeFileSync(join(own, file), content);
  return own;
}

const start = (own: string, port: number, ...more: readonly string[]) =>
  startQuadmill(own, [
    'run',
    join(own, 'mapping.ttl'),
    ...['--engine', 'spark', '--connect', `sc://127.0.0.1:${port}`, '-o', `file://${join(own, 'graph')}`],
    ...more,
  ]);

const crossProduct = (name: string): string => {
  const towns = `id,town\n${Array.from({ length: MANY }, (_, at) => `${at},x\n`).join('')}`;
  return files(name, {
    'mapping.ttl': joinOn('town'),
    'people.csv': towns,
    'places.csv': towns,
  });
};

/** A file of another job in the directory of the output. */
function writeStale(own: string): string {
  mkdirSync(join(own, 'graph'));
  const stale = join(own, 'graph', 'part-stale.txt');
  writeFileSync(stale, 'stale\n');
  return stale;
}

/** Starts a job, and waits until Spark has removed what was in the directory. */
async function startWriting(own: string, port: number): Promise<ReturnType<typeof start>> {
  const stale = writeStale(own);
  const program = start(own, port);
  for (const end = performance.now() + PATIENCE_MS; existsSync(stale); )
    if ((await Promise.race([program.ended, sleep(50)])) !== undefined || performance.now() > end) throw new Error('the job has not begun');
  return program;
}

sparkTest('gives the lines of a run, those of a logical target in a directory beside them', async ({ port }) => {
  const own = files('flat', { 'mapping.ttl': FLAT, 'people.csv': PEOPLE });
  const { code, err } = await start(own, port).ended;
  const graph = `file://${join(own, 'graph')}`;
  expect([code, err]).toEqual([0, `3 statements are in ${graph}\n3 statements are in ${graph}-homes.nq\n`]);
  const found = { '': linesOfDirectory(join(own, 'graph')), 'homes.nq': linesOfDirectory(join(own, 'graph-homes.nq')) };
  expect(found).toEqual(await outputsOfRun(join(own, 'mapping.ttl'), own));
});

sparkTest('gives the lines of a run with joins and views, and replaces what was there', async ({ port }) => {
  const joined = files('join', { 'mapping.ttl': JOIN, 'people.csv': PEOPLE, 'places.csv': PLACES });
  const [views] = writeViews(directory, 1);
  const ofViews = (views as { directory: string }).directory;
  mkdirSync(join(ofViews, 'tmp'));
  for (const own of [joined, ofViews]) {
    writeStale(own);
    expect(await start(own, port).ended).toMatchObject({ code: 0 });
    expect(linesOfDirectory(join(own, 'graph'))).toEqual(await linesOfRun(join(own, 'mapping.ttl'), own));
  }
});

sparkTest('says which statement of the mapping Spark refuses, and keeps the output before it', async ({ port }) => {
  const own = files('errors', {
    'mapping.ttl': FLAT,
    'people.csv': PEOPLE,
    'other.csv': 'id\n1\n',
    'bad.csv': PEOPLE.replace('e/b', 'e/ b'),
  });
  expect((await start(own, port).ended).code).toBe(0);
  const lines = linesOfDirectory(join(own, 'graph'));
  const attempt = (name: string): Promise<Ended> => start(own, port, '--source', `people.csv=${join(own, name)}`).ended;
  for (const [name, message] of [
    ['none.csv', '[PATH_NOT_FOUND] Path does not exist'],
    ['other.csv', '[UNRESOLVED_COLUMN.WITH_SUGGESTION]'],
  ] as const) {
    const { code, err } = await attempt(name);
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
    expect(err).toMatch(/the statement "CREATE .*\(mapping \S*mapping\.ttl:2:\d+\)/s);
    expect(err.split('\n')).toHaveLength(2);
    expect(linesOfDirectory(join(own, 'graph'))).toEqual(lines);
  }
  const { code, err } = await attempt('bad.csv');
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/an IRI holds a character that none may hold \(\S*mapping\.ttl:4:\d+\): http:\/\/e\/ b/),
  ]);
});

sparkTest('an interruption cancels the job', async ({ port }) => {
  const own = crossProduct('interrupted');
  const program = await startWriting(own, port);
  process.kill(program.pid, 'SIGINT');
  const { code, err } = await program.ended;
  expect([code, err]).toEqual([130, `quadmill: interrupted; file://${join(own, 'graph')} is complete only if it has _SUCCESS\n`]);
  expect(readdirSync(join(own, 'graph'))).not.toContain('_SUCCESS');
  // A job that goes on would keep both executors.
  const next = files('next', { 'mapping.ttl': FLAT, 'people.csv': PEOPLE });
  expect(await start(next, port).ended).toMatchObject({ code: 0 });
});

sparkTest('goes on when its connection breaks', async ({ port }) => {
  const own = files('broken', { 'mapping.ttl': JOIN, 'people.csv': PEOPLE, 'places.csv': PLACES });
  const sockets = new Set<Socket>();
  const proxy: Server = createServer((near) => {
    const far = createConnection(port, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => undefined).on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const program = start(own, (proxy.address() as { port: number }).port);
  let breaks = 0;
  const breaking = setInterval(() => {
    if (sockets.size > 0) breaks++;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  }, 1_500);
  try {
    expect(await program.ended).toMatchObject({ code: 0 });
  } finally {
    clearInterval(breaking);
    proxy.close();
  }
  expect(breaks).toBeGreaterThan(0);
  expect(linesOfDirectory(join(own, 'graph'))).toEqual(await linesOfRun(join(own, 'mapping.ttl'), own));
});

sparkTest('says that the server has gone', async ({ port, pid }) => {
  const own = crossProduct('gone');
  const program = await startWriting(own, port);
  process.kill(pid, 'SIGKILL');
  const { code, err } = await program.ended;
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^quadmill: Spark at 127\.0\.0\.1:\d+ cannot be reached for the query of file:\S+\/graph: .*ECONNREFUSED/),
  ]);
});
