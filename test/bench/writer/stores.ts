/** The stores that the writer is measured with: how each is started empty, filled by hand, and looked at afterwards. */
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import neo4j, { type Driver } from 'neo4j-driver';
import { openEmbeddedStore } from '../../../src/targets/embedded/embedded.ts';
import type { TargetAddress } from '../../../src/targets/target.ts';
import { startFuseki } from '../../servers/stores/fuseki.ts';
import { NEO4J_LOGIN, startNeo4j } from '../../servers/stores/neo4j.ts';
import { secretLogin } from '../../support/secrets.ts';

export interface BenchStore {
  readonly address: Pick<TargetAddress, 'type' | 'endpoint' | 'username' | 'password'>;
  /** What a user would write who has this file and this store alone. */
  upload(file: string): Promise<void>;
  /** What was found of the input, in numbers that `EXPECTED` has too. */
  count(): Promise<Counts>;
  stop(): Promise<void>;
}

/** Statements, and the sum of all ages: some objects are in there, and right. */
export interface Counts {
  readonly statements: number;
  readonly ages: number;
}

const NAMESPACE = 'http://example.com/ns#';
/** As the writer makes them, so that both do the same work. */
const BATCH_SUBJECTS = 2_000;

export const BENCH_STORES: Readonly<Record<string, () => Promise<BenchStore | { readonly skip: string }>>> = {
  'writer-embedded': embedded,
  'writer-fuseki': fuseki,
  'writer-neo4j': neo4jStore,
};

