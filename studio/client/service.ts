/** The service that has sent the page, as typed functions. */
import { type ClientOptions, QuadmillClient } from '../../client/client.ts';
import { ProblemError, QuadmillError } from '../../client/http.ts';
import type { Place, StudioUser } from '../../client/types.ts';
import { readToken, TOKEN_ENDED } from './token.ts';

/** Requests of a person who waits are repeated once, so that a service that stays away is reported within a second. */
const RETRIES = 1;

/** Where the routes are: beside `/studio/`, also where a proxy puts a path before it. */
const baseUrl = (): string => new URL('..', document.baseURI).href;

/** How requests are sent: with the token of the tab. */
const transportOptions = (): Omit<ClientOptions, 'service'> => ({
  retries: RETRIES,
  // Read for each request, so that signing in needs no new client.
  fetch: async (url, init) => {
    const token = readToken();
    const headers = { ...init.headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) };
    const answer = await fetch(url, { ...init, headers });
    if (answer.status === 401) window.dispatchEvent(new Event(TOKEN_ENDED));
    return answer;
  },
});

/** @param services those of the process; undefined: not known yet, and only the routes at the root are used */
export function openService(services?: StudioUser['services']): QuadmillClient {
  const service: ClientOptions['service'] = services?.length === 1 ? services[0] : 'all';
  return new QuadmillClient(baseUrl(), { service, ...transportOptions() });
}

/** What went wrong, for a person: a sentence, and what can be done. */
export interface Told {
  readonly sentence: string;
  readonly hint?: string;
}

export interface Trouble extends Told {
  readonly kind: 'sign-in' | 'forbidden' | 'away' | 'conflict' | 'refused';
}

/** @returns undefined: the caller gave the request up */
export function troubleOf(error: unknown): Trouble | undefined {
  if (error instanceof DOMException && error.name === 'AbortError') return undefined;
  if (error instanceof ProblemError) {
    const { status, detail, hint, place } = error.problem;
    return { kind: kindOf(status), ...toldOf({ message: detail, hint, place }) };
  }
  if (error instanceof QuadmillError) return { kind: kindOf(error.status), sentence: error.message };
  // `fetch` rejects with a TypeError when there is no answer.
  if (error instanceof TypeError)
    return { kind: 'away', sentence: 'The service does not answer.', hint: 'What you draw is kept in this browser.' };
  throw error;
}

/** A fault for a person. */
export const toldOf = ({ message, hint, place }: { message: string; hint?: string | undefined; place?: Place | undefined }): Told => ({
  sentence: placed(message, place),
  ...(hint !== undefined && { hint }),
});

/** Where it is, unless the sentence says so: in a text by line and column, else by byte. */
function placed(sentence: string, { line, column, byte }: Place = {}): string {
  if (line !== undefined && !/\bline \d/.test(sentence))
    return `Line ${line}${column === undefined ? '' : `, column ${column}`}: ${sentence}`;
  return line === undefined && byte !== undefined && !/\bbyte \d/.test(sentence) ? `Byte ${byte}: ${sentence}` : sentence;
}

/** Both as sentences. */
export const saidOf = ({ sentence, hint }: Told): string =>
  [sentence, hint]
    .filter((one) => one !== undefined && one !== '')
    .map((one) => (/[.!?…]$/.test(one as string) ? one : `${one}.`))
    .join(' ');

function kindOf(status: number): Trouble['kind'] {
  if (status === 401) return 'sign-in';
  if (status === 403) return 'forbidden';
  if (status === 412 || status === 409) return 'conflict';
  return status >= 500 ? 'away' : 'refused';
}
