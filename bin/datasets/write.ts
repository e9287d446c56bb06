/** `quadmill write --dataset`: the versions that a target lacks. */
import { diffLines } from '../../src/datasets/diff.ts';
import type { DatasetWriteReport } from '../../src/write/dataset/request.ts';
import { executeDatasetWrite } from '../../src/write/dataset/write.ts';
import type { WriteHooks, WriteRequest } from '../../src/write/request.ts';
import type { Parsed } from '../command-line.ts';
import { count } from '../terminal.ts';
import { openDataset } from './place.ts';

/** @returns the report, what it comes to in a line, and what the statistics have besides */
export async function writeDataset(
  request: WriteRequest,
  parsed: Parsed,
  hooks: WriteHooks,
): Promise<{ readonly report: DatasetWriteReport; readonly summary: string; readonly more: object }> {
  const dataset = await openDataset(parsed.value('dataset') as string);
  const resync = parsed.has('resync');
  const report = await executeDatasetWrite(
    { ...request, dataset, graph: parsed.value('graph'), resync: resync ? diffLines : undefined },
    hooks,
  );
  const { dataset: name, version, previousVersion } = report;
  return { report, summary: summaryOf(report, resync), more: { dataset: name, version, previousVersion } };
}

function summaryOf({ dataset, version, previousVersion, statements, target }: DatasetWriteReport, resync: boolean): string {
  const changed = `${count(statements)} ${statements === 1 ? 'statement' : 'statements'}`;
  if (resync) return `dataset ${dataset}: ${target} has version ${version}, ${changed} differed`;
  if (version === previousVersion) return `dataset ${dataset}: ${target} has version ${version} already`;
  return `dataset ${dataset}: ${target} has version ${version}, ${changed} added or removed`;
}
