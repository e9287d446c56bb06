/** Datasets that share statements, and comparisons, in a real Neo4j and in Fuseki. */
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import type { Driver } from 'neo4j-driver';
import { diffLines } from '../../../../../src/datasets/diff.ts';
import { boltTarget } from '../../../../../src/targets/bolt/bolt.ts';
import { sparqlTarget } from '../../../../../src/targets/sparql/sparql.ts';
import type { GraphTarget } from '../../../../../src/targets/target.ts';
import { writeDatasetTo } from '../../../../../src/write/dataset/write.ts';
import { writeTo } from '../../../../../src/write/write.ts';
import { missingNeo4j, NEO4J_LOGIN, type Neo4jServer, startNeo4j } from '../../../../servers/stores/neo4j.ts';
import { Random, soakSeeds } from '../../../../support/random.ts';
import { memoryDataset } from '../../../write/dataset/memory-dataset.ts';
import { benchOf } from '../../../write/dataset/suite.ts';
import { listening, workspace } from '../../../write/writing.ts';
import { FEW_PLACES, type Place, type Stores, startStores } from '../../sparql/stores.ts';
import { emptyStore, inSession, openDriver, storedGraph } from '../oracle.ts';
import { addressOf, SIGNAL } from '../trouble.ts';
import { comparingScript, type GraphPlace, sharingScript } from './script.ts';

const VERSIONS = 6;
/** Each in Neo4j; the first of them in Fuseki. */
const SEEDS = soakSeeds(1, 2);
const space = workspace();
const missing = await missingNeo4j();
afterAll(() => space.remove());

/** What others do to nodes of the dataset; the last ones add something. */
const HARMLESS = [
  "MATCH (n:Resource) WHERE n.iri ENDS WITH 's1' REMOVE n.p0",
  "MATCH (n:Resource) WHERE n.iri ENDS WITH 's0' REMOVE n.p1",
  "MATCH (n:Resource) WHERE n.iri ENDS WITH 's2' DETACH DELETE n",
  "MATCH ()-[r]->(n:Resource) WHERE n.iri ENDS WITH 's1' DELETE r",
  'MATCH (n:Resource)-[r:p0]->() DELETE r',
];
const OTHERS = [
  "MATCH (n:Resource) WHERE n.iri ENDS WITH 's1' SET n.p0 = ['changed', 'twice']",
  "MATCH (n:Resource) WHERE n.iri ENDS WITH 's0' SET n:Changed, n.p1 = 7",
  "MATCH (n:Resource) WHERE n.iri ENDS WITH 's3' REMOVE n.graph",
  "MERGE (n:Resource {iri: 'http://e/new'}) SET n.p9 = date('2026-01-31')",
  "MERGE (n:Resource {iri: 'a \"b>'})",
  "MATCH (a:Resource), (b:Resource) WHERE a.iri ENDS WITH 's1' AND b.iri ENDS WITH 's2' CREATE (a)-[:p9]->(b)",
];

