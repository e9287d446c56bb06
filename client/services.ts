/** The routes of each service as methods. */
import { type CallOptions, type CallParts, FailureError, pause, type Transport } from './http.ts';
import { conditionHeaders, type Precondition } from './studio.ts';
import type {
  ConfigBackup,
  ConfigEntry,
  ConfigHistory,
  ConnectionCheck,
  CronSchedule,
  Licence,
  ProcessRequest,
  RunView,
  SuccessReport,
  WriteRequest,
  WriterReport,
} from './types.ts';

export type RunState = RunView['state'];

export interface StartOptions extends CallOptions {
  /** The same key with the same request is the same run. Default: a random one, so that a request without an answer is repeated safely. */
  readonly idempotencyKey?: string | undefined;
  /** 0 (the most urgent) to 7; the default of the service is 3. */
  readonly urgency?: number | undefined;
}

export interface WaitOptions extends CallOptions {
  /** Called with each state that is seen, with the progress. */
  readonly onView?: ((view: RunView) => void) | undefined;
  /** Between two looks, milliseconds: from the first to the longest pause. Default 100 to 5,000. */
  readonly firstPauseMs?: number | undefined;
  readonly longestPauseMs?: number | undefined;
}

/** Routes that every service has. `Report`: what a completed run says. */
abstract class ServiceClient<Report extends SuccessReport | WriterReport> {
  readonly #transport: Transport;
  readonly #prefix: string;

  /** `prefix`: where the service stands below the URL of the process, `` or `/graph-writer`. */
  constructor(transport: Transport, prefix: string) {
    this.#transport = transport;
    this.#prefix = prefix;
  }

  protected send(method: string, path: string, parts?: CallParts): Promise<Response> {
    return this.#transport.send(method, this.#prefix + path, parts);
  }

  protected async json<T>(method: string, path: string, parts?: CallParts): Promise<T> {
    return (await (await this.send(method, path, parts)).json()) as T;
  }

  /** Submits a run without waiting for it: its view, or that of the same run if the key was used before. */
  protected submit(request: Pick<CallParts, 'query' | 'body'>, options: StartOptions): Promise<RunView> {
    const { signal, idempotencyKey = randomKey(), urgency } = options;
    return this.json<RunView>(request.body === undefined ? 'GET' : 'POST', '/process', {
      ...request,
      signal,
      repeatable: true,
      headers: {
        Prefer: urgency === undefined ? 'respond-async' : `respond-async, urgency=${urgency}`,
        'Idempotency-Key': idempotencyKey,
      },
    });
  }

