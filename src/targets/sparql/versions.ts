/**
 * The versions of datasets in SPARQL stores. A management graph has the position of each: one subject for a dataset, with its name, its version, and
 * what its statements depend on.
 */
import { Fault } from '../../core/fault.ts';
import { escapeLiteral, fromBytes, toBytes } from '../../core/text.ts';
import { readStatements } from '../../nquads/read.ts';
import type { Statement } from '../../nquads/statement.ts';
import type { DatasetKey, DatasetPosition, VersionTarget } from '../target.ts';
import type { SparqlProduct } from './products.ts';
import { deleteData, insertData } from './update.ts';

const NAMESPACE = 'urn:x-quadmill:';
const POSITIONS = `<${NAMESPACE}datasets>`;
const NAME = `<${NAMESPACE}name>`;
/** The version that the store has. */
const VERSION = `<${NAMESPACE}version>`;
/** The version whose graph is being written to a store that had none. */
const LOADING = `<${NAMESPACE}loading>`;
const FORM = `<${NAMESPACE}form>`;

const RESULTS = 'application/sparql-results+json, application/json;q=0.5';
const TRIPLES = 'application/n-triples, text/plain;q=0.5';

/** The requests to a store, with checked answers. */
export interface VersionStore {
  readonly name: string;
  readonly product: SparqlProduct;
  update(text: string, signal: AbortSignal): Promise<void>;
  /** The answer to a query, in one of the media types, however long. */
  query(text: string, accept: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>>;
}

export function versionTarget(store: VersionStore): VersionTarget {
  const { product } = store;
  return {
    takesKept: false,
    async positions(signal) {
      const found = await rowsOf(store, `SELECT ?s ?p ?o WHERE { GRAPH ${POSITIONS} { ?s ?p ?o } }`, signal);
      const subjects = new Set(found.map(({ s }) => s?.value ?? ''));
      return [...subjects].flatMap((subject) =>
        positionOf(
          subject,
          found.filter(({ s }) => s?.value === subject),
        ),
      );
    },
    async change({ removed, added }, position, dataset, signal) {
      const operations = [deleteData(removed, product), insertData(added, product), position && positionUpdate(dataset, position)];
      const text = operations.filter((one) => one !== undefined && one !== '').join(' ;\n');
      if (text !== '') await store.update(text, signal);
    },
    read: (graph, signal) => readGraph(store, graph, signal),
  };
}

type Row = Readonly<Record<string, { readonly value: string } | undefined>>;

/** @throws Fault target/refused — no results of SPARQL */
async function rowsOf(store: VersionStore, query: string, signal: AbortSignal): Promise<readonly Row[]> {
  const pieces: Buffer[] = [];
  for await (const piece of await store.query(query, RESULTS, signal)) pieces.push(piece);
  try {
    return (JSON.parse(Buffer.concat(pieces).toString('utf8')) as { readonly results: { readonly bindings: readonly Row[] } }).results
      .bindings;
  } catch (cause) {
    throw new Fault('target/refused', `${store.name} does not answer queries with SPARQL results in JSON`, { cause });
  }
}

function positionOf(subject: string, rows: readonly Row[]): readonly (DatasetKey & DatasetPosition)[] {
  const valueOf = (predicate: string): string | undefined => rows.find(({ p }) => `<${p?.value}>` === predicate)?.o?.value;
  const [complete, loading] = [valueOf(VERSION), valueOf(LOADING)];
  const version = Number(complete ?? loading);
  if (!subject.startsWith(SUBJECT) || !Number.isSafeInteger(version)) return [];
  const [id, name, form] = [decodeURIComponent(subject.slice(SUBJECT.length)), valueOf(NAME) ?? '', valueOf(FORM) ?? ''];
  return [{ id, name, version, complete: complete !== undefined, form }];
}

const SUBJECT = 'urn:uuid:';

function positionUpdate({ id, name }: DatasetKey, { version, complete, form }: DatasetPosition): string {
  const subject = `<${SUBJECT}${encodeURIComponent(id)}>`;
  const [ofName, all] = [textOf(name), (of: string): string => `GRAPH ${POSITIONS} { ${of} ?p ?o }`];
  return [
    `DELETE { ${all('?s')} } WHERE { GRAPH ${POSITIONS} { ?s ${NAME} ${ofName} . ?s ?p ?o } }`,
    `DELETE { ${all(subject)} } WHERE { ${all(subject)} }`,
    `INSERT DATA { GRAPH ${POSITIONS} { ${subject} ${NAME} ${ofName} ; ${complete ? VERSION : LOADING} ${version} ; ${FORM} ${textOf(form)} } }`,
  ].join(' ;\n');
}

const textOf = (text: string): string => `"${escapeLiteral(toBytes(text))}"`;

/** @throws Fault target/refused — the store does not give all statements */
async function* readGraph(store: VersionStore, graph: string, signal: AbortSignal): AsyncGenerator<readonly Statement[]> {
  const { from, pattern } = placeOf(graph, store.product);
  const [counted] = await rowsOf(store, `SELECT (COUNT(*) AS ?n) ${from}WHERE { ${pattern} }`, signal);
  const expected = Number(counted?.n?.value);
  let count = 0;
  const bytes = await store.query(`CONSTRUCT { ?s ?p ?o } ${from}WHERE { ${pattern} }`, TRIPLES, signal);
  for await (const { statements, rejected } of readStatements(bytes, {
    input: store.name,
    skolem: undefined,
    takesTriples: true,
    rejectsLines: true,
  })) {
    count += statements.length + rejected.length;
    yield statements.map((one) => ({ ...one, graph }));
  }
  // Virtuoso answers with the first 10,000 rows, unless it is configured otherwise.
  if (count < expected)
    throw new Fault(
      'target/refused',
      `${store.name} gives ${count} of the ${expected} statements of ${graph === '' ? 'its default graph' : fromBytes(graph)}`,
      {
        hint: 'Raise the limit of the store for the rows of a query (Virtuoso: ResultSetMaxRows)',
      },
    );
}

/** Where a query finds the statements of a graph. Queries read the union of all graphs in place of a default graph of the kind `nil`. */
function placeOf(graph: string, { defaultGraph }: SparqlProduct): { readonly from: string; readonly pattern: string } {
  const all = '?s ?p ?o';
  if (graph !== '') return { from: '', pattern: `GRAPH ${graph} { ${all} }` };
  switch (defaultGraph.kind) {
    case 'own':
      return { from: '', pattern: all };
    case 'nil':
      return { from: `FROM <${defaultGraph.iri}> `, pattern: all };
    case 'named':
      return { from: '', pattern: `GRAPH <${defaultGraph.iri}> { ${all} }` };
  }
}
