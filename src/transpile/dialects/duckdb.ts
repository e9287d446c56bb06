/**
 * SQL of DuckDB.
 *
 * @see https://duckdb.org/docs/stable/sql/introduction
 */
import {
  arrayColumn,
  type CsvFile,
  type Dialect,
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

/** Line ends stand as functions: a script with them in texts is hard to read. */
const text = (value: string): string => (value === '\n' ? 'chr(10)' : value === '\r' ? 'chr(13)' : `'${value.replaceAll("'", "''")}'`);
const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const define: Words['define'] = (name, parameters, body) =>
  `CREATE OR REPLACE TEMPORARY MACRO quadmill_${name}(${parameters.map((one) => one.replace(/ .*/, '')).join(', ')}) AS ${body}`;

const words: Words = {
  text,
  identifier,
  define,
  defineOnce: (name, parameters, body) => {
    const parts = parameters.map((one) => one.split(' ') as [string, string?]);
    const made = parts.reduceRight(
      (sql, [one, type]) => `list_transform([CAST(given_${one} AS ${type ?? 'VARCHAR'})], lambda ${one}: ${sql})[1]`,
      body,
    );
    return define(
      name,
      parts.map(([one]) => `given_${one}`),
      made,
    );
  },
  matches: (value, pattern) => `regexp_matches(${value}, ${text(pattern)})`,
  fail: (message) => `error(${message})`,
  hasValue: (array) => `coalesce(len(list_filter(${array}, lambda x: json_type(x) <> 'NULL')) > 0, false)`,
  replacePattern: (value, pattern, replacement) =>
    `regexp_replace(${value}, ${text(pattern)}, ${text(replacement.replaceAll('\\', '\\\\').replaceAll(/\$(\d)/g, '\\$1'))}, 'g')`,
  extract: (value, pattern, group) => `regexp_extract(${value}, ${text(pattern)}, ${group})`,
  trim: (value, characters) => `trim(${value}, ${text(characters)})`,
  trimStart: (value, characters) => `ltrim(${value}, ${text(characters)})`,
  startsWith: (value, start) => `starts_with(${value}, ${start})`,
  endsWith: (value, end) => `ends_with(${value}, ${end})`,
  booleanText: (condition) => `CAST((${condition}) AS VARCHAR)`,
  encodeUri: (value) => `quadmill_uri_part(${value})`,
  toText: (number) => `CAST(${number} AS VARCHAR)`,
  toDouble: (value) => `CAST(${value} AS DOUBLE)`,
  sha256: (value) => `sha256(${value})`,
  hex: (value) => `hex(encode(${value}))`,
  eachOther: (value, kept, other) => `CASE
  WHEN regexp_full_match(${value}, ${text(`[${kept}]*`)}) THEN ${value}
  ELSE array_to_string(list_transform(regexp_extract_all(${value}, '(?s).'), lambda c: CASE WHEN regexp_full_match(c, ${text(`[${kept}]`)}) THEN c ELSE ${other} END), '') END`,
  shortestDouble: (value) => `quadmill_plain_double(CAST(CAST(${value} AS DOUBLE) AS VARCHAR))`,
};

const PREAMBLE: readonly string[] = [
  ...termFunctions(words),
  define(
    'table_cell',
    ['x'],
    "CASE WHEN typeof(x) = 'VARCHAR' THEN CAST(x AS VARCHAR) ELSE error('quadmill: source/type: a column of a table is of the type ' || typeof(x) || ', and CSV has texts alone. Bind a view that casts it') END",
  ),
  // Of members with the same name DuckDB reads the first, and the last counts.
  define(
    'json_object',
    ['j', 'path'],
    `CASE WHEN len(json_keys(j, path)) > len(list_distinct(json_keys(j, path))) THEN error('quadmill: source/malformed: an object has two members with the same name, of which DuckDB reads the first: ' || left(CAST(j AS VARCHAR), 100)) ELSE j END`,
  ),
  define(
    'json_tagged',
    ['x'],
    `array_to_string(list_transform(regexp_extract_all(x, ${text(`(?s)${jsonChunk('')}`)}), lambda t: CASE WHEN starts_with(t, '"') THEN '"${TAGGED_TEXT}' || t[2:]
    WHEN len(list_filter(regexp_extract_all(t, ${text(JSON_WORD)}), lambda w: NOT regexp_matches(w, ${text(JSON_WORDS)}))) > 0 OR regexp_matches(t, ${text(JSON_BARE_NAME)}) THEN error('quadmill: source/malformed: JSON has no such word: ' || t)
    ELSE replace(regexp_replace(t, ${text(`(${JSON_WORD})`)}, '"${TAGGED_WORD}\\1"', 'g'), '"${TAGGED_WORD}null"', 'null') END), '')`,
  ),
  define('json_whole', ['x'], 'CAST(quadmill_json_tagged(CAST(CAST(x AS JSON) AS VARCHAR)) AS JSON)'),
  define(
    'json_array',
    ['j', 'path'],
    `CASE WHEN json_type(j, path) = 'OBJECT' THEN error('quadmill: record/term: a wildcard of a path finds the members of an object, of which DuckDB makes no list') ELSE json_extract(j, path || '[*]') END`,
  ),
  define(
    'json_text',
    ['x'],
    `CASE json_type(x) WHEN 'NULL' THEN NULL WHEN 'OBJECT' THEN error('quadmill: record/term: a reference points at an object, which has no text')
    WHEN 'ARRAY' THEN error('quadmill: record/term: a reference points at an array, which has no text') ELSE (x ->> '$')[2:] END`,
  ),
  ...jsonFunctions(words, "(x ->> '$')[2:]", `starts_with(CAST(x AS VARCHAR), '"${TAGGED_WORD}')`),
];

type Source<S> = Extract<Readable, S>;

const viewOf = (source: Readable, number: number, rows: string): string =>
  `CREATE OR REPLACE TEMPORARY VIEW records_${number} AS ${withRowNames(words, rows, source)}`;

/** Names of columns are found whatever their case, so the header is compared first. */
function csvView(source: Source<CsvFile>, number: number): readonly string[] {
  const { path, delimiter, quote, nulls, columns } = source;
  const dialect = `all_varchar = true, delim = ${text(delimiter)}, quote = ${text(quote ?? '')}, escape = ${text(quote ?? '')}, comment = '', skip = 0`;
  const file = (header: boolean): string => `read_csv(${text(path)}, header = ${header}, ${dialect})`;
  const checks = columns.map(
    (name) =>
      `CASE WHEN list_contains(h, ${text(name)}) AND len(list_filter(h, lambda n: lower(n) = lower(${text(name)}))) = 1 THEN true ELSE error(${text(`quadmill: mapping/reference: the header does not have the column ${JSON.stringify(name)} once, in whatever case: `)} || CAST(h AS VARCHAR)) END`,
  );
  const cells = columnsOf(columns, nulls, (name) => `coalesce(${identifier(name)}, '')`);
  return [
    ...(checks.length === 0
      ? []
      : [`SELECT ${checks.join(' AND ')} FROM (SELECT list_value(*COLUMNS(*)) AS h FROM ${file(false)} LIMIT 1)`]),
    viewOf(source, number, `SELECT ${cells} FROM ${file(true)}`),
  ];
}

function columnsOf(columns: readonly string[], nulls: readonly string[], read: (name: string) => string): string {
  if (columns.length === 0) return '1 AS c0';
  return columns
    .map((name, at) => `${nulls.reduce((sql, one) => `nullif(${sql}, ${text(one)})`, read(name))} AS ${textColumn(at)}`)
    .join(', ');
}

function tableView(source: Source<TableRows>, number: number): readonly string[] {
  const { name, nulls, columns } = source;
  const cells = columnsOf(columns, nulls, (column) => `quadmill_table_cell(${identifier(column)})`);
  return [viewOf(source, number, `SELECT ${cells} FROM ${name}`)];
}

const pathOf = (names: readonly string[]): string => text(`$${names.map((name) => `."${TAGGED_TEXT}${name}"`).join('')}`);

/** The value, after a look at each object on the way to it. */
const looked = (j: string, names: readonly string[]): string =>
  names.reduce((sql, _, at) => `quadmill_json_object(${sql}, ${pathOf(names.slice(0, at))})`, j);

function jsonView(source: Source<JsonFile>, number: number): readonly string[] {
  const { path, lines, steps, references, isKept } = source;
  let rows = lines
    ? `SELECT quadmill_json_whole(json) AS j FROM read_json_objects(${text(path)}, format = 'newline_delimited')`
    : `SELECT quadmill_json_whole(content) AS j FROM read_text(${text(path)})`;
  const names: string[] = [];
  for (const step of lines ? steps.slice(1) : steps) {
    if (step !== undefined) names.push(step);
    else {
      rows = `SELECT unnest(quadmill_json_array(${looked('j', names)}, ${pathOf(names)})) AS j FROM (${rows})`;
      names.length = 0;
    }
  }
  if (names.length > 0)
    rows = `SELECT * FROM (SELECT json_extract(${looked('j', names)}, ${pathOf(names)}) AS j FROM (${rows})) WHERE j IS NOT NULL`;
  const columns = ['1 AS c0', ...(isKept ? [`j AS ${RECORD}`] : []), ...columnsOfReferences('j', references, '')];
  return [viewOf(source, number, `SELECT ${columns.join(', ')} FROM (${rows})`)];
}

const columnsOfReferences = (record: string, references: readonly JsonReference[], prefix: string): readonly string[] =>
  references.flatMap(({ names, each, forms }, at) => {
    const j = looked(record, names);
    if (each === undefined) return jsonColumns(`json_extract(${j}, ${pathOf(names)})`, forms, at, prefix);
    const list = `quadmill_json_array(${j}, ${pathOf(names)})`;
    const members = each.length === 0 ? list : `list_transform(${list}, lambda m: json_extract(${looked('m', each)}, ${pathOf(each)}))`;
    return `${members} AS ${prefix}${arrayColumn(at)}`;
  });

function itemsOf({ rows, within, names, references, item }: JsonItems): string {
  const list = `quadmill_json_array(${looked(within, names)}, ${pathOf(names)})`;
  const columns = ['*', ...columnsOfReferences(item, references, item)];
  return `SELECT ${columns.join(', ')} FROM (SELECT * FROM ${rows} LEFT JOIN LATERAL (SELECT unnest(${list}) AS ${item}) ${item}_t ON true)`;
}

export const duckdb: Dialect = {
  name: 'duckdb',
  title: 'DuckDB',
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
  movesRows: false,
  list: (texts) => `[${texts.join(', ')}]`,
  explode: (list) => `unnest(${list})`,
  lateral: (array, element) => `, unnest(${array}) AS ${element}_t(${element})`,
  positioned: (array, element) =>
    `, LATERAL (SELECT unnest(${array}) AS ${element}, unnest(range(len(${array}))) AS ${element}_at) ${element}_t`,
  outerLateral: (array, element) =>
    ` LEFT JOIN LATERAL (SELECT unnest(list_filter(${array}, lambda x: json_type(x) <> 'NULL')) AS ${element}) ${element}_t ON true`,
  distribute: () => '',
  write: (query, target) =>
    `COPY (${query}) TO 'graph${target === undefined ? '.nq' : `-${target}`}' (FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER e'\\x01')`,
};
