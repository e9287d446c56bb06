/** SQLite files for tests, written by the package that reads them where Node has no SQLite. */
import { createRequire } from 'node:module';

interface Writer {
  exec(sql: string): void;
  prepare(sql: string): { run(...values: readonly (string | number | null)[]): unknown };
  close(): void;
}

const require = createRequire(import.meta.url);

/** Why SQLite files cannot be written here; undefined: they can. */
export function missingSqlite(): string | undefined {
  try {
    require('@photostructure/sqlite');
    return undefined;
  } catch {
    return 'the package @photostructure/sqlite is not installed';
  }
}

/** A connection that may write. The caller closes it. */
export function openSqliteWriter(path: string): Writer {
  const { DatabaseSync } = require('@photostructure/sqlite') as { DatabaseSync: new (path: string) => Writer };
  return new DatabaseSync(path);
}

/** Runs a script on a new or existing file. */
export async function writeSqlite(path: string, script: string): Promise<void> {
  const writer = openSqliteWriter(path);
  try {
    writer.exec(script);
  } finally {
    writer.close();
  }
}
