/** `quadmill write --dataset`: the versions that a target lacks. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../src/core/fault.ts';
import type { Dataset } from '../../src/datasets/dataset.ts';
import { diffLines } from '../../src/datasets/diff.ts';
import { manifestName } from '../../src/datasets/manifest.ts';
import { openTarget } from '../../src/targets/open.ts';
import type { GraphTarget } from '../../src/targets/target.ts';
import type { DatasetWriteReport } from '../../src/write/dataset/request.ts';
import { executeDatasetWrite, writeDatasetTo } from '../../src/write/dataset/write.ts';
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
    { ...request, dataset, graph: parsed.value('graph'), shared: parsed.has('shared'), resync: resync ? diffLines : undefined },
    hooks,
  );
  const { dataset: name, version, previousVersion } = report;
  return { report, summary: summaryOf(report, resync), more: { dataset: name, version, previousVersion } };
}

/** How often a new version is looked for. */
const POLL_MS = 200;
/** How often all versions are listed: the next one may have been folded into a later one. */
const LIST_MS = 10_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/**
 * Writes the versions that the target lacks, and then each new one, until the signal of the hooks.
 *
 * @param written called after each write that has changed the target
 * @param lost called with a fault that a repetition may help, before the wait
 * @throws Fault — others; that of the signal, where it comes in a write
 */
export async function followDataset(
  request: WriteRequest,
  parsed: Parsed,
  hooks: WriteHooks,
  {
    written,
    lost,
  }: { readonly written: (report: DatasetWriteReport, summary: string) => void; readonly lost: (fault: Fault, waitMs: number) => void },
): Promise<void> {
  const { signal: stop } = hooks;
  let target: GraphTarget | undefined;
  let waitMs = FIRST_WAIT_MS;
  try {
    while (!stop.aborted) {
      try {
        const dataset = await openDataset(parsed.value('dataset') as string);
        if (dataset.current > 0) {
          target ??= await openTarget(request.target);
          const options = { ...request, dataset, graph: parsed.value('graph'), shared: parsed.has('shared'), resync: undefined };
          const report = await writeDatasetTo(target, options, hooks);
          if (report.version !== report.previousVersion) written(report, summaryOf(report, false));
        }
        waitMs = FIRST_WAIT_MS;
        await nextVersion(dataset, stop);
      } catch (error) {
        const fault = Fault.of(error);
        if (stop.aborted || !fault.retriable) throw error;
        await target?.close().catch(() => undefined);
        target = undefined;
        lost(fault, waitMs);
        await sleep(waitMs, undefined, { signal: stop }).catch(() => undefined);
        waitMs = Math.min(LONGEST_WAIT_MS, 2 * waitMs);
      }
    }
  } finally {
    await target?.close();
  }
}

/** Until there may be one that `dataset` does not have, or the signal. */
async function nextVersion(dataset: Dataset, stop: AbortSignal): Promise<void> {
  const listedAt = performance.now();
  while (!stop.aborted && performance.now() - listedAt < LIST_MS) {
    if ((await dataset.files.read(manifestName(dataset.current + 1))) !== undefined) return;
    await sleep(POLL_MS, undefined, { signal: stop }).catch(() => undefined);
  }
}

function summaryOf({ dataset, version, previousVersion, statements, target }: DatasetWriteReport, resync: boolean): string {
  const changed = `${count(statements)} ${statements === 1 ? 'statement' : 'statements'}`;
  if (resync) return `dataset ${dataset}: ${target} has version ${version}, ${changed} differed`;
  if (version === previousVersion) return `dataset ${dataset}: ${target} has version ${version} already`;
  return `dataset ${dataset}: ${target} has version ${version}, ${changed} added or removed`;
}
