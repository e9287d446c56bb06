/** What a route is: one row with everything that serving it, refusing it and describing it needs. */
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { QueueBackend } from '../queues/backend/backend.ts';
import type { FailureMessage, Service } from '../queues/jobs.ts';
import type { BusSwitch } from '../queues/messaging/bus.ts';
import type { Runs, Schedule } from '../queues/runs/contract.ts';
import type { ConfigStore } from '../src/config/store.ts';
import { Fault } from '../src/core/fault.ts';
import type { Fields, FieldsSchema } from '../src/core/schema.ts';
import type { Role } from './auth.ts';

/** What the routes need of the rest of the process. */
export interface Api {
  readonly runs: Runs;
  readonly schedule: Schedule;
  readonly config: ConfigStore;
  readonly logger: Logger;
  /** What relative paths of requests and options start from. */
  readonly workingDirectory: string;
  /** What the dashboard shows; undefined: there is none. */
  readonly queues?: Pick<QueueBackend, 'queue' | 'ping'>;
  /** The embedded store, where it is this process that has it. */
  readonly store?: { readonly endpoint: string };
  /** Undefined: there is no message queue, for now. */
  readonly messageQueue?: Pick<BusSwitch, 'toggle'> | undefined;
  /** Puts the failure of something that is no run among the dead letters. */
  readonly deadLetter?: (failure: FailureMessage) => Promise<void>;
  /** How this process gets on with the message queue; undefined where it has nothing to do with one. */
  readonly messages?: () => { readonly on: boolean; readonly trouble: string | undefined } | undefined;
  /** The queue in words, such as `embedded`. */
  readonly queueName: string;
  /** How many processes take jobs from the queue, this one included; undefined where nobody counts them. */
  readonly workerCount?: () => number;
  /** Workers of this process; undefined where it has none. */
  readonly workers?: () => { readonly running: boolean };
  /** Aborted when the process begins to end: it takes no more runs. */
  readonly draining: AbortSignal;
  /** Aborted when the process ends: whoever still waits for an outcome is told where to find it. */
  readonly ending: AbortSignal;
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** One request, as far as a handler needs to know it. */
export interface Call {
  readonly service: Service;
  /** Absolute URL before the route's own path, without a slash at its end. */
  readonly baseUrl: string;
  readonly query: URLSearchParams;
  readonly params: Readonly<Record<string, string>>;
  readonly request: IncomingMessage;
  /** Checked by their schemas, by name; of the type that the schema names. */
  readonly parameters: Fields;
  /**
   * The fields of the JSON body, checked by its schema; undefined: none was sent, and none is needed.
   *
   * @throws Fault request/malformed, request/invalid, request/media-type, request/too-large
   */
  readonly body: () => Promise<Fields | undefined>;
  /** Name of the token, or `anonymous`. */
  readonly actor: string;
  /** For a route whose role depends on what it is asked. @throws Fault request/unauthorized, request/forbidden */
  readonly authorize: (role: Role) => void;
}

export interface Reply {
  readonly status: number;
  /** Text goes out as it stands (with `type`), anything else as JSON; undefined: an empty body. */
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of `body`: sent while it is made. It is read once, and given up when the client leaves; what it throws cuts the answer off. */
  readonly stream?: AsyncIterable<Uint8Array>;
  /** Of a stream, asked for when it has ended. A header `Trailer` names them. */
  readonly trailers?: () => Readonly<Record<string, string>>;
}

/** A JSON schema, or the name of one in `SCHEMAS`. */
export type SchemaLike = string | Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: true;
  readonly description: string;
  readonly schema?: SchemaLike;
}

/** The fields of an object as parameters of a query, where a list is a parameter that is repeated. */
export const parametersOf = ({ properties, required = [] }: FieldsSchema): readonly Parameter[] =>
  Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(required.includes(name) ? { required: true } : {}),
    description: String(description),
    schema,
  }));

export interface Route {
  readonly method: HttpMethod;
  /** Below the service's base URL; parameters in braces: `/runs/{id}`. */
  readonly path: string;
  /** The least role that may call it; undefined: open to everybody. */
  readonly role: Role | undefined;
  readonly summary: string;
  /** Other parameters of a query are left alone, unless `unknownParameters` or `misspelt` say otherwise. */
  readonly parameters?: readonly Parameter[];
  /** For routes where a parameter that is left out could change the meaning of the others. */
  readonly unknownParameters?: 'refused';
  /** A parameter whose name is nearly that of a known one is refused. */
  readonly misspelt?: 'refused';
  readonly body?: { readonly type: string; readonly schema: SchemaLike; readonly required: boolean };
  /** Answers by status; problem answers stand in the description as a whole. */
  readonly replies: Readonly<Record<number, { readonly description: string; readonly type?: string; readonly schema?: SchemaLike }>>;
  /** A GET that sets something going: HEAD must not. */
  readonly hasSideEffects?: true;
  handle(call: Call): Promise<Reply>;
}

/** How long a request may wait for the queue to answer before it is told that the queue is away. */
const QUEUE_WAIT_MS = 1_800;

/**
 * The answer of the queue that `work` asks for.
 *
 * @throws Fault service/unavailable — the queue does not answer in time, or is away
 */
export async function withinQueueWait<T>(api: Pick<Api, 'runs'>, work: Promise<T>, waitMs = QUEUE_WAIT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Fault('service/unavailable', 'The queue does not answer', { hint: TRY_AGAIN })), waitMs);
  });
  try {
    return await Promise.race([explainQueueError(api, work), late]);
  } finally {
    clearTimeout(timer);
  }
}

const TRY_AGAIN = 'Try again in a moment';

/** An error while the queue is away is the queue's, whatever its client library calls it; any other stays what it is. */
export async function explainQueueError<T>({ runs }: Pick<Api, 'runs'>, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Fault) throw error;
    const away = await runs.counts().then(
      () => false,
      (reason) => reason instanceof Fault && reason.code === 'service/unavailable',
    );
    throw away ? new Fault('service/unavailable', 'The queue cannot be reached', { hint: TRY_AGAIN, cause: error }) : error;
  }
}
