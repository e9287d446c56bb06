/** Files of nodes and edges in Neo4j: imported by its own tool, and written over Bolt. Both give what the statements say. */
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import neo4j, { type Driver } from 'neo4j-driver';
import { executeBulkWrite } from '../../../../src/bulk/bulk.ts';
import { NO_LIMITS } from '../../../../src/core/limits.ts';
import type { RejectedStatement } from '../../../../src/nquads/statement.ts';
import { writeGraphCsv } from '../../../../src/property-graph/csv/write.ts';
import { BASE_LABEL, GRAPH, KEY } from '../../../../src/property-graph/names.ts';
import { combine } from '../../../../src/property-graph/values.ts';
import type { GraphHeader } from '../../../../src/sinks/sink.ts';
import { fromBolt } from '../../../../src/targets/bolt/values.ts';
import type { WritePosition, WriteReport, WriteRequest } from '../../../../src/write/request.ts';
import { executeWrite } from '../../../../src/write/write.ts';
import { missingNeo4j, NEO4J_LOGIN, type Neo4jServer, startNeo4j } from '../../../servers/stores/neo4j.ts';
import { secretLogin } from '../../../support/secrets.ts';
import { graphOf, inventQuads, type Plain, plainOf } from './random.ts';

const missing = await missingNeo4j();
const maybe = missing === undefined ? test : test.skip;
const named = (name: string): string => (missing === undefined ? name : `${name} (not tested: ${missing})`);

const OPTIONS = { prefixes: {}, keepLanguage: true };
/** Blank nodes have the same labels in both. */
const withoutBlanks = (quads: string): string =>
  quads
    .split('\n')
    .filter((line) => !line.includes('_:'))
    .join('\n');
const quadsOf = (space: string, seeds: readonly number[]): string =>
  seeds.map((seed) => withoutBlanks(inventQuads(seed, `${space}${seed}/`))).join('\n');

const IMPORTED = quadsOf('http://imported/', [1, 2, 3, 4, 5, 6, 7, 8]);
const WRITTEN = quadsOf('http://written/', [11, 12, 13, 14]);

let directory: string;
let server: Neo4jServer | undefined;
let driver: Driver | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-csv-neo4j-'));
  if (missing !== undefined) return;
  const started = await startNeo4j({ before: importFiles });
  if ('skip' in started) throw new Error(started.skip);
  server = started;
  driver = neo4j.driver(started.url, neo4j.auth.basic(NEO4J_LOGIN.username, NEO4J_LOGIN.password), { useBigInt: true });
}, 300_000);
afterAll(async () => {
  await driver?.close();
  await server?.stop();
  await rm(directory, { recursive: true, force: true });
});

interface Files {
  readonly nodes: string;
  readonly edges: string;
  readonly warnings: readonly string[];
}

async function filesOf(quads: string, header: GraphHeader, name: string): Promise<Files> {
  const input = join(directory, `${name}.nq`);
  await writeFile(input, quads);
  const spillDirectory = join(directory, `${name}-spill`);
  const { signal } = new AbortController();
  const options = { header, propertyGraph: OPTIONS, directory, name, attempt: 1, spillDirectory, memoryBudgetBytes: 2 ** 20, signal };
  const { nodes, edges, warnings } = await writeGraphCsv([input], options);
  const settle = async (file: string, kind: string): Promise<string> => {
    const path = join(directory, `${name}.${kind}.csv`);
    await rename(join(directory, file), path);
    return path;
  };
  return { nodes: await settle(nodes.file, 'nodes'), edges: await settle(edges.file, 'edges'), warnings };
}

/** As `quadmill write --bulk` does, by `neo4j-admin database import full`. */
async function importFiles({ home, classPath }: { readonly home: string; readonly classPath: string }): Promise<void> {
  await mkdir(join(home, 'conf'), { recursive: true });
  const input = join(directory, 'imported.nq');
  await writeFile(input, IMPORTED);
  const java = ['java', '-Xmx512m', '--add-opens=java.base/java.nio=ALL-UNNAMED', '-cp', classPath, 'org.neo4j.cli.AdminTool'];
  const request = requestOf([input]);
  const { quadsWritten } = await executeBulkWrite(
    {
      ...request,
      target: { ...request.target, endpoint: 'neo4j' },
      place: directory,
      loader: ['env', `NEO4J_HOME=${home}`, `NEO4J_CONF=${join(home, 'conf')}`, ...java],
      role: undefined,
    },
    { signal: new AbortController().signal },
  );
  expect(quadsWritten).toBeGreaterThan(100);
}

interface Stored {
  readonly nodes: ReadonlyMap<string, Plain>;
  readonly edges: readonly string[];
}

/** What the database has about subjects whose IRI begins so, and about objects of theirs. */
async function stored(space: string): Promise<Stored> {
  const { records } = await (driver as Driver).executeQuery(
    `MATCH (n) WHERE n.${KEY} STARTS WITH $space RETURN labels(n) AS labels, properties(n) AS all`,
    { space },
  );
  const nodes = new Map<string, Plain>();
  for (const record of records) {
    const { [KEY]: iri, [GRAPH]: graph, ...rest } = record.get('all') as Record<string, unknown>;
    const labels = record.get('labels') as readonly string[];
    expect(labels).toContain(BASE_LABEL);
    const properties = new Map(Object.entries(rest).map(([name, value]) => [name, combine(fromBolt(value))]));
    const graphs = graph === undefined ? [''] : (fromBolt(graph) as readonly string[]);
    nodes.set(iri as string, plainOf({ iri: iri as string, labels: labels.filter((label) => label !== BASE_LABEL), properties, graphs }));
  }
  const found = await (driver as Driver).executeQuery(
    `MATCH (a)-[r]->(b) WHERE a.${KEY} STARTS WITH $space RETURN a.${KEY} + ' ' + b.${KEY} + ' ' + type(r) + ' ' + coalesce(r.${GRAPH}, '') AS edge`,
    { space },
  );
  return { nodes, edges: found.records.map((record) => record.get('edge') as string).sort() };
}

