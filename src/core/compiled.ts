const ROOT = new URL(import.meta.url.endsWith('.ts') ? '../../dist/' : '../../', import.meta.url);

/** A script of a thread by its path in the project, `src/run/execute/thread.js`. Threads need compiled code: from the sources (in tests) it is that of `dist`. */
export const compiled = (path: string): URL => new URL(path, ROOT);
