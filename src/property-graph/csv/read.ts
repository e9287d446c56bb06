/** Reads nodes and edges from CSV files with the headers `default` and `neo4j`, as written by `csv/write.ts`. */
import { excerpt, Fault, type FaultPlace } from '../../core/fault.ts';
import { fromBytes } from '../../core/text.ts';
import type { Accessor } from '../../core/value.ts';
import { openCsv } from '../../sources/csv/csv.ts';
import type { EdgeElement, Elements, NodeElement } from '../elements.ts';
import { BASE_LABEL, GRAPH } from '../names.ts';
import { parseTemporal, type TemporalDatatype } from '../temporal.ts';
import { combine, type Property, type PropertyValue, valuesOf } from '../values.ts';
import { type CsvHeading, graphCsvHeading, type HeadedColumn, type HeadedType } from './heading.ts';

export interface GraphCsvReadOptions {
  /** Redacted URL, for messages. */
  readonly input: string;
  /** As in `readStatements`: converts keys `_:label` to IRIs; undefined: they are kept. */
  readonly skolem: ((label: string) => string) | undefined;
  readonly maxRecordBytes: number;
  readonly signal: AbortSignal;
}

export interface ElementBlock extends Elements {
  /** Number of rows before the block. */
  readonly row: number;
  /** Bytes of the input read so far. */
  readonly bytes: number;
}

/**
 * The nodes or the edges of one file, a few hundred rows at a time.
 *
 * A list with one value is that value. A node without graphs is in the default graph. Closes `bytes`.
 *
 * @throws Fault source/type — the header is neither of nodes nor of edges
 * @throws Fault source/malformed — a cell is not a value of its column: row, column, value; limit/exceeded; run/cancelled
 */
export async function* readGraphCsv(
  bytes: AsyncIterable<Uint8Array>,
  options: GraphCsvReadOptions,
): AsyncGenerator<ElementBlock, void, undefined> {
  const { heading, bytes: whole } = await graphCsvHeading(bytes, options.input);
  const iteration = { iterator: undefined, references: heading.columns.map(({ header }) => header), origin: options.input };
  const scan = await openCsv(whole, [iteration], {
    format: 'csv',
    name: options.input,
    // In the legacy dialect an empty cell without quotes is a missing value.
    dialect: 'legacy',
    nulls: [],
    encoding: 'utf-8',
    maxRecordBytes: options.maxRecordBytes,
  });
  const cells = new Map(heading.columns.map((column) => [column.header, scan.accessor(0, column.header)]));
  const row = heading.kind === 'nodes' ? nodeReader(heading, cells, options) : edgeReader(heading, cells, options);
  for await (const { records, first, bytes: read } of scan.batches(options.signal)) {
    const nodes: NodeElement[] = [];
    const edges: EdgeElement[] = [];
    for (const [i, record] of records.entries()) row(record, first + i, nodes, edges);
    yield { nodes, edges, row: first, bytes: read };
  }
}

type Cells = ReadonlyMap<string, Accessor>;
type ReadRow = (record: unknown, position: number, nodes: NodeElement[], edges: EdgeElement[]) => void;

function nodeReader({ columns, list, escapes }: CsvHeading, cells: Cells, options: GraphCsvReadOptions): ReadRow {
  const key = keyReader(columns, 'key', cells, options);
  const labels = optional(columns, 'labels', cells);
  const properties = columns
    .filter(({ role }) => role === 'property')
    .map((column) => ({ column, cell: cells.get(column.header) as Accessor }));
  const split = splitter(list, escapes);
  return (record, position, nodes) => {
    const found = new Map<string, Property>();
    let graphs: readonly string[] = [''];
    for (const { column, cell } of properties) {
      const text = textOf(cell, record);
      if (text === undefined) continue;
      const parts = column.list ? split(text) : [text];
      const place = { input: options.input, record: position, expression: column.header };
      const value = combine(parts.map((part) => valueOf(part, column.type, place)));
      if (column.name === GRAPH) graphs = valuesOf(value) as readonly string[];
      else found.set(column.name, value);
    }
    const text = labels === undefined ? undefined : textOf(labels, record);
    const classes = text === undefined || text === '' ? [] : split(text).filter((label) => label !== BASE_LABEL);
    nodes.push({ iri: key(record, position), labels: classes, properties: found, graphs });
  };
}

