/** One request to a Quadmill service: tokens, repetition, and errors as classes. Needs nothing but `fetch`. */
import type { FailureMessage, Problem } from './types.ts';

/** Sends a request; `fetch` is one. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Blob | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TransportOptions {
  /** A token of API_TOKENS or of an issuer of OpenID Connect; a function is called for each request, so that it may renew the token. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** In place of the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** How often a request is repeated that got no answer, 429 or 503; only requests that may be repeated safely are. Default 4. */
  readonly retries?: number | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Every answer that is an error. @see ProblemError, FailureError */
export class QuadmillError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = new.target.name;
    this.status = status;
  }
}

/** The service refused the request, or cannot carry it out now: an RFC 9457 problem. */
export class ProblemError extends QuadmillError {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.status, problem.hint === undefined ? problem.detail : `${problem.detail}. ${problem.hint}`);
    this.problem = problem;
  }
}

/** A run failed or was cancelled, or a database or target could not be reached. */
export class FailureError extends QuadmillError {
  readonly failure: FailureMessage;

  constructor(failure: FailureMessage) {
    super(400, failure.error);
    this.failure = failure;
  }
}

export interface CallParts extends CallOptions {
  readonly query?: Readonly<Record<string, string | number | readonly string[] | null | undefined>> | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: { readonly type: string; readonly text: string | Blob };
  /** Carrying it out twice is the same as once. */
  readonly repeatable?: boolean;
}

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;
/** A service that asks for a longer pause is not asked again: its answer is the error. */
const LONGEST_RETRY_AFTER_MS = 60_000;

export class Transport {
  readonly #base: string;
  readonly #options: TransportOptions;

  /** @throws TypeError `url` is not an `http(s):` URL */
  constructor(url: string | URL, options: TransportOptions) {
    const parsed = URL.canParse(String(url)) ? new URL(url) : undefined;
    const hasLogin = parsed !== undefined && parsed.username + parsed.password !== '';
    if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || hasLogin || parsed.search !== '' || parsed.hash !== '') {
      const shown = hasLogin ? 'one with a login: give a token instead' : `'${url}'`;
      throw new TypeError(`The URL of a service is http(s)://HOST:PORT/PATH without login, query and fragment, not ${shown}`);
    }
    this.#base = parsed.origin + parsed.pathname.replace(/\/+$/, '');
    this.#options = options;
  }

  /** @throws ProblemError, FailureError, QuadmillError; the reason of the signal; what `fetch` throws when there is no answer */
  async send(method: string, path: string, parts: CallParts = {}): Promise<Response> {
    const { retries = 4, fetch: fetchOnce = (url, init) => fetch(url, init) } = this.#options;
    const { signal, body, repeatable = method === 'GET' } = parts;
    const url = this.#base + path + queryOf(parts.query);
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted();
      const mayRepeat = repeatable && attempt < retries;
      let pauseMs = Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_DELAY_MS) * (0.5 + Math.random() / 2);
      const headers = await this.#headers(parts);
      try {
        const response = await fetchOnce(url, { method, headers, body: body?.text, signal });
        if (response.ok) return response;
        const retryAfterMs = retryAfterOf(response);
        const isBusy = response.status === 429 || response.status === 503;
        if (!mayRepeat || !isBusy || (retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS) throw await errorOf(response);
        await response.body?.cancel();
        pauseMs = retryAfterMs ?? pauseMs;
      } catch (error) {
        // `fetch` rejects with a TypeError when there is no answer.
        if (!mayRepeat || (error as Error).name !== 'TypeError') throw error;
      }
      await pause(pauseMs, signal);
    }
  }

  async #headers({ headers = {}, body }: CallParts): Promise<Record<string, string>> {
    const { token } = this.#options;
    const secret = typeof token === 'function' ? await token() : token;
    const all = {
      ...headers,
      ...(body === undefined ? {} : { 'Content-Type': body.type }),
      ...(secret === undefined ? {} : { Authorization: `Bearer ${secret}` }),
    };
    return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
  }
}

function queryOf(query: CallParts['query'] = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined && one !== null) parameters.append(name, String(one));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

/** Milliseconds; undefined: the header is missing or is a date. */
function retryAfterOf({ headers }: Response): number | undefined {
  const seconds = headers.get('Retry-After');
  return seconds !== null && /^\d+$/.test(seconds) ? Number(seconds) * 1_000 : undefined;
}

async function errorOf(response: Response): Promise<QuadmillError> {
  const type = response.headers.get('Content-Type') ?? '';
  const text = await response.text();
  if (!/^application\/(problem\+)?json\b/.test(type)) return new QuadmillError(response.status, `${response.status} ${text.slice(0, 200)}`);
  const body = JSON.parse(text) as unknown;
  return type.startsWith('application/problem+json') ? new ProblemError(body as Problem) : new FailureError(body as FailureMessage);
}

/** @throws the reason of the signal */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
  });
}
