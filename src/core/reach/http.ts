/**
 * Requests of this process to HTTP servers: kept connections, time limits, authorities, streaming both ways. The one place that knows
 * undici. Callers decide what a status means, and whether to try again after an error.
 */
import type { Duplex, Readable } from 'node:stream';
import { Agent, buildConnector, DecoratorHandler, type Dispatcher, fetch, type Response } from 'undici';
import { Fault } from '../fault.ts';
import { lookupWithin, portOf, type Reach } from './reach.ts';

export type { Response };

/** Milliseconds, 0: no limit. */
export interface HttpOptions {
  /** Until the connection is open, TLS included. */
  readonly connectMs: number;
  /** Between the request and the head of its answer, and between two parts of the answer. */
  readonly answerMs: number;
  /** Connections to one server at the same time. */
  readonly connections?: number;
  /** PEM of authorities; undefined: those that Node trusts. */
  readonly ca?: string | undefined;
  /** Undefined: every host. */
  readonly reach?: Reach | undefined;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Without user and password. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is read as fast as the server takes it. */
  readonly body?: Buffer | string | Readable | undefined;
  /** The connection is closed after this request. */
  readonly alone?: true;
}

export interface HttpAnswer {
  readonly status: number;
  /** `name` in lower case. */
  readonly header: (name: string) => string | undefined;
  /** As it was sent: content encodings are not undone. The caller reads it to its end or calls `drop`. */
  readonly body: Readable;
  /** Discards what has not been read. */
  readonly drop: () => Promise<void>;
}

export class HttpClient {
  readonly #agent: Agent;

  constructor({ connectMs, answerMs, connections, ca, reach }: HttpOptions) {
    this.#agent = new Agent({
      connect: connector({ timeout: connectMs, ...(ca === undefined ? {} : { ca }) }, reach),
      headersTimeout: answerMs,
      bodyTimeout: answerMs,
      ...(connections === undefined ? {} : { connections }),
    });
  }

  /**
   * Any answer, whatever its status; redirects are not followed.
   *
   * @throws what `describeConnectionError` describes; `signal.reason`
   */
  async send({ method, url, headers, body, alone }: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const { origin, pathname, search } = new URL(url);
    const path = `${pathname}${search}`;
    const answer = await this.#agent.request({ origin, path, method, headers, body, signal, reset: alone === true });
    return {
      status: answer.statusCode,
      header: (name) => {
        const value = answer.headers[name];
        return Array.isArray(value) ? value.join(', ') : value;
      },
      body: answer.body,
      drop: () => answer.body.dump(),
    };
  }

  /**
   * As browsers do, content encodings are undone. Redirects are not followed: the caller decides what goes to another server.
   *
   * @param form makes it a POST of a form
   * @throws Fault request/forbidden — a host that may not be reached
   */
  async fetch(url: URL, headers: Readonly<Record<string, string>>, form: string | undefined, signal: AbortSignal): Promise<Response> {
    const received = { bytes: 0 };
    const request = { headers, signal, redirect: 'manual', dispatcher: this.#agent.compose(counting(received)) } as const;
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const posted = form === undefined ? {} : { headers: { ...headers, ...type }, method: 'POST', body: form };
    try {
      const answer = await fetch(url, { ...request, ...posted });
      if (answer.body !== null) answerOf.set(answer.body, answer);
      receivedOf.set(answer, received);
      return answer;
    } catch (error) {
      const { cause } = error as Error;
      throw cause instanceof Fault ? cause : error;
    }
  }

  /** Ends all connections, and the requests on them. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** Bytes of the body of an answer of `fetch` that have come so far, as they were sent. */
export const receivedBytes = (answer: Response): number => receivedOf.get(answer)?.bytes ?? 0;

const receivedOf = new WeakMap<Response, { readonly bytes: number }>();

const counting =
  (received: { bytes: number }): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) =>
    dispatch(options, new CountingHandler(handler, received) as Dispatcher.DispatchHandler);

/** Its types do not say which methods it has. */
const Decorator = DecoratorHandler as unknown as new (
  handler: Dispatcher.DispatchHandler,
) => { onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void };

class CountingHandler extends Decorator {
  readonly #received: { bytes: number };

  constructor(handler: Dispatcher.DispatchHandler, received: { bytes: number }) {
    super(handler);
    this.#received = received;
  }

  override onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#received.bytes += chunk.length;
    super.onResponseData(controller, chunk);
  }
}

/**
 * undici cancels a body that is not read yet when the garbage collector takes its answer, and the body then ends without an error. So the
 * body keeps its answer alive.
 */
const answerOf = new WeakMap<object, Response>();

/** System errors on connections that had received an answer before. undici's own errors tell by themselves (`socket.bytesRead`). */
const ofKept = new WeakSet<object>();

