/** DuckDB files for tests, written by the package that reads them. */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Why DuckDB files cannot be written here; undefined: they can. */
export function missingDuckdb(): string | undefined {
  try {
    require('@duckdb/node-api');
    return undefined;
  } catch {
    return 'the package @duckdb/node-api is not installed';
  }
}

export interface DuckdbWriter {
  run(sql: string): Promise<void>;
  close(): void;
}

/** A connection that may write, and locks the file. The caller closes it. */
export async function openDuckdbWriter(path: string, settings: Readonly<Record<string, string>> = {}): Promise<DuckdbWriter> {
  const { DuckDBInstance } = require('@duckdb/node-api') as typeof import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(path, { threads: '1', ...settings });
  const connection = await instance.connect();
  return {
    run: async (sql) => void (await connection.run(sql)),
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** Runs a script on a new or existing file. */
export async function writeDuckdb(path: string, script: string): Promise<void> {
  const writer = await openDuckdbWriter(path);
  try {
    await writer.run(script);
  } finally {
    writer.close();
  }
}
