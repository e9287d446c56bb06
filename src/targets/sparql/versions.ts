/**
 * The versions of datasets in SPARQL stores. A management graph has the position of each: one subject for a dataset, with its name, its version, and
 * what its statements depend on.
 */
import { Fault } from '../../core/fault.ts';
import { escapeLiteral, fromBytes, toBytes } from '../../core/text.ts';
import { readStatements } from '../../nquads/read.ts';
import type { Statement } from '../../nquads/statement.ts';
import { type DatasetKey, type DatasetPosition, NO_POSITION, type VersionBatch, type VersionTarget } from '../target.ts';
import type { SparqlProduct } from './products.ts';
import { deleteData, graphName, insertData } from './update.ts';

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
    async change({ removed, added, isShared, from }, position, dataset, signal) {
      const where = from === undefined ? undefined : condition(dataset, from);
      const operations = [
        ...(isShared
          ? sharedChange(removed, added, product, dataset, where)
          : [deleteData(removed, product, where), insertData(added, product, undefined, where)]),
        ...(position === undefined ? [] : [positionUpdate(dataset, position, from)]),
      ];
      const text = operations.filter((one) => one !== '').join(' ;\n');
      if (text !== '') await store.update(text, signal);
    },
    read: (graph, signal) => readGraph(store, graph, signal),
    shared: { prepare: async () => undefined, read: (dataset, signal) => readStated(store, dataset, signal) },
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

const subjectOf = ({ id }: DatasetKey): string => `<${SUBJECT}${encodeURIComponent(id)}>`;

/**
 * Matches if the store has the position. A request of a writer that has lost its dataset to another one may be carried out late.
 *
 * **Claim.** Such a request is without effect, if the other writer has completed a version, or has begun to load one. **Proof.** Then the store has another
 * position than the one that the request names. The operation that stores the next position is the last one of a request, so each of them sees the position
 * that was there before, also where the operations of a request are not one transaction. It is SPARQL 1.1; a store where it does not match, though the position
 * is there, does not get the next one, and the writer looks for that.
 */
function condition(dataset: DatasetKey, from: DatasetPosition | typeof NO_POSITION): string {
  const subject = subjectOf(dataset);
  if (from === NO_POSITION) return `FILTER NOT EXISTS { GRAPH ${POSITIONS} { ${subject} ?anyP ?anyO } }`;
  return `GRAPH ${POSITIONS} { ${subject} ${from.complete ? VERSION : LOADING} ${from.version} }`;
}

/** @param from as in `VersionBatch`: the operation on other positions and the last one alone are without effect if the store has another one */
function positionUpdate(dataset: DatasetKey, { version, complete, form }: DatasetPosition, from: VersionBatch['from']): string {
  const subject = subjectOf(dataset);
  const [ofName, all] = [textOf(dataset.name), (of: string): string => `GRAPH ${POSITIONS} { ${of} ?p ?o }`];
  const stored = `GRAPH ${POSITIONS} { ${subject} ${NAME} ${ofName} ; ${complete ? VERSION : LOADING} ${version} ; ${FORM} ${textOf(form)} }`;
  const others = `GRAPH ${POSITIONS} { ?s ${NAME} ${ofName} . ?s ?p ?o }`;
  if (from === undefined)
    return [
      `DELETE { ${all('?s')} } WHERE { ${others} }`,
      `DELETE { ${all(subject)} } WHERE { ${all(subject)} }`,
      `INSERT DATA { ${stored} }`,
    ].join(' ;\n');
  const where = condition(dataset, from);
  return [
    `DELETE { ${all('?s')} } WHERE { ${others} FILTER(?s != ${subject}) ${where} }`,
    from === NO_POSITION
      ? `INSERT { ${stored} } WHERE { ${where} }`
      : `DELETE { ${all(subject)} } INSERT { ${stored} } WHERE { ${where} ${all(subject)} }`,
  ].join(' ;\n');
}

const STATEMENTS = `${NAMESPACE}statements:`;
const beside = (graph: string): string => `${STATEMENTS}${encodeURIComponent(fromBytes(graph))}:`;
const REMOVED = `${NAMESPACE}removed:`;

/**
 * A change that leaves what other datasets have. Beside each graph of the store there is one for each dataset, with what the dataset has there.
 *
 * **Claim.** A statement is in a graph if some dataset has it there. **Proof.** A statement that is added is put into both. One that is removed first goes
 * from the graph of its dataset, and then from the other one where no graph beside it has it. Removed statements are matched by what the store keeps of
 * them: they are put into a graph first, since a store may write two texts as one term. Repeating a change gives the same.
 *
 * @param where as in `condition`: otherwise nothing is staged, and nothing is removed
 */
function sharedChange(
  removed: readonly Statement[],
  added: readonly Statement[],
  product: SparqlProduct,
  { id }: DatasetKey,
  where: string | undefined,
): readonly string[] {
  const all = '?s ?p ?o';
  const staged = `<${REMOVED}${encodeURIComponent(id)}>`;
  const within = (name: string): string => (name === '' ? all : `GRAPH ${name} { ${all} }`);
  const own = (graph: string): string => `<${toBytes(beside(graph))}${encodeURIComponent(id)}>`;
  const removal = ([graph, statements]: readonly [string, readonly Statement[]]): readonly string[] => {
    const { defaultGraph } = product;
    const name = graph === '' && defaultGraph.kind === 'nil' ? `<${defaultGraph.iri}>` : graphName(graph, product);
    const isOthers = `GRAPH ?h { ${all} } FILTER(STRSTARTS(STR(?h), "${beside(graph)}"))`;
    return [
      insertData(statements, product, staged, where),
      `DELETE { ${within(own(graph))} } WHERE { ${within(staged)} }`,
      `DELETE { ${within(name)} } WHERE { ${within(staged)} FILTER NOT EXISTS { ${isOthers} } }`,
      `DROP SILENT GRAPH ${staged}`,
    ];
  };
  const clear = removed.length === 0 ? [] : [`DROP SILENT GRAPH ${staged}`];
  return [
    // An interrupted change may have left statements there.
    ...clear,
    ...[...byGraph(removed)].flatMap(removal),
    insertData(added, product, undefined, where),
    ...[...byGraph(added)].map(([graph, statements]) => insertData(statements, product, own(graph), where)),
  ];
}

function byGraph(statements: readonly Statement[]): ReadonlyMap<string, readonly Statement[]> {
  const graphs = new Map<string, Statement[]>();
  for (const statement of statements) {
    const found = graphs.get(statement.graph);
    if (found === undefined) graphs.set(statement.graph, [statement]);
    else found.push(statement);
  }
  return graphs;
}

/** What the graphs of a dataset have that stand beside the others. @throws as `readGraph` */
async function* readStated(store: VersionStore, { id }: DatasetKey, signal: AbortSignal): AsyncGenerator<readonly Statement[]> {
  const end = `:${encodeURIComponent(id)}`;
  const isOwn = `FILTER(STRSTARTS(STR(?g), "${STATEMENTS}") && STRENDS(STR(?g), "${end}"))`;
  for (const { g } of await rowsOf(store, `SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } ${isOwn} }`, signal)) {
    const name = g?.value ?? '';
    const graph = toBytes(decodeURIComponent(name.slice(STATEMENTS.length, -end.length)));
    for await (const statements of readGraph(store, `<${toBytes(name)}>`, signal)) yield statements.map((one) => ({ ...one, graph }));
  }
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
