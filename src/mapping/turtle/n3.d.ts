/** The file of n3 with its parser, a CommonJS module that @types/n3 does not describe. */
declare module 'n3/lib/N3Parser.js' {
  import type { Parser } from 'n3';

  const exports: { readonly default: typeof Parser };
  export default exports;
}
