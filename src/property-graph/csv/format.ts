/**
 * Nodes and edges as CSV: the header lines, types, quoting and lists of each product. One row per product.
 *
 * - `neo4j`: `neo4j-admin database import` of Neo4j 5.26 (Operations Manual, Import header format). Its lists have no escape, so the array
 * delimiter is a character that no element contains; `;`, its default, if possible. Line feeds in a cell need `--multiline-fields=true`.
 * - `neptune`: Gremlin load data format (Amazon Neptune User Guide, as of 2026): RFC 4180, `\;` within lists, `\:` within names.
 * - `tigergraph`: files for `LOAD … USING HEADER="true", SEPARATOR="\t"` (TigerGraph 3.9, GSQL Language Reference, Creating a Loading Job).
 * Its loader has no escape within quotes, so nothing is quoted: the separator is a character that no value contains, and a line break
 * becomes a space. A vertex has one type: a node with several labels has one row for each.
 * - `default`: RFC 4180, with a type after every property name; within lists `\;` and `\\`.
 *
 * @see https://neo4j.com/docs/operations-manual/5/tools/neo4j-admin/neo4j-admin-import/
 * @see https://docs.aws.amazon.com/neptune/latest/userguide/bulk-load-tutorial-format-gremlin.html
 * @see https://docs.tigergraph.com/gsql-ref/3.9/ddl-and-loading/creating-a-loading-job
 */
import { createHash } from 'node:crypto';
import type { GraphHeader } from '../../sinks/sink.ts';
import type { EdgeElement } from '../elements.ts';
import { BASE_LABEL, GRAPH, KEY } from '../names.ts';
import type { TemporalKind } from '../temporal.ts';

export type ColumnType = 'string' | 'integer' | 'float' | 'boolean' | TemporalKind;

/** The separators between cells and between list elements: one character each. */
export interface Delimiters {
  readonly cell: string;
  readonly list: string;
}

/** A property of nodes; all text is characters. */
export interface CsvColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Some node has several values. */
  readonly list: boolean;
}

export interface CsvFormat {
  /** Candidates, best first. The first one that no value contains is used. */
  readonly cellDelimiters: readonly string[];
  readonly listDelimiters: readonly string[];
  /** Header cells before those of the properties. */
  readonly nodes: readonly string[];
  readonly edges: readonly string[];
  /** The product's name of a type; unsupported types are `string`. */
  readonly types: Partial<Readonly<Record<ColumnType, string>>>;
  /** Whether the product accepts a value of that type in this form; otherwise it is a string. */
  fits?(type: ColumnType, text: string): boolean;
  /** The property's name as it may occur in the header. */
  name(name: string): string;
  property(name: string, type: string, list: boolean): string;
  /** Additional header cells with instructions for the reader; they are empty in all rows. */
  remarks?(delimiters: Delimiters): readonly string[];
  /** Writes a text, which may be empty, as a cell. */
  cell(text: string): string;
  /** Whether `cell` must change the text. */
  alters?(text: string): boolean;
  /** The text of a value in a column of `type`. */
  text?(text: string, type: ColumnType): string;
  /** At least one element as one text; undefined: the product cannot represent them. */
  list(elements: readonly string[], delimiter: string): string | undefined;
  /** The first cells of a node's rows; its labels begin with `Resource`. */
  node(iri: string, labels: readonly string[], delimiter: string): readonly (readonly string[])[];
  edge(edge: EdgeElement): readonly string[];
}

const TYPES: Readonly<Record<ColumnType, string>> = {
  string: 'string',
  integer: 'integer',
  float: 'float',
  boolean: 'boolean',
  date: 'date',
  localDateTime: 'localDateTime',
  dateTime: 'dateTime',
  localTime: 'localTime',
  time: 'time',
  duration: 'duration',
};

const NEO4J_TYPES: Readonly<Record<ColumnType, string>> = {
  string: 'string',
  integer: 'long',
  float: 'double',
  boolean: 'boolean',
  date: 'date',
  localDateTime: 'localdatetime',
  dateTime: 'datetime',
  localTime: 'localtime',
  time: 'time',
  duration: 'duration',
};

/** ASCII characters of which texts rarely contain all. */
const RARE = ['\x1f', '\x1e', '\x1d', '\x1c', '\x10', '\x11', '\x12', '\x13'];

