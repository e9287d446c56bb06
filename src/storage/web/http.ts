/** Files behind `http(s):`, and the answers of SPARQL endpoints. Redirects are followed; content encodings are undone. */
import { createHash } from 'node:crypto';
import type { ReadableStream } from 'node:stream/web';
import zlib from 'node:zlib';
import { LinkedAbort } from '../../core/abort.ts';
import { Fault } from '../../core/fault.ts';
import { describeConnectionError, HttpClient, type Response, receivedBytes } from '../../core/reach/http.ts';
import { basic, type ClientCredentials, grantKey, type Login, loginFor, type WebCache } from '../logins.ts';
import type { OpenOptions, RawInput } from '../storage.ts';
import { type ByteRange, changedFault, type InputState } from '../storage.ts';
import { isKeepable, keeping, keyOf, openKept } from './cache.ts';
import { charsetIn, mediaTypeIn } from './media-type.ts';
import { isUsedUp, type Patience, pause, retryAfterMs, TransientFault, withRetries } from './retry.ts';
import { tokenFor } from './tokens.ts';

const CONNECT_MS = 10_000;
const USUAL_ANSWER_SECONDS = 300;
/** By time limit and reach. There are few: the options' values, and those of requests without options. */
const clients = new Map<string, HttpClient>();

/** Kept connections are those of one reach: they were checked when they were opened. */
function clientFor({ web, reach }: Pick<OpenOptions, 'web' | 'reach'>): HttpClient {
  const seconds = web?.answerSeconds ?? USUAL_ANSWER_SECONDS;
  const key = JSON.stringify([seconds, reach?.privateAddresses, reach?.hosts, reach?.mappingHosts]);
  const client = clients.get(key) ?? new HttpClient({ connectMs: CONNECT_MS, answerMs: seconds * 1000, reach });
  clients.set(key, client);
  return client;
}

type WebOptions = Pick<OpenOptions, 'signal' | 'range' | 'web' | 'ask' | 'reach'>;

/** An answer of a server, or one that was kept and is still valid. */
interface Answer extends Pick<Response, 'status' | 'statusText' | 'ok'> {
  readonly headers: Pick<Response['headers'], 'get' | 'has'>;
  readonly body: AsyncIterable<Uint8Array> | null;
  /** Behind all redirects. */
  readonly address: URL;
  /** Bytes of the body that have come so far, as they were sent. */
  received(): number;
}

/** Without options, as for mappings, nothing is repeated: who reads them decides. */
const IMPATIENT: Patience = { retries: 0, waitSeconds: 0 };

/**
 * Opens `url` with GET, or asks the SPARQL endpoint at `url` a query; `name` is the redacted URL, for messages. Ends with the connection when
 * the iteration ends.
 *
 * A request is repeated after a transient fault, as `options.web` says. Where the connection breaks in the middle of the answer, the document
 * is asked for again: its beginning must have the same bytes, by SHA-256, and is not passed on again. So what is passed on is always one
 * document: the bytes before the break are those of the second answer as well. A query is repeated only where the server names a time.
 *
 * @throws Fault source/missing — 404, 410; source/refused — other 4xx, TLS, a query without an answer in time; source/unreadable — 5xx, 408,
 * 425, 429, connection; run/lost — a range of a resource that has changed
 */
export async function openHttp(url: URL, name: string, options: WebOptions): Promise<RawInput> {
  const { signal, ask } = options;
  const ending = new LinkedAbort([signal]);
  let answer: Answer;
  try {
    answer = await request(url, name, options, ending.signal);
  } catch (error) {
    ending.abort();
    throw error;
  }
  const length = answer.headers.get('content-length');
  const encoded = answer.headers.has('content-encoding');
  const current = { answer };
  return {
    chunks: chunksOf(current, () => request(url, name, options, ending.signal), name, ending, options),
    close: async () => ending.abort(),
    sizeBytes: length === null || encoded ? undefined : Number(length),
    ...(encoded ? { packedBytes: () => current.answer.received() } : {}),
    mediaType: mediaTypeOf(answer),
    charset: charsetIn(typeHeaderOf(answer)),
    ...(ask?.query === undefined
      ? {
          web: {
            get address() {
              return current.answer.address.href;
            },
            get link() {
              return current.answer.headers.get('link') ?? undefined;
            },
          },
        }
      : {}),
  };
}

