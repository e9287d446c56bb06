/** A run that makes a version of a dataset: what the inputs say now, against what they said. */

import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip } from 'node:zlib';
import { Fault } from '../core/fault.ts';
import { redact } from '../core/redact.ts';
import { prepareWithDeadline } from '../run/prepare/deadline.ts';
import type { PreparedRun } from '../run/prepare/open.ts';
import type { RunHooks, RunReport, RunRequest } from '../run/request.ts';
import { executeRun } from '../run/run.ts';
import { openFileSink } from '../sinks/file.ts';
import type { PartFile, QuadSink } from '../sinks/sink.ts';
import type { DirectoryLock } from '../storage/local/directory-lock.ts';
import { probeInput } from '../storage/open.ts';
import { type ChangedLines, type Folding, netChanges, wholeLines } from './changes.ts';
import { Dataset, fileName, jsonText } from './dataset.ts';
import type { DatasetFiles } from './files.ts';
import { type ChangeSink, compareGraphs } from './graphs/compare.ts';
import {
  type ChangesBy,
  type Counts,
  DESCRIPTION,
  type FileKind,
  type Manifest,
  manifestName,
  VERSIONS,
  type VersionFile,
  type VersionInput,
  type VersionRunOptions,
} from './manifest.ts';
import { changesByRecord, hasLosses } from './records/changes.ts';
import type { ChunkSizes } from './records/chunks.ts';
import { openRecords, type RecordInput } from './records/inputs.ts';
import { callsChance, reasonAgainstAll } from './records/reasons.ts';
import { Recording } from './records/recording.ts';
import { graphsOf, lockState, newSeed, removeStates, type Seen, type State, StateDraft, stateOf, TEMPORARY } from './state.ts';

export interface DatasetPlace {
  readonly files: DatasetFiles;
  /** Absolute path; created if missing. */
  readonly stateDirectory: string;
  /** For a new dataset; undefined: as its address says. */
  readonly name?: string | undefined;
  /** Whether the caller has locked the state directory. */
  readonly isLocked?: boolean;
}

export interface DatasetReport extends Counts {
  readonly name: string;
  /** The newest version. */
  readonly version: number;
  /** That before the run; equal to `version` if nothing has changed. */
  readonly previousVersion: number;
  /** Of the newest version. */
  readonly manifest: Manifest;
  /**
   * `quads` is the size of the graph. undefined: nothing was read, because no input has changed since the last version, or because the version of this
   * run is there already.
   */
  readonly report: RunReport | undefined;
  /** How the changes were found; undefined: nothing was read. */
  readonly changesBy?: ChangesBy | undefined;
  /** Why they were not found by record, as a clause. */
  readonly reason?: string | undefined;
}

export interface Finding {
  /** undefined: by record where that can be. */
  readonly by?: ChangesBy | undefined;
  /** Of a new state by record. undefined: by the size of each document. */
  readonly chunks?: ChunkSizes;
}

export interface DatasetHooks extends RunHooks {
  /** Called before files of a version appear, and again before its manifest does. @throws what keeps the version from being made */
  readonly confirm?: () => Promise<unknown>;
  /** The run may have been started before under its id: a version that it has published is its result. Absent: an id says nothing. */
  readonly isAttempt?: true;
}

/** Files of the whole graph, beside the dataset. The caller commits or aborts them. */
export interface WholeOutputs {
  /** Called for each logical target of the mapping before records are read. */
  readonly openTarget?: NonNullable<RunHooks['openTarget']>;
  /** undefined: the graph is not written. @param target path of a logical target; undefined: the output of the run */
  of(target: string | undefined): Pick<QuadSink, 'write'> | undefined;
}

const NO_OUTPUTS: WholeOutputs = { of: () => undefined };

/** An input that changed so recently that a later change could leave its time as it is. */
const YOUNG_MS = 2000;

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
  const lock = place.isLocked ? undefined : await lockDataset(place);
  try {
    return await new VersionRun(place, request, hooks, outputs, finding).execute();
  } finally {
    await lock?.release();
  }
}

/** @throws Fault service/unavailable — another process writes the dataset */
export const lockDataset = ({ stateDirectory, files }: DatasetPlace): Promise<DirectoryLock> => lockState(stateDirectory, files.url);

class VersionRun {
  readonly #place: DatasetPlace;
  #request: RunRequest;
  readonly #hooks: DatasetHooks;
  readonly #outputs: WholeOutputs;
  readonly #folding: Folding;
  readonly #startedAt = new Date();
  readonly #finding: Finding;
  #changesBy: ChangesBy = 'output';
  #reason: string | undefined;