const MUST_BE_QUOTED = /^$|[",\r\n]|^\s|\s$/;

/** An RFC 4180 cell. Empty text is quoted, because an empty cell means a missing value. */
const quoted = (text: string): string => (MUST_BE_QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

const edgeCells = ({ from, to, type, graph }: EdgeElement): readonly string[] => [from, to, type, graph];

/** The `neo4j` header announces an array delimiter other than `;` in a column that the import ignores. */
export const ARRAY_DELIMITER = /^array-delimiter=U\+([0-9A-F]{4}):IGNORE$/;
const arrayDelimiter = (delimiter: string): string =>
  `array-delimiter=U+${delimiter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}:IGNORE`;

/** 128 bits: an edge has the same id in every file. */
const edgeId = (cells: readonly string[]): string => createHash('sha256').update(cells.join('\n')).digest('hex').slice(0, 32);

export const CSV_FORMATS: Readonly<Record<GraphHeader, CsvFormat>> = {
  default: {
    cellDelimiters: [','],
    listDelimiters: [';'],
    nodes: [KEY, 'labels'],
    edges: ['from', 'to', 'type', GRAPH],
    types: TYPES,
    name: (name) => name,
    property: (name, type, list) => `${name}:${type}${list ? '[]' : ''}`,
    cell: quoted,
    list: (elements, delimiter) => elements.map((element) => element.replace(/[\\;]/g, '\\$&')).join(delimiter),
    node: (iri, labels, delimiter) => [[iri, CSV_FORMATS.default.list(labels, delimiter) as string]],
    edge: edgeCells,
  },
  neo4j: {
    cellDelimiters: [','],
    listDelimiters: [';', '|', ...RARE, '\ue000', '\ue001'],
    nodes: [`${KEY}:ID`, ':LABEL'],
    edges: [':START_ID', ':END_ID', ':TYPE', `${GRAPH}:string`],
    types: NEO4J_TYPES,
    // A parenthesis begins an ID group, a brace the options of a type.
    name: (name) => name.replace(/[(){}]/g, percent),
    property: (name, type, list) => `${name}:${type}${list ? '[]' : ''}`,
    remarks: ({ list }) => (list === ';' ? [] : [arrayDelimiter(list)]),
    cell: quoted,
    // Years of more than four digits have a sign.
    text: (text, type) => (type === 'date' || type === 'dateTime' || type === 'localDateTime' ? text.replace(/^(?=\d{5})/, '+') : text),
    // A cell with empty text is not a list.
    list: (elements, delimiter) => (elements.length === 1 && elements[0] === '' ? undefined : elements.join(delimiter)),
    node: (iri, labels, delimiter) => [[iri, labels.join(delimiter)]],
    edge: edgeCells,
  },
  neptune: {
    cellDelimiters: [','],
    listDelimiters: [';'],
    nodes: ['~id', '~label'],
    edges: ['~id', '~from', '~to', '~label', `${GRAPH}:String`],
    types: { string: 'String', integer: 'Long', float: 'Double', boolean: 'Bool', date: 'Date', dateTime: 'Date' },
    fits: (type, text) => (type !== 'date' && type !== 'dateTime') || /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?$/.test(text),
    name: (name) => name.replace(/^~|[\s,]/g, percent).replaceAll(':', '\\:'),
    property: (name, type, list) => `${name}:${type}${list ? '[]' : ''}`,
    cell: quoted,
    list: neptuneList,
    node: (iri, labels) => [[iri, labels.map((label) => label.replaceAll(';', '%3B')).join(';')]],
    edge: (edge) => [edgeId(edgeCells(edge)), ...edgeCells(edge)],
  },
  tigergraph: {
    cellDelimiters: ['\t', ...RARE],
    listDelimiters: ['|', ';', '#', ...RARE],
    nodes: [KEY, 'type'],
    edges: ['from', 'to', 'type', GRAPH],
    types: TYPES,
    name: (name) => name,
    property: (name) => name,
    cell: (text) => text.replace(/[\r\n]+/g, ' '),
    alters: (text) => /[\r\n]/.test(text),
    list: (elements, delimiter) => elements.join(delimiter),
    node: (iri, labels) => (labels.length > 1 ? labels.slice(1) : [BASE_LABEL]).map((label) => [iri, label]),
    edge: edgeCells,
  },
};

/** A backslash at the end of an element would escape the following delimiter, so that element goes last. */
function neptuneList(elements: readonly string[], delimiter: string): string | undefined {
  const last = elements.filter((element) => element.endsWith('\\'));
  if (last.length > 1) return undefined;
  const first = last.length === 0 ? elements : elements.filter((element) => !element.endsWith('\\'));
  return [...first, ...last].map((element) => element.replaceAll(';', '\\;')).join(delimiter);
}
