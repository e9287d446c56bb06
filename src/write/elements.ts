/** Inserts files of nodes and edges: their rows go to a property graph in batches, like statements. */

import type { RejectedStatement, Statement } from '../nquads/statement.ts';
import { type ElementBlock, readGraphCsv } from '../property-graph/csv/read.ts';
import type { EdgeElement, NodeElement } from '../property-graph/elements.ts';
import { textOf, valuesOf } from '../property-graph/values.ts';
import type { PropertyGraphTarget } from '../targets/property-graph.ts';
import { openDelivery } from './batch/bisect.ts';
import { openBatches } from './batch/send.ts';
import { openGraphCsv } from './inputs.ts';
import { countBlock, type WriteRun } from './run.ts';

/** A row in the form of a batch item: its texts give its size and content. `line` is the row number, from 1. */
interface Row extends Statement {
  readonly element: { readonly node: NodeElement } | { readonly edge: EdgeElement };
}

/**
 * Writes the rows of one input. Its positions are row numbers.
 *
 * @throws Fault the one that ends the run
 */
export async function insertElementsOf(run: WriteRun, target: PropertyGraphTarget, input: number): Promise<void> {
  const { retryPolicy, sizer, inputs, resume } = run;
  const name = inputs[input]?.name ?? '';
  const delivery = openDelivery({
    send: (rows, signal) => target.insertElements(elementsOf(rows as readonly Row[]), signal),
    whole: false,
    retryPolicy,
    sizer,
    refuse: (row, reason) => run.reject(refusedRow(row, name, reason.toJSON())),
  });
  const batches = openBatches(run, delivery, false);
  const done = resume?.input === input ? resume.done : 0;
  for await (const block of blocksOf(run, input)) {
    const rows = rowsOf(block).filter(({ line }) => line > done);
    const end = block.row + block.nodes.length + block.edges.length;
    if (rows.length === 0) continue;
    countBlock(run, { statements: rows, rejected: [], end: { byte: end, line: end } }, input);
    await batches.add(rows);
    batches.mark({ input, done: end, line: end, rejected: 0 });
  }
  await batches.end();
}

async function* blocksOf(run: WriteRun, input: number): AsyncGenerator<ElementBlock, void, undefined> {
  const { inputs, request, signal, counts } = run;
  const opened = inputs[input];
  if (opened === undefined) return;
  const bytesRead = (bytes: number): void => void (counts.bytesRead += bytes);
  const { bytes, skolem } = await openGraphCsv(opened, request, { signal, bytesRead });
  yield* readGraphCsv(bytes, { input: opened.name, skolem, maxRecordBytes: MAX_ROW_BYTES, signal });
}

/** The maximum length of a statement. */
const MAX_ROW_BYTES = 64 * 2 ** 20;

function rowsOf({ nodes, edges, row }: ElementBlock): readonly Row[] {
  const ofNodes = nodes.map((node, i) => ({
    subject: node.iri,
    predicate: '',
    object: propertiesOf(node),
    graph: '',
    line: row + i + 1,
    element: { node },
  }));
  const ofEdges = edges.map((edge, i) => ({
    subject: edge.from,
    predicate: edge.type,
    object: edge.to,
    graph: edge.graph,
    line: row + nodes.length + i + 1,
    element: { edge },
  }));
  return [...ofNodes, ...ofEdges];
}

const propertiesOf = ({ labels, properties }: NodeElement): string =>
  [...labels, ...Array.from(properties, ([name, property]) => `${name}=${valuesOf(property).map(textOf).join(';')}`)].join(' ');

function elementsOf(rows: readonly Row[]): { nodes: readonly NodeElement[]; edges: readonly EdgeElement[] } {
  const nodes: NodeElement[] = [];
  const edges: EdgeElement[] = [];
  for (const { element } of rows) {
    if ('node' in element) nodes.push(element.node);
    else edges.push(element.edge);
  }
  return { nodes, edges };
}

const MOST_CHARACTERS = 16 * 2 ** 10;

function refusedRow({ subject, predicate, object, line }: Statement, input: string, fault: RejectedStatement['fault']): RejectedStatement {
  const statement = [subject, predicate, object]
    .filter((text) => text !== '')
    .join(' ')
    .slice(0, MOST_CHARACTERS);
  return { input, line, statement, fault: { ...fault, place: { ...fault.place, input, record: line - 1 } } };
}
