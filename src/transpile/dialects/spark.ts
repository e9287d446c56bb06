/**
 * SQL of Apache Spark 4.
 *
 * @see https://spark.apache.org/docs/latest/sql-ref.html
 */
import {
  arrayColumn,
  type CsvFile,
  type Dialect,
  EXACT_DIGITS,
  JSON_BARE_NAME,
  JSON_WORD,
  JSON_WORDS,
  type JsonFile,
  type JsonItems,
  type JsonReference,
  jsonChunk,
  RECORD,
  type Readable,
  TAGGED_TEXT,
  TAGGED_WORD,
  type TableRows,
  textColumn,
} from './dialect.ts';
import { jsonColumns, jsonFunctions, termFunctions, withRowNames } from './shared.ts';
import type { Words } from './words.ts';

/** Spark puts values of its configuration in the place of a dollar and a brace, also within texts. */
const text = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('${', '$\\u007B')}'`;
const identifier = (name: string): string => `\`${name.replaceAll('`', '``')}\``;

const TYPES = { text: 'STRING', int: 'INT', double: 'DOUBLE' } as const;

const define: Words['define'] = (name, parameters, body, type) =>
  `CREATE OR REPLACE TEMPORARY FUNCTION quadmill_${name}(${parameters.map((one) => (one.includes(' ') ? one : `${one} STRING`)).join(', ')}) RETURNS ${TYPES[type ?? 'text']} RETURN ${body}`;

const words: Words = {
  text,
  identifier,
  define,
  defineOnce: define,
  matches: (value, pattern) => `${value} rlike ${text(pattern)}`,
  fail: (message) => `raise_error(${message})`,
  hasValue: (array) => `coalesce(exists(${array}, x -> x IS NOT NULL), false)`,
  replacePattern: (value, pattern, replacement) =>
    `regexp_replace(${value}, ${text(pattern)}, ${text(replacement.replaceAll('\\', '\\\\'))})`,
  extract: (value, pattern, group) => `regexp_extract(${value}, ${text(pattern)}, ${group})`,
  trim: (value, characters) => `trim(BOTH ${text(characters)} FROM ${value})`,
  trimStart: (value, characters) => `trim(LEADING ${text(characters)} FROM ${value})`,
  startsWith: (value, start) => `startswith(${value}, ${start})`,
  endsWith: (value, end) => `endswith(${value}, ${end})`,
  booleanText: (condition) => `cast((${condition}) AS STRING)`,
  // A function with a lambda may stand in no other function.
  encodeUri: (value) => `replace(replace(replace(url_encode(${value}), '+', '%20'), '*', '%2A'), '%7E', '~')`,
  toText: (number) => `cast(${number} AS STRING)`,
  toDouble: (value) => `cast(${value} AS DOUBLE)`,
  sha256: (value) => `sha2(${value}, 256)`,
  hex: (value) => `hex(encode(${value}, 'UTF-8'))`,
  eachOther: (value, kept, other) => `CASE
  WHEN ${value} rlike ${text(`^[${kept}]*\\z`)} THEN ${value}
  ELSE array_join(transform(split(${value}, ''), c -> CASE WHEN c rlike ${text(`^[${kept}]*\\z`)} THEN c ELSE ${other} END), '') END`,
  // Java before 19 does not always print the fewest digits of a double.
  shortestDouble: (value) => `CASE
    WHEN java_method('java.lang.System', 'getProperty', 'java.specification.version') rlike '^(19|[2-9][0-9])' THEN quadmill_plain_double(cast(try_cast(${value} AS DOUBLE) AS STRING))
    ELSE raise_error('quadmill: record/term: a number with more than ${EXACT_DIGITS} digits needs a Spark on Java 21: ' || ${value}) END`,
};

