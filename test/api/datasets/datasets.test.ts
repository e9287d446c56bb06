/** Datasets over HTTP: versions that runs have made, what changed between them, and the event stream that gives the graph again. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Parser, type Quad, Writer } from 'n3';
import { QuadmillClient } from '../../../client/client.ts';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { openFiles } from '../../../src/datasets/files.ts';
import { removeVersions, retainVersions } from '../../../src/datasets/retention.ts';
import { type DatasetPlace, runDataset } from '../../../src/datasets/run.ts';
import { USUAL_S3_ACCESS } from '../../../src/storage/s3-access.ts';
import { type FakeApi, startFakeApi } from '../../support/service/fake.ts';

const MAPPING = `
@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <http://example.com/> .
<http://example.com/m#Row> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "rows.csv" ] ;
    rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ; rml:class ex:Thing ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ; rml:language "de" ] ] ;
  rml:predicateObjectMap [ rml:predicate <http://purl.org/dc/terms/isVersionOf> ; rml:objectMap [ rml:template "http://example.com/{id}" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:town ; rml:objectMap [ rml:parentTriplesMap <http://example.com/m#Town> ;
    rml:joinCondition [ rml:child "town" ; rml:parent "town" ] ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:inGraph ; rml:objectMap [ rml:reference "name" ] ; rml:graph ex:graph ] .
<http://example.com/m#Town> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "rows.csv" ] ;
    rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "{town}" ; rml:termType rml:BlankNode ] ;
  rml:predicateObjectMap [ rml:predicate ex:label ; rml:objectMap [ rml:reference "town" ] ] .
`;

const HEADER = 'id,name,town\n';
const row = (id: number, name: string, town: string): string => `${id},${name},${town}\n`;
const many = Array.from({ length: 400 }, (_, i) => row(100 + i, `name ${i}`, `town ${i % 3}`)).join('');
/** Of each version. */
const TABLES = [
  row(1, 'Ada', 'Zürich') + row(2, 'Grace', 'Bern') + row(3, 'Alan', 'Bern'),
  row(1, 'Ada', 'Zürich') + row(2, 'Grace "G"', 'Bern') + row(3, 'Alan', 'Bern'),
  row(1, 'Ada', 'Zürich') + row(3, 'Alan', 'Bern') + many,
  row(1, 'Ada', 'Bern') + row(2, 'Grace', 'Bern') + many.replaceAll('town 1', 'town 0'),
  row(2, 'Grace', 'Bern') + many.replaceAll('name 6', 'Name 6'),
];
const NEWEST = TABLES.length;

let directory: string;
let api: FakeApi;
let client: QuadmillClient;
const folding = { directory: '', memoryBudgetBytes: 2 ** 20 };

const placeOf = (name: string): DatasetPlace => {
  const place = join(directory, 'datasets', name);
  return { files: openFiles(place, directory, USUAL_S3_ACCESS), stateDirectory: join(place, 'state') };
};

async function makeVersions(): Promise<void> {
  writeFileSync(join(directory, 'mapping.ttl'), MAPPING);
  for (const [at, table] of TABLES.entries()) {
    writeFileSync(join(directory, 'rows.csv'), HEADER + table);
    const request = {
      ...RUN_DEFAULTS,
      runId: `run-${at + 1}`,
      inputs: [],
      mappings: [join(directory, 'mapping.ttl')],
      workingDirectory: directory,
      spillDirectory: join(directory, 'spill'),
    };
    expect(await runDataset(placeOf('people'), request, {})).toMatchObject({ version: at + 1 });
  }
}

const copyOf = (name: string): void =>
  cpSync(join(directory, 'datasets', 'people'), join(directory, 'datasets', name), { recursive: true });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-datasets-'));
  folding.directory = join(directory, 'folding');
  await makeVersions();
  copyOf('short');
  await removeVersions(placeOf('short'), 2, folding);
  mkdirSync(join(directory, 'datasets', 'nothing'));
  api = await startFakeApi({ DATA_DIR: join(directory, 'data'), DATASETS_DIR_URL: join(directory, 'datasets') });
  client = new QuadmillClient(api.url);
}, 60_000);

afterAll(async () => {
  await api?.close();
  rmSync(directory, { recursive: true, force: true });
});

const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
  fetch(`${api.url}${path}`, { headers, method });

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');
const graphOf = async (name: string, version: number, blankNodes: 'skolem' | 'keep' = 'keep'): Promise<string[]> =>
  linesOf(await (await client.datasets.graph(name, { version, blankNodes })).text()).sort();

