/** The database of the embedded queue: opened with little memory, and created first if it does not exist. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import type { PGlite } from '@electric-sql/pglite';

/**
 * PostgreSQL's defaults are meant for servers: it touches every page of 128 MB of buffers at start, and keeps up to a gigabyte of its log. A queue has few
 * rows, and the operating system caches their files anyway.
 */
const SETTINGS = ['shared_buffers=8MB', 'wal_buffers=256kB', 'min_wal_size=32MB', 'max_wal_size=64MB'];

const START = SETTINGS.flatMap((setting) => ['-c', setting]);

/**
 * How many bytes of its code a WebAssembly function must execute before V8 optimizes it. V8's default is a tenth of this and optimizes
 * hundreds of functions at start, which takes fifty megabytes that the process never returns.
 */
const HOT_BYTES = 20_000_000;

/** Opens the database in `directory`. The caller closes it and must be its only user. */
export async function openDatabase(directory: string): Promise<PGlite> {
  if (!existsSync(directory)) await createDatabase(directory);
  setFlagsFromString(`--wasm-tiering-budget=${HOT_BYTES}`);
  const { PGlite } = await import('@electric-sql/pglite');
  return PGlite.create(directory, { startParams: [...PGlite.defaultStartParams, ...START] });
}

/**
 * Created in a separate process, because `initdb` takes hundreds of megabytes that this process would keep. The directory appears by
 * rename, so an interruption leaves no partial database.
 */
async function createDatabase(directory: string): Promise<void> {
  const making = `${directory}.making`;
  await rm(making, { recursive: true, force: true });
  const library = pathToFileURL(createRequire(import.meta.url).resolve('@electric-sql/pglite')).href;
  const script = `
    import pglite from ${JSON.stringify(library)};
    const { PGlite } = pglite;
    const database = await PGlite.create(${JSON.stringify(making)}, { startParams: [...PGlite.defaultStartParams, ...${JSON.stringify(START)}] });
    await database.close();`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]).catch((error: Error & { stderr?: string }) => {
    // The message of `execFile` is the whole script.
    const reason = /^\w*Error: .*$/m.exec(error.stderr ?? '')?.[0] ?? error.stderr?.trim().split('\n').at(-1) ?? '';
    throw new Error(`its database cannot be created: ${reason === '' ? 'the process that creates it has ended' : reason}`, {
      cause: error,
    });
  });
  await rename(making, directory);
}
