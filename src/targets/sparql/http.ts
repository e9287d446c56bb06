/** Requests to a store: kept connections, time limits, bounded answers. What an answer means stands in `sparql/faults.ts`. */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { Fault } from '../../core/fault.ts';
import { faultOfError, timedOut } from './faults.ts';
import type { Login } from './login.ts';

export interface HttpOptions {
  /** What messages call the store. */
  readonly name: string;
  readonly login: Login;
  /** PEM of authorities; undefined: those that Node trusts. */
  readonly ca: string | undefined;
  /** Of one request until the end of its answer; 0: none. */
  readonly requestSeconds: number;
  readonly connectSeconds: number;
  /** Connections at the same time. */
  readonly connections: number;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** With the type of the body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  /** The first 4 KiB, as characters. */
  readonly text: string;
}

export interface HttpClient {
  /**
   * Any answer at all is returned, whatever its status.
   *
   * @throws Fault target/unreachable — no connection, or it broke; `TargetBusy` — no answer in time; `signal.reason` — it was aborted
   */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  close(): void;
}

const ANSWER_BYTES = 4 * 1024;

export function openHttp(options: HttpOptions): HttpClient {
  const kept = { keepAlive: true, maxSockets: options.connections, scheduling: 'lifo' } as const;
  const http = new HttpAgent(kept);
  const https = new HttpsAgent({ ...kept, ...(options.ca === undefined ? {} : { ca: options.ca }) });
  const once = (request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> =>
    exchange(request, request.url.startsWith('https:') ? https : http, options, signal);
  return {
    async send(request, signal) {
      // A digest needs the store's challenge first: a small question, so that the body is sent once.
      if (options.login.wantsChallenge()) {
        const asked = await once({ method: 'GET', url: request.url, headers: {}, body: undefined }, signal);
        options.login.challenged(asked.header('www-authenticate'));
      }
      const answer = await once(withLogin(request, options.login), signal);
      // A challenge can run out at any time.
      if (answer.status !== 401 || !options.login.challenged(answer.header('www-authenticate'))) return answer;
      return once(withLogin(request, options.login), signal);
    },
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

function withLogin(request: HttpRequest, login: Login): HttpRequest {
  const { pathname, search } = new URL(request.url);
  const authorization = login.header(request.method, `${pathname}${search}`);
  return authorization === undefined ? request : { ...request, headers: { ...request.headers, authorization } };
}

/** Sends once more where a kept connection turns out to have been closed meanwhile: doing a request twice is doing it once. */
async function exchange(request: HttpRequest, agent: HttpAgent, options: HttpOptions, signal: AbortSignal): Promise<HttpAnswer> {
  for (let again = false; ; again = true) {
    try {
      return await attempt(request, agent, options, signal);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      if (again) throw faultOfError(error.cause, options.name);
    }
  }
}

class StaleConnection extends Error {}

function attempt(request: HttpRequest, agent: HttpAgent, options: HttpOptions, signal: AbortSignal): Promise<HttpAnswer> {
  const { method, url, headers, body } = request;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const send = url.startsWith('https:') ? requestHttps : requestHttp;
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    const sent = send(url, { method, agent, headers: { ...headers, ...length } });
    let answered = false;
    const end = (): void => {
      clearTimeout(late);
      signal.removeEventListener('abort', aborted);
    };
    const fail = (error: unknown): void => {
      end();
      reject(error);
      sent.destroy();
    };
    const aborted = (): void => fail(signal.reason);
    if (options.connectSeconds > 0) limitConnecting(sent, options, fail);
    const late =
      options.requestSeconds > 0
        ? setTimeout(() => fail(timedOut(options.name, options.requestSeconds)), options.requestSeconds * 1000)
        : undefined;
    signal.addEventListener('abort', aborted);
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // A store may answer before it has read everything, and close; an answer that breaks off fails where it is read.
      if (answered) return;
      const stale = sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      fail(stale ? new StaleConnection('', { cause: error }) : error instanceof Fault ? error : faultOfError(error, options.name));
    });
    sent.once('response', (response) => {
      answered = true;
      read(response).then(
        (answer) => {
          end();
          // A store that answers before it has read everything does not want the rest.
          if (!sent.writableFinished) sent.destroy();
          resolve(answer);
        },
        (error: unknown) => fail(faultOfError(error, options.name)),
      );
    });
    sent.end(body);
  });
}

function limitConnecting(sent: ClientRequest, { name, connectSeconds }: HttpOptions, fail: (error: Fault) => void): void {
  sent.once('socket', (socket) => {
    if (!socket.connecting) return;
    const message = `${name} cannot be reached: no connection within ${connectSeconds} s`;
    const limit = setTimeout(() => fail(new Fault('target/unreachable', message)), connectSeconds * 1000);
    const done = (): void => clearTimeout(limit);
    socket.once(sent.protocol === 'https:' ? 'secureConnect' : 'connect', done);
    sent.once('close', done);
  });
}

async function read(response: IncomingMessage): Promise<HttpAnswer> {
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (bytes < ANSWER_BYTES) kept.push(chunk.subarray(0, ANSWER_BYTES - bytes));
    bytes += chunk.length;
  }
  return {
    status: response.statusCode as number,
    header: (name) => {
      const value = response.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    text: Buffer.concat(kept).toString('utf8'),
  };
}
