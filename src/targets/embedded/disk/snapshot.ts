/**
 * The state of the embedded store as a file of N-Quads, written in pieces: a dump in one piece ends at the 512 MB of a V8 string. Each line has a
 * checksum as its comment, and the last line the number of statements, the bytes and the SHA-256 of all lines before it.
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { basename } from 'node:path';
import { crc32 } from 'node:zlib';
import oxigraph from '../../../oxigraph/oxigraph.ts';
import type { SnapshotExtent } from '../messages.ts';
import type { Damage } from './damage.ts';

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
const HEAD = '# Quadmill snapshot, version 2. Graphs without statements:';
/** The first line of version 1, which has no checksums. */
const OLD_HEAD = '# Graphs without statements:';
/** The last line, followed by JSON of `SnapshotExtent`, of all lines before it. */
const END = '# End: ';

/** Writes the whole store to `path` and syncs it. Labels of blank nodes are the same in all pieces. */
export function writeSnapshot(store: Store, path: string): { readonly extent: SnapshotExtent; readonly bytes: number } {
  const file = openSync(path, 'w', 0o600);
  const hash = createHash('sha256');
  let [bytes, statements] = [0, 0];
  const append = (all: Buffer): void => {
    for (let from = 0; from < all.length; ) from += writeSync(file, all, from);
    bytes += all.length;
  };
  const write = (text: string): void => {
    const all = Buffer.from(text);
    hash.update(all);
    append(all);
  };
  const writeLines = (text: string): void => {
    const lines = text.split('\n');
    const last = lines.pop();
    if (last !== '') throw new Error('A piece of the snapshot ends within a line');
    statements += lines.length;
    if (lines.length > 0) write(`${lines.map(checked).join('\n')}\n`);
  };
  try {
    write(`${checked([HEAD, ...emptyGraphsOf(store).map((iri) => `<${iri}>`)].join(' '))}\n`);
    for (const graph of graphsOf(store)) {
      if (isSmall(store, graph)) writeLines(inGraph(store.dump({ format: 'nt', from_graph_name: graph }), graph));
      else for (const predicate of predicatesOf(store, graph)) writePredicate(store, graph, predicate, writeLines);
    }
    const extent = { statements, bytes, sha256: hash.digest('hex') };
    append(Buffer.from(endOf(extent)));
    fsyncSync(file);
    return { extent, bytes };
  } finally {
    closeSync(file);
  }
}

/** With a comment that has its CRC-32, by which a damaged line is found. */
const checked = (line: string): string => `${line} # ${crc32(line).toString(16).padStart(8, '0')}`;

export interface LoadedSnapshot {
  readonly version: 1 | 2;
  readonly extent: SnapshotExtent;
}

/**
 * Loads a snapshot into an empty store; of one that is damaged, the lines that are as they were written.
 *
 * @param expected what was written; undefined: there is no manifest
 */
export function loadSnapshot(store: Store, path: string, expected: SnapshotExtent | undefined, damage: Damage): LoadedSnapshot {
  const file = openSync(path, 'r');
  try {
    const found = inspect(file);
    const version = expected === undefined && found.isOld ? 1 : 2;
    const isWhole = found.isSound && JSON.stringify(expected ?? found.extent) === JSON.stringify(found.extent);
    const isSound = version === 1 ? isReadable(store, file) : isWhole;
    if (!isSound) loadLines(store, file, { name: basename(path), isSound: version === 1 ? parses : hasCheck, expected, damage });
    else if (version === 2) loadAll(store, file);
    return { version, extent: found.extent };
  } finally {
    closeSync(file);
  }
}

/** No last line is longer. */
const END_BYTES = 256;

/** The bytes of a snapshot, and whether its last line says the same of them. */
function inspect(file: number): { readonly isOld: boolean; readonly isSound: boolean; readonly extent: SnapshotExtent } {
  const { size } = fstatSync(file);
  const tail = Buffer.alloc(Math.min(END_BYTES, size));
  readSync(file, tail, 0, tail.length, size - tail.length);
  const at = tail.lastIndexOf(END);
  const [bytes, end] = at < 0 ? [size, ''] : [size - tail.length + at, tail.subarray(at).toString()];
  const hash = createHash('sha256');
  let [left, isOld] = [bytes, false];
  for (const chunk of chunksOf(file)) {
    if (left === bytes) isOld = chunk.subarray(0, OLD_HEAD.length).toString() === OLD_HEAD;
    hash.update(chunk.subarray(0, left));
    left -= Math.min(left, chunk.length);
  }
  const extent = { statements: statementsIn(end), bytes, sha256: hash.digest('hex') };
  return { isOld, isSound: end === endOf(extent), extent };
}

