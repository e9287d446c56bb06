/** Files behind `http(s):`. Redirects are followed; content encodings are undone. */
import type { ReadableStream } from 'node:stream/web';
import { LinkedAbort } from '../core/abort.ts';
import { Fault } from '../core/fault.ts';
import { describeConnectionError, HttpClient, type Response } from '../core/http.ts';
import { type ByteRange, changedFault, type InputState } from './range.ts';
import type { RawInput } from './storage.ts';

const client = new HttpClient({ connectMs: 10_000, answerMs: 300_000 });

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
    response = await client.get(address, headers, ending.signal);
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
    const response = await client.get(address, headers, ending.signal);
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

/** The client refuses URLs with user and password; they travel as a header instead. */
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

function connectionFault(error: Error, name: string, bytes: number | undefined): Fault {
  const { kind, reason } = describeConnectionError(error);
  const place = { input: name, ...(bytes === undefined ? {} : { byte: bytes }) };
  return new Fault(kind === 'tls' ? 'source/refused' : 'source/unreadable', `${name} cannot be read: ${reason}`, { place, cause: error });
}
