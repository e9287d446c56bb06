/** The routes of the studio as methods. They are at the root of every process that has a transformer. */
import type { CallOptions, CallParts, Transport } from './http.ts';
import type {
  StudioFunction,
  StudioFunctions,
  StudioItems,
  StudioItemsRequest,
  StudioJoin,
  StudioJoins,
  StudioJoinsRequest,
  StudioMapping,
  StudioMappingEntry,
  StudioMappings,
  StudioMappingUpdate,
  StudioOntology,
  StudioOntologyRequest,
  StudioPreview,
  StudioPreviewRequest,
  StudioRecords,
  StudioRecordsRequest,
  StudioSample,
  StudioSampleRequest,
  StudioSaved,
  StudioStatement,
  StudioStatementRequest,
  StudioTables,
  StudioUpload,
  StudioUser,
} from './types.ts';

/** Whose mapping directory, and whether the draft beside the mapping is meant. */
export interface MappingOptions extends CallOptions {
  /** Default: the first transformer of the process. */
  readonly service?: 'semi-structured-transformer' | 'sql-transformer' | undefined;
  readonly draft?: boolean | undefined;
}

/** Which version is changed. One of the two is required by `/studio`. */
export interface Precondition {
  /** The tag of the version that the caller has seen; `*`: any. */
  readonly ifMatch?: string | undefined;
  /** Only if there is no such file. */
  readonly ifNoneMatch?: '*' | undefined;
}

/** Headers of a precondition. */
export const conditionHeaders = ({ ifMatch, ifNoneMatch }: Precondition): Readonly<Record<string, string | undefined>> => ({
  'If-Match': ifMatch === undefined || ifMatch === '*' ? ifMatch : `"${ifMatch}"`,
  'If-None-Match': ifNoneMatch,
});

export class StudioClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async #json<T>(method: string, path: string, parts: CallParts): Promise<T> {
    return (await (await this.#transport.send(method, `/studio${path}`, parts)).json()) as T;
  }

  /** Who the caller is, and what the process offers. */
  me({ signal }: CallOptions = {}): Promise<StudioUser> {
    return this.#json('GET', '/me', { signal });
  }

  /** The functions that a mapping may call: custom ones first. */
  async functions({ signal }: CallOptions = {}): Promise<readonly StudioFunction[]> {
    return (await this.#json<StudioFunctions>('GET', '/functions', { signal })).functions;
  }

  /** The mapping files and drafts, by name. */
  async listMappings({ service, signal }: Omit<MappingOptions, 'draft'> = {}): Promise<readonly StudioMappingEntry[]> {
    return (await this.#json<StudioMappings>('GET', '/mappings', { signal, query: { service } })).mappings;
  }

  getMapping(name: string, { service, draft, signal }: MappingOptions = {}): Promise<StudioMapping> {
    return this.#json('GET', mappingPath(name), { signal, query: { service, draft: draftOf(draft) } });
  }

  /**
   * Saves text and side file. Not repeated when there is no answer: the second request would meet the version of the first one.
   *
   * @throws ProblemError 412 — the file has another version, whose `etag`, `by` and `at` the problem names; 400 with `diagnostics`
   */
  putMapping(name: string, update: StudioMappingUpdate, options: MappingOptions & Precondition): Promise<StudioSaved> {
    const { service, draft, signal } = options;
    const body = { type: 'application/json', text: JSON.stringify(update) };
    const query = { service, draft: draftOf(draft) };
    return this.#json('PUT', mappingPath(name), { signal, repeatable: false, query, headers: conditionHeaders(options), body });
  }

  /** @throws ProblemError 412 — the file has another version */
  async deleteMapping(name: string, { service, draft, signal, ifMatch }: MappingOptions & Pick<Precondition, 'ifMatch'>): Promise<void> {
    const query = { service, draft: draftOf(draft) };
    await this.#transport.send('DELETE', `/studio${mappingPath(name)}`, {
      signal,
      repeatable: false,
      query,
      headers: conditionHeaders({ ifMatch }),
    });
  }

  /** Sends a file; Node's `openAsBlob` and a page's `File` are read while they are sent. @throws ProblemError 409, 413, 507 */
  upload(name: string, file: Blob, { signal }: CallOptions = {}): Promise<StudioUpload> {
    const body = { type: 'application/octet-stream', text: file };
    return this.#json('POST', '/uploads', { signal, repeatable: true, query: { name }, body });
  }

  /** The fields of an input, from its beginning. @throws ProblemError — the input cannot be read */
  sample(request: StudioSampleRequest, { signal }: CallOptions = {}): Promise<StudioSample> {
    const body = { type: 'application/json', text: JSON.stringify(request) };
    return this.#json('POST', '/samples', { signal, repeatable: true, body });
  }

  /** Items of one list, from a position on, or with a certain value: at most 20. @throws ProblemError — the input cannot be read */
  items(request: StudioItemsRequest, { signal }: CallOptions = {}): Promise<StudioItems> {
    const body = { type: 'application/json', text: JSON.stringify(request) };
    return this.#json('POST', '/items', { signal, repeatable: true, body });
  }

  /** The classes and properties of an ontology. @throws ProblemError — it cannot be read, or is no RDF */
  ontology(request: StudioOntologyRequest, { signal }: CallOptions = {}): Promise<StudioOntology> {
    const body = { type: 'application/json', text: JSON.stringify(request) };
    return this.#json('POST', '/ontologies', { signal, repeatable: true, body });
  }

  /** The tables of the database of the SQL transformer. @throws ProblemError — it has none, or does not reach it */
  tables({ signal }: CallOptions = {}): Promise<StudioTables> {
    return this.#json('GET', '/tables', { signal });
  }

  /** What a mapping makes of the first records. Ends when `signal` says so, and the question is withdrawn. */
  preview(request: StudioPreviewRequest, { signal }: CallOptions = {}): Promise<StudioPreview> {
    const body = { type: 'application/json', text: JSON.stringify(request) };
    return this.#json('POST', '/previews', { signal, repeatable: true, body });
  }

  /** The records that make a statement. */
  findStatement(request: StudioStatementRequest, { signal }: CallOptions = {}): Promise<StudioStatement> {
    const body = { type: 'application/json', text: JSON.stringify(request) };
    return this.#json('POST', '/statements', { signal, repeatable: true, body });
  }

  /** How many of the first records find a partner by a join: one entry for each join that is meant. */
  async joins(request: StudioJoinsRequest, { signal }: CallOptions = {}): Promise<readonly StudioJoin[]> {
    const body = { type: 'application/json', text: JSON.stringify(request) };
    return (await this.#json<StudioJoins>('POST', '/joins', { signal, repeatable: true, body })).joins;
  }

  /** The first records of a triples map, with the values that it reads. */
  listRecords(request: StudioRecordsRequest, { signal }: CallOptions = {}): Promise<StudioRecords> {
    const body = { type: 'application/json', text: JSON.stringify(request) };
    return this.#json('POST', '/records', { signal, repeatable: true, body });
  }
}

const mappingPath = (name: string): string => `/mappings/${encodeURIComponent(name)}`;
const draftOf = (draft: boolean | undefined): string | undefined => (draft === undefined ? undefined : String(draft));
