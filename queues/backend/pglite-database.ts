/** The database of the embedded queue: opened in little memory, and made first where there is none. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import type { PGlite } from '@electric-sql/pglite';

/**
 * PostgreSQL's own figures are for servers: of 128 MB of buffers it touches every page when it starts. The rows of a queue are few, and
 * the system keeps their files in memory anyway.
 */
const SETTINGS = ['shared_buffers=8MB', 'wal_buffers=256kB'];

const START = SETTINGS.flatMap((setting) => ['-c', setting]);

/**
 * How much a function of WebAssembly has to execute, in bytes of its code, before V8 compiles it once more, for speed. By V8's own figure, a
 * tenth of this, a start compiles hundreds at once, which takes fifty megabytes that the process never gives back.
 */
const HOT_BYTES = 20_000_000;

/** The database in `directory`. The caller closes it, and is the only one who has it. */
export async function openDatabase(directory: string): Promise<PGlite> {
  if (!existsSync(directory)) await createDatabase(directory);
  setFlagsFromString(`--wasm-tiering-budget=${HOT_BYTES}`);
  const { PGlite } = await import('@electric-sql/pglite');
  return PGlite.create(directory, { startParams: [...PGlite.defaultStartParams, ...START] });
}

/**
 * In a process of its own, with which the memory goes that `initdb` takes: hundreds of megabytes, which would stay with this one. It
 * appears by rename, so that an interruption leaves no half of a database.
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
    // The message of `execFile` is the script.
    const reason = /^\w*Error: .*$/m.exec(error.stderr ?? '')?.[0] ?? error.stderr?.trim().split('\n').at(-1) ?? '';
    throw new Error(`its database cannot be made: ${reason === '' ? 'the process that makes it has ended' : reason}`, { cause: error });
  });
  await rename(making, directory);
}
