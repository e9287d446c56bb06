/** The last step of a run: its files get their final names, and the manifest last. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Execution, GraphFiles, SliceResult, TargetFile } from '../../queues/jobs.ts';
import { Fault } from '../../src/core/fault.ts';
import { checkCounts } from '../../src/core/limits.ts';
import type { GraphCsvFiles } from '../../src/property-graph/csv/write.ts';
import { countRepeated, emptyWarnings } from '../../src/run/report.ts';
import type { RunReport, TargetReport } from '../../src/run/request.ts';
import { mergeReports } from '../../src/run/slices/merge-reports.ts';
import { partName } from '../../src/sinks/file.ts';
import { type FinishedPart, FORMAT_EXTENSION, type PartFile } from '../../src/sinks/sink.ts';
import type { RunResult, Task } from '../task.ts';
import { hasEarlier, hasManifest, RejectionFile, removeAttempt, removeReplaced, writeManifest } from './output.ts';
import type { Move } from './places.ts';
import { openPublication } from './publication.ts';
import { type FinishedTarget, joinTargets } from './targets.ts';
import type { SliceFiles } from './transfer.ts';

/** Complete files under their temporary names. */
interface FinishedFiles {
  readonly parts: readonly FinishedPart[];
  /** Whether a part is an object under its temporary name. Absent: all are files. */
  readonly isObject?: (file: string) => boolean;
  readonly targets?: readonly FinishedTarget[];
  readonly rejections: string | undefined;
  readonly propertyGraph?: GraphCsvFiles | undefined;
}

/**
 * Gives the files of `finish` their final names, the manifest last. If that fails, parts with final names are removed: a run without a
 * manifest has no output.
 *
 * This attempt may be an old one, whose worker was suspended while another attempt took over. That attempt removed the temporary files of
 * this one first, or aborted its uploads, so the next step fails here; files under final names then belong to the other attempt and stay.
 *
 * @throws Fault limit/exceeded — the slices together produced too much; sink/failed
 * @param first messages of the first rejected records
 * @param confirm rejects if the job has been lost or cancelled; asked after what takes long
 */
export async function publish(
  task: Task,
  report: RunReport,
  first: readonly string[],
  finish: () => Promise<FinishedFiles>,
  confirm: () => Promise<unknown>,
  slices = 1,
): Promise<RunResult> {
  const { name, attempt, format } = task.output;
  const manifest = `${name}.manifest.json`;
  const publication = openPublication(task.output, task.shared);
  const { urlOf } = publication;
  let appearing = false;
  try {
    checkCounts(task.request.limits, report);
    const finished = await finish();
    const names = finished.parts.map((_, i) => partName(`${name}.${FORMAT_EXTENSION[format]}`, i + 1));
    const parts = finished.parts.map(({ bytes, sha256 }, i) => ({ url: urlOf(names[i] as string), bytes, sha256 }));
    const rejections = finished.rejections === undefined ? undefined : `${name}.rejected.ndjson`;
    const rejectionsUrl = rejections === undefined ? undefined : urlOf(rejections);
    const { targets: finishedTargets = [] } = finished;
    const targets = finishedTargets.map((one, i) => targetFile(one, urlOf, report.targets?.[i]?.quads ?? 0));
    const graph = finished.propertyGraph && graphNames(name, finished.propertyGraph);
    const propertyGraph = graph && graphFiles(graph, urlOf);
    const written = await writeManifest(task, report, parts, targets, rejectionsUrl, propertyGraph);
    const moves: readonly Move[] = [
      ...finished.parts.map(({ file, bytes }, i) => ({
        from: file,
        to: names[i] as string,
        ...(finished.isObject?.(file) ? { objectBytes: bytes } : {}),
      })),
      ...finishedTargets.map(({ part, name: to }) => ({ from: part.file, to })),
      ...(rejections === undefined ? [] : [{ from: finished.rejections as string, to: rejections }]),
      ...(graph ?? []).map(([{ file }, to]) => ({ from: file, to })),
    ];
    const last = { from: written, to: manifest };
    await publication.send([...moves, last], confirm);
    appearing = true;
    await publication.appear(moves);
    const kept = new Set([...moves.map(({ to }) => to), manifest]);
    if (await hasEarlier(task.output)) await removeReplaced(task.output, name, kept);
    await publication.appear([last]);
    const files = [...parts, ...targets, ...(graph ?? []).map(([part]) => part)];
    const bytesWritten = files.reduce((sum, { bytes }) => sum + bytes, 0);
    const warnings = [...warningsOf(report, first), ...(finished.propertyGraph?.warnings ?? [])];
    const ofTargets = targets.length === 0 ? {} : { targets };
    return {
      report: { ...report, bytesWritten, warnings },
      parts,
      ...ofTargets,
      manifest: urlOf(manifest),
      rejections: rejectionsUrl,
      propertyGraph,
      slices,
    };
  } catch (error) {
    await Promise.allSettled([publication.abort(), removeAttempt(task.output, name, attempt)]);
    if (appearing && !publication.isOvertaken(error) && !(await hasManifest(task.output, name).catch(() => true))) {
      await Promise.allSettled([removeReplaced(task.output, name, new Set())]);
    }
    throw error;
  }
}

