/** Databases of the embedded queue for tests: copies of one that is made once, since making one takes seconds and a copy a fraction of one. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openDatabase } from '../../../queues/backend/embedded/database.ts';
import { PROJECT_ROOT } from '../project-root.ts';

/** What decides how a new database looks. */
const MADE_BY = ['queues/backend/embedded/database.ts', 'node_modules/@electric-sql/pglite/package.json'];

let template: Promise<string> | undefined;

/** Puts a new database where `openBackend({ url: 'embedded:', directory })` looks for one, unless there is one. */
export async function makeEmbeddedQueue(directory: string): Promise<void> {
  const database = join(directory, 'embedded', 'database');
  if (existsSync(database)) return;
  template ??= makeTemplate();
  await cp(await template, database, { recursive: true });
}

/** Kept among the packages, for the next run of the tests too. */
async function makeTemplate(): Promise<string> {
  const key = createHash('sha256');
  for (const path of MADE_BY) key.update(await readFile(join(PROJECT_ROOT, path)));
  const made = join(PROJECT_ROOT, 'node_modules/.cache/quadmill', `embedded-queue-${key.digest('hex').slice(0, 16)}`);
  if (existsSync(made)) return made;
  const making = `${made}.${process.pid}`;
  await mkdir(dirname(making), { recursive: true });
  await (await openDatabase(making)).close();
  // Another process of the tests may have been first.
  await rename(making, made).catch(() => rm(making, { recursive: true, force: true }));
  return made;
}
