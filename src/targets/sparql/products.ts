/** Differences between SPARQL products, as far as they matter for writing. Everything else in `targets/sparql` is common. */

import { Fault } from '../../core/fault.ts';
import { Secret } from '../../core/secret.ts';
import type { BatchSizes, TargetType } from '../target.ts';

export type SparqlType = Exclude<TargetType, 'neo4j'>;

/** URLs of requests. */
export interface SparqlUrls {
  readonly query: string;
  readonly update: string;
  /** Adds N-Quads by POST; undefined: not supported, or not in one transaction. */
  readonly quads: string | undefined;
  /** Returns the version by GET, also without a login for data; undefined: not supported. */
  readonly version: string | undefined;
}

/**
 * How a product addresses its default graph.
 *
 * - `own`: patterns without GRAPH read it, templates without GRAPH write it. If the server shows the union of all graphs in its place,
 * patterns match too much, but templates delete only from the default graph, so nothing else is lost.
 * - `nil`: templates without GRAPH would delete from every graph; this name in a template means the default graph alone.
 * - `named`: statements without a graph are in the graph with this name.
 */
export type DefaultGraph = { readonly kind: 'own' } | { readonly kind: 'nil' | 'named'; readonly iri: string };

export interface SparqlProduct {
  readonly name: string;
  /** The form of the endpoint, for messages. */
  readonly endpoint: string;
  /** `endpoint`: absolute, http(s), without login, query or fragment, no slash at the end. */
  urls(endpoint: string): SparqlUrls;
  /** `none`: requests carry no login. */
  readonly login: 'basic' | 'digest' | 'none';
  /** Maximum number of statements per INSERT DATA; undefined: unlimited. */
  readonly mostInserted: number | undefined;
  readonly defaultGraph: DefaultGraph;
  /** Whether added data may contain `_:label`. */
  readonly takesBlankNodes: boolean;
  /** Whether objects may be triple terms of RDF 1.2, both in N-Quads and in SPARQL: tested. */
  readonly takesTripleTerms: boolean;
  /** Removes `.` and `..` from the paths of IRIs in SPARQL, though not in N-Quads. */
  readonly removesDotSegments: boolean;
  /** Answers 500 to refused updates. */
  readonly refusesBy500: boolean;
  /**
   * Evidence that the operations of one update request form one transaction, as SPARQL 1.1 Update recommends. Otherwise an interrupted
   * request may leave a subject without its statements until the writer repeats the request.
   */
  readonly atomic: 'tested' | 'not known';
  readonly sizes: BatchSizes;
  /** Sources of this row, and whether tests run it. For readers only. */
  readonly source: string;
}

/** One endpoint for everything, or separate ones for updates and queries: the last path segment decides. */
const siblings =
  (names: { readonly query: string; readonly update: string; readonly quads?: string }, base: 'alone' | 'under') =>
  (endpoint: string): Omit<SparqlUrls, 'version'> => {
    const end = endpoint.lastIndexOf('/') + 1;
    const given = Object.values(names).includes(endpoint.slice(end));
    if (!given && base === 'alone') return { query: endpoint, update: endpoint, quads: names.quads === undefined ? undefined : endpoint };
    const parent = given ? endpoint.slice(0, end) : `${endpoint}/`;
    return {
      query: `${parent}${names.query}`,
      update: `${parent}${names.update}`,
      quads: names.quads === undefined ? undefined : `${parent}${names.quads}`,
    };
  };

/** `…/repositories/ID`, or its `/statements`. */
function repository(endpoint: string): Omit<SparqlUrls, 'version'> {
  const base = endpoint.replace(/\/statements$/, '');
  return { query: base, update: `${base}/statements`, quads: `${base}/statements` };
}

/** The URL before `/repositories/ID`. */
const server = (endpoint: string): string => endpoint.replace(/\/repositories\/.*$/, '');

const origin = (endpoint: string): string => new URL(endpoint).origin;

/** What holds for a product unless its row says otherwise. */
const USUAL = {
  login: 'basic',
  mostInserted: undefined,
  defaultGraph: { kind: 'own' },
  takesBlankNodes: true,
  takesTripleTerms: false,
  removesDotSegments: false,
  refusesBy500: false,
  atomic: 'not known',
  sizes: { first: 5_000, least: 100, most: 20_000, inFlight: 2 },
} as const satisfies Partial<SparqlProduct>;

/** Servers with the REST API of RDF4J. */
const REPOSITORY = {
  ...USUAL,
  defaultGraph: { kind: 'nil', iri: 'http://www.openrdf.org/schema/sesame#nil' },
  sizes: { first: 10_000, least: 100, most: 50_000, inFlight: 1 },
} as const satisfies Partial<SparqlProduct>;

