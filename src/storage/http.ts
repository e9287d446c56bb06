/** Files behind `http(s):`. Redirects are followed; content encodings are undone by fetch. */
import { LinkedAbort } from '../core/abort.ts';
import { Fault } from '../core/fault.ts';
import { type ByteRange, changedFault, type InputState } from './range.ts';
import type { RawInput } from './storage.ts';

/**
 * Opens `url` with GET; `name` is the redacted URL, for messages. Ends with the connection when the iteration ends.
 *
 * @throws Fault source/missing — 404, 410; source/refused — other 4xx, TLS; source/unreadable — 5xx, 408, 425, 429, connection; run/lost —
 * a range of a resource that has changed
 */
export async function openHttp(url: URL, name: string, signal: AbortSignal | undefined, range?: ByteRange): Promise<RawInput> {
  const ending = new LinkedAbort([signal]);
  const { user, address } = withoutUser(url);
  const headers = { ...(user === undefined ? {} : { authorization: user }), ...(range === undefined ? {} : rangeHeaders(range)) };
  let response: Response;
  try {
    response = await fetch(address, { signal: ending.signal, headers });
  } catch (error) {
    ending.release();
    throw connectionFault(error as Error, name, undefined);
  }
  if (range !== undefined && (response.ok || response.status === 416) && !isRange(response, range)) {
    ending.abort();
    throw changedFault(name);
  }
  if (!response.ok || response.body === null) {
    ending.abort();
    throw statusFault(response, name);
  }
  const length = response.headers.get('content-length');
  const encoded = response.headers.has('content-encoding');
  return {
    chunks: chunksOf(response.body, name, ending, range),
    close: async () => ending.abort(),
    sizeBytes: length === null || encoded ? undefined : Number(length),
    ...(length === null || !encoded ? {} : { packedBytes: Number(length) }),
    mediaType: response.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase(),
  };
}

/** Size and version of a resource that is served in ranges; undefined for any other, and where there is no such answer. */
export async function httpState(url: URL, signal: AbortSignal | undefined): Promise<InputState | undefined> {
  const ending = new LinkedAbort([signal]);
  const { user, address } = withoutUser(url);
  const headers = { ...(user === undefined ? {} : { authorization: user }), ...rangeHeaders({ from: 0, to: 1 }) };
  try {
    const response = await fetch(address, { signal: ending.signal, headers });
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
  range: ByteRange | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = range?.from ?? 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      yield chunk;
    }
    if (range !== undefined && bytes !== range.to) throw new Error(`it ended at byte ${bytes} in place of ${range.to}`);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw connectionFault(error as Error, name, bytes);
  } finally {
    ending.abort();
  }
}

/** fetch refuses URLs with user and password; they travel as a header instead. */
function withoutUser(url: URL): { readonly user: string | undefined; readonly address: URL } {
  if (url.username === '' && url.password === '') return { user: undefined, address: url };
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const address = new URL(url);
  address.username = '';
  address.password = '';
  return { user: `Basic ${Buffer.from(pair).toString('base64')}`, address };
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

const IN_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the server refuses connections',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'the server did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'the server stopped sending',
  UND_ERR_SOCKET: 'the server closed the connection',
};

/** What `fetch` says of the ports that browsers avoid. */
const AVOIDED_PORT = 'bad port';

const TLS = /^(CERT_|ERR_TLS_|ERR_SSL_|EPROTO$|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/;

/** fetch puts the system's error into `cause`, several attempts (IPv4, IPv6) into `cause.errors`. */
function connectionFault(error: Error, name: string, bytes: number | undefined): Fault {
  const cause = (error.cause ?? error) as NodeJS.ErrnoException & { errors?: readonly NodeJS.ErrnoException[] };
  const code = cause.code ?? cause.errors?.[0]?.code ?? '';
  const avoided = cause.message === AVOIDED_PORT;
  const reason = avoided ? 'its port belongs to another protocol than HTTP' : (IN_WORDS[code] ?? (cause.message || error.message));
  const place = { input: name, ...(bytes === undefined ? {} : { byte: bytes }) };
  const text = `${name} cannot be read: ${reason}`;
  return new Fault(TLS.test(code) ? 'source/refused' : 'source/unreadable', text, { place, cause: error });
}