function edgeReader({ columns }: CsvHeading, cells: Cells, options: GraphCsvReadOptions): ReadRow {
  const [from, to, type] = (['from', 'to', 'type'] as const).map((role) => keyReader(columns, role, cells, options));
  const graph = optional(columns, 'graph', cells);
  return (record, position, _, edges) => {
    const [a, b, name] = [from, to, type].map((read) => read?.(record, position)) as [string, string, string];
    edges.push({ from: a, to: b, type: name, graph: (graph === undefined ? undefined : textOf(graph, record)) ?? '' });
  };
}

function textOf(cell: Accessor, record: unknown): string | undefined {
  const value = cell(record);
  return typeof value === 'string' ? fromBytes(value) : undefined;
}

const optional = (columns: readonly HeadedColumn[], role: HeadedColumn['role'], cells: Cells): Accessor | undefined => {
  const column = columns.find((one) => one.role === role);
  return column === undefined ? undefined : cells.get(column.header);
};

/** For a column whose cells must not be empty. */
function keyReader(
  columns: readonly HeadedColumn[],
  role: HeadedColumn['role'],
  cells: Cells,
  { input, skolem }: GraphCsvReadOptions,
): (record: unknown, position: number) => string {
  const { header } = columns.find((one) => one.role === role) as HeadedColumn;
  const cell = cells.get(header) as Accessor;
  return (record, position) => {
    const text = textOf(cell, record);
    if (text === undefined || text === '') {
      throw new Fault('source/malformed', 'A row has no value in a column that every node or edge must have', {
        place: { input, record: position, expression: header },
      });
    }
    return role !== 'type' && skolem !== undefined && text.startsWith('_:') ? skolem(text.slice(2)) : text;
  };
}

/** Splits a list at its delimiters. */
function splitter(delimiter: string, escapes: boolean): (text: string) => readonly string[] {
  if (!escapes) return (text) => text.split(delimiter);
  const element = /(?:[^\\;]|\\.)*/gsy;
  return (text) => {
    if (!text.includes('\\')) return text.split(delimiter);
    const parts: string[] = [];
    for (let at = 0; at <= text.length; at += 1) {
      element.lastIndex = at;
      const part = element.exec(text)?.[0] ?? '';
      parts.push(part.replace(/\\(.)/gs, '$1'));
      at += part.length;
    }
    return parts;
  };
}

const DATATYPES: Partial<Readonly<Record<HeadedType, TemporalDatatype>>> = {
  date: 'date',
  localDateTime: 'dateTime',
  dateTime: 'dateTime',
  localTime: 'time',
  time: 'time',
  duration: 'duration',
};

function valueOf(text: string, type: HeadedType, place: FaultPlace): PropertyValue {
  const value = parsed(text, type);
  if (value !== undefined) return value;
  throw new Fault('source/malformed', `A cell holds no ${type}, which the header line says of its column`, {
    place: { ...place, value: excerpt(text) },
  });
}

function parsed(text: string, type: HeadedType): PropertyValue | undefined {
  switch (type) {
    case 'string':
      return text;
    case 'integer': {
      const value = /^[+-]?\d{1,19}$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
      return value === undefined || BigInt.asIntN(64, value) !== value ? undefined : value;
    }
    case 'float': {
      const value = Number(text);
      return text.trim() === '' || (Number.isNaN(value) && text !== 'NaN') ? undefined : value;
    }
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    default: {
      const value = parseTemporal(text.replace(/^\+(?=\d{5})/, ''), DATATYPES[type] as TemporalDatatype);
      return value?.kind === type ? value : undefined;
    }
  }
}
