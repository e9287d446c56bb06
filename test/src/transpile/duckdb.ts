/** DuckDB in this process, as what runs jobs. */
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { Transpiled } from '../../../src/transpile/transpile.ts';

export interface Engine {
  /** The lines, sorted. @throws Error — of the engine, with the message of the job */
  run(job: Transpiled): Promise<string[]>;
  /** The one value of a query. */
  value(query: string): Promise<unknown>;
  close(): Promise<void>;
}

export async function startDuckdb(): Promise<Engine> {
  const { DuckDBInstance: Instance } = await import('@duckdb/node-api');
  const instance: DuckDBInstance = await Instance.create(':memory:', { threads: '1' });
  return {
    async run({ preparation, query }) {
      const connection: DuckDBConnection = await instance.connect();
      try {
        for (const statement of preparation) await connection.run(statement);
        const answer = await connection.runAndReadAll(query);
        return answer
          .getRowsJson()
          .map(([line]) => String(line))
          .sort();
      } finally {
        connection.closeSync();
      }
    },
    async value(query) {
      const connection = await instance.connect();
      try {
        return (await connection.runAndReadAll(query)).getRowsJson()[0]?.[0];
      } finally {
        connection.closeSync();
      }
    },
    async close() {
      instance.closeSync();
    },
  };
}
