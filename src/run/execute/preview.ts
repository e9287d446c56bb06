/**
 * The first records of each iteration: what a run reads that is to show its author quickly what a mapping does.
 *
 * Triples maps have the first records alone. As parents of joins, and as right sides of the joins of views, more records are read, since the
 * first children would find no partner among the first parents. All promises that the plan rests on (keys, disjoint rules) hold for some of
 * the records as they hold for all. What the first records tell of all of them, the nodes of the physical plan say.
 */

import { LinkedAbort } from '../../core/abort.ts';
import type { Check, Operator } from '../../plan/algebra.ts';
import type { Node, PhysicalPlan } from '../../plan/physical/nodes.ts';
import { requires } from '../../plan/physical/properties.ts';
import type { IterationPlan, PipelinePlan } from '../../plan/plan.ts';
import type { Batch, NestedRecords, OpenedScan, Scan } from '../../sources/source.ts';
import type { ScanLimit } from '../request.ts';

/** Records that are read as parents of joins, where a preview has fewer. */
export const PARENT_RECORDS = 10_000;

/** What a run of the first records reads and checks. */
export class FirstRecords {
  /** See `RunRequest.firstRecords`; infinite: all records. */
  readonly count: number;
  /** Rows that a join needs complete. */
  readonly #complete: ReadonlySet<Operator>;
  /** Checks that some records break only if all do. */
  readonly #checks: ReadonlySet<Check>;

  constructor({ nodes, provided }: PhysicalPlan, count = Number.POSITIVE_INFINITY) {
    this.count = count;
    const isBounded = count < Number.POSITIVE_INFINITY;
    this.#complete = new Set(isBounded ? nodes.flatMap((node) => completeInputs(node, nodes)) : []);
    this.#checks = new Set(
      nodes.flatMap((node, id) => (node.kind === 'check' && (!isBounded || provided[id]?.ofFirst !== 'others') ? [node.check] : [])),
    );
  }

  /** How many records of an iteration are read. */
  read(iteration: IterationPlan): number {
    return iteration.pipelines.some((pipeline) => this.goesOn(pipeline, iteration)) ? Math.max(this.count, PARENT_RECORDS) : this.count;
  }

  /**
   * Whether records beyond the first ones go through a pipeline, for the joins that it fills. Rows that wait for a join do not know which
   * record they come of, so such a pipeline has the first records alone if triples maps read its rows, too.
   */
  goesOn({ steps, maps }: PipelinePlan, { scan }: IterationPlan): boolean {
    const rows = steps.at(-1)?.operator ?? scan;
    return this.#complete.has(rows) && (maps.length === 0 || !steps.some(({ kind }) => kind === 'join'));
  }

  tells(check: Check): boolean {
    return this.#checks.has(check);
  }
}

/** The rows that a node needs complete: those of build sides. */
const completeInputs = (node: Node, nodes: readonly Node[]): readonly Operator[] =>
  requires(node).flatMap(({ complete }, port) => {
    const input = nodes[node.inputs[port] as number];
    return complete && input?.kind === 'project' ? [input.operator.input] : [];
  });

/** The records of a batch that stand before `end`. */
export function before(end: number, batch: Batch): Batch {
  const { first, records } = batch;
  return first + records.length <= end ? batch : { ...batch, records: records.slice(0, Math.max(0, end - first)) };
}

/**
 * A scan that ends when its time is over, as if its input ended there. One that cannot be opened in time has no records.
 *
 * @param name of the input
 * @param left scans that have to be read, with this one
 */
export async function withDeadline(
  open: (signal: AbortSignal) => OpenedScan | Promise<OpenedScan>,
  name: string,
  left: number,
  { until, onTimeout }: ScanLimit,
  signal: AbortSignal | undefined,
): Promise<OpenedScan> {
  const over = new LinkedAbort([signal], Math.max(0, (until - Date.now()) / left));
  const ended = (error: unknown, input: string): void => {
    if (!over.timedOut || signal?.aborted) throw error;
    onTimeout(input);
  };
  let opened: OpenedScan;
  try {
    opened = await open(over.signal);
  } catch (error) {
    over.release();
    ended(error, name);
    return { name, typed: false, scan: NO_RECORDS, close: async () => undefined };
  }
  const { scan } = opened;
  async function* batches(): AsyncGenerator<Batch> {
    try {
      yield* scan.batches(over.signal);
    } catch (error) {
      ended(error, opened.name);
    }
  }
  const close = async (): Promise<void> => {
    over.release();
    await opened.close();
  };
  return { ...opened, batches, close };
}

const NO_ITEMS: NestedRecords = { items: () => [], accessor: () => () => null, nested: () => NO_ITEMS, unmatched: () => [] };
const NO_RECORDS: Scan = { accessor: () => () => null, nested: () => NO_ITEMS, batches: async function* () {}, unmatched: () => [] };
