/** A Spark, as what runs jobs. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SparkSession } from '../../../src/spark/session.ts';
import type { Transpiled } from '../../../src/transpile/transpile.ts';

/** The lines that a job writes, sorted. */
export async function linesOfSpark(session: SparkSession, { dialect, preparation, query }: Transpiled): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'quadmill-lake-'));
  try {
    const output = join(directory, 'graph');
    for (const statement of [...preparation, `SET quadmill.output = file://${output}`, dialect.write(query)]) await session.run(statement);
    return linesOfDirectory(output);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function linesOfDirectory(directory: string): string[] {
  const names = readdirSync(directory);
  if (!names.includes('_SUCCESS')) throw new Error(`the job did not end: ${names.join(', ')}`);
  const texts = names.filter((name) => name.startsWith('part-')).map((name) => readFileSync(join(directory, name), 'utf8'));
  return texts.flatMap((text) => text.split('\n').slice(0, -1)).sort();
}