(missing === undefined ? describe : describe.skip)(`Neo4j${missing === undefined ? '' : ` (not tested: ${missing})`}`, () => {
  let server: Neo4jServer;
  let other: Neo4jServer;
  let driver: Driver;
  let otherDriver: Driver;
  const targets: GraphTarget[] = [];
  beforeAll(async () => {
    const started = await Promise.all([startNeo4j(), startNeo4j()]);
    for (const one of started) if ('skip' in one) throw new Error(one.skip);
    [server, other] = started as [Neo4jServer, Neo4jServer];
    [driver, otherDriver] = [openDriver(server.url, NEO4J_LOGIN), openDriver(other.url, NEO4J_LOGIN)];
  }, 600_000);
  afterAll(async () => {
    for (const target of targets) await target.close();
    await driver?.close();
    await otherDriver?.close();
    await server?.stop();
    await other?.stop();
  });

  async function placeOf(random: Random): Promise<GraphPlace> {
    const names = { propertyGraph: { prefixes: {}, keepLanguage: random.chance(0.5) } };
    const target = await boltTarget(addressOf({ endpoint: server.url, ...names }));
    const fresh = await boltTarget(addressOf({ endpoint: other.url, ...names }));
    targets.push(target, fresh);
    await emptyStore(driver);
    return {
      target,
      contents: async () => linesOf(await storedGraph(driver)),
      async expected(lines) {
        await emptyStore(otherDriver);
        await writeTo(fresh, space.request([space.file('expected.nq', Buffer.from(lines.join(''), 'latin1'))]), listening(SIGNAL));
        return linesOf(await storedGraph(otherDriver));
      },
      damage: async (chance, adds) =>
        void (await inSession(driver, (session) => session.run(chance.pick(adds ? [...HARMLESS, ...OTHERS] : HARMLESS)))),
    };
  }

  test.each(SEEDS)('datasets that share, seed %d', async (seed) => {
    const random = new Random(seed);
    await sharingScript(await placeOf(random), space, random, VERSIONS);
  });

  test.each(SEEDS)('a dataset that is compared, seed %d', async (seed) => {
    const random = new Random(seed);
    await comparingScript(await placeOf(random), space, random, VERSIONS);
  });

  test('a comparison is refused where the graph has other statements, and ends reading them', async () => {
    const { target, contents } = await placeOf(new Random(1));
    const lines = Array.from({ length: 5_000 }, (_, i) => `<http://e/n${i}> <http://e/p> <http://e/n${i + 1}> .\n`);
    await writeTo(target, space.request([space.file('many.nq', lines.join(''))]), listening(SIGNAL));
    const before = await contents();
    const dataset = memoryDataset();
    dataset.push(lines.slice(0, 100));
    const compared = { ...space.request([]), dataset, graph: undefined, resync: diffLines };
    await expect(writeDatasetTo(target, compared, listening(SIGNAL))).rejects.toMatchObject({ code: 'request/conflict' });
    expect(await contents()).toEqual(before);
    await writeDatasetTo(target, { ...compared, resync: undefined }, listening(SIGNAL));
    // Relationships and descriptions of 4,900 nodes that are not of the dataset.
    expect(await writeDatasetTo(target, compared, listening(SIGNAL))).toMatchObject({ statements: 9_800 });
    expect(await contents()).toHaveLength(201);
  });
});

const linesOf = ({ nodes, edges }: Awaited<ReturnType<typeof storedGraph>>): readonly string[] =>
  [...Array.from(nodes, ([key, text]) => `${key} ${text}`), ...edges].sort();

const fuseki = FEW_PLACES[1] as Place;
(fuseki.missing === undefined ? describe : describe.skip)('Fuseki', () => {
  const { bench, open, close } = benchOf(fuseki);
  let stores: Stores;
  let target: GraphTarget;
  beforeAll(async () => {
    stores = await startStores([fuseki.server]);
    await open();
    target = await sparqlTarget(fuseki.address());
  }, 180_000);
  afterAll(async () => {
    await target?.close();
    await close();
    await stores?.stop();
  });

  test.each(SEEDS.slice(0, Math.ceil(SEEDS.length / 2)))('datasets that share, seed %d', async (seed) => {
    await fuseki.reset('');
    const place: GraphPlace = {
      target,
      contents: async () => (await bench.contents()).filter((line) => !line.includes(' <urn:x-quadmill:')),
      expected: (lines) => bench.expected(lines.join('')),
      async damage(random) {
        const subject = `<http://e/s${random.between(0, 4)}>`;
        const within = random.pick([`GRAPH <http://e/g${random.between(1, 2)}> { ${subject} ?p ?o }`, `${subject} ?p ?o`]);
        await fuseki.update?.(`DELETE WHERE { ${within} }`);
      },
    };
    const random = new Random(seed);
    await sharingScript(place, space, random, VERSIONS);
  });
});
