/** The columns of a node file and the possible separators between its values. They are known only after the last node. */
import { Fault } from '../../core/fault.ts';
import type { NodeElement } from '../elements.ts';
import { GRAPH } from '../names.ts';
import { type PropertyValue, textOf, valuesOf } from '../values.ts';
import type { ColumnType, CsvColumn, CsvFormat, Delimiters } from './format.ts';

/** With more columns, a file would consist mostly of delimiters. */
const MAX_COLUMNS = 10_000;

/** A node as texts, the same in both passes. Plain data: one line of JSON. */
export type PlainNode = readonly [
  iri: string,
  labels: readonly string[],
  properties: readonly (readonly [column: number, ...texts: string[]])[],
];

export interface CsvColumns {
  /** @throws Fault limit/exceeded — more distinct properties than a header line should have */
  add(node: NodeElement, labels: readonly string[]): PlainNode;
  /** In the order of first occurrence. */
  columns(): readonly CsvColumn[];
  /** @throws Fault sink/failed — the values contain every separator that the product supports */
  delimiters(): Delimiters;
}

interface Column {
  readonly position: number;
  type: ColumnType;
  list: boolean;
  /** Only floats, and integers that a float can represent: the column may be a float column. */
  numeric: boolean;
  /** Occurring in its values. */
  readonly held: Set<string>;
}

export function csvColumns(format: CsvFormat): CsvColumns {
  const columns = new Map<string, Column>();
  /** The candidate separators that occur in values. */
  const cells = new Set<string>();
  const meetCell = meeting(format.cellDelimiters);
  const meetList = meeting(format.listDelimiters);
  const labelled = new Set<string>();

  function columnOf(name: string, type: ColumnType): Column {
    const known = columns.get(name);
    if (known !== undefined) return known;
    if (columns.size === MAX_COLUMNS) throw columnsFault();
    const column = { position: columns.size, type, list: false, numeric: true, held: new Set<string>() };
    columns.set(name, column);
    meetCell(name, cells);
    return column;
  }

  function addProperty(name: string, values: readonly PropertyValue[]): readonly [number, ...string[]] {
    const texts = values.map(textOf);
    let column: Column | undefined;
    for (const [i, value] of values.entries()) {
      const text = texts[i] as string;
      const type = typeOf(value, text, format);
      column = columnOf(name, type);
      if (column.type !== type) column.type = mixed(column, type, value);
      column.numeric &&= isNumeric(value);
      meetCell(text, cells);
      meetList(text, column.held);
    }
    const { position } = column as Column;
    if (values.length > 1) (column as Column).list = true;
    return [position, ...texts];
  }

  return {
    add({ iri, properties, graphs }, labels) {
      for (const label of labels) {
        meetCell(label, cells);
        meetList(label, labelled);
      }
      const plain = Array.from(properties, ([name, property]) => addProperty(name, valuesOf(property)));
      if (graphs.some((graph) => graph !== '')) plain.push(addProperty(GRAPH, graphs));
      return [iri, labels, plain];
    },
    columns: () => Array.from(columns, ([name, { type, list }]) => ({ name, type, list })),
    delimiters: () => {
      const cell = firstWithout(format.cellDelimiters, cells);
      const held = new Set([cell, ...labelled, ...[...columns.values()].flatMap((column) => (column.list ? [...column.held] : []))]);
      return { cell, list: firstWithout(format.listDelimiters, held) };
    },
  };
}

function typeOf(value: PropertyValue, text: string, format: CsvFormat): ColumnType {
  const type = plainType(value);
  return format.types[type] !== undefined && (format.fits?.(type, text) ?? true) ? type : 'string';
}

function plainType(value: PropertyValue): ColumnType {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'bigint':
      return 'integer';
    case 'number':
      return 'float';
    case 'boolean':
      return 'boolean';
    default:
      return value.kind;
  }
}

const isNumeric = (value: PropertyValue): boolean =>
  typeof value === 'number' || (typeof value === 'bigint' && Number.isSafeInteger(Number(value)));

/** As within a list (`combine`): integers with floats become floats if nothing is lost; any other mixture becomes text. */
function mixed(column: Column, type: ColumnType, value: PropertyValue): ColumnType {
  const numbers = [column.type, type].every((one) => one === 'integer' || one === 'float');
  return numbers && column.numeric && isNumeric(value) ? 'float' : 'string';
}

/** Records which of the characters occur in a text. If there is no choice of separator, the format has an escape. */
function meeting(candidates: readonly string[]): (text: string, held: Set<string>) => void {
  if (candidates.length === 1) return () => undefined;
  const any = new RegExp(`[${candidates.map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}]`);
  return (text, held) => {
    if (held.size === candidates.length || !any.test(text)) return;
    for (const candidate of candidates) if (text.includes(candidate)) held.add(candidate);
  };
}

function firstWithout(candidates: readonly string[], held: ReadonlySet<string>): string {
  if (candidates.length === 1) return candidates[0] as string;
  for (const candidate of candidates) if (!held.has(candidate)) return candidate;
  throw new Fault('sink/failed', 'The values hold every character that could stand between them in a CSV file of this product', {
    hint: 'Set PG_GRAPH to default or neptune, which have escapes',
  });
}

const columnsFault = (): Fault =>
  new Fault(
    'limit/exceeded',
    `The nodes have more than ${MAX_COLUMNS} different properties, which is more than a CSV file should have columns`,
    {
      hint: 'Set PROPERTY_GRAPH_MODE to false, or split the mapping',
    },
  );
