/**
 * SPARQL 1.1 stores as targets of the graph writer.
 *
 * Statements are added by one POST of N-Quads if the product accepts that in one transaction, otherwise by INSERT DATA; everything else is
 * one update request. `sparql/products.ts` has the differences between products.
 */

import { readFile } from 'node:fs/promises';
import { withLimit } from '../../core/abort.ts';
import { Fault } from '../../core/fault.ts';
import type { GraphReplacement, GraphTarget, TargetAddress } from '../target.ts';
import type { StoreAnswer } from './faults.ts';
import { faultOfAnswer } from './faults.ts';
import { openStoreClient, read, type StoreClient } from './http.ts';
import { login } from './login.ts';
import { readEndpoint, SPARQL_PRODUCTS, type SparqlProduct, type SparqlType, type SparqlUrls } from './products.ts';
import {
  checkDotSegments,
  dropped,
  emptied,
  exchange,
  graphName,
  insertData,
  NOTHING,
  nquads,
  replacement,
  stagingGraph,
} from './update.ts';
import { type VersionStore, versionTarget } from './versions.ts';

/** Without the charset, RDF4J reads Latin-1. */
const UPDATE = 'application/sparql-update; charset=utf-8';
const QUADS = 'application/n-quads';

/**
 * Does not connect yet. A login in the endpoint's URL is used if the address has none.
 *
 * @throws Fault target/unknown — not a SPARQL product; config/invalid — unusable endpoint, login or certificate
 */
export async function sparqlTarget(address: TargetAddress): Promise<GraphTarget> {
  const { type } = address;
  if (!isSparql(type)) throw new Fault('target/unknown', `A target of type ${type} does not speak SPARQL`);
  const product = SPARQL_PRODUCTS[type];
  const { base, search, ...inUrl } = readEndpoint(type, address.endpoint);
  const username = address.username ?? inUrl.username;
  const password = address.password ?? inUrl.password;
  if (product.login === 'none' && username !== '')
    throw new Fault('config/invalid', `${product.name} takes no user name and password`, {
      hint: 'Requests signed for IAM (SigV4) are not supported: let a signing proxy do that, or use a cluster without IAM authentication',
    });
  // Messages do not name the port of the embedded store: it is internal, and another one after each start.
  const name = type === 'embedded' ? product.name : `${product.name} at ${base}`;
  const http = openStoreClient({
    name,
    login: login(product.login, username === '' ? undefined : { username, password }),
    ca: await readAuthorities(address.ca),
    requestSeconds: address.requestSeconds,
    connectSeconds: address.connectSeconds,
    connections: product.sizes.inFlight + 1,
  });
  return target(openStore(name, product, product.urls(base), search, http));
}

const isSparql = (type: string): type is SparqlType => Object.hasOwn(SPARQL_PRODUCTS, type);

async function readAuthorities(ca: string | undefined): Promise<string | undefined> {
  if (ca === undefined || ca.includes('-----BEGIN')) return ca;
  try {
    return await readFile(ca, 'utf8');
  } catch (cause) {
    throw new Fault('config/invalid', `The certificates ${ca} cannot be read`, {
      hint: 'TRIPLESTORE_CA is PEM text or a file of it',
      cause,
    });
  }
}

interface Store extends VersionStore {
  readonly urls: SparqlUrls;
  /** Adds N-Quads. */
  add(lines: string, url: string, signal: AbortSignal): Promise<void>;
  /** The unchecked answer. */
  get(url: string, signal: AbortSignal): Promise<StoreAnswer>;
  close(): Promise<void>;
}

