/** The real stores that tests of SPARQL targets write to, and ways to look into them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Parser, type Quad } from 'n3';
import { toBytes } from '../../../../src/core/text.ts';
import type { Statement } from '../../../../src/nquads/statement.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../../src/targets/embedded/embedded.ts';
import { openStoreClient } from '../../../../src/targets/sparql/http.ts';
import { login } from '../../../../src/targets/sparql/login.ts';
import type { TargetAddress, TargetType } from '../../../../src/targets/target.ts';
import { type SharedFuseki, type SharedRdf4j, sharedFuseki, sharedRdf4j } from '../../../servers/shared/shared.ts';
import { missingFuseki } from '../../../servers/stores/fuseki.ts';
import { missingRdf4j } from '../../../servers/stores/rdf4j.ts';
import { missingVirtuoso, startVirtuoso, VIRTUOSO_USER, type Virtuoso } from '../../../servers/stores/virtuoso.ts';
import { secretLogin } from '../../../support/secrets.ts';

export const address = (type: TargetType, endpoint: string, more: Partial<TargetAddress> = {}): TargetAddress => ({
  type,
  endpoint,
  username: undefined,
  password: undefined,
  ca: undefined,
  requestSeconds: 60,
  connectSeconds: 10,
  database: undefined,
  propertyGraph: { prefixes: {}, keepLanguage: false },
  ...more,
});

/** Lines of N-Quads as characters → statements as the contract has them. */
export const statements = (text: string): Statement[] =>
  text
    .split('\n')
    .map((line) => line.replace(/^ +| +$/g, ''))
    .filter((line) => line !== '')
    .map((line, index) => {
      const [, subject, predicate, object, graph] =
        /^(\S+) (\S+) (".*"(?:@[\w-]+|\^\^<[^>]*>)?|<[^>]*>|_:\S+)(?: (\S+))? \.$/s.exec(line) ?? [];
      if (subject === undefined || predicate === undefined || object === undefined) throw new Error(`No statement: ${line}`);
      const [s, p, o, g] = [subject, predicate, object, graph ?? ''].map(toBytes) as [string, string, string, string];
      return { subject: s, predicate: p, object: o, graph: g, line: index + 1 };
    });

const keyOf = ({ subject, predicate, object, graph }: Quad): string =>
  JSON.stringify([subject.id, predicate.id, object.id, graph.id].map((id) => id.replace(/^_:.*/, '_:')));

/** N-Quads in one order, with one spelling; blank nodes are all alike. */
export const sorted = (text: string): string[] => new Parser({ format: 'N-Quads' }).parse(text).map(keyOf).sort();

/** All statements at a URL that answers N-Quads to a GET. */
export async function contents(url: string, login?: string): Promise<string> {
  const answer = await fetch(url, { headers: { accept: 'application/n-quads', ...(login === undefined ? {} : { authorization: login }) } });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer.text();
}

