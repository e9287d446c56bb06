/** Writes nodes and edges of a run's statements as CSV files, if the run requests them. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../src/core/fault.ts';
import { type GraphCsvFiles, writeGraphCsv } from '../../src/property-graph/csv/write.ts';
import type { FinishedPart } from '../../src/sinks/sink.ts';
import type { Task } from '../task.ts';

/**
 * Statements are read back from the parts, which therefore must be line-based.
 *
 * @throws Fault config/invalid — node and edge files are requested, but the output format is not line-based
 */
export function checkGraphFormat({ output }: Task): void {
  if (output.propertyGraph === undefined || output.format === 'nquads' || output.format === 'ntriples') return;
  throw new Fault('config/invalid', `With PROPERTY_GRAPH_MODE statements cannot be written as ${output.format}`, {
    hint: 'Set OUTPUT_FILE_FORMAT to nquads or ntriples, or PROPERTY_GRAPH_MODE to false',
  });
}

/**
 * Writes the node and edge files of finished parts; undefined: not requested. The files are complete under temporary names of the attempt,
 * and removed if this throws.
 *
 * @throws Fault as `writeGraphCsv`
 */
export async function graphFilesOf(task: Task, parts: readonly FinishedPart[], signal: AbortSignal): Promise<GraphCsvFiles | undefined> {
  const { directory, name, attempt, propertyGraph } = task.output;
  if (propertyGraph === undefined) return undefined;
  const { header, ...options } = propertyGraph;
  const { spillDirectory, memoryBudgetBytes } = task.request;
  try {
    return await writeGraphCsv(
      parts.map(({ file }) => join(directory, file)),
      { header, propertyGraph: options, directory, name, attempt, spillDirectory, memoryBudgetBytes, signal },
    );
  } finally {
    await rm(spillDirectory, { recursive: true, force: true });
  }
}
