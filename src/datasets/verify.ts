/** Maps the inputs of a dataset again, and compares the graph with its newest version. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../core/fault.ts';
import { type DatabaseAccess, type RunHooks, type RunRequest, STANDARD_INPUT } from '../run/request.ts';
import { executeRun } from '../run/run.ts';
import type { QuadSink } from '../sinks/sink.ts';
import type { Folding } from './changes.ts';
import { Dataset } from './dataset.ts';
import { compareGraphs } from './graphs/compare.ts';
import type { VersionRunOptions } from './manifest.ts';
import { type DatasetPlace, lockDataset } from './run.ts';
import { newSeed, StateDraft } from './versions/state.ts';

export interface Verified {
  readonly version: number;
  /** Of the version. */
  readonly statements: number;
  /** Statements that the inputs give and the version has not. */
  readonly missing: number;
  /** Statements that the version has and the inputs do not give. */
  readonly surplus: number;
}

/** What a dataset does not keep of a run: limits, logins, threads. */
export type RunRest = Omit<RunRequest, 'mappings' | 'inputs' | 'workingDirectory' | 'base' | 'database'>;

/** The run that made a version. @param database undefined: that of the run, without a password */
export function runOf({ jdbcUrl, user, ...run }: VersionRunOptions, rest: RunRest, database: DatabaseAccess | undefined): RunRequest {
  return { ...rest, ...run, database: database ?? (jdbcUrl === undefined ? undefined : { jdbcUrl, user }) };
}

/**
 * Compares all outputs of the newest version with what its inputs say now. The version itself is read, not the state.
 *
 * @param database password and address, if the mapping names none; undefined: that of the last run, without a password
 * @param note called with some of the differing lines: `+` and those that are missing, `-` and those that are too many
 * @throws Fault source/missing — there is no dataset, or it has no version; those of `executeRun`
 */
export async function verifyDataset(
  place: DatasetPlace,
  request: RunRest,
  database: DatabaseAccess | undefined,
  folding: Folding,
  hooks: Pick<RunHooks, 'signal' | 'openSession' | 'openTopic'>,
  note: (sign: '+' | '-', lines: readonly string[]) => void,
): Promise<Verified> {
  const dataset = await Dataset.open(place.files);
  if (dataset.current === 0) throw new Fault('source/missing', `The dataset ${dataset.description.name} has no version yet`);
  const lock = await lockDataset(place);
  const directory = join(place.stateDirectory, 'verify');
  await rm(directory, { recursive: true, force: true });
  const seed = newSeed();
  const [made, kept] = ['made', 'kept'].map((name) => new StateDraft(join(directory, name), seed, request.memoryBudgetBytes / 2)) as [
    StateDraft,
    StateDraft,
  ];
  try {
    const { run, statements, targets = {} } = await dataset.manifest(dataset.current);
    if (run.inputs.some(({ url }) => url === STANDARD_INPUT))
      throw new Fault('request/invalid', `Version ${dataset.current} was made of standard input, which cannot be read again`);
    const whole: RunRequest = { ...runOf(run, request, database), dataset: dataset.description.id, distinct: false };
    const main = made.writer(undefined);
    const sink: QuadSink = {
      write: (lines) => main.write(lines),
      writeBytes: (buffers) => main.writeBytes(buffers),
      commit: async () => [],
      abort: async () => undefined,
    };
    await executeRun(whole, sink, { ...hooks, openTarget: async ({ path }) => made.writer(path) });
    const outputs = new Set([undefined, ...Object.keys(targets), ...made.targets]);
    let [missing, surplus] = [0, 0];
    for (const target of outputs) {
      made.writer(target);
      const writer = kept.writer(target);
      if (target === undefined || Object.hasOwn(targets, target))
        for await (const lines of dataset.graph(dataset.current, target, folding)) await writer.write(lines);
    }
    await made.finish();
    await kept.finish();
    for (const target of outputs) {
      const [before, after] = [kept.open(target), made.open(target)];
      try {
        await compareGraphs(
          before,
          after,
          {
            added: (lines) => {
              missing += lines.length;
              note('+', lines);
            },
            removed: (lines) => {
              surplus += lines.length;
              note('-', lines);
            },
          },
          { ...folding, signal: hooks.signal },
        );
      } finally {
        before.close();
        after.close();
      }
    }
    return { version: dataset.current, statements, missing, surplus };
  } finally {
    await made.abort();
    await kept.abort();
    await rm(directory, { recursive: true, force: true });
    await lock.release();
  }
}
