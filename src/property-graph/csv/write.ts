/**
 * Writes the property graph of statements as two CSV files, one of nodes and one of edges.
 *
 * The header line has a column for every property of any node, and the statements of a node may be far apart, so there are two passes: one
 * over the statements, grouped by subject, which writes the edges and collects the columns, and one over the nodes. Memory: that of the
 * groups, and one node.
 */
import { join } from 'node:path';
import type { Fault } from '../../core/fault.ts';
import { detach, toBytes } from '../../core/text.ts';
import { BLANK_NAMES, described } from '../../nquads/described.ts';
import { type Groups, openGroups } from '../../nquads/group.ts';
import { readStatements } from '../../nquads/read.ts';
import type { Statement } from '../../nquads/statement.ts';
import { type FileSink, openFileSink } from '../../sinks/file.ts';
import type { FinishedPart, GraphHeader } from '../../sinks/sink.ts';
import { openInput } from '../../storage/open.ts';
import { type EdgeElement, elementsOf, mergeNodes, type NodeElement, RDF_TYPE } from '../elements.ts';
import { BASE_LABEL, type Names, namesOf, nodeKey, type PropertyGraphOptions } from '../names.ts';
import { type CsvColumns, csvColumns, type PlainNode } from './columns.ts';
import { CSV_FORMATS, type CsvFormat } from './format.ts';
import { type WaitingLines, waitingLines } from './rows.ts';

export interface GraphCsvOptions {
  /** The product whose header format is used; see `csv/format.ts`. */
  readonly header: GraphHeader;
  readonly propertyGraph: PropertyGraphOptions;
  /** Absolute path of the directory of the two files. */
  readonly directory: string;
  /** File names without `.nodes.csv` and `.edges.csv`. */
  readonly name: string;
  /** See `FileSinkOptions`. */
  readonly attempt: string | number;
  /** Used by nothing else; created when needed, removed at the end. */
  readonly spillDirectory: string;
  readonly memoryBudgetBytes: number;
  readonly signal: AbortSignal;
}

/** Complete files under their temporary names; the caller renames or removes them. */
export interface GraphCsvFiles {
  readonly nodes: FinishedPart;
  readonly edges: FinishedPart;
  readonly warnings: readonly string[];
}

/**
 * Writes the nodes and edges of N-Quads files, whose statements together form one graph.
 *
 * The object of an edge is a node, even if it is the subject of no statement. Statements with terms that must not be sent to a store, and
 * values that the product cannot represent, are left out with a warning. On an error, no file remains.
 *
 * @param inputs paths or URLs
 * @throws Fault sink/failed; limit/exceeded — too many properties; the reason of `signal`; those of `readStatements`
 */
export async function writeGraphCsv(inputs: readonly string[], options: GraphCsvOptions): Promise<GraphCsvFiles> {
  const { header, spillDirectory, memoryBudgetBytes } = options;
  const format = CSV_FORMATS[header];
  const names = namesOf(options.propertyGraph);
  const groups = openGroups({ directory: join(spillDirectory, 'groups'), by: 'subject', memoryBudgetBytes });
  const waiting = waitingLines(join(spillDirectory, 'rows'));
  const sinks: FileSink[] = [];
  const open = async (kind: string): Promise<FileSink> => {
    const { directory, name, attempt } = options;
    const sink = await openFileSink({ directory, name: `${name}.${kind}.csv`, format: 'nquads', attempt });
    sinks.push(sink);
    return sink;
  };
  try {
    const rejected = await group(inputs, groups, options.signal);
    const columns = csvColumns(format);
    const edges = await open('edges');
    const writeEdges = edgeWriter(edges, format);
    await writeEdges([]);
    await firstPass(groups, names, columns, waiting, writeEdges, options.signal);
    const nodes = await open('nodes');
    const losses = await secondPass(waiting, columns, format, nodes, options.signal);
    const [nodesPart, edgesPart] = [await nodes.finish(), await edges.finish()].map(([part]) => part) as [FinishedPart, FinishedPart];
    const told = [...names.warnings, ...rejected, ...warningsOf(header, columns, losses)];
    return { nodes: nodesPart, edges: edgesPart, warnings: told };
  } catch (error) {
    await Promise.allSettled(sinks.map((sink) => sink.abort()));
    throw error;
  } finally {
    await Promise.all([groups.remove(), waiting.remove()]);
  }
}

