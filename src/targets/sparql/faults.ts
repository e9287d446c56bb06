/** Maps a store's answers and connection errors to faults. */
import { Fault } from '../../core/fault.ts';
import { describeConnectionError } from '../../core/reach/http.ts';
import { retryAfterMs } from '../../storage/web/retry.ts';
import { TargetBusy } from '../target.ts';
import { REASON_HEADER } from './headers.ts';
import type { SparqlProduct } from './products.ts';

export interface StoreAnswer {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  /** The first 4 KiB, as characters. */
  readonly text: string;
}

export interface AnswerContext {
  /** Name of the store in messages. */
  readonly name: string;
  /** Without login and query. */
  readonly url: string;
  readonly product: SparqlProduct;
}

const BUSY = new Set([408, 425, 429, 502, 503, 504, 507]);
const REFUSED_LOGIN = /not authoriz|unauthori|access denied|permission denied|no (?:permission|rights)|SPARQL_UPDATE|SR42:|SR186/i;
const READ_ONLY = /read[- ]?only|no operation for request/i;
const CONFLICT = /deadlock|transaction.{0,40}conflict|concurrent ?modification|conflicting transaction|memory ?limit ?exceeded|SR172/i;

/**
 * The fault for an answer; undefined: the request succeeded.
 *
 * 413 counts as a refusal, since parts of the statements may be accepted.
 */
export function faultOfAnswer(answer: StoreAnswer, context: AnswerContext): Fault | undefined {
  const { status, text } = answer;
  if (status >= 200 && status < 300) return undefined;
  const { name, product } = context;
  const reason = reasonOf(answer);
  const said = `${name} answered ${status}${reason === '' ? '' : `: ${reason}`}`;
  if (status === 401) return credentials(name, reason);
  if (status === 403) return READ_ONLY.test(text) ? readOnly(name, said) : credentials(name, reason);
  if (status === 405 || status === 415 || (status === 400 && READ_ONLY.test(text))) return readOnly(name, said);
  if (status < 400 || status === 404 || status === 410) return elsewhere(answer, said, context);
  if (status === 507 && answer.header(REASON_HEADER) === 'memory') return full(reason);
  if (BUSY.has(status)) return new TargetBusy(said, retryAfterMs({ get: (name) => answer.header(name) ?? null }));
  if (status < 500 && !CONFLICT.test(text)) return new Fault('target/refused', refusal(status, reason, name));
  if (CONFLICT.test(text)) return new TargetBusy(said);
  if (product.refusesBy500 && REFUSED_LOGIN.test(text)) return credentials(name, reason);
  if (product.refusesBy500) return new Fault('target/refused', refusal(status, reason, name));
  return new TargetBusy(said, retryAfterMs({ get: (name) => answer.header(name) ?? null }));
}

function refusal(status: number, reason: string, name: string): string {
  if (status === 413) return `${name} takes no request of this size`;
  return reason === '' ? `${name} answered ${status}` : reason;
}

function credentials(name: string, reason: string): Fault {
  const words = reason === '' || /^(http )?(error )?(\d+ )?(unauthorized|forbidden)$/i.test(reason) ? '' : `: ${reason}`;
  return new Fault('target/credentials', `${name} refuses the login${words}`, {
    hint: 'Check TRIPLESTORE_USERNAME and TRIPLESTORE_PASSWORD, and that this user may write there',
  });
}

/** Only from the embedded store: waiting does not help. */
const full = (reason: string): Fault =>
  new Fault('store/full', reason, {
    hint: 'Write to a store that does not hold everything in memory (TRIPLESTORE_TYPE, TRIPLESTORE_ENDPOINT); of a service, raise EMBEDDED_MEMORY_MB, or set LOCAL_MESSAGES=false, so that output is not loaded by itself',
  });

const readOnly = (name: string, said: string): Fault =>
  new Fault('target/read-only', `${name} takes no statements there (${said})`, {
    hint: 'Name an endpoint that takes updates, or allow them in the configuration of the store',
  });

