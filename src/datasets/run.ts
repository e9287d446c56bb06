/** A run that makes a version of a dataset: what the inputs say now, against what they said. */
import { existsSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../core/fault.ts';
import { prepareWithDeadline } from '../run/prepare/deadline.ts';
import type { PreparedRun } from '../run/prepare/open.ts';
import type { RunRequest } from '../run/request.ts';
import type { DirectoryLock } from '../storage/local/directory-lock.ts';
import type { Folding } from './changes.ts';
import { Dataset } from './dataset.ts';
import type { VersionInput } from './manifest.ts';
import { findByOutput } from './versions/by-output.ts';
import { findByRecord, recordsOf } from './versions/by-record.ts';
import type { DatasetHooks, DatasetPlace, DatasetReport, Finding, VersionRun, WholeOutputs } from './versions/contract.ts';
import { discardEmpty, removeRemains } from './versions/publish.ts';
import { inputsOf, isUnchanged, runOptions } from './versions/seen.ts';
import { lockState, removeStates, type State, stateOf, TEMPORARY } from './versions/state.ts';

export type { DatasetHooks, DatasetPlace, DatasetReport, Finding, WholeOutputs } from './versions/contract.ts';
export { publishPending } from './versions/publish.ts';

const NO_OUTPUTS: WholeOutputs = { of: () => undefined };

/**
 * Runs a mapping, and makes a version of the dataset if the graph is another one than before.
 *
 * The version exists when its manifest does. A run that ends at any moment before leaves the dataset as it was.
 *
 * @param outputs undefined: the dataset alone is written
 * @throws Fault request/invalid — a preview, a directory that is something else, or changes that cannot be found by record, as `finding` asks for; service/unavailable — another process runs it; those of `executeRun`
 */
export async function runDataset(
  place: DatasetPlace,
  request: RunRequest,
  hooks: DatasetHooks,
  outputs: WholeOutputs = NO_OUTPUTS,
  finding: Finding = {},
): Promise<DatasetReport> {
  if (request.firstRecords !== undefined)
    throw new Fault('request/invalid', 'A preview reads some of the records, so it makes no version of a dataset', {
      hint: 'Leave out --limit',
    });
  const { files, stateDirectory, name, isLocked = false } = place;
  const isNew = !isLocked && files.directory !== undefined && !existsSync(files.directory);
  const lock = isLocked ? undefined : await lockDataset(place);
  try {
    await rm(join(stateDirectory, TEMPORARY), { recursive: true, force: true });
    const found = await Dataset.find(files);
    const dataset = found ?? (await Dataset.create(files, name));
    try {
      return await runInto(dataset, stateDirectory, request, hooks, outputs, finding);
    } catch (error) {
      if (found === undefined) await discardEmpty(dataset);
      throw error;
    }
  } finally {
    await lock?.release();
    if (isNew) for (const directory of [stateDirectory, files.directory]) await rmdir(directory as string).catch(() => undefined);
  }
}

/** @param isQueued see `lockState` @throws Fault service/unavailable — another process writes the dataset */
export const lockDataset = ({ stateDirectory, files }: DatasetPlace, isQueued = false): Promise<DirectoryLock> =>
  lockState(stateDirectory, files.url, isQueued);

async function runInto(
  dataset: Dataset,
  stateDirectory: string,
  asked: RunRequest,
  hooks: DatasetHooks,
  outputs: WholeOutputs,
  finding: Finding,
): Promise<DatasetReport> {
  const startedAt = new Date();
  await removeRemains(dataset);
  const made = await madeBefore(dataset, asked, hooks);
  if (made !== undefined) return made;
  // A comparison finds equal statements, so the run need not look for them.
  const request: RunRequest = {
    ...asked,
    distinct: false,
    rowsPerPart: undefined,
    memoryBudgetBytes: asked.memoryBudgetBytes / 2,
    dataset: dataset.description.id,
  };
  const folding = { directory: join(stateDirectory, TEMPORARY, 'lines'), memoryBudgetBytes: request.memoryBudgetBytes };
  const state = await stateOf(dataset, stateDirectory);
  // A run that was killed may have left a complete state of a version that it did not publish, under an id that this run has as well.
  await removeStates(stateDirectory, state);
  let opened: PreparedRun | undefined;
  try {
    let inputs: readonly VersionInput[] = [];
    const located = async (urls: readonly string[]): Promise<void> => {
      inputs = await inputsOf(urls, request);
      await hooks.located?.(urls);
    };
    opened = await prepareWithDeadline(request, { ...hooks, located });
    const prepared = { ...opened, close: async () => undefined };
    const seen = { digest: prepared.digest, run: runOptions(request), inputs };
    if (state !== undefined && isUnchanged(state.record.seen, prepared, seen)) return await unchanged(dataset, state, outputs, folding);
    const run: VersionRun = { dataset, stateDirectory, request, hooks, outputs, finding, folding, startedAt, prepared, seen };
    const records = await recordsOf(request, finding, prepared, hooks.signal);
    const found = typeof records === 'string' ? records : await findByRecord(run, state, records);
    return typeof found === 'string' ? await findByOutput(run, state, records, found) : found;
  } finally {
    await opened?.close();
    await rm(join(stateDirectory, TEMPORARY), { recursive: true, force: true });
  }
}

/** The version of this run, if an earlier attempt was killed after it had published it. */
async function madeBefore(dataset: Dataset, { runId }: RunRequest, { isAttempt }: DatasetHooks): Promise<DatasetReport | undefined> {
  if (dataset.current === 0 || isAttempt !== true) return undefined;
  const manifest = await dataset.manifest(dataset.current);
  if (manifest.runId !== runId) return undefined;
  const { version, previous: previousVersion, added, removed, statements } = manifest;
  return { name: dataset.description.name, version, previousVersion, added, removed, statements, manifest, report: undefined };
}

async function unchanged(dataset: Dataset, state: State, outputs: WholeOutputs, folding: Folding): Promise<DatasetReport> {
  const { name } = dataset.description;
  const last = await dataset.manifest(dataset.current);
  for (const target of [undefined, ...state.record.targets]) {
    const whole = outputs.of(target);
    if (whole !== undefined) for await (const lines of dataset.graph(dataset.current, target, folding)) await whole.write(lines);
  }
  const counts = { added: 0, removed: 0, statements: last.statements };
  return { name, version: dataset.current, previousVersion: dataset.current, ...counts, manifest: last, report: undefined };
}
