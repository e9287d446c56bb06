/** What is said to screen readers: each command, refusals at once, and counts of previews. */
import { makeStore, type Store } from './store.ts';

export type Urgency = 'polite' | 'assertive';

export interface Announcement {
  readonly text: string;
  /** Another one for each, so that the same sentence is said again. */
  readonly number: number;
}

const nothing: Announcement = { text: '', number: 0 };
const stores = { polite: makeStore(nothing), assertive: makeStore(nothing) } as const;

/** The last one of each urgency. */
export const ANNOUNCEMENTS: Readonly<Record<Urgency, Store<Announcement>>> = stores;

export function announce(text: string, urgency: Urgency = 'polite'): void {
  const store = stores[urgency];
  store.set({ text, number: store.get().number + 1 });
}