/** Connects within `reach`, and notes in `ofKept` which errors end a kept connection, since that decides what they mean. */
function connector(options: buildConnector.BuildOptions, reach: Reach | undefined): buildConnector.connector {
  const anywhere = buildConnector(options);
  return (to, done) => {
    let connect = anywhere;
    try {
      const lookup = lookupWithin(reach, to.hostname, portOf(to));
      if (lookup !== undefined) connect = buildConnector({ ...options, lookup });
    } catch (error) {
      done(error as Error, null);
      return;
    }
    connect(to, (...result) => {
      const [, socket] = result;
      // Undefined after an error, whatever the types say.
      if (socket) {
        socket.prependListener('error', (error) => void (socket.bytesRead > 0 && ofKept.add(error)));
        hearAnswerBeforeError(socket);
        passAnswerBeforeEnd(socket);
      }
      done(...result);
    });
  };
}

/**
 * A server may answer in the middle of a body and close: 401, 413. The next write fails then, and by itself that ends the socket, although
 * the answer has arrived. So an error of a write waits until what has arrived is read: that ends at once, since the connection is closed.
 */
function hearAnswerBeforeError(socket: Duplex): void {
  type Done = (error?: Error | null) => void;
  const afterReading =
    (done: Done): Done =>
    (error) => {
      if (!CLOSED.has((error as NodeJS.ErrnoException | null | undefined)?.code ?? '') || socket.readableEnded || socket.destroyed)
        done(error);
      // Before other listeners, which would tell a less exact error.
      else socket.prependOnceListener('end', () => done(error));
    };
  const write = socket._write.bind(socket);
  const writeAll = socket._writev?.bind(socket);
  socket._write = (chunk, encoding, done) => write(chunk, encoding, afterReading(done));
  if (writeAll !== undefined) socket._writev = (chunks, done) => writeAll(chunks, afterReading(done));
}

/** What undici keeps of an answer that it reads. */
interface Parser {
  /** The caller does not read as fast as the answer arrives. */
  paused: boolean;
  /** Reads on, up to the next pause. */
  resume(): void;
  readonly ptr: number;
  readonly llhttp: { llhttp_resume(ptr: number): void };
}

/**
 * A server may close the connection behind an answer that the caller has not read yet. undici 7 ends the process then
 * (https://github.com/nodejs/undici/issues/5360); as undici 8 does, the rest is handed on first. No bytes are left in the socket at its end, so
 * this takes no more memory.
 */
function passAnswerBeforeEnd(socket: Duplex): void {
  // Before the listener of undici.
  socket.prependOnceListener('end', () => {
    const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser');
    const parser = symbol === undefined ? undefined : (socket as unknown as Record<symbol, Parser | null>)[symbol];
    if (parser?.paused === true) parser.resume();
    // Of an answer that only the end of the connection ends, undici asks for that end next.
    if (parser?.paused === true && !socket.destroyed) {
      parser.llhttp.llhttp_resume(parser.ptr);
      parser.paused = false;
    }
  });
}

export interface ConnectionError {
  /** Of the system or of undici; empty: none. */
  readonly code: string;
  readonly reason: string;
  /** *stale*: the server had closed a kept connection, perhaps before it received the request. */
  readonly kind: 'tls' | 'connect time-out' | 'stale' | 'other';
}

const IN_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection broke',
  EPIPE: 'the connection broke',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name of the host could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'the server did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'the server stopped sending',
  UND_ERR_SOCKET: 'the server closed the connection',
};

/** undici's message for a port that browsers refuse; only `fetch` gives it. */
const AVOIDED_PORT = 'bad port';
const TLS = /^(CERT_|ERR_TLS_|ERR_SSL_|EPROTO$|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA)/;
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** What went wrong with a connection. `fetch` puts the system's error into `cause`, several attempts (IPv4, IPv6) stand in `errors`. */
export function describeConnectionError(error: unknown): ConnectionError {
  const outer = error as Error;
  const cause = (outer.cause ?? outer) as NodeJS.ErrnoException & {
    readonly errors?: readonly NodeJS.ErrnoException[];
    readonly socket?: { readonly bytesRead?: number } | null;
  };
  const code = cause.code ?? cause.errors?.[0]?.code ?? '';
  const words = cause.message === AVOIDED_PORT ? 'its port belongs to another protocol than HTTP' : IN_WORDS[code];
  const stale = CLOSED.has(code) && (ofKept.has(cause) || (cause.socket?.bytesRead ?? 0) > 0);
  const kind = TLS.test(code) ? 'tls' : code === 'UND_ERR_CONNECT_TIMEOUT' ? 'connect time-out' : stale ? 'stale' : 'other';
  return { code, kind, reason: words ?? (cause.message || outer.message || code || 'no reason given') };
}
