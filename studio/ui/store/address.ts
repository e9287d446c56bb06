/** What the page shows, as its address says behind `#`: Back, reload and links work by themselves. */
import { makeStore, type Store } from './store.ts';

export type Place =
  | { readonly kind: 'start' }
  /** `isNew`: it has never been saved. */
  | { readonly kind: 'model'; readonly service: TransformerName; readonly name: string; readonly isNew: boolean };

export type TransformerName = 'semi-structured-transformer' | 'sql-transformer';
const SHORT: Readonly<Record<TransformerName, string>> = { 'semi-structured-transformer': 'files', 'sql-transformer': 'sql' };

/** `#/files/shop.ttl`, `#/sql/master.ttl`, `#/new/files/shop.ttl`; anything else is the start page. */
export function placeOf(hash: string): Place {
  const [, fresh, short, encoded] = /^#\/(new\/)?(files|sql)\/([^/]+)$/.exec(hash) ?? [];
  if (short === undefined || encoded === undefined) return { kind: 'start' };
  try {
    const service = short === 'sql' ? 'sql-transformer' : 'semi-structured-transformer';
    return { kind: 'model', service, name: decodeURIComponent(encoded), isNew: fresh !== undefined };
  } catch {
    // A `%` that encodes nothing.
    return { kind: 'start' };
  }
}

export function hashOf(place: Place): string {
  if (place.kind === 'start') return '#/';
  return `#/${place.isNew ? 'new/' : ''}${SHORT[place.service]}/${encodeURIComponent(place.name)}`;
}

const current = makeStore(location.hash);
window.addEventListener('hashchange', () => current.set(location.hash));

export const ADDRESS: Store<string> = current;

export function goTo(place: Place): void {
  location.hash = hashOf(place);
}

/** The same page by another address, such as a new model that was saved: Back does not return to the old one. */
export function replaceWith(place: Place): void {
  history.replaceState(undefined, '', hashOf(place));
  current.set(location.hash);
}
