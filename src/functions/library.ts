/**
 * The functions, loaded when a mapping calls one: they are a third of the code that a small run would load, and most mappings call none.
 *
 * Reading a mapping loads them, so whoever compiles its calls in the same thread finds them loaded.
 */

export interface FunctionLibrary {
  readonly compileCall: typeof import('./compile.ts').compileCall;
  readonly constantly: typeof import('./compile.ts').constantly;
  readonly findFunction: typeof import('./registry.ts').findFunction;
  readonly suggestFunctions: typeof import('./registry.ts').suggestFunctions;
  readonly shortName: typeof import('./names.ts').shortName;
}

let loaded: FunctionLibrary | undefined;

export async function loadFunctions(): Promise<void> {
  if (loaded !== undefined) return;
  const [{ compileCall, constantly }, { findFunction, suggestFunctions }, { shortName }] = await Promise.all([
    import('./compile.ts'),
    import('./registry.ts'),
    import('./names.ts'),
  ]);
  loaded = { compileCall, constantly, findFunction, suggestFunctions, shortName };
}

/** @throws Error — `loadFunctions` has not ended in this thread */
export function functionLibrary(): FunctionLibrary {
  if (loaded === undefined) throw new Error('the functions are not loaded');
  return loaded;
}
