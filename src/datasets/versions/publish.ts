/** A version is published: its files, and its manifest last. */
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { redact } from '../../core/redact.ts';
import type { RunReport } from '../../run/request.ts';
import { type Dataset, jsonText } from '../dataset.ts';
import { type Counts, DESCRIPTION, type Manifest, manifestName, VERSIONS } from '../manifest.ts';
import type { DatasetReport, VersionRun } from './contract.ts';
import type { OutputChanges } from './output-changes.ts';
import { removeStates, type StateDraft } from './state.ts';

/**
 * Publishes what a run has found: a version if it has changed something.
 *
 * @param draft the state of the new version; undefined: it is kept elsewhere
 * @param reason why the changes were found by output; undefined: they were found by record
 */
export async function publish(
  run: VersionRun,
  draft: StateDraft | undefined,
  made: readonly OutputChanges[],
  report: RunReport,
  reason: string | undefined,
): Promise<DatasetReport> {
  const { dataset, stateDirectory, hooks, seen } = run;
  const { files } = dataset;
  const { runId } = run.request;
  const previous = dataset.current;
  const last = previous === 0 ? undefined : await dataset.manifest(previous);
  const sizeBefore = (target: string | undefined): number =>
    (target === undefined ? last?.statements : last?.targets?.[target]?.statements) ?? 0;
  const countsOf = ({ target, added, removed }: OutputChanges): Counts => ({
    added,
    removed,
    statements: sizeBefore(target) + added - removed,
  });
  const [main] = made as readonly [OutputChanges];
  const { name } = dataset.description;
  const counts = countsOf(main);
  const found = { changesBy: reason === undefined ? 'record' : 'output', reason } as const;
  const isSame = last !== undefined && made.every(({ added, removed }) => added + removed === 0);
  if (isSame) {
    await removeStates(stateDirectory, await draft?.complete(dataset, previous, last.runId, seen));
    return {
      name,
      version: previous,
      previousVersion: previous,
      ...counts,
      manifest: last,
      report: { ...report, quads: counts.statements },
      ...found,
    };
  }
  const version = previous + 1;
  const targets = made.slice(1).map((one): [string, Counts] => [one.target as string, countsOf(one)]);
  const manifest: Manifest = {
    version,
    previous,
    runId,
    startedAt: run.startedAt.toISOString(),
    // Later than the version before, whatever the clocks of machines say: followers read versions by their time.
    endedAt: new Date(Math.max(Date.now(), last === undefined ? 0 : Date.parse(last.endedAt) + 1)).toISOString(),
    mappings: report.mappings.map(({ url, sha256 }) => ({ url: redact(url), sha256 })),
    ...seen,
    records: report.records,
    rejected: report.rejected,
    ...counts,
    files: made.flatMap((one) => one.files),
    ...(targets.length === 0 ? {} : { targets: Object.fromEntries(targets) }),
    ...(hooks.feed === undefined ? {} : { feed: hooks.feed }),
  };
  const state = await draft?.complete(dataset, version, runId, seen);
  await hooks.confirm?.();
  for (const one of made) for (const file of one.files) await files.publish(`${VERSIONS}/${file.name}`, one.pathOf(file));
  await hooks.confirm?.();
  await hooks.pending?.(manifest);
  await publishManifest(dataset, manifest);
  await removeStates(stateDirectory, state);
  return { name, version, previousVersion: previous, ...counts, manifest, report: { ...report, quads: counts.statements }, ...found };
}

/** The version exists from here on. */
async function publishManifest({ files, description }: Dataset, manifest: Manifest): Promise<void> {
  await files.write(manifestName(manifest.version), jsonText(manifest), true);
  await files.write(DESCRIPTION, jsonText({ ...description, currentVersion: manifest.version }));
}

/**
 * Publishes a version of which `DatasetHooks.pending` was told, if the run was killed before it could do so. The caller has locked the dataset.
 *
 * @returns whether the version exists; false: another one has come after that before it, or a file of it is missing
 * @throws Fault source/unreadable, sink/failed
 */
export async function publishPending(dataset: Dataset, manifest: Manifest): Promise<boolean> {
  const { version, previous, runId } = manifest;
  if (dataset.current === version) return (await dataset.manifest(version)).runId === runId;
  const there = new Set(await dataset.files.list(VERSIONS));
  if (dataset.current !== previous || manifest.files.some(({ name }) => !there.has(name))) return false;
  await publishManifest(dataset, manifest);
  await dataset.reload();
  return true;
}

/** The files of a version that a killed run has left. */
export async function removeRemains(dataset: Dataset): Promise<void> {
  const { files, current } = dataset;
  // Those of another process may be on their way: in object storage each run has its own names.
  if (files.directory === undefined) return;
  const later = (await files.list(VERSIONS)).filter((name) => Number(/^\d+/.exec(name)?.[0] ?? 0) > current || name.startsWith('.'));
  await files.remove(later.map((name) => `${VERSIONS}/${name}`));
  if (dataset.description.currentVersion !== current)
    await files.write(DESCRIPTION, jsonText({ ...dataset.description, currentVersion: current }));
}

/** Removes a dataset that was made for a run, if the run has published no version. */
export async function discardEmpty(dataset: Dataset): Promise<void> {
  const { files } = dataset;
  await dataset.reload();
  if (dataset.current > 0) return;
  await removeRemains(dataset);
  await files.remove([DESCRIPTION]);
  if (files.directory !== undefined) await rmdir(join(files.directory, VERSIONS)).catch(() => undefined);
}
