/** Where the next page of a Web API is. */
import { Fault } from '../../../../core/fault.ts';
import { redact } from '../../../../core/redact.ts';
import { formatOrigin, type Paging } from '../../../../mapping/model/model.ts';
import { nextIn } from './link-header.ts';

/** What a page has said. */
export interface PageFacts {
  /** 1-based. */
  readonly number: number;
  /** Its address, behind redirects. */
  readonly address: string;
  /** Its header `Link`. */
  readonly link: string | undefined;
  /** The values of the expressions of the paging, by expression; those without a value are missing. */
  readonly values: ReadonlyMap<string, string>;
  /** undefined: the paging counts none. */
  readonly items: number | undefined;
  /** Items of this page and of all before it. */
  readonly total: number;
}

/**
 * The address of the page after this one; undefined: it was the last one.
 *
 * @param first the address that the run was given, with its login. A page of that server gets the login, too.
 * @throws Fault source/malformed — a count is no number, the next address is none; source/refused — it belongs to another server
 */
export function nextPage(paging: Paging, first: string, page: PageFacts): string | undefined {
  if (page.items === 0) return undefined;
  switch (paging.kind) {
    case 'link-header':
      return linked(nextIn(page.link), paging, first, page);
    case 'next-link':
      return linked(page.values.get(paging.reference as string), paging, first, page);
    case 'cursor': {
      const cursor = page.values.get(paging.reference as string);
      return cursor === undefined || cursor === '' ? undefined : withParameter(first, paging, cursor);
    }
    case 'page-number': {
      const count = countOf(paging.pageCount, paging, page);
      return count !== undefined && page.number >= count ? undefined : withParameter(first, paging, String(paging.first + page.number));
    }
    case 'offset': {
      const count = countOf(paging.recordCount, paging, page);
      return count !== undefined && page.total >= count ? undefined : withParameter(first, paging, String(paging.first + page.total));
    }
  }
}

/** The address of the first page: that of a numbered one has its number. */
export const firstPage = (paging: Paging, address: string): string =>
  paging.kind === 'page-number' || paging.kind === 'offset' ? withParameter(address, paging, String(paging.first)) : address;

function withParameter(address: string, { parameter }: Paging, value: string): string {
  const url = new URL(address);
  url.searchParams.set(parameter as string, value);
  return url.href;
}

function linked(link: string | undefined, paging: Paging, first: string, { address, number }: PageFacts): string | undefined {
  if (link === undefined || link.trim() === '') return undefined;
  const place = { input: redact(address), page: number, mapping: formatOrigin(paging.origin) };
  if (!URL.canParse(link, address)) {
    throw new Fault(
      'source/malformed',
      `Page ${number} gives ${JSON.stringify(redact(link))} as the address of the next page, which is no URL`,
      {
        place,
      },
    );
  }
  const next = new URL(link, address);
  const given = new URL(first);
  if (next.origin !== given.origin && next.origin !== new URL(address).origin) {
    throw new Fault('source/refused', `Page ${number} gives an address of another server as that of the next page: ${redact(next.href)}`, {
      place,
      hint: `The pages of a source are those of one server, ${given.origin}. A server behind a proxy has to know its own address`,
    });
  }
  next.username = '';
  next.password = '';
  next.hash = '';
  if (next.origin === given.origin) {
    next.username = given.username;
    next.password = given.password;
  }
  return next.href;
}

function countOf(expression: string | undefined, paging: Paging, { values, address, number }: PageFacts): number | undefined {
  const text = expression === undefined ? undefined : values.get(expression);
  if (expression === undefined || (text !== undefined && /^\d{1,15}$/.test(text.trim())))
    return text === undefined ? undefined : Number(text);
  const found = text === undefined ? 'nothing' : JSON.stringify(text.slice(0, 40));
  throw new Fault('source/malformed', `Page ${number} has ${found} at ${expression}, which is to be a number`, {
    place: { input: redact(address), page: number, expression, mapping: formatOrigin(paging.origin) },
  });
}
