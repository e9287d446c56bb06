/** `--property-graph`: writes nodes and edges of the statements as CSV files, in addition to the statements. */

import { realpath, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { RunRequest } from '../../src/run/request.ts';
import type { GraphHeader, Serialization } from '../../src/sinks/sink.ts';
import { withoutCompression } from '../../src/storage/compression.ts';
import { makeTemporaryDirectory } from '../../src/storage/local/directory.ts';
import { type Parsed, UsageError } from '../command-line.ts';
import { STANDARD_OUTPUT } from './output.ts';

/** @throws UsageError — the statements are not written to a line-based file, from which they can be read back */
export function graphHeaderOf(parsed: Parsed, target: string, format: Serialization): GraphHeader | undefined {
  const header = parsed.value('property-graph') as GraphHeader | undefined;
  if (header === undefined) return undefined;
  if (target === STANDARD_OUTPUT) throw new UsageError('--property-graph needs a file for the statements: --output FILE');
  if (format !== 'nquads' && format !== 'ntriples') {
    throw new UsageError(`--property-graph needs statements in lines; --format is ${format}, expected is nquads or ntriples`);
  }
  return header;
}

/**
 * Writes `<name>.nodes.csv` and `<name>.edges.csv` beside the complete file of statements.
 *
 * @returns warnings
 * @throws Fault as `writeGraphCsv`
 */
export async function writeGraphFiles(
  header: GraphHeader,
  target: string,
  { memoryBudgetBytes }: RunRequest,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const [{ writeGraphCsv }, { publishParts }, { propertyGraphOf }, { DEFAULTS }, { readEnvironment }] = await Promise.all([
    import('../../src/property-graph/csv/write.ts'),
    import('../../src/sinks/file.ts'),
    import('../../queues/requests/transform.ts'),
    import('../../src/config/options/options.ts'),
    import('../../src/config/parse.ts'),
  ]);
  const path = await realpath(target);
  const [directory, name] = [dirname(path), withoutCompression(basename(path)).replace(/\.[^.]+$/, '')];
  const propertyGraph = propertyGraphOf({ ...DEFAULTS, ...readEnvironment(process.env).values });
  const spillDirectory = makeTemporaryDirectory('quadmill-graph-');
  try {
    const options = { header, propertyGraph, directory, name, attempt: process.pid, spillDirectory, memoryBudgetBytes, signal };
    const { nodes, edges, warnings } = await writeGraphCsv([path], options);
    for (const [kind, part] of Object.entries({ nodes, edges })) await publishParts(directory, `${name}.${kind}.csv`, [part], false);
    return warnings;
  } finally {
    await rm(spillDirectory, { recursive: true, force: true });
  }
}