function elsewhere({ status, header }: StoreAnswer, said: string, { url, product }: AnswerContext): Fault {
  const location = header('location');
  const moved = status < 400 && location !== undefined ? ', which says to go elsewhere' : '';
  return new Fault('config/invalid', `There is no such dataset or repository at ${url}${moved} (${said})`, {
    hint: `Check TRIPLESTORE_ENDPOINT and TRIPLESTORE_TYPE; the endpoint of ${product.name} is ${product.endpoint}`,
  });
}

const REASON_CHARACTERS = 500;

/** The first meaningful line of an answer, without the tags of an HTML page. */
export function reasonOf({ text, header }: StoreAnswer): string {
  if (text.includes(SHACL)) return textOfReport(text);
  const type = header('content-type') ?? '';
  const plain = type.includes('html') ? textOfPage(text) : type.includes('json') ? textOfJson(text) : text;
  const line = plain
    .split(/[\r\n]+/)
    .map((each) => each.replace(/[\x00-\x1f\x7f]+/g, ' ').trim())
    .find((each) => each !== '');
  return line === undefined || line.length <= REASON_CHARACTERS ? (line ?? '') : `${line.slice(0, REASON_CHARACTERS)}…`;
}

/** Jetty writes the reason next to `MESSAGE:`, others in the title. */
function textOfPage(html: string): string {
  const strip = (part: string | undefined): string =>
    (part ?? '')
      .replace(/<[^>]*>/g, ' ')
      .replace(/&lt;/g, '<')
      .replace(/&gt;/g, '>')
      .replace(/&quot;/g, '"')
      .replace(/&#0?39;/g, "'")
      .replace(/&amp;/g, '&');
  const message = /MESSAGE:<\/th>\s*<td>([\s\S]*?)<\/td>/i.exec(html)?.[1] ?? /<pre>([\s\S]*?)<\/pre>/i.exec(html)?.[1];
  return strip(message ?? /<title>([\s\S]*?)<\/title>/i.exec(html)?.[1] ?? html);
}

const SHACL = 'http://www.w3.org/ns/shacl#';

/** The first result of a validation report in N-Triples, as sent by RDF4J and GraphDB. */
function textOfReport(triples: string): string {
  const words = ['focusNode', 'resultPath', 'value', 'sourceConstraintComponent'].flatMap((name) => {
    const found = new RegExp(`<${SHACL}${name}> (.*) \\.`).exec(triples)?.[1];
    return found === undefined ? [] : [`${name} ${found.replace(`<${SHACL}`, '<sh:')}`];
  });
  return `A shape of the store (SHACL) is violated${words.length === 0 ? '' : `: ${words.join(', ')}`}`;
}

/** Neptune and Stardog: the message is in one of these members. */
function textOfJson(json: string): string {
  try {
    const parsed: unknown = JSON.parse(json);
    if (typeof parsed !== 'object' || parsed === null) return json;
    const { detailedMessage, message, detail } = parsed as Readonly<Record<string, unknown>>;
    return String(detailedMessage ?? message ?? detail ?? json);
  } catch {
    // Truncated, or not JSON: the text itself is the best information.
    return json;
  }
}

export const timedOut = (name: string, seconds: number): TargetBusy => new TargetBusy(`${name} did not answer within ${seconds} s`);

/** The fault for an error of the connection. */
export function faultOfError(error: unknown, { name, connectSeconds }: { readonly name: string; readonly connectSeconds: number }): Fault {
  const { kind, reason } = describeConnectionError(error);
  const unreachable = (why: string, hint?: string): Fault =>
    new Fault('target/unreachable', `${name} cannot be reached: ${why}`, { cause: error, ...(hint === undefined ? {} : { hint }) });
  if (kind === 'connect time-out') return unreachable(`no connection within ${connectSeconds} s`);
  if (kind === 'tls') return unreachable(`TLS failed: ${reason}`, TLS_HINT);
  return unreachable(reason);
}

const TLS_HINT = 'Name the certificate of its authority with TRIPLESTORE_CA, if it is not one that is known everywhere';
