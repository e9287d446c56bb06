/** The state of the embedded store as a file of N-Quads, written in pieces: a dump in one piece ends at the 512 MB of a V8 string. */
import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import oxigraph from '../../../oxigraph/oxigraph.ts';

type Store = InstanceType<typeof oxigraph.Store>;
type GraphTerm = NonNullable<Parameters<Store['dump']>[0]['from_graph_name']>;
type Rows = readonly ReadonlyMap<string, oxigraph.Term>[];

/**
 * Characters in one piece: each may take four bytes, an escaped one two. A piece is made in the memory of WebAssembly, which never shrinks, and
 * takes several times its length there.
 */
const USUAL_CHARACTERS = 4 * 1024 * 1024;
const MOST_CHARACTERS = 32 * 1024 * 1024;
/** Allowance per statement for what is not subject or object: predicate, datatype, label of a blank node. */
const EXTRA_CHARACTERS = 200;
/** Characters of subject and object, in SPARQL. */
const LENGTH = 'COALESCE(STRLEN(STR(?s)), 0) + COALESCE(STRLEN(STR(?o)), 0)';
/** With fewer statements in a page, skipping to each page would take longer than asking for every statement. */
const LEAST_PAGE = 10_000;
/** To reach a page is to skip those before it: with this many, each statement is skipped eight times on average. */
const MOST_PAGES = 16;
const LINES_AT_ONCE = 10_000;

const CHUNK_BYTES = 1024 * 1024;
/** The first line is a comment with the empty graphs, which N-Quads cannot express. */
const HEAD = '# Graphs without statements:';

/** Writes the whole store to `path` and syncs it; returns the size in bytes. Labels of blank nodes are the same in all pieces. */
export function writeSnapshot(store: Store, path: string): number {
  const file = openSync(path, 'w', 0o600);
  let bytes = 0;
  const write = (text: string): void => {
    const all = Buffer.from(text);
    for (let from = 0; from < all.length; ) from += writeSync(file, all, from);
    bytes += all.length;
  };
  try {
    write(`${[HEAD, ...emptyGraphsOf(store).map((iri) => `<${iri}>`)].join(' ')}\n`);
    for (const graph of graphsOf(store)) {
      if (isSmall(store, graph)) write(inGraph(store.dump({ format: 'nt', from_graph_name: graph }), graph));
      else for (const predicate of predicatesOf(store, graph)) writePredicate(store, graph, predicate, write);
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return bytes;
}

/** Loads a snapshot into an empty store. */
export function loadSnapshot(store: Store, path: string): void {
  const file = openSync(path, 'r');
  try {
    let head = '';
    const chunks = chunksOf(file, (text) => {
      head += text;
    });
    // The statements were valid when they were written; checking every term again would double the time.
    store.load(chunks, { format: 'nq', lenient: true });
    for (const [graph] of head.slice(HEAD.length).matchAll(/<[^>]*>/g)) store.update(`CREATE SILENT GRAPH ${graph}`);
  } finally {
    closeSync(file);
  }
}

/** `onHead` receives the first line, in pieces. */
function* chunksOf(file: number, onHead: (text: string) => void): Generator<Uint8Array> {
  for (let inHead = true; ; ) {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    const chunk = buffer.subarray(0, readSync(file, buffer));
    if (chunk.length === 0) return;
    if (inHead) {
      const end = chunk.indexOf(10);
      onHead(chunk.subarray(0, end < 0 ? chunk.length : end).toString());
      inHead = end < 0;
    }
    yield chunk;
  }
}

type Write = (text: string) => void;

/**
 * How many of `count` statements one page has, the longest of which has so many characters in subject and object; undefined: paging takes too
 * long.
 */
export function pageOf(count: number, longest: number): number | undefined {
  const characters = EXTRA_CHARACTERS + longest;
  const most = Math.floor(MOST_CHARACTERS / characters);
  if (most < LEAST_PAGE) return undefined;
  return Math.min(most, Math.max(LEAST_PAGE, Math.floor(USUAL_CHARACTERS / characters), Math.ceil(count / MOST_PAGES)));
}

/** Page by page where even the longest statement leaves room for many in a page: a query makes N-Triples six times as fast as `match`. */
function writePredicate(store: Store, graph: GraphTerm, predicate: string, write: Write): void {
  const query = `SELECT (COUNT(*) AS ?count) (MAX(${LENGTH}) AS ?longest) WHERE { ?s <${predicate}> ?o }`;
  const [found] = store.query(query, { default_graph: graph }) as Rows;
  const page = pageOf(Number(found?.get('count')?.value), Number(found?.get('longest')?.value));
  if (page === undefined) writeOneByOne(store, graph, predicate, write);
  else for (let offset = 0; writePage(store, graph, predicate, { page, offset }, write); offset += page);
}

/** Whether there was anything in the page. Without writes in between, the order of solutions stays the same. */
function writePage(store: Store, graph: GraphTerm, predicate: string, at: { page: number; offset: number }, write: Write): boolean {
  const rows = `SELECT ?s ?o WHERE { ?s <${predicate}> ?o } LIMIT ${at.page} OFFSET ${at.offset}`;
  const query = `CONSTRUCT { ?s <${predicate}> ?o } WHERE { { ${rows} } }`;
  const text = store.query(query, { default_graph: graph, results_format: 'nt' }) as string;
  write(inGraph(text, graph));
  return text !== '';
}

function writeOneByOne(store: Store, graph: GraphTerm, predicate: string, write: Write): void {
  let lines: string[] = [];
  for (const quad of store.match(null, oxigraph.namedNode(predicate), null, graph)) {
    lines.push(`${quad.subject} ${quad.predicate} ${quad.object} .\n`);
    if (lines.length < LINES_AT_ONCE) continue;
    write(inGraph(lines.join(''), graph));
    lines = [];
  }
  write(inGraph(lines.join(''), graph));
}

/** Whether the statements of a graph are certain to fit into one piece. A string that is too long would end the thread. */
function isSmall(store: Store, graph: GraphTerm): boolean {
  const query = `SELECT (SUM(${EXTRA_CHARACTERS} + ${LENGTH}) AS ?n) WHERE { ?s ?p ?o }`;
  const [row] = store.query(query, { default_graph: graph }) as Rows;
  return Number(row?.get('n')?.value) <= USUAL_CHARACTERS;
}

/** N-Triples have no line break within a statement, so ` .` before a line break is the end of one. */
function inGraph(triples: string, graph: GraphTerm): string {
  return graph.termType === 'DefaultGraph' ? triples : triples.replaceAll(' .\n', ` ${graph} .\n`);
}

function graphsOf(store: Store): readonly GraphTerm[] {
  const rows = store.query('SELECT ?g WHERE { GRAPH ?g {} }') as Rows;
  return [oxigraph.defaultGraph(), ...rows.map((row) => row.get('g') as GraphTerm)];
}

function predicatesOf(store: Store, graph: GraphTerm): readonly string[] {
  const rows = store.query('SELECT DISTINCT ?p WHERE { ?s ?p ?o }', { default_graph: graph }) as Rows;
  return rows.map((row) => String(row.get('p')?.value));
}

function emptyGraphsOf(store: Store): readonly string[] {
  const query = 'SELECT ?g WHERE { GRAPH ?g {} FILTER NOT EXISTS { GRAPH ?g { ?s ?p ?o } } FILTER isIRI(?g) }';
  return (store.query(query) as Rows).map((row) => String(row.get('g')?.value));
}