const endOf = (extent: SnapshotExtent): string => `${END}${JSON.stringify(extent)}\n`;

/** As a last line says. */
const statementsIn = (line: string): number => Number(/"statements":(\d+)/.exec(line)?.[1] ?? 0);

function loadAll(store: Store, file: number): void {
  let head = '';
  const chunks = chunksOf(file, (text) => {
    head += text;
  });
  // The statements were valid when they were written; checking every term again would double the time.
  store.load(chunks, { format: 'nq', lenient: true });
  createGraphs(store, head);
}

/** Version 1 has no checksums: only the parser finds what is wrong. Loads nothing then. */
function isReadable(store: Store, file: number): boolean {
  try {
    loadAll(store, file);
    return true;
  } catch {
    return false;
  }
}

function createGraphs(store: Store, head: string): void {
  for (const [graph] of head.matchAll(/<[^>]*>/g)) store.update(`CREATE SILENT GRAPH ${graph}`);
}

/** `onHead` receives the first line, in pieces. */
function* chunksOf(file: number, onHead: (text: string) => void = () => undefined): Generator<Buffer> {
  for (let [inHead, at] = [true, 0]; ; ) {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    const chunk = buffer.subarray(0, readSync(file, buffer, 0, CHUNK_BYTES, at));
    if (chunk.length === 0) return;
    at += chunk.length;
    if (inHead) {
      const end = chunk.indexOf(10);
      onHead(chunk.subarray(0, end < 0 ? chunk.length : end).toString());
      inHead = end < 0;
    }
    yield chunk;
  }
}

interface Damaged {
  readonly name: string;
  readonly isSound: (line: Buffer) => boolean;
  readonly expected: SnapshotExtent | undefined;
  readonly damage: Damage;
}

/** So much of a line stands in the list of what is damaged. */
const LISTED_BYTES = 2_000;

/** Only the lines that are sound. In one load: another one would rename blank nodes. */
function loadLines(store: Store, file: number, { name, isSound, expected, damage }: Damaged): void {
  let [named, at] = [0, 0];
  const graphs: string[] = [];
  const sound = function* (): Generator<Buffer> {
    for (const line of linesOf(file)) {
      const [from, to] = [at, at + line.length];
      at = to;
      const start = line.toString('utf8', 0, LISTED_BYTES);
      if (start.startsWith(END)) named = statementsIn(start);
      else if (!isSound(line))
        damage.add({ file: name, from, to, reason: 'this line does not have the bytes that were written', text: start });
      else if (start.startsWith('#')) graphs.push(line.toString());
      else yield line;
    }
  };
  store.load(sound(), { format: 'nq', lenient: true });
  for (const head of graphs) createGraphs(store, head);
  const lost = Math.max(0, (expected?.statements ?? named) - store.size);
  damage.add({ file: name, from: 0, to: at, reason: 'it does not have the bytes that were written' }, { statements: lost });
}

/** ` # `, the checksum, a line break. */
const CHECK_BYTES = 12;

function hasCheck(line: Buffer): boolean {
  const text = line.subarray(0, -CHECK_BYTES);
  return line.length > CHECK_BYTES && line.equals(Buffer.from(`${checked(text.toString())}\n`));
}

function parses(line: Buffer): boolean {
  const scratch = new oxigraph.Store();
  try {
    scratch.load(line, { format: 'nq' });
    return line[line.length - 1] === 10;
  } catch {
    return false;
  } finally {
    (scratch as unknown as { free(): void }).free();
  }
}

/** With their line breaks; the last one may have none. */
function* linesOf(file: number): Generator<Buffer> {
  let rest: Buffer[] = [];
  for (const chunk of chunksOf(file)) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, end + 1)]);
      rest = [];
      from = end + 1;
    }
    rest.push(chunk.subarray(from));
  }
  const last = Buffer.concat(rest);
  if (last.length > 0) yield last;
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
