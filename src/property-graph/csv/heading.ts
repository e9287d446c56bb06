/** Parses the header line of a node or edge file. */
import { excerpt, Fault } from '../../core/fault.ts';
import { fromBytes } from '../../core/text.ts';
import { GRAPH, KEY } from '../names.ts';
import { ARRAY_DELIMITER, type ColumnType } from './format.ts';

export type HeadedType = ColumnType;

export interface HeadedColumn {
  /** The cell of the header line, in characters. */
  readonly header: string;
  readonly role: 'key' | 'labels' | 'property' | 'from' | 'to' | 'type' | 'graph';
  /** For a property. */
  readonly name: string;
  readonly type: HeadedType;
  readonly list: boolean;
}

export interface CsvHeading {
  readonly kind: 'nodes' | 'edges';
  /** The columns that are read. */
  readonly columns: readonly HeadedColumn[];
  /** Between the elements of a list. */
  readonly list: string;
  /** Elements escape it with a backslash. */
  readonly escapes: boolean;
}

const MAX_HEADER_BYTES = 1 << 22;

/**
 * Reads up to the end of the first line; `bytes` of the result are the whole input.
 *
 * @throws Fault source/type — neither a node nor an edge file, or one in another product's format
 */
export async function graphCsvHeading(
  bytes: AsyncIterable<Uint8Array>,
  input: string,
): Promise<{ readonly heading: CsvHeading; readonly bytes: AsyncIterable<Uint8Array> }> {
  const chunks = bytes[Symbol.asyncIterator]();
  const read: Uint8Array[] = [];
  let size = 0;
  let line: readonly string[] | undefined;
  let ended = false;
  while (line === undefined && size <= MAX_HEADER_BYTES) {
    const next = await chunks.next();
    ended = next.done === true;
    if (!ended) {
      read.push(next.value);
      size += next.value.length;
    }
    line = firstLine(fromBytes(Buffer.concat(read).toString('latin1')), ended);
    if (ended) break;
  }
  try {
    return { heading: headingOf(line ?? [], input), bytes: rejoin(read, chunks, ended) };
  } catch (error) {
    await chunks.return?.();
    throw error;
  }
}

async function* rejoin(
  read: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
  ended: boolean,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* read;
    while (!ended) {
      const next = await rest.next();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await rest.return?.();
  }
}

const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\r|$)/y;

/** Cells of the first line; undefined: `text` does not contain its end. */
function firstLine(text: string, isWhole: boolean): readonly string[] | undefined {
  const cells: string[] = [];
  for (CELL.lastIndex = text.startsWith('\ufeff') ? 1 : 0; ; ) {
    const found = CELL.exec(text);
    if (found === null) return isWhole ? [] : undefined;
    const [, quoted, plain = '', end] = found;
    if (end === '' && !isWhole) return undefined;
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ',') return cells;
  }
}

const TYPES: Readonly<Record<string, HeadedType>> = {
  string: 'string',
  char: 'string',
  integer: 'integer',
  long: 'integer',
  int: 'integer',
  short: 'integer',
  byte: 'integer',
  float: 'float',
  double: 'float',
  boolean: 'boolean',
  date: 'date',
  localdatetime: 'localDateTime',
  datetime: 'dateTime',
  localtime: 'localTime',
  time: 'time',
  duration: 'duration',
};

function headingOf(line: readonly string[], input: string): CsvHeading {
  const heading = neo4jHeading(line, input) ?? defaultHeading(line, input);
  if (heading !== undefined) return heading;
  const of = line[0]?.startsWith('~') ? 'is of Neptune' : `is ${excerpt(line.slice(0, 4).join(','))}`;
  throw new Fault('source/type', `The header line of the CSV file ${of}; expected are nodes or edges with the header default or neo4j`, {
    place: { input, line: 1 },
    hint: 'Set PG_GRAPH of the transformer to default or neo4j, or give the N-Quads file',
  });
}

function defaultHeading(line: readonly string[], input: string): CsvHeading | undefined {
  const [first, second, third, fourth] = line;
  if (first === KEY && second === 'labels') {
    const columns = line.slice(2).map((header) => propertyOf(header, input));
    return { kind: 'nodes', columns: [plain(first, 'key'), plain(second, 'labels'), ...columns], list: ';', escapes: true };
  }
  if (first !== 'from' || second !== 'to' || third !== 'type') return undefined;
  const roles = [plain(first, 'from'), plain(second, 'to'), plain(third, 'type')];
  return { kind: 'edges', columns: fourth === GRAPH ? [...roles, plain(fourth, 'graph')] : roles, list: ';', escapes: true };
}

const NEO4J_ROLES: readonly (readonly [mark: RegExp, role: HeadedColumn['role']])[] = [
  [/:ID(?:\(.*\))?(?:\{.*\})?$/, 'key'],
  [/:LABEL$/, 'labels'],
  [/:START_ID(?:\(.*\))?$/, 'from'],
  [/:END_ID(?:\(.*\))?$/, 'to'],
  [/:TYPE$/, 'type'],
  [new RegExp(`^${GRAPH}(?::string)?$`), 'graph'],
];

function neo4jHeading(line: readonly string[], input: string): CsvHeading | undefined {
  const isEdges = line.some((header) => header.includes(':START_ID'));
  if (!isEdges && !line.some((header) => /:ID(?:\(.*\))?(?:\{.*\})?$/.test(header))) return undefined;
  const mark = line.map((header) => ARRAY_DELIMITER.exec(header)?.[1]).find((code) => code !== undefined);
  const columns: HeadedColumn[] = [];
  for (const header of line.filter((one) => !one.endsWith(':IGNORE'))) {
    const role = NEO4J_ROLES.find(([pattern]) => pattern.test(header))?.[1];
    if (role !== undefined && (role !== 'graph' || isEdges)) columns.push(plain(header, role));
    // Here relationships have no property except their graph.
    else if (!isEdges) columns.push(propertyOf(header, input));
    else throw unknownColumn(header, input);
  }
  const missing = (isEdges ? (['from', 'to', 'type'] as const) : (['key'] as const)).some(
    (role) => !columns.some((one) => one.role === role),
  );
  if (missing) return undefined;
  return {
    kind: isEdges ? 'edges' : 'nodes',
    columns,
    list: mark === undefined ? ';' : String.fromCharCode(Number.parseInt(mark, 16)),
    escapes: false,
  };
}

const plain = (header: string, role: HeadedColumn['role']): HeadedColumn => ({ header, role, name: '', type: 'string', list: false });

/** `name:type`, `name:type[]`; a name alone means text. */
function propertyOf(header: string, input: string): HeadedColumn {
  const colon = header.lastIndexOf(':');
  if (colon === -1) return { header, role: 'property', name: header, type: 'string', list: false };
  const said = header.slice(colon + 1);
  const list = said.endsWith('[]');
  const type = TYPES[(list ? said.slice(0, -2) : said).toLowerCase()];
  if (type === undefined || colon === 0) throw unknownColumn(header, input);
  return { header, role: 'property', name: header.slice(0, colon), type, list };
}

const unknownColumn = (header: string, input: string): Fault =>
  new Fault('source/malformed', `The header line has a column that is not known here: ${excerpt(header)}`, {
    place: { input, line: 1, expression: header },
    hint: `Known types are ${[...new Set(Object.values(TYPES))].join(', ')}`,
  });
