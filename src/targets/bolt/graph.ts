/**
 * Replaces a whole graph in a property graph.
 *
 * Its statements are staged in separate nodes that are not visible as resources. `commit` exchanges the graph in one transaction; if the
 * server lacks the memory for that, about 1 kB per statement, in many, and readers see a partial graph meanwhile.
 */
import { withLimit } from '../../core/abort.ts';
import { fromBytes, toBytes } from '../../core/text.ts';
import type { Statement } from '../../nquads/statement.ts';
import { BASE_LABEL, type Names, nodeKey } from '../../property-graph/names.ts';
import type { GraphReplacement } from '../target.ts';
import type { BoltConnection, Work } from './connect.ts';
import { clearGraph, type Ending, removeBare, staging } from './cypher.ts';
import { isOutOfMemory } from './faults.ts';
import { insertInto, writeAll } from './write.ts';

const ABORT_MS = 30_000;

/**
 * Relationships of the graph are replaced exactly, and so are the properties and labels of nodes that are in no other graph. Properties
 * belong to no graph: a node that other graphs also describe keeps what it has, and new values are added.
 *
 * @param check throws for refused statements
 */
export async function replaceGraphOver(
  connection: BoltConnection,
  graph: string,
  key: string,
  names: Names,
  check: (statements: readonly Statement[]) => void,
  signal: AbortSignal,
): Promise<GraphReplacement> {
  let parts = 0;
  await connection.transaction(async (work) => {
    await work.run(staging.remove, { key });
    await work.run(staging.begin, { key });
  }, signal);
  return {
    async insert(statements, insertSignal) {
      if (statements.length === 0) return;
      check(statements);
      const text = fromBytes(statements.map(({ subject, predicate, object }) => `${subject}\t${predicate}\t${object}`).join('\n'));
      const part = BigInt(parts++);
      await connection.transaction((work) => work.run(staging.add, { key, part, text }), insertSignal);
    },
    commit: (commitSignal) => exchange({ connection, graph, key, names, signal: commitSignal }),
    abort: () =>
      withLimit(ABORT_MS, (limit) => connection.transaction(async (work) => void (await work.run(staging.remove, { key })), limit)),
  };
}

interface Exchange {
  readonly connection: BoltConnection;
  readonly graph: string;
  readonly key: string;
  readonly names: Names;
  readonly signal: AbortSignal;
}

/** After a failure it continues where it stopped; after completion there is nothing to do. */
async function exchange(context: Exchange): Promise<void> {
  const { connection, signal } = context;
  try {
    if (await connection.transaction((work) => exchangeAtOnce(work, context), signal, 'long')) return;
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
    await connection.transaction((work) => work.run(staging.enter, { key: context.key, phase: 'clear' }), signal);
  }
  await exchangeInSteps(context);
}

/** False: an earlier attempt has begun to commit in steps. */
async function exchangeAtOnce(work: Work, { graph, key, names }: Exchange): Promise<boolean> {
  const { records } = await work.run(staging.phase, { key });
  // An earlier attempt has completed it, but its answer was lost.
  if (records.length === 0) return true;
  if (records[0]?.get('phase') !== null) return false;
  const touched = new Set<string>();
  const collect: Work['run'] = async (cypher, parameters) => {
    const result = await work.run(cypher, { ...parameters, limit: ALL });
    if (result.records[0]?.has('key')) for (const record of result.records) touched.add(record.get('key'));
    return result;
  };
  await clear(collect, nodeKey(graph), 'tell');
  for (const part of await partsOf(work, key)) await insertPart(work, { graph, key, names }, part);
  await writeAll(work, removeBare, { keys: [...touched].sort() });
  await work.run(staging.remove, { key });
  return true;
}

const ALL = BigInt(Number.MAX_SAFE_INTEGER);
/** Relationships, or nodes, of a transaction. */
const STEP = 20_000n;

async function exchangeInSteps({ connection, graph, key, names, signal }: Exchange): Promise<void> {
  const step = <T>(act: (work: Work) => Promise<T>): Promise<T> => connection.transaction(act, signal, 'long');
  const { records } = await step((work) => work.run(staging.phase, { key }));
  if (records[0]?.get('phase') === 'clear') {
    await clear(
      async (cypher, parameters) => {
        for (;;) {
          const result = await step((work) => work.run(cypher, { ...parameters, limit: STEP }));
          if (!result.summary.counters.containsUpdates()) return result;
        }
      },
      nodeKey(graph),
      'remove',
    );
    await step((work) => work.run(staging.enter, { key, phase: 'fill' }));
  }
  for (const part of await step((work) => partsOf(work, key)))
    await step(async (work) => {
      await insertPart(work, { graph, key, names }, part);
      await work.run(staging.removePart, { key, part });
    });
  await step((work) => work.run(staging.remove, { key }));
}

async function partsOf(work: Work, key: string): Promise<readonly unknown[]> {
  const { records } = await work.run(staging.parts, { key });
  return records.map((record) => record.get('part'));
}

async function insertPart(work: Work, { graph, key, names }: Pick<Exchange, 'graph' | 'key' | 'names'>, part: unknown): Promise<void> {
  const { records } = await work.run(staging.text, { key, part });
  await insertInto(work, statementsOf(records[0]?.get('text') as string, graph), names);
}

async function clear(run: Work['run'], graph: string, ending: Ending): Promise<void> {
  await run(clearGraph.edges(graph, ending), { graph });
  const { records } = await run(clearGraph.labelSets(graph), { graph });
  for (const record of records) {
    const labels = record.get('labels') as readonly string[];
    const own = labels.filter((label) => label !== BASE_LABEL);
    if (own.length > 0) await run(clearGraph.labels(graph, own, ending), { graph, labels });
  }
  await run(clearGraph.properties(graph, ending), { graph });
  await run(clearGraph.shared, { graph });
}

const statementsOf = (text: string, graph: string): readonly Statement[] =>
  toBytes(text)
    .split('\n')
    .map((line) => {
      const [subject = '', predicate = '', object = ''] = line.split('\t');
      return { subject, predicate, object, graph, line: 0 };
    });
