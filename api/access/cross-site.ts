/**
 * Refuses requests that a page of another site has made by way of a user's browser. GET routes change things here (the specification has
 * them so), and a browser sends GET for any page.
 */
import { RequestFault } from '../problem.ts';

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface CrossSiteCheck {
  /** Whether the request changes something. */
  readonly changes: boolean;
  /** Whether the request makes the service work, as a query does. Default: if it changes something. */
  readonly works?: boolean;
  /** Whether requests need tokens, which a page of another site does not have. */
  readonly tokens: boolean;
}

/**
 * - `Sec-Fetch-Site` names the site. Browsers send it over TLS and to this machine.
 * - Over plain HTTP to another machine they do not: there `Origin` and `Referer` name it, both of which a page can suppress. Without tokens, a
 *   change is then refused to every browser that does not say that its page is ours.
 * - `none` is an address that was typed, or a link of another program, such as a mail: without tokens it starts, changes and queries nothing.
 *
 * @throws Fault request/forbidden
 * @see https://www.w3.org/TR/fetch-metadata/
 */
export function refuseCrossSite(headers: RequestHeaders, { changes, tokens, works = changes }: CrossSiteCheck): void {
  if (tokens && !changes) return;
  const site = headers['sec-fetch-site'];
  const own = String(headers.host ?? '').toLowerCase();
  if (site === 'cross-site' || site === 'same-site' || isOther(headers.origin, own) || (changes && isOther(headers.referer, own))) {
    throw new RequestFault('request/forbidden', 'The service does not answer to the pages of other sites', {
      hint: 'Ask it from a program, with a token of API_TOKENS where tokens are in use',
    });
  }
  if (works && !tokens && site === 'none') {
    throw new RequestFault(
      'request/forbidden',
      'Without tokens the service starts, changes and queries nothing by an address that a browser opens',
      {
        hint: 'Ask from a program such as curl, or use the studio',
      },
    );
  }
  const isTold = [site, headers.origin, headers.referer].some((header) => header !== undefined && header !== '');
  if (changes && !tokens && !isTold && /^Mozilla\//.test(String(headers['user-agent'] ?? ''))) {
    throw new RequestFault('request/forbidden', 'Without tokens and TLS the service takes no changes from browsers of other machines', {
      hint: 'Set API_TOKENS, or ask from a program such as curl',
    });
  }
}

/** Whether a URL in a header is one of another host; `null` stands for an origin that is not told. */
function isOther(url: string | string[] | undefined, own: string): boolean {
  if (url === undefined || url === '') return false;
  const text = String(url);
  return !URL.canParse(text) || new URL(text).host !== own;
}
