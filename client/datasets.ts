/** Datasets: graphs in versions. */
import type { CallOptions, CallParts, Transport } from './http.ts';
import type { DatasetDetails, DatasetManifest, DatasetView } from './types.ts';

const CHANGE_TYPES = {
  'rdf-patch': 'application/rdf-patch',
  'sparql-update': 'application/sparql-update',
  nquads: 'application/n-quads',
} as const;

interface StatementOptions extends CallOptions {
  /** Blank nodes as IRIs (the default of changes), or as blank nodes (that of graphs). */
  readonly blankNodes?: 'skolem' | 'keep' | undefined;
  /** Path of a logical target; default: the output of the run. */
  readonly target?: string | undefined;
}

export interface ChangesOptions extends StatementOptions {
  /** Default: `rdf-patch`. */
  readonly format?: keyof typeof CHANGE_TYPES | undefined;
  /** Of `nquads`. Default: `added`. */
  readonly which?: 'added' | 'removed' | undefined;
}

export class DatasetsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list({ signal }: CallOptions = {}): Promise<readonly DatasetView[]> {
    return (await this.#json<{ readonly datasets: readonly DatasetView[] }>('', { signal })).datasets;
  }

  /** A dataset with its newest versions; `limit` at most 1,000, default 50. */
  get(name: string, { limit, signal }: CallOptions & { limit?: number } = {}): Promise<DatasetDetails> {
    return this.#json(pathOf(name), { signal, query: { limit } });
  }

  /** @throws ProblemError 404 — there is no such version; 410 — it was removed */
  version(name: string, version: number, { signal }: CallOptions = {}): Promise<DatasetManifest> {
    return this.#json(`${pathOf(name)}/versions/${version}`, { signal });
  }

  /** The net changes since a version as text; empty if it is the newest one. @throws ProblemError 404, 410 — take the graph instead */
  changes(name: string, since: number, options: ChangesOptions = {}): Promise<Response> {
    const { format = 'rdf-patch', which, blankNodes, target, signal } = options;
    const headers = { Accept: CHANGE_TYPES[format] };
    return this.#send(`${pathOf(name)}/changes`, { signal, headers, query: { since, which, blankNodes, target } });
  }

  /** The graph of a version as N-Quads; default: the newest one. */
  graph(name: string, options: StatementOptions & { readonly version?: number | undefined } = {}): Promise<Response> {
    const { version, blankNodes, target, signal } = options;
    return this.#send(`${pathOf(name)}/graph`, { signal, query: { version, blankNodes, target } });
  }

  #send(path: string, parts: CallParts): Promise<Response> {
    return this.#transport.send('GET', `/datasets${path}`, parts);
  }

  async #json<T>(path: string, parts: CallParts): Promise<T> {
    return (await (await this.#send(path, parts)).json()) as T;
  }
}

const pathOf = (name: string): string => `/${encodeURIComponent(name)}`;
