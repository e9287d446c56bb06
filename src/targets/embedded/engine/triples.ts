/** The triples, and what requests do with them. */
import oxigraph from '../../../oxigraph/oxigraph.ts';
import type { Read, Reason, Write } from '../messages.ts';

const CHUNK_BYTES = 1024 * 1024;
/** Where `PUT` builds a graph, unseen by queries, before it replaces the old one. */
const STAGING = 'urn:quadmill:embedded:staging';

export class Triples {
  store = new oxigraph.Store();

  read(request: Read): string {
    if (request.kind === 'dump') {
      if (request.graph === undefined) return this.store.dump({ format: request.format });
      if (!this.hasGraph(request.graph)) throw new Refusal('missing', `There is no graph <${request.graph}>`);
      return this.store.dump({ format: request.format, from_graph_name: graphTerm(request.graph) });
    }
    const { text, format, defaultGraphs, namedGraphs } = request;
    const named = defaultGraphs !== undefined || namedGraphs !== undefined;
    return this.store.query(text, {
      results_format: format,
      // A dataset in the request replaces the one of the store: SPARQL Protocol §2.1.4.
      ...(named ? { default_graph: (defaultGraphs ?? []).map(graphTerm), named_graphs: (namedGraphs ?? []).map(namedGraph) } : {}),
    }) as string;
  }

  /** Whether it made a new graph. All or nothing. */
  write(request: Write, body: Uint8Array): boolean {
    switch (request.kind) {
      case 'update':
        this.store.update(textOf(body));
        return false;
      case 'drop':
        if (!this.hasGraph(request.graph)) throw new Refusal('missing', `There is no graph <${request.graph}>`);
        this.store.update(request.graph === '' ? 'DROP DEFAULT' : `DROP GRAPH <${request.graph}>`);
        return false;
      case 'load':
        return this.load(request, body);
    }
  }

  private load({ format, graph, replace }: Extract<Write, { kind: 'load' }>, body: Uint8Array): boolean {
    if (graph === undefined) {
      if (!replace) this.store.load(chunksOf(body), { format });
      else {
        const next = new oxigraph.Store();
        next.load(chunksOf(body), { format });
        (this.store as unknown as { free(): void }).free();
        this.store = next;
      }
      return false;
    }
    const created = !this.hasGraph(graph);
    if (!replace) this.store.load(chunksOf(body), { format, to_graph_name: graphTerm(graph) });
    else {
      this.store.load(chunksOf(body), { format, to_graph_name: oxigraph.namedNode(STAGING) });
      // An empty document is an empty graph. Moving a graph that does not exist is an error, and moving removes the source.
      const target = graph === '' ? 'DEFAULT' : `GRAPH <${graph}>`;
      const keep = graph === '' ? '' : `; CREATE SILENT ${target}`;
      this.store.update(`CREATE SILENT GRAPH <${STAGING}>; MOVE GRAPH <${STAGING}> TO ${target}${keep}`);
    }
    return created;
  }

  private hasGraph(graph: string): boolean {
    return graph === '' || (this.store.query(`ASK { GRAPH <${graph}> {} }`) as boolean);
  }
}

const namedGraph = (graph: string) => oxigraph.namedNode(graph);
const graphTerm = (graph: string) => (graph === '' ? oxigraph.defaultGraph() : namedGraph(graph));
export const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();

/** In chunks: a whole document would be copied into WebAssembly memory, which never shrinks. */
function* chunksOf(body: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += CHUNK_BYTES) yield body.subarray(at, at + CHUNK_BYTES);
}

/** A request that the store refuses. */
export class Refusal extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}
