/** PROPERTY_GRAPH_MODE of a real service: node and edge files with the statements under one manifest, and nothing left by dead attempts. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { Fault } from '../../../src/core/fault.ts';
import { quietLogger } from '../../../src/core/telemetry/observe.ts';
import { readStatements } from '../../../src/nquads/read.ts';
import type { Statement } from '../../../src/nquads/statement.ts';
import { readGraphCsv } from '../../../src/property-graph/csv/read.ts';
import { type EdgeElement, elementsOf, type NodeElement } from '../../../src/property-graph/elements.ts';
import { namesOf } from '../../../src/property-graph/names.ts';
import { openInput } from '../../../src/storage/open.ts';
import type { Task } from '../../../workers/task.ts';
import { ThreadPool } from '../../../workers/threads/pool.ts';
import { missingRedis } from '../../servers/queues/redis.ts';
import { soakTest, test } from '../../support/jest/extent.ts';
import { startRedis, temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';
import { type Answer, ask, poll, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

const MAPPING = `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <http://example.com/> .
ex:People a rml:TriplesMap ;
  rml:logicalSource [ a rml:LogicalSource ; rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ; rml:class ex:Person ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:knows ; rml:objectMap [ rml:template "http://example.com/{friend}" ] ] .
`;

const people = (count: number): string =>
  `id,name,friend\n${Array.from({ length: count }, (_, i) => `${i},"Name ""of"" ${i % 7}, person",${(i * 7) % (count + 3)}\n`).join('')}`;

let directory: { readonly path: string; remove(): Promise<void> };
let redis: Awaited<ReturnType<typeof startRedis>> | undefined;
let service: ServiceProcess | undefined;
const at = (name: string): string => join(directory.path, name);
/** Changes of one service must not be seen by the next one. */
let data = '';
const prefix = uniquePrefix();
const output = (): string => join(data, 'output');

beforeAll(async () => {
  directory = await temporaryDirectory();
  await writeFile(at('mapping.ttl'), MAPPING);
  await writeFile(at('people.csv'), people(2000));
  await writeFile(at('many.csv'), people(150_000));
  if (missingRedis === undefined) redis = await startRedis();
});
afterEach(async () => {
  await service?.stop();
  service = undefined;
});
afterAll(async () => {
  await redis?.stop();
  await directory.remove();
});

async function start(name: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
  data = at(name);
  const common = {
    QUEUE_URL: redis?.url ?? '',
    QUEUE_PREFIX: `${prefix}${name}`,
    DATA_DIR: data,
    PROPERTY_GRAPH_MODE: 'true',
    LOCK_SECONDS: '2',
    STALLED_SECONDS: '1',
  };
  service = await startService({ cwd: directory.path, env: { ...common, SERVICE: 'semi-structured-transformer', ...env } });
}

const run = (input: string, headers?: Readonly<Record<string, string>>): Promise<Answer> =>
  postJson(`${service?.url}/process`, { inputFileURL: at(input), logicalSource: 'people.csv', mappingURL: at('mapping.ttl') }, headers);

interface Graph {
  readonly nodes: readonly NodeElement[];
  readonly edges: readonly EdgeElement[];
}

async function graphOfFiles(urls: readonly string[]): Promise<Graph> {
  const nodes: NodeElement[] = [];
  const edges: EdgeElement[] = [];
  const { signal } = new AbortController();
  for (const url of urls) {
    const { bytes } = await openInput(url, { reach: undefined, workingDirectory: '/' });
    for await (const block of readGraphCsv(bytes, { input: url, skolem: undefined, maxRecordBytes: 2 ** 20, signal })) {
      nodes.push(...block.nodes);
      edges.push(...block.edges);
    }
  }
  return { nodes, edges };
}