  constructor(place: DatasetPlace, request: RunRequest, hooks: DatasetHooks, outputs: WholeOutputs, finding: Finding) {
    this.#finding = finding;
    this.#place = place;
    // A comparison finds equal statements, so the run need not look for them.
    this.#request = { ...request, distinct: false, rowsPerPart: undefined, memoryBudgetBytes: request.memoryBudgetBytes / 2 };
    this.#hooks = hooks;
    this.#outputs = outputs;
    this.#folding = { directory: join(place.stateDirectory, TEMPORARY, 'lines'), memoryBudgetBytes: this.#request.memoryBudgetBytes };
  }

  async execute(): Promise<DatasetReport> {
    const { files, stateDirectory, name } = this.#place;
    await rm(join(stateDirectory, TEMPORARY), { recursive: true, force: true });
    const dataset = (await Dataset.find(files)) ?? (await Dataset.create(files, name));
    await removeRemains(dataset);
    this.#request = { ...this.#request, dataset: dataset.description.id };
    const made = await this.#madeBefore(dataset);
    if (made !== undefined) return made;
    const state = await stateOf(dataset, stateDirectory);
    // A run that was killed may have left a complete state of a version that it did not publish, under an id that this run has as well.
    await removeStates(stateDirectory, state);
    let opened: PreparedRun | undefined;
    try {
      const found = await this.#prepare();
      opened = found.prepared;
      // Several runs may map with it.
      const prepared = { ...opened, close: async () => undefined };
      const seen: Seen = { digest: prepared.digest, run: runOptions(this.#request), inputs: found.inputs };
      if (state !== undefined && this.#isUnchanged(state.record.seen, prepared, seen)) return await this.#unchanged(dataset, state);
      const inputs = await this.#recordsOf(prepared);
      return (
        (await this.#byRecord(dataset, state, prepared, seen, inputs)) ?? (await this.#byOutput(dataset, state, prepared, seen, inputs))
      );
    } finally {
      await opened?.close();
      await rm(join(stateDirectory, TEMPORARY), { recursive: true, force: true });
    }
  }

  /** The documents whose records may be compared. @returns undefined: `#reason` says why not */
  async #recordsOf(prepared: PreparedRun): Promise<readonly RecordInput[] | undefined> {
    const { plan, physical, places } = prepared;
    const { by } = this.#finding;
    this.#reason = by === 'output' ? 'as asked' : reasonAgainstAll(plan, physical, (scan) => places[scan]?.url, this.#request);
    if (this.#reason === undefined) {
      const inputs = await openRecords(prepared, this.#request, this.#hooks.signal);
      if (typeof inputs !== 'string') return inputs;
      this.#reason = inputs;
    }
    if (by !== 'record') return undefined;
    throw new Fault('request/invalid', `The changes cannot be found by record: ${this.#reason}`, { hint: 'Leave out --changes-by' });
  }

  /** undefined: `#reason` says why the changes are to be found by output. */
  async #byRecord(
    dataset: Dataset,
    state: State | undefined,
    prepared: PreparedRun,
    seen: Seen,
    inputs: readonly RecordInput[] | undefined,
  ): Promise<DatasetReport | undefined> {
    if (inputs === undefined) return undefined;
    const last = state?.record;
    if (state === undefined || last?.records === undefined || last.seen === undefined) {
      this.#reason = dataset.current === 0 ? 'it is the first version' : 'there is no state by record of the last version';
      return undefined;
    }
    if (!isDeepStrictEqual([seen.digest, seen.run], [last.seen.digest, last.seen.run])) {
      this.#reason = 'the mapping or an option has changed';
      return undefined;
    }
    const { stateDirectory } = this.#place;
    const draft = new StateDraft(stateDirectory, last.seed, this.#request.memoryBudgetBytes);
    const temporary = join(stateDirectory, TEMPORARY, 'compared');
    try {
      const { signal } = this.#hooks;
      const folding = { ...this.#folding, signal };
      const run = { request: this.#request, prepared, hooks: this.#hooks, inputs, temporary, seed: last.seed, folding };
      const found = await changesByRecord(
        { ...run, directory: draft.recordsDirectory },
        state.recordsDirectory,
        last.records,
        this.#finding.by === 'record',
      );
      if (typeof found !== 'string') {
        const changes = this.#changesOf(dataset, undefined, 0);
        await found.write(changes.sink(undefined));
        await changes.finish();
        await this.#writeWhole(dataset, changes);
        await draft.keep(found.info);
        this.#changesBy = 'record';
        return await this.#publish(dataset, draft, [changes], found.report, seen);
      }
      this.#reason = found;
    } catch (error) {
      // What is damaged is made anew.
      if (!(error instanceof Fault) || error.code !== 'source/unreadable' || this.#changesBy === 'record') throw error;
      this.#reason = error.message;
    } finally {
      await draft.abort();
    }
    return undefined;
  }

  async #byOutput(
    dataset: Dataset,
    kept: State | undefined,
    prepared: PreparedRun,
    seen: Seen,
    inputs: readonly RecordInput[] | undefined,
  ): Promise<DatasetReport> {
    const { stateDirectory } = this.#place;
    const draft = new StateDraft(stateDirectory, kept?.record.seed ?? newSeed(), this.#request.memoryBudgetBytes);
    const recording = inputs && new Recording(inputs, draft.recordsDirectory, draft.seed, this.#finding.chunks);
    try {
      const report = await this.#map(draft, prepared, recording);
      // The graph of a target that the mapping has no more is empty.
      for (const target of await targetsWithStatements(dataset)) draft.writer(target);
      await draft.finish();
      const hasGraphs = kept !== undefined && kept.record.records === undefined;
      const state = hasGraphs || dataset.current === 0 ? kept : await graphsOf(dataset, stateDirectory, draft.seed, this.#folding);
      const made = await this.#compare(dataset, state, draft);
      await draft.keep(draft.targets.length > 0 || hasLosses(report) ? undefined : await recording?.finish());
      return await this.#publish(dataset, draft, made, report, seen);
    } finally {
      await recording?.abort();
      await draft.abort();
    }
  }

  /** The version of this run, if an earlier attempt was killed after it had published it. */
  async #madeBefore(dataset: Dataset): Promise<DatasetReport | undefined> {
    if (dataset.current === 0 || this.#hooks.isAttempt !== true) return undefined;
    const manifest = await dataset.manifest(dataset.current);
    if (manifest.runId !== this.#request.runId) return undefined;
    const { version, previous: previousVersion, added, removed, statements } = manifest;
    return { name: dataset.description.name, version, previousVersion, added, removed, statements, manifest, report: undefined };
  }

  async #prepare(): Promise<{ readonly prepared: PreparedRun; readonly inputs: readonly VersionInput[] }> {
    let inputs: readonly VersionInput[] = [];
    const located = async (urls: readonly string[]): Promise<void> => {
      inputs = await this.#inputsOf(urls);
      await this.#hooks.located?.(urls);
    };
    return { prepared: await prepareWithDeadline(this.#request, { ...this.#hooks, located }), inputs };
  }

  /**
   * **Claim.** The graph is that of the newest version. **Proof.** It has been made by the same mapping, functions and options, of inputs that have not
   * changed since, and no term is made by chance or of the time. A database has no state that would say so, and the state of an address says nothing of
   * the answers to queries and of further pages.
   */
  #isUnchanged(last: Seen | undefined, { databases, plan }: PreparedRun, seen: Seen): boolean {
    if (last === undefined || databases !== undefined || callsChance(plan)) return false;
    if (plan.scans.some(({ source }) => source.kind !== 'file' || source.request !== undefined)) return false;
    return seen.inputs.every(({ state }) => state !== undefined) && isDeepStrictEqual(seen, last);
  }

  async #unchanged(dataset: Dataset, state: State): Promise<DatasetReport> {
    const { name } = dataset.description;
    const last = await dataset.manifest(dataset.current);
    for (const target of [undefined, ...state.record.targets]) {
      const whole = this.#outputs.of(target);
      if (whole !== undefined) for await (const lines of dataset.graph(dataset.current, target, this.#folding)) await whole.write(lines);
    }
    const counts = { added: 0, removed: 0, statements: last.statements };
    return { name, version: dataset.current, previousVersion: dataset.current, ...counts, manifest: last, report: undefined };
  }

  /** Maps into the draft. Statements may be made several times: the comparison finds them. */
  async #map(draft: StateDraft, prepared: PreparedRun, recording: Recording | undefined): Promise<RunReport> {
    const main = draft.writer(undefined);
    const sink: QuadSink = {
      write: (lines) => main.write(lines),
      writeBytes: (buffers) => main.writeBytes(buffers),
      commit: async () => [],
      abort: async () => undefined,
    };
    const openTarget: RunHooks['openTarget'] = async (target) => {
      await this.#outputs.openTarget?.(target);
      return draft.writer(target.path);
    };
    const report = await executeRun(this.#request, sink, { ...this.#hooks, ...recording?.hooks, openTarget }, prepared);
    if (this.#hooks.signal?.aborted) throw new Fault('run/cancelled', 'The run was cancelled');
    return report;
  }

  async #inputsOf(urls: readonly string[]): Promise<readonly VersionInput[]> {
    const { workingDirectory, reach, web } = this.#request;
    const now = Date.now();
    return Promise.all(
      [...new Set(urls)].map(async (url): Promise<VersionInput> => {
        const found = await probeInput(url, { workingDirectory, reach, web, s3: web.s3 }).catch(() => undefined);
        const isYoung = now - Number(found?.version.split(' ')[1] ?? 0) < YOUNG_MS;
        return {
          url: redact(url),
          ...(found === undefined ? {} : { bytes: found.sizeBytes, ...(isYoung ? {} : { state: found.version }) }),
        };
      }),
    );
  }

  async #compare(dataset: Dataset, state: State | undefined, draft: StateDraft): Promise<readonly OutputChanges[]> {
    const made: OutputChanges[] = [];
    for (const [number, target] of [undefined, ...draft.targets].entries()) {
      const before = state?.open(target);
      const after = draft.open(target);
      const changes = this.#changesOf(dataset, target, number);
      const whole = this.#outputs.of(target);
      try {
        await compareGraphs(before, after, changes.sink(whole), { ...this.#folding, signal: this.#hooks.signal });
        await changes.finish();
      } finally {
        before?.close();
        after.close();
      }
      made.push(changes);
    }
    return made;
  }

  /** @param number of the logical target, from 1; 0: the output of the run */
  #changesOf(dataset: Dataset, target: string | undefined, number: number): OutputChanges {
    const { stateDirectory, files } = this.#place;
    const mark = files.directory === undefined ? `-${this.#request.runId.slice(-8)}` : '';
    const nameOf = (kind: FileKind): string => fileName(dataset.current + 1, mark, kind, number);
    return new OutputChanges(target, join(stateDirectory, TEMPORARY, 'changes'), nameOf);
  }

  /** The whole graph, of that before and its changes. */
  async #writeWhole(dataset: Dataset, changes: OutputChanges): Promise<void> {
    const whole = this.#outputs.of(undefined);
    if (whole === undefined) return;
    const folding = this.#folding;
    const all = async function* (): AsyncGenerator<ChangedLines> {
      const before =
        dataset.current === 0
          ? []
          : dataset.graph(dataset.current, undefined, { ...folding, directory: join(folding.directory, 'before') });
      for await (const lines of before) yield { kind: 'added', lines };
      yield* changes.read();
    };
    for await (const { lines } of netChanges(all(), folding)) await whole.write(lines);
  }

  async #publish(
    dataset: Dataset,
    draft: StateDraft,
    made: readonly OutputChanges[],
    report: RunReport,
    seen: Seen,
  ): Promise<DatasetReport> {
    const { files, stateDirectory } = this.#place;
    const { runId } = this.#request;
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
    const found = { changesBy: this.#changesBy, reason: this.#changesBy === 'record' ? undefined : this.#reason };
    const isSame = last !== undefined && made.every(({ added, removed }) => added + removed === 0);
    if (isSame) {
      await removeStates(stateDirectory, await draft.complete(dataset, previous, last.runId, seen));
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
      startedAt: this.#startedAt.toISOString(),
      // Later than the version before, whatever the clocks of machines say: followers read versions by their time.
      endedAt: new Date(Math.max(Date.now(), last === undefined ? 0 : Date.parse(last.endedAt) + 1)).toISOString(),
      mappings: report.mappings.map(({ url, sha256 }) => ({ url: redact(url), sha256 })),
      ...seen,
      records: report.records,
      rejected: report.rejected,
      ...counts,
      files: made.flatMap((one) => one.files),
      ...(targets.length === 0 ? {} : { targets: Object.fromEntries(targets) }),
    };
    const state = await draft.complete(dataset, version, runId, seen);
    await this.#hooks.confirm?.();
    for (const one of made) for (const file of one.files) await files.publish(`${VERSIONS}/${file.name}`, one.pathOf(file));
    await this.#hooks.confirm?.();
    await files.write(manifestName(version), jsonText(manifest), true);
    await files.write(DESCRIPTION, jsonText({ ...dataset.description, currentVersion: version }));
    await removeStates(stateDirectory, state);
    return { name, version, previousVersion: previous, ...counts, manifest, report: { ...report, quads: counts.statements }, ...found };
  }
}

async function targetsWithStatements(dataset: Dataset): Promise<readonly string[]> {
  if (dataset.current === 0) return [];
  const { targets = {} } = await dataset.manifest(dataset.current);
  return Object.entries(targets).flatMap(([target, { statements }]) => (statements > 0 ? [target] : []));
}

/** The files of a version that a killed run has left. */
async function removeRemains(dataset: Dataset): Promise<void> {
  const { files, current } = dataset;
  // Those of another process may be on their way: in object storage each run has its own names.
  if (files.directory === undefined) return;
  const later = (await files.list(VERSIONS)).filter((name) => Number(/^\d+/.exec(name)?.[0] ?? 0) > current || name.startsWith('.'));
  await files.remove(later.map((name) => `${VERSIONS}/${name}`));
  if (dataset.description.currentVersion !== current)
    await files.write(DESCRIPTION, jsonText({ ...dataset.description, currentVersion: current }));
}

/** What the statements of a run depend on, beside the content of mapping and inputs. */
function runOptions(request: RunRequest): VersionRunOptions {
  const { mappings, inputs, workingDirectory, base, onError, datatypeCheck, rdf, xmlDefaultNamespace, inputOptions } = request;
  const { boundOnly, validOnly, functions, database } = request;
  const options: VersionRunOptions = {
    mappings: mappings.map(redact),
    inputs: inputs.map(({ name, url }) => ({ name, url: redact(url) })),
    workingDirectory,
    base,
    onError,
    datatypeCheck,
    rdf,
    xmlDefaultNamespace,
    inputOptions,
    boundOnly,
    validOnly,
    functions,
    ...(database === undefined ? {} : { jdbcUrl: redact(database.jdbcUrl) }),
    ...(database?.user === undefined ? {} : { user: database.user }),
  };
  // As it is read from the manifest: without what is undefined.
  return JSON.parse(JSON.stringify(options)) as VersionRunOptions;
}

/** The files of what a run changes in an output. */
class OutputChanges {
  readonly target: string | undefined;
  added = 0;
  removed = 0;
  readonly files: VersionFile[] = [];
  readonly #directory: string;
  readonly #nameOf: (kind: FileKind) => string;
  readonly #sinks = new Map<FileKind, QuadSink>();

  constructor(target: string | undefined, directory: string, nameOf: (kind: FileKind) => string) {
    this.target = target;
    this.#directory = directory;
    this.#nameOf = nameOf;
  }

  /** @param whole takes every statement of the new graph */
  sink(whole: Pick<QuadSink, 'write'> | undefined): ChangeSink {
    return {
      added: (lines) => {
        this.added += lines.length;
        return this.#write('added', lines);
      },
      removed: (lines) => {
        this.removed += lines.length;
        return this.#write('removed', lines);
      },
      kept: (lines) => this.#write('kept', lines),
      ...(whole === undefined ? {} : { whole: async (lines: readonly string[]) => whole.write(lines.join('')) }),
    };
  }

  async #write(kind: FileKind, lines: readonly string[]): Promise<void> {
    let sink = this.#sinks.get(kind);
    if (sink === undefined) {
      sink = await openFileSink({
        directory: this.#directory,
        name: this.#nameOf(kind),
        attempt: 1,
        format: 'nquads',
        compression: 'gzip',
      });
      this.#sinks.set(kind, sink);
    }
    await sink.write(lines.join(''));
  }

  async finish(): Promise<void> {
    for (const [kind, sink] of this.#sinks) {
      const [{ bytes, sha256 }] = (await sink.commit()) as readonly [PartFile];
      this.files.push({ name: this.#nameOf(kind), kind, ...(this.target === undefined ? {} : { target: this.target }), bytes, sha256 });
    }
  }

  /** What was removed, then what was added. After `finish`. */
  async *read(): AsyncGenerator<ChangedLines> {
    for (const kind of ['removed', 'added'] as const) {
      const file = this.files.find((one) => one.kind === kind);
      if (file === undefined) continue;
      for await (const lines of wholeLines(createReadStream(this.pathOf(file)).pipe(createGunzip()))) yield { kind, lines };
    }
  }

  pathOf({ name }: VersionFile): string {
    return join(this.#directory, name);
  }
}