const targetFile = (
  { target, name, part: { bytes, sha256 } }: FinishedTarget,
  urlOf: (file: string) => string,
  quads: number,
): TargetFile => ({
  url: urlOf(name),
  bytes,
  sha256,
  target: target.id,
  path: target.path,
  format: target.serialization,
  quads,
});

type GraphNames = readonly (readonly [part: FinishedPart, final: string])[];

const graphNames = (name: string, { nodes, edges }: GraphCsvFiles): GraphNames => [
  [nodes, `${name}.nodes.csv`],
  [edges, `${name}.edges.csv`],
];

function graphFiles(graph: GraphNames, urlOf: (file: string) => string): GraphFiles {
  const [nodes, edges] = graph.map(([{ bytes, sha256 }, final]) => ({ url: urlOf(final), bytes, sha256 })) as [PartFile, PartFile];
  return { nodes, edges };
}

/**
 * Publishes the files of all slices of a run, in order. Parts without statements are left out, except for one if all are empty.
 *
 * @param files what the slices have left; what is read of it is fetched
 * @throws Fault sink/failed — also if the workers of the slices wrote to another directory
 */
export async function publishSlices(
  task: Task,
  results: readonly SliceResult[],
  files: SliceFiles,
  seconds: number,
  confirm: () => Promise<unknown>,
  signal: AbortSignal,
  propertyGraph?: GraphCsvFiles,
): Promise<RunResult> {
  const { directory } = task.output;
  const all = results.flatMap(({ parts }) => parts);
  const filled = all.filter(({ empty }) => !empty);
  const wanted = filled.length > 0 ? filled : all.slice(0, 1);
  const ofTargets = results.flatMap(({ targets }) => targets ?? []);
  const reports = results.map(({ report }) => report);
  const report: RunReport = {
    ...mergeReports(reports, task.request),
    bytesWritten: reports.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
    seconds,
    ...(ofTargets.length === 0 ? {} : { targets: sumOfTargets(reports) }),
    // All slices have read the same mapping: they compare its digest.
    mappings: reports[0]?.mappings ?? [],
  };
  const first = results.flatMap(({ rejected }) => rejected).slice(0, MAX_SHOWN);
  const published = await publish(
    task,
    report,
    first,
    async () => {
      const ofOutputs = ofTargets.flatMap(({ parts }) => parts);
      // JSON has no undefined: the value is absent or null.
      const rejections = results.flatMap((result) => result.rejections ?? []);
      await files.fetch([...ofOutputs.map(({ file }) => file), ...rejections]);
      for (const part of [...wanted, ...ofOutputs]) if (!files.isObject(part.file)) await checkPart(directory, part);
      return {
        parts: wanted,
        isObject: (file) => files.isObject(file),
        targets: await joinTargets(task.output, results, signal),
        rejections: await joinRejections(task, rejections),
        propertyGraph,
      };
    },
    confirm,
    results.length,
  );
  return { ...published, executions: executionsOf(results) };
}

/** Statements of all slices by target: all have the same ones, in the same order. */
const sumOfTargets = (reports: readonly RunReport[]): readonly TargetReport[] =>
  (reports[0]?.targets ?? []).map((target, i) => ({
    ...target,
    quads: reports.reduce((sum, { targets }) => sum + (targets?.[i]?.quads ?? 0), 0),
  }));

function executionsOf(results: readonly SliceResult[]): readonly Execution[] | undefined {
  const executions = results.flatMap(({ time, report: { records, quads, rejected } }) =>
    time === undefined ? [] : [{ ...time, records, quads, rejected }],
  );
  return executions.length === results.length ? executions : undefined;
}

/** So many messages of rejected records are shown. */
export const MAX_SHOWN = 3;

async function checkPart(directory: string, { file, bytes }: FinishedPart): Promise<void> {
  const found = await stat(join(directory, file)).catch(() => undefined);
  if (found?.size === bytes) return;
  const what = found === undefined ? 'is missing' : `has ${found.size} bytes instead of ${bytes}`;
  throw new Fault('sink/failed', `A file that another worker wrote for this run ${what}: ${join(directory, file)}`, {
    hint: 'OUTPUT_DIR_URL must name a directory that all workers share; with SQL_SLICE_ROWS=0 and SLICE_BYTES=0 no run is sliced',
  });
}

async function joinRejections({ output }: Task, files: readonly string[]): Promise<string | undefined> {
  const joined = new RejectionFile(output);
  try {
    for (const file of files) await joined.append(file);
    return joined.finish();
  } catch (error) {
    await joined.abort();
    throw error;
  }
}

/** What the report of a run warns of. @param first messages of the first rejected records */
export const warningsOf = (report: RunReport, first: readonly string[]): readonly string[] => [
  ...report.warnings,
  ...countRepeated(emptyWarnings(report.triplesMaps)),
  ...rejectionWarnings(report.rejected, first),
];

function rejectionWarnings(count: number, first: readonly string[]): readonly string[] {
  if (count === 0) return [];
  const more = count > first.length ? '; …' : '';
  return [`${count} ${count === 1 ? 'record was' : 'records were'} rejected: ${first.join('; ')}${more}`];
}
