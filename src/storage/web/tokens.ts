/**
 * Tokens of OAuth 2 for clients that log in for themselves. Each is kept in the memory of this thread until shortly before it expires.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-4.4 and https://www.rfc-editor.org/rfc/rfc6750
 */
import { Fault } from '../../core/fault.ts';
import { describeConnectionError, type HttpClient, type Response } from '../../core/reach/http.ts';
import { basic, type ClientCredentials, grantKey } from '../logins.ts';
import { retryAfterMs, TransientFault } from './retry.ts';

interface Token {
  readonly text: string;
  /** Of `performance.now()`. */
  readonly untilMs: number;
}

/** By grant. Few: an entry of SOURCE_LOGINS each. */
const tokens = new Map<string, Token>();
const MOST_TOKENS = 64;
/** A token is not used in the last seconds of its life, nor in its last tenth, so that it is still valid when it arrives. */
const MARGIN_MS = 30_000;
const ANSWER_BYTES = 64 * 1024;

/**
 * A token for a server.
 *
 * @param refused a token that the server has refused, which is not given again
 * @throws Fault source/refused — the token endpoint refuses the login or answers something else; source/unreadable — it is away
 */
export async function tokenFor(
  grant: ClientCredentials,
  refused: string | undefined,
  client: HttpClient,
  signal: AbortSignal,
): Promise<string> {
  const key = grantKey(grant);
  const known = tokens.get(key);
  if (known !== undefined && known.text !== refused && performance.now() < known.untilMs) return known.text;
  const token = await request(grant, client, signal);
  tokens.delete(key);
  tokens.set(key, token);
  for (const [oldest] of tokens) {
    if (tokens.size <= MOST_TOKENS) break;
    tokens.delete(oldest);
  }
  return token.text;
}

async function request(grant: ClientCredentials, client: HttpClient, signal: AbortSignal): Promise<Token> {
  const { endpoint, id, inForm } = grant;
  const secret = grant.secret.reveal();
  const form = new URLSearchParams([
    ['grant_type', 'client_credentials'],
    ...grant.fields.map(([name, value]): [string, string] => [name, value]),
  ]);
  if (inForm) {
    form.set('client_id', id);
    form.set('client_secret', secret);
  }
  // Id and secret are encoded as in a form before they stand in the header.
  const login: Record<string, string> = inForm ? {} : { authorization: basic(encoded(id), encoded(secret)) };
  const askedAt = performance.now();
  let response: Response;
  let answer: unknown;
  try {
    response = await client.fetch(new URL(endpoint), { accept: 'application/json', ...login }, form.toString(), signal);
    answer = await jsonOf(response);
  } catch (error) {
    if (signal.aborted) throw error;
    const { kind, reason } = describeConnectionError(error);
    const message = `The token endpoint ${endpoint} cannot be reached: ${reason}`;
    throw kind === 'tls' ? fault(endpoint, message) : new TransientFault(message, { place: { input: endpoint }, cause: error }, undefined);
  }
  const { status } = response;
  if (!response.ok) {
    const message = `The token endpoint ${endpoint} answered ${status}${errorOf(answer)}`;
    if (status >= 500 || status === 429) throw new TransientFault(message, { place: { input: endpoint } }, retryAfterMs(response.headers));
    throw fault(endpoint, message);
  }
  const { access_token: text, token_type: type, expires_in: seconds } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text) || (typeof type === 'string' && type.toLowerCase() !== 'bearer'))
    throw fault(endpoint, `The token endpoint ${endpoint} gave no bearer token`);
  const lifeMs = Number(seconds) * 1000;
  // Without a life, it is used until the server refuses it.
  const untilMs = Number.isFinite(lifeMs) && lifeMs > 0 ? askedAt + lifeMs - Math.min(MARGIN_MS, lifeMs / 10) : Number.POSITIVE_INFINITY;
  return { text, untilMs };
}

const encoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

const fault = (endpoint: string, message: string): Fault =>
  new Fault('source/refused', message, {
    place: { input: endpoint },
    hint: 'The option SOURCE_LOGINS has the address of the endpoint, id, secret and scope; OAuth2-Form sends id and secret in the form',
  });

/** undefined: no JSON, or too much. */
async function jsonOf({ body }: Response): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES) return undefined;
    parts.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    // An answer that is no JSON has no token, and says nothing that could be told.
    return undefined;
  }
}

/** The code of the error alone: a description could repeat what was sent. @see https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
function errorOf(answer: unknown): string {
  const { error } = (answer ?? {}) as { readonly error?: unknown };
  return typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? `: ${error}` : '';
}
