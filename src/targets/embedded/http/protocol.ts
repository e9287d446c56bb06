/**
 * SPARQL 1.1 Protocol and Graph Store HTTP Protocol at one path: `query` and `update` belong to the first, `?graph=IRI` and `?default`
 * to the second; without any of these a request is about the whole dataset (GET, PUT, and POST of quads).
 *
 * @see https://www.w3.org/TR/sparql11-protocol/ and https://www.w3.org/TR/sparql11-http-rdf-update/
 */
import { isUtf8 } from 'node:buffer';
import { queryForm } from '../engine/query.ts';
import type { Read, Write } from '../messages.ts';
import { negotiate, type Offer, offered, uploadFormat, uploads } from './formats.ts';

/** A request that breaks the protocol. */
export class ProtocolError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export interface ProtocolRequest {
  readonly method: string;
  readonly parameters: URLSearchParams;
  /** Lower case, without parameters; empty where there is none. */
  readonly mediaType: string;
  readonly accept: string | undefined;
  readonly body: Uint8Array;
}

export type StoreRequest =
  | { readonly kind: 'read'; readonly read: Read; readonly contentType: string }
  /** `body`: that of the write, such as the text of an update in a form. */
  | { readonly kind: 'write'; readonly write: Write; readonly body: Uint8Array };

const METHODS = 'GET, HEAD, POST, PUT, DELETE';
const FORM = 'application/x-www-form-urlencoded';
export const QUERY = 'application/sparql-query';
export const UPDATE = 'application/sparql-update';
const NOTHING = new Uint8Array(0);

/** @throws ProtocolError */
export function parseRequest(request: ProtocolRequest): StoreRequest {
  const { method, parameters, mediaType, body } = request;
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (parameters.has('update')) throw new ProtocolError(405, 'An update is sent by POST', { Allow: 'POST' });
      return parameters.has('query') ? query(request, once(parameters, 'query') ?? '', parameters) : dump(request);
    case 'POST':
      if (mediaType === FORM) return form(request);
      if (mediaType === QUERY) return query(request, textOf(body), parameters);
      if (mediaType === UPDATE) return update(body, parameters);
      return load(request, false);
    case 'PUT':
      return load(request, true);
    case 'DELETE':
      return { kind: 'write', write: { kind: 'drop', graph: graphOf(parameters) ?? missingGraph() }, body: NOTHING };
    default:
      throw new ProtocolError(405, `This path does not answer ${method}; it answers ${METHODS}`, { Allow: METHODS });
  }
}

function form(request: ProtocolRequest): StoreRequest {
  const fields = new URLSearchParams(textOf(request.body));
  const [asked, updated] = [once(fields, 'query'), once(fields, 'update')];
  if ((asked === undefined) === (updated === undefined))
    throw new ProtocolError(400, 'A form has either the field query or the field update');
  return asked === undefined ? update(Buffer.from(updated as string), fields) : query(request, asked, fields);
}

function query({ accept }: ProtocolRequest, text: string, parameters: URLSearchParams): StoreRequest {
  const form = queryForm(text);
  // Anything else goes to the parser too, for its error message.
  const contentType = accepted(accept, form === 'CONSTRUCT' || form === 'DESCRIBE' ? 'triples' : 'solutions');
  const graphs = (name: string): readonly string[] | undefined =>
    parameters.has(name) ? parameters.getAll(name).map(checkedIri) : undefined;
  const [defaultGraphs, namedGraphs] = [graphs('default-graph-uri'), graphs('named-graph-uri')];
  return { kind: 'read', read: { kind: 'query', text, format: contentType, defaultGraphs, namedGraphs }, contentType };
}

function update(text: Uint8Array, parameters: URLSearchParams): StoreRequest {
  const using = ['using-graph-uri', 'using-named-graph-uri'].find((name) => parameters.has(name));
  if (using !== undefined) throw new ProtocolError(400, `The parameter ${using} is not supported here; write USING into the update`);
  textOf(text);
  return { kind: 'write', write: { kind: 'update' }, body: text };
}

function dump({ parameters, accept }: ProtocolRequest): StoreRequest {
  const graph = graphOf(parameters);
  const contentType = accepted(accept, graph === undefined ? 'quads' : 'triples');
  return { kind: 'read', read: { kind: 'dump', format: contentType, graph }, contentType };
}

function load({ parameters, mediaType, body }: ProtocolRequest, replace: boolean): StoreRequest {
  const graph = graphOf(parameters);
  const into = graph === undefined ? 'dataset' : 'graph';
  const format = uploadFormat(mediaType, into);
  if (format === undefined) {
    const given = mediaType === '' ? 'The request has no Content-Type' : `The request has the Content-Type ${mediaType}`;
    const wanted = [...(into === 'dataset' && !replace ? [UPDATE, QUERY, FORM] : []), ...uploads(into)];
    throw new ProtocolError(415, `${given}; ${into === 'graph' ? 'a graph takes' : 'taken are'} ${wanted.join(', ')}`);
  }
  return { kind: 'write', write: { kind: 'load', format, graph, replace }, body };
}

/** The graph that the request names; empty: the default graph; undefined: none. */
function graphOf(parameters: URLSearchParams): string | undefined {
  const named = once(parameters, 'graph');
  if (named === undefined) return parameters.has('default') ? '' : undefined;
  if (parameters.has('default')) throw new ProtocolError(400, 'The request has both graph and default');
  return checkedIri(named);
}

function missingGraph(): never {
  throw new ProtocolError(400, 'The request names no graph: ?graph=IRI or ?default is missing');
}

function checkedIri(iri: string): string {
  if (!/^[a-z][a-z0-9+.-]*:[^\p{Cc} <>"{}|\\^`]*$/iu.test(iri))
    throw new ProtocolError(400, `${JSON.stringify(iri)} is not an absolute IRI`);
  return iri;
}

function once(parameters: URLSearchParams, name: string): string | undefined {
  const values = parameters.getAll(name);
  if (values.length > 1) throw new ProtocolError(400, `${name} is given ${values.length} times, once was expected`);
  return values[0];
}

function accepted(accept: string | undefined, offer: Offer): string {
  const found = negotiate(accept, offer);
  if (found === undefined) throw new ProtocolError(406, `Nothing of ${accept} can be given; there are ${offered(offer).join(', ')}`);
  return found;
}

function textOf(body: Uint8Array): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (!isUtf8(bytes)) throw new ProtocolError(400, 'The request body is not UTF-8');
  return bytes.toString();
}
