/** The colours that the user has chosen, kept in the browser; by default those of the system. */
import { makeStore, type Store } from '../store.ts';

export const SCHEMES = ['system', 'light', 'dark'] as const;
export type Scheme = (typeof SCHEMES)[number];

const KEY = 'quadmill-scheme';

function kept(): Scheme {
  const found = localStorage.getItem(KEY);
  return SCHEMES.find((scheme) => scheme === found) ?? 'system';
}

const store = makeStore<Scheme>(kept());
export const SCHEME: Store<Scheme> = store;

/** The one that a button for all of them chooses next. */
export const nextScheme = (scheme: Scheme): Scheme => SCHEMES[(SCHEMES.indexOf(scheme) + 1) % SCHEMES.length] ?? 'system';

function apply(scheme: Scheme): void {
  if (scheme === 'system') delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = scheme;
}

export function chooseScheme(scheme: Scheme): void {
  localStorage.setItem(KEY, scheme);
  store.set(scheme);
  apply(scheme);
}

apply(store.get());
