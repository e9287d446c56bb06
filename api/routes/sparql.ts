/** `/sparql` of the process with the embedded store: queries for viewers; updates and whole graphs for operators. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Fault } from '../../src/core/fault.ts';
import { type HttpAnswer, HttpClient } from '../../src/core/reach/http.ts';
import { CALLER_HEADER } from '../../src/targets/sparql/headers.ts';
import { hasBody, readTextBody } from '../body.ts';
import { RequestFault } from '../problem.ts';
import type { Api, Call, HttpMethod, Parameter, Reply, Route } from '../route.ts';

const FORM = 'application/x-www-form-urlencoded';
const QUERY = 'application/sparql-query';
/** Headers forwarded to the store, and headers of its answer forwarded to the client. */
const REQUEST_HEADERS = ['content-type', 'content-length', 'content-encoding', 'accept'] as const;
const ANSWER_HEADERS = ['content-type', 'content-length', 'vary'] as const;
/** Limit for the text of an error answer. */
const MAX_REASON_BYTES = 16 * 1024;

const TEXTS = { type: 'array', items: { type: 'string' } } as const;
const GRAPHS: readonly Parameter[] = [
  { name: 'graph', in: 'query', description: 'IRI of the named graph that is meant (Graph Store HTTP Protocol)' },
  { name: 'default', in: 'query', description: 'The default graph is meant' },
];
const DATASET: readonly Parameter[] = [
  { name: 'default-graph-uri', in: 'query', description: 'Graph that the default graph of the query has; may be repeated', schema: TEXTS },
  { name: 'named-graph-uri', in: 'query', description: 'Named graph of the query; may be repeated', schema: TEXTS },
];

export function sparqlRoutes(api: Api): readonly Route[] {
  const route = (
    method: HttpMethod,
    role: Route['role'],
    summary: string,
    more: Pick<Route, 'parameters' | 'body' | 'replies' | 'isQuery'>,
  ): Route => ({
    method,
    path: '/sparql',
    role,
    summary,
    ...more,
    handle: (call) => handle(api, call, method),
  });
  const done = { description: 'Stored on disk; the body is empty' };
  const body = { type: 'application/n-quads', schema: { type: 'string' }, required: true } as const;
  return [
    route('GET', 'viewer', 'Answers a SPARQL query, or gives a graph or the dataset of the embedded store', {
      isQuery: true,
      parameters: [{ name: 'query', in: 'query', description: 'SPARQL 1.1 query' }, ...DATASET, ...GRAPHS],
      replies: {
        200: { description: 'The answer, in the format that Accept asks for', type: 'application/sparql-results+json', schema: {} },
      },
    }),
    route('POST', 'viewer', 'Answers a SPARQL query; for the role operator, carries out an update or adds statements', {
      parameters: [...DATASET, ...GRAPHS],
      body: {
        type: FORM,
        schema: { type: 'object', properties: { query: { type: 'string' }, update: { type: 'string' } } },
        required: true,
      },
      replies: { 200: { description: 'The answer to the query', schema: {} }, 201: { description: 'A graph was created' }, 204: done },
    }),
    route('PUT', 'operator', 'Replaces a graph, or the dataset, of the embedded store', {
      parameters: GRAPHS,
      body,
      replies: { 201: { description: 'A graph was created' }, 204: done },
    }),
    route('DELETE', 'operator', 'Removes a graph of the embedded store', { parameters: GRAPHS, replies: { 204: done } }),
  ];
}

async function handle(api: Api, call: Call, method: HttpMethod): Promise<Reply> {
  const { store } = api;
  if (store === undefined) {
    throw new Fault('request/conflict', 'This process has no embedded store', {
      hint: 'It is in the process that has SERVICE=all or SERVICE=graph-writer and no --role, while TRIPLESTORE_TYPE=embedded and TRIPLESTORE_ENDPOINT is not set',
    });
  }
  const type = mediaTypeOf(call.request);
  if (method !== 'POST') return forward(store.endpoint, call, method, method === 'PUT' ? call.request : undefined);
  if (type === FORM) {
    // Only the form itself shows whether it is an update.
    const form = await readTextBody(call.request, FORM, api.config.snapshot().MAX_BODY_BYTES);
    if (new URLSearchParams(form).has('update')) call.authorize('operator');
    return forward(store.endpoint, call, method, form);
  }
  if (type !== QUERY) call.authorize('operator');
  return forward(store.endpoint, call, method, call.request);
}

