/** Removes statements that an earlier slice has written: slices of a group may produce the same statement. */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { SliceResult } from '../../queues/jobs.ts';
import { findRepeated, type RepeatedSubjects } from '../../src/run/distinct/repeated-subjects.ts';
import { RepetitionFilter } from '../../src/run/distinct/repetition-filter.ts';
import { LineSpill } from '../../src/run/distinct/spill.ts';
import { openFileSink } from '../../src/sinks/file.ts';
import { type FinishedPart, FORMAT_EXTENSION } from '../../src/sinks/sink.ts';
import { MemoryBudget } from '../../src/spill/budget.ts';
import { SpillSpace } from '../../src/spill/space.ts';
import { linesOf } from '../output/targets.ts';
import type { SliceFiles } from '../output/transfer.ts';
import type { Task } from '../task.ts';

/**
 * The results of slices for publication, in order. Parts without a repeated subject are unchanged; others are rewritten under temporary
 * names of the attempt.
 *
 * @param files what the slices have left; what is read of it is fetched
 * @throws Fault sink/failed; the reason of `signal`
 */
export async function withoutRepetitions(
  task: Task,
  results: readonly SliceResult[],
  files: SliceFiles,
  signal: AbortSignal,
): Promise<readonly SliceResult[]> {
  const kept = [...results];
  for (const group of new Set(results.flatMap(({ subjects }) => subjects?.group ?? []))) {
    const positions = results.flatMap((result, i) => (result.subjects?.group === group ? [i] : []));
    const subjects = positions.map((i) => results[i]?.subjects?.file as string);
    await files.fetch(subjects);
    const paths = subjects.map((file) => join(task.output.directory, file));
    const repeated = await findRepeated(paths, task.request.memoryBudgetBytes / 2, signal);
    const touched = positions.filter((_, i) => repeated.slices.has(i));
    await files.fetch(touched.flatMap((i) => statementFilesOf(results[i] as SliceResult)));
    const targets = results[positions[0] as number]?.targets?.length ?? 0;
    for (let output = 0; output <= targets && touched.length > 0; output++) await rewrite(task, kept, touched, output, repeated, signal);
  }
  return kept;
}

/** Replaces what the results at these positions have for an output: 0 is that of the run, n its n-th target. */
async function rewrite(
  task: Task,
  results: SliceResult[],
  positions: readonly number[],
  output: number,
  repeated: RepeatedSubjects,
  signal: AbortSignal,
): Promise<void> {
  const { spillDirectory, memoryBudgetBytes } = task.request;
  const seed = randomInt(2 ** 31);
  const space = new SpillSpace(join(spillDirectory, 'repetitions'));
  const undecided = new LineSpill(space, seed ^ 0x3c6ef372);
  const filter = new RepetitionFilter(repeated, memoryBudgetBytes / 2, seed, undecided);
  try {
    for (const position of positions) {
      const result = results[position] as SliceResult;
      const before = filter.withheld;
      const parts = await filterParts(task, result, output, position, filter, space, signal);
      results[position] = withParts(result, output, parts, filter.withheld - before);
    }
    const last = positions.at(-1) as number;
    let kept = 0;
    const lines = async function* (): AsyncGenerator<string> {
      for await (const batch of undecided.drain(new MemoryBudget(memoryBudgetBytes / 2))) {
        signal.throwIfAborted();
        kept += batch.length;
        yield batch.join('');
      }
    };
    const result = results[last] as SliceResult;
    const parts = await writeParts(task, nameOf(task, result, output), results.length, lines());
    results[last] = withParts(result, output, [...partsOf(result, output), ...parts.filter(({ empty }) => !empty)], -kept);
  } finally {
    await space.remove();
  }
}

const partsOf = ({ parts, targets }: SliceResult, output: number): readonly FinishedPart[] =>
  output === 0 ? parts : (targets?.[output - 1]?.parts ?? []);

const statementFilesOf = ({ parts, targets }: SliceResult): readonly string[] =>
  [...parts, ...(targets ?? []).flatMap((target) => target.parts)].map(({ file }) => file);

/** Without extension for a part. */
const nameOf = ({ output: { name, format } }: Task, { targets }: SliceResult, output: number): string =>
  output === 0 ? `${name}.${FORMAT_EXTENSION[format]}` : (targets?.[output - 1]?.name as string);

/** With so many statements fewer. The counts of triples maps are unchanged: it is unknown which map produced the statement first. */
function withParts(result: SliceResult, output: number, parts: readonly FinishedPart[], fewer: number): SliceResult {
  const { report } = result;
  const quads = report.quads - fewer;
  if (output === 0) return { ...result, parts, report: { ...report, quads } };
  const at = <T>(all: readonly T[] | undefined, change: (one: T) => T): readonly T[] =>
    (all ?? []).map((one, i) => (i === output - 1 ? change(one) : one));
  return {
    ...result,
    targets: at(result.targets, (target) => ({ ...target, parts })),
    report: { ...report, quads, targets: at(report.targets, (target) => ({ ...target, quads: target.quads - fewer })) },
  };
}

async function filterParts(
  task: Task,
  result: SliceResult,
  output: number,
  position: number,
  filter: RepetitionFilter,
  space: SpillSpace,
  signal: AbortSignal,
): Promise<readonly FinishedPart[]> {
  const lines = async function* (): AsyncGenerator<string> {
    for (const { file } of partsOf(result, output)) {
      for await (const piece of linesOf(join(task.output.directory, file), signal)) {
        yield filter.pass(piece);
        await space.flush();
      }
    }
  };
  return writeParts(task, nameOf(task, result, output), position, lines());
}

/** Writes one part with these lines. Attempts of slices count from 1, so 0 is unused. */
async function writeParts(
  { output: { directory, attempt } }: Task,
  name: string,
  position: number,
  pieces: AsyncIterable<string>,
): Promise<readonly FinishedPart[]> {
  // The slices have already written the lines in the output format.
  const sink = await openFileSink({
    directory,
    name,
    format: 'nquads',
    attempt: `${attempt}-${position}-0`,
  });
  try {
    for await (const piece of pieces) if (piece !== '') await sink.write(piece);
    return await sink.finish();
  } catch (error) {
    await sink.abort();
    throw error;
  }
}