export async function post(url: string, type: string, body: string, login?: string): Promise<void> {
  const headers = { 'content-type': type, ...(login === undefined ? {} : { authorization: login }) };
  const answer = await fetch(url, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}

export type StoreServer = 'embedded' | 'fuseki' | 'rdf4j' | 'virtuoso';

/** One place that statements can be written to, as a user names it, and a way into it beside our own. */
export interface Place {
  readonly name: string;
  readonly server: StoreServer;
  readonly missing: string | undefined;
  /** Objects that the product refuses, or stores as others. */
  readonly changes?: RegExp;
  address(): TargetAddress;
  contents(): Promise<string>;
  /** What stands there afterwards: N-Quads, nothing else. */
  reset(lines: string): Promise<void>;
  /** Undefined: a request of several operations is not known to be one transaction. */
  readonly update?: (text: string) => Promise<void>;
}

let fuseki: SharedFuseki | undefined;
let rdf4j: SharedRdf4j | undefined;
let virtuoso: Virtuoso | undefined;
let embedded: EmbeddedStore | undefined;
export const noFuseki = await missingFuseki();
export const noRdf4j = await missingRdf4j();
export const noVirtuoso = missingVirtuoso();

const UPDATE = 'application/sparql-update';

/** A place that answers N-Quads and takes them at `url`. */
const quadsAt = (place: () => string): Pick<Place, 'contents' | 'reset' | 'update'> => {
  const at = (): { readonly url: string; readonly login: string | undefined } => {
    const url = new URL(place());
    const login = url.username === '' ? undefined : `Basic ${Buffer.from(`${url.username}:${url.password}`).toString('base64')}`;
    url.username = '';
    url.password = '';
    return { url: url.href, login };
  };
  const send = (type: string, body: string): Promise<void> => post(at().url, type, body, at().login);
  return {
    contents: () => contents(at().url, at().login),
    update: (text) => send(UPDATE, text),
    async reset(lines) {
      await send(UPDATE, 'DROP ALL');
      await send('application/n-quads', lines);
    },
  };
};

const tdb = (): string => (fuseki as SharedFuseki).tdb;
const memory = (): string => (fuseki as SharedFuseki).memory;
const inMemory = (): string => (rdf4j as SharedRdf4j).memory;
const stored = (): string => (embedded as EmbeddedStore).endpoint;
const native = (): string => `${(rdf4j as SharedRdf4j).native}/statements`;

/** Two kinds of stores that show most of what there is to show: one of ours, and one that is not. */
export const FEW_PLACES: readonly Place[] = [
  { name: 'the embedded store', server: 'embedded', missing: undefined, address: () => address('embedded', stored()), ...quadsAt(stored) },
  {
    name: 'Fuseki, TDB2, by its dataset',
    server: 'fuseki',
    missing: noFuseki,
    address: () => address('fuseki', tdb()),
    ...quadsAt(tdb),
  },
];

export const OTHER_PLACES: readonly Place[] = [
  {
    name: 'Fuseki, in memory, by its update URL',
    server: 'fuseki',
    missing: noFuseki,
    address: () => address('fuseki', `${memory()}/update`),
    ...quadsAt(memory),
  },
  {
    name: 'Fuseki as any SPARQL 1.1 endpoint',
    server: 'fuseki',
    missing: noFuseki,
    address: () => address('sparql', `${memory()}/update`),
    ...quadsAt(memory),
  },
  {
    name: 'RDF4J, in memory, by its repository',
    server: 'rdf4j',
    missing: noRdf4j,
    address: () => address('rdf4j', inMemory()),
    ...quadsAt(() => `${inMemory()}/statements`),
  },
  {
    name: 'RDF4J, native store, by its update URL',
    server: 'rdf4j',
    missing: noRdf4j,
    address: () => address('rdf4j', native()),
    ...quadsAt(native),
  },
  {
    name: 'Virtuoso',
    server: 'virtuoso',
    missing: noVirtuoso,
    changes: /abc|XMLLiteral/,
    address: () => address('virtuoso', (virtuoso as Virtuoso).origin, secretLogin(VIRTUOSO_USER)),
    contents: virtuosoContents,
    reset: resetVirtuoso,
  },
];

/** Graphs that a fresh Virtuoso has already are left out; what it gives to statements without a graph is taken off again. */
async function virtuosoContents(): Promise<string> {
  const pattern = 'GRAPH ?g { ?s ?p ?o } FILTER (STRSTARTS(STR(?g), "urn:") || STRSTARTS(STR(?g), "http://e/") || ?g = <virt:DEFAULT>)';
  const query = encodeURIComponent(`SELECT ?g ?s ?p ?o { ${pattern} }`);
  const answer = await fetch(`${(virtuoso as Virtuoso).origin}/sparql?query=${query}`, {
    headers: { accept: 'application/sparql-results+json' },
  });
  const found = (await answer.json()) as { readonly results: { readonly bindings: readonly Record<'g' | 's' | 'p' | 'o', Cell>[] } };
  return found.results.bindings
    .map(({ g, s, p, o }) => `${term(s)} ${term(p)} ${term(o)}${g.value === 'virt:DEFAULT' ? '' : ` ${term(g)}`} .\n`)
    .join('');
}

type Cell = { readonly type: string; readonly value: string; readonly 'xml:lang'?: string; readonly datatype?: string };

function term({ type, value, 'xml:lang': language, datatype }: Cell): string {
  if (type === 'uri') return `<${value}>`;
  if (type === 'bnode') return value.replace('nodeID://', '_:');
  return `${JSON.stringify(value)}${language !== undefined ? `@${language}` : datatype !== undefined ? `^^<${datatype}>` : ''}`;
}

async function resetVirtuoso(lines: string): Promise<void> {
  const options = { name: 'Virtuoso', ca: undefined, requestSeconds: 60, connectSeconds: 10, connections: 1 };
  const http = openStoreClient({ ...options, login: login('digest', secretLogin(VIRTUOSO_USER)) });
  const graphs = new Set([
    ...statements(lines).map(({ graph }) => graph),
    ...statements(await virtuosoContents()).map(({ graph }) => graph),
  ]);
  const data = statements(lines).map(
    ({ subject, predicate, object, graph }) => `GRAPH ${named(graph)} { ${subject} ${predicate} ${object} }\n`,
  );
  const update = `${[...graphs].map((graph) => `DROP SILENT GRAPH ${named(graph)} ;\n`).join('')}INSERT DATA { ${data.join('')} }`;
  const url = `${(virtuoso as Virtuoso).origin}/sparql-auth`;
  const request = { method: 'POST', url, headers: { 'content-type': UPDATE }, body: Buffer.from(update, 'latin1') } as const;
  const answer = await http.send(request, new AbortController().signal);
  http.close();
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
}

const named = (graph: string): string => (graph === '' ? '<virt:DEFAULT>' : graph);

export interface Stores {
  readonly fuseki: SharedFuseki | undefined;
  readonly rdf4j: SharedRdf4j | undefined;
  readonly virtuoso: Virtuoso | undefined;
  stop(): Promise<void>;
}

/** Starts those of them that can be started, or takes part in what all files share. */
export async function startStores(servers: readonly StoreServer[]): Promise<Stores> {
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-sparql-store-'));
  if (servers.includes('embedded')) embedded = await openEmbeddedStore(directory);
  if (servers.includes('fuseki') && noFuseki === undefined) fuseki = await sharedFuseki();
  if (servers.includes('rdf4j') && noRdf4j === undefined) rdf4j = await sharedRdf4j();
  if (servers.includes('virtuoso') && noVirtuoso === undefined) virtuoso = (await startVirtuoso()) as Virtuoso;
  return {
    fuseki,
    rdf4j,
    virtuoso,
    async stop() {
      await fuseki?.stop();
      await rdf4j?.stop();
      await virtuoso?.stop();
      await embedded?.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