async function graphOfStatements(urls: readonly string[]): Promise<Graph> {
  const all: Statement[] = [];
  for (const url of urls) {
    const { bytes } = await openInput(url, { reach: undefined, workingDirectory: '/' });
    for await (const { statements } of readStatements(bytes, { input: url, skolem: undefined })) all.push(...statements);
  }
  const { nodes, edges } = elementsOf(all, namesOf({ prefixes: {}, keepLanguage: false }));
  const subjects = new Set(nodes.map(({ iri }) => iri));
  const bare = new Set(edges.filter(({ to }) => !subjects.has(to)).map(({ to }) => to));
  return { nodes: [...nodes, ...Array.from(bare, (iri) => ({ iri, labels: [], properties: new Map(), graphs: [''] }))], edges };
}

const shown = ({ nodes, edges }: Graph): readonly string[] => [
  ...nodes.map(({ iri, labels, properties, graphs }) => JSON.stringify([iri, labels, [...properties].sort(), graphs])).sort(),
  ...edges.map(({ from, to, type, graph }) => JSON.stringify([from, to, type, graph])).sort(),
];

const sha256 = async (url: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(fileURLToPath(url)))
    .digest('hex');

/** The files in the report exist, are complete, are in the manifest, and match the statements. */
async function expectGraphOf({ body }: Answer, header: string): Promise<void> {
  const files = body.propertyGraphFileLocations as readonly string[];
  expect(files.map((url) => basename(url))).toEqual(
    ['nodes', 'edges'].map((kind) => `Semi-Structured-Transformer-${body.runId}.${kind}.csv`),
  );
  expect(body.outputFileLocations).toEqual(expect.arrayContaining([expect.stringMatching(/\.nq$/)]));
  expect(body.outputFileLocations.filter((url: string) => !url.endsWith('.nq'))).toEqual([]);
  const manifest = JSON.parse(await readFile(join(output(), `Semi-Structured-Transformer-${body.runId}.manifest.json`), 'utf8'));
  expect(manifest.propertyGraph.header).toBe(header);
  for (const [i, kind] of ['nodes', 'edges'].entries()) {
    const { url, bytes, sha256: digest } = manifest.propertyGraph[kind];
    expect(url).toBe(files[i]);
    expect(bytes).toBe((await readFile(fileURLToPath(url))).length);
    expect(digest).toBe(await sha256(url));
  }
  const [found, expected] = [shown(await graphOfFiles(files)), shown(await graphOfStatements(body.outputFileLocations))];
  expect(found).toHaveLength(expected.length);
  expect(found.join('\n') === expected.join('\n')).toBe(true);
}

describe(`a service with PROPERTY_GRAPH_MODE${missingRedis === undefined ? '' : ` (not tested: ${missingRedis})`}`, () => {
  const maybe = missingRedis === undefined ? test : test.skip;
  const maybeSoak = missingRedis === undefined ? soakTest : soakTest.skip;

  maybe(
    'writes nodes and edges beside the statements',
    async () => {
      await start('simple', { PG_GRAPH: 'neo4j' });
      const answer = await run('people.csv');
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ quads: 6000, warnings: [] });
      await expectGraphOf(answer, 'neo4j');
      const change = await ask(`${service?.url}/updateConfig?configEntry=PROPERTY_GRAPH_MODE&configValue=false`, { method: 'PUT' });
      expect(change.status).toBe(200);
      let without = await run('people.csv');
      while (without.body.propertyGraphFileLocations !== undefined) without = await run('people.csv');
      expect(readdirSync(output()).filter((file) => file.includes(without.body.runId) && file.endsWith('.csv'))).toEqual([]);
    },
    60_000,
  );

  maybe(
    'writes two files for all slices of a large input',
    async () => {
      await start('slices', { SLICE_BYTES: '20000' });
      const answer = await run('people.csv');
      expect(answer.status).toBe(200);
      expect(answer.body.outputFileLocations.length).toBeGreaterThan(2);
      await expectGraphOf(answer, 'default');
      expect(readdirSync(output()).filter((file) => file.startsWith('.'))).toEqual([]);
    },
    60_000,
  );

  maybe(
    'refuses another format of statements',
    async () => {
      await start('turtle', { OUTPUT_FILE_FORMAT: 'turtle' });
      const { status, body } = await run('people.csv');
      expect(status).toBe(400);
      expect(body).toMatchObject({ code: 'config/invalid', error: expect.stringContaining('PROPERTY_GRAPH_MODE') });
    },
    60_000,
  );

  maybeSoak(
    'that is killed while it writes them leaves nothing, and begins again',
    async () => {
      await start('killed', { PG_GRAPH: 'neo4j' });
      const accepted = await run('many.csv', { prefer: 'respond-async' });
      expect(accepted.status).toBe(202);
      const id = (accepted.headers.get('location') ?? '').split('/').at(-1) as string;
      const mine = (): readonly string[] => (existsSync(output()) ? readdirSync(output()) : []).filter((file) => file.includes(id));
      for (let tries = 0; tries < 6000 && !mine().some((file) => file.includes('.csv.')); tries++) await sleep(5);
      service?.kill('SIGKILL');
      await service?.exited;
      expect(mine().filter((file) => !file.startsWith('.'))).toEqual([]);
      expect(mine().filter((file) => file.includes('.csv.'))).not.toEqual([]);

      await start('killed', { PG_GRAPH: 'neo4j' });
      const view = await poll(`${service?.url}/runs/${id}`, ({ body }) => ['completed', 'failed'].includes(body.state), 60_000);
      expect(view.body).toMatchObject({ state: 'completed', attempts: 2 });
      await expectGraphOf({ ...view, body: view.body.outcome.report }, 'neo4j');
      expect([...mine()].sort()).toEqual(
        ['edges.csv', 'manifest.json', 'nodes.csv', 'nq'].map((end) => `Semi-Structured-Transformer-${id}.${end}`),
      );
      expect(readdirSync(data).flatMap((name) => (name === 'spill' ? readdirSync(join(data, name)) : []))).toEqual([]);
    },
    120_000,
  );
});

