/** Files behind `http(s):`, and the answers of SPARQL endpoints. Redirects are followed; content encodings are undone. */
import type { ReadableStream } from 'node:stream/web';
import { LinkedAbort } from '../core/abort.ts';
import { Fault } from '../core/fault.ts';
import { describeConnectionError, HttpClient, type Response } from '../core/http.ts';
import { basic, loginFor } from './logins.ts';
import { type ByteRange, changedFault, type InputState } from './range.ts';
import type { OpenOptions, RawInput } from './storage.ts';

const CONNECT_MS = 10_000;
const USUAL_ANSWER_SECONDS = 300;
/** By time limit in seconds. There are few: the option's value, and that of requests without options. */
const clients = new Map<number, HttpClient>();

function clientFor({ web }: Pick<OpenOptions, 'web'>): HttpClient {
  const seconds = web?.answerSeconds ?? USUAL_ANSWER_SECONDS;
  const client = clients.get(seconds) ?? new HttpClient({ connectMs: CONNECT_MS, answerMs: seconds * 1000 });
  clients.set(seconds, client);
  return client;
}

type WebOptions = Pick<OpenOptions, 'signal' | 'range' | 'web' | 'ask'>;

/**
 * Opens `url` with GET, or asks the SPARQL endpoint at `url` a query; `name` is the redacted URL, for messages. Ends with the connection when
 * the iteration ends.
 *
 * @throws Fault source/missing — 404, 410; source/refused — other 4xx, TLS, a query without an answer in time; source/unreadable — 5xx, 408,
 * 425, 429, connection; run/lost — a range of a resource that has changed
 */
export async function openHttp(url: URL, name: string, options: WebOptions): Promise<RawInput> {
  const { signal, range, ask } = options;
  const ending = new LinkedAbort([signal]);
  let response: Response;
  try {
    response = await follow(url, options, range === undefined ? {} : rangeHeaders(range), ending.signal);
  } catch (error) {
    ending.release();
    throw connectionFault(error as Error, name, undefined, options);
  }
  if (range !== undefined && (response.ok || response.status === 416) && !isRange(response, range)) {
    ending.abort();
    throw changedFault(name);
  }
  if (!response.ok || response.body === null) {
    const fault = ask?.query === undefined ? statusFault(response, name) : await queryFault(response, name);
    ending.abort();
    throw fault;
  }
  const length = response.headers.get('content-length');
  const encoded = response.headers.has('content-encoding');
  return {
    chunks: chunksOf(response.body, name, ending, options),
    close: async () => ending.abort(),
    sizeBytes: length === null || encoded ? undefined : Number(length),
    ...(length === null || !encoded ? {} : { packedBytes: Number(length) }),
    mediaType: response.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase(),
  };
}

const MAX_REDIRECTS = 10;

/** The answer behind all redirects. Each server gets its own login and no other's. */
async function follow(url: URL, options: WebOptions, more: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response> {
  const client = clientFor(options);
  let address = new URL(url);
  for (let hops = 0; ; hops++) {
    const headers = { ...options.ask?.headers, ...loginOf(address, url, options), ...more };
    address.username = '';
    address.password = '';
    const [asking, form] = requestFor(address, options);
    const response = await client.fetch(asking, headers, form, signal);
    const next = hops < MAX_REDIRECTS && REDIRECTS.has(response.status) ? response.headers.get('location') : null;
    if (next === null || !URL.canParse(next, asking.href)) return response;
    await response.body?.cancel();
    address = new URL(next, asking);
    if (address.protocol !== 'http:' && address.protocol !== 'https:') throw new Error(`it redirects to a ${address.protocol} address`);
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Servers and proxies accept at least this much in the first line of a request. */
const MAX_GET_CHARACTERS = 2_000;

/** A short query by GET, which caches know; a longer one by POST. @see https://www.w3.org/TR/sparql11-protocol/#query-operation */
function requestFor(address: URL, { ask }: WebOptions): readonly [address: URL, form: string | undefined] {
  const { query } = ask ?? {};
  if (query === undefined) return [address, undefined];
  const asking = new URL(address);
  asking.searchParams.set('query', query);
  if (asking.href.length <= MAX_GET_CHARACTERS) return [asking, undefined];
  return [address, new URLSearchParams({ query }).toString()];
}

/** A login in the URL itself, which only who has started the run can have written, comes before one of the options, for its server alone. */
function loginOf(address: URL, first: URL, { web }: WebOptions): Readonly<Record<string, string>> {
  const { username, password } = address.origin === first.origin ? first : address;
  const login = loginFor(address, web?.logins ?? []);
  if (username === '' && password === '') return login;
  return { ...login, authorization: basic(decodeURIComponent(username), decodeURIComponent(password)) };
}

/** Size and version of a resource that is served in ranges; undefined for any other, and where there is no such answer. */
export async function httpState(url: URL, options: WebOptions): Promise<InputState | undefined> {
  const ending = new LinkedAbort([options.signal]);
  try {
    const response = await follow(url, options, rangeHeaders({ from: 0, to: 1 }), ending.signal);
    const sizeBytes = Number(contentRange(response)?.[2] ?? Number.NaN);
    const version = versionOf(response);
    return response.status === 206 && Number.isSafeInteger(sizeBytes) && version !== undefined ? { sizeBytes, version } : undefined;
  } catch {
    return undefined;
  } finally {
    ending.abort();
  }
}

/** Ranges count bytes as they are sent: encoded ones would be others. */
const rangeHeaders = ({ from, to }: Pick<ByteRange, 'from' | 'to'>): Record<string, string> => ({
  range: `bytes=${from}-${to - 1}`,
  'accept-encoding': 'identity',
});

const contentRange = (response: Response): RegExpExecArray | null =>
  response.headers.has('content-encoding') ? null : /^bytes (\d+-\d+)\/(\d+)$/.exec(response.headers.get('content-range') ?? '');

/** undefined: nothing would tell that the content is another one. */
function versionOf(response: Response): string | undefined {
  const size = contentRange(response)?.[2];
  const version = response.headers.get('etag') ?? response.headers.get('last-modified');
  return version === null || size === undefined ? undefined : `${size} ${version}`;
}

const isRange = (response: Response, { from, to, version }: ByteRange): boolean =>
  response.status === 206 && contentRange(response)?.[1] === `${from}-${to - 1}` && versionOf(response) === version;

async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  name: string,
  ending: LinkedAbort,
  options: WebOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { range } = options;
  let bytes = range?.from ?? 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      yield chunk;
    }
    if (range !== undefined && bytes !== range.to) throw new Error(`it ended at byte ${bytes} in place of ${range.to}`);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw connectionFault(error as Error, name, bytes, options);
  } finally {
    ending.abort();
  }
}