const mediaTypeOf = ({ headers }: IncomingMessage): string => (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

/** Without a time limit for answers: the store limits its own requests. */
const client = new HttpClient({ connectMs: 5_000, answerMs: 0 });

/** @throws Fault — the error answered by the store */
async function forward(endpoint: string, call: Call, method: HttpMethod, body: string | IncomingMessage | undefined): Promise<Reply> {
  const { status, header, body: answer, drop } = await exchange(endpoint, call, method, body);
  if (status >= 400) throw faultOf(status, await reasonOf(answer));
  const headers = Object.fromEntries(
    ANSWER_HEADERS.flatMap((name) => {
      const value = header(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  if (status === 204 || status === 201 || call.request.method === 'HEAD') {
    await drop();
    return { status };
  }
  return { status, headers, stream: answer as AsyncIterable<Uint8Array> };
}

/** Ends with the client's connection. @throws Fault service/unavailable — the store does not answer; request/malformed — the body is incomplete */
async function exchange(
  endpoint: string,
  { request, query, actor }: Call,
  method: HttpMethod,
  body: string | IncomingMessage | undefined,
): Promise<HttpAnswer> {
  const url = new URL(endpoint);
  const login = Buffer.from(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`).toString('base64');
  const caller = actor === 'anonymous' ? `anonymous ${request.socket.remoteAddress ?? ''}` : actor;
  const headers: Record<string, string> = { authorization: `Basic ${login}`, [CALLER_HEADER]: encodeURIComponent(caller) };
  for (const name of REQUEST_HEADERS) if (request.headers[name] !== undefined) headers[name] = request.headers[name] as string;
  if (typeof body === 'string') headers['content-length'] = String(Buffer.byteLength(body));
  url.username = url.password = '';
  url.search = query.toString();
  const { socket } = request;
  const left = new AbortController();
  const leave = (): void => left.abort();
  socket.once('close', leave);
  try {
    const answer = await client.send({ method, url: url.href, headers, body: bodyOf(body), alone: true }, left.signal);
    answer.body.once('close', () => socket.off('close', leave));
    return answer;
  } catch (cause) {
    socket.off('close', leave);
    if (request.errored !== null || (request.destroyed && !request.complete))
      throw new Fault('request/malformed', 'The request body ended too early', { cause });
    throw new Fault('service/unavailable', 'The embedded store does not answer', { hint: 'Try again in a moment', cause });
  }
}

/** A separate stream: its sender may destroy it, and the request must still be answered. */
function bodyOf(body: string | IncomingMessage | undefined): string | Readable | undefined {
  if (typeof body !== 'object') return body;
  return hasBody(body) ? Readable.from(body.iterator({ destroyOnReturn: false }), { objectMode: false }) : undefined;
}

async function reasonOf(answer: Readable): Promise<string> {
  let text = '';
  for await (const part of answer.setEncoding('utf8') as AsyncIterable<string>) {
    if (text.length < MAX_REASON_BYTES) text += part;
  }
  return text.slice(0, MAX_REASON_BYTES).trim();
}

const CODES = {
  400: 'request/malformed',
  404: 'request/not-found',
  405: 'request/method',
  406: 'request/not-acceptable',
  413: 'request/too-large',
  415: 'request/media-type',
  429: 'request/too-many',
  504: 'store/time-limit',
  507: 'store/full',
} as const;

function faultOf(status: number, reason: string): Fault {
  const code = CODES[status as keyof typeof CODES] ?? 'service/unavailable';
  if (code === 'request/method') return new RequestFault(code, reason, { headers: { Allow: 'GET, HEAD, POST, PUT, DELETE' } });
  if (code === 'request/too-many') return new RequestFault(code, reason, { headers: { 'Retry-After': '2' } });
  return new Fault(code, reason);
}