  /**
   * Waits for the end of a run, by looking at it. Aborting the signal ends the waiting, not the run: `cancel` does that.
   *
   * @throws FailureError — the run failed or was cancelled
   */
  async outcome(id: string, { signal, onView, firstPauseMs = 100, longestPauseMs = 5_000 }: WaitOptions = {}): Promise<Report> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
      const view = await this.getRun(id, { signal });
      onView?.(view);
      if (view.outcome?.state === 'completed') return view.outcome.report as Report;
      if (view.outcome !== undefined) throw new FailureError(view.outcome.failure);
      await pause(pauseMs, signal);
    }
  }

  /** The newest runs first; `limit` at most 1,000, default 50. */
  async listRuns({ state, limit, signal }: CallOptions & { state?: RunState; limit?: number } = {}): Promise<readonly RunView[]> {
    const { runs } = await this.json<{ readonly runs: readonly RunView[] }>('GET', '/runs', { signal, query: { state, limit } });
    return runs;
  }

  getRun(id: string, { signal }: CallOptions = {}): Promise<RunView> {
    return this.json('GET', `/runs/${encodeURIComponent(id)}`, { signal });
  }

  /** Its view is `cancelled`, or the run is about to be. @throws ProblemError 409 — it has ended already */
  cancel(id: string, { signal }: CallOptions = {}): Promise<RunView> {
    return this.json('DELETE', `/runs/${encodeURIComponent(id)}`, { signal, repeatable: true });
  }

  /** The file at a position of the report of a run, from 1: of outputFileLocations, then of targetFileLocations. Packed files are unpacked. */
  async output(id: string, number: number, { signal }: CallOptions = {}): Promise<Response> {
    return this.send('GET', `/runs/${encodeURIComponent(id)}/outputs/${number}`, { signal });
  }

  /** The configuration document, or the options that `paths` names. */
  config({ paths, signal }: CallOptions & { paths?: readonly string[] } = {}): Promise<Readonly<Record<string, unknown>>> {
    return this.json('GET', '/config', { signal, query: { paths: paths?.join() } });
  }

  /** Changes an option, by its name or path, for the whole fleet. */
  updateConfig(
    configEntry: string,
    configValue: string | number | boolean | readonly string[],
    { signal }: CallOptions = {},
  ): Promise<ConfigEntry> {
    const text = JSON.stringify({ configEntry, configValue });
    return this.json('PUT', '/updateConfig', { signal, repeatable: true, body: { type: 'application/json', text } });
  }

  async configHistory({ signal }: CallOptions = {}): Promise<ConfigHistory['changes']> {
    return (await this.json<ConfigHistory>('GET', '/config/history', { signal })).changes;
  }

  /** Writes the configuration to CONFIG_BACKUP. */
  backUpConfig({ signal }: CallOptions = {}): Promise<ConfigBackup> {
    return this.json('PUT', '/uploadConfigBackup', { signal, repeatable: true });
  }

  licence({ signal }: CallOptions = {}): Promise<Licence> {
    return this.json('GET', '/license', { signal });
  }

  /** Switches the message queue of the fleet off, or on again. */
  restartKafka({ signal }: CallOptions = {}): Promise<{ readonly kafka: 'on' | 'off' }> {
    return this.json('GET', '/restartKafka', { signal, repeatable: false });
  }
}

/** Functions that were deployed; `version` is null where there are none. */
export interface DeployedFunctions {
  readonly functions: readonly string[];
  readonly version: string | null;
}

abstract class TransformerClient extends ServiceClient<SuccessReport> {
  /** Downloads the custom functions of CUSTOM_FUNCTION_TTL_URL, tries them and gives them to the fleet. */
  updateCustomFunctions({ signal }: CallOptions = {}): Promise<DeployedFunctions> {
    return this.json('GET', '/updateCustomFunctions', { signal, repeatable: false });
  }
}

export class SemiStructuredTransformerClient extends TransformerClient {
  start(request: ProcessRequest, options: StartOptions = {}): Promise<RunView> {
    return this.submit({ body: json(request) }, options);
  }

  /** Starts a run and waits for its report. @throws FailureError — the run failed or was cancelled */
  async run(request: ProcessRequest, options: StartOptions & WaitOptions = {}): Promise<SuccessReport> {
    return this.outcome((await this.start(request, options)).id, options);
  }

  /** The text of a mapping file. */
  async getMapping(fileName: string, { signal }: CallOptions = {}): Promise<string> {
    return (await this.send('GET', '/rml', { signal, query: { fileName } })).text();
  }

  /** Turtle, or YARRRML where the name ends in `.yml`, `.yaml` or `.yarrrml`. @throws ProblemError with `diagnostics` — the mapping is invalid */
  async putMapping(fileName: string, text: string, options: CallOptions & Precondition = {}): Promise<void> {
    const body = { type: mappingType(fileName), text };
    await this.send('PUT', '/rml', { ...conditional(options), query: { fileName }, body });
  }
}

/** A database that a request names. */
export interface Database {
  /** JDBC URL. */
  readonly url: string;
  readonly user?: string | undefined;
  /** As it is; the client encodes it. */
  readonly password?: string | undefined;
  /** The driver, where it is not that of the URL's scheme. */
  readonly jdbc?: string | undefined;
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

export interface DatabaseConnection {
  readonly success: true;
  readonly product: string;
  readonly version: string;
  readonly milliseconds: number;
}

export interface QueryRows {
  readonly body: ReadableStream<Uint8Array>;
  /** Whether there were more rows than QUERY_MAX_ROWS; undefined: the JSON says so, and a long CSV answer only in a trailer. */
  readonly truncated: boolean | undefined;
}

export class SqlTransformerClient extends TransformerClient {
  /** `dataset`: of which the run makes a version. */
  start({ dataset, ...options }: StartOptions & { readonly dataset?: string | undefined } = {}): Promise<RunView> {
    return this.submit({ query: { dataset } }, options);
  }

