/**
 * The beginning of `engine.js` in the bundle: runs the script of the engine beside it, with what V8 kept of its compilation.
 *
 * What is kept stands beside the script, by the digest of the script and the version of Node. V8 compares its own version, its flags and the
 * length of the script with those for which it was made, and compiles the script where they differ. Who may write there may change the program, too.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

type Exported = Readonly<Record<string, unknown>>;

export interface Engine {
  readonly exported: Exported;
  /** Whether what was kept could be used. */
  readonly isKept: boolean;
  /** Keeps the compilation of what has run so far, if nothing is kept yet. Where nothing can be written, nothing is. */
  keep(): void;
}

/**
 * @param url of `engine.js`
 * @param digest of the script
 * @param importLater imports a module beside `engine.js`: V8 keeps no way to import
 */
export function load(url: string, digest: string, importLater: (path: string) => Promise<unknown>): Engine {
  const path = fileURLToPath(new URL('engine-script.js', url));
  const kept = fileURLToPath(new URL(`engine-${digest}-${process.version}-${process.arch}.cache`, url));
  const cachedData = readKept(kept);
  const script = new Script(readFileSync(path, 'latin1'), {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  const module: { exports: Exported } = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(url), module, url, importLater);
  return {
    exported: module.exports,
    isKept: cachedData !== undefined && script.cachedDataRejected === false,
    keep() {
      if (cachedData === undefined) write(kept, script.createCachedData());
    },
  };
}

function readKept(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** Other processes see all of it or nothing. */
function write(path: string, data: Buffer): void {
  const temporary = `${path}.${process.pid}`;
  try {
    writeFileSync(temporary, data, { flag: 'wx' });
    renameSync(temporary, path);
  } catch {
    // A read-only installation, another user, a full disk: the next run compiles again.
    rmSync(temporary, { force: true });
  }
}
