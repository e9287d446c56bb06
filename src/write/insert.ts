/** Insert: statements go from the inputs to the store in batches, several in flight at a time. Nothing is removed. */
import { Fault } from '../core/fault.ts';
import type { Statement } from '../nquads/statement.ts';
import { isPropertyGraphTarget } from '../targets/property-graph.ts';
import { bytesOf } from './batch/batches.ts';
import { openDelivery } from './batch/bisect.ts';
import { openBatches } from './batch/send.ts';
import { isGraphCsv, readInput, tripleSupportOf } from './inputs.ts';
import { countBlock, refusedStatement, type WriteRun } from './run.ts';

/** @throws Fault the one that ends the run */
export async function insertInputs(run: WriteRun): Promise<void> {
  const { resume, inputs, counts } = run;
  // Up to this position each statement was written or rejected.
  counts.statements = (resume?.quadsWritten ?? 0) + (resume?.rejected ?? 0);
  for (let input = resume?.input ?? 0; input < inputs.length; input++) {
    if (isPropertyGraphTarget(run.target) && isGraphCsv(inputs[input]?.url ?? '')) {
      await (await import('./elements.ts')).insertElementsOf(run, run.target, input);
    } else if (run.request.blankNodes === 'keep') await insertWhole(run, input);
    else await insertInput(run, input);
  }
  await run.drain();
}

async function insertInput(run: WriteRun, input: number): Promise<void> {
  const { target, retryPolicy, sizer, inputs } = run;
  const name = inputs[input]?.name ?? '';
  const delivery = openDelivery({
    send: (statements, signal) => target.insert(statements, signal),
    whole: false,
    retryPolicy,
    sizer,
    refuse: (statement, reason) => run.reject(refusedStatement(statement, name, statement.line, reason)),
  });
  const batches = openBatches(run, delivery, false);
  for await (const { statements, rejected, end } of blocksOf(run, input)) {
    await batches.add(statements);
    batches.mark({ input, done: end.byte, line: end.line, rejected: rejected.length });
  }
  await batches.end();
}

async function* blocksOf(run: WriteRun, input: number): ReturnType<typeof readInput> {
  const { resume, inputs, request, signal, counts } = run;
  const opened = inputs[input];
  if (opened === undefined) return;
  const from = resume?.input === input ? { byte: resume.done, line: resume.line } : { byte: 0, line: 0 };
  const bytesRead = (bytes: number): void => void (counts.bytesRead += bytes);
  for await (const block of readInput(opened, from, request, { signal, bytesRead }, tripleSupportOf(run.target))) {
    for (const rejected of block.rejected) run.reject(rejected);
    countBlock(run, block, input);
    yield block;
  }
}

/** A label identifies a node only within one request, so the whole input is one request. */
async function insertWhole(run: WriteRun, input: number): Promise<void> {
  const statements: Statement[] = [];
  let bytes = 0;
  let end = { byte: 0, line: 0 };
  let rejected = 0;
  for await (const block of blocksOf(run, input)) {
    for (const statement of block.statements) {
      statements.push(statement);
      bytes += bytesOf(statement);
    }
    if (bytes > run.request.memoryBudgetBytes / 2) throw tooLarge(run.inputs[input]?.name ?? '');
    ({ end } = block);
    rejected += block.rejected.length;
    await run.yieldToEventLoop();
  }
  const entry = run.checkpoints.begin(statements.length, [{ count: statements.length, input, done: end.byte, line: end.line, rejected }]);
  await run.start(async () => {
    if (statements.length > 0) await insertAtOnce(run, statements);
    entry.end([], 1);
  });
}

async function insertAtOnce({ retryPolicy, target }: WriteRun, statements: readonly Statement[]): Promise<void> {
  try {
    await retryPolicy.attempt(async (signal) => target.insert(statements, signal));
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'target/refused') throw error;
    const hint =
      'A file whose blank nodes are kept is written as a whole or not at all; with BLANK_NODES=skolem all but the refused statements are written';
    throw error.with({ hint: error.hint === undefined ? hint : `${hint}. ${error.hint}` });
  }
}

const tooLarge = (name: string): Fault =>
  new Fault('config/invalid', 'The input is too large to be sent in one request, which is what blank nodes need that are kept', {
    place: { input: name },
    hint: 'Write it with BLANK_NODES=skolem, cut it where no blank node is, or give the run more memory',
  });
