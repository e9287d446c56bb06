/**
 * The thread that holds the triples: oxigraph, in memory. It executes one request at a time and blocks meanwhile.
 *
 * What can break here (memory, recursion, an endless query) breaks this thread alone; `embedded/supervisor.ts` then restarts it from disk.
 */
import { parentPort } from 'node:worker_threads';
import oxigraph from '../../../oxigraph/oxigraph.ts';
import { readJournal } from '../disk/journal.ts';
import { loadSnapshot, writeSnapshot } from '../disk/snapshot.ts';
import type { FromEngine, JournalEnd, Read, Reason, ToEngine, Write } from '../messages.ts';
import { memoryBytes } from './memory.ts';
import { isRepeatable } from './query.ts';

if (parentPort === null) throw new Error('The engine of the embedded store runs in a thread of the store');
const port = parentPort;
const post = (message: FromEngine): void => port.postMessage(message);

const CHUNK_BYTES = 1024 * 1024;
/** Where `PUT` builds a graph, unseen by queries, before it replaces the old one. */
const STAGING = 'urn:quadmill:embedded:staging';

let store = new oxigraph.Store();

port.on('message', (message: ToEngine) => {
  try {
    post(carryOut(message));
  } catch (error) {
    post(failureOf(error));
  }
});

function carryOut(message: ToEngine): FromEngine {
  switch (message.kind) {
    case 'open':
      return open(message.snapshot, message.journal);
    case 'read':
      return { kind: 'read', body: Buffer.from(read(message.read)) };
    case 'write': {
      const created = write(message.write, message.body);
      const repeatable = message.write.kind !== 'update' || isRepeatable(textOf(message.body));
      return { kind: 'written', created, repeatable, memoryBytes: memoryBytes() };
    }
    case 'snapshot':
      return { kind: 'saved', bytes: writeSnapshot(store, message.path) };
  }
}

function open(snapshot: string | undefined, journal: string | undefined): FromEngine {
  if (snapshot !== undefined) loadSnapshot(store, snapshot);
  let end: JournalEnd | undefined;
  if (journal !== undefined) {
    const records = readJournal(journal);
    let next = records.next();
    for (; !next.done; next = records.next()) write(next.value.write, next.value.body);
    end = next.value;
  }
  return { kind: 'opened', quads: store.size, journal: end };
}

function read(request: Read): string {
  if (request.kind === 'dump') {
    if (request.graph === undefined) return store.dump({ format: request.format });
    if (!hasGraph(request.graph)) throw new Refusal('missing', `There is no graph <${request.graph}>`);
    return store.dump({ format: request.format, from_graph_name: graphTerm(request.graph) });
  }
  const { text, format, defaultGraphs, namedGraphs } = request;
  const named = defaultGraphs !== undefined || namedGraphs !== undefined;
  return store.query(text, {
    results_format: format,
    // A dataset in the request replaces the one of the store: SPARQL Protocol §2.1.4.
    ...(named ? { default_graph: (defaultGraphs ?? []).map(graphTerm), named_graphs: (namedGraphs ?? []).map(namedGraph) } : {}),
  }) as string;
}

/** Whether it made a new graph. All or nothing. */
function write(request: Write, body: Uint8Array): boolean {
  switch (request.kind) {
    case 'update':
      store.update(textOf(body));
      return false;
    case 'drop':
      if (!hasGraph(request.graph)) throw new Refusal('missing', `There is no graph <${request.graph}>`);
      store.update(request.graph === '' ? 'DROP DEFAULT' : `DROP GRAPH <${request.graph}>`);
      return false;
    case 'load':
      return load(request, body);
  }
}

function load({ format, graph, replace }: Extract<Write, { kind: 'load' }>, body: Uint8Array): boolean {
  if (graph === undefined) {
    if (!replace) store.load(chunksOf(body), { format });
    else {
      const next = new oxigraph.Store();
      next.load(chunksOf(body), { format });
      (store as unknown as { free(): void }).free();
      store = next;
    }
    return false;
  }
  const created = !hasGraph(graph);
  if (!replace) store.load(chunksOf(body), { format, to_graph_name: graphTerm(graph) });
  else {
    store.load(chunksOf(body), { format, to_graph_name: oxigraph.namedNode(STAGING) });
    // An empty document is an empty graph. Moving a graph that does not exist is an error, and a moved graph no longer exists.
    const target = graph === '' ? 'DEFAULT' : `GRAPH <${graph}>`;
    const keep = graph === '' ? '' : `; CREATE SILENT ${target}`;
    store.update(`CREATE SILENT GRAPH <${STAGING}>; MOVE GRAPH <${STAGING}> TO ${target}${keep}`);
  }
  return created;
}

const hasGraph = (graph: string): boolean => graph === '' || (store.query(`ASK { GRAPH <${graph}> {} }`) as boolean);
const namedGraph = (graph: string) => oxigraph.namedNode(graph);
const graphTerm = (graph: string) => (graph === '' ? oxigraph.defaultGraph() : namedGraph(graph));
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();

/** In chunks: a whole document would be copied into WebAssembly memory, which never shrinks. */
function* chunksOf(body: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += CHUNK_BYTES) yield body.subarray(at, at + CHUNK_BYTES);
}

/** A request that the store refuses. */
class Refusal extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The character classes that the parser lists where it expects a name. */
const CHARACTERS = /(?:\['[^\]]*\]|\[_\])(?:, (?:\['[^\]]*\]|\[_\]))*/g;

/** oxigraph throws plain errors about the request; after any other error the state of this thread is undefined. */
function failureOf(error: unknown): FromEngine {
  const { message } = error as Error;
  if (error instanceof Refusal) return { kind: 'failed', reason: error.reason, message, broken: false };
  if (error instanceof WebAssembly.RuntimeError) {
    return {
      kind: 'failed',
      reason: 'memory',
      message: `it needs more memory, or deeper nesting, than the store has (${message})`,
      broken: true,
    };
  }
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof RangeError || code === 'ERR_STRING_TOO_LONG' || code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    return { kind: 'failed', reason: 'memory', message: `the answer is larger than a text can be (${message})`, broken: true };
  }
  if (code !== undefined) return { kind: 'failed', reason: code === 'ENOSPC' ? 'disk' : 'failed', message, broken: false };
  return { kind: 'failed', reason: 'invalid', message: message.replace(CHARACTERS, 'a name'), broken: false };
}