const PREAMBLE: readonly string[] = [
  'SET spark.sql.caseSensitive = true',
  'SET spark.sql.ansi.enabled = true',
  'SET spark.sql.json.enableExactStringParsing = true',
  ...termFunctions(words),
  define(
    'cell',
    ['x'],
    `CASE WHEN x IS NULL THEN '' WHEN x rlike ${text('\\r\\z')} THEN raise_error('quadmill: source/malformed: a cell ends with a carriage return. Write the file with line feeds alone') ELSE x END`,
  ),
  define(
    'table_cell',
    ['x', 't'],
    "CASE WHEN t = 'string' THEN x ELSE raise_error('quadmill: source/type: a column of a table is of the type ' || t || ', and CSV has texts alone. Bind a view that casts it') END",
  ),
  define(
    'json_tagged',
    ['x'],
    `array_join(transform(regexp_extract_all(x, ${text(jsonChunk('+'))}, 0), t -> CASE WHEN t LIKE '"%' THEN '"${TAGGED_TEXT}' || substring(t, 2)
    WHEN exists(regexp_extract_all(t, ${text(JSON_WORD)}, 0), w -> NOT w rlike ${text(JSON_WORDS)}) OR t rlike ${text(JSON_BARE_NAME)} THEN raise_error('quadmill: source/malformed: JSON has no such word: ' || t)
    ELSE replace(regexp_replace(t, ${text(`(${JSON_WORD})`)}, '"${TAGGED_WORD}$1"'), '"${TAGGED_WORD}null"', 'null') END), '')`,
  ),
  // A parser stops behind the first value.
  define(
    'json_checked',
    ['y', 'z'],
    `CASE WHEN ${skeleton('y')} = ${skeleton('z')} THEN z ELSE raise_error('quadmill: source/malformed: a line or document is not one JSON array or object: ' || left(y, 200)) END`,
  ),
  define('json_parsed', ['y'], `quadmill_json_checked(y, ${fromJson("'[' || y || ']'", 'ARRAY<STRING>')}[0])`),
  define(
    'json_characters',
    ['x'],
    `CASE WHEN x rlike ${text('(?i)\\\\ud[89ab][0-9a-f]{2}(?!\\\\ud[c-f])|(?<!\\\\ud[89ab][0-9a-f]{2})\\\\ud[c-f]')} THEN raise_error('quadmill: record/term: half of a surrogate pair stands for no character') ELSE x END`,
  ),
  define(
    'json_text',
    ['x'],
    `CASE WHEN x LIKE '{%' OR x LIKE '[%' THEN raise_error('quadmill: record/term: a reference points at an object or array, which has no text: ' || left(x, 100)) ELSE substring(x, 2) END`,
  ),
  ...jsonFunctions(words, 'substring(x, 2)', `x LIKE '${TAGGED_WORD}%'`),
];

function skeleton(x: string): string {
  return `regexp_replace(regexp_replace(${x}, ${text('"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"')}, '""'), ${text('[ \\t\\r\\n]+')}, '')`;
}

function fromJson(x: string, schema: string): string {
  return `from_json(${x}, ${text(schema)}, map('mode', 'FAILFAST', 'allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false'))`;
}

// ---------------------------------------------------------------- sources

type Source<S> = Extract<Readable, S>;

const viewOf = (source: Readable, number: number, rows: string): string =>
  `CREATE OR REPLACE TEMPORARY VIEW records_${number} AS ${withRowNames(words, rows, source)}`;

/**
 * Whole rows are read, since only these are checked; a row with another number of cells than the header ends the job. Within quotes a reader
 * without `lineSep` changes ends of lines.
 */
function csvView(source: Source<CsvFile>, number: number): readonly string[] {
  const { path, delimiter, quote, nulls, columns } = source;
  const options = {
    path,
    header: 'true',
    sep: delimiter,
    quote: quote ?? '',
    escape: quote ?? '\u0000',
    multiLine: 'true',
    lineSep: '\n',
    mode: 'FAILFAST',
    enforceSchema: 'false',
    inferSchema: 'false',
    columnPruning: 'false',
    unescapedQuoteHandling: 'RAISE_ERROR',
    maxCharsPerColumn: '-1',
  };
  return [
    fileView(number, 'csv', options),
    viewOf(source, number, `SELECT ${columnsOf(columns, nulls, (name) => `quadmill_cell(${identifier(name)})`)} FROM file_${number}`),
  ];
}

const fileView = (number: number, format: string, options: Readonly<Record<string, string>>): string =>
  `CREATE OR REPLACE TEMPORARY VIEW file_${number} USING ${format} OPTIONS (${Object.entries(options)
    .map(([name, value]) => `${name} ${text(value)}`)
    .join(', ')})`;

/** A row without columns is a row all the same. */
function columnsOf(columns: readonly string[], nulls: readonly string[], read: (name: string) => string): string {
  if (columns.length === 0) return '1 AS c0';
  const cells = columns.map((name, at) => `${nulls.reduce((sql, one) => `nullif(${sql}, ${text(one)})`, read(name))} AS ${textColumn(at)}`);
  return cells.join(', ');
}

function tableView(source: Source<TableRows>, number: number): readonly string[] {
  const { name, nulls, columns } = source;
  const cellOf = (column: string): string => `quadmill_table_cell(cast(${identifier(column)} AS STRING), typeof(${identifier(column)}))`;
  return [viewOf(source, number, `SELECT ${columnsOf(columns, nulls, cellOf)} FROM ${name}`)];
}

/** `STRUCT<a: STRUCT<b: STRING>>` */
const structOf = (names: readonly string[], inner: string): string =>
  names.reduceRight((type, name) => `STRUCT<${identifier(TAGGED_TEXT + name)}: ${type}>`, inner);

const member = (of: string, names: readonly string[]): string => [of, ...names.map((name) => identifier(TAGGED_TEXT + name))].join('.');

