/** Update of whole graphs: each is filled out of sight, and then takes the place of the one that the store has. */

import { createHash } from 'node:crypto';
import { atMost } from '../../core/abort.ts';
import { Fault } from '../../core/fault.ts';
import { toBytes } from '../../core/text.ts';
import type { Groups } from '../../nquads/group.ts';
import type { Statement } from '../../nquads/statement.ts';
import type { GraphReplacement } from '../../targets/target.ts';
import { openBatcher } from '../batch/batches.ts';
import { openDelivery, type Send } from '../batch/bisect.ts';
import { DEFAULT_GRAPH } from '../request.ts';
import { refusedStatement, type WriteRun } from '../run.ts';
import type { LineTable } from './line-table.ts';

/** How long a run that has failed waits for the store to clean up. */
const ABORT_MS = 5_000;

/** @throws Fault whatever ends the run */
export async function replaceGraphs(run: WriteRun, groups: Groups, lines: LineTable): Promise<void> {
  const { resume, checkpoints } = run;
  for (let partition = resume?.done ?? 0; partition < groups.partitions; partition++) {
    let graph: GraphWrite | undefined;
    try {
      for await (const statements of groups.partition(partition)) {
        for (const part of byGraph(statements)) {
          const name = part[0]?.graph ?? '';
          if (graph?.name !== name) {
            await graph?.commit();
            graph = openGraph(run, name, lines);
          }
          await graph.add(part);
        }
        await run.yieldToEventLoop();
      }
      await graph?.commit();
    } catch (error) {
      run.stop(error);
      await graph?.abort();
      throw error;
    }
    checkpoints.begin(0, [{ count: 0, input: 0, done: partition + 1, line: 0, rejected: 0 }]).end([], 0);
  }
}

/** Graphs of a request as statements name them, each once. */
export const graphNames = (graphs: readonly string[]): ReadonlySet<string> =>
  new Set(graphs.map((graph) => (graph === DEFAULT_GRAPH ? '' : `<${toBytes(graph)}>`)));

/** Leaves nothing in these graphs. Repeating it is harmless. @throws Fault whatever ends the run */
export async function emptyGraphs(run: WriteRun, names: Iterable<string>, lines: LineTable): Promise<void> {
  for (const name of names) {
    await run.start(async () => void (await replaceSmall(run, name, [], lines)));
    await run.yieldToEventLoop();
  }
}

/** Neighbours of one graph each. */
function* byGraph(statements: readonly Statement[]): Generator<readonly Statement[]> {
  let from = 0;
  for (let at = 1; at <= statements.length; at++) {
    if (at < statements.length && statements[at]?.graph === statements[from]?.graph) continue;
    yield from === 0 && at === statements.length ? statements : statements.slice(from, at);
    from = at;
  }
}

interface GraphWrite {
  readonly name: string;
  add(statements: readonly Statement[]): Promise<void>;
  /** A graph of one batch is committed in the background, a larger one when this resolves. */
  commit(): Promise<void>;
  abort(): Promise<void>;
}

function openGraph(run: WriteRun, name: string, lines: LineTable): GraphWrite {
  const { checkpoints, sizer } = run;
  const cutter = openBatcher(sizer, false, run.batchBytes);
  let filling: GraphUpload | undefined;
  let count = 0;
  let batches = 0;
  const refused: number[] = [];
  const fill = async (statements: readonly Statement[]): Promise<void> => {
    if (filling === undefined) filling = await beginUpload(run, name, lines);
    const { deliver } = filling;
    const offset = count;
    count += statements.length;
    batches++;
    await run.start(async () => {
      for (const place of await deliver(statements)) refused.push(offset + place);
    });
  };
  return {
    name,
    async add(statements) {
      cutter.add(statements);
      for (let batch = cutter.next(); batch !== undefined; batch = cutter.next()) await fill(batch.statements);
    },
    async commit() {
      const rest = cutter.rest()?.statements ?? [];
      if (filling === undefined) {
        const entry = checkpoints.begin(rest.length, []);
        return run.start(async () => entry.end(await replaceSmall(run, name, rest, lines), 1));
      }
      if (rest.length > 0) await fill(rest);
      await run.drain();
      await filling.commit();
      checkpoints.begin(count, []).end(refused, batches);
    },
    async abort() {
      if (filling === undefined) return;
      await run.settled();
      await filling.abort();
    },
  };
}

/** One batch is the whole graph. */
async function replaceSmall(run: WriteRun, name: string, statements: readonly Statement[], lines: LineTable): Promise<readonly number[]> {
  const filling = await beginUpload(run, name, lines);
  try {
    const refused = await filling.deliver(statements);
    await filling.commit();
    return refused;
  } catch (error) {
    await filling.abort();
    throw error;
  }
}

interface GraphUpload {
  deliver(statements: readonly Statement[]): Promise<readonly number[]>;
  commit(): Promise<void>;
  abort(): Promise<void>;
}

async function beginUpload(run: WriteRun, name: string, lines: LineTable): Promise<GraphUpload> {
  const { target, retryPolicy, sizer, request } = run;
  // The same when the run goes on after an interruption, and another one for each graph of it.
  const key = createHash('sha256').update(`${request.runId}\n${name}`).digest('hex').slice(0, 32);
  const refuse = (statement: Statement, reason: Fault): void => {
    const { input, line } = lines.locate(statement);
    run.reject(refusedStatement(statement, input, line, reason));
  };
  let replacement: GraphReplacement;
  try {
    replacement = (await retryPolicy.attempt((signal) => target.replaceGraph(name, key, signal))) as GraphReplacement;
  } catch (error) {
    if (error instanceof Fault && error.code === 'target/refused') return refusedGraph(error, refuse);
    throw error;
  }
  const send: Send = (statements, signal) => replacement.insert(statements, signal);
  const { deliver } = openDelivery({ send, whole: false, retryPolicy, sizer, refuse });
  return {
    deliver,
    commit: async () => void (await retryPolicy.attempt((signal) => replacement.commit(signal))),
    // What ended the run is worth more than what the store says to this.
    abort: async () => void (await atMost(ABORT_MS, replacement.abort())),
  };
}

/** The store has no place for a graph of this name: it stays as it is, and all of its statements are refused. */
const refusedGraph = (reason: Fault, refuse: (statement: Statement, reason: Fault) => void): GraphUpload => ({
  async deliver(statements) {
    for (const statement of statements) refuse(statement, reason);
    return [...statements.keys()];
  },
  commit: async () => undefined,
  abort: async () => undefined,
});
