/** The last step of a run: its files get their final names, and the manifest says which they are. */
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SliceResult } from '../queues/jobs.ts';
import { Fault } from '../src/fault.ts';
import { checkCounts } from '../src/limits.ts';
import type { RunReport, TriplesMapReport } from '../src/run/request.ts';
import { publishParts } from '../src/sinks/file.ts';
import { type FinishedPart, FORMAT_EXTENSION, type PartFile } from '../src/sinks/sink.ts';
import type { RunResult, Task } from './messages.ts';
import { RejectionFile, removeLeftovers, removeReplaced, writeManifest } from './output.ts';

interface Published {
  readonly parts: readonly PartFile[];
  readonly rejections: string | undefined;
}

/**
 * Carries `commit` out and writes the manifest. Everything of the run is removed when one of the two fails: parts may have appeared, but
 * a run without a manifest is none.
 *
 * @throws Fault limit/exceeded — slices together have made too much; sink/failed
 * @param first messages of the first rejected records
 */
export async function publish(
  task: Task,
  report: RunReport,
  first: readonly string[],
  commit: () => Promise<Published>,
  slices = 1,
): Promise<RunResult> {
  const { directory, name } = task.output;
  try {
    checkCounts(task.request.limits, report);
    const { parts, rejections } = await commit();
    const kept = [...parts.map(({ url }) => url), ...(rejections === undefined ? [] : [rejections])];
    await removeReplaced(directory, name, new Set(kept.map((url) => basename(fileURLToPath(url)))));
    const manifest = await writeManifest(task, report, parts, rejections);
    const warnings = [...report.warnings, ...rejectionWarnings(report.rejected, first)];
    return { report: { ...report, warnings }, parts, manifest, rejections, slices };
  } catch (error) {
    await Promise.allSettled([removeLeftovers(directory, name, true)]);
    throw error;
  }
}

/**
 * Publishes what all slices of a run have finished, in their order. Parts without a statement are left out, but for one when there is
 * no other.
 *
 * @throws Fault sink/failed — also where the workers of the slices have written into another directory
 */
export async function publishSlices(task: Task, results: readonly SliceResult[], seconds: number): Promise<RunResult> {
  const { directory, name, format } = task.output;
  const all = results.flatMap(({ parts }) => parts);
  const filled = all.filter(({ empty }) => !empty);
  const wanted = filled.length > 0 ? filled : all.slice(0, 1);
  const report = addUp(results, seconds);
  const first = results.flatMap(({ rejected }) => rejected).slice(0, SHOWN);
  return publish(
    task,
    report,
    first,
    async () => {
      for (const part of wanted) await checkPart(directory, part);
      const parts = await publishParts(directory, `${name}.${FORMAT_EXTENSION[format]}`, wanted);
      return { parts, rejections: await joinRejections(task, results) };
    },
    results.length,
  );
}

const SHOWN = 3;

async function checkPart(directory: string, { file, bytes }: FinishedPart): Promise<void> {
  const found = await stat(join(directory, file)).catch(() => undefined);
  if (found?.size === bytes) return;
  const what = found === undefined ? 'is not there' : `has ${found.size} bytes in place of ${bytes}`;
  throw new Fault('sink/failed', `What another worker wrote for this run ${what}: ${join(directory, file)}`, {
    hint: 'OUTPUT_DIR_URL must name a directory that all workers share; with SQL_SLICE_ROWS=0 no run is shared',
  });
}

async function joinRejections({ output }: Task, results: readonly SliceResult[]): Promise<string | undefined> {
  const joined = new RejectionFile(output);
  try {
    // JSON has no undefined: it comes back as nothing, or null.
    for (const { rejections } of results) if (typeof rejections === 'string') await joined.append(rejections);
    return await joined.commit();
  } catch (error) {
    await joined.abort();
    throw error;
  }
}

/** The report of a run out of those of its slices; `seconds` is that of the whole. */
export function addUp(results: readonly Pick<SliceResult, 'report'>[], seconds: number): RunReport {
  const reports = results.map(({ report }) => report);
  const sum = (of: (report: RunReport) => number): number => reports.reduce((total, report) => total + of(report), 0);
  return {
    records: sum((report) => report.records),
    quads: sum((report) => report.quads),
    rejected: sum((report) => report.rejected),
    bytesRead: sum((report) => report.bytesRead),
    bytesWritten: sum((report) => report.bytesWritten),
    seconds,
    triplesMaps: mergeMaps(reports.flatMap((report) => report.triplesMaps)),
    warnings: [...new Set(reports.flatMap((report) => report.warnings))],
    mappings: [...new Map(reports.flatMap((report) => report.mappings).map((mapping) => [mapping.url, mapping])).values()],
  };
}

function mergeMaps(all: readonly TriplesMapReport[]): readonly TriplesMapReport[] {
  const merged = new Map<string, TriplesMapReport>();
  for (const map of all) {
    const before = merged.get(map.id);
    merged.set(map.id, before === undefined ? map : addMaps(before, map));
  }
  return [...merged.values()];
}

/** Why a map gave nothing is told by the slice that had the most records. */
function addMaps(a: TriplesMapReport, b: TriplesMapReport): TriplesMapReport {
  const quads = a.quads + b.quads;
  const empty = a.records >= b.records ? a.empty : b.empty;
  return { ...a, records: a.records + b.records, quads, rejected: a.rejected + b.rejected, empty: quads > 0 ? undefined : empty };
}

function rejectionWarnings(count: number, first: readonly string[]): readonly string[] {
  if (count === 0) return [];
  const more = count > first.length ? '; …' : '';
  return [`${count} ${count === 1 ? 'record was' : 'records were'} rejected: ${first.join('; ')}${more}`];
}