async function embedded(): Promise<BenchStore> {
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-bench-store-'));
  const store = await openEmbeddedStore(directory);
  const url = new URL(store.endpoint);
  const login = `Basic ${Buffer.from(`${url.username}:${url.password}`).toString('base64')}`;
  url.username = '';
  url.password = '';
  return {
    address: { type: 'embedded', endpoint: store.endpoint, username: undefined, password: undefined },
    upload: (file) => postFile(url.href, file, { authorization: login }),
    count: () => countBySparql(url.href, { authorization: login }),
    async stop() {
      await store.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function fuseki(): Promise<BenchStore | { readonly skip: string }> {
  const server = await startFuseki();
  if ('skip' in server) return server;
  return {
    address: { type: 'fuseki', endpoint: server.tdb, username: undefined, password: undefined },
    upload: (file) => postFile(server.tdb, file, {}),
    count: () => countBySparql(server.tdb, {}),
    stop: () => server.stop(),
  };
}

/** The whole file as one request: SPARQL 1.1 Graph Store HTTP Protocol, with N-Quads for the dataset. */
async function postFile(url: string, file: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const { size } = await stat(file);
  const posting = send(url, { method: 'POST', headers: { 'content-type': 'application/n-quads', 'content-length': size, ...headers } });
  const answered = new Promise<void>((resolve, reject) => {
    posting.once('error', reject);
    posting.once('response', (response) => {
      response.resume();
      if ((response.statusCode ?? 0) < 300) response.once('end', resolve);
      else reject(new Error(`the upload was answered ${response.statusCode}`));
    });
  });
  await Promise.all([pipeline(createReadStream(file, { highWaterMark: 1 << 18 }), posting), answered]);
}

async function countBySparql(url: string, headers: Readonly<Record<string, string>>): Promise<Counts> {
  const ask = async (query: string): Promise<number> => {
    const answer = await fetch(`${url}?query=${encodeURIComponent(query)}`, { headers: { accept: 'text/csv', ...headers } });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`the query was answered ${answer.status}: ${text}`);
    return Number(text.trim().split(/\s+/).at(-1));
  };
  const all = '{ { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }';
  return {
    statements: await ask(`SELECT (COUNT(*) AS ?n) ${all}`),
    ages: await ask(`SELECT (SUM(?o) AS ?n) { ?s <${NAMESPACE}age> ?o }`),
  };
}

async function neo4jStore(): Promise<BenchStore | { readonly skip: string }> {
  const server = await startNeo4j();
  if ('skip' in server) return server;
  const { username, password } = NEO4J_LOGIN;
  const driver = neo4j.driver(server.url, neo4j.auth.basic(username, password), { disableLosslessIntegers: true });
  return {
    address: { type: 'neo4j', endpoint: server.url, ...secretLogin(NEO4J_LOGIN) },
    upload: (file) => loadByUnwind(driver, file),
    count: () => countByCypher(driver),
    async stop() {
      await driver.close();
      await server.stop();
    },
  };
}

interface Person {
  readonly iri: string;
  readonly properties: Record<string, string | number>;
  knows: string | undefined;
}

/** Knows what the file holds: five statements of a subject, one after the other. */
async function loadByUnwind(driver: Driver, file: string): Promise<void> {
  await driver.executeQuery('CREATE CONSTRAINT bench_iri IF NOT EXISTS FOR (n:Resource) REQUIRE n.iri IS UNIQUE');
  let people: Person[] = [];
  const write = async (): Promise<void> => {
    const nodes = people.map(({ iri, properties }) => ({ iri, properties }));
    const edges = people.map(({ iri, knows }) => ({ from: iri, to: knows }));
    const session = driver.session();
    await session.executeWrite(async (transaction) => {
      await transaction.run('UNWIND $rows AS row MERGE (n:Resource {iri: row.iri}) SET n += row.properties, n:Person', { rows: nodes });
      await transaction.run(
        'UNWIND $rows AS row MATCH (a:Resource {iri: row.from}) MERGE (b:Resource {iri: row.to}) MERGE (a)-[:knows]->(b)',
        { rows: edges },
      );
    });
    await session.close();
    people = [];
  };
  for await (const line of createInterface({ input: createReadStream(file, { highWaterMark: 1 << 18 }) })) {
    const [, subject, predicate, iri, text] = /^<([^>]*)> <[^>]*#(\w+)> (?:<([^>]*)>|"([^"]*)".*) \.$/.exec(line) as unknown as string[];
    let person = people.at(-1);
    if (person === undefined || person.iri !== subject) {
      if (people.length === BATCH_SUBJECTS) await write();
      person = { iri: subject as string, properties: {}, knows: undefined };
      people.push(person);
    }
    if (predicate === 'knows') person.knows = iri;
    else if (text !== undefined) person.properties[predicate as string] = predicate === 'age' ? Number(text) : text;
  }
  await write();
}

async function countByCypher(driver: Driver): Promise<Counts> {
  const ask = async (query: string): Promise<readonly number[]> =>
    (await driver.executeQuery(query)).records[0]?.map((value: unknown) => Number(value)) ?? [];
  const [people = 0, names = 0, mails = 0, ages = 0, sum = 0] = await ask(
    'MATCH (n:Person) RETURN count(n), count(n.name), count(n.email), count(n.age), sum(n.age)',
  );
  const [edges = 0] = await ask('MATCH (:Person)-[r:knows]->(:Person) RETURN count(r)');
  return { statements: people + names + mails + ages + edges, ages: sum };
}

const PEOPLE = 200_000;

export const EXPECTED: Counts = {
  statements: PEOPLE * 5,
  ages: Array.from({ length: PEOPLE }, (_, i) => i % 90).reduce((a, b) => a + b, 0),
};

/** The input: a million statements of about a hundred bytes. */
export function* inputLines(): Generator<string> {
  const type = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>';
  const integer = '<http://www.w3.org/2001/XMLSchema#integer>';
  for (let i = 0; i < PEOPLE; i++) {
    const subject = `<http://example.com/data/person/${i}>`;
    yield `${subject} ${type} <${NAMESPACE}Person> .
${subject} <${NAMESPACE}name> "Person number ${i} of the table" .
${subject} <${NAMESPACE}email> "person.${i}@mail.example.com" .
${subject} <${NAMESPACE}age> "${i % 90}"^^${integer} .
${subject} <${NAMESPACE}knows> <http://example.com/data/person/${(i * 7919 + 1) % PEOPLE}> .
`;
  }
}
