/** `quadmill/client`: the HTTP interface of Quadmill for programs, in Node and in browsers. */
import { DatasetsClient } from './datasets.ts';
import { type CallOptions, Transport, type TransportOptions } from './http.ts';
import { GraphWriterClient, SemiStructuredTransformerClient, SqlTransformerClient } from './services.ts';
import { StudioClient } from './studio.ts';
import type { Health } from './types.ts';

export type * from './datasets.ts';
export {
  type CallOptions,
  FailureError,
  type Fetch,
  type FetchInit,
  ProblemError,
  QuadmillError,
  type TransportOptions,
} from './http.ts';
export type * from './services.ts';
export type * from './studio.ts';
export type * from './types.ts';

export interface ClientOptions extends TransportOptions {
  /** The option SERVICE of the process: `all`, the default, has each service below its name; a service that runs alone stands at the root. */
  readonly service?: 'all' | 'semi-structured-transformer' | 'sql-transformer' | 'graph-writer' | undefined;
}

export class QuadmillClient {
  readonly semiStructuredTransformer: SemiStructuredTransformerClient;
  readonly sqlTransformer: SqlTransformerClient;
  readonly graphWriter: GraphWriterClient;
  readonly datasets: DatasetsClient;
  readonly studio: StudioClient;
  readonly #transport: Transport;

  /**
   * @param url - of the process, such as `http://127.0.0.1:8080`
   * @throws TypeError — not an `http(s):` URL
   */
  constructor(url: string | URL, { service = 'all', ...options }: ClientOptions = {}) {
    this.#transport = new Transport(url, options);
    const prefix = (name: string): string => (service === name ? '' : `/${name}`);
    this.semiStructuredTransformer = new SemiStructuredTransformerClient(this.#transport, prefix('semi-structured-transformer'));
    this.sqlTransformer = new SqlTransformerClient(this.#transport, prefix('sql-transformer'));
    this.graphWriter = new GraphWriterClient(this.#transport, prefix('graph-writer'));
    this.datasets = new DatasetsClient(this.#transport);
    this.studio = new StudioClient(this.#transport);
  }

  /** Says that the process is alive. */
  async live({ signal }: CallOptions = {}): Promise<Health> {
    return (await (await this.#transport.send('GET', '/health/live', { signal })).json()) as Health;
  }

  /** Says that runs are accepted. @throws ProblemError 503 — they are not */
  async ready({ signal }: CallOptions = {}): Promise<Health> {
    return (await (await this.#transport.send('GET', '/health/ready', { signal, repeatable: false })).json()) as Health;
  }

  /** In the text format of Prometheus. */
  async metrics({ signal }: CallOptions = {}): Promise<string> {
    return (await this.#transport.send('GET', '/metrics', { signal })).text();
  }

  /** The interface of the running version as an OpenAPI document. */
  async openApi({ signal }: CallOptions = {}): Promise<Readonly<Record<string, unknown>>> {
    return (await (await this.#transport.send('GET', '/openapi.json', { signal })).json()) as Readonly<Record<string, unknown>>;
  }
}
