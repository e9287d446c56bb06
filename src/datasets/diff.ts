/** The difference between two files of statements, however large they are. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../core/fault.ts';
import { redact } from '../core/redact.ts';
import { readStatements } from '../nquads/read.ts';
import type { RejectedStatement } from '../nquads/statement.ts';
import { MemoryBudget } from '../spill/budget.ts';
import { PartitionedFile } from '../storage/local/partitioned-file.ts';
import { openInput } from '../storage/open.ts';
import type { OpenOptions } from '../storage/storage.ts';
import { type ChangedLines, wholeLines } from './changes.ts';
import { compareGraphs } from './graphs/compare.ts';
import { GraphLogReader, GraphLogWriter } from './graphs/graph-log.ts';
import { newSeed } from './versions/state.ts';

export interface DiffOptions extends Omit<OpenOptions, 'range' | 'compression'> {
  /** For temporary files; created when needed, used by nothing else, and removed. */
  readonly directory: string;
  readonly memoryBudgetBytes: number;
}

/**
 * What the second file has to lose and to gain to be the first one's successor: the statements that only `before` has, then those that only `after` has.
 * Blank nodes are compared by their labels.
 *
 * @throws Fault those of `openInput` and `readStatements`; record/term — a statement that is no RDF
 */
export const diffFiles = (before: string, after: string, options: DiffOptions): AsyncGenerator<ChangedLines> =>
  diffLines(linesOf(before, options), linesOf(after, options), options);

/** As `diffFiles`, of complete lines in the form in which runs write them. @throws Fault sink/failed; those of the lines */
export async function* diffLines(
  before: AsyncIterable<string>,
  after: AsyncIterable<string>,
  { directory, memoryBudgetBytes, signal }: Pick<DiffOptions, 'directory' | 'memoryBudgetBytes' | 'signal'>,
): AsyncGenerator<ChangedLines> {
  const seed = newSeed();
  const removed = new PartitionedFile(join(directory, 'removed'), 1, () => undefined);
  const added = new PartitionedFile(join(directory, 'added'), 1, () => undefined);
  const add = async (file: PartitionedFile, lines: readonly string[]): Promise<void> => {
    file.add(0, lines.join(''));
    if (file.full) await file.flush();
  };
  const readers: GraphLogReader[] = [];
  try {
    for (const [i, lines] of [before, after].entries()) {
      const place = join(directory, String(i));
      await readInto(new GraphLogWriter(place, seed, new MemoryBudget(memoryBudgetBytes)), lines);
      readers.push(new GraphLogReader(place));
    }
    const [old, fresh] = readers as [GraphLogReader, GraphLogReader];
    const sink = { added: (lines: readonly string[]) => add(added, lines), removed: (lines: readonly string[]) => add(removed, lines) };
    await compareGraphs(old, fresh, sink, { directory: join(directory, 'changes'), memoryBudgetBytes, signal });
    for await (const lines of wholeLines(removed.read(0))) yield { kind: 'removed', lines };
    for await (const lines of wholeLines(added.read(0))) yield { kind: 'added', lines };
  } finally {
    for (const reader of readers) reader.close();
    await removed.remove();
    await added.remove();
    await rm(directory, { recursive: true, force: true });
  }
}

async function readInto(writer: GraphLogWriter, lines: AsyncIterable<string>): Promise<void> {
  try {
    for await (const text of lines) await writer.write(text);
    await writer.finish();
  } catch (error) {
    await writer.abort().catch(() => undefined);
    throw error;
  }
}

async function* linesOf(url: string, options: DiffOptions): AsyncGenerator<string> {
  const { bytes } = await openInput(url, options);
  for await (const { statements, rejected } of readStatements(bytes, { input: redact(url), skolem: undefined, takesTriples: true })) {
    const [bad] = rejected;
    if (bad !== undefined) throw refused(bad);
    let text = '';
    for (const { subject, predicate, object, graph } of statements) {
      text += `${subject} ${predicate} ${object} ${graph === '' ? '' : `${graph} `}.\n`;
    }
    yield text;
  }
}

const refused = ({ fault }: RejectedStatement): Fault => Fault.from(fault);
