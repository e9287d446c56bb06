/** Files behind `http(s):`. Redirects are followed; content encodings are undone by fetch. */
import { Fault } from '../fault.ts';
import type { RawInput } from './storage.ts';

/**
 * Opens `url` with GET; `name` is the redacted URL, for messages. Ends with the connection when the iteration ends.
 *
 * @throws Fault source/missing — 404, 410; source/refused — other 4xx, TLS; source/unreadable — 5xx, 408, 425, 429, connection
 */
export async function openHttp(url: URL, name: string, signal: AbortSignal | undefined): Promise<RawInput> {
  const ending = new AbortController();
  const signals = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]);
  const { user, address } = withoutUser(url);
  let response: Response;
  try {
    response = await fetch(address, { signal: signals, headers: user === undefined ? {} : { authorization: user } });
  } catch (error) {
    throw connectionFault(error as Error, name, undefined);
  }
  if (!response.ok || response.body === null) {
    ending.abort();
    throw statusFault(response, name);
  }
  const length = response.headers.get('content-length');
  const encoded = response.headers.has('content-encoding');
  return {
    chunks: chunksOf(response.body, name, ending),
    close: async () => ending.abort(),
    sizeBytes: length === null || encoded ? undefined : Number(length),
    ...(length === null || !encoded ? {} : { packedBytes: Number(length) }),
    mediaType: response.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase(),
  };
}

async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  name: string,
  ending: AbortController,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      yield chunk;
    }
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
