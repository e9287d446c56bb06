// Right for `dist/src/core` and for `dist/bin/bundle`, where the command line has all its modules in a few files.
const ROOT = new URL(import.meta.url.endsWith('.ts') ? '../../dist/' : '../../', import.meta.url);

/**
 * The compiled script of a thread, by its path in the project (`src/run/threads/thread.js`). Threads need compiled code: when the sources
 * run directly, as in tests, the script comes from `dist`.
 */
export const compiled = (path: string): URL => new URL(path, ROOT);

/** As `compiled`, for a thread that the command line has in its bundle, too: `THREADS` of `bin/build/bundle.ts`. */
export const bundled = (path: string): URL =>
  import.meta.url.includes('/bin/bundle/') ? new URL(path.replaceAll('/', '-'), import.meta.url) : compiled(path);
