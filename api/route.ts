/** A route: one row with everything needed to serve it, refuse it and describe it. */

import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { QueueBackend } from '../queues/backend/backend.ts';
import type { FleetFunctions } from '../queues/custom-functions.ts';
import type { FollowerRecord } from '../queues/follow/record.ts';
import type { FailureMessage, Service } from '../queues/jobs.ts';
import type { BusSwitch } from '../queues/messaging/bus.ts';
import type { Previews } from '../queues/preview.ts';
import type { Runs, Schedule } from '../queues/runs/contract.ts';
import type { ConfigStore } from '../src/config/store.ts';
import { within } from '../src/core/abort.ts';
import { Fault } from '../src/core/fault.ts';
import type { Fields, FieldsSchema } from '../src/core/schema.ts';

/** Each role includes the permissions of the previous ones. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The parts of the process that routes use. */
export interface Api {
  readonly runs: Runs;
  readonly previews: Pick<Previews, 'ask'>;
  readonly schedule: Schedule;
  readonly config: ConfigStore;
  readonly functions: FleetFunctions;
  readonly logger: Logger;
  /** Base of relative paths in requests and options. */
  readonly workingDirectory: string;
  /** The queues shown in the dashboard; undefined: no dashboard. */
  readonly queues?: Pick<QueueBackend, 'queue' | 'ping'>;
  /** The embedded store, if this process has it. */
  readonly store?: { readonly endpoint: string };
  /** Undefined: currently no message queue. */
  readonly messageQueue?: Pick<BusSwitch, 'toggle'> | undefined;
  /** Sends a failure that belongs to no run to the dead-letter topic. */
  readonly deadLetter?: (service: Service, failure: FailureMessage) => Promise<void>;
  /** State of this process's connection to the message queue; undefined: it uses none. */
  readonly messages?: () => { readonly on: boolean; readonly lastError: string | undefined } | undefined;
  /** Description of the queue, such as `embedded`. */
  readonly queueName: string;
  /** Those of this process. */
  readonly services: readonly Service[];
  /** Number of processes that take runs of a service, or of any service of this process, including this one; undefined: not counted. */
  readonly workerCount?: (service?: Service) => number;
  /** Workers of this process; undefined: it has none. */
  readonly workers?: () => { readonly running: boolean };
  /** The follower of this process, and whether it follows; undefined: none of its services does. */
  readonly follower?: () => { readonly state: 'off' | 'standby' | 'up' | 'down'; readonly reason?: string | undefined } | undefined;
  /** The follower of a dataset in the fleet, by the URL of the dataset; undefined: it is not followed. Absent: there is no queue. */
  readonly followerOf?: (url: string) => Promise<FollowerRecord | undefined>;
  /** Aborted when the process starts to shut down: it accepts no more runs. */
  readonly draining: AbortSignal;
  /** Aborted when the process ends: callers still waiting for an outcome get the place where to find it. */
  readonly ending: AbortSignal;
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** One request, as handlers see it. */
export interface Call {
  readonly service: Service;
  /** Absolute URL before the route's own path, without trailing slash. */
  readonly baseUrl: string;
  readonly query: URLSearchParams;
  readonly params: Readonly<Record<string, string>>;
  readonly request: IncomingMessage;
  /** By name, validated by their schemas, with the type of the schema. */
  readonly parameters: Fields;
  /**
   * The fields of the JSON body, validated by its schema; undefined: no body, and none is required.
   *
   * @throws Fault request/malformed, request/invalid, request/media-type, request/too-large
   */
  readonly body: () => Promise<Fields | undefined>;
  /** Name of the token, or `anonymous`. */
  readonly actor: string;
  /** For a route whose role depends on the request. @throws Fault request/unauthorized, request/forbidden */
  readonly authorize: (role: Role) => void;
}

export interface Reply {
  readonly status: number;
  /** Text is sent as it is (with `type`), anything else as JSON; undefined: an empty body. */
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Used instead of `body`: sent while it is produced. Read once, and returned early when the client closes the connection. An error cuts
   * the answer off.
   */
  readonly stream?: AsyncIterable<Uint8Array>;
  /** Trailers of a stream, called when it has ended. A header `Trailer` names them. */
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

/** The fields of an object as query parameters; a list is a repeated parameter. */
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
  /** Below the service's base URL, with parameters in braces: `/runs/{id}`. */
  readonly path: string;
  /** The required role; undefined: no authorization. */
  readonly role: Role | undefined;
  readonly summary: string;
  /** Unknown query parameters are ignored, unless `unknownParameters` or `misspelt` is set. */
  readonly parameters?: readonly Parameter[];
  /** For routes where ignoring a parameter could change the meaning of the others. */
  readonly unknownParameters?: 'refused';
  /** Refuses an unknown parameter whose name is similar to a known one. */
  readonly misspelt?: 'refused';
  /** `type`: one media type, or several. */
  readonly body?: { readonly type: string | readonly string[]; readonly schema: SchemaLike; readonly required: boolean };
  /** Answers by status; problem answers are described once for the whole API. */
  readonly replies: Readonly<Record<number, ReplyDescription>>;
  /** GET has side effects, so HEAD is refused. */
  readonly hasSideEffects?: true;
  /** GET makes the service ask a database or a store. */
  readonly isQuery?: true;
  handle(call: Call): Promise<Reply>;
}

export interface ReplyDescription {
  readonly description: string;
  /** Default: JSON. */
  readonly type?: string | readonly string[];
  readonly schema?: SchemaLike;
  /** Media types of the same answer as text, if the caller asks for it. */
  readonly texts?: readonly string[];
}

/** How long a request waits for the queue before it is answered that the queue is away. */
const QUEUE_WAIT_MS = 1_800;

/**
 * Waits for an answer of the queue.
 *
 * @throws Fault service/unavailable — the queue does not answer in time, or is away
 */
export async function withinQueueWait<T>(api: Pick<Api, 'runs'>, work: Promise<T>, waitMs = QUEUE_WAIT_MS): Promise<T> {
  return within(waitMs, explainQueueError(api, work), () => {
    throw new Fault('service/unavailable', 'The queue does not answer', { hint: TRY_AGAIN });
  });
}

const TRY_AGAIN = 'Try again in a moment';

/** Replaces an error of the queue's client library by a fault if the queue is away; rethrows any other error. */
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

/** A route at its full path. */
export interface MountedRoute {
  readonly route: Route;
  /** undefined: a route of the process itself, at the root. */
  readonly service: Service | undefined;
  /** `` or `/semi-structured-transformer`. */
  readonly prefix: string;
}
