/**
 * Whether a page without a link is the last one, or the mapping looks for the link in the wrong place: what the page shows of that.
 *
 * Many APIs leave the link out on the last page, so that it is missing says nothing by itself.
 */
import type { Formulation } from '../../../../core/input/formats.ts';
import { nearest } from '../../../../core/nearest.ts';
import { nextIn } from './link-header.ts';

/** Names that APIs have for the address of the next page, or for the value that leads to it. */
const USUAL_NAMES = [
  'next',
  'nextPage',
  'next_page',
  'nextLink',
  'next_link',
  'nextUrl',
  'next_url',
  'nextCursor',
  'next_cursor',
  'nextToken',
  'next_token',
  'nextPageToken',
  'next_page_token',
  'nextPageUrl',
  'next_page_url',
  'nextHref',
  'next_href',
  'nextUri',
  'next_uri',
  'nextMarker',
  'nextRecordsUrl',
  'endCursor',
  'end_cursor',
  '@odata.nextLink',
];
/** Names that also other things have: looked for where the one that is written is near. */
const OTHER_NAMES = ['cursor', 'after', 'continuation', 'continuationToken', 'token', 'scroll_id'];

/** Names that APIs have for the number of all records. Not `count`, which may be that of the page. */
const TOTAL_NAMES = ['total', 'totalCount', 'total_count', 'totalResults', 'total_results', 'totalItems', 'totalRecords', '@odata.count'];

/** Parameters that say how many items a page has. */
const SIZE = /^(?:\$?top|first|take|rows|count|max|.?limit|size)$|page.?(?:size|limit)|per.?page|max.?(?:results|items|records)/i;

/** Paths of a page by which a misspelt expression can be told. Each is read beside the records, and stands for little. */
export interface Signs {
  /** What the value stands in. undefined: that is the whole page, or where its records are. */
  readonly around: string | undefined;
  /** Usual places beside it. */
  readonly others: readonly string[];
  /** Where the page may have the number of all records. */
  readonly totals: readonly string[];
  /** No API is known that calls it like that: it is as likely to be misspelt as to be missing. */
  readonly isUnusual: boolean;
}

const isUsual = (name: string): boolean => [...USUAL_NAMES, ...OTHER_NAMES].some((one) => one.toLowerCase() === name.toLowerCase());

/** @param iterators those of the records */
export function signsOf(reference: string, formulation: Formulation, iterators: readonly (string | undefined)[]): Signs {
  if (formulation !== 'json') {
    // The element without the condition that picks one of several.
    const [, element] = formulation === 'xml' ? (/^((?:\/[\w.:-]+){2,})\[/.exec(reference.trim()) ?? []) : [];
    const steps = formulation === 'xml' ? /^(?:\/@?[\w.:-]+){2,}$/.exec(reference.trim())?.[0].split('/').slice(1) : undefined;
    return {
      around: element === undefined || holdsRecords(element, iterators) ? undefined : element,
      others: [],
      totals: [],
      isUnusual: steps !== undefined && !steps.some((step) => isUsual(step.replace(/^.*[@:]/, ''))),
    };
  }
  const written = reference.trim();
  const [, before = '$', dotted, quoted] = /^(?:(.*?)(?:\.|(?=\[)|^))(?:([A-Za-z_]\w*)|\[['"]([^'"\\\]]+)['"]\])$/.exec(written) ?? [];
  const name = dotted ?? quoted;
  const filter = written.indexOf('[?');
  const root = members('$', TOTAL_NAMES);
  if (filter > 0 || name === undefined)
    return { around: filter > 0 ? named(written.slice(0, filter), iterators) : undefined, others: [], totals: root, isUnusual: false };
  const parent = before === '' ? '$' : before;
  if (parent !== '$' && !isNamed(parent)) return { around: undefined, others: [], totals: root, isUnusual: false };
  const others = [...USUAL_NAMES.filter((one) => one !== name), ...nearest(name, OTHER_NAMES)];
  // A link may be an object, $._links.next.href: it is the object that is missing.
  const [, step, quotedStep] = /(?:\.(\w+)|\[['"]([^'"]+)['"]\])$/.exec(parent) ?? [];
  if (isUsual(step ?? quotedStep ?? '')) return signsOf(parent, formulation, iterators);
  return {
    around: named(parent, iterators),
    others: members(parent, others),
    totals: parent === '$' ? root : [...root, ...members(parent, TOTAL_NAMES)],
    isUnusual: !isUsual(name),
  };
}

const members = (parent: string, names: readonly string[]): readonly string[] =>
  names.map((name) => parent + (/^\w+$/.test(name) ? `.${name}` : `['${name}']`));

/** Whether each item of a page gives one record: the path of a list of items. */
export const isListOfItems = (iterator: string | undefined): boolean =>
  iterator?.endsWith('[*]') === true && (iterator === '$[*]' || isNamed(iterator.slice(0, -3)));

/** Whether a path below the root has names alone. */
const isNamed = (path: string): boolean => /^(?:\$|[A-Za-z_]\w*)(?:\.[A-Za-z_]\w*|\[['"][^'"\\\]]+['"]\])*$/.test(path) && path !== '$';

/** A path of names, unless the records stand there too: it may be large. */
const named = (path: string, iterators: readonly (string | undefined)[]): string | undefined =>
  isNamed(path) && !holdsRecords(path, iterators) ? path : undefined;

const holdsRecords = (path: string, iterators: readonly (string | undefined)[]): boolean =>
  iterators.some((iterator) => iterator?.startsWith(path));

/** What was found on the only page that was read. */
export interface OnlyPage {
  /** Items, or records where nothing is counted. */
  readonly items: number;
  readonly address: string;
  /** Its header `Link`. */
  readonly link: string | undefined;
  /** Paths of the signs that lead to something. */
  readonly found: ReadonlySet<string>;
  /** The number of all records that the page tells, and where. */
  readonly total: readonly [path: string, count: number] | undefined;
  /** Whether `items` can be less than the total because records are chosen, or are parts of items. */
  readonly isPart: boolean;
}

/** Why a page without a value at the expression may not be the last one: the end of a sentence. undefined: nothing speaks for more pages. */
export function reasonForMore(
  { around, others, isUnusual }: Signs,
  { items, address, link, found, total, isPart }: OnlyPage,
): string | undefined {
  const other = others.find((one) => found.has(one));
  if (other !== undefined) return `but it has ${other}`;
  if (around !== undefined && !found.has(around)) return `nor anything at ${around}`;
  if (nextIn(link) !== undefined) return 'but its header Link names a next page';
  if (total !== undefined && total[1] > items && items > 0 && !isPart)
    return `but its ${total[0]} is ${total[1]}, and it has ${items} records`;
  const sizes = [...new URL(address).searchParams].filter(([name, value]) => SIZE.test(name) && /^[1-9]\d{0,8}$/.test(value));
  const [parameter, size] = sizes.find(([, value]) => items >= Number(value)) ?? [];
  if (parameter !== undefined) return `and is full: ${items} records, with ${parameter}=${size}`;
  const isOnly = items === 0 || sizes.length > 0 || (total !== undefined && total[1] <= items);
  return isUnusual && !isOnly ? 'and nothing on it says that it is the last one' : undefined;
}