/** Marks the object of an edge among the subjects: a statement with this predicate, which no input can contain. */
const MENTIONED = '';
const REMEMBERED = 20_000;

/** Number of warnings about statements that are left out. */
async function group(inputs: readonly string[], groups: Groups, signal: AbortSignal): Promise<readonly string[]> {
  const remembered = new Set<string>();
  let rejected = 0;
  let first: Fault['message'] | undefined;
  for (const input of inputs) {
    const { bytes } = await openInput(input, { workingDirectory: '/', reach: undefined, signal });
    for await (const block of readStatements(bytes, { input, skolem: undefined, takesTriples: true })) {
      signal.throwIfAborted();
      rejected += block.rejected.length;
      first ??= block.rejected[0]?.fault.message;
      const statements = block.statements.flatMap((one) => described(one, BLANK_NAMES));
      await groups.add(statements);
      await groups.add(mentions(statements, remembered));
    }
  }
  if (rejected === 0) return [];
  const what = rejected === 1 ? '1 statement is' : `${rejected} statements are`;
  return [`${what} not in the CSV files of the property graph, since no store would take such terms; the first: ${first}`];
}

function mentions(statements: readonly Statement[], remembered: Set<string>): readonly Statement[] {
  const found: Statement[] = [];
  for (const { predicate, object } of statements) {
    if (object.charCodeAt(0) === 34 || predicate === RDF_TYPE || remembered.has(object)) continue;
    if (remembered.size === REMEMBERED) remembered.clear();
    remembered.add(detach(object));
    found.push({ subject: object, predicate: MENTIONED, object: '""', graph: '', line: 0 });
  }
  return found;
}

async function firstPass(
  groups: Groups,
  names: Names,
  columns: CsvColumns,
  waiting: WaitingLines,
  writeEdges: (edges: readonly EdgeElement[]) => void | Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  /** Further statements of it may follow in the next array. */
  let open: NodeElement | undefined;
  const settle = async (node: NodeElement): Promise<void> => {
    await waiting.add(JSON.stringify(columns.add(node, [BASE_LABEL, ...node.labels])));
  };
  for (let partition = 0; partition < groups.partitions; partition++) {
    for await (const statements of groups.partition(partition)) {
      signal.throwIfAborted();
      const { nodes, edges } = elements(statements, names);
      await writeEdges(edges);
      for (const node of nodes) {
        if (open?.iri === node.iri) open = mergeNodes(open, node);
        else {
          if (open !== undefined) await settle(open);
          open = node;
        }
      }
    }
  }
  if (open !== undefined) await settle(open);
}

/** Subjects that are only objects of edges are nodes without properties. */
function elements(statements: readonly Statement[], names: Names): { nodes: readonly NodeElement[]; edges: readonly EdgeElement[] } {
  const said = statements.filter(({ predicate }) => predicate !== MENTIONED);
  if (said.length === statements.length) return elementsOf(said, names);
  const { nodes, edges } = elementsOf(said, names);
  const subjects = new Set(said.map(({ subject }) => subject));
  const mentioned = new Set(statements.filter(({ subject }) => !subjects.has(subject)).map(({ subject }) => subject));
  const bare = Array.from(mentioned, (subject) => ({ iri: nodeKey(subject), labels: [], properties: new Map(), graphs: [] }));
  return { nodes: [...nodes, ...bare], edges };
}