  /** Starts a run of the master mapping and waits for its report. @throws FailureError — the run failed or was cancelled */
  async run(options: StartOptions & WaitOptions & { readonly dataset?: string | undefined } = {}): Promise<SuccessReport> {
    return this.outcome((await this.start(options)).id, options);
  }

  /** The text of the master mapping. */
  async getMapping({ signal }: CallOptions = {}): Promise<string> {
    return (await this.send('GET', '/rml', { signal })).text();
  }

  /** `format`: as the file MASTER_MAPPING_FILE is named. @throws ProblemError with `diagnostics` — the mapping is invalid */
  async putMapping(text: string, options: CallOptions & Precondition & { format?: 'turtle' | 'yarrrml' } = {}): Promise<void> {
    const { format = 'turtle' } = options;
    const type = mappingType(format === 'turtle' ? 'mapping.ttl' : 'mapping.yml');
    await this.send('PUT', '/rml', { ...conditional(options), body: { type, text } });
  }

  /** Sets the schedule of runs; undefined switches it off. */
  updateCron(cronValue: string | undefined, { signal }: CallOptions = {}): Promise<CronSchedule> {
    return this.json('PUT', '/updateCron', { signal, repeatable: true, query: { cronValue } });
  }

  /** @throws FailureError — the database cannot be reached, or refuses the login */
  testConnection(database: Database, { signal }: CallOptions = {}): Promise<DatabaseConnection> {
    return this.json('GET', '/testDBConnection', { signal, repeatable: false, query: databaseQuery(database) });
  }

  /**
   * The rows of one read-only query as bytes, while the database is read. Numbers have every digit, so read JSON with a parser that keeps
   * them. The stream fails when the answer is cut off.
   *
   * @throws FailureError — the database cannot be reached, or refuses the query
   */
  async query(database: Database, query: string, options: CallOptions & { format?: 'json' | 'csv' } = {}): Promise<QueryRows> {
    const { format = 'json', signal } = options;
    const parameters = { ...databaseQuery(database), query, returnCSV: String(format === 'csv') };
    const { body, headers } = await this.send('GET', '/queryDatabase', { signal, repeatable: false, query: parameters });
    const truncated = headers.get('X-Truncated');
    return { body: body as ReadableStream<Uint8Array>, truncated: truncated === null ? undefined : truncated === 'true' };
  }
}

export class GraphWriterClient extends ServiceClient<WriterReport> {
  start(request: WriteRequest, options: StartOptions = {}): Promise<RunView> {
    return this.submit({ body: json(request) }, options);
  }

  /** Writes files to the target and waits for the report. @throws FailureError — the run failed or was cancelled */
  async run(request: WriteRequest, options: StartOptions & WaitOptions = {}): Promise<WriterReport> {
    return this.outcome((await this.start(request, options)).id, options);
  }

  /** @throws FailureError — the target does not answer, or refuses */
  checkConnection({ signal }: CallOptions = {}): Promise<ConnectionCheck> {
    return this.json('GET', '/checkConnection', { signal, repeatable: false });
  }
}

/** A change of one version is not repeated: a second request would meet the version of the first one. */
const conditional = (options: CallOptions & Precondition): CallParts => ({
  signal: options.signal,
  repeatable: options.ifMatch === undefined && options.ifNoneMatch === undefined,
  headers: conditionHeaders(options),
});

const json = (value: object): NonNullable<CallParts['body']> => ({ type: 'application/json', text: JSON.stringify(value) });

const mappingType = (fileName: string): string => (/\.(?:ya?ml|yarrrml)$/i.test(fileName) ? 'application/yaml' : 'text/turtle');

function databaseQuery({ url, user, password, jdbc, parameters = {} }: Database): NonNullable<CallParts['query']> {
  const encoded = password === undefined ? undefined : btoa(String.fromCharCode(...new TextEncoder().encode(password)));
  return { url, user, password: encoded, jdbc, jdbcParamKey: Object.keys(parameters), jdbcParamValue: Object.values(parameters) };
}

/** `crypto.randomUUID` is missing in pages that come over plain HTTP. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
