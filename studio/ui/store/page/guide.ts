/** The guided example: which model is guided, and whether its run has ended well. It lasts as long as the tab. */
import { makeStore, type Store } from '../store.ts';

const KEY = 'quadmill-guide';

const guided = makeStore<string | undefined>(sessionStorage.getItem(KEY) ?? undefined);
const ran = makeStore(false);

/** The name of the model; undefined: none is guided. */
export const GUIDED: Store<string | undefined> = guided;
/** Whether a run has completed since the guide began. */
export const HAS_RUN: Store<boolean> = ran;

/** Begins to guide a model, or ends it. */
export function guide(name: string | undefined): void {
  ran.set(false);
  guided.set(name);
  if (name === undefined) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, name);
}

/** A run has completed. */
export const runCompleted = (): void => ran.set(true);
