/** What the page shows, as its address says behind `#`: Back, reload and links work by themselves. */
import { makeStore, type Store } from './store.ts';

export type PageAddress = { readonly kind: 'start' } | ModelAddress | DatasetsAddress;

export interface DatasetsAddress {
  readonly kind: 'datasets';
  /** undefined: all of them. */
  readonly name?: string | undefined;
  /** Of the dataset; undefined: its list of versions. */
  readonly version?: number | undefined;
}

export interface ModelAddress {
  readonly kind: 'model';
  readonly service: TransformerName;
  readonly name: string;
  /** It has never been saved. */
  readonly isNew: boolean;
}

export type TransformerName = 'semi-structured-transformer' | 'sql-transformer';
const SHORT: Readonly<Record<TransformerName, string>> = { 'semi-structured-transformer': 'files', 'sql-transformer': 'sql' };

/** `#/files/shop.ttl`, `#/sql/master.ttl`, `#/new/files/shop.ttl`, `#/datasets/shop/3`; anything else is the start page. */
export function addressOf(hash: string): PageAddress {
  const datasets = /^#\/datasets(?:\/([\w.-]+)(?:\/([1-9]\d{0,14}))?)?$/.exec(hash);
  if (datasets !== null)
    return { kind: 'datasets', name: datasets[1], version: datasets[2] === undefined ? undefined : Number(datasets[2]) };
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

export function hashOf(address: PageAddress): string {
  if (address.kind === 'start') return '#/';
  if (address.kind === 'datasets') return ['#/datasets', address.name, address.version].filter((one) => one !== undefined).join('/');
  return `#/${address.isNew ? 'new/' : ''}${SHORT[address.service]}/${encodeURIComponent(address.name)}`;
}

const current = makeStore(location.hash);
window.addEventListener('hashchange', () => current.set(location.hash));

export const ADDRESS: Store<string> = current;

export function goTo(address: PageAddress): void {
  location.hash = hashOf(address);
}

/** The same page by another address, such as a new model that was saved: Back does not return to the old one. */
export function replaceWith(address: PageAddress): void {
  history.replaceState(undefined, '', hashOf(address));
  current.set(location.hash);
}
