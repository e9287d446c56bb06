/**
 * Update: everything is read and grouped before the first statement is sent, so that a file which is malformed or cut off changes nothing.
 * Then whole subjects, or whole graphs, take the place of what the store has.
 */
import { excerpt, Fault } from '../../core/fault.ts';
import { fromBytes } from '../../core/text.ts';
import { type Groups, openGroups } from '../../nquads/group.ts';
import type { Statement } from '../../nquads/statement.ts';
import type { UpdateScope } from '../../targets/target.ts';
import { openDelivery } from '../batch/bisect.ts';
import { openBatches } from '../batch/send.ts';
import { readInput, tripleSupportOf } from '../inputs.ts';
import { countBlock, refusedStatement, type WriteRun } from '../run.ts';
import { emptyGraphs, graphNames, replaceGraphs } from './graphs.ts';
import { type LineTable, lineTable } from './line-table.ts';

/** @throws Fault whatever ends the run */
export async function updateTarget(run: WriteRun): Promise<void> {
  const { request, checkpoints, counts, resume } = run;
  const { scope, spillDirectory, memoryBudgetBytes } = request;
  const groups = openGroups({
    directory: spillDirectory,
    by: scope === 'graph' ? 'graph' : 'subject',
    memoryBudgetBytes: Math.floor(memoryBudgetBytes / 2),
  });
  try {
    const missing = new Set(graphNames(request.graphs ?? []));
    const lines = await readInputs(run, groups, missing);
    if (resume === undefined) {
      // From here on there is a position, and what the reader has rejected is before it.
      checkpoints.begin(0, [{ count: 0, input: 0, done: 0, line: 0, rejected: counts.rejected }]).end([], 0);
    }
    if (scope === 'graph') {
      await replaceGraphs(run, groups, lines);
      await emptyGraphs(run, missing, lines);
    } else await replaceSubjects(run, groups, scope, lines);
    await run.drain();
  } finally {
    counts.bytesSpilled = groups.bytesSpilled;
    await groups.remove();
  }
}

/**
 * All inputs together, since their subjects may meet.
 *
 * @param missing graphs, of which those that have a statement are removed
 */
async function readInputs(run: WriteRun, groups: Groups, missing: Set<string>): Promise<LineTable> {
  const { inputs, request, signal, counts, resume } = run;
  const bytesRead = (bytes: number): void => void (counts.bytesRead += bytes);
  const before: number[] = [];
  let lines = 0;
  for (const [position, input] of inputs.entries()) {
    const offset = lines;
    before.push(offset);
    for await (const block of readInput(input, { byte: 0, line: 0 }, request, { signal, bytesRead }, tripleSupportOf(run.target))) {
      // An attempt that goes on has counted them before, and said so.
      if (resume === undefined) for (const rejected of block.rejected) run.reject(rejected);
      countBlock(run, block, position);
      if (missing.size > 0) for (const { graph } of block.statements) missing.delete(graph);
      await groups.add(offset === 0 ? block.statements : block.statements.map((one) => ({ ...one, line: one.line + offset })));
      lines = offset + block.end.line;
      await run.yieldToEventLoop();
    }
  }
  return lineTable(inputs, before);
}

async function replaceSubjects(run: WriteRun, groups: Groups, scope: Exclude<UpdateScope, 'graph'>, lines: LineTable): Promise<void> {
  const { target, retryPolicy, sizer, resume } = run;
  const delivery = openDelivery({
    send: (statements, signal) => target.replace(statements, scope, signal),
    whole: true,
    retryPolicy,
    sizer,
    refuse(statement, reason) {
      const { input, line } = lines.locate(statement);
      run.reject(refusedStatement(statement, input, line, reason));
    },
  });
  const batches = openBatches(run, delivery, true);
  for (let partition = resume?.done ?? 0; partition < groups.partitions; partition++) {
    for await (const statements of groups.partition(partition)) {
      await batches.add(statements);
      if (batches.bytes > run.request.memoryBudgetBytes / 2) throw subjectTooLarge(statements[0]);
    }
    batches.mark({ input: 0, done: partition + 1, line: 0, rejected: 0 });
  }
  await batches.end();
}

const subjectTooLarge = (statement: Statement | undefined): Fault =>
  new Fault('limit/exceeded', 'A subject has more statements than the memory of a write holds, and it is replaced in one step', {
    place: { value: excerpt(fromBytes(statement?.subject ?? ''), 200) },
    limit: 'THREAD_MEMORY_MB',
    hint: 'Give the run more memory, or write with WRITE_MODE=insert or UPDATE_SCOPE=graph',
  });
