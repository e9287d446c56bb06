/**
 * The functions, loaded when a mapping calls one: they are a third of the code that a small run would load, and most mappings call none.
 *
 * Reading a mapping loads them. Another thread that compiles its calls loads them by `loadModules`.
 */
import { loadLinearEngine } from '../regexp/linear.ts';

/** What is loaded for some mappings alone. Plain data: it is sent to threads. */
export interface Modules {
  readonly functions: boolean;
  /** The engine of linear time. */
  readonly regExps: boolean;
}

export async function loadModules({ functions, regExps }: Modules): Promise<void> {
  if (functions) await loadFunctions();
  if (regExps) await loadLinearEngine();
}

export interface FunctionLibrary {
  readonly compileCall: typeof import('./compile.ts').compileCall;
  readonly constantProblem: typeof import('./compile.ts').constantProblem;
  readonly constantly: typeof import('./compile.ts').constantly;
  readonly parameterOf: typeof import('./compile.ts').parameterOf;
  readonly findFunction: typeof import('./registry.ts').findFunction;
  readonly suggestFunctions: typeof import('./registry.ts').suggestFunctions;
  readonly shortName: typeof import('./names.ts').shortName;
}

let loaded: FunctionLibrary | undefined;

export async function loadFunctions(): Promise<void> {
  if (loaded !== undefined) return;
  // One after the other: the first loads nearly all, and loaders may mistake a module that two imports ask for at once.
  const { findFunction, suggestFunctions } = await import('./registry.ts');
  const { compileCall, constantProblem, constantly, parameterOf } = await import('./compile.ts');
  const { shortName } = await import('./names.ts');
  loaded = { compileCall, constantProblem, constantly, parameterOf, findFunction, suggestFunctions, shortName };
}

/** For messages: undefined if no mapping of this thread has called a function. */
export const loadedFunctions = (): FunctionLibrary | undefined => loaded;

/** @throws Error — `loadFunctions` has not ended in this thread */
export function functionLibrary(): FunctionLibrary {
  if (loaded === undefined) throw new Error('the functions are not loaded');
  return loaded;
}
