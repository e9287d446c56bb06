/** Makes what a store has of a dataset equal to its newest version: the differences, as statements to send. */
import { join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { TextFilter } from '../../core/hash.ts';
import type { Statement } from '../../nquads/statement.ts';
import type { DatasetKey, ElementReader, SharedStatements, VersionTarget } from '../../targets/target.ts';
import type { WriteRun } from '../run.ts';
import { refusedStatement } from '../run.ts';
import type { CompareLines, DatasetWriteRequest } from './request.ts';
import { ADDED, KEPT, MISSING, REMOVED, tagged, textOf, type VersionStatements } from './statements.ts';
import type { StoredPosition } from './steps.ts';

export interface Resync {
  readonly run: WriteRun;
  readonly request: Omit<DatasetWriteRequest, 'target'>;
  readonly compare: CompareLines;
  readonly versions: VersionTarget;
  readonly statements: VersionStatements;
  /** Those in which any of the versions of the dataset has a statement, as terms. */
  readonly graphs: ReadonlySet<string>;
}

/**
 * Of a dataset that has its graphs for itself: removed statements first.
 *
 * Statements of other graphs stay, and so do those with blank nodes, of which a dataset writes none.
 *
 * @throws Fault target/refused — the store cannot be read; request/conflict — the default graph may have statements that are not of the dataset
 */
export async function* differences(resync: Resync, positions: readonly StoredPosition[]): AsyncGenerator<readonly Statement[]> {
  const { run, request, statements, versions, graphs } = resync;
  const { read, elements } = versions;
  const { dataset } = request;
  if (read === undefined && elements === undefined)
    throw new Fault('request/invalid', `${run.target.describe()} cannot be compared with a version: its statements cannot be read back`, {
      hint: 'Empty the store, or write to another one, without --resync',
    });
  if (graphs.has(DEFAULT))
    await checkAlone(positions, dataset.description, elements?.read(new Set([DEFAULT]), run.signal) ?? read?.(DEFAULT, run.signal));
  if (elements !== undefined) yield* elementDifferences(resync, elements);
  else
    for await (const { kind, lines } of compared(resync, storedLines(resync), statements.lines(dataset.current)))
      yield* statements.tagged(onlyPiece(lines), kind === 'removed' ? REMOVED : ADDED);
}

/**
 * Of a dataset that shares its statements: those that it has alone go, and what is missing is added. What no dataset states is not looked at.
 *
 * @throws Fault target/refused — the store cannot be read
 */
export async function* sharedDifferences(resync: Resync, shared: SharedStatements): AsyncGenerator<readonly Statement[]> {
  const { run, request, statements, versions } = resync;
  const { description, current } = request.dataset;
  async function* before(): AsyncGenerator<string> {
    for await (const found of shared.read(description, run.signal)) yield textOf(found);
  }
  for await (const { kind, lines } of compared(resync, before(), statements.lines(current)))
    yield* statements.tagged(onlyPiece(lines), kind === 'removed' ? REMOVED : ADDED);
  // The graphs may lack what the dataset has according to the store.
  if (versions.read === undefined) {
    for await (const all of statements.graph(current)) yield tagged(all, KEPT);
    return;
  }
  for await (const { kind, lines } of compared(resync, storedLines(resync), statements.lines(current)))
    if (kind === 'added') yield* statements.tagged(onlyPiece(lines), ADDED);
}

/** What a dataset that shares has in a store, to be removed. */
export async function* everything(
  shared: SharedStatements,
  dataset: DatasetKey,
  signal: AbortSignal,
): AsyncGenerator<readonly Statement[]> {
  for await (const found of shared.read(dataset, signal)) yield tagged(found, REMOVED);
}

/** Elements that differ, and all statements about their nodes, by node. */
async function* elementDifferences(resync: Resync, elements: ElementReader): AsyncGenerator<readonly Statement[]> {
  const { run, request, statements, graphs } = resync;
  const { current, description } = request.dataset;
  const taken = async function* (isFirst: boolean): AsyncGenerator<readonly Statement[]> {
    for await (const all of statements.graph(current))
      yield all.filter((one) => {
        const refused = elements.refusal(one);
        if (refused !== undefined && isFirst) {
          run.counts.statements++;
          run.reject(refusedStatement(one, `dataset ${description.name}`, 0, refused));
        }
        return refused === undefined;
      });
  };
  async function* after(): AsyncGenerator<string> {
    for await (const whole of statements.bySubject('graph by subject', taken(true))) yield elements.linesOf(whole);
  }
  const differing = new TextFilter();
  async function* changes(): AsyncGenerator<readonly Statement[]> {
    for await (const { kind, lines } of compared(resync, elements.read(graphs, run.signal), after())) {
      const found = lines.split('\n').filter((line) => line !== '');
      yield found.map((line) => {
        const end = line.indexOf('> ') + 1;
        const subject = line.slice(0, end);
        differing.add(subject);
        return { subject, predicate: line.slice(end + 1), object: '', graph: '', line: kind === 'removed' ? REMOVED : MISSING };
      });
    }
    for await (const all of taken(false))
      yield tagged(
        all.filter(({ subject }) => differing.has(subject)),
        KEPT,
      );
  }
  yield* statements.bySubject('changes by subject', changes());
}

const compared = ({ run, request, compare }: Resync, before: AsyncIterable<string>, after: AsyncIterable<string>) =>
  compare(before, after, {
    directory: join(request.spillDirectory, 'compare'),
    memoryBudgetBytes: Math.floor(request.memoryBudgetBytes / 2),
    signal: run.signal,
  });

/** Lines of the graphs in the store. */
async function* storedLines({ run, versions, graphs }: Resync): AsyncGenerator<string> {
  for (const graph of graphs)
    for await (const found of versions.read?.(graph, run.signal) ?? [])
      yield textOf(found.filter(({ subject, object }) => !hasBlankNode(subject) && !hasBlankNode(object)));
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
  contents: AsyncIterable<string | readonly Statement[]> | undefined,
): Promise<void> {
  const others = positions.filter((one) => one.id !== id && one.name !== name);
  if (others.length === 0 && (positions.length > 0 || (await isEmpty(contents ?? [])))) return;
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

async function isEmpty(contents: AsyncIterable<string | readonly Statement[]> | readonly string[]): Promise<boolean> {
  for await (const some of contents) if (some.length > 0) return false;
  return true;
}