const typeHeaderOf = ({ headers }: Answer): string | undefined => headers.get('content-type') ?? undefined;
const mediaTypeOf = (answer: Answer): string | undefined => mediaTypeIn(typeHeaderOf(answer));

/** An answer with the document, asked for as often as the options allow. @throws Fault see `openHttp` */
async function request(url: URL, name: string, options: WebOptions, signal: AbortSignal): Promise<Answer> {
  return withRetries(() => requestOnce(url, name, options, signal), options.web ?? IMPATIENT, signal);
}

async function requestOnce(url: URL, name: string, options: WebOptions, outer: AbortSignal): Promise<Answer> {
  const { range, ask } = options;
  const isQuery = ask?.query !== undefined;
  const attempt = new LinkedAbort([outer]);
  try {
    const answer = await follow(url, options, range === undefined ? {} : rangeHeaders(range), attempt.signal);
    if (range !== undefined && (answer.ok || answer.status === 416) && !isRange(answer, range)) throw changedFault(name);
    if (!answer.ok || answer.body === null) throw isQuery ? await queryFault(answer, name) : statusFault(answer, name, false);
    checkEncoding(answer, name);
    return answer;
  } catch (error) {
    // Ends what is left of the answer.
    attempt.abort();
    if (!(error instanceof Fault)) throw connectionFault(error as Error, name, undefined, options);
    throw error.code === 'request/forbidden' ? error.with({ place: { input: name } }) : error;
  }
}

const MAX_REDIRECTS = 10;

