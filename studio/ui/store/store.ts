/** A value that changes, and its observers. Views use it by `useStore`, which renders again only when what they select is another value. */
import { useRef, useSyncExternalStore } from 'react';

export interface Store<S> {
  get(): S;
  subscribe(listener: () => void): () => void;
}

export interface WritableStore<S> extends Store<S> {
  set(state: S): void;
}

export function makeStore<S>(first: S): WritableStore<S> {
  let state = first;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    set(next) {
      if (Object.is(next, state)) return;
      state = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** @param same whether two selections are the same for the view; the first one is kept then. Default: identity */
export function useStore<S, T>(store: Store<S>, select: (state: S) => T, same: (a: T, b: T) => boolean = Object.is): T {
  const last = useRef<{ readonly value: T } | undefined>(undefined);
  return useSyncExternalStore(store.subscribe, () => {
    const value = select(store.get());
    if (last.current === undefined || !same(last.current.value, value)) last.current = { value };
    return last.current.value;
  });
}

/** For selections that are lists: the same members in the same order. */
export const sameMembers = <T>(a: readonly T[], b: readonly T[]): boolean =>
  a.length === b.length && a.every((one, i) => Object.is(one, b[i]));