const CAN_GET_BETTER: ReadonlySet<number> = new Set([408, 425, 429]);

function statusFault(response: Response, name: string): Fault {
  const { status, statusText } = response;
  const answer = `${name} answered ${status}${statusText === '' ? '' : ` ${statusText}`}`;
  const place = { input: name };
  if (status === 404 || status === 410) return new Fault('source/missing', answer, { place });
  if (status >= 500 || CAN_GET_BETTER.has(status)) return new Fault('source/unreadable', answer, { place });
  return new Fault('source/refused', answer, { place });
}

/** What an endpoint says of a query that it refuses: usually where the syntax error is. */
async function queryFault(response: Response, name: string): Promise<Fault> {
  const fault = statusFault(response, name);
  const said = await reasonOf(response);
  const hint =
    response.status === 401 || response.status === 403
      ? 'The option SOURCE_LOGINS gives the logins of servers'
      : response.status === 404
        ? 'Check sd:endpoint'
        : response.status === 400
          ? 'Check the query'
          : undefined;
  return fault.with({ message: said === '' ? fault.message : `${fault.message}: ${said}`, ...(hint === undefined ? {} : { hint }) });
}

const REASON_BYTES = 4096;
const REASON_CHARACTERS = 300;

/** The beginning of an answer's text, on one line and without tags. */
async function reasonOf({ body, headers }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      parts.push(chunk);
      bytes += chunk.length;
      if (bytes >= REASON_BYTES) break;
    }
  } catch {
    // What came before the connection broke may still say why.
  }
  const text = Buffer.concat(parts).toString('utf8').slice(0, REASON_BYTES);
  const plain = headers.get('content-type')?.includes('html') ? text.replace(/<(style|script|title)[^]*?<\/\1>|<[^>]*>/gi, ' ') : text;
  const line = plain.replace(/[\s\x00-\x1f\x7f]+/g, ' ').trim();
  return line.length > REASON_CHARACTERS ? `${line.slice(0, REASON_CHARACTERS)}…` : line;
}

function connectionFault(error: Error, name: string, bytes: number | undefined, { web, ask }: WebOptions): Fault {
  const { kind, reason, code } = describeConnectionError(error);
  const place = { input: name, ...(bytes === undefined ? {} : { byte: bytes }) };
  if (ask?.query !== undefined && code === 'UND_ERR_HEADERS_TIMEOUT') {
    const seconds = web?.answerSeconds ?? USUAL_ANSWER_SECONDS;
    // Asked again, the query would take as long again.
    return new Fault('source/refused', `${name} has not answered the query within ${seconds} s`, {
      place,
      hint: 'Raise SOURCE_ANSWER_SECONDS, or let the query select less',
      cause: error,
    });
  }
  const hint = bytes === undefined ? {} : { hint: 'The answer is incomplete' };
  return new Fault(kind === 'tls' ? 'source/refused' : 'source/unreadable', `${name} cannot be read: ${reason}`, {
    place,
    cause: error,
    ...hint,
  });
}