describe('datasets and versions', () => {
  test('are listed, without directories of something else', async () => {
    const datasets = await client.datasets.list();
    expect(datasets).toEqual([
      expect.objectContaining({ name: 'people', currentVersion: NEWEST, oldestVersion: 1, added: expect.any(Number) }),
      expect.objectContaining({ name: 'short', currentVersion: NEWEST, oldestVersion: NEWEST - 1 }),
    ]);
    expect(datasets[0]?.statements).toBe((await graphOf('people', NEWEST)).length);
  });

  test('no directory yet: none', async () => {
    const other = await startFakeApi({ DATA_DIR: join(directory, 'new') });
    expect(await (await fetch(`${other.url}/datasets`)).json()).toEqual({ datasets: [] });
    await other.close();
  });

  test('a dataset has its newest versions, and a version its manifest', async () => {
    const details = await client.datasets.get('people', { limit: 2 });
    expect(details.versions.map(({ version }) => version)).toEqual([NEWEST, NEWEST - 1]);
    expect(await client.datasets.version('people', 2)).toMatchObject({ version: 2, previous: 1, runId: 'run-2', added: 2, removed: 2 });
  });

  test.each([
    ['/datasets/none', 404],
    ['/datasets/nothing', 404],
    ['/datasets/none/changes?since=0', 404],
    ['/datasets/none/ldes', 404],
    ['/datasets/people/versions/6', 404],
    ['/datasets/people/versions/0', 400],
    ['/datasets/people/versions/x', 400],
    ['/datasets/people/changes', 400],
    ['/datasets/people/changes?since=-1', 400],
    ['/datasets/people/changes?since=6', 404],
    ['/datasets/people/changes?since=0&target=x', 404],
    ['/datasets/people/changes?since=0&which=both', 400],
    ['/datasets/people/graph?version=6', 404],
    ['/datasets/people/ldes/6/1', 404],
    ['/datasets/people/ldes/2/9', 404],
    ['/datasets/people/ldes/base-2/1', 404],
    ['/datasets/people/ldes/x/1', 400],
    ['/datasets/short/versions/3', 410],
    ['/datasets/short/changes?since=3', 410],
    ['/datasets/short/graph?version=1', 410],
    ['/datasets/short/ldes/3/1', 410],
    ['/datasets/a%20b', 400],
    [`/datasets/${'a'.repeat(65)}`, 400],
  ])('%s is answered by the problem %d', async (path, status) => {
    const answer = await get(path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json']);
    const { detail } = (await answer.json()) as { detail: string };
    if (status === 410) expect(detail).toMatch(/was removed: the oldest one that is kept is 4$/);
  });
});

test('a name is no step of a path', async () => {
  const status = await new Promise((resolve, reject) => {
    request(api.url, { path: '/datasets/%2E%2E' }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end();
  });
  expect(status).toBe(400);
});

describe('changes', () => {
  test.each(['skolem', 'keep'] as const)('lead from any version to the newest one, blank nodes %s', async (blankNodes) => {
    const newest = await graphOf('people', NEWEST, blankNodes);
    for (let since = 0; since <= NEWEST; since++) {
      const before = since === 0 ? [] : await graphOf('people', since, blankNodes);
      const parts = await Promise.all(
        (['added', 'removed'] as const).map(async (which) =>
          linesOf(await (await client.datasets.changes('people', since, { format: 'nquads', which, blankNodes })).text()),
        ),
      );
      const [added, removed] = parts as [string[], string[]];
      expect([...before.filter((line) => !removed.includes(line)), ...added].sort()).toEqual(newest);
      const patch = linesOf(await (await client.datasets.changes('people', since, { blankNodes })).text());
      if (since === NEWEST) expect(patch).toEqual([]);
      else
        expect(patch.filter((line) => /^[AD] /.test(line)).sort()).toEqual(
          [...added.map((line) => `A ${line}`), ...removed.map((line) => `D ${line}`)].sort(),
        );
    }
    expect(newest.some((line) => line.includes('_:'))).toBe(blankNodes === 'keep');
  });

  test('a base answers for the versions that were removed', async () => {
    expect(await graphOf('short', 4)).toHaveLength((await graphOf('people', 4)).length);
    expect(await graphOf('short', 5)).toHaveLength((await graphOf('people', 5)).length);
  });

  test('the media type is the one that the caller likes best', async () => {
    const type = async (accept: string) => {
      const answer = await get('/datasets/people/changes?since=4', { accept });
      return [answer.status, answer.headers.get('content-type')?.replace(/;.*/, ''), (await answer.text()).slice(0, 4)];
    };
    expect(await type('*/*')).toEqual([200, 'application/rdf-patch', 'H id']);
    expect(await type('application/*;q=0.5, application/sparql-update')).toEqual([200, 'application/sparql-update', 'DELE']);
    expect(await type('application/rdf-patch;q=0, application/*')).toEqual([200, 'application/sparql-update', 'DELE']);
    expect(await type('text/html, application/n-quads;q=0.1')).toEqual([200, 'application/n-quads', '<htt']);
    expect((await type('text/html'))[0]).toBe(406);
    expect((await get('/datasets/people/changes?since=4&blankNodes=keep', { accept: 'application/sparql-update' })).status).toBe(400);
  });

  test('a tag for each version: HEAD has it, and what the caller has is not sent again', async () => {
    const path = '/datasets/people/changes?since=1';
    const head = await get(path, {}, 'HEAD');
    const answer = await get(path);
    const tag = answer.headers.get('etag') as string;
    expect([head.status, head.headers.get('etag'), head.headers.get('content-type'), await head.text()]).toEqual([
      200,
      tag,
      answer.headers.get('content-type'),
      '',
    ]);
    expect([answer.headers.get('cache-control'), answer.headers.get('vary')]).toEqual(['no-cache', 'Accept']);
    const same = await get(path, { 'if-none-match': `"x", W/${tag}` });
    expect([same.status, await same.text()]).toEqual([304, '']);
    expect((await get(path, { 'if-none-match': tag, accept: 'application/n-quads' })).status).toBe(200);
    await answer.text();
  });
});

const LDES = 'https://w3id.org/ldes#';
const TREE = 'https://w3id.org/tree#';
const PROV_TIME = 'http://www.w3.org/ns/prov#generatedAtTime';
const IS_VERSION_OF = 'http://purl.org/dc/terms/isVersionOf';
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

interface Member {
  readonly iri: string;
  readonly entity: string;
  readonly time: string;
  readonly isTombstone: boolean;
  readonly statements: readonly string[];
}

const nquads = (quads: readonly Quad[]): string[] => linesOf(new Writer({ format: 'N-Quads' }).quadsToString([...quads]));

function groupsOf(quads: readonly Quad[], keyOf: (quad: Quad) => string): ReadonlyMap<string, Quad[]> {
  const groups = new Map<string, Quad[]>();
  for (const quad of quads) {
    const key = keyOf(quad);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [quad]);
    else group.push(quad);
  }
  return groups;
}

/** Reads a stream as a client does: from the root by its relations, each page once. */
async function follow(name: string, accept: string) {
  const root = `${api.url}/datasets/${name}/ldes`;
  const waiting = [root];
  const members: Member[] = [];
  const pages: { readonly url: string; readonly members: number; readonly answer: Response }[] = [];
  let rootQuads: Quad[] = [];
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    if (pages.some((page) => page.url === url)) continue;
    const answer = await fetch(url, { headers: { accept } });
    expect([answer.status, answer.headers.get('content-type')?.replace(/;.*/, '')]).toEqual([200, accept]);
    const quads = new Parser({ format: accept }).parse(await answer.text());
    if (url === root) rootQuads = quads;
    const own = quads.filter(({ graph }) => graph.termType === 'DefaultGraph');
    const bySubject = groupsOf(own, ({ subject }) => subject.value);
    const byGraph = groupsOf(quads, ({ graph }) => graph.value);
    const objects = (subject: string, predicate: string) =>
      (bySubject.get(subject) ?? []).filter((quad) => quad.predicate.value === predicate).map(({ object }) => object);
    const one = (subject: string, predicate: string): string => {
      const found = objects(subject, predicate);
      if (found.length !== 1) throw new Error(`${subject} has ${found.length} values of ${predicate}`);
      return found[0]?.value as string;
    };
    const types = (subject: string): string[] => objects(subject, TYPE).map(({ value }) => value);
    const iris = own.filter(({ predicate }) => predicate.value === `${TREE}member`).map(({ object }) => object.value);
    for (const iri of iris) {
      const graph = objects(iri, 'http://purl.org/dc/terms/isPartOf')[0] ?? own[0]?.graph;
      const statements = (byGraph.get(iri) ?? []).map(({ subject, predicate, object }) => ({ subject, predicate, object, graph }) as Quad);
      members.push({
        iri,
        entity: one(iri, IS_VERSION_OF),
        time: one(iri, PROV_TIME),
        isTombstone: types(iri).includes('https://www.w3.org/ns/activitystreams#Delete'),
        statements: nquads(statements),
      });
    }
    pages.push({ url, members: iris.length, answer });
    for (const { value } of objects(url, `${TREE}relation`)) {
      expect(one(value, `${TREE}path`)).toBe(PROV_TIME);
      expect(types(value)[0]).toMatch(/#(Greater|Less)ThanOrEqualToRelation$/);
      waiting.push(one(value, `${TREE}node`));
    }
  }
  return { root, members, pages, rootQuads };
}

/** The graph of the newest members up to a time. */
function replayed(members: readonly Member[], until: string): string[] {
  const newest = new Map<string, Member>();
  for (const member of members) {
    if (member.time > until) continue;
    const known = newest.get(member.entity);
    if (known?.time === member.time) throw new Error(`${member.entity} has two members of ${member.time}`);
    if (known === undefined || known.time < member.time) newest.set(member.entity, member);
  }
  return [...newest.values()].flatMap(({ statements }) => statements).sort();
}

describe('event stream', () => {
  test.each(['application/trig', 'application/n-quads'])('as %s gives the graph of every version', async (accept) => {
    const { members, pages, rootQuads, root } = await follow('people', accept);
    expect(new Set(members.map(({ iri }) => iri)).size).toBe(members.length);
    const { versions } = await client.datasets.get('people');
    for (const { version, endedAt } of versions) {
      const expected = nquads(new Parser({ format: 'N-Quads' }).parse((await graphOf('people', version, 'skolem')).join('\n')));
      expect(replayed(members, endedAt)).toEqual(expected.sort());
    }
    expect(members.filter(({ isTombstone }) => isTombstone).map(({ entity }) => entity)).toContain('http://example.com/1');
    expect(members.filter(({ isTombstone, statements }) => (statements.length === 0) !== isTombstone)).toEqual([]);
    // Nothing that did not change comes in a version.
    expect(members.filter(({ entity }) => entity === 'http://example.com/3')).toHaveLength(2);
    expect(pages.length).toBeGreaterThan(NEWEST + 1);
    expect(Math.max(...pages.map((page) => page.members))).toBe(250);
    for (const { url, answer } of pages) {
      expect(answer.headers.get('cache-control')).toBe(url === root ? 'no-cache' : 'max-age=31536000, immutable');
    }
    const says = (predicate: string): string[] =>
      rootQuads.filter((quad) => quad.predicate.value === predicate).map(({ object }) => object.value);
    expect([says(`${TREE}view`), says(`${LDES}timestampPath`), says(`${LDES}versionOfPath`)]).toEqual([
      [root],
      [PROV_TIME],
      [IS_VERSION_OF],
    ]);
    expect(says(`${LDES}retentionPolicy`)).toEqual([]);
  });

  test('a stream whose older versions were removed begins with a base, and its pages stay', async () => {
    const { members, rootQuads } = await follow('short', 'application/trig');
    expect(new Set(members.map(({ iri }) => iri)).size).toBe(members.length);
    const { versions } = await client.datasets.get('short');
    expect(versions.map(({ version }) => version)).toEqual([5, 4]);
    for (const { version, endedAt } of versions) {
      const expected = nquads(new Parser({ format: 'N-Quads' }).parse((await graphOf('short', version, 'skolem')).join('\n')));
      expect(replayed(members, endedAt)).toEqual(expected.sort());
    }
    expect(rootQuads.find(({ predicate }) => predicate.value === `${LDES}startingFrom`)?.object.value).toBe(versions[1]?.endedAt);
  });

  test('the tag of the root changes with the versions, that of a page does not', async () => {
    copyOf('growing');
    const tags = async () =>
      Promise.all(['', '/4/1'].map(async (path) => (await get(`/datasets/growing/ldes${path}`)).headers.get('etag')));
    const [root, page] = await tags();
    const text = await (await get('/datasets/growing/ldes/4/1')).text();
    await retainVersions(placeOf('growing'), 4, folding);
    expect(await tags()).toEqual([root, page]);
    await retainVersions(placeOf('growing'), 2, folding);
    const [shorter, same] = await tags();
    expect([shorter === root, same]).toEqual([false, page]);
    expect(await (await get('/datasets/growing/ldes/4/1')).text()).toBe(text);
    rmSync(join(directory, 'data', 'spill'), { recursive: true });
    expect(await (await get('/datasets/growing/ldes/4/1')).text()).toBe(text);
  });
});
