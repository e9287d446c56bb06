/** Nodes and edges of a run's statements as CSV, beside them, where the run was asked for that. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../src/core/fault.ts';
import { type GraphCsvFiles, writeGraphCsv } from '../../src/property-graph/csv/write.ts';
import type { FinishedPart } from '../../src/sinks/sink.ts';
import type { Task } from './messages.ts';

/**
 * Statements are read back from the parts, which must be lines for that.
 *
 * @throws Fault config/invalid — the run is to write nodes and edges, and its statements in another format
 */
export function checkGraphFormat({ output }: Task): void {
  if (output.propertyGraph === undefined || output.format === 'nquads' || output.format === 'ntriples') return;
  throw new Fault('config/invalid', `With PROPERTY_GRAPH_MODE statements cannot be written as ${output.format}`, {
    hint: 'Set OUTPUT_FILE_FORMAT to nquads or ntriples, or PROPERTY_GRAPH_MODE to false',
  });
}

/**
 * Writes the files of nodes and edges of finished parts; undefined: the run was not asked for them. They are complete under temporary names
 * of the attempt, and nothing of them is left when it throws.
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
