/** Requests to a store: logins, one time limit for each request, bounded answers. What an answer means stands in `sparql/faults.ts`. */
import { LinkedAbort } from '../../core/abort.ts';
import { describeConnectionError, type HttpAnswer, HttpClient } from '../../core/reach/http.ts';
import { faultOfError, type StoreAnswer, timedOut } from './faults.ts';
import type { Login } from './login.ts';

export interface StoreOptions {
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

export interface StoreRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** With the type of the body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

export interface StoreClient {
  /**
   * Any answer at all is returned, whatever its status.
   *
   * @throws Fault target/unreachable — no connection, or it broke; `TargetBusy` — no answer in time; `signal.reason` — it was aborted
   */
  send(request: StoreRequest, signal: AbortSignal): Promise<StoreAnswer>;
  /** As `send`, with an answer of any length in place of its text. The time limit holds until it begins. The caller reads it to its end. */
  open(request: StoreRequest, signal: AbortSignal): Promise<OpenAnswer>;
  close(): Promise<void>;
}

export interface OpenAnswer extends Pick<StoreAnswer, 'status' | 'header'> {
  /** @throws Fault target/unreachable — the connection broke */
  readonly body: AsyncIterable<Buffer>;
}

const ANSWER_BYTES = 4 * 1024;

export function openStoreClient(options: StoreOptions): StoreClient {
  const { connectSeconds, connections, ca } = options;
  // The time of a whole request is kept below.
  const client = new HttpClient({ connectMs: connectSeconds * 1000, answerMs: 0, connections, ca });
  const { login } = options;
  async function loggedIn<T extends Pick<StoreAnswer, 'status' | 'header'>>(
    request: StoreRequest,
    signal: AbortSignal,
    receive: (answer: HttpAnswer) => Promise<T>,
  ): Promise<T> {
    // A digest needs the store's challenge first: a small question, so that the body is sent once.
    if (login.wantsChallenge()) {
      const question = { method: 'GET', url: request.url, headers: {}, body: undefined } as const;
      login.challenged((await exchange(question, client, options, signal, read)).header('www-authenticate'));
    }
    const answer = await exchange(withLogin(request, login), client, options, signal, receive);
    // A challenge can run out at any time.
    if (answer.status !== 401 || !login.challenged(answer.header('www-authenticate'))) return answer;
    return exchange(withLogin(request, login), client, options, signal, receive);
  }
  return {
    send: (request, signal) => loggedIn(request, signal, read),
    open: (request, signal) =>
      loggedIn(request, signal, async (answer) =>
        answer.status === 401 ? bodyOf(await read(answer)) : { ...answer, body: withFaults(answer.body, options, signal) },
      ),
    close: () => client.close(),
  };
}

const bodyOf = ({ status, header, text }: StoreAnswer): OpenAnswer => ({ status, header, body: onlyPiece(text) });

async function* onlyPiece(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

async function* withFaults(body: HttpAnswer['body'], options: StoreOptions, signal: AbortSignal): AsyncGenerator<Buffer> {
  const end = (): void => void body.destroy();
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    for await (const chunk of body as AsyncIterable<Buffer>) yield chunk;
    signal.throwIfAborted();
  } catch (error) {
    throw signal.aborted ? signal.reason : faultOfError(error, options);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

function withLogin(request: StoreRequest, login: Login): StoreRequest {
  const { pathname, search } = new URL(request.url);
  const authorization = login.header(request.method, `${pathname}${search}`);
  return authorization === undefined ? request : { ...request, headers: { ...request.headers, authorization } };
}

/** Sends once more where a kept connection turns out to have been closed meanwhile: doing a request twice is doing it once. */
async function exchange<T>(
  request: StoreRequest,
  client: HttpClient,
  options: StoreOptions,
  signal: AbortSignal,
  receive: (answer: HttpAnswer) => Promise<T>,
): Promise<T> {
  const limit = new LinkedAbort([signal], options.requestSeconds > 0 ? options.requestSeconds * 1000 : undefined);
  try {
    return await receive(
      await client.send(request, limit.signal).catch((error) => {
        if (describeConnectionError(error).kind !== 'stale') throw error;
        return client.send(request, limit.signal);
      }),
    );
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw limit.timedOut ? timedOut(options.name, options.requestSeconds) : faultOfError(error, options);
  } finally {
    limit.release();
  }
}

/** The first bytes of a body. */
export async function read({
  status,
  header,
  body,
}: Pick<HttpAnswer, 'status' | 'header'> & { readonly body: AsyncIterable<Buffer> }): Promise<StoreAnswer> {
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    if (bytes < ANSWER_BYTES) kept.push(chunk.subarray(0, ANSWER_BYTES - bytes));
    bytes += chunk.length;
  }
  return { status, header, text: Buffer.concat(kept).toString('utf8') };
}