function requestOf(inputs: readonly string[], more: Partial<WriteRequest> = {}): WriteRequest {
  return {
    runId: 'r1',
    inputs,
    workingDirectory: directory,
    target: {
      type: 'neo4j',
      endpoint: server?.url ?? '',
      ...secretLogin(NEO4J_LOGIN),
      ca: undefined,
      requestSeconds: 60,
      connectSeconds: 10,
      database: undefined,
      propertyGraph: OPTIONS,
    },
    mode: 'insert',
    scope: 'property',
    blankNodes: 'skolem',
    skolemBase: 'http://example.com/.well-known/genid/',
    maxRejected: 10,
    patienceSeconds: 60,
    memoryBudgetBytes: 2 ** 26,
    limits: NO_LIMITS,
    spillDirectory: join(directory, 'write-spill'),
    reach: undefined,
    resume: undefined,
    ...more,
  };
}

async function write(
  inputs: readonly string[],
  more: Partial<WriteRequest> = {},
): Promise<{ report: WriteReport; rejected: RejectedStatement[]; position: WritePosition | undefined }> {
  const rejected: RejectedStatement[] = [];
  let position: WritePosition | undefined;
  const hooks = {
    signal: new AbortController().signal,
    reject: (one: RejectedStatement) => void rejected.push(one),
    progress: (now: { readonly position: WritePosition | undefined }) => void (position = now.position),
  };
  return { report: await executeWrite(requestOf(inputs, more), hooks), rejected, position };
}

describe('files of nodes and edges', () => {
  maybe(
    named('are taken by the import tool of Neo4j, and say what the statements say'),
    async () => {
      const expected = await graphOf(IMPORTED, 'neo4j', OPTIONS);
      const found = await stored('http://imported/');
      expect(found.nodes).toEqual(expected.nodes);
      expect(found.edges).toEqual(expected.edges);
      expect(found.nodes.size).toBeGreaterThan(50);
    },
    60_000,
  );

  maybe.each<GraphHeader>(['default', 'neo4j'])(
    named('are written over Bolt from the header %s, and a second time without effect'),
    async (header) => {
      const space = `http://written/${header}/`;
      const quads = WRITTEN.replaceAll('http://written/', space);
      const { nodes, edges } = await filesOf(quads, header, `written-${header}`);
      const expected = await graphOf(quads, header, OPTIONS);
      const { report } = await write([nodes, edges]);
      expect(report).toMatchObject({ statements: expected.nodes.size + expected.edges.length, rejected: 0 });
      expect(report.quadsWritten).toBe(report.statements);
      expect(await stored(space)).toEqual(expected);
      await write([edges, nodes]);
      expect(await stored(space)).toEqual(expected);
    },
    120_000,
  );

  maybe(
    named('go on where an interrupted write had come to'),
    async () => {
      const space = 'http://resumed/';
      const rows = Array.from({ length: 3000 }, (_, i) => `${space}${i},,${i}\n`).join('');
      const path = join(directory, 'resumed.nodes.csv');
      await writeFile(path, `iri,labels,n:integer\n${rows}`);
      const whole = await write([path]);
      expect(whole.position).toMatchObject({ input: 0, done: 3000, quadsWritten: 3000 });
      await (driver as Driver).executeQuery(`MATCH (n) WHERE n.${KEY} STARTS WITH $space DELETE n`, { space });
      const resume = { ...(whole.position as WritePosition), done: 2000, line: 2000, quadsWritten: 2000 };
      const { report } = await write([path], { resume });
      expect(report).toMatchObject({ statements: 3000, quadsWritten: 3000 });
      const { nodes } = await stored(space);
      expect(nodes.size).toBe(1000);
      expect(nodes.has(`${space}2000`)).toBe(true);
      expect(nodes.has(`${space}1999`)).toBe(false);
    },
    120_000,
  );

  maybe(
    named('lose the rows that the store refuses, and no others'),
    async () => {
      const space = 'http://refused/';
      const path = join(directory, 'refused.nodes.csv');
      await writeFile(path, `iri,labels,n:integer\n${space}a,A;B,1\n${space}${'x'.repeat(9000)},,2\n${space}c,,3\n`);
      const { report, rejected } = await write([path]);
      expect(report).toMatchObject({ statements: 3, quadsWritten: 2, rejected: 1 });
      expect(rejected).toEqual([
        expect.objectContaining({ input: path, line: 2, statement: expect.stringMatching(/^http:\/\/refused\/x+ n=2$/) }),
      ]);
      expect([...(await stored(space)).nodes.keys()].sort()).toEqual([`${space}a`, `${space}c`]);
    },
    120_000,
  );

  maybe(named('are not for an update'), async () => {
    const path = join(directory, 'update.nodes.csv');
    await writeFile(path, 'iri,labels\nhttp://update/a,\n');
    await expect(write([path], { mode: 'update' })).rejects.toMatchObject({
      code: 'source/type',
      message: expect.stringContaining("'csv'; expected is nq"),
    });
  });
});
