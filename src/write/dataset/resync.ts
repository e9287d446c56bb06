/** Makes the graphs of a store equal to the newest version of a dataset. */
import { join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import type { Statement } from '../../nquads/statement.ts';
import type { DatasetKey, VersionTarget } from '../../targets/target.ts';
import type { CompareLines, DatasetWriteRequest } from './request.ts';
import { ADDED, REMOVED, textOf, type VersionStatements } from './statements.ts';
import type { StoredPosition } from './steps.ts';

/**
 * The differences as statements to send, removed ones first.
 *
 * The graphs of the dataset are those in which any of its versions has a statement. Statements of other graphs stay, and so do those with
 * blank nodes, of which a dataset writes none.
 *
 * @throws Fault target/refused — the store cannot be read; request/conflict — the default graph may have statements that are not of the dataset
 */
export async function* differences(
  { dataset, spillDirectory, memoryBudgetBytes }: Omit<DatasetWriteRequest, 'target'>,
  compare: CompareLines,
  statements: VersionStatements,
  { read }: VersionTarget,
  positions: readonly StoredPosition[],
  target: string,
  signal: AbortSignal,
) {
  if (read === undefined) {
    throw new Fault('request/invalid', `${target} cannot be compared with a version: its statements cannot be read back`, {
      hint: 'Empty the store, or write to another one, without --resync',
    });
  }
  const graphs = await statements.graphNames();
  if (graphs.has('')) await checkAlone(positions, dataset.description, read(DEFAULT, signal));
  async function* before(): AsyncGenerator<string> {
    for (const graph of graphs)
      for await (const found of read?.(graph, signal) ?? [])
        yield textOf(found.filter(({ subject, object }) => !hasBlankNode(subject) && !hasBlankNode(object)));
  }
  const options = { directory: join(spillDirectory, 'compare'), memoryBudgetBytes: Math.floor(memoryBudgetBytes / 2), signal };
  for await (const { kind, lines } of compare(before(), statements.lines(dataset.current), options))
    yield* statements.tagged(onlyPiece(lines), kind === 'removed' ? REMOVED : ADDED);
}

async function* onlyPiece(lines: string): AsyncGenerator<string> {
  yield lines;
}

const hasBlankNode = (term: string): boolean => term.startsWith('_:') || (term.startsWith('<<') && / _:/.test(term));

const DEFAULT = '';

/** A default graph is compared where the store is known to have this dataset and no other, or has nothing in it. */
async function checkAlone(
  positions: readonly StoredPosition[],
  { id, name }: DatasetKey,
  statements: AsyncIterable<readonly Statement[]>,
): Promise<void> {
  const others = positions.filter((one) => one.id !== id && one.name !== name);
  if (others.length === 0 && (positions.length > 0 || (await isEmpty(statements)))) return;
  const [found, hint] =
    others.length > 0
      ? [`the target also has ${others.map((one) => one.name).join(', ')}`, 'Give each dataset a graph: --graph IRI']
      : ['the target has other statements there', 'Write it without --resync first, or give the dataset a graph: --graph IRI'];
  throw new Fault(
    'request/conflict',
    `The dataset ${name} has statements in the default graph, and ${found}: --resync would remove what is not of the dataset`,
    { hint },
  );
}

async function isEmpty(statements: AsyncIterable<readonly Statement[]>): Promise<boolean> {
  for await (const some of statements) if (some.length > 0) return false;
  return true;
}
