/** Removes statements that an earlier slice has written: slices of a group may produce the same statement. */
import { randomInt } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { SliceResult } from '../../queues/jobs.ts';
import { MemoryBudget } from '../../src/run/distinct/distinct.ts';
import { findRepeated, type RepeatedSubjects } from '../../src/run/distinct/repeated-subjects.ts';
import { RepetitionFilter } from '../../src/run/distinct/repetition-filter.ts';
import { LineSpill, SpillSpace } from '../../src/run/distinct/spill.ts';
import { writeFault } from '../../src/sinks/descriptor.ts';
import { openFileSink } from '../../src/sinks/file.ts';
import { type FinishedPart, FORMAT_EXTENSION } from '../../src/sinks/sink.ts';
import type { Task } from '../task.ts';

/**
 * The results of slices for publication, in order. Parts without a repeated subject are unchanged; others are rewritten under temporary
 * names of the attempt.
 *
 * @throws Fault sink/failed; the reason of `signal`
 */
export async function withoutRepetitions(
  task: Task,
  results: readonly SliceResult[],
  signal: AbortSignal,
): Promise<readonly SliceResult[]> {
  const kept = [...results];
  for (const group of new Set(results.flatMap(({ subjects }) => subjects?.group ?? []))) {
    const positions = results.flatMap((result, i) => (result.subjects?.group === group ? [i] : []));
    const files = positions.map((i) => join(task.output.directory, results[i]?.subjects?.file as string));
    const repeated = await findRepeated(files, task.request.memoryBudgetBytes / 2, signal);
    const touched = positions.filter((_, i) => repeated.slices.has(i));
    if (touched.length > 0) await rewrite(task, kept, touched, repeated, signal);
  }
  return kept;
}

/** Replaces the results at these positions. */
async function rewrite(
  task: Task,
  results: SliceResult[],
  positions: readonly number[],
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
      const parts = await filterParts(task, result, position, filter, space, signal);
      results[position] = lessQuads({ ...result, parts }, filter.withheld - before);
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
    const parts = await writeParts(task, results.length, lines());
    const result = results[last] as SliceResult;
    results[last] = lessQuads({ ...result, parts: [...result.parts, ...parts.filter(({ empty }) => !empty)] }, -kept);
  } finally {
    await space.remove();
  }
}

/** The counts of triples maps are unchanged: it is unknown which map produced the statement first. */
function lessQuads(result: SliceResult, count: number): SliceResult {
  return { ...result, report: { ...result.report, quads: result.report.quads - count } };
}

async function filterParts(
  task: Task,
  { parts }: SliceResult,
  position: number,
  filter: RepetitionFilter,
  space: SpillSpace,
  signal: AbortSignal,
): Promise<readonly FinishedPart[]> {
  const { directory } = task.output;
  const lines = async function* (): AsyncGenerator<string> {
    for (const { file } of parts) {
      const path = join(directory, file);
      try {
        for await (const piece of createReadStream(path, { encoding: 'latin1', highWaterMark: 1 << 20 })) {
          signal.throwIfAborted();
          yield filter.pass(piece as string);
          await space.flush();
        }
      } catch (error) {
        throw signal.aborted ? error : writeFault(path, error);
      }
    }
  };
  return writeParts(task, position, lines());
}

/** Writes one part with these lines. Attempts of slices count from 1, so 0 is unused. */
async function writeParts(task: Task, position: number, pieces: AsyncIterable<string>): Promise<readonly FinishedPart[]> {
  const { directory, name, format, attempt } = task.output;
  // The slices have already written the lines in the output format.
  const sink = await openFileSink({
    directory,
    name: `${name}.${FORMAT_EXTENSION[format]}`,
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