function openStore(name: string, product: SparqlProduct, urls: SparqlUrls, search: string, http: StoreClient): Store {
  const post = async (url: string, type: string, text: string, signal: AbortSignal): Promise<void> => {
    const headers = { 'content-type': type, accept: 'text/plain, application/json;q=0.9, */*;q=0.1' };
    const answer = await http.send({ method: 'POST', url: `${url}${search}`, headers, body: Buffer.from(text, 'latin1') }, signal);
    const fault = faultOfAnswer(answer, { name, url, product });
    if (fault !== undefined) throw fault;
  };
  return {
    name,
    product,
    urls,
    update: (text, signal) => post(urls.update, UPDATE, text, signal),
    add: (lines, url, signal) => post(url, QUADS, lines, signal),
    async query(text, accept, signal) {
      const url = `${urls.query}${search === '' ? '?' : `${search}&`}query=${encodeURIComponent(text)}`;
      const answer = await http.open({ method: 'GET', url, headers: { accept }, body: undefined }, signal);
      if (answer.status === 200) return answer.body;
      throw (
        faultOfAnswer(await read(answer), { name, url: urls.query, product }) ??
        new Fault('target/refused', `${name} answered ${answer.status}`)
      );
    },
    get: (url, signal) =>
      http.send({ method: 'GET', url, headers: { accept: 'application/json, text/plain;q=0.9, */*;q=0.1' }, body: undefined }, signal),
    close: () => http.close(),
  };
}

function target(store: Store): GraphTarget {
  const { name, product, urls } = store;
  return {
    describe: () => name,
    sizes: product.sizes,
    takesBlankNodes: product.takesBlankNodes,
    takesTripleTerms: product.takesTripleTerms,
    async probe(signal) {
      const begun = performance.now();
      await store.update(NOTHING, signal);
      const milliseconds = Math.round(performance.now() - begun);
      if (urls.quads !== undefined) await store.add('', urls.quads, signal);
      return { product: await version(store, signal), milliseconds };
    },
    async prepare() {},
    async insert(statements, signal) {
      if (statements.length === 0) return;
      if (urls.quads !== undefined) await store.add(nquads(statements), urls.quads, signal);
      else await store.update(insertData(statements, product), signal);
    },
    async replace(statements, scope, signal) {
      if (statements.length > 0) await store.update(replacement(statements, scope, product), signal);
    },
    replaceGraph: (graph, key, signal) => replaceGraph(store, graph, key, signal),
    versions: versionTarget(store),
    async close() {
      await store.close();
    },
  };
}

/** Time limit for clearing staged data when a write is interrupted. */
const ABORT_MS = 30_000;

async function replaceGraph(store: Store, graph: string, key: string, signal: AbortSignal): Promise<GraphReplacement> {
  const { product, urls } = store;
  // Both throw for a graph that cannot be named, before anything is staged.
  checkDotSegments(graphName(graph, product), product);
  const staging = stagingGraph(key);
  await store.update(dropped(staging), signal);
  let filled = false;
  return {
    async insert(statements, insertSignal) {
      if (statements.length === 0) return;
      if (urls.quads !== undefined) await store.add(nquads(statements, staging), urls.quads, insertSignal);
      else await store.update(insertData(statements, product, staging), insertSignal);
      filled = true;
    },
    commit: (commitSignal) => store.update(filled ? exchange(graph, staging, product) : emptied(graph, product), commitSignal),
    async abort() {
      try {
        await withLimit(ABORT_MS, (limit) => store.update(dropped(staging), limit));
      } catch (error) {
        // The original error is reported; the next attempt with this key clears the graph first.
        if (!(error instanceof Fault) && !(error instanceof DOMException)) throw error;
      }
    },
  };
}

/** For the header `Server` alone. Without a query, a store that has the Graph Store Protocol at this URL answers with all its data. */
const CHEAPEST_QUERY = '?query=ASK%7B%7D';

/** The product as the server names it; only the configured name if the server does not say. */
async function version({ product, urls, get }: Store, signal: AbortSignal): Promise<string> {
  const answer = await get(urls.version ?? `${urls.query}${CHEAPEST_QUERY}`, signal);
  const server = answer.header('server');
  const said = urls.version === undefined || answer.status !== 200 ? undefined : versionIn(answer.text);
  if (said !== undefined) return `${product.name} ${said}`;
  return server === undefined || /^jetty|^apache|^nginx/i.test(server) ? product.name : `${product.name} (${server.slice(0, 100)})`;
}

/** RDF4J returns its protocol version, the others a JSON object. */
function versionIn(text: string): string | undefined {
  if (/^\d+$/.test(text.trim())) return `(protocol ${text.trim()})`;
  return /"(?:version|productVersion|dbEngineVersion)"\s*:\s*"([^"]{1,50})"/.exec(text)?.[1];
}
