/** A run that makes a version of a dataset: the files of the version are its output. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TargetFile } from '../../queues/jobs.ts';
import { Fault } from '../../src/core/fault.ts';
import type { DatasetFiles } from '../../src/datasets/files.ts';
import { type FileKind, manifestName, VERSIONS } from '../../src/datasets/manifest.ts';
import type { DatasetPlace, DatasetReport } from '../../src/datasets/run.ts';
import type { Rejection, RunReport, RunRequest } from '../../src/run/request.ts';
import type { PartFile } from '../../src/sinks/sink.ts';
import { makeDirectory } from '../../src/storage/local/directory.ts';
import { RejectionFile, removeEarlier, removeEarlierSpills } from '../output/output.ts';
import { publishFile } from '../output/publication.ts';
import { MAX_SHOWN, warningsOf } from '../output/publish.ts';
import type { DatasetTask, RunResult, Task } from '../task.ts';
import type { TaskContext } from './messages.ts';

/**
 * Rejected records appear before the version does: an attempt that finds the version of an earlier one reads nothing, and leaves their file.
 *
 * @throws Fault — those of `runOrPoll`
 */
export async function makeVersion(task: Task, dataset: DatasetTask, { signal, progress, memory, ask }: TaskContext): Promise<RunResult> {
  const { request, output } = task;
  if (output.attempt !== '1') {
    await removeEarlier(output, output.name, output.attempt);
    await removeEarlierSpills(request.spillDirectory);
  }
  const [{ openFiles }, { runOrPoll }] = await Promise.all([
    import('../../src/datasets/files.ts'),
    import('../../src/streams/polling/run.ts'),
  ]);
  const files = openFiles(dataset.url, request.workingDirectory, request.web.s3);
  const rejected = request.onError === 'quarantine' ? new RejectionFile(output) : undefined;
  const first: string[] = [];
  const reject = (rejection: Rejection): void => {
    if (first.length < MAX_SHOWN) first.push(rejection.fault.message);
    if (rejected !== undefined) makeDirectory(output.directory);
    rejected?.add(rejection);
  };
  let isConfirmed = false;
  let rejections: string | undefined;
  const confirm = async (): Promise<void> => {
    await ask({ kind: 'mapped' });
    if (isConfirmed) return;
    isConfirmed = true;
    rejections = await publishFile(output, rejected?.finish(), `${output.name}.rejected.ndjson`, () => ask({ kind: 'mapped' }));
  };
  try {
    const place = { files, stateDirectory: dataset.stateDirectory, name: dataset.name, isLocked: true };
    const made = await runOrPoll(place, request, { signal, progress, memory, reject, confirm, isAttempt: true });
    if (!isConfirmed) await confirm();
    const { report, ...result } = versionResult(made, files, first);
    const warnings = [...report.warnings, ...(await withoutOldVersions(place, dataset, request))];
    return { ...result, report: { ...report, warnings }, rejections };
  } catch (error) {
    await rejected?.abort();
    throw error;
  } finally {
    if (existsSync(request.spillDirectory)) await rm(request.spillDirectory, { recursive: true, force: true });
  }
}

/** Removes the versions that RETAIN_VERSIONS does not keep. The run has made its version whether that is possible or not. */
async function withoutOldVersions(
  place: DatasetPlace,
  { keptVersions = 0 }: DatasetTask,
  { spillDirectory, memoryBudgetBytes }: RunRequest,
): Promise<readonly string[]> {
  const { retainVersions } = await import('../../src/datasets/retention.ts');
  try {
    await retainVersions(place, keptVersions, { directory: join(spillDirectory, 'versions'), memoryBudgetBytes });
    return [];
  } catch (error) {
    return [`Old versions of the dataset stay: ${Fault.of(error).message}`];
  }
}

/** What a version is for messages and reports. @param first messages of the first rejected records */
export function versionResult(made: DatasetReport, files: DatasetFiles, first: readonly string[]): Omit<RunResult, 'rejections'> {
  const { version, previousVersion, added, removed, manifest } = made;
  const isNew = version > previousVersion;
  const urlOf = (name: string): string => (files.directory === undefined ? files.urlOf(name) : pathToFileURL(files.urlOf(name)).href);
  const changed = isNew ? manifest.files : [];
  const filesOf = (kind: FileKind, target: string | undefined): readonly PartFile[] =>
    changed
      .filter((file) => file.kind === kind && file.target === target)
      .map(({ name, bytes, sha256 }) => ({ url: urlOf(`${VERSIONS}/${name}`), bytes, sha256 }));
  const { targets = {} } = manifest;
  const ofTargets = Object.entries(targets).flatMap(([path, counts]): readonly TargetFile[] =>
    filesOf('added', path).map((file) => ({ ...file, target: path, path, format: 'nquads', quads: counts.added })),
  );
  const report = made.report ?? unreadReport(made, isNew);
  return {
    report: { ...report, bytesWritten: changed.reduce((sum, { bytes }) => sum + bytes, 0), warnings: warningsOf(report, first) },
    parts: filesOf('added', undefined),
    ...(ofTargets.length === 0 ? {} : { targets: ofTargets }),
    dataset: {
      dataset: made.name,
      version,
      previousVersion,
      added,
      removed,
      removedFileLocations: filesOf('removed', undefined).map(({ url }) => url),
    },
    manifest: urlOf(manifestName(version)),
    slices: 1,
  };
}

/** Of an attempt that has read nothing: what the manifest says, if it is that of the run. */
function unreadReport({ manifest, statements }: DatasetReport, isOwn: boolean): RunReport {
  const { records, rejected } = isOwn ? manifest : { records: 0, rejected: 0 };
  const { mappings } = manifest;
  return { records, rejected, quads: statements, bytesRead: 0, bytesWritten: 0, seconds: 0, triplesMaps: [], warnings: [], mappings };
}
