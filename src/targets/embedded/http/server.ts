/** The HTTP server of the embedded store, on the loopback interface. Only its own process knows the login. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { CALLER_HEADER, REASON_HEADER } from '../../sparql/headers.ts';
import type { Reason, StoreThreadData } from '../messages.ts';
import { type Reader, StoreFailure, type StoreSupervisor } from '../store.ts';
import { ProtocolError, parseRequest, type StoreRequest } from './protocol.ts';

export const STORE_PATH = '/sparql';

const STATUS: Readonly<Record<Reason, number>> = { invalid: 400, missing: 404, time: 504, memory: 507, disk: 507, busy: 429, failed: 503 };
const PROLOGUE: Readonly<Record<Reason, string>> = {
  invalid: '',
  missing: '',
  time: 'The request was stopped: ',
  memory: 'The store does not have enough memory: ',
  disk: 'The disk of the store cannot be written: ',
  busy: '',
  failed: '',
};
/** How long an idle connection stays open: longer than clients keep theirs, so that no request meets a closing connection. */
const KEEP_ALIVE_MS = 120_000;

type Settings = Pick<StoreThreadData, 'login' | 'limits'>;

/** A server that is not listening yet. */
export function makeStoreServer(supervisor: StoreSupervisor, { login, limits }: Settings): Server {
  const guard = makeGuard(login);
  // Shared by the bodies of concurrent requests.
  const room = { bytes: 2 * limits.bodyBytes };
  const server = createServer((request, response) => {
    const left = new AbortController();
    response.once('close', () => {
      if (!response.writableEnded) left.abort();
    });
    answer(supervisor, request, { guard, room, limitBytes: limits.bodyBytes, left: left.signal })
      .catch((error: unknown) => {
        // The rest of a body is dropped, so that the client reads the answer and the connection can be reused.
        request.resume();
        return refusal(error);
      })
      .then((reply) => send(response, reply))
      // An answer that cannot be sent closes its connection and never ends the thread.
      .catch(() => response.destroy());
  });
  server.requestTimeout = 0;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return server;
}

interface Context {
  readonly guard: (request: IncomingMessage) => void;
  /** Bytes that request bodies may still use. */
  readonly room: { bytes: number };
  readonly limitBytes: number;
  /** Aborted when the client has left. */
  readonly left: AbortSignal;
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

async function answer(supervisor: StoreSupervisor, request: IncomingMessage, { guard, room, limitBytes, left }: Context): Promise<Reply> {
  guard(request);
  const [path, search] = splitOnce(request.url ?? '', '?');
  if (path !== STORE_PATH) throw new ProtocolError(404, `There is nothing at ${path}; the store is at ${STORE_PATH}`);
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new ProtocolError(415, 'The body has a Content-Encoding; none is supported');
  const body = await readBody(request, room, limitBytes);
  try {
    const parsed = parseRequest({
      method: request.method ?? '',
      parameters: new URLSearchParams(search),
      mediaType: (splitOnce(request.headers['content-type'] ?? '', ';')[0] as string).trim().toLowerCase(),
      accept: request.headers.accept,
      body: body.bytes,
    });
    return await carryOut(supervisor, parsed, { caller: String(request.headers[CALLER_HEADER] ?? ''), signal: left });
  } finally {
    room.bytes += body.taken;
  }
}

async function carryOut(supervisor: StoreSupervisor, request: StoreRequest, reader: Reader): Promise<Reply> {
  if (request.kind === 'read') {
    const contentType = /^text\//.test(request.contentType) ? `${request.contentType}; charset=utf-8` : request.contentType;
    return { status: 200, headers: { 'Content-Type': contentType, Vary: 'Accept' }, body: await supervisor.read(request.read, reader) };
  }
  const { created } = await supervisor.write(request.write, request.body);
  return { status: created ? 201 : 204, headers: {} };
}

function makeGuard({ username, password }: StoreThreadData['login']): (request: IncomingMessage) => void {
  const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expected = digestOf(`Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`);
  return ({ headers }) => {
    if (timingSafeEqual(digestOf(headers.authorization ?? ''), expected)) return;
    throw new ProtocolError(401, 'The login is not the one of this store', { 'WWW-Authenticate': 'Basic realm="store"' });
  };
}

interface Body {
  /** In memory that threads share. */
  readonly bytes: Uint8Array;
  /** Bytes of `room` that it uses. */
  readonly taken: number;
}

/** @throws ProtocolError 413 — larger than the limit; 503 — no room beside the other bodies */
async function readBody(request: IncomingMessage, room: { bytes: number }, limitBytes: number): Promise<Body> {
  let taken = 0;
  const reserve = (bytes: number): void => {
    if (taken + bytes > limitBytes) throw new ProtocolError(413, `The body is larger than ${limitBytes} bytes: send it in parts`);
    if (bytes > room.bytes) throw new ProtocolError(503, 'The store has no room for another large body just now', { 'Retry-After': '1' });
    room.bytes -= bytes;
    taken += bytes;
  };
  try {
    const announced = Number(request.headers['content-length'] ?? Number.NaN);
    const parts: Buffer[] = [];
    if (announced > 0) reserve(announced);
    for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (Number.isNaN(announced)) reserve(part.length);
      parts.push(part);
    }
    const bytes = new Uint8Array(new SharedArrayBuffer(taken));
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return { bytes, taken };
  } catch (error) {
    room.bytes += taken;
    throw error;
  }
}

function refusal(error: unknown): Reply {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8' };
  if (error instanceof ProtocolError)
    return { status: error.status, headers: { ...headers, ...error.headers }, body: `${error.message}\n` };
  if (error instanceof StoreFailure) {
    const retry: Record<string, string> = error.reason === 'failed' || error.reason === 'busy' ? { 'Retry-After': '2' } : {};
    return {
      status: STATUS[error.reason],
      headers: { ...headers, ...retry, [REASON_HEADER]: error.reason },
      body: `${PROLOGUE[error.reason]}${error.message}\n`,
    };
  }
  return { status: 500, headers, body: `${(error as Error).message}\n` };
}

function send(response: ServerResponse, { status, headers, body }: Reply): void {
  if (response.destroyed) return;
  response.writeHead(status, { ...headers, 'Content-Length': body === undefined ? 0 : Buffer.byteLength(body) });
  response.end(body);
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
