/** Datasets: graphs in versions. */
import type { CallOptions, CallParts, Transport } from './http.ts';
import type {
  DatasetChanges,
  DatasetDetails,
  DatasetManifest,
  DatasetPosition,
  DatasetStatementRequest,
  DatasetView,
  StudioStatement,
} from './types.ts';

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

export interface ChangesPageOptions extends StatementOptions {
  /** Default: `added`. */
  readonly which?: 'added' | 'removed' | undefined;
  /** `next` of the page before. Default: 0. */
  readonly offset?: number | undefined;
  /** At most 1,000, default 100. */
  readonly limit?: number | undefined;
  /** Only statements with this text in their subject. */
  readonly subject?: string | undefined;
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

  /** A page of the statements that a version has added or removed. @throws ProblemError 404, 410 */
  changesPage(name: string, version: number, options: ChangesPageOptions = {}): Promise<DatasetChanges> {
    const { signal, which, offset, limit, subject, blankNodes, target } = options;
    const query = { which, offset, limit, subject, blankNodes, target };
    return this.#json(`${pathOf(name)}/versions/${version}/changes`, { signal, query });
  }

  /** The rules that can make a statement, and the records of the inputs that make it now. @throws ProblemError 503 — there is no worker */
  findStatement(name: string, request: DatasetStatementRequest, { signal }: CallOptions = {}): Promise<StudioStatement> {
    const body = { type: 'application/json', text: JSON.stringify(request) };
    return this.#json(`${pathOf(name)}/statements`, { signal, repeatable: true, body }, 'POST');
  }

  /** The version that the target of the graph writer has. @throws ProblemError — there is no target, or it does not answer */
  position(name: string, { signal }: CallOptions = {}): Promise<DatasetPosition> {
    return this.#json(`${pathOf(name)}/position`, { signal });
  }

  #send(path: string, parts: CallParts, method = 'GET'): Promise<Response> {
    return this.#transport.send(method, `/datasets${path}`, parts);
  }

  async #json<T>(path: string, parts: CallParts, method?: string): Promise<T> {
    return (await (await this.#send(path, parts, method)).json()) as T;
  }
}

const pathOf = (name: string): string => `/${encodeURIComponent(name)}`;