function jsonView(source: Source<JsonFile>, number: number): readonly string[] {
  const { path, lines, steps, references, isKept } = source;
  let rows = `SELECT quadmill_json_parsed(y) AS x FROM (SELECT quadmill_json_tagged(quadmill_json_characters(value)) AS y FROM file_${number} WHERE value rlike ${text('[^ \\t\\r\\n]')})`;
  let names: string[] = [];
  for (const step of lines ? steps.slice(1) : steps) {
    if (step !== undefined) names.push(step);
    else {
      rows = `SELECT explode(xs) AS x FROM (SELECT ${member(fromJson('x', structOf(names, 'ARRAY<STRING>')), names)} AS xs FROM (${rows}))`;
      names = [];
    }
  }
  if (names.length > 0)
    rows = `SELECT x FROM (SELECT ${member(fromJson('x', structOf(names, 'STRING')), names)} AS x FROM (${rows})) WHERE x IS NOT NULL`;
  const objects = `SELECT CASE WHEN x LIKE '{%' THEN x ELSE '{}' END AS x FROM (${rows})`;
  const { parsed, columns } = columnsOfReferences('x', references, '');
  const view = `SELECT ${['1 AS c0', ...(isKept ? [`x AS ${RECORD}`] : []), ...columns].join(', ')} FROM (SELECT ${['x', ...parsed].join(', ')} FROM (${objects}))`;
  return [fileView(number, 'text', { path, ...(lines ? {} : { wholetext: 'true' }) }), viewOf(source, number, view)];
}

/** What is read of a column with an object: structs of its members, each parsed once, and the columns of references over these. */
function columnsOfReferences(
  record: string,
  references: readonly JsonReference[],
  prefix: string,
): { readonly parsed: readonly string[]; readonly columns: readonly string[] } {
  const groups = groupsOf(references);
  const columns = references.flatMap(({ names, each, forms }, at) => {
    const group = groups.findIndex(({ members }) => members.includes(at)) + 1;
    const value = member(`${prefix}s${group}`, [...names, ...(each ?? [])]);
    return each === undefined ? jsonColumns(value, forms, at, prefix) : `${value} AS ${prefix}${arrayColumn(at)}`;
  });
  return { parsed: groups.map(({ schema }, at) => `${fromJson(record, schema)} AS ${prefix}s${at + 1}`), columns };
}

function itemsOf({ rows, within, names, references, item }: JsonItems): string {
  const list = `SELECT *, ${member(fromJson(within, structOf(names, 'ARRAY<STRING>')), names)} AS ${item}_list FROM ${rows}`;
  const items = `SELECT *, CASE WHEN ${item}_x LIKE '{%' THEN ${item}_x ELSE '{}' END AS ${item} FROM (${list}) LATERAL VIEW OUTER explode(${item}_list) ${item}_t AS ${item}_x`;
  const { parsed, columns } = columnsOfReferences(item, references, item);
  return `SELECT ${['*', ...columns].join(', ')} FROM (SELECT ${['*', ...parsed].join(', ')} FROM (${items}))`;
}

interface Group {
  readonly members: number[];
  readonly schema: string;
}

/** References that one schema reads: members of one object. Of `a` and `a.b`, the one is a text and the other an object. */
function groupsOf(references: readonly JsonReference[]): readonly Group[] {
  const groups = new Map<string, { readonly members: number[]; readonly within: readonly string[]; readonly names: string[] }>();
  const all: Group[] = [];
  references.forEach(({ names, each }, at) => {
    if (each !== undefined || names.length === 0) {
      all.push({ members: [at], schema: structOf(names, `ARRAY<${structOf(each ?? [], 'STRING')}>`) });
      return;
    }
    const within = names.slice(0, -1);
    const key = JSON.stringify(within);
    const group = groups.get(key) ?? { members: [], within, names: [] };
    groups.set(key, group);
    group.members.push(at);
    group.names.push(names.at(-1) as string);
  });
  for (const { members, within, names } of groups.values())
    all.push({
      members,
      schema: structOf(within, `STRUCT<${names.map((name) => `${identifier(TAGGED_TEXT + name)}: STRING`).join(', ')}>`),
    });
  return all;
}

export const spark: Dialect = {
  name: 'spark',
  title: 'Apache Spark',
  preamble: PREAMBLE,
  ...words,
  viewOf(source: Readable, number) {
    switch (source.kind) {
      case 'csv':
        return csvView(source, number);
      case 'json':
        return jsonView(source, number);
      case 'table':
        return tableView(source, number);
    }
  },
  itemsOf,
  movesRows: true,
  list: (texts) => `array(${texts.join(', ')})`,
  explode: (list) => `explode(${list})`,
  lateral: (array, element) => ` LATERAL VIEW explode(${array}) ${element}_t AS ${element}`,
  positioned: (array, element) => ` LATERAL VIEW posexplode(${array}) ${element}_t AS ${element}_at, ${element}`,
  outerLateral: (array, element) => ` LATERAL VIEW OUTER explode(filter(${array}, x -> x IS NOT NULL)) ${element}_t AS ${element}`,
  distribute: (columns) => ` DISTRIBUTE BY ${columns.join(', ')}`,
  write: (query, target) =>
    `INSERT OVERWRITE DIRECTORY '\${quadmill.output}${target === undefined ? '' : `-${target}`}' USING text ${query}`,
};