/** One row per product: its names and URLs, and how it differs from `USUAL`. */
export const SPARQL_PRODUCTS: Readonly<Record<SparqlType, SparqlProduct>> = {
  embedded: {
    ...USUAL,
    name: 'Embedded store',
    endpoint: 'the URL that the open store has, or its directory',
    urls: (endpoint) => ({ query: endpoint, update: endpoint, quads: endpoint, version: undefined }),
    takesTripleTerms: true,
    atomic: 'tested',
    sizes: { first: 10_000, least: 100, most: 50_000, inFlight: 2 },
    source: 'src/targets/embedded, oxigraph 0.5.11; tested',
  },
  sparql: {
    ...USUAL,
    name: 'SPARQL 1.1 endpoint',
    endpoint: 'the URL that takes updates; beside …/update the place of queries is …/query',
    urls: (endpoint) => ({ ...siblings({ query: 'query', update: 'update' }, 'alone')(endpoint), version: undefined }),
    source: 'SPARQL 1.1 Update and Protocol (W3C 2013), which recommend atomic requests; tested with Fuseki as one of them',
  },
  fuseki: {
    ...USUAL,
    name: 'Apache Jena Fuseki',
    endpoint: 'http://HOST:3030/DATASET, or its …/update',
    urls: (endpoint) => ({
      ...siblings({ query: 'query', update: 'update', quads: 'data' }, 'alone')(endpoint),
      version: `${origin(endpoint)}/$/server`,
    }),
    takesTripleTerms: true,
    removesDotSegments: true,
    atomic: 'tested',
    // TDB2 rewrites a part of its indexes in every transaction, so transactions are few and large; it has one writer at a time.
    sizes: { first: 100_000, least: 100, most: 200_000, inFlight: 2 },
    source: 'Apache Jena documentation, Fuseki and TDB2; tested with 5.6.0, TDB2 and memory',
  },
  graphdb: {
    ...REPOSITORY,
    name: 'Ontotext GraphDB',
    endpoint: 'http://HOST:7200/repositories/ID, or its …/statements',
    urls: (endpoint) => ({ ...repository(endpoint), version: `${server(endpoint)}/rest/info/version` }),
    source:
      'GraphDB documentation, "Query behaviour" (the default graph of a query is the union) and the client library graphdb 3.1 (requests as of RDF4J); only read',
  },
  rdf4j: {
    ...REPOSITORY,
    name: 'Eclipse RDF4J',
    endpoint: 'http://HOST:8080/rdf4j-server/repositories/ID, or its …/statements',
    urls: (endpoint) => ({ ...repository(endpoint), version: `${server(endpoint)}/protocol` }),
    atomic: 'tested',
    source: 'RDF4J 4.1 server, protocol 12, "REST API"; tested with 4.1.3, memory and native store',
  },
  stardog: {
    ...USUAL,
    name: 'Stardog',
    endpoint: 'http://HOST:5820/DATABASE, or its …/update',
    urls: (endpoint) => ({ ...siblings({ query: 'query', update: 'update' }, 'under')(endpoint), version: undefined }),
    // Its own default graph; with query.all.graphs, patterns read the union of all graphs.
    source: 'Stardog documentation, "HTTP API" (/{db}/query, /{db}/update) and query.all.graphs; only read',
  },
  blazegraph: {
    ...USUAL,
    name: 'Blazegraph',
    endpoint: 'http://HOST:9999/bigdata/namespace/NAMESPACE/sparql',
    urls: (endpoint) => ({ query: endpoint, update: endpoint, quads: undefined, version: undefined }),
    // For a namespace in quads mode; one in triples mode has no graphs, and reports that.
    defaultGraph: { kind: 'named', iri: 'http://www.bigdata.com/rdf#nullGraph' },
    refusesBy500: true,
    source: 'Blazegraph wiki, "REST API" of 2020, and the name of its null graph from clients of it; only read',
  },
  neptune: {
    ...USUAL,
    name: 'Amazon Neptune',
    endpoint: 'https://HOST:8182, or its /sparql',
    urls: (endpoint) => {
      const url = endpoint.endsWith('/sparql') ? endpoint : `${endpoint}/sparql`;
      return { query: url, update: url, quads: undefined, version: `${origin(endpoint)}/status` };
    },
    login: 'none',
    defaultGraph: { kind: 'named', iri: 'http://aws.amazon.com/neptune/vocab/v01/DefaultNamedGraph' },
    source: 'Neptune user guide, "SPARQL Default Graph and Named Graphs" and "Transaction Semantics"; only read',
  },
  virtuoso: {
    ...USUAL,
    name: 'OpenLink Virtuoso',
    endpoint: 'http://HOST:8890, or its /sparql-auth; /sparql where the public may write',
    urls: (endpoint) => {
      const url = /\/sparql(-auth)?$/.test(endpoint) ? endpoint : `${endpoint}/sparql-auth`;
      return { query: url, update: url, quads: undefined, version: undefined };
    },
    login: 'digest',
    // From about 4,000 on it reports SP030, memory exhausted.
    mostInserted: 2_000,
    // It has no default graph; its own client library uses this name for one.
    defaultGraph: { kind: 'named', iri: 'virt:DEFAULT' },
    takesBlankNodes: false,
    refusesBy500: true,
    sizes: { first: 1_000, least: 50, most: 2_000, inFlight: 1 },
    source:
      'Virtuoso documentation, "SPARQL Update", and its client library (name of the default graph); tested with 7.2.5.1 where it is installed',
  },
};

export interface Endpoint {
  /** In the form that `SparqlProduct.urls` expects. */
  readonly base: string;
  /** The query string `?…` of all requests; may contain a secret. Empty: none. */
  readonly search: string;
  /** Empty: none. */
  readonly username: string;
  readonly password: Secret;
}

/** @throws Fault config/invalid — not an http(s) URL */
export function readEndpoint(type: SparqlType, endpoint: string): Endpoint {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new Fault('config/invalid', `The endpoint of a target of type ${type} is a URL that begins with http:// or https://`, {
      hint: `Name ${SPARQL_PRODUCTS[type].endpoint}`,
    });
  const { username, password, search } = url;
  url.username = '';
  url.password = '';
  url.search = '';
  url.hash = '';
  return { base: url.href.replace(/\/+$/, ''), search, username: decode(username), password: new Secret(decode(password)) };
}

/** A literal `%` is intended. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