/** The answer behind all redirects. Each server gets its own login and no other's. A token that is refused is asked for again, once. */
async function follow(url: URL, options: WebOptions, more: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer> {
  const client = clientFor(options);
  // Token endpoints are named by options.
  const trusted = clientFor({ web: options.web, reach: undefined });
  let address = new URL(url);
  let refused: string | undefined;
  for (let hops = 0; ; ) {
    const login = loginOf(address, url, options);
    const token = login.grant === undefined ? undefined : await tokenFor(login.grant, refused, trusted, signal);
    const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers: Record<string, string> = {
      'accept-encoding': ACCEPTED_ENCODINGS,
      ...options.ask?.headers,
      ...login.headers,
      ...authorization,
      ...more,
    };
    address.username = '';
    address.password = '';
    const [asking, form] = requestFor(address, options);
    for (const [name, value] of login.parameters) asking.searchParams.set(name, value);
    const cache =
      options.range === undefined && options.ask?.query === undefined && more.range === undefined ? options.web?.cache : undefined;
    const answer = await exchange(client, asking, address, headers, form, cache, login.grant, signal);
    if (answer.status === 401 && token !== undefined && refused === undefined) {
      refused = token;
      await dropped(answer);
      continue;
    }
    const next = hops < MAX_REDIRECTS && REDIRECTS.has(answer.status) ? answer.headers.get('location') : null;
    if (next === null || !URL.canParse(next, asking.href)) return answer;
    await dropped(answer);
    address = new URL(next, asking);
    for (const [name] of login.parameters) if (asking.origin === address.origin) address.searchParams.delete(name);
    if (address.protocol !== 'http:' && address.protocol !== 'https:') throw new Error(`it redirects to a ${address.protocol} address`);
    hops++;
    refused = undefined;
  }
}

const dropped = async ({ body }: Answer): Promise<void> => {
  await body?.[Symbol.asyncIterator]().return?.();
};

/** One request, or the answer that was kept if the server says that it is still valid. */
async function exchange(
  client: HttpClient,
  asking: URL,
  address: URL,
  headers: Readonly<Record<string, string>>,
  form: string | undefined,
  cache: WebCache | undefined,
  grant: ClientCredentials | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  if (cache === undefined) return answerOf(await client.fetch(asking, headers, form, signal), address);
  // A token changes; whom it is for does not.
  const { authorization = '', ...others } = headers;
  const caller = grant === undefined ? authorization : grantKey(grant);
  const key = keyOf(asking.href, [...Object.entries(others).sort(([a], [b]) => (a < b ? -1 : 1)), ['authorization', caller]]);
  const kept = await openKept(cache, key);
  let response: Response;
  try {
    response = await client.fetch(asking, { ...headers, ...kept?.conditions }, form, signal);
  } catch (error) {
    await kept?.close();
    throw error;
  }
  if (response.status === 304 && kept !== undefined) {
    await response.body?.cancel();
    // Each request ends with its signal, whether its answer was read or not. A file that was only read loses nothing.
    signal.addEventListener('abort', () => void kept.close().catch(() => undefined), { once: true });
    const of = (name: string): string | null => (name === 'content-length' ? String(kept.sizeBytes) : kept.headers.get(name));
    return {
      status: 200,
      statusText: '',
      ok: true,
      headers: { get: of, has: (name) => of(name) !== null },
      body: kept.body(),
      address,
      received: () => Number.POSITIVE_INFINITY,
    };
  }
  await kept?.close();
  const answer = answerOf(response, address);
  if (answer.status !== 200 || answer.body === null || !isKeepable(response.headers) || undoneBy(response) !== undefined) return answer;
  return { ...answer, body: keeping(cache, key, response.headers, answer.body) };
}

const answerOf = (response: Response, address: URL): Answer => {
  const { status, statusText, ok, headers, body } = response;
  const received = (): number => receivedBytes(response);
  return { status, statusText, ok, headers, body: body as ReadableStream<Uint8Array> | null, address, received };
};

/** Content encodings that the client undoes, which depends on the version of Node. */
const UNDONE: ReadonlySet<string> = new Set([
  'identity',
  'gzip',
  'x-gzip',
  'deflate',
  'br',
  ...('createZstdDecompress' in zlib ? ['zstd'] : []),
]);
const ACCEPTED_ENCODINGS = [...UNDONE].filter((name) => !/^(?:identity|x-gzip)$/.test(name)).join(', ');

/** A content encoding of the answer that is not undone. */
const undoneBy = ({ headers }: Pick<Answer, 'headers'>): string | undefined =>
  (headers.get('content-encoding') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .find((name) => name !== '' && !UNDONE.has(name));

/** @throws Fault source/refused */
function checkEncoding(answer: Answer, name: string): void {
  const encoding = undoneBy(answer);
  if (encoding === undefined) return;
  const hint = encoding === 'zstd' ? 'Node 22.15 and later undo it' : `The server was asked for ${ACCEPTED_ENCODINGS}`;
  throw new Fault('source/refused', `${name} answered in the content encoding ${JSON.stringify(encoding)}, which cannot be undone here`, {
    place: { input: name },
    hint,
  });
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Servers and proxies accept at least this much in the first line of a request. */
const MAX_GET_CHARACTERS = 2_000;

/** A short query by GET, which caches know; a longer one by POST. @see https://www.w3.org/TR/sparql11-protocol/#query-operation */
function requestFor(address: URL, { ask }: WebOptions): readonly [address: URL, form: string | undefined] {
  const { query } = ask ?? {};
  if (query === undefined) return [new URL(address), undefined];
  const asking = new URL(address);
  asking.searchParams.set('query', query);
  if (asking.href.length <= MAX_GET_CHARACTERS) return [asking, undefined];
  return [new URL(address), new URLSearchParams({ query }).toString()];
}

/** A login in the URL itself, which only who has started the run can have written, comes before one of the options, for its server alone. */
function loginOf(address: URL, first: URL, { web }: WebOptions): Login {
  const { username, password } = address.origin === first.origin ? first : address;
  const login = loginFor(address, web?.logins ?? []);
  if (username === '' && password === '') return login;
  const authorization = basic(decodeURIComponent(username), decodeURIComponent(password));
  return { ...login, headers: { ...login.headers, authorization }, grant: undefined };
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

const contentRange = (response: Pick<Answer, 'headers'>): RegExpExecArray | null =>
  response.headers.has('content-encoding') ? null : /^bytes (\d+-\d+)\/(\d+)$/.exec(response.headers.get('content-range') ?? '');

/** undefined: nothing would show that the content has changed. */
function versionOf(response: Pick<Answer, 'headers'>): string | undefined {
  const size = contentRange(response)?.[2];
  const version = response.headers.get('etag') ?? response.headers.get('last-modified');
  return version === null || size === undefined ? undefined : `${size} ${version}`;
}

const isRange = (response: Answer, { from, to, version }: ByteRange): boolean =>
  response.status === 206 && contentRange(response)?.[1] === `${from}-${to - 1}` && versionOf(response) === version;

/** Documents of up to this size are passed on when they are complete: then nothing has to be compared when the connection breaks. */
const HELD_BYTES = 2 ** 20;

/**
 * The bytes of the document. A broken answer is asked for again: see `openHttp`.
 *
 * @param current the answer that is being read, replaced by the next one
 */
async function* chunksOf(
  current: { answer: Answer },
  again: () => Promise<Answer>,
  name: string,
  ending: LinkedAbort,
  options: WebOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { range, ask, web = IMPATIENT } = options;
  // Asked again, a query might give its solutions in another order.
  const patience = ask?.query === undefined ? web : IMPATIENT;
  const from = range?.from ?? 0;
  const type = mediaTypeOf(current.answer);
  const digest = createHash('sha256');
  /** Bytes that the reader has. */
  let passed = 0;
  const pass = (chunk: Uint8Array): Uint8Array => {
    if (patience.retries > 0) digest.update(chunk);
    passed += chunk.length;
    return chunk;
  };
  try {
    for (let failures = 1; ; failures++) {
      let held: Uint8Array[] | undefined =
        patience.retries > 0 && ask !== undefined && ask.promptly !== true && passed === 0 ? [] : undefined;
      let heldBytes = 0;
      let left = passed;
      const repeated = createHash('sha256');
      try {
        for await (const whole of current.answer.body ?? []) {
          let chunk = whole;
          if (left > 0) {
            const known = chunk.subarray(0, left);
            repeated.update(known);
            left -= known.length;
            if (left > 0) continue;
            if (!repeated.digest().equals(digest.copy().digest())) throw differentFault(name);
            chunk = chunk.subarray(known.length);
          }
          if (chunk.length === 0) continue;
          if (held === undefined) {
            yield pass(chunk);
            continue;
          }
          held.push(chunk);
          heldBytes += chunk.length;
          if (heldBytes <= HELD_BYTES) continue;
          const parts = held;
          held = undefined;
          for (const part of parts) yield pass(part);
        }
        if (left > 0) throw differentFault(name);
        for (const part of held ?? []) yield pass(part);
        if (range !== undefined && from + passed !== range.to) throw new Error(`it ended at byte ${from + passed} in place of ${range.to}`);
        return;
      } catch (error) {
        if (error instanceof Fault) throw error;
        await pause(connectionFault(error as Error, name, from + passed, options), failures, patience, ending.signal);
      }
      current.answer = await again();
      if (mediaTypeOf(current.answer) !== type) throw differentFault(name);
    }
  } finally {
    ending.abort();
  }
}

const differentFault = (name: string): Fault =>
  new Fault('source/unreadable', `${name} has changed: the connection broke, and the server then sent another document`, {
    place: { input: name },
    hint: 'Run it again',
  });

const LOGIN_HINT = 'The option SOURCE_LOGINS gives the logins of servers';
const CAN_GET_BETTER: ReadonlySet<number> = new Set([408, 425, 429]);

function statusFault(response: Answer, name: string, isQuery: boolean): Fault {
  const { status, statusText, headers } = response;
  const answer = `${name} answered ${status}${statusText === '' ? '' : ` ${statusText}`}`;
  const place = { input: name };
  if (status === 404 || status === 410) return new Fault('source/missing', answer, { place });
  if (status >= 500 || CAN_GET_BETTER.has(status) || (status === 403 && isUsedUp(headers))) {
    const waitMs = retryAfterMs(headers);
    // A query that has failed would take as long again.
    if (isQuery && waitMs === undefined) return new Fault('source/unreadable', answer, { place });
    return new TransientFault(answer, { place }, waitMs);
  }
  if (status === 401 || status === 403) return new Fault('source/refused', answer, { place, hint: LOGIN_HINT });
  return new Fault('source/refused', answer, { place });
}

/** What an endpoint says of a query that it refuses: usually where the syntax error is. */
async function queryFault(response: Answer, name: string): Promise<Fault> {
  const fault = statusFault(response, name, true);
  if (fault instanceof TransientFault) return fault;
  const said = await reasonOf(response);
  const hint =
    response.status === 401 || response.status === 403
      ? LOGIN_HINT
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
async function reasonOf({ body, headers }: Answer): Promise<string> {
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
  const message = `${name} cannot be read: ${reason}`;
  if (kind === 'tls') return new Fault('source/refused', message, { place, cause: error, ...hint });
  // A server that has not answered in time would take as long again, and an unknown name is misspelt as a rule.
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'ENOTFOUND' || ask?.query !== undefined)
    return new Fault('source/unreadable', message, { place, cause: error, ...hint });
  return new TransientFault(message, { place, cause: error, ...hint }, undefined);
}