function edgeWriter(sink: FileSink, format: CsvFormat): (edges: readonly EdgeElement[]) => void | Promise<void> {
  // Neither IRIs nor names contain a candidate separator.
  const delimiter = format.cellDelimiters[0] as string;
  const row = (cells: readonly string[]): string => `${cells.map((text) => (text === '' ? '' : format.cell(text))).join(delimiter)}\n`;
  let text = row(format.edges);
  return (edges) => {
    for (const edge of edges) text += row(format.edge(edge));
    const lines = text;
    text = '';
    if (lines !== '') return sink.write(toBytes(lines));
  };
}

/** Values that the product could not represent unchanged. */
interface Losses {
  count: number;
  first: { readonly iri: string; readonly property: string } | undefined;
}

async function secondPass(
  waiting: WaitingLines,
  columns: CsvColumns,
  format: CsvFormat,
  sink: FileSink,
  signal: AbortSignal,
): Promise<Losses> {
  const losses: Losses = { count: 0, first: undefined };
  const { header, rows } = nodeRows(columns, format, losses);
  await sink.write(toBytes(header));
  for await (const lines of waiting.read()) {
    signal.throwIfAborted();
    let text = '';
    for (const line of lines) text += rows(JSON.parse(line) as PlainNode);
    if (text !== '') await sink.write(toBytes(text));
  }
  return losses;
}

function nodeRows(columns: CsvColumns, format: CsvFormat, losses: Losses): { header: string; rows: (node: PlainNode) => string } {
  const all = columns.columns();
  const { cell: separator, list: delimiter } = columns.delimiters();
  const names = new Set<string>();
  const heads = all.map(({ name, type, list }) => format.property(unique(format.name(name), names), format.types[type] as string, list));
  const remarks = format.remarks?.({ cell: separator, list: delimiter }) ?? [];
  const header = `${[...format.nodes, ...heads, ...remarks].map(format.cell).join(separator)}\n`;
  const end = `${separator.repeat(remarks.length)}\n`;

  const rows = ([iri, labels, properties]: PlainNode): string => {
    const cells: string[] = new Array(all.length).fill('');
    for (const [position, ...texts] of properties) {
      const { name, type, list } = all[position] as (typeof all)[number];
      const written = format.text === undefined ? texts : texts.map((text) => format.text?.(text, type) as string);
      const text = list ? format.list(written, delimiter) : (written[0] as string);
      if (text === undefined || format.alters?.(text) === true) {
        losses.count++;
        losses.first ??= { iri, property: name };
      }
      if (text !== undefined) cells[position] = format.cell(text);
    }
    const rest = cells.length === 0 ? end : `${separator}${cells.join(separator)}${end}`;
    return format
      .node(iri, labels, delimiter)
      .map((first) => `${first.map(format.cell).join(separator)}${rest}`)
      .join('');
  };
  return { header, rows };
}

/** Names that are equal in the header are numbered. */
function unique(name: string, taken: Set<string>): string {
  let free = name;
  for (let i = 2; taken.has(free); i++) free = `${name}_${i}`;
  taken.add(free);
  return free;
}

function warningsOf(header: GraphHeader, columns: CsvColumns, { count, first }: Losses): readonly string[] {
  const warnings: string[] = [];
  const { cell, list } = columns.delimiters();
  if (header === 'neo4j' && list !== ';') {
    const code = `U+${list.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
    warnings.push(`Values of lists hold ';': import the nodes with --array-delimiter=${list === '|' ? "'|'" : code}`);
  }
  if (header === 'tigergraph') {
    if (cell !== '\t') warnings.push(`Values hold tabs: load the nodes with SEPARATOR="\\${cell.charCodeAt(0)}"`);
    const shown = /[\x21-\x7e]/.test(list) ? `'${list}'` : `the character of ASCII code ${list.charCodeAt(0)}`;
    if (list !== '|') warnings.push(`Values of lists hold '|': they are to be split at ${shown}`);
  }
  if (count > 0) {
    const place = `the first is ${first?.property} of ${first?.iri}`;
    const what = header === 'tigergraph' ? 'Line breaks became spaces in' : 'The product cannot hold, and so the files leave out,';
    warnings.push(`${what} ${count === 1 ? '1 value' : `${count} values`}; ${place}`);
  }
  return warnings;
}