describe('an attempt', () => {
  const never = new AbortController().signal;

  async function taskIn(name: string): Promise<Task> {
    const own = at(name);
    await mkdir(own);
    return {
      request: {
        ...RUN_DEFAULTS,
        runId: name,
        mappings: [at('mapping.ttl')],
        inputs: [{ name: 'people.csv', url: at('people.csv') }],
        workingDirectory: directory.path,
        spillDirectory: join(own, 'spill', `${name}.1`),
      },
      slices: { rows: 0, bytes: 0 },
      output: {
        directory: own,
        name,
        format: 'nquads',
        attempt: '1',
        service: 'S',
        propertyGraph: { header: 'default', prefixes: { ex: 'http://example.com/' }, keepLanguage: false },
      },
    };
  }

  test.each<[string, Fault]>([
    ['may not publish', new Fault('run/lost', 'lost the lock')],
    ['is cancelled at the end', new Fault('run/cancelled', 'no more')],
  ])(
    'that %s leaves no file',
    async (name, fault) => {
      const task = await taskIn(`no-${name.replaceAll(' ', '-')}`);
      const pool = new ThreadPool({ memoryMb: 256 }, quietLogger());
      try {
        const assertMayCommit = async (): Promise<void> => {
          expect(readdirSync(task.output.directory).filter((file) => file.endsWith('.part'))).toHaveLength(3);
          throw fault;
        };
        await expect(pool.run(task, { signal: never, progress: () => undefined, assertMayCommit })).rejects.toMatchObject({
          code: fault.code,
        });
        expect(readdirSync(task.output.directory).filter((file) => file !== 'spill')).toEqual([]);
      } finally {
        await pool.close();
      }
    },
    60_000,
  );

  test('gives names the prefixes of the configuration', async () => {
    const task = await taskIn('prefixes');
    const pool = new ThreadPool({ memoryMb: 256 }, quietLogger());
    try {
      const { propertyGraph } = await pool.run(task, { signal: never, progress: () => undefined, assertMayCommit: async () => undefined });
      const text = await readFile(fileURLToPath(propertyGraph?.nodes.url as string), 'utf8');
      expect(text.split('\n')[0]).toBe('iri,labels,ex_name:string');
      expect(text).toContain('\nhttp://example.com/1,Resource;ex_Person,"Name ""of"" 1, person"\n');
    } finally {
      await pool.close();
    }
  }, 60_000);
});
